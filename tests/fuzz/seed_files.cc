#include "tests/fuzz/seed_files.h"

#include <random>
#include <utility>

#include "tests/cfile/column_testing.h"
#include "tests/cfile/golden_files.h"
#include "tests/cfile/level_testing.h"

namespace cfile::fuzz {

std::vector<Bytes> SeedFiles() {
  using namespace testing_support;
  constexpr uintmax_t kMostBytes = 4096;
  std::vector<Bytes> files;
  for (NamedFile& file : GoldenFiles(".cfile", kMostBytes)) files.push_back(std::move(file.bytes));
  const std::vector<Compression> codecs = BuiltInCompressions();
  std::mt19937_64 random(1);
  uint64_t turn = 0;
  const auto options = [&](Encoding encoding, bool sorted) {
    return WriterOptions{.encoding = encoding,
                         .compression = codecs[++turn / 2 % codecs.size()],
                         .nullable = !sorted,
                         .value_index = sorted,
                         .block_size_bytes = 100,
                         .index_block_size_bytes = 60,
                         .bloom_filter_bits_per_value = turn % 3 == 0 ? 10u : 0u,
                         .movable_blocks = turn % 4 == 1};
  };
  for (const encodings::EncodingRow& row : encodings::Encodings()) {
    for (const ColumnType& type : AllColumnTypes()) {
      if (!row.Supports(type.physical())) continue;
      // Every physical type has at least one file per encoding.
      if (type.ToString() != encodings::PhysicalTypeName(type.physical()) && random() % 4 != 0)
        continue;
      const bool sorted = turn % 2 == 0 && type.data_type != DataType::kInt96;
      encodings::VisitPhysicalType(type.physical(), [&](auto t) {
        using T = typename decltype(t)::type;
        const auto column = RandomColumn<T>(type, 80, sorted ? -1 : 20, sorted, random);
        files.push_back(WriteColumn<T>(type, options(row.encoding, sorted), column));
      });
    }
  }
  // A file with pieces, which only large blocks have.
  const auto keys = RandomColumn<int64_t>(ColumnType::Int64(), 2500, -1, /*sorted=*/true, random);
  files.push_back(WriteColumn<int64_t>(ColumnType::Int64(),
                                       {.encoding = Encoding::kPlain, .value_index = true}, keys));
  for (const LevelLimits& limits : {LevelLimits{0, 2}, LevelLimits{1, 2}, LevelLimits{2, 4},
                                    LevelLimits::KuduArray(false), LevelLimits::KuduArray(true)}) {
    const auto leaf = RandomLeaf<int32_t>(ColumnType::Int32(), limits, 60, 0, random);
    for (const Encoding encoding : {Encoding::kPlain, Encoding::kParquetDeltaBinaryPacked})
      files.push_back(
          WriteLeaf<int32_t>(ColumnType::Int32(), options(encoding, false), leaf, random));
  }
  return files;
}

}  // namespace cfile::fuzz
