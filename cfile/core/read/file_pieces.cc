// Implements the functions of FileReader that read pieces of data blocks.
#include "cfile/core/read/file_reader.h"

#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "cfile/core/format/piece_table.h"
#include "cfile/core/format/stored_block.h"
#include "encodings/core/status.h"

namespace cfile::internal {

bool FileReader::MayReadPiece(const LoadedNode& leaf, uint32_t entry) const {
  // A source with latency makes one request in both cases, for a block or for a piece, so a piece
  // saves no time. If the memory is that of another source (has_source), it was read already.
  if (!info_.piece_directory || !options_.verify_checksums || !info_.positional_index_root ||
      !leaf.MayReadPart(entry) || leaf.entry_pointer(entry).size < kLeastBytesOfPieces)
    return false;
  if (in_memory()) return !usage_.has_source();
  if (source_->HasLatency() || source_->ReadsInBackground()) return false;
  if (options_.block_cache->blocks().Peek({cache_file_, leaf.entry_pointer(entry)}) == nullptr)
    return true;
  leaf.StopPartReads(entry);  // so that later searches do not look for the block twice
  return false;
}

absl::StatusOr<std::shared_ptr<const PieceDirectory>> FileReader::Pieces() {
  return piece_directory_.Get([&]() -> absl::StatusOr<std::shared_ptr<const PieceDirectory>> {
    BlockBuffer buffer;
    const BlockPointer& pointer = *info_.piece_directory;
    auto directory = [&]() -> absl::StatusOr<PieceDirectory> {
      CFILE_ASSIGN_OR_RETURN(const FetchedBlock block,
                             FetchOnce(pointer, options_.max_block_size_bytes, buffer));
      return ParsePieceDirectory(block.bytes, pointer);
    }();
    if (!directory.ok()) return InBlock(directory.status(), source_->name(), pointer);
    usage_.AddMemory(directory->capacity() * sizeof(PieceTablePlace));
    return std::make_shared<const PieceDirectory>(*std::move(directory));
  });
}

absl::StatusOr<FoundPieces> FileReader::FindPieces(const BlockPointer& block, BlockBuffer& buffer) {
  if (!info_.piece_directory) return FoundPieces{};
  CFILE_ASSIGN_OR_RETURN(const auto directory, Pieces());
  const PieceTablePlace* const entry = FindPieceTable(*directory, block.offset);
  if (entry == nullptr) return FoundPieces{};
  FoundPieces found{.place = entry->table};
  const CachedBlocks::Key key{cache_file_, found.place};
  found.table = options_.block_cache->blocks().Find(key);
  if (found.table == nullptr) {
    const auto table = FetchOnce(found.place, options_.max_block_size_bytes, buffer);
    if (!table.ok()) return InBlock(table.status(), source_->name(), found.place);
    found.table = KeepBlock(*table, key, buffer);
  }
  const auto record = FindPieceRecord(found.table->bytes.span(), block);
  if (!record.ok()) return InBlock(record.status(), source_->name(), found.place);
  if (!*record) return FoundPieces{};
  found.record = **record;
  return found;
}

template <typename Find>
absl::StatusOr<std::optional<LoadedPiece>> FileReader::LoadPieceBy(const LoadedNode& leaf,
                                                                   uint32_t entry, const Find& find,
                                                                   BlockBuffer& buffer) {
  const BlockPointer& pointer = leaf.entry_pointer(entry);
  CFILE_ASSIGN_OR_RETURN(const FoundPieces pieces, FindPieces(pointer, buffer));
  if (pieces.table == nullptr) return std::nullopt;
  const absl::StatusOr<std::optional<Piece>> found = find(pieces.record);
  if (!found.ok()) return InBlock(found.status(), source_->name(), pieces.place);
  if (!*found) return std::nullopt;
  const Piece& piece = **found;
  if (piece.front.size() + piece.size_bytes + piece.back.size() > options_.max_block_size_bytes)
    return std::nullopt;

  std::span<const uint8_t> bytes;
  const uint64_t offset = pointer.offset + piece.begin;
  if (const auto memory = source_->InMemory(); !memory.empty()) {
    source_->WillRead(offset, piece.size_bytes);
    bytes = memory.subspan(offset, piece.size_bytes);
  } else {
    buffer.stored.Clear();
    uint8_t* const to = buffer.stored.Extend(piece.size_bytes);
    const absl::Status status = source_->ReadAt(offset, {to, piece.size_bytes});
    // The buffer does not hold a block, so FetchBlock must not look for one in it.
    buffer.stored_offset = UINT64_MAX;
    if (!status.ok()) return InBlock(status, source_->name(), pointer);
    bytes = {to, piece.size_bytes};
  }
  if (absl::Status status = MakePieceBody(piece, bytes, buffer.uncompressed); !status.ok())
    return InBlock(status, source_->name(), pointer);
  leaf.CountPartRead(entry);
  usage_.CountBlockRead();
  return LoadedPiece{.body = buffer.uncompressed.span(),
                     .encoding = pieces.record.encoding,
                     .first_ordinal = uint64_t{pieces.record.first_ordinal} + piece.first_row,
                     .num_rows = piece.num_rows};
}

absl::StatusOr<std::optional<LoadedPiece>> FileReader::LoadPiece(const LoadedNode& leaf,
                                                                 uint32_t entry,
                                                                 std::string_view key,
                                                                 BlockBuffer& buffer) {
  return LoadPieceBy(
      leaf, entry, [&](const PieceRecord& record) { return FindPiece(record, key); }, buffer);
}

absl::StatusOr<std::optional<LoadedPiece>> FileReader::LoadPieceOfRow(const LoadedNode& leaf,
                                                                      uint32_t entry, uint64_t row,
                                                                      BlockBuffer& buffer) {
  const auto find = [&](const PieceRecord& record) -> absl::StatusOr<std::optional<Piece>> {
    if (record.first_ordinal == leaf.ordinal(entry)) return FindPieceOfRow(record, row);
    return DataLoss("the piece table says first ordinal ", record.first_ordinal, ", the index ",
                    leaf.ordinal(entry));
  };
  return LoadPieceBy(leaf, entry, find, buffer);
}

}  // namespace cfile::internal
