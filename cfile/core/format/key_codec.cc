#include "cfile/core/format/key_codec.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace cfile::internal {

size_t SeparatingLength(std::string_view previous_last, std::string_view first) {
  const size_t shorter = std::min(previous_last.size(), first.size());
  const auto common = static_cast<size_t>(
      std::mismatch(first.begin(), first.begin() + static_cast<ptrdiff_t>(shorter),
                    previous_last.begin())
          .first -
      first.begin());
  return std::min(common + 1, first.size());
}

std::optional<std::string> AfterPrefix(std::string prefix) {
  while (!prefix.empty() && prefix.back() == '\xff') prefix.pop_back();
  if (prefix.empty()) return std::nullopt;
  prefix.back() = static_cast<char>(static_cast<uint8_t>(prefix.back()) + 1);
  return prefix;
}

void AppendNumberKey(KeyRef key, std::string& out) {
  char bytes[sizeof(encodings::int128_t)];
  const size_t size =
      encodings::VisitPhysicalType(key.type, [&]<typename T>(std::type_identity<T>) -> size_t {
        if constexpr (encodings::kIsBytes<T>) {
          return 0;  // not a number
        } else {
          PutNumberKey(*static_cast<const T*>(key.value), bytes);
          return sizeof(T);
        }
      });
  out.append(bytes, size);
}

bool IsFloatKey(KeyRef key) {
  switch (key.type) {
    case encodings::PhysicalType::kFloat:
      return encodings::IsKey(*static_cast<const float*>(key.value));
    case encodings::PhysicalType::kDouble:
      return encodings::IsKey(*static_cast<const double*>(key.value));
    default:
      return true;
  }
}

namespace {

// Returns the address of `float_zero` or `double_zero` if the key is zero, else key.value.
const void* ZeroOr(KeyRef key, const float& float_zero, const double& double_zero) {
  switch (key.type) {
    case encodings::PhysicalType::kFloat:
      return *static_cast<const float*>(key.value) == 0 ? &float_zero : key.value;
    case encodings::PhysicalType::kDouble:
      return *static_cast<const double*>(key.value) == 0 ? &double_zero : key.value;
    default:
      return key.value;
  }
}

}  // namespace

const void* FirstEqualFloat(KeyRef key) {
  static constexpr float kFloat = -0.0f;
  static constexpr double kDouble = -0.0;
  return ZeroOr(key, kFloat, kDouble);
}

const void* LastEqualKey(KeyRef key) {
  static constexpr float kFloat = 0.0f;
  static constexpr double kDouble = 0.0;
  return ZeroOr(key, kFloat, kDouble);
}

LessFunction KeyLessOf(encodings::PhysicalType type) {
  return encodings::VisitPhysicalType(type, []<typename T>(std::type_identity<T>) -> LessFunction {
    return [](const void* a, const void* b) {
      return encodings::KeyLess<T>(*static_cast<const T*>(a), *static_cast<const T*>(b));
    };
  });
}

void OwnedKey::Set(KeyRef key) {
  encodings::VisitPhysicalType(key.type, [&]<typename T>(std::type_identity<T>) {
    const T& value = *static_cast<const T*>(key.value);
    is_bytes_ = encodings::kIsBytes<T>;
    if constexpr (encodings::kIsBytes<T>) {
      if (bytes_ == nullptr) bytes_ = std::make_unique<std::string>();
      bytes_->assign(value);
      view_ = *bytes_;
    } else {
      std::memcpy(number_, &value, sizeof value);
    }
  });
}

bool OwnedKey::Parse(std::string_view key, encodings::PhysicalType type) {
  return encodings::VisitPhysicalType(type, [&]<typename T>(std::type_identity<T>) {
    if constexpr (encodings::kIsBytes<T>) {
      Set({&key, type});
      return true;
    } else {
      T value{};
      const bool parsed = ParseKey<T>(key, value);
      Set({&value, type});
      return parsed;
    }
  });
}

std::optional<OrderFault> FindOrderFault(encodings::ValueSpan values, encodings::PhysicalType type,
                                         const void* previous) {
  return encodings::VisitPhysicalType(
      type, [&]<typename T>(std::type_identity<T>) -> std::optional<OrderFault> {
        const auto* before = static_cast<const T*>(previous);
        for (const T& value : values.As<T>()) {
          const auto index = static_cast<size_t>(&value - static_cast<const T*>(values.data));
          if (!encodings::IsKey(value)) return OrderFault{.index = index, .is_key = false};
          if (before != nullptr && encodings::KeyLess<T>(value, *before))
            return OrderFault{.index = index, .is_key = true};
          before = &value;
        }
        return std::nullopt;
      });
}

}  // namespace cfile::internal
