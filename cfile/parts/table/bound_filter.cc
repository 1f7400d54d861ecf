#include "cfile/parts/table/bound_filter.h"

#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "cfile/core/format/key_codec.h"
#include "cfile/parts/scan/text_matcher.h"
#include "encodings/core/assert.h"
#include "encodings/core/status.h"

namespace cfile::internal {
namespace {

constexpr size_t kMaxDepth = 200;

template <typename T>
inline constexpr bool kIsNumber = kIsInteger<T> || kIsFloat<T>;

bool IsDecimal(const ColumnType& type) {
  return type.data_type == DataType::kDecimal32 || type.data_type == DataType::kDecimal64 ||
         type.data_type == DataType::kDecimal128;
}

// A constant as a value of the column's type T.
template <typename T>
struct Constant {
  enum class Place : uint8_t {
    kExact,  // the constant is `value`
    kAfter,  // the constant is between `value` and the next greater value of T
    kBelow,  // the constant is less than all values of T
    kAbove,  // the constant is greater than all values of T
    kNan,
  };
  Owned<T> value{};
  Place place = Place::kExact;
};

const char* NameOf(const Literal& literal) {
  constexpr const char* kNames[] = {"a bool", "an integer", "a floating-point number", "an int96",
                                    "a string"};
  return kNames[literal.value().index()];
}

// Returns nullopt if the type of the literal does not fit.
template <typename T>
std::optional<Constant<T>> MakeConstant(const ColumnType& type, const Literal& literal) {
  using Place = typename Constant<T>::Place;
  if constexpr (std::is_same_v<T, std::string_view>) {
    if (const auto* text = std::get_if<std::string>(&literal.value())) return Constant<T>{*text};
  } else if constexpr (kIsNumber<T>) {
    const auto* integer = std::get_if<int128_t>(&literal.value());
    const auto* number = std::get_if<double>(&literal.value());
    if constexpr (kIsFloat<T>) {
      if (integer != nullptr) return Constant<T>{static_cast<T>(*integer)};
      if (number != nullptr) {
        constexpr double kMost = std::numeric_limits<T>::max();
        // Between the greatest number of T and infinity.
        if (std::isfinite(*number) && *number > kMost)
          return Constant<T>{std::numeric_limits<T>::max(), Place::kAfter};
        if (std::isfinite(*number) && *number < -kMost)
          return Constant<T>{-std::numeric_limits<T>::infinity(), Place::kAfter};
        return Constant<T>{static_cast<T>(*number)};
      }
    } else {
      constexpr T kMin = std::is_same_v<T, int128_t> ? static_cast<T>(uint128_t{1} << 127)
                                                     : std::numeric_limits<T>::min();
      constexpr T kMax = std::is_same_v<T, int128_t> ? static_cast<T>(~(uint128_t{1} << 127))
                                                     : std::numeric_limits<T>::max();
      if (integer != nullptr) {
        if (*integer < static_cast<int128_t>(kMin)) return Constant<T>{{}, Place::kBelow};
        if (*integer > static_cast<int128_t>(kMax)) return Constant<T>{{}, Place::kAbove};
        return Constant<T>{static_cast<T>(*integer)};
      }
      if (number != nullptr && !IsDecimal(type)) {
        if (std::isnan(*number)) return Constant<T>{{}, Place::kNan};
        // The least double that is greater than kMax: kMax + 1 is a power of two.
        const double above = std::ldexp(1.0, 8 * static_cast<int>(sizeof(T)) - (T(-1) < T(0)));
        if (*number >= above) return Constant<T>{{}, Place::kAbove};
        if (*number < static_cast<double>(kMin)) return Constant<T>{{}, Place::kBelow};
        const double whole = std::floor(*number);
        const T value = static_cast<T>(whole);
        if (whole == *number) return Constant<T>{value};
        if (value == kMax) return Constant<T>{{}, Place::kAbove};
        return Constant<T>{value, Place::kAfter};
      }
    }
  } else {
    if (const auto* value = std::get_if<T>(&literal.value())) return Constant<T>{*value};
  }
  return std::nullopt;
}

template <typename T>
class PredicateMaker {
  using P = Predicate<T>;
  using Place = typename Constant<T>::Place;

