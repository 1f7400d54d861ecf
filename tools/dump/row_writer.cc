// Writes ranges of rows as text: several threads make the text, and it is written in order.
#include "tools/dump/row_text.h"

#include <algorithm>
#include <atomic>

#include "tools/pieces.h"

namespace cfile::tools {
namespace {

// A piece with more text than this is formatted and written alternately, by one thread.
constexpr size_t kMaxPieceBytes = 8 << 20;
// The number of rows in a piece is chosen so that it has about this much text: enough that the
// blocks at its ends, which two pieces read, cost little.
constexpr size_t kGoodTextBytes = kMaxPieceBytes / 2;
constexpr uint64_t kFirstRows = 16'384;
constexpr uint64_t kMaxPieceRows = 1 << 20;  // so that a piece without a matching row ends soon

// Some rows and as much of their text as is ready.
struct Piece {
  RowRanges ranges;
  uint64_t num_rows = 0;
  std::unique_ptr<RowText> rows = nullptr;
  std::string text = {};
  uint64_t text_bytes = 0;  // so far
  bool done = false;        // the text has all rows, or all before an error
  absl::Status status = {};

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

absl::Status WriteRows(const RowPlan& plan, size_t num_threads, Sink& sink, Progress& progress) {
  CFILE_RETURN_IF_ERROR(AppendText(plan.header, sink));
  if (plan.one_thread) num_threads = 1;
  std::vector<Piece> pieces(NumSlots(num_threads));
  RowRanges rest = plan.ranges;
  size_t next_range = 0;
  // A single thread needs no pieces, and can write a part of a row.
  std::atomic<uint64_t> rows_of_piece = num_threads == 1 ? UINT64_MAX : kFirstRows;
  absl::Status flushed;
  FlushText flush;
  if (num_threads == 1) {
    flush = [&](std::string& text) {
      if (flushed.ok()) flushed = AppendText(text, sink);
      text.clear();
    };
  }
  const PieceWork work{
      .take =
          [&](size_t slot) {
            RowRanges ranges;
            const uint64_t most = rows_of_piece;
            uint64_t rows = 0;
            while (rows < most && next_range < rest.size()) {
              OrdinalRange& range = rest[next_range];
              const uint64_t taken = std::min(most - rows, range.size());
              ranges.push_back({range.begin, range.begin + taken});
              range.begin += taken;
              rows += taken;
              if (range.size() == 0) ++next_range;
            }
            pieces[slot] = {.ranges = std::move(ranges), .num_rows = rows};
            return rows > 0;
          },
      .parse = [&](size_t slot) -> absl::Status {
        Piece& piece = pieces[slot];
        CFILE_ASSIGN_OR_RETURN(piece.rows, plan.open(std::move(piece.ranges), flush));
        piece.Fill();
        return absl::OkStatus();
      },
      .num_lanes = 1,
      .append =
          [&](size_t, size_t slot) {
            Piece& piece = pieces[slot];
            while (true) {
              absl::Status status = flushed;
              if (status.ok()) status = AppendText(piece.text, sink);
              status.Update(piece.status);
              status.Update(progress.Update(0, piece.rows->ordinal()));
              if (!status.ok()) return status;
              if (piece.done) break;
              piece.Fill();
            }
            piece.rows.reset();
            if (num_threads > 1) {
              const uint64_t good_rows =
                  piece.num_rows * kGoodTextBytes / std::max<uint64_t>(piece.text_bytes, 1);
              rows_of_piece = std::clamp<uint64_t>(good_rows, 1, kMaxPieceRows);
            }
            return absl::OkStatus();
          },
      .finish = [](size_t) { return absl::OkStatus(); }};
  return RunPieces(num_threads, work);
}

}  // namespace cfile::tools
