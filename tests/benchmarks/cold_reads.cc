// Measures reads of files that are not in memory: seeks by key, takes of random rows, and scans.
// Compares seeks with LMDB, and scans with reads of 1 MiB, as `dd bs=1M` makes them. Before each
// run, the file is dropped from the page cache of the system. Prints lines of JSON like
// file_comparison. The figures of seeks and takes are microseconds of elapsed time, and KiB that
// are read from the disk, for each key or row. The figures of scans are MB/s.
//
//   cold_reads DIRECTORY [ROWS [BLOCK_BYTES [SEEK_BLOCK_BYTES [OLDEST_READER]]]]
//
// ROWS: 20 million by default. BLOCK_BYTES and SEEK_BLOCK_BYTES: the options block_size_bytes and
// seek_block_size_bytes of the writer; if one is not given, or is 0, the writer's default.
// OLDEST_READER: the option oldest_reader. There are a quarter as many URLs as rows.
// DIRECTORY must be on a disk, not in tmpfs. Figures of different disks cannot be compared.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#ifdef CFILE_BENCHMARK_LMDB
#include <lmdb.h>
#endif

#include "cfile/block_cache.h"
#include "cfile/reader.h"
#include "cfile/writer.h"
#include "comparison_data.h"
#include "or_die.h"

