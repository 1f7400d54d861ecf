#include "cfile/internal/table/default_column.h"

#include <algorithm>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cfile/internal/format/key_codec.h"
#include "cfile/io.h"
#include "cfile/levels.h"
#include "cfile/writer.h"
#include "encodings/core/status.h"

namespace cfile::internal {
namespace {

constexpr size_t kRows = 4096;  // the number of rows of one Append

template <typename T>
absl::Status Fill(const ColumnSchema& column, const Owned<T>& value, bool null, uint64_t num_rows,
                  std::unique_ptr<Sink> sink) {
  CFILE_ASSIGN_OR_RETURN(
      auto writer, Writer<T>::Create(std::move(sink), column.type, {.nullable = column.nullable}));
  const auto values = std::make_unique<T[]>(kRows);  // std::vector<bool> is not an array
  std::fill_n(values.get(), kRows, T(value));
  const std::vector<uint8_t> validity(kRows / 8, null ? 0x00 : 0xff);
  while (num_rows > 0) {
    const auto count = static_cast<size_t>(std::min<uint64_t>(num_rows, kRows));
    const std::span<const T> rows(values.get(), count);
    CFILE_RETURN_IF_ERROR(null ? writer.Append(rows, validity) : writer.Append(rows));
    num_rows -= count;
  }
  return writer.Finish();
}

template <typename T>
absl::Status FillLevels(const ColumnSchema& column, uint64_t num_rows, std::unique_ptr<Sink> sink) {
  CFILE_ASSIGN_OR_RETURN(auto writer,
                         LevelWriter<T>::Create(std::move(sink), column.type, column.levels, {}));
  const std::vector<uint16_t> zeros(kRows);
  while (num_rows > 0) {
    const auto count = static_cast<size_t>(std::min<uint64_t>(num_rows, kRows));
    const std::span<const uint16_t> levels(zeros.data(), count);
    CFILE_RETURN_IF_ERROR(
        writer.Append(column.levels.max_repetition > 0 ? levels : std::span<const uint16_t>(),
                      column.levels.max_definition > 0 ? levels : std::span<const uint16_t>(), {}));
    num_rows -= count;
  }
  return writer.Finish();
}

}  // namespace

absl::StatusOr<Reader> NewDefaultColumn(const ColumnSchema& column,
                                        const std::optional<std::string>& value, uint64_t num_rows,
                                        const std::string& name, const ReaderOptions& options) {
  std::vector<uint8_t> bytes;
  CFILE_RETURN_IF_ERROR(VisitType(column.type, [&]<typename T>(std::type_identity<T>) {
    std::unique_ptr<Sink> sink = NewMemorySink(&bytes, name);
    if (column.has_levels()) return FillLevels<T>(column, num_rows, std::move(sink));
    Owned<T> parsed{};
    if (value && !ParseKey<T>(*value, parsed)) {
      return absl::Status(encodings::DataLoss(name,
                                              ": the default value of the column is not one "
                                              "of its type"));
    }
    return Fill<T>(column, parsed, !value, num_rows, std::move(sink));
  }));
  return Reader::Open(NewMemorySource(std::move(bytes), name), options);
}

}  // namespace cfile::internal
