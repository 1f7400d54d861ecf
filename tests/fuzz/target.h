// Fuzz targets are named functions; a program has several. libFuzzer (libfuzzer.cc) and the tests
// of a build (replay.cc) run the same targets.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "encodings/core/bytes.h"

// Changes `data` in place, to at most `max_size` bytes, and returns the new size. libFuzzer
// provides this function; replay.cc has a simple version.
extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace cfile::fuzz {

using Bytes = std::vector<uint8_t>;
using Random = std::minstd_rand;

struct Target {
  std::string name;  // words joined by dashes
  // Accepts any bytes. Ends the process if a result of the library is wrong.
  std::function<void(std::span<const uint8_t>)> run;
  // Returns the seeds; there may be duplicates.
  std::function<std::vector<Bytes>()> seeds;
  // Changes an input and keeps its structure. If there is no such function, libFuzzer changes the
  // input.
  std::function<void(Bytes& input, Random& random)> mutate = {};
};

// Returns the targets of the program. Each *_fuzz.cc defines this function.
std::vector<Target> Targets();

inline void Expect(bool holds) {
  if (!holds) std::abort();
}

// Returns true for an error about a limit that names the option to raise.
inline bool IsLimit(const absl::Status& status) {
  return absl::IsOutOfRange(status) &&
         std::string(status.message()).find(": raise max_") != std::string::npos;
}

// Expects an error that the input can cause. This includes an error about a limit, because the
// input may claim large sizes.
inline void ExpectBadData(const absl::Status& status) {
  Expect(absl::IsDataLoss(status) || absl::IsUnimplemented(status) || IsLimit(status));
}

// Changes `bytes`, which may grow by up to 64 bytes.
inline void MutateAny(Bytes& bytes) {
  const size_t size = bytes.size();
  bytes.resize(size + 64);
  bytes.resize(LLVMFuzzerMutate(bytes.data(), size, bytes.size()));
}

inline Bytes ToBytes(std::span<const uint8_t> bytes) { return {bytes.begin(), bytes.end()}; }
inline Bytes ToBytes(std::string_view text) { return ToBytes(encodings::AsBytes(text)); }

// Reads every byte, so that a sanitizer checks the addresses.
inline void Touch(std::string_view bytes) {
  volatile char sink = 0;
  for (const char byte : bytes) sink = byte;
  (void)sink;
}

}  // namespace cfile::fuzz
