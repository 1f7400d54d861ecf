#include "cfile/types.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "encodings/core/assert.h"
#include "encodings/core/status.h"
#include "encodings/registry.h"

namespace cfile {
namespace {

// One row for each DataType.
struct DataTypeRow {
  DataType data_type;
  std::string_view name;  // the type's text, if the type has no parameters
  PhysicalType physical;
  int32_t max_decimal_precision = 0;  // 0: not a decimal type
};

constexpr DataTypeRow kDataTypes[] = {
    {DataType::kUint8, "uint8", PhysicalType::kUint8},
    {DataType::kInt8, "int8", PhysicalType::kInt8},
    {DataType::kUint16, "uint16", PhysicalType::kUint16},
    {DataType::kInt16, "int16", PhysicalType::kInt16},
    {DataType::kUint32, "uint32", PhysicalType::kUint32},
    {DataType::kInt32, "int32", PhysicalType::kInt32},
    {DataType::kUint64, "uint64", PhysicalType::kUint64},
    {DataType::kInt64, "int64", PhysicalType::kInt64},
    {DataType::kString, "string", PhysicalType::kBytes},
    {DataType::kBool, "bool", PhysicalType::kBool},
    {DataType::kFloat, "float", PhysicalType::kFloat},
    {DataType::kDouble, "double", PhysicalType::kDouble},
    {DataType::kBinary, "binary", PhysicalType::kBytes},
    {DataType::kUnixtimeMicros, "timestamp(us,UTC)", PhysicalType::kInt64},
    {DataType::kInt128, "int128", PhysicalType::kInt128},
    {DataType::kDecimal32, "decimal32", PhysicalType::kInt32, 9},
    {DataType::kDecimal64, "decimal64", PhysicalType::kInt64, 18},
    {DataType::kDecimal128, "decimal128", PhysicalType::kInt128, 38},
    {DataType::kIsDeleted, "is_deleted", PhysicalType::kBool},
    {DataType::kVarchar, "varchar", PhysicalType::kBytes},
    {DataType::kDate, "date", PhysicalType::kInt32},
    {DataType::kInt96, "int96", PhysicalType::kInt96},
    {DataType::kFixedLenByteArray, "fixed", PhysicalType::kFixedBytes},
};

constexpr uint32_t kUuidBytes = 16;

const DataTypeRow* FindRow(DataType data_type) {
  for (const DataTypeRow& row : kDataTypes) {
    if (row.data_type == data_type) return &row;
  }
  return nullptr;
}

// Names, indexed by TimeUnit.
constexpr std::string_view kTimeUnits[] = {"none", "s", "ms", "us", "ns"};

std::string TimeUnitName(TimeUnit unit) {
  return std::string(kTimeUnits[static_cast<size_t>(unit)]);
}
TimeUnit ParseTimeUnit(std::string_view name) {
  for (size_t i = 1; i < std::size(kTimeUnits); ++i) {
    if (kTimeUnits[i] == name) return static_cast<TimeUnit>(i);
  }
  return TimeUnit::kNone;
}

// Returns 0 if `text` is not a number.
template <typename Integer>
Integer ParseInteger(std::string_view text) {
  Integer value;
  return absl::SimpleAtoi(absl::string_view(text.data(), text.size()), &value) ? value : 0;
}

// The narrowest decimal type with `precision` digits.
DataType DecimalType(int32_t precision) {
  return precision <= 9    ? DataType::kDecimal32
         : precision <= 18 ? DataType::kDecimal64
                           : DataType::kDecimal128;
}

// Returns the type whose ToString is `text`, or an arbitrary type: the caller must check the
// result.
ColumnType Guess(std::string_view text) {
  for (const DataTypeRow& row : kDataTypes) {
    if (row.name == text) return {.data_type = row.data_type};
  }
  if (text == "uuid") return ColumnType::Uuid();
  const size_t open = text.find('(');
  if (open == std::string_view::npos || !text.ends_with(')')) return {};
  const std::string_view name = text.substr(0, open);
  const std::string_view arguments = text.substr(open + 1, text.size() - open - 2);
  const size_t comma = std::min(arguments.find(','), arguments.size());
  const std::string_view first = arguments.substr(0, comma);
  const std::string_view second = arguments.substr(std::min(comma + 1, arguments.size()));
  ColumnType type;
  if (name == "fixed") {
    type.data_type = DataType::kFixedLenByteArray;
    type.type_length = ParseInteger<uint32_t>(first);
  } else if (name == "timestamp") {
    type.logical = LogicalType::kTimestamp;
    type.time_unit = ParseTimeUnit(first);
    type.time_zone = second;
  } else if (name == "time") {
    type.logical = LogicalType::kTime;
    type.time_unit = ParseTimeUnit(first);
    if (type.time_unit <= TimeUnit::kMillis) type.data_type = DataType::kInt32;
  } else {
    type.decimal_precision = ParseInteger<int32_t>(first);
    type.decimal_scale = ParseInteger<int32_t>(second);
    type.data_type = DecimalType(type.decimal_precision);
    for (const DataTypeRow& row : kDataTypes) {
      if (row.name == name) type.data_type = row.data_type;
    }
  }
  return type;
}

absl::Status Wrong(const ColumnType& type, std::string_view what) {
  return absl::InvalidArgumentError(StrCat("column type ", type.ToString(), ": ", what));
}

absl::Status ValidateLogical(const ColumnType& type) {
  const bool is_time =
      type.logical == LogicalType::kTimestamp || type.logical == LogicalType::kTime;
  if (is_time != (type.time_unit != TimeUnit::kNone)) {
    return Wrong(type, "timestamps and times have a unit, other types have none");
  }
  if (!type.time_zone.empty() && type.logical != LogicalType::kTimestamp) {
    return Wrong(type, "only timestamps have a time zone");
  }
  switch (type.logical) {
    case LogicalType::kNone:
      return absl::OkStatus();
    case LogicalType::kTimestamp:
      if (type.data_type != DataType::kInt64) return Wrong(type, "a timestamp is an int64");
      if (type == ColumnType{.logical = LogicalType::kTimestamp,
                             .time_unit = TimeUnit::kMicros,
                             .time_zone = "UTC"}) {
        return Wrong(
            type,
            "timestamps in microseconds and UTC have a data type of their own, UNIXTIME_MICROS");
      }
      return absl::OkStatus();
    case LogicalType::kTime:
      if (type.data_type !=
          (type.time_unit <= TimeUnit::kMillis ? DataType::kInt32 : DataType::kInt64)) {
        return Wrong(type, "a time is an int32 of s or ms or an int64 of us or ns");
      }
      return absl::OkStatus();
    case LogicalType::kUuid:
      if (type.data_type != DataType::kFixedLenByteArray || type.type_length != kUuidBytes) {
        return Wrong(type, "a UUID is a fixed(16)");
      }
      return absl::OkStatus();
  }
  return absl::UnimplementedError(
      StrCat("logical type ", static_cast<uint32_t>(type.logical), " is unknown"));
}

}  // namespace

ColumnType ColumnType::Timestamp(TimeUnit unit, std::string time_zone) {
  CFILE_ASSERT(unit != TimeUnit::kNone);
  if (unit == TimeUnit::kMicros && time_zone == "UTC") {
    return {.data_type = DataType::kUnixtimeMicros};
  }
  return {.data_type = DataType::kInt64,
          .logical = LogicalType::kTimestamp,
          .time_unit = unit,
          .time_zone = std::move(time_zone)};
}

ColumnType ColumnType::Time(TimeUnit unit) {
  CFILE_ASSERT(unit != TimeUnit::kNone);
  return {.data_type = unit <= TimeUnit::kMillis ? DataType::kInt32 : DataType::kInt64,
          .logical = LogicalType::kTime,
          .time_unit = unit};
}

ColumnType ColumnType::Decimal(int32_t precision, int32_t scale) {
  CFILE_ASSERT(1 <= precision && precision <= 38 && 0 <= scale && scale <= precision);
  return {
      .data_type = DecimalType(precision), .decimal_precision = precision, .decimal_scale = scale};
}

ColumnType ColumnType::FixedBytes(uint32_t type_length) {
  CFILE_ASSERT(type_length > 0);
  return {.data_type = DataType::kFixedLenByteArray, .type_length = type_length};
}

ColumnType ColumnType::Uuid() {
  return {.data_type = DataType::kFixedLenByteArray,
          .logical = LogicalType::kUuid,
          .type_length = kUuidBytes};
}

absl::StatusOr<ColumnType> ColumnType::Parse(std::string_view text) {
  ColumnType type = Guess(text);
  // Each type has one text only. Comparing with ToString rejects leading zeros, blanks, extra
  // arguments, ...
  if (Validate(type).ok() && type.ToString() == text) return type;
  std::string names;
  for (const DataTypeRow& row : kDataTypes) {
    if (row.data_type == DataType::kFixedLenByteArray) continue;
    absl::StrAppend(&names, std::string(row.name), ", ");
  }
  return absl::InvalidArgumentError(
      StrCat("\"", text, "\" is not a column type; expected one of ", names,
             "decimal(precision,scale), timestamp(s|ms|us|ns), timestamp(s|ms|us|ns,zone), "
             "time(s|ms|us|ns), fixed(bytes), uuid"));
}

std::string ColumnType::ToString() const {
  switch (logical) {
    case LogicalType::kTimestamp:
      return StrCat("timestamp(", TimeUnitName(time_unit), time_zone.empty() ? "" : ",", time_zone,
                    ")");
    case LogicalType::kTime:
      return StrCat("time(", TimeUnitName(time_unit), ")");
    case LogicalType::kUuid:
      return "uuid";
    case LogicalType::kNone:
      break;
  }
  const DataTypeRow* row = FindRow(data_type);
  if (row == nullptr) return StrCat("type ", static_cast<uint32_t>(data_type));
  const std::string name(row->name);
  if (data_type == DataType::kFixedLenByteArray) return StrCat(name, "(", type_length, ")");
  if (decimal_precision == 0) return name;
  return StrCat(data_type == DecimalType(decimal_precision) ? "decimal" : name, "(",
                decimal_precision, ",", decimal_scale, ")");
}

PhysicalType ColumnType::physical() const {
  const DataTypeRow* row = FindRow(data_type);
  CFILE_ASSERT(row != nullptr);
  return row->physical;
}

absl::Status Validate(const ColumnType& type) {
  const DataTypeRow* row = FindRow(type.data_type);
  if (row == nullptr) {
    return absl::UnimplementedError(
        StrCat("data type ", static_cast<uint32_t>(type.data_type), " is unknown"));
  }
  if (type.time_unit > TimeUnit::kNanos) {
    return absl::UnimplementedError(
        StrCat("time unit ", static_cast<uint32_t>(type.time_unit), " is unknown"));
  }
  if (type.data_type == DataType::kFixedLenByteArray) {
    if (type.type_length == 0 || type.type_length > std::numeric_limits<int32_t>::max()) {
      return Wrong(type, "a length of 1 to 2147483647 bytes expected");
    }
  } else if (type.type_length != 0) {
    return Wrong(type, "only fixed-length bytes have a type length");
  }
  const int32_t precision = type.decimal_precision;
  if (precision < 0 || precision > row->max_decimal_precision) {
    return Wrong(type, StrCat("at most ", row->max_decimal_precision,
                              " decimal digits expected, found ", precision));
  }
  if (type.decimal_scale < 0 || type.decimal_scale > precision) {
    return Wrong(type, StrCat("a decimal scale of 0 to ", precision, " expected, found ",
                              type.decimal_scale));
  }
  return ValidateLogical(type);
}

absl::StatusOr<Encoding> ParseEncoding(std::string_view name) {
  if (name == "auto") return Encoding::kAuto;
  if (const encodings::EncodingRow* row = encodings::FindEncoding(name)) return row->encoding;
  std::string names;
  for (const encodings::EncodingRow& row : encodings::Encodings()) {
    absl::StrAppend(&names, " ", std::string(row.name));
  }
  return absl::InvalidArgumentError(
      StrCat("\"", name, "\" is not an encoding; expected one of: auto", names));
}

}  // namespace cfile
