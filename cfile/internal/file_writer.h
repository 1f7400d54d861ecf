// The part of writing a file that does not depend on the type of its values: header, blocks,
// indexes and footer.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/inspect.h"
#include "cfile/internal/index_tree.h"
#include "cfile/internal/stored_block.h"
#include "cfile/io.h"
#include "cfile/options.h"
#include "encodings/block_codec.h"

namespace google::protobuf {
class Descriptor;
}

namespace cfile::internal {

struct StatisticsBytes;

// Replaces the open choices of `options` (kAuto, kDefault, 0) by the writer's choices. If each
// block can name its own encoding and codec, these two stay open. Otherwise the codec becomes none,
// and the encoding becomes:
// - with Compatibility::kKudu, Kudu's default: RLE for bool, DICT for bytes, BIT_SHUFFLE for all
//   other types;
// - in version 1: RLE for bool, PREFIX for bytes with a value index, PLAIN for all others.
void ResolveChoices(const ColumnType& type, WriterOptions& options);

// The codec that the file names. Precondition: ResolveChoices was called for `options`.
Compression CodecOf(const WriterOptions& options);

// Whether a file written with `options` gets statistics.
bool HasStatistics(const WriterOptions& options);

// kInvalidArgument or kUnimplemented if a file of `type` cannot be written with `options`.
// Precondition: ResolveChoices was called for `options`.
absl::Status CheckWriterOptions(const ColumnType& type, const WriterOptions& options);

// Writes the parts of a file in this order: Begin, AppendBlock for each block, Finish.
// Thread-compatible.
class FileWriter {
 public:
  // Precondition: CheckWriterOptions returned OK.
  FileWriter(std::unique_ptr<Sink> sink, const ColumnType& type, const WriterOptions& options);

  // Sets the limits of the levels; the file then has levels. Call before Begin.
  void SetLevels(const LevelLimits& limits);

  absl::Status Begin();

  // Writes one data block, whose first row is `first_ordinal`. `value_key`: the block's key in the
  // value index, already shortened; ignored without a value index. `prefix`: the bytes before the
  // encoded values (null bitmap, levels). In a file of extended blocks, the function appends the
  // block's header to `prefix`.
  absl::Status AppendBlock(const encodings::EncodedBlock& block, uint64_t first_ordinal,
                           std::string_view value_key, ByteWriter& prefix);

  // kInvalidArgument if `key` is reserved for the library.
  absl::Status AddFooterMetadata(std::string_view key, std::string_view value);

  // Writes the indexes, the dictionary unless it is nullptr, the statistics unless they are empty,
  // and the footer of a file of `num_values` rows, and makes the file visible. `num_entries`: only
  // for a file with levels other than those of Kudu's arrays.
  absl::Status Finish(uint64_t num_values, const ByteWriter* dictionary,
                      const StatisticsBytes& statistics,
                      std::optional<uint64_t> num_entries = std::nullopt);

  const std::string& name() const { return sink_->name(); }
  // The info's encoding is that of the options. With kAuto, the encoding is PLAIN before Finish.
  // After Finish, it is the dictionary's encoding or, without a dictionary, the encoding of most of
  // the blocks' bytes.
  const FileInfo& info() const { return info_; }
  // Totals of the blocks written so far, by encoding.
  std::span<const EncodingTotals> encodings() const { return encodings_; }
  uint64_t bytes_written() const { return appender_ ? appender_->offset() + footer_bytes_ : 0; }
  size_t memory_usage_bytes() const;

 private:
  // kOutOfRange if readers would reject the header or the footer because of its size or its
  // message.
  absl::Status CheckMetadata(std::string_view what, size_t size, std::string_view message,
                             const google::protobuf::Descriptor& type) const;
  // kOutOfRange if readers would reject the index nodes written so far.
  absl::Status CheckIndexSize() const;
  // True if the encoding is chosen for each block.
  bool chooses() const { return options_.encoding == Encoding::kAuto; }
  // block_size: the block's size before compression, in bytes.
  void AddTotals(Encoding encoding, const BlockPointer& pointer, size_t block_size);

  std::unique_ptr<Sink> sink_;
  WriterOptions options_;
  FileInfo info_;
  std::optional<BlockAppender> appender_;
  std::optional<IndexTreeWriter> positional_;
  std::optional<IndexTreeWriter> value_;
  std::vector<EncodingTotals> encodings_;
  uint64_t footer_bytes_ = 0;
};

}  // namespace cfile::internal
