// Encodes columns and decodes blocks through the registry. Handles Kudu's blocks and Parquet pages
// in the same way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "columns.h"
#include "encodings/registry.h"
#include "gtest/gtest.h"
#include "guarded_bytes.h"

namespace cfile::encodings {

// A block whose bytes have a buffer of their exact size, so that AddressSanitizer detects reads
// past the end.
struct Block {
  std::vector<uint8_t> bytes;
  uint32_t count = 0;
  std::optional<uint32_t> aligned_values_offset;
  std::vector<uint8_t> skip_table;
  uint64_t first_ordinal = 0;
  Encoding encoding = Encoding::kAuto;  // never kAuto in a block that Encode returns
  // The dictionary of the block's column.
  std::shared_ptr<const std::vector<uint8_t>> dictionary_bytes;
  std::shared_ptr<const Dictionary> dictionary;

  BlockView view() const;
  bool operator==(const Block& other) const;
};

// Returns a view of a copy of the block; unmapped memory follows the copy. The view is valid until
// the second call from now. Two calls in a row return different addresses, to detect a decoder that
// still reads the previous block.
BlockView GuardedView(const Block& block);

bool IsPage(Encoding encoding);

// The following functions and the class exist for each type of CFILE_FOR_EACH_VALUE_TYPE.

// Like decoder.Read(out), but reads codes and looks them up. Preconditions: the decoder has
// DictionaryValues(); `out` has at most 2,000 values.
template <typename T>
absl::StatusOr<size_t> ReadByCodes(BlockDecoder<T>& decoder, std::span<T> out);

// Encodes all values into blocks. Appends at most next_batch() values at a time, or all at once.
template <typename T>
std::vector<Block> Encode(const Pair& pair, std::span<const T> values,
                          const EncoderOptions& options,
                          const std::function<size_t()>& next_batch = nullptr);

// The decoders of a column's blocks. One decoder serves all blocks of the same encoding and
// dictionary.
template <typename T>
class Decoders {
 public:
  Decoders(PhysicalType type, uint32_t type_length) : type_(type), type_length_(type_length) {}

  // Returns the decoder for the block. The caller has to open it.
  BlockDecoder<T>& For(const Block& block);

 private:
  const PhysicalType type_;
  const uint32_t type_length_;
  std::shared_ptr<const Dictionary> dictionary_;
  std::map<Encoding, std::unique_ptr<BlockDecoder<T>>> decoders_;
};

}  // namespace cfile::encodings
