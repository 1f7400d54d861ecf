#include "cfile/filter.h"

#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "cfile/parts/scan/text_matcher.h"
#include "cfile/parts/table/where/constant_text.h"
#include "cfile/parts/table/where/filter_error.h"
#include "cfile/schema.h"
#include "cfile/types.h"

namespace cfile {
namespace {

using internal::FilterError;
using Condition = TextCondition;
using Constant = internal::FilterConstant;
using Kind = PredicateKind;

constexpr auto kGreatest = static_cast<int128_t>(~uint128_t{0} >> 1);

bool IsText(const ColumnType& type) {
  return type.data_type == DataType::kString || type.data_type == DataType::kVarchar;
}

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
    if (!column) {
      // 5 < id
      if (condition.kind <= Kind::kGreaterOrEqual && !condition.values.empty() &&
          absl::StrContains("+-.0123456789@", where_[condition.column_offset]) &&
          IsColumn(condition.values[0])) {
        return MakeCondition(Turned(condition));
      }
      return NoSuchColumn(condition);
    }
    const ColumnSchema& schema = schema_.columns[*column];
    if (schema.levels.max_repetition > 0) {
      return FilterError(where_, condition.column_offset,
                         "the column has any number of values in a row, so it cannot be compared");
    }
    const ColumnType& type = schema.type;
    if (condition.values.empty() && condition.kind == Kind::kEqual) {
      if (type.physical() == PhysicalType::kBool) return Eq(condition.column, true);
      return FilterError(
          where_, condition.kind_offset,
          absl::StrCat("column ", NameAsWritten(condition.column), " has type ", type.ToString(),
                       ", so a comparison must follow, such as = or LIKE"));
    }
    if (condition.kind <= Kind::kGreaterOrEqual && IsColumn(condition.values[0]))
      return MakeComparison(condition, type);
    const auto refuse = [&](std::string_view what) {
      return FilterError(where_, condition.kind_offset,
                         absl::StrCat("values of type ", type.ToString(), " ", std::string(what)));
    };
    const bool prefix = condition.kind == Kind::kHasPrefix;
    if ((prefix || condition.kind >= Kind::kLike) && type.physical() != PhysicalType::kBytes)
      return refuse(prefix ? "have no prefix" : "are no text");
    if (condition.kind >= Kind::kLike && condition.kind != Kind::kContains && !IsText(type))
      return refuse("are no text; BEGINS and CONTAINS take hexadecimal digits");
    if (type.physical() == PhysicalType::kInt96 &&
        (condition.kind == Kind::kLess || condition.kind == Kind::kLessOrEqual ||
         condition.kind == Kind::kGreater || condition.kind == Kind::kGreaterOrEqual ||
         condition.kind == Kind::kBetween)) {
      return refuse("have no order");
    }
    std::vector<Constant> constants;
    for (const Condition::Value& text : condition.values) {
      auto constant = internal::ConstantOfText(type, text.text);
      if (!constant.ok()) {
        const absl::string_view message = constant.status().message();
        return FilterError(where_, text.offset, {message.data(), message.size()});
      }
      constants.push_back(*std::move(constant));
    }
    if (condition.kind >= Kind::kLike) {
      std::vector<std::string> texts;
      for (const Condition::Value& text : condition.values) texts.push_back(text.text);
      const absl::Status status = internal::NewTextMatcher(condition.kind, texts).status();
      const absl::string_view message = status.message();
      if (absl::IsInvalidArgument(status)) {
        return FilterError(where_, condition.values.back().offset,
                           absl::StrCat("not a valid pattern: ", message));
      }
    }
    return MakeTest(condition, constants);
  }

  // Returns the condition VALUE OPERATOR COLUMN in the form COLUMN OPERATOR VALUE.
  static Condition Turned(const Condition& condition) {
    Condition turned{.column = condition.values[0].text,
                     .column_offset = condition.values[0].offset,
                     .kind = internal::Turned(condition.kind),
                     .kind_offset = condition.kind_offset};
    turned.values.push_back({.text = condition.column, .offset = condition.column_offset});
    return turned;
  }

  // Numbers that the type cannot hold are compared by their value.
  static Filter MakeTest(const Condition& condition, std::vector<Constant>& constants) {
    const std::string& column = condition.column;
    std::vector<Literal> literals;
    for (size_t i = 0; i < constants.size(); ++i) {
      Constant& constant = constants[i];
      if (condition.kind == Kind::kIn && !constant.exact) continue;
      const auto* const number = std::get_if<double>(&constant.literal.value());
      if (condition.kind == Kind::kBetween && !constant.exact && number != nullptr) {
        constexpr double kInfinity = std::numeric_limits<double>::infinity();
        constant.literal = i == 0 ? std::nextafter(*number, kInfinity) : *number;
      } else if (condition.kind == Kind::kBetween && !constant.exact) {
        auto floor = std::get<int128_t>(constant.literal.value());
        const bool low = i == 0;
        if (low && !constant.below && floor == kGreatest) return In(column, {});
        if (!low && constant.below) return In(column, {});
        constant.literal = low && !constant.below ? floor + 1 : floor;
      }
      literals.push_back(constant.literal);
    }
    if (condition.kind > Kind::kGreaterOrEqual || constants[0].exact)
      return Filter(column, condition.kind, std::move(literals));
    const Constant& constant = constants[0];
    switch (condition.kind) {
      case Kind::kEqual:
        return In(column, {});
      case Kind::kNotEqual:
        return Not(In(column, {}));
      case Kind::kLess:
      case Kind::kLessOrEqual:
        return constant.below ? In(column, {}) : Le(column, constant.literal);
      default:
        return constant.below ? Ge(column, constant.literal) : Gt(column, constant.literal);
    }
  }

  // True for a name in double quotes, and for a word that is the name of a column.
  bool IsColumn(const Condition::Value& value) const {
    using Form = Condition::Value::Form;
    const auto letter = [](char c) {
      return absl::ascii_isalpha(static_cast<unsigned char>(c)) || c == '_' || (c & 0x80) != 0;
    };
    return value.form == Form::kName ||
           (value.form == Form::kWord && letter(value.text[0]) && schema_.Find(value.text));
  }

  absl::StatusOr<Filter> MakeComparison(const Condition& condition, const ColumnType& type) const {
    const Condition::Value& value = condition.values[0];
    const std::optional<size_t> other = schema_.Find(value.text);
    if (!other) {
      return NoSuchColumn({.column = value.text, .column_offset = value.offset},
                          " (text is written in single quotes)");
    }
    const ColumnSchema& schema = schema_.columns[*other];
    if (schema.type != type || schema.levels.max_repetition > 0) {
      return FilterError(
          where_, value.offset,
          absl::StrCat("only columns of one type can be compared, but ",
                       NameAsWritten(condition.column), " has type ", type.ToString(), ", ",
                       NameAsWritten(value.text), " has type ", schema.type.ToString()));
    }
    return CompareColumns(condition.column, condition.kind, value.text);
  }

  absl::Status NoSuchColumn(const Condition& condition, const char* hint = "") const {
    std::vector<std::string> known;
    for (const ColumnSchema& column : schema_.columns) known.push_back(NameAsWritten(column.name));
    const std::string name = NameAsWritten(condition.column);
    return FilterError(
        where_, condition.column_offset,
        absl::StrCat("there is no column ", name, hint,
                     known.size() == 1 ? "; the only column is called " : "; there are ",
                     ListOfNames(known), Suggestion(name, known)));
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

}  // namespace cfile
