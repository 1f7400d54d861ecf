#include "tools/records/json_inference.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "cfile/status.h"
#include "tools/records/json_values.h"
#include "tools/utf8.h"
#include "tools/value_meaning.h"

namespace cfile::tools {
namespace {

// kNotFinite: the strings nan, inf and -inf, as `cfile-dump rows` writes these numbers.
enum Kind : uint8_t { kObject, kArray, kString, kBool, kInteger, kFraction, kNotFinite, kNumKinds };
constexpr std::array kKindNames = {"objects",  "arrays",  "strings",   "true or false",
                                   "integers", "numbers", "nan or inf"};

// What is known about all values at one place in the records: a field, the elements of an array, or
// the records themselves.
struct Shape {
  std::string name;                              // of a field
  std::array<uint64_t, kNumKinds> first_line{};  // line of the first value of each kind; 0: none
  uint64_t first_wide = 0;      // line of the first integer that a double may round; 0: none
  bool negative = false;        // there are negative integers
  bool beyond_int64 = false;    // there are integers that uint64 holds but int64 does not
  bool beyond_64_bits = false;  // there are integers that neither int64 nor uint64 holds
  bool beyond_decimal = false;  // there are integers of more than 38 digits
  TypeInference texts;          // of strings
  std::optional<ColumnType> type = std::nullopt;         // of a leaf, if it has values
  TypeReason reason;                                     // of `type`
  uint64_t count = 0;                                    // values that are not null
  uint64_t nulls = 0;                                    // nulls; needed for elements of arrays
  std::vector<std::unique_ptr<Shape>> fields;            // of objects
  std::unordered_map<std::string_view, size_t> numbers;  // of the fields, by name
  std::unique_ptr<Shape> element;                        // of arrays

  bool Saw(Kind kind) const { return first_line[kind] != 0; }
};

// A double holds all integers up to this magnitude exactly.
constexpr int64_t kExactInDouble = int64_t{1} << std::numeric_limits<double>::digits;
constexpr int kMaxDecimalDigits = 38;

RecordNode NamedNode(std::string name, bool required, size_t num_children = 0) {
  return {.name = std::move(name),
          .repetition = required ? Repetition::kRequired : Repetition::kOptional,
          .num_children = num_children};
}

ColumnType TypeOf(const Shape& shape, OldestReader oldest_reader) {
  if (shape.Saw(kBool)) return ColumnType::Bool();
  if (shape.Saw(kFraction) || (shape.Saw(kInteger) && shape.Saw(kNotFinite)))
    return ColumnType::Double();
  if (shape.Saw(kInteger)) {
    if (shape.beyond_decimal) return ColumnType::String();
    if (shape.beyond_64_bits || (shape.beyond_int64 && shape.negative)) {
      return ColumnType::Decimal(kMaxDecimalDigits, 0);
    }
    return shape.beyond_int64 ? ColumnType::Uint64() : ColumnType::Int64();
  }
  return shape.texts.TypeOfStrings(oldest_reader);
}

// What AddNodes finds.
struct Found {
  std::vector<RecordNode> nodes;
  std::vector<JsonLeaf> leaves;

