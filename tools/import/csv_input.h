// A CSV file with named columns and nulls.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/io.h"
#include "tools/import/csv_reader.h"
#include "tools/records/type_inference.h"

namespace cfile::tools {

// Whether the first record has the names of the columns.
enum class Header : uint8_t { kAuto, kYes, kNo };

// A column whose name in the file is empty, or is that of another column.
struct RenamedColumn {
  size_t column = 0;  // from 0
  std::string from;   // empty: the file has no name for it
  std::string to;
};

// Thread-compatible. Another thread can use a copy to read the same file.
class CsvInput {
 public:
  // The approximate size of a piece in bytes of text, which fits into the cache of a core. Passing
  // it to another thread costs little. A piece ends at the end of a record.
  static constexpr uint64_t kPieceBytes = 256 << 10;

  // Reads the first record as the header. A field is null if it is unquoted and is empty or one of
  // `null_texts`. Precondition: source->InMemory() has the text. kInvalidArgument: the file is
  // empty or not text in UTF-8, or a name in the header is not UTF-8.
  static absl::StatusOr<CsvInput> Open(std::shared_ptr<const Source> source,
                                       const CsvDialect& dialect,
                                       std::vector<std::string> null_texts);

  // Treats the first record as a row instead of a header, and names the columns column_1, column_2,
  // ...
  void TakeHeaderForRow();
  bool has_header() const { return has_header_; }
  // Names the columns `names`, even if TakeHeaderForRow is called later. kInvalidArgument: there is
  // another number of columns, or a name is empty or repeated.
  absl::Status SetNames(const std::vector<std::string>& names);

  // From now on, there are only these columns, in this order. kInvalidArgument: a column is not
  // there, or repeated.
  absl::Status Choose(const std::vector<std::string>& columns);
  // Says which columns take IsMissingText for null: bit by the number of the column.
  void TakeMissing(std::vector<bool> columns) {
    takes_missing_ = std::make_shared<const std::vector<bool>>(std::move(columns));
  }

  // After Open the reader is at the record after the header.
  CsvReader& reader() { return reader_; }
  const CsvReader& reader() const { return reader_; }
  void Rewind() { reader_.SeekToRange(first_row_, reader_.size()); }
  // The offsets of the first row and of the first record (CsvReader::offset).
  uint64_t first_row() const { return first_row_; }
  uint64_t first_record() const { return first_record_; }

  // The piece that begins at `next`, which becomes its end; nullopt at the end of the text.
  std::optional<RecordPlace> NextPiece(uint64_t& next) const;

  // In the order of the file. No two are equal.
  const std::vector<std::string>& columns() const { return names_->columns; }
  const std::vector<RenamedColumn>& renamed() const { return names_->renamed; }
  std::optional<size_t> Find(std::string_view column) const;

  const std::string& name() const { return source_->name(); }
  uint64_t size_bytes() const { return source_->size(); }

  // Frees the memory of the text from `begin` to `end`, which the system loads again if it is read
  // again.
  void Release(uint64_t begin, uint64_t end) const;

  // Adds field `column` of the reader's last record, which is not null.
  void AddTo(TypeInference& inference, size_t column);

  // Whether field `column` of the reader's last record is null.
  bool IsNull(size_t column) const {
    const CsvField& field = reader_.fields()[column];
    if (field.quoted) return false;
    return field.text.empty() ||
           (begins_null_text_[static_cast<uint8_t>(field.text.front())] &&
            IsNullText(field.text)) ||
           (takes_missing_ != nullptr && (*takes_missing_)[column] && IsMissingText(field.text));
  }

  // kInvalidArgument 'FILE:LINE:COLUMN: column "NAME": MESSAGE' for a field of the reader's last
  // record.
  absl::Status Error(size_t column, std::string_view message) const;
  absl::Status Error(size_t column, const absl::Status& status) const;

 private:
  CsvInput(std::shared_ptr<const Source> source, const CsvDialect& dialect,
           std::vector<std::string> null_texts);
  struct ColumnNames {
    std::vector<std::string> columns;
    std::vector<RenamedColumn> renamed;
    std::unordered_map<std::string_view, size_t> numbers;  // index of each column, by name
  };
  static std::shared_ptr<ColumnNames> NameColumns(std::span<const CsvField> header);
  absl::Status ReadHeader();
  bool IsNullText(std::string_view text) const;

  std::shared_ptr<const Source> source_;
  CsvReader reader_;
  std::vector<std::string> null_texts_;
  std::array<bool, 256> begins_null_text_{};  // by first byte: quickly excludes most fields
  std::shared_ptr<const std::vector<bool>> takes_missing_;  // null: none
  std::shared_ptr<const ColumnNames> names_;                // shared by all copies
  std::string scratch_;
  bool decimal_comma_ = false;
  bool has_header_ = true;
  bool names_are_set_ = false;
  uint64_t first_record_ = 0;
  uint64_t first_row_ = 0;
};

}  // namespace cfile::tools
