// Many threads use a few files and one small cache, with all operations that readers and cursors
// may do at the same time. The tests compare each result with the rows in memory. ThreadSanitizer
// checks for races (preset tsan).
#include <algorithm>
#include <barrier>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cfile/block_cache.h"
#include "cfile/inspect.h"
#include "cfile/levels.h"
#include "cfile/reader.h"
#include "cfile/records.h"
#include "cfile/scan.h"
#include "cfile/table.h"
#include "gtest/gtest.h"
#include "tests/campaign/amount.h"
#include "tests/campaign/random_files.h"
#include "tests/campaign/record_table.h"
#include "tests/cfile/column_testing.h"
#include "tests/cfile/level_testing.h"
#include "tests/cfile/scripted_io.h"
#include "tests/cfile/temporary_directory.h"

namespace cfile::campaign {
namespace {

using namespace testing_support;
using encodings::KeyEqual;

constexpr size_t kThreads = 16;
constexpr size_t kRows = 6000;

// Returns options with small blocks, so that indexes have several levels.
WriterOptions SmallBlocks(Encoding encoding, Compression compression) {
  return {.encoding = encoding,
          .compression = compression,
          .block_size_bytes = 2000,
          .max_values_per_block = 300,
          .index_block_size_bytes = 300};
}

// A cursor with a range, which one thread leaves for another thread.
template <typename T>
struct Handover {
  Cursor<T> cursor;
  uint64_t ordinal;
  uint64_t end;
};

// A sorted file. `mutex` guards the fields below it. The other fields do not change.
template <typename T>
struct SharedFile {
  ColumnType type;
  Column<T> column;
  std::vector<uint8_t> bytes;
  std::shared_ptr<const Source> source;
  ReaderOptions options;

  std::mutex mutex;
  std::optional<Reader> reader;         // the present reader; older ones may still be in use
  std::optional<Handover<T>> handover;  // a thread that stores one takes the previous one
};

template <typename T>
using Files = std::vector<std::unique_ptr<SharedFile<T>>>;

template <typename T>
void AddFile(const ColumnType& type, Encoding encoding, Compression compression, bool in_memory,
             const ReaderOptions& options, Files<T>& files, Random& random) {
  auto file = std::make_unique<SharedFile<T>>();
  file->type = type;
  file->column = RandomColumn<T>(type, kRows, -1, /*sorted=*/true, random);
  WriterOptions writer_options = SmallBlocks(encoding, compression);
  writer_options.value_index = true;
  writer_options.bloom_filter_bits_per_value = 10;
  file->bytes = WriteColumn<T>(type, writer_options, file->column);
  file->source = NewMemoryViewSource(file->bytes);
  if (!in_memory) file->source = std::make_shared<ScriptedSource>(file->source);
  file->options = options;
  auto reader = Reader::Open(file->source, options);
  ASSERT_TRUE(reader.ok()) << reader.status();
  file->reader = *std::move(reader);
  files.push_back(std::move(file));
}

// The operations of one thread on the files of one type of values.
template <typename T>
class Worker {
 public:
  Worker(Files<T>& files, uint64_t seed) : files_(files), random_(seed), cursors_(files.size()) {}

  void Step() {
    const size_t number = random_() % files_.size();
    SharedFile<T>& file = *files_[number];
    if (!cursors_[number]) {
      auto cursor = ReaderOf(file).template NewCursor<T>();
      ASSERT_TRUE(cursor.ok()) << cursor.status();
      cursors_[number] = *std::move(cursor);
    }
    Cursor<T>& cursor = *cursors_[number];
    switch (random_() % 64) {
      case 0:
        return Reopen(file, cursors_[number]);
      case 1:
        return AskReader(file);
      case 2:
        return ScanSome(file);
      case 3:
        return SeekMany(file, cursor);
      case 4:
        return Take(file, cursor);
      case 5:
      case 6:
      case 7:
        return HandOver(file, cursor);
      case 8:
        // Inspect reads the whole file, and is therefore called seldom.
        if (random_() % 64 == 0) return Inspect(file);
        [[fallthrough]];
      default:
        return random_() % 2 == 0 ? Get(file, cursor) : SeekToKey(file, cursor);
    }
  }

 private:
  // Returns a copy of the present reader.
  Reader ReaderOf(SharedFile<T>& file) {
    const std::lock_guard lock(file.mutex);
    return *file.reader;
  }

