#include "tools/records/json_lines.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace cfile::tools {
namespace {

constexpr size_t kReadBytes = 1 << 20;
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

}  // namespace

void JsonLines::Rewind() {
  begin_ = end_ = 0;
  offset_ = line_number_ = 0;
}

absl::StatusOr<bool> JsonLines::Fill() {
  const size_t count = static_cast<size_t>(std::min<uint64_t>(kReadBytes, size() - offset_));
  if (count == 0) return false;
  if (begin_ > 0) std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
  end_ -= begin_;
  begin_ = 0;
  if (buffer_.size() < end_ + count + kJsonPadding) {
    buffer_.resize(std::max(2 * buffer_.size(), end_ + count + kJsonPadding));
  }
  absl::Status status =
      source_->ReadAt(offset_, {reinterpret_cast<uint8_t*>(buffer_.data()) + end_, count});
  if (!status.ok()) return status;
  end_ += count;
  offset_ += count;
  return true;
}

absl::StatusOr<std::optional<std::string_view>> JsonLines::Next() {
  for (size_t searched = 0;;) {
    const std::string_view rest(buffer_.data() + begin_, end_ - begin_);
    const size_t newline = rest.find('\n', searched);
    if (newline == std::string_view::npos) {
      searched = rest.size();
      const absl::StatusOr<bool> more = Fill();
      if (!more.ok()) return more.status();
      if (*more) continue;
      if (begin_ == end_) return std::nullopt;
    }
    std::string_view line(buffer_.data() + begin_, std::min(newline, end_ - begin_));
    begin_ += std::min(line.size() + 1, end_ - begin_);
    searched = 0;
    if (++line_number_ == 1 && line.starts_with(kByteOrderMark)) {
      line.remove_prefix(kByteOrderMark.size());
    }
    if (line.find_first_not_of(" \t\r") != std::string_view::npos) return line;
  }
}

absl::Status JsonLines::Error(const absl::Status& status) const {
  if (!absl::IsInvalidArgument(status) && !absl::IsOutOfRange(status)) return status;
  return absl::Status(status.code(),
                      absl::StrCat(source_->name(), ":", line_number_, ": ", status.message()));
}

}  // namespace cfile::tools
