#include "tools/value_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <string>

#include "tools/utf8.h"

namespace cfile::tools::value_text_test {

using encodings::int128_t;
using ::testing::HasSubstr;

template <typename T>
std::string Text(const ColumnType& type, T value) {
  std::string text;
  AppendText<T>(type, value, text);
  return text;
}

template <typename T>
absl::StatusOr<Owned<T>> Parse(const ColumnType& type, std::string_view text) {
  std::string scratch;
  const absl::StatusOr<T> value = ParseText<T>(type, text, scratch);
  if (!value.ok()) return value.status();
  return Owned<T>(*value);
}

// EXPECTs that `value` is printed as `text`, and that `text` is parsed as `value`.
template <typename T>
void ExpectText(const ColumnType& type, T value, const std::string& text) {
  EXPECT_EQ(Text<T>(type, value), text);
  const auto parsed = Parse<T>(type, text);
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_TRUE(*parsed == Owned<T>(value)) << text;
}

template <typename T>
void ExpectInvalid(const ColumnType& type, std::string_view text, const std::string& message = "") {
  const auto parsed = Parse<T>(type, text);
  ASSERT_FALSE(parsed.ok()) << type.ToString() << " " << text;
  EXPECT_EQ(parsed.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(parsed.status().message()), HasSubstr(message));
  EXPECT_THAT(std::string(parsed.status().message()), HasSubstr(type.ToString()));
}

template <typename T>
void ExpectIntegerLimits(const ColumnType& type) {
  const std::string least = std::to_string(std::numeric_limits<T>::min());
  const std::string greatest = std::to_string(std::numeric_limits<T>::max());
  ExpectText<T>(type, std::numeric_limits<T>::min(), least);
  ExpectText<T>(type, std::numeric_limits<T>::max(), greatest);
  ExpectText<T>(type, 0, "0");
  ExpectInvalid<T>(type, greatest + "0", "it is outside " + least + " to " + greatest);
  for (const char* text : {"", " 1", "1 ", "1.0", "1e3", "0x10", "+", "-", "+-1", "--1", "abc"}) {
    ExpectInvalid<T>(type, text, "expected an integer");
  }
  EXPECT_EQ(*Parse<T>(type, "+007"), T{7});
}

TEST(ValueText, Integers) {
  ExpectIntegerLimits<int8_t>(ColumnType::Int8());
  ExpectIntegerLimits<uint8_t>(ColumnType::Uint8());
  ExpectIntegerLimits<int16_t>(ColumnType::Int16());
  ExpectIntegerLimits<uint16_t>(ColumnType::Uint16());
  ExpectIntegerLimits<int32_t>(ColumnType::Int32());
  ExpectIntegerLimits<uint32_t>(ColumnType::Uint32());
  ExpectIntegerLimits<int64_t>(ColumnType::Int64());
  ExpectIntegerLimits<uint64_t>(ColumnType::Uint64());
  ExpectInvalid<uint8_t>(ColumnType::Uint8(), "-1");
}

TEST(ValueText, Int128) {
  const ColumnType type = ColumnType::Int128();
  const int128_t greatest = static_cast<int128_t>(~encodings::uint128_t{0} >> 1);
  ExpectText<int128_t>(type, greatest, "170141183460469231731687303715884105727");
  ExpectText<int128_t>(type, -greatest - 1, "-170141183460469231731687303715884105728");
  ExpectText<int128_t>(type, 0, "0");
  ExpectText<int128_t>(type, -5, "-5");
  ExpectInvalid<int128_t>(type, "170141183460469231731687303715884105728", "outside the range");
  ExpectInvalid<int128_t>(type, "-170141183460469231731687303715884105729", "outside the range");
  ExpectInvalid<int128_t>(type, "1.5", "expected an integer");
  ExpectInvalid<int128_t>(type, "", "expected an integer");
}

TEST(ValueText, Int96IsItsBytes) {
  const ColumnType type = ColumnType::Int96();
  encodings::Int96 value;
  value.words[0] = 0x03020100;
  value.words[1] = 0xff;
  value.words[2] = 0x80000000;
  ExpectText(type, value, "00010203ff00000000000080");
  ExpectInvalid<encodings::Int96>(type, "00010203ff000000000000", "24 hexadecimal digits");
  ExpectInvalid<encodings::Int96>(type, "0x010203ff00000000000080", "24 hexadecimal digits");
}

TEST(ValueText, Bool) {
  ExpectText<bool>(ColumnType::Bool(), true, "true");
  ExpectText<bool>(ColumnType::Bool(), false, "false");
  EXPECT_TRUE(*Parse<bool>(ColumnType::Bool(), "TRUE"));
  EXPECT_FALSE(*Parse<bool>(ColumnType::Bool(), "False"));
  for (const char* text : {"", "t", "1", "yes", "tRUE", "true "}) {
    ExpectInvalid<bool>(ColumnType::Bool(), text, "expected true or false");
  }
}

TEST(ValueText, FloatsAreShortestAndExact) {
  const ColumnType type = ColumnType::Double();
  ExpectText<double>(type, 0.1, "0.1");
  ExpectText<double>(type, 1, "1");
  ExpectText<double>(type, 5e-324, "5e-324");
  ExpectText<double>(type, std::numeric_limits<double>::max(), "1.7976931348623157e+308");
  ExpectText<double>(type, INFINITY, "inf");
  ExpectText<double>(type, -INFINITY, "-inf");
  ExpectText<float>(ColumnType::Float(), 0.1f, "0.1");
  EXPECT_EQ(Text<double>(type, -0.0), "-0");
  EXPECT_TRUE(std::signbit(*Parse<double>(type, "-0")));
  EXPECT_EQ(Text<double>(type, -std::nan("")), "nan");
  EXPECT_TRUE(std::isnan(*Parse<double>(type, "NaN")));
  EXPECT_EQ(*Parse<double>(type, "+1.50e1"), 15);
  for (const char* text : {"", " 1", "1 ", "1,5", "nan(1)", "0x1p3", "+-1", "e5", "1e"}) {
    ExpectInvalid<double>(type, text, "expected a number");
  }
  ExpectInvalid<double>(type, "1e400", "too large");
  ExpectInvalid<float>(ColumnType::Float(), "1e39", "too large");
  std::mt19937_64 random(1);
  for (int i = 0; i < 20000; ++i) {
    const uint64_t bits = random();
    double value;
    std::memcpy(&value, &bits, sizeof value);
    if (!std::isfinite(value)) continue;
    EXPECT_EQ(*Parse<double>(type, Text(type, value)), value);
  }
}

TEST(ValueText, StringsAreAsTheyAre) {
  const ColumnType type = ColumnType::String();
  for (const std::string_view text : {"", " a\n\"", "na\xc3\xafve", "\xf0\x9f\x98\x80"}) {
    ExpectText<std::string_view>(type, text, std::string(text));
  }
  ExpectInvalid<std::string_view>(type, "caf\xe9", "\"caf\\xe9\" is not of type string");
  const std::string_view text = "no copy";
  std::string scratch;
  EXPECT_EQ(ParseText<std::string_view>(type, text, scratch)->data(), text.data());
}

TEST(ValueText, BytesAreHexadecimal) {
  ExpectText<std::string_view>(ColumnType::Binary(), std::string_view("\0\xff\x1a", 3), "00ff1a");
  ExpectText<std::string_view>(ColumnType::Binary(), "", "");
  EXPECT_EQ(*Parse<std::string_view>(ColumnType::Binary(), "4A4b"), "JK");
  ExpectInvalid<std::string_view>(ColumnType::Binary(), "abc", "hexadecimal");
  ExpectInvalid<std::string_view>(ColumnType::Binary(), "0g", "hexadecimal");
  ExpectText<std::string_view>(ColumnType::FixedBytes(2), "ab", "6162");
  ExpectInvalid<std::string_view>(ColumnType::FixedBytes(2), "616263", "expected 4 digits");
  ExpectText<std::string_view>(ColumnType::Uuid(), "0123456789abcdef",
                               "30313233-3435-3637-3839-616263646566");
  ExpectInvalid<std::string_view>(ColumnType::Uuid(), "30313233-3435-3637-3839-61626364656",
                                  "8-4-4-4-12");
  ExpectInvalid<std::string_view>(ColumnType::Uuid(), "303132333-435-3637-3839-616263646566",
                                  "8-4-4-4-12");
}

TEST(ValueText, Dates) {
  const ColumnType type = ColumnType::Date();
  ExpectText<int32_t>(type, 0, "1970-01-01");
  ExpectText<int32_t>(type, -1, "1969-12-31");
  ExpectText<int32_t>(type, 15736, "2013-01-31");
  ExpectText<int32_t>(type, 11016, "2000-02-29");
  ExpectText<int32_t>(type, -719162, "0001-01-01");
  ExpectText<int32_t>(type, 2932896, "9999-12-31");
  ExpectText<int32_t>(type, 2932897, "@2932897");
  ExpectText<int32_t>(type, std::numeric_limits<int32_t>::min(), "@-2147483648");
  for (const char* text : {"", "1900-02-29", "2013-1-1", "2013-13-01", "2013-01-32", "0000-01-01",
                           "2013-01-01 ", "20130101", "2013-01-01T00:00:00Z", "@", "@1x"}) {
    ExpectInvalid<int32_t>(type, text);
  }
  ExpectInvalid<int32_t>(type, "@2147483648", "outside the range");
}

TEST(ValueText, Timestamps) {
  const ColumnType micros = ColumnType::Timestamp(TimeUnit::kMicros);
  ExpectText<int64_t>(micros, 1359626400000000, "2013-01-31T10:00:00Z");
  ExpectText<int64_t>(micros, 1359626400120000, "2013-01-31T10:00:00.120000Z");
  ExpectText<int64_t>(micros, -1, "1969-12-31T23:59:59.999999Z");
  ExpectText<int64_t>(micros, -62135596800000000, "0001-01-01T00:00:00Z");
  ExpectText<int64_t>(micros, -62135596800000001, "@-62135596800000001");
  ExpectText<int64_t>(micros, 253402300799999999, "9999-12-31T23:59:59.999999Z");
  ExpectText<int64_t>(micros, 253402300800000000, "@253402300800000000");
  for (const char* text :
       {"2013-01-31 10:00:00", "2013-01-31T12:00+02:00", "2013-01-31T04:30:00-0530",
        "2013-01-31 12:00:00.000+02", "2013-01-31T10:00:00.0000000000Z"}) {
    const auto parsed = Parse<int64_t>(micros, text);
    ASSERT_TRUE(parsed.ok()) << parsed.status();
    EXPECT_EQ(*parsed, 1359626400000000) << text;
  }
  EXPECT_EQ(*Parse<int64_t>(micros, "2013-01-31"), 1359590400000000);
  for (const char* text : {"", "2013-01-31T", "2013-01-31T24:00:00Z", "2013-01-31T10:60:00Z",
                           "2013-01-31T10:00:60Z", "2013-01-31T10:00:00.Z", "2013-01-31t10:00:00Z",
                           "2013-01-31T10:00:00+2", "2013-01-31T10:00:00ZZ", "10:00:00"}) {
    ExpectInvalid<int64_t>(micros, text, "expected a date and time such as");
  }
  ExpectInvalid<int64_t>(micros, "2013-01-31T10:00:00.1234567Z", "more than the 6 digits");
}

TEST(ValueText, TimestampsOfOtherUnitsAndWithoutZone) {
  const ColumnType local = ColumnType::Timestamp(TimeUnit::kMillis, "");
  ExpectText<int64_t>(local, 1359626400005, "2013-01-31T10:00:00.005");
  ExpectInvalid<int64_t>(local, "2013-01-31T10:00:00Z", "without a zone");
  ExpectText<int64_t>(ColumnType::Timestamp(TimeUnit::kSeconds), 1, "1970-01-01T00:00:01Z");
  const ColumnType nanos = ColumnType::Timestamp(TimeUnit::kNanos);
  ExpectText<int64_t>(nanos, std::numeric_limits<int64_t>::min(), "1677-09-21T00:12:43.145224192Z");
  ExpectText<int64_t>(nanos, std::numeric_limits<int64_t>::max(), "2262-04-11T23:47:16.854775807Z");
  ExpectInvalid<int64_t>(nanos, "2262-04-11T23:47:16.854775808Z", "outside the years");
  ExpectInvalid<int64_t>(nanos, "1677-09-21T00:12:43.145224191Z", "outside the years");
}

TEST(ValueText, Times) {
  ExpectText<int32_t>(ColumnType::Time(TimeUnit::kMillis), 36000123, "10:00:00.123");
  ExpectText<int64_t>(ColumnType::Time(TimeUnit::kNanos), 86399999999999, "23:59:59.999999999");
  ExpectText<int64_t>(ColumnType::Time(TimeUnit::kMicros), 0, "00:00:00");
  ExpectText<int32_t>(ColumnType::Time(TimeUnit::kSeconds), 86400, "@86400");
  ExpectText<int32_t>(ColumnType::Time(TimeUnit::kSeconds), -1, "@-1");
  EXPECT_EQ(*Parse<int32_t>(ColumnType::Time(TimeUnit::kSeconds), "01:02"), 3720);
  ExpectInvalid<int32_t>(ColumnType::Time(TimeUnit::kSeconds), "01:02:03.5",
                         "more than the 0 digits");
  ExpectInvalid<int32_t>(ColumnType::Time(TimeUnit::kSeconds), "1:02:03", "expected a time");
}

TEST(ValueText, Decimals) {
  const ColumnType small = ColumnType::Decimal(9, 2);
  ExpectText<int32_t>(small, 1234, "12.34");
  ExpectText<int32_t>(small, -5, "-0.05");
  ExpectText<int32_t>(small, 0, "0.00");
  ExpectText<int32_t>(small, 999999999, "9999999.99");
  EXPECT_EQ(*Parse<int32_t>(small, "7"), 700);
  EXPECT_EQ(*Parse<int32_t>(small, "+.5"), 50);
  EXPECT_EQ(*Parse<int32_t>(small, "1.5000"), 150);
  ExpectInvalid<int32_t>(small, "1.234", "more than 2 digits after the point");
  ExpectInvalid<int32_t>(small, "10000000", "outside the range");
  ExpectInvalid<int32_t>(small, "-10000000.00", "outside the range");
  for (const char* text : {"", ".", "-", "1e5", "1,5", "1.2.3", " 1"}) {
    ExpectInvalid<int32_t>(small, text, "expected a decimal number");
  }
  ExpectText<int64_t>(ColumnType::Decimal(18, 0), -123456789012345678, "-123456789012345678");
  ExpectText<int128_t>(ColumnType::Decimal(38, 38), 1, "0.00000000000000000000000000000000000001");
  // In files of Kudu, decimals have no precision and no scale.
  ColumnType unscaled = small;
  unscaled.decimal_precision = unscaled.decimal_scale = 0;
  ExpectText<int32_t>(unscaled, 1234, "1234");
}

TEST(ValueText, JsonNumbers) {
  EXPECT_TRUE(IsJsonNumber(ColumnType::Int64()));
  EXPECT_TRUE(IsJsonNumber(ColumnType::Bool()));
  EXPECT_TRUE(IsJsonNumber(ColumnType::Float()));
  for (const ColumnType& type :
       {ColumnType::Int128(), ColumnType::Date(), ColumnType::Decimal(9, 2), ColumnType::String(),
        ColumnType::Timestamp(TimeUnit::kMicros), ColumnType::Time(TimeUnit::kMillis)}) {
    EXPECT_FALSE(IsJsonNumber(type)) << type.ToString();
  }
}

TEST(Utf8, TellsTextFromBytes) {
  for (const char* text : {"", "ascii only", "na\xc3\xafve", "\xed\x9f\xbf", "\xf4\x8f\xbf\xbf"}) {
    EXPECT_TRUE(IsUtf8(text)) << text;
  }
  for (const char* text : {"\x80", "\xc0\x80", "\xc3", "12345678\xe9", "\xed\xa0\x80",
                           "\xf4\x90\x80\x80", "\xe0\x80\x80", "\xf0\x80\x80\x80", "\xff"}) {
    EXPECT_FALSE(IsUtf8(text)) << text;
  }
  EXPECT_EQ(CountCharacters("na\xc3\xafve"), 5u);
}

TEST(Utf8, QuotesForMessages) {
  EXPECT_EQ(Quoted("a\tb\n\x01\xe9"), "\"a\\tb\\n\\x01\\xe9\"");
  EXPECT_EQ(Quoted(std::string(100, 'x')), "\"" + std::string(60, 'x') + "...\"");
}

}  // namespace cfile::tools::value_text_test
