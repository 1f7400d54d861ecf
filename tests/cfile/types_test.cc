#include "cfile/types.h"

#include <set>
#include <string>
#include <vector>

#include "encodings/registry.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace cfile::types_test {

using testing::HasSubstr;

struct Named {
  ColumnType type;
  std::string text;
  PhysicalType physical;
};

std::vector<Named> LegalTypes() {
  using P = PhysicalType;
  return {
      {ColumnType::Bool(), "bool", P::kBool},
      {ColumnType::Int8(), "int8", P::kInt8},
      {ColumnType::Int16(), "int16", P::kInt16},
      {ColumnType::Int32(), "int32", P::kInt32},
      {ColumnType::Int64(), "int64", P::kInt64},
      {ColumnType::Int128(), "int128", P::kInt128},
      {ColumnType::Int96(), "int96", P::kInt96},
      {ColumnType::Uint8(), "uint8", P::kUint8},
      {ColumnType::Uint16(), "uint16", P::kUint16},
      {ColumnType::Uint32(), "uint32", P::kUint32},
      {ColumnType::Uint64(), "uint64", P::kUint64},
      {ColumnType::Float(), "float", P::kFloat},
      {ColumnType::Double(), "double", P::kDouble},
      {ColumnType::String(), "string", P::kBytes},
      {ColumnType::Varchar(), "varchar", P::kBytes},
      {ColumnType::Binary(), "binary", P::kBytes},
      {ColumnType::Date(), "date", P::kInt32},
      {{.data_type = DataType::kIsDeleted}, "is_deleted", P::kBool},
      {ColumnType::Timestamp(TimeUnit::kMicros), "timestamp(us,UTC)", P::kInt64},
      {ColumnType::Timestamp(TimeUnit::kMicros, ""), "timestamp(us)", P::kInt64},
      {ColumnType::Timestamp(TimeUnit::kSeconds), "timestamp(s,UTC)", P::kInt64},
      {ColumnType::Timestamp(TimeUnit::kMillis, "Europe/Berlin"), "timestamp(ms,Europe/Berlin)",
       P::kInt64},
      {ColumnType::Timestamp(TimeUnit::kNanos, "+02:00"), "timestamp(ns,+02:00)", P::kInt64},
      {ColumnType::Timestamp(TimeUnit::kNanos, "odd),(zone"), "timestamp(ns,odd),(zone)",
       P::kInt64},
      {ColumnType::Timestamp(TimeUnit::kNanos, ""), "timestamp(ns)", P::kInt64},
      {ColumnType::Time(TimeUnit::kSeconds), "time(s)", P::kInt32},
      {ColumnType::Time(TimeUnit::kMillis), "time(ms)", P::kInt32},
      {ColumnType::Time(TimeUnit::kMicros), "time(us)", P::kInt64},
      {ColumnType::Time(TimeUnit::kNanos), "time(ns)", P::kInt64},
      {ColumnType::Decimal(1, 0), "decimal(1,0)", P::kInt32},
      {ColumnType::Decimal(9, 9), "decimal(9,9)", P::kInt32},
      {ColumnType::Decimal(10, 2), "decimal(10,2)", P::kInt64},
      {ColumnType::Decimal(18, 2), "decimal(18,2)", P::kInt64},
      {ColumnType::Decimal(19, 2), "decimal(19,2)", P::kInt128},
      {ColumnType::Decimal(38, 38), "decimal(38,38)", P::kInt128},
      // The types of Kudu's files, which do not store precision and scale.
      {{.data_type = DataType::kDecimal32}, "decimal32", P::kInt32},
      {{.data_type = DataType::kDecimal64}, "decimal64", P::kInt64},
      {{.data_type = DataType::kDecimal128}, "decimal128", P::kInt128},
      // Types of Parquet files, which may be wider than the precision needs.
      {{.data_type = DataType::kDecimal64, .decimal_precision = 5, .decimal_scale = 2},
       "decimal64(5,2)",
       P::kInt64},
      {{.data_type = DataType::kDecimal128, .decimal_precision = 18},
       "decimal128(18,0)",
       P::kInt128},
      {ColumnType::FixedBytes(1), "fixed(1)", P::kFixedBytes},
      {ColumnType::FixedBytes(16), "fixed(16)", P::kFixedBytes},
      {ColumnType::FixedBytes(2147483647), "fixed(2147483647)", P::kFixedBytes},
      {ColumnType::Uuid(), "uuid", P::kFixedBytes},
  };
}

