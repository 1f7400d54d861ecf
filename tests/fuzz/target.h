// What is fuzzed: named targets, several a program, that libFuzzer (libfuzzer.cc) and a build's
// tests (replay.cc) run alike.
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
#include "encodings/bytes.h"

// Of libFuzzer; replay.cc has a simple one of its own. Changes `data` in place, up to `max_size`
// bytes, and returns the new size.
extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace cfile::fuzz {

using Bytes = std::vector<uint8_t>;
using Random = std::minstd_rand;

struct Target {
  std::string name;  // of words with dashes
  // Takes any bytes; ends the process if something is not as it should be.
  std::function<void(std::span<const uint8_t>)> run;
  // Inputs to begin with. Two may be the same.
  std::function<std::vector<Bytes>()> seeds;
  // Changes an input that has a shape, so that the result still has it; none: any bytes will do.
  std::function<void(Bytes& input, Random& random)> mutate = {};
};

// Those of the program. Each *_fuzz.cc has its own.
std::vector<Target> Targets();

inline void Expect(bool holds) {
  if (!holds) std::abort();
}

// True of the error of a limit, which names the option.
inline bool IsLimit(const absl::Status& status) {
  return absl::IsOutOfRange(status) &&
         std::string(status.message()).find(": raise max_") != std::string::npos;
}

// An error of bytes is one of these. What bytes claim may be above a limit.
inline void ExpectBadData(const absl::Status& status) {
  Expect(absl::IsDataLoss(status) || absl::IsUnimplemented(status) || IsLimit(status));
}

// Changes `bytes`, which may grow somewhat.
inline void MutateAny(Bytes& bytes) {
  const size_t size = bytes.size();
  bytes.resize(size + 64);
  bytes.resize(LLVMFuzzerMutate(bytes.data(), size, bytes.size()));
}

inline Bytes ToBytes(std::span<const uint8_t> bytes) { return {bytes.begin(), bytes.end()}; }
inline Bytes ToBytes(std::string_view text) { return ToBytes(encodings::AsBytes(text)); }

// Reads every byte, so that a sanitizer sees where it lies.
inline void Touch(std::string_view bytes) {
  volatile char sink = 0;
  for (const char byte : bytes) sink = byte;
  (void)sink;
}

}  // namespace cfile::fuzz
