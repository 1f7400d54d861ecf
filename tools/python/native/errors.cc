#include "tools/python/native/errors.h"

#include <algorithm>
#include <deque>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>

#include "cfile/status.h"

namespace cfile_python {
namespace {

// An exception that went through the library as a status.
struct Kept {
  std::string message;  // of the status
  PyObject* exception;  // owned
};

// The last exceptions that were not raised again yet. Most are raised at once, but some never, for
// example if the library tries something else.
class KeptExceptions {
 public:
  void Add(std::string message, nb::object exception) {
    nb::object
        dropped;  // destroyed after the mutex is released, because a destructor may run any code
    const std::lock_guard lock(mutex_);
    kept_.push_back({std::move(message), exception.release().ptr()});
    if (kept_.size() > kMost) {
      dropped = nb::steal(kept_.front().exception);
      kept_.pop_front();
    }
  }
  // Returns the newest exception for this message; null if there is none.
  nb::object Take(std::string_view message) {
    const std::lock_guard lock(mutex_);
    const auto kept = Find(message);
    if (kept == kept_.rend()) return {};
    nb::object exception = nb::steal(kept->exception);
    kept_.erase(std::next(kept).base());
    return exception;
  }

  // True if Take would return an exception.
  bool Has(std::string_view message) {
    const std::lock_guard lock(mutex_);
    return Find(message) != kept_.rend();
  }

 private:
  std::deque<Kept>::reverse_iterator Find(std::string_view message) {
    return std::find_if(kept_.rbegin(), kept_.rend(), [&](const Kept& kept) {
      return message.find(kept.message) != std::string_view::npos;
    });
  }

  static constexpr size_t kMost = 16;
  std::mutex mutex_;
  std::deque<Kept> kept_;
};

thread_local absl::Status kept_interrupt;

KeptExceptions& Exceptions() {
  static KeptExceptions* const exceptions =
      new KeptExceptions;  // never destroyed: the interpreter ends first
  return *exceptions;
}

absl::StatusCode CodeOf(const nb::python_error& error) {
  if (error.matches(PyExc_KeyboardInterrupt)) return absl::StatusCode::kCancelled;
  if (error.matches(PyExc_FileNotFoundError)) return absl::StatusCode::kNotFound;
  if (error.matches(PyExc_PermissionError)) return absl::StatusCode::kPermissionDenied;
  if (error.matches(PyExc_MemoryError)) return absl::StatusCode::kResourceExhausted;
  return absl::StatusCode::kUnavailable;
}

std::string TextOfException(nb::handle exception) {
  const nb::object text = nb::steal(PyObject_Str(exception.ptr()));
  const nb::object bytes =
      nb::steal(text.is_valid() ? PyUnicode_AsEncodedString(text.ptr(), "utf-8", "backslashreplace")
                                : nullptr);
  PyErr_Clear();  // an exception may have no text
  return bytes.is_valid() ? std::string(PyBytes_AsString(bytes.ptr())) : "";
}

}  // namespace

nb::object TextOf(std::string_view text) {
  const auto size = static_cast<Py_ssize_t>(text.size());
  return nb::steal(PyUnicode_DecodeUTF8(text.data(), size, "backslashreplace"));
}

nb::object PathOf(std::string_view path) {
  return nb::steal(
      PyUnicode_DecodeFSDefaultAndSize(path.data(), static_cast<Py_ssize_t>(path.size())));
}

void Raise(const absl::Status& status) {
  nb::object exception = Exceptions().Take(std::string(status.message()));
  if (!exception.is_valid()) {
    exception = nb::module_::import_("cfile.errors")
                    .attr("error_of")(static_cast<int>(status.code()),
                                      TextOf(std::string(status.message())));
    if (cfile::IsUnfitRows(status)) exception.attr("_unfit_rows") = true;
  }
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.ptr())), exception.ptr());
  throw nb::python_error();
}

absl::Status StatusOfPythonError(const std::string& name) {
  nb::python_error error;
  const std::string text = TextOfException(error.value());
  const std::string type = nb::cast<std::string>(error.type().attr("__name__"));
  std::string message = cfile::StrCat(name, ": ", type, text.empty() ? "" : ": ", text);
  Exceptions().Add(message, nb::borrow(error.value()));
  return {CodeOf(error), message};
}

absl::Status RunSignalHandlers(const std::string& name) {
  nb::gil_scoped_acquire lock;
  if (PyErr_CheckSignals() == 0) return absl::OkStatus();
  return kept_interrupt = StatusOfPythonError(name);
}

absl::Status TakeInterrupt() {
  if (kept_interrupt.ok()) return absl::OkStatus();
  const absl::Status status = std::exchange(kept_interrupt, absl::OkStatus());
  return IsPythonError(status) ? status : absl::OkStatus();
}

bool IsPythonError(const absl::Status& status) {
  return Exceptions().Has(std::string(status.message()));
}

void RunWithoutLock(absl::FunctionRef<absl::Status()> work) {
  absl::Status status;
  {
    const nb::gil_scoped_release release;
    status = work();
  }
  // The library may ignore an error of a read that it does not need.
  if (status.ok()) status = TakeInterrupt();
  Check(status);
}

}  // namespace cfile_python
