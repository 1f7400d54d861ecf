// Makes random changes of tables, also while the storage fails, and compares what a reader finds
// with a model: a list of parts, each a list of rows.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cfile/key_cursor.h"
#include "cfile/status.h"
#include "cfile/storage.h"
#include "cfile/table.h"
#include "cfile/table_maintenance.h"
#include "cfile/table_scan.h"
#include "gtest/gtest.h"
#include "tests/campaign/amount.h"
#include "tests/cfile/temporary_directory.h"

namespace cfile {
namespace {

// Everything about a row follows from its number.
using Row = uint64_t;
using Part = std::vector<Row>;

int64_t KeyOf(Row row) { return static_cast<int64_t>(row * 2654435761u % 1000); }
std::optional<std::string> TextOf(Row row) {
  if (row % 5 == 0) return std::nullopt;
  return absl::StrCat("text", row % 17);
}
std::optional<double> NumberOf(Row row) {
  if (row % 7 < 3) return std::nullopt;
  return static_cast<double>(row % 100) / 4;
}

enum Column : size_t { kRow, kKey, kText, kNumber };

const Schema& TableSchema() {
  static const Schema schema{
      .columns = {{.name = "row", .type = ColumnType::Uint64()},
                  {.name = "key", .type = ColumnType::Int64()},
                  {.name = "text", .type = ColumnType::String(), .nullable = true},
                  {.name = "number", .type = ColumnType::Double(), .nullable = true}}};
  return schema;
}

std::vector<WriterOptions> Options() {
  std::vector<WriterOptions> options(4, {.block_size_bytes = 512});
  options[kKey].value_index = true;
  options[kNumber].statistics = true;
  return options;
}

void SortByKey(Part& part) {
  std::stable_sort(part.begin(), part.end(), [](Row a, Row b) { return KeyOf(a) < KeyOf(b); });
}

template <typename T, typename Of>
absl::Status AppendNullable(TableWriter& writer, size_t column, const Part& part, Of of) {
  for (const Row row : part) {
    const auto value = of(row);
    const T present = value ? T(*value) : T();
    const uint8_t validity = value.has_value();
    CFILE_RETURN_IF_ERROR(writer.Append<T>(column, {&present, 1}, {&validity, 1}));
  }
  return absl::OkStatus();
}

absl::Status Write(absl::StatusOr<TableWriter> writer, const Part& part) {
  CFILE_RETURN_IF_ERROR(writer.status());
  std::vector<int64_t> keys;
  for (const Row row : part) keys.push_back(KeyOf(row));
  CFILE_RETURN_IF_ERROR(writer->Append<uint64_t>(kRow, part));
  CFILE_RETURN_IF_ERROR(writer->Append<int64_t>(kKey, keys));
  CFILE_RETURN_IF_ERROR(AppendNullable<std::string_view>(*writer, kText, part, TextOf));
  CFILE_RETURN_IF_ERROR(AppendNullable<double>(*writer, kNumber, part, NumberOf));
  return writer->Finish();
}

// A storage of which every n-th call fails, also the calls of its sources and sinks.
class FailingStorage final : public Storage, public std::enable_shared_from_this<FailingStorage> {
 public:
  explicit FailingStorage(std::shared_ptr<Storage> base) : base_(std::move(base)) {}

  // 0: no call fails.
  void FailEach(uint64_t n) { n_ = n, calls_ = 0; }
  uint64_t failures() const { return failures_; }
  const std::shared_ptr<Storage>& base() const { return base_; }

  const std::string& name() const override { return base_->name(); }
  absl::StatusOr<std::shared_ptr<const Source>> Open(const std::string& path) const override {
    CFILE_RETURN_IF_ERROR(Call("open"));
    CFILE_ASSIGN_OR_RETURN(auto source, base_->Open(path));
    return std::make_shared<FailingSource>(shared_from_this(), std::move(source));
  }
  absl::StatusOr<std::unique_ptr<Sink>> Create(const std::string& path) override {
    CFILE_RETURN_IF_ERROR(Call("create"));
    CFILE_ASSIGN_OR_RETURN(auto sink, base_->Create(path));
    return std::make_unique<FailingSink>(shared_from_this(), std::move(sink));
  }
  absl::StatusOr<std::vector<StorageEntry>> List(const std::string& folder) const override {
    CFILE_RETURN_IF_ERROR(Call("list"));
    return base_->List(folder);
  }
  absl::Status Delete(const std::string& path) override {
    CFILE_RETURN_IF_ERROR(Call("delete"));
    return base_->Delete(path);
  }
  absl::StatusOr<VersionedObject> Read(const std::string& path,
                                       uint64_t max_size_bytes) const override {
    CFILE_RETURN_IF_ERROR(Call("read"));
    return base_->Read(path, max_size_bytes);
  }
  absl::Status Commit(const std::string& path, const std::optional<std::string>& expected_version,
                      std::string_view bytes) override {
    CFILE_RETURN_IF_ERROR(Call("commit"));
    CFILE_RETURN_IF_ERROR(base_->Commit(path, expected_version, bytes));
    return Call("the answer to commit");
  }

