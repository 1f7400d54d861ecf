// Writes runs of equal values. Internal to encodings.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "encodings/core/bytes.h"
#include "encodings/kernels/bit_packing.h"

namespace cfile::encodings {

// Runs are mostly short and of random length. If there is room, this many bytes are written at once
// for any shorter run, which avoids unpredictable branches.
inline constexpr size_t kShortRunBytes = 256;

// Writes `value` to `out` `count` times. May overwrite up to `room` values. Precondition: count <=
// room.
template <typename T>
inline void FillRun(T* out, size_t count, size_t room, T value) {
  constexpr size_t kShort = kShortRunBytes / sizeof(T);
  if (room < kShort) {
    std::fill_n(out, count, value);
    return;
  }
  if constexpr (sizeof(T) < sizeof(uint64_t) && std::is_integral_v<T>) {
    // A loop over small values would become a call of memset.
    constexpr uint64_t kOnes = LowBits(8 * sizeof(T));
    const uint64_t pattern = (static_cast<uint64_t>(value) & kOnes) * (~uint64_t{0} / kOnes);
    uint8_t* const bytes = reinterpret_cast<uint8_t*>(out);
    for (size_t i = 0; i < kShortRunBytes; i += 8) StoreLittleEndian(pattern, bytes + i);
  } else {
    for (size_t i = 0; i < kShort; ++i) out[i] = value;
  }
  if (count > kShort) std::fill_n(out + kShort, count - kShort, value);
}

}  // namespace cfile::encodings
