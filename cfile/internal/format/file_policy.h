// How files of version 1 and files for Compatibility::kKudu differ from other files. For
// differences inside blocks see encodings/kudu/kudu_policy.h and, for runs, RleHybridEncoder. For
// how rows are batched see AppendSome in writer.cc.
#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "cfile/options.h"
#include "cfile/types.h"

namespace cfile::internal {

// The maximum number of rows that Kudu's writer passes to an encoder at a time.
inline constexpr uint64_t kKuduBatchRows = 100;

// The differences as single properties, which the writers query.
struct FilePolicy {
  // Blocks, bitmaps and levels are exactly those of Kudu's writer.
  bool kudu_exact = false;
  // The file has this library's extensions: the header describes the column, the footer has
  // ExtensionsPB, and there may be statistics.
  bool extensions = true;
  // Each block can name its encoding, so the writer can choose an encoding for each block.
  bool blocks_choose = true;
  // Values are aligned in the file, so that a reader can use them in place.
  bool aligns_values = true;
  // max_values_per_block limits the rows of a block.
  bool limits_rows = true;
  // An encoder gets at most this many rows at a time. (Some of Kudu's encodings check a block's
  // size only after each batch.)
  uint64_t max_batch_rows = UINT64_MAX;
  // The largest header or footer that the file may have, in bytes.
  size_t max_metadata_size_bytes = SIZE_MAX;
};

FilePolicy PolicyOf(const WriterOptions& options);

// Returns the encoding that the writer uses for Encoding::kAuto in a file whose blocks cannot name
// their own encoding.
Encoding DefaultEncoding(const ColumnType& type, const WriterOptions& options);

// kInvalidArgument: `options` ask for Kudu's files or for version 1, which do not have this type,
// encoding, codec or key.
absl::Status CheckPolicy(const ColumnType& type, const WriterOptions& options);

}  // namespace cfile::internal
