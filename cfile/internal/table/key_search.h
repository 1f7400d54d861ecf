// Finds keys in the parts of a table. Used by TableCursor.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "cfile/internal/format/key_codec.h"
#include "cfile/internal/manifest/table_file.h"
#include "cfile/internal/table/part_cursor.h"
#include "cfile/predicate.h"
#include "cfile/scan.h"
#include "encodings/core/key_order.h"
#include "encodings/core/status.h"

namespace cfile::internal {

// kInvalidArgument if `key` is NaN. `directory`: of the table.
template <typename T>
absl::Status CheckKey(const std::string& directory, const T& key) {
  if (encodings::IsKey(key)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(directory, ": NaN cannot be a key"));
}

// Searches one column. Table is TableReader::Impl, see PartCursor. Positions count the rows of the
// table. Errors: those of TableCursor::SeekToKey. After an error the PartCursor may be anywhere.
// Thread-compatible.
template <typename T, typename Table>
class KeySearch {
 public:
  // `table` and `cursor`, a cursor of `column`, must outlive this object.
  KeySearch(const Table& table, size_t column, PartCursor<Cursor<T>, Table>& cursor)
      : table_(table), column_(column), cursor_(cursor) {}

  // Returns the position of the smallest key that is not less than `key`.
  // If several keys are equal, returns the position with the lowest ordinal.
  // Afterwards the cursor is at this position, if the part that contains it has a value index.
  absl::StatusOr<KeyPosition> Find(const T& key) {
    CFILE_RETURN_IF_ERROR(CheckKey(table_.name(), key));
    Wanted wanted(key, 0);
    if (!table_.manifest().root().chunks.empty()) {
      CFILE_RETURN_IF_ERROR(FindInChunks(wanted));
    } else {
      CFILE_RETURN_IF_ERROR(FindKeyedParts());
      if (ascending_) {
        wanted.part = FirstPartWith(wanted.bytes);
      } else {
        CFILE_RETURN_IF_ERROR(FindInAllParts({&wanted, 1}));
      }
    }
    if (!wanted.part.has_value()) return KeyPosition{.ordinal = table_.num_rows()};
    return HasIndex(*wanted.part) ? SeekInPart(*wanted.part, key) : wanted.position;
  }

  // Does Find for each of `keys`. Afterwards the cursor may be anywhere.
  absl::Status FindMany(std::span<const T> keys, std::span<KeyPosition> positions) {
    assert(keys.size() == positions.size());
    for (const T& key : keys) CFILE_RETURN_IF_ERROR(CheckKey(table_.name(), key));
    std::fill(positions.begin(), positions.end(), KeyPosition{.ordinal = table_.num_rows()});
    // Search a few keys one by one, because this does not need all chunks.
    const bool in_chunks = !keyed_parts_.has_value() && keys.size() < table_.num_parts() &&
                           !table_.manifest().root().chunks.empty();
    if (!in_chunks) CFILE_RETURN_IF_ERROR(FindKeyedParts());
    if (!in_chunks && ascending_) return SeekManyByPart(keys, positions);
    std::vector<Wanted> wanted;
    wanted.reserve(keys.size());
    for (size_t i = 0; i < keys.size(); ++i) wanted.emplace_back(keys[i], i);
    // Seeks to ascending keys open each block of a part once.
    std::sort(wanted.begin(), wanted.end(),
              [](const Wanted& a, const Wanted& b) { return a.bytes < b.bytes; });
    if (in_chunks) {
      for (Wanted& one : wanted) CFILE_RETURN_IF_ERROR(FindInChunks(one));
    } else {
      CFILE_RETURN_IF_ERROR(FindInAllParts(wanted));
    }
    for (const Wanted& found : wanted) {
      if (found.part.has_value()) positions[found.index] = found.position;
    }
    return absl::OkStatus();
  }

  // kFailedPrecondition if the rows of a range of keys may not be consecutive.
  absl::Status CheckRangesAreConsecutive() {
    CFILE_RETURN_IF_ERROR(FindKeyedParts());
    if (ascending_) return absl::OkStatus();
    const std::string range = absl::StrCat(table_.name(), ": the rows of a range of keys of ",
                                           "column ", table_.columns()[column_].name);
    for (const ManifestPart& part : *keyed_parts_) {
      if (HasIndex(part)) continue;
      return absl::FailedPreconditionError(
          absl::StrCat(range, " cannot be found, because part ", part.part->directory,
                       " has no value index of it: scan with a filter instead"));
    }
    return absl::FailedPreconditionError(
        absl::StrCat(range,
                     " are not consecutive, because parts overlap in key order: use a key cursor, "
                     "or scan with a filter"));
  }

