// What a block of a file is whose index is lost, judged by its bytes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "cfile/inspect.h"
#include "cfile/internal/block_cursor.h"
#include "cfile/internal/level_block_cursor.h"
#include "cfile/internal/stored_block.h"

namespace cfile::internal {

struct FoundBlock {
  enum class Kind : uint8_t {
    kNone,  // none that the file could have here
    kData,
    kCodes,  // data, all right as far as can be told without the dictionary that it needs
    kIndexNode,
    kDictionary,
    kStatistics
  };
  Kind kind = Kind::kNone;
  BlockPointer pointer;
  size_t size_bytes = 0;  // before compression
  // Of data.
  Encoding encoding = Encoding::kPlain;
  uint64_t first_ordinal = 0;
  uint64_t num_rows = 0;
  uint64_t num_entries = 0;
  uint64_t end_ordinal() const { return first_ordinal + num_rows; }
};

// What is known of a data block before it is looked at.
struct ExpectedRows {
  uint64_t first_ordinal = 0;
  bool exact = true;  // else it is that or a greater one
  uint64_t most_rows = 0xffffffff;
  uint64_t entries_before = 0;
};

// Decodes blocks of the file that `info` describes. Thread-compatible.
template <typename T>
class BlockJudge {
 public:
  // `blocks_may_be_extended`: though `info` does not say so. Judge accepts blocks of up to
  // `max_judged_bytes`, which may be more than `max_block_size_bytes`; the caller then decides.
  BlockJudge(const FileInfo& info, bool blocks_may_be_extended, size_t max_block_size_bytes,
             size_t max_judged_bytes, size_t max_dictionary_values);

  // The block at `pointer`, whose bytes are `stored`, its checksum (which is taken as right)
  // included. `cost_bytes`: is set to how many bytes had to be looked at, decoded.
  FoundBlock Judge(const BlockPointer& pointer, std::span<const uint8_t> stored,
                   const ExpectedRows& expected, uint64_t& cost_bytes);

  // Reads the rows of a data block at `pointer`, checksum and all, and fills `found`. OK if they
  // are the expected ones and all of them decode. kOutOfRange: the block is above a limit.
  absl::Status Read(const Source& source, const BlockPointer& pointer, const ExpectedRows& expected,
                    FoundBlock& found);

  // Calls append_rows(batch), or of a file with levels append_entries(batch), for all rows of a
  // block that Read or Judge gave; returns the first error.
  template <typename AppendRows, typename AppendEntries>
  absl::Status ForEachBatch(const Source& source, const FoundBlock& found, AppendRows append_rows,
                            AppendEntries append_entries);

  // The dictionary that blocks need, once it was found or set; null before.
  const std::shared_ptr<const encodings::Dictionary>& dictionary() const { return dictionary_; }
  void SetDictionary(std::shared_ptr<const encodings::Dictionary> dictionary);

  // The file as its blocks show it.
  const FileInfo& info() const { return forms_.front(); }

 private:
  FoundBlock Judge(const BlockPointer& pointer, std::span<const uint8_t> stored,
                   const ExpectedRows& expected);
  absl::StatusOr<std::span<const uint8_t>> Fetch(const Source& source, const BlockPointer& pointer,
                                                 bool verify, size_t max_size_bytes);
  absl::Status ReadRows(std::span<const uint8_t> bytes, const FileInfo& form,
                        const ExpectedRows& expected, FoundBlock& found);
  template <typename Cursor>
  absl::Status ReadAll(Cursor& cursor, std::span<const uint8_t> bytes, const FileInfo& form,
                       const ExpectedRows& expected, FoundBlock& found);
  absl::Status CheckCodes(std::span<const uint8_t> bytes, const FileInfo& form,
                          const ExpectedRows& expected, FoundBlock& found);
  bool IsDictionary(std::span<const uint8_t> bytes);
  // Those of a file of which nothing is lost; of another one they cannot be checked.
  bool IsStatistics(std::span<const uint8_t> bytes, const ExpectedRows& expected);

  const size_t max_block_size_bytes_;
  const size_t max_judged_bytes_;
  const size_t max_dictionary_values_;
  // What the file may be: one that its first data block decides.
  std::vector<FileInfo> forms_;
  BlockBuffer buffer_;
  uint64_t rows_bytes_ = 0;                 // that were decoded, of rows
  std::optional<Encoding> codes_encoding_;  // of blocks that need a dictionary
  std::shared_ptr<const encodings::Dictionary> dictionary_;
  std::optional<BlockCursor<T>> rows_;
  std::optional<LevelBlockCursor<T>> records_;
};

template <typename T>
template <typename AppendRows, typename AppendEntries>
absl::Status BlockJudge<T>::ForEachBatch(const Source& source, const FoundBlock& found,
                                         AppendRows append_rows, AppendEntries append_entries) {
  CFILE_ASSIGN_OR_RETURN(const auto bytes,
                         Fetch(source, found.pointer, /*verify=*/true, max_block_size_bytes_));
  const auto each = [&](auto& cursor, const auto& append) -> absl::Status {
    CFILE_RETURN_IF_ERROR(cursor.Open(bytes, info(), found.first_ordinal));
    while (cursor.row() < cursor.num_rows()) {
      CFILE_ASSIGN_OR_RETURN(const auto batch, cursor.Next(encodings::kMaxBatchValues));
      CFILE_RETURN_IF_ERROR(append(batch));
    }
    return absl::OkStatus();
  };
  return info().has_levels() ? each(*records_, append_entries) : each(*rows_, append_rows);
}

}  // namespace cfile::internal
