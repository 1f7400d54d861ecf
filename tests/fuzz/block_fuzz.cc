// Blocks of every encoding of the registry: opened, read, sought by position and by key, and
// decoded to strings back to back.
#include <cstdlib>
#include <memory>
#include <optional>

#include "encodings/packed_strings.h"
#include "tests/encodings/columns.h"
#include "tests/fuzz/block_input.h"

namespace cfile::encodings {
namespace {

// More values than this are a matter of patience, not of bytes.
constexpr int kMostBatches = 64;
constexpr size_t kBatch = 1000;

void Expect(bool holds) {
  if (!holds) std::abort();
}

template <typename T>
void ReadSome(BlockDecoder<T>& decoder, T* values, std::optional<T>& last) {
  for (int batch = 0; batch < kMostBatches; ++batch) {
    const uint32_t before = decoder.position();
    Expect(before <= decoder.count());
    const auto read = decoder.Read({values, kBatch});
    if (!read.ok()) return Expect(absl::IsDataLoss(read.status()));
    Expect(*read <= kBatch && decoder.position() == before + *read);
    Expect((*read == 0) == (before == decoder.count()));
    if (*read == 0) return;
    if constexpr (kIsBytes<T>) {
      volatile char sink = 0;  // the views must be readable
      for (size_t i = 0; i < *read; ++i) {
        for (const char c : values[i]) sink = c;
      }
      (void)sink;
    }
    last = values[*read - 1];
  }
}

template <typename T>
void Exercise(const BlockInput& input, const Pair& pair) {
  DecoderOptions options(input.type_length);
  if (FindEncoding(pair.encoding)->has_dictionary) {
    auto dictionary = LoadDictionary(pair.encoding, pair.type, input.type_length, input.dictionary);
    if (!dictionary.ok()) return;
    options.dictionary = *std::move(dictionary);
  }
  const auto decoder = MakeDecoder<T>(pair.encoding, pair.type, options);
  Expect(decoder.ok());
  BlockView view(input.bytes);
  view.skip_table = input.skip_table;
  view.count = input.count;
  view.first_ordinal = input.first_ordinal;
  if (const absl::Status status = (*decoder)->Open(view); !status.ok()) {
    return Expect(absl::IsDataLoss(status));
  }
  const auto values = std::make_unique<T[]>(kBatch);
  std::optional<T> last;
  ReadSome(**decoder, values.get(), last);
  for (const uint64_t part : {3u, 1u, 2u}) {
    const auto position = static_cast<uint32_t>(uint64_t{(*decoder)->count()} * part / 3);
    if ((*decoder)->SeekTo(position).ok()) {
      Expect((*decoder)->position() == position);
      std::optional<T> ignored;
      ReadSome(**decoder, values.get(), ignored);
    }
  }
  if (!kIsBytes<T>) {
    const T key = last.value_or(T{});
    if (const auto found = (*decoder)->SeekToKey(key); found.ok()) {
      Expect(found->position <= (*decoder)->count());
    }
  } else {
    if (const auto found = (*decoder)->SeekToKey(T{}); found.ok()) {
      Expect(found->position <= (*decoder)->count());
    }
    if constexpr (kIsBytes<T>) {
      PackedStrings packed;
      if ((*decoder)->SeekTo(0).ok()) (void)(*decoder)->ReadPacked(kBatch, packed);
    }
  }
}

}  // namespace
}  // namespace cfile::encodings

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace cfile::encodings;
  static const std::vector<Pair> pairs = AllPairs();
  BlockInput input;
  if (!input.Read({data, size})) return 0;
  const Pair& pair = pairs[input.pair % pairs.size()];
  if (pair.type != PhysicalType::kFixedBytes) input.type_length = 0;
  if (pair.type == PhysicalType::kFixedBytes && input.type_length == 0) return 0;
  VisitPhysicalType(pair.type, [&](auto t) { Exercise<typename decltype(t)::type>(input, pair); });
  return 0;
}
