// Damages files in memory and salvages them. For the tests of Salvage.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cfile/core/format/level_block.h"
#include "cfile/inspect.h"
#include "cfile/reader.h"
#include "cfile/salvage.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/cfile/column_testing.h"
#include "tests/cfile/scripted_io.h"

namespace cfile::testing_support {

using Bytes = std::vector<uint8_t>;

struct Salvaged {
  Bytes file;
  SalvageReport report;
};

// Salvages `source`, or `torn` if `source` is null. EXPECTs that the new file is valid.
inline absl::StatusOr<Salvaged> SalvageBytes(const Bytes& torn, const SalvageOptions& options = {},
                                             std::shared_ptr<const Source> source = nullptr) {
  Salvaged result;
  if (source == nullptr) source = NewMemoryViewSource(torn, "torn");
  auto report = Salvage(std::move(source), NewMemorySink(&result.file, "new"), options);
  if (!report.ok()) return report.status();
  result.report = *std::move(report);
  const auto reader = Reader::Open(NewMemoryViewSource(result.file));
  EXPECT_TRUE(reader.ok()) << reader.status();
  if (!reader.ok()) return reader.status();
  const VerifyReport verified = Verify(*reader);
  EXPECT_TRUE(verified.ok()) << verified.damages[0].status;
  EXPECT_EQ(reader->num_rows(), result.report.rows);
  uint64_t end = 0;
  for (const LostBytes& lost : result.report.lost) {
    EXPECT_TRUE(end <= lost.begin && lost.begin < lost.end && lost.end <= torn.size())
        << lost.begin << " to " << lost.end;
    end = lost.end;
  }
  return result;
}

struct Block : BlockInfo {
  bool needs_dictionary = false;
};

// True if a block whose dictionary consists of symbols has codes.
inline bool NeedsSymbols(const BlockInfo& block, const FileInfo& info) {
  const auto parts = internal::ParseLevelBlock(block.bytes, info);
  const auto decoder =
      encodings::MakeDecoder<std::string_view>(block.encoding, encodings::PhysicalType::kBytes, {});
  encodings::BlockView body(parts->values.values);
  body.count = parts->values.present_count.value_or(0);
  if (!parts.ok() || !decoder.ok() || !(*decoder)->Open(body).ok()) return true;
  std::string_view values[64];
  while ((*decoder)->position() < (*decoder)->count()) {
    if (!(*decoder)->Read(values).ok()) return true;
  }
  return false;
}

inline bool NeedsDictionary(const BlockInfo& block, const FileInfo& info) {
  const encodings::EncodingRow& row = *encodings::FindEncoding(block.encoding);
  if (row.has_dictionary && !row.has_codes) return NeedsSymbols(block, info);
  if (block.encoding != Encoding::kDict) return row.has_dictionary;
  constexpr uint8_t kCodes = 1;
  const auto parts = internal::ParseLevelBlock(block.bytes, info);
  EXPECT_TRUE(parts.ok());
  return parts->values.values[0] == kCodes;
}

// Returns the data blocks of an undamaged file.
inline std::vector<Block> BlocksOf(const Bytes& file) {
  const auto reader = Reader::Open(NewMemoryViewSource(file));
  EXPECT_TRUE(reader.ok()) << reader.status();
  std::vector<Block> blocks;
  const absl::Status status = VisitBlocks(*reader, [&](const BlockInfo& block) {
    blocks.push_back({block, NeedsDictionary(block, reader->info())});
    return true;
  });
  EXPECT_TRUE(status.ok()) << status;
  return blocks;
}

// Returns the rows of the blocks for which `kept` returns true.
template <typename T, typename Kept>
Column<T> RowsOf(const Column<T>& column, const std::vector<Block>& blocks, Kept kept) {
  Column<T> rows;
  for (const Block& block : blocks) {
    if (!kept(block)) continue;
    const auto begin = column.rows.begin() + static_cast<ptrdiff_t>(block.first_ordinal);
    rows.rows.insert(rows.rows.end(), begin, begin + static_cast<ptrdiff_t>(block.num_rows));
  }
  return rows;
}

template <typename T>
void ExpectRows(const Bytes& file, const Column<T>& column) {
  const auto reader = Reader::Open(NewMemoryViewSource(file));
  ASSERT_TRUE(reader.ok()) << reader.status();
  ASSERT_EQ(reader->num_rows(), column.rows.size());
  std::mt19937_64 random(1);
  auto cursor = reader->NewCursor<T>();
  ASSERT_TRUE(cursor.ok()) << cursor.status();
  ExpectRest<T>(*cursor, column, random);
}

inline Bytes Prefix(const Bytes& file, size_t size) {
  return {file.begin(), file.begin() + static_cast<ptrdiff_t>(size)};
}

using Kept = std::function<bool(const Block&)>;

// A function of this type EXPECTs that `file` holds the rows of some of the `blocks`:
// those for which `kept` returns true.
// Because of this type, the code that damages files need not be a template.
using ExpectKept =
    std::function<void(const Bytes& file, const std::vector<Block>& blocks, const Kept& kept)>;

inline std::vector<uint64_t> NumbersOf(const Bytes& file) {
  const auto reader = Reader::Open(NewMemoryViewSource(file));
  EXPECT_TRUE(reader.ok()) << reader.status();
  std::vector<uint64_t> numbers;
  auto cursor = reader->NewCursor<uint64_t>();
  for (auto batch = cursor->Next(1000); batch.ok() && !batch->empty(); batch = cursor->Next(1000))
    numbers.insert(numbers.end(), batch->values.begin(), batch->values.end());
  return numbers;
}

// Returns the locations of an index's leaves, in the order of the tree.
inline std::vector<BlockPointer> LeavesOf(const Bytes& file, IndexKind kind) {
  std::vector<BlockPointer> leaves;
  const auto reader = Reader::Open(NewMemoryViewSource(file));
  const absl::Status status = VisitIndex(*reader, kind, [&](const IndexNodeInfo& node) {
    if (node.leaf) leaves.push_back(node.pointer);
    return true;
  });
  EXPECT_TRUE(status.ok()) << status;
  return leaves;
}

// A file and its rows.
struct Written {
  Bytes bytes;
  std::vector<Block> blocks;
  ExpectKept expect_kept;
};

template <typename T>
Written Write(const ColumnType& type, const WriterOptions& options, const Column<T>& column) {
  Bytes bytes = WriteColumn<T>(type, options, column);
  std::vector<Block> blocks = BlocksOf(bytes);
  return {std::move(bytes), std::move(blocks),
          [=](const Bytes& file, const std::vector<Block>& all, const Kept& kept) {
            ExpectRows(file, RowsOf(column, all, kept));
          }};
}

enum class How {
  kFlip,   // changes one bit of the byte at `offset`
  kZeros,  // overwrites the bytes with zeros
  kOther,  // overwrites the bytes with 0xa5
  kUnreadable,
};
struct Hit {
  uint64_t offset;
  How how = How::kFlip;
  uint64_t size = 1;
};

struct Loss {
  std::string what;
  const Written& file;
  std::vector<Hit> hits;
  std::set<size_t> lost;  // the blocks whose rows are lost
  // The file has its footer, or lacks the last byte of the footer.
  bool whole = true, torn = true;
  // The first entries of the report's lost bytes. The size 0 allows any end.
  std::vector<BlockPointer> told = {};
  std::optional<size_t> num_told = std::nullopt;  // the number of these entries
};

// Flips a bit of byte `at` of each block in `lost`.
inline std::vector<Hit> Flips(const Written& file, const std::set<size_t>& lost, uint64_t at) {
  std::vector<Hit> hits;
  for (const size_t index : lost) hits.push_back({file.blocks.at(index).pointer.offset + at});
  return hits;
}
// Overwrites these blocks.
inline std::vector<Hit> Zeros(const Written& file, const std::set<size_t>& lost) {
  std::vector<Hit> hits;
  for (const size_t index : lost) {
    const BlockPointer& block = file.blocks.at(index).pointer;
    hits.push_back({block.offset, How::kZeros, block.size});
  }
  return hits;
}

// Returns true if the lost bytes of the report hold all bytes of `block`.
inline bool Holds(const std::vector<LostBytes>& all, const BlockPointer& block) {
  uint64_t next = block.offset;
  for (const LostBytes& lost : all) {
    if (lost.begin <= next && next < lost.end) next = lost.end;
  }
  return next >= block.end();
}

// Damages the file and salvages it. EXPECTs the rows of all blocks that are not in `loss.lost`, and
// a report that tells the missing rows and the bytes of the lost blocks, but of no other block.
inline void ExpectLosses(const Loss& loss) {
  for (const bool whole : {true, false}) {
    if (!(whole ? loss.whole : loss.torn)) continue;
    SCOPED_TRACE(absl::StrCat(loss.what, whole ? "" : " without the footer"));
    const std::vector<Block>& blocks = loss.file.blocks;
    Bytes torn = Prefix(loss.file.bytes, loss.file.bytes.size() - (whole ? 0 : 1));
    Script script;
    for (const Hit& hit : loss.hits) {
      const auto begin = torn.begin() + static_cast<ptrdiff_t>(hit.offset);
      if (hit.how == How::kUnreadable) {
        script = UnreadableByte(hit.offset);
      } else if (hit.how == How::kFlip) {
        *begin ^= 1;
      } else {
        std::fill_n(begin, hit.size, hit.how == How::kZeros ? uint8_t{0} : uint8_t{0xa5});
      }
    }
    const auto memory = NewMemoryViewSource(torn, "torn");
    const auto salvaged = SalvageBytes(
        torn, {}, script ? std::make_shared<const ScriptedSource>(memory, script) : memory);
    ASSERT_TRUE(salvaged.ok()) << salvaged.status();
    const SalvageReport& report = salvaged->report;
    ASSERT_NO_FATAL_FAILURE(loss.file.expect_kept(
        salvaged->file, blocks, [&](const Block& block) { return !loss.lost.count(block.index); }));
    EXPECT_EQ(report.blocks, blocks.size() - loss.lost.size());
    if (!script) {
      EXPECT_EQ(report.has_footer, whole);  // the unreadable byte may be in the footer
    }
    EXPECT_EQ(report.complete(), whole && loss.hits.empty());
    std::vector<OrdinalRange> missing;
    for (const size_t index : loss.lost) {
      const uint64_t begin = blocks[index].first_ordinal;
      const bool follows = !missing.empty() && missing.back().end == begin;
      if (!follows) missing.push_back({begin, begin});
      missing.back().end = begin + blocks[index].num_rows;
    }
    // Without the footer, the report cannot know the last blocks.
    if (!report.has_footer && loss.lost.count(blocks.size() - 1)) missing.pop_back();
    EXPECT_EQ(report.missing, missing);
    for (const Block& block : blocks) {
      // Salvage may take fewer than 64 zeros for the alignment of a block.
      const bool padding =
          block.pointer.size < 64 && !loss.hits.empty() && loss.hits[0].how == How::kZeros;
      if (loss.lost.count(block.index) && !script && !padding) {
        EXPECT_TRUE(Holds(report.lost, block.pointer)) << "block " << block.index;
      }
      if (loss.lost.count(block.index)) continue;
      for (const LostBytes& lost : report.lost) {
        EXPECT_TRUE(lost.end <= block.pointer.offset || block.pointer.end() <= lost.begin)
            << "block " << block.index << " and " << lost.begin << " to " << lost.end;
      }
    }
    ASSERT_GE(report.lost.size(), loss.told.size());
    for (size_t i = 0; i < loss.told.size(); ++i) {
      EXPECT_EQ(report.lost[i].begin, loss.told[i].offset);
      if (loss.told[i].size != 0) {
        EXPECT_EQ(report.lost[i].end, loss.told[i].end());
      }
    }
    EXPECT_EQ(report.lost.size(), loss.num_told.value_or(report.lost.size()));
    if (script) {
      EXPECT_THAT(report.lost,
                  testing::Contains(testing::Field(
                      &LostBytes::reason, testing::HasSubstr("ReadAt torn: made to fail"))));
    }
  }
}

// Returns a file of the rows 0, 1, 2, ... in blocks of 100 rows.
inline Written Numbers(uint64_t count, WriterOptions options = {}) {
  options.encoding = Encoding::kPlain;
  options.max_values_per_block = 100;
  options.index_block_size_bytes = 64;
  Column<uint64_t> column;
  for (uint64_t i = 0; i < count; ++i) column.rows.push_back(i);
  return Write<uint64_t>(ColumnType::Uint64(), options, column);
}

}  // namespace cfile::testing_support
