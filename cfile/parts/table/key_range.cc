#include "cfile/parts/table/key_range.h"

#include <type_traits>
#include <vector>

#include "cfile/compound_key.h"
#include "cfile/core/format/key_codec.h"
#include "cfile/parts/scan/predicate_matcher.h"
#include "cfile/types.h"

namespace cfile::internal {
namespace {

// Returns the conditions that must be true for the rows of `filter`.
std::vector<const BoundFilter*> Conjuncts(const BoundFilter& filter) {
  std::vector<const BoundFilter*> conjuncts;
  const auto is_test = [](const BoundFilter& one) {
    return one.kind == Filter::Kind::kColumn && !one.other_column;
  };
  if (is_test(filter)) conjuncts.push_back(&filter);
  if (filter.kind == Filter::Kind::kAnd) {
    for (const BoundFilter& operand : filter.operands) {
      if (is_test(operand)) conjuncts.push_back(&operand);
    }
  }
  return conjuncts;
}

// Builds the range column by column.
class KeyRangeBuilder {
 public:
  explicit KeyRangeBuilder(const Schema& schema) : columns_(schema.key_types()), key_(columns_) {}

  // Narrows the range by the conditions on the next key column. Returns true if they allow exactly
  // one value, so that the column after it narrows the range further.
  bool Add(const std::vector<const BoundFilter*>& conditions) {
    for (const BoundFilter* condition : conditions) {
      if (AddEqual(*condition)) return true;
    }
    // A null matches only IsNull, which AddEqual handles, so all other conditions exclude nulls.
    if (columns_[column_].nullable && !conditions.empty()) ExcludeNulls();
    const std::string prefix(key_.bytes());
    for (const BoundFilter* condition : conditions) {
      if (!condition->negated) AddBounds(*condition, prefix);
    }
    return false;
  }

  // The number of columns that have one value in the range.
  size_t num_equal() const { return column_; }

  std::optional<KeyRange> Finish() {
    if (!any_) return std::nullopt;
    const std::string key(key_.bytes());
    // Without bounds on the next column, the keys begin with the values so far. If all columns have
    // one value, there is one key; longer keys have a longer text in the last column.
    KeyRange range{.low = key, .high = column_ == columns_.size() ? key + '\0' : AfterPrefix(key)};
    if (low_) range.low = *low_;
    if (high_) range.high = *high_;
    return range;
  }

 private:
  bool AddEqual(const BoundFilter& condition) {
    bool added = false;
    if (condition.negated) return false;
    const KeyColumn& column = columns_[column_];
    if (column.nullable && condition.predicate == PredicateKind::kIsNull) {
      key_.AddNull();
      added = any_ = true;
    }
    if (condition.predicate == PredicateKind::kEqual) {
      VisitType(column.type, [&]<typename T>(std::type_identity<T>) {
        // -0 and 0 are equal but have different keys: they are a range.
        if (kIsFloat<T> || condition.matcher->form() != ValueMatcher::Form::kRange) return;
        const T& value = *static_cast<const T*>(condition.matcher->low());
        if constexpr (kIsBytes<T>) {
          if (fixed_size() && value.size() != fixed_size()) return;
        }
        key_.Add<T>(value);
        added = any_ = true;
      });
    }
    if (added) ++column_;
    return added;
  }

  void ExcludeNulls() {
    CompoundKey key = key_;
    std::string null(key.AddNull().bytes());
    if (columns_[column_].nulls_last) {
      high_ = std::move(null);
    } else {
      low_ = AfterPrefix(std::move(null));
    }
    any_ = true;
  }

  void AddBounds(const BoundFilter& condition, const std::string& prefix) {
    const ValueMatcher& matcher = *condition.matcher;
    if (matcher.form() != ValueMatcher::Form::kRange && matcher.form() != ValueMatcher::Form::kList)
      return;
    if (fixed_size()) return;  // the bounds of the range have other sizes
    any_ = true;
    const auto key_of = [&](const void* value) {
      CompoundKey key = key_;
      VisitType(columns_[column_].type, [&]<typename T>(std::type_identity<T>) {
        key.Add<T>(*static_cast<const T*>(value));
      });
      return std::string(key.bytes());
    };
    if (std::string low = key_of(matcher.low()); !low_ || *low_ < low) low_ = std::move(low);
    std::optional<std::string> high = AfterPrefix(prefix);
    if (const void* const end = matcher.end()) high = key_of(end);
    if (high && (!high_ || *high < *high_)) high_ = std::move(high);
  }

  // The size in bytes of the values of the next key column; 0 if they have no fixed size.
  size_t fixed_size() const {
    const ColumnType& type = columns_[column_].type;
    return type.physical() == PhysicalType::kFixedBytes ? type.type_length : 0;
  }

  const std::vector<KeyColumn> columns_;
  size_t column_ = 0;  // the next key column
  CompoundKey key_;    // the values that all rows have in the columns before it
  bool any_ = false;
  std::optional<std::string> low_;
  std::optional<std::string> high_;
};

}  // namespace

std::optional<KeyRange> KeyRangeOf(const BoundFilter& filter, const Schema& schema) {
  const std::vector<const BoundFilter*> conjuncts = Conjuncts(filter);
  if (schema.key_columns.empty() || conjuncts.empty()) return std::nullopt;
  KeyRangeBuilder builder(schema);
  std::optional<size_t> first;
  for (const size_t column : schema.key_columns) {
    std::vector<const BoundFilter*> conditions;
    for (const BoundFilter* condition : conjuncts) {
      if (condition->column != column) continue;
      // A negated condition narrows the range only in a nullable column: it excludes the nulls.
      if (!condition->negated || schema.columns[column].nullable) conditions.push_back(condition);
    }
    if (!first && !conditions.empty()) first = conditions[0]->number;
    if (conditions.empty() || !builder.Add(conditions)) break;
  }
  std::optional<KeyRange> range = builder.Finish();
  if (!range) return range;
  range->condition = *first;
  const size_t num_conditions = filter.kind == Filter::Kind::kAnd ? filter.operands.size() : 1;
  // Each condition says that one of the columns has a value.
  range->exact = builder.num_equal() == num_conditions && conjuncts.size() == num_conditions;
  return range;
}

}  // namespace cfile::internal
