#include "tools/command_line.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "cfile/status.h"
#include "tools/progress.h"
#include "tools/utf8.h"

namespace cfile::tools {
namespace {

void PrintMessage(std::string_view tool, const char* kind, std::string_view message) {
  std::fflush(stdout);  // so that earlier output comes before the message
  // The message may contain names from a file, and these may contain control characters.
  std::fprintf(stderr, "%.*s: %s%s\n", static_cast<int>(tool.size()), tool.data(), kind,
               TerminalSafe(message).c_str());
}

void OpenStandardStreams() {
  // open() returns the lowest free descriptor.
  int descriptor = 0;
  while (descriptor >= 0 && descriptor <= STDERR_FILENO) descriptor = open("/dev/null", O_RDWR);
  if (descriptor >= 0) close(descriptor);
}

void RaiseOpenFileLimit() {
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace

ExitCode ExitCodeOf(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return kFine;
    case absl::StatusCode::kDataLoss:
      return kDamaged;
    case absl::StatusCode::kOutOfRange:
    case absl::StatusCode::kUnimplemented:
      return kCannotRead;
    case absl::StatusCode::kAlreadyExists:
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kFailedPrecondition:
      return kUsage;
    default:
      return kIoError;
  }
}

ExitCode ExitCodeOfFinding(const absl::Status& status) {
  return absl::IsNotFound(status) ? kDamaged : ExitCodeOf(status);
}

ExitCode Worse(ExitCode one, ExitCode other) {
  return one == kDamaged || other == kDamaged ? kDamaged : std::max(one, other);
}

std::string WithOptionNames(std::string_view message) {
  constexpr std::string_view kRaise = ": raise ";
  constexpr std::pair<std::string_view, std::string_view> kOptions[] = {
      {"max_block_size_bytes", "--max-block-size"},
      {"max_page_size_bytes", "--max-page-size"},
      {"max_bloom_filter_bytes", "--max-bloom-filter-size"},
      {"max_metadata_size_bytes", "--max-metadata-size"},
      {"max_index_size_bytes", "--max-index-size"},
      {"max_dictionary_values", "--max-dictionary-values"},
      {"max_index_depth", "--max-depth"},
      {"max_depth", "--max-depth"},
      {"max_leaves", "--max-leaves"},
      {"max_nodes", "--max-leaves"},
  };
  std::string result(message);
  absl::StrReplaceAll({{"ReaderOptions::stored_rows", "--stored-rows"}}, &result);
  const size_t raise = result.rfind(kRaise);
  if (raise == std::string::npos) return result;
  const size_t name = raise + kRaise.size();
  for (const auto& [limit, option] : kOptions) {
    if (result.compare(name, limit.size(), limit) == 0)
      return result.replace(name, limit.size(), option);
  }
  return result;
}

ExitCode Report(std::string_view tool, const absl::Status& status) {
  // Without a message, shows the status code.
  PrintMessage(tool, "",
               status.message().empty()
                   ? status.ToString()
                   : WithOptionNames({status.message().data(), status.message().size()}));
  return ExitCodeOf(status);
}

void Warn(std::string_view tool, std::string message) {
  PrintMessage(tool, "warning: ", std::move(message));
}

ExitCode Misuse(std::string_view tool, std::string_view command, std::string_view message) {
  const std::string text = StrCat(tool, ": ", message, "\nSee ", command, " --help\n");
  std::fputs(TerminalSafeLines(text).c_str(), stderr);
  return kUsage;
}

void SetMaxLeaves(size_t max_leaves, RecordLimits& limits) {
  constexpr size_t kNodesOfALeaf = 10;
  limits.max_leaves = max_leaves;
  limits.max_nodes = max_leaves > SIZE_MAX / kNodesOfALeaf ? SIZE_MAX : kNodesOfALeaf * max_leaves;
}

int RunTool(std::string_view tool, const std::function<ExitCode()>& run) {
  OpenStandardStreams();
  RaiseOpenFileLimit();
  try {
    return run();
  } catch (const std::exception& error) {
    return Report(tool, absl::ResourceExhaustedError(error.what()));
  }
}

std::string PagesText(uint64_t copied, uint64_t recompressed, uint64_t recoded) {
  return absl::StrCat(WithCommas(copied), copied == 1 ? " page" : " pages", " copied, ",
                      WithCommas(recompressed), " compressed again, ", WithCommas(recoded),
                      " encoded again");
}

std::string ShellQuoted(std::string_view text) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:,+@%";
  if (!text.empty() && text.find_first_not_of(kPlain) == std::string_view::npos) {
    return std::string(text);
  }
  if (TerminalSafeLines(text) != text) {
    const std::string escaped = absl::StrReplaceAll(absl::string_view(text.data(), text.size()),
                                                    {{"\\", "\\\\"}, {"'", "\\'"}});
    return absl::StrCat("$'", TerminalSafe(escaped), "'");
  }
  const absl::string_view all(text.data(), text.size());
  return absl::StrCat("'", absl::StrReplaceAll(all, {{"'", "'\\''"}}), "'");
}

}  // namespace cfile::tools
