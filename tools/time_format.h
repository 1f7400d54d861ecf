// Dates and times in other forms than those of value_text.h, such as 31.01.2013.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "cfile/status.h"
#include "cfile/types.h"
#include "tools/value_text.h"

namespace cfile::tools {

// A format in the notation of strptime. These conversions are known:
//
//   %Y       year, 4 digits             %H       hour, 0 to 23
//   %y       year, 2 digits:            %I       hour, 1 to 12; with %p
//            1969 to 2068               %p       AM or PM
//   %m       month, 1 to 12             %M       minute
//   %b %B %h month: Jan or January      %S       second, 0 to 59
//   %d       day of the month           %f       digits of a fraction of a second
//   %e       the same after a blank     %z       Z, +02:00, +0200; at the end also +02
//   %j       day of the year            %s       seconds since 1970-01-01T00:00:00Z
//   %a %A    Mon or Monday; ignored     %%       %
//   %F %T    %Y-%m-%d, %H:%M:%S         %D %R    %m/%d/%y, %H:%M
//
// The format epoch is an integer: the units of the type (of a date, days) since 1970, or since
// midnight.
//
// Numbers except years may lack leading zeros. Names are English, in any case. Other characters
// stand for themselves.
class TimeFormat {
 public:
  // Parses a format for values of `type`: a date, time or timestamp. kInvalidArgument: `type` is
  // another type, a conversion is not known or repeats a part of the time, the format does not say
  // the day (except for a time), or it has a part that `type` does not hold.
  static absl::StatusOr<TimeFormat> Parse(const ColumnType& type, std::string_view format);

  // The count that a column of the type stores for `text`. A timestamp without a zone in its text
  // is in UTC. kInvalidArgument: `text` has another form, there is no such day, or the type cannot
  // represent the time exactly.
  absl::StatusOr<int64_t> ParseValue(std::string_view text) const;

  const std::string& text() const { return format_; }

 private:
  TimeFormat(const ColumnType& type, std::string_view format);

  struct Step {
    char conversion = 0;  // the letter after %; 0: `literal`
    char literal = 0;
  };
  struct Fields;
  absl::Status AddSteps(std::string_view format);
  absl::Status Check() const;
  bool Has(char conversion) const;
  bool Take(Step step, class TextScanner& scanner, Fields& fields) const;

  std::string format_;
  ColumnType type_;
  bool is_date_ = false;
  bool is_time_ = false;
  TimeUnit unit_ = TimeUnit::kNone;
  std::vector<Step> steps_;
};

// absl::StripAsciiWhitespace, for std::string_view.
inline std::string_view StripBlanks(std::string_view text) {
  const absl::string_view rest = absl::StripAsciiWhitespace({text.data(), text.size()});
  return {rest.data(), rest.size()};
}

// Converts a number with a decimal comma, such as 1.234,5, into the form of value_text.h. Blanks,
// points or apostrophes may stand between groups of three digits. Returns a text that has other
// characters as it is. nullopt: the text has only characters of such a number, but not its form.
// The result points into `text` or `scratch`.
std::optional<std::string_view> WithDecimalPoint(std::string_view text, std::string& scratch);

// A type for values in text, and their form if it is not that of value_text.h.
struct TextType {
  ColumnType type;
  std::shared_ptr<const TimeFormat> format = nullptr;  // or null
  bool decimal_comma = false;                          // of numbers (WithDecimalPoint)
  bool json = false;                                   // a string with the JSON text of any value
  const char* option = "--type";                       // that gives the type

  absl::StatusOr<std::string_view> Plain(std::string_view text, std::string& scratch) const;
};

// Parses a type as ColumnType::Parse does, `json`, or one with a format: date(FORMAT),
// time(UNIT;FORMAT), timestamp(UNIT;FORMAT) and timestamp(UNIT,ZONE;FORMAT).
absl::StatusOr<TextType> ParseTextType(std::string_view text);

// Parses `text` with the format of `type`, or with ParseText if it has none. Blanks around a value
// are ignored, unless the type is a text or bytes. Errors and the lifetime of the result
// are those of these functions.
template <typename T>
absl::StatusOr<T> ParseValue(const TextType& type, std::string_view text, std::string& scratch) {
  if constexpr (kIsInteger<T>) {
    if (type.format != nullptr) {
      CFILE_ASSIGN_OR_RETURN(const int64_t count, type.format->ParseValue(text));
      return static_cast<T>(count);  // dates and times of a day fit into 32 bits
    }
  }
  if constexpr (!kIsBytes<T>) {
    text = StripBlanks(text);
    if (type.decimal_comma) {
      CFILE_ASSIGN_OR_RETURN(const std::string_view plain, type.Plain(text, scratch));
      return ParseText<T>(type.type, plain, scratch);
    }
  }
  return ParseText<T>(type.type, text, scratch);
}

}  // namespace cfile::tools
