// Reads a file of JSON Lines, line by line.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/io.h"

namespace cfile::tools {

// The number of bytes after each line that must be readable, because simdjson reads beyond the end
// of the text.
inline constexpr size_t kJsonPadding = 64;

// Skips blank lines, and a byte order mark at the start of the file. Thread-compatible. Memory:
// about 1 MiB plus twice the longest line.
class JsonLines {
 public:
  explicit JsonLines(std::shared_ptr<const Source> source) : source_(std::move(source)) {}

  // The next line, without its line end, valid until the next call; nullopt after the last line.
  absl::StatusOr<std::optional<std::string_view>> Next();
  // Moves back to the first line.
  void Rewind();

  // The number of the line that Next returned last, counted from 1.
  uint64_t line_number() const { return line_number_; }
  // offset: the number of bytes up to the end of the line that Next returned last. size: the number
  // of bytes of the file.
  uint64_t offset() const { return offset_ - (end_ - begin_); }
  uint64_t size() const { return source_->size(); }
  const Source& source() const { return *source_; }

  // Adds "PATH:LINE: " of the last line to the message if the code is kInvalidArgument or
  // kOutOfRange. Returns other errors unchanged.
  absl::Status Error(const absl::Status& status) const;

 private:
  // Reads more of the file into buffer_; false at the end of the file.
  absl::StatusOr<bool> Fill();

  std::shared_ptr<const Source> source_;
  std::string buffer_;  // [begin_, end_): bytes that were read but not returned yet
  size_t begin_ = 0;
  size_t end_ = 0;
  uint64_t offset_ = 0;  // position of end_ in the file
  uint64_t line_number_ = 0;
};

}  // namespace cfile::tools
