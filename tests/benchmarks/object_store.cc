// Works on tables in an object store. object_store_benchmark.py starts the servers and runs them:
//
//   object_store write URL            writes the tables hundred, single and long below URL
//   object_store WORK URL [THREADS]   does one work on these tables
//
// AWS_ENDPOINT_URL and other variables name the server and its key (cfile/http_options.h). A work
// opens a table, and prints a line of JSON for each of its steps: its begin and end in nanoseconds
// of CLOCK_MONOTONIC, the requests, and the bytes received. Cold steps begin with an empty cache.
//
// The table "hundred" has 100 parts of 100,000 rows, in the order of the column "id". The table
// "single" has one part, with the compound key (service, time). Its column "value" has 100 blocks.
// The table "long" has one part with more rows.
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cfile/block_cache.h"
#include "cfile/compound_key.h"
#include "cfile/http.h"
#include "cfile/table.h"
#include "cfile/table_scan.h"
#include "tests/benchmarks/or_die.h"

namespace cfile {
namespace {

using benchmarks::Check;
using benchmarks::OrDie;

constexpr int64_t kParts = 100;
constexpr int64_t kRowsPerPart = 100'000;
constexpr int64_t kRows = kParts * kRowsPerPart;
constexpr int64_t kSingleRows = 3'200'000;
constexpr int64_t kRowsPerBlock = kSingleRows / 100;
constexpr int64_t kLongRows = 24'000'000;
constexpr int64_t kServices = 20;

enum Column : size_t { kId, kTime, kService, kValue, kText };

Schema Columns() {
  return {.columns = {{.name = "id", .type = ColumnType::Int64()},
                      {.name = "time", .type = ColumnType::Int64()},
                      {.name = "service", .type = ColumnType::String()},
                      {.name = "value", .type = ColumnType::Double()},
                      {.name = "text", .type = ColumnType::String()}}};
}

// The values of a row with this number. Ids and times ascend, in steps of different lengths.
double ValueOf(int64_t row) {
  return static_cast<double>(static_cast<uint64_t>(row) * 0x9E3779B97F4A7C15u >> 12);
}
int64_t IdOf(int64_t row) {
  auto mixed = static_cast<uint64_t>(row) * 0x9E3779B97F4A7C15u;
  mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9u;
  return row * 4096 + static_cast<int64_t>(mixed >> 52);
}
int64_t TimeOf(int64_t row) { return IdOf(row) / 4; }
std::string ServiceOf(int64_t number) { return absl::StrFormat("service-%02d", number); }
std::string TextOf(int64_t row) {
  return absl::StrFormat("request %016x", static_cast<uint64_t>(row + 1) * 0xD6E8FEB86659FD93u);
}

// Appends rows [begin, end). service_of: the number of the service of a row.
void AppendRows(TableWriter& writer, int64_t begin, int64_t end,
                const std::function<int64_t(int64_t)>& service_of) {
  std::vector<int64_t> ids, times;
  std::vector<double> values;
  std::vector<std::string> texts, services;
  for (int64_t i = begin; i < end; ++i) {
    ids.push_back(IdOf(i));
    times.push_back(TimeOf(i));
    values.push_back(ValueOf(i));
    services.push_back(ServiceOf(service_of(i)));
    texts.push_back(TextOf(i));
  }
  OrDie(writer.Append<int64_t>(kId, ids));
  OrDie(writer.Append<int64_t>(kTime, times));
  OrDie(writer.Append<std::string_view>(
      kService, std::vector<std::string_view>(services.begin(), services.end())));
  OrDie(writer.Append<double>(kValue, values));
  OrDie(writer.Append<std::string_view>(kText,
                                        std::vector<std::string_view>(texts.begin(), texts.end())));
}

void Write(const HttpClient& client, const std::string& url) {
  std::vector<WriterOptions> options(Columns().columns.size());
  options[kId].value_index = true;
  const auto hundred = OrDie(client.OpenTable(url + "/hundred"));
  for (int64_t part = 0; part < kParts; ++part) {
    TableWriter writer = OrDie(part == 0 ? TableWriter::Create(hundred, Columns(), options)
                                         : TableWriter::Open(hundred, options));
    AppendRows(writer, part * kRowsPerPart, (part + 1) * kRowsPerPart,
               [](int64_t row) { return row * 31 % kServices; });
    OrDie(writer.Finish());
  }
  Schema sorted = Columns();
  sorted.key_columns = {kService, kTime};
  options[kId] = {};
  options[kValue] = {.encoding = Encoding::kPlain,
                     .compression = Compression::kNone,
                     .block_size_bytes = 1 << 20,
                     .max_values_per_block = kRowsPerBlock};
  TableWriter writer =
      OrDie(TableWriter::Create(OrDie(client.OpenTable(url + "/single")), sorted, options));
  for (int64_t begin = 0; begin < kSingleRows; begin += kRowsPerBlock) {
    AppendRows(writer, begin, begin + kRowsPerBlock,
               [](int64_t row) { return row / (kSingleRows / kServices); });
  }
  OrDie(writer.Finish());

  TableWriter long_writer =
      OrDie(TableWriter::Create(OrDie(client.OpenTable(url + "/long")), Columns()));
  for (int64_t begin = 0; begin < kLongRows; begin += kRowsPerPart) {
    AppendRows(long_writer, begin, begin + kRowsPerPart,
               [](int64_t row) { return row * 31 % kServices; });
  }
  OrDie(long_writer.Finish());
}

// Runs the steps of one work.
class Steps {
 public:
  Steps(const HttpClient& client, std::string url) : client_(client), url_(std::move(url)) {}

