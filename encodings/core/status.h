// Encodings report errors as absl::Status. kDataLoss: bytes are damaged or malformed. kOutOfRange:
// the bytes need more than a limit allows.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "encodings/core/export.h"

namespace cfile::encodings {

// One argument of StrCat: a string, a number or absl::Hex. Does not own the string.
class TextPart {
 public:
  template <typename Part>
  TextPart(const Part& part) {  // NOLINT(google-explicit-constructor)
    static_assert(!std::is_same_v<Part, char>, "a character may also be a number");
    if constexpr (requires { part.size(); }) {
      text_ = part.data();
      kind_or_size_ = part.size();
    } else if constexpr (std::is_convertible_v<const Part&, const char*>) {
      text_ = part;
      kind_or_size_ = std::string_view(part).size();
    } else if constexpr (std::is_same_v<Part, absl::Hex>) {
      number_ = part.value;
      kind_or_size_ = kHex + part.width;
    } else if constexpr (std::is_floating_point_v<Part>) {
      number_ = std::bit_cast<uint64_t>(double{part});
      kind_or_size_ = kDouble;
    } else {
      number_ = static_cast<uint64_t>(part);
      kind_or_size_ = std::is_signed_v<decltype(+part)> ? kSigned : kUnsigned;
    }
  }

  void AppendTo(std::string& text) const;

 private:
  static constexpr size_t kUnsigned = SIZE_MAX;
  static constexpr size_t kSigned = SIZE_MAX - 1;
  static constexpr size_t kDouble = SIZE_MAX - 2;
  static constexpr size_t kHex = SIZE_MAX - 32;  // plus the least number of digits

  union {
    const char* text_;
    uint64_t number_;
  };
  size_t kind_or_size_;  // the size of a string, or the kind of a number
};

// StrCat and the functions below call these two, which makes less machine code at each call than
// absl::StrCat: that converts the numbers to text at the call.
CFILE_EXPORT std::string JoinedText(std::span<const TextPart> parts);
CFILE_EXPORT absl::Status ErrorOf(absl::StatusCode code, std::span<const TextPart> parts);

// absl::StrCat that also takes std::string_view, which is not absl::string_view in this version of
// Abseil.
template <typename... Parts>
std::string StrCat(const Parts&... parts) {
  const TextPart list[] = {parts...};
  return JoinedText(list);
}

// Returns kDataLoss with the concatenation of `parts` as message. The message says what was found,
// where in the block, and what was expected. The caller that has the file adds the file's name and
// the block's offset.
template <typename... Parts>
absl::Status DataLoss(const Parts&... parts) {
  const TextPart list[] = {parts...};
  return ErrorOf(absl::StatusCode::kDataLoss, list);
}

// Returns kOutOfRange with the concatenation of `parts` as message: a limit that users choose is
// exceeded, but nothing is damaged. If an option sets the limit, the last part is the result of
// AboveLimit.
template <typename... Parts>
absl::Status OutOfRange(const Parts&... parts) {
  const TextPart list[] = {parts...};
  return ErrorOf(absl::StatusCode::kOutOfRange, list);
}

// Returns the text by which a message names a limit that users choose: "above the limit of 64:
// raise max_depth".
inline std::string AboveLimit(uint64_t limit, std::string_view option) {
  return StrCat("above the limit of ", limit, ": raise ", option);
}

}  // namespace cfile::encodings

namespace cfile {

using encodings::AboveLimit;
using encodings::DataLoss;
using encodings::OutOfRange;
using encodings::StrCat;

}  // namespace cfile

// This Abseil (20220623) has no status_macros.h yet.
#define CFILE_CONCAT_INNER(a, b) a##b
#define CFILE_CONCAT(a, b) CFILE_CONCAT_INNER(a, b)
#define CFILE_RETURN_IF_ERROR(expression)                                                     \
  do {                                                                                        \
    if (absl::Status cfile_status_ = (expression); !cfile_status_.ok()) return cfile_status_; \
  } while (false)
#define CFILE_ASSIGN_OR_RETURN(declaration, expression) \
  CFILE_ASSIGN_OR_RETURN_INNER(CFILE_CONCAT(cfile_status_or_, __COUNTER__), declaration, expression)
#define CFILE_ASSIGN_OR_RETURN_INNER(status_or, declaration, expression) \
  auto status_or = (expression);                                         \
  if (!status_or.ok()) return std::move(status_or).status();             \
  declaration = *std::move(status_or)
