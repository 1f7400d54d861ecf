// The part of writing a file that does not depend on the type of its values: header, blocks,
// indexes, footer.
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
class Message;
}

namespace cfile::internal {

// Puts in place of what `options` leaves open (kAuto, kDefault, 0) what the writer uses. Encoding
// and codec stay open where blocks can say theirs. Elsewhere the codec becomes none, and the
// encoding with Compatibility::kKudu what it is in Kudu, RLE for bool, DICT for bytes, BIT_SHUFFLE
// for all else; in version 1 RLE for bool, PREFIX for sorted bytes, PLAIN for all else.
void ResolveChoices(const ColumnType& type, WriterOptions& options);

// The codec that the file names. Precondition: the choices of `options` are resolved.
Compression CodecOf(const WriterOptions& options);

// Whether a file written with `options` gets statistics.
bool HasStatistics(const WriterOptions& options);

// kInvalidArgument or kUnimplemented if a file of `type` cannot be written with `options`, whose
// choices are resolved.
absl::Status CheckWriterOptions(const ColumnType& type, const WriterOptions& options);

// Writes a file's parts in their order: Begin, AppendBlock for each block, Finish.
// Thread-compatible.
class FileWriter {
 public:
  // Precondition: CheckWriterOptions is OK.
  FileWriter(std::unique_ptr<Sink> sink, const ColumnType& type, const WriterOptions& options);

  // The file has levels with these limits. Before Begin.
  void SetLevels(const LevelLimits& limits);

  absl::Status Begin();

  // One data block, whose first row is `first_ordinal`. `value_key`: its key in the value index,
  // already cut; ignored without one. `prefix`: what stands before the encoded values (null bitmap,
  // levels); in a file of extended blocks their header is appended to it.
  absl::Status AppendBlock(const encodings::EncodedBlock& block, uint64_t first_ordinal,
                           std::string_view value_key, ByteWriter& prefix);

  // kInvalidArgument: `key` is one of the library's own.
  absl::Status AddFooterMetadata(std::string_view key, std::string_view value);

  // Writes the indexes, the dictionary if there is one (not nullptr), the statistics if there are
  // any (not empty), and the footer of a file of `num_values` rows, and makes the file visible.
  // `num_entries`: of a file with levels that is not of Kudu's arrays.
  absl::Status Finish(uint64_t num_values, const ByteWriter* dictionary,
                      std::string_view statistics,
                      std::optional<uint64_t> num_entries = std::nullopt);

  const std::string& name() const { return sink_->name(); }
  // Its encoding is the options' one; where that is kAuto, PLAIN before Finish, and then the one
  // that the dictionary is of or, without a dictionary, that most bytes of blocks are of.
  const FileInfo& info() const { return info_; }
  // What blocks were written, by encoding.
  std::span<const EncodingTotals> encodings() const { return encodings_; }
  uint64_t bytes_written() const { return appender_ ? appender_->offset() + footer_bytes_ : 0; }
  size_t memory_usage_bytes() const;

 private:
  // kOutOfRange if readers would refuse a part of `size` bytes with this message. `parsed`: an
  // empty message of its type.
  absl::Status CheckMetadata(std::string_view what, size_t size, std::string_view message,
                             google::protobuf::Message& parsed) const;
  // kOutOfRange if readers would refuse the nodes of the indexes that were written so far.
  absl::Status CheckIndexSize() const;
  // Whether blocks say which encoding was chosen for them.
  bool chooses() const { return options_.encoding == Encoding::kAuto; }
  // block_size: bytes before compression.
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
