// Measures scans, writes and seeks of one column of 10 million values in memory, with one thread.
// Each run also measures memcpy of the same decoded bytes. The counter x_memcpy is the speed of the
// work divided by the speed of memcpy.
//
//   build/release/tests/benchmarks/cfile_benchmark [--benchmark_filter=REGEX]
//
// The benchmarks "each_encoding/..." use every encoding of the registry. Each other benchmark has
// its own column.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "cfile/levels.h"
#include "cfile/reader.h"
#include "cfile/writer.h"
#include "encodings/registry.h"
#include "tests/benchmarks/or_die.h"

namespace cfile {
namespace {

constexpr size_t kNumValues = 10'000'000;
constexpr size_t kBatchRows = 4096;

using benchmarks::OrDie;

// An array of values, used because std::vector<bool> is not an array.
template <typename T>
class Values {
 public:
  Values() : values_(new T[kNumValues]) {}
  void push_back(const T& value) { values_[size_++] = value; }
  const T& operator[](size_t i) const { return values_[i]; }
  operator std::span<const T>() const { return {values_.get(), size_}; }  // NOLINT: implicit

 private:
  std::unique_ptr<T[]> values_;
  size_t size_ = 0;
};

// A column: its values, and the options with which they are appended.
template <typename T>
struct Data {
  ColumnType type;
  WriterOptions options;
  Values<T> values;
  std::vector<uint8_t> validity;  // empty: no nulls
  std::string characters;         // bytes of the strings
  size_t raw_bytes = 0;           // size of the decoded values

