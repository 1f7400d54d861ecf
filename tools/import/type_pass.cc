#include "tools/import/type_pass.h"

#include <algorithm>
#include <deque>
#include <iterator>
#include <memory>
#include <string_view>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "cfile/status.h"
#include "tools/import/row_batch.h"
#include "tools/pieces.h"
#include "tools/utf8.h"

namespace cfile::tools {
namespace {

// Finds what the records of some pieces show. Reuses its memory.
class PieceReader {
 public:
  PieceReader(const CsvInput& input, std::span<const ColumnRule> rules, bool tolerant)
      : input_(input), rules_(rules), tolerant_(tolerant), columns_(rules.size()) {
    if (!tolerant_) return;
    input_.reader().LeaveOutPlaceOfErrors();
    for (const ColumnRule& rule : rules_) {
      checks_.push_back(rule.given.has_value() ? ColumnBatch::Create(*rule.given, 0) : nullptr);
    }
  }

  void Begin(const RecordPlace& piece) {
    piece_ = piece;
    rows_ = 0;
    bad_rows_.clear();
    input_.reader().SeekToRange(piece.begin, piece.end);
  }

  absl::Status Read() {
    CsvReader& reader = input_.reader();
    while (true) {
      const absl::StatusOr<bool> more = reader.Next();
      if (more.ok() && !*more) return absl::OkStatus();
      if (!more.ok()) {
        if (!tolerant_) return more.status();
        AddBadRow(reader.resume_offset(), reader.error_offset(), more.status());
        reader.SeekToRange(reader.resume_offset(), piece_.end);
        continue;
      }
      ++rows_;
      if (!tolerant_ || Check()) AddEvidence();
    }
  }

  const RecordPlace& piece() const { return piece_; }
  uint64_t rows() const { return rows_; }
  // Of the last piece; of all pieces.
  std::vector<BadRow>& bad_rows() { return bad_rows_; }
  const std::vector<ColumnEvidence>& columns() const { return columns_; }

 private:
  void AddEvidence() {
    const std::span<const CsvField> fields = input_.reader().fields();
    for (size_t i = 0; i < fields.size(); ++i) {
      const CsvField& field = fields[i];
      columns_[i].has_quotes |= field.quoted;
      if (input_.IsNull(i)) {
        columns_[i].has_nulls = true;
      } else if (!rules_[i].given.has_value()) {
        input_.AddTo(columns_[i].inference, i);
      }
    }
  }

  // Adds the reader's last record to the bad rows, and returns false, if it is one.
  bool Check() {
    for (size_t i = 0; i < rules_.size(); ++i) {
      const CsvField& field = input_.reader().fields()[i];
      absl::Status status;
      if (input_.IsNull(i)) {
        if (!rules_[i].needs_values) continue;
        status = absl::InvalidArgumentError("a null, but the column is not nullable");
      } else if (checks_[i] != nullptr) {
        checks_[i]->Reset(1);
        status = checks_[i]->Set(0, field.text);
      } else if (!IsUtf8(field.text)) {
        status =
            absl::InvalidArgumentError(absl::StrCat(Quoted(field.text), " is not valid UTF-8"));
      }
      if (status.ok()) continue;
      AddBadRow(input_.reader().offset(), input_.reader().FieldOffset(i), input_.Error(i, status));
      return false;
    }
    return true;
  }

  void AddBadRow(uint64_t end, uint64_t error_offset, const absl::Status& status) {
    BadRow& row = bad_rows_.emplace_back();
    row.place = {input_.reader().record_offset(), end};
    row.error_offset = error_offset;
    if (bad_rows_.size() <= kShownBadRows) row.reason = std::string(status.message());
  }

