#include "tests/encodings/blocks.h"

#include <algorithm>
#include <utility>

namespace cfile::encodings {

BlockView Block::view() const {
  BlockView view(bytes);
  view.skip_table = skip_table;
  view.count = count;
  view.first_ordinal = static_cast<uint32_t>(first_ordinal);
  return view;
}

bool Block::operator==(const Block& other) const {
  return bytes == other.bytes && count == other.count && skip_table == other.skip_table &&
         aligned_values_offset == other.aligned_values_offset &&
         first_ordinal == other.first_ordinal && encoding == other.encoding &&
         (dictionary_bytes == nullptr) == (other.dictionary_bytes == nullptr) &&
         (dictionary_bytes == nullptr || *dictionary_bytes == *other.dictionary_bytes);
}

BlockView GuardedView(const Block& block) {
  static GuardedBytes bytes[2] = {GuardedBytes(1 << 24), GuardedBytes(1 << 24)};
  static GuardedBytes skip_tables[2] = {GuardedBytes(1 << 16), GuardedBytes(1 << 16)};
  static size_t turn = 0;
  turn = 1 - turn;
  BlockView view = block.view();
  view.bytes = bytes[turn].Copy(view.bytes);
  view.skip_table = skip_tables[turn].Copy(view.skip_table);
  return view;
}

bool IsPage(Encoding encoding) { return static_cast<uint32_t>(encoding) >= kFirstExtendedNumber; }

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

template <typename T>
std::vector<Block> Encode(const Pair& pair, std::span<const T> values,
                          const EncoderOptions& options,
                          const std::function<size_t()>& next_batch) {
  auto encoder = MakeEncoder<T>(pair.encoding, pair.type, options).value();
  std::vector<Block> blocks;
  EncodedBlock block;
  size_t begin = 0;  // where the current block begins
  size_t next = 0;
  bool needs_dictionary = false;
  do {
    const size_t left = values.size() - next;
    const size_t batch = next_batch ? std::min(next_batch(), left) : left;
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
BlockDecoder<T>& Decoders<T>::For(const Block& block) {
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

#define CFILE_INSTANTIATE(T)                                                                    \
  template absl::StatusOr<size_t> ReadByCodes<T>(BlockDecoder<T>&, std::span<T>);               \
  template std::vector<Block> Encode<T>(const Pair&, std::span<const T>, const EncoderOptions&, \
                                        const std::function<size_t()>&);                        \
  template class Decoders<T>;
CFILE_FOR_EACH_VALUE_TYPE(CFILE_INSTANTIATE)
#undef CFILE_INSTANTIATE

}  // namespace cfile::encodings
