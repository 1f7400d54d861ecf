#include "cfile/internal/io/buffered_ends.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "cfile/internal/io/named_status.h"
#include "encodings/core/status.h"

namespace cfile::internal {
namespace {

// A range of a source's bytes, copied into memory.
struct Piece {
  uint64_t offset = 0;
  std::vector<uint8_t> bytes;

  bool Copy(uint64_t from, std::span<uint8_t> out) const {
    if (from < offset || from - offset > bytes.size()) return false;
    const uint64_t skipped = from - offset;
    if (out.size() > bytes.size() - skipped) return false;
    if (!out.empty()) std::memcpy(out.data(), bytes.data() + skipped, out.size());
    return true;
  }
};

class BufferedEnds final : public Source {
 public:
  BufferedEnds(std::shared_ptr<const Source> source, Piece head, Piece tail)
      : source_(std::move(source)), head_(std::move(head)), tail_(std::move(tail)) {}

  const std::string& name() const override { return source_->name(); }
  uint64_t size() const override { return source_->size(); }
  absl::Status ReadAt(uint64_t offset, std::span<uint8_t> out) const override {
    if (tail_.Copy(offset, out) || head_.Copy(offset, out)) return absl::OkStatus();
    return Named(source_->ReadAt(offset, out), name());
  }

 private:
  const std::shared_ptr<const Source> source_;
  const Piece head_;
  const Piece tail_;
};

absl::StatusOr<Piece> ReadPiece(const Source& source, uint64_t offset, uint64_t size) {
  Piece piece{.offset = offset, .bytes = std::vector<uint8_t>(size)};
  if (size > 0) CFILE_RETURN_IF_ERROR(Named(source.ReadAt(offset, piece.bytes), source.name()));
  return piece;
}

}  // namespace

absl::StatusOr<std::shared_ptr<const Source>> BufferEnds(std::shared_ptr<const Source> source) {
  const uint64_t size = source->size();
  const bool small = size <= kBufferedHeadBytes + kBufferedTailBytes;
  const uint64_t tail_size = small ? size : kBufferedTailBytes;
  CFILE_ASSIGN_OR_RETURN(Piece tail, ReadPiece(*source, size - tail_size, tail_size));
  CFILE_ASSIGN_OR_RETURN(Piece head, ReadPiece(*source, 0, small ? 0 : kBufferedHeadBytes));
  return std::make_shared<BufferedEnds>(std::move(source), std::move(head), std::move(tail));
}

}  // namespace cfile::internal
