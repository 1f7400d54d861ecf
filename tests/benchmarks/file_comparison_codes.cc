// Measures numbers that automatic choice packs into few bits with FOR, and searches in a file of
// many URLs: MeasureCodes, MeasureManyUrls.
#include <algorithm>
#include <memory>
#include <random>

#include "cfile/block_cache.h"
#include "cfile/filter.h"
#include "cfile/storage.h"
#include "cfile/table.h"
#include "cfile/table_scan.h"
#include "cfile/writer.h"
#include "comparison_data.h"
#include "encodings/registry.h"
#include "file_comparison.h"

namespace cfile::benchmarks {
namespace {

constexpr int64_t kCodes = 1 << 11;
constexpr size_t kTakenRows = 10'000;
constexpr size_t kDecodedValues = 3072;  // packed and decoded, they fit in the first-level cache
constexpr size_t kDecodedTimes = 5000;

template <typename T>
std::vector<T> RandomCodes(size_t count) {
  return encodings::MakeValues<T>([](size_t, auto& random) { return random() % kCodes; }, count);
}

// Measures the decoder of FOR for a block in the cache of the processor, and a copy of the decoded
// values.
template <typename T>
void MeasureDecoder(const std::string& data, PhysicalType type, std::span<const T> values) {
  auto encoder = OrDie(
      encodings::MakeEncoder<T>(Encoding::kFor, type, {.block_size_bytes = values.size_bytes()}));
  Check(encoder->Append(values) == values.size(), "a block has all values");
  encodings::EncodedBlock block;
  encoder->Finish(0, block);
  auto decoder = OrDie(encodings::MakeDecoder<T>(Encoding::kFor, type, {}));
  std::vector<T> decoded(values.size());
  const auto rate = [&](const char* who, double seconds) {
    PrintRate(data, "decode", who, kDecodedTimes * values.size(), seconds);
  };
  rate("cfile for", MedianSeconds([&] {
         for (size_t i = 0; i < kDecodedTimes; ++i) {
           OrDie(decoder->Open(encodings::BlockView(block, 0)));
           Check(OrDie(decoder->Read(decoded)) == values.size(), "a block has all values");
           Keep(decoded.data());
         }
       }));
  Check(std::ranges::equal(decoded, values), "a block has what was encoded");
  rate("memcpy", MedianSeconds([&] {
         for (size_t i = 0; i < kDecodedTimes; ++i) {
           std::copy(values.begin(), values.end(), decoded.begin());
           Keep(decoded.data());
         }
       }));
}

// Returns the bits of rows of which a tenth are null.
std::vector<uint8_t> NineOfTen(size_t rows) {
  std::mt19937_64 random(4);
  std::vector<uint8_t> bits((rows + 7) / 8);
  for (size_t i = 0; i < rows; ++i)
    bits[i / 8] |= static_cast<uint8_t>((random() % 10 > 0 ? 1 : 0) << (i % 8));
  return bits;
}

// Measures a Take of random rows, and filters whose scans return only the ordinals of the rows.
void MeasureTable(const std::string& data, std::span<const int64_t> values,
                  const std::vector<uint8_t>* validity) {
  const std::string column = "code";
  const Schema schema{
      .columns = {{.name = column, .type = ColumnType::Int64(), .nullable = validity != nullptr}}};
  const auto storage = NewMemoryStorage();
  auto writer = OrDie(TableWriter::Create(storage, schema));
  if (validity == nullptr) {
    OrDie(writer.Append<int64_t>(0, values));
  } else {
    OrDie(writer.Append<int64_t>(0, values, *validity));
  }
  OrDie(writer.Finish());
  const TableReader table = OrDie(TableReader::Open(storage));

  const auto is_value = [&](size_t row) {
    return validity == nullptr || ((*validity)[row / 8] >> (row % 8) & 1) != 0;
  };
  auto ordinals = RandomOrdinals(values.size(), kTakenRows);
  std::sort(ordinals.begin(), ordinals.end());
  auto cursor = OrDie(table.NewCursor<int64_t>(0));
  OwnedBatch<int64_t> taken;
  const double take = MedianSeconds([&] { OrDie(cursor.Take(ordinals, taken)); });
  PrintLatency(data, "take", "cfile default", ordinals.size(), take);
  for (size_t i = 0; i < ordinals.size(); ++i)
    Check(!is_value(ordinals[i]) || taken.batch().values[i] == values[ordinals[i]],
          "a row has what was written");
  PrintLatency(data, "take", "array", ordinals.size(), MedianSeconds([&] {
                 int64_t sum = 0;
                 for (const uint64_t ordinal : ordinals) sum += values[ordinal];
                 Keep(&sum);
               }));

  const auto measure = [&](const std::string& work, const Filter& filter, const auto& matches) {
    size_t expected = 0;
    for (size_t i = 0; i < values.size(); ++i) expected += is_value(i) && matches(values[i]);
    const double scan = MedianSeconds([&] {
      size_t rows = 0;
      auto found = OrDie(table.NewScan({.columns = {{}}, .where = filter}));
      while (true) {
        const TableBatch batch = OrDie(found.Next());
        if (batch.empty()) break;
        rows += batch.num_rows();
      }
      Check(rows == expected, "a filter finds each row that matches");
    });
    PrintRate(data, work, "cfile default", values.size(), scan);
    const double loop = MedianSeconds([&] {
      size_t rows = 0;
      for (const int64_t value : values) rows += matches(value) ? 1 : 0;
      Keep(&rows);
    });
    PrintRate(data, work, "array", values.size(), loop);
  };
  measure("filter =", Eq(column, int64_t{1000}), [](int64_t value) { return value == 1000; });
  measure("filter <", Lt(column, int64_t{20}), [](int64_t value) { return value < 20; });
  measure("filter between", Between(column, int64_t{500}, int64_t{520}),
          [](int64_t value) { return value >= 500 && value <= 520; });
  measure("filter in", In(column, {int64_t{3}, int64_t{700}, int64_t{2000}}),
          [](int64_t value) { return value == 3 || value == 700 || value == 2000; });
}

}  // namespace

void MeasureCodes(size_t count) {
  const auto decoded = RandomCodes<int64_t>(kDecodedValues);
  const std::vector<int32_t> decoded32(decoded.begin(), decoded.end());
  MeasureDecoder<int32_t>("codes, int32", PhysicalType::kInt32, decoded32);
  MeasureDecoder<int64_t>("codes, int64", PhysicalType::kInt64, decoded);
  std::vector<int64_t> steps = decoded;
  for (size_t i = 1; i < steps.size(); ++i) steps[i] += steps[i - 1];
  const std::vector<int32_t> steps32(steps.begin(), steps.end());
  MeasureDecoder<int32_t>("steps, int32", PhysicalType::kInt32, steps32);
  MeasureDecoder<int64_t>("steps, int64", PhysicalType::kInt64, steps);

  const auto codes = RandomCodes<int64_t>(count);
  const auto validity = NineOfTen(count);
  MeasureTable("codes", codes, nullptr);
  MeasureTable("codes, nulls", codes, &validity);
}

void MeasureManyUrls(size_t count, size_t searches, const std::string& directory) {
  const auto urls = encodings::SortedUrls(count);
  const std::string path = directory + "/many-urls.cfile";
  auto writer = OrDie(Writer<std::string_view>::Create(OpenUnsyncedFile(path), ColumnType::String(),
                                                       {.value_index = true}));
  OrDie(writer.Append(urls.values));
  OrDie(writer.Finish());
  const Column<std::string_view> column{
      .name = "many urls", .type = ColumnType::String(), .values = urls.values};
  const Queries queries = RandomQueries(urls.values, std::min(searches, count));
  constexpr size_t kCacheBytes = size_t{16} << 20;
  const Reader reader =
      OrDie(Reader::Open(path, {.block_cache = std::make_shared<BlockCache>(kCacheBytes)}));
  auto cursor = OrDie(reader.NewCursor<std::string_view>());
  const double seek = MedianSeconds([&] {
    for (const std::string_view key : queries.keys)
      Check(OrDie(cursor.SeekToKey(key)).exact, "a key is found");
  });
  PrintLatency(column.name, "seek", "cfile default", queries.keys.size(), seek);
  MeasureSortedArray(column, queries);
}

}  // namespace cfile::benchmarks
