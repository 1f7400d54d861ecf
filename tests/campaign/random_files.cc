#include "tests/campaign/random_files.h"

#include <iterator>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cfile/block_cache.h"
#include "cfile/levels.h"
#include "cfile/writer.h"
#include "encodings/registry.h"
#include "tests/cfile/scripted_io.h"

namespace cfile::campaign {
namespace {

// Returns one of the types that have this physical type.
ColumnType RandomType(PhysicalType physical, Random& random) {
  std::vector<ColumnType> types;
  for (const ColumnType& type : testing_support::AllColumnTypes()) {
    if (type.physical() == physical) types.push_back(type);
  }
  return types[random() % types.size()];
}

// Returns options for a column of values or of entries. If `sorted`, the column has a value index.
WriterOptions RandomOptions(Encoding encoding, bool nullable, bool sorted, Random& random) {
  const std::vector<Compression> codecs = testing_support::BuiltInCompressions();
  const bool automatic = random() % 8 == 0;
  const bool statistics = random() % 4 != 0;
  return {.encoding = automatic ? Encoding::kAuto : encoding,
          .goal = OneOf<Goal, 3>({Goal::kBalanced, Goal::kSize, Goal::kSpeed}, random),
          .compression = random() % 2 == 0 ? Compression::kNone : codecs[random() % codecs.size()],
          .nullable = nullable,
          .positional_index = !sorted || random() % 3 != 0,
          .value_index = sorted,
          .block_size_bytes = OneOf<size_t, 5>({1, 100, 1000, 20'000, 256 * 1024}, random),
          .max_values_per_block = OneOf<uint32_t, 4>(
              {1, 2 + static_cast<uint32_t>(random() % 8), 100, 1 << 20}, random),
          .index_block_size_bytes = OneOf<size_t, 4>({1, 64, 300, 32 * 1024}, random),
          .statistics = statistics,
          .bloom_filter_bits_per_value = statistics && random() % 2 == 0 ? 10u : 0u,
          .restart_interval = OneOf<uint32_t, 4>({0, 0, 1, 5}, random)};
}

// May change the options to options of a file of version 1 or of a file for Kudu, if the options
// remain valid. `create` creates a writer with given options and returns its status.
template <typename Create>
void MakeOlder(WriterOptions& options, Random& random, const Create& create) {
  WriterOptions older = options;
  older.statistics = false;
  older.bloom_filter_bits_per_value = 0;
  switch (random() % 6) {
    case 0:
      older.version = FormatVersion::kV1;
      break;
    case 1:
      older.oldest_reader = OldestReader::kKudu;
      break;
    default:
      return;
  }
  std::vector<uint8_t> file;
  if (create(NewMemorySink(&file), older).ok()) options = std::move(older);
}

}  // namespace

template <typename T>
RandomFile<T> MakeRandomFile(const encodings::Pair& pair, size_t num_rows, Random& random) {
  RandomFile<T> file{.type = RandomType(pair.type, random)};
  const bool sorted = !std::is_same_v<T, Int96> && random() % 2 == 0;
  const bool nullable = !sorted && random() % 2 == 0;
  file.options = RandomOptions(pair.encoding, nullable, sorted, random);
  MakeOlder(file.options, random, [&](std::unique_ptr<Sink> sink, const WriterOptions& options) {
    return Writer<T>::Create(std::move(sink), file.type, options).status();
  });
  encodings::Shape shape = encodings::kShapes[random() % std::size(encodings::kShapes)];
  if (shape == encodings::Shape::kLong && (num_rows > 1000 || random() % 4 != 0)) {
    shape = encodings::Shape::kRandom;
  }
  auto values = encodings::MakeColumn<T>(shape, num_rows, file.type.type_length, random());
  if (sorted) encodings::SortKeys(values);
  const uint64_t null_percent = OneOf<uint64_t, 4>({0, 5, 50, 100}, random);
  for (const T& value : values.span()) {
    const bool null = nullable && random() % 100 < null_percent;
    file.column.rows.push_back(null ? std::nullopt : std::optional<Owned<T>>(value));
  }
  return file;
}

template <typename T>
RandomLeafFile<T> MakeRandomLeafFile(const encodings::Pair& pair, Random& random) {
  RandomLeafFile<T> file{.type = RandomType(pair.type, random)};
  const LevelLimits limits =
      OneOf<LevelLimits, 8>({LevelLimits{0, 1}, LevelLimits{0, 3}, LevelLimits{1, 1},
                             LevelLimits{1, 2}, LevelLimits{2, 5}, LevelLimits{7, 300},
                             LevelLimits::KuduArray(false), LevelLimits::KuduArray(true)},
                            random);
  file.options = RandomOptions(pair.encoding, /*nullable=*/false, /*sorted=*/false, random);
  MakeOlder(file.options, random, [&](std::unique_ptr<Sink> sink, const WriterOptions& options) {
    return LevelWriter<T>::Create(std::move(sink), file.type, limits, options).status();
  });
  size_t num_records = random() % 8 == 0 ? random() % 4 : random() % 300;
  size_t long_record = 0;
  if (limits.max_repetition > 0 && !limits.kudu_array && random() % 8 == 0) {
    // One record is long, and the few others are short. The long record either exceeds a batch or
    // shares a batch with other records.
    long_record = random() % 4 == 0 ? 140'000 : 1000;
    num_records = 1 + random() % 10;
  }
  file.leaf = testing_support::RandomLeaf<T>(file.type, limits, num_records, long_record, random);
  return file;
}

absl::StatusOr<Reader> OpenRandomly(const std::vector<uint8_t>& file, Random& random) {
  std::shared_ptr<const Source> source = NewMemoryViewSource(file);
  if (random() % 2 == 0) source = std::make_shared<testing_support::ScriptedSource>(source);
  return Reader::Open(std::move(source),
                      {.verify_checksums = random() % 4 != 0,
                       .block_cache = std::make_shared<BlockCache>(
                           OneOf<size_t, 4>({0, 1000, 20'000, size_t{1} << 20}, random)),
                       .max_seek_index_bytes = OneOf<size_t, 3>({0, 2000, size_t{1} << 20}, random),
                       .read_ahead_bytes = OneOf<size_t, 3>({1, 1000, size_t{1} << 20}, random)});
}

std::string Describe(uint64_t seed, const ColumnType& type, const WriterOptions& options) {
  return absl::StrCat(
      "file ", seed, ": ", type.ToString(), " ", EncodingName(options.encoding), " ",
      CompressionName(options.compression), options.nullable ? " nullable" : "",
      options.positional_index ? " positional" : "", options.value_index ? " keyed" : "",
      options.statistics ? " statistics" : "",
      options.version == FormatVersion::kV1 ? " version 1" : "",
      options.oldest_reader == OldestReader::kKudu ? " kudu" : "", ", blocks of ",
      options.block_size_bytes, " bytes, ", options.max_values_per_block, " values, nodes of ",
      options.index_block_size_bytes, ", restarts ", options.restart_interval);
}

#define CFILE_INSTANTIATE(T)                                                         \
  template RandomFile<T> MakeRandomFile<T>(const encodings::Pair&, size_t, Random&); \
  template RandomLeafFile<T> MakeRandomLeafFile<T>(const encodings::Pair&, Random&);
CFILE_FOR_EACH_VALUE_TYPE(CFILE_INSTANTIATE)
#undef CFILE_INSTANTIATE

}  // namespace cfile::campaign
