// The first error of a writer, which every later call returns.
#pragma once

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "encodings/core/status.h"

namespace cfile::internal {

// Thread-compatible.
class StickyStatus {
 public:
  // `name`: the file's name, for messages.
  explicit StickyStatus(const std::string& name)
      : interrupted_(
            absl::AbortedError(StrCat(name, ": an exception ended a call on this writer"))),
        finished_(absl::FailedPreconditionError(StrCat(name, ": the writer is finished"))) {}

  // Returns the result of `work`, or the error of an earlier call. If `work` throws an exception
  // (for example std::bad_alloc), this counts as an error, because the writer may be in an
  // inconsistent state.
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

  // Runs the last call: if `work` succeeds, all later calls fail.
  template <typename Work>
  absl::Status Finish(Work&& work) {
    absl::Status status = Run(std::forward<Work>(work));
    if (status.ok()) status_ = finished_;
    return status;
  }

  const absl::Status& status() const { return status_; }

 private:
  // Created in advance, because nothing may be allocated while an exception passes through or after
  // a file is in place.
  const absl::Status interrupted_;
  const absl::Status finished_;
  absl::Status status_;
};

}  // namespace cfile::internal
