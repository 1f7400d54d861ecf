#include "tests/cfile/arrow_building.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/match.h"
#include "tests/cfile/record_testing.h"

namespace cfile {
namespace {

template <typename T>
void Put(T value, std::vector<uint8_t>& out) {
  const auto* const bytes = reinterpret_cast<const uint8_t*>(&value);
  out.insert(out.end(), bytes, bytes + sizeof(value));
}

void NoRelease(ArrowSchema*) {}
void NoReleaseArray(ArrowArray*) {}

size_t IndexBytes(char format) {
  switch (format) {
    case 'c':
    case 'C':
      return 1;
    case 's':
    case 'S':
      return 2;
    case 'i':
    case 'I':
      return 4;
    default:
      return 8;
  }
}
void PutIndex(int64_t value, char format, std::vector<uint8_t>& out) {
  const auto* const bytes = reinterpret_cast<const uint8_t*>(&value);
  out.insert(out.end(), bytes, bytes + IndexBytes(format));
}

bool IsList(const Shape& shape) {
  return shape.format == "+l" || shape.format == "+L" || shape.format == "+m" ||
         shape.format.starts_with("+w") || shape.format.starts_with("+v");
}

int128_t WideOf(const Json& value) {
  if (!value.is_string()) return value.get<int64_t>();
  int128_t wide;
  std::memcpy(&wide, value.get_ref<const std::string&>().data(), sizeof wide);
  return wide;
}

// Returns how many bytes a decimal has. The last number of the format is the number of bits.
size_t DecimalBytes(const std::string& format) {
  for (const size_t bits : {32, 64, 256}) {
    if (absl::EndsWith(format, "," + std::to_string(bits))) return bits / 8;
  }
  return 16;
}

// Appends a value to `out`. The format has values of a fixed width.
void PutFixed(const std::string& format, const Json& value, std::vector<uint8_t>& out) {
  if (format.starts_with("d:")) {
    const int128_t wide = WideOf(value);
    const int128_t sign = wide < 0 ? -1 : 0;
    std::vector<uint8_t> bytes;
    Put(wide, bytes);
    Put(sign, bytes);
    out.insert(out.end(), bytes.begin(), bytes.begin() + long(DecimalBytes(format)));
  } else if (format.starts_with("w:")) {
    const auto& text = value.get_ref<const std::string&>();
    out.insert(out.end(), text.begin(), text.end());
  } else if (format == "f") {
    Put(value.get<float>(), out);
  } else if (format == "g") {
    Put(value.get<double>(), out);
  } else if (format == "tdm") {
    Put(value.get<int64_t>() * 86'400'000, out);
  } else if (format == "L") {
    Put(value.get<uint64_t>(), out);
  } else {
    const bool four = format == "tdD" || format == "tts" || format == "ttm";
    PutIndex(value.get<int64_t>(), four ? 'i' : format.size() > 1 ? 'l' : format[0], out);
  }
}

// Builds all buffers of a leaf column except the validity.
void PutLeaf(const Shape& shape, const std::vector<Json>& values, BuiltArray& array) {
  const std::string& format = shape.format;
  std::vector<uint8_t>& first = array.buffers.emplace_back();
  if (format == "b") {
    first.resize((values.size() + 7) / 8);
    for (size_t i = 0; i < values.size(); ++i) {
      if (values[i].get<bool>()) first[i / 8] = uint8_t(first[i / 8] | 1u << i % 8);
    }
  } else if (format == "vu" || format == "vz") {
    std::vector<std::vector<uint8_t>> data(2);
    for (size_t i = 0; i < values.size(); ++i) {
      std::string text = values[i].get<std::string>();
      Put(static_cast<int32_t>(text.size()), first);
      if (text.size() <= 12) {
        text.resize(12);
        first.insert(first.end(), text.begin(), text.end());
      } else {
        const size_t buffer = i % 2;
        first.insert(first.end(), text.begin(), text.begin() + 4);
        Put(static_cast<int32_t>(buffer), first);
        Put(static_cast<int32_t>(data[buffer].size()), first);
        data[buffer].insert(data[buffer].end(), text.begin(), text.end());
      }
    }
    std::vector<uint8_t> sizes;
    for (auto& buffer : data) {
      Put(static_cast<int64_t>(buffer.size()), sizes);
      array.buffers.push_back(std::move(buffer));
    }
    array.buffers.push_back(std::move(sizes));
  } else if (std::string("uUzZ").find(format) != std::string::npos) {
    const char offset = format == "u" || format == "z" ? 'i' : 'l';
    std::vector<uint8_t> data;
    PutIndex(0, offset, first);
    for (const Json& value : values) {
      const auto& text = value.get_ref<const std::string&>();
      data.insert(data.end(), text.begin(), text.end());
      PutIndex(static_cast<int64_t>(data.size()), offset, first);
    }
    array.buffers.push_back(std::move(data));
  } else if (format == "n") {
    array.buffers.clear();
  } else {
    for (const Json& value : values) PutFixed(format, value, first);
  }
}

std::unique_ptr<BuiltArray> BuildDictionary(Shape shape, const std::vector<Json>& values,
                                            std::mt19937_64& random, const BuildOptions& options) {
  const char index = shape.index;
  shape.encoding = Shape::Encoding::kPlain;
  std::vector<Json> distinct;
  if (options.garbage && random() % 2 == 0) distinct.push_back(RandomArrowValue(shape, random));
  auto array = std::make_unique<BuiltArray>();
  array->buffers.resize(2);
  array->buffers[0].resize((values.size() + 7) / 8);
  const bool null_in_dictionary = random() % 2 == 0;
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i].is_null() && !null_in_dictionary) {
      PutIndex(options.garbage ? 77 : 0, index, array->buffers[1]);
      continue;
    }
    array->buffers[0][i / 8] = uint8_t(array->buffers[0][i / 8] | 1u << i % 8);
    auto found = std::find(distinct.begin(), distinct.end(), values[i]);
    if (found == distinct.end()) found = distinct.insert(distinct.end(), values[i]);
    PutIndex(found - distinct.begin(), index, array->buffers[1]);
  }
  array->dictionary = BuildArray(shape, distinct, random, options);
  array->c.null_count = -1;
  return array;
}

