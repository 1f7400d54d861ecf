#include "cfile/parts/table/manifest/part_search.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cfile/parts/table/manifest/part_bounds.h"
#include "cfile/parts/table/manifest/table_file.h"
#include "encodings/core/status.h"

namespace cfile::internal {

absl::Status PartSearch::FindPart(Wanted& wanted) {
  if (!manifest_.root().chunks.empty()) return FindInChunks(wanted);
  CFILE_RETURN_IF_ERROR(FindKeyedParts());
  if (!in_key_order_) return FindInAllParts({&wanted, 1});
  wanted.part = FirstPartWith(wanted.key);
  return absl::OkStatus();
}

absl::Status PartSearch::FindPositions(AppendKeyOf append_key, std::span<KeyPosition> positions) {
  // Search a few keys one by one, because this does not need all chunks.
  const bool in_chunks = !keyed_parts_.has_value() && positions.size() < manifest_.num_parts() &&
                         !manifest_.root().chunks.empty();
  if (!in_chunks) CFILE_RETURN_IF_ERROR(FindKeyedParts());
  if (!in_chunks && in_key_order_) return SeekManyByPart(append_key, positions);
  std::vector<Wanted> keys(positions.size());
  for (size_t i = 0; i < keys.size(); ++i) {
    keys[i].index = i;
    append_key(i, keys[i].key);
  }
  // If the keys are sorted, the seeks open each block of a part once.
  std::sort(keys.begin(), keys.end(),
            [](const Wanted& a, const Wanted& b) { return a.key < b.key; });
  if (in_chunks) {
    for (Wanted& wanted : keys) CFILE_RETURN_IF_ERROR(FindInChunks(wanted));
  } else {
    CFILE_RETURN_IF_ERROR(FindInAllParts(keys));
  }
  for (const Wanted& found : keys) {
    if (found.part.has_value()) positions[found.index] = found.position;
  }
  return absl::OkStatus();
}

absl::Status PartSearch::CheckRangesAreConsecutive() {
  CFILE_RETURN_IF_ERROR(FindKeyedParts());
  if (in_key_order_) return absl::OkStatus();
  const std::string range = absl::StrCat(manifest_.directory(), ": the rows of a range of keys of ",
                                         "column ", manifest_.layout().columns()[column_].name);
  for (const ManifestPart& part : *keyed_parts_) {
    if (HasIndex(part)) continue;
    return absl::FailedPreconditionError(
        absl::StrCat(range, " cannot be found, because part ", part.part->directory,
                     " has no value index of it: scan with a filter instead"));
  }
  return absl::FailedPreconditionError(
      absl::StrCat(range,
                   " are not consecutive, because parts overlap in key order: use a MergeCursor, "
                   "or scan with a filter"));
}

absl::StatusOr<KeyPosition> PartSearch::InTable(const ManifestPart& part,
                                                const KeyPosition& position) const {
  if (position.ordinal < PartColumn(part).num_rows) {
    return KeyPosition{.ordinal = part.first_ordinal + position.ordinal, .exact = position.exact};
  }
  return encodings::DataLoss(
      ColumnFilePath(manifest_.directory(), *part.part, column_),
      ": table.cft says that the greatest value is not below the searched key, found only values "
      "below it");
}

absl::Status PartSearch::NoIndex() const {
  return absl::FailedPreconditionError(
      absl::StrCat(manifest_.directory(), ": column ", manifest_.layout().columns()[column_].name,
                   " cannot be searched by key: no part has a value index of it"));
}

absl::Status PartSearch::FindKeyedParts() {
  if (keyed_parts_.has_value()) return absl::OkStatus();
  std::vector<ManifestPart> parts;
  bool any_index = false;
  const auto add = [&](const ManifestPart& part) -> absl::StatusOr<bool> {
    const TablePartColumn& column = PartColumn(part);
    if (column.num_rows == 0) return true;
    any_index |= column.min_key.has_value();
    // If in_key_order_ is still true, all earlier parts have keys.
    in_key_order_ = in_key_order_ && column.min_key.has_value() &&
                    (parts.empty() || *PartColumn(parts.back()).max_key <= *column.min_key);
    parts.push_back(part);
    return true;
  };
  CFILE_RETURN_IF_ERROR(manifest_.ForEachPart(add));
  if (!parts.empty() && !any_index) return NoIndex();
  keyed_parts_ = std::move(parts);
  return absl::OkStatus();
}

absl::Status PartSearch::FindInChunks(Wanted& wanted) {
  bool any_part = false;
  bool any_index = false;
  bool visited_all = true;
  const auto wants = [&](const ChunkInfo& chunk) {
    const std::optional<BlockStatistics>& bounds = chunk.columns[column_];
    if (!bounds) return true;
    const bool below = bounds->max_key && *bounds->max_key < wanted.key;
    const bool above = wanted.part && bounds->min_key && *bounds->min_key >= wanted.found;
    visited_all = visited_all && !below && !above;
    return !below && !above;
  };
  const auto visit = [&](const ManifestPart& part) -> absl::StatusOr<bool> {
    if (part.part->num_rows == 0) return true;
    any_part = true;
    any_index |= HasIndex(part);
    CFILE_RETURN_IF_ERROR(FindInPart(part, wanted));
    const bool done = wanted.part && wanted.position.exact;
    visited_all = visited_all && !done;
    return !done;
  };
  CFILE_RETURN_IF_ERROR(manifest_.ForEachPart(wants, visit));
  // Parts that were not visited may have an index.
  return visited_all && any_part && !any_index ? NoIndex() : absl::OkStatus();
}

std::optional<ManifestPart> PartSearch::FirstPartWith(const std::string& key) const {
  const auto found = std::partition_point(
      keyed_parts_->begin(), keyed_parts_->end(),
      [&](const ManifestPart& part) { return *PartColumn(part).max_key < key; });
  return found == keyed_parts_->end() ? std::nullopt : std::optional(*found);
}

absl::Status PartSearch::SeekManyByPart(AppendKeyOf append_key, std::span<KeyPosition> positions) {
  // By the number of the part: the part, and the indices of its keys.
  std::map<uint64_t, std::pair<ManifestPart, std::vector<size_t>>> parts;
  std::string key;
  for (size_t i = 0; i < positions.size(); ++i) {
    key.clear();
    append_key(i, key);
    const std::optional<ManifestPart> part = FirstPartWith(key);
    if (!part.has_value()) continue;
    parts.try_emplace(part->number, *part, std::vector<size_t>()).first->second.second.push_back(i);
  }
  std::vector<KeyPosition> found;
  for (const auto& [number, chosen] : parts) {
    const auto& [part, indices] = chosen;
    found.resize(indices.size());
    CFILE_RETURN_IF_ERROR(SeekManyInPart(part, indices, found));
    for (size_t i = 0; i < indices.size(); ++i) positions[indices[i]] = found[i];
  }
  return absl::OkStatus();
}

absl::Status PartSearch::FindInAllParts(std::span<Wanted> keys) {
  for (const ManifestPart& part : *keyed_parts_) {
    for (Wanted& wanted : keys) CFILE_RETURN_IF_ERROR(FindInPart(part, wanted));
  }
  return absl::OkStatus();
}

absl::Status PartSearch::FindInPart(const ManifestPart& part, Wanted& wanted) {
  const bool any = wanted.part.has_value();
  if (any && wanted.position.exact) return absl::OkStatus();
  const TablePartColumn& column = PartColumn(part);
  if (!column.min_key.has_value()) return ScanPart(part, wanted);
  if (*column.max_key < wanted.key || (any && *column.min_key >= wanted.found))
    return absl::OkStatus();
  std::string found;
  KeyPosition position{.ordinal = part.first_ordinal};
  if (*column.min_key >= wanted.key) {
    // Of two bounds that are equal, this is the lower one (-0).
    found = *BoundsOf(column, manifest_.layout().columns()[column_]).min_key;
    position.exact = found == wanted.key;
  } else {
    CFILE_ASSIGN_OR_RETURN(position, SeekInPart(part, wanted, found));
  }
  if (!any || found < wanted.found) wanted.GoTo(part, std::move(found), position);
  return absl::OkStatus();
}

}  // namespace cfile::internal
