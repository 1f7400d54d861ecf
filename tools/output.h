// Standard output of a tool, how its commands end, and the forms of what they print.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "cfile/file_info.h"
#include "tools/command_line.h"
#include "tools/json.h"

namespace cfile::tools {

// How a command has ended. kFine if `status` is OK.
struct Outcome {
  Outcome(ExitCode exit_code) : code(exit_code) {}
  Outcome(absl::Status error) : status(std::move(error)) {}

  ExitCode code = kFine;  // has no meaning after an error
  absl::Status status;
};

// Standard output, with a buffer.
class Output {
 public:
  // `tool`: the name before errors on stderr.
  explicit Output(std::string_view tool) : tool_(tool) {}

  // Append output here, then call Drain.
  std::string text;

  // Writes `text` if it has at least 64 KiB. False: standard output cannot be written, so the
  // caller should stop.
  bool Drain() {
    if (text.size() >= kFlushBytes) Flush();
    return write_error_ == 0;
  }
  void Flush();
  // Prints `separator` before the next text. Prints nothing if no text follows.
  void SetSeparator(std::string separator) {
    Flush();
    separator_ = std::move(separator);
  }
  bool has_separator() const { return separator_.has_value(); }

  // After this call, the command continues even if the reader of its output closes the pipe, and
  // Finish reports no error for this. Without this call, SIGPIPE ends the process; if the signal is
  // ignored, Finish ends the process by it. Commands whose exit code is a result, or that change
  // something, call this.
  void IgnoreClosedPipe();

  // Prints the pending text, then the error to stderr. Returns the exit code of `status`.
  ExitCode Fail(const absl::Status& status);
  // Ends a command: prints the pending text, then its error. If some output could not be written,
  // prints this to stderr, once, and returns kIoError instead of kFine. If a signal has cancelled
  // the command, ends the process by this signal.
  ExitCode Finish(const Outcome& outcome);

 private:
  static constexpr size_t kFlushBytes = 64 * 1024;

  const std::string tool_;
  std::optional<std::string> separator_;
  bool ignore_closed_pipe_ = false;
  int write_error_ = 0;  // errno of the first write that failed
  bool error_printed_ = false;
};

// Ends the process by SIGPIPE, even if the signal is ignored.
void EndByClosedPipe();

// {"schema_version": 1, "path": ...}: the beginning of a JSON document.
Json JsonDocument(const std::string& path);
// A JSON number; if value > 2^53, a JSON string, because JavaScript and many other JSON readers
// cannot read larger integers exactly.
Json JsonInteger(uint64_t value);
// A string if `bytes` is UTF-8, otherwise {"hex": "..."}.
Json JsonBytes(std::string_view bytes);
Json JsonPointer(const BlockPointer& pointer);
Json JsonError(const absl::Status& status);
// Returns the message of `status`. If it names a limit, such as max_block_size_bytes, the name of
// the option is there instead: --max-block-size.
std::string MessageOf(const absl::Status& status);

// "1 block", "2 blocks".
std::string Plural(uint64_t count, std::string_view noun);

}  // namespace cfile::tools
