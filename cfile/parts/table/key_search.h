// Finds keys in the parts of a table. Used by TableCursor.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "cfile/core/format/key_codec.h"
#include "cfile/parts/scan/value_scan.h"
#include "cfile/parts/table/manifest/part_search.h"
#include "cfile/parts/table/part_cursor.h"
#include "encodings/core/assert.h"
#include "encodings/core/lane.h"
#include "encodings/core/status.h"

namespace cfile::internal {

// kInvalidArgument if `key` is NaN. `directory`: of the table.
inline absl::Status CheckKey(const std::string& directory, KeyRef key) {
  if (IsKey(key)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(directory, ": NaN cannot be a key"));
}

// Searches one column. Table is TableReader::Impl, see PartCursor. A `void*` key and the values of
// a ValueSpan have the column's C++ type. A position is the number of a row in the table. Errors:
// those of TableCursor::SeekToKey. After an error the position of the PartCursor is unspecified.
// Thread-compatible.
template <typename Table>
class KeySearch final : public PartSearch {
 public:
  // `table` and `cursor`, a cursor of `column`, must outlive this object.
  KeySearch(const Table& table, size_t column, PartCursor<ValueCursor, Table>& cursor)
      : PartSearch(table.manifest(), column),
        table_(table),
        column_(column),
        type_(table.columns()[column].type.physical()),
        lane_(encodings::LaneOf(type_)),
        cursor_(cursor) {}

  // Returns the position of the smallest key that is not less than `key`; of equal keys, the one
  // with the lowest ordinal. Afterwards the cursor is at this position, if the part that contains
  // it has a value index.
  absl::StatusOr<KeyPosition> Find(const void* key) {
    CFILE_RETURN_IF_ERROR(CheckKey(table_.name(), {key, type_}));
    keys_ = key;
    Wanted wanted;
    AppendFirstEqualKey(key, wanted.key);
    CFILE_RETURN_IF_ERROR(FindPart(wanted));
    if (!wanted.part.has_value()) return KeyPosition{.ordinal = table_.num_rows()};
    return HasIndex(*wanted.part) ? Seek(*wanted.part, key) : wanted.position;
  }

  // Does Find for each of `keys`. Afterwards the cursor may be anywhere.
  absl::Status FindMany(encodings::ValueSpan keys, std::span<KeyPosition> positions) {
    CFILE_ASSERT(keys.count == positions.size());
    keys_ = keys.data;
    for (size_t i = 0; i < keys.count; ++i)
      CFILE_RETURN_IF_ERROR(CheckKey(table_.name(), {Key(i), type_}));
    std::fill(positions.begin(), positions.end(), KeyPosition{.ordinal = table_.num_rows()});
    return FindPositions(
        [this](size_t i, std::string& bytes) { AppendFirstEqualKey(Key(i), bytes); }, positions);
  }

 private:
  const void* Key(size_t i) const { return encodings::ValueAt(keys_, lane_, i); }
  void AppendFirstEqualKey(const void* key, std::string& bytes) const {
    AppendKey(KeyRef{FirstEqualKey({key, type_}), type_}, bytes);
  }

  absl::StatusOr<KeyPosition> Seek(const ManifestPart& part, const void* key) {
    CFILE_ASSIGN_OR_RETURN(ValueCursor* const cursor, cursor_.Enter(part));
    CFILE_ASSIGN_OR_RETURN(const KeyPosition position, cursor->SeekToKey(key));
    return InTable(part, position);
  }

  absl::StatusOr<KeyPosition> SeekInPart(const ManifestPart& part, const Wanted& wanted,
                                         std::string& found) override {
    CFILE_ASSIGN_OR_RETURN(const KeyPosition position, Seek(part, Key(wanted.index)));
    CFILE_ASSIGN_OR_RETURN(ValueCursor* const cursor, cursor_.Enter(part));
    CFILE_ASSIGN_OR_RETURN(const AnyBatch batch, cursor->Next(1));
    AppendFirstEqualKey(batch.values, found);
    return position;
  }

  absl::Status SeekManyInPart(const ManifestPart& part, std::span<const size_t> indices,
                              std::span<KeyPosition> positions) override {
    const size_t width = encodings::WidthOf(lane_);
    const auto keys = std::make_unique_for_overwrite<std::byte[]>(indices.size() * width);
    for (size_t i = 0; i < indices.size(); ++i)
      std::memcpy(keys.get() + i * width, Key(indices[i]), width);
    CFILE_ASSIGN_OR_RETURN(ValueCursor* const cursor, cursor_.Enter(part));
    CFILE_RETURN_IF_ERROR(cursor->SeekMany({keys.get(), indices.size()}, positions));
    for (KeyPosition& position : positions) {
      CFILE_ASSIGN_OR_RETURN(position, InTable(part, position));
    }
    return absl::OkStatus();
  }

  // Reads each block that the statistics of the file do not exclude.
  absl::Status ScanPart(const ManifestPart& part, Wanted& wanted) override {
    if (type_ == PhysicalType::kInt96) return absl::OkStatus();  // int96 has no order
    CFILE_ASSIGN_OR_RETURN(const Reader reader, table_.OpenColumn(part, column_));
    CFILE_ASSIGN_OR_RETURN(auto scan,
                           NewValueScan(ReaderAccess::File(reader),
                                        MatchAtLeast({Key(wanted.index), type_}), kAllRows));
    std::string value;
    while (true) {
      CFILE_ASSIGN_OR_RETURN(const AnyScanBatch batch, scan->Next());
      if (batch.ordinals.empty()) break;
      for (size_t i = 0; i < batch.ordinals.size(); ++i) {
        value.clear();
        AppendFirstEqualKey(encodings::ValueAt(batch.values, lane_, i), value);
        if (wanted.part.has_value() && value >= wanted.found) continue;
        const bool exact = value == wanted.key;
        wanted.GoTo(part, value,
                    {.ordinal = part.first_ordinal + batch.ordinals[i], .exact = exact});
        if (exact) return absl::OkStatus();
      }
    }
    return absl::OkStatus();
  }

  const Table& table_;
  const size_t column_;
  const PhysicalType type_;
  const encodings::Lane lane_;
  PartCursor<ValueCursor, Table>& cursor_;
  const void* keys_ = nullptr;  // of the call that is running
};

}  // namespace cfile::internal
