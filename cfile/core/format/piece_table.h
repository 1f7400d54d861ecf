// Piece tables (cfile/FORMAT.md, Pieces): where the pieces of data blocks are in the file, so that
// a search by key reads and verifies one piece and not the whole block. A file has many piece
// tables, each for consecutive data blocks, and one directory of the tables.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/file_info.h"
#include "cfile/types.h"
#include "encodings/core/block_codec.h"
#include "encodings/core/bytes.h"

namespace cfile::internal {

// The least size of a piece in bytes, unless it is the last one of its block. A page of memory.
inline constexpr size_t kPieceBytes = 4096;
// Blocks that are smaller have no pieces: reading such a block takes as long as reading a piece.
inline constexpr uint32_t kLeastBytesOfPieces = 16 * 1024;
// A piece table ends when it is larger than this.
inline constexpr size_t kPieceTableBytes = 32 * 1024;

// A piece of a data block (encodings::BlockPiece). Views of the table.
struct Piece {
  uint32_t first_row = 0;  // counted from the first row of the block
  uint32_t num_rows = 0;
  uint32_t begin = 0;  // bytes from the start of the stored block
  uint32_t size_bytes = 0;
  uint32_t crc32c = 0;             // of these bytes
  std::string_view key;            // in memcmp form; empty for the first piece
  std::span<const uint8_t> front;  // before the bytes of the block
  std::span<const uint8_t> back;   // after them
};

// What a table says about one data block. A view of the table.
struct PieceRecord {
  BlockPointer block;
  uint32_t first_ordinal = 0;
  Encoding encoding = Encoding::kPlain;
  std::span<const uint8_t> pieces;  // not parsed
};

// Appends the pieces of `body`, in the form of PieceRecord::pieces. `body`: of a block that is
// stored without compression. `body_begin`: the place of the body, in bytes from the start of the
// block.
void AppendPieces(const encodings::EncodedBlock& body, uint32_t body_begin, PhysicalType type,
                  encodings::ByteWriter& pieces);
void AppendPieceRecord(const PieceRecord& record, encodings::ByteWriter& table);

// Calls visit(record) for each record of `table`, until it returns false. kDataLoss: the table is
// malformed, or the blocks do not ascend.
absl::Status VisitPieceRecords(std::span<const uint8_t> table,
                               absl::FunctionRef<bool(const PieceRecord& record)> visit);
// Calls visit(piece) for each piece of a record, until it returns false. kDataLoss: the record is
// malformed, the keys do not ascend, or a piece has no rows or does not lie in the block.
absl::Status VisitPieces(const PieceRecord& record,
                         absl::FunctionRef<bool(const Piece& piece)> visit);

// Returns the record of `block`; nullopt if the table has none.
absl::StatusOr<std::optional<PieceRecord>> FindPieceRecord(std::span<const uint8_t> table,
                                                           const BlockPointer& block);
// Returns the last piece whose key is less than `key`, or the first piece, if there is any. If the
// block has a value that is not less than `key`, the first such value is in this piece, or is the
// first value of the next one.
absl::StatusOr<std::optional<Piece>> FindPiece(const PieceRecord& record, std::string_view key);
// Returns the piece that has row `row` of the block, if any has it.
absl::StatusOr<std::optional<Piece>> FindPieceOfRow(const PieceRecord& record, uint64_t row);

// Makes `body` the body of a block with the rows of `piece`. `bytes`: the bytes of the block that
// the piece names. kDataLoss: their checksum is wrong.
absl::Status MakePieceBody(const Piece& piece, std::span<const uint8_t> bytes,
                           encodings::ByteWriter& body);

// A piece table, and the offset of the first data block of which it has a record.
struct PieceTablePlace {
  uint64_t first_block = 0;
  BlockPointer table;
};
using PieceDirectory = std::vector<PieceTablePlace>;

// Appends an entry to the bytes of a directory. `before`: the entry before it, or the default.
void AppendPiecePlace(const PieceTablePlace& before, const PieceTablePlace& place,
                      encodings::ByteWriter& directory);
// Parses `bytes`, the directory at `pointer`. kDataLoss: it is malformed; the offsets do not
// ascend; a table does not lie after its first block and before the directory; or there is no
// table.
absl::StatusOr<PieceDirectory> ParsePieceDirectory(std::span<const uint8_t> bytes,
                                                   const BlockPointer& pointer);
// Returns the table that has the record of the data block at `offset`, if any table has it.
const PieceTablePlace* FindPieceTable(const PieceDirectory& directory, uint64_t offset);

}  // namespace cfile::internal
