// Gets back what is left of a file that was torn or damaged: the temporary file of a writer that
// was killed, a file of which the disk has lost a part.
//
//   auto torn = cfile::OpenPreadSource(".keys.cfile.4711-0.cfile-tmp");
//   auto sink = cfile::NewFileSink("keys.cfile");
//   auto report = cfile::Salvage(*torn, *std::move(sink));
//
// Threads may salvage at once, each into a sink of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cfile/batch.h"
#include "cfile/inspect.h"
#include "cfile/io.h"
#include "cfile/options.h"

namespace cfile {

struct SalvageOptions {
  // Whether the new file gets an index by value. The rows must then ascend (see
  // WriterOptions::value_index). Unless it is said: where the old one's footer says so; the header
  // of a torn file does not.
  std::optional<bool> value_index;
  // How the old file is read: its limits. Those of blocks and of metadata are the new one's, too.
  // (Above 2^31 - 1 bytes of a block, which no file can have, is as that.)
  ReaderOptions reader = {};
};

// Bytes of the old file that nothing came back from.
struct LostBytes {
  uint64_t begin = 0;
  uint64_t end = 0;
  // "zeros", what checksum or limit it was, the call that failed to read it, ...
  std::string reason;
};

struct SalvageReport {
  // What the header and, if it is there, the footer say. Of a torn file num_values is not known: it
  // is 2^32 - 1.
  FileInfo info;
  // The footer is there, of a column as the header's, and says where everything lies. Else the file
  // is torn: how many rows it was to have is not known.
  bool has_footer = false;

  uint64_t blocks = 0;  // data blocks whose rows are in the new file
  uint64_t rows = 0;    // of the new file; with levels: records
  uint64_t bytes = 0;   // of the old file, in those blocks

  enum class Dictionary : uint8_t { kNone, kFound, kLost } dictionary = Dictionary::kNone;

  // At most kMostLost, in file order. (Blocks that are lost for the same reason and lie side by
  // side are one.)
  std::vector<LostBytes> lost;
  static constexpr size_t kMostLost = 1000;
  // How many there are besides, and their bytes.
  struct MoreLost {
    uint64_t count = 0;
    uint64_t bytes = 0;
  } more_lost;
  // The rows, by their ordinals in the old file, that are known to have been there and are not in
  // the new one. Those behind them have moved up.
  std::vector<OrdinalRange> missing;

  // All that was ever in the file is in the new one.
  bool complete() const { return has_footer && lost.empty() && missing.empty(); }
};

// Writes every row that can be read in whole blocks of `torn` to a new file, in their order, with
// the old one's type, nullability or levels, encoding, codec and pairs of metadata (but not min_key
// and max_key).
//
// Where the footer is there and one of the indexes is whole, blocks are found by it; where the file
// has no checksums, by what is left of both. Else they are found by their checksums, one behind the
// other from the header on: a block ends where its checksum fits and it decodes to its last value.
// Behind bytes that are lost the next block is looked for at every byte; it must then have at most
// 4 MiB and 2^20 rows, or as many as a block before it. Takes a time that grows with the file's
// bytes only; with many losses, or bytes that were made for it, up to 20 times as long.
//
// Bytes that `torn` fails to read are lost as zeros are, in pages of 4 KiB, and the report names
// the error. But header and dictionary are what all blocks need: if the header, or a dictionary of
// which the footer says where it lies, cannot be read, that error is returned, as it may pass. (If
// it does not, a copy of the file with zeros there gives back the blocks that need no dictionary.)
//
// What a value holds is looked at behind lost bytes, too. Of a column whose values are files of the
// same type: where a block is lost as a whole (zeros), the next one of up to 4 MiB is preferred to
// what its values hold. But of a damaged block of which other values are intact, blocks of these
// are taken for the column's own if their ordinals fit; those of the column whose ordinals are
// below theirs are lost then.
//
// Not found again: blocks that need the dictionary where that is lost (it is written last, before
// the footer), and values that are not in a complete block. A value index is not detected (see
// SalvageOptions).
//
// Memory: that of a Writer, 56 bytes for each block and, while their list grows, up to three times
// as much; 16 bytes more for each gap of `missing`. Where blocks are found by the index, 32 bytes
// more for each (and as much again as their list grows) and the index nodes
// (max_index_size_bytes); where by their checksums, twice the sum of
// max_block_size_bytes and max_bloom_filter_bytes of the file, 12 bytes for each of the up to 4
// million places where a block may begin, and 80 bytes for each run of pages that cannot be read.
//
// kOutOfRange: a limit of `options.reader`, which the message names, keeps the index, the
// dictionary or a block from being read; they may be sound, so no row is dropped. (Without the
// footer, blocks above the sum of max_block_size_bytes and max_bloom_filter_bytes are not found;
// the report then says so.)
// kDataLoss: this is no CFile; or its header is damaged or, in a torn file, does not say what the
// column holds (Kudu's, or one written for Compatibility::kKudu); or a torn file is of version 1,
// which has no checksums. kUnimplemented: it needs what this build does not have.
// kFailedPrecondition: it holds Bloom filters. kInvalidArgument: the rows do not ascend, see
// SalvageOptions: a file whose footer names an index of such rows comes back without one. Other
// codes: those of the sink, and of the source where its size, header or dictionary cannot be read,
// or a block cannot be read once more to be written. After an error `sink` has not been finished.
absl::StatusOr<SalvageReport> Salvage(std::shared_ptr<const Source> torn,
                                      std::unique_ptr<Sink> sink,
                                      const SalvageOptions& options = {});

}  // namespace cfile
