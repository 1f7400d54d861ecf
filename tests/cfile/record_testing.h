// Helpers for tests of records. A record is a JSON object that has the shape of the schema, as in
// tests/golden/parquet/nested: a list is an object for the list group, which holds an array of the
// elements.
#pragma once

#include <cassert>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "cfile/internal/records/leaf_buffer.h"
#include "cfile/internal/records/record_assembler.h"
#include "cfile/record_schema.h"
#include "cfile/record_visitor.h"
#include "encodings/core/physical_type.h"
#include "encodings/core/status.h"
#include "nlohmann/json.hpp"

namespace cfile {

using Json = nlohmann::json;

template <typename T>
Json ValueToJson(const T& value) {
  if constexpr (encodings::kIsBytes<T>) {
    return std::string(value);
  } else if constexpr (std::is_same_v<T, int128_t> || std::is_same_v<T, Int96>) {
    return std::string(reinterpret_cast<const char*>(&value), sizeof value);
  } else {
    return value;
  }
}

// The inverse of ValueToJson. The result may point into `json`.
template <typename T>
T ValueFromJson(const Json& json) {
  if constexpr (encodings::kIsBytes<T>) {
    return json.get_ref<const std::string&>();
  } else if constexpr (std::is_same_v<T, int128_t> || std::is_same_v<T, Int96>) {
    T value;
    std::memcpy(&value, json.get_ref<const std::string&>().data(), sizeof value);
    return value;
  } else {
    return json.get<T>();
  }
}

// Passes one occurrence of `node` to `visitor`. `json` holds the contents of this occurrence.
inline absl::Status TellJson(const RecordSchema& schema, size_t node, const Json& json,
                             RecordVisitor& visitor) {
  if (schema.node(node).is_leaf()) {
    return encodings::VisitPhysicalType(
        schema.node(node).type.physical(), [&]<typename T>(std::type_identity<T>) {
          return visitor.Value(node, RecordValue(ValueFromJson<T>(json)));
        });
  }
  CFILE_RETURN_IF_ERROR(visitor.BeginGroup(node));
  for (size_t child = node + 1; child < schema.node(node).end; child = schema.node(child).end) {
    const auto field = json.find(schema.node(child).name);
    if (field == json.end()) continue;
    if (schema.node(child).repetition != Repetition::kRepeated) {
      CFILE_RETURN_IF_ERROR(TellJson(schema, child, *field, visitor));
      continue;
    }
    for (const Json& element : *field) {
      CFILE_RETURN_IF_ERROR(TellJson(schema, child, element, visitor));
    }
  }
  return visitor.EndGroup(node);
}

// Collects records as JSON. A repeated field without elements is absent from the object.
class JsonVisitor final : public RecordVisitor {
 public:
  explicit JsonVisitor(const RecordSchema& schema) : schema_(schema) {}

  std::vector<Json> records;

  absl::Status BeginGroup(size_t node) override {
    if (node == 0) open_ = {&records.emplace_back(Json::object())};
    if (node != 0) open_.push_back(&Add(node, Json::object()));
    return absl::OkStatus();
  }
  absl::Status EndGroup(size_t) override {
    open_.pop_back();
    return absl::OkStatus();
  }
  absl::Status Value(size_t node, const RecordValue& value) override {
    Add(node, std::visit([](const auto& v) { return ValueToJson(v); }, value));
    return absl::OkStatus();
  }

 private:
  Json& Add(size_t node, Json value) {
    Json& field = (*open_.back())[schema_.node(node).name];
    if (schema_.node(node).repetition != Repetition::kRepeated) return field = std::move(value);
    field.push_back(std::move(value));
    return field.back();
  }

  const RecordSchema schema_;
  std::vector<Json*> open_;
};

// Returns `record` in the form in which it is read back: without repeated fields that have no
// elements. If `leaves` is not empty, only these leaves and their groups remain.
inline Json Stored(const RecordSchema& schema, const Json& record,
                   const std::vector<size_t>& leaves = {}, size_t node = 0) {
  if (schema.node(node).is_leaf()) return record;
  Json stored = Json::object();
  for (size_t child = node + 1; child < schema.node(node).end; child = schema.node(child).end) {
    const RecordNode& field = schema.node(child);
    const auto found = record.find(field.name);
    const auto leaf = std::lower_bound(leaves.begin(), leaves.end(), field.first_leaf);
    if (!leaves.empty() && (leaf == leaves.end() || *leaf >= field.end_leaf)) continue;
    if (found == record.end() || (field.repetition == Repetition::kRepeated && found->empty())) {
      continue;
    }
    if (field.repetition != Repetition::kRepeated) {
      stored[field.name] = Stored(schema, *found, leaves, child);
      continue;
    }
    for (const Json& element : *found) {
      stored[field.name].push_back(Stored(schema, element, leaves, child));
    }
  }
  return stored;
}

// A LeafStream over a LeafBuffer. Loads `batch` entries at a time.
class MemoryStream final : public internal::LeafStream {
 public:
  MemoryStream(const RecordNode& leaf, internal::LeafBuffer& buffer, size_t num_records,
               size_t batch)
      : leaf_(leaf), buffer_(buffer), num_entries_(num_records), batch_(batch) {
    if (leaf.max_definition > 0) num_entries_ = buffer.definition().size();
  }

 private:
  absl::Status SeekToRecord(uint64_t record) override {
    next_ = value_ = loaded_values_ = 0;
    for (; next_ < num_entries_; ++next_) {
      const bool begins = leaf_.max_repetition == 0 || buffer_.repetition()[next_] == 0;
      if (begins && record-- == 0) break;
      value_ += HasValue(next_);
    }
    return absl::OkStatus();
  }
  absl::StatusOr<Entries> Load() override {
    value_ += loaded_values_;
    loaded_values_ = 0;
    const size_t size = std::min(batch_, num_entries_ - next_);
    Entries entries{.num_entries = size};
    if (leaf_.max_repetition > 0) entries.repetition = buffer_.repetition().subspan(next_, size);
    if (leaf_.max_definition > 0) entries.definition = buffer_.definition().subspan(next_, size);
    for (size_t i = 0; i < size; ++i) loaded_values_ += HasValue(next_++);
    entries.ends_record =
        next_ == num_entries_ || leaf_.max_repetition == 0 || buffer_.repetition()[next_] == 0;
    return entries;
  }
  absl::Status Tell(size_t i, size_t node, RecordVisitor& visitor) const override {
    return encodings::VisitPhysicalType(
        leaf_.type.physical(), [&]<typename T>(std::type_identity<T>) {
          auto& typed = static_cast<internal::TypedLeafBuffer<T>&>(buffer_);
          return visitor.Value(node, RecordValue(typed.values()[value_ + i]));
        });
  }
  bool HasValue(size_t entry) const {
    return leaf_.max_definition == 0 || buffer_.definition()[entry] == leaf_.max_definition;
  }

  const RecordNode leaf_;
  internal::LeafBuffer& buffer_;
  size_t num_entries_;
  const size_t batch_;
  size_t next_ = 0;   // the next entry to load
  size_t value_ = 0;  // index of the first loaded value
  size_t loaded_values_ = 0;
};

}  // namespace cfile
