// Measures lookups of single rows by key, of 20 rows from a key on, and of the rows of a user on a
// day, and compares them with RocksDB, if it is installed:
//
//   build/release/tests/benchmarks/lookup_benchmark [ROWS]   (default: 2,000,000 rows)
//
// A row has 7 columns: a compound key of two numbers and a text, and four values. The rows lie in
// parts that overlap: each part has each fourth row. Then the parts are merged into one. RocksDB
// has the same rows in as many files of level 0, with zstd and no compaction; a value has the bytes
// of the other columns. Both have Bloom filters of 10 bits. All is warm. "own loop" is what a
// program writes with cursors of the parts' files. The figures are microseconds of processor time
// for one key. Before the last figures, "merge" says how many seconds the merge of the parts takes.
// "flush" and "cold row" are elapsed times. "flush" makes 1,000 rows durable as a new part. "cold
// row" reads four columns of a row (from RocksDB: all columns) when the indexes are in memory, but
// no file is. "p50" and "p99" are percentiles of elapsed times of a lookup of all columns in 4 and
// 20 overlapping parts.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "cfile/block_cache.h"
#include "cfile/compound_key.h"
#include "cfile/filter.h"
#include "cfile/merge_cursor.h"
#include "cfile/table.h"
#include "cfile/table_lookup.h"
#include "cfile/table_maintenance.h"
#include "cfile/table_scan.h"
#include "tests/benchmarks/measure.h"
#include "tests/benchmarks/or_die.h"
#ifdef CFILE_BENCHMARK_ROCKSDB
#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/options.h>
#include <rocksdb/table.h>
#endif

