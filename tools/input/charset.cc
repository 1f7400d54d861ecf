#include "tools/input/byte_stream.h"

#include <iconv.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "cfile/status.h"
#include "tools/utf8.h"

namespace cfile::tools {
namespace {

constexpr size_t kShownBytes = 4;

class Utf8Stream final : public ByteStream {
 public:
  Utf8Stream(iconv_t conversion, std::string charset, std::unique_ptr<ByteStream> text,
             std::string name)
      : conversion_(conversion),
        charset_(std::move(charset)),
        text_(std::move(text)),
        name_(std::move(name)),
        buffer_(256 << 10, '\0') {}
  ~Utf8Stream() override { iconv_close(conversion_); }
  Utf8Stream(const Utf8Stream&) = delete;
  Utf8Stream& operator=(const Utf8Stream&) = delete;

  absl::StatusOr<std::string_view> Next() override {
    size_t size = 0;
    while (size == 0 && !(ended_ && needs_more_)) {
      if (needs_more_) {
        CFILE_ASSIGN_OR_RETURN(const std::string_view chunk, text_->Next());
        ended_ = chunk.empty();
        if (ended_ && !rest_.empty()) return Error("the text ends within a character");
        rest_ += chunk;
      }
      CFILE_ASSIGN_OR_RETURN(size, Convert());
    }
    return std::string_view(buffer_.data(), size);
  }

 private:
  // Converts the front of rest_ into buffer_, and removes it from rest_. Returns the number of
  // bytes in buffer_. Sets needs_more_ if rest_ is empty or an incomplete character.
  absl::StatusOr<size_t> Convert() {
    char* in = rest_.data();
    size_t in_bytes = rest_.size();
    char* out = buffer_.data();
    size_t out_bytes = buffer_.size();
    // At the end, the call without input writes what a charset with shift states still holds back.
    const size_t result = iconv(conversion_, ended_ ? nullptr : &in, &in_bytes, &out, &out_bytes);
    const int error = result == static_cast<size_t>(-1) ? errno : 0;
    const size_t size = buffer_.size() - out_bytes;
    line_ += static_cast<uint64_t>(std::count(buffer_.data(), out, '\n'));
    offset_ += rest_.size() - in_bytes;
    rest_.erase(0, rest_.size() - in_bytes);
    if (error == EILSEQ) {
      return Error(absl::StrCat("the bytes ", Hex(std::string_view(rest_).substr(0, kShownBytes)),
                                " are no character"));
    }
    needs_more_ = error != E2BIG;
    return size;
  }

  absl::Status Error(const std::string& message) const {
    return absl::InvalidArgumentError(absl::StrCat(name_, ":", line_, ": offset ", offset_, ": ",
                                                   message, " of ", charset_,
                                                   "; --charset sets another charset"));
  }

  const iconv_t conversion_;
  const std::string charset_;
  const std::unique_ptr<ByteStream> text_;
  const std::string name_;
  std::string rest_;  // not converted yet: a chunk, after a character that the last chunk began
  std::string buffer_;
  bool needs_more_ = true;
  bool ended_ = false;   // text_ has no more bytes
  uint64_t offset_ = 0;  // of rest_
  uint64_t line_ = 1;    // of rest_
};

}  // namespace

absl::StatusOr<std::unique_ptr<ByteStream>> ConvertToUtf8(const std::string& charset,
                                                          std::unique_ptr<ByteStream> text,
                                                          std::string name) {
  const std::string known = absl::AsciiStrToLower(charset) == "latin-1" ? "ISO-8859-1" : charset;
  // A slash would begin options of iconv, such as //IGNORE.
  const iconv_t conversion = known.find('/') == std::string::npos
                                 ? iconv_open("UTF-8", known.c_str())
                                 : reinterpret_cast<iconv_t>(-1);
  if (conversion == reinterpret_cast<iconv_t>(-1)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--charset ", charset, ": iconv does not know this charset; iconv -l lists the names"));
  }
  return std::make_unique<Utf8Stream>(conversion, charset, std::move(text), std::move(name));
}

}  // namespace cfile::tools
