#include "cfile/parts/parquet/shared_levels.h"

#include <algorithm>
#include <string_view>

#include "absl/hash/hash.h"
#include "cfile/core/format/level_block.h"
#include "encodings/core/status.h"

namespace cfile::internal {
namespace {

using encodings::DataLoss;

// The nearest group that a leaf and the next one are in.
size_t SharedGroup(const RecordSchema& tree, size_t leaf) {
  size_t group = tree.node(tree.leaves()[leaf]).parent;
  while (tree.node(group).end_leaf <= leaf + 1) group = tree.node(group).parent;
  return group;
}

uint64_t HashOf(uint64_t hash, std::span<const uint32_t> levels) {
  return absl::HashOf(
      hash, std::string_view(reinterpret_cast<const char*>(levels.data()), levels.size_bytes()));
}

}  // namespace

void LevelCheck::Digest::Add(const uint16_t* repetition, const uint16_t* definition, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (repetition[i] > max_repetition_) continue;
    waiting_[num_waiting_++] =
        uint32_t{repetition[i]} << 16 | std::min(definition[i], max_definition_);
    if (num_waiting_ < waiting_.size()) continue;
    hash_ = HashOf(hash_, waiting_);
    num_entries_ += num_waiting_;
    num_waiting_ = 0;
  }
}

GroupLevels LevelCheck::Digest::levels() const {
  return {.num_entries = num_entries_ + num_waiting_,
          .hash = HashOf(hash_, std::span(waiting_).first(num_waiting_))};
}

LevelCheck::LevelCheck(const RecordSchema& tree, size_t leaf)
    : limits_{.max_repetition = tree.leaf(leaf).max_repetition,
              .max_definition = tree.leaf(leaf).max_definition},
      list_definition_(limits_.max_repetition + 1) {
  for (size_t node = tree.leaves()[leaf]; node != 0; node = tree.node(node).parent) {
    const RecordNode& each = tree.node(node);
    if (each.repetition == Repetition::kRepeated)
      list_definition_[each.max_repetition] = each.max_definition;
  }
  if (leaf > 0) before_ = Digest(tree.node(SharedGroup(tree, leaf - 1)));
  if (leaf + 1 < tree.leaves().size()) after_ = Digest(tree.node(SharedGroup(tree, leaf)));
}

void LevelCheck::Begin() {
  last_definition_ = 0;
  num_entries_ = 0;
  before_.Clear();
  after_.Clear();
}

absl::Status LevelCheck::Add(std::span<const uint8_t> repetition,
                             std::span<const uint8_t> definition, uint32_t num_entries) {
  if (limits_.max_repetition == 0 && !before_.needed() && !after_.needed()) return absl::OkStatus();
  constexpr size_t kMaxLevels = 2048;
  uint16_t repetition_levels[kMaxLevels] = {};  // stays 0 if nothing is repeated
  uint16_t definition_levels[kMaxLevels];
  LevelDecoder decoder;
  decoder.Open({.repetition = repetition, .definition = definition}, limits_);
  for (size_t left = num_entries; left > 0;) {
    const size_t count = std::min(left, kMaxLevels);
    CFILE_RETURN_IF_ERROR(decoder.Read(repetition_levels, definition_levels, count));
    if (limits_.max_repetition > 0)
      CFILE_RETURN_IF_ERROR(CheckLists(repetition_levels, definition_levels, count));
    if (before_.needed()) before_.Add(repetition_levels, definition_levels, count);
    if (after_.needed()) after_.Add(repetition_levels, definition_levels, count);
    num_entries_ += count;
    left -= count;
  }
  return absl::OkStatus();
}

absl::Status LevelCheck::CheckLists(const uint16_t* repetition, const uint16_t* definition,
                                    size_t count) {
  for (size_t i = 0; i < count; ++i) {
    const uint16_t least = list_definition_[repetition[i]];
    if (std::min(definition[i], last_definition_) < least && repetition[i] > 0) {
      return DataLoss("entry ", num_entries_ + i, " of the column chunk has repetition level ",
                      repetition[i], ", so it and the entry before need a definition level of ",
                      least, " or more, found ", definition[i], " and ", last_definition_);
    }
    last_definition_ = definition[i];
  }
  return absl::OkStatus();
}

absl::Status CompareLevels(const RecordSchema& tree, size_t leaf, const GroupLevels& after,
                           const GroupLevels& before) {
  if (after == before) return absl::OkStatus();
  const std::string first = tree.Path(tree.leaves()[leaf]);
  const std::string second = tree.Path(tree.leaves()[leaf + 1]);
  const std::string group = tree.Path(SharedGroup(tree, leaf));
  if (after.num_entries != before.num_entries) {
    return DataLoss("column ", first, " has ", after.num_entries, " entries of group ", group,
                    ", but column ", second, " has ", before.num_entries);
  }
  return DataLoss("columns ", first, " and ", second, " have different levels of group ", group,
                  ", which both are in");
}

}  // namespace cfile::internal
