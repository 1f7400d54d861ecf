#include "cfile/parts/parquet/annotation.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "absl/strings/numbers.h"
#include "cfile/parts/parquet/parquet_type.h"
#include "encodings/core/status.h"

namespace cfile::internal {
namespace {

using encodings::StrCat;
using parquet::ConvertedType;
using parquet::LogicalType;
using parquet::SchemaElement;
using parquet::Type;

// The annotations of bytes that have the same column type with and without it.
struct BytesAnnotation {
  std::string_view name;
  bool is_text;                                              // the column type is string
  int32_t type_length;                                       // 0: BYTE_ARRAY
  int32_t converted_type;                                    // kNoType: none
  std::optional<parquet::Empty> LogicalType::*logical_type;  // null: none
};
constexpr BytesAnnotation kBytesAnnotations[] = {
    {"JSON", true, 0, ConvertedType::kJson, &LogicalType::json},
    {"ENUM", true, 0, ConvertedType::kEnum, &LogicalType::enumeration},
    {"BSON", false, 0, ConvertedType::kBson, &LogicalType::bson},
    {"FLOAT16", false, 2, kNoType, &LogicalType::float16},
    {"INTERVAL", false, 12, ConvertedType::kInterval, nullptr},
};
constexpr std::string_view kTimeInUtc = "TIME(UTC)";
constexpr std::string_view kUnknown = "UNKNOWN";
constexpr std::string_view kGeometry = "GEOMETRY", kGeography = "GEOGRAPHY", kVariant = "VARIANT";
constexpr std::string_view kAlgorithm = " algorithm=", kCrs = " crs=", kVersion = " version=";

std::string CrsText(const std::optional<std::string_view>& crs) {
  return crs ? StrCat(kCrs, *crs) : "";
}

// Removes `begin` from the begin of `text`. Returns false if the text begins otherwise.
bool Take(std::string_view begin, std::string_view& text) {
  if (!text.starts_with(begin)) return false;
  text.remove_prefix(begin.size());
  return true;
}

// Removes `key` and the number after it from the begin of `text`. nullopt: there is none.
std::optional<int8_t> TakeNumber(std::string_view key, std::string_view& text) {
  int32_t number = 0;
  std::string_view rest = text;
  if (!Take(key, rest)) return std::nullopt;
  const size_t end = std::min(rest.find(' '), rest.size());
  if (!absl::SimpleAtoi(absl::string_view(rest.data(), end), &number) || number < 0 || number > 127)
    return std::nullopt;
  text = rest.substr(end);
  return static_cast<int8_t>(number);
}

// Sets `crs` to the rest of the text. Returns false if this is not a crs.
bool TakeCrs(std::string_view text, std::optional<std::string_view>& crs) {
  if (text.empty()) return true;
  if (!Take(kCrs, text)) return false;
  crs = text;
  return true;
}

void AnnotateGeometry(std::string_view text, SchemaElement& leaf) {
  LogicalType logical;
  bool good = false;
  if (Take(kGeometry, text)) {
    good = TakeCrs(text, logical.geometry.emplace().crs);
  } else if (Take(kGeography, text)) {
    parquet::GeographyType& geography = logical.geography.emplace();
    geography.algorithm = TakeNumber(kAlgorithm, text);
    good = TakeCrs(text, geography.crs);
  }
  if (good) leaf.logical_type = logical;
}

void AnnotateGroup(std::string_view text, SchemaElement& group) {
  LogicalType logical;
  if (group.type || group.logical_type || group.converted_type || !Take(kVariant, text)) return;
  logical.variant.emplace().specification_version = TakeNumber(kVersion, text);
  if (text.empty()) group.logical_type = logical;
}

}  // namespace

std::string AnnotationToKeep(const SchemaElement& leaf) {
  const LogicalType annotation = AnnotationOf(leaf);
  if (annotation.time && annotation.time->is_adjusted_to_utc) return std::string(kTimeInUtc);
  if (annotation.unknown) return std::string(kUnknown);
  if (annotation.geometry && leaf.type == Type::kByteArray)
    return StrCat(kGeometry, CrsText(annotation.geometry->crs));
  if (annotation.geography && leaf.type == Type::kByteArray) {
    const std::optional<int32_t>& algorithm = annotation.geography->algorithm;
    return StrCat(kGeography, algorithm ? StrCat(kAlgorithm, *algorithm) : "",
                  CrsText(annotation.geography->crs));
  }
  for (const BytesAnnotation& each : kBytesAnnotations) {
    if (each.logical_type != nullptr ? (annotation.*each.logical_type).has_value()
                                     : leaf.converted_type == each.converted_type)
      return std::string(each.name);
  }
  return "";
}

std::string AnnotationOfGroup(const SchemaElement& group) {
  if (!group.logical_type || !group.logical_type->variant) return "";
  const std::optional<int8_t>& version = group.logical_type->variant->specification_version;
  return StrCat(kVariant, version ? StrCat(kVersion, int{*version}) : "");
}

void Annotate(std::string_view text, SchemaElement& leaf, SchemaElement* group) {
  if (group != nullptr) AnnotateGroup(text, *group);
  if (text == kTimeInUtc && leaf.logical_type && leaf.logical_type->time) {
    parquet::TimeType& time = *leaf.logical_type->time;
    time.is_adjusted_to_utc = true;
    if (time.unit.millis) leaf.converted_type = ConvertedType::kTimeMillis;
    if (time.unit.micros) leaf.converted_type = ConvertedType::kTimeMicros;
  }
  if (text == kUnknown) {
    leaf.converted_type.reset();
    leaf.logical_type.emplace().unknown.emplace();
  }
  const bool is_text = leaf.logical_type && leaf.logical_type->string;
  if (leaf.logical_type && !is_text) return;
  if (leaf.type == Type::kByteArray && !is_text) AnnotateGeometry(text, leaf);
  for (const BytesAnnotation& each : kBytesAnnotations) {
    const int32_t type = each.type_length > 0 ? Type::kFixedLenByteArray : Type::kByteArray;
    if (each.name != text || each.is_text != is_text || leaf.type != type ||
        leaf.type_length.value_or(0) != each.type_length)
      continue;
    leaf.converted_type.reset();
    leaf.logical_type.reset();
    if (each.converted_type != kNoType) leaf.converted_type = each.converted_type;
    if (each.logical_type != nullptr) (leaf.logical_type.emplace().*each.logical_type).emplace();
  }
}

bool HasOrderOfItsBytes(const SchemaElement& leaf) {
  const std::optional<LogicalType>& logical = leaf.logical_type;
  return !(logical && (logical->float16 || logical->geometry || logical->geography)) &&
         leaf.converted_type != ConvertedType::kInterval;
}

}  // namespace cfile::internal
