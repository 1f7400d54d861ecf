#include "tools/progress.h"

#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tools/text_table.h"
#include "tools/utf8.h"

namespace cfile::tools {
namespace {

std::atomic<bool> is_cancelled = false;
static_assert(std::atomic<bool>::is_always_lock_free);  // so that a signal handler may set it

volatile sig_atomic_t caught_signal = 0;

constexpr auto kDrawEvery = std::chrono::milliseconds(100);
// Work that is shorter shows no bar.
constexpr auto kFirstDraw = std::chrono::milliseconds(300);

size_t TerminalWidth() {
  winsize size = {};
  const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : 80;
}

// 75 seconds as "1:15", 4000 as "1:06:40".
std::string Duration(double seconds) {
  const auto whole = static_cast<uint64_t>(std::min(seconds, 359999.0));
  const uint64_t hours = whole / 3600;
  return hours > 0 ? absl::StrFormat("%d:%02d:%02d", hours, whole / 60 % 60, whole % 60)
                   : absl::StrFormat("%d:%02d", whole / 60, whole % 60);
}

}  // namespace

Progress::Progress() : Progress(isatty(STDERR_FILENO) != 0) {}

void Progress::Cancel() { is_cancelled = true; }

const std::atomic<bool>& Progress::cancelled() { return is_cancelled; }

void Progress::Begin(std::string_view stage, uint64_t total, Unit unit) {
  stage_ = TerminalSafe(stage);
  total_ = total;
  unit_ = unit;
  start_ = Clock::now();
  next_draw_ = start_ + kFirstDraw;
  if (drawn_) Draw(0, 0, start_);
}

absl::Status Progress::Update(uint64_t bytes, uint64_t rows) {
  if (is_cancelled) return absl::CancelledError("interrupted; nothing was written");
  if (!shown_) return absl::OkStatus();
  const Clock::time_point now = Clock::now();
  if (now >= next_draw_) {
    next_draw_ = now + kDrawEvery;
    Draw(bytes, rows, now);
  }
  return absl::OkStatus();
}

void Progress::Draw(uint64_t bytes, uint64_t rows, Clock::time_point now) {
  if (!shown_) return;
  const size_t width = TerminalWidth();
  std::string line = Shortened(stage_, std::max<size_t>(width / 2, 3));
  if (total_ > 0) {
    const double seconds = std::chrono::duration<double>(now - start_).count();
    const auto amount = static_cast<double>(unit_ == Unit::kRows ? rows : bytes);
    const double done = std::min(1.0, amount / static_cast<double>(total_));
    std::string figures;
    if (seconds > 0 && amount > 0) {
      const std::string count = WithCommas(rows) + " rows";
      const bool counted = rows > 0;
      const double speed = amount / seconds;
      figures =
          unit_ == Unit::kRows
              ? absl::StrCat(" ", count, "  ", WithCommas(static_cast<uint64_t>(speed)), " rows/s")
              : absl::StrFormat(" %.0f MB/s%s", speed / 1e6, counted ? "  " + count : "");
      absl::StrAppend(&figures, "  ETA ", Duration(seconds * (1 - done) / done));
    }
    line += absl::StrFormat(" %3.0f%%", done * 100);
    // The bar takes the width that the figures leave: at most 40 characters. If fewer than 10
    // characters are left, there is no bar.
    const size_t taken = CountCells(line) + figures.size() + 4;
    if (taken + 10 <= width) {
      const size_t bar = std::min<size_t>(width - taken, 40);
      const auto full = static_cast<size_t>(done * static_cast<double>(bar));
      std::string picture(full, '=');
      if (full < bar) picture += '>';
      picture.resize(bar, ' ');
      line += " [" + picture + "]";
    }
    line = Shortened(line + figures, std::max<size_t>(width - 1, 3));
  }
  // ESC [ K clears the rest of a longer previous line.
  absl::FPrintF(stderr, "\r%s\033[K", line);
  std::fflush(stderr);
  drawn_ = true;
}

void Progress::End() {
  if (drawn_) std::fputs("\r\033[K", stderr);
  drawn_ = false;
}

void CancelOnSignals() {
  struct sigaction action = {};
  action.sa_handler = [](int signal) {
    caught_signal = signal;
    Progress::Cancel();
  };
  // The handler stays installed: a terminal that is closed may send SIGHUP twice, and the second
  // one must not end the process before it has removed its files. Ctrl-\ (SIGQUIT) still ends the
  // process at once.
  action.sa_flags = SA_RESTART;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before = {};
    sigaction(signal, nullptr, &before);
    if (before.sa_handler == SIG_IGN) continue;  // nohup, or a job in the background
    sigaction(signal, &action, nullptr);
  }
}

void EndByCaughtSignal() {
  if (caught_signal == 0) return;
  signal(caught_signal, SIG_DFL);
  raise(caught_signal);
}

std::string WithCommas(uint64_t number) {
  std::string text = std::to_string(number);
  for (size_t end = text.size(); end > 3; end -= 3) text.insert(end - 3, 1, ',');
  return text;
}

}  // namespace cfile::tools
