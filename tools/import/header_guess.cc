#include "tools/import/header_guess.h"

#include <utility>

#include "tools/import/column_batch.h"

namespace cfile::tools {

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

}  // namespace cfile::tools
