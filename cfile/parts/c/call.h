// The frame of each function of the C interface (cfile/c.h): checks arguments, turns errors into
// codes and texts, and catches all exceptions.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/c.h"
#include "encodings/core/status.h"

namespace cfile::internal {

// Keep the text of an error for this thread, and return its code. ReportException: of the exception
// that is being handled; called in a catch block. Precondition of ReportError: !status.ok().
cfile_code ReportError(const absl::Status& status) noexcept;
cfile_code ReportException() noexcept;

// Returns the status for a callback that returned the error `code`, which is not CFILE_OK.
// `name`: the name of the source or the sink.
// `callback`: the name of the callback, for errors without a text.
absl::Status CallbackError(std::string_view name, const char* callback, cfile_code code);
// Deletes the text that an earlier callback has set. Call before each callback.
void ClearCallbackMessage();

// Returns a pointer for the `arguments` of Call. It is not null if the array has no elements,
// because such an array may be null.
inline const void* ArrayOf(const void* array, size_t size) { return size == 0 ? "" : array; }

// Copies an array of names. kInvalidArgument: a name is null.
inline absl::StatusOr<std::vector<std::string>> StringsOf(const char* const* names, size_t size) {
  std::vector<std::string> result;
  result.reserve(size);
  for (const char* name : std::span(names, size)) {
    if (name == nullptr) {
      return absl::InvalidArgumentError(absl::StrCat("name ", result.size(), " is null"));
    }
    result.emplace_back(name);
  }
  return result;
}

// Returns kInvalidArgument if one of the pointers is null.
inline absl::Status CheckPointers(std::initializer_list<const void*> pointers) {
  if (std::find(pointers.begin(), pointers.end(), nullptr) == pointers.end())
    return absl::OkStatus();
  return absl::InvalidArgumentError("a pointer is null");
}

// Returns kOutOfRange: `index` is too large, because there are only `count` things of the kind
// `what`.
inline absl::Status NoSuch(const char* what, size_t index, size_t count) {
  return absl::OutOfRangeError(
      absl::StrCat("there is no ", what, " ", index, ": there are ", count));
}

// Calls `work`, a function that returns absl::Status, and returns the code of its result.
// `arguments`: pointers that must not be null.
template <typename Work>
cfile_code Call(std::initializer_list<const void*> arguments, Work&& work) noexcept {
  try {
    absl::Status status = CheckPointers(arguments);
    if (status.ok()) status = work();
    return status.ok() ? cfile_code{CFILE_OK} : ReportError(status);
  } catch (...) {
    return ReportException();
  }
}

// As Call, for a function that may change `object`. After an exception, object->broken makes each
// later call for the object return an error, and the caller can only free it.
template <typename Object, typename Work>
cfile_code CallOn(Object* object, std::initializer_list<const void*> arguments,
                  Work&& work) noexcept {
  return Call({object}, [&]() -> absl::Status {
    CFILE_RETURN_IF_ERROR(CheckPointers(arguments));
    if (object->broken) {
      return absl::FailedPreconditionError(
          "an earlier call on this object ended with an exception: the object can only be freed");
    }
    object->broken = true;
    absl::Status status = work();
    object->broken = false;
    return status;
  });
}

// kInvalidArgument: `size` is no size that a caller sets.
inline absl::Status CheckStructSize(size_t size) {
  if (size >= sizeof(size_t)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("struct_size is ", size, ": set it to the size of the struct"));
}

// Copies a struct of the caller, who may know an older or a newer version of it, to `ours`. Fields
// that the caller does not know become 0; if `given` is null, all fields do. kUnimplemented: the
// caller has set a field that this library does not know. The other fields are copied also then.
template <typename Struct>
absl::Status ReadStruct(const Struct* given, Struct& ours) {
  static_assert(std::has_unique_object_representations_v<Struct>, "padding may not be 0");
  ours = {};
  if (given == nullptr) return absl::OkStatus();
  const size_t size = given->struct_size;
  CFILE_RETURN_IF_ERROR(CheckStructSize(size));
  std::memcpy(&ours, given, std::min(size, sizeof(Struct)));
  if (size > sizeof(Struct)) {
    const std::span tail(reinterpret_cast<const char*>(given) + sizeof(Struct),
                         size - sizeof(Struct));
    if (std::any_of(tail.begin(), tail.end(), [](char byte) { return byte != 0; })) {
      return absl::UnimplementedError(
          absl::StrCat("a struct of ", size,
                       " bytes sets a field that this version of the library "
                       "does not know; the library knows ",
                       sizeof(Struct), " bytes"));
    }
  }
  return absl::OkStatus();
}

// Fills a struct of the caller, who may know an older or a newer version of it. Fields that this
// library does not know become 0.
template <typename Struct>
absl::Status FillStruct(Struct ours, Struct* given) {
  static_assert(std::has_unique_object_representations_v<Struct>, "padding may not be 0");
  const size_t size = given->struct_size;
  CFILE_RETURN_IF_ERROR(CheckStructSize(size));
  ours.struct_size = size;
  std::memcpy(given, &ours, std::min(size, sizeof(Struct)));
  if (size > sizeof(Struct))
    std::memset(reinterpret_cast<char*>(given) + sizeof(Struct), 0, size - sizeof(Struct));
  return absl::OkStatus();
}

}  // namespace cfile::internal
