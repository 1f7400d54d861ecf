#include "tools/dump/where.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cfile/scan.h"
#include "tools/dump/where_parser.h"
#include "tools/value_text.h"

namespace cfile::tools {
namespace {

using Kind = Condition::Kind;

// The file of one part of a column.
struct Part {
  Reader reader;
  uint64_t first_ordinal;

  uint64_t end_ordinal() const { return first_ordinal + reader.num_rows(); }
};

// Scans the parts of a column one after another.
template <typename T>
class PartsScan final : public ConditionScan {
 public:
  PartsScan(std::vector<Part> parts, Predicate<T> predicate)
      : parts_(std::move(parts)), predicate_(std::move(predicate)) {}

  absl::StatusOr<std::optional<uint64_t>> AtOrAfter(uint64_t ordinal) override {
    while (true) {
      while (!matches_.empty() && parts_[part_].first_ordinal + matches_[0] < ordinal) {
        reached_ = parts_[part_].first_ordinal + matches_[0];
        matches_ = matches_.subspan(1);
      }
      if (!matches_.empty()) return parts_[part_].first_ordinal + matches_[0];
      // If `ordinal` is far ahead, a new scan that begins there reads less.
      if (scan_ && ordinal > reached_ + kFarRows) scan_.reset();
      if (!scan_) {
        while (part_ < parts_.size() && parts_[part_].end_ordinal() <= ordinal) ++part_;
        if (part_ == parts_.size()) return std::nullopt;
        reached_ = std::max(ordinal, parts_[part_].first_ordinal);
        auto scan = parts_[part_].reader.NewScan<T>(
            predicate_, {reached_ - parts_[part_].first_ordinal, UINT64_MAX});
        if (!scan.ok()) return scan.status();
        scan_.emplace(*std::move(scan));
      }
      const auto batch = scan_->Next();
      if (!batch.ok()) return batch.status();
      matches_ = batch->ordinals;
      if (matches_.empty()) {
        scan_.reset();
        ++part_;
      }
    }
  }

 private:
  static constexpr uint64_t kFarRows = 65'536;

  const std::vector<Part> parts_;
  const Predicate<T> predicate_;
  size_t part_ = 0;
  std::optional<Scan<T>> scan_;             // of parts_[part_]
  std::span<const uint64_t> matches_ = {};  // remaining matches of scan_'s batch; rows of the part
  uint64_t reached_ = 0;                    // scan_ has passed all earlier rows of the table
};

template <typename T>
absl::StatusOr<Predicate<T>> MakePredicate(const ColumnType& type, const Condition& condition,
                                           std::string_view where) {
  using P = Predicate<T>;
  const Kind kind = condition.kind;
  if (kind == Kind::kIsNull) return P::IsNull();
  if (kind == Kind::kIsNotNull) return P::IsNotNull();
  const auto no_such_condition = [&](std::string_view what) {
    return WhereError(where, condition.kind_offset,
                      absl::StrCat("values of type ", type.ToString(), " ", std::string(what)));
  };
  if (kind == Kind::kHasPrefix && type.physical() != PhysicalType::kBytes) {
    return no_such_condition("have no prefix");
  }
  if (std::is_same_v<T, Int96> && kind != Kind::kEqual && kind != Kind::kNotEqual &&
      kind != Kind::kIn) {
    return no_such_condition("have no order");
  }
  std::vector<Owned<T>> constants;
  for (const Condition::Value& text : condition.values) {
    std::string scratch;
    const auto value = ParseText<T>(type, text.text, scratch);
    if (!value.ok()) {
      const absl::string_view message = value.status().message();
      return WhereError(where, text.offset, {message.data(), message.size()});
    }
    if constexpr (std::is_floating_point_v<T>) {
      if (std::isnan(*value)) return WhereError(where, text.offset, "nan cannot be compared");
    }
    constants.emplace_back(*value);
  }
  const T first = T(constants[0]);
  switch (kind) {
    case Kind::kEqual:
      return P::Equal(first);
    case Kind::kNotEqual:
      return P::NotEqual(first);
    case Kind::kLess:
      return P::Less(first);
    case Kind::kLessOrEqual:
      return P::LessOrEqual(first);
    case Kind::kGreater:
      return P::Greater(first);
    case Kind::kGreaterOrEqual:
      return P::GreaterOrEqual(first);
    case Kind::kBetween:
      return P::Between(first, T(constants[1]));
    case Kind::kIn: {
      // A std::vector<bool> would not convert to a span.
      const auto values = std::make_unique<T[]>(constants.size());
      for (size_t i = 0; i < constants.size(); ++i) values[i] = T(constants[i]);
      return P::In(std::span<const T>(values.get(), constants.size()));
    }
    default:
      if constexpr (std::is_same_v<T, std::string_view>) return P::HasPrefix(first);
      return absl::InternalError("no such condition");
  }
}

// The column that a condition names, in all parts.
struct Column {
  ColumnType type;
  std::vector<Part> parts;
};

absl::StatusOr<Column> FindParts(const Input& input, const Condition& condition,
                                 std::string_view where) {
  const auto error = [&](std::string_view what) {
    return WhereError(where, condition.column_offset, what);
  };
  constexpr std::string_view kNested = "the column is nested: cfile-dump records shows it";
  if (input.file) {
    if (condition.column != "value") return error("the column of a single file is called value");
    if (input.file->info().has_levels()) return error(kNested);
    return Column{input.file->type(), {{*input.file, 0}}};
  }
  const TableReader& table = *input.table;
  const auto index = FindColumn(table, condition.column);
  if (!index.ok()) return error({index.status().message().data(), index.status().message().size()});
  const ColumnSchema& schema = table.schema().columns[*index];
  if (schema.has_levels()) return error(kNested);
  Column column{.type = schema.type, .parts = {}};
  for (size_t part = 0; part < table.num_parts(); ++part) {
    auto reader = table.OpenColumn(part, *index);
    if (!reader.ok()) return reader.status();
    column.parts.push_back({*std::move(reader), table.part_first_ordinal(part)});
  }
  return column;
}

}  // namespace

absl::StatusOr<RowFinder> RowFinder::Open(const Input& input, std::string_view where,
                                          uint64_t first_ordinal) {
  const auto conditions = ParseConditions(where);
  if (!conditions.ok()) return conditions.status();
  std::vector<std::unique_ptr<ConditionScan>> scans;
  for (const Condition& condition : *conditions) {
    auto column = FindParts(input, condition, where);
    if (!column.ok()) return column.status();
    const absl::Status status =
        VisitType(column->type.physical(), [&]<typename T>(std::type_identity<T>) {
          auto predicate = MakePredicate<T>(column->type, condition, where);
          if (!predicate.ok()) return predicate.status();
          scans.push_back(
              std::make_unique<PartsScan<T>>(std::move(column->parts), *std::move(predicate)));
          return absl::OkStatus();
        });
    if (!status.ok()) return status;
  }
  return RowFinder(std::move(scans), first_ordinal);
}

absl::StatusOr<std::optional<uint64_t>> RowFinder::Next() {
  // Asks one scan after another for its first match from `row` on, until all return the same row.
  uint64_t row = next_;
  size_t agreed = 0;
  for (size_t i = 0; agreed < scans_.size(); i = (i + 1) % scans_.size()) {
    const auto found = scans_[i]->AtOrAfter(row);
    if (!found.ok()) return found.status();
    if (!found->has_value()) return std::nullopt;
    agreed = **found == row ? agreed + 1 : 1;
    row = **found;
  }
  next_ = row + 1;
  return row;
}

}  // namespace cfile::tools
