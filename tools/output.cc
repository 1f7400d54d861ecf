#include "tools/output.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "tools/progress.h"
#include "tools/utf8.h"

namespace cfile::tools {

void Output::IgnoreClosedPipe() {
  std::signal(SIGPIPE, SIG_IGN);
  ignore_closed_pipe_ = true;
}

void Output::Flush() {
  if (text.empty()) return;
  if (separator_) text.insert(0, *std::exchange(separator_, std::nullopt));
  if (write_error_ == 0 && std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) {
    write_error_ = errno;
  }
  text.clear();
}

ExitCode Output::Fail(const absl::Status& status) {
  Flush();
  std::fflush(stdout);
  return Report(tool_, status);
}

ExitCode Output::Finish(const Outcome& outcome) {
  if (!outcome.status.ok()) {
    const ExitCode code = Fail(outcome.status);
    if (absl::IsCancelled(outcome.status)) EndByCaughtSignal();
    return code;
  }
  Flush();
  if (write_error_ == 0 && std::fflush(stdout) != 0) write_error_ = errno;
  if (write_error_ == 0 || (ignore_closed_pipe_ && write_error_ == EPIPE)) return outcome.code;
  if (write_error_ == EPIPE) EndByClosedPipe();
  if (!std::exchange(error_printed_, true)) {
    Report(tool_, absl::UnavailableError(absl::StrCat("cannot write to standard output: ",
                                                      std::strerror(write_error_))));
  }
  return outcome.code == kFine ? kIoError : outcome.code;
}

void EndByClosedPipe() {
  std::signal(SIGPIPE, SIG_DFL);
  std::raise(SIGPIPE);
}

Json JsonOf(std::nullptr_t) { return nullptr; }

Json JsonOf(std::string_view bytes) {
  if (IsUtf8(bytes)) return std::string(bytes);
  return {{"hex", Hex(bytes)}};
}

Json JsonOf(const BlockPointer& pointer) {
  return JsonObject({{"offset", pointer.offset}, {"size", pointer.size}});
}

Json JsonOf(const EncodingTotals& totals) {
  return JsonObject({{"encoding", EncodingName(totals.encoding)},
                     {"blocks", totals.blocks},
                     {"compressed_blocks", totals.compressed_blocks},
                     {"stored", totals.stored_bytes}});
}

Json JsonOf(const LevelLimits& levels) {
  return JsonObject(
      {{"max_repetition", levels.max_repetition}, {"max_definition", levels.max_definition}});
}

void AddFacts(std::initializer_list<Fact> facts, Json& object) {
  for (const Fact& fact : facts) {
    if (fact.value) object[fact.name] = std::move(*fact.value);
  }
}

std::string MessageOf(const absl::Status& status) {
  return WithOptionNames({status.message().data(), status.message().size()});
}

std::string Plural(uint64_t count, std::string_view noun) {
  return absl::StrCat(count, " ", std::string(noun), count == 1 ? "" : "s");
}

}  // namespace cfile::tools
