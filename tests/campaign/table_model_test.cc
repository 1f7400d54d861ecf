// Makes random changes of tables, and compares what a reader finds with a model.
// Most tables have a merge rule.
// Some changes are made while the storage fails.
// Now and then table.cft, a chunk or a part is lost, and the table is repaired.
// A chunk is a file that describes parts of the table.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cfile/merge_cursor.h"
#include "cfile/status.h"
#include "cfile/storage.h"
#include "cfile/table.h"
#include "cfile/table_columns.h"
#include "cfile/table_lookup.h"
#include "cfile/table_maintenance.h"
#include "cfile/table_repair.h"
#include "cfile/table_scan.h"
#include "encodings/core/bytes.h"
#include "gtest/gtest.h"
#include "tests/campaign/amount.h"
#include "tests/campaign/table_state.h"
#include "tests/cfile/scripted_io.h"
#include "tests/cfile/temporary_directory.h"

namespace cfile::campaign {
namespace {

// A table and its model.
class TableModel {
 public:
  // Begins with `num_parts` small parts. If there are many, table.cft has chunks.
  // `rule`: as in State.
  TableModel(std::shared_ptr<Storage> storage, size_t num_parts, uint64_t rule, uint64_t seed)
      : storage_(std::make_shared<testing_support::ScriptedStorage>(std::move(storage),
                                                                    fault_.script())),
        random_(seed),
        state_(rule) {
    EXPECT_TRUE(
        Write(TableWriter::Create(storage_, state_.schema(), state_.Options()), state_, {}).ok());
    state_.parts.emplace_back();
    while (state_.parts.size() < num_parts) ExpectAppend();
  }

  uint64_t failures() const { return fault_.failures(); }
  uint64_t repairs() const { return repairs_; }

  // Makes one random change, often of a storage that fails, and compares the table with the model.
  void Step() {
    if (random_() % 12 == 0) return LoseAndRepair();
    if (random_() % 2 != 0) fault_.FailEach(1 + random_() % 150);
    State changed = state_;
    const absl::Status status = Change(changed);
    fault_.Disarm();
    ASSERT_TRUE(status.ok() || absl::IsUnavailable(status)) << status;
    const auto table =
        snapshot_ && random_() % 2 == 0 ? snapshot_->table.Refresh() : TableReader::Open(storage_);
    ASSERT_TRUE(table.ok()) << table.status();
    const std::string other = Difference(*table, changed);
    if (other.empty()) {
      state_ = changed;
    } else {
      ASSERT_FALSE(status.ok()) << other;
      ASSERT_EQ(Difference(*table, state_), "") << "before; after: " << other << "; " << status;
    }
    may_be_prepared_ = may_be_prepared_ || !status.ok();
    if (random_() % 4 == 0) {
      const bool stored = state_.ruled && random_() % 2 == 0;
      ExpectReads(stored ? table->StoredRows().Refresh().value() : *table);
    }
    if (random_() % 8 == 0) snapshot_ = {*table, state_};
    if (snapshot_) ExpectSnapshot();
  }

  // After garbage is collected, the storage has the files that the table names, and no others.
  void ExpectNoGarbage() {
    ASSERT_TRUE(CollectGarbage(storage_, std::chrono::seconds(0)).ok());
    const auto table = TableReader::Open(storage_);
    std::set<std::string> expected = {"table.cft"};
    size_t chunks = 0;
    for (size_t part = 0; part < table->num_parts(); ++part) {
      for (size_t column = 0; column < table->schema().columns.size() + state_.ruled; ++column) {
        const std::string path = *table->part_file(part, column);
        expected.insert(path.substr(0, path.find('/', path.find('/') + 1)));  // or the packed file
      }
    }
    expected.erase("");  // "" stands for a column that is newer than the part
    const auto files = storage_->List("");
    ASSERT_TRUE(files.ok());
    std::set<std::string> copies;  // one in each part
    for (const StorageEntry& file : *files) {
      const bool is_chunk = file.path.starts_with("chunk-") && file.path.ends_with(".cft");
      chunks += is_chunk;
      const size_t slash = file.path.find('/');
      const bool is_copy = slash != file.path.npos && file.path.ends_with(".cft") &&
                           copies.insert(file.path.substr(0, slash)).second;
      EXPECT_TRUE(is_chunk || is_copy || expected.erase(file.path)) << file.path;
    }
    EXPECT_TRUE(expected.empty());
    EXPECT_LE(chunks, 2 * table->num_parts());
    EXPECT_EQ(copies.size(), table->num_parts());
  }

