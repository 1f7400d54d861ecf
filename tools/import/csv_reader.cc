#include "tools/import/csv_reader.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "cfile/status.h"
#include "tools/output.h"
#include "tools/utf8.h"

namespace cfile::tools {
namespace {

// As std::count, but four times as fast: compilers vectorize the inner loop, because
// its counter is a single byte.
uint64_t CountByte(const char* begin, const char* end, char byte) {
  constexpr size_t kCounted = 128;
  uint64_t count = 0;
  for (; static_cast<size_t>(end - begin) >= kCounted; begin += kCounted) {
    uint8_t some = 0;
    for (size_t i = 0; i < kCounted; ++i) some = static_cast<uint8_t>(some + (begin[i] == byte));
    count += some;
  }
  return count + static_cast<uint64_t>(std::count(begin, end, byte));
}

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
  return absl::StrCat(
      sample.records == 1 ? "the only line has "
      : sample.equal == sample.records
          ? absl::StrCat("each of the first ", sample.records, " lines has ")
          : absl::StrCat(sample.equal, " of the first ", sample.records, " lines have "),
      sample.fields, " fields");
}

}  // namespace

CsvReader::CsvReader(std::string name, std::string_view text, const CsvDialect& dialect)
    : name_(std::move(name)),
      text_(WithoutByteOrderMark(text)),
      line_end_(LineEndOf(text_)),
      dialect_(dialect),
      record_(text_.data()),
      next_(text_.data()),
      end_(text_.data() + text_.size()) {
  for (const char c : {'\r', '\n', dialect.delimiter}) ends_field_[static_cast<uint8_t>(c)] = true;
  for (const char c : {dialect.quote, dialect.escape}) {
    if (c != 0) ends_field_[static_cast<uint8_t>(c)] = true;
  }
  for (uint64_t line = 0; line < dialect.skip_lines; ++line) next_ = LineEnd(next_);
}

const char* CsvReader::LineEnd(const char* at) const {
  const void* const end = std::memchr(at, line_end_, static_cast<size_t>(end_ - at));
  return end == nullptr ? end_ : static_cast<const char*>(end) + 1;
}

absl::StatusOr<bool> CsvReader::Next() {
  for (;;) {
    if (next_ == end_) return false;
    if (next_ == next_skipped_begin_) {
      const uint64_t end = (*skipped_)[next_skipped_].end;
      next_ = text_.data() + end;
      FindNextSkipped(end);
      continue;
    }
    record_ = next_;
    if (*next_ == dialect_.comment && dialect_.comment != 0) {
      next_ = LineEnd(next_);
      continue;
    }
    if (absl::Status status = ReadRecord(); !status.ok()) {
      resume_ = LineEnd(record_);
      return status;
    }
    const bool blank = fields_.size() == 1 && fields_[0].text.empty() && !fields_[0].quoted;
    if (blank && num_fields_ != 1) continue;
    if (num_fields_ == 0) num_fields_ = fields_.size();
    if (dialect_.pad) Pad();
    if (fields_.size() == num_fields_) {
      if (chosen_.empty()) return true;
      chosen_fields_.clear();
      for (const size_t field : chosen_) chosen_fields_.push_back(fields_[field]);
      fields_.swap(chosen_fields_);
      return true;
    }
    resume_ = next_;
    const size_t surplus = fields_.size() > num_fields_ ? num_fields_ : 0;
    const TextPart* const part = parts_ == nullptr ? nullptr : &PartAt(parts_, record_offset());
    const bool begins_file = part != nullptr && !part->has_header && part->begin == record_offset();
    return ErrorAt(
        fields_[surplus].start,
        absl::StrCat("expected ", Plural(num_fields_, "field"),
                     begins_file ? ", as in the first file" : ", as in the header", ", but found ",
                     fields_.size(),
                     begins_file ? "; --append --evolve adds files with other columns" : ""));
  }
}

void CsvReader::Pad() {
  const char* const end = fields_.back().text.data() + fields_.back().text.size();
  while (fields_.size() > num_fields_ && fields_.back().text.empty()) fields_.pop_back();
  while (fields_.size() < num_fields_) fields_.push_back({.text = {}, .start = end});
}

std::string& CsvReader::Unescaped() {
  // resize() of a deque does not move the strings that other fields point to.
  if (unescaped_.size() < fields_.size()) unescaped_.resize(fields_.size());
  unescaped_[fields_.size() - 1].clear();
  return unescaped_[fields_.size() - 1];
}

