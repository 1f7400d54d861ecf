// Reads the records of a JSON file: the lines of JSON Lines, or the elements of an array.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/io.h"

namespace cfile::tools {

// The number of bytes after each line that must be readable, because simdjson reads beyond the end
// of the text.
inline constexpr size_t kJsonPadding = 64;

// True if `json` is a JSON object, checked completely.
bool IsJsonObject(std::string_view json);

// If the file begins with [, it is an array of records, which may have line ends anywhere.
// Otherwise each line is a record. Skips blank lines, and a byte order mark at the start of the
// file. Thread-compatible. Memory: about 1 MiB plus twice the longest record.
class JsonLines {
 public:
  // `at`: the names of the fields that lead to the array of the records, for example {"results"}
  // for {"results": [...]}. Empty: the file consists of the records.
  explicit JsonLines(std::shared_ptr<const Source> source, std::vector<std::string> at = {})
      : source_(std::move(source)), at_(std::move(at)) {}

  // The next record, without its line end, valid until the next call; nullopt after the last one.
  // kInvalidArgument, with the line: an array is not closed, or a comma is missing or superfluous.
  // The record itself is not checked.
  absl::StatusOr<std::optional<std::string_view>> Next();
  // Moves back to the first record.
  void Rewind();

  // The number of the line in which the last record begins, counted from 1.
  uint64_t line_number() const { return line_number_; }
  // offset: the number of bytes up to the end of the record that Next returned last. size: the
  // number of bytes of the file.
  uint64_t offset() const { return offset_ - (end_ - begin_); }
  uint64_t size() const { return source_->size(); }

  // Adds "PATH:LINE: " of the last record to the message of kInvalidArgument or kOutOfRange, and to
  // no other.
  absl::Status Error(const absl::Status& status) const;

 private:
  // Reads more of the file into buffer_; false at the end of the file.
  absl::StatusOr<bool> Fill();
  // Sets is_array_, and skips a byte order mark and the [ of an array.
  absl::Status Begin();
  absl::StatusOr<std::optional<std::string_view>> NextLine();
  absl::StatusOr<std::optional<std::string_view>> NextElement();
  // Skips blanks, and counts the lines in them. Returns the next character; 0 at the end.
  absl::StatusOr<char> SkipBlanks();
  // Moves to the array that at_ names.
  absl::Status FindArray();
  absl::Status Wrong(std::string_view what);
  // Returns the size of the element at begin_, or of the key of a field.
  absl::StatusOr<size_t> ElementSize();

  std::shared_ptr<const Source> source_;
  const std::vector<std::string> at_;
  std::string buffer_;  // [begin_, end_): bytes that were read but not returned yet
  size_t begin_ = 0;
  size_t end_ = 0;
  uint64_t offset_ = 0;  // position of end_ in the file
  uint64_t line_number_ = 0;
  bool begun_ = false;
  bool is_array_ = false;
  bool is_first_ = true;    // of an array: there was no element yet
  uint64_t next_line_ = 1;  // of an array: the line of begin_
};

}  // namespace cfile::tools
