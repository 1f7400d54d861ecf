#include "cfile/parts/records/record_shredder.h"

#include "cfile/status.h"
#include "encodings/core/status.h"

namespace cfile::internal {
namespace {

// Approximate bytes of an entry without a value.
constexpr size_t kEntryBytes = 2 * sizeof(uint16_t);

}  // namespace

RecordShredder::RecordShredder(const RecordSchema& schema) : schema_(schema) {
  for (const RecordNode& node : schema.nodes()) {
    nodes_.push_back({.parent = node.parent,
                      .num_children = node.num_children,
                      .leaf = node.first_leaf,
                      .max_repetition = node.max_repetition,
                      .repeated = node.repetition == Repetition::kRepeated});
  }
  for (const size_t leaf : schema.leaves()) {
    leaves_.push_back(LeafBuffer::Create(schema_.node(leaf)));
  }
}

absl::Status RecordShredder::Error(size_t node, std::string_view what) const {
  return absl::InvalidArgumentError(
      StrCat(node == 0 ? schema_.node(0).name : schema_.Path(node), ": ", what));
}

bool RecordShredder::Enter(size_t node, uint16_t& repetition) {
  if (open_.empty() || node >= nodes_.size() || node == 0) return false;
  Group& group = open_.back();
  Node& entered = nodes_[node];
  if (entered.parent != group.node) return false;
  if (entered.seen_in != group.occurrence) {
    repetition = group.repetition;
    entered.seen_in = group.occurrence;
    --group.fields_left;
    return true;
  }
  repetition = entered.max_repetition;
  return entered.repeated;
}

absl::Status RecordShredder::Misplaced(size_t node) const {
  if (node >= nodes_.size()) return absl::InvalidArgumentError(StrCat("there is no node ", node));
  const bool in_group = !open_.empty() && node != 0 && nodes_[node].parent == open_.back().node;
  return Error(node, in_group ? "the field is set twice, but is not repeated"
                              : "it is not a field of the open group");
}

absl::Status RecordShredder::NotOpen(size_t node) {
  return absl::InvalidArgumentError(StrCat("node ", node, " ends, but is not the open group"));
}

absl::Status RecordShredder::WrongType(size_t node) const {
  return Error(node, StrCat("a value of type ", schema_.node(node).type.ToString(), " expected"));
}

absl::Status RecordShredder::BeginGroup(size_t node) {
  uint16_t repetition = 0;
  if ((node != 0 || !open_.empty()) && !Enter(node, repetition)) return Misplaced(node);
  const size_t num_children = nodes_[node].num_children;
  if (num_children == 0) return Error(node, "a value expected, found a group");
  open_.push_back({.node = node,
                   .repetition = repetition,
                   .fields_left = num_children,
                   .occurrence = ++occurrences_});
  return absl::OkStatus();
}

absl::Status RecordShredder::EndGroup(size_t node) {
  if (open_.empty() || open_.back().node != node) {
    return NotOpen(node);
  }
  if (open_.back().fields_left > 0) CFILE_RETURN_IF_ERROR(FillMissing(open_.back()));
  open_.pop_back();
  if (open_.empty()) ++num_records_;
  return absl::OkStatus();
}

absl::Status RecordShredder::FillMissing(const Group& group) {
  const RecordNode& parent = schema_.node(group.node);
  for (size_t child = group.node + 1; child < parent.end; child = schema_.node(child).end) {
    if (nodes_[child].seen_in == group.occurrence) continue;
    const RecordNode& missing = schema_.node(child);
    if (missing.repetition == Repetition::kRequired)
      return UnfitRows(Error(child, "the field is required, but missing"));
    for (size_t leaf = missing.first_leaf; leaf < missing.end_leaf; ++leaf) {
      leaves_[leaf]->AppendNull(group.repetition, parent.max_definition);
    }
    buffered_bytes_ += kEntryBytes * (missing.end_leaf - missing.first_leaf);
  }
  return absl::OkStatus();
}

absl::Status RecordShredder::Value(size_t node, const RecordValue& value) {
  uint16_t repetition;
  if (!Enter(node, repetition)) return Misplaced(node);
  if (nodes_[node].num_children > 0) return Error(node, "a group expected, found a value");
  if (!leaves_[nodes_[node].leaf]->AppendValue(repetition, value)) {
    return WrongType(node);
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
