// Sources and sinks that call functions of a C program.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "cfile/c.h"
#include "cfile/io.h"

namespace cfile::internal {

// Calls `free` of a cfile_source or a cfile_sink when it is destroyed.
template <typename Callbacks>
class OwnedCallbacks {
 public:
  explicit OwnedCallbacks(const Callbacks& callbacks) noexcept : callbacks_(callbacks) {}
  OwnedCallbacks(OwnedCallbacks&& other) noexcept
      : callbacks_(std::exchange(other.callbacks_, Callbacks{})) {}
  OwnedCallbacks& operator=(OwnedCallbacks&&) = delete;
  ~OwnedCallbacks() {
    if (callbacks_.free != nullptr) callbacks_.free(callbacks_.user_data);
  }
  const Callbacks& operator*() const { return callbacks_; }
  const Callbacks* operator->() const { return &callbacks_; }

 private:
  Callbacks callbacks_;
};

std::shared_ptr<const Source> NewCallbackSource(OwnedCallbacks<cfile_source> callbacks);
std::unique_ptr<Sink> NewCallbackSink(OwnedCallbacks<cfile_sink> callbacks);

}  // namespace cfile::internal
