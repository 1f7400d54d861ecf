#include "tools/import/delimiter.h"

#include <cstdint>

#include "absl/strings/str_cat.h"
#include "tools/import/csv_reader.h"
#include "tools/input/input_file.h"

namespace cfile::tools {
namespace {

constexpr uint64_t kSampleBytes = 1 << 20;
constexpr size_t kSampleRecords = 100;

// How many of the first records of a text have the same number of fields.
struct Sample {
  size_t records = 0;
  size_t fields = 0;  // of each record; 0: the records differ, or the text is not valid
};

Sample ReadSample(std::string_view text, char delimiter) {
  CsvReader reader("", text, delimiter);
  reader.LeaveOutPlaceOfErrors();
  Sample sample;
  while (sample.records < kSampleRecords && reader.offset() < kSampleBytes) {
    const absl::StatusOr<bool> more = reader.Next();
    if (!more.ok()) return {};
    if (!*more) break;
    ++sample.records;
    sample.fields = reader.fields().size();
  }
  return sample;
}

}  // namespace

std::string DelimiterName(char delimiter) {
  switch (delimiter) {
    case ',':
      return "comma";
    case '\t':
      return "tab";
    case ';':
      return "semicolon";
    case '|':
      return "pipe";
    default:
      return std::string(1, delimiter);
  }
}

Delimiter FindDelimiter(std::string_view text, std::string_view path) {
  std::string candidates = ",\t;|";
  const std::string_view name = WithoutPackingSuffix(path);
  if (name.ends_with(".tsv") || name.ends_with(".tab")) candidates = "\t,;|";
  for (const char candidate : candidates) {
    const Sample sample = ReadSample(text, candidate);
    if (sample.fields < 2) continue;
    return {candidate, sample.records == 1
                           ? absl::StrCat("the only line has ", sample.fields, " fields")
                           : absl::StrCat("each of the first ", sample.records, " lines has ",
                                          sample.fields, " fields")};
  }
  return {',', "no other character gives all first lines the same number of fields"};
}

}  // namespace cfile::tools
