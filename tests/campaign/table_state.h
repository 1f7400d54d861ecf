// The model of a table: a list of parts and a list of columns. A part of the model is a list of
// rows. If the table has a merge rule, the model finds the rows that count in the list of parts.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "cfile/compound_key.h"
#include "cfile/filter.h"
#include "cfile/options.h"
#include "cfile/schema.h"
#include "cfile/status.h"
#include "cfile/table.h"
#include "cfile/types.h"

namespace cfile::campaign {

// A row is a number. The values of the row in the first columns follow from this number.
using Row = uint64_t;
using Part = std::vector<Row>;

inline int64_t KeyOf(Row row) { return static_cast<int64_t>(row * 2654435761u % 1000); }
inline std::optional<std::string> TextOf(Row row) {
  if (row % 5 == 0) return std::nullopt;
  return absl::StrCat("text", row % 17);
}
inline std::optional<double> NumberOf(Row row) {
  if (row % 7 < 3) return std::nullopt;
  return static_cast<double>(row % 100) / 4;
}
inline std::optional<bool> DeletedOf(Row row) {
  if (row % 11 == 0) return std::nullopt;
  return row % 4 == 0;
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
  // `rule`: 0 for a table without a merge rule; 1 for a rule without columns; 2, 3 and 4 for a rule
  // with a deleted column, with a time column, and with both.
  explicit State(uint64_t rule)
      : ruled(rule > 0), deleted(ruled && rule % 2 == 0), timed(rule > 2) {
    if (deleted) order.push_back("deleted");
    if (!timed) return;
    order.push_back("time");
    added.push_back(
        {.schema = {.name = "time", .type = ColumnType::Int32(), .nullable = true}, .changes = {}});
  }

  bool ruled, deleted, timed;
  std::vector<Part> parts = {};         // with all stored rows
  std::vector<AddedColumn> added = {};  // the time column of the rule is the first
  std::vector<std::string> order = {"row", "key", "text", "number"};  // the names of all columns
  std::optional<int64_t> bound = {};                                  // for times

  Schema schema() const {
    const std::vector<ColumnSchema> first = {
        {.name = "row", .type = ColumnType::Uint64()},
        {.name = "key", .type = ColumnType::Int64()},
        {.name = "text", .type = ColumnType::String(), .nullable = true},
        {.name = "number", .type = ColumnType::Double(), .nullable = true},
        {.name = "deleted", .type = ColumnType::Bool(), .nullable = true}};
    Schema schema;
    for (const std::string& name : order) {
      const AddedColumn* const column = Find(name);
      const auto is_named = [&](const ColumnSchema& each) { return each.name == name; };
      schema.columns.push_back(
          column != nullptr ? column->schema : *std::find_if(first.begin(), first.end(), is_named));
    }
    if (ruled) {
      schema.key_columns = {*schema.Find("key")};
      schema.merge_rule = MergeRule{.deleted_column = schema.Find("deleted")};
      if (timed) schema.merge_rule->time_column = schema.Find(added[0].schema.name);
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
  // Keeps the newest row of each key. `rows`: those of newer parts come later.
  static void KeepNewest(Part& rows) {
    std::map<int64_t, Row> newest;
    for (const Row row : rows) newest[KeyOf(row)] = row;
    std::erase_if(rows, [&](Row row) { return newest[KeyOf(row)] != row; });
  }
  // Removes the rows that say that their key was deleted, and those that are too old.
  void RemoveGone(Part& rows) const {
    std::erase_if(rows, [&](Row row) {
      return (deleted && DeletedOf(row).value_or(false)) ||
             (timed && bound && added[0].ValueOf(row).value_or(INT64_MAX) < *bound);
    });
  }
  // The rows that `table` returns: all stored rows, or those that count.
  Part rows(const TableReader& table) const {
    Part result = rows();
    if (!table.applies_merge_rule()) return result;
    KeepNewest(result);
    RemoveGone(result);
    return result;
  }
  // The column of the keys.
  size_t key() const {
    const Schema all = schema();
    return all.key_index().value_or(*all.Find("key"));
  }
  // Calls use(span) with the keys in the form of this column.
  template <typename Use>
  auto WithKeys(const std::vector<int64_t>& keys, const Use& use) const {
    if (!ruled) return use(std::span<const int64_t>(keys));
    std::vector<std::string> compound;
    for (const int64_t key : keys)
      compound.emplace_back(CompoundKey(schema().key_types()).Add(key).bytes());
    const std::vector<std::string_view> views(compound.begin(), compound.end());
    return use(std::span<const std::string_view>(views));
  }

  std::vector<WriterOptions> Options() const {
    std::vector<WriterOptions> options(order.size() + ruled, {.block_size_bytes = 512});
    if (ruled) options.back().bloom_filter_bits_per_value = parts.size() % 2 == 0 ? 10 : 0;
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

inline void SortByKey(Part& part) {
  std::stable_sort(part.begin(), part.end(), [](Row a, Row b) { return KeyOf(a) < KeyOf(b); });
}

// True if one of these sorted parts may have keys of the other one.
inline bool Overlap(const Part& a, const Part& b) {
  return !a.empty() && !b.empty() && KeyOf(a.front()) <= KeyOf(b.back()) &&
         KeyOf(b.front()) <= KeyOf(a.back());
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

inline absl::Status Write(absl::StatusOr<TableWriter> writer, const State& state,
                          const Part& part) {
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
    } else if (name == "deleted") {
      CFILE_RETURN_IF_ERROR(AppendNullable<bool>(*writer, i, part, DeletedOf));
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

inline Truth TruthOf(bool value) { return value ? Truth::kTrue : Truth::kFalse; }

inline Condition RandomCondition(int depth, const State& state, std::mt19937_64& random) {
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
  switch (random() % (state.deleted ? 7 : 6)) {
    case 6:
      return {Eq("deleted", true),
              [=](Row row) { return DeletedOf(row) ? TruthOf(*DeletedOf(row)) : Truth::kUnknown; }};
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

}  // namespace cfile::campaign
