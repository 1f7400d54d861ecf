// Makes random changes of tables, and compares what a reader finds with a model.
// The model is a list of parts and a list of columns. A part of the model is a list of rows.
// Some changes are made while the storage fails.
// Now and then table.cft or a chunk is lost, and the table is repaired.
// A chunk is a file that describes parts of the table.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cfile/merge_cursor.h"
#include "cfile/status.h"
#include "cfile/storage.h"
#include "cfile/table.h"
#include "cfile/table_columns.h"
#include "cfile/table_maintenance.h"
#include "cfile/table_repair.h"
#include "cfile/table_scan.h"
#include "encodings/core/bytes.h"
#include "gtest/gtest.h"
#include "tests/campaign/amount.h"
#include "tests/cfile/scripted_io.h"
#include "tests/cfile/temporary_directory.h"

namespace cfile {
namespace {

// A row is a number. The values of the row in the first four columns follow from this number.
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

// A column that was added to a table with rows. The values may have been replaced later.
struct AddedColumn {
  ColumnSchema schema;
  // A change gives new values to all rows below `end`.
  struct Change {
    Row end;
    bool to_default;
    // The new values follow from `salt`.
    // If `to_default`, `salt` is the default value itself, or 0 for null.
    uint64_t salt;
  };
  std::vector<Change> changes;

  std::optional<int64_t> ValueOf(Row row) const {
    const auto last = std::find_if(changes.rbegin(), changes.rend(),
                                   [&](const Change& change) { return row < change.end; });
    const uint64_t salt = last == changes.rend() ? 0 : last->salt;
    if (last != changes.rend() && last->to_default) {
      return salt == 0 ? std::nullopt : std::optional(static_cast<int64_t>(salt));
    }
    if (schema.nullable && (row + salt) % 6 == 1) return std::nullopt;
    return static_cast<int64_t>((row * 31 + salt * 7) % 1000);  // fits into a float
  }
};

// What a table holds.
struct State {
  std::vector<Part> parts;
  std::vector<AddedColumn> added = {};
  std::vector<std::string> order = {"row", "key", "text", "number"};  // the names of all columns

  Schema schema() const {
    const std::vector<ColumnSchema> first = {
        {.name = "row", .type = ColumnType::Uint64()},
        {.name = "key", .type = ColumnType::Int64()},
        {.name = "text", .type = ColumnType::String(), .nullable = true},
        {.name = "number", .type = ColumnType::Double(), .nullable = true}};
    Schema schema;
    for (const std::string& name : order) {
      const AddedColumn* const column = Find(name);
      const auto is_named = [&](const ColumnSchema& each) { return each.name == name; };
      schema.columns.push_back(
          column != nullptr ? column->schema : *std::find_if(first.begin(), first.end(), is_named));
    }
    return schema;
  }
  const AddedColumn* Find(const std::string& name) const {
    for (const AddedColumn& column : added) {
      if (column.schema.name == name) return &column;
    }
    return nullptr;
  }
  Part rows() const {
    Part rows;
    for (const Part& part : parts) rows.insert(rows.end(), part.begin(), part.end());
    return rows;
  }
  size_t key() const { return *schema().Find("key"); }