namespace cfile::benchmarks {
namespace {

constexpr size_t kReads = 500;
constexpr size_t kRuns = 5;
constexpr size_t kAppendedRows = 65536;
constexpr size_t kBatchRows = 4096;

struct File {
  std::string data;
  std::string path;
  size_t rows;
};

// Returns how many bytes this process has read from disks.
double BytesRead() {
  std::ifstream file("/proc/self/io");
  std::string name;
  double bytes = 0;
  while (file >> name >> bytes) {
    if (name == "read_bytes:") return bytes;
  }
  Check(false, "/proc/self/io has no read_bytes");
  return 0;
}

struct Cost {
  double seconds = 0;
  double bytes = 0;
};

// Runs `work` kRuns times. Before each run, the file `path` is dropped from the page cache. Returns
// the run with the median time: its time, and the bytes that it read.
template <typename Work>
Cost ColdCost(const std::string& path, const Work& work) {
  std::vector<Cost> costs(kRuns);
  for (Cost& cost : costs) {
    DropFromMemory(path);
    const double bytes = BytesRead();
    const auto begin = std::chrono::steady_clock::now();
    work();
    cost.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    cost.bytes = BytesRead() - bytes;
  }
  std::sort(costs.begin(), costs.end(),
            [](const Cost& a, const Cost& b) { return a.seconds < b.seconds; });
  return costs[kRuns / 2];
}

void PrintCost(const std::string& data, const std::string& work, const std::string& who,
               const Cost& cost) {
  PrintFigure(data, work + ", us", who, cost.seconds * 1e6 / kReads);
  PrintFigure(data, work + ", KiB", who, cost.bytes / 1024 / kReads);
}

// Opens the file with an empty block cache.
Reader OpenCold(const File& file, ReaderOptions::Access access) {
  return OrDie(Reader::Open(
      file.path,
      {.access = access, .block_cache = std::make_shared<BlockCache>(BlockCache::kDefaultBytes)}));
}

struct Way {
  const char* name;
  ReaderOptions::Access access;
};
constexpr Way kWays[] = {{"cfile mapped", ReaderOptions::Access::kMap},
                         {"cfile pread", ReaderOptions::Access::kPread}};

template <typename T>
void MeasureTakes(const File& file, const std::string& suffix) {
  std::mt19937_64 random(3);
  std::vector<uint64_t> ordinals(kReads);
  for (uint64_t& ordinal : ordinals) ordinal = random() % file.rows;
  for (const Way& way : kWays) {
    PrintCost(file.data, "cold take", way.name + suffix, ColdCost(file.path, [&] {
                const Reader reader = OpenCold(file, way.access);
                auto cursor = OrDie(reader.NewCursor<T>());
                OwnedBatch<T> taken;
                OrDie(cursor.Take(ordinals, taken));
                Check(taken.batch().size() == kReads, "a take gives all rows");
              }));
  }
}

template <typename T>
void MeasureScans(const File& file, const std::string& suffix) {
  const Cost dd = ColdCost(file.path, [&] {
    std::vector<char> buffer(1 << 20);
    const int descriptor = open(file.path.c_str(), O_RDONLY);
    ssize_t count = 0;
    while ((count = read(descriptor, buffer.data(), buffer.size())) > 0) Keep(buffer.data());
    Check(count == 0, "cannot read " + file.path);
    close(descriptor);
  });
  PrintFigure(file.data, "cold scan, MB/s", "dd" + suffix, dd.bytes / dd.seconds / 1e6);
  for (const Way& way : kWays) {
    const Cost cost = ColdCost(file.path, [&] {
      const Reader reader = OpenCold(file, way.access);
      auto cursor = OrDie(reader.NewCursor<T>());
      uint64_t values = 0;
      while (true) {
        const auto batch = OrDie(cursor.Next(kBatchRows));
        if (batch.empty()) break;
        for (const T& value : batch.values) Keep(&value);
        values += batch.size();
      }
      Check(values == file.rows, "a scan gives all values");
    });
    PrintFigure(file.data, "cold scan, MB/s", way.name + suffix, dd.bytes / cost.seconds / 1e6);
  }
}

// Returns `rows` random numbers in ascending order.
std::vector<uint64_t> SortedNumbers(size_t rows) {
  auto numbers = encodings::RandomInts<uint64_t>(rows);
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}
std::string HexKey(uint64_t number) {
  char text[17];
  std::snprintf(text, sizeof(text), "%016llx", static_cast<unsigned long long>(number));
  return text;
}

template <typename T, typename Next>
void WriteFile(const File& file, const ColumnType& type, const WriterOptions& options, Next next) {
  auto writer = OrDie(Writer<T>::Create(OrDie(NewFileSink(file.path)), type, options));
  for (size_t begin = 0; begin < file.rows; begin += kAppendedRows)
    OrDie(writer.Append(next(begin, std::min(begin + kAppendedRows, file.rows))));
  OrDie(writer.Finish());
  PrintSize(file.data, "cfile", file.path, file.rows);
}

#ifdef CFILE_BENCHMARK_LMDB
void CheckLmdb(int code) { Check(code == MDB_SUCCESS, mdb_strerror(code)); }

// `key_at(i)`: key i of all keys, in ascending order, as LMDB compares them.
template <typename KeyAt>
void MeasureLmdb(const std::string& data, const std::string& path, size_t rows, KeyAt key_at,
                 std::span<const std::string> keys) {
  MDB_env* environment = nullptr;
  MDB_txn* transaction = nullptr;
  MDB_dbi database = 0;
  const auto open = [&](unsigned flags) {
    CheckLmdb(mdb_env_create(&environment));
    CheckLmdb(mdb_env_set_mapsize(environment, size_t{4} << 30));
    CheckLmdb(mdb_env_open(environment, path.c_str(), MDB_NOSUBDIR | MDB_NOLOCK | flags, 0644));
    CheckLmdb(
        mdb_txn_begin(environment, nullptr, (flags & MDB_RDONLY) ? MDB_RDONLY : 0, &transaction));
    CheckLmdb(mdb_dbi_open(transaction, nullptr, 0, &database));
  };
  open(MDB_NOSYNC | MDB_WRITEMAP);
  for (size_t i = 0; i < rows; ++i) {
    std::string text = key_at(i);
    MDB_val key{text.size(), text.data()};
    MDB_val value{0, text.data()};
    CheckLmdb(mdb_put(transaction, database, &key, &value, MDB_APPEND));
  }
  CheckLmdb(mdb_txn_commit(transaction));
  mdb_env_close(environment);

  // LMDB recommends MDB_NORDAHEAD for databases that are larger than memory.
  for (const unsigned flags : {0u, static_cast<unsigned>(MDB_NORDAHEAD)}) {
    const Cost cost = ColdCost(path, [&] {
      open(MDB_RDONLY | flags);
      MDB_cursor* cursor = nullptr;
      CheckLmdb(mdb_cursor_open(transaction, database, &cursor));
      for (const std::string& wanted : keys) {
        MDB_val key{wanted.size(), const_cast<char*>(wanted.data())};
        MDB_val value;
        CheckLmdb(mdb_cursor_get(cursor, &key, &value, MDB_SET_RANGE));
      }
      mdb_cursor_close(cursor);
      mdb_txn_abort(transaction);
      mdb_env_close(environment);
    });
    PrintCost(data, "cold seek", flags == 0 ? "LMDB" : "LMDB without read-ahead", cost);
  }
  std::filesystem::remove(path);
}
#endif

// Measures searches in a column of sorted keys. `at(i)`: key i. `text_of(key)`: the key as LMDB
// compares it.
template <typename T, typename At, typename TextOf>
void MeasureSeeks(const std::string& data, const std::string& directory, size_t rows,
                  const ColumnType& type, const WriterOptions& options, At at, TextOf text_of) {
  const File file{.data = data, .path = directory + "/cold-keys.cfile", .rows = rows};
  std::vector<decltype(at(0))> some;  // owns its strings
  std::vector<T> views;
  WriteFile<T>(file, type, options, [&](size_t begin, size_t end) {
    some.clear();
    for (size_t i = begin; i < end; ++i) some.push_back(at(i));
    views.assign(some.begin(), some.end());
    return std::span<const T>(views);
  });
  std::mt19937_64 random(2);
  std::vector<decltype(at(0))> keys;
  for (size_t i = 0; i < kReads; ++i) keys.push_back(at(random() % rows));
#ifdef CFILE_BENCHMARK_LMDB
  std::vector<std::string> texts;
  for (const auto& key : keys) texts.push_back(text_of(key));
  MeasureLmdb(
      data, directory + "/cold-keys.lmdb", rows, [&](size_t i) { return text_of(at(i)); }, texts);
#endif
  for (const Way& way : kWays) {
    PrintCost(file.data, "cold seek", way.name, ColdCost(file.path, [&] {
                const Reader reader = OpenCold(file, way.access);
                auto cursor = OrDie(reader.NewCursor<T>());
                for (const auto& key : keys)
                  Check(OrDie(cursor.SeekToKey(T(key))).exact, "a key is found");
              }));
  }
  MeasureTakes<T>(file, "");
  MeasureScans<T>(file, "");
  std::filesystem::remove(file.path);
}

void MeasureAllSeeks(const std::string& directory, size_t rows, const WriterOptions& options) {
  {
    const std::vector<uint64_t> numbers = SortedNumbers(rows);
    MeasureSeeks<std::string_view>(
        "random keys", directory, rows, ColumnType::String(), options,
        [&](size_t i) { return HexKey(numbers[i]); }, [](const std::string& key) { return key; });
  }
  {
    auto numbers = encodings::RandomInts<int64_t>(rows);
    std::sort(numbers.begin(), numbers.end());
    MeasureSeeks<int64_t>(
        "int64 keys", directory, rows, ColumnType::Int64(), options,
        [&](size_t i) { return numbers[i]; },
        [](int64_t key) {  // big-endian, with the sign bit inverted
          const uint64_t bits = __builtin_bswap64(static_cast<uint64_t>(key) ^ uint64_t{1} << 63);
          return std::string(reinterpret_cast<const char*>(&bits), sizeof(bits));
        });
  }
  const encodings::StringColumn urls = encodings::SortedUrls(rows / 4);  // distinct
  MeasureSeeks<std::string_view>(
      "URLs", directory, urls.values.size(), ColumnType::String(), options,
      [&](size_t i) { return std::string(urls.values[i]); },
      [](const std::string& key) { return key; });
}

// Measures a column without a value index, as a file alone and as a file of a table.
template <typename T>
void MeasureColumn(const std::string& directory, const std::string& data, const ColumnType& type,
                   WriterOptions options, std::span<const T> values) {
  options.value_index = false;
  const File file{.data = data, .path = directory + "/cold.cfile", .rows = values.size()};
  for (const bool movable : {false, true}) {
    options.movable_blocks = movable;
    WriteFile<T>(file, type, options,
                 [&](size_t begin, size_t end) { return values.subspan(begin, end - begin); });
    const std::string suffix = movable ? ", of a table" : "";
    MeasureTakes<T>(file, suffix);
    MeasureScans<T>(file, suffix);
  }
  std::filesystem::remove(file.path);
}

int Main(int argc, char** argv) {
  if (argc < 2 || argc > 6) {
    std::fprintf(
        stderr,
        "usage: cold_reads DIRECTORY [ROWS [BLOCK_BYTES [SEEK_BLOCK_BYTES [OLDEST_READER]]]]\n");
    return 1;
  }
  const std::string directory = argv[1];
  const size_t rows = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 20'000'000;
  WriterOptions options{.value_index = true};
  if (argc > 3 && std::strtoull(argv[3], nullptr, 10) > 0)
    options.block_size_bytes = std::strtoull(argv[3], nullptr, 10);
  if (argc > 4) options.seek_block_size_bytes = std::strtoull(argv[4], nullptr, 10);
  if (argc > 5) options.oldest_reader = OrDie(ParseOldestReader(argv[5]));
  MeasureAllSeeks(directory, rows, options);
  MeasureColumn<int64_t>(directory, "random int64", ColumnType::Int64(), options,
                         encodings::RandomInts<int64_t>(rows));
  MeasureColumn<int64_t>(directory, "sequence", ColumnType::Int64(), options,
                         encodings::SequentialInts<int64_t>(rows));
  const encodings::StringColumn words = encodings::Words(rows);
  MeasureColumn<std::string_view>(directory, "words", ColumnType::String(), options, words.values);
  return 0;
}

}  // namespace
}  // namespace cfile::benchmarks

int main(int argc, char** argv) { return cfile::benchmarks::Main(argc, argv); }
