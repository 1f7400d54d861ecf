// Writes header, blocks, indexes and footer of a file. Does not depend on the type of the values.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "cfile/core/format/block_appender.h"
#include "cfile/core/format/file_policy.h"
#include "cfile/core/write/index_writer.h"
#include "cfile/core/write/piece_writer.h"
#include "cfile/file_info.h"
#include "cfile/io.h"
#include "cfile/options.h"
#include "encodings/core/block_codec.h"

namespace cfile::internal {

struct CopiedBlock;
struct StatisticsBytes;

// The numbers of rows and entries of a block. In a file with levels, the rows are records.
struct BlockRows {
  uint64_t first_ordinal = 0;
  uint32_t num_rows = 0;
  uint32_t num_entries = 0;
};

// Writes one file. Call Begin, then AppendBlock for each block, then Finish. Thread-compatible.
class FileWriter {
 public:
  // Precondition: CheckWriterOptions returned OK.
  FileWriter(std::unique_ptr<Sink> sink, const ColumnType& type, const WriterOptions& options);

  // Sets the limits of the levels; the file then has levels. Call before Begin.
  void SetLevels(const LevelLimits& limits);

  absl::Status Begin();

  // The first ordinal to pass to the encoder of a block that begins with row `first_ordinal`.
  uint64_t BodyOrdinal(uint64_t first_ordinal) const {
    return info_.has_movable_blocks() ? 0 : first_ordinal;
  }

  // Writes one data block. `value_key`: the block's key in the value index, already shortened;
  // ignored without a value index. `prefix`: the bytes before the encoded values (null bitmap,
  // levels). In a file with extended blocks (cfile/FORMAT.md) that are not movable, the function
  // appends the envelope's fields to `prefix`.
  absl::Status AppendBlock(const encodings::EncodedBlock& block, const BlockRows& rows,
                           std::string_view value_key, ByteWriter& prefix);

  // Writes a copy of a movable block of another file (CopiedBlock). The copy begins with row
  // `first_ordinal`. `value_key`: see AppendBlock. Precondition: this file has movable blocks.
  absl::Status CopyBlock(const CopiedBlock& block, uint64_t first_ordinal,
                         std::string_view value_key);

  // kInvalidArgument if `key` is reserved for the library.
  absl::Status AddFooterMetadata(std::string_view key, std::string_view value);

  // Finish records `choice` in the footer, unless the file is very small or blocks were copied:
  // `choice` does not say why the copied blocks are stored as they are.
  void SetChoice(const ChoiceInfo& choice) { info_.choice = choice; }

  // Writes the indexes, the dictionary unless it is nullptr, the statistics unless they are empty,
  // and the footer of a file of `num_rows` rows, and makes the file visible. `num_entries`: only
  // for a file with levels other than those of Kudu's arrays.
  absl::Status Finish(uint64_t num_rows, const ByteWriter* dictionary,
                      const StatisticsBytes& statistics,
                      std::optional<uint64_t> num_entries = std::nullopt);

  const std::string& name() const { return sink_->name(); }
  const FilePolicy& policy() const { return policy_; }
  // info().encoding is the encoding of the options. With kAuto, it is PLAIN before Finish; after
  // Finish, it is the encoding that uses the dictionary or, without a dictionary, the encoding that
  // stores the most bytes.
  const FileInfo& info() const { return info_; }
  // The totals of what has been written so far, without the counts of rows and without keys.
  ColumnTotals totals() const {
    return {.bytes_written = appender_ ? appender_->offset() + footer_bytes_ : 0,
            .encoding = info_.encoding,
            .compression = info_.compression,
            .encodings = encodings_};
  }
  // The place of the last data block in the file, and whether this block is compressed.
  const BlockPointer& last_block() const { return last_block_; }
  bool last_block_compressed() const { return last_block_compressed_; }
  size_t memory_usage_bytes() const;

 private:
  // kOutOfRange if readers would reject the index nodes written so far.
  absl::Status CheckIndexSize() const;
  // True if the encoding is chosen for each block.
  bool chooses() const { return options_.encoding == Encoding::kAuto; }
  // Call after the data block at `pointer` was appended.
  void AddTotals(Encoding encoding, const BlockPointer& pointer);
  absl::Status AddToIndexes(uint64_t first_ordinal, std::string_view value_key,
                            const BlockPointer& pointer);

  // Adds the pieces of the last block (PieceRecord).
  absl::Status AddPieces(uint64_t first_ordinal, Encoding encoding,
                         std::span<const uint8_t> pieces);

  std::unique_ptr<Sink> sink_;
  WriterOptions options_;
  FilePolicy policy_;
  FileInfo info_;
  std::optional<BlockAppender> appender_;
  std::optional<IndexWriter> positional_;
  std::optional<IndexWriter> value_;
  std::optional<PieceWriter> pieces_;
  ByteWriter piece_bytes_;  // of one block
  std::vector<EncodingTotals> encodings_;
  bool has_copies_ = false;  // CopyBlock was called
  BlockPointer last_block_;
  bool last_block_compressed_ = false;
  uint64_t footer_bytes_ = 0;
};

}  // namespace cfile::internal
