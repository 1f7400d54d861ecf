// Blocks of each encoding of the registry are opened, read, and searched by position and by key.
// All functions of decoders are called. Each encoding has its own target.
#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "cfile/batch.h"
#include "encodings/core/block_fields.h"
#include "encodings/core/packed_strings.h"
#include "tests/encodings/blocks.h"
#include "tests/fuzz/target.h"

namespace cfile::fuzz {
namespace {

using namespace encodings;

// These limits bound the time of an input. Reading more values would only take more time.
constexpr int kMostBatches = 64;
constexpr size_t kBatch = 1000;

// The fields of a block, from which a target's input is built.
struct Input {
  uint8_t type = 0;         // PhysicalType
  uint8_t type_length = 0;  // only for fixed bytes
  uint32_t count = 0;
  uint32_t first_ordinal = 0;
  Bytes skip_table, dictionary, block;

  static constexpr size_t kHeadBytes = 10;  // bytes before the tables

  Bytes Join() const {
    ByteWriter out;
    out.PutFixed(type);
    out.PutFixed(type_length);
    out.PutFixed(count);
    out.PutFixed(first_ordinal);
    for (const Bytes* part : {&skip_table, &dictionary}) out.PutLengthPrefixed(*part);
    out.PutBytes(block);
    return ToBytes(out.span());
  }
  static std::optional<Input> Split(std::span<const uint8_t> bytes) {
    Input input;
    ByteReader reader(bytes);
    std::span<const uint8_t> skip_table, dictionary;
    if (!reader.ReadFixed(input.type) || !reader.ReadFixed(input.type_length) ||
        !reader.ReadFixed(input.count) || !reader.ReadFixed(input.first_ordinal) ||
        !reader.ReadLengthPrefixed(skip_table) || !reader.ReadLengthPrefixed(dictionary)) {
      return std::nullopt;
    }
    input.skip_table = ToBytes(skip_table);
    input.dictionary = ToBytes(dictionary);
    input.block = ToBytes(reader.rest());
    return input;
  }
};

template <typename T>
void ReadSome(BlockDecoder<T>& decoder, T* values, std::optional<T>& last) {
  for (int batch = 0; batch < kMostBatches; ++batch) {
    const uint32_t before = decoder.position();
    Expect(before <= decoder.count());
    const auto read = decoder.Read({values, kBatch});
    if (!read.ok()) return ExpectBadData(read.status());
    Expect(*read <= kBatch && decoder.position() == before + *read);
    Expect((*read == 0) == (before == decoder.count()));
    if (*read == 0) return;
    if constexpr (kIsBytes<T>) {
      for (size_t i = 0; i < *read; ++i) Touch(values[i]);
    }
    last = values[*read - 1];
  }
}

template <typename T>
void SeekSome(BlockDecoder<T>& decoder, T* values, const T& key) {
  for (const uint64_t part : {3u, 1u, 2u}) {
    const auto position = static_cast<uint32_t>(uint64_t{decoder.count()} * part / 3);
    if (decoder.SeekTo(position).ok()) {
      Expect(decoder.position() == position);
      std::optional<T> ignored;
      ReadSome(decoder, values, ignored);
    }
  }
  if (!IsKey(key)) return;
  if (const auto found = decoder.SeekToKey(key); found.ok()) {
    Expect(found->position <= decoder.count());
  }
  const T keys[] = {key, T{}, key};
  LowerBound bounds[std::size(keys)];
  if (decoder.SeekToKeys(keys, bounds).ok()) {
    for (const LowerBound& bound : bounds) Expect(bound.position <= decoder.count());
  }
}

template <typename T>
void ReadOtherwise(BlockDecoder<T>& decoder, T* values) {
  const uint32_t count = decoder.count();
  if constexpr (kIsBytes<T>) {
    PackedStrings packed;
    if (decoder.SeekTo(0).ok()) (void)decoder.ReadPacked(kBatch, packed);
  } else if (count > 0) {
    const uint32_t positions[] = {0, count / 3, count / 3, count - 1};
    (void)decoder.Gather(positions, {values, std::size(positions)});
  }
  if constexpr (!kIsFloat<T>) {
    uint8_t bits[kBatch / 8];
    const auto first = decoder.SeekTo(0).ok() ? decoder.Read({values, 1}) : size_t{0};
    if (first.value_or(0) > 0 && decoder.SeekTo(0).ok()) {
      const Owned<T> key(values[0]);
      (void)decoder.ReadMatches(T(key), T(key), std::min<size_t>(count, kBatch), bits);
      const T list[] = {T(key)};
      if (decoder.SeekTo(0).ok())
        (void)decoder.ReadMatchesOfAny(list, std::min<size_t>(count, kBatch), bits);
    }
  }
  if (decoder.SeekTo(count / 2).ok()) {
    const std::span<const T> borrowed = decoder.Borrow(kBatch);
    std::copy(borrowed.begin(), borrowed.end(), values);
  }
  if (const auto words = decoder.DictionaryValues(); !words.empty() && decoder.SeekTo(0).ok()) {
    uint32_t codes[100];
    const auto read = decoder.ReadCodes(codes);
    for (size_t i = 0; read.ok() && i < *read; ++i) Expect(codes[i] < words.size());
  }
}

// Expects that the fields cover the block, whatever its bytes are. A huge length of the type must
// not cost time.
void DescribeSome(Encoding encoding, PhysicalType type, const BlockView& view,
                  uint32_t type_length) {
  const uint32_t lengths[] = {type_length, 0x7fffffff};
  for (const uint32_t length : lengths) {
    std::vector<BlockField> fields;
    const absl::Status status = DescribeBlock(
        encoding, type, type == PhysicalType::kFixedBytes ? std::max(length, 1u) : 0, view, fields);
    if (!status.ok()) ExpectBadData(status);
    size_t end = 0;
    for (const BlockField& field : fields) {
      Expect(field.offset == end && field.size > 0);
      end += field.size;
    }
    Expect(end == view.bytes.size());
  }
}

template <typename T>
void Exercise(Encoding encoding, PhysicalType type, const Input& input) {
  DecoderOptions options(input.type_length);
  if (FindEncoding(encoding)->has_dictionary) {
    auto dictionary = LoadDictionary(encoding, type, input.type_length, input.dictionary);
    if (!dictionary.ok()) return ExpectBadData(dictionary.status());
    options.dictionary = *std::move(dictionary);
  }
  const auto decoder = MakeDecoder<T>(encoding, type, options).value();
  BlockView view(input.block);
  view.skip_table = input.skip_table;
  view.count = input.count;
  view.first_ordinal = input.first_ordinal;
  DescribeSome(encoding, type, view, input.type_length);
  if (const absl::Status status = decoder->Open(view); !status.ok()) return ExpectBadData(status);
  const auto values = std::make_unique<T[]>(kBatch);
  std::optional<T> last;
  ReadSome(*decoder, values.get(), last);
  Owned<T> key{};
  if (last) key = *last;
  SeekSome<T>(*decoder, values.get(), T(key));
  ReadOtherwise(*decoder, values.get());
  if (const auto index = decoder->BuildSeekIndex(); index != nullptr) {
    view.seek_index = index.get();
    Expect(decoder->Open(view).ok());
    if constexpr (kIsBytes<T>) {
      index->PrefetchKeys(view.bytes);
      index->PrefetchPart(index->FindPart(key), key, view.bytes);
    }
    SeekSome<T>(*decoder, values.get(), T(key));
    ReadOtherwise(*decoder, values.get());
  }
}

void Run(const EncodingRow& row, std::span<const uint8_t> bytes) {
  auto input = Input::Split(bytes);
  if (!input || input->type >= kNumPhysicalTypes) return;
  const auto type = static_cast<PhysicalType>(input->type);
  if (!row.Supports(type)) return;
  const bool fixed = type == PhysicalType::kFixedBytes;
  if (!fixed) input->type_length = 0;
  if (fixed && input->type_length == 0) return;
  VisitPhysicalType(
      type, [&](auto t) { Exercise<typename decltype(t)::type>(row.encoding, type, *input); });
}

// Changes one field. Keeps the lengths consistent, and usually keeps a type that the encoding
// supports.
void Mutate(Bytes& bytes, Random& random) {
  auto input = Input::Split(bytes);
  if (!input) return MutateAny(bytes);
  const auto which = random() % 16;
  if (which == 0) {
    LLVMFuzzerMutate(bytes.data() + 1, Input::kHeadBytes - 1, Input::kHeadBytes - 1);
    return;
  }
  MutateAny(which < 4 && !input->skip_table.empty()   ? input->skip_table
            : which < 8 && !input->dictionary.empty() ? input->dictionary
                                                      : input->block);
  bytes = input->Join();
}

std::vector<Bytes> Seeds(const EncodingRow& row) {
  std::vector<Bytes> seeds;
  for (int number = 0; number < kNumPhysicalTypes; ++number) {
    const Pair pair{row.encoding, static_cast<PhysicalType>(number)};
    if (!row.Supports(pair.type)) continue;
    EncoderOptions options{.type_length =
                               pair.type == PhysicalType::kFixedBytes ? uint32_t{5} : uint32_t{0}};
    VisitPhysicalType(pair.type, [&](auto t) {
      using T = typename decltype(t)::type;
      for (const Shape shape : kShapes) {
        // Seek indexes of strings are for blocks of several groups of values.
        const bool many = kIsBytes<T> && shape == Shape::kSorted;
        options.block_size_bytes = many ? 4000 : 400;
        const auto column = MakeColumn<T>(shape, many ? 300 : 60, options.type_length, 1);
        for (const Block& block : Encode<T>(pair, column.span(), options)) {
          // Skips large blocks, and blocks for which the encoder replaced the dictionary by another
          // encoding.
          if (block.encoding != pair.encoding || block.bytes.size() > 10'000) continue;
          Input input{.type = static_cast<uint8_t>(number),
                      .type_length = static_cast<uint8_t>(options.type_length),
                      .count = block.count,
                      .first_ordinal = static_cast<uint32_t>(block.first_ordinal),
                      .skip_table = block.skip_table,
                      .dictionary = {},
                      .block = block.bytes};
          if (block.dictionary_bytes != nullptr) input.dictionary = *block.dictionary_bytes;
          if (input.dictionary.size() <= 10'000) seeds.push_back(input.Join());
        }
      }
    });
  }
  return seeds;
}

}  // namespace

std::vector<Target> Targets() {
  std::vector<Target> targets;
  for (const EncodingRow& row : Encodings()) {
    targets.push_back({.name = "encoding-" + std::string(row.name),
                       .run = [&row](std::span<const uint8_t> bytes) { Run(row, bytes); },
                       .seeds = [&row] { return Seeds(row); },
                       .mutate = Mutate});
  }
  return targets;
}

}  // namespace cfile::fuzz
