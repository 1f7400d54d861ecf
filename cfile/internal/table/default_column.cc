#include "cfile/internal/table/default_column.h"

#include <algorithm>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cfile/internal/format/key_codec.h"
#include "cfile/internal/table/block_copier.h"
#include "cfile/internal/table/column_writer.h"
#include "cfile/io.h"
#include "cfile/levels.h"
#include "cfile/writer.h"
#include "encodings/core/status.h"

namespace cfile::internal {
namespace {

// The number of rows in a block. With a greater number, fewer blocks must be copied, but encoding
// the first block takes longer.
constexpr uint32_t kBlockRows = 1 << 15;

// Writes a file of `num_rows` equal rows. Encodes one block, and copies this block.
// `create`: makes a writer of type W that writes to a sink.
// `append`: appends a number of rows, at most kBlockRows, to the writer.
template <typename W, typename Create, typename AppendRows>
absl::StatusOr<Reader> Repeat(const ColumnSchema& column, uint64_t num_rows,
                              const std::string& name, const ReaderOptions& options,
                              const Create& create, const AppendRows& append) {
  std::optional<Reader> block;
  const auto write = [&](uint64_t count) -> absl::StatusOr<Reader> {
    std::vector<uint8_t> bytes;
    CFILE_ASSIGN_OR_RETURN(W writer, create(NewMemorySink(&bytes, name)));
    TypedColumnWriter<W> to(std::move(writer), name);
    for (bool first = true; count > 0; first = false) {
      uint64_t written = 0;
      // Encode the first block, so that the file has the same dictionary as `block`.
      if (block && !first && count >= kBlockRows) {
        CopyTotals totals;
        CFILE_ASSIGN_OR_RETURN(auto copier,
                               BlockCopier::Create(*block, column, /*needs_keys=*/false, to, totals,
                                                   /*same_dictionary=*/true));
        CFILE_ASSIGN_OR_RETURN(const BlockCopier::Result result, copier->Copy(0, kBlockRows));
        written = result.copied_rows;
      }
      if (written == 0) {
        written = std::min<uint64_t>(count, kBlockRows);
        CFILE_RETURN_IF_ERROR(append(to.writer(), static_cast<size_t>(written)));
      }
      count -= written;
    }
    CFILE_RETURN_IF_ERROR(to.Finish().status());
    return Reader::Open(NewMemorySource(std::move(bytes), name), options);
  };
  if (num_rows > kBlockRows) {
    CFILE_ASSIGN_OR_RETURN(block, write(kBlockRows));
  }
  return write(num_rows);
}

template <typename T>
absl::StatusOr<Reader> RepeatValue(const ColumnSchema& column, const Owned<T>& value, bool null,
                                   uint64_t num_rows, const std::string& name,
                                   const ReaderOptions& options) {
  const size_t most = std::min<uint64_t>(num_rows, kBlockRows);
  const auto values = std::make_unique<T[]>(most);  // std::vector<bool> is not an array
  std::fill_n(values.get(), most, T(value));
  const std::vector<uint8_t> nulls(null ? (most + 7) / 8 : 0);
  const auto create = [&](std::unique_ptr<Sink> sink) {
    return Writer<T>::Create(
        std::move(sink), column.type,
        {.nullable = column.nullable, .max_values_per_block = kBlockRows, .movable_blocks = true});
  };
  return Repeat<Writer<T>>(column, num_rows, name, options, create,
                           [&](Writer<T>& writer, size_t count) {
                             const std::span<const T> rows(values.get(), count);
                             return null ? writer.Append(rows, nulls) : writer.Append(rows);
                           });
}

// Writes rows without any value.
template <typename T>
absl::StatusOr<Reader> RepeatLevels(const ColumnSchema& column, uint64_t num_rows,
                                    const std::string& name, const ReaderOptions& options) {
  const std::vector<uint16_t> zeros(std::min<uint64_t>(num_rows, kBlockRows));
  const auto create = [&](std::unique_ptr<Sink> sink) {
    return LevelWriter<T>::Create(std::move(sink), column.type, column.levels,
                                  {.max_values_per_block = kBlockRows, .movable_blocks = true});
  };
  return Repeat<LevelWriter<T>>(
      column, num_rows, name, options, create, [&](LevelWriter<T>& writer, size_t count) {
        const std::span<const uint16_t> levels(zeros.data(), count);
        const std::span<const uint16_t> none;
        return writer.Append(column.levels.max_repetition > 0 ? levels : none,
                             column.levels.max_definition > 0 ? levels : none, {});
      });
}

}  // namespace

absl::StatusOr<Reader> NewDefaultColumn(const ColumnSchema& column,
                                        const std::optional<std::string>& value, uint64_t num_rows,
                                        const std::string& name, const ReaderOptions& options) {
  return VisitType(column.type, [&]<typename T>(std::type_identity<T>) -> absl::StatusOr<Reader> {
    if (column.has_levels()) return RepeatLevels<T>(column, num_rows, name, options);
    Owned<T> parsed{};
    if (value && !ParseKey<T>(*value, parsed)) {
      return encodings::DataLoss(name, ": the default value of the column is not one of its type");
    }
    return RepeatValue<T>(column, parsed, !value, num_rows, name, options);
  });
}

}  // namespace cfile::internal
