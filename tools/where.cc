#include "tools/where.h"

#include <cmath>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cfile/types.h"
#include "tools/value_text.h"
#include "tools/where_parser.h"

namespace cfile::tools {
namespace {

using Kind = PredicateKind;

class FilterMaker {
 public:
  FilterMaker(std::string_view where, const Schema& schema) : where_(where), schema_(schema) {}

  absl::StatusOr<Filter> Make(const ParsedFilter& parsed) const {
    if (parsed.kind == Filter::Kind::kColumn) return MakeCondition(parsed.condition);
    std::vector<Filter> operands;
    for (const ParsedFilter& operand : parsed.operands) {
      auto made = Make(operand);
      if (!made.ok()) return made.status();
      operands.push_back(*std::move(made));
    }
    return Filter(parsed.kind, std::move(operands));
  }

 private:
  absl::StatusOr<Filter> MakeCondition(const Condition& condition) const {
    const std::optional<size_t> column = schema_.Find(condition.column);
    if (!column) return NoSuchColumn(condition);
    const ColumnSchema& schema = schema_.columns[*column];
    if (schema.levels.max_repetition > 0) {
      return WhereError(where_, condition.column_offset,
                        "the column has any number of values in a row, so it cannot be compared");
    }
    const ColumnType& type = schema.type;
    const auto refuse = [&](std::string_view what) {
      return WhereError(where_, condition.kind_offset,
                        absl::StrCat("values of type ", type.ToString(), " ", std::string(what)));
    };
    if (condition.kind == Kind::kHasPrefix && type.physical() != PhysicalType::kBytes)
      return refuse("have no prefix");
    if (type.physical() == PhysicalType::kInt96 &&
        (condition.kind == Kind::kLess || condition.kind == Kind::kLessOrEqual ||
         condition.kind == Kind::kGreater || condition.kind == Kind::kGreaterOrEqual ||
         condition.kind == Kind::kBetween)) {
      return refuse("have no order");
    }
    std::vector<Literal> literals;
    for (const Condition::Value& text : condition.values) {
      auto literal = MakeLiteral(type, text);
      if (!literal.ok()) return literal.status();
      literals.push_back(*std::move(literal));
    }
    return Filter(condition.column, condition.kind, std::move(literals));
  }

  absl::Status NoSuchColumn(const Condition& condition) const {
    std::string known;
    for (const ColumnSchema& column : schema_.columns)
      absl::StrAppend(&known, known.empty() ? "" : ", ", NameAsWritten(column.name));
    return WhereError(
        where_, condition.column_offset,
        absl::StrCat("there is no column ", NameAsWritten(condition.column),
                     schema_.columns.size() == 1 ? "; the only column is called " : "; there are ",
                     known));
  }

  absl::StatusOr<Literal> MakeLiteral(const ColumnType& type, const Condition::Value& text) const {
    return VisitType(type, [&]<typename T>(std::type_identity<T>) -> absl::StatusOr<Literal> {
      std::string scratch;
      const auto value = ParseText<T>(type, text.text, scratch);
      if (!value.ok()) {
        const absl::string_view message = value.status().message();
        return WhereError(where_, text.offset, {message.data(), message.size()});
      }
      if constexpr (kIsFloat<T>) {
        if (std::isnan(*value)) return WhereError(where_, text.offset, "nan cannot be compared");
        return Literal(static_cast<double>(*value));
      } else {
        return Literal(*value);
      }
    });
  }

  const std::string_view where_;
  const Schema& schema_;
};

}  // namespace

absl::StatusOr<Filter> FilterOfText(std::string_view where, const Schema& schema) {
  const auto parsed = ParseFilter(where);
  if (!parsed.ok()) return parsed.status();
  return FilterMaker(where, schema).Make(*parsed);
}

}  // namespace cfile::tools
