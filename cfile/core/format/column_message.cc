#include "cfile/core/format/column_message.h"

#include <limits>

#include "encodings/core/status.h"

namespace cfile::internal {
namespace {

// Converts a number to an enum of one byte. A number that does not fit becomes 255, which is not a
// value of the enum.
template <typename Enum>
Enum ToByteEnum(int32_t number) {
  constexpr int32_t kMax = std::numeric_limits<uint8_t>::max();
  return static_cast<Enum>(number < 0 || number > kMax ? kMax : number);
}

}  // namespace

bool NeedsExtension(const ColumnType& type) {
  return NeedsExtension(static_cast<uint32_t>(type.data_type)) ||
         type.logical != LogicalType::kNone || type.time_unit != TimeUnit::kNone ||
         !type.time_zone.empty() || type.type_length > 0;
}

int32_t DescribeType(const ColumnType& type, wire::Extensions& extensions) {
  if (type.type_length > 0) extensions.type_length = static_cast<int32_t>(type.type_length);
  if (type.decimal_precision > 0) {
    extensions.decimal_precision = type.decimal_precision;
    extensions.decimal_scale = type.decimal_scale;
  }
  if (type.logical != LogicalType::kNone) {
    extensions.logical_type = static_cast<int32_t>(type.logical);
  }
  if (type.time_unit != TimeUnit::kNone) {
    extensions.time_unit = static_cast<int32_t>(type.time_unit);
  }
  if (!type.time_zone.empty()) extensions.time_zone = type.time_zone;
  const auto number = static_cast<int32_t>(type.data_type);
  if (static_cast<uint32_t>(number) < encodings::kFirstExtendedNumber) return number;
  extensions.data_type = number;
  return kNumberInExtensions;
}

absl::StatusOr<ColumnType> InterpretType(int32_t data_type, const wire::Extensions& extensions) {
  if (data_type == kNumberInExtensions && !extensions.data_type) {
    return DataLoss("the number of the type is missing in the extensions");
  }
  const int32_t number = data_type == kNumberInExtensions ? *extensions.data_type : data_type;
  ColumnType type{.data_type = static_cast<DataType>(number),
                  .logical = ToByteEnum<LogicalType>(extensions.logical_type.value_or(0)),
                  .time_unit = ToByteEnum<TimeUnit>(extensions.time_unit.value_or(0)),
                  .time_zone = std::string(extensions.time_zone.value_or("")),
                  .type_length = static_cast<uint32_t>(extensions.type_length.value_or(0)),
                  .decimal_precision = extensions.decimal_precision.value_or(0),
                  .decimal_scale = extensions.decimal_scale.value_or(0)};
  const absl::Status status = Validate(type);
  if (status.ok()) return type;
  if (absl::IsUnimplemented(status)) return status;
  return absl::DataLossError(status.message());
}

bool FitsColumn(const ColumnType& stored, const ColumnType& column) {
  ColumnType as_stored = column;
  if (stored.decimal_precision == 0) as_stored.decimal_precision = as_stored.decimal_scale = 0;
  return stored == as_stored;
}

}  // namespace cfile::internal
