#include "cfile/internal/table/column_writer.h"

#include <algorithm>
#include <iterator>
#include <span>

#include "absl/strings/str_cat.h"
#include "cfile/internal/io/named_status.h"

namespace cfile::internal {

template <typename T>
absl::Status AppendDefined(Writer<T>& writer, std::span<const uint16_t> definition,
                           std::span<const T> values) {
  constexpr size_t kRows = 1024;
  T rows[kRows] = {};
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
      rows[i] = values[0];
      values = values.subspan(1);
      validity[i / 8] = static_cast<uint8_t>(validity[i / 8] | 1 << (i % 8));
    }
    CFILE_RETURN_IF_ERROR(writer.Append(std::span<const T>(rows, count), validity));
    definition = definition.subspan(count);
  }
  if (values.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError("there are more values than definition levels of 1");
}

TablePartColumn DescribeColumn(const std::string& file_name, ColumnTotals totals) {
  TablePartColumn column{.file_name = file_name,
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

absl::StatusOr<std::unique_ptr<ColumnWriter>> NewColumnWriter(Storage& storage,
                                                              const std::string& folder,
                                                              std::string file_name,
                                                              const ColumnSchema& column,
                                                              WriterOptions options) {
  options.nullable = column.nullable;
  if (!options.movable_blocks) options.movable_blocks = true;
  return encodings::VisitPhysicalType(
      column.type.physical(),
      [&]<typename T>(std::type_identity<T>) -> absl::StatusOr<std::unique_ptr<ColumnWriter>> {
        const auto error = [&](const absl::Status& status) {
          return WithMessage(status, absl::StrCat("column ", column.name, ": ", status.message()));
        };
        auto sink = storage.Create(absl::StrCat(folder, "/", file_name));
        if (!sink.ok()) return error(sink.status());
        if (column.has_levels()) {
          auto writer =
              LevelWriter<T>::Create(*std::move(sink), column.type, column.levels, options);
          if (!writer.ok()) return error(writer.status());
          return std::make_unique<TypedColumnWriter<LevelWriter<T>>>(*std::move(writer),
                                                                     std::move(file_name));
        }
        auto writer = Writer<T>::Create(*std::move(sink), column.type, options);
        if (!writer.ok()) return error(writer.status());
        return std::make_unique<TypedColumnWriter<Writer<T>>>(*std::move(writer),
                                                              std::move(file_name));
      });
}

#define CFILE_INSTANTIATE(T) \
  template absl::Status AppendDefined<T>(Writer<T>&, std::span<const uint16_t>, std::span<const T>);
CFILE_FOR_EACH_VALUE_TYPE(CFILE_INSTANTIATE)
#undef CFILE_INSTANTIATE

}  // namespace cfile::internal
