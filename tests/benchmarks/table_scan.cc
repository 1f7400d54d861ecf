// Measures scans of a table that return 10 columns of the rows that match a condition on one.
// tests/benchmarks/run_table_scan compares them with other formats.
//
//   table_scan repeat SOURCE TARGET PARTS COPIES   writes TARGET: a table of PARTS parts, each with
//                                                  COPIES times the rows of the table SOURCE
//   table_scan measure TABLE FILTER_COLUMN MAX...  for each MAX, prints a line of JSON: the rows
//                                                  with FILTER_COLUMN <= MAX, the time, a hash of
//                                                  all values
#include <xxhash.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <string>
#include <vector>

#include "cfile/table.h"
#include "cfile/table_scan.h"
#include "or_die.h"

namespace cfile::benchmarks {
namespace {

double CpuSeconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

void Repeat(const std::string& source, const std::string& target, int parts, int copies) {
  const TableReader table = OrDie(TableReader::Open(source));
  for (int part = 0; part < parts; ++part) {
    TableWriter writer =
        OrDie(part == 0 ? TableWriter::Create(target, table.schema()) : TableWriter::Open(target));
    for (size_t column = 0; column < table.schema().columns.size(); ++column) {
      const ColumnSchema& schema = table.schema().columns[column];
      VisitType(schema.type, [&]<typename T>(std::type_identity<T>) {
        for (int copy = 0; copy < copies; ++copy) {
          auto cursor = OrDie(table.NewCursor<T>(column));
          for (const auto& batch : cursor.Batches()) {
            Check(batch.ok(), "read");
            const std::vector<uint8_t> all(batch->size() / 8 + 1, 0xff);
            if (schema.nullable) {
              OrDie(writer.Append<T>(column, batch->values,
                                     batch->validity == nullptr
                                         ? std::span<const uint8_t>(all)
                                         : std::span(batch->validity, batch->size() / 8 + 1)));
            } else {
              OrDie(writer.Append<T>(column, batch->values));
            }
          }
        }
      });
    }
    OrDie(writer.Finish());
  }
}

// Adds up the hashes of the values, so that the result does not depend on the batches.
template <typename T>
uint64_t HashOf(const Batch<T>& batch) {
  if constexpr (kIsBytes<T>) {
    uint64_t hash = 0;
    for (const std::string_view value : batch.values)
      hash += XXH3_64bits(value.data(), value.size());
    return hash;
  } else {
    return XXH3_64bits(batch.values.data(), batch.values.size_bytes());
  }
}

void Measure(const std::string& path, const std::string& filter_column, int64_t most) {
  const TableReader table = OrDie(TableReader::Open(path));
  const std::vector<std::string> columns = {"year",      "month",     "day",     "dep_time",
                                            "dep_delay", "arr_delay", "carrier", "tailnum",
                                            "dest",      "distance"};
  double best = 1e9;
  uint64_t rows = 0;
  uint64_t hash = 0;
  for (int run = 0; run < 5; ++run) {
    const double begin = CpuSeconds();
    rows = hash = 0;
    auto scan = OrDie(table.NewScan({.columns = columns, .where = Le(filter_column, most)}));
    for (const auto& batch : scan.Batches()) {
      Check(batch.ok(), "scan");
      rows += batch->num_rows();
      for (size_t i = 0; i < columns.size(); ++i) {
        VisitType(table.schema().columns[scan.columns()[i]].type,
                  [&]<typename T>(std::type_identity<T>) { hash += HashOf(batch->column<T>(i)); });
      }
    }
    best = std::min(best, CpuSeconds() - begin);
  }
  std::printf(
      "{\"who\": \"cfile\", \"most\": %lld, \"rows\": %llu, \"seconds\": %.4f, \"hash\": %llu}\n",
      static_cast<long long>(most), static_cast<unsigned long long>(rows), best,
      static_cast<unsigned long long>(hash));
}

int Main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.size() == 5 && arguments[0] == "repeat") {
    Repeat(arguments[1], arguments[2], std::atoi(arguments[3].c_str()),
           std::atoi(arguments[4].c_str()));
    return 0;
  }
  if (arguments.size() < 4 || arguments[0] != "measure") {
    std::fprintf(stderr, "see the comment in table_scan.cc\n");
    return 2;
  }
  for (size_t i = 3; i < arguments.size(); ++i)
    Measure(arguments[1], arguments[2], std::atoll(arguments[i].c_str()));
  return 0;
}

}  // namespace
}  // namespace cfile::benchmarks

int main(int argc, char** argv) { return cfile::benchmarks::Main(argc, argv); }