TEST(ColumnTypeTest, TextAndTypeAreInverse) {
  std::set<std::string> texts;
  for (const auto& [type, text, physical] : LegalTypes()) {
    EXPECT_TRUE(Validate(type).ok()) << text << ": " << Validate(type);
    EXPECT_EQ(type.ToString(), text);
    const auto parsed = ColumnType::Parse(text);
    ASSERT_TRUE(parsed.ok()) << parsed.status();
    EXPECT_EQ(*parsed, type) << text;
    EXPECT_EQ(type.physical(), physical) << text;
    EXPECT_TRUE(texts.insert(text).second) << text << " stands for two types";
  }
}

// Tries all combinations of field values: each type that Validate accepts is parsed again from its
// text.
TEST(ColumnTypeTest, EveryLegalTypeComesBack) {
  int legal = 0;
  std::set<std::string> texts;
  for (uint32_t number = 0; number < 110; ++number) {
    for (uint8_t logical = 0; logical < 6; ++logical) {
      for (uint8_t unit = 0; unit < 7; ++unit) {
        for (const char* zone : {"", "UTC", "Asia/Tokyo"}) {
          for (const uint32_t length : {0u, 1u, 16u, 0x80000000u}) {
            for (const int32_t precision : {-1, 0, 5, 9, 10, 18, 19, 38, 39}) {
              for (const int32_t scale : {-1, 0, 3, 18, 38}) {
                const ColumnType type{.data_type = static_cast<DataType>(number),
                                      .logical = static_cast<LogicalType>(logical),
                                      .time_unit = static_cast<TimeUnit>(unit),
                                      .time_zone = zone,
                                      .type_length = length,
                                      .decimal_precision = precision,
                                      .decimal_scale = scale};
                if (!Validate(type).ok()) continue;
                ++legal;
                EXPECT_TRUE(texts.insert(type.ToString()).second) << type.ToString();
                const auto parsed = ColumnType::Parse(type.ToString());
                ASSERT_TRUE(parsed.ok()) << parsed.status();
                EXPECT_EQ(*parsed, type) << type.ToString();
              }
            }
          }
        }
      }
    }
  }
  EXPECT_GT(legal, 60);
}

TEST(ColumnTypeTest, MicrosInUtcAreKudusType) {
  EXPECT_EQ(ColumnType::Timestamp(TimeUnit::kMicros, "UTC"),
            ColumnType{.data_type = DataType::kUnixtimeMicros});
}

