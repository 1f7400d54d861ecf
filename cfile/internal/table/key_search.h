// Finds keys in the parts of a table. Used by TableCursor.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "cfile/internal/format/key_codec.h"
#include "cfile/internal/manifest/part_search.h"
#include "cfile/internal/table/part_cursor.h"
#include "cfile/predicate.h"
#include "cfile/scan.h"
#include "encodings/core/assert.h"
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
class KeySearch final : public PartSearch {
 public:
  // `table` and `cursor`, a cursor of `column`, must outlive this object.
  KeySearch(const Table& table, size_t column, PartCursor<Cursor<T>, Table>& cursor)
      : PartSearch(table.manifest(), column), table_(table), column_(column), cursor_(cursor) {}

  // Returns the position of the smallest key that is not less than `key`.
  // If several keys are equal, returns the position with the lowest ordinal.
  // Afterwards the cursor is at this position, if the part that contains it has a value index.
  absl::StatusOr<KeyPosition> Find(const T& key) {
    CFILE_RETURN_IF_ERROR(CheckKey(table_.name(), key));
    keys_ = {&key, 1};
    Wanted wanted;
    AppendFirstEqualKey(key, wanted.key);
    CFILE_RETURN_IF_ERROR(FindPart(wanted));
    if (!wanted.part.has_value()) return KeyPosition{.ordinal = table_.num_rows()};
    return HasIndex(*wanted.part) ? Seek(*wanted.part, key) : wanted.position;
  }

  // Does Find for each of `keys`. Afterwards the cursor may be anywhere.
  absl::Status FindMany(std::span<const T> keys, std::span<KeyPosition> positions) {
    CFILE_ASSERT(keys.size() == positions.size());
    for (const T& key : keys) CFILE_RETURN_IF_ERROR(CheckKey(table_.name(), key));
    keys_ = keys;
    std::fill(positions.begin(), positions.end(), KeyPosition{.ordinal = table_.num_rows()});
    return FindPositions(
        [keys](size_t i, std::string& bytes) { AppendFirstEqualKey(keys[i], bytes); }, positions);
  }

 private:
  static void AppendFirstEqualKey(const T& key, std::string& bytes) {
    AppendKey(encodings::FirstEqualKey(key), bytes);
  }

  absl::StatusOr<KeyPosition> Seek(const ManifestPart& part, const T& key) {
    CFILE_ASSIGN_OR_RETURN(Cursor<T>* const cursor, cursor_.Enter(part));
    CFILE_ASSIGN_OR_RETURN(const KeyPosition position, cursor->SeekToKey(key));
    return InTable(part, position);
  }

  absl::StatusOr<KeyPosition> SeekInPart(const ManifestPart& part, const Wanted& wanted,
                                         std::string& found) override {
    CFILE_ASSIGN_OR_RETURN(const KeyPosition position, Seek(part, keys_[wanted.index]));
    CFILE_ASSIGN_OR_RETURN(Cursor<T>* const cursor, cursor_.Enter(part));
    CFILE_ASSIGN_OR_RETURN(const Batch<T> batch, cursor->Next(1));
    AppendFirstEqualKey(batch.values[0], found);
    return position;
  }

  absl::Status SeekManyInPart(const ManifestPart& part, std::span<const size_t> indices,
                              std::span<KeyPosition> positions) override {
    const auto keys = std::make_unique<T[]>(indices.size());  // std::vector<bool> is not an array
    for (size_t i = 0; i < indices.size(); ++i) keys[i] = keys_[indices[i]];
    CFILE_ASSIGN_OR_RETURN(Cursor<T>* const cursor, cursor_.Enter(part));
    CFILE_RETURN_IF_ERROR(cursor->SeekMany({keys.get(), indices.size()}, positions));
    for (KeyPosition& position : positions) {
      CFILE_ASSIGN_OR_RETURN(position, InTable(part, position));
    }
    return absl::OkStatus();
  }

  // Reads each block that the statistics of the file do not exclude.
  absl::Status ScanPart(const ManifestPart& part, Wanted& wanted) override {
    if constexpr (!std::is_same_v<T, Int96>) {  // int96 has no order
      const T& key = keys_[wanted.index];
      CFILE_ASSIGN_OR_RETURN(const Reader reader, table_.OpenColumn(part, column_));
      CFILE_ASSIGN_OR_RETURN(auto scan, reader.NewScan<T>(Predicate<T>::GreaterOrEqual(key)));
      std::string value;
      while (true) {
        CFILE_ASSIGN_OR_RETURN(const ScanBatch<T> batch, scan.Next());
        if (batch.empty()) break;
        for (size_t i = 0; i < batch.size(); ++i) {
          value.clear();
          AppendFirstEqualKey(batch.values[i], value);
          if (wanted.part.has_value() && value >= wanted.found) continue;
          const bool exact = value == wanted.key;
          wanted.GoTo(part, value,
                      {.ordinal = part.first_ordinal + batch.ordinals[i], .exact = exact});
          if (exact) return absl::OkStatus();
        }
      }
    }
    return absl::OkStatus();
  }

  const Table& table_;
  const size_t column_;
  PartCursor<Cursor<T>, Table>& cursor_;
  std::span<const T> keys_;  // of the call that is running
};

}  // namespace cfile::internal
