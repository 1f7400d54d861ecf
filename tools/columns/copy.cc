#include "tools/columns/copy.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <type_traits>
#include <utility>

#include "cfile/prepared_parts.h"
#include "cfile/statistics.h"
#include "cfile/status.h"
#include "tools/columns/stored_column.h"
#include "tools/dump/totals.h"

namespace cfile::tools {
namespace {

// Calls append(rows) for all rows of `range`.
template <typename T, typename AppendRows>
absl::Status CopyRows(const StoredColumn& from, const OrdinalRange& range, AppendRows append,
                      const CopyProgress& progress) {
  CFILE_ASSIGN_OR_RETURN(const auto reader, ReadRows<T>(from, range));
  for (;;) {
    CFILE_ASSIGN_OR_RETURN(const Rows<T> rows, reader(kMaxBatchRows));
    if (rows.empty()) return absl::OkStatus();
    CFILE_RETURN_IF_ERROR(append(rows));
    CFILE_RETURN_IF_ERROR(progress(rows.num_rows()));
  }
}

template <typename T>
absl::Status AppendTo(TableWriter& writer, size_t column, bool has_levels, const Rows<T>& rows) {
  if (has_levels) {
    const LevelBatch<T>& levels = rows.levels;
    return writer.AppendLevels<T>(column, levels.repetition, levels.definition, levels.values);
  }
  const Batch<T>& batch = rows.flat;
  if (batch.validity == nullptr) return writer.Append<T>(column, batch.values);
  return writer.Append<T>(column, batch.values, {batch.validity, (batch.size() + 7) / 8});
}

absl::StatusOr<std::optional<uint32_t>> BloomBitsOf(const Reader& file) {
  std::optional<BloomFilterInfo> filter = file.info().bloom_filter;
  if (!filter && file.info().statistics) {
    CFILE_ASSIGN_OR_RETURN(const auto statistics, file.Statistics());
    if (statistics != nullptr && !statistics->bloom_filter.empty()) {
      filter = DescribeBloomFilter(statistics->bloom_filter);
    }
  }
  if (!filter) return std::nullopt;
  // The smallest filter has 256 bits, however few values there are.
  constexpr double kMostBits = 64;
  return static_cast<uint32_t>(std::lround(std::clamp(filter->bits_per_value(), 1.0, kMostBits)));
}

}  // namespace

absl::StatusOr<WriterOptions> OptionsLike(const Reader& file, const LayoutOptions& options,
                                          const std::string& column) {
  const FileInfo& info = file.info();
  WriterOptions writer = WriterOptionsOf(options, column);
  writer.value_index = info.value_index_root.has_value();
  writer.positional_index = info.positional_index_root.has_value() || !writer.value_index;
  for (const auto& pair : info.header_metadata) {
    if (!pair.first.starts_with(kReservedKeyPrefix)) writer.metadata.push_back(pair);
  }
  if (!options.has_extensions()) return writer;
  if (info.has_movable_blocks()) writer.movable_blocks = true;
  if (writer.bloom_filter_bits_per_value == 0) {
    CFILE_ASSIGN_OR_RETURN(const std::optional<uint32_t> bits, BloomBitsOf(file));
    writer.bloom_filter_bits_per_value = bits.value_or(0);
  }
  return writer;
}

absl::StatusOr<ColumnTotals> CopyFile(const Reader& file, const WriterOptions& options,
                                      std::unique_ptr<Sink> sink, const CopyProgress& progress) {
  const StoredColumn from = ColumnOf(file);
  return VisitType(
      from.schema.type, [&]<typename T>(std::type_identity<T>) -> absl::StatusOr<ColumnTotals> {
        CFILE_ASSIGN_OR_RETURN(auto writer, FileWriter<T>::Create(std::move(sink), from, options));
        CFILE_RETURN_IF_ERROR(CopyRows<T>(
            from, kAllRows, [&](const Rows<T>& rows) { return writer.Append(rows); }, progress));
        for (const auto& [key, value] : file.info().footer_metadata) {
          if (!key.starts_with(kReservedKeyPrefix)) {
            CFILE_RETURN_IF_ERROR(writer.AddMetadata(key, value));
          }
        }
        CFILE_RETURN_IF_ERROR(writer.Finish());
        return writer.totals();
      });
}

absl::StatusOr<std::vector<ColumnTotals>> CopyTable(
    const TableReader& from, const OrdinalRange& parts, const TableLocation& to,
    const std::function<absl::StatusOr<WriterOptions>(size_t part, size_t column)>& options_of,
    OldestReader oldest_reader, const CopyProgress& progress) {
  const Schema& schema = from.schema();
  std::vector<ColumnTotals> totals(schema.columns.size() + (schema.key_index() ? 1 : 0));
  std::vector<std::string> prepared;
  for (size_t part = parts.begin; part < parts.end; ++part) {
    CFILE_ASSIGN_OR_RETURN(const PartInfo info, from.part(part));
    const OrdinalRange range{info.first_ordinal, info.first_ordinal + info.num_rows};
    std::vector<WriterOptions> options;
    for (size_t column = 0; column < schema.columns.size(); ++column) {
      CFILE_ASSIGN_OR_RETURN(options.emplace_back(), options_of(part, column));
    }
    CFILE_ASSIGN_OR_RETURN(TableWriter writer, TableWriter::Prepare(to, schema, options));
    for (size_t column = 0; column < schema.columns.size(); ++column) {
      const StoredColumn stored = ColumnOf(from, column);
      CFILE_RETURN_IF_ERROR(VisitType(stored.schema.type, [&]<typename T>(std::type_identity<T>) {
        return CopyRows<T>(
            stored, range,
            [&](const Rows<T>& rows) { return AppendTo(writer, column, stored.has_levels, rows); },
            progress);
      }));
    }
    CFILE_ASSIGN_OR_RETURN(prepared.emplace_back(), writer.FinishPrepared());
    for (size_t column = 0; column < totals.size(); ++column) {
      const ColumnTotals part_totals = writer.totals(column);
      totals[column].num_rows += part_totals.num_rows;
      totals[column].bytes_written += part_totals.bytes_written;
      totals[column].compression = part_totals.compression;
      AddTo(totals[column].encodings, part_totals.encodings);
    }
  }
  const CommitPartsOptions options{.schema = &schema, .oldest_reader = oldest_reader};
  CFILE_RETURN_IF_ERROR(CommitParts(to, prepared, options).status());
  return totals;
}

}  // namespace cfile::tools