 private:
  class FailingSource final : public Source {
   public:
    FailingSource(std::shared_ptr<const FailingStorage> storage, std::shared_ptr<const Source> base)
        : storage_(std::move(storage)), base_(std::move(base)) {}
    const std::string& name() const override { return base_->name(); }
    uint64_t size() const override { return base_->size(); }
    absl::Status ReadAt(uint64_t offset, std::span<uint8_t> out) const override {
      CFILE_RETURN_IF_ERROR(storage_->Call("read at"));
      return base_->ReadAt(offset, out);
    }

   private:
    const std::shared_ptr<const FailingStorage> storage_;
    const std::shared_ptr<const Source> base_;
  };

  class FailingSink final : public Sink {
   public:
    FailingSink(std::shared_ptr<const FailingStorage> storage, std::unique_ptr<Sink> base)
        : storage_(std::move(storage)), base_(std::move(base)) {}
    const std::string& name() const override { return base_->name(); }
    absl::Status Append(std::span<const uint8_t> bytes) override {
      CFILE_RETURN_IF_ERROR(storage_->Call("append"));
      return base_->Append(bytes);
    }
    absl::Status Finish() override {
      CFILE_RETURN_IF_ERROR(storage_->Call("finish"));
      return base_->Finish();
    }

   private:
    const std::shared_ptr<const FailingStorage> storage_;
    const std::unique_ptr<Sink> base_;
  };

  absl::Status Call(const char* what) const {
    if (n_ == 0 || ++calls_ % n_ != 0) return absl::OkStatus();
    ++failures_;
    return absl::UnavailableError(absl::StrCat("failing storage: ", what));
  }

  const std::shared_ptr<Storage> base_;
  uint64_t n_ = 0;
  mutable uint64_t calls_ = 0;
  mutable uint64_t failures_ = 0;
};

enum class Truth { kFalse, kUnknown, kTrue };

// A filter, and what it says about a row.
struct Condition {
  Filter filter;
  std::function<Truth(Row)> truth;
};

Truth TruthOf(bool value) { return value ? Truth::kTrue : Truth::kFalse; }

Condition RandomCondition(int depth, std::mt19937_64& random) {
  if (depth > 0 && random() % 2 == 0) {
    Condition a = RandomCondition(depth - 1, random), b = RandomCondition(depth - 1, random);
    switch (random() % 3) {
      case 0:
        return {And(a.filter, b.filter),
                [=](Row row) { return std::min(a.truth(row), b.truth(row)); }};
      case 1:
        return {Or(a.filter, b.filter),
                [=](Row row) { return std::max(a.truth(row), b.truth(row)); }};
      default:
        return {Not(a.filter),
                [=](Row row) { return static_cast<Truth>(2 - static_cast<int>(a.truth(row))); }};
    }
  }
  const auto low = static_cast<int64_t>(random() % 1000);
  const int64_t high = low + static_cast<int64_t>(random() % 300);
  const std::string text = absl::StrCat("text", random() % 17);
  switch (random() % 6) {
    case 0:
      return {Between("key", low, high),
              [=](Row row) { return TruthOf(KeyOf(row) >= low && KeyOf(row) <= high); }};
    case 1:
      return {Lt("key", low), [=](Row row) { return TruthOf(KeyOf(row) < low); }};
    case 2:
      return {Eq("text", text), [=](Row row) {
                return TextOf(row) ? TruthOf(*TextOf(row) == text) : Truth::kUnknown;
              }};
    case 3:
      return {IsNull("text"), [=](Row row) { return TruthOf(!TextOf(row)); }};
    case 4:
      return {HasPrefix("text", "text1"), [=](Row row) {
                return TextOf(row) ? TruthOf(TextOf(row)->starts_with("text1")) : Truth::kUnknown;
              }};
    default:
      return {Ge("number", static_cast<double>(low % 25)), [=](Row row) {
                return NumberOf(row) ? TruthOf(*NumberOf(row) >= static_cast<double>(low % 25))
                                     : Truth::kUnknown;
              }};
  }
}

// A table and its model.
class TableModel {
 public:
  // Begins with `num_parts` small parts. If there are many, table.cft has chunks.
  TableModel(std::shared_ptr<Storage> storage, size_t num_parts, uint64_t seed)
      : storage_(std::make_shared<FailingStorage>(std::move(storage))), random_(seed) {
    EXPECT_TRUE(Write(TableWriter::Create(storage_, TableSchema(), Options()), {}).ok());
    parts_.emplace_back();
    while (parts_.size() < num_parts) {
      parts_.push_back({next_row_, next_row_ + 1});
      next_row_ += 2;
      SortByKey(parts_.back());
      EXPECT_TRUE(Write(TableWriter::Append(storage_, Options()), parts_.back()).ok());
    }
  }

