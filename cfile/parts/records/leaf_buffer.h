// Gathers the entries of one leaf before they are written to the leaf's file.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "cfile/record_schema.h"
#include "cfile/record_visitor.h"
#include "encodings/core/bytes.h"
#include "encodings/core/physical_type.h"

namespace cfile::internal {

class LeafBuffer {
 public:
  static std::unique_ptr<LeafBuffer> Create(const RecordNode& leaf);
  virtual ~LeafBuffer() = default;

  // Appends an entry without a value. Precondition: definition < the leaf's maximum.
  void AppendNull(uint16_t repetition, uint16_t definition) {
    AppendLevels(repetition, definition);
  }
  // Appends an entry with a value. Returns false, without effect, if the leaf has another type.
  virtual bool AppendValue(uint16_t repetition, const RecordValue& value) = 0;

  // One level per entry; empty if the leaf's maximum is 0.
  std::span<const uint16_t> repetition() const { return repetition_; }
  std::span<const uint16_t> definition() const { return definition_; }

  virtual void Clear() {
    repetition_.clear();
    definition_.clear();
  }

 protected:
  explicit LeafBuffer(const RecordNode& leaf)
      : has_repetition_(leaf.max_repetition > 0), max_definition_(leaf.max_definition) {}

  uint16_t max_definition() const { return max_definition_; }
  void AppendLevels(uint16_t repetition, uint16_t definition) {
    if (has_repetition_) repetition_.push_back(repetition);
    if (max_definition_ > 0) definition_.push_back(definition);
  }

 private:
  const bool has_repetition_;
  const uint16_t max_definition_;
  std::vector<uint16_t> repetition_;
  std::vector<uint16_t> definition_;
};

template <typename T>
class TypedLeafBuffer final : public LeafBuffer {
 public:
  explicit TypedLeafBuffer(const RecordNode& leaf) : LeafBuffer(leaf) {}

  bool AppendValue(uint16_t repetition, const RecordValue& value) override {
    const T* const typed = std::get_if<T>(&value);
    if (typed == nullptr) return false;
    AppendLevels(repetition, max_definition());
    if constexpr (encodings::kIsBytes<T>) {
      sizes_.push_back(typed->size());
      bytes_.PutBytes(*typed);
    } else {
      bytes_.PutFixed(*typed);
    }
    return true;
  }

  // The values of all entries that have one. Valid until the next change.
  std::span<const T> values() {
    if constexpr (encodings::kIsBytes<T>) {
      views_.clear();
      std::string_view text = bytes_.view();
      for (const size_t size : sizes_) {
        views_.push_back(text.substr(0, size));
        text.remove_prefix(size);
      }
      return views_;
    } else {
      return {reinterpret_cast<const T*>(bytes_.data()), bytes_.size() / sizeof(T)};
    }
  }

  void Clear() override {
    LeafBuffer::Clear();
    bytes_.Clear();
    sizes_.clear();
  }

 private:
  encodings::ByteWriter bytes_;          // the values of T or the bytes of strings, back to back
  std::vector<size_t> sizes_;            // of strings: the size of each
  std::vector<std::string_view> views_;  // the result of values()
};

inline std::unique_ptr<LeafBuffer> LeafBuffer::Create(const RecordNode& leaf) {
  return encodings::VisitPhysicalType(
      leaf.type.physical(), [&]<typename T>(std::type_identity<T>) -> std::unique_ptr<LeafBuffer> {
        return std::make_unique<TypedLeafBuffer<T>>(leaf);
      });
}

}  // namespace cfile::internal
