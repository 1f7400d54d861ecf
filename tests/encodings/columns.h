// Columns for tests of encodings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "encodings/registry.h"
#include "gtest/gtest.h"

namespace cfile::encodings {

// A row of the registry and a type that it supports. Most tests run once per pair.
struct Pair {
  Encoding encoding;
  PhysicalType type;
  const EncodingRow& row() const { return *FindEncoding(encoding); }
};

std::vector<Pair> AllPairs();

// A name for googletest, such as "rle_int8".
std::string PairName(const testing::TestParamInfo<Pair>& info);

enum class Shape { kConstant, kSorted, kRandom, kSmallRange, kRuns, kExtremes, kLong };
inline constexpr Shape kShapes[] = {Shape::kConstant,   Shape::kSorted, Shape::kRandom,
                                    Shape::kSmallRange, Shape::kRuns,   Shape::kExtremes,
                                    Shape::kLong};

// Values, and the bytes that they may point to. The values are an array, because std::vector<bool>
// has no span.
template <typename T>
struct Column {
  std::unique_ptr<T[]> values;
  size_t size = 0;
  std::list<std::string> texts;

  std::span<T> span() const { return {values.get(), size}; }
};

// The following functions exist for each type of CFILE_FOR_EACH_VALUE_TYPE.

template <typename T>
Column<T> MakeColumn(Shape shape, size_t size, uint32_t type_length, uint64_t seed);

// Keeps only the values that may be keys, and sorts them in the order of keys.
template <typename T>
void SortKeys(Column<T>& column);

// Compares NaNs by their bits.
template <typename T>
testing::AssertionResult SameValues(std::span<const T> found, std::span<const T> expected);

}  // namespace cfile::encodings
