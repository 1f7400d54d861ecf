#include "tools/records/json_parser.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <type_traits>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "absl/strings/charconv.h"
#include "cfile/status.h"
#include "cfile/types.h"
#include "tools/records/json_values.h"
#include "tools/records/type_inference.h"
#include "tools/utf8.h"
#include "tools/value_meaning.h"
#include "tools/value_text.h"

namespace cfile::tools {
namespace {

// The properties of a schema node that the parser needs for each value.
struct Node {
  // `quoted`: the name and a closing quote; empty if the name needs escapes in JSON or is too long.
  // `front`: its first eight bytes, or fewer if it is shorter. `front_mask`: ones at these bytes.
  std::string quoted;
  uint64_t front;
  uint64_t front_mask;
  bool is_leaf;
  Repetition repetition;
  GroupKind kind;
  size_t end;
  size_t element;  // of a list
  PhysicalType physical;
  TextType type;      // of a leaf
  bool is_text;       // any JSON string is a value
  bool bare_numbers;  // values are numbers in JSON (IsJsonNumber)
  bool takes_numbers;
  bool takes_strings;
  bool takes_bools = false;  // a text takes them
  // JsonInference finds the type from numbers, or from texts. It has not seen all of them, and a
  // value for which it might find another type is an error.
  bool checks_numbers;
  std::optional<TypeInference> texts;  // only if it finds the type from texts
};

// True if a key is the name of `node`. `json` points after the opening quote of the key.
// Precondition: kJsonPadding bytes from `json` on must be readable. Usually takes a single
// comparison.
bool IsNamed(const Node& node, const char* json) {
  uint64_t front;
  std::memcpy(&front, json, sizeof(front));
  if (((front ^ node.front) & node.front_mask) != 0 || node.quoted.empty()) return false;
  return node.quoted.size() <= sizeof(front) ||
         std::memcmp(json + sizeof(front), node.quoted.data() + sizeof(front),
                     node.quoted.size() - sizeof(front)) == 0;
}

Node NodeOf(const RecordSchema& schema, size_t i, const JsonParserOptions& options) {
  const RecordNode& node = schema.node(i);
  const bool plain =
      node.name.size() < kJsonPadding && node.name.find_first_of("\\\"") == std::string::npos;
  const std::string quoted = plain ? node.name + '"' : "";
  uint64_t front = 0, ones = ~uint64_t{0}, mask = 0;
  std::memcpy(&front, quoted.data(), std::min(quoted.size(), sizeof(front)));
  std::memcpy(&mask, &ones, std::min(quoted.size(), sizeof(mask)));
  Node result{.quoted = quoted,
              .front = front,
              .front_mask = mask,
              .is_leaf = node.is_leaf(),
              .repetition = node.repetition,
              .kind = node.kind,
              .end = node.end};
  if (node.kind == GroupKind::kList) result.element = schema.ListElement(i);
  if (!node.is_leaf()) return result;
  result.physical = node.type.physical();
  result.is_text = IsText(node.type);
  const std::string path = schema.Path(i);
  const auto given = options.given.find(path);
  const bool is_given = given != options.given.end();
  result.type = is_given ? given->second : TextType{.type = node.type, .format = nullptr};
  result.bare_numbers = IsJsonNumber(node.type);
  result.takes_numbers =
      result.bare_numbers || node.type.decimal_precision > 0 ||
      result.physical == PhysicalType::kInt128 || result.type.format != nullptr ||
      (result.is_text && (is_given || options.origin == JsonSchema::kFoundInAll));
  // If the schema was found from records, only texts, dates and timestamps come from strings.
  result.takes_bools = result.is_text && is_given;
  const Meaning meaning = MeaningOf(node.type);
  const bool is_time = meaning == Meaning::kDate || meaning == Meaning::kTimestamp;
  // Of the strings, JsonInference takes only nan and inf for numbers. A bool is never a string.
  const bool is_double =
      node.type == ColumnType::Double() && options.origin == JsonSchema::kFoundInAll;
  result.takes_strings =
      result.physical != PhysicalType::kBool &&
      (is_given || options.origin == JsonSchema::kGiven || result.is_text || is_time || is_double);
  result.checks_numbers = !is_given && options.origin == JsonSchema::kFoundInSome;
  if (result.checks_numbers && is_time) result.texts = TypeInference::Of(node.type);
  if (result.checks_numbers && options.without_values.contains(path)) result.texts.emplace();
  return result;
}

}  // namespace

class JsonParser::Impl {
 public:
  Impl(const RecordSchema& schema, const JsonParserOptions& options)
      : schema_(schema),
        oldest_reader_(options.oldest_reader),
        columns_(options.columns),
        fields_(schema.nodes().size()),
        seen_in_(schema.nodes().size()) {
    for (size_t i = 0; i < schema_.nodes().size(); ++i) {
      nodes_.push_back(NodeOf(schema_, i, options));
    }
    for (size_t i = 1; i < schema_.nodes().size(); ++i) {
      fields_[schema_.node(i).parent].emplace(schema_.node(i).name, i);
    }
  }

