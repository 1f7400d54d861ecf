// Makes the levels of Parquet pages of the levels of blocks.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "cfile/core/format/level_block.h"
#include "cfile/core/read/level_block_cursor.h"
#include "cfile/file_info.h"
#include "encodings/core/bytes.h"
#include "encodings/hybrid/validity.h"

namespace cfile::internal {

// The levels of some successive rows of a block.
struct PageLevels {
  uint32_t num_rows = 0;
  uint32_t num_entries = 0;  // with nulls
  uint32_t first_value = 0;  // the position in the block of the first present value
  uint32_t num_values = 0;   // entries that hold a value
  // RLE-hybrid, without a length. Empty if the column has no levels of this kind.
  encodings::ByteWriter repetition;
  encodings::ByteWriter definition;
};

// Reads the levels of one block from front to end. The levels are decoded, checked and encoded
// again, so pages never have levels that a reader refuses. Thread-compatible.
class PageLevelReader {
 public:
  // Goes to the first row of a block of the file that `info` describes. `num_present`: the number
  // of the block's values. `block` and its bytes, and `info`, must stay valid until the last Next.
  // kDataLoss: the block has another number of rows than `num_rows`, or fewer entries than values.
  absl::Status Open(const LevelBlock& block, const FileInfo& info, uint32_t num_rows,
                    uint32_t num_present);

  uint32_t row() const { return row_; }
  uint32_t num_rows() const { return num_rows_; }

  // Takes the next `count` rows. kDataLoss: the levels are damaged, or do not fit the number of
  // values. Precondition: 0 < count <= num_rows() - row().
  absl::Status Next(uint32_t count, PageLevels& levels);

 private:
  absl::Status NextNulls(uint32_t count, PageLevels& levels);
  absl::Status NextLevels(uint32_t count, PageLevels& levels);

  LevelLimits limits_;
  bool has_levels_ = false;
  uint32_t num_rows_ = 0;
  uint32_t num_present_ = 0;
  uint32_t row_ = 0;
  uint32_t value_ = 0;
  encodings::ValidityDecoder nulls_;
  encodings::ValidityEncoder definition_{/*kudu_exact=*/false};
  LevelWindow window_;
  std::vector<uint16_t> repetition_levels_;
  std::vector<uint16_t> definition_levels_;
};

}  // namespace cfile::internal