 private:
  // A key to search in all parts, and the best position so far.
  struct Wanted {
    Wanted(const T& wanted_key, size_t index_in_keys) : key(wanted_key), index(index_in_keys) {
      AppendKey(key, bytes);
    }
    T key;
    std::string bytes;  // the key in memcmp form
    size_t index;       // in the caller's keys
    std::optional<ManifestPart> part = std::nullopt;
    std::string found = {};  // the key at `position`, in memcmp form, if `part` is set
    KeyPosition position = {};
  };

  const TablePartColumn& PartColumn(const ManifestPart& part) const {
    return part.part->columns[column_];
  }
  bool HasIndex(const ManifestPart& part) const { return PartColumn(part).min_key.has_value(); }

  absl::Status NoIndex() const {
    return absl::FailedPreconditionError(
        absl::StrCat(table_.name(), ": column ", table_.columns()[column_].name,
                     " cannot be searched by key: no part has a value index of it"));
  }

  // Fills keyed_parts_ and ascending_, once.
  absl::Status FindKeyedParts() {
    if (keyed_parts_.has_value()) return absl::OkStatus();
    std::vector<ManifestPart> parts;
    bool any_index = false;
    const auto add = [&](const ManifestPart& part) -> absl::StatusOr<bool> {
      const TablePartColumn& column = PartColumn(part);
      if (column.num_rows == 0) return true;
      any_index |= column.min_key.has_value();
      // If ascending_ is still true, all earlier parts have keys.
      ascending_ = ascending_ && column.min_key.has_value() &&
                   (parts.empty() || *PartColumn(parts.back()).max_key <= *column.min_key);
      parts.push_back(part);
      return true;
    };
    CFILE_RETURN_IF_ERROR(table_.manifest().ForEachPart(add));
    if (!parts.empty() && !any_index) return NoIndex();
    keyed_parts_ = std::move(parts);
    return absl::OkStatus();
  }

