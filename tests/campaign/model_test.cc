// The tests make random operations on random files, and compare each result with the same rows in a
// vector.
#include <algorithm>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cfile/inspect.h"
#include "cfile/levels.h"
#include "cfile/reader.h"
#include "cfile/scan.h"
#include "gmock/gmock.h"
#include "tests/campaign/amount.h"
#include "tests/campaign/random_files.h"
#include "tests/cfile/level_testing.h"
#include "tests/cfile/scan_testing.h"

namespace cfile::campaign {
namespace {

using namespace testing_support;
using encodings::KeyEqual;
using testing::HasSubstr;

constexpr uint64_t kOperationsPerFile = 250;

// The last operations, which are printed if a result is wrong.
class History {
 public:
  template <typename... Parts>
  void Add(const Parts&... parts) {
    if (tail_.size() == 20) tail_.pop_front();
    tail_.push_back(absl::StrCat(parts...));
  }
  std::string tail() const { return absl::StrJoin(tail_, "\n"); }

 private:
  std::deque<std::string> tail_;
};

// Some cursors of one file, and the state that each cursor should have.
template <typename T>
class Model {
 public:
  Model(const Reader& reader, const Column<T>& column, Random& random)
      : reader_(reader), rows_(column.rows), column_(column), random_(random) {
    EXPECT_TRUE(VisitBlocks(reader, [&](const BlockInfo& block) {
                  block_begins_.push_back(block.first_ordinal);
                  return true;
                }).ok());
    block_begins_.push_back(rows_.size());
    auto cursor = reader.NewCursor<T>();
    EXPECT_TRUE(cursor.ok()) << cursor.status();
    if (cursor.ok()) walkers_.push_back({*std::move(cursor), 0, rows_.size(), true});
  }

  void Run(uint64_t operations) {
    for (uint64_t i = 0; i < operations && !walkers_.empty(); ++i) {
      const size_t number = random_() % walkers_.size();
      Walker& walker = walkers_[number];
      history_.Add("cursor ", number, " at ", walker.ordinal, " of ", walker.end);
      Step(walker);
      if (!testing::Test::HasFatalFailure() && !testing::Test::HasNonfatalFailure()) {
        for (const Walker& each : walkers_) EXPECT_EQ(each.cursor.ordinal(), each.ordinal);
      }
      if (testing::Test::HasFailure()) {
        ADD_FAILURE() << "operation " << i << ", the last ones were\n" << history_.tail();
        return;
      }
    }
  }

 private:
  struct Walker {
    Cursor<T> cursor;
    uint64_t ordinal;
    uint64_t end;  // the end of the cursor's range
    // False after an error: `ordinal` and `end` may be wrong, and only a seek must succeed.
    bool sure;
  };

  uint64_t size() const { return rows_.size(); }
  bool positional() const { return reader_.info().positional_index_root.has_value(); }
  bool keyed() const { return reader_.info().value_index_root.has_value(); }

  void Step(Walker& walker) {
    switch (random_() % 40) {
      case 0:
        return StepScan();
      case 1:
        return StepBlocks();
      case 2:
      case 3:
        return StepTake(walker);
      case 4:
      case 5:
        return StepSeekMany(walker);
      case 6:
      case 7:
      case 8:
        return StepRange(walker);
      case 9:
      case 10:
      case 11:
        return StepKeyRange(walker);
      case 12:
      case 13:
        return StepClone(walker);
      case 14:
      case 15:
      case 16:
      case 17:
      case 18:
        return StepGet(walker);
      default:
        break;
    }
    if (random_() % 2 == 0) return StepNext(walker);
    return random_() % 2 == 0 ? StepSeek(walker) : StepSeekToKey(walker);
  }

  // Returns usually the ordinal of a row, and sometimes one of the first ordinals after the last
  // row.
  uint64_t RandomOrdinal() { return random_() % (size() + 1 + random_() % 3); }

  Owned<T> RandomKey() { return Constant<T>(reader_.type(), rows_, random_); }