 private:
  using Names = std::vector<std::string>;
  struct Snapshot {
    TableReader table;
    State state;
  };

  absl::Status Change(State& state) {
    switch (random_() % 17) {
      case 0:
      case 1:
        return CollectGarbage(storage_, std::chrono::seconds(0)).status();
      case 2:
      case 3:
        return CompactParts(state);
      case 4:
        return Drop(state);
      case 5:
        return DropBelow(state);
      case 6:
        return Add(state);
      case 7:
      case 8:
        return ReplaceValues(state);
      case 9:
        return DropAdded(state);
      case 10:
        return Rename(state);
      case 11:
        std::shuffle(state.order.begin(), state.order.end(), random_);
        return ReorderColumns(storage_, state.order);
      case 12:
        return Widen(state);
      case 13:
        return RaiseBound(state);
      default:
        return Append(state, random_() % 300);
    }
  }

  absl::Status Append(State& state, uint64_t rows) {
    Part part;
    // The keys of less than 1000 rows in succession are different.
    for (; rows > 0; --rows, next_row_ += 1 + random_() % 3) part.push_back(next_row_);
    next_row_ += random_() % 1000;
    SortByKey(part);
    state.parts.push_back(part);
    return Write(TableWriter::Open(storage_, state.Options()), state, part);
  }
  void ExpectAppend() {
    const absl::Status status = Append(state_, 2);
    EXPECT_TRUE(status.ok()) << status;
  }

  // Removes a file of a part. Repair then leaves the part out.
  void LosePart() {
    const size_t part = random_() % state_.parts.size();
    const std::string file =
        *TableReader::Open(storage_)->part_file(part, *state_.schema().Find("row"));
    ASSERT_TRUE(storage_->Delete(file.substr(0, file.find('/', file.find('/') + 1))).ok());
    RepairOptions options{.drop_damaged = true};
    if (state_.ruled && !state_.parts[part].empty()) {
      ASSERT_TRUE(absl::IsFailedPrecondition(Repair(storage_, options).status()));
      options.reader.stored_rows = true;
    }
    const auto report = Repair(storage_, options);
    ASSERT_TRUE(report.ok()) << report.status();
    ASSERT_TRUE(CollectGarbage(storage_, std::chrono::seconds(0)).ok());  // the part is now gone
    state_.parts.erase(state_.parts.begin() + static_cast<ptrdiff_t>(part));
    const auto table = TableReader::Open(storage_);
    ASSERT_TRUE(table.ok()) << table.status();
    ASSERT_EQ(Difference(*table, state_), "") << "without part " << part;
    repairs_ += report->changed;
  }

  // Removes or damages table.cft or a chunk, then repairs the table. EXPECTs that nothing is lost.
  void LoseAndRepair() {
    if (state_.parts.size() > 1 && random_() % 4 == 0) return LosePart();
    // If a failed change has left files and no commit followed, Repair may take the change as made.
    // So the test first makes commits. It makes three, because the files of two commits may have
    // the same time.
    if (may_be_prepared_ || state_.parts.empty()) {
      for (int i = 0; i < 3; ++i) ExpectAppend();
      may_be_prepared_ = false;
    }
    // A failed append may have left files without a description. Under a rule, Repair then refuses
    // to go on.
    const bool stored = random_() % 2 == 0;
    if (state_.ruled && !stored) {
      ASSERT_TRUE(CollectGarbage(storage_, std::chrono::seconds(0)).ok());
    }
    std::string lost = "table.cft";
    const auto files = storage_->List("");
    ASSERT_TRUE(files.ok());
    for (const StorageEntry& file : *files) {
      if (file.path.starts_with("chunk-") && file.path.ends_with(".cft") && random_() % 2 == 0) {
        lost = file.path;
      }
    }
    if (random_() % 2 == 0) {
      ASSERT_TRUE(storage_->Delete(lost).ok());
    } else {
      std::string bytes = storage_->Read(lost, UINT64_MAX)->bytes;
      bytes[random_() % bytes.size()] ^= 1;
      auto sink = storage_->Create(lost);
      ASSERT_TRUE(sink.ok() && (*sink)->Append(encodings::AsBytes(bytes)).ok());
      ASSERT_TRUE((*sink)->Finish().ok());
    }
    const auto report = Repair(storage_, {.reader = {.stored_rows = stored}});
    ASSERT_TRUE(report.ok()) << report.status();
    if (!report->kept_as.empty()) {
      ASSERT_TRUE(storage_->Delete(report->kept_as).ok());
    }
    const auto table = TableReader::Open(storage_);
    ASSERT_TRUE(table.ok()) << table.status();
    ASSERT_EQ(Difference(*table, state_), "") << "without " << lost;
    repairs_ += report->changed;
  }

