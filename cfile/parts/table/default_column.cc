#include "cfile/parts/table/default_column.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "cfile/core/format/key_codec.h"
#include "cfile/io.h"
#include "cfile/parts/table/block_copier.h"
#include "cfile/parts/table/column_writer.h"
#include "encodings/core/lane.h"
#include "encodings/core/status.h"

namespace cfile::internal {
namespace {

// The number of rows in a block. With a greater number, fewer blocks must be copied, but encoding
// the first block takes longer.
constexpr uint32_t kBlockRows = 1 << 15;

// Writes a file of `num_rows` equal rows: encodes one block, and copies it. with(count) returns
// `count` such rows, at most kBlockRows, as an AnyBatch or an AnyLevelBatch.
template <typename With>
absl::StatusOr<Reader> Repeat(const ColumnSchema& column, uint64_t num_rows,
                              const std::string& name, const ReaderOptions& options,
                              const With& with) {
  const WriterOptions writer_options{.nullable = column.nullable && !column.has_levels(),
                                     .max_values_per_block = kBlockRows,
                                     .movable_blocks = true};
  std::optional<Reader> block;
  const auto write = [&](uint64_t count) -> absl::StatusOr<Reader> {
    std::vector<uint8_t> bytes;
    CFILE_ASSIGN_OR_RETURN(const auto to,
                           NewWriter(NewMemorySink(&bytes, name), column, writer_options));
    for (bool first = true; count > 0; first = false) {
      uint64_t written = 0;
      // Encode the first block, so that the file has the same dictionary as `block`.
      if (block && !first && count >= kBlockRows) {
        CopyTotals totals;
        CFILE_ASSIGN_OR_RETURN(
            auto copier, BlockCopier::Create(*block, column, /*needs_keys=*/false, *to, totals,
                                             /*same_dictionary=*/true));
        CFILE_ASSIGN_OR_RETURN(const BlockCopier::Result result, copier->Copy(0, kBlockRows));
        written = result.copied_rows;
      }
      if (written == 0) {
        written = std::min<uint64_t>(count, kBlockRows);
        CFILE_RETURN_IF_ERROR(to->Append(with(static_cast<size_t>(written))));
      }
      count -= written;
    }
    CFILE_RETURN_IF_ERROR(to->Finish());
    return Reader::Open(NewMemorySource(std::move(bytes), name), options);
  };
  if (num_rows > kBlockRows) {
    CFILE_ASSIGN_OR_RETURN(block, write(kBlockRows));
  }
  return write(num_rows);
}

}  // namespace

absl::StatusOr<Reader> NewDefaultColumn(const ColumnSchema& column,
                                        const std::optional<std::string>& value, uint64_t num_rows,
                                        const std::string& name, const ReaderOptions& options) {
  const size_t most = std::min<uint64_t>(num_rows, kBlockRows);
  if (column.has_levels()) {  // rows without any value
    const std::vector<uint16_t> zeros(most);
    return Repeat(column, num_rows, name, options, [&](size_t count) {
      const std::span<const uint16_t> levels(zeros.data(), count);
      const std::span<const uint16_t> none;
      return AnyLevelBatch{.repetition = column.levels.max_repetition > 0 ? levels : none,
                           .definition = column.levels.max_definition > 0 ? levels : none};
    });
  }
  OwnedKey parsed;
  if (value && !parsed.Parse(*value, column.type.physical())) {
    return encodings::DataLoss(name, ": the default value of the column is not one of its type");
  }
  const size_t width = encodings::WidthOf(encodings::LaneOf(column.type.physical()));
  const auto values = std::make_unique<std::byte[]>(most * width);
  for (size_t i = 0; i < most && value; ++i)
    std::memcpy(values.get() + i * width, parsed.value(), width);
  const std::vector<uint8_t> nulls(value ? 0 : (most + 7) / 8);
  return Repeat(column, num_rows, name, options, [&](size_t count) {
    return AnyBatch{
        .values = values.get(), .count = count, .validity = value ? nullptr : nulls.data()};
  });
}

}  // namespace cfile::internal