  // Does FindInPart for all parts, but reads only the chunks that may hold the key.
  absl::Status FindInChunks(Wanted& wanted) {
    bool any_part = false;
    bool any_index = false;
    bool visited_all = true;
    const auto wants = [&](const ChunkInfo& chunk) {
      const std::optional<BlockStatistics>& bounds = chunk.columns[column_];
      if (!bounds) return true;
      const bool below = bounds->max_key && *bounds->max_key < wanted.bytes;
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
    CFILE_RETURN_IF_ERROR(table_.manifest().ForEachPart(wants, visit));
    // Parts that were not visited may have an index.
    return visited_all && any_part && !any_index ? NoIndex() : absl::OkStatus();
  }

  // If the parts ascend: returns the first part that has a key not less than `wanted`.
  std::optional<ManifestPart> FirstPartWith(const std::string& wanted) const {
    const auto found = std::partition_point(
        keyed_parts_->begin(), keyed_parts_->end(),
        [&](const ManifestPart& part) { return *PartColumn(part).max_key < wanted; });
    return found == keyed_parts_->end() ? std::nullopt : std::optional(*found);
  }

  // If the parts ascend: does Find for each of `keys`, part by part. Does not set the positions of
  // keys that are greater than all keys of the table.
  absl::Status SeekManyByPart(std::span<const T> keys, std::span<KeyPosition> positions) {
    // The key is the number of a part.
    // The value has this part, and the positions in `keys` of the part's keys.
    std::map<uint64_t, std::pair<ManifestPart, std::vector<size_t>>> parts;
    std::string bytes;
    for (size_t i = 0; i < keys.size(); ++i) {
      bytes.clear();
      AppendKey(keys[i], bytes);
      const std::optional<ManifestPart> part = FirstPartWith(bytes);
      if (!part.has_value()) continue;
      parts.try_emplace(part->number, *part, std::vector<size_t>())
          .first->second.second.push_back(i);
    }
    const auto part_keys = std::make_unique<T[]>(keys.size());  // std::vector<bool> is not an array
    std::vector<KeyPosition> found;
    for (const auto& [number, chosen] : parts) {
      const auto& [part, indices] = chosen;
      for (size_t i = 0; i < indices.size(); ++i) part_keys[i] = keys[indices[i]];
      found.resize(indices.size());
      CFILE_ASSIGN_OR_RETURN(Cursor<T>* const cursor, cursor_.Enter(part));
      CFILE_RETURN_IF_ERROR(cursor->SeekMany({part_keys.get(), indices.size()}, found));
      for (size_t i = 0; i < indices.size(); ++i) {
        CFILE_ASSIGN_OR_RETURN(positions[indices[i]], InTable(part, found[i]));
      }
    }
    return absl::OkStatus();
  }

  // If the parts do not ascend: does Find for each of `keys`, without moving the cursor to the
  // result.
  absl::Status FindInAllParts(std::span<Wanted> keys) {
    for (const ManifestPart& part : *keyed_parts_) {
      for (Wanted& wanted : keys) CFILE_RETURN_IF_ERROR(FindInPart(part, wanted));
    }
    return absl::OkStatus();
  }

  // Sets the position of `wanted` to the key that Find wants in this part, if this key is less than
  // the keys found in earlier parts.
  absl::Status FindInPart(const ManifestPart& part, Wanted& wanted) {
    const bool any = wanted.part.has_value();
    if (any && wanted.position.exact) return absl::OkStatus();
    const TablePartColumn& column = PartColumn(part);
    if (!column.min_key.has_value()) return ScanPart(part, wanted);
    if (*column.max_key < wanted.bytes || (any && *column.min_key >= wanted.found)) {
      return absl::OkStatus();
    }
    std::string found;
    KeyPosition position{.ordinal = part.first_ordinal};
    if (*column.min_key >= wanted.bytes) {
      found = *column.min_key;
      position.exact = found == wanted.bytes;
    } else {
      CFILE_ASSIGN_OR_RETURN(position, SeekInPart(part, wanted.key));
      CFILE_ASSIGN_OR_RETURN(Cursor<T>* const cursor, cursor_.Enter(part));
      CFILE_ASSIGN_OR_RETURN(const Batch<T> batch, cursor->Next(1));
      AppendKey(batch.values[0], found);
    }
    if (any && found >= wanted.found) return absl::OkStatus();
    wanted.part = part;
    wanted.found = std::move(found);
    wanted.position = position;
    return absl::OkStatus();
  }

  // Does FindInPart in a part without a value index. Reads each block that the statistics of the
  // file do not exclude.
  absl::Status ScanPart(const ManifestPart& part, Wanted& wanted) {
    if constexpr (!std::is_same_v<T, Int96>) {  // int96 has no order
      CFILE_ASSIGN_OR_RETURN(const Reader reader, table_.OpenColumn(part, column_));
      CFILE_ASSIGN_OR_RETURN(auto scan,
                             reader.NewScan<T>(Predicate<T>::GreaterOrEqual(wanted.key)));
      std::string value;
      while (true) {
        CFILE_ASSIGN_OR_RETURN(const ScanBatch<T> batch, scan.Next());
        if (batch.empty()) break;
        for (size_t i = 0; i < batch.size(); ++i) {
          // The predicate treats -0 as equal to 0, but the key of -0 is less than that of 0.
          if (encodings::KeyLess<T>(batch.values[i], wanted.key)) continue;
          value.clear();
          AppendKey(batch.values[i], value);
          if (wanted.part.has_value() && value >= wanted.found) continue;
          wanted.part = part;
          wanted.found = value;
          wanted.position = {.ordinal = part.first_ordinal + batch.ordinals[i],
                             .exact = value == wanted.bytes};
          if (wanted.position.exact) return absl::OkStatus();
        }
      }
    }
    return absl::OkStatus();
  }

  // Moves the cursor to the first key that is not less than `key`, in a part with a value index
  // whose greatest key is not less than `key`.
  absl::StatusOr<KeyPosition> SeekInPart(const ManifestPart& part, const T& key) {
    CFILE_ASSIGN_OR_RETURN(Cursor<T>* const cursor, cursor_.Enter(part));
    CFILE_ASSIGN_OR_RETURN(const KeyPosition position, cursor->SeekToKey(key));
    return InTable(part, position);
  }

  // Converts a position in a part to a position in the table. kDataLoss if it is the part's end.
  absl::StatusOr<KeyPosition> InTable(const ManifestPart& part, const KeyPosition& position) const {
    if (position.ordinal < PartColumn(part).num_rows) {
      return KeyPosition{.ordinal = part.first_ordinal + position.ordinal, .exact = position.exact};
    }
    return encodings::DataLoss(
        ColumnFilePath(table_.name(), *part.part, column_),
        ": table.cft says that the greatest value is not below the searched key, found only values "
        "below it");
  }

  const Table& table_;
  const size_t column_;
  PartCursor<Cursor<T>, Table>& cursor_;
  std::optional<std::vector<ManifestPart>> keyed_parts_;  // set by FindKeyedParts: parts with rows
  // True if all parts with rows have a value index and follow each other in key order.
  bool ascending_ = true;
};

}  // namespace cfile::internal
