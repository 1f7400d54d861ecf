#include "cfile/parts/c/call.h"

#include <exception>
#include <new>
#include <stdexcept>
#include <string>

namespace cfile::internal {
namespace {

#define CFILE_SAME(number, code) static_assert((number) == static_cast<int>(absl::StatusCode::code))
CFILE_SAME(CFILE_OK, kOk);
CFILE_SAME(CFILE_CANCELLED, kCancelled);
CFILE_SAME(CFILE_UNKNOWN, kUnknown);
CFILE_SAME(CFILE_INVALID_ARGUMENT, kInvalidArgument);
CFILE_SAME(CFILE_DEADLINE_EXCEEDED, kDeadlineExceeded);
CFILE_SAME(CFILE_NOT_FOUND, kNotFound);
CFILE_SAME(CFILE_ALREADY_EXISTS, kAlreadyExists);
CFILE_SAME(CFILE_PERMISSION_DENIED, kPermissionDenied);
CFILE_SAME(CFILE_RESOURCE_EXHAUSTED, kResourceExhausted);
CFILE_SAME(CFILE_FAILED_PRECONDITION, kFailedPrecondition);
CFILE_SAME(CFILE_ABORTED, kAborted);
CFILE_SAME(CFILE_OUT_OF_RANGE, kOutOfRange);
CFILE_SAME(CFILE_UNIMPLEMENTED, kUnimplemented);
CFILE_SAME(CFILE_INTERNAL, kInternal);
CFILE_SAME(CFILE_UNAVAILABLE, kUnavailable);
CFILE_SAME(CFILE_DATA_LOSS, kDataLoss);
CFILE_SAME(CFILE_UNAUTHENTICATED, kUnauthenticated);
#undef CFILE_SAME

// Keeps the text of an error. If there is no memory for a copy, a shorter text is kept.
class KeptText {
 public:
  void Set(std::string_view text) noexcept {
    try {
      text_ = text;
      shown_ = text_.c_str();
    } catch (...) {
      shown_ = "out of memory";
    }
  }
  const char* shown() const { return shown_; }

 private:
  std::string text_;
  const char* shown_ = "";
};

thread_local KeptText error_message;
thread_local KeptText callback_message;

}  // namespace

cfile_code ReportError(const absl::Status& status) noexcept {
  const absl::string_view message = status.message();
  error_message.Set({message.data(), message.size()});
  return static_cast<cfile_code>(status.code());
}

cfile_code ReportException() noexcept {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    error_message.Set("out of memory");
    return CFILE_RESOURCE_EXHAUSTED;
  } catch (const std::length_error&) {  // more elements than a container can have
    error_message.Set("out of memory");
    return CFILE_RESOURCE_EXHAUSTED;
  } catch (const std::exception& exception) {
    error_message.Set(exception.what());
  } catch (...) {
    error_message.Set("an exception of an unknown type");
  }
  return CFILE_INTERNAL;
}

void ClearCallbackMessage() { callback_message.Set(""); }

absl::Status CallbackError(std::string_view name, const char* callback, cfile_code code) {
  std::string text = callback_message.shown();
  if (text.empty()) text = absl::StrCat(callback, " returned ", code);
  const bool passed_on = code > CFILE_OK && code <= CFILE_UNAUTHENTICATED &&
                         code != CFILE_OUT_OF_RANGE && code != CFILE_UNIMPLEMENTED;
  return {passed_on ? static_cast<absl::StatusCode>(code) : absl::StatusCode::kUnknown,
          encodings::StrCat(name, ": ", text)};
}

}  // namespace cfile::internal

using cfile::internal::callback_message;
using cfile::internal::error_message;

const char* cfile_error_message() { return error_message.shown(); }
void cfile_set_error_message(const char* message) {
  callback_message.Set(message == nullptr ? "" : message);
}
const char* cfile_version() { return CFILE_VERSION; }
