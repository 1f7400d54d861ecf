#include "tests/cfile/scan_testing.h"

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <type_traits>

#include "encodings/core/key_order.h"
#include "gtest/gtest.h"
#include "tests/encodings/columns.h"

namespace cfile::testing_support {
namespace {

// Returns whether the row satisfies the predicate, by the definition of predicates.
template <typename T>
bool Matches(const Predicate<T>& predicate, const std::optional<Owned<T>>& row) {
  using Kind = typename Predicate<T>::Kind;
  if (predicate.kind() == Kind::kIsNull) return !row;
  if (!row) return false;
  const T value(*row);
  const auto constant = [&](size_t i) { return T(predicate.constants()[i]); };
  switch (predicate.kind()) {
    case Kind::kEqual:
      return value == constant(0);
    case Kind::kNotEqual:
      return !(value == constant(0));
    case Kind::kLess:
      return value < constant(0);
    case Kind::kLessOrEqual:
      return value < constant(0) || value == constant(0);
    case Kind::kGreater:
      return constant(0) < value;
    case Kind::kGreaterOrEqual:
      return constant(0) < value || value == constant(0);
    case Kind::kBetween:
      return !(value < constant(0)) && !(constant(1) < value) && value == value &&
             constant(0) == constant(0) && constant(1) == constant(1);
    case Kind::kIn:
      for (size_t i = 0; i < predicate.constants().size(); ++i) {
        if (value == constant(i)) return true;
      }
      return false;
    case Kind::kHasPrefix:
      if constexpr (encodings::kIsBytes<T>)
        return value.substr(0, constant(0).size()) == constant(0);
      return false;
    default:
      return true;
  }
}

}  // namespace

ColumnType TypeOf(PhysicalType physical) {
  for (const ColumnType& type : AllColumnTypes()) {
    if (type.physical() == physical) return type;
  }
  return {};
}

template <typename T>
Owned<T> Constant(const ColumnType& type, const Rows<T>& rows, std::mt19937_64& random) {
  Owned<T> value = RandomValue<T>(type, static_cast<int>(random() % 2), random);
  if (!rows.empty() && random() % 4 != 0) {
    const auto& row = rows[random() % rows.size()];
    if (row) value = *row;
  }
  if constexpr (encodings::kIsBytes<T>) {
    switch (random() % 8) {
      case 0:
        value += '\0';
        break;
      case 1:
        value = value.substr(0, random() % (value.size() + 1));
        break;
      case 2:
        value += "\xff\xff";
        break;
      case 3:
        value = random() % 2 == 0 ? "" : std::string(random() % 100, '\xff');
        break;
      default:
        break;
    }
  } else if constexpr (!std::is_same_v<T, Int96>) {
    if (random() % 8 == 0)
      value = encodings::MakeColumn<T>(encodings::Shape::kExtremes, 1, 0, random()).values[0];
  }
  return value;
}

template <typename T>
Predicate<T> RandomPredicate(const ColumnType& type, const Rows<T>& rows, std::mt19937_64& random) {
  const Owned<T> one = Constant<T>(type, rows, random);
  const Owned<T> other = Constant<T>(type, rows, random);
  const T a(one), b(other);
  using P = Predicate<T>;
  const bool ordered = !std::is_same_v<T, Int96>;
  switch (random() % (ordered ? 14 : 6)) {
    case 0:
      return P::IsNull();
    case 1:
      return P::IsNotNull();
    case 2:
      return P::NotEqual(a);
    case 3: {
      std::vector<Owned<T>> constants;
      for (size_t i = random() % (random() % 3 == 0 ? 30 : 6); i > 0; --i)
        constants.push_back(Constant<T>(type, rows, random));
      const auto views = std::make_unique<T[]>(constants.size());
      std::copy(constants.begin(), constants.end(), views.get());
      return P::In(std::span<const T>(views.get(), constants.size()));
    }
    case 4:
    case 5:
      return P::Equal(a);
    case 6:
      return P::Less(a);
    case 7:
      return P::LessOrEqual(a);
    case 8:
      return P::Greater(a);
    case 9:
      return P::GreaterOrEqual(a);
    case 10:
      if constexpr (encodings::kIsBytes<T>)
        return P::HasPrefix(a.substr(0, random() % (a.size() + 1)));
      [[fallthrough]];
    default:
      return a < b || random() % 8 == 0 ? P::Between(a, b) : P::Between(b, a);
  }
}

template <typename T>
void ExpectScan(const Reader& reader, const Predicate<T>& predicate, const Rows<T>& rows,
                const OrdinalRange& range, ScanCounters* counters) {
  auto scan = reader.NewScan<T>(predicate, range);
  ASSERT_TRUE(scan.ok()) << scan.status();
  uint64_t next = std::min<uint64_t>(range.begin, rows.size());
  const uint64_t end = std::min<uint64_t>(range.end, rows.size());
  uint64_t matches = 0;
  while (true) {
    const auto batch = scan->Next();
    ASSERT_TRUE(batch.ok()) << batch.status();
    if (batch->empty()) break;
    ASSERT_EQ(batch->values.size(), batch->size());
    for (size_t i = 0; i < batch->size(); ++i, ++next, ++matches) {
      while (next < end && !Matches(predicate, rows[next])) ++next;
      ASSERT_LT(next, end) << "found ordinal " << batch->ordinals[i];
      ASSERT_EQ(batch->ordinals[i], next);
      ASSERT_TRUE(encodings::KeyEqual<T>(batch->values[i], rows[next] ? T(*rows[next]) : T{}));
    }
  }
  while (next < end && !Matches(predicate, rows[next])) ++next;
  ASSERT_GE(next, end) << "not found";
  ASSERT_EQ(scan->counters().matches, matches);
  ASSERT_TRUE(scan->Next()->empty());
  if (counters != nullptr) *counters = scan->counters();
}

#define CFILE_INSTANTIATE(T)                                                                     \
  template Owned<T> Constant<T>(const ColumnType&, const Rows<T>&, std::mt19937_64&);            \
  template Predicate<T> RandomPredicate<T>(const ColumnType&, const Rows<T>&, std::mt19937_64&); \
  template void ExpectScan<T>(const Reader&, const Predicate<T>&, const Rows<T>&,                \
                              const OrdinalRange&, ScanCounters*);
CFILE_FOR_EACH_VALUE_TYPE(CFILE_INSTANTIATE)
#undef CFILE_INSTANTIATE

}  // namespace cfile::testing_support