absl::Status CsvReader::ReadRecord() {
  fields_.clear();
  for (const char* at = next_;; ++at) {
    CsvField& field = fields_.emplace_back();
    field.start = at;
    if (at != end_ && *at == dialect_.quote && dialect_.quote != 0) {
      CFILE_RETURN_IF_ERROR(ReadQuoted(field));
      at = next_;
    } else {
      while (at != end_ && !ends_field_[static_cast<uint8_t>(*at)]) ++at;
      field.text = {field.start, static_cast<size_t>(at - field.start)};
      if (dialect_.escape != 0 && at != end_ && *at == dialect_.escape) {
        CFILE_RETURN_IF_ERROR(ReadEscaped(field, at));
      }
    }

    // Handle the byte that ended the field.
    next_ = at;
    if (at == end_) return absl::OkStatus();
    if (*at == dialect_.delimiter) continue;
    next_ = at + 1;
    if (*at == line_end_) return absl::OkStatus();
    if (*at == '\r') {
      if (next_ == end_) return absl::OkStatus();
      if (*next_++ == '\n') return absl::OkStatus();
      return ErrorAt(
          at, "a carriage return without a line feed; put a field that contains one in quotes");
    }
    if (*at == '\n') {
      return ErrorAt(at, "a line feed, but the lines before end with carriage returns");
    }
    if (field.quoted) {
      return ErrorAt(at, "text after a closing quote; inside a quoted field write a quote twice");
    }
    return ErrorAt(
        at,
        "a quote in an unquoted field; put the field in quotes and write the quote inside "
        "it twice");
  }
}

// Reads an unquoted field from its first escape on, which is at `at`. Afterwards `at` is at its
// end.
absl::Status CsvReader::ReadEscaped(CsvField& field, const char*& at) {
  std::string& unescaped = Unescaped();
  const char* part = field.start;
  while (at != end_ && *at == dialect_.escape) {
    unescaped.append(part, at);
    part = at + 1;
    if (part == end_) return ErrorAt(at, "an escape at the end of the file");
    for (at += 2; at != end_ && !ends_field_[static_cast<uint8_t>(*at)];) ++at;
  }
  unescaped.append(part, at);
  field.text = unescaped;
  if (at == field.start + 2 && unescaped == "N") field.text = {};
  return absl::OkStatus();
}

// Reads a quoted field. Afterwards next_ is after the closing quote.
absl::Status CsvReader::ReadQuoted(CsvField& field) {
  field.quoted = true;
  std::string* unescaped = nullptr;
  const char* part = field.start + 1;  // what follows was not copied yet
  for (const char* from = part;;) {
    const char* quote = end_;  // or an escape
    if (dialect_.escape == 0) {
      const void* const found = std::memchr(from, dialect_.quote, static_cast<size_t>(end_ - from));
      if (found != nullptr) quote = static_cast<const char*>(found);
    } else {
      quote = std::find_if(from, end_,
                           [&](char c) { return c == dialect_.quote || c == dialect_.escape; });
    }
    if (quote == end_ || (*quote != dialect_.quote && quote + 1 == end_))
      return ErrorAt(field.start, "this quote is never closed");
    next_ = quote + 1;
    const bool escaped = next_ != end_ && (*quote != dialect_.quote || *next_ == dialect_.quote);
    if (!escaped && unescaped == nullptr) {
      field.text = {part, static_cast<size_t>(quote - part)};
      return absl::OkStatus();
    }
    if (unescaped == nullptr) unescaped = &Unescaped();
    unescaped->append(part, quote);
    if (!escaped) {
      field.text = *unescaped;
      return absl::OkStatus();
    }
    part = next_;
    from = next_ + 1;
  }
}

void CsvReader::SkipRecords(std::shared_ptr<const std::vector<RecordPlace>> places) {
  skipped_ = std::move(places);
  FindNextSkipped(offset());
}

size_t CsvReader::FirstSkipped(uint64_t begin) const {
  if (skipped_ == nullptr) return 0;
  const auto first = std::lower_bound(
      skipped_->begin(), skipped_->end(), begin,
      [](const RecordPlace& place, uint64_t offset) { return place.begin < offset; });
  return static_cast<size_t>(first - skipped_->begin());
}

