#include "cfile/parts/parquet/parquet_type.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "cfile/parts/arrow/arrow_type.h"
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

// Integer types, in the order of their converted types from UINT_8 on.
constexpr DataType kIntegers[] = {DataType::kUint8,  DataType::kUint16, DataType::kUint32,
                                  DataType::kUint64, DataType::kInt8,   DataType::kInt16,
                                  DataType::kInt32,  DataType::kInt64};

// `i`: a position in kIntegers.
parquet::IntType IntegerAt(int64_t i) {
  return {.bit_width = static_cast<int8_t>(8 << i % 4), .is_signed = i >= 4};
}

// Returns the type of Parquet that stores the values of `type`.
int32_t StoredType(const ColumnType& type) {
  switch (type.physical()) {
    case PhysicalType::kBool:
      return Type::kBoolean;
    case PhysicalType::kInt8:
    case PhysicalType::kUint8:
    case PhysicalType::kInt16:
    case PhysicalType::kUint16:
    case PhysicalType::kInt32:
    case PhysicalType::kUint32:
      return Type::kInt32;
    case PhysicalType::kInt64:
    case PhysicalType::kUint64:
      return Type::kInt64;
    case PhysicalType::kInt96:
      return Type::kInt96;
    case PhysicalType::kFloat:
      return Type::kFloat;
    case PhysicalType::kDouble:
      return Type::kDouble;
    case PhysicalType::kBytes:
      return Type::kByteArray;
    case PhysicalType::kInt128:
    case PhysicalType::kFixedBytes:
      return Type::kFixedLenByteArray;
  }
  CFILE_ASSERT(false && "the type is not valid");
  return kNoType;
}

// Returns the length of FIXED_LEN_BYTE_ARRAY for `type`; nullopt if Parquet stores another type.
std::optional<int32_t> StoredLength(const ColumnType& type) {
  if (StoredType(type) != Type::kFixedLenByteArray) return std::nullopt;
  return type.physical() == PhysicalType::kInt128 ? int{sizeof(int128_t)}
                                                  : static_cast<int32_t>(type.type_length);
}

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
  for (int64_t i = 0; i < std::ssize(kIntegers); ++i) {
    const ColumnType column{.data_type = kIntegers[i]};
    if (IntegerAt(i) == integer && StoredType(column) == *leaf.type) return column;
  }
  return DataLoss("INTEGER(", int{integer.bit_width}, integer.is_signed ? ",true" : ",false",
                  ") cannot be stored as ", TypeName(leaf));
}

absl::StatusOr<ColumnType> PhysicalFromParquet(const SchemaElement& leaf) {
  if (*leaf.type == Type::kFixedLenByteArray)
    return ColumnType::FixedBytes(static_cast<uint32_t>(*leaf.type_length));
  // In the order of the types' numbers. INT96 is a time.
  const ColumnType types[] = {ColumnType::Bool(),  ColumnType::Int32(),
                              ColumnType::Int64(), ColumnType::Timestamp(TimeUnit::kNanos, ""),
                              ColumnType::Float(), ColumnType::Double(),
                              ColumnType::Binary()};
  if (*leaf.type >= 0 && *leaf.type < std::ssize(types)) return types[*leaf.type];
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
  const auto unit = [](bool micros) {
    parquet::TimeType time{.is_adjusted_to_utc = true};
    (micros ? time.unit.micros : time.unit.millis).emplace();
    return time;
  };
  const int32_t converted = leaf.converted_type.value_or(kNoType);
  if (converted >= ConvertedType::kUint8 && converted <= ConvertedType::kInt64)
    result.integer = IntegerAt(converted - ConvertedType::kUint8);
  switch (converted) {
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
    case ConvertedType::kTimeMicros:
      result.time = unit(converted == ConvertedType::kTimeMicros);
      break;
    case ConvertedType::kTimestampMillis:
    case ConvertedType::kTimestampMicros:
      result.timestamp = unit(converted == ConvertedType::kTimestampMicros);
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
  leaf.type = StoredType(type);
  leaf.type_length = StoredLength(type);
  leaf.converted_type.reset();
  leaf.scale.reset();
  leaf.precision.reset();
  leaf.logical_type.reset();
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
    leaf.logical_type.emplace().timestamp = time_of(unit, utc);
    if (utc && unit != TimeUnit::kNanos) {
      leaf.converted_type = unit == TimeUnit::kMicros ? ConvertedType::kTimestampMicros
                                                      : ConvertedType::kTimestampMillis;
    }
  };
  if (type.logical == cfile::LogicalType::kTimestamp)
    return timestamp(type.time_unit, !type.time_zone.empty());
  if (type.logical == cfile::LogicalType::kTime) {
    leaf.logical_type.emplace().time = time_of(type.time_unit, /*utc=*/false);
    return;
  }
  switch (type.data_type) {
    case DataType::kUint8:
    case DataType::kInt8:
    case DataType::kUint16:
    case DataType::kInt16:
    case DataType::kUint32:
    case DataType::kUint64: {
      const auto i = std::find(std::begin(kIntegers), std::end(kIntegers), type.data_type);
      leaf.converted_type = static_cast<int32_t>(ConvertedType::kUint8 + (i - kIntegers));
      leaf.logical_type.emplace().integer = IntegerAt(i - kIntegers);
      return;
    }
    case DataType::kUnixtimeMicros:
      return timestamp(TimeUnit::kMicros, /*utc=*/true);
    case DataType::kString:
    case DataType::kVarchar:
      leaf.converted_type = ConvertedType::kUtf8;
      leaf.logical_type.emplace().string.emplace();
      return;
    case DataType::kDate:
      leaf.converted_type = ConvertedType::kDate;
      leaf.logical_type.emplace().date.emplace();
      return;
    case DataType::kDecimal32:
    case DataType::kDecimal64:
    case DataType::kDecimal128:
    case DataType::kInt128:
      leaf.precision = DecimalDigits(type);
      leaf.scale = type.decimal_scale;
      leaf.converted_type = ConvertedType::kDecimal;
      leaf.logical_type.emplace().decimal = {.scale = *leaf.scale, .precision = *leaf.precision};
      return;
    case DataType::kFixedLenByteArray:
      if (type.logical == cfile::LogicalType::kUuid) leaf.logical_type.emplace().uuid.emplace();
      return;
    default:  // the physical type says all
      return;
  }
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
  const std::optional<int32_t> length = StoredLength(type);
  return ParquetUnitsPerValue(type) == 1 && leaf.type == StoredType(type) &&
         (!length || leaf.type_length.value_or(0) == *length);
}

}  // namespace cfile::internal