std::unique_ptr<BuiltArray> BuildRuns(Shape shape, const std::vector<Json>& values,
                                      std::mt19937_64& random, const BuildOptions& options) {
  const char index = shape.index;
  shape.encoding = Shape::Encoding::kPlain;
  std::vector<Json> runs;
  std::vector<Json> ends;
  for (size_t i = 0; i < values.size(); ++i) {
    if (runs.empty() || runs.back() != values[i] || random() % 5 == 0) {
      runs.push_back(values[i]);
      ends.emplace_back();
    }
    ends.back() = i + 1;
  }
  auto array = std::make_unique<BuiltArray>();
  array->children.push_back(BuildArray({.format = std::string(1, index), .nullable = false}, ends,
                                       random, {.slices = false}));
  array->children.push_back(BuildArray(shape, runs, random, options));
  return array;
}

std::unique_ptr<BuiltArray> BuildPlain(const Shape& shape, std::vector<Json> values,
                                       std::mt19937_64& random, const BuildOptions& options) {
  auto array = std::make_unique<BuiltArray>();
  std::vector<uint8_t>& validity = array->buffers.emplace_back((values.size() + 7) / 8);
  Shape present = shape;
  present.nullable = false;
  int64_t nulls = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    if (!values[i].is_null()) {
      validity[i / 8] = uint8_t(validity[i / 8] | 1u << i % 8);
    } else {
      ++nulls;
      // A null also has a place in the buffers. This is the value in that place.
      if (IsList(shape) && !(shape.format.starts_with("+w")) && !options.garbage) {
        values[i] = Json::array();
      } else if (shape.format != "n") {
        values[i] = RandomArrowValue(present, random);
      }
    }
  }
  if (nulls == 0 && random() % 2 == 0) validity.clear();
  array->c.null_count = random() % 2 == 0 ? -1 : nulls;
  if (shape.format == "+s") {
    for (const Shape& child : shape.children) {
      std::vector<Json> fields;
      for (const Json& value : values) fields.push_back(value.at(child.name));
      array->children.push_back(BuildArray(child, fields, random, options));
    }
  } else if (IsList(shape)) {
    std::vector<Json> elements;
    std::vector<uint8_t> offsets, sizes;
    const char offset = shape.format == "+L" || shape.format == "+vL" ? 'l' : 'i';
    const bool views = shape.format.starts_with("+v");
    for (const Json& value : values) {
      PutIndex(static_cast<int64_t>(elements.size()), offset, offsets);
      PutIndex(static_cast<int64_t>(value.size()), offset, sizes);
      elements.insert(elements.end(), value.begin(), value.end());
    }
    if (!views) PutIndex(static_cast<int64_t>(elements.size()), offset, offsets);
    if (!shape.format.starts_with("+w")) array->buffers.push_back(std::move(offsets));
    if (views) array->buffers.push_back(std::move(sizes));
    array->children.push_back(BuildArray(shape.children[0], elements, random, options));
  } else {
    PutLeaf(shape, values, *array);
  }
  return array;
}

}  // namespace

