// Damaged files: reported, or provably harmless; never a crash, a hang, or wrong values behind a
// valid checksum.
#include <cstdint>
#include <functional>
#include <random>
#include <vector>

#include "cfile/inspect.h"
#include "cfile/internal/crc32c.h"
#include "cfile/internal/file_metadata.h"
#include "cfile/internal/index_node.h"
#include "cfile/reader.h"
#include "cfile/scan.h"
#include "cfile/writer.h"
#include "gmock/gmock.h"
#include "tests/cfile/column_testing.h"
#include "tests/cfile/level_testing.h"
#include "tests/sanitizers.h"

namespace cfile {
namespace {

using testing::HasSubstr;
using namespace testing_support;
using File = std::vector<uint8_t>;

// Scans for what is not below a value of the middle. As ReadAll below.
template <typename T>
absl::Status ScanAll(const Reader& reader, const Column<T>* column) {
  std::optional<Owned<T>> middle;
  if (column != nullptr) middle = column->rows[column->rows.size() / 2];
  const Owned<T> low = middle.value_or(Owned<T>{});
  auto scan = Scan<T>::Open(reader, Predicate<T>::GreaterOrEqual(T(low)));
  if (!scan.ok()) return scan.status();
  std::vector<uint64_t> found;
  while (true) {
    const auto batch = scan->Next();
    if (!batch.ok()) return batch.status();
    if (batch->empty()) break;
    found.insert(found.end(), batch->ordinals.begin(), batch->ordinals.end());
  }
  if (column == nullptr) return absl::OkStatus();
  std::vector<uint64_t> expected;
  for (size_t i = 0; i < column->rows.size(); ++i) {
    const auto& row = column->rows[i];
    if (row && !encodings::KeyLess<T>(T(*row), T(low))) expected.push_back(i);
  }
  EXPECT_EQ(found, expected);
  return absl::OkStatus();
}

// Reads everything in every way. OK if all of it went well and gave what `column` holds; the first
// error otherwise.
template <typename T>
absl::Status ReadAll(const File& file, const Column<T>* column) {
  // An exact copy on the heap, so that a sanitizer sees any reading beyond it.
  const auto reader = Reader::Open(NewMemorySource(file, "damaged"));
  if (!reader.ok()) return reader.status();
  auto cursor = reader->template NewCursor<T>();
  if (!cursor.ok()) return cursor.status();
  if (const auto statistics = reader->Statistics(); !statistics.ok()) return statistics.status();
  uint64_t rows = 0;
  while (true) {
    const auto batch = cursor->Next(1000);
    if (!batch.ok()) return batch.status();
    if (batch->empty()) break;
    rows += batch->size();
    if (column != nullptr) ExpectBatch(*batch, *column);
  }
  if (column != nullptr) {
    EXPECT_EQ(rows, column->rows.size());
  }
  for (uint64_t ordinal = 0; ordinal < rows; ordinal += 1 + rows / 20) {
    if (const auto value = cursor->Get(ordinal); !value.ok()) return value.status();
  }
  if (reader->info().value_index_root) {
    std::mt19937_64 random(rows);
    for (int i = 0; i < 10; ++i) {
      const Owned<T> key = RandomValue<T>(reader->type(), i % 2, random);
      if (const auto found = cursor->SeekToKey(T(key)); !found.ok()) return found.status();
      if (const auto batch = cursor->Next(100); !batch.ok()) return batch.status();
    }
  }
  return ScanAll<T>(*reader, column);
}

// The same of a file of records.
template <typename T>
absl::Status ReadAllLevels(const File& file, const Leaf<T>* leaf) {
  const auto reader = Reader::Open(NewMemorySource(file, "damaged"));
  if (!reader.ok()) return reader.status();
  auto cursor = LevelCursor<T>::Open(*reader);
  if (!cursor.ok()) return cursor.status();
  if (const auto statistics = reader->Statistics(); !statistics.ok()) return statistics.status();
  std::mt19937_64 random(1);
  if (absl::Status status = ReadRest(*cursor, leaf, random); !status.ok()) return status;
  for (uint64_t record = 0; record < reader->num_values(); record += 1 + record / 3) {
    if (absl::Status status = cursor->SeekToRecord(record); !status.ok()) return status;
    if (absl::Status status = ReadRest(*cursor, leaf, random, 2); !status.ok()) return status;
  }
  return absl::OkStatus();
}

struct Sample {
  std::string name;
  File file;
  // ReadAll of a changed form; `compare`: what can be read must be what was written.
  std::function<absl::Status(const File&, bool compare)> read;
};

template <typename T>
Sample MakeSample(std::string name, const ColumnType& type, const WriterOptions& options,
                  size_t rows, uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto column =
      RandomColumn<T>(type, rows, options.nullable ? 20 : -1, options.value_index, random);
  return {std::move(name), WriteColumn<T>(type, options, column),
          [column](const File& file, bool compare) {
            return ReadAll<T>(file, compare ? &column : nullptr);
          }};
}

template <typename T>
Sample MakeLevelSample(std::string name, const ColumnType& type, const LevelLimits& limits,
                       const WriterOptions& options, uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto leaf = RandomLeaf<T>(type, limits, 60, 0, random);
  return {std::move(name), WriteLeaf<T>(type, options, leaf, random),
          [leaf](const File& file, bool compare) {
            return ReadAllLevels<T>(file, compare ? &leaf : nullptr);
          }};
}

// Small files of every encoding, with and without nulls, indexes and compression.
std::vector<Sample> Samples() {
  const std::vector<Compression> codecs = BuiltInCompressions();
  std::vector<Sample> samples;
  uint64_t seed = 0;
  size_t turn = 0;
  for (const ColumnType& type : {ColumnType::Int32(), ColumnType::Uint32(), ColumnType::Bool(),
                                 ColumnType::String(), ColumnType::Uuid()}) {
    for (const encodings::EncodingRow& row : encodings::Encodings()) {
      if (!row.Supports(type.physical())) continue;
      // Every codec has its turn.
      for (const Compression compression : {Compression::kNone, codecs[turn++ % codecs.size()]}) {
        for (const bool sorted : {false, true}) {
          const WriterOptions options{.encoding = row.encoding,
                                      .compression = compression,
                                      .nullable = !sorted,
                                      .value_index = sorted,
                                      .block_size_bytes = 100,
                                      .index_block_size_bytes = 60};
          samples.push_back(encodings::VisitPhysicalType(type.physical(), [&](auto t) {
            return MakeSample<typename decltype(t)::type>(
                type.ToString() + " " + std::string(row.name) + " " + CompressionName(compression) +
                    (sorted ? " sorted" : " nullable"),
                type, options, 120, ++seed);
          }));
        }
      }
    }
  }
  for (const LevelLimits& limits : {LevelLimits{0, 2}, LevelLimits{1, 2}, LevelLimits{2, 4},
                                    LevelLimits::KuduArray(false), LevelLimits::KuduArray(true)}) {
    for (const Encoding encoding : {Encoding::kPlain, Encoding::kParquetDeltaBinaryPacked}) {
      samples.push_back(MakeLevelSample<int32_t>(
          "levels " + std::to_string(limits.max_repetition) + " " +
              std::to_string(limits.max_definition) + (limits.kudu_array ? " array " : " ") +
              EncodingName(encoding),
          ColumnType::Int32(), limits,
          {.encoding = encoding, .block_size_bytes = 150, .index_block_size_bytes = 60}, ++seed));
    }
  }
  return samples;
}

TEST(Damage, EveryBitFlipIsReportedOrHarmless) {
  uint64_t flips = 0, harmless = 0;
  for (const Sample& sample : Samples()) {
    SCOPED_TRACE(sample.name);
    ASSERT_TRUE(sample.read(sample.file, true).ok());
    File file = sample.file;
    for (size_t byte = 0; byte < file.size(); byte += kThinning) {
      for (int bit = 0; bit < 8; ++bit, ++flips) {
        file[byte] = static_cast<uint8_t>(file[byte] ^ 1 << bit);
        const absl::Status status = sample.read(file, true);
        if (status.ok()) {
          // Alignment, which no checksum covers, or an index node that these readings did not need:
          // Verify sees it.
          ++harmless;
          EXPECT_FALSE(Verify(*Reader::Open(NewMemoryViewSource(file))).ok()) << "byte " << byte;
        } else {
          EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << status;
          EXPECT_THAT(std::string(status.message()), HasSubstr("damaged"));
        }
        if (testing::Test::HasFailure()) return;
        file[byte] = sample.file[byte];
      }
    }
  }
  EXPECT_GT(flips, 300'000u / kThinning);
  EXPECT_LT(harmless, flips / 10);
}

TEST(Damage, EveryPrefixIsRefused) {
  for (const Sample& sample : Samples()) {
    SCOPED_TRACE(sample.name);
    for (size_t size = 0; size < sample.file.size(); ++size) {
      const File file(sample.file.begin(), sample.file.begin() + static_cast<ptrdiff_t>(size));
      ASSERT_EQ(Reader::Open(NewMemorySource(file)).status().code(), absl::StatusCode::kDataLoss)
          << size;
    }
    File file = sample.file;
    file.push_back(0);
    EXPECT_FALSE(Reader::Open(NewMemorySource(file)).ok());
  }
}

// The parts of a file that have a checksum of their own.
std::vector<BlockPointer> CheckedParts(const File& file) {
  std::vector<BlockPointer> parts;
  const auto reader = Reader::Open(NewMemoryViewSource(file));
  if (reader->info().statistics) parts.push_back(*reader->info().statistics);
  for (const IndexKind kind : {IndexKind::kPositional, IndexKind::kValue}) {
    EXPECT_TRUE(VisitIndex(*reader, kind, [&](const IndexNodeInfo& node) {
                  parts.push_back(node.pointer);
                  for (const auto& entry : node.entries) {
                    if (node.leaf && kind == IndexKind::kPositional) parts.push_back(entry.pointer);
                  }
                  return true;
                }).ok());
  }
  return parts;
}

void Sign(const BlockPointer& part, File& file) {
  const size_t size = part.size - internal::kChecksumBytes;
  const uint32_t crc = internal::Crc32c({file.data() + part.offset, size});
  encodings::StoreLittleEndian(crc, file.data() + part.offset + size);
}

// Behind right checksums the structures themselves must hold: an error or some values, in bounded
// time and memory.
TEST(Damage, SignedDamageIsSurvived) {
  std::mt19937_64 random(1);
  uint64_t noticed = 0, changes = 0;
  for (const Sample& sample : Samples()) {
    SCOPED_TRACE(sample.name);
    const auto parts = CheckedParts(sample.file);
    for (const BlockPointer& part : parts) {
      for (uint32_t i = 0; i < part.size - internal::kChecksumBytes; ++i) {
        for (const uint8_t value : {uint8_t{0}, uint8_t{0xff}, static_cast<uint8_t>(random()),
                                    static_cast<uint8_t>(sample.file[part.offset + i] + 1)}) {
          File file = sample.file;
          file[part.offset + i] = value;
          if (i % 3 == 0)
            file[part.offset + random() % (part.size - internal::kChecksumBytes)] =
                static_cast<uint8_t>(random());
          Sign(part, file);
          ++changes;
          const absl::Status status = sample.read(file, false);
          noticed += status.ok() ? 0 : 1;
          ASSERT_TRUE(status.ok() || absl::IsDataLoss(status) || absl::IsUnimplemented(status))
              << status;
          (void)Verify(*Reader::Open(NewMemoryViewSource(file)));
        }
      }
    }
  }
  EXPECT_GT(changes, 100'000u);
  EXPECT_GT(noticed, changes / 10);
}

TEST(Damage, BlocksInTheWrongPlaceAreNoticed) {
  // Blocks of equal size change places: their checksums fit, their ordinals do not.
  std::mt19937_64 random(2);
  const auto column = RandomColumn<int32_t>(ColumnType::Int32(), 200, -1, false, random);
  File file = WriteColumn<int32_t>(ColumnType::Int32(),
                                   {.encoding = Encoding::kPlain, .block_size_bytes = 80}, column);
  std::vector<BlockPointer> blocks;
  ASSERT_TRUE(VisitBlocks(*Reader::Open(NewMemoryViewSource(file)), [&](const BlockInfo& block) {
                blocks.push_back(block.pointer);
                return true;
              }).ok());
  ASSERT_EQ(blocks[1].size, blocks[2].size);
  std::swap_ranges(file.begin() + static_cast<ptrdiff_t>(blocks[1].offset),
                   file.begin() + static_cast<ptrdiff_t>(blocks[1].end()),
                   file.begin() + static_cast<ptrdiff_t>(blocks[2].offset));
  const absl::Status status = ReadAll<int32_t>(file, nullptr);
  EXPECT_TRUE(absl::IsDataLoss(status));
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("offset " + std::to_string(blocks[1].offset)));
  EXPECT_EQ(Verify(*Reader::Open(NewMemoryViewSource(file))).damages.size(), 2u);
}

// Levels that cannot be, in blocks that say all else rightly.
TEST(Damage, ImpossibleLevelsAreNamed) {
  const auto read = [](const LevelLimits& limits, const File& old_levels, const File& new_levels) {
    File file;
    auto writer = LevelWriter<int32_t>::Create(NewMemorySink(&file), ColumnType::Int32(), limits,
                                               {.encoding = Encoding::kPlain});
    // Two records of 8 entries and 1, the definition levels 2 2 2 2 1 1 1 1 0.
    const std::vector<uint16_t> repetition = {0, 1, 1, 1, 1, 1, 1, 1, 0};
    const std::vector<uint16_t> definition = {2, 2, 2, 2, 1, 1, 1, 1, 0};
    EXPECT_TRUE((*writer)->Append(repetition, definition, std::vector<int32_t>(4, 7)).ok());
    EXPECT_TRUE((*writer)->Finish().ok());
    const BlockPointer block = CheckedParts(file).at(2);
    const auto end = file.begin() + static_cast<ptrdiff_t>(block.end());
    const auto at = std::search(file.begin() + static_cast<ptrdiff_t>(block.offset), end,
                                old_levels.begin(), old_levels.end());
    EXPECT_NE(at, end);
    std::copy(new_levels.begin(), new_levels.end(), at);
    Sign(block, file);
    const absl::Status status = ReadAllLevels<int32_t>(file, nullptr);
    EXPECT_TRUE(absl::IsDataLoss(status)) << status;
    EXPECT_FALSE(Verify(*Reader::Open(NewMemoryViewSource(file))).ok());
    EXPECT_THAT(std::string(status.message()), HasSubstr("offset "));
    return std::string(status.message());
  };
  // 9 entries of 2 records; then the repetition levels: 0 1 1 1 1 1 1 1 | 0.
  const File repetition = {9, 2, 3, 0x05, 0xfe, 0x00};
  EXPECT_THAT(read({1, 2}, repetition, {9, 2, 3, 0x05, 0xff, 0x00}), HasSubstr("begin"));
  EXPECT_THAT(read({1, 2}, repetition, {9, 2, 3, 0x05, 0xfc, 0x00}),
              HasSubstr("records, its header says 2"));
  EXPECT_THAT(read({1, 2}, repetition, {9, 2, 3, 0x05, 0xfe, 0x01}), HasSubstr("1 records"));
  EXPECT_THAT(read({1, 2}, repetition, {9, 3, 3, 0x05, 0xfe, 0x00}), HasSubstr("3"));
  EXPECT_THAT(read({1, 2}, repetition, {10, 2, 3, 0x05, 0xfe, 0x00}), HasSubstr("10 entries"));
  // The definition levels: 2 2 2 2 1 1 1 1 | 0.
  const File definition = {5, 0x05, 0xaa, 0x55, 0x00, 0x00};
  EXPECT_THAT(read({1, 2}, definition, {5, 0x05, 0xab, 0x55, 0x00, 0x00}),
              HasSubstr("at most 2, found 3"));
  EXPECT_THAT(read({1, 2}, definition, {5, 0x05, 0xa9, 0x55, 0x00, 0x00}), HasSubstr("values"));
  EXPECT_THAT(read({1, 2}, definition, {5, 0x05, 0xaa, 0x56, 0x00, 0x00}), HasSubstr("values"));
}

// {7} {} {7, null}; null arrays where there are none, and lengths that do not fit.
TEST(Damage, ImpossibleArraysAreNamed) {
  const auto read = [](bool nullable, const File& old_bytes, const File& new_bytes) {
    const LevelLimits limits = LevelLimits::KuduArray(nullable);
    const auto max = limits.max_definition;
    File file;
    auto writer = LevelWriter<int32_t>::Create(NewMemorySink(&file), ColumnType::Int32(), limits);
    const std::vector<uint16_t> repetition = {0, 0, 0, 1};
    const std::vector<uint16_t> definition = {max, static_cast<uint16_t>(max - 2), max,
                                              static_cast<uint16_t>(max - 1)};
    EXPECT_TRUE((*writer)->Append(repetition, definition, std::vector<int32_t>(2, 7)).ok());
    EXPECT_TRUE((*writer)->Finish().ok());
    const BlockPointer block = CheckedParts(file).at(2);
    const auto end = file.begin() + static_cast<ptrdiff_t>(block.end());
    const auto at = std::search(file.begin() + static_cast<ptrdiff_t>(block.offset), end,
                                old_bytes.begin(), old_bytes.end());
    EXPECT_NE(at, end);
    std::copy(new_bytes.begin(), new_bytes.end(), at);
    Sign(block, file);
    const absl::Status status = ReadAllLevels<int32_t>(file, nullptr);
    EXPECT_TRUE(absl::IsDataLoss(status)) << status;
    return std::string(status.message());
  };
  const File lengths = {7, 3, 1, 0, 0, 0, 2, 0}, arrays = {2, 6, 1};
  EXPECT_THAT(read(true, lengths, {7, 3, 1, 0, 0, 0, 3, 0}), HasSubstr("4 elements, expected 3"));
  EXPECT_THAT(read(true, arrays, {2, 3, 3}), HasSubstr("array 2 of the block is null, but has"));
  EXPECT_THAT(read(false, arrays, {2, 3, 5}), HasSubstr("not nullable"));
  EXPECT_THAT(read(true, {3, 3, 2, 3, 3}, {3, 3, 2, 3, 1}), HasSubstr("values"));
}

// Footers behind right checksums whose fields on levels do not go together.
TEST(Damage, ImpossibleLimitsAreRefused) {
  std::mt19937_64 random(6);
  const auto leaf = RandomLeaf<int32_t>(ColumnType::Int32(), {1, 2}, 20, 0, random);
  const File file = WriteLeaf<int32_t>(ColumnType::Int32(), {}, leaf, random);
  const FileInfo right = Reader::Open(NewMemoryViewSource(file))->info();
  const auto open = [&](auto change) {
    FileInfo info = right;
    change(info);
    File changed(file.begin(), file.end() - static_cast<ptrdiff_t>(right.footer_size_bytes));
    encodings::ByteWriter tail;
    internal::AppendFooter(info, Compatibility::kNone, tail);
    changed.insert(changed.end(), tail.data(), tail.data() + tail.size());
    const auto reader = Reader::Open(NewMemorySource(changed));
    if (!reader.ok()) return reader.status();
    const VerifyReport report = Verify(*reader);
    return report.ok() ? absl::OkStatus() : report.damages[0].status;
  };
  EXPECT_TRUE(open([](FileInfo&) {}).ok());
  const auto expect = [&](const char* message, auto change) {
    const absl::Status status = open(change);
    EXPECT_TRUE(absl::IsDataLoss(status)) << message << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(message));
  };
  expect("arrays and nested",
         [](FileInfo& info) { info.incompatible_features |= kFeatureArrayBlocks; });
  expect("need extended blocks",
         [](FileInfo& info) { info.incompatible_features &= ~kFeatureExtendedBlocks; });
  expect("are nullable", [](FileInfo& info) { info.nullable = false; });
  expect("entries of 20 records", [](FileInfo& info) { info.num_entries = 19; });
  expect("entries of 20 records", [](FileInfo& info) { info.levels.max_repetition = 0; });
  expect("entries, the file", [](FileInfo& info) { --*info.num_entries; });
  expect("the footer says", [](FileInfo& info) { ++*info.num_entries; });
}

// 25 levels of two entries that name the same child would be 2^25 visits: each subtree has a range
// of the file for itself.
TEST(Damage, SharedIndexNodesAreRefused) {
  for (const bool with_positional : {true, false}) {
    std::mt19937_64 random(4);
    const auto column = RandomColumn<int32_t>(ColumnType::Int32(), 3, -1, true, random);
    File file = WriteColumn<int32_t>(
        ColumnType::Int32(), {.positional_index = with_positional, .value_index = true}, column);
    const FileInfo info = Reader::Open(NewMemoryViewSource(file))->info();
    const File footer(file.end() - static_cast<ptrdiff_t>(info.footer_size_bytes), file.end());
    file.resize(file.size() - footer.size());
    BlockPointer child = *info.value_index_root;
    for (int level = 0; level < 25; ++level) {
      encodings::ByteWriter node;
      internal::IndexNodeBuilder builder(internal::IndexKeyForm::kBytes);
      for (int entry = 0; entry < 2; ++entry) builder.Add(std::string_view("\x80", 1), child);
      builder.Finish(/*leaf=*/false, node);
      node.PutFixed(internal::Crc32c(node.span()));
      child = {.offset = file.size(), .size = static_cast<uint32_t>(node.size())};
      file.insert(file.end(), node.data(), node.data() + node.size());
    }
    FileInfo changed = info;
    changed.value_index_root = child;
    encodings::ByteWriter tail;
    internal::AppendFooter(changed, Compatibility::kNone, tail);
    file.insert(file.end(), tail.data(), tail.data() + tail.size());
    const auto reader = Reader::Open(NewMemorySource(file));
    ASSERT_TRUE(reader.ok()) << reader.status();
    EXPECT_FALSE(Verify(*reader).ok());
    EXPECT_TRUE(absl::IsDataLoss(reader->NewCursor<int32_t>()->SeekToKey(5).status()));
    EXPECT_TRUE(absl::IsDataLoss(
        VisitIndex(*reader, IndexKind::kValue, [](const IndexNodeInfo&) { return true; })));
  }
}

// One node that cannot be read is one damage, with its rows, and everything else is still checked.
TEST(Damage, VerifyGoesOnBehindADamagedNode) {
  std::mt19937_64 random(5);
  const auto column = RandomColumn<int32_t>(ColumnType::Int32(), 2000, -1, true, random);
  File file = WriteColumn<int32_t>(
      ColumnType::Int32(),
      {.value_index = true, .block_size_bytes = 60, .index_block_size_bytes = 100}, column);
  std::vector<BlockPointer> leaves;
  uint64_t blocks = 0;
  ASSERT_TRUE(VisitIndex(*Reader::Open(NewMemoryViewSource(file)), IndexKind::kPositional,
                         [&](const IndexNodeInfo& node) {
                           if (node.leaf) {
                             leaves.push_back(node.pointer);
                             blocks += node.entries.size();
                           }
                           return true;
                         })
                  .ok());
  ASSERT_GT(leaves.size(), 2u);
  file[leaves[1].offset] ^= 1;
  const VerifyReport report = Verify(*Reader::Open(NewMemoryViewSource(file)));
  ASSERT_EQ(report.damages.size(), 1u) << report.damages[1].status;
  EXPECT_EQ(report.damages[0].block, leaves[1]);
  EXPECT_TRUE(report.damages[0].first_ordinal.has_value());
  EXPECT_EQ(report.data_blocks, blocks);
  EXPECT_EQ(report.values, 2000u);
}

TEST(Damage, UnknownFeaturesAndCodecsAreNamed) {
  std::mt19937_64 random(3);
  const auto column = RandomColumn<int32_t>(ColumnType::Int32(), 10, -1, false, random);
  const auto file =
      WriteColumn<int32_t>(ColumnType::Int32(), {.compatibility = Compatibility::kKudu}, column);
  // incompatible_features stands at the message's end: field 10, one byte.
  const auto with_features = [&](uint8_t features) {
    File changed = file;
    uint8_t* value = &changed[changed.size() - 13];
    EXPECT_EQ(*value, kFeatureChecksums);
    *value = features;
    const size_t message = encodings::LoadLittleEndian<uint32_t>(&changed[changed.size() - 4]);
    const size_t begin = changed.size() - 12 - message;
    encodings::StoreLittleEndian(internal::Crc32c({&changed[begin], message + 12}),
                                 &changed[begin - 4]);
    return Reader::Open(NewMemorySource(changed)).status();
  };
  EXPECT_TRUE(with_features(1).ok());
  EXPECT_TRUE(absl::IsUnimplemented(with_features(1 | 64)));
  EXPECT_THAT(std::string(with_features(1 | 64).message()), HasSubstr("bit 6"));
  // That for arrays goes with a field.
  EXPECT_TRUE(absl::IsDataLoss(with_features(1 | 2)));
  // The bit for checksums cannot be lost: the header still has one.
  EXPECT_TRUE(absl::IsDataLoss(with_features(0)));
}

}  // namespace
}  // namespace cfile
