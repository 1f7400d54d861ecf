// A CSV file with a header: named columns, nulls.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/io.h"
#include "tools/import/csv_reader.h"

namespace cfile::tools {

// Thread-compatible; a copy reads the same file for another thread.
class CsvInput {
 public:
  // Maps the file and reads its header. kInvalidArgument: the file is empty, or a column has no
  // name or that of another. A field is null if it stands unquoted and is empty or one of
  // `null_texts`.
  static absl::StatusOr<CsvInput> Open(const std::string& path, char delimiter,
                                       std::vector<std::string> null_texts);

  // Just behind the header at first.
  CsvReader& reader() { return reader_; }
  // Goes back there.
  void Rewind() { reader_.SeekToRange(first_row_, reader_.size()); }
  // Where that is, in the reader's terms.
  uint64_t first_row() const { return first_row_; }

  // Names, in the order of the file.
  const std::vector<std::string>& columns() const { return columns_; }
  std::optional<size_t> Find(std::string_view column) const;

  uint64_t size_bytes() const { return source_->size(); }

  bool IsNull(const CsvField& field) const {
    if (field.quoted) return false;
    return field.text.empty() ||
           (begins_null_text_[static_cast<uint8_t>(field.text.front())] && IsNullText(field.text));
  }

  // kInvalidArgument 'FILE:LINE:COLUMN: column "NAME": MESSAGE' for a field of the reader's last
  // record.
  absl::Status Error(size_t column, std::string_view message) const;
  absl::Status Error(size_t column, const absl::Status& status) const;

 private:
  CsvInput(std::shared_ptr<const Source> source, char delimiter,
           std::vector<std::string> null_texts);
  absl::Status ReadHeader();
  bool IsNullText(std::string_view text) const;

  std::shared_ptr<const Source> source_;
  CsvReader reader_;
  std::vector<std::string> null_texts_;
  std::array<bool, 256> begins_null_text_{};  // by first byte: nearly all fields are told by it
  std::vector<std::string> columns_;
  uint64_t first_row_ = 0;
};

}  // namespace cfile::tools
