// Copies blocks of one file of a table's part to a ColumnWriter.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/internal/read/block_fetcher.h"
#include "cfile/internal/read/file_reader.h"
#include "cfile/internal/read/index_walk.h"
#include "cfile/internal/table/column_writer.h"
#include "cfile/reader.h"
#include "cfile/schema.h"
#include "cfile/statistics.h"

namespace cfile::internal {

// What was copied.
struct CopyTotals {
  uint64_t blocks = 0;
  uint64_t bytes = 0;  // as stored
};

// Memory: like that of a scan. Thread-compatible.
class BlockCopier {
 public:
  // `column`: of the file that `to` writes. `needs_keys`: that file has a value index. `totals`: the
  // copied blocks are added to it. `same_dictionary`: see CopiedBlock. `to` and `totals` must outlive
  // the copier. Errors as Reader::NewCursor.
  static absl::StatusOr<std::unique_ptr<BlockCopier>> Create(const Reader& from,
                                                             const ColumnSchema& column,
                                                             bool needs_keys, ColumnWriter& to,
                                                             CopyTotals& totals,
                                                             bool same_dictionary = false);

  struct Result {
    uint64_t copied_rows = 0;    // from `begin` on
    uint64_t rows_to_write = 0;  // after them: the caller must append these
  };
  // Copies blocks with the rows from `begin` on, as long as they lie wholly before the row `end` and
  // the writer takes them. Preconditions: begin < end <= rows of the file; `begin` is at or after
  // the begin of an earlier call. kDataLoss: a block is damaged. Errors as ColumnWriter::CopyBlock.
  absl::StatusOr<Result> Copy(uint64_t begin, uint64_t end);

 private:
  // Returns the value of a row in memcmp form.
  using KeyOfRow = std::function<absl::StatusOr<std::string>(uint64_t row)>;

  BlockCopier(std::shared_ptr<FileReader> file, KeyOfRow key_of_row, ColumnWriter& to,
              CopyTotals& totals, bool same_dictionary);
  // Goes to the first block.
  absl::Status Begin();
  absl::Status NextBlock();
  // Copies the current block if the writer takes it.
  absl::StatusOr<bool> CopyBlock();

  const std::shared_ptr<FileReader> file_;  // null: no block of the file can be copied
  const KeyOfRow key_of_row_;               // null: no keys are needed
  ColumnWriter& to_;
  CopyTotals& totals_;
  const bool same_dictionary_;
  std::shared_ptr<const FileStatistics> statistics_;  // null: the file has none
  BlockFetcher fetcher_;
  BlockBuffer buffer_;
  // The current block: its place, its number and its rows. Before the first block, it has no rows.
  IndexWalk walk_;
  IndexWalk next_;  // the block after it
  size_t number_ = 0;
  uint64_t begin_ = 0;
  uint64_t end_ = 0;
};

}  // namespace cfile::internal