  // Opens the file again. Destroys the thread's cursor and the previous reader. These may be the
  // last users of the reader's contents.
  void Reopen(SharedFile<T>& file, std::optional<Cursor<T>>& cursor) {
    auto reader = Reader::Open(file.source, file.options);
    ASSERT_TRUE(reader.ok()) << reader.status();
    cursor.reset();
    std::optional<Reader> old = *std::move(reader);
    const std::lock_guard lock(file.mutex);
    std::swap(file.reader, old);
  }

  void AskReader(SharedFile<T>& file) {
    const Reader reader = ReaderOf(file);
    const auto statistics = reader.Statistics();
    ASSERT_TRUE(statistics.ok()) << statistics.status();
    ASSERT_NE(*statistics, nullptr);
    ASSERT_EQ((*statistics)->file.present_count, kRows);
    const auto ranges = reader.Split(1 + random_() % 8);
    ASSERT_TRUE(ranges.ok()) << ranges.status();
    uint64_t rows = 0;
    for (const OrdinalRange& range : *ranges) rows += range.size();
    ASSERT_EQ(rows, kRows);
    const uint64_t ordinal = random_() % kRows;
    const auto begin = reader.BlockBegin(ordinal);
    ASSERT_TRUE(begin.ok()) << begin.status();
    ASSERT_LE(*begin, ordinal);
    const auto got = reader.template Get<T>(ordinal);
    ASSERT_TRUE(got.ok()) << got.status();
    ASSERT_TRUE(KeyEqual<T>(T(**got), T(*file.column.rows[ordinal])));
  }

  void Inspect(SharedFile<T>& file) {
    const Reader reader = ReaderOf(file);
    const VerifyReport report = Verify(reader);
    ASSERT_TRUE(report.ok()) << report.damages[0].status;
    ASSERT_EQ(report.num_rows, kRows);
    uint64_t rows = 0;
    const absl::Status status = VisitBlocks(reader, [&](const BlockInfo& block) {
      EXPECT_EQ(block.first_ordinal, rows);
      rows += block.num_rows;
      return true;
    });
    ASSERT_TRUE(status.ok()) << status;
    ASSERT_EQ(rows, kRows);
  }

  KeyPosition Find(const SharedFile<T>& file, const T& key) const {
    const auto& rows = file.column.rows;
    const auto found =
        std::lower_bound(rows.begin(), rows.end(), key,
                         [](const auto& row, const T& wanted) { return T(*row) < wanted; });
    return {.ordinal = static_cast<uint64_t>(found - rows.begin()),
            .exact = found != rows.end() && T(**found) == key};
  }
  void ExpectFound(const SharedFile<T>& file, const T& key, const KeyPosition& found) {
    const KeyPosition expected = Find(file, key);
    ASSERT_EQ(found.ordinal, expected.ordinal);
    ASSERT_EQ(found.exact, expected.exact);
  }
  Owned<T> RandomKey(const SharedFile<T>& file) {
    if (random_() % 4 != 0) return *file.column.rows[random_() % kRows];
    return RandomValue<T>(file.type, 1, random_);
  }

  void Get(const SharedFile<T>& file, Cursor<T>& cursor) {
    const uint64_t ordinal = random_() % kRows;
    const auto got = cursor.Get(ordinal);
    ASSERT_TRUE(got.ok()) << got.status();
    ASSERT_TRUE(got->has_value() && KeyEqual<T>(**got, T(*file.column.rows[ordinal])));
  }

  void SeekToKey(SharedFile<T>& file, Cursor<T>& cursor) {
    const Owned<T> key = RandomKey(file);
    const auto found = cursor.SeekToKey(T(key));
    ASSERT_TRUE(found.ok()) << found.status();
    ExpectFound(file, T(key), *found);
  }

  void SeekMany(SharedFile<T>& file, Cursor<T>& cursor) {
    std::vector<Owned<T>> owned;
    for (int i = 0; i < 50; ++i) owned.push_back(RandomKey(file));
    const std::vector<T> keys(owned.begin(), owned.end());
    std::vector<KeyPosition> positions(keys.size());
    const absl::Status status = cursor.SeekMany(keys, positions);
    ASSERT_TRUE(status.ok()) << status;
    for (size_t i = 0; i < keys.size(); ++i) ExpectFound(file, keys[i], positions[i]);
  }

  void Take(const SharedFile<T>& file, Cursor<T>& cursor) {
    std::vector<uint64_t> ordinals(50);
    for (uint64_t& ordinal : ordinals) ordinal = random_() % kRows;
    const absl::Status status = cursor.Take(ordinals, taken_);
    ASSERT_TRUE(status.ok()) << status;
    for (size_t i = 0; i < ordinals.size(); ++i) {
      ASSERT_TRUE(KeyEqual<T>(taken_.batch().values[i], T(*file.column.rows[ordinals[i]])));
    }
  }

