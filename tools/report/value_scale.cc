#include "tools/report/value_scale.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

namespace cfile::tools {
namespace {

// The 16 bytes of `key` from `begin` on as an integer, with zeros after the end of the key.
uint128_t KeyNumber(const std::string& key, size_t begin) {
  uint128_t number = 0;
  for (size_t i = begin; i < begin + sizeof(number); ++i) {
    number = number << 8 | (i < key.size() ? static_cast<uint8_t>(key[i]) : 0);
  }
  return number;
}

// The number whose key is `key`. nullopt: the values are not floats.
std::optional<double> FloatOf(const ColumnType& type, const std::string& key) {
  return VisitType(type, [&]<typename T>(std::type_identity<T>) -> std::optional<double> {
    if constexpr (std::is_floating_point_v<T>) {
      constexpr double kMost = 1e300;  // for infinities, so that differences are finite
      const auto value = BlockStatistics{.min_key = key}.Min<T>();
      return value ? std::clamp<double>(*value, -kMost, kMost) : 0;
    }
    return std::nullopt;
  });
}

}  // namespace

ValueScale::ValueScale(const ColumnType& type, const BlockStatistics& bounds)
    : type_(type), min_key_(bounds.max_key ? bounds.min_key : std::nullopt) {
  if (!min_key_) return;
  const std::string& max_key = *bounds.max_key;
  while (common_bytes_ < std::min(min_key_->size(), max_key.size()) &&
         (*min_key_)[common_bytes_] == max_key[common_bytes_]) {
    ++common_bytes_;
  }
  range_ = Distance(max_key);
}

std::optional<double> ValueScale::Place(const std::optional<std::string>& key) const {
  if (!key || !min_key_) return std::nullopt;
  if (range_ <= 0) return 0;
  return std::round(std::clamp(Distance(*key) / range_, 0.0, 1.0) * 1e4) / 1e4;
}

double ValueScale::Distance(const std::string& key) const {
  if (const auto value = FloatOf(type_, key)) return *value - *FloatOf(type_, *min_key_);
  const uint128_t number = KeyNumber(key, common_bytes_);
  const uint128_t low = KeyNumber(*min_key_, common_bytes_);
  return number < low ? 0 : static_cast<double>(number - low);
}

}  // namespace cfile::tools
