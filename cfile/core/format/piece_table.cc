#include "cfile/core/format/piece_table.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>

#include "cfile/core/format/crc32c.h"
#include "cfile/core/format/key_codec.h"
#include "encodings/core/status.h"

namespace cfile::internal {
namespace {

using encodings::AsString;
using encodings::BlockPiece;
using encodings::ByteReader;
using encodings::ByteWriter;

// The memcmp form of the key of a piece.
std::string KeyOf(const BlockPiece& piece, PhysicalType type) {
  if (type == PhysicalType::kBytes) return piece.key;
  alignas(16) uint8_t number[16] = {};
  std::memcpy(number, piece.key.data(), std::min(piece.key.size(), sizeof(number)));
  std::string key;
  AppendKey(KeyRef{number, type}, key);
  return key;
}

void PutText(std::string_view text, ByteWriter& out) {
  out.PutVint(text.size());
  out.PutBytes(text);
}

bool ReadPiece(ByteReader& reader, Piece& piece, uint32_t& gap) {
  std::span<const uint8_t> key;
  if (!reader.ReadVint32(piece.num_rows) || !reader.ReadLengthPrefixed(key) ||
      !reader.ReadVint32(gap) || !reader.ReadVint32(piece.size_bytes) ||
      !reader.ReadFixed(piece.crc32c) || !reader.ReadLengthPrefixed(piece.front) ||
      !reader.ReadLengthPrefixed(piece.back)) {
    return false;
  }
  piece.key = AsString(key);
  return true;
}

}  // namespace

void AppendPieces(const encodings::EncodedBlock& body, uint32_t body_begin, PhysicalType type,
                  ByteWriter& pieces) {
  uint32_t end = 0;  // of the piece before, counted from the start of the block
  for (const BlockPiece& piece : body.pieces) {
    const uint32_t begin = body_begin + piece.begin;
    pieces.PutVint(piece.count);
    PutText(end == 0 ? std::string() : KeyOf(piece, type), pieces);
    pieces.PutVint(begin - end);
    pieces.PutVint(piece.size_bytes);
    pieces.PutFixed(Crc32c(body.bytes.span().subspan(piece.begin, piece.size_bytes)));
    PutText(piece.front, pieces);
    PutText(piece.back, pieces);
    end = begin + piece.size_bytes;
  }
}

void AppendPieceRecord(const PieceRecord& record, ByteWriter& table) {
  ByteWriter bytes;
  bytes.PutVint(record.block.offset);
  bytes.PutVint(record.block.size);
  bytes.PutVint(record.first_ordinal);
  bytes.PutVint(static_cast<uint32_t>(record.encoding));
  bytes.PutBytes(record.pieces);
  PutText(bytes.view(), table);
}

absl::Status VisitPieceRecords(std::span<const uint8_t> table,
                               absl::FunctionRef<bool(const PieceRecord& record)> visit) {
  ByteReader reader(table);
  uint64_t end = 0;
  while (!reader.empty()) {
    const size_t at = reader.offset();
    std::span<const uint8_t> bytes;
    PieceRecord record;
    uint32_t encoding = 0;
    const bool whole = reader.ReadLengthPrefixed(bytes);
    ByteReader fields(bytes);
    if (!whole || !fields.ReadVint64(record.block.offset) ||
        !fields.ReadVint32(record.block.size) || !fields.ReadVint32(record.first_ordinal) ||
        !fields.ReadVint32(encoding) || fields.empty()) {
      return DataLoss("a piece table: the record at byte ", at, " is cut off");
    }
    if (record.block.offset < end || record.block.size == 0 ||
        record.block.offset > std::numeric_limits<uint64_t>::max() - record.block.size) {
      return DataLoss("a piece table: the record at byte ", at, " is of a block at offset ",
                      record.block.offset, ", ", record.block.size,
                      " bytes, expected one from offset ", end, " on");
    }
    end = record.block.end();
    record.encoding = static_cast<Encoding>(encoding);
    record.pieces = fields.rest();
    if (!visit(record)) return absl::OkStatus();
  }
  return absl::OkStatus();
}

absl::Status VisitPieces(const PieceRecord& record,
                         absl::FunctionRef<bool(const Piece& piece)> visit) {
  ByteReader reader(record.pieces);
  uint64_t end = 0, rows = 0;
  std::string_view before;
  for (uint32_t i = 0; !reader.empty(); ++i) {
    Piece piece;
    uint32_t gap = 0;
    if (!ReadPiece(reader, piece, gap)) return DataLoss("piece ", i, " of the block is cut off");
    const uint64_t begin = end + gap;
    end = begin + piece.size_bytes;
    if (piece.num_rows == 0 || end > record.block.size) {
      return DataLoss("piece ", i, " has ", piece.num_rows, " rows in the bytes ", begin, " to ",
                      end, " of a block of ", record.block.size, " bytes");
    }
    if (i == 0 && !piece.key.empty()) return DataLoss("the first piece of the block has a key");
    if (piece.key < before)
      return DataLoss("the keys of the pieces ", i - 1, " and ", i, " are out of order");
    before = piece.key;
    piece.begin = static_cast<uint32_t>(begin);
    piece.first_row = static_cast<uint32_t>(rows);
    rows += piece.num_rows;
    if (rows > std::numeric_limits<uint32_t>::max())
      return DataLoss("the pieces of a block have ", rows, " rows");
    if (!visit(piece)) return absl::OkStatus();
  }
  return absl::OkStatus();
}

absl::StatusOr<std::optional<PieceRecord>> FindPieceRecord(std::span<const uint8_t> table,
                                                           const BlockPointer& block) {
  std::optional<PieceRecord> found;
  CFILE_RETURN_IF_ERROR(VisitPieceRecords(table, [&](const PieceRecord& record) {
    if (record.block == block) found = record;
    return record.block.offset < block.offset;
  }));
  return found;
}

absl::StatusOr<std::optional<Piece>> FindPiece(const PieceRecord& record, std::string_view key) {
  std::optional<Piece> found;
  CFILE_RETURN_IF_ERROR(VisitPieces(record, [&](const Piece& piece) {
    if (found && piece.key >= key) return false;
    found = piece;
    return true;
  }));
  return found;
}

absl::StatusOr<std::optional<Piece>> FindPieceOfRow(const PieceRecord& record, uint64_t row) {
  std::optional<Piece> found;
  CFILE_RETURN_IF_ERROR(VisitPieces(record, [&](const Piece& piece) {
    if (row < uint64_t{piece.first_row} + piece.num_rows) found = piece;
    return !found;
  }));
  return found;
}

absl::Status MakePieceBody(const Piece& piece, std::span<const uint8_t> bytes, ByteWriter& body) {
  if (const uint32_t crc = Crc32c(bytes); crc != piece.crc32c) {
    return WrongChecksum(piece.crc32c, crc,
                         StrCat(" of the piece at the block's bytes ", piece.begin, " to ",
                                piece.begin + piece.size_bytes - 1));
  }
  body.Clear();
  body.Reserve(piece.front.size() + bytes.size() + piece.back.size());
  body.PutBytes(piece.front);
  body.PutBytes(bytes);
  body.PutBytes(piece.back);
  return absl::OkStatus();
}

void AppendPiecePlace(const PieceTablePlace& before, const PieceTablePlace& place,
                      ByteWriter& directory) {
  directory.PutVint(place.first_block - before.first_block);
  directory.PutVint(place.table.offset - before.table.end());
  directory.PutVint(place.table.size);
}

absl::StatusOr<PieceDirectory> ParsePieceDirectory(std::span<const uint8_t> bytes,
                                                   const BlockPointer& pointer) {
  PieceDirectory directory;
  ByteReader reader(bytes);
  PieceTablePlace before;
  while (!reader.empty()) {
    const size_t at = reader.offset();
    uint64_t blocks = 0, gap = 0;
    PieceTablePlace place;
    if (!reader.ReadVint64(blocks) || !reader.ReadVint64(gap) ||
        !reader.ReadVint32(place.table.size)) {
      return DataLoss("the piece directory is cut off at byte ", at);
    }
    // All offsets are below that of the directory, so the sums do not wrap around.
    const uint64_t most = pointer.offset;
    place.first_block = before.first_block + std::min(blocks, most);
    place.table.offset = before.table.end() + std::min(gap, most);
    if (blocks == 0 || place.first_block < before.table.end() ||
        place.table.offset <= place.first_block || place.table.size == 0 ||
        place.table.end() > most) {
      return DataLoss("the piece directory: entry ", directory.size(), " names a table at offset ",
                      place.table.offset, ", ", place.table.size,
                      " bytes, for the blocks from offset ", place.first_block, " on");
    }
    directory.push_back(place);
    before = place;
  }
  if (directory.empty()) return DataLoss("the piece directory is empty");
  return directory;
}

const PieceTablePlace* FindPieceTable(const PieceDirectory& directory, uint64_t offset) {
  const auto after = std::upper_bound(
      directory.begin(), directory.end(), offset,
      [](uint64_t wanted, const PieceTablePlace& place) { return wanted < place.first_block; });
  return after == directory.begin() ? nullptr : &*(after - 1);
}

}  // namespace cfile::internal
