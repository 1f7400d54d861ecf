// Reads CSV (RFC 4180) that lies in memory, record by record.
//
//   CsvReader reader("flights.csv", text, ',');
//   for (auto more = reader.Next(); more.ok() && *more; more = reader.Next()) Use(reader.fields());
//
// Records end with LF or CRLF, the last one also with the text. A field in quotes may hold the
// delimiter, line ends and, each written twice, quotes. A UTF-8 byte order mark at the front is
// skipped; so are blank lines before the first record, and after it unless records have a single
// field.
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
  std::string_view text;  // what the field stands for: without its quotes
  const char* start =
      nullptr;  // the field in the reader's text, its opening quote included: for CsvReader::Error
  bool quoted = false;
};

// Copies nothing but fields with quotes in them, and allocates nothing once its memory fits the
// records. Thread-compatible; a copy reads the same text for another thread.
class CsvReader {
 public:
  // `name` is what error messages call the text, which must outlive the reader. Precondition:
  // `delimiter` is not a quote, CR or LF.
  CsvReader(std::string name, std::string_view text, char delimiter);

  // Reads the next record; false at the end of the text. kInvalidArgument, with name, line and
  // column: a quote that is stray or never closed, a CR without LF, a record that has not as many
  // fields as the first one that was read.
  absl::StatusOr<bool> Next();

  // The last record. Valid until the next call of Next.
  std::span<const CsvField> fields() const { return fields_; }

  // Where the last record begins and the next one does, in bytes from the front of the text (behind
  // its byte order mark).
  uint64_t record_offset() const { return static_cast<uint64_t>(record_ - text_.data()); }
  uint64_t offset() const { return static_cast<uint64_t>(next_ - text_.data()); }
  // Goes back or on to a record; Next ends at `end`, as if the text did. Precondition: a record
  // begins at `begin` and one ends at `end`, or the text.
  void SeekToRange(uint64_t begin, uint64_t end) {
    next_ = text_.data() + begin;
    end_ = text_.data() + end;
  }
  // The end of the record that holds the byte `begin` + `min_bytes`, or of the text; found by
  // counting quotes, which is many times faster than Next and right as long as that finds no error.
  // Precondition: a record begins at `begin`.
  uint64_t RecordEnd(uint64_t begin, uint64_t min_bytes) const;
  // At least as many as there are records from `begin` to `end`, and little more in most texts.
  size_t MaxRecords(uint64_t begin, uint64_t end) const;
  // Bytes in all; what offset() becomes at the end.
  uint64_t size() const { return text_.size(); }

  // True if `part` lies in the text, and so lives as long as that.
  bool Holds(std::string_view part) const {
    return part.data() >= text_.data() && part.data() <= text_.data() + text_.size();
  }

  // kInvalidArgument "NAME:LINE:COLUMN: MESSAGE" for a place in the text; both count from 1,
  // columns in characters.
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
  const char* end_;        // where Next ends
  size_t num_fields_ = 0;  // of each record; 0 before the first
  std::vector<CsvField> fields_;
  std::deque<std::string>
      unescaped_;  // text of fields with quotes in them, by their number in the record
};

}  // namespace cfile::tools
