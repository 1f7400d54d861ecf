// Leaves for tests: functions that make records of random levels and values, write them into memory
// and compare what is read back.
#pragma once

#include <algorithm>
#include <memory>
#include <random>
#include <vector>

#include "cfile/levels.h"
#include "encodings/core/key_order.h"
#include "gtest/gtest.h"
#include "tests/cfile/column_testing.h"

namespace cfile::testing_support {

// The entries of a leaf in memory. Tests compare files with them.
template <typename T>
struct Leaf {
  LevelLimits limits;
  std::vector<uint16_t> repetition, definition;  // one per entry, also if the maximum is 0
  std::vector<Owned<T>> values;
  // For each record, the index of its first entry and of its first value. The last elements are the
  // total numbers of entries and of values.
  std::vector<size_t> entries, first_values;

  size_t num_records() const { return entries.size() - 1; }
};

// Computes `entries` and `first_values` from the levels.
template <typename T>
void Index(Leaf<T>& leaf) {
  size_t values = 0;
  leaf.entries.clear();
  leaf.first_values.clear();
  for (size_t i = 0; i < leaf.repetition.size(); ++i) {
    if (leaf.repetition[i] == 0) {
      leaf.entries.push_back(i);
      leaf.first_values.push_back(values);
    }
    values += leaf.definition[i] == leaf.limits.max_definition ? 1 : 0;
  }
  leaf.entries.push_back(leaf.repetition.size());
  leaf.first_values.push_back(values);
}

// Returns records whose levels are valid for some schema. A Kudu array has either elements, or a
// single entry whose definition level says why there are no elements. `long_record` is the number
// of entries of the middle record; 0: no record is long.
template <typename T, typename Random>
Leaf<T> RandomLeaf(const ColumnType& type, const LevelLimits& limits, size_t num_records,
                   size_t long_record, Random& random) {
  Leaf<T> leaf{.limits = limits};
  const int spread = static_cast<int>(random() % 2);
  const uint64_t dense = random() % 3;  // 0: few nulls
  const auto definition = [&](uint64_t lowest) {
    const uint64_t max = limits.max_definition;
    if (max == 0 || (dense == 0 && random() % 20 != 0)) return static_cast<uint16_t>(max);
    return static_cast<uint16_t>(lowest + random() % (max - lowest + 1));
  };
  const uint64_t with_elements = limits.max_definition - 1u;  // lowest definition level of elements
  for (size_t record = 0; record < num_records; ++record) {
    size_t entries = limits.max_repetition == 0 ? 1 : 1 + random() % (1 + random() % 8);
    if (record == num_records / 2 && long_record > 0) entries = long_record;
    for (size_t i = 0; i < entries; ++i) {
      leaf.repetition.push_back(
          static_cast<uint16_t>(i == 0 ? 0 : 1 + random() % limits.max_repetition));
      const bool lone = limits.kudu_array && entries == 1;
      leaf.definition.push_back(definition(limits.kudu_array && !lone ? with_elements : 0));
      if (leaf.definition.back() == limits.max_definition)
        leaf.values.push_back(RandomValue<T>(type, spread, random));
    }
  }
  Index(leaf);
  return leaf;
}

// Returns a file that holds `leaf`. Appends batches of random size. EXPECTs that no call fails.
template <typename T, typename Random>
std::vector<uint8_t> WriteLeaf(const ColumnType& type, const WriterOptions& options,
                               const Leaf<T>& leaf, Random& random) {
  std::vector<uint8_t> file;
  auto writer = LevelWriter<T>::Create(NewMemorySink(&file, "test"), type, leaf.limits, options);
  EXPECT_TRUE(writer.ok()) << writer.status();
  if (!writer.ok()) return file;
  std::unique_ptr<T[]> values(new T[leaf.values.size()]);
  std::copy(leaf.values.begin(), leaf.values.end(), values.get());
  size_t value = 0;
  for (size_t begin = 0; begin < leaf.repetition.size();) {
    const size_t count =
        std::min<size_t>(leaf.repetition.size() - begin,
                         random() % 4 == 0 ? random() % 10 : leaf.repetition.size() / 2 + 1);
    const auto held = static_cast<size_t>(
        std::count(leaf.definition.begin() + static_cast<ptrdiff_t>(begin),
                   leaf.definition.begin() + static_cast<ptrdiff_t>(begin + count),
                   leaf.limits.max_definition));
    const auto levels = [&](const std::vector<uint16_t>& all, uint16_t max) {
      return max == 0 ? std::span<const uint16_t>() : std::span(all).subspan(begin, count);
    };
    const absl::Status status = writer->Append(levels(leaf.repetition, leaf.limits.max_repetition),
                                               levels(leaf.definition, leaf.limits.max_definition),
                                               {values.get() + value, held});
    EXPECT_TRUE(status.ok()) << status;
    if (!status.ok()) return file;
    begin += count;
    value += held;
  }
  EXPECT_EQ(writer->totals().num_rows, leaf.num_records());
  EXPECT_EQ(writer->totals().num_entries, leaf.repetition.size());
  EXPECT_EQ(writer->totals().num_present, leaf.values.size());
  const absl::Status finished = writer->Finish();
  EXPECT_TRUE(finished.ok()) << finished;
  EXPECT_EQ(writer->totals().bytes_written, file.size());
  return file;
}

// A position in a leaf: a record, the first entry to read, and the first value to read.
struct LeafPlace {
  uint64_t record = 0;
  size_t entry = 0;
  size_t value = 0;
};
template <typename T>
LeafPlace PlaceOf(const Leaf<T>& leaf, uint64_t record) {
  return {record, leaf.entries.at(record), leaf.first_values.at(record)};
}

// EXPECTs that `batch` has at most `max_records` records and equals the entries of `leaf` from
// `place` on. Moves `place` to the end of the batch.
template <typename T>
void ExpectLevels(const LevelBatch<T>& batch, size_t max_records, const Leaf<T>& leaf,
                  LeafPlace& place) {
  EXPECT_EQ(batch.first_record, place.record);
  EXPECT_LE(batch.num_records, max_records);
  EXPECT_LE(batch.num_entries, 65536u);
  place.record += batch.num_records;
  if (batch.empty()) {
    EXPECT_EQ(place.record, leaf.num_records());
    return;
  }
  const auto equal = [&](std::span<const uint16_t> levels, const std::vector<uint16_t>& all,
                         uint16_t max) {
    EXPECT_EQ(levels.size(), max == 0 ? 0 : batch.num_entries);
    return std::equal(levels.begin(), levels.end(),
                      all.begin() + static_cast<ptrdiff_t>(place.entry));
  };
  EXPECT_TRUE(equal(batch.repetition, leaf.repetition, leaf.limits.max_repetition));
  EXPECT_TRUE(equal(batch.definition, leaf.definition, leaf.limits.max_definition));
  place.entry += batch.num_entries;
  // The batch holds whole records, or only some entries of one record that is too long for a batch.
  EXPECT_TRUE(batch.num_records == 0 ? place.entry < leaf.entries.at(place.record + 1)
                                     : place.entry == leaf.entries.at(place.record));
  EXPECT_LE(place.value + batch.values.size(), leaf.values.size());
  for (const T& found : batch.values)
    EXPECT_TRUE(encodings::KeyEqual<T>(found, T(leaf.values[place.value++])));
}

// Reads from the cursor's record to the end, but at most `max_batches` batches of random size.
// Returns OK or the first error. EXPECTs the entries of `leaf`; if `leaf` is null, compares
// nothing.
template <typename T, typename Random>
absl::Status ReadRest(LevelCursor<T>& cursor, const Leaf<T>* leaf, Random& random,
                      size_t max_batches = SIZE_MAX) {
  LeafPlace place;
  if (leaf != nullptr) place = PlaceOf(*leaf, cursor.record());
  while (max_batches-- > 0) {
    const size_t max_records = 1 + random() % (random() % 2 == 0 ? 3 : 1000);
    const auto batch = cursor.Next(max_records);
    if (!batch.ok()) return batch.status();
    if (leaf != nullptr) {
      ExpectLevels(*batch, max_records, *leaf, place);
      EXPECT_EQ(cursor.record(), place.record);
      if (testing::Test::HasFailure()) return absl::InternalError("not what was written");
    }
    if (batch->empty()) return absl::OkStatus();
  }
  return absl::OkStatus();
}

}  // namespace cfile::testing_support
