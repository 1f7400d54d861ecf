#include "cfile/internal/arrow/arrow_type.h"

#include <cassert>
#include <string_view>

#include "absl/strings/str_cat.h"

namespace cfile::internal {
namespace {

constexpr int32_t kDecimalDigits[] = {9, 18, 38};  // of 4, 8 and 16 bytes

std::string DecimalFormat(const ColumnType& type, int32_t digits) {
  const int32_t precision = type.decimal_precision > 0 ? type.decimal_precision : digits;
  return absl::StrCat("d:", precision, ",", type.decimal_scale);
}

std::string FormatOf(const ColumnType& type, ArrowLayout layout) {
  constexpr std::string_view kUnits = "?smun";
  const char unit = kUnits[static_cast<size_t>(type.time_unit)];
  if (type.logical == LogicalType::kTimestamp)
    return absl::StrCat("ts", std::string(1, unit), ":", type.time_zone);
  if (type.logical == LogicalType::kTime) return absl::StrCat("tt", std::string(1, unit));
  switch (type.data_type) {
    case DataType::kUint8:
      return "C";
    case DataType::kInt8:
      return "c";
    case DataType::kUint16:
      return "S";
    case DataType::kInt16:
      return "s";
    case DataType::kUint32:
      return "I";
    case DataType::kInt32:
      return "i";
    case DataType::kUint64:
      return "L";
    case DataType::kInt64:
      return "l";
    case DataType::kString:
    case DataType::kVarchar:
      return layout == ArrowLayout::kViews ? "vu" : "u";
    case DataType::kBool:
    case DataType::kIsDeleted:
      return "b";
    case DataType::kFloat:
      return "f";
    case DataType::kDouble:
      return "g";
    case DataType::kBinary:
      return layout == ArrowLayout::kViews ? "vz" : "z";
    case DataType::kUnixtimeMicros:
      return "tsu:UTC";
    case DataType::kInt128:
      return "d:38,0";
    case DataType::kDecimal32:
      return DecimalFormat(type, kDecimalDigits[0]);
    case DataType::kDecimal64:
      return DecimalFormat(type, kDecimalDigits[1]);
    case DataType::kDecimal128:
      return DecimalFormat(type, kDecimalDigits[2]);
    case DataType::kDate:
      return "tdD";
    case DataType::kInt96:
      return "tsn:";
    case DataType::kFixedLenByteArray:
      return absl::StrCat("w:", type.type_length);
  }
  assert(false && "an unknown DataType");
  return "n";
}

}  // namespace

ArrowLayout LayoutOf(const ColumnType& type, bool string_views) {
  switch (type.data_type) {
    case DataType::kBool:
    case DataType::kIsDeleted:
      return ArrowLayout::kBits;
    case DataType::kInt128:
    case DataType::kDecimal32:
    case DataType::kDecimal64:
    case DataType::kDecimal128:
      return ArrowLayout::kDecimal128;
    case DataType::kInt96:
      return ArrowLayout::kTimestamp;
    case DataType::kFixedLenByteArray:
      return ArrowLayout::kFixedBytes;
    case DataType::kString:
    case DataType::kVarchar:
    case DataType::kBinary:
      return string_views ? ArrowLayout::kViews : ArrowLayout::kStrings;
    default:
      return ArrowLayout::kSame;
  }
}

void SetType(const ColumnType& type, ArrowLayout layout, ArrowField& field) {
  field.format = FormatOf(type, layout);
  field.dictionary = layout == ArrowLayout::kDictionary;
  if (type.logical == LogicalType::kUuid) {
    field.metadata.emplace_back("ARROW:extension:name", "arrow.uuid");
    field.metadata.emplace_back("ARROW:extension:metadata", "");
  }
  field.metadata.emplace_back("cfile.type", type.ToString());
}

}  // namespace cfile::internal
