// Reads CSV (RFC 4180) from memory, record by record.
//
//   CsvReader reader("flights.csv", text, ',');
//   for (auto more = reader.Next(); more.ok() && *more; more = reader.Next()) Use(reader.fields());
//
// CsvDialect says how the text may differ from RFC 4180. A record ends with LF or CRLF, or
// with CR if the first 64 KiB have no LF; the last one may end with the text. A quoted field may
// contain delimiters, line ends and quotes; each quote inside is written twice. A UTF-8 byte order
// mark at the start is skipped. Blank lines are skipped before the first record; after it they are
// skipped unless records have a single field.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tools/input/input_file.h"

namespace cfile::tools {

struct CsvDialect {
  char delimiter = ',';
  char quote = '"';  // 0: no character is a quote
  // The character after this one stands for itself, and a field of this character and N is a null.
  // 0: there is none.
  char escape = 0;
  char comment = 0;         // lines that begin with this character are skipped; 0: none
  uint64_t skip_lines = 0;  // lines before the first record
  // A record with fewer fields than the first one gets empty fields at its end; surplus fields that
  // are empty are left out.
  bool pad = false;
  bool decimal_comma = false;  // of numbers (TextType); the reader leaves them as they are
};

struct CsvField {
  std::string_view text;  // the value: without the enclosing quotes, quotes inside written once
  const char* start =
      nullptr;  // start of the field in the reader's text, at the opening quote if it is quoted
  bool quoted = false;
};

// Where a record of a file begins and ends, in bytes from the start of the text
// (CsvReader::offset).
struct RecordPlace {
  uint64_t begin = 0;
  uint64_t end = 0;
};

// Copies a field only if it has quotes inside. Allocates no memory once its buffers are large
// enough for the records. Thread-compatible. Another thread can use a copy to read the same text.
class CsvReader {
 public:
  // `name` names the text in error messages. `text` must outlive the reader. Precondition: the
  // characters of `dialect` differ, and none is CR or LF.
  CsvReader(std::string name, std::string_view text, const CsvDialect& dialect);
  CsvReader(std::string name, std::string_view text, char delimiter)
      : CsvReader(std::move(name), text, CsvDialect{.delimiter = delimiter}) {}

  // Reads the next record; false at the end of the text. kInvalidArgument, with name, line and
  // column: a stray quote, a quote that is never closed, a CR although the lines of the text end in
  // another way, or a record with another number of fields than the first one that was read.
  absl::StatusOr<bool> Next();
  // From now on, a record has only these of its fields, in this order. Precondition: each record
  // has them.
  void Choose(std::vector<size_t> fields) { chosen_ = std::move(fields); }

  // The fields of the last record. Valid until the next call of Next.
  std::span<const CsvField> fields() const { return fields_; }

  // Where the last record begins, and where the next one begins: in bytes from the start of the
  // text, after its byte order mark.
  uint64_t record_offset() const { return Offset(record_); }
  uint64_t offset() const { return Offset(next_); }
  // Where field `field` of the last record begins.
  uint64_t FieldOffset(size_t field) const { return Offset(fields_[field].start); }
  // Where reading can go on after an error of Next: after a record with a wrong number of fields,
  // otherwise after the line in which the record begins. In bytes, as offset().
  uint64_t resume_offset() const { return Offset(resume_); }
  // The place of the last error of Next, in bytes as offset().
  uint64_t error_offset() const { return Offset(error_); }
  // Moves to the record at `begin`. Next then returns false at `end`, as at the end of the text.
  // Precondition: a record begins at `begin`; a record or the text ends at `end`.
  void SeekToRange(uint64_t begin, uint64_t end) {
    next_ = text_.data() + begin;
    end_ = text_.data() + end;
    FindNextSkipped(begin);
  }
  // The reader, and its copies, now read the text as if it had no records at `places`, which
  // ascend; null: they read all records. Precondition: a record begins at the begin of each place,
  // and after its end.
  void SkipRecords(std::shared_ptr<const std::vector<RecordPlace>> places);
  // The end of the record that contains the byte `begin` + `min_bytes`, or of the text. Usually
  // counts quotes, which is many times faster than Next, and is correct if Next finds no error.
  // Precondition: a record begins at `begin`.
  uint64_t RecordEnd(uint64_t begin, uint64_t min_bytes) const;
  // An upper bound on the number of records from `begin` to `end`; a tight one in most texts.
  size_t MaxRecords(uint64_t begin, uint64_t end) const;
  // The value of the field that begins at `offset`, which Next has returned, valid until the next
  // call of Next. Afterwards the position of the reader is undefined.
  std::string_view FieldText(uint64_t offset);
  // Bytes of the text; the value of offset() at the end.
  uint64_t size() const { return text_.size(); }