  CsvInput input_;
  const std::span<const ColumnRule> rules_;
  const bool tolerant_;                               // bad rows are no errors
  std::vector<std::unique_ptr<ColumnBatch>> checks_;  // null: the type is not given
  std::vector<ColumnEvidence> columns_;
  RecordPlace piece_;
  uint64_t rows_ = 0;
  std::vector<BadRow> bad_rows_;
};

// Divides the rows of a file into pieces. If rows may be bad, quotes in them may not match and
// cannot be counted, so this class reads the records.
class PieceFinder {
 public:
  PieceFinder(const CsvInput& input, bool tolerant)
      : input_(input), tolerant_(tolerant), next_(input.first_row()) {
    input_.reader().LeaveOutPlaceOfErrors();
  }

  std::optional<RecordPlace> Next() {
    if (!tolerant_) return input_.NextPiece(next_);
    CsvReader& reader = input_.reader();
    if (next_ == reader.size()) return std::nullopt;
    RecordPlace piece{.begin = next_, .end = next_};
    reader.SeekToRange(next_, reader.size());
    while (piece.end - piece.begin < CsvInput::kPieceBytes) {
      const absl::StatusOr<bool> more = reader.Next();
      piece.end = more.ok() ? reader.offset() : reader.resume_offset();
      if (more.ok() && !*more) break;
      if (!more.ok()) reader.SeekToRange(piece.end, reader.size());
    }
    next_ = piece.end;
    return piece;
  }