  // The result of a change that must be refused, and changes nothing.
  static absl::Status Refused(const absl::Status& status) {
    if (status.ok()) return absl::InternalError("the change was not refused");
    return absl::IsFailedPrecondition(status) ? absl::OkStatus() : status;
  }

  absl::Status RaiseBound(State& state) {
    const int64_t bound = state.bound.value_or(0) + static_cast<int64_t>(random_() % 200);
    const absl::Status status = RaiseTimeBound(storage_, bound);
    if (!state.timed) return Refused(status);
    state.bound = bound;
    return status;
  }

  absl::Status Add(State& state) {
    if (state.added.size() >= 4) return absl::OkStatus();
    AddedColumn column{
        .schema = {.name = absl::StrCat("added", ++names_),
                   .type = random_() % 2 == 0 ? ColumnType::Int32() : ColumnType::Float(),
                   .nullable = random_() % 2 == 0}};
    const ColumnSchema& schema = column.schema;
    const uint64_t salt = schema.nullable && random_() % 2 == 0 ? 0 : 1 + random_() % 500;
    const bool to_default = random_() % 2 == 0;
    column.changes.push_back({.end = next_row_, .to_default = to_default, .salt = salt});
    state.added.push_back(column);
    state.order.push_back(schema.name);
    if (!to_default) {
      return WriteAll(ColumnsWriter::Add(storage_, {&schema, 1}), column, state);
    }
    if (salt == 0) return AddColumn(storage_, schema);
    return AddColumn(storage_, schema, static_cast<int64_t>(salt));
  }

  static absl::Status WriteAll(absl::StatusOr<ColumnsWriter> writer, const AddedColumn& column,
                               const State& state) {
    CFILE_RETURN_IF_ERROR(writer.status());
    CFILE_RETURN_IF_ERROR(AppendAdded(*writer, 0, column, state.rows()));
    return writer->Finish();
  }

  absl::Status ReplaceValues(State& state) {
    if (state.added.empty()) return absl::OkStatus();
    const size_t number = random_() % state.added.size();
    AddedColumn& column = state.added[number];
    if (state.timed && number == 0)
      return Refused(ColumnsWriter::Replace(storage_, {column.schema.name}).status());
    column.changes.push_back({.end = next_row_, .to_default = false, .salt = 1 + random_() % 500});
    const WriterOptions options{.block_size_bytes = 512, .statistics = random_() % 2 == 0};
    return WriteAll(ColumnsWriter::Replace(storage_, {column.schema.name}, {&options, 1}), column,
                    state);
  }

  absl::Status DropAdded(State& state) {
    if (state.added.empty()) return absl::OkStatus();
    const auto column =
        state.added.begin() + static_cast<ptrdiff_t>(random_() % state.added.size());
    const std::vector<std::string> names = {column->schema.name};
    if (state.timed && column == state.added.begin()) return Refused(DropColumns(storage_, names));
    std::erase(state.order, names[0]);
    state.added.erase(column);
    return DropColumns(storage_, names);
  }

