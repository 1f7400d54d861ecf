// Decoders of Parquet's values for columns that store them in another way: decimals of another
// width, and times of INT96.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/parts/arrow/arrow_type.h"
#include "encodings/core/block_codec.h"
#include "encodings/core/physical_type.h"
#include "encodings/core/seek_by_reading.h"
#include "encodings/core/status.h"

namespace cfile::internal {

// True if decimals may be stored as T.
template <typename T>
inline constexpr bool kHoldsDecimals = std::is_same_v<T, int32_t> || std::is_same_v<T, int64_t> ||
                                       std::is_same_v<T, encodings::int128_t>;

// Decodes values of P and converts them to T, without loss: integers to wider integers, and bytes,
// in two's complement with the most significant byte first, to any integer that holds their value.
// Converts Int96, a day and its nanoseconds, to nanoseconds since 1970.
template <typename T, typename P>
class ConvertingDecoder final : public encodings::BlockDecoder<T> {
  static_assert(kHoldsDecimals<T>);

 public:
  explicit ConvertingDecoder(std::unique_ptr<encodings::BlockDecoder<P>> decoder)
      : decoder_(std::move(decoder)) {}

  absl::Status Open(const encodings::BlockView& block) override {
    this->count_ = this->position_ = 0;
    CFILE_RETURN_IF_ERROR(decoder_->Open(block));
    this->count_ = decoder_->count();
    this->first_ordinal_ = decoder_->first_ordinal();
    return absl::OkStatus();
  }
  absl::Status SeekTo(uint32_t position) override {
    absl::Status status = decoder_->SeekTo(position);
    this->position_ = decoder_->position();
    return status;
  }
  absl::StatusOr<size_t> Read(std::span<T> out) override {
    P values[512];
    absl::StatusOr<size_t> read = decoder_->Read({values, std::min(std::size(values), out.size())});
    for (size_t i = 0; i < read.value_or(0); ++i) {
      if (!Convert(values[i], out[i])) {
        read = DoesNotFit(this->position_ + i);
      }
    }
    this->position_ = decoder_->position();
    return read;
  }
  absl::StatusOr<encodings::LowerBound> SeekToKey(const T& key) override {
    return encodings::SeekToKeyByReading<T>(*this, key);
  }

 private:
  static absl::Status DoesNotFit(uint64_t position) {
    if constexpr (std::is_same_v<P, encodings::Int96>) {
      return absl::InvalidArgumentError(
          encodings::StrCat("value ", position,
                            " is not a time between the years 1677 and 2262, so it is no "
                            "timestamp(ns): give the column the type int96"));
    } else {
      return encodings::DataLoss("value ", position, " does not fit ", 8 * sizeof(T), " bits");
    }
  }
  static bool Convert(const P& value, T& out) {
    if constexpr (std::is_same_v<P, encodings::Int96>) {
      return NanosOfInt96(value, out);
    } else if constexpr (encodings::kIsBytes<P>) {
      // The bytes before the last sizeof(T) must only repeat the sign.
      using encodings::uint128_t;
      const bool negative = !value.empty() && static_cast<uint8_t>(value[0]) >= 0x80;
      const size_t skipped = value.size() - std::min(value.size(), sizeof(T));
      for (const char byte : value.substr(0, skipped)) {
        if (static_cast<uint8_t>(byte) != (negative ? 0xff : 0)) return false;
      }
      uint128_t bits = negative ? ~uint128_t{0} : 0;
      for (const char byte : value.substr(skipped)) bits = bits << 8 | static_cast<uint8_t>(byte);
      out = static_cast<T>(bits);
      return value.empty() || negative == (out < 0);
    } else {
      static_assert(sizeof(P) <= sizeof(T));
      out = value;
      return true;
    }
  }

  const std::unique_ptr<encodings::BlockDecoder<P>> decoder_;
};

}  // namespace cfile::internal
