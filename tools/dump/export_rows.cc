// Writes ranges of rows as text: several threads make the text, and it is written in order.
#include "tools/dump/export.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <utility>
#include <vector>

#include "tools/pieces.h"

namespace cfile::tools {
namespace {

// A range with more text than this is formatted and written alternately, by one thread.
constexpr size_t kMaxPieceBytes = 8 << 20;
// The number of rows in a range is chosen so that it has about this much text: enough that the
// blocks at its ends, which two ranges read, cost little.
constexpr size_t kGoodTextBytes = kMaxPieceBytes / 2;
constexpr uint64_t kFirstRows = 16'384;
constexpr uint64_t kMaxPieceRows = 1 << 20;  // so that a range without a matching row ends soon

// A range of rows and as much of its text as is ready.
struct Piece {
  OrdinalRange range;
  std::unique_ptr<RowText> rows;
  std::string text;
  uint64_t text_bytes = 0;  // of the range so far
  bool done = false;        // the text has all rows, or all before an error
  absl::Status status;

  void Fill() {
    text.clear();
    while (!done && text.size() < kMaxPieceBytes) {
      const absl::StatusOr<bool> more = rows->Append(text);
      status = more.status();
      done = !more.ok() || !*more;
    }
    text_bytes += text.size();
  }
};

}  // namespace

absl::Status AppendText(std::string_view text, Sink& sink) {
  return sink.Append({reinterpret_cast<const uint8_t*>(text.data()), text.size()});
}

absl::Status WriteRows(
    uint64_t num_rows, size_t num_threads,
    const std::function<absl::StatusOr<std::unique_ptr<RowText>>(const OrdinalRange& range)>& open,
    Sink& sink, Progress& progress) {
  std::vector<Piece> pieces(NumSlots(num_threads));
  uint64_t next_row = 0;
  // A single thread needs no ranges.
  std::atomic<uint64_t> rows_of_piece = num_threads == 1 ? num_rows : kFirstRows;
  const PieceWork work{.take =
                           [&](size_t slot) {
                             if (next_row == num_rows) return false;
                             const uint64_t rows =
                                 std::min<uint64_t>(rows_of_piece, num_rows - next_row);
                             pieces[slot] = {.range = {next_row, next_row + rows}, .rows = nullptr};
                             next_row += rows;
                             return true;
                           },
                       .parse =
                           [&](size_t slot) {
                             Piece& piece = pieces[slot];
                             auto rows = open(piece.range);
                             if (!rows.ok()) return rows.status();
                             piece.rows = *std::move(rows);
                             piece.Fill();
                             return absl::OkStatus();
                           },
                       .num_lanes = 1,
                       .append =
                           [&](size_t, size_t slot) {
                             Piece& piece = pieces[slot];
                             while (true) {
                               absl::Status status = AppendText(piece.text, sink);
                               status.Update(piece.status);
                               status.Update(progress.Update(0, piece.rows->ordinal()));
                               if (!status.ok()) return status;
                               if (piece.done) break;
                               piece.Fill();
                             }
                             piece.rows.reset();
                             if (num_threads > 1) {
                               const uint64_t good_rows = piece.range.size() * kGoodTextBytes /
                                                          std::max<uint64_t>(piece.text_bytes, 1);
                               rows_of_piece = std::clamp<uint64_t>(good_rows, 1, kMaxPieceRows);
                             }
                             return absl::OkStatus();
                           },
                       .finish = [](size_t) { return absl::OkStatus(); }};
  return RunPieces(num_threads, work);
}

}  // namespace cfile::tools
