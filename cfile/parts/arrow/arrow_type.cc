#include "cfile/parts/arrow/arrow_type.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

#include "encodings/core/assert.h"

namespace cfile::internal {
namespace {

std::string FormatOf(const ColumnType& type, ArrowLayout layout) {
  const std::string unit(1, kTimeUnitLetters[static_cast<size_t>(type.time_unit)]);
  if (type.logical == LogicalType::kTimestamp) return absl::StrCat("ts", unit, ":", type.time_zone);
  if (type.logical == LogicalType::kTime) return absl::StrCat("tt", unit);
  switch (type.data_type) {
    case DataType::kUnixtimeMicros:
      return "tsu:UTC";
    case DataType::kInt128:
    case DataType::kDecimal32:
    case DataType::kDecimal64:
    case DataType::kDecimal128:
      return absl::StrCat("d:", DecimalDigits(type), ",", type.decimal_scale);
    case DataType::kDate:
      return "tdD";
    case DataType::kInt96:
      return "tsn:";
    case DataType::kFixedLenByteArray:
      return absl::StrCat("w:", type.type_length);
    default:
      break;
  }
  for (const FormatLetter& row : kFormatLetters) {
    if (row.type == type.data_type)
      return std::string(layout == ArrowLayout::kViews ? "v" : "") + row.letter;
  }
  CFILE_ASSERT(false && "an unknown DataType");
  return "n";
}

}  // namespace

int32_t DecimalDigits(const ColumnType& type) {
  if (type.decimal_precision > 0) return type.decimal_precision;
  switch (type.data_type) {
    case DataType::kDecimal32:
      return 9;
    case DataType::kDecimal64:
      return 18;
    case DataType::kDecimal128:
    case DataType::kInt128:
      return 38;
    default:
      return 0;
  }
}

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
  if (layout == ArrowLayout::kDictionary) {
    field.dictionary = {{.format = std::exchange(field.format, "i"), .flags = ARROW_FLAG_NULLABLE}};
  }
  if (type.logical == LogicalType::kUuid) {
    field.metadata.emplace_back("ARROW:extension:name", "arrow.uuid");
    field.metadata.emplace_back("ARROW:extension:metadata", "");
  }
  field.metadata.emplace_back("cfile.type", type.ToString());
}

}  // namespace cfile::internal
