#include "cfile/parts/parquet/parquet_type.h"

#include <optional>

#include "encodings/core/assert.h"
#include "encodings/core/status.h"

namespace cfile::internal {
namespace {

using encodings::DataLoss;
using encodings::StrCat;
using parquet::ConvertedType;
using parquet::LogicalType;
using parquet::SchemaElement;
using parquet::Type;

std::string TypeName(const SchemaElement& leaf) {
  constexpr std::string_view kNames[] = {"BOOLEAN", "INT32",  "INT64",      "INT96",
                                         "FLOAT",   "DOUBLE", "BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY"};
  const int32_t type = *leaf.type;
  if (type < 0 || type > Type::kFixedLenByteArray) return StrCat("physical type ", type);
  std::string name(kNames[type]);
  if (type == Type::kFixedLenByteArray) name += StrCat("(", leaf.type_length.value_or(0), ")");
  return name;
}

absl::StatusOr<ColumnType> DecimalFromParquet(const SchemaElement& leaf,
                                              const parquet::DecimalType& decimal) {
  const std::string name = StrCat("DECIMAL(", decimal.precision, ",", decimal.scale, ")");
  if (decimal.precision < 1 || decimal.scale < 0 || decimal.scale > decimal.precision)
    return DataLoss(name, " is not a valid decimal");
  if (decimal.precision > 38) {
    return absl::UnimplementedError(
        StrCat(name, " has more than 38 digits, the most that this library supports"));
  }
  ColumnType type = ColumnType::Decimal(decimal.precision, decimal.scale);
  switch (*leaf.type) {
    case Type::kInt32:
    case Type::kByteArray:
      return type;
    case Type::kInt64:
      if (type.data_type == DataType::kDecimal32) type.data_type = DataType::kDecimal64;
      return type;
    case Type::kFixedLenByteArray:
      if (*leaf.type_length == sizeof(int128_t)) type.data_type = DataType::kDecimal128;
      return type;
    default:
      return DataLoss(name, " cannot be stored as ", TypeName(leaf));
  }
}

absl::StatusOr<ColumnType> IntegerFromParquet(const SchemaElement& leaf,
                                              const parquet::IntType& integer) {
  const bool is_signed = integer.is_signed;
  const bool is_long = *leaf.type == Type::kInt64;
  switch (is_long || *leaf.type == Type::kInt32 ? int{integer.bit_width} : 0) {
    case 8:
      if (!is_long) return is_signed ? ColumnType::Int8() : ColumnType::Uint8();
      break;
    case 16:
      if (!is_long) return is_signed ? ColumnType::Int16() : ColumnType::Uint16();
      break;
    case 32:
      if (!is_long) return is_signed ? ColumnType::Int32() : ColumnType::Uint32();
      break;
    case 64:
      if (is_long) return is_signed ? ColumnType::Int64() : ColumnType::Uint64();
      break;
  }
  return DataLoss("INTEGER(", int{integer.bit_width}, is_signed ? ",true" : ",false",
                  ") cannot be stored as ", TypeName(leaf));
}

absl::StatusOr<ColumnType> PhysicalFromParquet(const SchemaElement& leaf) {
  switch (*leaf.type) {
    case Type::kBoolean:
      return ColumnType::Bool();
    case Type::kInt32:
      return ColumnType::Int32();
    case Type::kInt64:
      return ColumnType::Int64();
    case Type::kInt96:
      return ColumnType::Timestamp(TimeUnit::kNanos, "");
    case Type::kFloat:
      return ColumnType::Float();
    case Type::kDouble:
      return ColumnType::Double();
    case Type::kByteArray:
      return ColumnType::Binary();
    case Type::kFixedLenByteArray:
      return ColumnType::FixedBytes(static_cast<uint32_t>(*leaf.type_length));
  }
  return absl::UnimplementedError(StrCat(TypeName(leaf), " is unknown"));
}

std::optional<TimeUnit> UnitFromParquet(const parquet::TimeUnit& unit) {
  if (unit.millis) return TimeUnit::kMillis;
  if (unit.micros) return TimeUnit::kMicros;
  if (unit.nanos) return TimeUnit::kNanos;
  return std::nullopt;
}

}  // namespace

LogicalType AnnotationOf(const SchemaElement& leaf) {
  if (leaf.logical_type && !leaf.logical_type->unknown_field) return *leaf.logical_type;
  LogicalType result;
  const auto integer = [&](int8_t bits, bool is_signed) { result.integer = {bits, is_signed}; };
  const auto unit = [](bool micros) {
    parquet::TimeType time{.is_adjusted_to_utc = true};
    (micros ? time.unit.micros : time.unit.millis).emplace();
    return time;
  };
  switch (leaf.converted_type.value_or(kNoType)) {
    case ConvertedType::kUtf8:
      result.string.emplace();
      break;
    case ConvertedType::kEnum:
      result.enumeration.emplace();
      break;
    case ConvertedType::kJson:
      result.json.emplace();
      break;
    case ConvertedType::kBson:
      result.bson.emplace();
      break;
    case ConvertedType::kDate:
      result.date.emplace();
      break;
    case ConvertedType::kTimeMillis:
      result.time = unit(false);
      break;
    case ConvertedType::kTimeMicros:
      result.time = unit(true);
      break;
    case ConvertedType::kTimestampMillis:
      result.timestamp = unit(false);
      break;
    case ConvertedType::kTimestampMicros:
      result.timestamp = unit(true);
      break;
    case ConvertedType::kUint8:
      integer(8, false);
      break;
    case ConvertedType::kUint16:
      integer(16, false);
      break;
    case ConvertedType::kUint32:
      integer(32, false);
      break;
    case ConvertedType::kUint64:
      integer(64, false);
      break;
    case ConvertedType::kInt8:
      integer(8, true);
      break;
    case ConvertedType::kInt16:
      integer(16, true);
      break;
    case ConvertedType::kInt32:
      integer(32, true);
      break;
    case ConvertedType::kInt64:
      integer(64, true);
      break;
    case ConvertedType::kDecimal:
      result.decimal = {.scale = leaf.scale.value_or(0), .precision = leaf.precision.value_or(0)};
      break;
  }
  return result;
}

absl::StatusOr<ColumnType> TypeFromParquet(const SchemaElement& leaf) {
  CFILE_ASSERT(leaf.type.has_value());
  const int32_t type = *leaf.type;
  if (type == Type::kFixedLenByteArray && leaf.type_length.value_or(0) <= 0) {
    return DataLoss("FIXED_LEN_BYTE_ARRAY with a length of ", leaf.type_length.value_or(0),
                    " bytes");
  }
  const LogicalType annotation = AnnotationOf(leaf);
  const auto stored_as = [&](bool fits, std::string_view name,
                             const ColumnType& result) -> absl::StatusOr<ColumnType> {
    if (fits) return result;
    return DataLoss(name, " cannot be stored as ", TypeName(leaf));
  };
  if (annotation.decimal) return DecimalFromParquet(leaf, *annotation.decimal);
  if (annotation.integer) return IntegerFromParquet(leaf, *annotation.integer);
  if (annotation.string || annotation.enumeration || annotation.json)
    return stored_as(type == Type::kByteArray, "a string", ColumnType::String());
  if (annotation.date) return stored_as(type == Type::kInt32, "DATE", ColumnType::Date());
  if (annotation.time || annotation.timestamp) {
    const parquet::TimeType& time = annotation.time ? *annotation.time : *annotation.timestamp;
    const std::optional<TimeUnit> unit = UnitFromParquet(time.unit);
    const std::string_view name = annotation.time ? "TIME" : "TIMESTAMP";
    if (!unit) return absl::UnimplementedError(StrCat("the unit of ", name, " is unknown"));
    const bool is_int32 = annotation.time && *unit == TimeUnit::kMillis;
    return stored_as(type == (is_int32 ? Type::kInt32 : Type::kInt64), name,
                     annotation.time
                         ? ColumnType::Time(*unit)
                         : ColumnType::Timestamp(*unit, time.is_adjusted_to_utc ? "UTC" : ""));
  }
  const auto is_fixed = [&](int32_t length) {
    return type == Type::kFixedLenByteArray && *leaf.type_length == length;
  };
  if (annotation.uuid) return stored_as(is_fixed(16), "UUID", ColumnType::Uuid());
  if (annotation.float16) return stored_as(is_fixed(2), "FLOAT16", ColumnType::FixedBytes(2));
  return PhysicalFromParquet(leaf);
}

void TypeToParquet(const ColumnType& type, SchemaElement& leaf) {
  leaf.type_length.reset();
  leaf.converted_type.reset();
  leaf.scale.reset();
  leaf.precision.reset();
  leaf.logical_type.reset();
  const auto fixed = [&](uint32_t length) {
    leaf.type = Type::kFixedLenByteArray;
    leaf.type_length = static_cast<int32_t>(length);
  };
  const auto integer = [&](int32_t stored, int8_t bits, bool is_signed, int32_t converted) {
    leaf.type = stored;
    leaf.converted_type = converted;
    leaf.logical_type.emplace().integer = {.bit_width = bits, .is_signed = is_signed};
  };
  const auto decimal = [&](int32_t most_digits) {
    leaf.precision = type.decimal_precision > 0 ? type.decimal_precision : most_digits;
    leaf.scale = type.decimal_scale;
    leaf.converted_type = ConvertedType::kDecimal;
    leaf.logical_type.emplace().decimal = {.scale = *leaf.scale, .precision = *leaf.precision};
  };
  // The converted types of times are only for UTC.
  const auto time_of = [](TimeUnit unit, bool utc) {
    parquet::TimeType time{.is_adjusted_to_utc = utc};
    if (unit == TimeUnit::kNanos) {
      time.unit.nanos.emplace();
    } else {
      (unit == TimeUnit::kMicros ? time.unit.micros : time.unit.millis).emplace();
    }
    return time;
  };
  const auto timestamp = [&](TimeUnit unit, bool utc) {
    leaf.type = Type::kInt64;
    leaf.logical_type.emplace().timestamp = time_of(unit, utc);
    if (utc && unit != TimeUnit::kNanos) {
      leaf.converted_type = unit == TimeUnit::kMicros ? ConvertedType::kTimestampMicros
                                                      : ConvertedType::kTimestampMillis;
    }
  };
  if (type.logical == cfile::LogicalType::kTimestamp)
    return timestamp(type.time_unit, !type.time_zone.empty());
  if (type.logical == cfile::LogicalType::kTime) {
    leaf.type = type.data_type == DataType::kInt32 ? Type::kInt32 : Type::kInt64;
    leaf.logical_type.emplace().time = time_of(type.time_unit, /*utc=*/false);
    return;
  }
  switch (type.data_type) {
    case DataType::kUint8:
      return integer(Type::kInt32, 8, false, ConvertedType::kUint8);
    case DataType::kInt8:
      return integer(Type::kInt32, 8, true, ConvertedType::kInt8);
    case DataType::kUint16:
      return integer(Type::kInt32, 16, false, ConvertedType::kUint16);
    case DataType::kInt16:
      return integer(Type::kInt32, 16, true, ConvertedType::kInt16);
    case DataType::kUint32:
      return integer(Type::kInt32, 32, false, ConvertedType::kUint32);
    case DataType::kUint64:
      return integer(Type::kInt64, 64, false, ConvertedType::kUint64);
    case DataType::kInt32:
      leaf.type = Type::kInt32;
      return;
    case DataType::kInt64:
      leaf.type = Type::kInt64;
      return;
    case DataType::kInt96:
      leaf.type = Type::kInt96;
      return;
    case DataType::kFloat:
      leaf.type = Type::kFloat;
      return;
    case DataType::kDouble:
      leaf.type = Type::kDouble;
      return;
    case DataType::kBinary:
      leaf.type = Type::kByteArray;
      return;
    case DataType::kUnixtimeMicros:
      return timestamp(TimeUnit::kMicros, /*utc=*/true);
    case DataType::kBool:
    case DataType::kIsDeleted:
      leaf.type = Type::kBoolean;
      return;
    case DataType::kString:
    case DataType::kVarchar:
      leaf.type = Type::kByteArray;
      leaf.converted_type = ConvertedType::kUtf8;
      leaf.logical_type.emplace().string.emplace();
      return;
    case DataType::kDate:
      leaf.type = Type::kInt32;
      leaf.converted_type = ConvertedType::kDate;
      leaf.logical_type.emplace().date.emplace();
      return;
    case DataType::kDecimal32:
      leaf.type = Type::kInt32;
      return decimal(9);
    case DataType::kDecimal64:
      leaf.type = Type::kInt64;
      return decimal(18);
    case DataType::kDecimal128:
    case DataType::kInt128:
      fixed(sizeof(int128_t));
      return decimal(38);
    case DataType::kFixedLenByteArray:
      fixed(type.type_length);
      if (type.logical == cfile::LogicalType::kUuid) leaf.logical_type.emplace().uuid.emplace();
      return;
  }
  CFILE_ASSERT(false && "the type is not valid");
}

ColumnType WithTimeZone(const ColumnType& type, const std::string& time_zone) {
  if (time_zone.empty()) return type;
  if (type.data_type == DataType::kUnixtimeMicros)
    return ColumnType::Timestamp(TimeUnit::kMicros, time_zone);
  return type.time_zone.empty() ? type : ColumnType::Timestamp(type.time_unit, time_zone);
}

bool HasSameValues(const ColumnType& a, const ColumnType& b) {
  return WithTimeZone(a, "UTC") == WithTimeZone(b, "UTC");
}

int64_t ParquetUnitsPerValue(const ColumnType& type) {
  return type.time_unit == TimeUnit::kSeconds ? 1000 : 1;
}

bool HasSamePages(const SchemaElement& leaf, const ColumnType& type) {
  if (ParquetUnitsPerValue(type) != 1) return false;
  switch (type.physical()) {
    case PhysicalType::kBool:
      return leaf.type == Type::kBoolean;
    case PhysicalType::kInt8:
    case PhysicalType::kUint8:
    case PhysicalType::kInt16:
    case PhysicalType::kUint16:
    case PhysicalType::kInt32:
    case PhysicalType::kUint32:
      return leaf.type == Type::kInt32;
    case PhysicalType::kInt64:
    case PhysicalType::kUint64:
      return leaf.type == Type::kInt64;
    case PhysicalType::kInt128:
      return leaf.type == Type::kFixedLenByteArray && leaf.type_length == int{sizeof(int128_t)};
    case PhysicalType::kInt96:
      return leaf.type == Type::kInt96;
    case PhysicalType::kFloat:
      return leaf.type == Type::kFloat;
    case PhysicalType::kDouble:
      return leaf.type == Type::kDouble;
    case PhysicalType::kBytes:
      return leaf.type == Type::kByteArray;
    case PhysicalType::kFixedBytes:
      return leaf.type == Type::kFixedLenByteArray &&
             static_cast<uint32_t>(leaf.type_length.value_or(0)) == type.type_length;
  }
  return false;
}

}  // namespace cfile::internal
