#include "tools/where.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "cfile/types.h"
#include "tools/parse_number.h"
#include "tools/value_meaning.h"
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
    if (condition.values.empty() && condition.kind == Kind::kEqual) {
      if (type.physical() == PhysicalType::kBool) return Eq(condition.column, true);
      return WhereError(
          where_, condition.kind_offset,
          absl::StrCat("column ", NameAsWritten(condition.column), " has type ", type.ToString(),
                       ", so a comparison must follow, such as = or LIKE"));
    }
    if (condition.kind <= Kind::kGreaterOrEqual && IsColumn(condition.values[0]))
      return MakeComparison(condition, type);
    const auto refuse = [&](std::string_view what) {
      return WhereError(where_, condition.kind_offset,
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
      auto constant = MakeConstant(type, text);
      if (!constant.ok()) return constant.status();
      constants.push_back(*std::move(constant));
    }
    return MakeTest(condition, constants);
  }

  // A constant of a condition. If the column's type cannot hold it, `literal` is the greatest number
  // below it, or, if `below`, the least number of int128, which is greater.
  struct Constant {
    Literal literal;
    bool exact = true;
    bool below = false;
  };

  // Numbers that the type cannot hold are compared by their value.
  static Filter MakeTest(const Condition& condition, std::vector<Constant>& constants) {
    const std::string& column = condition.column;
    std::vector<Literal> literals;
    for (size_t i = 0; i < constants.size(); ++i) {
      Constant& constant = constants[i];
      if (condition.kind == Kind::kIn && !constant.exact) continue;
      if (condition.kind == Kind::kBetween && !constant.exact) {
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
      return WhereError(
          where_, value.offset,
          absl::StrCat("only columns of one type can be compared, but ",
                       NameAsWritten(condition.column), " has type ", type.ToString(), ", ",
                       NameAsWritten(value.text), " has type ", schema.type.ToString()));
    }
    return CompareColumns(condition.column, condition.kind, value.text);
  }

  absl::Status NoSuchColumn(const Condition& condition, const char* hint = "") const {
    std::string known;
    for (const ColumnSchema& column : schema_.columns)
      absl::StrAppend(&known, known.empty() ? "" : ", ", NameAsWritten(column.name));
    return WhereError(
        where_, condition.column_offset,
        absl::StrCat("there is no column ", NameAsWritten(condition.column), hint,
                     schema_.columns.size() == 1 ? "; the only column is called " : "; there are ",
                     known));
  }

  absl::StatusOr<Constant> MakeConstant(const ColumnType& type,
                                        const Condition::Value& text) const {
    return VisitType(type, [&]<typename T>(std::type_identity<T>) -> absl::StatusOr<Constant> {
      std::string scratch;
      const auto value = ParseText<T>(type, text.text, scratch);
      if (!value.ok()) {
        if constexpr (kIsInteger<T>) {
          if (const auto floor = FloorOf(text.text, type)) return *floor;
        } else if constexpr (std::is_same_v<T, float>) {
          const auto wide = ParseText<double>(type, text.text, scratch);
          if (wide.ok()) return Constant{Literal(*wide)};
        }
        const absl::string_view message = value.status().message();
        return WhereError(where_, text.offset, {message.data(), message.size()});
      }
      if constexpr (kIsFloat<T>) {
        if (std::isnan(*value)) return WhereError(where_, text.offset, "nan cannot be compared");
        return Constant{Literal(static_cast<double>(*value))};
      } else {
        return Constant{Literal(*value)};
      }
    });
  }

  // The number of `text` in units of the last digit of `type`, rounded down; nullopt: the text is no
  // number, or the values of the type are none.
  static std::optional<Constant> FloorOf(std::string_view text, const ColumnType& type) {
    const Meaning meaning = MeaningOf(type);
    if (meaning != Meaning::kNumber && meaning != Meaning::kDecimal) return std::nullopt;
    const bool negative = text.starts_with('-');
    if (negative || text.starts_with('+')) text.remove_prefix(1);
    const size_t letter = std::min(text.find_first_of("eE"), text.size());
    int point = meaning == Meaning::kDecimal ? type.decimal_scale : 0;
    if (letter < text.size()) {
      std::string_view exponent = text.substr(letter + 1);
      if (exponent.size() > 1 && exponent[0] == '+' && exponent[1] != '-')
        exponent.remove_prefix(1);
      int shift = 0;
      if (ParseNumber(exponent, shift) != std::errc() || std::abs(shift) > 9999)
        return std::nullopt;
      point += shift;
    }
    const size_t dot = std::min(text.find('.'), letter);
    std::string digits(text.substr(0, dot));
    point += static_cast<int>(dot);
    if (dot < letter) digits += text.substr(dot + 1, letter - dot - 1);
    if (digits.empty() || digits.find_first_not_of("0123456789") != std::string::npos)
      return std::nullopt;

    const uint128_t limit = static_cast<uint128_t>(kGreatest) + (negative ? 1 : 0);
    uint128_t magnitude = 0;
    bool over = false;
    for (int i = 0; i < point && !over; ++i) {
      const auto at = static_cast<size_t>(i);
      const unsigned digit = at < digits.size() ? static_cast<unsigned>(digits[at] - '0') : 0;
      over = magnitude > (limit - digit) / 10;
      if (!over) magnitude = magnitude * 10 + digit;
    }
    const auto rest =
        static_cast<size_t>(std::clamp<int>(point, 0, static_cast<int>(digits.size())));
    const bool exact = digits.find_first_not_of('0', rest) == std::string::npos;
    if (!negative)
      return Constant{over ? kGreatest : static_cast<int128_t>(magnitude), exact && !over};
    if (!exact) over = over || ++magnitude > limit;
    if (over) return Constant{-kGreatest - 1, false, true};
    return Constant{static_cast<int128_t>(uint128_t{0} - magnitude), exact};
  }
  static constexpr auto kGreatest = static_cast<int128_t>(~uint128_t{0} >> 1);

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
