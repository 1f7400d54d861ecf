#include "tools/command_line.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "tools/utf8.h"

namespace cfile::tools {

ExitCode ExitCodeOf(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return kFine;
    case absl::StatusCode::kDataLoss:
      return kDamaged;
    case absl::StatusCode::kUnimplemented:
      return kUnsupported;
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kOutOfRange:
    case absl::StatusCode::kFailedPrecondition:
      return kUsage;
    default:
      return kIoError;
  }
}

ExitCode Report(std::string_view tool, const absl::Status& status) {
  // A status without a message still has a code that says something.
  std::string message = status.message().empty()
                            ? status.ToString()
                            : std::string(status.message().data(), status.message().size());
  message = TerminalSafe(message);  // it may hold names from a file
  std::fflush(stdout);  // what was printed before the error comes first
  std::fprintf(stderr, "%.*s: %s\n", static_cast<int>(tool.size()), tool.data(), message.c_str());
  return ExitCodeOf(status);
}

std::string CheckUnsigned(const std::string& text) {
  uint64_t value;
  if (text.starts_with('-') || !absl::SimpleAtoi(text, &value)) {
    return "'" + text + "' is not a number from 0 to 2^64 - 1";
  }
  return "";
}

std::string ParseSize(std::string& text) {
  const size_t end = std::min(text.find_first_not_of("0123456789"), text.size());
  const std::string digits = text.substr(0, end);
  const std::string unit = absl::AsciiStrToLower(absl::StripAsciiWhitespace(text.substr(end)));
  constexpr std::string_view kPrefixes = "kmgtpe";
  const size_t prefix = unit.empty() ? kPrefixes.npos : kPrefixes.find(unit[0]);
  const size_t shift = prefix == kPrefixes.npos ? 0 : 10 * (prefix + 1);
  const std::string_view suffix = std::string_view(unit).substr(shift == 0 ? 0 : 1);
  const bool known =
      suffix.empty() || suffix == "b" || (shift > 0 && (suffix == "i" || suffix == "ib"));
  uint64_t number = 0;
  if (!known || !absl::SimpleAtoi(digits, &number) || number > SIZE_MAX >> shift) {
    return "'" + text + "' is not a size such as 65536, 64KiB or 16MiB";
  }
  text = std::to_string(number << shift);
  return "";
}

void SetMaxLeaves(size_t max_leaves, RecordLimits& limits) {
  constexpr size_t kNodesOfALeaf = 10;
  limits.max_leaves = max_leaves;
  limits.max_nodes = max_leaves > SIZE_MAX / kNodesOfALeaf ? SIZE_MAX : kNodesOfALeaf * max_leaves;
}

void EndQuietlyOnClosedPipe() {
  // A handler and not SIG_IGN: no caller then has to look at the result of each write.
  struct sigaction action = {};
  action.sa_handler = [](int) { _exit(kFine); };
  sigaction(SIGPIPE, &action, nullptr);
}

}  // namespace cfile::tools
