// The types of columns: logical types, their parameters, and the C++ types of their values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "encodings/core/encoding.h"
#include "encodings/core/export.h"
#include "encodings/core/physical_type.h"

namespace cfile {

using encodings::Encoding;
using encodings::EncodingName;
using encodings::int128_t;
using encodings::Int96;
using encodings::PhysicalType;
using encodings::uint128_t;

// Traits of the C++ types of values. kIsValueType<T> is true if columns can hold values of T.
// (`long long` and std::string are not such types: use int64_t and std::string_view.)
using encodings::kIsBytes;    // std::string_view
using encodings::kIsFloat;    // float and double
using encodings::kIsInteger;  // integers of up to 128 bits, not bool
using encodings::kIsValueType;

// Does not compile for other types. Classes call it, so that the error says what T may be.
template <typename T>
constexpr bool CheckValueType() {
  static_assert(kIsValueType<T>,
                "T must be a type of cfile/types.h: int64_t, not long long; std::string_view, not "
                "std::string");
  return true;
}

// The types of values, for templates: other types are errors of the compiler, not of the linker.
template <typename T>
concept ValueType = kIsValueType<T>;

// The library's function templates take this type instead of the concept, because compilers differ
// in the names that they give to function templates with concepts: a program of one compiler could
// not be linked with a library of the other.
template <typename T>
using IfValueType = std::enable_if_t<kIsValueType<T>>;

// The numbers are stored in files (cfile/FORMAT.md, Messages) and never change. A number below 100
// is Kudu's number of the type; from 100 on, it is 100 + Parquet's number.
enum class DataType : uint32_t {
  kUint8 = 0,
  kInt8 = 1,
  kUint16 = 2,
  kInt16 = 3,
  kUint32 = 4,
  kInt32 = 5,
  kUint64 = 6,
  kInt64 = 7,
  kString = 8,
  kBool = 9,
  kFloat = 10,
  kDouble = 11,
  kBinary = 12,
  kUnixtimeMicros = 13,
  kInt128 = 14,
  kDecimal32 = 15,
  kDecimal64 = 16,
  kDecimal128 = 17,
  kIsDeleted = 18,
  kVarchar = 19,
  kDate = 20,
  kInt96 = 103,
  kFixedLenByteArray = 107,
};

// Compression of whole blocks. The numbers are stored in files; the rule of DataType applies.
enum class Compression : uint32_t {
  kDefault = 0,  // in options only: see WriterOptions
  kNone = 1,
  kSnappy = 2,
  kLz4 = 3,
  kZlib = 4,
  kGzip = 102,
  kLzo = 103,  // not built in by default: liblzo2 is under the GPL
  kBrotli = 104,
  kZstd = 106,
};

// The meaning of the values beyond their DataType. Stored in the footer's extensions.
enum class LogicalType : uint8_t { kNone = 0, kTimestamp = 1, kTime = 2, kUuid = 3 };

enum class TimeUnit : uint8_t { kNone = 0, kSeconds = 1, kMillis = 2, kMicros = 3, kNanos = 4 };

// A column's type with its parameters.
struct CFILE_EXPORT ColumnType {
  DataType data_type = DataType::kInt64;
  LogicalType logical = LogicalType::kNone;
  TimeUnit time_unit = TimeUnit::kNone;  // for kTimestamp and kTime
  std::string time_zone = {};     // for kTimestamp: IANA name; empty: local time without a zone
  uint32_t type_length = 0;       // bytes of a kFixedLenByteArray value
  int32_t decimal_precision = 0;  // digits; 0: unknown (Kudu stores it outside of the file)
  int32_t decimal_scale = 0;      // digits after the point