  // `shape`: of the values of the leaf, or null.
  void AddLeaf(RecordNode node, const Shape* shape) {
    nodes.push_back(std::move(node));
    const bool has_values = shape != nullptr && shape->type.has_value();
    nodes.back().type = has_values ? *shape->type : ColumnType::String();
    leaves.push_back({.has_values = has_values,
                      .reason = has_values ? shape->reason : TypeReason{.text = "no values"}});
  }
};

// Adds the nodes of the schema of `shape`. Recurses to the depth of the shape.
void AddNodes(const std::string& name, bool required, const Shape& shape, Found& found) {
  std::vector<RecordNode>& nodes = found.nodes;
  if (shape.Saw(kArray)) {
    nodes.push_back(NamedNode(name, required, 1));
    nodes.back().kind = GroupKind::kList;
    nodes.push_back({.name = "list", .repetition = Repetition::kRepeated, .num_children = 1});
    const bool has_nulls = shape.element->nulls > 0 || shape.element->count == 0;
    AddNodes("element", !has_nulls, *shape.element, found);
  } else if (shape.Saw(kObject) && !shape.fields.empty()) {
    nodes.push_back(NamedNode(name, required, shape.fields.size()));
    for (const auto& field : shape.fields) {
      AddNodes(field->name, field->count == shape.count, *field, found);
    }
  } else if (shape.Saw(kObject)) {
    nodes.push_back(NamedNode(name, required, 1));
    nodes.back().kind = GroupKind::kMap;
    nodes.push_back({.name = "key_value", .repetition = Repetition::kRepeated, .num_children = 2});
    for (const bool is_key : {true, false}) {
      found.AddLeaf(NamedNode(is_key ? "key" : "value", is_key), nullptr);
    }
  } else {
    found.AddLeaf(NamedNode(name, required), &shape);
  }
}

// Computes JsonInference::settled for the values that `shape` describes. Recurses to the depth of
// the shape.
bool Settled(const Shape& shape) {
  if (shape.Saw(kObject) && shape.fields.empty()) return false;
  // Dates among timestamps in nanoseconds make them strings.
  if (shape.type.has_value() && MeaningOf(*shape.type) == Meaning::kTimestamp &&
      UnitOf(*shape.type) == TimeUnit::kNanos) {
    return false;
  }
  if (shape.Saw(kArray)) {
    const Shape& element = *shape.element;
    return element.count + element.nulls > 0 && Settled(element);
  }
  return std::all_of(shape.fields.begin(), shape.fields.end(),
                     [](const auto& field) { return Settled(*field); });
}

}  // namespace

class JsonInference::Impl {
 public:
  Impl(const RecordLimits& limits, std::map<std::string, TextType> given,
       OldestReader oldest_reader, std::set<std::string, std::less<>> columns)
      : limits_(limits),
        given_(std::move(given)),
        oldest_reader_(oldest_reader),
        columns_(std::move(columns)),
        takes_json_(std::any_of(given_.begin(), given_.end(),
                                [](const auto& each) { return each.second.json; })) {}

  absl::Status Add(std::string_view json, uint64_t line) {
    line_ = line;
    path_.clear();
    ondemand::document document;
    ondemand::object object;
    CFILE_RETURN_IF_ERROR(OpenRecord(json, parser_, document, object));
    ++root_.count;
    CFILE_RETURN_IF_ERROR(Fields(root_, object));
    return CheckEnd(document);
  }

  bool settled() const { return Settled(root_); }

  absl::StatusOr<RecordSchema> Schema(const std::string& name) const {
    if (root_.fields.empty()) {
      return absl::InvalidArgumentError("cannot infer a schema: no record has a field");
    }
    return RecordSchema::Create(Find(name).nodes, limits_);
  }

  std::vector<JsonLeaf> Leaves() const { return Find("").leaves; }

  std::vector<std::string> FieldNames() const {
    std::vector<std::string> names;
    for (const auto& field : root_.fields) names.push_back(field->name);
    names.insert(names.end(), left_out_.begin(), left_out_.end());
    return names;
  }

 private:
  Found Find(const std::string& name) const {
    Found found{.nodes = {{.name = name, .num_children = root_.fields.size()}}};
    for (const auto& field : root_.fields) {
      AddNodes(field->name, field->count == root_.count, *field, found);
    }
    return found;
  }

  // Called if a value may have changed the type of the leaf `shape`. `text`: of the value.
  void Note(Shape& shape, std::string_view text) {
    ColumnType type = TypeOf(shape, oldest_reader_);
    if (shape.type == type) return;
    const bool is_first = !shape.type.has_value();
    const bool is_string = type.data_type == DataType::kString;
    shape.reason = {.text = is_first && !is_string ? "all values"
                                                   : StrCat("line ", line_, " has ", Quoted(text)),
                    .is_notable = !is_first};
    shape.type = std::move(type);
  }

  absl::Status Error(std::string_view what,
                     absl::StatusCode code = absl::StatusCode::kInvalidArgument) const {
    std::string path;
    for (const Shape* shape : path_) {
      if (shape->name.empty()) continue;  // an element
      path += (path.empty() ? "" : ".") + shape->name;
    }
    return absl::Status(code, StrCat(path, path.empty() ? "" : ": ", what));
  }

  // These functions recurse to the depth of the JSON, up to limits_.max_depth.