 public:
  // `constants`: as many as `test` needs.
  static Predicate<T> Make(PredicateKind test, const std::vector<Constant<T>>& constants) {
    switch (test) {
      case PredicateKind::kIsNull:
        return P::IsNull();
      case PredicateKind::kIsNotNull:
        return P::IsNotNull();
      case PredicateKind::kIn:
        return In(constants);
      case PredicateKind::kBetween:
        return Between(constants[0], constants[1]);
      default:
        return Compare(test, constants[0]);
    }
  }

 private:
  static P Nothing() { return P::In({}); }

  static P In(const std::vector<Constant<T>>& constants) {
    size_t count = 0;
    // A std::vector<bool> has no array of bool.
    const auto values = std::make_unique<T[]>(constants.size());
    for (const Constant<T>& constant : constants) {
      if (constant.place == Place::kExact) values[count++] = T(constant.value);
    }
    return P::In(std::span<const T>(values.get(), count));
  }

  static P Compare(PredicateKind test, const Constant<T>& constant) {
    const T value(constant.value);
    const Place place = constant.place;
    const bool exact = place == Place::kExact;
    // For a constant outside the range of T, each value is greater, or each value is less.
    const auto all_if = [](bool all) { return all ? P::IsNotNull() : Nothing(); };
    switch (test) {
      case PredicateKind::kEqual:
        return exact ? P::Equal(value) : Nothing();
      case PredicateKind::kNotEqual:
        return exact ? P::NotEqual(value) : P::IsNotNull();
      case PredicateKind::kLess:
      case PredicateKind::kLessOrEqual:
        if (!exact && place != Place::kAfter) return all_if(place == Place::kAbove);
        return exact && test == PredicateKind::kLess ? P::Less(value) : P::LessOrEqual(value);
      case PredicateKind::kGreater:
      case PredicateKind::kGreaterOrEqual:
        if (!exact && place != Place::kAfter) return all_if(place == Place::kBelow);
        return exact && test == PredicateKind::kGreaterOrEqual ? P::GreaterOrEqual(value)
                                                               : P::Greater(value);
      default:
        break;
    }
    if constexpr (std::is_same_v<T, std::string_view>) return P::HasPrefix(value);
    CFILE_ASSERT(false);
    return Nothing();
  }

  static P Between(const Constant<T>& low, const Constant<T>& high) {
    if (low.place == Place::kNan || high.place == Place::kNan || low.place == Place::kAbove ||
        high.place == Place::kBelow) {
      return Nothing();
    }
    if (low.place == Place::kBelow) return Compare(PredicateKind::kLessOrEqual, high);
    if (high.place == Place::kAbove) return Compare(PredicateKind::kGreaterOrEqual, low);
    T first(low.value);
    if (low.place == Place::kAfter) {
      if constexpr (kIsInteger<T>) first = static_cast<T>(first + 1);
      if constexpr (kIsFloat<T>) first = std::nextafter(first, std::numeric_limits<T>::infinity());
    }
    return P::Between(first, T(high.value));
  }
};

// True for the tests of NewTextMatcher.
bool IsTextTest(PredicateKind test) { return test >= PredicateKind::kLike; }

bool NeedsOrder(PredicateKind test) {
  return test != PredicateKind::kEqual && test != PredicateKind::kNotEqual &&
         test != PredicateKind::kIn && test != PredicateKind::kIsNull &&
         test != PredicateKind::kIsNotNull;
}

// The number of constants that a test needs; nullopt if any number is allowed.
std::optional<size_t> NumConstants(PredicateKind test) {
  switch (test) {
    case PredicateKind::kIsNull:
    case PredicateKind::kIsNotNull:
      return 0;
    case PredicateKind::kIn:
      return std::nullopt;
    case PredicateKind::kBetween:
      return 2;
    default:
      return 1;
  }
}

class Binder {
 public:
  Binder(const Schema& schema, std::string_view name) : schema_(schema), name_(name) {}

