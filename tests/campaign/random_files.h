// Random columns and options for the model campaigns. The files use every encoding and type of the
// registry in turn. Everything else is random, down to blocks of one value and index nodes of two
// entries. The templates exist for each type of CFILE_FOR_EACH_VALUE_TYPE.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "absl/status/statusor.h"
#include "cfile/options.h"
#include "cfile/reader.h"
#include "gtest/gtest.h"
#include "tests/campaign/amount.h"
#include "tests/cfile/column_testing.h"
#include "tests/cfile/level_testing.h"
#include "tests/encodings/columns.h"

namespace cfile::campaign {

using testing_support::Column;
using Random = std::mt19937_64;

template <typename T, size_t kSize>
T OneOf(const std::array<T, kSize>& choices, Random& random) {
  return choices[random() % kSize];
}

// A column and the options of its file.
template <typename T>
struct RandomFile {
  ColumnType type;
  WriterOptions options;
  Column<T> column;
};

inline size_t RandomNumRows(Random& random) {
  return random() % 8 == 0 ? random() % 4 : random() % 900;
}

// Returns a random file of up to `num_rows` rows. A sorted column has no NaN, and therefore may
// have fewer rows.
template <typename T>
RandomFile<T> MakeRandomFile(const encodings::Pair& pair, size_t num_rows, Random& random);

// A leaf of records and the options of its file.
template <typename T>
struct RandomLeafFile {
  ColumnType type;
  WriterOptions options;
  testing_support::Leaf<T> leaf;
};

template <typename T>
RandomLeafFile<T> MakeRandomLeafFile(const encodings::Pair& pair, Random& random);

// Calls visit(seed, pair, random, type_identity<T>) for `files` files, with the pairs of the
// registry in turn, until a test fails. The contents of a file depend only on its seed.
template <typename Visit>
void ForRandomFiles(uint64_t files, const Visit& visit) {
  const std::vector<encodings::Pair> pairs = encodings::AllPairs();
  for (uint64_t seed = 0; seed < files; ++seed) {
    Random random(seed);
    const encodings::Pair& pair = pairs[seed % pairs.size()];
    encodings::VisitPhysicalType(
        pair.type, [&]<typename T>(std::type_identity<T> t) { visit(seed, pair, random, t); });
    if (testing::Test::HasFailure()) return;
  }
  Done("files", files);
}

// Opens `file` with a source in memory, like a mapped file, or with a source that is read in
// pieces. The caches have any size.
absl::StatusOr<Reader> OpenRandomly(const std::vector<uint8_t>& file, Random& random);

// Returns a description of a file, for the error message of a test.
std::string Describe(uint64_t seed, const ColumnType& type, const WriterOptions& options);

}  // namespace cfile::campaign