  absl::Status Fields(Shape& shape, ondemand::object& object) {
    std::vector<bool> seen(shape.fields.size());
    for (auto item : object) {
      ondemand::field field;
      CFILE_RETURN_IF_INVALID_JSON(std::move(item).get(field));
      std::string_view name;
      CFILE_RETURN_IF_INVALID_JSON(field.unescaped_key().get(name));
      if (&shape == &root_ && !columns_.empty() && !columns_.contains(name)) {
        if (left_out_.size() < limits_.max_leaves && !left_out_.contains(name))
          left_out_.emplace(name);
        std::string_view text;
        CFILE_RETURN_IF_INVALID_JSON(ReadJson(field.value(), text));
        continue;
      }
      const auto found = shape.numbers.find(name);
      const size_t number = found != shape.numbers.end() ? found->second : shape.fields.size();
      if (number == shape.fields.size()) {
        if (name.empty()) return Error("a field without a name");
        if (++num_shapes_ > limits_.max_leaves) {
          return Error(
              StrCat("field ", num_shapes_, " is ", AboveLimit(limits_.max_leaves, "max_leaves"),
                     "; or, if names are values, give a schema with a map"),
              absl::StatusCode::kOutOfRange);
        }
        shape.fields.push_back(std::make_unique<Shape>());
        shape.fields.back()->name = name;
        shape.numbers.emplace(shape.fields.back()->name, number);
        seen.push_back(false);
      }
      Shape& child = *shape.fields[number];
      if (seen[number]) return Error(RepeatedKey(name));
      seen[number] = true;
      path_.push_back(&child);
      CFILE_RETURN_IF_ERROR(Value(child, field.value()));
      path_.pop_back();
    }
    return absl::OkStatus();
  }

  absl::Status Value(Shape& shape, ondemand::value value) {
    ondemand::json_type type;
    CFILE_RETURN_IF_INVALID_JSON(value.type().get(type));
    if (type == ondemand::json_type::null) {
      CFILE_RETURN_IF_INVALID_JSON(ReadNull(value));
      ++shape.nulls;
      return absl::OkStatus();
    }
    ++shape.count;
    if (const TextType* given = takes_json_ ? Given() : nullptr; given != nullptr && given->json) {
      std::string_view text;
      CFILE_RETURN_IF_INVALID_JSON(ReadJson(value, text));
      if (!shape.type.has_value()) Note(shape, text);
      return absl::OkStatus();
    }
    switch (type) {
      case ondemand::json_type::object: {
        CFILE_RETURN_IF_ERROR(See(shape, kObject));
        ondemand::object object;
        CFILE_RETURN_IF_INVALID_JSON(value.get_object().get(object));
        return Fields(shape, object);
      }
      case ondemand::json_type::array:
        CFILE_RETURN_IF_ERROR(See(shape, kArray));
        return Elements(shape, value);
      case ondemand::json_type::boolean:
        CFILE_RETURN_IF_INVALID_JSON(value.get_bool().error());
        CFILE_RETURN_IF_ERROR(See(shape, kBool));
        if (!shape.type.has_value()) Note(shape, "");
        return absl::OkStatus();
      case ondemand::json_type::string: {
        std::string_view text;
        CFILE_RETURN_IF_INVALID_JSON(ReadString(value, text));
        const bool not_finite = text == "nan" || text == "inf" || text == "-inf";
        CFILE_RETURN_IF_ERROR(See(shape, not_finite ? kNotFinite : kString));
        if (shape.texts.Add(text, line_, /*lasting=*/false)) Note(shape, text);
        return absl::OkStatus();
      }
      default:
        return Number(shape, value);
    }
  }

  absl::Status Elements(Shape& shape, ondemand::value value) {
    ondemand::array array;
    CFILE_RETURN_IF_INVALID_JSON(value.get_array().get(array));
    if (shape.element == nullptr) {
      if (++num_shapes_ > limits_.max_nodes)
        return Error(
            StrCat("field ", num_shapes_, " is ", AboveLimit(limits_.max_nodes, "max_nodes")),
            absl::StatusCode::kOutOfRange);
      shape.element = std::make_unique<Shape>();
    }
    path_.push_back(shape.element.get());
    CFILE_RETURN_IF_ERROR(CheckDepth());
    for (auto item : array) {
      ondemand::value element;
      CFILE_RETURN_IF_INVALID_JSON(std::move(item).get(element));
      CFILE_RETURN_IF_ERROR(Value(*shape.element, element));
    }
    path_.pop_back();
    return absl::OkStatus();
  }

  absl::Status Number(Shape& shape, ondemand::value value) {
    std::string_view token;
    CFILE_RETURN_IF_INVALID_JSON(ReadNumber(value, token));
    const Kind kind = IsIntegerToken(token) ? kInteger : kFraction;
    bool is_new = !shape.Saw(kind);
    if (kind == kInteger) is_new |= NoteInteger(shape, token);
    CFILE_RETURN_IF_ERROR(See(shape, kind));
    if (is_new) Note(shape, token);
    return absl::OkStatus();
  }

