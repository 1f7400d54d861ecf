#include "encodings/core/status.h"

namespace cfile::encodings {

void TextPart::AppendTo(std::string& text) const {
  if (kind_or_size_ == kUnsigned) {
    absl::StrAppend(&text, number_);
  } else if (kind_or_size_ == kSigned) {
    absl::StrAppend(&text, static_cast<int64_t>(number_));
  } else if (kind_or_size_ == kDouble) {
    absl::StrAppend(&text, std::bit_cast<double>(number_));
  } else if (kind_or_size_ >= kHex) {
    absl::StrAppend(&text, absl::Hex(number_, static_cast<absl::PadSpec>(kind_or_size_ - kHex)));
  } else {
    text.append(text_, kind_or_size_);
  }
}

std::string JoinedText(std::span<const TextPart> parts) {
  std::string text;
  for (const TextPart& part : parts) part.AppendTo(text);
  return text;
}

absl::Status ErrorOf(absl::StatusCode code, std::span<const TextPart> parts) {
  return absl::Status(code, JoinedText(parts));
}

}  // namespace cfile::encodings
