// Measures how much longer a writer takes with statistics, and how much faster a scan is with them,
// for 10 million values in memory and one thread. The counters show which blocks a scan read.
//
//   build/release/tests/benchmarks/predicate_benchmark [--benchmark_filter=REGEX]
#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "cfile/reader.h"
#include "cfile/scan.h"
#include "cfile/writer.h"
#include "tests/benchmarks/or_die.h"

namespace cfile {
namespace {

constexpr size_t kNumValues = 10'000'000;

using benchmarks::OrDie;

template <typename T>
void WriteFile(const ColumnType& type, const WriterOptions& options, const std::vector<T>& values,
               std::vector<uint8_t>& file) {
  file.clear();
  auto writer = OrDie(Writer<T>::Create(NewMemorySink(&file), type, options));
  OrDie(writer.Append(std::span<const T>(values)));
  OrDie(writer.Finish());
}

// Registers writes without statistics, with statistics, and with statistics and a Bloom filter.
template <typename T>
void AddWrites(const std::string& name, const ColumnType& type, WriterOptions options,
               const std::vector<T>& values) {
  for (const char* with : {"nothing", "statistics", "bloom_filter"}) {
    options.statistics = std::string_view(with) != "nothing";
    options.bloom_filter_bits_per_value = std::string_view(with) == "bloom_filter" ? 10 : 0;
    benchmark::RegisterBenchmark(
        ("write/" + name + "/with_" + with).c_str(),
        [=, &values](benchmark::State& state) {
          std::vector<uint8_t> file;
          WriteFile(type, options, values, file);
          for (auto _ : state) WriteFile(type, options, values, file);
          state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(values.size()));
        })
        ->Unit(benchmark::kMillisecond);
  }
}

template <typename T>
void AddFind(const std::string& name, const ColumnType& type, const WriterOptions& options,
             const std::vector<T>& values, const Predicate<T>& predicate) {
  benchmark::RegisterBenchmark(("find/" + name).c_str(), [=, &values](benchmark::State& state) {
    std::vector<uint8_t> file;
    WriteFile(type, options, values, file);
    const Reader reader = OrDie(Reader::Open(NewMemoryViewSource(file)));
    ScanCounters counters;
    for (auto _ : state) {
      auto scan = OrDie(reader.NewScan<T>(predicate));
      while (true) {
        const ScanBatch<T> batch = OrDie(scan.Next());
        if (batch.empty()) break;
        benchmark::DoNotOptimize(batch.values.data());
      }
      counters = scan.counters();
    }
    state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(values.size()));
    state.counters["matches"] = static_cast<double>(counters.matches);
    state.counters["read"] = static_cast<double>(counters.blocks_read);
    state.counters["skipped"] = static_cast<double>(counters.blocks_skipped_by_statistics +
                                                    counters.blocks_skipped_by_value_index +
                                                    counters.blocks_skipped_by_bloom_filter);
  })->Unit(benchmark::kMicrosecond);
}

struct Data {
  std::vector<int64_t> ascending, random;  // `random` holds only even numbers
  std::vector<double> doubles;
  std::vector<std::string> texts;  // owns the bytes of the views
  std::vector<std::string_view> keys, words;

  Data() {
    std::mt19937_64 bits(1);
    char text[32];
    texts.reserve(kNumValues + 1000);
    for (int i = 0; i < 1000; ++i) {
      std::string& word = texts.emplace_back();
      for (uint64_t letters = 3 + bits() % 11; letters > 0; --letters)
        word.push_back(static_cast<char>('a' + bits() % 26));
    }
    for (size_t i = 0; i < kNumValues; ++i) {
      ascending.push_back(static_cast<int64_t>(i * 100 + bits() % 100));
      random.push_back(static_cast<int64_t>(bits() % 1'000'000 * 2));
      doubles.push_back(static_cast<double>(bits() % 1'000'000));
      const int size = std::snprintf(text, sizeof text, "key-%012zu", i * 7 + 12345);
      keys.push_back(texts.emplace_back(text, static_cast<size_t>(size)));
      words.push_back(texts[bits() % 1000]);
    }
  }
};

void Register(const Data& data) {
  const ColumnType int64 = ColumnType::Int64(), string = ColumnType::String();
  const WriterOptions plain{.encoding = Encoding::kPlain};
  AddWrites("plain_int64", int64, plain, data.ascending);
  AddWrites("plain_double", ColumnType::Double(), plain, data.doubles);
  AddWrites("prefix_sorted_keys_value_index", string,
            {.encoding = Encoding::kPrefix, .value_index = true}, data.keys);
  AddWrites("prefix_sorted_keys", string, {.encoding = Encoding::kPrefix}, data.keys);
  AddWrites("plain_words", string, plain, data.words);

  using Integers = Predicate<int64_t>;
  using Strings = Predicate<std::string_view>;
  AddFind("plain_int64_random_equal", int64, plain, data.random, Integers::Equal(77'000));
  AddFind("plain_int64_random_1%_less", int64, plain, data.random, Integers::Less(20'000));
  AddFind("plain_int64_random_50%_less", int64, plain, data.random, Integers::Less(1'000'000));
  AddFind("plain_int64_ascending_0.1%_between", int64, plain, data.ascending,
          Integers::Between(500'000'000, 501'000'000));
  AddFind("plain_int64_value_index_0.1%_between", int64,
          {.encoding = Encoding::kPlain, .value_index = true}, data.ascending,
          Integers::Between(500'000'000, 501'000'000));
  AddFind("plain_int64_not_there_bloom_filter", int64,
          {.encoding = Encoding::kPlain, .bloom_filter_bits_per_value = 10}, data.random,
          Integers::Equal(77'001));
  for (const Encoding encoding :
       {Encoding::kPlain, Encoding::kDict, Encoding::kParquetDictionary}) {
    AddFind(EncodingName(encoding) + "_words_equal", string, {.encoding = encoding}, data.words,
            Strings::Equal(data.texts[5]));
    AddFind(EncodingName(encoding) + "_words_prefix", string, {.encoding = encoding}, data.words,
            Strings::HasPrefix("b"));
  }
  AddFind("prefix_sorted_keys_value_index_prefix", string,
          {.encoding = Encoding::kPrefix, .value_index = true}, data.keys,
          Strings::HasPrefix("key-000000123"));
}

}  // namespace
}  // namespace cfile

int main(int argc, char** argv) {
  const auto data = std::make_unique<cfile::Data>();
  cfile::Register(*data);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
