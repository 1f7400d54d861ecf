// Reads CSV (RFC 4180) from memory, record by record.
//
//   CsvReader reader("flights.csv", text, ',');
//   for (auto more = reader.Next(); more.ok() && *more; more = reader.Next()) Use(reader.fields());
//
// A record ends with LF or CRLF; the last one may end with the text. A quoted field may contain
// delimiters, line ends and quotes; each quote inside is written twice. A UTF-8 byte order mark at
// the start is skipped. Blank lines are skipped before the first record; after it they are skipped
// unless records have a single field.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace cfile::tools {

struct CsvField {
  std::string_view text;  // the value: without the enclosing quotes, quotes inside written once
  const char* start =
      nullptr;  // start of the field in the reader's text, at the opening quote if it is quoted
  bool quoted = false;
};

// Copies a field only if it has quotes inside. Allocates no memory once its buffers are large
// enough for the records. Thread-compatible. Another thread can use a copy to read the same text.
class CsvReader {
 public:
  // `name` names the text in error messages. `text` must outlive the reader. Precondition:
  // `delimiter` is not a quote, CR or LF.
  CsvReader(std::string name, std::string_view text, char delimiter);

  // Reads the next record; false at the end of the text. kInvalidArgument, with name, line and
  // column: a stray quote, a quote that is never closed, a CR without LF, a record with another
  // number of fields than the first one that was read.
  absl::StatusOr<bool> Next();

  // The fields of the last record. Valid until the next call of Next.
  std::span<const CsvField> fields() const { return fields_; }

  // Where the last record begins, and where the next one begins: in bytes from the start of the
  // text, after its byte order mark.
  uint64_t record_offset() const { return static_cast<uint64_t>(record_ - text_.data()); }
  uint64_t offset() const { return static_cast<uint64_t>(next_ - text_.data()); }
  // Moves to the record at `begin`. Next then returns false at `end`, as at the end of the text.
  // Precondition: a record begins at `begin`; a record or the text ends at `end`.
  void SeekToRange(uint64_t begin, uint64_t end) {
    next_ = text_.data() + begin;
    end_ = text_.data() + end;
  }
  // The end of the record that contains the byte `begin` + `min_bytes`, or the end of the text.
  // Counts quotes, which is many times faster than Next, and is correct if Next finds no error.
  // Precondition: a record begins at `begin`.
  uint64_t RecordEnd(uint64_t begin, uint64_t min_bytes) const;
  // An upper bound on the number of records from `begin` to `end`; a tight one in most texts.
  size_t MaxRecords(uint64_t begin, uint64_t end) const;
  // Bytes of the text; the value of offset() at the end.
  uint64_t size() const { return text_.size(); }

  // True if `part` points into the text, and so is valid as long as the text is.
  bool Holds(std::string_view part) const {
    return part.data() >= text_.data() && part.data() <= text_.data() + text_.size();
  }

  // kInvalidArgument "NAME:LINE:COLUMN: MESSAGE" for a place in the text. LINE and COLUMN are
  // counted from 1, COLUMN in characters.
  absl::Status Error(const char* place, std::string_view message) const;

 private:
  absl::Status ReadRecord();
  absl::Status ReadQuoted(CsvField& field);

  const std::string name_;
  const std::string_view text_;  // without the byte order mark
  const char delimiter_;
  std::array<bool, 256> ends_field_{};  // bytes that an unquoted field cannot hold
  const char* record_;
  const char* next_;
  const char* end_;        // Next ends here
  size_t num_fields_ = 0;  // of each record; 0 before the first
  std::vector<CsvField> fields_;
  std::deque<std::string>
      unescaped_;  // values of fields with quotes inside, by the field's number in the record
};

}  // namespace cfile::tools
