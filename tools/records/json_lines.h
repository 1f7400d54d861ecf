// A file of JSON Lines, line by line.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/io.h"

namespace cfile::tools {

// Behind each line there are so many bytes that may be read (simdjson wants it).
inline constexpr size_t kJsonPadding = 64;

// Reads forwards. A byte order mark at the front and blank lines are skipped. Thread-compatible.
// Memory: a MiB, and twice the longest line.
class JsonLines {
 public:
  static absl::StatusOr<JsonLines> Open(const std::string& path);

  // The next line, without its end, valid until the next call; nullopt behind the last one.
  absl::StatusOr<std::optional<std::string_view>> Next();
  // Back to the first line.
  void Rewind();

  // Of the line that Next returned last, counted from 1.
  uint64_t line_number() const { return line_number_; }
  // Bytes up to its end, and in all.
  uint64_t offset() const { return offset_ - (end_ - begin_); }
  uint64_t size() const { return source_->size(); }
  const Source& source() const { return *source_; }

  // "PATH:LINE: MESSAGE" for the last line if the code is kInvalidArgument or kOutOfRange; other
  // errors stay as they are.
  absl::Status Error(const absl::Status& status) const;

 private:
  explicit JsonLines(std::shared_ptr<const Source> source) : source_(std::move(source)) {}

  // Reads more behind what is there; false at the end of the file.
  absl::StatusOr<bool> Fill();

  std::shared_ptr<const Source> source_;
  std::string buffer_;  // what was read and not returned lies in [begin_, end_)
  size_t begin_ = 0;
  size_t end_ = 0;
  uint64_t offset_ = 0;  // in the file, of end_
  uint64_t line_number_ = 0;
};

}  // namespace cfile::tools
