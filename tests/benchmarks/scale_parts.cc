// Makes tables of many small parts, for scale_model.py, which extrapolates what it measures here:
//
//   scale_parts PARTS COLUMNS        in memory: prints the sizes of table.cft and of the chunks
//   scale_parts PARTS COLUMNS URL    in an object store: prints what works cost; a table that is
//                                    already at URL stays
//
// Prints lines of JSON. A part has 100 rows: the rows of one minute. Column 0, the time in
// milliseconds, has a value index, and ascends from part to part. The other columns are strings and
// numbers in turn. A step's requests and bytes are those of the HTTP client.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cfile/block_cache.h"
#include "cfile/http.h"
#include "cfile/storage.h"
#include "cfile/table.h"
#include "cfile/table_scan.h"
#include "tests/benchmarks/or_die.h"

namespace cfile {
namespace {

using benchmarks::Check;
using benchmarks::OrDie;

constexpr int64_t kRowsPerPart = 100;
constexpr int64_t kMillisecondsPerPart = 60'000;
constexpr int64_t kPartsOfARange = 60;  // an hour

int64_t TimeOf(int64_t row) { return row * (kMillisecondsPerPart / kRowsPerPart); }

void AppendPart(const std::shared_ptr<Storage>& storage, int64_t part, size_t columns) {
  Schema schema{.columns = {{.name = "time", .type = ColumnType::Int64()}}};
  for (size_t i = 1; i < columns; ++i) {
    schema.columns.push_back({.name = absl::StrCat("column", i),
                              .type = i % 2 == 0 ? ColumnType::Int64() : ColumnType::String()});
  }
  std::vector<WriterOptions> options(columns);
  options[0].value_index = true;
  options[0].max_packed_part_bytes = 0;  // the model counts the files of columns
  TableWriter writer = OrDie(part == 0 ? TableWriter::Create(storage, schema, options)
                                       : TableWriter::Open(storage, options));
  std::vector<int64_t> numbers;
  std::vector<std::string> texts;
  for (int64_t i = kRowsPerPart * part; i < kRowsPerPart * (part + 1); ++i) {
    numbers.push_back(TimeOf(i));
    texts.push_back(absl::StrFormat("host-%08d", i * 7919 % 100'000'007));
  }
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  for (size_t column = 0; column < columns; ++column) {
    OrDie(column % 2 == 0 ? writer.Append<int64_t>(column, numbers)
                          : writer.Append<std::string_view>(column, views));
  }
  OrDie(writer.Finish());
}

void PrintManifest(const std::shared_ptr<Storage>& storage, int64_t parts, size_t columns) {
  uint64_t root_bytes = 0, chunks = 0, chunk_bytes = 0;
  for (const StorageEntry& entry : OrDie(storage->List(""))) {
    if (entry.path.find('/') != std::string::npos) continue;
    if (entry.path == "table.cft") {
      root_bytes = entry.size_bytes;
    } else {
      ++chunks;
      chunk_bytes += entry.size_bytes;
    }
  }
  absl::PrintF(
      "{\"parts\": %d, \"columns\": %d, \"root_bytes\": %d, \"chunks\": %d, "
      "\"chunk_bytes\": %d}\n",
      parts, columns, root_bytes, chunks, chunk_bytes);
}

// Opens the table with an empty cache, does `work`, and prints what this cost.
void Measure(const std::string& name, const std::string& url,
             const std::function<void(const TableReader&)>& work) {
  const HttpClient client = OrDie(HttpClient::Create());
  const auto begin = std::chrono::steady_clock::now();
  work(OrDie(TableReader::Open(OrDie(client.OpenTable(url)),
                               {.block_cache = std::make_shared<BlockCache>(1 << 28)})));
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
  const HttpCounters counters = client.counters();
  absl::PrintF("{\"step\": \"%s\", \"seconds\": %.4f, \"requests\": %d, \"bytes\": %d}\n", name,
               elapsed.count(), counters.requests, counters.bytes_received);
}

uint64_t RowsOf(const TableReader& table, const TableScanOptions& options) {
  TableScan scan = OrDie(table.NewScan(options));
  uint64_t rows = 0;
  for (const auto& batch : scan.Batches()) rows += OrDie(batch).num_rows();
  return rows;
}

// All columns of the rows of `parts` parts, by as many threads.
void Scan(const TableReader& table, int64_t parts, size_t num_threads) {
  std::vector<std::thread> threads;
  std::atomic<uint64_t> rows = 0;
  std::atomic<int64_t> next = 0;
  for (size_t i = 0; i < num_threads; ++i) {
    threads.emplace_back([&] {
      for (int64_t part = next++; part < parts; part = next++) {
        const auto first = static_cast<uint64_t>(part * kRowsPerPart);
        rows += RowsOf(table, {.range = {first, first + kRowsPerPart}});
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  Check(rows == static_cast<uint64_t>(parts * kRowsPerPart), "the rows");
}

void PrintSteps(const std::string& url, int64_t parts) {
  const int64_t middle = parts / 2 * kRowsPerPart + 7;
  Measure("open", url, [](const TableReader&) {});
  Measure("key", url, [&](const TableReader& table) {
    auto cursor = OrDie(table.NewCursor<int64_t>(0));
    Check(OrDie(cursor.SeekToKey(TimeOf(middle))).exact, "the key");
  });
  Measure("row", url, [&](const TableReader& table) {
    Check(RowsOf(table, {.where = Eq("time", TimeOf(middle))}) == 1, "the row");
  });
  Measure("range", url, [&](const TableReader& table) {
    const int64_t begin = (parts - kPartsOfARange) / 2 * kRowsPerPart;
    const int64_t end = begin + kPartsOfARange * kRowsPerPart;
    Check(RowsOf(table, {.where = Between("time", TimeOf(begin), TimeOf(end - 1))}) ==
              static_cast<uint64_t>(end - begin),
          "the rows");
  });
  Measure("scan", url, [&](const TableReader& table) { Scan(table, parts, 16); });
}

void Run(int64_t parts, size_t columns, const char* url) {
  std::shared_ptr<Storage> storage = NewMemoryStorage();
  if (url != nullptr) {
    // Writes to the server itself if AWS_ENDPOINT_URL names one that is slow.
    HttpOptions options;
    const char* direct = std::getenv("CFILE_DIRECT_SERVER");
    if (direct != nullptr) options.s3.endpoint = direct;
    storage = OrDie(OrDie(HttpClient::Create(options)).OpenTable(url));
  }
  if (!TableReader::Open(storage).ok()) {
    for (int64_t part = 0; part < parts; ++part) AppendPart(storage, part, columns);
  }
  PrintManifest(storage, parts, columns);
  if (url != nullptr) PrintSteps(url, parts);
}

}  // namespace
}  // namespace cfile

int main(int argc, char** argv) {
  int64_t parts = 0;
  size_t columns = 0;
  cfile::benchmarks::Check((argc == 3 || argc == 4) && absl::SimpleAtoi(argv[1], &parts) &&
                               absl::SimpleAtoi(argv[2], &columns) && columns > 0,
                           "usage: scale_parts PARTS COLUMNS [URL]");
  cfile::Run(parts, columns, argc == 4 ? argv[3] : nullptr);
}
