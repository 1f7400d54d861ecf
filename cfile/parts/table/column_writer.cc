#include "cfile/parts/table/column_writer.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <span>

#include "absl/strings/str_cat.h"
#include "cfile/compound_key.h"
#include "cfile/core/io/named_status.h"
#include "cfile/untyped.h"
#include "encodings/core/status.h"

namespace cfile::internal {

absl::Status AppendDefined(AnyWriter& writer, encodings::Lane lane,
                           std::span<const uint16_t> definition, encodings::ValueSpan values) {
  constexpr size_t kRows = 1024;
  const size_t width = encodings::WidthOf(lane);
  alignas(16) uint8_t rows[kRows * 16];
  std::memset(rows, 0, std::min(definition.size(), kRows) * width);
  uint8_t validity[kRows / 8];
  while (!definition.empty()) {
    const size_t count = std::min(definition.size(), kRows);
    std::fill(std::begin(validity), std::end(validity), uint8_t{0});
    for (size_t i = 0; i < count; ++i) {
      if (definition[i] == 0) continue;
      if (definition[i] > 1 || values.empty()) {
        return absl::InvalidArgumentError(
            "expected definition levels of 0 and 1, and a value for each 1");
      }
      std::memcpy(rows + i * width, values.data, width);
      values = {encodings::ValueAt(values.data, lane, 1), values.count - 1};
      validity[i / 8] = static_cast<uint8_t>(validity[i / 8] | 1 << (i % 8));
    }
    CFILE_RETURN_IF_ERROR(
        writer.Append(AnyBatch{.values = rows, .count = count, .validity = validity}));
    definition = definition.subspan(count);
  }
  if (values.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError("there are more values than definition levels of 1");
}

absl::StatusOr<TablePartColumn> ColumnWriter::Finish() {
  CFILE_RETURN_IF_ERROR(writer_->Finish());
  ColumnTotals totals = writer_->totals();
  TablePartColumn column{.file_name = file_name_,
                         .size_bytes = totals.bytes_written,
                         .num_rows = totals.num_rows,
                         .null_count = totals.null_count(),
                         .min_key = std::move(totals.min_key),
                         .max_key = std::move(totals.max_key)};
  if (column.min_key || !totals.statistics) return column;
  column.lower_bound = std::move(totals.statistics->min_key);
  column.upper_bound = std::move(totals.statistics->max_key);
  if (column.lower_bound || column.upper_bound) column.nan_count = totals.statistics->nan_count;
  return column;
}

absl::StatusOr<std::unique_ptr<ColumnWriter>> NewColumnWriter(
    Storage& storage, const std::string& folder, std::string file_name, const ColumnSchema& column,
    WriterOptions options, OldestReader oldest_reader, PackedWriter* packed) {
  options.nullable = column.nullable;
  if (!options.movable_blocks) options.movable_blocks = true;
  const auto error = [&](const absl::Status& status) {
    return WithMessage(status, absl::StrCat("column ", column.name, ": ", status.message()));
  };
  options.oldest_reader = ReaderOr(options.oldest_reader, oldest_reader);
  if (options.oldest_reader > oldest_reader) {
    return error(absl::FailedPreconditionError(absl::StrCat(
        "the oldest reader of the table ", storage.name(), " is ", OldestReaderName(oldest_reader),
        ", so its files cannot be for ", OldestReaderName(options.oldest_reader),
        ". RaiseOldestReader (cfile-table raise) gives up older readers")));
  }
  auto sink = packed != nullptr ? packed->NewSink(file_name)
                                : storage.Create(absl::StrCat(folder, "/", file_name));
  if (!sink.ok()) return error(sink.status());
  auto writer = NewWriter(*std::move(sink), column, options);
  if (!writer.ok()) return error(writer.status());
  return std::make_unique<ColumnWriter>(*std::move(writer), std::move(file_name));
}

WriterOptions OptionsOfFile(std::span<const WriterOptions> options, size_t i, size_t num_columns) {
  if (i < num_columns) {
    WriterOptions column = options.empty() ? WriterOptions{} : options[options.size() == 1 ? 0 : i];
    for (size_t key = 0; key < options.size(); ++key) {
      const bool is_key = key == num_columns || options[key].value_index;
      column.single_values |= is_key && options[key].bloom_filter_bits_per_value > 0;
    }
    return column;
  }
  WriterOptions keys =
      CompoundKeyOptions(options.empty() ? OldestReader::kDefault : options[0].oldest_reader);
  if (options.size() <= num_columns) return keys;
  keys.bloom_filter_bits_per_value = options[i].bloom_filter_bits_per_value;
  keys.max_bloom_filter_bytes = options[i].max_bloom_filter_bytes;
  return keys;
}

OldestReader OldestReaderOfNewTable(std::span<const WriterOptions> options) {
  if (options.empty()) return kNewestReader;
  OldestReader newest{};
  for (const WriterOptions& column : options)
    newest = std::max(newest, ReaderOr(column.oldest_reader, kNewestReader));
  return std::min(newest, kNewestReader);  // a column for a newer reader is refused
}

absl::StatusOr<std::unique_ptr<AnyWriter>> NewWriter(std::unique_ptr<Sink> sink,
                                                     const ColumnSchema& column,
                                                     const WriterOptions& options) {
  return column.has_levels() ? NewEntryWriter(std::move(sink), column.type, column.levels, options)
                             : NewValueWriter(std::move(sink), column.type, options);
}

}  // namespace cfile::internal