namespace cfile::benchmarks {
namespace {

constexpr size_t kParts = 4;
constexpr size_t kQueries = 20'000;
constexpr size_t kRowsOfQuery = 20;
constexpr size_t kFlushes = 21, kRowsOfFlush = 1000;
constexpr size_t kColdQueries = 201;

Schema MakeSchema() {
  return {.columns = {{.name = "day", .type = ColumnType::Date()},
                      {.name = "user", .type = ColumnType::Int64()},
                      {.name = "item", .type = ColumnType::String()},
                      {.name = "price", .type = ColumnType::Double()},
                      {.name = "count", .type = ColumnType::Int32(), .nullable = true},
                      {.name = "city", .type = ColumnType::String()},
                      {.name = "note", .type = ColumnType::String(), .nullable = true}},
          .key_columns = {0, 1, 2}};
}

struct Row {
  int32_t day;
  int64_t user;
  std::string item;
  double price;
  int32_t count;
  std::string city;
  std::string note;
};

Row RowOf(uint64_t number) {
  const uint64_t mixed = number * 0x9E3779B97F4A7C15 >> 20;
  return {
      .day = static_cast<int32_t>(15'000 + number / 40'000),
      .user = static_cast<int64_t>(number / 8 % 5000),
      .item = absl::StrCat("item-", absl::Dec(number % 8 * 1000 + mixed % 997, absl::kZeroPad4)),
      .price = static_cast<double>(mixed % 100'000) / 100,
      .count = static_cast<int32_t>(mixed % 20),
      .city = absl::StrCat("city ", mixed % 300),
      .note = absl::StrCat("note ", mixed % 100'003, " of row ", number)};
}

struct Queries {
  std::vector<std::string> hits;
  std::vector<std::string> misses;
  std::vector<Row> rows;  // of the hits
};

std::string KeyOf(const Row& row, const Schema& schema) {
  CompoundKey key(schema.key_types());
  return std::string(key.Add(row.day).Add(row.user).Add(std::string_view(row.item)).bytes());
}

// Returns the rows first, first + step, ... below `end`.
std::vector<Row> RowsOf(uint64_t first, uint64_t step, uint64_t end) {
  std::vector<Row> rows;
  for (uint64_t i = first; i < end; i += step) rows.push_back(RowOf(i));
  return rows;
}

// Appends a part. Creates the table if there is none.
void WritePart(const std::string& path, const Schema& schema, std::span<const Row> rows) {
  std::vector<WriterOptions> options(schema.columns.size() + 1);
  options.back().bloom_filter_bits_per_value = 10;  // of the keys
  TableWriter writer = OrDie(TableWriter::OpenOrCreate(path, schema, options));
  const auto append = [&]<typename T>(size_t column, std::type_identity<T>, const auto& value) {
    std::vector<T> values;
    for (const Row& row : rows) values.push_back(value(row));
    OrDie(writer.Append<T>(column, std::span<const T>(values)));
  };
  append(0, std::type_identity<int32_t>(), [](const Row& row) { return row.day; });
  append(1, std::type_identity<int64_t>(), [](const Row& row) { return row.user; });
  append(2, std::type_identity<std::string_view>(),
         [](const Row& row) { return std::string_view(row.item); });
  append(3, std::type_identity<double>(), [](const Row& row) { return row.price; });
  append(4, std::type_identity<int32_t>(), [](const Row& row) { return row.count; });
  append(5, std::type_identity<std::string_view>(),
         [](const Row& row) { return std::string_view(row.city); });
  append(6, std::type_identity<std::string_view>(),
         [](const Row& row) { return std::string_view(row.note); });
  OrDie(writer.Finish());
}

// Calls work(i) `calls` times, and returns how many seconds each call took, in ascending order.
// prepare(i) is called before work(i), and its time does not count.
template <typename Prepare, typename Work>
std::vector<double> SortedElapsed(size_t calls, const Prepare& prepare, const Work& work) {
  std::vector<double> seconds;
  for (size_t i = 0; i < calls; ++i) {
    prepare(i);
    const auto begin = std::chrono::steady_clock::now();
    work(i);
    seconds.push_back(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  std::sort(seconds.begin(), seconds.end());
  return seconds;
}

template <typename Prepare, typename Work>
double MedianElapsed(size_t calls, const Prepare& prepare, const Work& work) {
  return SortedElapsed(calls, prepare, work)[calls / 2];
}

// Calls flush(rows), which makes the rows durable. Prints how many milliseconds a call takes.
template <typename Flush>
void MeasureFlush(const std::string& who, const Flush& flush) {
  std::vector<Row> rows;
  const double seconds = MedianElapsed(
      kFlushes, [&](size_t i) { rows = RowsOf(i, kFlushes, kFlushes * kRowsOfFlush); },
      [&](size_t) { flush(rows); });
  PrintFigure("1,000 rows", "flush, ms", who, 1e3 * seconds);
}

// Removes all files under `folder` from memory.
void DropFolder(const std::string& folder) {
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) DropFromMemory(entry.path());
  }
}

// Calls get(key) for keys that exist, each time when no file under `folder` is in memory. Prints
// how many microseconds a call takes.
template <typename Get>
void MeasureCold(const std::string& who, const std::string& folder, const Queries& queries,
                 const Get& get) {
  const double seconds = MedianElapsed(
      kColdQueries, [&](size_t) { DropFolder(folder); },
      [&](size_t i) { Check(get(queries.hits[i]), "the key is found"); });
  PrintFigure("merged", "cold row", who, 1e6 * seconds);
}

// The loop over the parts that a program writes if it has no TableLookup.
class OwnLoop {
 public:
  explicit OwnLoop(const TableReader& table) {
    for (size_t part = table.num_parts(); part-- > 0;) {
      const auto open = [&](size_t column) { return OrDie(table.OpenColumn(part, column)); };
      parts_.push_back({OrDie(open(7).NewCursor<std::string_view>()),
                        OrDie(open(0).NewCursor<int32_t>()), OrDie(open(1).NewCursor<int64_t>()),
                        OrDie(open(2).NewCursor<std::string_view>()),
                        OrDie(open(3).NewCursor<double>()), OrDie(open(4).NewCursor<int32_t>()),
                        OrDie(open(5).NewCursor<std::string_view>()),
                        OrDie(open(6).NewCursor<std::string_view>())});
    }
  }

  bool Get(std::string_view key) {
    for (Part& part : parts_) {
      const KeyPosition position = OrDie(part.keys.SeekToKey(key));
      if (!position.exact) continue;
      Keep(&part);
      (void)OrDie(part.day.Get(position.ordinal));
      (void)OrDie(part.user.Get(position.ordinal));
      (void)OrDie(part.item.Get(position.ordinal));
      (void)OrDie(part.price.Get(position.ordinal));
      (void)OrDie(part.count.Get(position.ordinal));
      (void)OrDie(part.city.Get(position.ordinal));
      (void)OrDie(part.note.Get(position.ordinal));
      return true;
    }
    return false;
  }

 private:
  struct Part {
    Cursor<std::string_view> keys;
    Cursor<int32_t> day;
    Cursor<int64_t> user;
    Cursor<std::string_view> item;
    Cursor<double> price;
    Cursor<int32_t> count;
    Cursor<std::string_view> city;
    Cursor<std::string_view> note;
  };
  std::vector<Part> parts_;
};

// Measures read(i), which returns the number of rows that query i has read.
template <typename Read>
void MeasureRows(const std::string& data, const std::string& work, const std::string& who,
                 const Queries& queries, const Read& read) {
  uint64_t rows = 0;
  const double seconds = MedianSeconds([&] {
    rows = 0;
    for (size_t i = 0; i < queries.hits.size(); i += 10) rows += read(i);
  });
  PrintLatency(data, work, who, queries.hits.size() / 10, seconds);
  PrintFigure(data, work + ", rows", who,
              static_cast<double>(rows) / static_cast<double>(queries.hits.size() / 10));
}

template <typename Get>
void Measure(const std::string& data, const std::string& who, const Queries& queries,
             const Get& get) {
  for (const bool hit : {true, false}) {
    const std::vector<std::string>& keys = hit ? queries.hits : queries.misses;
    const double seconds = MedianSeconds([&] {
      for (const std::string& key : keys)
        Check(get(key) == hit,
              absl::StrCat(who, hit ? " finds " : " does not find ", absl::CHexEscape(key)));
    });
    PrintLatency(data, hit ? "hit" : "miss", who, keys.size(), seconds);
  }
}

void MeasureTable(const std::string& data, const std::string& path, const Queries& queries) {
  const TableReader table = OrDie(TableReader::Open(path));
  TableLookup lookup = OrDie(table.NewLookup(std::vector<size_t>{0, 1, 2, 3, 4, 5, 6}));
  Measure(data, "TableLookup", queries,
          [&](std::string_view key) { return OrDie(lookup.Get(key)).found(); });
  TableLookup keys = OrDie(table.NewLookup({}));
  Measure(data, "TableLookup::Contains", queries,
          [&](std::string_view key) { return OrDie(keys.Contains(key)); });
  MergeCursor cursor = OrDie(table.NewMergeCursor({.columns = {0, 1, 2, 3, 4, 5, 6}}));
  MeasureRows(data, "20 rows", "MergeCursor", queries, [&](size_t i) {
    Check(OrDie(cursor.SeekToKey(std::string_view(queries.hits[i]))), "the key is found");
    size_t rows = 0;
    while (rows < kRowsOfQuery) {
      const MergeBatch batch = OrDie(cursor.Next(kRowsOfQuery - rows));
      if (batch.empty()) break;
      rows += batch.num_rows();
    }
    return rows;
  });
  CompoundKey prefix(table.schema().key_types());
  MeasureRows(data, "day and user", "MergeCursor", queries, [&](size_t i) {
    prefix.Clear().Add(queries.rows[i].day).Add(queries.rows[i].user);
    OrDie(cursor.SeekToPrefix(prefix.bytes()));
    size_t rows = 0;
    for (const auto& batch : cursor.Batches()) rows += OrDie(batch).num_rows();
    return rows;
  });
  MeasureRows(data, "day and user", "TableScan", queries, [&](size_t i) {
    TableScan scan = OrDie(table.NewScan(
        {.where = And(Eq("day", queries.rows[i].day), Eq("user", queries.rows[i].user))}));
    size_t rows = 0;
    for (const auto& batch : scan.Batches()) rows += OrDie(batch).num_rows();
    return rows;
  });
  OwnLoop loop(table);
  Measure(data, "own loop", queries, [&](std::string_view key) { return loop.Get(key); });
}

void MeasureColdTable(const std::string& path, const Queries& queries) {
  const TableReader table =
      OrDie(TableReader::Open(path, {.access = ReaderOptions::Access::kPread,
                                     .block_cache = std::make_shared<BlockCache>(0)}));
  TableLookup lookup = OrDie(table.NewLookup(std::vector<size_t>{3, 4, 5, 6}));
  for (const std::string_view key : queries.hits)
    (void)OrDie(lookup.Get(key));  // loads the indexes
  MeasureCold("TableLookup", path, queries,
              [&](std::string_view key) { return OrDie(lookup.Get(key)).found(); });
}

// Prints the median and the 99th percentile of the microseconds that get(i) takes. The arguments
// are those of SortedElapsed.
template <typename Prepare, typename Get>
void MeasurePercentiles(const std::string& data, const std::string& work, size_t calls,
                        const Prepare& prepare, const Get& get) {
  const std::vector<double> seconds = SortedElapsed(calls, prepare, get);
  PrintFigure(data, work + ", p50", "TableLookup", 1e6 * seconds[calls / 2]);
  PrintFigure(data, work + ", p99", "TableLookup", 1e6 * seconds[calls * 99 / 100]);
}

// Measures lookups of all columns in a table of `parts` overlapping parts, in three situations. All
// data is in memory; the same while another thread appends parts, merges them and collects garbage;
// no file is in memory.
void MeasureOverlap(const std::string& path, size_t parts, uint64_t rows, const Queries& queries) {
  const Schema schema = MakeSchema();
  for (size_t part = 0; part < parts; ++part) WritePart(path, schema, RowsOf(part, parts, rows));
  const std::string data = absl::StrCat(parts, " parts");
  const std::vector<size_t> columns = {0, 1, 2, 3, 4, 5, 6};
  TableReader table = OrDie(TableReader::Open(path));
  std::optional<TableLookup> lookup = OrDie(table.NewLookup(columns));
  const auto get = [&](size_t i) {
    Check(OrDie(lookup->Get(std::string_view(queries.hits[i]))).found(), "the key is found");
  };
  for (size_t i = 0; i < kQueries; ++i) get(i);  // the data is in memory now
  MeasurePercentiles(
      data, "warm", kQueries, [](size_t) {}, get);
  {
    std::jthread writer([&](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        std::vector<std::string> merged;
        for (size_t part = 0; part < 2; ++part)
          WritePart(path, schema, RowsOf(part, rows / kRowsOfFlush, rows));
        const TableReader now = OrDie(TableReader::Open(path));
        for (size_t part = now.num_parts() - 2; part < now.num_parts(); ++part)
          merged.push_back(OrDie(now.part(part)).name);
        (void)OrDie(Compact(path, merged));
        (void)OrDie(CollectGarbage(path));
      }
    });
    const auto refresh = [&](size_t i) {
      if (i % 1000 != 0) return;
      table = OrDie(table.Refresh());
      lookup = OrDie(table.NewLookup(columns));
    };
    MeasurePercentiles(data, "warm, beside changes", 5 * kQueries, refresh,
                       [&](size_t i) { get(i % kQueries); });
  }
  table = OrDie(TableReader::Open(path, {.access = ReaderOptions::Access::kPread,
                                         .block_cache = std::make_shared<BlockCache>(0)}));
  lookup = OrDie(table.NewLookup(columns));
  for (size_t i = 0; i < kQueries; i += 10) get(i);  // loads the indexes
  MeasurePercentiles(
      data, "cold", kColdQueries, [&](size_t) { DropFolder(path); }, get);
}

#ifdef CFILE_BENCHMARK_ROCKSDB
void Must(const rocksdb::Status& status) { Check(status.ok(), status.ToString()); }

std::unique_ptr<rocksdb::DB> OpenRocksDb(const std::string& path) {
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = rocksdb::NewLRUCache(size_t{2} << 30);
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
  rocksdb::Options options;
  options.create_if_missing = true;
  options.disable_auto_compactions = true;
  options.compression = rocksdb::kZSTD;
  options.write_buffer_size = size_t{4} << 30;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  rocksdb::DB* opened = nullptr;
  Must(rocksdb::DB::Open(options, path, &opened));
  return std::unique_ptr<rocksdb::DB>(opened);
}

// Writes the rows as one file of level 0.
void Flush(rocksdb::DB& db, const Schema& schema, std::span<const Row> rows) {
  rocksdb::WriteOptions unlogged;
  unlogged.disableWAL = true;
  for (const Row& row : rows) {
    std::string value(16, '\0');
    value.append(row.city).append(row.note);
    Must(db.Put(unlogged, KeyOf(row, schema), value));
  }
  Must(db.Flush({}));
}

void MeasureRocksDb(const std::string& path, const Schema& schema, uint64_t rows,
                    const Queries& queries) {
  const auto flushed = OpenRocksDb(path + "-flushed");
  MeasureFlush("RocksDB", [&](std::span<const Row> own) { Flush(*flushed, schema, own); });
  auto db = OpenRocksDb(path);
  for (size_t part = 0; part < kParts; ++part) Flush(*db, schema, RowsOf(part, kParts, rows));
  std::string value;
  const auto get = [&](const std::string& key) { return db->Get({}, key, &value).ok(); };
  const auto measure = [&](const std::string& data) {
    Measure(data, "RocksDB", queries, get);
    const std::unique_ptr<rocksdb::Iterator> iterator(db->NewIterator({}));
    MeasureRows(data, "20 rows", "RocksDB", queries, [&](size_t i) {
      size_t count = 0;
      for (iterator->Seek(queries.hits[i]); iterator->Valid() && count < kRowsOfQuery;
           iterator->Next(), ++count) {
        Keep(iterator->key().data());
        Keep(iterator->value().data());
      }
      return count;
    });
  };
  measure("4 parts");
  Must(db->CompactRange({}, nullptr, nullptr));
  measure("merged");
  rocksdb::ReadOptions cold;
  cold.fill_cache = false;
  db = nullptr;
  db = OpenRocksDb(path);  // with an empty cache
  MeasureCold("RocksDB", path, queries,
              [&](const std::string& key) { return db->Get(cold, key, &value).ok(); });
}
#endif

void Run(uint64_t rows) {
  const std::string directory = std::filesystem::temp_directory_path() / "cfile-lookup-benchmark";
  std::filesystem::remove_all(directory);
  std::filesystem::create_directories(directory);
  const Schema schema = MakeSchema();
  Queries queries;
  std::mt19937_64 random(5);
  for (size_t i = 0; i < kQueries; ++i) {
    queries.rows.push_back(RowOf(random() % rows));
    queries.hits.push_back(KeyOf(queries.rows.back(), schema));
    Row row = RowOf(random() % rows);
    row.item += "x";
    queries.misses.push_back(KeyOf(row, schema));
  }
  const std::string path = directory + "/table";
  for (size_t part = 0; part < kParts; ++part) WritePart(path, schema, RowsOf(part, kParts, rows));
  MeasureTable("4 parts", path, queries);
  const double begin = ProcessorSeconds();
  (void)OrDie(Compact(path));
  PrintFigure("4 parts", "merge", "Compact", ProcessorSeconds() - begin);
  MeasureTable("merged", path, queries);
  MeasureColdTable(path, queries);
  MeasureFlush("TableWriter",
               [&](std::span<const Row> own) { WritePart(directory + "/flushed", schema, own); });
  for (const size_t parts : {4, 20})
    MeasureOverlap(absl::StrCat(directory, "/overlap-", parts), parts, rows, queries);
#ifdef CFILE_BENCHMARK_ROCKSDB
  MeasureRocksDb(directory + "/rocksdb", schema, rows, queries);
#endif
  std::filesystem::remove_all(directory);
}

}  // namespace
}  // namespace cfile::benchmarks

int main(int argc, char** argv) {
  cfile::benchmarks::Run(argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 2'000'000);
}
