// The failure of a writer, which every later call returns.
#pragma once

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace cfile::internal {

// Thread-compatible.
class StickyStatus {
 public:
  // `name`: of the file, for messages.
  explicit StickyStatus(const std::string& name)
      : interrupted_(absl::AbortedError(absl::StrCat(name, ": an exception ended a call"))),
        finished_(absl::FailedPreconditionError(absl::StrCat(name, ": the writer is finished"))) {}

  // What `work` returns, and from an error on that error. An exception that passes through (of an
  // allocation, say) is an error too: what it left half done must not be gone on with.
  template <typename Work>
  absl::Status Run(Work&& work) {
    if (!status_.ok()) return status_;
    struct Guard {
      ~Guard() {
        if (sticky != nullptr) sticky->status_ = sticky->interrupted_;
      }
      StickyStatus* sticky;
    } guard{this};
    status_ = work();
    guard.sticky = nullptr;
    return status_;
  }

  // Run for the last time: where `work` succeeds, what comes behind it fails.
  template <typename Work>
  absl::Status Finish(Work&& work) {
    absl::Status status = Run(std::forward<Work>(work));
    if (status.ok()) status_ = finished_;
    return status;
  }

  const absl::Status& status() const { return status_; }

 private:
  // Made beforehand, as nothing may be allocated while an exception passes or once a file is in
  // place.
  const absl::Status interrupted_;
  const absl::Status finished_;
  absl::Status status_;
};

}  // namespace cfile::internal
