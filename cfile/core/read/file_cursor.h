// A position in a file's rows: the current block, the index entry of this block, and how to find
// the next block. The block cursor reads the rows inside the block.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/core/read/block_cursor.h"
#include "cfile/core/read/block_walk.h"
#include "cfile/core/read/file_reader.h"
#include "cfile/core/read/index_walk.h"
#include "cfile/types.h"
#include "encodings/registry.h"

namespace cfile::internal {

// Checks that this build can read the file. `make_decoder`: null if the column does not hold the
// caller's C++ type. Errors: those of Reader::NewCursor.
absl::StatusOr<BlockDecoding> PrepareToRead(
    FileReader& file, encodings::DecoderMaker* make_decoder = &encodings::MakeAnyDecoder);

// Errors as Cursor (cfile/reader.h). Thread-compatible. A call that fails leaves the position
// unchanged.
class FileCursor : protected BlockWalk {
 public:
  // `access`: kScan if the blocks after this one will be read too.
  absl::Status SeekToOrdinal(uint64_t ordinal, BlockAccess access = BlockAccess::kSeek);

  // Goes to the position of `other`, a cursor of the same file. Uses the index that `other` used,
  // since a file may have only one index.
  absl::Status SeekToPlaceOf(const FileCursor& other);

  uint64_t ordinal() const { return loaded_ ? first_ordinal_ + row_block_.row() : ordinal_; }
  const FileReader& file() const { return *file_; }

 protected:
  // `block` as for BlockWalk.
  FileCursor(std::shared_ptr<FileReader> file, RowBlock& block);
  ~FileCursor() = default;

  // Opens the next block if the rows of the current block are at their end. Sets `first_ordinal` to
  // the ordinal of the next row. Returns false at the end of the file.
  absl::StatusOr<bool> GoToNextRow(uint64_t& first_ordinal);
  // Call after an error in the values of a block. Returns `status` with the name of the block.
  // Until the next seek, GoToNextRow returns the same error, because the caller may have received a
  // part of a record already.
  absl::Status KeepFailed(const absl::Status& status);

  absl::Status OutOfRange(uint64_t ordinal) const;

  // Calls `seek`, which returns a Status or StatusOr. If `seek` fails, restores ordinal().
  template <typename Seek>
  auto Seeking(const Seek& seek) {
    const uint64_t before = ordinal();
    auto result = seek();
    if (!result.ok() && ordinal() != before) {
      Unload();
      ordinal_ = before;
    }
    return result;
  }

  // Unloads the current block. Returns `status`, an error inside this block, with the block's name.
  absl::Status Failed(const absl::Status& status);

  // Call at the end of the rows. kDataLoss if the index has further blocks.
  absl::Status CheckEnd() const {
    return loaded_ && ordinal() == num_rows() ? CheckLast(*path_) : absl::OkStatus();
  }

  // True if the path to the current block is in the positional index, whose nodes have ordinals.
  bool by_ordinal() const { return path_ == &paths_[0]; }

  // Says which blocks will be read from now on, as BlockFetcher::Expect does. `wants` is called
  // only for entries of the positional index. If the path is in the value index, all blocks are
  // wanted.
  template <typename Wants>
  void ExpectBlocks(BlockPlan plan, Wants wants, BlockFetcher::Wants perhaps = nullptr) {
    fetcher_.Expect(
        plan,
        [this, wants](const LoadedNode& leaf, uint32_t entry) {
          return !by_ordinal() || wants(leaf, entry);
        },
        std::move(perhaps));
  }
  // Sets the direction in which blocks will be read. Without a positional index, it is always
  // ascending.
  void SetBackward(bool backward);

  bool InBlock(uint64_t ordinal) const {
    return loaded_ && ordinal >= first_ordinal_ && ordinal - first_ordinal_ < row_block_.num_rows();
  }

  absl::Status SeekInBlock(uint64_t ordinal);
  absl::Status GoToEnd();
  void Unload();

  // Implements SeekToOrdinal. After an error the position is undefined.
  absl::Status GoTo(uint64_t ordinal, BlockAccess access);

  // Opens a piece of the block at the position of *path_, in the positional index, that has row
  // `row`, and returns true. Returns false if there is no such piece, or if the whole block should
  // be read. Without this function, a cursor reads whole blocks.
  virtual bool OpenPieceAt(uint64_t /*row*/) { return false; }

  // Opens the block at the position of *path_, and goes to row `row`, which must be in this block.
  absl::Status OpenAt(uint64_t row, BlockAccess access);

  // Goes to row `row` - 1. Like GoTo; but in a file without a positional index, it can also go from
  // the first row of a block to the block before it, and from the end of the file to the last
  // block. Precondition: row > 0.
  absl::Status GoBefore(uint64_t row, BlockAccess access);

  // Opens the block that has row `row`. Precondition: `row` is a row of the file. Needs no search
  // if this block comes just after the current block. Without a positional index, reads all blocks
  // before this block, from the current block on if `row` is not before it.
  absl::Status OpenBlockOf(uint64_t row);

  // Begins to read the block that has row `row`, and the blocks after it, in the background.
  // OpenBlockOf will find them. Does nothing if the source cannot do this.
  // Errors are left to OpenBlockOf. Precondition: `row` is a row of the file.
  void BeginBlockOf(uint64_t row);

  // Opens the block at path_'s position. `expected` as in OpenBlock.
  absl::Status LoadBlock(BlockAccess access, std::optional<uint64_t> expected = std::nullopt);

  // Goes to the front of the next block. After the last block, goes to the end of the file and
  // returns false.
  absl::StatusOr<bool> NextBlock(BlockAccess access = BlockAccess::kScan);

  // Opens the block that begins at ordinal_. resume_ says how path_ leads to that block.
  // Precondition: resume_ is not kBySeek.
  absl::Status EnterNextBlock(BlockAccess access);

  IndexWalk paths_[2];  // by IndexKind
  IndexWalk* path_ = nullptr;

  bool loaded_ = false;  // the block is open; its entry is loaded_entry_
  // True if only a piece of the block is open (FileReader::LoadPiece), as a block of its own. Then
  // loaded_entry_ is no entry, and the cursor goes on by ordinal.
  bool in_piece_ = false;
  // The index entry of the open block. path_ may point to another entry: a search by key first
  // moves the path, and then compares the two entries to see whether the block it found is the open
  // one.
  IndexWalk::LeafEntry loaded_entry_;
  uint64_t ordinal_ = 0;  // the position, if no block is loaded

  // How to find the block of ordinal_ if no block is loaded. A file without a positional index
  // needs kAfterPath or kAtPath, except for ordinal 0.
  enum class Resume : uint8_t {
    kBySeek,     // by a seek to ordinal_
    kAfterPath,  // the cursor goes to the block after the block at path_
    kAtPath,     // the cursor goes to the block at path_
  };
  Resume resume_ = Resume::kBySeek;
  absl::Status failed_;  // see KeepFailed
};

}  // namespace cfile::internal
