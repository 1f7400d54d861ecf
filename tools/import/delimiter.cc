#include "tools/import/delimiter.h"

#include <cstdint>

#include "absl/strings/str_cat.h"
#include "tools/import/csv_reader.h"
#include "tools/input/input_file.h"

namespace cfile::tools {
namespace {

constexpr uint64_t kSampleBytes = 1 << 20;
constexpr size_t kSampleRecords = 100;

// What the first records of a text are with a delimiter.
struct Sample {
  size_t fields = 0;   // of the first record; 0: it is not valid
  size_t records = 0;  // at most kSampleRecords
  size_t equal = 0;    // records with the same number of fields as the first record
};

Sample ReadSample(std::string_view text, const CsvDialect& dialect) {
  CsvReader reader("", text, dialect);
  reader.LeaveOutPlaceOfErrors();
  Sample sample;
  for (; sample.records < kSampleRecords && reader.offset() < kSampleBytes; ++sample.records) {
    const absl::StatusOr<bool> more = reader.Next();
    if (more.ok() && !*more) break;
    if (sample.records == 0 && !more.ok()) return {};
    if (sample.records == 0) sample.fields = reader.fields().size();
    if (more.ok()) {
      ++sample.equal;
    } else {
      reader.SeekToRange(reader.resume_offset(), reader.size());
    }
  }
  return sample;
}

std::string Reason(const Sample& sample) {
  if (sample.records == 1) return absl::StrCat("the only line has ", sample.fields, " fields");
  if (sample.equal == sample.records) {
    return absl::StrCat("each of the first ", sample.records, " lines has ", sample.fields,
                        " fields");
  }
  return absl::StrCat(sample.equal, " of the first ", sample.records, " lines have ", sample.fields,
                      " fields");
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

Delimiter FindDelimiter(std::string_view text, std::string_view path, CsvDialect dialect) {
  dialect.pad = false;  // otherwise all records would have the same number of fields
  std::string candidates = ",\t;|";
  const std::string_view name = WithoutPackingSuffix(path);
  if (name.ends_with(".tsv") || name.ends_with(".tab")) candidates = "\t,;|";
  Delimiter best{',', "no character gives most of the first lines the same number of fields"};
  double best_share = 0.5;
  for (const char candidate : candidates) {
    dialect.delimiter = candidate;
    const Sample sample = ReadSample(text, dialect);
    if (sample.fields < 2) continue;
    const double share = static_cast<double>(sample.equal) / static_cast<double>(sample.records);
    if (share <= best_share) continue;
    best_share = share;
    best = {candidate, Reason(sample)};
  }
  return best;
}

}  // namespace cfile::tools
