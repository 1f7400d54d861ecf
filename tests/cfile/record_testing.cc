#include "tests/cfile/record_testing.h"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>
#include <variant>

#include "encodings/core/physical_type.h"
#include "encodings/core/status.h"

namespace cfile {

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

#define CFILE_INSTANTIATE(T) template Json ValueToJson<T>(const T&);
CFILE_FOR_EACH_VALUE_TYPE(CFILE_INSTANTIATE)
#undef CFILE_INSTANTIATE

namespace {

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

}  // namespace

absl::Status TellJson(const RecordSchema& schema, size_t node, const Json& json,
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

absl::Status JsonVisitor::BeginGroup(size_t node) {
  if (node == 0) open_ = {&records.emplace_back(Json::object())};
  if (node != 0) open_.push_back(&Add(node, Json::object()));
  return absl::OkStatus();
}

absl::Status JsonVisitor::EndGroup(size_t) {
  open_.pop_back();
  return absl::OkStatus();
}

absl::Status JsonVisitor::Value(size_t node, const RecordValue& value) {
  Add(node, std::visit([](const auto& v) { return ValueToJson(v); }, value));
  return absl::OkStatus();
}

Json& JsonVisitor::Add(size_t node, Json value) {
  Json& field = (*open_.back())[schema_.node(node).name];
  if (schema_.node(node).repetition != Repetition::kRepeated) return field = std::move(value);
  field.push_back(std::move(value));
  return field.back();
}

Json Stored(const RecordSchema& schema, const Json& record, const std::vector<size_t>& leaves,
            size_t node) {
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

}  // namespace cfile
