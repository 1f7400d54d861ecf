// Owns and makes the structs of the Arrow C interfaces.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cfile/arrow_c_data.h"

namespace cfile::internal {

// Owns a struct of the C interfaces.
template <typename Struct>
class Held {
 public:
  Held() = default;
  // Takes the contents of *from.
  explicit Held(Struct* from) : held_(std::exchange(*from, Struct{})) {}
  Held(Held&& other) noexcept : held_(std::exchange(other.held_, Struct{})) {}
  Held& operator=(Held&& other) noexcept {
    std::swap(held_, other.held_);
    return *this;
  }
  ~Held() {
    if (held_.release != nullptr) held_.release(&held_);
  }

  Struct* get() { return &held_; }
  bool empty() const { return held_.release == nullptr; }
  // Moves the struct into *out.
  void MoveTo(Struct* out) { *out = std::exchange(held_, Struct{}); }

 private:
  Struct held_{};
};
using HeldArray = Held<ArrowArray>;
using HeldSchema = Held<ArrowSchema>;

// The contents of an array.
struct ArrayParts {
  int64_t length = 0;
  int64_t null_count = 0;
  std::vector<const void*> buffers;
  std::vector<std::shared_ptr<const void>> owners;  // what keeps the buffers in memory
  std::vector<HeldArray> children;
  HeldArray dictionary;  // may be empty

  // Adds a buffer that `owner` keeps in memory.
  void AddBuffer(const void* buffer, std::shared_ptr<const void> owner) {
    buffers.push_back(buffer);
    if (owner != nullptr) owners.push_back(std::move(owner));
  }
};

// The array owns its parts and may be released in any thread.
HeldArray MakeArray(ArrayParts parts);

// The type of a field, with those of its children.
struct ArrowField {
  std::string format;
  std::string name;
  std::vector<std::pair<std::string, std::string>> metadata;
  int64_t flags = 0;
  std::vector<ArrowField> children;
  bool dictionary = false;  // the values are int32 indexes into an array of `format`
};

HeldSchema MakeSchema(const ArrowField& field);

}  // namespace cfile::internal
