// A position in a file's rows: the current block, the index entry of this block, and how to find
// the next block. The block cursor reads the rows inside the block.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "cfile/internal/io/named_status.h"
#include "cfile/internal/read/block_walk.h"
#include "cfile/internal/read/file_reader.h"
#include "cfile/internal/read/index_walk.h"
#include "encodings/core/status.h"
#include "encodings/registry.h"

namespace cfile::internal {

// Checks that this build can read the file as values of T, and returns the file's dictionary (null
// if it has none). Errors: those of Reader::NewCursor.
template <typename T>
absl::StatusOr<std::shared_ptr<const encodings::Dictionary>> PrepareToRead(FileReader& file) {
  const FileInfo& info = file.info();
  const std::string& name = file.source().name();
  if (!HoldsType<T>(info.type)) {
    return absl::InvalidArgumentError(absl::StrCat(name, ": a column of type ",
                                                   info.type.ToString(),
                                                   " does not give values of this C++ type"));
  }
  absl::Status status = CheckCompressionBuiltIn(info.compression);
  if (status.ok()) {
    status = encodings::MakeDecoder<T>(info.encoding, info.type.physical(), info.type.type_length)
                 .status();
  }
  CFILE_RETURN_IF_ERROR(Named(status, name));
  CFILE_RETURN_IF_ERROR(file.CheckNumValues());
  return file.Dictionary();
}

// Block: BlockCursor or LevelBlockCursor; see BlockCursor for Open, SeekToRow, row, num_rows and
// first_ordinal. Errors as those of Cursor (cfile/reader.h). Thread-compatible.
//
// A call that fails leaves the position unchanged, so it can be repeated.
template <typename Block>
class FileCursor : protected BlockWalk<Block> {
  using Walk = BlockWalk<Block>;

 protected:
  using Walk::block_;
  using Walk::fetcher_;
  using Walk::file_;
  using Walk::first_ordinal_;
  using Walk::name;
  using Walk::num_rows;
  using Walk::pointer_;

 public:
  FileCursor(std::shared_ptr<FileReader> file, Block block)
      : Walk(std::move(file), std::move(block)),
        paths_{IndexWalk(file_.get(), IndexKind::kPositional),
               IndexWalk(file_.get(), IndexKind::kValue)} {}

  // `access`: kScan if the blocks after this one will be read too.
  absl::Status SeekToOrdinal(uint64_t ordinal, BlockAccess access = BlockAccess::kSeek) {
    return Seeking([&] { return GoTo(ordinal, access); });
  }

  // Goes to the position of `other`, a cursor of the same file. Uses the index that `other` used,
  // since a file may have only one index.
  absl::Status SeekToPlaceOf(const FileCursor& other) {
    Unload();
    ordinal_ = other.ordinal();
    resume_ = other.resume_;
    failed_ = other.failed_;
    if (other.path_ == nullptr) return absl::OkStatus();
    const ptrdiff_t kind = other.path_ - other.paths_;
    paths_[kind] = other.paths_[kind];
    path_ = &paths_[kind];
    if (!other.loaded_) return absl::OkStatus();
    CFILE_RETURN_IF_ERROR(LoadBlock(BlockAccess::kSeek));
    return SeekInBlock(ordinal_);
  }

  // Returns block().Next(max_rows) at the current position, going to the next block if necessary.
  // Sets `first_ordinal` to the batch's first row. The batch is empty at the end of the file.
  template <typename Batch>
  absl::StatusOr<Batch> NextBatch(size_t max_rows, uint64_t& first_ordinal) {
    if (!loaded_) {
      first_ordinal = ordinal_;
      CFILE_RETURN_IF_ERROR(failed_);
      if (resume_ != Resume::kBySeek) {
        CFILE_RETURN_IF_ERROR(EnterNextBlock(BlockAccess::kScan));
      } else if (ordinal_ < num_rows()) {
        CFILE_RETURN_IF_ERROR(SeekToOrdinal(ordinal_, BlockAccess::kScan));
      } else {
        return Batch{};
      }
    }
    while (block_.row() == block_.num_rows()) {
      CFILE_ASSIGN_OR_RETURN(const bool more, NextBlock());
      first_ordinal = ordinal_;
      if (!more) return Batch{};
    }
    first_ordinal = ordinal();
    auto batch = block_.Next(max_rows);
    if (!batch.ok()) {
      absl::Status status = Failed(batch.status());
      failed_ = status;
      return status;
    }
    return batch;
  }

  uint64_t ordinal() const { return loaded_ ? first_ordinal_ + block_.row() : ordinal_; }
  const FileReader& file() const { return *file_; }

 protected:
  absl::Status OutOfRange(uint64_t ordinal) const {
    return absl::OutOfRangeError(
        absl::StrCat(name(), ": ordinal ", ordinal, ", the file has ", num_rows(), " rows"));
  }

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
  absl::Status Failed(const absl::Status& status) {
    Unload();
    return this->InThisBlock(status);
  }

  // Call at the end of the rows. kDataLoss if the index has further blocks.
  absl::Status CheckEnd() const {
    return loaded_ && ordinal() == num_rows() ? this->CheckLast(*path_) : absl::OkStatus();
  }

  // True if the path to the current block is in the positional index, whose nodes have ordinals.
  bool by_ordinal() const { return path_ == &paths_[0]; }

