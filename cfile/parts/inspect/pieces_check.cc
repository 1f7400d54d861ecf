#include "cfile/parts/inspect/pieces_check.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "cfile/core/format/data_block.h"
#include "cfile/core/format/key_codec.h"
#include "cfile/core/format/piece_table.h"
#include "cfile/core/format/stored_block.h"
#include "cfile/core/read/block_cursor.h"
#include "encodings/core/status.h"

namespace cfile::internal {
namespace {

class PieceChecker {
 public:
  PieceChecker(FileReader& file, std::span<const PlacedDataBlock> blocks,
               const std::shared_ptr<const encodings::Dictionary>& dictionary)
      : file_(file),
        blocks_(blocks),
        block_(file.info().type, {dictionary}),
        piece_(file.info().type, {dictionary}) {}

  // Checks the record of a data block.
  absl::Status Check(const PieceRecord& record) {
    const auto found = std::lower_bound(blocks_.begin(), blocks_.end(), record.block.offset,
                                        [](const PlacedDataBlock& block, uint64_t offset) {
                                          return block.pointer.offset < offset;
                                        });
    if (found == blocks_.end() || found->pointer != record.block) {
      return DataLoss("a piece table has a record of this block, but the index has no such block");
    }
    const FileInfo& info = file_.info();
    const auto fetched = FetchBlock(file_.source(), DataBlockFormatOf(info), record.block,
                                    /*verify=*/true, file_.options().max_block_size_bytes, buffer_);
    // Verify has reported a block that cannot be read.
    if (!fetched.ok() || !block_.Open(fetched->bytes, info, found->first_ordinal).ok())
      return absl::OkStatus();
    if (record.first_ordinal != block_.first_ordinal() || record.encoding != block_.encoding()) {
      return DataLoss("the piece table says first ordinal ", record.first_ordinal, " and encoding ",
                      EncodingName(record.encoding), ", the block has ", block_.first_ordinal(),
                      " and ", EncodingName(block_.encoding()));
    }
    stored_.resize(record.block.size);
    CFILE_RETURN_IF_ERROR(file_.source().ReadAt(record.block.offset, stored_));
    absl::Status status;
    uint64_t rows = 0;
    const absl::Status visited = VisitPieces(record, [&](const Piece& piece) {
      rows += piece.num_rows;
      if (rows <= block_.num_rows()) status = CheckPiece(piece, record.encoding);
      return status.ok();
    });
    CFILE_RETURN_IF_ERROR(visited);
    CFILE_RETURN_IF_ERROR(status);
    if (rows == block_.num_rows()) return absl::OkStatus();
    return DataLoss("the pieces have ", rows, " rows, the block has ", block_.num_rows());
  }

 private:
  // Returns the memcmp form of row `row` of `cursor`.
  absl::StatusOr<std::string> KeyAt(BlockCursor& cursor, uint32_t row) const {
    CFILE_RETURN_IF_ERROR(cursor.SeekToRow(row));
    CFILE_ASSIGN_OR_RETURN(const AnyBatch batch, cursor.Next(1));
    std::string key;
    AppendKey(KeyRef{batch.values, file_.info().type.physical()}, key);
    return key;
  }

  absl::Status CheckPiece(const Piece& piece, Encoding encoding) {
    const auto bytes = std::span<const uint8_t>(stored_).subspan(piece.begin, piece.size_bytes);
    const auto damaged = [&](const auto&... what) {
      return DataLoss("the piece from row ", piece.first_row, " of the block on: ", what...);
    };
    absl::Status status = MakePieceBody(piece, bytes, body_);
    if (!status.ok()) return damaged(status.message());
    const DataBlock body{.encoding = encoding,
                         .present_count = piece.num_rows,
                         .first_ordinal = 0,
                         .values = body_.span()};
    if (status = piece_.Open(body, 0); !status.ok()) return damaged(status.message());
    CFILE_ASSIGN_OR_RETURN(const std::string first, KeyAt(piece_, 0));
    CFILE_ASSIGN_OR_RETURN(const std::string in_block, KeyAt(block_, piece.first_row));
    if (first != in_block) return damaged("its first value is not that of the block at this row");
    if (piece.first_row == 0) return absl::OkStatus();
    CFILE_ASSIGN_OR_RETURN(const std::string before, KeyAt(block_, piece.first_row - 1));
    if (piece.key <= first && (before < piece.key || before == first)) return absl::OkStatus();
    return damaged("its key does not separate it from the row before it");
  }

  FileReader& file_;
  const std::span<const PlacedDataBlock> blocks_;
  BlockCursor block_;
  BlockCursor piece_;
  BlockBuffer buffer_;
  std::vector<uint8_t> stored_;
  encodings::ByteWriter body_;
};

}  // namespace

void CheckPieces(FileReader& file, std::span<const PlacedDataBlock> blocks,
                 const std::shared_ptr<const encodings::Dictionary>& dictionary,
                 const std::function<void(absl::Status, const BlockPointer&)>& report) {
  const FileInfo& info = file.info();
  if (!info.piece_directory) return;
  const auto named = [&](const absl::Status& status, const BlockPointer& place) {
    if (!status.ok()) report(InBlock(status, file.source().name(), place), place);
  };
  const auto directory = file.Pieces();
  if (!directory.ok()) return;  // ListRegions reports it
  PieceChecker checker(file, blocks, dictionary);
  BlockBuffer buffer;
  uint64_t last_block = 0;
  for (const PieceTablePlace& place : **directory) {
    const auto table = FetchBlock(file.source(), BlockFormatOf(info), place.table, /*verify=*/true,
                                  file.options().max_block_size_bytes, buffer);
    if (!table.ok()) {
      named(table.status(), place.table);
      continue;
    }
    bool first = true, in_place = true;
    const absl::Status visited = VisitPieceRecords(table->bytes, [&](const PieceRecord& record) {
      in_place &= first ? record.block.offset == place.first_block : true;
      in_place &= last_block <= record.block.offset && record.block.end() <= place.table.offset;
      first = false;
      last_block = record.block.end();
      named(checker.Check(record), record.block);
      return true;
    });
    named(visited, place.table);
    if (!in_place || first) {
      named(DataLoss("the records of a piece table are not those that the directory says"),
            place.table);
    }
  }
}

}  // namespace cfile::internal