  void Place(Walker& walker, uint64_t ordinal, uint64_t end) {
    walker.ordinal = ordinal;
    walker.end = end;
    walker.sure = true;
  }
  // Sets the expected position to the cursor's present position.
  void PlaceWhereItIs(Walker& walker, bool sure) {
    ASSERT_LE(walker.cursor.ordinal(), size());
    Place(walker, walker.cursor.ordinal(), size());
    walker.sure = sure;
  }
  void Lose(Walker& walker) { PlaceWhereItIs(walker, /*sure=*/false); }

  // EXPECTs that `status`, the result of a seek to `ordinal`, is success if and only if this seek
  // must succeed. Returns true on success.
  bool Reached(const absl::Status& status, uint64_t ordinal, uint64_t limit) {
    if (ordinal > limit) {
      EXPECT_TRUE(absl::IsOutOfRange(status)) << status;
    } else if (!positional() && ordinal > 0 && ordinal < size()) {
      // Without a positional index, only a seek inside the cursor's block succeeds.
      EXPECT_TRUE(status.ok() || absl::IsFailedPrecondition(status)) << status;
    } else {
      EXPECT_TRUE(status.ok()) << status;
    }
    return status.ok();
  }

  // EXPECTs that `status`, the result of a search for keys, is success if and only if this search
  // must succeed. Returns true on success.
  bool Searched(const absl::Status& status, bool with_nan) {
    if (with_nan) {
      EXPECT_TRUE(absl::IsInvalidArgument(status) || (!keyed() && !status.ok())) << status;
    } else if (!keyed()) {
      EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
    } else {
      EXPECT_TRUE(status.ok()) << status;
    }
    return status.ok();
  }

  KeyPosition Find(const Owned<T>& key) const {
    const auto found =
        std::lower_bound(rows_.begin(), rows_.end(), T(key),
                         [](const auto& row, const T& wanted) { return T(*row) < wanted; });
    return {.ordinal = static_cast<uint64_t>(found - rows_.begin()),
            .exact = found != rows_.end() && T(**found) == T(key)};
  }

  void ExpectRow(const std::optional<T>& found, uint64_t ordinal) {
    ASSERT_EQ(found.has_value(), rows_[ordinal].has_value()) << "ordinal " << ordinal;
    ASSERT_TRUE(!found || KeyEqual<T>(*found, T(*rows_[ordinal]))) << "ordinal " << ordinal;
  }

  void StepSeek(Walker& walker) {
    const uint64_t ordinal = RandomOrdinal();
    history_.Add("SeekToOrdinal ", ordinal);
    if (!Reached(walker.cursor.SeekToOrdinal(ordinal), ordinal, size())) return Lose(walker);
    Place(walker, ordinal, size());
  }

  void StepSeekToKey(Walker& walker) {
    const Owned<T> key = RandomKey();
    history_.Add("SeekToKey, to row ", keyed() ? Find(key).ordinal : 0);
    const auto found = walker.cursor.SeekToKey(T(key));
    if (!Searched(found.status(), !encodings::IsKey<T>(T(key)))) return Lose(walker);
    ASSERT_EQ(found->ordinal, Find(key).ordinal);
    ASSERT_EQ(found->exact, Find(key).exact);
    Place(walker, found->ordinal, size());
  }

  void StepSeekMany(Walker& walker) {
    std::vector<Owned<T>> owned(random_() % (random_() % 4 == 0 ? 200 : 5));
    bool with_nan = false;
    for (auto&& key : owned) {  // std::vector<bool> has no references to its elements
      key = RandomKey();
      if (!encodings::IsKey<T>(T(key)) && random_() % 8 != 0) key = {};
      with_nan |= !encodings::IsKey<T>(T(key));
    }
    const auto keys = std::make_unique<T[]>(owned.size());
    std::copy(owned.begin(), owned.end(), keys.get());
    std::vector<KeyPosition> positions(owned.size());
    history_.Add("SeekMany of ", owned.size());
    const absl::Status status =
        walker.cursor.SeekMany(std::span<const T>(keys.get(), owned.size()), positions);
    if (owned.empty()) {
      ASSERT_TRUE(status.ok()) << status;
    } else if (!Searched(status, with_nan)) {
      return Lose(walker);
    }
    for (size_t i = 0; i < owned.size(); ++i) {
      ASSERT_EQ(positions[i].ordinal, Find(owned[i]).ordinal) << "key " << i;
      ASSERT_EQ(positions[i].exact, Find(owned[i]).exact) << "key " << i;
    }
    PlaceWhereItIs(walker, walker.sure || !owned.empty());
  }