  // Writes the column to `file` and reuses the memory of `file`. With new memory, the times would
  // include the kernel's page faults.
  void Write(std::vector<uint8_t>& file) const { Write(options, file); }
  void Write(const WriterOptions& with, std::vector<uint8_t>& file) const {
    file.clear();
    auto writer = OrDie(Writer<T>::Create(NewMemorySink(&file), type, with));
    OrDie(validity.empty() ? writer.Append(values) : writer.Append(values, validity));
    OrDie(writer.Finish());
  }
  std::vector<uint8_t> Write() const {
    std::vector<uint8_t> file;
    Write(file);
    return file;
  }
};

template <typename T>
Data<T> Numbers(ColumnType type, WriterOptions options, T (*value)(size_t, uint64_t)) {
  Data<T> data{.type = type, .options = options};
  std::mt19937_64 random(1);
  for (size_t i = 0; i < kNumValues; ++i) data.values.push_back(value(i, random()));
  data.raw_bytes = kNumValues * sizeof(T);
  if (options.nullable) {
    data.validity.assign((kNumValues + 7) / 8, 0);
    for (size_t i = 0; i < kNumValues; ++i) {
      if (random() % 10 != 0)
        data.validity[i / 8] = static_cast<uint8_t>(data.validity[i / 8] | 1 << (i % 8));
    }
  }
  return data;
}

const Data<int32_t>& PlainInt32() {
  static const auto data =
      Numbers<int32_t>(ColumnType::Int32(), {.encoding = Encoding::kPlain},
                       [](size_t, uint64_t random) { return static_cast<int32_t>(random); });
  return data;
}
const Data<int64_t>& PlainInt64() {
  static const auto data = Numbers<int64_t>(
      ColumnType::Int64(), {.encoding = Encoding::kPlain},
      [](size_t i, uint64_t random) { return static_cast<int64_t>(i * 100 + random % 100); });
  return data;
}
const Data<int64_t>& SortedInt64() {
  static const auto data = Numbers<int64_t>(
      ColumnType::Int64(), {.encoding = Encoding::kPlain, .value_index = true},
      [](size_t i, uint64_t random) { return static_cast<int64_t>(i * 100 + random % 100); });
  return data;
}
const Data<int32_t>& NullableInt32() {
  static const auto data =
      Numbers<int32_t>(ColumnType::Int32(), {.encoding = Encoding::kPlain, .nullable = true},
                       [](size_t, uint64_t random) { return static_cast<int32_t>(random); });
  return data;
}
// The same column in the layout of Kudu's writer: the bitmap has short runs, and the values are not
// aligned.
const Data<int32_t>& NullableInt32Kudu() {
  static const auto data = Numbers<int32_t>(
      ColumnType::Int32(),
      {.encoding = Encoding::kPlain, .nullable = true, .oldest_reader = OldestReader::kKudu},
      [](size_t, uint64_t random) { return static_cast<int32_t>(random); });
  return data;
}
const Data<int32_t>& RleInt32() {
  static const auto data =
      Numbers<int32_t>(ColumnType::Int32(), {.encoding = Encoding::kRle},
                       [](size_t i, uint64_t) { return static_cast<int32_t>(i / 37 % 23); });
  return data;
}
const Data<int32_t>& RleInt32Random() {
  static const auto data =
      Numbers<int32_t>(ColumnType::Int32(), {.encoding = Encoding::kRle},
                       [](size_t, uint64_t random) { return static_cast<int32_t>(random % 1001); });
  return data;
}
template <bool kNullable>
const Data<int32_t>& SmallBitShuffle() {
  static const auto data = Numbers<int32_t>(
      ColumnType::Int32(), {.encoding = Encoding::kBitShuffle, .nullable = kNullable},
      [](size_t, uint64_t random) { return static_cast<int32_t>(random % 1001); });
  return data;
}
template <bool kNullable>
const Data<int32_t>& SequentialInt32BitShuffle() {
  static const auto data = Numbers<int32_t>(
      ColumnType::Int32(), {.encoding = Encoding::kBitShuffle, .nullable = kNullable},
      [](size_t i, uint64_t) { return static_cast<int32_t>(i); });
  return data;
}
template <bool kNullable>
const Data<int64_t>& SequentialInt64BitShuffle() {
  static const auto data = Numbers<int64_t>(
      ColumnType::Int64(), {.encoding = Encoding::kBitShuffle, .nullable = kNullable},
      [](size_t i, uint64_t) { return static_cast<int64_t>(i); });
  return data;
}
const Data<int64_t>& SortedInt64BitShuffle() {
  static const auto data = Numbers<int64_t>(
      ColumnType::Int64(), {.encoding = Encoding::kBitShuffle, .value_index = true},
      [](size_t i, uint64_t random) { return static_cast<int64_t>(i * 100 + random % 100); });
  return data;
}
template <bool kNullable>
const Data<double>& WalkBitShuffle() {
  static double at;
  at = 0;
  static const auto data = Numbers<double>(
      ColumnType::Double(), {.encoding = Encoding::kBitShuffle, .nullable = kNullable},
      [](size_t, uint64_t random) { return at += static_cast<double>(random % 2001) / 1000 - 1; });
  return data;
}
const Data<uint32_t>& SmallUint32() {
  static const auto data = Numbers<uint32_t>(
      ColumnType::Uint32(), {.encoding = Encoding::kPlain},
      [](size_t, uint64_t random) { return static_cast<uint32_t>(random % 1001); });
  return data;
}
template <Encoding kEncoding>
const Data<bool>& Bools() {
  static const auto data = Numbers<bool>(ColumnType::Bool(), {.encoding = kEncoding},
                                         [](size_t, uint64_t random) { return random % 2 != 0; });
  return data;
}
// 1,000 words of about 8 letters, like English words. The first words are more frequent.
const Data<std::string_view>& WordsDict() {
  static const auto data = [] {
    Data<std::string_view> words{.type = ColumnType::String(),
                                 .options = {.encoding = Encoding::kDict}};
    std::mt19937_64 random(4);
    std::vector<size_t> begins;
    for (int i = 0; i < 1000; ++i) {
      begins.push_back(words.characters.size());
      for (uint64_t letters = 3 + random() % 11; letters > 0; --letters)
        words.characters.push_back(static_cast<char>('a' + random() % 26));
    }
    begins.push_back(words.characters.size());
    for (size_t i = 0; i < kNumValues; ++i) {
      const size_t word = std::min(random() % 1000, random() % 1000);
      words.values.push_back(
          std::string_view(words.characters).substr(begins[word], begins[word + 1] - begins[word]));
      words.raw_bytes += words.values[i].size();
    }
    return words;
  }();
  return data;
}
const Data<std::string_view>& SortedKeys() {
  static const auto data = [] {
    Data<std::string_view> keys{.type = ColumnType::String(),
                                .options = {.encoding = Encoding::kPrefix, .value_index = true}};
    keys.characters.reserve(kNumValues * 16);
    char text[32];
    for (size_t i = 0; i < kNumValues; ++i) {
      keys.characters.append(text, static_cast<size_t>(std::snprintf(text, sizeof(text),
                                                                     "key-%012zu", i * 7 + 12345)));
    }
    for (size_t i = 0; i < kNumValues; ++i)
      keys.values.push_back(std::string_view(keys.characters).substr(16 * i, 16));
    keys.raw_bytes = keys.characters.size();
    return keys;
  }();
  return data;
}

double Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Returns the median of 9 times, in seconds, of a memcpy of `bytes` bytes.
double MemcpySeconds(size_t bytes) {
  std::vector<char> from(bytes, 1), to(bytes, 2);
  std::vector<double> seconds;
  for (int i = 0; i < 9; ++i) {
    const double begin = Now();
    std::memcpy(to.data(), from.data(), bytes);
    benchmark::DoNotOptimize(to.data());
    benchmark::ClobberMemory();
    seconds.push_back(Now() - begin);
  }
  std::nth_element(seconds.begin(), seconds.begin() + 4, seconds.end());
  return seconds[4];
}

// Sets the counters of a run. `begin` is the start time of the measured loop.
void Count(benchmark::State& state, size_t raw_bytes, double begin) {
  const double seconds = (Now() - begin) / static_cast<double>(state.iterations());
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(kNumValues));
  state.counters["x_memcpy"] = MemcpySeconds(raw_bytes) / seconds;
}

template <typename T>
void ScanFile(benchmark::State& state, const std::vector<uint8_t>& file, size_t raw_bytes) {
  const Reader reader = OrDie(Reader::Open(NewMemoryViewSource(file)));
  auto cursor = OrDie(reader.NewCursor<T>());
  const double begin = Now();
  for (auto _ : state) {
    OrDie(cursor.SeekToOrdinal(0));
    size_t rows = 0;
    while (true) {
      const Batch<T> batch = OrDie(cursor.Next(kBatchRows));
      if (batch.empty()) break;
      benchmark::DoNotOptimize(batch.values.data());
      benchmark::ClobberMemory();
      rows += batch.size();
    }
    if (rows != kNumValues) std::abort();
  }
  Count(state, raw_bytes, begin);
}

template <typename T>
void Scan(benchmark::State& state, const Data<T>& (*data)()) {
  ScanFile<T>(state, data().Write(), data().raw_bytes);
}

// Scans and adds up all values, so that the time includes the caller's accesses to the values of a
// zero-copy scan.
void ScanAndAdd(benchmark::State& state, const Data<int32_t>& (*data)()) {
  const std::vector<uint8_t> file = data().Write();
  const Reader reader = OrDie(Reader::Open(NewMemoryViewSource(file)));
  auto cursor = OrDie(reader.NewCursor<int32_t>());
  const double begin = Now();
  for (auto _ : state) {
    OrDie(cursor.SeekToOrdinal(0));
    uint32_t sum = 0;
    while (true) {
      const Batch<int32_t> batch = OrDie(cursor.Next(kBatchRows));
      if (batch.empty()) break;
      for (const int32_t value : batch.values) sum += static_cast<uint32_t>(value);
    }
    benchmark::DoNotOptimize(sum);
  }
  Count(state, data().raw_bytes, begin);
}

template <typename T>
void Write(benchmark::State& state, const Data<T>& (*data)()) {
  std::vector<uint8_t> file = data().Write();
  const double begin = Now();
  for (auto _ : state) {
    data().Write(file);
    benchmark::DoNotOptimize(file.data());
  }
  Count(state, data().raw_bytes, begin);
}

template <typename T>
void SeekOrdinal(benchmark::State& state, const Data<T>& (*data)()) {
  const std::vector<uint8_t> file = data().Write();
  const Reader reader = OrDie(Reader::Open(NewMemoryViewSource(file)));
  auto cursor = OrDie(reader.NewCursor<T>());
  std::mt19937_64 random(2);
  for (uint64_t ordinal = 0; ordinal < kNumValues; ordinal += 100)
    OrDie(cursor.Get(ordinal));  // warm-up
  for (auto _ : state) benchmark::DoNotOptimize(OrDie(cursor.Get(random() % kNumValues)));
}

// Seeks among the rows of one block. The block stays decoded.
template <typename T>
void SeekInBlock(benchmark::State& state, const Data<T>& (*data)()) {
  const std::vector<uint8_t> file = data().Write();
  const Reader reader = OrDie(Reader::Open(NewMemoryViewSource(file)));
  auto cursor = OrDie(reader.NewCursor<T>());
  for (uint64_t ordinal = 0; ordinal < 30'000; ++ordinal) OrDie(cursor.Get(ordinal));  // warm-up
  std::mt19937_64 random(2);
  for (auto _ : state) {
    OrDie(cursor.SeekToOrdinal(random() % 30'000));
    benchmark::DoNotOptimize(OrDie(cursor.Next(1)));
  }
}

template <typename T>
void SeekKey(benchmark::State& state, const Data<T>& (*data)()) {
  const std::vector<uint8_t> file = data().Write();
  const Reader reader = OrDie(Reader::Open(NewMemoryViewSource(file)));
  auto cursor = OrDie(reader.NewCursor<T>());
  // The wanted keys are in memory in the order of their use, so that loading them takes no
  // measurable time.
  std::mt19937_64 random(3);
  std::vector<Owned<T>> keys;
  for (int i = 0; i < 200'000; ++i) keys.emplace_back(data().values[random() % kNumValues]);
  for (const auto& key : keys) OrDie(cursor.SeekToKey(T(key)));  // warm-up
  size_t next = 0;
  for (auto _ : state) {
    const KeyPosition found = OrDie(cursor.SeekToKey(T(keys[next])));
    if (!found.exact) std::abort();
    benchmark::DoNotOptimize(found.ordinal);
    next = (next + 1) % keys.size();
  }
}

// A leaf column of kNumValues entries. The values are PLAIN: a scan points to them and copies
// nothing. So the scan spends its time on the levels.
struct LeafData {
  LevelLimits limits;
  std::vector<uint16_t> repetition, definition;
  std::vector<int32_t> values;

  void Write(std::vector<uint8_t>& file) const {
    file.clear();
    auto writer = OrDie(LevelWriter<int32_t>::Create(NewMemorySink(&file), ColumnType::Int32(),
                                                     limits, {.encoding = Encoding::kPlain}));
    OrDie(writer.Append(repetition, definition, values));
    OrDie(writer.Finish());
  }
};

// Returns records of up to `max_length` entries. One entry in ten has no value.
LeafData MakeLeaf(LevelLimits limits, uint64_t max_length) {
  LeafData data{.limits = limits};
  std::mt19937_64 random(1);
  uint64_t left = 0;  // entries left in the record
  for (size_t i = 0; i < kNumValues; ++i) {
    const bool begins = left == 0;
    if (begins) left = 1 + random() % max_length;
    --left;
    if (limits.max_repetition > 0)
      data.repetition.push_back(static_cast<uint16_t>(begins ? 0 : limits.max_repetition));
    const bool null = random() % 10 == 0;
    data.definition.push_back(static_cast<uint16_t>(limits.max_definition - (null ? 1 : 0)));
    if (!null) data.values.push_back(static_cast<int32_t>(random()));
  }
  return data;
}
const LeafData& FlatLeaf() {
  static const LeafData data = MakeLeaf({0, 1}, 1);
  return data;
}
const LeafData& ListLeaf() {
  static const LeafData data = MakeLeaf({1, 3}, 9);
  return data;
}

void ScanLevels(benchmark::State& state, const LeafData& (*data)()) {
  std::vector<uint8_t> file;
  data().Write(file);
  const Reader reader = OrDie(Reader::Open(NewMemoryViewSource(file)));
  auto cursor = OrDie(reader.NewLevelCursor<int32_t>());
  const double begin = Now();
  for (auto _ : state) {
    OrDie(cursor.SeekToRecord(0));
    size_t entries = 0;
    while (true) {
      const LevelBatch<int32_t> batch = OrDie(cursor.Next(kBatchRows));
      if (batch.empty()) break;
      benchmark::DoNotOptimize(batch.definition.data());
      benchmark::ClobberMemory();
      entries += batch.num_entries;
    }
    if (entries != kNumValues) std::abort();
  }
  Count(state, kNumValues * sizeof(int32_t), begin);
}

void WriteLevels(benchmark::State& state, const LeafData& (*data)()) {
  std::vector<uint8_t> file;
  data().Write(file);
  const double begin = Now();
  for (auto _ : state) {
    data().Write(file);
    benchmark::DoNotOptimize(file.data());
  }
  Count(state, kNumValues * sizeof(int32_t), begin);
}

// Registers scans and writes of one column in each encoding that supports the column's type.
template <typename T>
void RegisterEachEncoding(const std::string& column, PhysicalType type, const Data<T>& (*data)()) {
  for (const encodings::EncodingRow& row : encodings::Encodings()) {
    if (!row.Supports(type)) continue;
    const WriterOptions options{.encoding = row.encoding};
    const std::string name = column + "/" + std::string(row.name);
    benchmark::RegisterBenchmark(("each_encoding/scan/" + name).c_str(),
                                 [=](benchmark::State& state) {
                                   std::vector<uint8_t> file;
                                   data().Write(options, file);
                                   ScanFile<T>(state, file, data().raw_bytes);
                                 })
        ->Unit(benchmark::kMillisecond);
    benchmark::RegisterBenchmark(("each_encoding/write/" + name).c_str(),
                                 [=](benchmark::State& state) {
                                   std::vector<uint8_t> file;
                                   data().Write(options, file);
                                   const double begin = Now();
                                   for (auto _ : state) data().Write(options, file);
                                   Count(state, data().raw_bytes, begin);
                                 })
        ->Unit(benchmark::kMillisecond);
  }
}

void Register() {
  RegisterEachEncoding("int64", PhysicalType::kInt64, PlainInt64);
  RegisterEachEncoding("uint32", PhysicalType::kUint32, SmallUint32);
  RegisterEachEncoding("double", PhysicalType::kDouble, WalkBitShuffle<false>);
  RegisterEachEncoding("bool", PhysicalType::kBool, Bools<Encoding::kPlain>);
  RegisterEachEncoding("words", PhysicalType::kBytes, WordsDict);
  const auto add = [](const char* name, auto work, auto data,
                      benchmark::TimeUnit unit = benchmark::kMillisecond) {
    benchmark::RegisterBenchmark(name, [=](benchmark::State& state) {
      work(state, data);
    })->Unit(unit);
  };
  add("scan/plain_int32", Scan<int32_t>, PlainInt32);
  add("scan_and_add/plain_int32", ScanAndAdd, PlainInt32);
  add("scan/nullable_10%_plain_int32", Scan<int32_t>, NullableInt32);
  add("scan/nullable_10%_plain_int32_as_kudu_writes_it", Scan<int32_t>, NullableInt32Kudu);
  add("scan/rle_int32_runs_of_37", Scan<int32_t>, RleInt32);
  add("scan/rle_int32_no_runs", Scan<int32_t>, RleInt32Random);
  add("scan/prefix_sorted_keys", Scan<std::string_view>, SortedKeys);
  add("scan/levels_flat_10%_null", ScanLevels, FlatLeaf);
  add("scan/levels_lists_of_5", ScanLevels, ListLeaf);
  add("write/levels_flat_10%_null", WriteLevels, FlatLeaf);
  add("write/levels_lists_of_5", WriteLevels, ListLeaf);
  add("scan/bit_shuffle_int32_0_to_1000", Scan<int32_t>, SmallBitShuffle<false>);
  add("scan/bit_shuffle_int32_sequential", Scan<int32_t>, SequentialInt32BitShuffle<false>);
  add("scan/bit_shuffle_int64_sequential", Scan<int64_t>, SequentialInt64BitShuffle<false>);
  add("scan/bit_shuffle_double_walk", Scan<double>, WalkBitShuffle<false>);
  add("scan/nullable_10%_bit_shuffle_int32_0_to_1000", Scan<int32_t>, SmallBitShuffle<true>);
  add("scan/nullable_10%_bit_shuffle_int32_sequential", Scan<int32_t>,
      SequentialInt32BitShuffle<true>);
  add("scan/nullable_10%_bit_shuffle_int64_sequential", Scan<int64_t>,
      SequentialInt64BitShuffle<true>);
  add("scan/nullable_10%_bit_shuffle_double_walk", Scan<double>, WalkBitShuffle<true>);
  add("scan/dict_words", Scan<std::string_view>, WordsDict);
  add("scan/rle_bool", Scan<bool>, Bools<Encoding::kRle>);
  add("scan/plain_bool", Scan<bool>, Bools<Encoding::kPlain>);
  add("write/plain_int32", Write<int32_t>, PlainInt32);
  add("write/plain_int64", Write<int64_t>, PlainInt64);
  add("write/nullable_10%_plain_int32", Write<int32_t>, NullableInt32);
  add("write/rle_int32_runs_of_37", Write<int32_t>, RleInt32);
  add("write/prefix_sorted_keys", Write<std::string_view>, SortedKeys);
  add("write/bit_shuffle_int32_0_to_1000", Write<int32_t>, SmallBitShuffle<false>);
  add("write/bit_shuffle_int32_sequential", Write<int32_t>, SequentialInt32BitShuffle<false>);
  add("write/bit_shuffle_int64_sequential", Write<int64_t>, SequentialInt64BitShuffle<false>);
  add("write/bit_shuffle_double_walk", Write<double>, WalkBitShuffle<false>);
  add("write/nullable_10%_bit_shuffle_int32_0_to_1000", Write<int32_t>, SmallBitShuffle<true>);
  add("write/nullable_10%_bit_shuffle_int32_sequential", Write<int32_t>,
      SequentialInt32BitShuffle<true>);
  add("write/nullable_10%_bit_shuffle_int64_sequential", Write<int64_t>,
      SequentialInt64BitShuffle<true>);
  add("write/nullable_10%_bit_shuffle_double_walk", Write<double>, WalkBitShuffle<true>);
  add("write/dict_words", Write<std::string_view>, WordsDict);
  add("write/rle_bool", Write<bool>, Bools<Encoding::kRle>);
  add("write/plain_bool", Write<bool>, Bools<Encoding::kPlain>);
  add("get_ordinal/plain_int32", SeekOrdinal<int32_t>, PlainInt32, benchmark::kNanosecond);
  add("get_ordinal/plain_int64", SeekOrdinal<int64_t>, PlainInt64, benchmark::kNanosecond);
  add("get_ordinal/nullable_10%_plain_int32", SeekOrdinal<int32_t>, NullableInt32,
      benchmark::kNanosecond);
  add("get_ordinal/rle_int32_runs_of_37", SeekOrdinal<int32_t>, RleInt32, benchmark::kNanosecond);
  add("get_ordinal/prefix_sorted_keys", SeekOrdinal<std::string_view>, SortedKeys,
      benchmark::kNanosecond);
  add("get_ordinal/bit_shuffle_int32_0_to_1000", SeekOrdinal<int32_t>, SmallBitShuffle<false>,
      benchmark::kNanosecond);
  add("get_ordinal/bit_shuffle_int64_sequential", SeekOrdinal<int64_t>,
      SequentialInt64BitShuffle<false>, benchmark::kNanosecond);
  add("get_in_block/bit_shuffle_int64_sequential", SeekInBlock<int64_t>,
      SequentialInt64BitShuffle<false>, benchmark::kNanosecond);
  add("get_ordinal/dict_words", SeekOrdinal<std::string_view>, WordsDict, benchmark::kNanosecond);
  add("seek_key/bit_shuffle_int64", SeekKey<int64_t>, SortedInt64BitShuffle,
      benchmark::kNanosecond);
  add("seek_key/plain_int64", SeekKey<int64_t>, SortedInt64, benchmark::kNanosecond);
  add("seek_key/prefix_sorted_keys", SeekKey<std::string_view>, SortedKeys, benchmark::kNanosecond);
}

}  // namespace
}  // namespace cfile

int main(int argc, char** argv) {
  cfile::Register();
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
