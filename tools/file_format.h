// Recognizes the formats of files, so that an error can say what a file is and what reads it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "cfile/io.h"

namespace cfile::tools {

// Returns `size` bytes of `source` from `offset` on.
absl::StatusOr<std::string> ReadBytes(const Source& source, uint64_t offset, uint64_t size);

// What a tool of this project does with a format.
enum class FormatUse : uint8_t {
  kCFile,     // a CFile, or a file of a table
  kImported,  // cfile-import reads it
  kForeign,   // none of the tools reads it
};

struct FileFormat {
  std::string_view name;    // the text after "the file is": "Parquet", "compressed with xz"
  std::string_view advice;  // what reads the file, or what to do. May be empty. See AdviceFor
  FormatUse use = FormatUse::kImported;
  // The bytes at `offset` of a file of this format. '?' stands for any byte. Empty for a format
  // that is recognized in another way.
  std::string_view magic = {};
  size_t offset = 0;
};

// Returns the advice of `format` for the file `name`. Empty if the format has no advice.
std::string AdviceFor(const FileFormat& format, std::string_view name);

// Returns the format of the file that begins with `head`; nullptr if no magic fits.
// `head`: the first kFormatHeadBytes of a file, or all bytes of a shorter file; may be longer.
inline constexpr size_t kFormatHeadBytes = 16;
const FileFormat* FindFormat(std::string_view head);

// True if the file that begins with `head` and ends with `tail` (4 bytes or more) is Parquet, also
// if the file is encrypted or torn. False for CSV that begins with the same letters.
bool IsParquet(std::string_view head, std::string_view tail);

// True if `name` ends in .json, .jsonl or .ndjson.
bool HasJsonExtension(std::string_view name);

// True if `head` begins like JSON records: with {" or [{". Blanks before and between these
// characters are skipped, also a byte order mark at the beginning.
bool BeginsLikeJson(std::string_view head);

// Returns a sentence about what `source` is, if it is a file of another program or empty:
//   "the file is Parquet, not a CFile; cfile-import makes a table of it: cfile-import NAME TABLE"
// Returns "" for a CFile, even if it is damaged, for other bytes, and if `source` cannot be read.
std::string DescribeForeignFile(const Source& source);

// True if `source` begins like a CFile and does not end like one. False if it cannot be read.
bool HasDamagedEnd(const Source& source);

}  // namespace cfile::tools