  // True if `part` points into the text, and so is valid as long as the text is.
  bool Holds(std::string_view part) const {
    return part.data() >= text_.data() && part.data() <= text_.data() + text_.size();
  }

  // The files of which the text consists.
  void SetParts(TextParts parts) { parts_ = std::move(parts); }
  const TextParts& parts() const { return parts_; }

  // kInvalidArgument "NAME:LINE:COLUMN: MESSAGE" for the byte at `offset`. LINE and COLUMN are
  // counted from 1, COLUMN in characters.
  absl::Status Error(uint64_t offset, std::string_view message) const;
  // Later errors have only the MESSAGE. Counting lines takes time in a long text.
  void LeaveOutPlaceOfErrors() { errors_have_place_ = false; }
  // The line of the byte at `offset`, counted from 1, if `known_offset` is in line `known_line`.
  // Counts the lines between the two. Precondition: known_offset <= offset. If the text consists of
  // several files, the line in its file.
  uint64_t Line(uint64_t offset, uint64_t known_offset = 0, uint64_t known_line = 1) const;

 private:
  // The index of the first of *skipped_ that begins at `begin` or later.
  size_t FirstSkipped(uint64_t begin) const;
  void FindNextSkipped(uint64_t begin);
  uint64_t Offset(const char* place) const { return static_cast<uint64_t>(place - text_.data()); }
  const char* LineEnd(const char* at) const;
  absl::Status ErrorAt(const char* place, std::string_view message);
  absl::Status ReadRecord();
  absl::Status ReadQuoted(CsvField& field);
  absl::Status ReadEscaped(CsvField& field, const char*& at);
  std::string& Unescaped();
  void Pad();

  const std::string name_;
  const std::string_view text_;  // without the byte order mark
  const char line_end_;
  const CsvDialect dialect_;
  std::array<bool, 256> ends_field_{};  // bytes that an unquoted field cannot hold
  const char* record_;
  const char* next_;
  const char* end_;               // Next ends here
  const char* resume_ = nullptr;  // after an error of Next
  const char* error_ = nullptr;   // its place
  bool errors_have_place_ = true;
  TextParts parts_;
  std::shared_ptr<const std::vector<RecordPlace>> skipped_;  // null: none
  size_t next_skipped_ = 0;                                  // an index of *skipped_
  const char* next_skipped_begin_ = nullptr;                 // null: none
  size_t num_fields_ = 0;                                    // of each record; 0 before the first
  std::vector<CsvField> fields_;
  std::vector<size_t> chosen_;  // empty: all fields
  std::vector<CsvField> chosen_fields_;
  std::deque<std::string>
      unescaped_;  // values of fields with quotes inside, by the field's number in the record
};

struct Delimiter {
  char character = ',';
  std::string reason;  // why, for the summary: "all of the first 3 lines have 2 fields"
};

// comma, tab, semicolon, pipe; otherwise the character itself.
std::string DelimiterName(char delimiter);

// Finds the delimiter of `text`, the beginning of the file `path`. Tries comma, tab, semicolon and
// pipe, in this order (the tab first if the name of the file ends in .tsv or .tab), on the first
// records (at most 100, in the first MiB). A delimiter fits a record if it divides it into as many
// fields as the first record, and into at least two. Returns the first delimiter that fits most
// records, or the comma if none fits more than half of them. `dialect` has the other characters,
// such as quotes.
Delimiter FindDelimiter(std::string_view text, std::string_view path, CsvDialect dialect);

}  // namespace cfile::tools
