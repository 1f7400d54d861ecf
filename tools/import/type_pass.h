// The first pass of an import of CSV: finds the types of the columns, which columns hold nulls, and
// which rows are bad.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cfile/options.h"
#include "tools/import/csv_input.h"
#include "tools/progress.h"
#include "tools/records/type_inference.h"
#include "tools/time_format.h"

namespace cfile::tools {

// What is known about a column before the pass.
struct ColumnRule {
  std::optional<TextType> given;  // the type is not inferred
  bool needs_values = false;      // a row with a null is bad
};

// What the rows show about a column.
struct ColumnEvidence {
  TypeInference inference;  // without the values of a column whose type is given
  bool has_nulls = false;
  bool has_quotes = false;  // around a value
};

// A row that cannot be imported.
struct BadRow {
  RecordPlace place;
  uint64_t error_offset = 0;  // of the field or the character that is wrong
  std::string reason;         // only of the first kShownBadRows rows, otherwise empty
};

inline constexpr size_t kShownBadRows = 10;

struct TypePassResult {
  std::vector<ColumnEvidence> columns;
  std::vector<BadRow> bad_rows;  // in the order of the file
};

// Reads all rows of `input`, from input.first_row() on, with `num_threads` threads.
//
// If `max_bad_rows` is 0, an error in the CSV ends the pass: kInvalidArgument with the line, as
// from CsvReader::Next. Values are not checked against given types.
//
// Otherwise up to `max_bad_rows` rows, which do not count for the types, may be bad. A row is bad
// if
// - it has another number of fields than the first record,
// - its quotes, or a CR without LF, make it invalid; the row is then the line in which it begins,
// - a value is not of the type that is given for its column, or is not UTF-8,
// - it has a null in a column that needs values.
// If more rows are bad: kInvalidArgument with the place and the reason of the first bad row.
// Memory: about 60 bytes for each bad row.
absl::StatusOr<TypePassResult> FindTypes(const CsvInput& input, std::span<const ColumnRule> rules,
                                         uint64_t max_bad_rows, size_t num_threads,
                                         Progress& progress);

// True if the first record of `input`, which CsvInput has taken for the header, is a row (see
// Import in importer.h); then adds it to `found`, which has what the other rows show. Moves
// input.reader(). Errors: those of CsvReader::Next.
absl::StatusOr<bool> FirstRecordIsARow(CsvInput& input, std::span<const ColumnRule> rules,
                                       OldestReader oldest_reader,
                                       std::vector<ColumnEvidence>& found);

// The reason of each column whose type was inferred from `columns`. Counts lines up to the last
// line that a reason names. After the call, the position of input.reader() is undefined.
std::vector<TypeReason> ExplainTypes(CsvInput& input, std::span<const ColumnEvidence> columns,
                                     OldestReader oldest_reader);

}  // namespace cfile::tools