  absl::Status Tell(std::string_view json, RecordVisitor& visitor) {
    visitor_ = &visitor;
    ondemand::document document;
    ondemand::object object;
    CFILE_RETURN_IF_ERROR(OpenRecord(json, parser_, document, object));
    CFILE_RETURN_IF_ERROR(Fields(0, object));
    return CheckEnd(document);
  }

 private:
  absl::Status Wrong(size_t node, std::string_view expected, ondemand::json_type found) const {
    const auto error = absl::InvalidArgumentError(
        StrCat(schema_.Path(node), ": ", expected, " expected, found ", KindName(found)));
    return found == ondemand::json_type::null ? UnfitRows(error) : error;
  }

  absl::Status ErrorIn(size_t group, std::string_view what) const {
    return absl::InvalidArgumentError(StrCat(schema_.Path(group), group == 0 ? "" : ": ", what));
  }

  absl::Status Repeated(size_t group, std::string_view name) const {
    return ErrorIn(group, RepeatedKey(name));
  }

  // These functions recurse to the depth of the schema, which has a limit.

  // Reads a group: an object with its fields.
  absl::Status Fields(size_t node, ondemand::object& object) {
    CFILE_RETURN_IF_ERROR(visitor_->BeginGroup(node));
    const uint64_t object_number = ++objects_;
    // If the fields come in the order of the schema, as usual, no name has to be looked up.
    size_t next = node + 1;
    for (auto item : object) {
      CFILE_RETURN_IF_INVALID_JSON(item.error());
      ondemand::field&& field = std::move(item).value_unsafe();
      if (next == nodes_[node].end || (node == 0 && !columns_.empty()) ||
          !IsNamed(nodes_[next], field.key().raw())) {
        std::string_view name;
        CFILE_RETURN_IF_INVALID_JSON(field.unescaped_key().get(name));
        const auto found = fields_[node].find(name);
        if (node == 0 && !columns_.empty() && !columns_.contains(name)) {
          std::string_view text;
          CFILE_RETURN_IF_INVALID_JSON(ReadJson(field.value(), text));
          continue;
        }
        if (found == fields_[node].end()) {
          ondemand::json_type type;
          CFILE_RETURN_IF_INVALID_JSON(field.value().type().get(type));
          const bool nested =
              type == ondemand::json_type::object || type == ondemand::json_type::array;
          return UnfitRows(ErrorIn(node, StrCat("the schema has no field ", Quoted(name),
                                                nested ? ", " : "", nested ? KindName(type) : "")));
        }
        next = found->second;
      }
      if (std::exchange(seen_in_[next], object_number) == object_number) {
        return Repeated(node, schema_.node(next).name);
      }
      CFILE_RETURN_IF_ERROR(Field(next, field.value()));
      next = nodes_[next].end;
    }
    return visitor_->EndGroup(node);
  }

  // Reads a field: all of its values if it is repeated.
  absl::Status Field(size_t node, ondemand::value& value) {
    ondemand::json_type type;
    CFILE_RETURN_IF_INVALID_JSON(value.type().get(type));
    const Repetition repetition = nodes_[node].repetition;
    if (type == ondemand::json_type::null) {
      CFILE_RETURN_IF_INVALID_JSON(ReadNull(value));
      if (repetition == Repetition::kRequired) return Once(node, value, type);
      return absl::OkStatus();
    }
    if (repetition != Repetition::kRepeated) return Once(node, value, type);
    if (type != ondemand::json_type::array) return Wrong(node, "an array", type);
    ondemand::array array;
    CFILE_RETURN_IF_INVALID_JSON(value.get_array().get(array));
    for (auto element : array) {
      CFILE_RETURN_IF_INVALID_JSON(element.error());
      ondemand::value&& one = std::move(element).value_unsafe();
      CFILE_RETURN_IF_INVALID_JSON(one.type().get(type));
      CFILE_RETURN_IF_ERROR(Once(node, one, type));
    }
    return absl::OkStatus();
  }

