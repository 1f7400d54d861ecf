// Measures the scan costs of all encodings of the registry, for each type:
//
//   build/release/tests/benchmarks/scan_costs [NAME_OF_AN_ENCODING]
//
// Prints picoseconds per value: the estimate by the registry's row (ScanCost: the cost of a value
// plus the cost of its bytes), and the measured times for columns of several shapes. "-" means that
// the encoder chose another encoding. If the estimate for a new encoding is wrong by more than a
// factor of two, correct the row, because automatic choice compares these estimates.
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "encodings/registry.h"
#include "tests/benchmarks/or_die.h"
#include "tests/encodings/columns.h"

namespace cfile {
namespace {

using namespace encodings;
using benchmarks::Keep;
using benchmarks::MedianSeconds;
using benchmarks::OrDie;

constexpr size_t kValues = 200'000;
constexpr size_t kBatch = 4096;
constexpr uint32_t kFixedBytes = 16;

struct NamedShape {
  const char* name;
  Shape shape;
};
constexpr NamedShape kMeasured[] = {{"runs", Shape::kRuns},
                                    {"few values", Shape::kSmallRange},
                                    {"ascending", Shape::kSorted},
                                    {"random", Shape::kRandom}};

// Encodes the values and measures a scan of all blocks. Returns picoseconds per value, or -1 if a
// block has another encoding.
template <typename T>
double Measure(const EncodingRow& row, PhysicalType type, uint32_t type_length,
               std::span<const T> values) {
  auto encoder = OrDie(MakeEncoder<T>(row.encoding, type, {.type_length = type_length}));
  std::vector<EncodedBlock> blocks;
  for (size_t begin = 0; begin < values.size();) {
    const size_t first = begin;
    while (begin < values.size() && !encoder->full())
      begin += encoder->Append(values.subspan(begin, std::min(kBatch, values.size() - begin)));
    encoder->Finish(first, blocks.emplace_back());
    const Encoding encoding = blocks.back().encoding;
    if (encoding != Encoding::kAuto && encoding != row.encoding) return -1;
  }
  DecoderOptions options(type_length);
  ByteWriter dictionary;
  if (encoder->FinishDictionary(dictionary))
    options.dictionary = OrDie(LoadDictionary(row.encoding, type, type_length, dictionary.span()));
  auto decoder = OrDie(MakeDecoder<T>(row.encoding, type, options));
  const auto out = std::make_unique<T[]>(kBatch);
  const double seconds = MedianSeconds([&] {
    uint64_t ordinal = 0;
    for (const EncodedBlock& block : blocks) {
      OrDie(decoder->Open(BlockView(block, ordinal)));
      while (decoder->position() < decoder->count()) {
        const std::span<const T> in_place = decoder->Borrow(kBatch);
        Keep(in_place.data());
        if (!in_place.empty()) continue;
        benchmarks::Check(OrDie(decoder->Read({out.get(), kBatch})) > 0, "no values");
        Keep(out.get());
      }
      ordinal += block.count;
    }
  });
  return seconds / static_cast<double>(values.size()) * 1e12;
}

void Print(const EncodingRow& row, PhysicalType type) {
  const uint32_t type_length = type == PhysicalType::kFixedBytes ? kFixedBytes : 0;
  std::printf("%-26s %-12s", std::string(row.name).c_str(),
              std::string(PhysicalTypeName(type)).c_str());
  VisitPhysicalType(type, [&]<typename T>(std::type_identity<T>) {
    for (const NamedShape& shape : kMeasured) {
      const auto column = MakeColumn<T>(shape.shape, kValues, type_length, 1);
      const std::span<const T> values = column.span();
      const double value_bytes =
          static_cast<double>(OwnBytes(values)) / static_cast<double>(values.size());
      const double estimate = (kIsBytes<T> ? row.scan_cost.string : row.scan_cost.number) +
                              row.scan_cost.byte * value_bytes;
      const double found = Measure<T>(row, type, type_length, values);
      if (found < 0) {
        std::printf("  %8.0f %8s", estimate, "-");
      } else {
        std::printf("  %8.0f %8.0f", estimate, found);
      }
    }
  });
  std::printf("\n");
}

}  // namespace
}  // namespace cfile

int main(int argc, char** argv) {
  using namespace cfile;
  std::printf("%-26s %-12s", "encoding", "type");
  for (const NamedShape& shape : kMeasured) std::printf("  %17s", shape.name);
  std::printf("\n%-39s", "picoseconds per value");
  for (size_t i = 0; i < std::size(kMeasured); ++i) std::printf("  %8s %8s", "estimate", "found");
  std::printf("\n");
  for (const EncodingRow& row : Encodings()) {
    if (argc > 1 && row.name != std::string_view(argv[1])) continue;
    for (int type = 0; type < kNumPhysicalTypes; ++type) {
      if (row.Supports(static_cast<PhysicalType>(type)))
        Print(row, static_cast<PhysicalType>(type));
    }
  }
}
