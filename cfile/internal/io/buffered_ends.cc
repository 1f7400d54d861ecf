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
  std::string identity() const override { return source_->identity(); }
  bool HasLatency() const override { return source_->HasLatency(); }
  absl::Status ReadAt(uint64_t offset, std::span<uint8_t> out) const override {
    if (Copy(offset, out)) return absl::OkStatus();
    return Named(source_->ReadAt(offset, out), name());
  }
  void ReadMany(std::span<ReadRequest> requests) const override {
    std::vector<ReadRequest> left;
    std::vector<ReadRequest*> asked;
    for (ReadRequest& request : requests) {
      if (Copy(request.offset, request.out)) continue;
      left.push_back(request);
      asked.push_back(&request);
    }
    if (left.empty()) return;
    source_->ReadMany(left);
    for (size_t i = 0; i < left.size(); ++i) asked[i]->status = Named(left[i].status, name());
  }

 private:
  bool Copy(uint64_t offset, std::span<uint8_t> out) const {
    return tail_.Copy(offset, out) || head_.Copy(offset, out);
  }

  const std::shared_ptr<const Source> source_;
  const Piece head_;
  const Piece tail_;
};

}  // namespace

absl::StatusOr<std::shared_ptr<const Source>> BufferEnds(std::shared_ptr<const Source> source,
                                                         size_t max_requests) {
  const uint64_t size = source->size();
  const bool small = size <= kBufferedHeadBytes + kBufferedTailBytes;
  const uint64_t tail_size = small ? size : kBufferedTailBytes;
  Piece tail{.offset = size - tail_size, .bytes = std::vector<uint8_t>(tail_size)};
  Piece head{.bytes = std::vector<uint8_t>(small ? 0 : kBufferedHeadBytes)};
  ReadRequest requests[] = {{tail.offset, tail.bytes, {}}, {head.offset, head.bytes, {}}};
  if (!small && max_requests > 1) {
    source->ReadMany(requests);
  } else {
    for (ReadRequest& request : requests) {
      if (!request.out.empty()) request.status = source->ReadAt(request.offset, request.out);
    }
  }
  for (const ReadRequest& request : requests)
    CFILE_RETURN_IF_ERROR(Named(request.status, source->name()));
  return std::make_shared<BufferedEnds>(std::move(source), std::move(head), std::move(tail));
}

}  // namespace cfile::internal
