// Measures tables of many parts:
//
//   build/release/tests/benchmarks/many_parts [PARTS]   10,000 parts (or PARTS) of 19 columns, in
//                                                       memory: opening, seeks, scans, an append
//   build/release/tests/benchmarks/many_parts daily DIRECTORY
//                                                       the last 60 minutes of one service in 72
//                                                       daily parts, and in one compacted part
//
// A part is a set of rows that was written at once. A chunk is a file that describes many parts.
// For each operation the program prints three things: the milliseconds of processor time,
// what was read from table.cft and the chunks, and the number of opened files.
// The time is the median of several runs. In the first table, the column "time" has a value index.
// The values of this column ascend from part to part.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cfile/merge_cursor.h"
#include "cfile/status.h"
#include "cfile/storage.h"
#include "cfile/table.h"
#include "cfile/table_maintenance.h"
#include "cfile/table_scan.h"
#include "tests/benchmarks/forwarding_storage.h"
#include "tests/benchmarks/measure.h"
#include "tests/benchmarks/or_die.h"

namespace cfile {
namespace {

using benchmarks::Check;
using benchmarks::OrDie;

// Counts three things: the small objects that are read, the files that are opened,
// and the bytes that are written. Small objects are table.cft and the chunks.
class CountingStorage final : public ForwardingStorage {
 public:
  using ForwardingStorage::ForwardingStorage;

  absl::StatusOr<std::shared_ptr<const Source>> Open(const std::string& path) const override {
    ++counts_.files_opened;
    return base()->Open(path);
  }
  absl::StatusOr<std::unique_ptr<Sink>> Create(const std::string& path) override {
    CFILE_ASSIGN_OR_RETURN(std::unique_ptr<Sink> sink, base()->Create(path));
    return std::make_unique<CountingSink>(std::move(sink), *this);
  }
  absl::StatusOr<VersionedObject> Read(const std::string& path,
                                       uint64_t max_size_bytes) const override {
    auto object = base()->Read(path, max_size_bytes);
    ++counts_.objects_read;
    if (object.ok()) counts_.object_bytes += object->bytes.size();
    return object;
  }
  absl::Status Commit(const std::string& path, const std::optional<std::string>& expected_version,
                      std::string_view bytes) override {
    counts_.bytes_written += bytes.size();
    return base()->Commit(path, expected_version, bytes);
  }

  struct Counts {
    uint64_t objects_read = 0;
    uint64_t object_bytes = 0;
    uint64_t files_opened = 0;
    uint64_t bytes_written = 0;
  };
  // Returns the counts since the last call of Take.
  Counts Take() { return std::exchange(counts_, {}); }

 private:
  class CountingSink final : public Sink {
   public:
    CountingSink(std::unique_ptr<Sink> sink, CountingStorage& storage)
        : sink_(std::move(sink)), storage_(storage) {}
    const std::string& name() const override { return sink_->name(); }
    absl::Status Append(std::span<const uint8_t> bytes) override {
      storage_.counts_.bytes_written += bytes.size();
      return sink_->Append(bytes);
    }
    absl::Status Finish() override { return sink_->Finish(); }

   private:
    const std::unique_ptr<Sink> sink_;
    CountingStorage& storage_;
  };