std::string MetadataBytes(const std::vector<std::pair<std::string, std::string>>& metadata) {
  std::vector<uint8_t> bytes;
  Put(static_cast<int32_t>(metadata.size()), bytes);
  for (const auto& [key, value] : metadata) {
    for (const std::string& text : {key, value}) {
      Put(static_cast<int32_t>(text.size()), bytes);
      bytes.insert(bytes.end(), text.begin(), text.end());
    }
  }
  return {bytes.begin(), bytes.end()};
}

std::unique_ptr<BuiltSchema> BuildSchema(const Shape& shape) {
  auto built = std::make_unique<BuiltSchema>();
  built->name = shape.name;
  built->format = shape.format;
  if (!shape.metadata.empty()) built->metadata = MetadataBytes(shape.metadata);
  Shape values = shape;
  values.encoding = Shape::Encoding::kPlain;
  if (shape.encoding == Shape::Encoding::kDictionary) {
    built->format = std::string(1, shape.index);
    built->dictionary = BuildSchema(values);
    built->c.dictionary = &built->dictionary->c;
  } else if (shape.encoding == Shape::Encoding::kRunEnds) {
    built->format = "+r";
    values.name = "values";
    built->children.push_back(BuildSchema(
        {.format = std::string(1, shape.index), .name = "run_ends", .nullable = false}));
    built->children.push_back(BuildSchema(values));
  } else {
    for (const Shape& child : shape.children) built->children.push_back(BuildSchema(child));
  }
  ArrowSchema& c = built->c;
  c.format = built->format.c_str();
  c.name = built->name.c_str();
  c.metadata = built->metadata.empty() ? nullptr : built->metadata.data();
  c.flags = shape.nullable ? ARROW_FLAG_NULLABLE : 0;
  for (const auto& child : built->children) built->pointers.push_back(&child->c);
  c.n_children = static_cast<int64_t>(built->pointers.size());
  c.children = built->pointers.empty() ? nullptr : built->pointers.data();
  c.release = NoRelease;
  return built;
}

void BuiltArray::Point() {
  buffer_pointers.clear();
  for (const auto& buffer : buffers)
    buffer_pointers.push_back(buffer.empty() ? nullptr : buffer.data());
  pointers.clear();
  for (const auto& child : children) pointers.push_back(&child->c);
  c.n_buffers = static_cast<int64_t>(buffers.size());
  c.buffers = buffers.empty() ? nullptr : buffer_pointers.data();
  c.n_children = static_cast<int64_t>(pointers.size());
  c.children = pointers.empty() ? nullptr : pointers.data();
  c.dictionary = dictionary == nullptr ? nullptr : &dictionary->c;
  c.release = NoReleaseArray;
}

std::unique_ptr<BuiltArray> BuildArray(const Shape& shape, const std::vector<Json>& values,
                                       std::mt19937_64& random, const BuildOptions& options) {
  std::vector<Json> all = values;
  size_t offset = 0;
  if (options.slices && random() % 2 == 0) {
    offset = random() % 20;
    for (size_t i = 0; i < offset; ++i) all.insert(all.begin(), RandomArrowValue(shape, random));
    for (size_t i = random() % 3; i > 0; --i) all.push_back(RandomArrowValue(shape, random));
  }
  std::unique_ptr<BuiltArray> array =
      shape.encoding == Shape::Encoding::kDictionary ? BuildDictionary(shape, all, random, options)
      : shape.encoding == Shape::Encoding::kRunEnds  ? BuildRuns(shape, all, random, options)
                                                     : BuildPlain(shape, all, random, options);
  array->c.offset = static_cast<int64_t>(offset);
  array->c.length = static_cast<int64_t>(values.size());
  if (array->c.null_count > 0) {
    array->c.null_count = std::count(values.begin(), values.end(), Json());
    if (array->c.null_count == 0) array->c.null_count = -1;
  }
  array->Point();
  return array;
}

