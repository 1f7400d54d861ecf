// Identifies a block of a file by its bytes. For files whose index is lost.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "cfile/core/format/stored_block.h"
#include "cfile/core/read/block_cursor.h"
#include "cfile/core/read/level_block_cursor.h"
#include "cfile/file_info.h"

namespace cfile::internal {

struct FoundBlock {
  enum class Kind : uint8_t {
    kNone,  // not a block that the file could have here
    kData,
    kCodes,  // data, valid as far as can be checked without the dictionary
    kLost,   // data: a movable block; its head is right, but other bytes are damaged
    kIndexNode,
    kDictionary,
    kStatistics
  };
  Kind kind = Kind::kNone;
  BlockPointer pointer;
  size_t size_bytes = 0;  // before compression
  // For data only:
  Encoding encoding = Encoding::kPlain;
  uint64_t first_ordinal = 0;
  uint64_t num_rows = 0;
  uint64_t num_entries = 0;
  uint64_t end_ordinal() const { return first_ordinal + num_rows; }
};

// The rows that are expected in a data block that is not decoded yet.
struct ExpectedRows {
  uint64_t first_ordinal = 0;
  bool exact = true;  // false: the block may also begin at a greater ordinal
  uint64_t most_rows = 0xffffffff;
  uint64_t entries_before = 0;
};

// Identifies and decodes blocks of the file that `info` describes. Thread-compatible.
class BlockJudge {
 public:
  // `has_footer`: `info` is from the footer. If not, the blocks may be extended blocks or movable
  // blocks (cfile/FORMAT.md) even if `info` does not say so. Judge accepts blocks of at most
  // `max_judged_bytes`. If max_judged_bytes exceeds `max_block_size_bytes`, the caller decides
  // about the blocks larger than max_block_size_bytes.
  BlockJudge(const FileInfo& info, bool has_footer, size_t max_block_size_bytes,
             size_t max_judged_bytes, size_t max_dictionary_values);

  // Identifies the block at `pointer`. `stored`: all bytes of the block, including the checksum,
  // which is assumed to be right. Sets `cost_bytes` to the number of bytes that were decoded.
  FoundBlock Judge(const BlockPointer& pointer, std::span<const uint8_t> stored,
                   const ExpectedRows& expected, uint64_t& cost_bytes);

  // Returns the whole block that `head` describes (kLost). `pointer`: the place of `head`. The last
  // bytes of `head` are its checksum, which is assumed to be right. nullopt: `head` is not the head
  // of a movable block, or the file cannot have movable blocks.
  std::optional<FoundBlock> WholeBlock(const BlockPointer& pointer,
                                       std::span<const uint8_t> head) const;

  // Identifies `whole`, a result of WholeBlock, and verifies its checksums. A damaged block of the
  // file gets only its bytes before `end`, the end of the bytes that may be blocks.
  FoundBlock JudgeMovable(const Source& source, const FoundBlock& whole,
                          const ExpectedRows& expected, uint64_t end, uint64_t& cost_bytes);

  // Reads the rows of the data block at `pointer`, verifies its checksum and fills `found`. OK if
  // the block has the expected rows and all of them can be decoded, or if the block is kCodes.
  // kOutOfRange: the block exceeds a limit.
  absl::Status Read(const Source& source, const BlockPointer& pointer, const ExpectedRows& expected,
                    FoundBlock& found);

  // Calls append(batch) for all rows of a block that Read or Judge returned: an AnyBatch or, for a
  // file with levels, an AnyLevelBatch. Returns the first error.
  template <typename Append>
  absl::Status ForEachBatch(const Source& source, const FoundBlock& found, const Append& append);

  // The dictionary of the blocks; null until it is found or set.
  const std::shared_ptr<const encodings::Dictionary>& dictionary() const { return dictionary_; }
  void SetDictionary(std::shared_ptr<const encodings::Dictionary> dictionary);

  // The file's description, corrected by the blocks found.
  const FileInfo& info() const { return forms_.front(); }

 private:
  FoundBlock Judge(const BlockPointer& pointer, std::span<const uint8_t> stored,
                   const ExpectedRows& expected);
  absl::StatusOr<std::span<const uint8_t>> Fetch(const Source& source, const BlockFormat& format,
                                                 const BlockPointer& pointer, bool verify,
                                                 size_t max_size_bytes);
  absl::Status ReadRows(std::span<const uint8_t> bytes, const FileInfo& form,
                        const ExpectedRows& expected, FoundBlock& found);
  template <typename Cursor>
  absl::Status ReadAll(Cursor& cursor, std::span<const uint8_t> bytes, const FileInfo& form,
                       const ExpectedRows& expected, FoundBlock& found);
  absl::Status CheckCodes(std::span<const uint8_t> bytes, const FileInfo& form,
                          const ExpectedRows& expected, FoundBlock& found);
  bool IsDictionary(std::span<const uint8_t> bytes);
  // True if `bytes` are the file's statistics. Statistics can be checked only if no rows before
  // them were lost.
  bool IsStatistics(std::span<const uint8_t> bytes, const ExpectedRows& expected);

  const size_t max_block_size_bytes_;
  const size_t max_judged_bytes_;
  const size_t max_dictionary_values_;
  // Possible descriptions of the file. The first data block decides which one is right.
  std::vector<FileInfo> forms_;
  BlockBuffer buffer_;
  uint64_t rows_bytes_ = 0;                 // bytes of rows that were decoded
  std::optional<Encoding> codes_encoding_;  // of the blocks that need the dictionary
  std::shared_ptr<const encodings::Dictionary> dictionary_;
  std::optional<BlockCursor> rows_;
  std::optional<LevelBlockCursor> records_;
};

template <typename Append>
absl::Status BlockJudge::ForEachBatch(const Source& source, const FoundBlock& found,
                                      const Append& append) {
  CFILE_ASSIGN_OR_RETURN(const auto bytes, Fetch(source, DataBlockFormatOf(info()), found.pointer,
                                                 /*verify=*/true, max_block_size_bytes_));
  const auto each = [&](auto& cursor) -> absl::Status {
    CFILE_RETURN_IF_ERROR(cursor.Open(bytes, info(), found.first_ordinal));
    return VisitBatches(cursor, append);
  };
  return info().has_levels() ? each(*records_) : each(*rows_);
}

}  // namespace cfile::internal