  void ScanSome(SharedFile<T>& file) {
    const Owned<T> low = RandomKey(file);
    const Reader reader = ReaderOf(file);
    auto scan = reader.NewScan<T>(Predicate<T>::Equal(T(low)));
    ASSERT_TRUE(scan.ok()) << scan.status();
    uint64_t next = Find(file, T(low)).ordinal;
    while (true) {
      const auto batch = scan->Next();
      ASSERT_TRUE(batch.ok()) << batch.status();
      if (batch->empty()) break;
      for (const uint64_t ordinal : batch->ordinals) ASSERT_EQ(ordinal, next++);
    }
    ASSERT_TRUE(next == kRows || T(*file.column.rows[next]) != T(low));
  }

  // Reads some rows of a range, leaves a clone of the cursor for another thread, and reads the rest
  // of the range. Then takes the previous clone that a thread left, and reads the rest of its
  // range.
  void HandOver(SharedFile<T>& file, Cursor<T>& cursor) {
    const uint64_t begin = random_() % kRows;
    const uint64_t end = std::min<uint64_t>(kRows, begin + random_() % 100);
    const absl::Status status = cursor.SeekToRange({begin, end});
    ASSERT_TRUE(status.ok()) << status;
    uint64_t ordinal = begin;
    ASSERT_NO_FATAL_FAILURE(ReadSome(file, cursor, end, 1 + random_() % 2, ordinal));
    auto clone = cursor.Clone();
    ASSERT_TRUE(clone.ok()) << clone.status();
    std::optional<Handover<T>> own(Handover<T>{*std::move(clone), ordinal, end});
    {
      const std::lock_guard lock(file.mutex);
      std::swap(file.handover, own);
    }
    ASSERT_NO_FATAL_FAILURE(ReadSome(file, cursor, end, 100, ordinal));
    ASSERT_EQ(ordinal, end);
    if (!own) return;
    ASSERT_EQ(own->cursor.ordinal(), own->ordinal);
    ASSERT_NO_FATAL_FAILURE(ReadSome(file, own->cursor, own->end, 100, own->ordinal));
    ASSERT_EQ(own->ordinal, own->end);
    cursor = std::move(own->cursor);
  }

  // Reads at most `batches` batches and EXPECTs their rows. Moves `ordinal`.
  void ReadSome(const SharedFile<T>& file, Cursor<T>& cursor, uint64_t end, size_t batches,
                uint64_t& ordinal) {
    for (; batches > 0 && ordinal < end; --batches) {
      const auto batch = cursor.Next(1 + random_() % 50);
      ASSERT_TRUE(batch.ok()) << batch.status();
      ASSERT_FALSE(batch->empty());
      ASSERT_EQ(batch->first_ordinal, ordinal);
      ExpectBatch(*batch, file.column);
      ordinal += batch->size();
    }
  }

  Files<T>& files_;
  Random random_;
  std::vector<std::optional<Cursor<T>>> cursors_;  // by file
  OwnedBatch<T> taken_;
};

// A file of records that does not change.
template <typename T>
struct SharedLeaf {
  Leaf<T> leaf;
  std::vector<uint8_t> bytes;
  std::optional<Reader> reader;
};

template <typename T>
void OpenLeaf(const ColumnType& type, Encoding encoding, Compression compression,
              const ReaderOptions& options, SharedLeaf<T>& file, Random& random) {
  file.leaf = RandomLeaf<T>(type, {.max_repetition = 2, .max_definition = 3}, kRows, 0, random);
  file.bytes = WriteLeaf(type, SmallBlocks(encoding, compression), file.leaf, random);
  auto reader =
      Reader::Open(std::make_shared<ScriptedSource>(NewMemoryViewSource(file.bytes)), options);
  ASSERT_TRUE(reader.ok()) << reader.status();
  file.reader = *std::move(reader);
}

// The operations of one thread on records: on a shared leaf, and on a table with its own cursors.
template <typename T>
class RecordWorker {
 public:
  RecordWorker(const SharedLeaf<T>& file, const TableReader& table, uint64_t seed)
      : file_(file), table_(table), random_(seed) {}

  void Step() {
    const absl::Status status = Do();
    ASSERT_TRUE(status.ok()) << status;
  }

