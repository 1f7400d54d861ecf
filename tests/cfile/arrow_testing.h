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
#include "tests/cfile/column_testing.h"

namespace cfile {

using Json = nlohmann::json;

// Owns a struct of the Arrow C interface. The destructor releases the struct.
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

// The contents of a stream: its schema and its batches, in order.
struct ArrowBatches {
  Released<ArrowSchema> schema;
  std::vector<Released<ArrowArray>> arrays;

  size_t num_rows() const;
  // Returns all rows as JSON. A struct becomes an object. A list or a map becomes an array.
  // A decimal becomes a text, because it may have more than 64 bits.
  // A string keeps its bytes. A time becomes a number.
  // EXPECTs that the arrays fit the schema and keep the rules of the format.
  std::vector<Json> Rows() const;
};

// Reads the whole stream and releases the stream.
// If the stream returns an error, the code is kUnknown and the message is the stream's text.
absl::StatusOr<ArrowBatches> ReadStream(Released<ArrowArrayStream> stream);

// Returns the metadata of a field.
std::vector<std::pair<std::string, std::string>> MetadataOf(const ArrowSchema& schema);

// Returns an integer of 128 bits as text.
std::string TextOf(int128_t value);

// Changes values of int96 and int128 so that they are in the range of Arrow's types.
template <typename T>
void MakeFit(testing_support::Column<T>& column) {
  for (auto& row : column.rows) {
    if constexpr (std::is_same_v<T, Int96>) {
      if (row) {
        const auto bits = static_cast<uint128_t>(*row);
        row = Int96(uint128_t{2400000 + static_cast<uint32_t>(bits >> 64) % 80000} << 64 |
                    static_cast<uint64_t>(bits) % 86400000000000u);
      }
    } else if constexpr (std::is_same_v<T, int128_t>) {
      if (row) *row /= 16;
    }
  }
}

}  // namespace cfile
