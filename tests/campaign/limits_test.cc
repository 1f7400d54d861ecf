// Writes files with random limits. Either the writer fails with an error that names a limit, or a
// reader with the same limits reads all rows.
#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/campaign/amount.h"
#include "tests/campaign/random_files.h"
#include "tests/cfile/limits_property.h"

namespace cfile::campaign {
namespace {

using testing_support::Leaf;
using testing_support::TryColumn;
using testing_support::TryLeaf;

// Sets low limits, which some of the files exceed. The largest block is at least twice as large as
// the usual block.
void LowerLimits(WriterOptions& options, Random& random) {
  if (random() % 2 == 0) {
    const size_t largest = OneOf<size_t, 6>({40, 150, 600, 2500, 10'000, 70'000}, random);
    options.max_block_size_bytes = largest + random() % largest;
    options.block_size_bytes = 1 + random() % (random() % 2 == 0 ? largest / 2 : 1 + largest / 20);
  }
  if (random() % 2 == 0) {
    options.max_dictionary_values = OneOf<size_t, 5>({0, 1, 2, 20, 300}, random);
  }
  if (random() % 4 == 0) options.max_index_size_bytes = 500 + random() % 60'000;
  if (random() % 4 == 0) {
    options.max_metadata_size_bytes = 30 + random() % 3000;
    options.metadata.assign(OneOf<size_t, 4>({0, 1, 20, 400}, random),
                            {"", std::string(random() % 200, 'm')});
  }
  if (random() % 8 == 0) options.max_value_size_bytes = random() % 60;
}

std::string LimitsText(const WriterOptions& options) {
  return absl::StrCat("limits: block ", options.max_block_size_bytes, ", dictionary ",
                      options.max_dictionary_values, ", index ", options.max_index_size_bytes,
                      ", metadata ", options.max_metadata_size_bytes, ", value ",
                      options.max_value_size_bytes);
}

// Makes some strings longer, up to slightly more than the largest size that fits into a block.
void Lengthen(size_t largest, std::string& value, Random& random) {
  if (random() % 16 != 0 || largest > 200'000) return;
  const size_t size = random() % 3 == 0 ? largest - std::min<size_t>(largest, 60 + random() % 10)
                                        : random() % largest;
  value.resize(std::max(value.size(), size), static_cast<char>(random() % 3 == 0 ? 'x' : random()));
}

class Counts {
 public:
  void Add(const absl::Status& status) { ++(status.ok() ? written_ : refused_); }
  ~Counts() {
    Done("written", written_);
    Done("refused", refused_);
    EXPECT_GT(written_, 0u);
    EXPECT_GT(refused_, 0u);
  }

 private:
  uint64_t written_ = 0, refused_ = 0;
};

TEST(Limits, OfColumns) {
  Counts counts;
  ForRandomFiles(Amount(2000, 100'000), [&]<typename T>(uint64_t seed, const encodings::Pair& pair,
                                                        Random& random, std::type_identity<T>) {
    auto model = MakeRandomFile<T>(pair, RandomNumRows(random), random);
    LowerLimits(model.options, random);
    SCOPED_TRACE(
        absl::StrCat(Describe(seed, model.type, model.options), ", ", LimitsText(model.options)));
    if constexpr (encodings::kIsBytes<T>) {
      for (auto& row : model.column.rows) {
        if (row && model.type.physical() == PhysicalType::kBytes)
          Lengthen(model.options.max_block_size_bytes, *row, random);
      }
      if (model.options.value_index) {
        std::sort(model.column.rows.begin(), model.column.rows.end(),
                  [](const auto& a, const auto& b) { return encodings::KeyLess<T>(T(*a), T(*b)); });
      }
    }
    // Puts many equal values before the others, so that values that compress well come before
    // values that do not.
    if (random() % 2 == 0 && !model.column.rows.empty() && !model.options.value_index) {
      model.column.rows.insert(model.column.rows.begin(), random() % 2000,
                               model.column.rows[random() % model.column.rows.size()]);
    }
    const absl::Status status = TryColumn<T>(model.type, model.options, model.column, random);
    counts.Add(status);
    // A block is refused only if a single value is too large. With a value index, a node with two
    // keys may also be too large.
    const size_t largest = model.options.max_block_size_bytes;
    if (largest < 2000 || model.options.value_index) return;
    if constexpr (encodings::kIsBytes<T>) {
      for (const auto& row : model.column.rows) {
        if (row && row->size() + 64 > largest) return;
      }
    }
    EXPECT_THAT(std::string(status.message()), testing::Not(testing::HasSubstr("max_block_size")));
  });
}

TEST(Limits, OfLeaves) {
  Counts counts;
  ForRandomFiles(Amount(1000, 50'000), [&]<typename T>(uint64_t seed, const encodings::Pair& pair,
                                                       Random& random, std::type_identity<T>) {
    auto model = MakeRandomLeafFile<T>(pair, random);
    LowerLimits(model.options, random);
    SCOPED_TRACE(
        absl::StrCat(Describe(seed, model.type, model.options), ", ", LimitsText(model.options)));
    if constexpr (encodings::kIsBytes<T>) {
      for (auto& value : model.leaf.values) {
        if (model.type.physical() == PhysicalType::kBytes)
          Lengthen(model.options.max_block_size_bytes, value, random);
      }
    }
    counts.Add(TryLeaf<T>(model.type, model.options, model.leaf, random));
  });
}

}  // namespace
}  // namespace cfile::campaign
