#include "tools/records/json_lines.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "cfile/filter.h"
#include "cfile/status.h"
#include "tools/utf8.h"

namespace cfile::tools {
namespace {

constexpr size_t kReadBytes = 1 << 20;
constexpr size_t kMostNames = 1000;  // to suggest one of them

bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

}  // namespace

void JsonLines::Rewind() {
  begin_ = end_ = 0;
  offset_ = line_number_ = 0;
  begun_ = is_array_ = false;
  is_first_ = true;
  next_line_ = 1;
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
  const absl::Status read =
      source_->ReadAt(offset_, {reinterpret_cast<uint8_t*>(buffer_.data()) + end_, count});
  if (absl::IsDataLoss(read))
    return absl::UnavailableError(StrCat(source_->name(), ": the file was cut while it was read"));
  CFILE_RETURN_IF_ERROR(read);
  end_ += count;
  offset_ += count;
  return true;
}

absl::StatusOr<std::optional<std::string_view>> JsonLines::Next() {
  if (!begun_) CFILE_RETURN_IF_ERROR(Begin());
  return is_array_ ? NextElement() : NextLine();
}

absl::Status JsonLines::Begin() {
  CFILE_RETURN_IF_ERROR(Fill().status());
  begin_ = end_ - WithoutByteOrderMark({buffer_.data(), end_}).size();
  begun_ = true;
  if (!at_.empty()) return FindArray();
  // Blank lines before the first record still count when the file is read line by line.
  for (size_t at = begin_; !is_array_; ++at) {
    if (at == end_) {
      const size_t distance = at - begin_;
      CFILE_ASSIGN_OR_RETURN(const bool more, Fill());
      if (!more) break;
      at = begin_ + distance;
    }
    if (IsBlank(buffer_[at])) continue;
    is_array_ = buffer_[at] == '[';
    break;
  }
  if (!is_array_) return absl::OkStatus();
  CFILE_RETURN_IF_ERROR(SkipBlanks().status());
  ++begin_;
  return absl::OkStatus();
}

absl::Status JsonLines::FindArray() {
  std::string path;
  for (const std::string& name : at_) {
    CFILE_ASSIGN_OR_RETURN(char next, SkipBlanks());
    if (next != '{') return Wrong(StrCat("no object at ", path.empty() ? "/" : path));
    const std::string parent = std::exchange(path, StrCat(path, "/", name));
    std::vector<std::string> known;
    const auto missing = [&] {
      return Wrong(StrCat("there is no ", path, Suggestion(path, known)));
    };
    for (bool found = false; !found;) {
      ++begin_;
      CFILE_ASSIGN_OR_RETURN(next, SkipBlanks());
      if (next != '"') return missing();
      CFILE_ASSIGN_OR_RETURN(const size_t size, ElementSize());
      std::string_view key(buffer_.data() + begin_, size);
      key = key.substr(1, key.rfind('"') - 1);
      found = key == name;
      if (known.size() < kMostNames) known.push_back(StrCat(parent, "/", key));
      begin_ += size;
      CFILE_ASSIGN_OR_RETURN(next, SkipBlanks());
      if (next != ':') return Wrong("invalid JSON: a colon is missing");
      ++begin_;
      CFILE_ASSIGN_OR_RETURN(next, SkipBlanks());
      if (found) break;
      CFILE_ASSIGN_OR_RETURN(const size_t skipped, ElementSize());
      const std::string_view value(buffer_.data() + begin_, skipped);
      next_line_ += static_cast<uint64_t>(std::count(value.begin(), value.end(), '\n'));
      begin_ += skipped;
      CFILE_ASSIGN_OR_RETURN(next, SkipBlanks());
      if (next != ',') return missing();
    }
  }
  CFILE_ASSIGN_OR_RETURN(const char next, SkipBlanks());
  if (next != '[') return Wrong(StrCat("no array at ", path));
  ++begin_;
  is_array_ = true;
  return absl::OkStatus();
}

absl::Status JsonLines::Wrong(std::string_view what) {
  line_number_ = next_line_;
  return Error(absl::InvalidArgumentError(absl::string_view(what.data(), what.size())));
}

absl::StatusOr<char> JsonLines::SkipBlanks() {
  while (true) {
    for (; begin_ != end_; ++begin_) {
      if (!IsBlank(buffer_[begin_])) return buffer_[begin_];
      if (buffer_[begin_] == '\n') ++next_line_;
    }
    CFILE_ASSIGN_OR_RETURN(const bool more, Fill());
    if (!more) return '\0';
  }
}

absl::StatusOr<std::optional<std::string_view>> JsonLines::NextElement() {
  CFILE_ASSIGN_OR_RETURN(char next, SkipBlanks());
  const auto wrong = [&](std::string_view what) { return Wrong(StrCat("invalid JSON: ", what)); };
  if (next == ']') {
    ++begin_;
    CFILE_ASSIGN_OR_RETURN(next, SkipBlanks());
    if (begin_ != end_ && at_.empty()) return wrong("something follows the array");
    is_array_ = false;  // further calls find no line
    begin_ = end_;
    offset_ = size();
    return std::nullopt;
  }
  if (!is_first_) {
    if (begin_ == end_) return wrong("the array is not closed");
    if (next != ',') return wrong("a comma is missing between two records");
    ++begin_;
    CFILE_ASSIGN_OR_RETURN(next, SkipBlanks());
  }
  if (begin_ == end_) return wrong("the array is not closed");
  if (next == ',' || next == ']') return wrong("a record is missing beside a comma");
  is_first_ = false;
  line_number_ = next_line_;
  CFILE_ASSIGN_OR_RETURN(const size_t size, ElementSize());
  const std::string_view element(buffer_.data() + begin_, size);
  next_line_ += static_cast<uint64_t>(std::count(element.begin(), element.end(), '\n'));
  begin_ += size;
  return element;
}

// Finds the end of the element by its brackets. The parser checks whether it is valid JSON.
absl::StatusOr<size_t> JsonLines::ElementSize() {
  size_t depth = 0;
  bool in_string = false;
  for (size_t size = 0;; ++size) {
    if (begin_ + size == end_) {
      CFILE_ASSIGN_OR_RETURN(const bool more, Fill());
      if (!more) return Error(absl::InvalidArgumentError("invalid JSON: the array is not closed"));
    }
    const char c = buffer_[begin_ + size];
    if (in_string) {
      if (c == '"') in_string = false;
      if (c == '\\' && begin_ + size + 1 == end_) CFILE_RETURN_IF_ERROR(Fill().status());
      if (c == '\\' && begin_ + size + 1 != end_) ++size;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if (c == '}' || c == ']') {
      if (depth == 0) return size;  // the end of the array, after an element that is no object
      if (--depth == 0) return size + 1;
    } else if ((c == ',' || c == ':') && depth == 0) {
      return size;
    }
  }
}

absl::StatusOr<std::optional<std::string_view>> JsonLines::NextLine() {
  for (size_t searched = 0;;) {
    const std::string_view rest(buffer_.data() + begin_, end_ - begin_);
    const size_t newline = rest.find('\n', searched);
    if (newline == std::string_view::npos) {
      searched = rest.size();
      CFILE_ASSIGN_OR_RETURN(const bool more, Fill());
      if (more) continue;
      if (begin_ == end_) return std::nullopt;
    }
    std::string_view line(buffer_.data() + begin_, std::min(newline, end_ - begin_));
    begin_ += std::min(line.size() + 1, end_ - begin_);
    searched = 0;
    ++line_number_;
    if (line.find_first_not_of(" \t\r") != std::string_view::npos) return line;
  }
}

absl::Status JsonLines::Error(const absl::Status& status) const {
  if (!absl::IsInvalidArgument(status) && !absl::IsOutOfRange(status)) return status;
  return MarkedLike(
      status, absl::Status(status.code(), absl::StrCat(source_->name(), ":", line_number_, ": ",
                                                       status.message())));
}

}  // namespace cfile::tools