 private:
  absl::Status Do() {
    const uint64_t rows = table_.num_rows();
    const uint64_t begin = random_() % rows;
    const uint64_t end = std::min(rows, begin + random_() % 20);
    switch (random_() % 4) {
      case 0:
        if (!ids_ || random_() % 64 == 0) {
          CFILE_ASSIGN_OR_RETURN(ids_, table_.NewCursor<int64_t>(kId));
        }
        return ReadIds(*ids_, begin, end);
      case 1:
        if (!items_ || random_() % 64 == 0) {
          CFILE_ASSIGN_OR_RETURN(items_, table_.NewLevelCursor<int64_t>(kNumber));
        }
        return ReadItems(*items_, begin, end);
      case 2:
        if (!records_ || random_() % 64 == 0) {
          CFILE_ASSIGN_OR_RETURN(records_, RecordReader::Open(table_));
        }
        if (random_() % 1024 == 0) return VerifyTable();
        return ReadRecords(*records_, begin, std::min(end, begin + 3));
      default:
        if (!levels_ || random_() % 64 == 0) {
          CFILE_ASSIGN_OR_RETURN(levels_, file_.reader->template NewLevelCursor<T>());
        }
        CFILE_RETURN_IF_ERROR(levels_->SeekToRecord(random_() % (kRows + 1)));
        return ReadRest(*levels_, &file_.leaf, random_, 3);
    }
  }

  absl::Status VerifyTable() {
    const VerifyReport records = VerifyRecords(table_);
    if (!records.ok()) return records.damages[0].status;
    const size_t part = random_() % table_.num_parts();
    const VerifyReport column = table_.VerifyColumn(part, random_() % 3);
    EXPECT_EQ(column.num_rows, table_.part(part)->num_rows);
    return column.ok() ? absl::OkStatus() : column.damages[0].status;
  }