TEST(ColumnTypeTest, RefusesOtherText) {
  for (const char* text : {"",
                           "int",
                           "INT32",
                           " int32",
                           "int32 ",
                           "int32()",
                           "int32(5,2)",
                           "fixed",
                           "fixed()",
                           "fixed(0)",
                           "fixed(-1)",
                           "fixed(016)",
                           "fixed(16,)",
                           "fixed(2147483648)",
                           "fixed(16",
                           "decimal",
                           "decimal()",
                           "decimal(10)",
                           "decimal(10,)",
                           "decimal(0,0)",
                           "decimal(39,0)",
                           "decimal(5,6)",
                           "decimal(5,-1)",
                           "decimal(5, 2)",
                           "decimal(5,2,1)",
                           "decimal32(10,2)",
                           "decimal32(5,2)",
                           "decimal32()",
                           "timestamp",
                           "timestamp()",
                           "timestamp(us,)",
                           "timestamp(m)",
                           "time(us,UTC)",
                           "time",
                           "time()",
                           "uuid()",
                           "(",
                           ")",
                           "()",
                           "(,)",
                           "type 8",
                           "unixtime_micros"}) {
    const auto parsed = ColumnType::Parse(text);
    EXPECT_EQ(parsed.status().code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_THAT(parsed.status().message(), HasSubstr("decimal(precision,scale)"));
  }
}

TEST(ValidateTest, SaysWhatIsWrong) {
  const auto expect = [](const ColumnType& type, absl::StatusCode code, const char* what) {
    const absl::Status status = Validate(type);
    EXPECT_EQ(status.code(), code) << status;
    EXPECT_THAT(status.message(), HasSubstr(what));
  };
  constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
  constexpr auto kUnknown = absl::StatusCode::kUnimplemented;
  expect({.data_type = static_cast<DataType>(21)}, kUnknown, "data type 21");
  expect({.data_type = static_cast<DataType>(104)}, kUnknown, "data type 104");
  expect({.logical = static_cast<LogicalType>(9)}, kUnknown, "logical type 9");
  expect({.logical = LogicalType::kTime, .time_unit = static_cast<TimeUnit>(9)}, kUnknown,
         "time unit 9");
  expect({.data_type = DataType::kFixedLenByteArray}, kInvalid, "a length of 1 to");
  expect({.data_type = DataType::kString, .type_length = 3}, kInvalid, "only fixed-length bytes");
  expect({.data_type = DataType::kInt64, .decimal_precision = 3}, kInvalid, "found 3");
  expect({.data_type = DataType::kDecimal32, .decimal_precision = 10}, kInvalid, "at most 9");
  expect({.data_type = DataType::kDecimal32, .decimal_scale = 1}, kInvalid, "scale of 0 to 0");
  expect({.data_type = DataType::kInt32,
          .logical = LogicalType::kTimestamp,
          .time_unit = TimeUnit::kNanos},
         kInvalid, "a timestamp is an int64");
  expect({.logical = LogicalType::kTimestamp, .time_unit = TimeUnit::kMicros, .time_zone = "UTC"},
         kInvalid, "UNIXTIME_MICROS");
  expect({.logical = LogicalType::kTimestamp}, kInvalid,
         "timestamps and times have a unit, other types have none");
  expect({.time_unit = TimeUnit::kNanos}, kInvalid,
         "timestamps and times have a unit, other types have none");
  expect({.time_zone = "UTC"}, kInvalid, "a time zone");
  expect({.data_type = DataType::kInt64,
          .logical = LogicalType::kTime,
          .time_unit = TimeUnit::kMillis},
         kInvalid, "a time is");
  expect(
      {.data_type = DataType::kFixedLenByteArray, .logical = LogicalType::kUuid, .type_length = 15},
      kInvalid, "a UUID");
}

TEST(HoldsTypeTest, OneValueTypeForEach) {
  EXPECT_TRUE(HoldsType<int64_t>(ColumnType::Timestamp(TimeUnit::kMicros)));
  EXPECT_TRUE(HoldsType<int128_t>(ColumnType::Decimal(38, 0)));
  EXPECT_TRUE(HoldsType<std::string_view>(ColumnType::Uuid()));
  EXPECT_FALSE(HoldsType<uint32_t>(ColumnType::Date()));
}

TEST(EncodingNameTest, NamesAndRegistryAgree) {
  EXPECT_EQ(*ParseEncoding("auto"), Encoding::kAuto);
  for (const encodings::EncodingRow& row : encodings::Encodings()) {
    EXPECT_EQ(EncodingName(row.encoding), row.name);
    const auto parsed = ParseEncoding(row.name);
    ASSERT_TRUE(parsed.ok()) << parsed.status();
    EXPECT_EQ(*parsed, row.encoding);
  }
  EXPECT_EQ(EncodingName(static_cast<Encoding>(77)), "encoding 77");
  const auto unknown = ParseEncoding("nothing");
  EXPECT_EQ(unknown.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(unknown.status().message(), HasSubstr("auto plain"));
}

}  // namespace cfile::types_test
