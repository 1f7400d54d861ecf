// Recovers the data of a torn or damaged file into a new file. Examples: the temporary file of a
// killed writer; a file of which the disk lost a part.
//
//   auto torn = cfile::OpenPreadSource(".keys.cfile.4711-0.cfile-tmp");
//   auto sink = cfile::NewFileSink("keys.cfile");
//   auto report = cfile::Salvage(*torn, *std::move(sink));
//
// Thread-safe: several threads may salvage at the same time, each into its own sink.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cfile/batch.h"
#include "cfile/file_info.h"
#include "cfile/io.h"
#include "cfile/options.h"
#include "encodings/core/export.h"

namespace cfile {

struct SalvageOptions {
  // Whether the new file gets a value index. The rows must then be in ascending order (see
  // WriterOptions::value_index). If not set, the new file gets one if the old footer names one; a
  // torn file has no footer, so its new file gets none.
  std::optional<bool> value_index;
  // How the old file is read, and its limits. The limits for blocks, metadata, dictionary and
  // indexes also apply to the new file. Block limits above 2^31 - 1 bytes, the format's maximum,
  // are reduced to it.
  ReaderOptions reader = {};
};

// A range of bytes of the old file from which nothing was recovered.
struct LostBytes {
  uint64_t begin = 0;
  uint64_t end = 0;
  // Why: "zeros", the checksum that did not match, the limit, the read that failed, ...
  std::string reason;
};

struct SalvageReport {
  // The contents of the header and of the footer, as far as they are available. Without the footer
  // num_rows is not known and is 2^32 - 1.
  FileInfo info;
  // True if the file has a readable footer, and the header is damaged or describes the same column.
  // Otherwise the file is torn: how many rows it should have is not known.
  bool has_footer = false;

  uint64_t blocks = 0;  // data blocks whose rows are in the new file
  uint64_t rows = 0;    // rows of the new file; with levels: records
  uint64_t bytes = 0;   // bytes of these blocks in the old file

  enum class Dictionary : uint8_t { kNone, kFound, kLost } dictionary = Dictionary::kNone;

  // At most kMostLost entries. Adjacent blocks that are lost for the same reason are one entry.
  std::vector<LostBytes> lost;
  static constexpr size_t kMostLost = 1000;
  // The lost ranges that are not in `lost`: their number and their bytes.
  struct MoreLost {
    uint64_t count = 0;
    uint64_t bytes = 0;
  } more_lost;
  // Rows that are known to have been in the old file but are not in the new file. The ordinals are
  // those of the old file. In the new file, all rows after a missing row have smaller ordinals.
  std::vector<OrdinalRange> missing;

  // True if the new file has everything that was in the old file.
  bool complete() const { return has_footer && lost.empty() && missing.empty(); }
};

// Writes the rows of each block of `torn` that can be read completely to a new file, in the order
// of the rows. The new file has the type, the nullability or levels, the encoding, the codec and
// the metadata pairs of the old file (but not min_key and max_key).
//
// How blocks are found:
// - If the footer is available and one of the indexes is complete, by this index.
// - If the footer is available, no index is complete and the file has no checksums: by the
//   remaining parts of both indexes.
// - Otherwise by their checksums, one after the other, beginning after the header. A block ends
//   where its checksum matches and its contents decode to the last value. After lost bytes, the
//   next block may begin at any byte. A block after lost bytes is found only if it has at most 4
//   MiB, and at most 2^20 rows or as many rows as an earlier block.
// The time is in proportion to the file's size. With many losses, or for adversarial bytes, it is
// up to 20 times as long.
//
// Bytes that cannot be read from `torn` are treated as zeros, in pages of 4 KiB, and the report
// names the error. But all blocks need the header and the dictionary. If the header, or a
// dictionary whose place the footer gives, cannot be read, its error is returned, because the error
// may be transient. If it is permanent, make a copy of the file with zeros in place of the
// unreadable bytes: salvaging the copy recovers the blocks that need no dictionary.
//
// If the column's values are themselves CFiles of the same type, the search after lost bytes may
// find blocks inside of values. If a whole block is lost (zeros), the search prefers a block of up
// to 4 MiB to the blocks inside of its values. But if a block is damaged and some of its values are
// intact, blocks inside of these values are taken for blocks of the column if their ordinals fit.
// Blocks of the column with lower ordinals are then lost.
//
// Not recovered: blocks that need a lost dictionary (the dictionary is written last, before the
// footer), and values outside of complete blocks. FSST's table of symbols is such a dictionary: if
// the end of a file of FSST is lost, all blocks with compressed text are lost. Without a footer a
// value index is not detected (see SalvageOptions).
//
// Memory: as much as a Writer; 56 bytes for each block (up to three times as much while the list
// grows); and 16 bytes for each gap in `missing`.
// - If blocks are found by the index: 32 bytes more for each block (twice as much while the list
//   grows) and the index nodes (max_index_size_bytes).
// - If blocks are found by their checksums: twice the sum of max_block_size_bytes and
//   max_bloom_filter_bytes of `options.reader`; 12 bytes for each place where a block may begin (at
//   most 4 million places); and 80 bytes for each run of unreadable pages.
//
// Errors, after which Finish of `sink` has not been called, besides those of cfile/CONCEPTS.md:
// - kOutOfRange: a part of the file exceeds a limit of `options.reader`. It may be intact, so
//   Salvage fails instead of dropping rows. (If blocks are found by their checksums, blocks larger
//   than the sum of max_block_size_bytes and max_bloom_filter_bytes are not found; the report says
//   so.)
// - kDataLoss: the file is not a CFile; or the header is damaged, and there is no footer with a
//   checksum; or the file is torn, and its header does not describe the column (files by Kudu or
//   with OldestReader::kKudu) or it has version 1, which has no checksums.
// - kFailedPrecondition: the file holds Bloom filters.
// - kInvalidArgument: the new file gets a value index, but the rows are not in ascending order. Set
//   SalvageOptions::value_index to false.
// - Errors of the source: only if the size, the header or the dictionary cannot be read, or if a
//   block cannot be read again when it is written.
CFILE_EXPORT absl::StatusOr<SalvageReport> Salvage(std::shared_ptr<const Source> torn,
                                                   std::unique_ptr<Sink> sink,
                                                   const SalvageOptions& options = {});

}  // namespace cfile
