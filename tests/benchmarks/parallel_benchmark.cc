// Measures how much several threads help: for the import of CSV with cfile-import --threads, and
// for scans of a table's columns in ranges with one cursor per thread.
//
//   parallel_benchmark DIRECTORY [TURNS]
//
// Creates DIRECTORY. It needs space for 500 MB of CSV with ten columns, which is the same in every
// run, and for the imported tables. A row shows the best of several turns. In each turn, 1, 2 and 4
// threads run one after the other. The last figures of a row compare several threads with one
// thread: the speed per thread, and the processor time of all threads. If other work runs on the
// machine, only the processor time is meaningful.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cfile/table.h"
#include "encodings/core/status.h"
#include "tests/benchmarks/or_die.h"
#include "tools/import/importer.h"

namespace cfile {
namespace {

constexpr uint64_t kCsvRows = 3'700'000;
constexpr uint64_t kScanRows = 20'000'000;
constexpr size_t kThreads[] = {1, 2, 4};

using benchmarks::Check;
using benchmarks::Keep;
using benchmarks::OrDie;
using benchmarks::ProcessorSeconds;

struct Cost {
  double seconds = std::numeric_limits<double>::max();
  double cpu_seconds = std::numeric_limits<double>::max();
};

// Measures work(num_threads) and prints its costs.
void Measure(const std::string& name, int turns, const std::function<void(size_t)>& work) {
  Cost best[std::size(kThreads)];
  for (int turn = 0; turn < turns; ++turn) {
    for (size_t i = 0; i < std::size(kThreads); ++i) {
      const auto start = std::chrono::steady_clock::now();
      const double cpu_start = ProcessorSeconds();
      work(kThreads[i]);
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
      best[i].seconds = std::min(best[i].seconds, took.count());
      best[i].cpu_seconds = std::min(best[i].cpu_seconds, ProcessorSeconds() - cpu_start);
    }
  }
  for (size_t i = 0; i < std::size(kThreads); ++i) {
    std::printf("%-28s %zu threads %8.4f s, %4.2f per thread, cores' time %4.2f\n", name.c_str(),
                kThreads[i], best[i].seconds,
                best[0].seconds / best[i].seconds / static_cast<double>(kThreads[i]),
                best[i].cpu_seconds / best[0].cpu_seconds);
  }
  std::fflush(stdout);
}

std::vector<std::string> Words(size_t count, std::mt19937_64& random) {
  std::vector<std::string> words(count);
  for (std::string& word : words) {
    for (uint64_t i = 3 + random() % 9; i > 0; --i) word += static_cast<char>('a' + random() % 26);
  }
  return words;
}

// Writes CSV with columns of integers, a timestamp, numbers with fractions, repeated words, a
// quoted text, a bool and a date.
void GenerateCsv(const std::string& path) {
  if (std::filesystem::exists(path)) return;
  std::mt19937_64 random(7);
  const std::vector<std::string> words = Words(10'000, random);
  const auto word = [&] { return std::string_view(words[random() % words.size()]); };
  const auto two = [](uint64_t number) { return absl::Dec(number, absl::kZeroPad2); };
  std::ofstream file(path + ".part", std::ios::binary);
  file << "id,at,amount,price,score,word,city,note,flag,day\n";
  uint64_t cents = 1'000'000;
  for (uint64_t i = 0; i < kCsvRows; ++i) {
    cents += random() % 101 - 50;
    const std::string note =
        encodings::StrCat("\"", word(), " ", word(), ", ", word(), " ", word(), "\"");
    file << absl::StrCat(i, ",2024-01-", two(1 + i / 200'000), "T", two(i / 3600 % 24), ":",
                         two(i / 60 % 60), ":", two(i % 60), ".",
                         absl::Dec(random() % 1000, absl::kZeroPad3), "Z,",
                         random() % 1'000'000'000, ",", cents / 100, ".", two(cents % 100), ",0.",
                         random() >> 12)
         << ',' << word() << ',' << words[random() % 200] << ',' << note
         << (random() % 2 == 0 ? ",true" : ",false")
         << absl::StrCat(",2023-", two(1 + i % 12), "-", two(1 + i % 28), "\n");
  }
  file.close();
  Check(file.good(), path);
  std::filesystem::rename(path + ".part", path);
}

void Import(const std::string& input, const std::string& output, size_t num_threads) {
  std::filesystem::remove_all(output);
  tools::ImportOptions options;
  options.input = input;
  options.output = output;
  options.table = TableLocation(output);
  options.num_threads = num_threads;
  tools::Progress progress(false);
  const tools::InputFile file = OrDie(tools::OpenInputFile(
      {.path = input, .map = true, .progress = [](uint64_t) { return absl::OkStatus(); }}));
  OrDie(tools::Import(options, file, /*parts=*/nullptr, progress));
}

// Writes a table of two parts. Each column is decoded in a different way.
void GenerateTable(const std::string& path) {
  std::filesystem::remove_all(path);
  const Schema schema{.columns = {{.name = "delta", .type = ColumnType::Int64()},
                                  {.name = "dictionary", .type = ColumnType::String()},
                                  {.name = "zstd", .type = ColumnType::Int64()}}};
  const WriterOptions options[] = {
      {.encoding = Encoding::kParquetDeltaBinaryPacked},
      {.encoding = Encoding::kDict},
      {.encoding = Encoding::kPlain, .compression = Compression::kZstd}};
  std::mt19937_64 random(8);
  const std::vector<std::string> words = Words(10'000, random);
  constexpr size_t kRows = 50'000;
  std::vector<int64_t> sequence(kRows), prices(kRows);
  std::vector<std::string_view> strings(kRows);
  int64_t at = 0;
  for (int part = 0; part < 2; ++part) {
    auto writer = OrDie(part == 0 ? TableWriter::Create(path, schema, options)
                                  : TableWriter::Open(path, options));
    for (uint64_t rows = 0; rows < kScanRows / 2; rows += kRows) {
      for (size_t i = 0; i < kRows; ++i) {
        sequence[i] = at += static_cast<int64_t>(random() % 1000);
        prices[i] = static_cast<int64_t>(random() % 500);
        strings[i] = words[random() % words.size()];
      }
      absl::Status status = writer.Append<int64_t>(0, sequence);
      status.Update(writer.Append<std::string_view>(1, strings));
      status.Update(writer.Append<int64_t>(2, prices));
      Check(status.ok(), std::string(status.message()));
    }
    const absl::Status status = writer.Finish();
    Check(status.ok(), std::string(status.message()));
  }
}

template <typename T>
void Scan(const TableReader& table, size_t column, size_t num_threads) {
  const std::vector<OrdinalRange> ranges = OrDie(table.Split(column, num_threads));
  Check(ranges.size() == num_threads, "ranges");
  const auto scan = [&](size_t range) {
    TableCursor<T> cursor = OrDie(table.NewCursor<T>(column));
    Check(cursor.SeekToRange(ranges[range]).ok(), "seek");
    uint64_t rows = 0;
    while (true) {
      const Batch<T> batch = OrDie(cursor.Next(16'384));
      if (batch.empty()) break;
      Keep(batch.values.data());
      rows += batch.size();
    }
    Check(rows == ranges[range].size(), "rows");
  };
  std::vector<std::jthread> others;
  for (size_t i = 1; i < num_threads; ++i) others.emplace_back([&scan, i] { scan(i); });
  scan(0);
}

int Main(int argc, char** argv) {
  Check(argc >= 2, "parallel_benchmark DIRECTORY [TURNS]");
  const std::string directory = argv[1];
  const int turns = argc > 2 ? std::atoi(argv[2]) : 3;
  std::filesystem::create_directories(directory);

  const std::string scanned = directory + "/scanned";
  GenerateTable(scanned);
  const TableReader table = OrDie(TableReader::Open(scanned));
  Measure("scan, delta int64", 10 * turns, [&](size_t n) { Scan<int64_t>(table, 0, n); });
  Measure("scan, dictionary strings", 10 * turns,
          [&](size_t n) { Scan<std::string_view>(table, 1, n); });
  Measure("scan, zstd int64", 10 * turns, [&](size_t n) { Scan<int64_t>(table, 2, n); });

  const std::string csv = directory + "/rows.csv";
  GenerateCsv(csv);
  Measure("import of 500 MB CSV", turns,
          [&](size_t n) { Import(csv, directory + "/imported", n); });
  return 0;
}

}  // namespace
}  // namespace cfile

int main(int argc, char** argv) { return cfile::Main(argc, argv); }