  absl::StatusOr<BoundFilter> Bind(const Filter& filter, bool negated, size_t depth) {
    if (depth > kMaxDepth) return Error("the filter is nested more than ", kMaxDepth, " deep");
    switch (filter.kind()) {
      case Filter::Kind::kColumn:
        return BindColumn(filter, negated);
      case Filter::Kind::kNot:
        if (filter.operands().size() != 1) return Error("Not has one operand");
        return Bind(filter.operands()[0], !negated, depth + 1);
      default:
        break;
    }
    // Not(And(a, b)) is Or(Not(a), Not(b)).
    BoundFilter bound;
    bound.kind =
        (filter.kind() == Filter::Kind::kAnd) != negated ? Filter::Kind::kAnd : Filter::Kind::kOr;
    for (const Filter& operand : filter.operands()) {
      CFILE_ASSIGN_OR_RETURN(BoundFilter part, Bind(operand, negated, depth + 1));
      if (part.kind == bound.kind) {
        for (BoundFilter& inner : part.operands) bound.operands.push_back(std::move(inner));
      } else {
        bound.operands.push_back(std::move(part));
      }
    }
    if (bound.operands.size() == 1) {
      BoundFilter only = std::move(bound.operands[0]);
      return only;
    }
    return bound;
  }

 private:
  template <typename... Parts>
  absl::Status Error(const Parts&... parts) const {
    return absl::InvalidArgumentError(
        absl::StrCat(absl::string_view(name_.data(), name_.size()), ": ", parts...));
  }

  absl::StatusOr<size_t> FindColumn(const std::string& name) const {
    const std::optional<size_t> column = schema_.Find(name);
    if (!column) return Error("there is no column ", name);
    if (schema_.columns[*column].levels.max_repetition > 0) {
      return Error("column ", name,
                   " has any number of values in a row, so it cannot be in a filter");
    }
    return *column;
  }

  absl::StatusOr<BoundFilter> BindColumn(const Filter& filter, bool negated) {
    CFILE_ASSIGN_OR_RETURN(const size_t column, FindColumn(filter.column()));
    const ColumnSchema& schema = schema_.columns[column];
    const PredicateKind test = filter.test();
    if (filter.other_column()) return BindColumns(filter, column, negated);
    const std::optional<size_t> num_constants = NumConstants(test);
    const bool with_escape = (test == PredicateKind::kLike || test == PredicateKind::kILike) &&
                             filter.literals().size() == 2;
    if (num_constants && !with_escape && *num_constants != filter.literals().size()) {
      return Error("column ", filter.column(), ": the test has ", *num_constants,
                   " constants, found ", filter.literals().size());
    }
    if (IsTextTest(test)) return BindText(filter, column, negated);
    if (schema.type.physical() == PhysicalType::kInt96 && NeedsOrder(test))
      return Error("column ", filter.column(), ": values of type int96 have no order");
    if (test == PredicateKind::kHasPrefix && schema.type.physical() != PhysicalType::kBytes) {
      return Error("column ", filter.column(), ": values of type ", schema.type.ToString(),
                   " have no prefix");
    }
    BoundFilter bound{.kind = Filter::Kind::kColumn, .column = column, .number = next_number_++};
    // IsNull is never unknown: its negation is IsNotNull, which is true for the other rows.
    const bool of_nulls = test == PredicateKind::kIsNull || test == PredicateKind::kIsNotNull;
    const bool flip = of_nulls && negated;
    bound.negated = negated && !of_nulls;
    const PredicateKind actual = !flip                            ? test
                                 : test == PredicateKind::kIsNull ? PredicateKind::kIsNotNull
                                                                  : PredicateKind::kIsNull;
    CFILE_RETURN_IF_ERROR(VisitType(schema.type, [&]<typename T>(std::type_identity<T>) {
      std::vector<Constant<T>> constants;
      for (const Literal& literal : filter.literals()) {
        std::optional<Constant<T>> constant = MakeConstant<T>(schema.type, literal);
        if (!constant) {
          return Error("column ", filter.column(), " has type ", schema.type.ToString(),
                       ", which cannot be compared with ", NameOf(literal));
        }
        constants.push_back(*std::move(constant));
      }
      bound.predicate = actual;
      bound.matcher =
          std::make_shared<PredicateMatcher<T>>(PredicateMaker<T>::Make(actual, constants));
      return absl::OkStatus();
    }));
    return bound;
  }