  const SharedLeaf<T>& file_;
  const TableReader& table_;
  Random random_;
  std::optional<TableCursor<int64_t>> ids_;
  std::optional<TableLevelCursor<int64_t>> items_;
  std::optional<RecordReader> records_;
  std::optional<LevelCursor<T>> levels_;
};

TEST(Threads, ShareFilesAndACache) {
  Random random(1);
  // The cache is so small that seeks evict blocks all the time, but still find some blocks in it.
  const auto cache = std::make_shared<BlockCache>(40'000);
  const auto options = [&](size_t max_seek_index_bytes) {
    return ReaderOptions{.block_cache = cache, .max_seek_index_bytes = max_seek_index_bytes};
  };
  Files<std::string_view> strings;
  Files<int64_t> numbers;
  const ColumnType text = ColumnType::String();
  // The seek indexes of some files are in memory outside the cache, and a few of them exceed their
  // budget. The seek indexes of the other files are in the cache.
  AddFile(text, Encoding::kPrefix, Compression::kNone, true, options(20'000), strings, random);
  AddFile(text, Encoding::kPrefix, Compression::kZstd, true, options(0), strings, random);
  AddFile(text, Encoding::kPlain, Compression::kNone, true, options(1 << 20), strings, random);
  AddFile(text, Encoding::kPlain, Compression::kNone, false, options(1 << 20), strings, random);
  AddFile(text, Encoding::kDict, Compression::kNone, true, options(1 << 20), strings, random);
  AddFile(text, Encoding::kAuto, Compression::kDefault, false, options(5000), strings, random);
  const ColumnType number = ColumnType::Int64();
  AddFile(number, Encoding::kRle, Compression::kNone, true, options(5000), numbers, random);
  AddFile(number, Encoding::kBitShuffle, Compression::kZstd, true, options(0), numbers, random);
  AddFile(number, Encoding::kPlain, Compression::kNone, true, options(0), numbers, random);
  AddFile(number, Encoding::kAuto, Compression::kDefault, false, options(5000), numbers, random);
  SharedLeaf<std::string_view> string_leaf;
  SharedLeaf<int64_t> number_leaf;
  OpenLeaf(text, Encoding::kAuto, Compression::kDefault, options(0), string_leaf, random);
  OpenLeaf(number, Encoding::kBitShuffle, Compression::kLz4, options(0), number_leaf, random);
  const TemporaryDirectory directory;
  const absl::Status written = WriteRecordTable(directory.path("table"), 3, kRows / 3);
  ASSERT_TRUE(written.ok()) << written;
  const auto table = TableReader::Open(directory.path("table"), options(5000));
  ASSERT_TRUE(table.ok()) << table.status();
  if (HasFailure()) return;

  const uint64_t steps = std::max<uint64_t>(Amount(200'000, 1'000'000) / kThreads, 1);
  {
    std::vector<std::jthread> threads;
    for (size_t thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back([&, thread] {
        Random own(thread);
        Worker<std::string_view> with_strings(strings, own());
        Worker<int64_t> with_numbers(numbers, own());
        RecordWorker<std::string_view> with_string_records(string_leaf, *table, own());
        RecordWorker<int64_t> with_number_records(number_leaf, *table, own());
        for (uint64_t i = 0; i < steps && !HasFailure(); ++i) {
          switch (own() % 16) {
            case 0:
              with_string_records.Step();
              break;
            case 1:
              with_number_records.Step();
              break;
            default:
              own() % 2 == 0 ? with_strings.Step() : with_numbers.Step();
          }
        }
      });
    }
  }
  const BlockCache::Counters counters = cache->counters();
  EXPECT_GT(counters.evictions, steps);
  EXPECT_GT(counters.hits, steps / 10);
  EXPECT_LE(counters.size_bytes, 40'000u);
  Done("operations", steps * kThreads);
  Done("threads", kThreads);
  Done("evictions", counters.evictions);
}

// Reads all rows, and seeks one row of each block by key, so that every node of both indexes is
// read.
absl::Status ReadAll(const Reader& reader, const Column<int64_t>& column) {
  CFILE_ASSIGN_OR_RETURN(Cursor<int64_t> cursor, reader.NewCursor<int64_t>());
  for (uint64_t ordinal = 0; ordinal < kRows;) {
    CFILE_ASSIGN_OR_RETURN(const Batch<int64_t> batch, cursor.Next(kRows));
    ExpectBatch(batch, column);
    if (batch.empty() || testing::Test::HasFailure()) break;
    ordinal += batch.size();
  }
  for (uint64_t ordinal = 0; ordinal < kRows; ordinal += 20) {
    CFILE_ASSIGN_OR_RETURN(const KeyPosition found, cursor.SeekToKey(*column.rows[ordinal]));
    EXPECT_EQ(found.ordinal, ordinal);
  }
  return absl::OkStatus();
}

// If an index just fits max_index_size_bytes, many threads can load it at the same time.
TEST(Threads, LoadAnIndexThatJustFits) {
  Column<int64_t> column;
  for (size_t i = 0; i < kRows; ++i) column.rows.emplace_back(static_cast<int64_t>(i) * i);
  WriterOptions writer_options = SmallBlocks(Encoding::kPlain, Compression::kNone);
  writer_options.value_index = true;
  writer_options.max_values_per_block = 20;
  writer_options.index_block_size_bytes = 100;
  const std::vector<uint8_t> bytes = WriteColumn(ColumnType::Int64(), writer_options, column);
  const auto source = NewMemoryViewSource(bytes);
  const auto open = [&](size_t max_index_size_bytes) {
    return Reader::Open(source, {.block_cache = std::make_shared<BlockCache>(0),
                                 .max_index_size_bytes = max_index_size_bytes});
  };
  // Finds the smallest limit with which one thread reads everything.
  size_t too_few = 0;
  size_t enough = ReaderOptions().max_index_size_bytes;
  while (enough - too_few > 1) {
    const size_t middle = too_few + (enough - too_few) / 2;
    const auto reader = open(middle);
    ASSERT_TRUE(reader.ok()) << reader.status();
    (ReadAll(*reader, column).ok() ? enough : too_few) = middle;
  }
  const auto reader = open(enough);
  ASSERT_TRUE(reader.ok()) << reader.status();
  for (const IndexKind kind : {IndexKind::kPositional, IndexKind::kValue}) {
    uint32_t depth = 0;
    const absl::Status status = VisitIndex(*reader, kind, [&](const IndexNodeInfo& node) {
      depth = std::max(depth, node.depth);
      return true;
    });
    ASSERT_TRUE(status.ok()) << status;
    ASSERT_GE(depth, 2u);
  }

  const uint64_t rounds = Amount(200, 2000);
  std::vector<Reader> readers;  // one per round
  for (uint64_t round = 0; round < rounds; ++round) {
    const auto fresh = open(enough);
    ASSERT_TRUE(fresh.ok()) << fresh.status();
    readers.push_back(*fresh);
  }
  std::barrier all(kThreads);
  {
    std::vector<std::jthread> threads;
    for (size_t thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back([&] {
        for (const Reader& shared : readers) {
          all.arrive_and_wait();
          const absl::Status status = ReadAll(shared, column);
          EXPECT_TRUE(status.ok()) << status;
        }
      });
    }
  }
  Done("indexes_loaded", rounds);
}

}  // namespace
}  // namespace cfile::campaign