  // Says which blocks will be read from now on, as BlockFetcher::Expect does.
  // `wants` is called only for entries of the positional index.
  // If the path is in the value index, all blocks are wanted.
  template <typename Wants>
  void ExpectBlocks(BlockPlan plan, Wants wants, BlockFetcher::Wants perhaps = nullptr) {
    fetcher_.Expect(
        plan,
        [this, wants](const IndexNode& leaf, uint32_t entry) {
          return !by_ordinal() || wants(leaf, entry);
        },
        std::move(perhaps));
  }
  // Sets the direction in which blocks will be read.
  // Without a positional index, a cursor reads blocks only in ascending order.
  void SetBackward(bool backward) {
    fetcher_.SetBackward(backward && file_->info().positional_index_root.has_value());
  }

  bool InBlock(uint64_t ordinal) const {
    return loaded_ && ordinal >= first_ordinal_ && ordinal - first_ordinal_ < block_.num_rows();
  }

  absl::Status SeekInBlock(uint64_t ordinal) {
    absl::Status status = block_.SeekToRow(static_cast<uint32_t>(ordinal - first_ordinal_));
    return status.ok() ? status : Failed(status);
  }

  absl::Status GoToEnd() {
    Unload();
    ordinal_ = num_rows();
    return absl::OkStatus();
  }

  void Unload() {
    ordinal_ = ordinal();
    loaded_ = false;
    resume_ = Resume::kBySeek;
    failed_ = absl::OkStatus();
  }

  // Implements SeekToOrdinal. After an error the position is undefined.
  absl::Status GoTo(uint64_t ordinal, BlockAccess access) {
    const uint64_t end = file_->info().num_rows;
    if (ordinal > end) return OutOfRange(ordinal);
    if (InBlock(ordinal)) return SeekInBlock(ordinal);
    if (ordinal == end) return GoToEnd();
    // Without a positional index, only the value index can find the first row.
    const bool first_by_key = ordinal == 0 && !file_->info().positional_index_root;
    IndexWalk* const path = &paths_[first_by_key ? 1 : 0];
    // If path_ uses the other index, the block stays loaded until the seek succeeds: the file may
    // not have the index of `path`.
    if (path == path_) Unload();
    CFILE_RETURN_IF_ERROR(first_by_key ? path->SeekToKey("") : path->SeekToOrdinal(ordinal));
    Unload();
    path_ = path;
    CFILE_RETURN_IF_ERROR(this->CheckFound(*path_));
    CFILE_RETURN_IF_ERROR(LoadBlock(access));
    if (!InBlock(ordinal)) {
      Unload();
      return internal::InBlock(
          encodings::DataLoss("the index says that it has ordinal ", ordinal, ", found the rows ",
                              first_ordinal_, " to ", first_ordinal_ + block_.num_rows()),
          name(), pointer_);
    }
    return SeekInBlock(ordinal);
  }

  // Opens the block that has row `row`. Precondition: `row` is a row of the file.
  // Needs no search if this block comes just after the current block.
  // Without a positional index, reads all blocks before this block.
  // If `row` is not before the current block, the reading begins at the current block.
  absl::Status OpenBlockOf(uint64_t row) {
    const bool searches = file_->info().positional_index_root.has_value();
    while (!InBlock(row)) {
      const uint64_t next = loaded_ ? first_ordinal_ + block_.num_rows() : ordinal_;
      if ((loaded_ || resume_ != Resume::kBySeek) && (searches ? row == next : row >= next)) {
        CFILE_RETURN_IF_ERROR(loaded_ ? NextBlock().status() : EnterNextBlock(BlockAccess::kScan));
      } else {
        const uint64_t target = searches ? row : 0;
        CFILE_RETURN_IF_ERROR(GoTo(target, target == 0 ? BlockAccess::kScan : BlockAccess::kSeek));
      }
    }
    return absl::OkStatus();
  }

  // Opens the block at path_'s position. `expected` as in OpenBlock.
  absl::Status LoadBlock(BlockAccess access, std::optional<uint64_t> expected = std::nullopt) {
    CFILE_RETURN_IF_ERROR(this->OpenBlock(*path_, access, expected));
    loaded_ = true;
    loaded_entry_ = path_->leaf_entry();
    return absl::OkStatus();
  }

  // Goes to the front of the next block. After the last block, goes to the end of the file and
  // returns false.
  absl::StatusOr<bool> NextBlock(BlockAccess access = BlockAccess::kScan) {
    const uint64_t expected = first_ordinal_ + block_.num_rows();
    Unload();
    ordinal_ = expected;
    if (expected == num_rows() && path_->at_last()) return false;
    resume_ = Resume::kAfterPath;
    CFILE_RETURN_IF_ERROR(EnterNextBlock(access));
    return true;
  }

  // Opens the block that begins at ordinal_. resume_ says how path_ leads to that block.
  // Precondition: resume_ is not kBySeek.
  absl::Status EnterNextBlock(BlockAccess access) {
    if (resume_ == Resume::kAfterPath) {
      CFILE_RETURN_IF_ERROR(this->GoToNext(*path_, ordinal_));
      resume_ = Resume::kAtPath;
    }
    return LoadBlock(access, ordinal_);
  }

  IndexWalk paths_[2];  // by IndexKind
  IndexWalk* path_ = nullptr;

  bool loaded_ = false;  // block_ is open; its entry is loaded_entry_
  // The index entry of block_. path_ may point to another entry: a search by key first moves the
  // path, and then compares the two entries to see whether the block it found is the open one.
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
  // An error that NextBatch found inside a block. NextBatch returns it until the next seek, since a
  // part of a record may already have been returned.
  absl::Status failed_;
};

}  // namespace cfile::internal
