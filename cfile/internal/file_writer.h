// The part of writing a file that does not depend on the type of its values: header, blocks,
// indexes, footer.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/inspect.h"
#include "cfile/internal/index_tree.h"
#include "cfile/internal/stored_block.h"
#include "cfile/io.h"
#include "cfile/options.h"
#include "encodings/block_codec.h"

namespace cfile::internal {

// What kAuto becomes. With Compatibility::kKudu as in Kudu: RLE for bool, DICT for bytes,
// BIT_SHUFFLE for all else. Otherwise, until a sample of the values is asked: RLE for bool, PREFIX
// for sorted bytes, PLAIN for all else.
Encoding ResolveEncoding(const ColumnType& type, const WriterOptions& options);

// Whether a file written with `options` gets statistics.
bool HasStatistics(const WriterOptions& options);

// kInvalidArgument or kUnimplemented if a file of `type` cannot be written with `options`, whose
// encoding is resolved.
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

  void AddFooterMetadata(std::string_view key, std::string_view value) {
    info_.footer_metadata.emplace_back(key, value);
  }

  // Writes the indexes, the dictionary if there is one (not nullptr), the statistics if there are
  // any (not empty), and the footer of a file of `num_values` rows, and makes the file visible.
  // `num_entries`: of a file with levels that is not of Kudu's arrays.
  absl::Status Finish(uint64_t num_values, const ByteWriter* dictionary,
                      std::string_view statistics,
                      std::optional<uint64_t> num_entries = std::nullopt);

  const std::string& name() const { return sink_->name(); }
  const FileInfo& info() const { return info_; }
  uint64_t bytes_written() const { return appender_ ? appender_->offset() + footer_bytes_ : 0; }
  size_t memory_usage_bytes() const;

 private:
  absl::Status CheckMetadataSize(std::string_view what, size_t size) const;

  std::unique_ptr<Sink> sink_;
  WriterOptions options_;
  FileInfo info_;
  std::optional<BlockAppender> appender_;
  std::optional<IndexTreeWriter> positional_;
  std::optional<IndexTreeWriter> value_;
  uint64_t footer_bytes_ = 0;
};

}  // namespace cfile::internal
