// Chooses values for the options that the user left open, and refuses options that do not fit the
// column's type. It is in format/ because the statistics depend on these choices too.
#pragma once

#include "absl/status/status.h"
#include "cfile/options.h"
#include "cfile/types.h"

namespace cfile::internal {

// Replaces the open choices of `options` (kAuto, kDefault, 0) by the writer's choices. If each
// block can name its own encoding and codec, these two stay open. Otherwise the codec becomes none,
// and the encoding becomes:
// - with OldestReader::kKudu, Kudu's default: RLE for bool, DICT for bytes, BIT_SHUFFLE for all
//   other types;
// - in version 1: RLE for bool, PREFIX for bytes with a value index, PLAIN for all others.
void ResolveChoices(const ColumnType& type, WriterOptions& options);

// The codec that the file names. Precondition: ResolveChoices was called for `options`.
Compression CodecOf(const WriterOptions& options);

// Returns the size that data blocks should have in the file, for searches by key; 0 if only the
// other limits of WriterOptions end blocks. See WriterOptions::seek_block_size_bytes.
size_t SeekBlockBytes(const WriterOptions& options);

// Whether a file written with `options` gets statistics.
bool HasStatistics(const WriterOptions& options);

// kInvalidArgument or kUnimplemented if a file of `type` cannot be written with `options`.
// Precondition: ResolveChoices was called for `options`.
absl::Status CheckWriterOptions(const ColumnType& type, const WriterOptions& options);

}  // namespace cfile::internal
