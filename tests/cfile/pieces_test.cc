// Pieces of data blocks (cfile/FORMAT.md, Pieces): a search by key in a file that is not in memory
// reads and verifies a piece of a block, and finds the same row as a search in the whole block.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cfile/block_cache.h"
#include "cfile/core/format/crc32c.h"
#include "cfile/core/format/piece_table.h"
#include "cfile/core/read/file_reader.h"
#include "cfile/core/read/reader_access.h"
#include "cfile/inspect.h"
#include "cfile/reader.h"
#include "cfile/writer.h"
#include "encodings/registry.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/cfile/column_testing.h"

namespace cfile::pieces_test {

using namespace testing_support;  // NOLINT
using testing::HasSubstr;
using Bytes = std::vector<uint8_t>;

// A local file: reads have no latency, and the bytes are not in memory. Counts what is read.
class LocalSource final : public Source {
 public:
  explicit LocalSource(const Bytes& file) : base_(NewMemoryViewSource(file, "file")) {}
  const std::string& name() const override { return base_->name(); }
  uint64_t size() const override { return base_->size(); }
  bool HasLatency() const override { return false; }
  absl::Status ReadAt(uint64_t offset, std::span<uint8_t> out) const override {
    ++reads;
    bytes += out.size();
    return base_->ReadAt(offset, out);
  }
  mutable uint64_t reads = 0;
  mutable uint64_t bytes = 0;

