// Counts and compares the levels of a column (cfile/levels.h explains levels).
#pragma once

#include <cstddef>
#include <cstdint>

namespace cfile::encodings {

size_t CountLevels(const uint16_t* levels, size_t count, uint16_t wanted);

// Returns the largest of `count` levels, or 0 if `count` is 0.
uint16_t LargestLevel(const uint16_t* levels, size_t count);

// Says which entries of a leaf column are values of a node: of the leaf, or of a list or struct
// around it. They have a repetition level of at most `repetition` and a definition level of at
// least `definition`. The value is null if the definition level is less than `valid_definition`.
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

// FindLevelValues may write up to this many elements too many to each of its output arrays.
inline constexpr size_t kLevelValuesAhead = 64;

// Finds the values of a node in `count` entries, which have one level of each kind. Writes to
// `valid`, for each value, 1, or 0 if it is null. If the node is a list, each value is a list, and
// `begins` gets, for each, `elements_before` plus the number of elements in the lists before it;
// otherwise `begins` may be null. Precondition: `begins` and `valid` have room for count +
// kLevelValuesAhead elements.
FoundLevelValues FindLevelValues(const LevelRule& rule, const uint16_t* repetition,
                                 const uint16_t* definition, size_t count, uint32_t elements_before,
                                 int32_t* begins, uint8_t* valid);

}  // namespace cfile::encodings