 private:
  CsvInput input_;
  const bool tolerant_;
  uint64_t next_;
};

// True if people write `text` for a missing value. Any other text is a value, which must not be
// declared null so that a column gets another type.
bool MeansMissing(std::string_view text) {
  constexpr std::string_view kWords[] = {
      "-",       "--",      "?",     ".",       "\\n",         "n/a",      "n a",
      "#n/a",    "na",      "nan",   "null",    "(null)",      "nil",      "none",
      "missing", "unknown", "blank", "(blank)", "unavailable", "undefined"};
  const std::string lower = absl::AsciiStrToLower(absl::string_view(text.data(), text.size()));
  return std::find(std::begin(kWords), std::end(kWords), lower) != std::end(kWords);
}

}  // namespace

absl::StatusOr<TypePassResult> FindTypes(const CsvInput& input, std::span<const ColumnRule> rules,
                                         uint64_t max_bad_rows, size_t num_threads,
                                         Progress& progress) {
  const bool tolerant = max_bad_rows > 0;
  PieceFinder finder(input, tolerant);
  std::deque<PieceReader> slots;  // elements need not be movable
  for (size_t i = 0; i < NumSlots(num_threads); ++i) slots.emplace_back(input, rules, tolerant);
  TypePassResult result;
  uint64_t rows = 0;
  progress.Begin("finding types", input.reader().size());
  const auto finish = [&](size_t slot) -> absl::Status {
    PieceReader& done = slots[slot];
    rows += done.rows();
    for (BadRow& row : done.bad_rows()) {
      if (result.bad_rows.size() >= kShownBadRows) row.reason.clear();
      result.bad_rows.push_back(std::move(row));
    }
    if (result.bad_rows.size() > max_bad_rows) {
      const BadRow& first = result.bad_rows[0];
      absl::Status status = input.reader().Error(first.error_offset, first.reason);
      return absl::InvalidArgumentError(absl::StrCat(
          status.message(), "; more rows are bad than --skip-bad-rows ", max_bad_rows, " allows"));
    }
    input.Release(done.piece().begin, done.piece().end);
    return progress.Update(done.piece().end, rows);
  };
  const PieceWork work{.take =
                           [&](size_t slot) {
                             const std::optional<RecordPlace> piece = finder.Next();
                             if (piece.has_value()) slots[slot].Begin(*piece);
                             return piece.has_value();
                           },
                       .parse = [&](size_t slot) { return slots[slot].Read(); },
                       .finish = finish};
  CFILE_RETURN_IF_ERROR(RunPieces(num_threads, work));

  result.columns.resize(rules.size());
  for (const PieceReader& slot : slots) {
    for (size_t i = 0; i < rules.size(); ++i) {
      result.columns[i].inference.Add(slot.columns()[i].inference);
      result.columns[i].has_nulls |= slot.columns()[i].has_nulls;
      result.columns[i].has_quotes |= slot.columns()[i].has_quotes;
    }
  }
  return result;
}

absl::StatusOr<bool> FirstRecordIsARow(CsvInput& input, std::span<const ColumnRule> rules,
                                       OldestReader oldest_reader,
                                       std::vector<ColumnEvidence>& found) {
  CsvReader& reader = input.reader();
  reader.SeekToRange(input.first_record(), input.first_row());
  if (absl::StatusOr<bool> more = reader.Next(); !more.ok()) return more.status();
  const auto is_string = [&](size_t i, const ColumnEvidence& column) {
    const ColumnType type =
        rules[i].given.has_value() ? rules[i].given->type : column.inference.Type(oldest_reader);
    return type.data_type == DataType::kString;
  };
  const auto fits = [&](size_t i, const ColumnEvidence& with_first) {
    if (!rules[i].given.has_value()) return !is_string(i, with_first);
    const auto check = ColumnBatch::Create(*rules[i].given, 0);
    check->Reset(1);
    return check->Set(0, reader.fields()[i].text).ok();
  };
  std::vector<ColumnEvidence> with_first = found;
  bool has_typed_value = false;
  for (size_t i = 0; i < found.size(); ++i) {
    const CsvField& field = reader.fields()[i];
    // A name in quotes above numbers without quotes.
    if (!is_string(i, found[i]) && field.quoted && !found[i].has_quotes) return false;
    const bool is_null = input.IsNull(i);
    const bool has_value = !is_null && (field.quoted || !IsMissingText(field.text));
    with_first[i].has_nulls |= is_null;
    if (!is_null) input.AddTo(with_first[i].inference, i);
    if (is_string(i, found[i])) continue;
    const bool has_nulls = found[i].has_nulls || found[i].inference.has_missing();
    if (has_value ? !fits(i, with_first[i]) : !has_nulls) return false;
    has_typed_value |= has_value;
  }
  if (has_typed_value) found = std::move(with_first);
  return has_typed_value;
}

std::vector<TypeReason> ExplainTypes(CsvInput& input, std::span<const ColumnEvidence> columns,
                                     OldestReader oldest_reader) {
  std::vector<TypeReason> reasons(columns.size());
  struct Named {
    uint64_t offset = 0;
    size_t column = 0;
    bool missing = false;
  };
  std::vector<Named> named;  // the values whose lines are named
  for (size_t i = 0; i < columns.size(); ++i) {
    const auto cause = columns[i].inference.FindCause(oldest_reader);
    TypeReason& reason = reasons[i];
    if (!cause.has_value()) {
      reason.text = "no values";
      continue;
    }
    if (MeansMissing(cause->lone_text)) {
      reason.null_text = cause->lone_text;
      reason.type_without = cause->other_type.ToString();
    }
    reason.is_notable = !cause->is_first_value || !reason.null_text.empty();
    const bool is_string = columns[i].inference.Type(oldest_reader).data_type == DataType::kString;
    if (columns[i].inference.has_missing() && !is_string)
      named.push_back({columns[i].inference.first_missing(), i, true});
    if (cause->is_first_value && !is_string) {
      reason.text = "all values";
    } else {
      named.push_back({cause->offset, i});
    }
  }
  std::sort(named.begin(), named.end(),
            [](const Named& a, const Named& b) { return a.offset < b.offset; });
  uint64_t line = 1, offset = 0;
  for (const Named& each : named) {
    line = input.reader().Line(each.offset, offset, line);
    offset = each.offset;
    const TextParts& parts = input.reader().parts();
    const std::string file = parts == nullptr ? "" : " of " + PartAt(parts, offset).name;
    TypeReason& reason = reasons[each.column];
    (each.missing ? reason.missing : reason.text) =
        absl::StrCat("line ", line, file, " has ", Quoted(input.reader().FieldText(offset)));
  }
  return reasons;
}

}  // namespace cfile::tools