  absl::Status Rename(State& state) {
    if (state.added.empty()) return absl::OkStatus();
    AddedColumn& column = state.added[random_() % state.added.size()];
    const std::string from = column.schema.name;
    column.schema.name = absl::StrCat("renamed", ++names_);
    std::replace(state.order.begin(), state.order.end(), from, column.schema.name);
    return RenameColumn(storage_, from, column.schema.name);
  }

  absl::Status Widen(State& state) {
    for (AddedColumn& column : state.added) {
      ColumnType& type = column.schema.type;
      if (type == ColumnType::Int32()) {
        type = ColumnType::Int64();
      } else if (type == ColumnType::Float()) {
        type = ColumnType::Double();
      } else {
        continue;
      }
      return WidenColumn(storage_, column.schema.name, type, {.block_size_bytes = 512});
    }
    return absl::OkStatus();
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

  absl::Status CompactParts(State& state) {
    std::vector<Part>& parts = state.parts;
    const size_t least = state.ruled ? 1 : 2;  // under a rule, rows of a single part may be gone
    if (parts.size() < least) return absl::OkStatus();
    const size_t first = random_() % (parts.size() - least + 1);
    const size_t last = first + least - 1 + random_() % (parts.size() - first - least + 1);
    size_t position = 0;
    Part rows;
    const auto names =
        Choose([&](size_t part) { return first <= part && part <= last; }, parts, position, rows);
    SortByKey(rows);
    const auto place = parts.begin() + static_cast<ptrdiff_t>(position);
    if (state.ruled) {
      const bool hides =
          std::any_of(parts.begin(), place, [&](const Part& part) { return Overlap(part, rows); });
      State::KeepNewest(rows);
      if (!hides) state.RemoveGone(rows);
    }
    parts.insert(place, rows);
    return Compact(storage_, names, state.Options()).status();
  }

  absl::Status Drop(State& state) {
    std::vector<Part>& parts = state.parts;
    size_t position;
    Part rows;
    const uint64_t dropped = random_() & random_();
    const auto is_dropped = [&](size_t part) { return (dropped >> part % 64 & 1) != 0; };
    bool reveals = false;  // rows of older parts
    for (size_t part = 0; part < parts.size(); ++part) {
      for (size_t older = 0; older < part && state.ruled; ++older) {
        reveals = reveals ||
                  (is_dropped(part) && !is_dropped(older) && Overlap(parts[older], parts[part]));
      }
    }
    const bool stored = random_() % 2 == 0;
    const auto names = Choose(is_dropped, parts, position, rows);
    KeepOrder(names.size(), state);
    const absl::Status status = DropParts(storage_, names, {.stored_rows = stored});
    if (!reveals || stored) return status;
    state = state_;
    return Refused(status);
  }

  // If no part is left, a part without rows keeps the order of the table.
  static void KeepOrder(size_t num_dropped, State& state) {
    if (num_dropped > 0 && state.parts.empty() && state.schema().key_columns.empty()) {
      state.parts.emplace_back();
    }
  }

  absl::Status DropBelow(State& state) {
    std::vector<Part>& parts = state.parts;
    const auto low = static_cast<int64_t>(random_() % 300);
    bool any_rows = false, all_below = true;
    for (const Part& part : parts) any_rows = any_rows || !part.empty();
    if (!any_rows) return absl::OkStatus();
    size_t position = 0;
    Part rows;
    const std::vector<Part> before = parts;
    std::vector<bool> chosen;
    for (const Part& part : before) {
      chosen.push_back(!part.empty() && KeyOf(part.front()) < low);
      if (chosen.back()) all_below = all_below && KeyOf(part.back()) < low;
    }
    // Rows that stay move to the place of the first chosen part. So the parts between whose keys
    // overlap with theirs are chosen, too.
    const auto first =
        static_cast<size_t>(std::find(chosen.begin(), chosen.end(), true) - chosen.begin());
    int64_t least = INT64_MAX, greatest = INT64_MIN;
    for (size_t part = before.size(); part-- > first;) {
      if (before[part].empty()) continue;
      const int64_t begin = std::max<int64_t>(KeyOf(before[part].front()), low);
      const int64_t end = KeyOf(before[part].back());
      if (!chosen[part]) chosen[part] = begin <= greatest && end >= least;
      if (!chosen[part] || end < low) continue;
      least = std::min(least, begin);
      greatest = std::max(greatest, end);
    }
    const auto names = Choose([&](size_t part) { return chosen[part]; }, parts, position, rows);
    if (!names.empty() && !all_below) {
      std::erase_if(rows, [&](Row row) { return KeyOf(row) < low; });
      SortByKey(rows);
      if (state.ruled) State::KeepNewest(rows);
      parts.insert(parts.begin() + static_cast<ptrdiff_t>(position), rows);
    }
    if (all_below) KeepOrder(names.size(), state);
    return state.WithKeys({low}, [&](const auto& keys) {
      return DropRowsBelow(storage_, state.key(), keys[0], state.Options());
    });
  }

  // Returns a text that says how the table differs from `state`, or "" if there is no difference.
  static std::string Difference(const TableReader& table, const State& state) {
    if (table.schema() != state.schema() || table.applies_merge_rule() != state.ruled)
      return "another schema";
    if (table.time_bound() != state.bound) return "another bound";
    for (const TableReader& reader : {table.StoredRows(), table}) {
      // The stored rows show the values.
      const bool counts = reader.applies_merge_rule();
      const Names names = counts ? Names{"row"} : state.order;
      auto scan = reader.NewScan({.columns = names});
      if (!scan.ok()) return scan.status().ToString();
      std::vector<Row> rows;
      while (true) {
        const auto batch = scan->Next();
        if (!batch.ok()) return batch.status().ToString();
        if (batch->empty()) break;
        const std::string difference = DifferenceOf(*batch, names, state, rows);
        if (!difference.empty()) return difference;
      }
      if (rows != state.rows(reader)) return counts ? "other rows that count" : "other rows";
      if (!state.ruled) break;
    }
    if (table.num_rows() != state.rows().size()) return "another number of rows";
    if (table.num_parts() != state.parts.size()) return "another number of parts";
    for (size_t part = 0; part < table.num_parts(); ++part) {
      const auto info = table.part(part);
      if (!info.ok()) return info.status().ToString();
      if (info->num_rows != state.parts[part].size()) return "other parts";
    }
    return "";
  }

  // The batch has the columns with these names. Its column "row" has the numbers of the rows.
  // Appends these numbers to `rows`. Returns a text that says how the other columns differ from the
  // values of these rows.
  static std::string DifferenceOf(const TableBatch& batch, const Names& names, const State& state,
                                  std::vector<Row>& rows) {
    const auto numbers = std::find(names.begin(), names.end(), "row") - names.begin();
    const std::span<const uint64_t> found =
        batch.column<uint64_t>(static_cast<size_t>(numbers)).values;
    rows.insert(rows.end(), found.begin(), found.end());
    for (size_t i = 0; i < names.size(); ++i) {
      const std::string& name = names[i];
      bool same = true;
      const auto compare = [&](const auto& values, const auto& of) {
        for (size_t row = 0; row < found.size(); ++row) {
          const auto value = of(found[row]);
          same = same && values.IsValid(row) == value.has_value() &&
                 (!value || values.values[row] == *value);
        }
      };
      if (name == "key") {
        compare(batch.column<int64_t>(i), [](Row row) { return std::optional(KeyOf(row)); });
      } else if (name == "text") {
        compare(batch.column<std::string_view>(i), TextOf);
      } else if (name == "number") {
        compare(batch.column<double>(i), NumberOf);
      } else if (name == "deleted") {
        compare(batch.column<bool>(i), DeletedOf);
      } else if (const AddedColumn* const column = state.Find(name)) {
        VisitType(column->schema.type, [&]<typename T>(std::type_identity<T>) {
          if constexpr (std::is_arithmetic_v<T> && sizeof(T) >= 4) {
            compare(batch.column<T>(i), [&](Row row) -> std::optional<T> {
              const std::optional<int64_t> value = column->ValueOf(row);
              return value ? std::optional(static_cast<T>(*value)) : std::nullopt;
            });
          }
        });
      }
      if (!same) return absl::StrCat("other values of ", name);
    }
    return "";
  }

  void ExpectBatch(const TableBatch& batch, std::vector<Row>& rows) const {
    EXPECT_EQ(DifferenceOf(batch, state_.order, state_, rows), "");
  }

  // Compares scans, reads by key and Take with the model. The first scan goes on after errors of the
  // storage.
  void ExpectReads(const TableReader& table) {
    Part rows = state_.rows(table);
    const Condition condition = RandomCondition(3, state_, random_);
    Part expected;
    for (const Row row : rows) {
      if (condition.truth(row) == Truth::kTrue) expected.push_back(row);
    }
    Part found;
    uint64_t distance = random_() % 3 == 0 ? 2 + random_() % 10 : UINT64_MAX;
    fault_.FailEach(distance);
    auto scan = table.NewScan({.where = condition.filter});
    ASSERT_TRUE(scan.ok()) << scan.status();
    while (true) {
      const auto batch = scan->Next();
      if (absl::IsUnavailable(batch.status())) {
        // Under a rule, the scan then begins to merge the keys of all parts again.
        if (state_.ruled) fault_.FailEach(distance *= 2);
        continue;
      }
      ASSERT_TRUE(batch.ok()) << batch.status();
      if (batch->empty()) break;
      ExpectBatch(*batch, found);
    }
    fault_.Disarm();
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
    if (state_.rows().empty()) return;
    ExpectKeys(table, rows);

    SortByKey(rows);
    const size_t row_column = *state_.schema().Find("row");
    auto keys = table.NewMergeCursor({.columns = {row_column}, .key_column = state_.key()});
    ASSERT_TRUE(keys.ok()) << keys.status();
    std::vector<uint64_t> ordinals;
    for (const bool forward : {true, false}) {
      found.clear();
      ordinals.clear();
      while (true) {
        const size_t most = 1 + random_() % 200;
        const auto batch = forward ? keys->Next(most) : keys->Previous(most);
        ASSERT_TRUE(batch.ok()) << batch.status();
        if (batch->empty()) break;
        const std::span<const uint64_t> values = batch->column<uint64_t>(0).values;
        found.insert(forward ? found.end() : found.begin(), values.begin(), values.end());
        for (size_t i = 0; i < values.size(); ++i)
          ordinals.insert(forward ? ordinals.end() : ordinals.begin() + i, batch->ordinal(i));
      }
      ASSERT_EQ(found, rows);
    }
    auto cursor = table.NewCursor<uint64_t>(row_column);
    if (table.applies_merge_rule()) {
      ASSERT_TRUE(absl::IsFailedPrecondition(cursor.status())) << cursor.status();
      return;
    }
    ASSERT_TRUE(cursor.ok()) << cursor.status();
    OwnedBatch<uint64_t> taken;
    const absl::Status status = cursor->Take(ordinals, taken);
    ASSERT_TRUE(status.ok()) << status;
    const std::span<const uint64_t> values = taken.batch().values;
    EXPECT_EQ(Part(values.begin(), values.end()), rows);
  }

  // Compares seeks to random keys, and look-ups of them, with the model. `rows`: those of `table`.
  void ExpectKeys(const TableReader& table, const Part& rows) {
    std::vector<int64_t> keys(5);
    for (int64_t& key : keys) key = static_cast<int64_t>(random_() % 1010);
    const size_t row_column = *state_.schema().Find("row");
    state_.WithKeys(keys, [&]<typename T>(std::span<const T> wanted) {
      auto lookup = table.NewLookup(std::vector<size_t>{row_column});
      ASSERT_TRUE(lookup.ok()) << lookup.status();
      auto merge = table.NewMergeCursor({.columns = {row_column}, .key_column = state_.key()});
      ASSERT_TRUE(merge.ok()) << merge.status();
      std::optional<TableCursor<T>> cursor;
      if (!table.applies_merge_rule()) {
        auto opened = table.NewCursor<T>(state_.key());
        ASSERT_TRUE(opened.ok()) << opened.status();
        cursor = *std::move(opened);
      }
      std::vector<std::optional<Row>> newest(keys.size());
      for (size_t i = 0; i < keys.size(); ++i) {
        size_t best = rows.size();
        for (size_t row = 0; row < rows.size(); ++row) {
          const int64_t key = KeyOf(rows[row]);
          if (key == keys[i]) newest[i] = rows[row];
          if (key < keys[i]) continue;
          if (best == rows.size() || key < KeyOf(rows[best])) best = row;
        }
        const auto found = lookup->Get(wanted[i]);
        ASSERT_TRUE(found.ok()) << found.status();
        ASSERT_EQ(found->found() ? found->template value<uint64_t>(0) : std::nullopt, newest[i])
            << "key " << keys[i];
        const auto contains = lookup->Contains(wanted[i]);
        ASSERT_TRUE(contains.ok()) << contains.status();
        ASSERT_EQ(*contains, newest[i].has_value());
        const auto exact = merge->SeekToKey(wanted[i]);
        ASSERT_TRUE(exact.ok()) << exact.status();
        ASSERT_EQ(*exact, newest[i].has_value()) << "key " << keys[i];
        const auto batch = merge->Next(1);
        ASSERT_TRUE(batch.ok()) << batch.status();
        ASSERT_EQ(batch->empty(), best == rows.size());
        if (!batch->empty()) {
          ASSERT_EQ(batch->template column<uint64_t>(0).values[0], rows[best]);
        }
        if (!cursor) continue;
        const auto position = cursor->SeekToKey(wanted[i]);
        ASSERT_TRUE(position.ok()) << position.status();
        ASSERT_EQ(position->ordinal, best) << "key " << keys[i];
        ASSERT_EQ(position->exact, newest[i].has_value());
        const auto next = cursor->Next(1);
        ASSERT_TRUE(next.ok()) << next.status();
        ASSERT_EQ(next->empty(), best == rows.size());
        if (!next->empty() && position->exact) {
          ASSERT_EQ(next->values[0], wanted[i]);
        }
      }
      size_t visited = 0;
      const absl::Status many = lookup->GetMany(wanted, [&](size_t i, const FoundRow& row) {
        EXPECT_EQ(row.found() ? row.value<uint64_t>(0) : std::nullopt, newest[i]);
        ++visited;
      });
      ASSERT_TRUE(many.ok()) << many;
      ASSERT_EQ(visited, keys.size());
    });
  }

  // EXPECTs that a reader still sees the parts and columns that the table had when the reader
  // opened it. If a collector has removed their files, the error of the reader must say so.
  void ExpectSnapshot() {
    const auto& [table, state] = *snapshot_;
    ASSERT_EQ(table.schema(), state.schema());
    auto scan = table.NewScan({});
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
      ASSERT_EQ(DifferenceOf(*batch, state.order, state, found), "");
    }
    EXPECT_EQ(found, state.rows(table));
  }

