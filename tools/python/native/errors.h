// Errors: a status of the library becomes an exception of Python, and back.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace cfile_python {

namespace nb = nanobind;

// A str. TextOf makes \xff of a byte that is not UTF-8; PathOf makes what os.fsdecode makes of it.
nb::object TextOf(std::string_view text);
nb::object PathOf(std::string_view path);

// Raises the exception that stands for `status`: the exception that an object of Python has raised
// before (StatusOfPythonError), or an exception of cfile.errors. Needs the interpreter lock.
// Precondition: !status.ok().
[[noreturn]] void Raise(const absl::Status& status);

inline void Check(const absl::Status& status) {
  if (!status.ok()) Raise(status);
}
template <typename T>
T ValueOf(absl::StatusOr<T> result) {
  if (!result.ok()) Raise(result.status());
  return *std::move(result);
}

// Takes the current exception of this thread and returns a status for it. Raise raises this
// exception again if it gets the status, or one whose message contains the message of the status:
// the library may put the name of a file before it. Needs the lock. `name`: the file or the object,
// for the message.
absl::Status StatusOfPythonError(const std::string& name);

// True if Raise would raise an exception that StatusOfPythonError has taken. Needs no lock.
bool IsPythonError(const absl::Status& status);

// Runs the handlers of signals, and returns a status if one has raised an exception, for example
// KeyboardInterrupt. Only the main thread of the interpreter runs handlers. Takes the lock. The
// error is also kept, for this thread, because the library ignores errors of some reads.
absl::Status RunSignalHandlers(const std::string& name);
// Returns the error that RunSignalHandlers has kept for this thread, once. OK: no error is kept, or
// its exception was raised already.
absl::Status TakeInterrupt();

// Calls `work` without the interpreter lock, and raises its error.
void RunWithoutLock(absl::FunctionRef<absl::Status()> work);

// The same for work that returns absl::Status, or absl::StatusOr<T>: then returns the value.
template <typename Work>
auto WithoutLock(Work&& work) {
  using Result = decltype(work());
  if constexpr (std::is_same_v<Result, absl::Status>) {
    RunWithoutLock(work);
  } else {
    Result result;
    RunWithoutLock([&] {
      result = work();
      return result.status();
    });
    return *std::move(result);
  }
}

}  // namespace cfile_python
