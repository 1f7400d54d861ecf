// Standard output of a tool, how its commands end, and the forms of what they print.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <ranges>
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
  // Prints `separator` before the next text, if one follows.
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

// `value` as all commands print it in JSON. An integer above 2^53 is a string, because JavaScript
// and many other JSON readers cannot read larger integers exactly. Bytes that are not UTF-8 are
// {"hex": "..."}. A list is an array.
Json JsonOf(std::nullptr_t);
Json JsonOf(std::string_view bytes);
Json JsonOf(const BlockPointer& pointer);  // {"offset": ..., "size": ...}
Json JsonOf(const LevelLimits& levels);
Json JsonOf(const EncodingTotals& totals);
Json JsonOf(const ChoiceInfo& choice);  // scan_bytes_per_second is null if values are used in place
template <typename T>
Json JsonOf(const T& value) {
  if constexpr (std::convertible_to<const T&, std::string_view>) {
    return JsonOf(std::string_view(value));
  } else if constexpr (std::integral<T> && !std::same_as<T, bool>) {
    const bool exact = std::cmp_less_equal(value, uint64_t{1} << 53);
    return exact ? Json(value) : Json(std::to_string(value));
  } else if constexpr (std::ranges::range<T>) {
    Json list = Json::array();
    for (const auto& item : value) list.push_back(JsonOf(item));
    return list;
  } else if constexpr (requires { value.json(); }) {  // tools/document.h
    return value.json();
  } else {
    return value;
  }
}
// null unless `known`.
template <typename T>
Json Known(bool known, const T& value) {
  return known ? JsonOf(value) : Json();
}

// A member of a JSON object; JsonOf makes its value. An empty optional is left out.
struct Fact {
  template <typename T>
  Fact(std::string_view fact, const T& of) : name(fact), value(JsonOf(of)) {}
  template <typename T>
  Fact(std::string_view fact, const std::optional<T>& of) : name(fact) {
    if (of) value = JsonOf(*of);
  }
  Fact(std::string_view fact, Json of) : name(fact), value(std::move(of)) {}
  Fact(std::string_view fact, std::initializer_list<Fact> of);

  std::string_view name;
  mutable std::optional<Json> value;  // AddFacts moves it
};
void AddFacts(std::initializer_list<Fact> facts, Json& object);
inline Json JsonObject(std::initializer_list<Fact> facts) {
  Json object = Json::object();
  AddFacts(facts, object);
  return object;
}
inline Fact::Fact(std::string_view fact, std::initializer_list<Fact> of)
    : name(fact), value(JsonObject(of)) {}

// Returns the message of `status`, with the name of the option (--max-block-size) instead of that
// of a limit (max_block_size_bytes).
std::string MessageOf(const absl::Status& status);

// "1 block", "2 blocks".
std::string Plural(uint64_t count, std::string_view noun);

}  // namespace cfile::tools