  testing_support::Fault fault_;
  const std::shared_ptr<testing_support::ScriptedStorage> storage_;
  std::mt19937_64 random_;
  State state_;
  Row next_row_ = 0;
  uint64_t names_ = 0;
  bool may_be_prepared_ = false;  // true if a failed change may have left files
  uint64_t repairs_ = 0;
  std::optional<Snapshot> snapshot_;
};

TEST(TableModel, ChangesAreAsInAList) {
  const uint64_t tables = Amount(12, 200), steps = 60;
  uint64_t failures = 0, repairs = 0;
  for (uint64_t seed = 0; seed < tables; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    const uint64_t rule = (seed + seed / 10) % 5;
    const TemporaryDirectory directory;
    TableModel model(seed % 10 == 0 ? NewLocalStorage(directory.path("table")) : NewMemoryStorage(),
                     seed % 4 != 1 ? 1
                     : rule == 0   ? 150
                                   : 70,
                     rule, seed);
    for (uint64_t step = 0; step < steps && !testing::Test::HasFailure(); ++step) {
      SCOPED_TRACE(absl::StrCat("step ", step));
      model.Step();
    }
    if (!testing::Test::HasFailure()) model.ExpectNoGarbage();
    if (testing::Test::HasFailure()) return;
    failures += model.failures();
    repairs += model.repairs();
  }
  EXPECT_GT(failures, tables);
  EXPECT_GT(repairs, 0);
  Done("table_changes", tables * steps);
  Done("failed_storage_calls", failures);
  Done("repairs", repairs);
}

}  // namespace
}  // namespace cfile::campaign
