// The bytes of a file depend only on its values and options: not on the batches of the appends, and
// not on the threads that write the columns of a table.
#include <algorithm>
#include <atomic>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "cfile/levels.h"
#include "cfile/table.h"
#include "cfile/writer.h"
#include "gtest/gtest.h"
#include "tests/campaign/amount.h"
#include "tests/campaign/random_files.h"
#include "tests/cfile/level_testing.h"
#include "tests/cfile/table_fixture.h"
#include "tests/cfile/temporary_directory.h"

namespace cfile::campaign {
namespace {

using namespace testing_support;

// Calls append(values, validity) with batches of random sizes, which are multiples of `unit`. A
// batch without nulls may have an empty validity span. The values in the slots of nulls and the
// unused bits of the bitmap are random.
template <typename T, typename Append>
absl::Status AppendInBatches(const ColumnType& type, const Column<T>& column, size_t unit,
                             Random& random, const Append& append) {
  const size_t num_rows = column.rows.size();
  const uint64_t largest = OneOf<uint64_t, 4>({1, 10, 200, 20'000}, random);
  for (size_t begin = 0; begin < num_rows;) {
    const size_t count = std::min<size_t>(num_rows - begin, unit * (random() % (largest + 1)));
    const auto garbage = RandomValue<T>(type, 1, random);
    const auto values = std::make_unique<T[]>(count);
    std::vector<uint8_t> validity((count + 7) / 8, static_cast<uint8_t>(random()));
    bool all = true;
    for (size_t i = 0; i < count; ++i) {
      const auto& row = column.rows[begin + i];
      values[i] = row ? T(*row) : T(garbage);
      const auto bit = static_cast<uint8_t>(1 << i % 8);
      validity[i / 8] = static_cast<uint8_t>(row ? validity[i / 8] | bit : validity[i / 8] & ~bit);
      all &= row.has_value();
    }
    const bool bare = all && random() % 2 == 0;
    absl::Status status = append(std::span<const T>(values.get(), count),
                                 bare ? std::span<const uint8_t>() : std::span(validity));
    if (!status.ok()) return status;
    begin += count;
  }
  return absl::OkStatus();
}

// Returns the unit of the batch sizes. The bytes of a file for Kudu depend on the batches, unless
// the batches have multiples of 100 rows.
size_t BatchUnit(const WriterOptions& options) {
  return options.oldest_reader == OldestReader::kKudu ? 100 : 1;
}

TEST(WriterModel, BytesDoNotDependOnBatches) {
  uint64_t written = 0;
  ForRandomFiles(Amount(300, 5000), [&]<typename T>(uint64_t seed, const encodings::Pair& pair,
                                                    Random& random, std::type_identity<T>) {
    // Some columns have more values than the sample of automatic choice.
    const size_t num_rows = random() % 64 == 0 ? 40'000 : RandomNumRows(random);
    const auto model = MakeRandomFile<T>(pair, num_rows, random);
    SCOPED_TRACE(Describe(seed, model.type, model.options));
    const auto expected = WriteColumn<T>(model.type, model.options, model.column);
    for (int round = 0; round < 2; ++round) {
      std::vector<uint8_t> file;
      auto writer = Writer<T>::Create(NewMemorySink(&file), model.type, model.options);
      ASSERT_TRUE(writer.ok()) << writer.status();
      const absl::Status status = AppendInBatches<T>(
          model.type, model.column, BatchUnit(model.options), random,
          [&](std::span<const T> values, std::span<const uint8_t> validity) {
            if (validity.empty()) return writer->Append(values);
            const bool one_null = values.size() == 1 && (validity[0] & 1) == 0;
            return one_null ? writer->AppendNull() : writer->Append(values, validity);
          });
      ASSERT_TRUE(status.ok()) << status;
      ASSERT_TRUE(writer->Finish().ok());
      ASSERT_TRUE(file == expected);
      written += model.column.rows.size();
    }
  });
  Done("rows", written);
}

TEST(WriterModel, BytesOfRecordsDoNotDependOnBatches) {
  ForRandomFiles(Amount(200, 5000), []<typename T>(uint64_t seed, const encodings::Pair& pair,
                                                   Random& random, std::type_identity<T>) {
    const auto model = MakeRandomLeafFile<T>(pair, random);
    SCOPED_TRACE(Describe(seed, model.type, model.options));
    const auto expected = WriteLeaf<T>(model.type, model.options, model.leaf, random);
    for (int round = 0; round < 2; ++round) {
      ASSERT_TRUE(WriteLeaf<T>(model.type, model.options, model.leaf, random) == expected);
    }
  });
}

// A column of a table, and a function that appends its rows.
struct TableColumn {
  ColumnSchema schema;
  WriterOptions options;
  std::function<absl::Status(TableWriter&, size_t column, Random&)> append;
};

template <typename T>
TableColumn MakeTableColumn(const std::string& name, const encodings::Pair& pair, size_t num_rows,
                            Random& random) {
  auto model = MakeRandomFile<T>(pair, num_rows, random);
  // A sorted column may have fewer rows, because values that cannot be keys were left out.
  while (model.column.rows.size() < num_rows) {
    model.column.rows.push_back(model.column.rows.empty() ? std::optional<Owned<T>>(T{})
                                                          : model.column.rows.back());
  }
  model.options.version = FormatVersion::kV2;
  TableColumn column{
      .schema = {name, model.type, model.options.nullable}, .options = model.options, .append = {}};
  column.append = [model = std::move(model)](TableWriter& writer, size_t number, Random& own) {
    return AppendInBatches<T>(model.type, model.column, BatchUnit(model.options), own,
                              [&](std::span<const T> values, std::span<const uint8_t> validity) {
                                return validity.empty()
                                           ? writer.Append<T>(number, values)
                                           : writer.Append<T>(number, values, validity);
                              });
  };
  return column;
}

// Returns every file of a table. `num_threads` threads write the table; each of them takes the next
// column.
std::map<std::string, std::string> WriteTable(const std::vector<TableColumn>& columns,
                                              int num_threads, uint64_t seed) {
  Schema schema;
  std::vector<WriterOptions> options;
  for (const TableColumn& column : columns) {
    schema.columns.push_back(column.schema);
    options.push_back(column.options);
  }
  const TemporaryDirectory directory;
  auto writer = TableWriter::Create(directory.path("table"), schema, options);
  EXPECT_TRUE(writer.ok()) << writer.status();
  if (!writer.ok()) return {};
  std::atomic<size_t> next = 0;
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < num_threads; ++thread) {
      threads.emplace_back([&] {
        for (size_t column = next++; column < columns.size(); column = next++) {
          Random random(seed + column);
          const absl::Status status = columns[column].append(*writer, column, random);
          EXPECT_TRUE(status.ok()) << status;
        }
      });
    }
  }
  const absl::Status finished = writer->Finish();
  EXPECT_TRUE(finished.ok()) << finished;
  std::map<std::string, std::string> files;
  for (const std::string& entry : directory.Entries()) {
    const std::filesystem::path path = directory.path(entry);
    // A file "part-..." is a copy of the part's description. It has random names and numbers.
    const bool is_copy = path.filename().string().starts_with("part-");
    if (!is_copy && !std::filesystem::is_directory(path)) files[path.filename()] = ReadFile(path);
  }
  return files;
}

TEST(WriterModel, TablesDoNotDependOnThreads) {
  const std::vector<encodings::Pair> pairs = encodings::AllPairs();
  const uint64_t tables = Amount(20, 200);
  for (uint64_t seed = 0; seed < tables; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const size_t num_rows = RandomNumRows(random);
    std::vector<TableColumn> columns;
    for (size_t i = 0; i < 8; ++i) {
      const encodings::Pair& pair = pairs[(8 * seed + i) % pairs.size()];
      encodings::VisitPhysicalType(pair.type, [&]<typename T>(std::type_identity<T>) {
        columns.push_back(MakeTableColumn<T>("c" + std::to_string(i), pair, num_rows, random));
      });
    }
    // In each second table, the part is one file.
    const bool is_packed = seed % 2 == 0;
    columns[0].options.max_packed_part_bytes = is_packed ? SIZE_MAX : 0;
    const auto expected = WriteTable(columns, 1, random());
    ASSERT_EQ(expected.size(), is_packed ? 2 : columns.size() + 1);
    for (const int num_threads : {2, 8}) {
      const auto found = WriteTable(columns, num_threads, random());
      ASSERT_EQ(found.size(), expected.size());
      for (const auto& [name, bytes] : expected) {
        ASSERT_TRUE(found.contains(name)) << name;
        if (name == "table.cft") {  // table.cft holds the random name of the part
          ASSERT_EQ(found.at(name).size(), bytes.size());
        } else {
          ASSERT_TRUE(found.at(name) == bytes) << name;
        }
      }
    }
    if (HasFailure()) return;
  }
  Done("tables", 3 * tables);
}

}  // namespace
}  // namespace cfile::campaign
