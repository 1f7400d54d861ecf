#include "cfile/internal/record_shredder.h"

#include "encodings/status.h"

namespace cfile::internal {
namespace {

using encodings::StrCat;

// What an entry without a value takes, about.
constexpr size_t kEntryBytes = 2 * sizeof(uint16_t);

}  // namespace

RecordShredder::RecordShredder(const RecordSchema& schema)
    : schema_(schema), seen_in_(schema.nodes().size()) {
  for (const size_t leaf : schema.leaves()) {
    leaves_.push_back(LeafBuffer::Create(schema_.node(leaf)));
  }
}

absl::Status RecordShredder::Error(size_t node, std::string_view what) const {
  return absl::InvalidArgumentError(
      StrCat(node == 0 ? schema_.node(0).name : schema_.Path(node), ": ", what));
}

absl::Status RecordShredder::Enter(size_t node, uint16_t& repetition) {
  if (node >= schema_.nodes().size()) {
    return absl::InvalidArgumentError(StrCat("there is no node ", node));
  }
  if (open_.empty() || node == 0 || schema_.node(node).parent != open_.back().node) {
    return Error(node, "is no field of the group that is open");
  }
  Group& group = open_.back();
  repetition = group.repetition;
  if (seen_in_[node] != group.occurrence) {
    seen_in_[node] = group.occurrence;
    --group.fields_left;
  } else if (schema_.node(node).repetition == Repetition::kRepeated) {
    repetition = schema_.node(node).max_repetition;
  } else {
    return Error(node, "stands twice, and is not repeated");
  }
  return absl::OkStatus();
}

absl::Status RecordShredder::BeginGroup(size_t node) {
  uint16_t repetition = 0;
  if (node != 0 || !open_.empty()) CFILE_RETURN_IF_ERROR(Enter(node, repetition));
  if (schema_.node(node).is_leaf()) return Error(node, "a value expected, found a group");
  open_.push_back({.node = node,
                   .repetition = repetition,
                   .fields_left = schema_.node(node).num_children,
                   .occurrence = ++occurrences_});
  return absl::OkStatus();
}

absl::Status RecordShredder::EndGroup(size_t node) {
  if (open_.empty() || open_.back().node != node) {
    return absl::InvalidArgumentError(StrCat("node ", node, " ends, and is not the open group"));
  }
  if (open_.back().fields_left > 0) CFILE_RETURN_IF_ERROR(FillMissing(open_.back()));
  open_.pop_back();
  if (open_.empty()) ++num_records_;
  return absl::OkStatus();
}

absl::Status RecordShredder::FillMissing(const Group& group) {
  const RecordNode& parent = schema_.node(group.node);
  for (size_t child = group.node + 1; child < parent.end; child = schema_.node(child).end) {
    if (seen_in_[child] == group.occurrence) continue;
    const RecordNode& missing = schema_.node(child);
    if (missing.repetition == Repetition::kRequired) return Error(child, "required and missing");
    for (size_t leaf = missing.first_leaf; leaf < missing.end_leaf; ++leaf) {
      leaves_[leaf]->AppendNull(group.repetition, parent.max_definition);
    }
    buffered_bytes_ += kEntryBytes * (missing.end_leaf - missing.first_leaf);
  }
  return absl::OkStatus();
}

absl::Status RecordShredder::Value(size_t node, const RecordValue& value) {
  uint16_t repetition;
  CFILE_RETURN_IF_ERROR(Enter(node, repetition));
  const RecordNode& leaf = schema_.node(node);
  if (!leaf.is_leaf()) return Error(node, "a group expected, found a value");
  if (!leaves_[leaf.first_leaf]->AppendValue(repetition, value)) {
    return Error(node, StrCat("a value of type ", leaf.type.ToString(), " expected"));
  }
  buffered_bytes_ += kEntryBytes + sizeof(std::string_view);
  if (const auto* bytes = std::get_if<std::string_view>(&value)) buffered_bytes_ += bytes->size();
  return absl::OkStatus();
}

void RecordShredder::Clear() {
  for (const auto& leaf : leaves_) leaf->Clear();
  buffered_bytes_ = 0;
}

}  // namespace cfile::internal