Json RandomArrowValue(const Shape& shape, std::mt19937_64& random) {
  if (shape.nullable && random() % 4 == 0) return Json();
  const std::string& format = shape.format;
  if (format == "n") return Json();
  if (format == "+s") {
    Json value = Json::object();
    for (const Shape& child : shape.children) value[child.name] = RandomArrowValue(child, random);
    return value;
  }
  if (IsList(shape)) {
    Json value = Json::array();
    size_t size = format.starts_with("+w:") ? std::stoul(format.substr(3)) : random() % 4;
    for (; size > 0; --size) value.push_back(RandomArrowValue(shape.children[0], random));
    return value;
  }
  if (format == "b") return random() % 2 == 0;
  if (format == "f") return static_cast<float>(static_cast<int64_t>(random())) / 3;
  if (format == "g") return static_cast<double>(static_cast<int64_t>(random())) / 3;
  const size_t shift = random() % 64;
  if (format.starts_with("w:")) {
    return std::string(std::stoul(format.substr(2)), static_cast<char>('a' + random() % 26));
  }
  if (std::string("uUzZ").find(format[0]) != std::string::npos || format[0] == 'v') {
    // There are only a few different values, so neighbouring rows are often equal.
    return std::string(random() % 3 * 9, static_cast<char>('a' + random() % 3));
  }
  if (format.starts_with("d:")) {
    const int32_t digits = std::stoi(format.substr(2));
    if (digits <= 9) return static_cast<int32_t>(random());
    if (digits <= 18) return static_cast<int64_t>(random());
    return ValueToJson(static_cast<int128_t>(static_cast<int64_t>(random())) << shift / 2);
  }
  if (format == "L") return random() >> shift;
  if (format == "C") return static_cast<uint8_t>(random());
  if (format == "S") return static_cast<uint16_t>(random());
  if (format == "I") return static_cast<uint32_t>(random());
  if (format == "c") return static_cast<int8_t>(random() % 3);
  if (format == "s") return static_cast<int16_t>(random());
  if (format == "i" || format == "tdD" || format == "tdm" || format == "tts" || format == "ttm") {
    return static_cast<int32_t>(static_cast<int32_t>(random()) >> shift % 32);
  }
  return static_cast<int64_t>(random()) >> shift;
}

Json RecordOf(const RecordSchema& schema, size_t number, const Json& value) {
  const RecordNode& node = schema.node(number);
  if (node.is_leaf()) return value;
  Json record = Json::object();
  if (node.kind == GroupKind::kPlain) {
    for (size_t child = number + 1; child < node.end; child = schema.node(child).end) {
      const Json& field = value.at(schema.node(child).name);
      if (!field.is_null()) record[schema.node(child).name] = RecordOf(schema, child, field);
    }
    return record;
  }
  for (const Json& element : value) {
    const Json inner =
        node.kind == GroupKind::kMap ? element : Json{{schema.node(number + 2).name, element}};
    record[schema.node(number + 1).name].push_back(RecordOf(schema, number + 1, inner));
  }
  return record;
}

// A consumer may have put arrays of its own in the places of children.
static void ReleaseChildren(BuiltArray& array) {
  for (const auto& child : array.children) {
    ReleaseChildren(*child);
    if (child->c.release != nullptr) child->c.release(&child->c);
  }
}

ArrowArrayStream* BuiltStream::Open() {
  ++given;
  stream_ = {.get_schema = GetSchema,
             .get_next = GetNext,
             .get_last_error = [](ArrowArrayStream* stream) -> const char* {
               return static_cast<BuiltStream*>(stream->private_data)->error_text;
             },
             .release =
                 [](ArrowArrayStream* stream) {
                   ++static_cast<BuiltStream*>(stream->private_data)->released;
                   stream->release = nullptr;
                 },
             .private_data = this};
  return &stream_;
}

int BuiltStream::GetSchema(ArrowArrayStream* stream, ArrowSchema* out) {
  auto* const self = static_cast<BuiltStream*>(stream->private_data);
  if (self->schema_error != 0) return self->schema_error;
  *out = self->schema->c;
  if (out->release == nullptr) return 0;
  ++self->given;
  out->private_data = self;
  out->release = [](ArrowSchema* given_schema) {
    ++static_cast<BuiltStream*>(given_schema->private_data)->released;
    given_schema->release = nullptr;
  };
  return 0;
}

int BuiltStream::GetNext(ArrowArrayStream* stream, ArrowArray* out) {
  auto* const self = static_cast<BuiltStream*>(stream->private_data);
  if (self->next_ == self->arrays.size()) {
    *out = {};
    return self->next_error;
  }
  *out = self->arrays[self->next_++]->c;
  ++self->given;
  out->private_data = self;
  out->release = [](ArrowArray* array) {
    auto* const owner = static_cast<BuiltStream*>(array->private_data);
    ++owner->released;
    for (const auto& built : owner->arrays) ReleaseChildren(*built);
    array->release = nullptr;
  };
  return 0;
}

}  // namespace cfile