void CsvReader::FindNextSkipped(uint64_t begin) {
  next_skipped_begin_ = nullptr;
  if (skipped_ == nullptr) return;
  next_skipped_ = FirstSkipped(begin);
  if (next_skipped_ < skipped_->size()) {
    next_skipped_begin_ = text_.data() + (*skipped_)[next_skipped_].begin;
  }
}

uint64_t CsvReader::RecordEnd(uint64_t begin, uint64_t min_bytes) const {
  if (dialect_.escape != 0 || dialect_.comment != 0) {
    CsvReader reader = *this;
    reader.LeaveOutPlaceOfErrors();
    reader.SeekToRange(begin, size());
    while (reader.offset() - begin <= min_bytes) {
      const absl::StatusOr<bool> more = reader.Next();
      if (!more.ok() || !*more) return size();
    }
    return reader.offset();
  }
  const char* at = text_.data() + begin;
  const char* const end = text_.data() + text_.size();
  const char* const behind = at + std::min<uint64_t>(min_bytes, static_cast<uint64_t>(end - at));
  bool quoted = false;
  for (size_t skipped = FirstSkipped(begin);; ++skipped) {
    const bool has_skipped = skipped_ != nullptr && skipped < skipped_->size();
    const char* const part_end = has_skipped ? text_.data() + (*skipped_)[skipped].begin : end;
    if (at < behind) {
      const char* const counted = std::min(behind, part_end);
      quoted ^= dialect_.quote != 0 && CountByte(at, counted, dialect_.quote) % 2 != 0;
      at = counted;
    }
    for (; at != part_end; ++at) {
      if (*at == dialect_.quote && dialect_.quote != 0) quoted = !quoted;
      if (*at == line_end_ && !quoted) return static_cast<uint64_t>(at + 1 - text_.data());
    }
    if (!has_skipped) return size();
    at = text_.data() + (*skipped_)[skipped].end;
    if (at > behind) return (*skipped_)[skipped].end;
  }
}

size_t CsvReader::MaxRecords(uint64_t begin, uint64_t end) const {
  const char* const text = text_.data();
  const uint64_t lines = 1 + CountByte(text + begin, text + end, line_end_);
  // Each field, except the last one of the text, is followed by a delimiter or a line end, so a
  // record has at least num_fields_ bytes, if it is not padded. Blank lines have fewer.
  const size_t least = dialect_.pad ? 1 : std::max<size_t>(num_fields_, 1);
  const uint64_t full = 1 + (end - begin) / least;
  return static_cast<size_t>(std::min(lines, full));
}

std::string_view CsvReader::FieldText(uint64_t offset) {
  SeekToRange(offset, size());
  (void)ReadRecord();  // an error would be in a later field
  return fields_[0].text;
}

uint64_t CsvReader::Line(uint64_t offset, uint64_t known_offset, uint64_t known_line) const {
  if (parts_ != nullptr) {
    const TextPart& part = PartAt(parts_, offset);
    if (part.begin > known_offset || known_offset == 0) {
      known_offset = part.begin;
      known_line = part.first_line;
    }
  }
  return known_line + CountByte(text_.data() + known_offset, text_.data() + offset, line_end_);
}

absl::Status CsvReader::ErrorAt(const char* place, std::string_view message) {
  error_ = place;
  return Error(Offset(place), message);
}

absl::Status CsvReader::Error(uint64_t offset, std::string_view message) const {
  if (!errors_have_place_) {
    return absl::InvalidArgumentError(absl::string_view(message.data(), message.size()));
  }
  // Lines are counted only if there is an error, because counting them in Next would cost time for
  // each record.
  const char* const place = text_.data() + offset;
  const char* line_start = place;
  while (line_start != text_.data() && line_start[-1] != line_end_) --line_start;
  const size_t column = 1 + CountCharacters({line_start, static_cast<size_t>(place - line_start)});
  return absl::InvalidArgumentError(
      absl::StrCat(parts_ == nullptr ? name_ : PartAt(parts_, offset).name, ":", Line(offset), ":",
                   column, ": ", absl::string_view(message.data(), message.size())));
}

std::string DelimiterName(char delimiter) {
  constexpr std::pair<char, const char*> kNames[] = {
      {',', "comma"}, {'\t', "tab"}, {';', "semicolon"}, {'|', "pipe"}};
  for (const auto& [character, name] : kNames) {
    if (character == delimiter) return name;
  }
  return std::string(1, delimiter);
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