  uint64_t failures() const { return storage_->failures(); }

  // Makes one random change, often of a storage that fails, and compares the table with the model.
  void Step() {
    storage_->FailEach(random_() % 2 == 0 ? 0 : 1 + random_() % 150);
    std::vector<Part> changed = parts_;
    const absl::Status status = Change(changed);
    storage_->FailEach(0);
    ASSERT_TRUE(status.ok() || absl::IsUnavailable(status)) << status;
    const auto table = TableReader::Open(storage_);
    ASSERT_TRUE(table.ok()) << table.status();
    const std::vector<Part> found = PartsOf(*table);
    ASSERT_TRUE(found == changed || (!status.ok() && found == parts_))
        << status << ": " << found.size() << " parts, " << parts_.size() << " before, "
        << changed.size() << " expected";
    parts_ = found;
    if (random_() % 4 == 0) ExpectReads(*table);
    if (random_() % 8 == 0) snapshot_ = {*table, parts_};
    if (snapshot_) ExpectSnapshot();
  }

  // After garbage is collected, the storage has the files that the table names, and no others.
  void ExpectNoGarbage() {
    ASSERT_TRUE(CollectGarbage(storage_, std::chrono::seconds(0)).ok());
    const auto table = TableReader::Open(storage_);
    std::set<std::string> expected = {"table.cft"};
    size_t chunks = 0;
    for (size_t part = 0; part < table->num_parts(); ++part) {
      for (size_t column = 0; column < 4; ++column)
        expected.insert(*table->part_file(part, column));
    }
    const auto files = storage_->List("");
    ASSERT_TRUE(files.ok());
    for (const StorageEntry& file : *files) {
      const bool is_chunk = file.path.starts_with("chunk-") && file.path.ends_with(".cft");
      chunks += is_chunk;
      EXPECT_TRUE(is_chunk || expected.erase(file.path)) << file.path;
    }
    EXPECT_TRUE(expected.empty());
    EXPECT_LE(chunks, 2 * table->num_parts());
  }

 private:
  struct Snapshot {
    TableReader table;
    std::vector<Part> parts;
  };

  absl::Status Change(std::vector<Part>& parts) {
    switch (random_() % 8) {
      case 0:
        return CollectGarbage(storage_, std::chrono::seconds(0)).status();
      case 1:
        return CompactParts(parts);
      case 2:
        return Drop(parts);
      case 3:
        return DropBelow(parts);
      default: {
        Part part;
        for (uint64_t i = random_() % 300; i > 0; --i) part.push_back(next_row_++);
        SortByKey(part);
        parts.push_back(part);
        return Write(TableWriter::Append(storage_, Options()), part);
      }
    }
  }

  // Chooses some parts. Returns their names and removes them from `parts`; `position` is where the
  // first of them was, `rows` are their rows.
  std::vector<std::string> Choose(const std::function<bool(size_t)>& chosen,
                                  std::vector<Part>& parts, size_t& position, Part& rows) {
    const auto table = TableReader::Open(storage_->base());
    EXPECT_TRUE(table.ok());
    std::vector<std::string> names;
    std::vector<Part> left;
    for (size_t part = 0; part < parts.size(); ++part) {
      if (!chosen(part)) {
        left.push_back(parts[part]);
        continue;
      }
      if (names.empty()) position = left.size();
      names.push_back(table->part(part)->name);
      rows.insert(rows.end(), parts[part].begin(), parts[part].end());
    }
    parts = left;
    return names;
  }

  absl::Status CompactParts(std::vector<Part>& parts) {
    if (parts.size() < 2) return absl::OkStatus();
    const size_t first = random_() % (parts.size() - 1);
    const uint64_t others = random_();
    size_t position = 0;
    Part rows;
    const auto names = Choose(
        [&](size_t part) {
          return part == first || part == first + 1 || (others >> part % 64 & 1) != 0;
        },
        parts, position, rows);
    SortByKey(rows);
    parts.insert(parts.begin() + static_cast<ptrdiff_t>(position), rows);
    return Compact(storage_, names, Options());
  }