  mutable Counts counts_;
};

// Returns how many milliseconds of processor time `work` takes.
double Milliseconds(const std::function<void()>& work) {
  const double begin = benchmarks::ProcessorSeconds();
  work();
  return 1e3 * (benchmarks::ProcessorSeconds() - begin);
}

double Median(std::vector<double> figures) {
  std::sort(figures.begin(), figures.end());
  return figures[figures.size() / 2];
}

constexpr int64_t kRowsPerPart = 20;
constexpr size_t kColumns = 19;

Schema ManyColumns() {
  Schema schema{.columns = {{.name = "time", .type = ColumnType::Int64()}}};
  for (size_t i = 1; i < kColumns; ++i) {
    schema.columns.push_back({.name = absl::StrCat("column", i),
                              .type = i % 2 == 0 ? ColumnType::Int64() : ColumnType::String()});
  }
  return schema;
}

// Appends part number `part`. The least value of "time" in this part is kRowsPerPart * part.
void AppendPart(const std::shared_ptr<Storage>& storage, int64_t part) {
  std::vector<WriterOptions> options(kColumns);
  options[0].value_index = true;
  TableWriter writer = OrDie(part == 0 ? TableWriter::Create(storage, ManyColumns(), options)
                                       : TableWriter::Open(storage, options));
  std::vector<int64_t> numbers(kRowsPerPart);
  std::vector<std::string> texts(kRowsPerPart);
  for (int64_t i = 0; i < kRowsPerPart; ++i) {
    numbers[static_cast<size_t>(i)] = kRowsPerPart * part + i;
    texts[static_cast<size_t>(i)] = absl::StrCat("text ", kRowsPerPart * part + i);
  }
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  for (size_t column = 0; column < kColumns; ++column) {
    if (column % 2 == 0) {
      OrDie(writer.Append<int64_t>(column, numbers));
    } else {
      OrDie(writer.Append<std::string_view>(column, views));
    }
  }
  OrDie(writer.Finish());
}

void Print(const char* work, double milliseconds, const CountingStorage::Counts& counts) {
  std::printf("%-44s %9.3f ms, %4llu objects with %8llu bytes read, %4llu files opened\n", work,
              milliseconds, static_cast<unsigned long long>(counts.objects_read),
              static_cast<unsigned long long>(counts.object_bytes),
              static_cast<unsigned long long>(counts.files_opened));
}

// Runs `work` several times. Opens the table again before each run.
void Measure(const char* name, const std::shared_ptr<CountingStorage>& storage,
             const std::function<void(const TableReader&)>& work) {
  std::vector<double> milliseconds;
  CountingStorage::Counts counts;
  for (int run = 0; run < 7; ++run) {
    const TableReader table = OrDie(TableReader::Open(storage));
    storage->Take();
    milliseconds.push_back(Milliseconds([&] { work(table); }));
    counts = storage->Take();
  }
  Print(name, Median(milliseconds), counts);
}

uint64_t RowsOf(const TableReader& table, const TableScanOptions& options) {
  TableScan scan = OrDie(table.NewScan(options));
  uint64_t rows = 0;
  for (const auto& batch : scan.Batches()) rows += OrDie(batch).num_rows();
  return rows;
}

void ManyParts(int64_t parts) {
  const auto storage = std::make_shared<CountingStorage>(NewMemoryStorage());
  for (int64_t part = 0; part < parts; ++part) AppendPart(storage, part);
  storage->Take();
  std::vector<double> milliseconds;
  for (int run = 0; run < 21; ++run) {
    milliseconds.push_back(Milliseconds([&] { OrDie(TableReader::Open(storage)); }));
    if (run < 20) storage->Take();
  }
  Print("open", Median(milliseconds), storage->Take());

  const int64_t rows = kRowsPerPart * parts;
  const auto seek = [&](TableCursor<int64_t>& cursor, int64_t key) {
    const KeyPosition found = OrDie(cursor.SeekToKey(key));
    Check(found.exact && found.ordinal == static_cast<uint64_t>(key), "SeekToKey");
  };
  Measure("first TableCursor::SeekToKey", storage, [&](const TableReader& table) {
    auto cursor = OrDie(table.NewCursor<int64_t>(0));
    seek(cursor, rows / 2 + 3);
  });
  {
    const TableReader table = OrDie(TableReader::Open(storage));
    auto cursor = OrDie(table.NewCursor<int64_t>(0));
    seek(cursor, rows / 2 + 3);
    storage->Take();
    const double later = Milliseconds([&] { seek(cursor, rows / 3); });
    Print("later TableCursor::SeekToKey, another chunk", later, storage->Take());
    const double again = Milliseconds([&] { seek(cursor, rows / 3 + kRowsPerPart); });
    Print("later TableCursor::SeekToKey, the next part", again, storage->Take());
  }
  Measure("NewMergeCursor and SeekToKey", storage, [&](const TableReader& table) {
    auto cursor = OrDie(table.NewMergeCursor({.key_column = 0}));
    Check(OrDie(cursor.SeekToKey(rows / 2 + 3)), "SeekToKey");
  });
  Measure("Get", storage, [&](const TableReader& table) {
    auto cursor = OrDie(table.NewCursor<int64_t>(0));
    Check(OrDie(cursor.Get(static_cast<uint64_t>(rows / 2 + 3))) == rows / 2 + 3, "Get");
  });
  const std::vector<std::string> five = {"time", "column1", "column2", "column3", "column4"};
  Measure("scan, filter that one part satisfies", storage, [&](const TableReader& table) {
    Check(RowsOf(table, {.columns = five, .where = Between("time", rows / 2, rows / 2 + 9)}) == 10,
          "scan");
  });
  for (const bool reverse : {false, true}) {
    Measure(reverse ? "scan of 10 rows in the middle, reverse" : "scan of 10 rows in the middle",
            storage, [&](const TableReader& table) {
              const auto begin = static_cast<uint64_t>(rows) / 2;
              Check(
                  RowsOf(table,
                         {.columns = five, .range = {begin, begin + 10}, .reverse = reverse}) == 10,
                  "scan");
            });
  }
  Measure("scan of one column", storage, [&](const TableReader& table) {
    const std::vector<std::string> one = {"time"};
    Check(RowsOf(table, {.columns = one}) == static_cast<uint64_t>(rows), "scan");
  });
  milliseconds.clear();
  uint64_t written = 0;
  for (int64_t part = parts; part < parts + 7; ++part) {
    storage->Take();
    milliseconds.push_back(Milliseconds([&] { AppendPart(storage, part); }));
    written = storage->Take().bytes_written;
  }
  std::printf("%-44s %9.3f ms, %llu bytes written\n", "append", Median(milliseconds),
              static_cast<unsigned long long>(written));
}

constexpr int64_t kDays = 72;
constexpr int64_t kRowsPerDay = 40'000;
constexpr int64_t kServices = 20;
constexpr int64_t kSecondsPerDay = 24 * 60 * 60;

std::string Service(int64_t service) { return absl::StrCat("service-", 10 + service); }

void WriteDays(const std::string& directory) {
  const Schema schema{.columns = {{.name = "service", .type = ColumnType::String()},
                                  {.name = "time", .type = ColumnType::Int64()},
                                  {.name = "status", .type = ColumnType::Int32()},
                                  {.name = "duration", .type = ColumnType::Double()},
                                  {.name = "message", .type = ColumnType::String()}},
                      .key_columns = {0, 1}};
  for (int64_t day = 0; day < kDays; ++day) {
    TableWriter writer =
        OrDie(day == 0 ? TableWriter::Create(directory, schema) : TableWriter::Open(directory));
    const int64_t per_service = kRowsPerDay / kServices;
    for (int64_t row = 0; row < kRowsPerDay; ++row) {
      const std::string service = Service(row / per_service);
      const int64_t time = day * kSecondsPerDay + row % per_service * kSecondsPerDay / per_service;
      const std::string message =
          absl::StrCat("request ", row * 7919 % 100'003, " from ", row * 31 % 977);
      const std::string_view service_view = service;
      const std::string_view message_view = message;
      const auto status = static_cast<int32_t>(row % 50 == 0 ? 500 : 200);
      const double duration = static_cast<double>(row * 7919 % 10'007) / 100;
      OrDie(writer.Append<std::string_view>(0, {&service_view, 1}));
      OrDie(writer.Append<int64_t>(1, {&time, 1}));
      OrDie(writer.Append<int32_t>(2, {&status, 1}));
      OrDie(writer.Append<double>(3, {&duration, 1}));
      OrDie(writer.Append<std::string_view>(4, {&message_view, 1}));
    }
    OrDie(writer.Finish());
  }
}

void MeasureLastHour(const char* name, const std::string& directory) {
  const TableScanOptions options{
      .where = And(Eq("service", Service(7)), Ge("time", kDays * kSecondsPerDay - 60 * 60))};
  std::vector<double> opening;
  std::vector<double> open;
  uint64_t rows = 0;
  uint64_t files = 0;
  for (int run = 0; run < 201; ++run) {
    std::optional<TableReader> table;
    opening.push_back(Milliseconds([&] {
      table = OrDie(TableReader::Open(directory));
      rows = RowsOf(*table, options);
    }));
    files = table->counters().files_opened;
    for (int again = 0; again < 5; ++again)
      open.push_back(Milliseconds([&] { RowsOf(*table, options); }));
  }
  std::printf("%-16s %llu rows: %.4f ms; with opening: %.4f ms, %llu files\n", name,
              static_cast<unsigned long long>(rows), Median(open), Median(opening),
              static_cast<unsigned long long>(files));
}

void Daily(const std::string& directory) {
  const std::string parts = directory + "/parts";
  const std::string one = directory + "/one";
  if (!std::filesystem::exists(one)) {
    WriteDays(parts);
    std::filesystem::copy(parts, one, std::filesystem::copy_options::recursive);
    OrDie(Compact(one));
  }
  MeasureLastHour("72 parts", parts);
  MeasureLastHour("one part", one);
}

}  // namespace
}  // namespace cfile

int main(int argc, char** argv) {
  if (argc == 3 && std::string(argv[1]) == "daily") {
    cfile::Daily(argv[2]);
  } else {
    cfile::ManyParts(argc == 2 ? std::atoll(argv[1]) : 10'000);
  }
}
