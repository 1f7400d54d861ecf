#include "cfile/core/io/buffered_ends.h"

#include <cstring>

#include "cfile/core/io/named_status.h"
#include "encodings/core/status.h"

namespace cfile::internal {

bool BufferedEnds::Piece::Copy(uint64_t from, std::span<uint8_t> out) const {
  if (from < offset || from - offset > bytes.size()) return false;
  const uint64_t skipped = from - offset;
  if (out.size() > bytes.size() - skipped) return false;
  if (!out.empty()) std::memcpy(out.data(), bytes.data() + skipped, out.size());
  return true;
}

BufferedEnds::BufferedEnds(std::shared_ptr<const Source> source, Piece head, Piece tail,
                           bool is_whole)
    : source_(std::move(source)),
      head_(std::move(head)),
      tail_(std::move(tail)),
      whole_(is_whole ? std::span<const uint8_t>(tail_.bytes) : std::span<const uint8_t>()) {
  for (const Piece* piece : {&head_, &tail_}) {
    if (!piece->bytes.empty()) Count(piece->bytes.size());
  }
}

void BufferedEnds::Count(uint64_t size_bytes) const {
  requests_.fetch_add(1, std::memory_order_relaxed);
  bytes_read_.fetch_add(size_bytes, std::memory_order_relaxed);
}

absl::Status BufferedEnds::ReadAt(uint64_t offset, std::span<uint8_t> out) const {
  if (Copy(offset, out)) return absl::OkStatus();
  Count(out.size());
  return Named(source_->ReadAt(offset, out), name());
}

bool BufferedEnds::Forget(uint64_t offset, uint64_t size) const {
  if (!source_->Forget(offset, size)) return false;
  return forgotten_ = true;
}

std::unique_ptr<PendingRead> BufferedEnds::BeginRead(uint64_t offset,
                                                     std::span<uint8_t> out) const {
  class Ended final : public PendingRead {
    absl::Status Wait() override { return absl::OkStatus(); }
  };
  if (Copy(offset, out)) return std::make_unique<Ended>();
  Count(out.size());
  return source_->BeginRead(offset, out);
}

void BufferedEnds::ReadMany(std::span<ReadRequest> requests) const {
  std::vector<ReadRequest> left;
  std::vector<ReadRequest*> asked;
  for (ReadRequest& request : requests) {
    if (Copy(request.offset, request.out)) continue;
    left.push_back(request);
    asked.push_back(&request);
    Count(request.out.size());
  }
  if (left.empty()) return;
  source_->ReadMany(left);
  for (size_t i = 0; i < left.size(); ++i) asked[i]->status = Named(left[i].status, name());
}

UnreadEnds::UnreadEnds(uint64_t size_bytes, bool whole) {
  const bool small = whole || size_bytes <= kBufferedHeadBytes + kBufferedTailBytes;
  tail.bytes.resize(small ? size_bytes : kBufferedTailBytes);
  tail.offset = size_bytes - tail.bytes.size();
  if (!small) head.bytes.resize(kBufferedHeadBytes);
}

absl::StatusOr<std::shared_ptr<const BufferedEnds>> BufferEnds(std::shared_ptr<const Source> source,
                                                               size_t max_requests, bool whole) {
  UnreadEnds ends(source->size(), whole);
  BufferedEnds::Piece& head = ends.head;
  BufferedEnds::Piece& tail = ends.tail;
  ReadRequest requests[] = {{tail.offset, tail.bytes, {}}, {head.offset, head.bytes, {}}};
  if (!head.bytes.empty() && max_requests > 1) {
    source->ReadMany(requests);
  } else {
    for (ReadRequest& request : requests) {
      if (!request.out.empty()) request.status = source->ReadAt(request.offset, request.out);
    }
  }
  for (const ReadRequest& request : requests)
    CFILE_RETURN_IF_ERROR(Named(request.status, source->name()));
  return std::make_shared<BufferedEnds>(std::move(source), std::move(head), std::move(tail), whole);
}

}  // namespace cfile::internal
