// Encodes columns and decodes blocks through the registry. Handles Kudu's blocks and Parquet pages
// in the same way.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

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

  BlockView view() const {
    BlockView view(bytes);
    view.skip_table = skip_table;
    view.count = count;
    view.first_ordinal = static_cast<uint32_t>(first_ordinal);
    return view;
  }
  bool operator==(const Block& other) const {
    return bytes == other.bytes && count == other.count && skip_table == other.skip_table &&
           aligned_values_offset == other.aligned_values_offset &&
           first_ordinal == other.first_ordinal && encoding == other.encoding &&
           (dictionary_bytes == nullptr) == (other.dictionary_bytes == nullptr) &&
           (dictionary_bytes == nullptr || *dictionary_bytes == *other.dictionary_bytes);
  }
};

// Returns a view of a copy of the block; unmapped memory follows the copy. The view is valid until
// the second call from now. Two calls in a row return different addresses, to detect a decoder that
// still reads the previous block.
inline BlockView GuardedView(const Block& block) {
  static GuardedBytes bytes[2] = {GuardedBytes(1 << 24), GuardedBytes(1 << 24)};
  static GuardedBytes skip_tables[2] = {GuardedBytes(1 << 16), GuardedBytes(1 << 16)};
  static size_t turn = 0;
  turn = 1 - turn;
  BlockView view = block.view();
  view.bytes = bytes[turn].Copy(view.bytes);
  view.skip_table = skip_tables[turn].Copy(view.skip_table);
  return view;
}

// Like decoder.Read(out), but reads codes and looks them up. Preconditions: the decoder has
// DictionaryValues(); `out` has at most 2,000 values.
template <typename T>
absl::StatusOr<size_t> ReadByCodes(BlockDecoder<T>& decoder, std::span<T> out) {
  static GuardedBytes room(2000 * sizeof(uint32_t));
  const std::span<const T> words = decoder.DictionaryValues();
  const auto codes = room.Last<uint32_t>(out.size());
  const absl::StatusOr<size_t> n = decoder.ReadCodes(codes);
  for (size_t i = 0; i < std::min(n.value_or(0), out.size()); ++i) {
    EXPECT_LT(codes[i], words.size());
    if (codes[i] < words.size()) out[i] = words[codes[i]];
  }
  return n;
}

inline bool IsPage(Encoding encoding) {
  return static_cast<uint32_t>(encoding) >= kFirstExtendedNumber;
}

// Encodes all values into blocks. Appends at most next_batch() values at a time.
template <typename T, typename NextBatch>
std::vector<Block> Encode(const Pair& pair, std::span<const T> values,
                          const EncoderOptions& options, NextBatch next_batch) {
  auto encoder = MakeEncoder<T>(pair.encoding, pair.type, options).value();
  std::vector<Block> blocks;
  EncodedBlock block;
  size_t begin = 0;  // where the current block begins
  size_t next = 0;
  bool needs_dictionary = false;
  do {
    const size_t batch = std::min<size_t>(next_batch(), values.size() - next);
    const size_t taken = encoder->Append(values.subspan(next, batch));
    EXPECT_LE(taken, batch);
    EXPECT_TRUE(taken > 0 || batch == 0);
    next += taken;
    EXPECT_EQ(encoder->count(), next - begin);
    EXPECT_TRUE(taken == batch || encoder->full());
    if (!encoder->full() && next < values.size()) continue;
    encoder->Finish(begin, block);
    EXPECT_EQ(block.count, next - begin);
    EXPECT_EQ(encoder->count(), 0u);
    EXPECT_FALSE(encoder->full());
    const Encoding encoding = block.encoding == Encoding::kAuto ? pair.encoding : block.encoding;
    needs_dictionary |= FindEncoding(encoding)->has_dictionary;
    EXPECT_LE(block.bytes.size(),
              OwnBytes(values.subspan(begin, block.count)) +
                  uint64_t{block.count} * pair.row().worst_extra_bytes_per_value +
                  pair.row().worst_extra_bytes_per_block);
    EXPECT_TRUE(block.skip_table.empty() || IsPage(encoding));
    const auto bytes = block.bytes.span();
    const auto skip_table = block.skip_table.span();
    blocks.push_back({.bytes = {bytes.begin(), bytes.end()},
                      .count = block.count,
                      .aligned_values_offset = block.aligned_values_offset,
                      .skip_table = {skip_table.begin(), skip_table.end()},
                      .first_ordinal = begin,
                      .encoding = encoding,
                      .dictionary_bytes = nullptr,
                      .dictionary = nullptr});
    begin = next;
  } while (next < values.size());

  ByteWriter dictionary;
  if (!encoder->FinishDictionary(dictionary)) {
    EXPECT_FALSE(needs_dictionary && !values.empty());
    return blocks;
  }
  EXPECT_TRUE(pair.row().has_dictionary);
  const auto bytes = dictionary.span();
  const auto exact = std::make_shared<const std::vector<uint8_t>>(bytes.begin(), bytes.end());
  auto loaded = [&] {
    const std::vector<uint8_t> passing = *exact;  // a dictionary copies the bytes that it needs
    return LoadDictionary(pair.encoding, pair.type, options.type_length, passing);
  }();
  EXPECT_TRUE(loaded.ok()) << loaded.status();
  for (Block& each : blocks) {
    each.dictionary_bytes = exact;
    if (loaded.ok()) each.dictionary = *loaded;
  }
  return blocks;
}

template <typename T>
std::vector<Block> Encode(const Pair& pair, std::span<const T> values,
                          const EncoderOptions& options) {
  return Encode<T>(pair, values, options, [&] { return values.size(); });
}

// The decoders of a column's blocks. One decoder serves all blocks of the same encoding and
// dictionary.
template <typename T>
class Decoders {
 public:
  Decoders(PhysicalType type, uint32_t type_length) : type_(type), type_length_(type_length) {}

  // Returns the decoder for the block. The caller has to open it.
  BlockDecoder<T>& For(const Block& block) {
    if (block.dictionary != dictionary_) decoders_.clear();
    dictionary_ = block.dictionary;
    auto& decoder = decoders_[block.encoding];
    if (decoder == nullptr) {
      DecoderOptions options(type_length_);
      options.dictionary = dictionary_;
      decoder = MakeDecoder<T>(block.encoding, type_, options).value();
    }
    return *decoder;
  }

 private:
  const PhysicalType type_;
  const uint32_t type_length_;
  std::shared_ptr<const Dictionary> dictionary_;
  std::map<Encoding, std::unique_ptr<BlockDecoder<T>>> decoders_;
};

}  // namespace cfile::encodings