  void StepNext(Walker& walker) {
    const size_t max_rows = 1 + random_() % (random_() % 4 == 0 ? 1000 : 10);
    history_.Add("Next ", max_rows);
    const auto batch = walker.cursor.Next(max_rows);
    if (!walker.sure && !positional() && absl::IsFailedPrecondition(batch.status())) {
      return Lose(walker);
    }
    ASSERT_TRUE(batch.ok()) << batch.status();
    ASSERT_EQ(batch->first_ordinal, walker.ordinal);
    const uint64_t left = walker.end - std::min(walker.ordinal, walker.end);
    ASSERT_LE(batch->size(), std::min<uint64_t>(max_rows, left));
    ASSERT_TRUE(!batch->empty() || left == 0 || !walker.sure);
    ASSERT_NO_FATAL_FAILURE(ExpectBatch(*batch, column_));
    if (!batch->empty()) {
      ASSERT_EQ(BlockOf(walker.ordinal), BlockOf(walker.ordinal + batch->size() - 1));
    }
    walker.ordinal += batch->size();
  }

  void StepGet(Walker& walker) {
    const uint64_t ordinal = RandomOrdinal();
    history_.Add("Get ", ordinal);
    const auto found = walker.cursor.Get(ordinal);
    if (ordinal >= size()) {
      ASSERT_TRUE(absl::IsOutOfRange(found.status())) << found.status();
      return Lose(walker);
    }
    if (!Reached(found.status(), ordinal, size())) return Lose(walker);
    ExpectRow(*found, ordinal);
    Place(walker, ordinal + 1, size());
  }

  void StepTake(Walker& walker) {
    std::vector<uint64_t> ordinals(random_() % (random_() % 4 == 0 ? 200 : 5));
    const uint64_t limit = size() + (random_() % 16 == 0 ? 2 : 0);
    if (limit == 0) ordinals.clear();
    for (uint64_t& ordinal : ordinals) ordinal = random_() % limit;
    if (random_() % 2 == 0) std::sort(ordinals.begin(), ordinals.end());
    history_.Add("Take of ", ordinals.size(), " below ", limit);
    const absl::Status status = walker.cursor.Take(ordinals, taken_);
    const auto beyond = std::find_if(ordinals.begin(), ordinals.end(),
                                     [&](uint64_t ordinal) { return ordinal >= size(); });
    if (beyond != ordinals.end()) {
      ASSERT_TRUE(absl::IsOutOfRange(status)) << status;
      ASSERT_THAT(std::string(status.message()), HasSubstr(absl::StrCat("ordinal ", *beyond)));
      return Lose(walker);
    }
    if (!positional() && absl::IsFailedPrecondition(status) && !ordinals.empty()) {
      return Lose(walker);
    }
    ASSERT_TRUE(status.ok()) << status;
    const Batch<T> batch = taken_.batch();
    ASSERT_EQ(batch.size(), ordinals.size());
    for (size_t i = 0; i < ordinals.size(); ++i) {
      ASSERT_NO_FATAL_FAILURE(ExpectRow(
          batch.IsValid(i) ? std::optional<T>(batch.values[i]) : std::nullopt, ordinals[i]));
    }
    PlaceWhereItIs(walker, walker.sure || !ordinals.empty());
  }

  void StepRange(Walker& walker) {
    OrdinalRange range{RandomOrdinal(), RandomOrdinal()};
    if (range.end < range.begin) std::swap(range.begin, range.end);
    history_.Add("SeekToRange ", range.begin, " ", range.end);
    const absl::Status status = walker.cursor.SeekToRange(range);
    if (range.end > size()) {
      ASSERT_TRUE(absl::IsOutOfRange(status)) << status;
      return Lose(walker);
    }
    if (!Reached(status, range.begin, size())) return Lose(walker);
    Place(walker, range.begin, range.end);
  }

