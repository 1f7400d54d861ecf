#include "cfile/parts/salvage/hole_filling_source.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "cfile/core/io/named_status.h"

namespace cfile::internal {

absl::Status HoleFillingSource::ReadAt(uint64_t offset, std::span<uint8_t> out) const {
  const uint64_t end = offset + out.size();
  if (!ErrorIn(offset, end).ok() || !source_->ReadAt(offset, out).ok()) ReadPages(offset, out);
  return absl::OkStatus();
}

void HoleFillingSource::ReadMany(std::span<ReadRequest> requests) const {
  std::vector<ReadRequest> whole;  // the requests whose ranges have no known holes
  std::vector<const ReadRequest*> in_pages;
  for (const ReadRequest& request : requests) {
    if (ErrorIn(request.offset, request.offset + request.out.size()).ok()) {
      whole.push_back(request);
    } else {
      in_pages.push_back(&request);
    }
  }
  if (!whole.empty()) source_->ReadMany(whole);
  for (const ReadRequest& request : whole) {
    if (!request.status.ok()) in_pages.push_back(&request);
  }
  for (const ReadRequest* request : in_pages) ReadPages(request->offset, request->out);
}

void HoleFillingSource::ReadPages(uint64_t offset, std::span<uint8_t> out) const {
  const uint64_t end = offset + out.size();
  for (uint64_t at = offset; at < end;) {
    const uint64_t page = at / kPageBytes * kPageBytes;
    const uint64_t some = std::min(end, page + kPageBytes) - at;
    const auto bytes = out.subspan(at - offset, some);
    absl::Status status = ErrorIn(at, at + some);
    if (status.ok()) {
      status = source_->ReadAt(at, bytes);
      if (!status.ok()) AddHole(page, std::min(size(), page + kPageBytes), Named(status, name()));
    }
    if (!status.ok()) std::fill(bytes.begin(), bytes.end(), uint8_t{0});
    at += some;
  }
}

absl::Status HoleFillingSource::ErrorIn(uint64_t begin, uint64_t end) const {
  const std::lock_guard lock(mutex_);
  auto hole = holes_.lower_bound(end);  // the first hole after the bytes
  if (hole == holes_.begin()) return absl::OkStatus();
  --hole;
  return hole->second.end > begin ? hole->second.error : absl::OkStatus();
}

void HoleFillingSource::AddHole(uint64_t begin, uint64_t end, const absl::Status& error) const {
  const std::lock_guard lock(mutex_);
  // Holes with equal errors store copies of one status, because copies share the message.
  if (error != last_error_) last_error_ = error;
  auto hole = holes_.insert_or_assign(begin, Hole{end, last_error_}).first;
  if (const auto next = std::next(hole); next != holes_.end() && next->first <= end) {
    hole->second.end = std::max(end, next->second.end);
    holes_.erase(next);
  }
  if (hole == holes_.begin()) return;
  if (const auto before = std::prev(hole); before->second.end >= begin) {
    before->second.end = std::max(before->second.end, hole->second.end);
    holes_.erase(hole);
  }
}

}  // namespace cfile::internal
