#include "tools/import/header_guess.h"

#include <utility>

#include "tools/import/column_batch.h"

namespace cfile::tools {

absl::StatusOr<bool> FirstRecordIsARow(CsvInput& input, std::span<const ColumnRule> rules,
                                       Compatibility compatibility,
                                       std::vector<ColumnEvidence>& found) {
  CsvReader& reader = input.reader();
  reader.SeekToRange(input.first_record(), input.first_row());
  if (absl::StatusOr<bool> more = reader.Next(); !more.ok()) return more.status();
  const auto is_string = [&](size_t i, const ColumnEvidence& column) {
    const ColumnType type =
        rules[i].given.has_value() ? rules[i].given->type : column.inference.Type(compatibility);
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
    const bool is_null = input.IsNull(field);
    with_first[i].has_nulls |= is_null;
    if (!is_null) with_first[i].inference.Add(field.text, reader.FieldOffset(i), !field.quoted);
    if (is_string(i, found[i])) continue;
    if (is_null ? !found[i].has_nulls : !fits(i, with_first[i])) return false;
    has_typed_value |= !is_null;
  }
  if (has_typed_value) found = std::move(with_first);
  return has_typed_value;
}

}  // namespace cfile::tools
