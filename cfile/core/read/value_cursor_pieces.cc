// Implements the functions of ValueCursor that open pieces of blocks (cfile/FORMAT.md, Pieces). If
// a piece cannot be read, they do nothing, and the caller reads the whole block. If the piece is
// damaged, so is the block, and the caller finds this out. If only the piece tables are damaged,
// the block is sound.
#include "cfile/core/read/value_cursor.h"

#include <optional>

namespace cfile::internal {

template <typename Load>
bool ValueCursor::OpenPiece(IndexWalk& path, const Load& load) {
  Unload();
  const absl::StatusOr<std::optional<LoadedPiece>> loaded = load();
  if (loaded.ok() && !*loaded) return false;
  if (loaded.ok() && (*loaded)->first_ordinal + (*loaded)->num_rows <= num_rows()) {
    const LoadedPiece& piece = **loaded;
    const DataBlock body{.encoding = piece.encoding,
                         .present_count = piece.num_rows,
                         .first_ordinal = static_cast<uint32_t>(piece.first_ordinal),
                         .values = piece.body};
    if (block_.Open(body, piece.first_ordinal).ok()) {
      OpenedPiece(path, piece.first_ordinal);
      path_ = &path;
      loaded_ = in_piece_ = true;
      loaded_entry_ = {};
      return true;
    }
  }
  path.leaf().StopPartReads(path.entry());
  return false;
}

bool ValueCursor::OpenPieceAt(uint64_t row) {
  IndexWalk& path = paths_[0];
  const LoadedNode& leaf = path.leaf();
  const uint32_t entry = path.entry();
  if (!file_->MayReadPiece(leaf, entry) || fetcher_.ReadsOn(leaf, entry)) return false;
  const uint64_t in_block = row - leaf.ordinal(entry);
  return OpenPiece(path, [&] { return file_->LoadPieceOfRow(leaf, entry, in_block, buffer_); });
}

std::optional<KeyPosition> ValueCursor::SeekInPiece(const void* key) {
  IndexWalk& path = paths_[1];
  const bool loaded = loaded_ && path_ == &path && path.leaf_entry() == loaded_entry_;
  if (loaded || !file_->MayReadPiece(path.leaf(), path.entry())) return std::nullopt;
  if (!OpenPiece(path, [&] {
        return file_->LoadPiece(path.leaf(), path.entry(), search_key_, buffer_);
      })) {
    path.leaf().StopPartReads(path.entry());
    return std::nullopt;
  }
  const auto bound = block_.SeekToKey(key);
  // At the end of the piece, only the next piece says whether the key is exact.
  if (bound.ok() && bound->position < block_.num_rows())
    return KeyPosition{.ordinal = first_ordinal_ + bound->position, .exact = bound->exact};
  Unload();
  return std::nullopt;
}

}  // namespace cfile::internal