  // Reads one value of a field.
  absl::Status Once(size_t node, ondemand::value& value, ondemand::json_type type) {
    const Node& field = nodes_[node];
    if (field.is_leaf) {
      return VisitType(field.physical, [&]<typename T>(std::type_identity<T>) {
        return Leaf<T>(node, value, type);
      });
    }
    if (field.kind == GroupKind::kList) return List(node, value, type);
    if (type != ondemand::json_type::object) return Wrong(node, "an object", type);
    ondemand::object object;
    CFILE_RETURN_IF_INVALID_JSON(value.get_object().get(object));
    return field.kind == GroupKind::kMap ? Map(node, object) : Fields(node, object);
  }

  absl::Status List(size_t node, ondemand::value& value, ondemand::json_type type) {
    if (type != ondemand::json_type::array) return Wrong(node, "an array", type);
    ondemand::array array;
    CFILE_RETURN_IF_INVALID_JSON(value.get_array().get(array));
    const size_t repeated = node + 1;
    const size_t element = nodes_[node].element;
    CFILE_RETURN_IF_ERROR(visitor_->BeginGroup(node));
    for (auto item : array) {
      CFILE_RETURN_IF_INVALID_JSON(item.error());
      ondemand::value&& one = std::move(item).value_unsafe();
      if (element == repeated) {
        CFILE_RETURN_IF_INVALID_JSON(one.type().get(type));
        CFILE_RETURN_IF_ERROR(Once(element, one, type));
        continue;
      }
      CFILE_RETURN_IF_ERROR(visitor_->BeginGroup(repeated));
      CFILE_RETURN_IF_ERROR(Field(element, one));
      CFILE_RETURN_IF_ERROR(visitor_->EndGroup(repeated));
    }
    return visitor_->EndGroup(node);
  }

  absl::Status Map(size_t node, ondemand::object& object) {
    const size_t entry = node + 1, key = node + 2, value = node + 3;
    CFILE_RETURN_IF_ERROR(visitor_->BeginGroup(node));
    map_keys_[node].clear();
    for (auto item : object) {
      CFILE_RETURN_IF_INVALID_JSON(item.error());
      ondemand::field&& field = std::move(item).value_unsafe();
      std::string_view name;
      CFILE_RETURN_IF_INVALID_JSON(field.unescaped_key().get(name));
      CFILE_RETURN_IF_ERROR(visitor_->BeginGroup(entry));
      CFILE_RETURN_IF_ERROR(VisitType(nodes_[key].physical, [&]<typename T>(std::type_identity<T>) {
        return Key<T>(node, name);
      }));
      CFILE_RETURN_IF_ERROR(Field(value, field.value()));
      CFILE_RETURN_IF_ERROR(visitor_->EndGroup(entry));
    }
    return visitor_->EndGroup(node);
  }

  // Reads a key of the map `node`. Keys are compared as values: +1 repeats the key 1.
  template <typename T>
  absl::Status Key(size_t node, std::string_view name) {
    const size_t key = node + 2;
    CFILE_ASSIGN_OR_RETURN(T value, FromText<T>(key, name));
    std::string text;
    AppendText<T>(schema_.node(key).type, value, text);
    if (!map_keys_[node].insert(std::move(text)).second) return Repeated(node, name);
    return visitor_->Value(key, RecordValue(std::in_place_type<T>, value));
  }

  template <typename T>
  absl::Status Leaf(size_t node, ondemand::value& value, ondemand::json_type type) {
    Node& leaf = nodes_[node];
    if (leaf.type.json) {
      std::string_view text;
      CFILE_RETURN_IF_INVALID_JSON(ReadJson(value, text));
      return Value(node, FromText<T>(node, text));
    }
    if (type == ondemand::json_type::string) {
      if (!leaf.takes_strings) return Wrong(node, schema_.node(node).type.ToString(), type);
      std::string_view text;
      CFILE_RETURN_IF_INVALID_JSON(ReadString(value, text));
      if (leaf.texts.has_value() && leaf.texts->Add(text, 0, /*lasting=*/false) &&
          leaf.texts->TypeOfStrings(oldest_reader_) != leaf.type.type) {
        return Wrong(node, leaf.type.type.ToString(), type);
      }
      return Value(node, FromText<T>(node, text));
    }
    if (type == ondemand::json_type::boolean && (std::is_same_v<T, bool> || leaf.takes_bools)) {
      bool boolean;
      CFILE_RETURN_IF_INVALID_JSON(value.get_bool().get(boolean));
      if constexpr (std::is_same_v<T, bool>) return visitor_->Value(node, boolean);
      return Value(node, FromText<T>(node, boolean ? "true" : "false"));
    }
    if (type != ondemand::json_type::number || std::is_same_v<T, bool> || !leaf.takes_numbers) {
      return Wrong(node, schema_.node(node).type.ToString(), type);
    }
    return Number<T>(node, value);
  }

