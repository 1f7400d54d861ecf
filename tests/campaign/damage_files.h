// Small undamaged files of all kinds, for campaigns that damage them.
#pragma once

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "encodings/core/physical_type.h"
#include "encodings/registry.h"
#include "tests/cfile/column_testing.h"
#include "tests/cfile/golden_files.h"
#include "tests/cfile/level_testing.h"

namespace cfile::campaign {

using Bytes = std::vector<uint8_t>;

template <typename T>
Bytes RandomFile(const ColumnType& type, const WriterOptions& options, uint64_t seed) {
  constexpr size_t kRows = 120;
  std::mt19937_64 random(seed);
  const auto column = testing_support::RandomColumn<T>(type, kRows, options.nullable ? 20 : -1,
                                                       options.value_index, random);
  return testing_support::WriteColumn<T>(type, options, column);
}

template <typename T>
Bytes RandomLevelFile(const ColumnType& type, const LevelLimits& limits,
                      const WriterOptions& options, uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto leaf = testing_support::RandomLeaf<T>(type, limits, 60, 0, random);
  return testing_support::WriteLeaf<T>(type, options, leaf, random);
}

inline bool IsKudus(const ColumnType& type, Encoding encoding) {
  return static_cast<uint32_t>(type.data_type) < encodings::kFirstExtendedNumber &&
         static_cast<uint32_t>(encoding) < encodings::kFirstExtendedNumber;
}

// Returns files of every physical type in every encoding, and some files with automatic choice. The
// files use each codec in turn. Some are sorted with a value index, some are nullable, and some
// have statistics or a Bloom filter. Some are for Kudu, of version 1, or have levels of every
// shape. `seed` selects the values. Two seeds give files whose blocks have the same shape.
inline std::vector<NamedFile> OwnFiles(uint64_t seed) {
  const std::vector<Compression> codecs = testing_support::BuiltInCompressions();
  std::vector<NamedFile> files;
  size_t turn = 0;
  const auto add = [&](const ColumnType& type, WriterOptions options, std::string name) {
    options.block_size_bytes = 100;
    options.index_block_size_bytes = 60;
    name = type.ToString() + " " + std::string(EncodingName(options.encoding)) + " " +
           std::string(CompressionName(options.compression)) +
           (options.value_index ? " sorted"
            : options.nullable  ? " nullable"
                                : "") +
           name;
    encodings::VisitPhysicalType(type.physical(), [&](auto t) {
      files.push_back({name, RandomFile<typename decltype(t)::type>(type, options, ++seed)});
    });
  };
  const std::vector<ColumnType> types = testing_support::AllColumnTypes();
  for (int i = 0; i < encodings::kNumPhysicalTypes; ++i) {
    const auto physical = static_cast<PhysicalType>(i);
    const ColumnType type = *std::find_if(
        types.begin(), types.end(), [&](const ColumnType& t) { return t.physical() == physical; });
    for (const encodings::EncodingRow& row : encodings::Encodings()) {
      if (!row.Supports(physical)) continue;
      const bool ordered = physical != PhysicalType::kInt96;
      for (const Compression codec : {Compression::kNone, codecs[turn++ % codecs.size()]}) {
        add(type, {.encoding = row.encoding, .compression = codec, .value_index = ordered}, "");
        add(type, {.encoding = row.encoding, .compression = codec, .nullable = true}, "");
      }
      add(type,
          {.encoding = row.encoding,
           .compression = codecs[turn % codecs.size()],
           .nullable = turn % 2 == 0,
           .movable_blocks = true},
          " movable");
      if (!IsKudus(type, row.encoding)) continue;
      if (row.encoding == Encoding::kGroupVarint) continue;  // Kudu no longer supports it
      add(type, {.encoding = row.encoding, .nullable = true, .oldest_reader = OldestReader::kKudu},
          " as Kudu");
      add(type,
          {.encoding = row.encoding,
           .compression = Compression::kNone,
           .version = FormatVersion::kV1},
          " version 1");
    }
    add(type, {.nullable = true}, "");
    if (physical != PhysicalType::kBool) {
      add(type, {.encoding = Encoding::kPlain, .bloom_filter_bits_per_value = 10}, " Bloom filter");
    }
    add(type, {.encoding = Encoding::kPlain, .statistics = false}, " no statistics");
  }
  for (const LevelLimits& limits : {LevelLimits{0, 2}, LevelLimits{1, 2}, LevelLimits{2, 4},
                                    LevelLimits::KuduArray(false), LevelLimits::KuduArray(true)}) {
    for (const Encoding encoding :
         {Encoding::kPlain, Encoding::kParquetDeltaBinaryPacked, Encoding::kAuto}) {
      for (const Compression codec : {Compression::kNone, codecs[turn++ % codecs.size()]}) {
        const WriterOptions options{.encoding = encoding,
                                    .compression = codec,
                                    .block_size_bytes = 150,
                                    .index_block_size_bytes = 60};
        files.push_back(
            {"levels " + std::to_string(limits.max_repetition) + " " +
                 std::to_string(limits.max_definition) + (limits.kudu_array ? " array " : " ") +
                 std::string(EncodingName(encoding)) + " " + std::string(CompressionName(codec)),
             RandomLevelFile<int32_t>(ColumnType::Int32(), limits, options, ++seed)});
      }
    }
  }
  return files;
}

}  // namespace cfile::campaign