  absl::Status Drop(std::vector<Part>& parts) {
    size_t position;
    Part rows;
    const uint64_t dropped = random_() & random_();
    const auto names =
        Choose([&](size_t part) { return (dropped >> part % 64 & 1) != 0; }, parts, position, rows);
    return DropParts(storage_, names);
  }

  absl::Status DropBelow(std::vector<Part>& parts) {
    const auto low = static_cast<int64_t>(random_() % 300);
    bool any_rows = false, all_below = true;
    for (const Part& part : parts) any_rows = any_rows || !part.empty();
    if (!any_rows) return absl::OkStatus();
    size_t position = 0;
    Part rows;
    const std::vector<Part> before = parts;
    const auto names = Choose(
        [&](size_t part) {
          const bool begins_below = !before[part].empty() && KeyOf(before[part].front()) < low;
          if (begins_below) all_below = all_below && KeyOf(before[part].back()) < low;
          return begins_below;
        },
        parts, position, rows);
    if (!names.empty() && !all_below) {
      std::erase_if(rows, [&](Row row) { return KeyOf(row) < low; });
      SortByKey(rows);
      parts.insert(parts.begin() + static_cast<ptrdiff_t>(position), rows);
    }
    return DropRowsBelow<int64_t>(storage_, kKey, low, Options());
  }

  // Reads the rows of each part. Checks the values of all columns.
  static std::vector<Part> PartsOf(const TableReader& table) {
    std::vector<Part> parts;
    auto scan = table.NewScan({});
    EXPECT_TRUE(scan.ok());
    std::vector<Row> rows;
    while (scan.ok()) {
      const auto batch = scan->Next();
      EXPECT_TRUE(batch.ok()) << batch.status();
      if (!batch.ok() || batch->empty()) break;
      ExpectBatch(*batch, rows);
    }
    EXPECT_EQ(rows.size(), table.num_rows());
    for (size_t part = 0; part < table.num_parts(); ++part) {
      const PartInfo info = *table.part(part);
      if (info.first_ordinal + info.num_rows > rows.size()) return {};
      const auto begin = rows.begin() + static_cast<ptrdiff_t>(info.first_ordinal);
      parts.emplace_back(begin, begin + static_cast<ptrdiff_t>(info.num_rows));
    }
    return parts;
  }

  // EXPECTs that all columns of a batch belong to the same rows. Appends the rows to `rows`.
  static void ExpectBatch(const TableBatch& batch, std::vector<Row>& rows) {
    const auto& numbers = batch.column<uint64_t>(kRow);
    const auto& keys = batch.column<int64_t>(kKey);
    const auto& texts = batch.column<std::string_view>(kText);
    const auto& doubles = batch.column<double>(kNumber);
    for (size_t i = 0; i < batch.num_rows(); ++i) {
      const Row row = numbers.values[i];
      rows.push_back(row);
      const bool same = keys.values[i] == KeyOf(row) &&
                        texts.IsValid(i) == TextOf(row).has_value() &&
                        (!texts.IsValid(i) || texts.values[i] == *TextOf(row)) &&
                        doubles.IsValid(i) == NumberOf(row).has_value() &&
                        (!doubles.IsValid(i) || doubles.values[i] == *NumberOf(row));
      EXPECT_TRUE(same) << "row " << row;
    }
  }

