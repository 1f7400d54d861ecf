#include "cfile/internal/read/block_fetcher.h"

#include <algorithm>
#include <limits>
#include <span>
#include <utility>

namespace cfile::internal {
namespace {

// Two blocks with at most this many bytes between them are read as one range. Between blocks that
// follow each other are only zeros for alignment or index nodes.
constexpr uint64_t kMaxGapBytes = 64 * 1024;

uint64_t Sum(uint64_t a, uint64_t b) {
  return a + std::min(b, std::numeric_limits<uint64_t>::max() - a);
}

uint64_t Product(uint64_t a, uint64_t b) {
  const uint64_t most = std::numeric_limits<uint64_t>::max();
  return b > most / a ? most : a * b;
}

// FetchBlock refuses such a block before it reads it.
bool TooLarge(const ReaderOptions& options, const BlockPointer& block) {
  return block.size / 2 > options.max_block_size_bytes;
}

}  // namespace

absl::StatusOr<bool> BlockFetcher::TakeRange(const BlockPointer& pointer, BlockBuffer& buffer) {
  for (size_t i = 0; i < num_read_; ++i) {
    Range& range = ranges_[i];
    const bool in_use = range.begin < range.end;
    if (!in_use || pointer.offset < range.begin || pointer.end() > range.end) continue;
    if (range.status.ok()) {
      buffer.stored.Swap(range.bytes);
      buffer.stored_offset = range.begin;
      range.end = range.begin;
      return true;
    }
    const absl::Status status = range.status;
    for (Range& failed : std::span(ranges_).first(num_read_)) {
      if (!failed.status.ok()) failed.end = failed.begin;
    }
    next_width_ = 1;
    return status;
  }
  return false;
}

void BlockFetcher::PlanFrom(uint64_t offset, size_t width, const ReaderOptions& options) {
  next_width_ = width;
  next_begin_ = offset;
  // There may be index nodes between the last block of a leaf and the next block.
  next_last_ = Sum(offset, options.read_ahead_bytes);
}

void BlockFetcher::Begin(const Source& source, const ReaderOptions& options,
                         const BlockPointer& pointer) {
  num_read_ = num_planned_ = 0;
  planned_bytes_ = 0;
  first_ = pointer;
  most_width_ = source.HasLatency()
                    ? std::max<size_t>(std::min(options.max_requests_in_flight, max_requests_), 1)
                    : 1;
  const bool follows = pointer.offset >= next_begin_ && pointer.offset <= next_last_;
  if (plan_ == BlockPlan::kSome) {
    width_ = most_width_;
  } else {
    width_ = follows ? std::min(next_width_, most_width_) : 1;
  }
  AddRange(pointer);
  PlanFrom(planned_end(), width_ + std::min(width_, most_width_ - width_), options);
}

bool BlockFetcher::Add(const ReaderOptions& options, const BlockPointer& block) {
  Range& last = ranges_[num_planned_ - 1];
  const uint64_t most_bytes = Product(most_width_, options.read_ahead_bytes);
  const bool room = !TooLarge(options, first_) && !TooLarge(options, block);
  if (room && block.offset - last.end <= kMaxGapBytes &&
      block.end() - last.begin <= options.read_ahead_bytes) {
    planned_bytes_ += block.end() - last.end;
    last.end = block.end();
  } else if (room && num_planned_ < width_ && Sum(planned_bytes_, block.size) <= most_bytes) {
    AddRange(block);
  } else {
    next_last_ = block.offset;
    return false;
  }
  PlanFrom(planned_end(), next_width_, options);
  return true;
}

void BlockFetcher::AddRange(const BlockPointer& block) {
  if (num_planned_ == ranges_.size()) ranges_.emplace_back();
  Range& range = ranges_[num_planned_++];
  range.begin = block.offset;
  range.end = block.end();
  range.status = absl::OkStatus();
  planned_bytes_ += block.size;
}

absl::StatusOr<uint64_t> BlockFetcher::ReadPlanned(const Source& source, BlockBuffer& buffer) {
  if (num_planned_ == 1) return ranges_[0].end;
  requests_.clear();
  for (Range& range : std::span(ranges_).first(num_planned_)) {
    const size_t size = range.end - range.begin;
    // A ByteWriter that grows would take more memory than needed.
    if (range.bytes.capacity() < size) range.bytes = encodings::ByteWriter();
    range.bytes.Clear();
    requests_.push_back({range.begin, {range.bytes.Extend(size), size}, absl::OkStatus()});
  }
  source.ReadMany(requests_);
  for (size_t i = 0; i < num_planned_; ++i) ranges_[i].status = std::move(requests_[i].status);
  num_read_ = num_planned_;
  CFILE_RETURN_IF_ERROR(TakeRange(first_, buffer).status());
  return first_.end();
}

}  // namespace cfile::internal