  // Opens a table with an empty cache.
  TableReader Open(const std::string& name) const {
    return OrDie(TableReader::Open(OrDie(client_.OpenTable(url_ + "/" + name)),
                                   {.block_cache = std::make_shared<BlockCache>(1 << 30)}));
  }

  void Run(const std::string& name, const std::function<void()>& step) const {
    const HttpCounters before = client_.counters();
    const auto begin = std::chrono::steady_clock::now();
    step();
    const auto end = std::chrono::steady_clock::now();
    const HttpCounters after = client_.counters();
    absl::PrintF(
        "{\"step\": \"%s\", \"begin\": %d, \"end\": %d, \"requests\": %d, "
        "\"bytes\": %d}\n",
        name, begin.time_since_epoch().count(), end.time_since_epoch().count(),
        after.requests - before.requests, after.bytes_received - before.bytes_received);
  }

 private:
  const HttpClient& client_;
  const std::string url_;
};

uint64_t RowsOf(const TableReader& table, const TableScanOptions& options, double* sum = nullptr) {
  TableScan scan = OrDie(table.NewScan(options));
  uint64_t rows = 0;
  for (const auto& batch : scan.Batches()) {
    rows += OrDie(batch).num_rows();
    if (sum == nullptr) continue;
    for (const double value : batch->column<double>(kValue).values) *sum += value;
  }
  return rows;
}

// Cold: opens the table, and looks up a row. Warm: looks up the neighbouring row.
void LookUp(const Steps& steps, const std::string& table_name,
            const std::function<std::function<void(int64_t)>(const TableReader&)>& prepare) {
  std::function<void(int64_t)> look_up;
  steps.Run("cold", [&] {
    look_up = prepare(steps.Open(table_name));
    look_up(1'234'567);
  });
  // The block of another part of the table, or of another place in the part.
  steps.Run("warm", [&] { look_up(1'234'568); });
  steps.Run("another block", [&] { look_up(1'270'000); });
}

void Ordinal(const Steps& steps) {
  LookUp(steps, "hundred", [](const TableReader& table) {
    auto cursor = std::make_shared<TableCursor<double>>(OrDie(table.NewCursor<double>(kValue)));
    return [=](int64_t row) {
      Check(OrDie(cursor->Get(static_cast<uint64_t>(row))) == ValueOf(row), "the value");
    };
  });
}

void Key(const Steps& steps) {
  LookUp(steps, "hundred", [](const TableReader& table) {
    auto cursor = std::make_shared<TableCursor<int64_t>>(OrDie(table.NewCursor<int64_t>(kId)));
    return [=](int64_t row) {
      const KeyPosition found = OrDie(cursor->SeekToKey(IdOf(row)));
      Check(found.exact && found.ordinal == static_cast<uint64_t>(row), "the ordinal");
    };
  });
}

// The whole row with a key, by a scan.
void RowOfKey(const Steps& steps) {
  LookUp(steps, "hundred", [](const TableReader& table) {
    return [=](int64_t row) {
      double sum = 0;
      const uint64_t rows = RowsOf(table, {.where = Eq("id", IdOf(row))}, &sum);
      Check(rows == 1 && sum == ValueOf(row), "the row");
    };
  });
}

// The value of a row with a compound key.
void Compound(const Steps& steps) {
  LookUp(steps, "single", [](const TableReader& table) {
    const size_t index = *table.schema().key_index();
    auto keys = std::make_shared<TableCursor<std::string_view>>(
        OrDie(table.NewCursor<std::string_view>(index)));
    auto values = std::make_shared<TableCursor<double>>(OrDie(table.NewCursor<double>(kValue)));
    return [=](int64_t row) {
      CompoundKey key(std::vector<ColumnType>{ColumnType::String(), ColumnType::Int64()});
      key.Add<std::string_view>(ServiceOf(row / (kSingleRows / kServices)));
      key.Add<int64_t>(TimeOf(row));
      const KeyPosition found = OrDie(keys->SeekToKey(key.bytes()));
      Check(found.exact && found.ordinal == static_cast<uint64_t>(row), "the ordinal");
      Check(OrDie(values->Get(found.ordinal)) == ValueOf(row), "the value");
    };
  });
}

void RowOfCompoundKey(const Steps& steps) {
  LookUp(steps, "single", [](const TableReader& table) {
    return [=](int64_t row) {
      double sum = 0;
      const std::string service = ServiceOf(row / (kSingleRows / kServices));
      const Filter filter = And(Eq("service", service), Eq("time", TimeOf(row)));
      Check(RowsOf(table, {.where = filter}, &sum) == 1 && sum == ValueOf(row), "the row");
    };
  });
}

// Takes 1,000 rows: ten of each hundredth of the table's `rows` rows.
void Take(const Steps& steps, const std::string& table_name, int64_t rows) {
  std::mt19937_64 random(1);
  std::vector<uint64_t> ordinals(1000);
  for (size_t i = 0; i < ordinals.size(); ++i) {
    const auto rows_of_block = static_cast<uint64_t>(rows / 100);
    ordinals[i] = i % 100 * rows_of_block + random() % rows_of_block;
  }
  const TableReader table = steps.Open(table_name);
  auto cursor = OrDie(table.NewCursor<double>(kValue));
  OrDie(cursor.Get(0));  // opens the file of the first part
  steps.Run("take", [&] {
    OwnedBatch<double> out;
    OrDie(cursor.Take(ordinals, out));
    for (size_t i = 0; i < ordinals.size(); ++i)
      Check(out.batch().values[i] == ValueOf(static_cast<int64_t>(ordinals[i])), "a taken value");
  });
}

void Scan(const Steps& steps, const std::string& table_name, size_t num_threads) {
  const TableReader table = steps.Open(table_name);
  steps.Run("scan", [&] {
    const std::vector<OrdinalRange> ranges = OrDie(table.SplitScan({}, 4 * num_threads));
    std::atomic<size_t> next = 0;
    std::atomic<uint64_t> rows = 0;
    std::vector<std::thread> threads;
    for (size_t i = 0; i < num_threads; ++i) {
      threads.emplace_back([&] {
        for (size_t range = next++; range < ranges.size(); range = next++) {
          double sum = 0;
          rows += RowsOf(table, {.range = ranges[range]}, &sum);
          benchmarks::Keep(&sum);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    Check(rows == table.num_rows(), "the rows");
  });
}

void Run(const std::string& work, const std::string& url, size_t num_threads) {
  const HttpClient client = OrDie(HttpClient::Create());
  const Steps steps(client, url);
  const std::map<std::string, std::function<void()>> works = {
      {"write", [&] { Write(client, url); }},
      {"open", [&] { steps.Run("open", [&] { steps.Open("hundred"); }); }},
      {"ordinal", [&] { Ordinal(steps); }},
      {"key", [&] { Key(steps); }},
      {"row-of-key", [&] { RowOfKey(steps); }},
      {"compound", [&] { Compound(steps); }},
      {"row-of-compound-key", [&] { RowOfCompoundKey(steps); }},
      {"take", [&] { Take(steps, "single", kSingleRows); }},
      {"take-of-parts", [&] { Take(steps, "hundred", kRows); }},
      {"scan-hundred", [&] { Scan(steps, "hundred", num_threads); }},
      {"scan-long", [&] { Scan(steps, "long", num_threads); }},
  };
  const auto found = works.find(work);
  Check(found != works.end(), "there is no work " + work);
  found->second();
}

}  // namespace
}  // namespace cfile

int main(int argc, char** argv) {
  size_t num_threads = 1;
  cfile::benchmarks::Check(
      (argc == 3 || argc == 4) && (argc == 3 || absl::SimpleAtoi(argv[3], &num_threads)),
      "usage: object_store WORK URL [THREADS]");
  cfile::Run(argv[1], argv[2], num_threads);
}
