// Writes one column into one file.
//
//   auto writer = cfile::Writer<std::string_view>::Create("keys.cfile",
//   cfile::ColumnType::String(), {.value_index = true}); if (!writer.ok()) return writer.status();
//   CHECK_OK((*writer)->Append(keys));
//   CHECK_OK((*writer)->Finish());
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/batch.h"
#include "cfile/io.h"
#include "cfile/options.h"
#include "cfile/types.h"

namespace cfile {

// A column of values of T; cfile/types.h says which T each ColumnType takes. One thread at a
// time, not always the same one; writers know nothing of each other.
//
// The file's bytes depend on type, options, rows and metadata alone: not on how the rows are
// divided among calls, unless for Compatibility::kKudu (some of Kudu's encodings end blocks where
// calls do), nor on threads.
//
// Memory: one data block, one index node per level of each tree, of a dictionary encoding up to the
// 1 MiB of its dictionary and what finds values in it, of automatic choice a sample of 128 KiB and,
// of several encodings, a block's buffers each. It does not grow with the number of rows (the
// nodes' keys are cut to what tells them apart, see cfile/FORMAT.md, Index nodes).
// The statistics take 20 to 150 bytes for each block, up to half of max_block_size_bytes, and a
// Bloom filter up to max_bloom_filter_bytes.
//
// Failure is sticky: the first error is returned by every later call, and nothing becomes visible
// under the file's name. An exception that passes through a call (std::bad_alloc, which is not
// caught here) is a failure too: later calls return kAborted. A writer that is dropped without
// Finish leaves nothing behind.
template <typename T>
class Writer {
 public:
  // Begins a file at `path` (by way of NewFileSink: it appears there when Finish has succeeded), or
  // into `sink`. kInvalidArgument: T, type and options do not go together. kUnimplemented: the
  // registry has no such encoding for the type, or the codec was not built in.
  static absl::StatusOr<std::unique_ptr<Writer>> Create(const std::string& path,
                                                        const ColumnType& type,
                                                        const WriterOptions& options = {});
  static absl::StatusOr<std::unique_ptr<Writer>> Create(std::unique_ptr<Sink> sink,
                                                        const ColumnType& type,
                                                        const WriterOptions& options = {});
  ~Writer();

  // Appends rows that all hold a value. Copies what it needs before it returns.
  // kInvalidArgument: with a value index, a value is less than the one before it or NaN (the
  // message names its ordinal); a value of fixed-length bytes has another length. kOutOfRange: a
  // value or the file outgrows a limit of the options, or 2^32 - 1 rows.
  absl::Status Append(std::span<const T> values);

  // Appends rows of which some may be null: bit i % 8 of validity[i / 8] is 1 if row i holds a
  // value (Arrow's bitmap); values[i] of a null row is ignored. Precondition: validity.size() >=
  // (values.size() + 7) / 8. kInvalidArgument: there is a null and the column is not nullable or
  // has a value index (the message names the ordinal).
  absl::Status Append(std::span<const T> values, std::span<const uint8_t> validity);

  // One null row.
  absl::Status AppendNull();

  // A pair for the footer. Any time before Finish. kInvalidArgument: the key begins with "cfile.".
  absl::Status AddMetadata(std::string_view key, std::string_view value);

  // Writes what is pending, the indexes and the footer, and makes the file durable and visible.
  // Called once, last. kOutOfRange: a part of the file is above a limit of the options; what a
  // reader with the same limits refuses is never published.
  absl::Status Finish();

  // Rows so far, nulls included; nulls among them.
  uint64_t num_values() const;
  uint64_t null_count() const;

  // Bytes handed to the sink so far; after Finish the size of the file.
  uint64_t bytes_written() const;

  // Bytes that this writer holds in memory.
  size_t memory_usage_bytes() const;

  // The encoding that the footer names: the options' one, or, after Finish, what kAuto became; see
  // cfile/FORMAT.md, Extended blocks.
  Encoding encoding() const;
  // The codec that the file names: the options' one, or what kDefault became.
  Compression compression() const;
  // What blocks were written so far, by encoding. Valid until the next call.
  std::span<const EncodingTotals> encodings() const;

  // The least and the greatest value of a column with a value index, in memcmp form; empty before
  // the first value.
  std::string min_key() const;
  std::string max_key() const;

 private:
  class Impl;
  explicit Writer(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

}  // namespace cfile
