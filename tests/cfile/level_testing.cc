#include "tests/cfile/level_testing.h"

#include <algorithm>
#include <memory>
#include <span>

#include "encodings/core/key_order.h"
#include "gtest/gtest.h"

namespace cfile::testing_support {

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

template <typename T>
Leaf<T> RandomLeaf(const ColumnType& type, const LevelLimits& limits, size_t num_records,
                   size_t long_record, std::mt19937_64& random) {
  Leaf<T> leaf{.limits = limits};
  const int spread = static_cast<int>(random() % 2);
  const uint64_t dense = random() % 3;  // 0: few nulls
  const auto definition = [&](uint64_t lowest) {
    const uint64_t max = limits.max_definition;
    if (max == 0 || (dense == 0 && random() % 20 != 0)) return static_cast<uint16_t>(max);
    return static_cast<uint16_t>(lowest + random() % (max - lowest + 1));
  };
  const uint64_t with_elements = limits.max_definition - 1u;  // lowest level of an element
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

template <typename T>
std::vector<uint8_t> WriteLeaf(const ColumnType& type, const WriterOptions& options,
                               const Leaf<T>& leaf, std::mt19937_64& random) {
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

template <typename T>
LeafPlace PlaceOf(const Leaf<T>& leaf, uint64_t record) {
  return {record, leaf.entries.at(record), leaf.first_values.at(record)};
}

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

template <typename T>
absl::Status ReadRest(LevelCursor<T>& cursor, const Leaf<T>* leaf, std::mt19937_64& random,
                      size_t max_batches) {
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

#define CFILE_INSTANTIATE(T)                                                               \
  template void Index<T>(Leaf<T>&);                                                        \
  template Leaf<T> RandomLeaf<T>(const ColumnType&, const LevelLimits&, size_t, size_t,    \
                                 std::mt19937_64&);                                        \
  template std::vector<uint8_t> WriteLeaf<T>(const ColumnType&, const WriterOptions&,      \
                                             const Leaf<T>&, std::mt19937_64&);            \
  template LeafPlace PlaceOf<T>(const Leaf<T>&, uint64_t);                                 \
  template void ExpectLevels<T>(const LevelBatch<T>&, size_t, const Leaf<T>&, LeafPlace&); \
  template absl::Status ReadRest<T>(LevelCursor<T>&, const Leaf<T>*, std::mt19937_64&, size_t);
CFILE_FOR_EACH_VALUE_TYPE(CFILE_INSTANTIATE)
#undef CFILE_INSTANTIATE

}  // namespace cfile::testing_support
