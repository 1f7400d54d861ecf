// Counts and compares the levels of a column (cfile/levels.h explains levels).
#pragma once

#include <cstddef>
#include <cstdint>

namespace cfile::encodings {

// Returns how many of `count` levels are equal to `wanted`.
size_t CountLevels(const uint16_t* levels, size_t count, uint16_t wanted);

// Returns the largest of `count` levels, or 0 if `count` is 0.
uint16_t LargestLevel(const uint16_t* levels, size_t count);

// Says which entries of a leaf column are values of a node, which is the leaf or is above the leaf.
// An entry is a value of the node if its repetition level is at most `repetition` and its
// definition level is at least `definition`.
// The value is null if the definition level is less than `valid_definition`.
struct LevelRule {
  uint16_t repetition = 0;
  uint16_t definition = 0;
  uint16_t valid_definition = 0;
  // If the node is a list: the same two limits for the elements of the list.
  bool is_list = false;
  uint16_t element_repetition = 0;
  uint16_t element_definition = 0;
};

struct FoundLevelValues {
  size_t values = 0;
  size_t elements = 0;  // of all lists; 0 if the node is not a list
};

// FindLevelValues may write so many numbers and bytes after those of the values that it finds.
inline constexpr size_t kLevelValuesAhead = 64;

// Finds the values of a node in `count` entries, which have one level of each kind.
// Writes 1 to `valid` for each value that is not null, and 0 for each null.
// If the node is a list, also writes the begin of each value to `begins`. This is the number of
// elements before the value, plus `elements_before`. Otherwise `begins` may be null.
// Precondition: `begins` and `valid` have room for count + kLevelValuesAhead numbers.
FoundLevelValues FindLevelValues(const LevelRule& rule, const uint16_t* repetition,
                                 const uint16_t* definition, size_t count, uint32_t elements_before,
                                 int32_t* begins, uint8_t* valid);

}  // namespace cfile::encodings