  // Column types by C++ type: the comment names the type T of the values.
  static ColumnType Bool() { return {.data_type = DataType::kBool}; }      // bool
  static ColumnType Int8() { return {.data_type = DataType::kInt8}; }      // int8_t
  static ColumnType Int16() { return {.data_type = DataType::kInt16}; }    // int16_t
  static ColumnType Int32() { return {.data_type = DataType::kInt32}; }    // int32_t
  static ColumnType Int64() { return {.data_type = DataType::kInt64}; }    // int64_t
  static ColumnType Int128() { return {.data_type = DataType::kInt128}; }  // int128_t
  static ColumnType Int96() { return {.data_type = DataType::kInt96}; }    // cfile::Int96
  static ColumnType Uint8() { return {.data_type = DataType::kUint8}; }    // uint8_t
  static ColumnType Uint16() { return {.data_type = DataType::kUint16}; }  // uint16_t
  static ColumnType Uint32() { return {.data_type = DataType::kUint32}; }  // uint32_t
  static ColumnType Uint64() { return {.data_type = DataType::kUint64}; }  // uint64_t
  static ColumnType Float() { return {.data_type = DataType::kFloat}; }    // float
  static ColumnType Double() { return {.data_type = DataType::kDouble}; }  // double
  // std::string_view, UTF-8.
  static ColumnType String() { return {.data_type = DataType::kString}; }
  // std::string_view, UTF-8.
  static ColumnType Varchar() { return {.data_type = DataType::kVarchar}; }
  static ColumnType Binary() { return {.data_type = DataType::kBinary}; }  // std::string_view
  // int32_t, days since 1970-01-01.
  static ColumnType Date() { return {.data_type = DataType::kDate}; }
  // int64_t, the number of units since 1970-01-01 00:00:00. For microseconds in UTC, data_type is
  // kUnixtimeMicros, which Kudu has, too.
  static ColumnType Timestamp(TimeUnit unit, std::string time_zone = "UTC");
  // The number of units since midnight: int32_t for seconds and milliseconds, int64_t for micro-
  // and nanoseconds.
  static ColumnType Time(TimeUnit unit);
  // The values are unscaled integers: int32_t for up to 9 digits, int64_t for up to 18, int128_t
  // for up to 38. Precondition: 1 <= precision <= 38, 0 <= scale <= precision.
  static ColumnType Decimal(int32_t precision, int32_t scale);
  // std::string_view of exactly `type_length` bytes. Precondition: type_length > 0.
  static ColumnType FixedBytes(uint32_t type_length);
  // std::string_view of 16 bytes, the most significant byte first.
  static ColumnType Uuid();

  // Parses the text that ToString writes: "int32", "string", "decimal(10,2)", "timestamp(us,UTC)",
  // "timestamp(ns)", "time(ms)", "fixed(20)", "uuid", ... kInvalidArgument: `text` is not a text of
  // this form.
  static absl::StatusOr<ColumnType> Parse(std::string_view text);
  std::string ToString() const;

  // The physical type of the values. Precondition: Validate(*this).ok().
  PhysicalType physical() const;

  friend bool operator==(const ColumnType&, const ColumnType&) = default;
};

// The maximum levels of a column of entries (repetition, definition, value), and which of two
// layouts its file has (cfile/FORMAT.md, Blocks of levels and Blocks of arrays). A plain value.
struct LevelLimits {
  uint16_t max_repetition = 0;
  uint16_t max_definition = 0;
  // True for Kudu's arrays of one level (is_type_array): each record is an array. max_repetition is
  // then 1. The definition levels mean, from 0 on: null array (only if the column is nullable),
  // empty array, null element, element.
  bool kudu_array = false;

  static constexpr LevelLimits KuduArray(bool nullable) {
    return {.max_repetition = 1,
            .max_definition = static_cast<uint16_t>(nullable ? 3 : 2),
            .kudu_array = true};
  }
  friend bool operator==(const LevelLimits&, const LevelLimits&) = default;
};

// Returns OK if `type` is valid. kInvalidArgument: the fields of `type` do not fit together; the
// error says why. kUnimplemented: this library does not know one of the type's numbers.
CFILE_EXPORT absl::Status Validate(const ColumnType& type);

// True if this library's interface passes values of `type` as T.
template <ValueType T>
bool HoldsType(const ColumnType& type) {
  return encodings::HoldsType<T>(type.physical());
}

// Calls visit(std::type_identity<T>{}), where T is the C++ type of the values of `type`, and
// returns its result. With VisitType, code for a column whose type is known only at run time is
// written once:
//
//   VisitType(reader.type(), [&]<typename T>(std::type_identity<T>) {
//     auto cursor = reader.NewCursor<T>();
//     ...
//   });
//
// Precondition of the form that takes a ColumnType: Validate(type).ok().
template <typename Visitor>
decltype(auto) VisitType(const ColumnType& type, Visitor&& visit) {
  return encodings::VisitPhysicalType(type.physical(), std::forward<Visitor>(visit));
}
template <typename Visitor>
decltype(auto) VisitType(PhysicalType type, Visitor&& visit) {
  return encodings::VisitPhysicalType(type, std::forward<Visitor>(visit));
}

// All codecs that have a number in the format, including those that were not built in.
CFILE_EXPORT std::vector<Compression> AllCompressions();

// "none", "snappy", "zstd", ...; "compression N" for an unknown number N.
CFILE_EXPORT std::string CompressionName(Compression compression);
// The codec with this name; "auto" is kDefault. kInvalidArgument: there is no such codec.
// kUnimplemented: the codec was not built in.
CFILE_EXPORT absl::StatusOr<Compression> ParseCompression(std::string_view name);
// OK if this build supports the codec, else kUnimplemented with the codec's name.
CFILE_EXPORT absl::Status CheckCompressionBuiltIn(Compression compression);

// The encoding with this name; "auto" is kAuto. kInvalidArgument: there is no such encoding; the
// error lists all names.
CFILE_EXPORT absl::StatusOr<Encoding> ParseEncoding(std::string_view name);

}  // namespace cfile