  std::vector<WriterOptions> Options() const {
    std::vector<WriterOptions> options(order.size(), {.block_size_bytes = 512});
    for (size_t i = 0; i < order.size(); ++i) {
      options[i].value_index = order[i] == "key";
      options[i].statistics = order[i] != "key" && order[i] != "row";
    }
    // Some parts are packed, and some have a file for each column.
    constexpr size_t kMostBytes[] = {0, 4000, SIZE_MAX};
    options[0].max_packed_part_bytes = kMostBytes[(rows().size() + parts.size()) % 3];
    return options;
  }
};

void SortByKey(Part& part) {
  std::stable_sort(part.begin(), part.end(), [](Row a, Row b) { return KeyOf(a) < KeyOf(b); });
}

template <typename T, typename AnyWriter, typename Of>
absl::Status AppendNullable(AnyWriter& writer, size_t column, const Part& part, Of of) {
  for (const Row row : part) {
    const auto value = of(row);
    const T present = value ? static_cast<T>(*value) : T();
    const uint8_t validity = value.has_value();
    CFILE_RETURN_IF_ERROR(
        writer.template Append<T>(column, std::span<const T>(&present, 1), {&validity, 1}));
  }
  return absl::OkStatus();
}

// Appends the values that `rows` have in an added column.
template <typename AnyWriter>
absl::Status AppendAdded(AnyWriter& writer, size_t number, const AddedColumn& column,
                         const Part& part) {
  return VisitType(column.schema.type, [&]<typename T>(std::type_identity<T>) -> absl::Status {
    if constexpr (std::is_arithmetic_v<T> && sizeof(T) >= 4) {
      const auto of = [&](Row row) { return column.ValueOf(row); };
      if (column.schema.nullable) return AppendNullable<T>(writer, number, part, of);
      std::vector<T> values;
      for (const Row row : part) values.push_back(static_cast<T>(*of(row)));
      return writer.template Append<T>(number, std::span<const T>(values.data(), values.size()));
    } else {
      return absl::InternalError("the model has no such columns");
    }
  });
}

absl::Status Write(absl::StatusOr<TableWriter> writer, const State& state, const Part& part) {
  CFILE_RETURN_IF_ERROR(writer.status());
  std::vector<int64_t> keys;
  for (const Row row : part) keys.push_back(KeyOf(row));
  for (size_t i = 0; i < state.order.size(); ++i) {
    const std::string& name = state.order[i];
    if (name == "row") {
      CFILE_RETURN_IF_ERROR(writer->Append<uint64_t>(i, part));
    } else if (name == "key") {
      CFILE_RETURN_IF_ERROR(writer->Append<int64_t>(i, keys));
    } else if (name == "text") {
      CFILE_RETURN_IF_ERROR(AppendNullable<std::string_view>(*writer, i, part, TextOf));
    } else if (name == "number") {
      CFILE_RETURN_IF_ERROR(AppendNullable<double>(*writer, i, part, NumberOf));
    } else {
      CFILE_RETURN_IF_ERROR(AppendAdded(*writer, i, *state.Find(name), part));
    }
  }
  return writer->Finish();
}

enum class Truth { kFalse, kUnknown, kTrue };

// A filter, and what it says about a row.
struct Condition {
  Filter filter;
  std::function<Truth(Row)> truth;
};

Truth TruthOf(bool value) { return value ? Truth::kTrue : Truth::kFalse; }

Condition RandomCondition(int depth, const State& state, std::mt19937_64& random) {
  if (depth > 0 && random() % 2 == 0) {
    Condition a = RandomCondition(depth - 1, state, random);
    Condition b = RandomCondition(depth - 1, state, random);
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
  if (!state.added.empty() && random() % 3 == 0) {
    const AddedColumn column = state.added[random() % state.added.size()];
    return {Between(column.schema.name, low, high), [=](Row row) {
              const std::optional<int64_t> value = column.ValueOf(row);
              return value ? TruthOf(*value >= low && *value <= high) : Truth::kUnknown;
            }};
  }
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
      : storage_(std::make_shared<testing_support::ScriptedStorage>(std::move(storage),
                                                                    fault_.script())),
        random_(seed) {
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
    const auto table = TableReader::Open(storage_);
    ASSERT_TRUE(table.ok()) << table.status();
    const std::string other = Difference(*table, changed);
    if (other.empty()) {
      state_ = changed;
    } else {
      ASSERT_FALSE(status.ok()) << other;
      ASSERT_EQ(Difference(*table, state_), "") << "before; after: " << other << "; " << status;
    }
    may_be_prepared_ = may_be_prepared_ || !status.ok();
    if (random_() % 4 == 0) ExpectReads(*table);
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
      for (size_t column = 0; column < table->schema().columns.size(); ++column) {
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
  struct Snapshot {
    TableReader table;
    State state;
  };

  absl::Status Change(State& state) {
    switch (random_() % 16) {
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
      default:
        return Append(state, random_() % 300);
    }
  }

  absl::Status Append(State& state, uint64_t rows) {
    Part part;
    for (; rows > 0; --rows) part.push_back(next_row_++);
    SortByKey(part);
    state.parts.push_back(part);
    return Write(TableWriter::Open(storage_, state.Options()), state, part);
  }
  void ExpectAppend() {
    const absl::Status status = Append(state_, 2);
    EXPECT_TRUE(status.ok()) << status;
  }

  // Removes or damages table.cft or a chunk, then repairs the table. EXPECTs that nothing is lost.
  void LoseAndRepair() {
    // If a failed change has left files and no commit followed, Repair may take the change as made.
    // So the test first makes commits. It makes three, because the files of two commits may have
    // the same time.
    if (may_be_prepared_ || state_.parts.empty()) {
      for (int i = 0; i < 3; ++i) ExpectAppend();
      may_be_prepared_ = false;
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
    const auto report = Repair(storage_);
    ASSERT_TRUE(report.ok()) << report.status();
    if (!report->kept_as.empty()) {
      ASSERT_TRUE(storage_->Delete(report->kept_as).ok());
    }
    const auto table = TableReader::Open(storage_);
    ASSERT_TRUE(table.ok()) << table.status();
    ASSERT_EQ(Difference(*table, state_), "") << "without " << lost;
    repairs_ += report->changed;
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
    AddedColumn& column = state.added[random_() % state.added.size()];
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
    if (parts.size() < 2) return absl::OkStatus();
    const size_t first = random_() % (parts.size() - 1);
    const size_t last = first + 1 + random_() % (parts.size() - first - 1);
    size_t position = 0;
    Part rows;
    const auto names =
        Choose([&](size_t part) { return first <= part && part <= last; }, parts, position, rows);
    SortByKey(rows);
    parts.insert(parts.begin() + static_cast<ptrdiff_t>(position), rows);
    return Compact(storage_, names, state.Options()).status();
  }

  absl::Status Drop(State& state) {
    std::vector<Part>& parts = state.parts;
    size_t position;
    Part rows;
    const uint64_t dropped = random_() & random_();
    const auto names =
        Choose([&](size_t part) { return (dropped >> part % 64 & 1) != 0; }, parts, position, rows);
    KeepOrder(names.size(), state);
    return DropParts(storage_, names);
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
      parts.insert(parts.begin() + static_cast<ptrdiff_t>(position), rows);
    }
    if (all_below) KeepOrder(names.size(), state);
    return DropRowsBelow<int64_t>(storage_, state.key(), low, state.Options());
  }

  // Returns a text that says how the table differs from `state`, or "" if there is no difference.
  static std::string Difference(const TableReader& table, const State& state) {
    if (table.schema() != state.schema()) return "another schema";
    auto scan = table.NewScan({});
    if (!scan.ok()) return scan.status().ToString();
    std::vector<Row> rows;
    while (true) {
      const auto batch = scan->Next();
      if (!batch.ok()) return batch.status().ToString();
      if (batch->empty()) break;
      const std::string difference = DifferenceOf(*batch, state, rows);
      if (!difference.empty()) return difference;
    }
    if (rows != state.rows()) return "other rows";
    if (table.num_rows() != rows.size()) return "another number of rows";
    if (table.num_parts() != state.parts.size()) return "another number of parts";
    for (size_t part = 0; part < table.num_parts(); ++part) {
      const auto info = table.part(part);
      if (!info.ok()) return info.status().ToString();
      if (info->num_rows != state.parts[part].size()) return "other parts";
    }
    return "";
  }

  // The first column of the batch has the numbers of the rows. Appends these numbers to `rows`.
  // Returns a text that says how the other columns differ from the values of these rows.
  static std::string DifferenceOf(const TableBatch& batch, const State& state,
                                  std::vector<Row>& rows) {
    const Schema schema = state.schema();
    const std::span<const uint64_t> found = batch.column<uint64_t>(*schema.Find("row")).values;
    rows.insert(rows.end(), found.begin(), found.end());
    for (size_t i = 0; i < schema.columns.size(); ++i) {
      const std::string& name = schema.columns[i].name;
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
    EXPECT_EQ(DifferenceOf(batch, state_, rows), "");
  }

  // Compares a scan, a MergeCursor and Take with the model. The scan goes on after errors of the
  // storage.
  void ExpectReads(const TableReader& table) {
    Part rows = state_.rows();
    const Condition condition = RandomCondition(3, state_, random_);
    Part expected;
    for (const Row row : rows) {
      if (condition.truth(row) == Truth::kTrue) expected.push_back(row);
    }
    Part found;
    if (random_() % 3 == 0) fault_.FailEach(2 + random_() % 10);
    auto scan = table.NewScan({.where = condition.filter});
    ASSERT_TRUE(scan.ok()) << scan.status();
    while (true) {
      const auto batch = scan->Next();
      if (absl::IsUnavailable(batch.status())) continue;
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
    if (rows.empty()) return;
    ExpectSeeks(table, rows);

    SortByKey(rows);
    auto keys = table.NewMergeCursor({.key_column = state_.key()});
    ASSERT_TRUE(keys.ok()) << keys.status();
    auto cursor = table.NewCursor<uint64_t>(*state_.schema().Find("row"));
    ASSERT_TRUE(cursor.ok()) << cursor.status();
    std::vector<uint64_t> ordinals;
    while (true) {
      const auto batch = keys->Next(100);
      ASSERT_TRUE(batch.ok()) << batch.status();
      if (batch->empty()) break;
      for (size_t i = 0; i < batch->num_rows(); ++i) ordinals.push_back(batch->ordinal(i));
    }
    OwnedBatch<uint64_t> taken;
    const absl::Status status = cursor->Take(ordinals, taken);
    ASSERT_TRUE(status.ok()) << status;
    const std::span<const uint64_t> values = taken.batch().values;
    EXPECT_EQ(Part(values.begin(), values.end()), rows);
  }

  // Compares seeks to random keys with the model. `rows`: all rows of the table.
  void ExpectSeeks(const TableReader& table, const Part& rows) {
    auto cursor = table.NewCursor<int64_t>(state_.key());
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
      ASSERT_EQ(DifferenceOf(*batch, state, found), "");
    }
    EXPECT_EQ(found, state.rows());
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
  const uint64_t tables = campaign::Amount(12, 200), steps = 60;
  uint64_t failures = 0, repairs = 0;
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
    repairs += model.repairs();
  }
  EXPECT_GT(failures, tables);
  EXPECT_GT(repairs, 0);
  campaign::Done("table_changes", tables * steps);
  campaign::Done("failed_storage_calls", failures);
  campaign::Done("repairs", repairs);
}

}  // namespace
}  // namespace cfile