  absl::StatusOr<BoundFilter> BindColumns(const Filter& filter, size_t column, bool negated) {
    CFILE_ASSIGN_OR_RETURN(const size_t other, FindColumn(*filter.other_column()));
    const ColumnType& type = schema_.columns[column].type;
    const ColumnType& other_type = schema_.columns[other].type;
    if (filter.test() > PredicateKind::kGreaterOrEqual)
      return Error("column ", filter.column(), ": this test does not compare columns");
    if (type != other_type) {
      return Error("columns ", filter.column(), " and ", *filter.other_column(),
                   " cannot be compared: they have the types ", type.ToString(), " and ",
                   other_type.ToString());
    }
    if (type.physical() == PhysicalType::kInt96 && NeedsOrder(filter.test()))
      return Error("column ", filter.column(), ": values of type int96 have no order");
    return BoundFilter{.kind = Filter::Kind::kColumn,
                       .column = column,
                       .predicate = filter.test(),
                       .matcher = MatchSome(),
                       .negated = negated,
                       .other_column = other,
                       .number = next_number_++};
  }

  absl::StatusOr<BoundFilter> BindText(const Filter& filter, size_t column, bool negated) {
    const ColumnType& type = schema_.columns[column].type;
    const bool is_text =
        type.data_type == DataType::kString || type.data_type == DataType::kVarchar;
    const bool takes_bytes = filter.test() == PredicateKind::kContains;
    if (!is_text && !(takes_bytes && type.physical() == PhysicalType::kBytes)) {
      return Error("column ", filter.column(), ": values of type ", type.ToString(),
                   " are no strings");
    }
    std::vector<std::string> constants;
    for (const Literal& literal : filter.literals()) {
      const auto* text = std::get_if<std::string>(&literal.value());
      if (text == nullptr)
        return Error("column ", filter.column(), ": the pattern is ", NameOf(literal));
      constants.push_back(*text);
    }
    auto matcher = NewTextMatcher(filter.test(), constants);
    if (!matcher.ok()) {
      return absl::Status(
          matcher.status().code(),
          Error("column ", filter.column(), ": ", matcher.status().message()).message());
    }
    return BoundFilter{.kind = Filter::Kind::kColumn,
                       .column = column,
                       .predicate = filter.test(),
                       .matcher = *std::move(matcher),
                       .negated = negated,
                       .number = next_number_++};
  }

  const Schema& schema_;
  const std::string_view name_;
  size_t next_number_ = 0;
};

}  // namespace

absl::StatusOr<BoundFilter> BindFilter(const Filter& filter, const Schema& schema,
                                       std::string_view name) {
  return Binder(schema, name).Bind(filter, /*negated=*/false, 1);
}

absl::StatusOr<std::string> KeyOfLiteral(const ColumnType& type, const Literal& literal) {
  return VisitType(type, [&]<typename T>(std::type_identity<T>) -> absl::StatusOr<std::string> {
    if constexpr (!std::is_same_v<T, Int96>) {
      const std::optional<Constant<T>> constant = MakeConstant<T>(type, literal);
      if (constant && constant->place == Constant<T>::Place::kExact &&
          encodings::IsKey(T(constant->value))) {
        std::string key;
        AppendKey<T>(T(constant->value), key);
        if (type.type_length == 0 || key.size() == type.type_length) return key;
      }
    }
    return absl::InvalidArgumentError(absl::StrCat(
        NameOf(literal), " is not a value with an order of the type ", type.ToString()));
  });
}

absl::StatusOr<std::vector<size_t>> BindColumns(
    const std::optional<std::vector<std::string>>& names, const Schema& schema,
    const std::string& table) {
  std::vector<size_t> columns;
  if (!names) {
    for (size_t i = 0; i < schema.columns.size(); ++i) columns.push_back(i);
    return columns;
  }
  for (const std::string& name : *names) {
    const size_t before = columns.size();
    if (const std::optional<size_t> column = schema.Find(name)) {
      columns.push_back(*column);
    } else if (schema.tree) {
      // A group stands for the leaf columns whose paths begin with its path.
      for (size_t i = 0; i < schema.columns.size(); ++i) {
        if (schema.columns[i].name.starts_with(name + ".")) columns.push_back(i);
      }
    }
    if (columns.size() == before)
      return absl::InvalidArgumentError(absl::StrCat(table, ": there is no column ", name));
  }
  return columns;
}

}  // namespace cfile::internal