  void StepKeyRange(Walker& walker) {
    std::optional<Owned<T>> owned_low, owned_high;
    if (random_() % 4 != 0) owned_low = RandomKey();
    if (random_() % 4 != 0) owned_high = RandomKey();
    const auto view = [](const std::optional<Owned<T>>& key) {
      return key ? std::optional<T>(T(*key)) : std::nullopt;
    };
    const std::optional<T> low = view(owned_low), high = view(owned_high);
    OrdinalRange expected{0, size()};
    if (keyed() && owned_high) expected.end = Find(*owned_high).ordinal;
    if (keyed() && owned_low) expected.begin = std::min(Find(*owned_low).ordinal, expected.end);
    history_.Add("SeekToKeyRange ", low ? "low " : "", high ? "high " : "", expected.begin, " ",
                 expected.end);
    const auto found = walker.cursor.SeekToKeyRange(low, high);
    if (low || high) {
      const bool with_nan = (low && !encodings::IsKey(*low)) || (high && !encodings::IsKey(*high));
      if (!Searched(found.status(), with_nan)) return Lose(walker);
    }
    ASSERT_TRUE(found.ok()) << found.status();
    ASSERT_EQ(found->begin, expected.begin);
    ASSERT_EQ(found->end, expected.end);
    Place(walker, found->begin, found->end);
  }

  // Adds a clone of the cursor. If there are four cursors, the clone replaces one of them.
  void StepClone(Walker& walker) {
    history_.Add("Clone");
    auto clone = walker.cursor.Clone();
    ASSERT_TRUE(clone.ok()) << clone.status();
    ASSERT_EQ(clone->ordinal(), walker.ordinal);
    Walker copy{*std::move(clone), walker.ordinal, walker.end, walker.sure};
    if (walkers_.size() < 4) {
      walkers_.push_back(std::move(copy));
    } else {
      walkers_[random_() % walkers_.size()] = std::move(copy);
    }
  }

  void StepScan() {
    const auto predicate = RandomPredicate<T>(reader_.type(), rows_, random_);
    OrdinalRange range = kAllRows;
    if (random_() % 2 == 0) {
      range.begin = RandomOrdinal();
      range.end = range.begin + RandomOrdinal();
    }
    history_.Add("Scan by predicate ", static_cast<int>(predicate.kind()), " of ", range.begin,
                 " to ", range.end);
    ExpectScan(reader_, predicate, rows_, range);
  }

  // Returns the number of the block that holds the row.
  ptrdiff_t BlockOf(uint64_t ordinal) const {
    return std::upper_bound(block_begins_.begin(), block_begins_.end(), ordinal) -
           block_begins_.begin() - 1;
  }

  void StepBlocks() {
    const uint64_t ordinal = RandomOrdinal();
    history_.Add("BlockBegin ", ordinal);
    const auto begin = reader_.BlockBegin(ordinal);
    if (ordinal >= size()) {
      ASSERT_TRUE(begin.ok()) << begin.status();
      ASSERT_EQ(*begin, size());
    } else if (!positional()) {
      ASSERT_TRUE(absl::IsFailedPrecondition(begin.status())) << begin.status();
    } else {
      ASSERT_TRUE(begin.ok()) << begin.status();
      ASSERT_EQ(*begin, block_begins_[static_cast<size_t>(BlockOf(ordinal))]);
    }
    const size_t max_ranges = 1 + random_() % 20;
    history_.Add("Split ", max_ranges);
    const auto ranges = reader_.Split(max_ranges);
    if (!positional() && absl::IsFailedPrecondition(ranges.status())) return;
    ASSERT_TRUE(ranges.ok()) << ranges.status();
    ASSERT_LE(ranges->size(), max_ranges);
    uint64_t at = 0;
    for (const OrdinalRange& range : *ranges) {
      ASSERT_EQ(range.begin, at);
      ASSERT_GT(range.end, range.begin);
      ASSERT_EQ(block_begins_[static_cast<size_t>(BlockOf(at))], at);
      at = range.end;
    }
    ASSERT_EQ(at, size());
  }

