// Reads the structs of the Arrow C Data Interface in tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "cfile/arrow.h"
#include "nlohmann/json.hpp"

namespace cfile {

using Json = nlohmann::json;

// Owns a struct and releases it.
template <typename Struct>
class Released {
 public:
  Released() = default;
  Released(Released&& other) noexcept : held_(std::exchange(other.held_, Struct{})) {}
  Released& operator=(Released&& other) noexcept {
    std::swap(held_, other.held_);
    return *this;
  }
  ~Released() {
    if (held_.release != nullptr) held_.release(&held_);
  }
  Struct* operator->() { return &held_; }
  const Struct* operator->() const { return &held_; }
  Struct* get() { return &held_; }
  const Struct* get() const { return &held_; }

 private:
  Struct held_{};
};

// What a stream holds: its schema and its batches, in order.
struct ArrowBatches {
  Released<ArrowSchema> schema;
  std::vector<Released<ArrowArray>> arrays;

  size_t num_rows() const;
  // All rows as JSON. A struct is an object; a list and a map are arrays; decimals, which may exceed
  // 64 bits, are texts; strings have their bytes; times are numbers. EXPECTs that the arrays fit the
  // schema and the rules of the format.
  std::vector<Json> Rows() const;
};

// Reads the whole stream and releases it. Returns the stream's error, with kUnknown.
absl::StatusOr<ArrowBatches> ReadStream(Released<ArrowArrayStream> stream);

// The metadata of a field.
std::vector<std::pair<std::string, std::string>> MetadataOf(const ArrowSchema& schema);

// An integer of 128 bits as text.
std::string TextOf(int128_t value);

}  // namespace cfile
