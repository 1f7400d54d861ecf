#include "cfile/core/read/block_fetcher.h"

#include <algorithm>
#include <limits>

namespace cfile::internal {
namespace {

// Two blocks are read as one range if at most this many bytes are between them.
// If a block follows another one, usually only index nodes or zeros for alignment are between them.
constexpr uint64_t kMaxGapBytes = 64 * 1024;

uint64_t Sum(uint64_t a, uint64_t b) {
  return a + std::min(b, std::numeric_limits<uint64_t>::max() - a);
}

uint64_t Product(uint64_t a, uint64_t b) {
  const uint64_t most = std::numeric_limits<uint64_t>::max();
  return b > most / a ? most : a * b;
}

}  // namespace

bool BlockFetcher::TooLarge(const ReaderOptions& options, const BlockPointer& block) {
  return block.size / 2 > options.max_block_size_bytes;
}

std::vector<BlockFetcher::Range>::iterator BlockFetcher::FindRange(const BlockPointer& pointer) {
  return std::find_if(ranges_.begin(), ranges_.end(), [&](const Range& range) {
    return pointer.offset >= range.begin && pointer.end() <= range.end;
  });
}

std::optional<BlockFetcher::Range> BlockFetcher::TakeRange(const BlockPointer& pointer) {
  const auto found = FindRange(pointer);
  if (found == ranges_.end()) return std::nullopt;
  Range range = std::move(*found);
  if (range.pending == nullptr) {
    ranges_.erase(found);
    return range;
  }
  // The blocks of the ranges before this one were not needed, so the plan has gone too far.
  follows_ = found == ranges_.begin();
  if (!follows_) growing_width_ = 1;
  ranges_.erase(ranges_.begin(), found + 1);
  width_ = plan_ == BlockPlan::kSome ? most_width_ : growing_width_;
  growing_width_ += std::min(growing_width_, most_width_ - growing_width_);
  next_width_ = growing_width_;
  planned_bytes_ = 0;
  for (const Range& planned : ranges_) planned_bytes_ += planned.end - planned.begin;
  return range;
}

void BlockFetcher::Use(Range range, const BlockPointer& pointer, BlockBuffer& buffer) {
  if (range.pending != nullptr) range.filled = range.pending->Wait().ok();
  range.pending = nullptr;
  if (!range.filled) return RangeFailed(pointer);
  buffer.stored.Swap(range.bytes);
  buffer.stored_offset = range.begin;
}

void BlockFetcher::RangeFailed(const BlockPointer& pointer) {
  next_width_ = growing_width_ = 1;
  most_range_bytes_ = pointer.size;
}

void BlockFetcher::PlanAfter(const BlockPointer& block, size_t width,
                             const ReaderOptions& options) {
  next_width_ = width;
  next_begin_ = Back(block);
  // There may be index nodes between the last block of a leaf and the next block.
  const uint64_t gap = options.read_ahead_bytes;
  next_last_ = backward_ ? next_begin_ - std::min(next_begin_, gap) : Sum(next_begin_, gap);
}

void BlockFetcher::GrowRanges(const ReaderOptions& options) {
  const uint64_t usual = options.read_ahead_bytes;
  const bool grows = follows_ && growing_width_ == most_width_;
  const uint64_t longest = grows ? std::max(longest_range_bytes_, usual) : usual;
  most_range_bytes_ = std::min(Product(2, most_range_bytes_), longest);
}

void BlockFetcher::Begin(const Source& source, const ReaderOptions& options,
                         const BlockPointer& pointer) {
  ranges_.clear();
  planned_bytes_ = 0;
  first_ = pointer;
  most_width_ = 1;
  longest_range_bytes_ = 0;
  if (source.HasLatency()) {
    most_width_ =
        std::max<size_t>(std::min(options.max_requests_in_flight, limits_.max_requests), 1);
    longest_range_bytes_ = limits_.max_range_bytes;
  }
  const auto [least, greatest] = std::minmax(next_begin_, next_last_);
  follows_ = Front(pointer) >= least && Front(pointer) <= greatest;
  GrowRanges(options);  // if the plan before had as many ranges as possible
  growing_width_ = follows_ ? std::min(next_width_, most_width_) : 1;
  width_ = plan_ == BlockPlan::kSome ? most_width_ : growing_width_;
  AddRange(pointer);
  PlanAfter(pointer, growing_width_ + std::min(growing_width_, most_width_ - growing_width_),
            options);
}

bool BlockFetcher::Extend(const BlockPointer& block) {
  if (ranges_.empty() || ranges_.back().pending != nullptr) return false;
  Range& last = ranges_.back();
  // If the blocks are not in order, the subtraction wraps around.
  const uint64_t gap = backward_ ? last.begin - block.end() : block.offset - last.end;
  const uint64_t begin = backward_ ? block.offset : last.begin;
  const uint64_t end = backward_ ? last.end : block.end();
  if (gap > kMaxGapBytes || end - begin > most_range_bytes_) return false;
  planned_bytes_ += gap + block.size;
  last.begin = begin;
  last.end = end;
  plan_end_ = Back(block);
  return true;
}

bool BlockFetcher::Add(const ReaderOptions& options, const BlockPointer& block, bool wanted) {
  const uint64_t most_bytes =
      Product(most_width_, std::max<uint64_t>(most_range_bytes_, options.read_ahead_bytes));
  const bool room = !TooLarge(options, first_) && !TooLarge(options, block);
  if (room && Extend(block)) {
    // The last range has the block.
  } else if (room && ranges_.size() < (wanted ? width_ : growing_width_) &&
             Sum(planned_bytes_, block.size) <= most_bytes) {
    AddRange(block);
  } else {
    next_last_ = Front(block);
    return false;
  }
  PlanAfter(block, next_width_, options);
  return true;
}

void BlockFetcher::AddRange(const BlockPointer& block) {
  Range& range = ranges_.emplace_back();
  range.begin = block.offset;
  range.end = block.end();
  planned_bytes_ += block.size;
  plan_end_ = Back(block);
}

void BlockFetcher::ReadPlanned(const Source& source, const BlockPointer& pointer,
                               BlockBuffer& buffer) {
  if (ranges_.size() == 1) {
    const uint64_t begin = ranges_[0].begin;
    const size_t size = ranges_[0].end - begin;
    ranges_.clear();
    if (size == pointer.size) return;  // FetchBlock will read this block
    buffer.stored.Clear();
    uint8_t* const bytes = buffer.stored.Extend(size);
    const bool filled = source.ReadAt(begin, {bytes, size}).ok();
    buffer.stored_offset = begin;
    if (filled) return;
    buffer.stored.Clear();
    RangeFailed(pointer);
    return;
  }
  if (source.ReadsInBackground()) {
    BeginReads(source);
    return Use(*TakeRange(pointer), pointer, buffer);
  }
  requests_.clear();
  for (Range& range : ranges_) {
    const size_t size = range.end - range.begin;
    requests_.push_back({range.begin, {range.bytes.Extend(size), size}, absl::OkStatus()});
  }
  source.ReadMany(requests_);
  for (size_t i = 0; i < ranges_.size(); ++i) ranges_[i].filled = requests_[i].status.ok();
  Use(*TakeRange(pointer), pointer, buffer);
}

void BlockFetcher::BeginReads(const Source& source) {
  for (Range& range : ranges_) {
    if (range.pending != nullptr) continue;
    const size_t size = range.end - range.begin;
    range.pending = source.BeginRead(range.begin, {range.bytes.Extend(size), size});
  }
}

}  // namespace cfile::internal
