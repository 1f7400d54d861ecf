#include "cfile/parts/c/value.h"

#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <variant>

#include "encodings/core/status.h"

namespace cfile::internal {
namespace {

#define CFILE_SAME(number, type) static_assert((number) == static_cast<int>(PhysicalType::type))
CFILE_SAME(CFILE_BOOL, kBool);
CFILE_SAME(CFILE_INT8, kInt8);
CFILE_SAME(CFILE_UINT8, kUint8);
CFILE_SAME(CFILE_INT16, kInt16);
CFILE_SAME(CFILE_UINT16, kUint16);
CFILE_SAME(CFILE_INT32, kInt32);
CFILE_SAME(CFILE_UINT32, kUint32);
CFILE_SAME(CFILE_INT64, kInt64);
CFILE_SAME(CFILE_UINT64, kUint64);
CFILE_SAME(CFILE_INT128, kInt128);
CFILE_SAME(CFILE_INT96, kInt96);
CFILE_SAME(CFILE_FLOAT, kFloat);
CFILE_SAME(CFILE_DOUBLE, kDouble);
CFILE_SAME(CFILE_BYTES, kBytes);
CFILE_SAME(CFILE_FIXED_BYTES, kFixedBytes);
#undef CFILE_SAME
static_assert(sizeof(bool) == sizeof(uint8_t));
static_assert(sizeof(cfile_int128) == sizeof(int128_t));
static_assert(sizeof(cfile_int96) == sizeof(Int96));
static_assert(kMaxBatchRows == CFILE_MAX_BATCH_ROWS);

// Returns nullopt if the constant is no value of T.
template <typename T>
std::optional<T> Convert(const Literal::Variant& value) {
  if constexpr (kIsInteger<T>) {
    const auto* integer = std::get_if<int128_t>(&value);
    if (integer != nullptr && static_cast<int128_t>(static_cast<T>(*integer)) == *integer)
      return static_cast<T>(*integer);
  } else if constexpr (kIsFloat<T>) {
    if (const auto* integer = std::get_if<int128_t>(&value)) {
      const T nearest = static_cast<T>(*integer);
      if (nearest < T{0x1p127} && static_cast<int128_t>(nearest) == *integer) return nearest;
      return std::nullopt;
    }
    const auto* number = std::get_if<double>(&value);
    if (number != nullptr &&
        (!std::isfinite(*number) || std::abs(*number) <= std::numeric_limits<T>::max()))
      return static_cast<T>(*number);
  } else {
    if (const T* same = std::get_if<T>(&value)) return *same;
  }
  return std::nullopt;
}

absl::StatusOr<std::string_view> BytesOf(const cfile_bytes& bytes) {
  if (bytes.data == nullptr && bytes.size > 0)
    return absl::InvalidArgumentError("the bytes of a value are null");
  return std::string_view(bytes.data, bytes.size);
}

}  // namespace

absl::StatusOr<Literal> LiteralOf(const cfile_value& value) {
  const auto& as = value.as;
  switch (value.kind) {
    case CFILE_VALUE_NULL:
      return absl::InvalidArgumentError("a null is not a value: test for CFILE_IS_NULL");
    case CFILE_VALUE_BOOL:
      return Literal(as.int64 != 0);
    case CFILE_VALUE_INT64:
      return Literal(as.int64);
    case CFILE_VALUE_UINT64:
      return Literal(as.uint64);
    case CFILE_VALUE_DOUBLE:
      return Literal(as.number);
    case CFILE_VALUE_INT128:
      return Literal(static_cast<int128_t>(uint128_t{static_cast<uint64_t>(as.int128.high)} << 64 |
                                           as.int128.low));
    case CFILE_VALUE_INT96: {
      Int96 result;
      std::memcpy(result.words, as.int96.words, sizeof(result.words));
      return Literal(result);
    }
    case CFILE_VALUE_BYTES: {
      CFILE_ASSIGN_OR_RETURN(const std::string_view bytes, BytesOf(as.bytes));
      return Literal(bytes);
    }
    default:
      return absl::InvalidArgumentError(
          absl::StrCat("there is no kind ", value.kind, " of values (CFILE_VALUE_...)"));
  }
}

template <ValueType T>
absl::StatusOr<T> ValueOf(const ColumnType& type, const cfile_value& value) {
  if constexpr (kIsBytes<T>) {
    if (value.kind == CFILE_VALUE_BYTES) {
      CFILE_ASSIGN_OR_RETURN(const std::string_view bytes, BytesOf(value.as.bytes));
      if (type.type_length == 0 || bytes.size() == type.type_length) return bytes;
    }
  } else {
    CFILE_ASSIGN_OR_RETURN(const Literal literal, LiteralOf(value));
    if (const std::optional<T> converted = Convert<T>(literal.value())) return *converted;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("the key is not a value of the column's type ", type.ToString()));
}

cfile_batch BatchOf(PhysicalType type, const AnyBatch& batch, Copies<cfile_bytes>& copies) {
  const void* values = batch.values;
  if (encodings::LaneOf(type) == encodings::Lane::kBytes && !ViewsAreBytes()) {
    cfile_bytes* copy = copies.Make(batch.size());
    values = copy;
    for (std::string_view value : batch.As<std::string_view>().values)
      *copy++ = {value.size(), value.data()};
  }
  return {.type = static_cast<int32_t>(type),
          .reserved = 0,
          .size = batch.size(),
          .values = values,
          .validity = batch.validity,
          .null_count = batch.null_count,
          .first_ordinal = batch.first_ordinal};
}

#define CFILE_INSTANTIATE(T) \
  template absl::StatusOr<T> ValueOf(const ColumnType& type, const cfile_value& value);
CFILE_FOR_EACH_VALUE_TYPE(CFILE_INSTANTIATE)
#undef CFILE_INSTANTIATE

}  // namespace cfile::internal