  // Compares a scan, a KeyCursor and Take with the model. The scan goes on after the storage fails.
  void ExpectReads(const TableReader& table) {
    Part rows;
    for (const Part& part : parts_) rows.insert(rows.end(), part.begin(), part.end());
    const Condition condition = RandomCondition(3, random_);
    Part expected;
    for (const Row row : rows) {
      if (condition.truth(row) == Truth::kTrue) expected.push_back(row);
    }
    Part found;
    storage_->FailEach(random_() % 3 == 0 ? 2 + random_() % 10 : 0);
    auto scan = table.NewScan({.where = condition.filter});
    ASSERT_TRUE(scan.ok()) << scan.status();
    while (true) {
      const auto batch = scan->Next();
      if (absl::IsUnavailable(batch.status())) continue;
      ASSERT_TRUE(batch.ok()) << batch.status();
      if (batch->empty()) break;
      ExpectBatch(*batch, found);
    }
    storage_->FailEach(0);
    ASSERT_EQ(found, expected);
    found.clear();
    auto backward = table.NewScan({.where = condition.filter, .reverse = true});
    ASSERT_TRUE(backward.ok());
    for (const auto& batch : backward->Batches()) {
      ASSERT_TRUE(batch.ok()) << batch.status();
      Part some;
      ExpectBatch(*batch, some);
      found.insert(found.begin(), some.begin(), some.end());
    }
    ASSERT_EQ(found, expected);
    if (rows.empty()) return;
    ExpectSeeks(table, rows);

    SortByKey(rows);
    auto keys = table.NewKeyCursor<int64_t>(kKey);
    ASSERT_TRUE(keys.ok()) << keys.status();
    auto cursor = table.NewCursor<uint64_t>(kRow);
    ASSERT_TRUE(cursor.ok()) << cursor.status();
    std::vector<uint64_t> ordinals;
    while (true) {
      const auto batch = keys->Next(100);
      ASSERT_TRUE(batch.ok()) << batch.status();
      if (batch->empty()) break;
      for (size_t i = 0; i < batch->size(); ++i) ordinals.push_back(batch->first_ordinal + i);
    }
    OwnedBatch<uint64_t> taken;
    const absl::Status status = cursor->Take(ordinals, taken);
    ASSERT_TRUE(status.ok()) << status;
    const std::span<const uint64_t> values = taken.batch().values;
    EXPECT_EQ(Part(values.begin(), values.end()), rows);
  }

  // Compares seeks to random keys with the model. `rows`: all rows of the table.
  void ExpectSeeks(const TableReader& table, const Part& rows) {
    auto cursor = table.NewCursor<int64_t>(kKey);
    ASSERT_TRUE(cursor.ok()) << cursor.status();
    for (int i = 0; i < 5; ++i) {
      const auto key = static_cast<int64_t>(random_() % 1010);
      size_t best = rows.size();
      for (size_t row = 0; row < rows.size(); ++row) {
        if (KeyOf(rows[row]) < key) continue;
        if (best == rows.size() || KeyOf(rows[row]) < KeyOf(rows[best])) best = row;
      }
      const auto found = cursor->SeekToKey(key);
      ASSERT_TRUE(found.ok()) << found.status();
      ASSERT_EQ(found->ordinal, best) << "key " << key;
      ASSERT_EQ(found->exact, best < rows.size() && KeyOf(rows[best]) == key);
      const auto next = cursor->Next(1);
      ASSERT_TRUE(next.ok()) << next.status();
      ASSERT_EQ(next->empty(), best == rows.size());
      if (!next->empty()) {
        ASSERT_EQ(next->values[0], KeyOf(rows[best]));
      }
    }
  }

  // A reader keeps its parts until they are collected; then it says so.
  void ExpectSnapshot() {
    auto scan = snapshot_->table.NewScan({});
    ASSERT_TRUE(scan.ok()) << scan.status();
    Part found;
    while (true) {
      const auto batch = scan->Next();
      if (!batch.ok()) {
        EXPECT_TRUE(absl::IsAborted(batch.status())) << batch.status();
        snapshot_.reset();
        return;
      }
      if (batch->empty()) break;
      ExpectBatch(*batch, found);
    }
    Part expected;
    for (const Part& part : snapshot_->parts) {
      expected.insert(expected.end(), part.begin(), part.end());
    }
    EXPECT_EQ(found, expected);
  }

  const std::shared_ptr<FailingStorage> storage_;
  std::mt19937_64 random_;
  std::vector<Part> parts_;
  Row next_row_ = 0;
  std::optional<Snapshot> snapshot_;
};

TEST(TableModel, ChangesAreAsInAList) {
  const uint64_t tables = campaign::Amount(6, 200), steps = 60;
  uint64_t failures = 0;
  for (uint64_t seed = 0; seed < tables; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    const TemporaryDirectory directory;
    TableModel model(seed % 10 == 0 ? NewLocalStorage(directory.path("table")) : NewMemoryStorage(),
                     seed % 3 == 1 ? 150 : 1, seed);
    for (uint64_t step = 0; step < steps && !testing::Test::HasFailure(); ++step) {
      SCOPED_TRACE(absl::StrCat("step ", step));
      model.Step();
    }
    if (!testing::Test::HasFailure()) model.ExpectNoGarbage();
    if (testing::Test::HasFailure()) return;
    failures += model.failures();
  }
  EXPECT_GT(failures, tables);
  campaign::Done("table_changes", tables * steps);
  campaign::Done("failed_storage_calls", failures);
}

}  // namespace
}  // namespace cfile
