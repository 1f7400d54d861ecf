// Makes and owns the structs of the Arrow C interfaces (ArrowSchema, ArrowArray and their streams).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "cfile/arrow_c_data.h"

namespace cfile::internal {

// Owns one struct of the Arrow C interfaces.
template <typename Struct>
class Held {
 public:
  Held() = default;
  // Takes the struct in *from, which is then empty.
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

// The contents of an Arrow array.
struct ArrayParts {
  int64_t length = 0;
  int64_t null_count = 0;
  std::vector<const void*> buffers;
  std::vector<std::shared_ptr<const void>> owners;  // keep the buffers in memory
  std::vector<HeldArray> children;
  HeldArray dictionary;  // may be empty

  // Adds a buffer. `owner` keeps its bytes in memory.
  void AddBuffer(const void* buffer, std::shared_ptr<const void> owner) {
    buffers.push_back(buffer);
    if (owner != nullptr) owners.push_back(std::move(owner));
  }
};

// Makes an array that owns `parts`. The array may be released in any thread.
HeldArray MakeArray(ArrayParts parts);

// The type of a field and of its children.
struct ArrowField {
  std::string format;
  std::string name;
  std::vector<std::pair<std::string, std::string>> metadata;
  int64_t flags = 0;
  std::vector<ArrowField> children;
  // Empty or one field: the type of the values, if `format` is the type of the indexes.
  std::vector<ArrowField> dictionary;

  bool operator==(const ArrowField&) const = default;
};

HeldSchema MakeSchema(const ArrowField& field);

// The batches of an ArrowArrayStream. Only one thread at a time uses an object.
class ArrowBatches {
 public:
  virtual ~ArrowBatches() = default;
  virtual HeldSchema Schema() const = 0;
  // Returns the next batch; an empty one at the end.
  virtual absl::StatusOr<HeldArray> Next() = 0;
};

// Makes a stream of `batches` with the errors that cfile/arrow.h describes. *out is an
// uninitialised or released struct.
void MakeStream(std::unique_ptr<ArrowBatches> batches, ArrowArrayStream* out);

}  // namespace cfile::internal
