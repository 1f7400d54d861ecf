// Tables with a merge rule. An input has the files of all columns of all parts, so that files may
// contradict each other, but table.cft fits them.
#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cfile/merge_cursor.h"
#include "cfile/parts/table/manifest/table_file.h"
#include "cfile/table.h"
#include "cfile/table_lookup.h"
#include "cfile/table_maintenance.h"
#include "cfile/table_scan.h"
#include "tests/fuzz/file_parts.h"
#include "tests/fuzz/record_tables.h"

namespace cfile::fuzz {
namespace {

enum : size_t { kNumber, kName, kDeleted, kTime, kKeys, kColumns };
constexpr size_t kParts = 2, kRows = 8;
constexpr int64_t kBound = 40;  // for times

// Bit 0 of `rule` says whether the rule has a deleted column, bit 1 whether it has a time column.
Schema SchemaOf(uint8_t rule) {
  Schema schema{.columns = {{"number", ColumnType::Int32()},
                            {"name", ColumnType::String(), true},
                            {"deleted", ColumnType::Bool(), true},
                            {"time", ColumnType::Int64(), true}},
                .key_columns = {kNumber, kName},
                .merge_rule = MergeRule()};
  if (rule % 2 != 0) schema.merge_rule->deleted_column = kDeleted;
  if (rule / 2 % 2 != 0) schema.merge_rule->time_column = kTime;
  return schema;
}

// Writes a table. Each part has some keys of the part before it.
std::shared_ptr<Storage> SeedTable(uint8_t rule, uint32_t bloom_filter_bits) {
  const auto storage = NewMemoryStorage();
  std::vector<WriterOptions> options(kColumns,
                                     {.max_values_per_block = 3, .max_packed_part_bytes = 0});
  options[kKeys].bloom_filter_bits_per_value = bloom_filter_bits;
  for (size_t part = 0; part < kParts; ++part) {
    auto writer = TableWriter::OpenOrCreate(storage, SchemaOf(rule), options).value();
    int32_t numbers[kRows];
    std::string_view names[kRows];
    bool deleted[kRows];
    int64_t times[kRows];
    for (size_t row = 0; row < kRows; ++row) {
      numbers[row] = static_cast<int32_t>(2 * part + row) / 2;
      names[row] = row % 2 == 0 ? "" : "name";
      deleted[row] = row % 3 == part;
      times[row] = static_cast<int64_t>(10 * (kRows - row) + part);
    }
    const uint8_t odd_rows[] = {0xaa}, most_rows[] = {0x7f};
    Expect(writer.Append<int32_t>(kNumber, numbers).ok());
    Expect(writer.Append<std::string_view>(kName, names, odd_rows).ok());
    Expect(writer.Append<bool>(kDeleted, deleted, most_rows).ok());
    Expect(writer.Append<int64_t>(kTime, times, most_rows).ok());
    Expect(writer.Finish().ok());
  }
  return storage;
}

internal::TableContents ContentsOf(const Storage& table) {
  return internal::ParseTable(table.Read("table.cft", SIZE_MAX)->bytes, "table.cft").value();
}

// Input: the number of the rule, and the files of the table.
std::vector<Bytes> Seeds() {
  std::vector<Bytes> seeds;
  for (uint8_t rule = 0; rule < 4; ++rule) {
    const auto table = SeedTable(rule, rule % 3 == 0 ? 10 : 0);
    std::vector<Bytes> leaves = {{rule}};
    for (const internal::TablePart& part : ContentsOf(*table).parts) {
      for (const internal::TablePartColumn& column : part.columns) {
        leaves.push_back(
            ToBytes(table->Read(part.directory + "/" + column.file_name, SIZE_MAX)->bytes));
      }
    }
    seeds.push_back(JoinLeaves(leaves));
  }
  return seeds;
}

void WriteFile(Storage& storage, const std::string& path, const Bytes& bytes) {
  const auto sink = storage.Create(path).value();
  Expect(sink->Append(bytes).ok() && sink->Finish().ok());
}

// Returns the table of an input; null if the input has another number of files.
std::shared_ptr<Storage> TableOf(std::span<const uint8_t> bytes) {
  static const internal::TableContents seed = ContentsOf(*SeedTable(3, 0));
  const std::vector<Bytes> leaves = SplitLeaves(bytes);
  if (leaves.size() != 1 + kParts * kColumns || leaves[0].empty()) return nullptr;
  internal::TableContents contents = seed;
  contents.schema = SchemaOf(leaves[0][0]);
  if (contents.schema.merge_rule->time_column) contents.time_bound = kBound;
  const auto storage = NewMemoryStorage();
  auto leaf = leaves.begin();
  for (internal::TablePart& part : contents.parts) {
    for (internal::TablePartColumn& column : part.columns) {
      column.size_bytes = (++leaf)->size();
      WriteFile(*storage, part.directory + "/" + column.file_name, *leaf);
    }
  }
  Expect(storage->Commit("table.cft", std::nullopt, internal::SerializeTable(contents)).ok());
  return storage;
}

// Returns true if a call succeeded. Expects that an error says bad data, or that a file lacks an
// index.
bool Good(const absl::Status& status) {
  if (!status.ok() && !absl::IsFailedPrecondition(status)) ExpectBadData(status);
  return status.ok();
}

struct Row {
  uint64_t ordinal;
  std::string key;
  bool gone;  // if the row is the newest of its key
};

// Reads all rows in the order of the keys. Returns false after an error.
bool Merge(const TableReader& table, bool forward, std::vector<Row>& rows) {
  auto cursor = table.NewMergeCursor({.columns = {kDeleted, kTime, kKeys}});
  if (!Good(cursor.status()) || (!forward && !Good(cursor->SeekToEnd()))) return false;
  const MergeRule& rule = *table.schema().merge_rule;
  while (true) {
    const auto batch = forward ? cursor->Next(5) : cursor->Previous(5);
    if (!Good(batch.status())) return false;
    if (batch->empty()) break;
    const auto deleted = batch->column<bool>(0);
    const auto times = batch->column<int64_t>(1);
    for (size_t i = 0; i < batch->num_rows(); ++i) {
      const size_t row = forward ? i : batch->num_rows() - 1 - i;
      const bool gone = (rule.deleted_column && deleted.IsValid(row) && deleted.values[row]) ||
                        (rule.time_column && times.IsValid(row) && times.values[row] < kBound);
      rows.push_back(
          {batch->ordinal(row), std::string(batch->column<std::string_view>(2).values[row]), gone});
    }
  }
  if (!forward) std::reverse(rows.begin(), rows.end());
  return true;
}

using Ordinals = std::vector<uint64_t>;
Ordinals OrdinalsOf(const std::vector<Row>& rows) {
  Ordinals ordinals;
  for (const Row& row : rows) ordinals.push_back(row.ordinal);
  return ordinals;
}

bool Scan(const TableReader& table, const TableScanOptions& options, Ordinals& ordinals) {
  auto scan = table.NewScan(options);
  Expect(scan.ok());
  for (const auto& batch : scan->Batches()) {
    if (!Good(batch.status())) return false;
    for (size_t row = 0; row < batch->num_rows(); ++row) ordinals.push_back(batch->ordinal(row));
  }
  std::sort(ordinals.begin(), ordinals.end());
  return true;
}

// Reads the table in several ways. If all files are sound, expects that all ways return the same
// rows: of each key the newest one, unless it is gone.
void RuleTable(std::span<const uint8_t> bytes) {
  const std::shared_ptr<Storage> storage = TableOf(bytes);
  if (storage == nullptr) return;
  const auto table = TableReader::Open(storage);
  if (!table.ok()) return ExpectBadData(table.status());  // a file is empty
  bool sound = true;
  for (size_t part = 0; part < kParts; ++part) {
    for (size_t column = 0; column < kColumns; ++column)
      sound = table->VerifyColumn(part, column).ok() && sound;
  }
  std::vector<Row> stored;
  const bool has_stored = Merge(table->StoredRows(), true, stored);
  Expect(has_stored || !sound);
  std::map<std::string, Row> newest;
  for (const Row& row : stored) newest.insert_or_assign(row.key, row);
  std::vector<Row> expected;
  for (const auto& [key, row] : newest) {
    if (!row.gone) expected.push_back(row);
  }
  const Ordinals in_order = OrdinalsOf(expected);
  for (const bool forward : {true, false}) {
    std::vector<Row> rows;
    const bool read = Merge(*table, forward, rows);
    if (sound) Expect(read && OrdinalsOf(rows) == in_order);
  }
  Ordinals sorted = in_order;
  std::sort(sorted.begin(), sorted.end());
  for (const bool reverse : {true, false}) {
    Ordinals found;
    const bool read = Scan(*table, {.reverse = reverse}, found);
    if (sound) Expect(read && found == sorted);
  }
  Ordinals some;
  const bool read_some = Scan(*table, {.where = And(Ge("number", 2), IsNull("name"))}, some);
  if (sound)
    Expect(read_some && std::includes(sorted.begin(), sorted.end(), some.begin(), some.end()));

  auto lookup = table->NewLookup(std::vector<size_t>{kName, kTime});
  Expect(Good(lookup.status()) || !sound);
  if (!lookup.ok()) return;
  std::vector<std::string_view> keys;
  for (const auto& [key, row] : newest) {
    keys.push_back(key);
    const auto contains = lookup->Contains(keys.back());
    Expect(Good(contains.status()) || !sound);
    if (sound) Expect(*contains == !row.gone);
  }
  const absl::Status found =
      lookup->GetMany(std::span<const std::string_view>(keys), [&](size_t i, const FoundRow& row) {
        const Row& wanted = newest.at(std::string(keys[i]));
        if (sound) Expect(row.found() == !wanted.gone);
        if (sound && row.found()) Expect(row.ordinal() == wanted.ordinal);
      });
  Expect(Good(found) || !sound);

  const auto report = Compact(storage);
  if (sound) Expect(report.ok() && report->rows == expected.size());
  // Rows of a damaged file may not be sorted.
  if (!absl::IsInvalidArgument(report.status())) (void)Good(report.status());
}

}  // namespace

std::vector<Target> Targets() { return {{"merge-rule-table", RuleTable, Seeds, MutateLeaf}}; }

}  // namespace cfile::fuzz
