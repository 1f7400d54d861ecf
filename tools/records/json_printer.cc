#include "tools/records/json_printer.h"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <utility>

#include "cfile/types.h"
#include "tools/utf8.h"
#include "tools/value_text.h"

namespace cfile::tools {

bool IsPrintedAsNumber(const ColumnType& type) {
  return IsJsonNumber(type) || (type.decimal_precision > 0 && type.decimal_scale == 0);
}

JsonPrinter::JsonPrinter(const RecordSchema& schema, std::span<const size_t> leaves,
                         std::string& out, std::function<absl::Status()> drain)
    : schema_(schema), out_(out), drain_(std::move(drain)) {
  std::vector<bool> told(schema_.leaves().size());
  for (const size_t leaf : leaves) told[leaf] = true;
  for (size_t i = 0; i < schema_.nodes().size(); ++i) forms_.push_back(FormOf(i, told));
}

JsonPrinter::Form JsonPrinter::FormOf(size_t node, const std::vector<bool>& leaves) const {
  const RecordNode& group = schema_.node(node);
  // True if the keys of `map`, and at least one leaf of its values, are printed.
  const auto is_whole = [&](size_t map) {
    const RecordNode& value = schema_.node(map + 3);
    const auto leaf = [&](size_t i) { return leaves.begin() + static_cast<ptrdiff_t>(i); };
    return leaves[schema_.node(map + 2).first_leaf] &&
           std::find(leaf(value.first_leaf), leaf(value.end_leaf), true) != leaf(value.end_leaf);
  };
  if (group.kind == GroupKind::kList) return Form::kList;
  if (group.kind == GroupKind::kMap) return is_whole(node) ? Form::kMap : Form::kList;
  if (node == 0) return Form::kObject;
  const GroupKind parent = schema_.node(group.parent).kind;
  if (parent == GroupKind::kList && schema_.ListElement(group.parent) != node) {
    return Form::kElement;
  }
  return parent == GroupKind::kMap && is_whole(group.parent) ? Form::kEntry : Form::kObject;
}

void JsonPrinter::CloseArray(Open& group) {
  if (group.array != 0) out_ += ']';
  group.array = 0;
}

absl::Status JsonPrinter::DrainIfLong() {
  return drain_ && out_.size() > kDrainBytes ? drain_() : absl::OkStatus();
}

void JsonPrinter::Begin(size_t node) {
  if (open_.empty()) return;
  Open& group = open_.back();
  const RecordNode& field = schema_.node(node);
  if (group.array == node) {
    out_ += ',';
    return;
  }
  CloseArray(group);
  switch (group.form) {
    case Form::kObject:
      if (!group.empty) out_ += ',';
      AppendJsonName(field.name, out_);
      out_ += ':';
      break;
    case Form::kList:
    case Form::kMap:
      if (!group.empty) out_ += ',';
      break;
    case Form::kElement:
    case Form::kEntry:
      break;
  }
  group.empty = false;
  // The brackets of a list or map already enclose its repeated field.
  if (field.repetition == Repetition::kRepeated && group.form != Form::kList &&
      group.form != Form::kMap) {
    out_ += '[';
    group.array = node;
  }
  group.has_value = true;
}

absl::Status JsonPrinter::BeginGroup(size_t node) {
  Begin(node);
  const Form form = forms_[node];
  if (form == Form::kObject || form == Form::kMap) out_ += '{';
  if (form == Form::kList) out_ += '[';
  open_.push_back({.node = node, .form = form});
  return absl::OkStatus();
}

absl::Status JsonPrinter::EndGroup(size_t node) {
  Open& group = open_.back();
  CloseArray(group);
  switch (group.form) {
    case Form::kObject:
    case Form::kMap:
      out_ += '}';
      break;
    case Form::kList:
      out_ += ']';
      break;
    case Form::kElement:
    case Form::kEntry: {
      // If no value was printed: a repeated field has no elements, and any other field is null.
      const size_t value = node + (group.form == Form::kElement ? 1 : 2);
      const bool repeated = schema_.node(value).repetition == Repetition::kRepeated;
      if (!group.has_value) out_ += repeated ? "[]" : "null";
      break;
    }
  }
  open_.pop_back();
  if (open_.empty()) out_ += '\n';
  return DrainIfLong();
}

absl::Status JsonPrinter::Value(size_t node, const RecordValue& value) {
  const bool is_key = open_.back().form == Form::kEntry && node == open_.back().node + 1;
  if (!is_key) Begin(node);
  const ColumnType& type = schema_.node(node).type;
  std::visit(
      [&]<typename T>(const T& typed) {
        bool bare = IsPrintedAsNumber(type) && !is_key;
        if constexpr (std::is_floating_point_v<T>) bare = bare && std::isfinite(typed);
        if (bare) {
          AppendJsonNumber<T>(type, typed, out_);
          return;
        }
        text_.clear();
        AppendText<T>(type, typed, text_);
        if (is_key && !IsUtf8(text_)) text_ = Hex(text_);
        AppendJsonBytes(text_, out_);
      },
      value);
  if (is_key) out_ += ':';
  return DrainIfLong();
}

}  // namespace cfile::tools