  // False if JsonInference might not find type T for a field with this number.
  template <typename T>
  static bool IsFoundAs(std::string_view token) {
    if constexpr (!std::is_same_v<T, double>) return IsIntegerToken(token);
    constexpr size_t kExactDigits = std::numeric_limits<double>::digits10;
    return token.size() <= kExactDigits || !IsIntegerToken(token);
  }

  template <typename T>
  absl::Status Number(size_t node, ondemand::value& value) {
    if (nodes_[node].checks_numbers && !IsFoundAs<T>(value.raw_json_token())) {
      return Wrong(node, "another number", ondemand::json_type::number);
    }
    // The fast path, for numbers that simdjson reads exactly. ReadNumber below checks all others.
    if constexpr (kIsInteger<T> && !std::is_same_v<T, int128_t>) {
      int64_t number;
      if (nodes_[node].bare_numbers && value.get_int64().get(number) == simdjson::SUCCESS &&
          std::in_range<T>(number)) {
        return visitor_->Value(node, static_cast<T>(number));
      }
    }
    if constexpr (std::is_same_v<T, double>) {
      double number;
      if (value.get_double().get(number) == simdjson::SUCCESS) return visitor_->Value(node, number);
    }
    std::string_view token;
    if (const simdjson::error_code error = ReadNumber(value, token); error != simdjson::SUCCESS) {
      return absl::InvalidArgumentError(
          StrCat(schema_.Path(node), ": ", InvalidJson(error).message(), ": ", Quoted(token)));
    }
    if constexpr (kIsFloat<T>) {
      // A number that is too near to 0 becomes 0.
      T number = 0;
      absl::from_chars(token.data(), token.data() + token.size(), number);
      if (std::abs(number) < std::numeric_limits<T>::max()) return visitor_->Value(node, number);
    }
    return Value(node, FromText<T>(node, token));
  }

  template <typename T>
  absl::StatusOr<T> FromText(size_t node, std::string_view text) {
    if constexpr (kIsBytes<T>) {
      // simdjson has checked that `text` is UTF-8.
      if (nodes_[node].is_text) return text;
    }
    absl::StatusOr<T> value = ParseValue<T>(nodes_[node].type, text, scratch_);
    if (value.ok()) return value;
    return MarkedLike(value.status(), absl::InvalidArgumentError(StrCat(schema_.Path(node), ": ",
                                                                        value.status().message())));
  }

  template <typename T>
  absl::Status Value(size_t node, const absl::StatusOr<T>& value) {
    if (!value.ok()) return value.status();
    return visitor_->Value(node, RecordValue(std::in_place_type<T>, *value));
  }

  const RecordSchema schema_;
  const OldestReader oldest_reader_;
  const std::set<std::string, std::less<>> columns_;
  std::vector<Node> nodes_;
  std::vector<std::unordered_map<std::string_view, size_t>> fields_;  // of each group: name to node
  uint64_t objects_ = 0;           // number of group objects so far, over all records
  std::vector<uint64_t> seen_in_;  // by node: the number of the last object with this field
  // By map: the keys of its last object, in the form of AppendText.
  std::unordered_map<size_t, std::unordered_set<std::string>> map_keys_;
  ondemand::parser parser_;
  RecordVisitor* visitor_ = nullptr;
  std::string scratch_;
};

JsonParser::JsonParser(const RecordSchema& schema, const JsonParserOptions& options)
    : impl_(std::make_unique<Impl>(schema, options)) {}
JsonParser::~JsonParser() = default;

absl::Status JsonParser::Tell(std::string_view json, RecordVisitor& visitor) {
  return impl_->Tell(json, visitor);
}

}  // namespace cfile::tools