 private:
  const std::shared_ptr<const Source> base_;
};

// Ascending strings. Some occur several times, some hundreds of times.
std::vector<std::string> Texts(size_t count) {
  std::mt19937_64 random(1);
  std::vector<std::string> texts(count);
  for (size_t i = 0; i < count; ++i) {
    if (i % 500 > 490 || i % 9000 > 8000) {
      texts[i] = texts[i - 1];
      continue;
    }
    for (size_t digit = 0; digit < 12 + random() % 5; ++digit)
      texts[i] += "0123456789abcdef"[random() % 16];
  }
  std::sort(texts.begin(), texts.end());
  return texts;
}

std::vector<int64_t> Numbers(size_t count) {
  std::mt19937_64 random(2);
  std::vector<int64_t> numbers(count);
  for (int64_t& number : numbers) number = static_cast<int64_t>(random());
  for (size_t i = 0; i < count / 3; ++i) numbers[i] = 77;
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

template <typename T>
Bytes Write(const ColumnType& type, const WriterOptions& options, std::span<const T> values) {
  Bytes file;
  auto writer = Writer<T>::Create(NewMemorySink(&file, "file"), type, options);
  EXPECT_TRUE(writer.ok()) << writer.status();
  EXPECT_TRUE(writer->Append(values).ok() && writer->Finish().ok());
  return file;
}

Reader Open(std::shared_ptr<const Source> source, bool verify = true) {
  auto reader = Reader::Open(
      std::move(source), {.verify_checksums = verify,
                          .block_cache = std::make_shared<BlockCache>(BlockCache::kDefaultBytes)});
  EXPECT_TRUE(reader.ok()) << reader.status();
  return *std::move(reader);
}
Reader OpenInMemory(const Bytes& file) { return Open(NewMemoryViewSource(file, "file")); }

uint64_t PiecesOf(const Reader& reader) {
  internal::FileReader& file = *internal::ReaderAccess::File(reader);
  uint64_t pieces = 0;
  if (!file.info().piece_directory) return 0;
  EXPECT_TRUE(VisitBlocks(reader, [&](const BlockInfo& block) {
                internal::BlockBuffer buffer;
                const auto found = file.FindPieces(block.pointer, buffer);
                EXPECT_TRUE(found.ok()) << found.status();
                EXPECT_TRUE(internal::VisitPieces(found->record, [&](const internal::Piece&) {
                              return ++pieces > 0;
                            }).ok());
                return true;
              }).ok());
  return pieces;
}

// Expects that a search for `key` in a file that was just opened finds the row that `values` say,
// and that rows can be read from there, in and after the piece.
template <typename T>
void ExpectSearch(const Reader& reader, std::span<const T> values, const T& key) {
  auto cursor = *reader.NewCursor<T>();
  const auto found = cursor.SeekToKey(key);
  ASSERT_TRUE(found.ok()) << found.status();
  const auto at =
      static_cast<uint64_t>(std::lower_bound(values.begin(), values.end(), key) - values.begin());
  ASSERT_EQ(found->ordinal, at);
  ASSERT_EQ(found->exact, at < values.size() && values[at] == key);
  ASSERT_EQ(cursor.ordinal(), at);
  const auto before = cursor.Clone();
  ASSERT_TRUE(before.ok()) << before.status();
  if (at < values.size()) {
    auto other = *reader.NewCursor<T>();
    const auto one = other.Get(at);
    ASSERT_TRUE(one.ok()) << one.status();
    ASSERT_EQ(*one, values[at]);
  }
  uint64_t row = at;
  for (const size_t count : {1, 3, 700, 20'000}) {
    const auto batch = cursor.Next(count);
    ASSERT_TRUE(batch.ok()) << batch.status();
    ASSERT_EQ(batch->first_ordinal, row);
    ASSERT_EQ(batch->empty(), row == values.size());
    for (const T& value : batch->values) ASSERT_EQ(value, values[row++]);
  }
  auto copy = *before->Clone();
  ASSERT_EQ(copy.ordinal(), at);
  if (at > 0) {
    const auto batch = copy.Previous(3);
    ASSERT_TRUE(batch.ok()) << batch.status();
    ASSERT_EQ(batch->values.back(), values[at - 1]);
  }
}

template <typename T>
T Between(const T& value) {
  if constexpr (std::is_same_v<T, std::string_view>) {
    return value.substr(0, value.size() - 1);
  } else {
    return value == std::numeric_limits<T>::max() ? value : value + 1;
  }
}

template <typename T>
void TestSearches(const ColumnType& type, Encoding encoding, std::span<const T> values) {
  for (const bool movable : {false, true}) {
    SCOPED_TRACE(absl::StrCat(EncodingName(encoding), movable ? " movable" : ""));
    const Bytes file = Write<T>(
        type, {.encoding = encoding, .value_index = true, .movable_blocks = movable}, values);
    EXPECT_GT(PiecesOf(OpenInMemory(file)), file.size() / 3 / internal::kPieceBytes);
    const VerifyReport report = Verify(OpenInMemory(file));
    ASSERT_TRUE(report.ok()) << report.damages[0].status;
    std::mt19937_64 random(5);
    uint64_t bytes = 0, reads = 0;
    constexpr uint64_t kSearches = 60;
    for (uint64_t i = 0; i < kSearches; ++i) {
      const T value = values[i < 2 ? i * (values.size() - 1) : random() % values.size()];
      ASSERT_NO_FATAL_FAILURE(ExpectSearch<T>(OpenInMemory(file), values, value));
      ASSERT_NO_FATAL_FAILURE(ExpectSearch<T>(OpenInMemory(file), values, Between(value)));
      const auto local = std::make_shared<LocalSource>(file);
      ASSERT_NO_FATAL_FAILURE(ExpectSearch<T>(Open(local), values, value));
      // The first search also reads the nodes of the index, a table of pieces, and their directory.
      const auto counted = std::make_shared<LocalSource>(file);
      const Reader reader = Open(counted);
      auto cursor = *reader.NewCursor<T>();
      ASSERT_TRUE(cursor.SeekToKey(values[0]).ok());
      counted->bytes = counted->reads = 0;
      ASSERT_TRUE(cursor.SeekToKey(value).ok());
      bytes += counted->bytes;
      reads += counted->reads;
    }
    // The automatic choice compresses some movable blocks, which then have no pieces.
    const bool compressed = encoding == Encoding::kAuto && movable;
    EXPECT_LE(bytes / kSearches, (compressed ? 32 : 16) * 1024);
    EXPECT_LE(reads, 2 * kSearches);
  }
}

TEST(Pieces, SearchesOfStringsFindTheSameRows) {
  const std::vector<std::string> texts = Texts(120'000);
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  for (const Encoding encoding : {Encoding::kAuto, Encoding::kPrefix, Encoding::kFsst})
    TestSearches<std::string_view>(ColumnType::String(), encoding, views);
}

TEST(Pieces, SearchesOfNumbersFindTheSameRows) {
  const std::vector<int64_t> numbers = Numbers(150'000);
  for (const Encoding encoding : {Encoding::kAuto, Encoding::kPlain, Encoding::kFor})
    TestSearches<int64_t>(ColumnType::Int64(), encoding, numbers);
}

// After a search has read a whole block that the cache does not keep, the next searches read pieces
// again.
TEST(Pieces, ManySearchesInALargeFileReadFewBytes) {
  const std::vector<int64_t> numbers = Numbers(150'000);
  const Bytes file = Write<int64_t>(ColumnType::Int64(),
                                    {.encoding = Encoding::kPlain, .value_index = true}, numbers);
  const auto source = std::make_shared<LocalSource>(file);
  ReaderOptions options;
  options.block_cache = std::make_shared<BlockCache>(100 << 10);  // a piece table, but no block
  auto cursor = *Reader::Open(source, options)->NewCursor<int64_t>();
  std::mt19937_64 random(7);
  constexpr uint64_t kSearches = 1000;
  for (uint64_t i = 0; i < kSearches; ++i) {
    const int64_t key = numbers[random() % numbers.size()];
    const auto found = cursor.SeekToKey(key);
    ASSERT_TRUE(found.ok() && found->exact) << found.status();
    ASSERT_EQ(cursor.Next(1)->values[0], key);
  }
  EXPECT_LE(source->bytes, kSearches * 50 * 1024);
}

template <typename T>
bool Same(const T& a, const T& b) {
  if constexpr (std::is_same_v<T, std::string_view>) {
    return a == b;
  } else {
    return std::memcmp(&a, &b, sizeof(T)) == 0;
  }
}

// Each piece of each encoding decodes to its values.
TEST(Pieces, OfEveryEncodingDecodeAlone) {
  std::mt19937_64 random(3);
  int with_pieces = 0;
  for (const encodings::EncodingRow& row : encodings::Encodings()) {
    for (const ColumnType& type : AllColumnTypes()) {
      if (!row.Supports(type.physical()) || type.physical() == PhysicalType::kInt96) continue;
      SCOPED_TRACE(absl::StrCat(EncodingName(row.encoding), " ", type.ToString()));
      encodings::VisitPhysicalType(type.physical(), [&](auto t) {
        using T = typename decltype(t)::type;
        const auto column = RandomColumn<T>(type, 5000, -1, /*sorted=*/true, random);
        const size_t count = column.rows.size();
        const auto values = std::make_unique<T[]>(count);
        for (size_t i = 0; i < count; ++i) values[i] = T(*column.rows[i]);
        auto encoder = *encodings::MakeEncoder<T>(
            row.encoding, type.physical(),
            {.block_size_bytes = 1 << 20, .type_length = type.type_length, .piece_bytes = 100});
        ASSERT_EQ(encoder->Append({values.get(), count}), count);
        encodings::EncodedBlock block;
        encoder->Finish(0, block);
        if (block.pieces.empty()) return;
        ++with_pieces;
        encodings::DecoderOptions options(type.type_length);
        if (encodings::ByteWriter dictionary; encoder->FinishDictionary(dictionary)) {
          options.dictionary = *encodings::LoadDictionary(row.encoding, type.physical(),
                                                          type.type_length, dictionary.span());
        }
        auto decoder = *encodings::MakeDecoder<T>(row.encoding, type.physical(), options);
        size_t position = 0;
        for (const encodings::BlockPiece& piece : block.pieces) {
          encodings::ByteWriter body;
          body.PutBytes(std::string_view(piece.front));
          body.PutBytes(block.bytes.span().subspan(piece.begin, piece.size_bytes));
          body.PutBytes(std::string_view(piece.back));
          encodings::BlockView view(body.span());
          view.count = piece.count;
          ASSERT_TRUE(decoder->Open(view).ok());
          ASSERT_EQ(decoder->count(), piece.count);
          ASSERT_EQ(decoder->first_ordinal(), 0);
          const auto read = std::make_unique<T[]>(piece.count);
          for (uint32_t done = 0; done < piece.count;) {
            const auto some = decoder->Read({read.get() + done, piece.count - done});
            ASSERT_TRUE(some.ok() && *some > 0) << some.status();
            for (size_t i = 0; i < *some; ++i) {
              ASSERT_TRUE(Same(read[done + i], values[position + done + i]));
            }
            done += static_cast<uint32_t>(*some);
          }
          position += piece.count;
        }
        ASSERT_EQ(position, count);
      });
      if (HasFatalFailure()) return;
    }
  }
  EXPECT_GT(with_pieces, 20);
}

// For every type and encoding, a search in pieces finds the same row as a search in whole blocks.
// Small integers occur many times, in several pieces.
TEST(Pieces, SearchesOfEveryTypeFindTheSameRows) {
  std::mt19937_64 random(4);
  int files = 0;
  for (const ColumnType& type : AllColumnTypes()) {
    encodings::VisitPhysicalType(type.physical(), [&](auto t) {
      using T = typename decltype(t)::type;
      if constexpr (!std::is_same_v<T, bool> && !std::is_same_v<T, encodings::Int96>) {
        const auto column = RandomColumn<T>(type, 30'000, -1, /*sorted=*/true, random);
        const std::vector<T> values = column.Values();
        for (const encodings::EncodingRow& row : encodings::Encodings()) {
          if (!row.Supports(type.physical())) continue;
          SCOPED_TRACE(absl::StrCat(EncodingName(row.encoding), " ", type.ToString()));
          WriterOptions options{.encoding = row.encoding, .value_index = true};
          const Bytes file = Write<T>(type, options, values);
          if (!OpenInMemory(file).info().has_pieces()) continue;
          ++files;
          options.oldest_reader = OldestReader::kVersion0_2;
          const Bytes before = Write<T>(type, options, values);
          const Reader whole = OpenInMemory(before);
          ASSERT_FALSE(whole.info().has_pieces());
          for (int i = 0; i < 40; ++i) {
            const Owned<T> any = RandomValue<T>(type, 1, random);
            const T key = i % 2 == 0 ? values[random() % values.size()] : T(any);
            const Reader reader = OpenInMemory(file);
            auto cursor = *reader.NewCursor<T>();
            auto expected = *whole.NewCursor<T>();
            const auto found = cursor.SeekToKey(key);
            const auto wanted = expected.SeekToKey(key);
            ASSERT_TRUE(found.ok() && wanted.ok()) << found.status() << wanted.status();
            ASSERT_EQ(found->ordinal, wanted->ordinal);
            ASSERT_EQ(found->exact, wanted->exact);
            const auto batch = cursor.Next(3);
            ASSERT_TRUE(batch.ok()) << batch.status();
            for (size_t j = 0; j < batch->size(); ++j)
              ASSERT_TRUE(Same(batch->values[j], values[found->ordinal + j]));
          }
        }
      }
    });
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(files, 20);
}

TEST(Pieces, DamageInOnePieceDoesNotHinderSearchesInOthers) {
  const std::vector<std::string> texts = Texts(40'000);
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  for (const bool movable : {false, true}) {
    const Bytes file = Write<std::string_view>(
        ColumnType::String(),
        {.encoding = Encoding::kPrefix, .value_index = true, .movable_blocks = movable}, views);
    BlockPointer block;
    ASSERT_TRUE(VisitBlocks(OpenInMemory(file), [&](const BlockInfo& info) {
                  block = info.pointer;
                  return false;
                }).ok());
    // Find a key in the middle of the block: the text of some value must be in the file.
    const size_t victim = 3000;
    Bytes damaged = file;
    const Reader sound = OpenInMemory(file);
    internal::FileReader& reader = *internal::ReaderAccess::File(sound);
    internal::BlockBuffer buffer;
    const auto found = reader.FindPieces(block, buffer);
    ASSERT_TRUE(found.ok() && found->table != nullptr);
    const auto piece = internal::FindPiece(found->record, texts[victim]);
    ASSERT_TRUE(piece.ok() && *piece);
    damaged[block.offset + (*piece)->begin + (*piece)->size_bytes / 2] ^= 1;
    const uint64_t first = (*piece)->first_row, end = first + (*piece)->num_rows;
    for (const bool local : {false, true}) {
      const auto open = [&] {
        return local ? Open(std::make_shared<LocalSource>(damaged)) : OpenInMemory(damaged);
      };
      const auto search = [&](uint64_t row) {
        return open().NewCursor<std::string_view>()->SeekToKey(texts[row]).status();
      };
      const absl::Status status = search(victim);
      EXPECT_TRUE(absl::IsDataLoss(status)) << status;
      EXPECT_THAT(std::string(status.message()),
                  HasSubstr(absl::StrCat("file: block at offset ", block.offset)));
      EXPECT_TRUE(search(first - 10).ok());
      EXPECT_TRUE(search(end + 10).ok());
      EXPECT_FALSE(Verify(open()).ok());
    }
  }
}

// A piece table with a wrong first ordinal, and a right checksum, does not lead to wrong rows.
TEST(Pieces, RowsOfAnotherBlockAreNotRead) {
  const std::vector<int64_t> numbers = Numbers(80'000);
  for (const bool movable : {false, true}) {
    Bytes file = Write<int64_t>(
        ColumnType::Int64(),
        {.encoding = Encoding::kPlain, .value_index = true, .movable_blocks = movable}, numbers);
    FileRegion region;
    for (const FileRegion& each : ListRegions(OpenInMemory(file)).regions) {
      if (each.kind == RegionKind::kPieceTable) region = each;
    }
    const size_t table_bytes = region.size_bytes - sizeof(uint32_t);
    const std::span<uint8_t> table = std::span(file).subspan(region.offset, table_bytes);
    std::vector<size_t> places;  // of the first ordinal: a vint of 1 byte, or of 3 bytes
    ASSERT_TRUE(internal::VisitPieceRecords(table, [&](const internal::PieceRecord& record) {
                  const auto begin = static_cast<size_t>(record.pieces.data() - table.data());
                  places.push_back(begin - (record.first_ordinal == 0 ? 2 : 4));
                  return true;
                }).ok());
    ASSERT_GE(places.size(), 2u);
    table[places[1]] ^= 1;  // the first ordinal of the second block
    const uint32_t crc = internal::Crc32c(table);
    std::memcpy(&file[region.offset + table_bytes], &crc, sizeof(crc));
    const uint64_t row = 60'000;  // in the second block
    const Reader reader = OpenInMemory(file);
    auto cursor = *reader.NewCursor<int64_t>();
    const auto value = cursor.Get(row);
    ASSERT_TRUE(value.ok()) << value.status();
    EXPECT_EQ(*value, numbers[row]);
    EXPECT_EQ((*cursor.Next(1)).values[0], numbers[row + 1]);
    EXPECT_FALSE(Verify(reader).ok());
  }
}

// If piece tables or their directory are damaged, searches read whole blocks, and Verify reports
// it.
TEST(Pieces, DamagedTablesAreReportedAndNotUsed) {
  const std::vector<int64_t> numbers = Numbers(20'000);
  const Bytes file = Write<int64_t>(ColumnType::Int64(),
                                    {.encoding = Encoding::kPlain, .value_index = true}, numbers);
  for (const FileRegion& region : ListRegions(OpenInMemory(file)).regions) {
    if (region.kind != RegionKind::kPieceTable && region.kind != RegionKind::kPieceDirectory)
      continue;
    for (uint64_t at = region.offset; at < region.end(); at += 1 + region.size_bytes / 40) {
      Bytes damaged = file;
      damaged[at] ^= 0x10;
      ExpectSearch<int64_t>(OpenInMemory(damaged), numbers, numbers[15'000]);
      const VerifyReport report = Verify(OpenInMemory(damaged));
      ASSERT_FALSE(report.ok());
      EXPECT_THAT(std::string(report.damages[0].status.message()),
                  HasSubstr(absl::StrCat("block at offset ", region.offset)));
    }
  }
}

// Rules PC1 to PC6 of cfile/FORMAT.md, which a checksum does not check.
TEST(Pieces, MalformedDirectoriesAreRefused) {
  const BlockPointer pointer{.offset = 5000, .size = 10};
  // Each row: the first block, and the offset and the size of the table, as they are stored.
  using Entries = std::vector<std::array<uint64_t, 3>>;
  const auto parse = [&](const Entries& entries) {
    encodings::ByteWriter bytes;
    for (const auto& entry : entries) {
      for (const uint64_t number : entry) bytes.PutVint(number);
    }
    return internal::ParsePieceDirectory(bytes.span(), pointer).status();
  };
  EXPECT_TRUE(parse({{100, 1000, 50}, {1900, 1950, 1000}}).ok());
  for (const Entries& entries : std::vector<Entries>{
           {},                                         // no entry
           {{0, 1000, 50}},                            // the first block is the header
           {{100, 100, 50}},                           // a table that is not after its first block
           {{100, 1000, 0}},                           // no bytes
           {{100, 4960, 50}},                          // a table that overlaps the directory
           {{100, 1000, 50}, {0, 1000, 50}},           // the same first block again
           {{100, 1000, 50}, {949, 1000, 50}},         // a block that the table before has
           {{100, 1000, 50}, {1900, 950, 50}},         // not after its first block
           {{100, 1000, 50}, {UINT64_MAX, 1950, 50}},  // a sum that wraps around
           {{100, UINT64_MAX, 50}}}) {
    const absl::Status status = parse(entries);
    EXPECT_TRUE(absl::IsDataLoss(status)) << status;
  }
  EXPECT_TRUE(absl::IsDataLoss(
      internal::ParsePieceDirectory(std::vector<uint8_t>{100}, pointer).status()));  // cut off

  // Two rows, a key of one byte, and the bytes 0 to 4 of the block: the first piece has no key.
  const std::vector<uint8_t> piece = {2, 1, 'k', 0, 5, 0, 0, 0, 0, 0, 0};
  const internal::PieceRecord record{.block = {.offset = 100, .size = 9}, .pieces = piece};
  EXPECT_TRUE(absl::IsDataLoss(internal::VisitPieces(record, [](const auto&) { return true; })));
}

// A change of a piece table whose checksum is then right again.
struct Change {
  const char* what;
  size_t at;  // the byte of the table
  uint8_t mask;
  const char* message;
};

TEST(Pieces, VerifyComparesTablesWithBlocks) {
  std::vector<int64_t> numbers = Numbers(20'000);
  const Bytes file = Write<int64_t>(ColumnType::Int64(),
                                    {.encoding = Encoding::kPlain, .value_index = true}, numbers);
  FileRegion region;
  for (const FileRegion& each : ListRegions(OpenInMemory(file)).regions) {
    if (each.kind == RegionKind::kPieceTable) region = each;
  }
  const size_t table_bytes = region.size_bytes - sizeof(uint32_t);
  const std::span<const uint8_t> table = std::span(file).subspan(region.offset, table_bytes);
  internal::PieceRecord record;
  std::vector<internal::Piece> pieces;
  ASSERT_TRUE(internal::VisitPieceRecords(table, [&](const internal::PieceRecord& each) {
                record = each;
                return false;
              }).ok());
  ASSERT_TRUE(internal::VisitPieces(record, [&](const internal::Piece& piece) {
                pieces.push_back(piece);
                return true;
              }).ok());
  const auto offset_of = [&](const void* byte) {
    return static_cast<size_t>(static_cast<const uint8_t*>(byte) - table.data());
  };
  const size_t begin = offset_of(record.pieces.data());
  const internal::Piece& last = pieces.back();
  const size_t count_at = offset_of(pieces[0].front.data());
  for (const Change& change : std::vector<Change>{
           {"PC2: no such block", begin - 3, 1, "the index has no such block"},
           {"PC3: first ordinal", begin - 2, 1, "first ordinal"},
           {"PC3: encoding", begin - 1, 2, "encoding"},
           {"PC5: checksum", offset_of(last.front.data()) - 2, 1, "checksum"},
           {"PC5: count in the front", count_at, 1, "piece from row 0"},
           {"PC6: key above the first value", offset_of(last.key.data()) + 7, 0xff, "key"},
           {"PC6: keys do not ascend", offset_of(last.key.data()), 0x80, "out of order"}}) {
    SCOPED_TRACE(change.what);
    Bytes changed = file;
    uint8_t& byte = changed[region.offset + change.at];
    byte ^= change.mask;
    if (std::string_view(change.what) == "PC6: key above the first value")
      byte = static_cast<uint8_t>(last.key.back()) + 1;
    const uint32_t crc = internal::Crc32c(std::span(changed).subspan(region.offset, table_bytes));
    std::memcpy(&changed[region.offset + table_bytes], &crc, sizeof(crc));
    const VerifyReport report = Verify(OpenInMemory(changed));
    ASSERT_FALSE(report.ok());
    EXPECT_THAT(std::string(report.damages[0].status.message()), HasSubstr(change.message));
    EXPECT_TRUE(Verify(OpenInMemory(file)).ok());
  }
}

TEST(Pieces, OnlyInFilesForNewReaders) {
  const std::vector<int64_t> numbers = Numbers(20'000);
  const auto features = [&](WriterOptions options) {
    options.encoding = Encoding::kPlain;
    return OpenInMemory(Write<int64_t>(ColumnType::Int64(), options, numbers))
               .info()
               .incompatible_features &
           kFeaturePieces;
  };
  EXPECT_EQ(features({.value_index = true}), kFeaturePieces);
  EXPECT_EQ(features({.value_index = true, .oldest_reader = OldestReader::kVersion0_3}),
            kFeaturePieces);
  EXPECT_EQ(features({.value_index = false}), 0);
  EXPECT_EQ(features({.positional_index = false, .value_index = true}), 0);
  EXPECT_EQ(features({.value_index = true, .version = FormatVersion::kV1}), 0);
  // Blocks that are small, or compressed, have no pieces.
  EXPECT_EQ(features({.value_index = true, .block_size_bytes = 8000}), 0);
  for (const OldestReader reader :
       {OldestReader::kKudu, OldestReader::kVersion0_1, OldestReader::kVersion0_2})
    EXPECT_EQ(features({.value_index = true, .oldest_reader = reader}), 0);
}

}  // namespace cfile::pieces_test
