// Writes dates, times and timestamps as text into memory of the caller. tools/civil_time.h parses
// this text.
//
// The fraction has all digits of the unit; a fraction of 0 is omitted. A count without a text (a
// year outside 0001 to 9999, a time outside the day) becomes "@COUNT".
#pragma once

#include <array>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "cfile/types.h"

namespace cfile::tools {

// A unit of time as a type, so that divisions by it are by constants.
template <int64_t kUnitsPerSecond, int kDigits>
struct TimeUnitType {
  static constexpr int64_t kPerSecond = kUnitsPerSecond;
  static constexpr int kFractionDigits = kDigits;
};

// Returns visit(TimeUnitType<...>()) for the unit.
template <typename Visitor>
decltype(auto) VisitUnit(TimeUnit unit, Visitor&& visit) {
  switch (unit) {
    case TimeUnit::kMillis:
      return visit(TimeUnitType<1'000, 3>());
    case TimeUnit::kMicros:
      return visit(TimeUnitType<1'000'000, 6>());
    case TimeUnit::kNanos:
      return visit(TimeUnitType<1'000'000'000, 9>());
    default:
      return visit(TimeUnitType<1, 0>());
  }
}

inline constexpr int64_t kSecondsPerDay = 86400;

namespace civil_writer {

// 0001-01-01 and 9999-12-31, in days since 1970-01-01.
inline constexpr int64_t kFirstDay =
    std::chrono::sys_days(std::chrono::year(1) / 1 / 1).time_since_epoch().count();
inline constexpr int64_t kLastDay =
    std::chrono::sys_days(std::chrono::year(9999) / 12 / 31).time_since_epoch().count();

inline constexpr auto kDigitPairs = [] {
  std::array<char, 200> pairs{};
  for (size_t i = 0; i < 100; ++i) {
    pairs[2 * i] = static_cast<char>('0' + i / 10);
    pairs[2 * i + 1] = static_cast<char>('0' + i % 10);
  }
  return pairs;
}();

// Writes two digits. Precondition: number < 100.
inline char* WritePair(uint32_t number, char* out) {
  std::memcpy(out, kDigitPairs.data() + size_t{2} * number, 2);
  return out + 2;
}

inline char* WriteCount(int64_t count, char* out) {
  *out = '@';
  return std::to_chars(out + 1, out + 21, count).ptr;
}

// Precondition: kFirstDay <= days <= kLastDay.
inline char* WriteDay(int64_t days, char* out) {
  const std::chrono::year_month_day date{
      std::chrono::sys_days(std::chrono::days(static_cast<int>(days)))};
  const auto year = static_cast<uint32_t>(static_cast<int>(date.year()));
  out = WritePair(year % 100, WritePair(year / 100, out));
  *out++ = '-';
  out = WritePair(static_cast<unsigned>(date.month()), out);
  *out++ = '-';
  return WritePair(static_cast<unsigned>(date.day()), out);
}

// Precondition: 0 <= count < a day.
template <typename Unit>
char* WriteTimeOfDay(int64_t count, char* out) {
  const auto seconds = static_cast<uint32_t>(count / Unit::kPerSecond);
  out = WritePair(seconds / 3600, out);
  *out++ = ':';
  out = WritePair(seconds / 60 % 60, out);
  *out++ = ':';
  out = WritePair(seconds % 60, out);
  auto fraction = static_cast<uint32_t>(count % Unit::kPerSecond);
  if (fraction == 0) return out;
  *out++ = '.';
  char* digit = out + Unit::kFractionDigits;
  for (int left = Unit::kFractionDigits; left > 1; left -= 2, fraction /= 100) {
    WritePair(fraction % 100, digit -= 2);
  }
  if (Unit::kFractionDigits % 2 != 0) *out = static_cast<char>('0' + fraction);
  return out + Unit::kFractionDigits;
}

}  // namespace civil_writer

// The writers are function objects: write(count, out) writes at most 30 bytes and returns their
// end. Thread-compatible.

// 2013-01-31, for a count of days since 1970-01-01.
struct DateWriter {
  char* operator()(int64_t days, char* out) const {
    using namespace civil_writer;
    return days < kFirstDay || days > kLastDay ? WriteCount(days, out) : WriteDay(days, out);
  }
};

// 10:00:00.123, for a count of units since midnight.
template <typename Unit>
struct TimeWriter {
  char* operator()(int64_t count, char* out) const {
    using namespace civil_writer;
    return count < 0 || count >= kSecondsPerDay * Unit::kPerSecond
               ? WriteCount(count, out)
               : WriteTimeOfDay<Unit>(count, out);
  }
};

// 2013-01-31T10:00:00Z, for a count of units since 1970-01-01T00:00:00; Z only if `zoned`.
template <typename Unit>
class TimestampWriter {
 public:
  explicit TimestampWriter(bool zoned) : zoned_(zoned) {}

  char* operator()(int64_t count, char* out) {
    using namespace civil_writer;
    constexpr int64_t kPerDay = kSecondsPerDay * Unit::kPerSecond;
    int64_t rest = count % kPerDay;
    int64_t days = count / kPerDay;
    if (rest < 0) {
      rest += kPerDay;
      --days;
    }
    if (days < kFirstDay || days > kLastDay) return WriteCount(count, out);
    if (days != day_) {  // consecutive timestamps are often on one day
      day_ = days;
      *WriteDay(days, day_text_.data()) = 'T';
    }
    std::memcpy(out, day_text_.data(), day_text_.size());
    out = WriteTimeOfDay<Unit>(rest, out + day_text_.size());
    *out = 'Z';
    return out + (zoned_ ? 1 : 0);
  }

 private:
  const bool zoned_;
  int64_t day_ = INT64_MIN;
  std::array<char, 11> day_text_ = {};  // of day_, with the T
};

}  // namespace cfile::tools