  // Notes the range of an integer. Returns true if it may change the type.
  bool NoteInteger(Shape& shape, std::string_view token) const {
    const auto range = [&shape] {
      return std::tuple(shape.negative, shape.beyond_int64, shape.beyond_64_bits,
                        shape.beyond_decimal);
    };
    const auto before = range();
    const auto note = [&](uint64_t& line) { line = line == 0 ? line_ : line; };
    const bool negative = token.starts_with('-');
    if (negative) shape.negative = true;
    const char* const end = token.data() + token.size();
    int64_t number = 0;
    uint64_t large = 0;
    if (std::from_chars(token.data(), end, number).ec == std::errc()) {
      if (number < -kExactInDouble || number > kExactInDouble) note(shape.first_wide);
    } else {
      note(shape.first_wide);
      if (!negative && std::from_chars(token.data(), end, large).ec == std::errc()) {
        shape.beyond_int64 = true;
      } else {
        shape.beyond_64_bits = true;
      }
      if (token.size() - (negative ? 1 : 0) > kMaxDecimalDigits) shape.beyond_decimal = true;
    }
    return range() != before;
  }

  absl::Status CheckDepth() const {
    if (path_.size() <= limits_.max_depth) return absl::OkStatus();
    return Error(
        StrCat("a depth of ", path_.size(), " is ", AboveLimit(limits_.max_depth, "max_depth")),
        absl::StatusCode::kOutOfRange);
  }

  // Notes that a value of `kind` was seen. Error: no type holds both this value and the earlier
  // values.
  absl::Status See(Shape& shape, Kind kind) {
    CFILE_RETURN_IF_ERROR(CheckDepth());
    if (!shape.Saw(kind)) shape.first_line[kind] = line_;
    for (int other = 0; other < kNumKinds; ++other) {
      const bool numbers = other >= kInteger && kind >= kInteger;
      const bool strings =
          std::min<int>(other, kind) == kString && std::max<int>(other, kind) == kNotFinite;
      if (other == kind || numbers || strings || shape.first_line[other] == 0) continue;
      const bool nested = kind == kObject || kind == kArray || other == kObject || other == kArray;
      if (!nested && Given() != nullptr) continue;
      return Conflict(kKindNames[kind], kKindNames[other], shape.first_line[other], !nested);
    }
    if ((shape.Saw(kFraction) || shape.Saw(kNotFinite)) && shape.first_wide != 0 &&
        Given() == nullptr) {
      return Conflict("fractions", "an integer above 2^53", shape.first_wide, true);
    }
    return absl::OkStatus();
  }

  // The type that users give the current field; null: none.
  const TextType* Given() const {
    std::string path;
    for (const Shape* shape : path_)
      path += shape->name.empty() ? ".list.element" : (path.empty() ? "" : ".") + shape->name;
    const auto found = given_.find(path);
    return found == given_.end() ? nullptr : &found->second;
  }

  // `line`: of the first value of the kind `other`. `are_leaves`: a string holds both kinds.
  absl::Status Conflict(std::string_view kind, std::string_view other, uint64_t line,
                        bool are_leaves) const {
    return Error(StrCat(kind, " here and ", other, " in line ", line, ", which no type holds",
                        are_leaves ? "; --type or --schema says which type to use"
                                   : "; --type PATH=json keeps the text of the values"));
  }

  const RecordLimits limits_;
  const std::map<std::string, TextType> given_;
  const OldestReader oldest_reader_;
  const std::set<std::string, std::less<>> columns_;
  const bool takes_json_;  // a type of given_ is json
  ondemand::parser parser_;
  Shape root_;
  std::set<std::string, std::less<>> left_out_;
  size_t num_shapes_ = 0;
  uint64_t line_ = 0;
  std::vector<const Shape*> path_;
};

JsonInference::JsonInference(const RecordLimits& limits, std::map<std::string, TextType> given,
                             OldestReader oldest_reader, std::set<std::string, std::less<>> columns)
    : impl_(std::make_unique<Impl>(limits, std::move(given), oldest_reader, std::move(columns))) {}
JsonInference::~JsonInference() = default;

absl::Status JsonInference::Add(std::string_view json, uint64_t line) {
  return impl_->Add(json, line);
}

bool JsonInference::settled() const { return impl_->settled(); }

std::vector<JsonLeaf> JsonInference::Leaves() const { return impl_->Leaves(); }

std::vector<std::string> JsonInference::FieldNames() const { return impl_->FieldNames(); }

absl::StatusOr<RecordSchema> JsonInference::Schema(const std::string& name) const {
  return impl_->Schema(name);
}

}  // namespace cfile::tools