  const Reader& reader_;
  const testing_support::Rows<T>& rows_;
  const Column<T>& column_;
  Random& random_;
  std::vector<uint64_t> block_begins_;  // the last element is the end of the last block
  std::vector<Walker> walkers_;
  OwnedBatch<T> taken_;
  History history_;
};

// Makes random operations on a file of records: cursors go to random records and read from there in
// batches of any size.
template <typename T>
void RunRecords(const Reader& reader, const Leaf<T>& leaf, uint64_t operations, Random& random) {
  struct Walker {
    LevelCursor<T> cursor;
    LeafPlace place;
  };
  std::vector<Walker> walkers;
  for (int i = 0; i < 2; ++i) {
    auto cursor = reader.NewLevelCursor<T>();
    ASSERT_TRUE(cursor.ok()) << cursor.status();
    walkers.push_back({*std::move(cursor), {}});
  }
  History history;
  for (uint64_t i = 0; i < operations; ++i) {
    Walker& walker = walkers[random() % walkers.size()];
    history.Add("cursor ", &walker - walkers.data(), " at ", walker.place.record);
    if (random() % 2 == 0) {
      const bool same = random() % 4 == 0;
      const uint64_t record =
          same ? walker.place.record : random() % (leaf.num_records() + 1 + random() % 3);
      history.Add("SeekToRecord ", record);
      const absl::Status status = walker.cursor.SeekToRecord(record);
      if (record > leaf.num_records()) {
        EXPECT_TRUE(absl::IsOutOfRange(status)) << status;
        // After a refused seek, the position inside a long record is not known.
        EXPECT_TRUE(walker.cursor.SeekToRecord(0).ok());
        walker.place = {};
      } else {
        EXPECT_TRUE(status.ok()) << status;
        walker.place = PlaceOf(leaf, record);
      }
    } else {
      const size_t max_records = 1 + random() % (random() % 4 == 0 ? 300 : 5);
      history.Add("Next ", max_records);
      const auto batch = walker.cursor.Next(max_records);
      EXPECT_TRUE(batch.ok()) << batch.status();
      if (batch.ok()) ExpectLevels(*batch, max_records, leaf, walker.place);
    }
    EXPECT_EQ(walker.cursor.record(), walker.place.record);
    if (testing::Test::HasFailure()) {
      ADD_FAILURE() << "operation " << i << ", the last ones were\n" << history.tail();
      return;
    }
  }
}

TEST(Model, CursorsAreAsAVector) {
  const uint64_t files = Amount(1000, 20'000);
  ForRandomFiles(files, []<typename T>(uint64_t seed, const encodings::Pair& pair, Random& random,
                                       std::type_identity<T>) {
    const auto model = MakeRandomFile<T>(pair, RandomNumRows(random), random);
    SCOPED_TRACE(Describe(seed, model.type, model.options));
    const auto file = WriteColumn<T>(model.type, model.options, model.column);
    const auto reader = OpenRandomly(file, random);
    ASSERT_TRUE(reader.ok()) << reader.status();
    Model<T>(*reader, model.column, random).Run(kOperationsPerFile);
  });
  Done("operations", files * kOperationsPerFile);
}

TEST(Model, RecordsAreAsAVector) {
  const uint64_t files = Amount(300, 5000);
  ForRandomFiles(files, []<typename T>(uint64_t seed, const encodings::Pair& pair, Random& random,
                                       std::type_identity<T>) {
    const auto model = MakeRandomLeafFile<T>(pair, random);
    SCOPED_TRACE(Describe(seed, model.type, model.options));
    const auto file = WriteLeaf<T>(model.type, model.options, model.leaf, random);
    const auto reader = OpenRandomly(file, random);
    ASSERT_TRUE(reader.ok()) << reader.status();
    RunRecords<T>(*reader, model.leaf, kOperationsPerFile, random);
  });
  Done("operations", files * kOperationsPerFile);
}

}  // namespace
}  // namespace cfile::campaign
