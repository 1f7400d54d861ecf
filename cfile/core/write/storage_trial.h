// Encodes the first values of a block with each encoding that automatic choice may take, with and
// without compression. Of the results that a scan reads fast enough for the Goal, takes the
// fastest one that is not much larger than the smallest.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "cfile/file_info.h"
#include "cfile/options.h"
#include "encodings/core/block_codec.h"
#include "encodings/core/lane.h"
#include "encodings/registry.h"

namespace cfile::internal {

// The options of automatic choice. The choice also depends on the values and on the options of the
// encoders.
struct AutoOptions {
  Goal goal = Goal::kBalanced;
  // The file's codec, or kNone. Each block is either compressed with this codec or stored
  // uncompressed.
  Compression compression = Compression::kNone;
  int compression_level = 0;
  // True: compress every block that becomes at least a tenth smaller, and ignore the cost of
  // decompression in scans.
  bool compress_all = false;
  bool value_index = false;
  bool single_values = false;
  // The blocks may be copied into other files, so that they cannot need a table of symbols.
  bool movable_blocks = false;
  // The file has a value index, and its blocks are not copied into other files: encodings that are
  // searched fast may need a dictionary, and the decompression of strings counts as part of a
  // search.
  bool for_searches = false;
  // Automatic choice may take encodings whose numbers are at least kFirstOwnNumber.
  bool own_encodings = true;
  // The caller ends most blocks long before they have block_size_bytes.
  bool small_blocks = false;
  // Approximate size at which blocks end. EncoderOptions::block_size_bytes may be another size. The
  // estimate of a dictionary's cost divides the size of the dictionary by the number of values in
  // one block of this size.
  size_t block_size_bytes = 256 * 1024;
};

// A way to store a block.
struct Storage {
  const encodings::EncodingRow* row = nullptr;
  bool compressed = false;
  friend bool operator==(const Storage&, const Storage&) = default;
};

// Returns the size of values in bytes; for strings, the size of their characters.
inline uint64_t OwnBytes(encodings::ValueSpan values, encodings::Lane lane) {
  return lane == encodings::Lane::kBytes ? encodings::OwnBytes(values.As<std::string_view>())
                                         : values.count * encodings::WidthOf(lane);
}
// Returns the number of bytes of decoded values: their own bytes and, for strings, their views.
inline uint64_t DecodedBytes(encodings::ValueSpan values, encodings::Lane lane) {
  const bool views = lane == encodings::Lane::kBytes;
  return OwnBytes(values, lane) + (views ? values.count * sizeof(std::string_view) : 0);
}

// The outcome of a trial.
struct Trial {
  Storage storage;
  // With many more values, a dictionary would be better: it would be shared by more blocks.
  bool depends_on_count = false;
  ChoiceInfo found;
  // The cost of the trial: for each encoding, the decoded bytes of the values that it encoded, and
  // the encoded bytes that were compressed.
  uint64_t cost_bytes = 0;
};

// The encodings that automatic choice may take for a column of `type`, PLAIN first.
std::vector<const encodings::EncodingRow*> TrialCandidates(PhysicalType type,
                                                           const AutoOptions& choice);

// Encodes `values` with each candidate, compresses the results where this may save enough, and
// chooses by the Goal. `values`: the first values of a block. `column_values`: an estimate of the
// number of values in the column. If it is the number of `values`, each candidate encodes all
// values. Otherwise, if there are many values, each candidate first encodes only some of them,
// which are spread over `values`. Then the two best candidates (for kSize, the three best) encode
// up to four times as many values. `options`: the options of the encoders that will write the
// blocks. Preconditions: `values` is not empty; `column_values` is not less than the number of
// `values`; `candidates` are TrialCandidates(type, choice), or some of them.
Trial TryStorage(encodings::ValueSpan values, uint64_t column_values, PhysicalType type,
                 const encodings::EncoderOptions& options, const AutoOptions& choice,
                 std::span<const encodings::EncodingRow* const> candidates);

}  // namespace cfile::internal
