#include "tests/cfile/arrow_testing.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "gtest/gtest.h"

namespace cfile {
namespace {

bool BitOf(const void* bits, int64_t i) {
  return (static_cast<const uint8_t*>(bits)[i / 8] >> (i % 8) & 1) != 0;
}

template <typename T>
T At(const ArrowArray& array, size_t buffer, int64_t i) {
  T value;
  std::memcpy(&value, static_cast<const uint8_t*>(array.buffers[buffer]) + i * sizeof(T),
              sizeof(T));
  return value;
}

std::string_view StringAt(const ArrowArray& array, int64_t i) {
  const auto begin = At<int32_t>(array, 1, i);
  const auto end = At<int32_t>(array, 1, i + 1);
  EXPECT_LE(0, begin);
  EXPECT_LE(begin, end);
  return {static_cast<const char*>(array.buffers[2]) + begin, static_cast<size_t>(end - begin)};
}

std::string ViewAt(const ArrowArray& array, int64_t i) {
  const char* const view = static_cast<const char*>(array.buffers[1]) + 16 * i;
  int32_t parts[4];
  std::memcpy(parts, view, sizeof(parts));
  if (parts[0] <= 12) return std::string(view + 4, static_cast<size_t>(parts[0]));
  const int64_t num_buffers = array.n_buffers - 3;
  EXPECT_GE(parts[2], 0);
  EXPECT_LT(parts[2], num_buffers);
  EXPECT_LE(int64_t{parts[3]} + parts[0],
            At<int64_t>(array, static_cast<size_t>(array.n_buffers - 1), parts[2]));
  const std::string value(static_cast<const char*>(array.buffers[2 + parts[2]]) + parts[3],
                          static_cast<size_t>(parts[0]));
  EXPECT_EQ(std::memcmp(value.data(), view + 4, 4), 0);
  return value;
}

Json ValueAt(const ArrowSchema& schema, const ArrowArray& array, int64_t i) {
  i += array.offset;
  if (array.null_count != 0 && array.buffers[0] != nullptr && !BitOf(array.buffers[0], i)) {
    EXPECT_NE(schema.flags & ARROW_FLAG_NULLABLE, 0) << schema.name;
    return nullptr;
  }
  if (schema.dictionary != nullptr) {
    const auto code = At<int32_t>(array, 1, i);
    EXPECT_GE(code, 0);
    EXPECT_LT(code, array.dictionary->length);
    return ValueAt(*schema.dictionary, *array.dictionary, code);
  }
  const std::string_view format = schema.format;
  if (format == "+s") {
    Json object = Json::object();
    for (int64_t child = 0; child < schema.n_children; ++child) {
      object[schema.children[child]->name] =
          ValueAt(*schema.children[child], *array.children[child], i);
    }
    return object;
  }
  if (format == "+l" || format == "+m") {
    const auto begin = At<int32_t>(array, 1, i);
    const auto end = At<int32_t>(array, 1, i + 1);
    EXPECT_LE(0, begin);
    EXPECT_LE(begin, end);
    EXPECT_LE(end, array.children[0]->length);
    Json list = Json::array();
    for (int64_t element = begin; element < end; ++element)
      list.push_back(ValueAt(*schema.children[0], *array.children[0], element));
    return list;
  }
  if (format == "u" || format == "z") return StringAt(array, i);
  if (format == "vu" || format == "vz") return ViewAt(array, i);
  if (format.starts_with("w:")) {
    const auto width = static_cast<size_t>(std::atoi(format.data() + 2));
    return std::string(static_cast<const char*>(array.buffers[1]) + static_cast<size_t>(i) * width,
                       width);
  }
  if (format.starts_with("d:")) return TextOf(At<int128_t>(array, 1, i));
  if (format == "tdD" || format == "tts" || format == "ttm" || format == "i")
    return At<int32_t>(array, 1, i);
  if (format.starts_with("t") || format == "l") return At<int64_t>(array, 1, i);
  if (format == "b") return BitOf(array.buffers[1], i);
  if (format == "c") return At<int8_t>(array, 1, i);
  if (format == "C") return At<uint8_t>(array, 1, i);
  if (format == "s") return At<int16_t>(array, 1, i);
  if (format == "S") return At<uint16_t>(array, 1, i);
  if (format == "I") return At<uint32_t>(array, 1, i);
  if (format == "L") return At<uint64_t>(array, 1, i);
  if (format == "f") return At<float>(array, 1, i);
  if (format == "g") return At<double>(array, 1, i);
  ADD_FAILURE() << "unknown format " << format;
  return nullptr;
}

// EXPECTs the rules that each array of this type must keep.
void Check(const ArrowSchema& schema, const ArrowArray& array) {
  ASSERT_NE(array.release, nullptr);
  ASSERT_EQ(array.n_children, schema.n_children) << schema.format;
  ASSERT_EQ(array.dictionary == nullptr, schema.dictionary == nullptr);
  const std::string_view format = schema.format;
  const bool is_view = format == "vu" || format == "vz";
  if (is_view && schema.dictionary == nullptr) {
    ASSERT_GE(array.n_buffers, 3);
  } else {
    const bool strings = schema.dictionary == nullptr && (format == "u" || format == "z");
    ASSERT_EQ(array.n_buffers, format == "+s" ? 1 : strings ? 3 : 2) << schema.format;
  }
  int64_t nulls = 0;
  for (int64_t i = 0; array.buffers[0] != nullptr && i < array.length; ++i)
    nulls += !BitOf(array.buffers[0], array.offset + i);
  ASSERT_EQ(array.null_count, nulls);
  for (int64_t i = 1; i < array.n_buffers; ++i) ASSERT_NE(array.buffers[i], nullptr);
  for (int64_t i = 0; i < array.n_children; ++i) {
    if (format == "+s") {
      ASSERT_EQ(array.children[i]->length, array.length);
    }
    Check(*schema.children[i], *array.children[i]);
  }
  if (array.dictionary != nullptr) Check(*schema.dictionary, *array.dictionary);
}

}  // namespace

std::string TextOf(int128_t value) {
  const bool negative = value < 0;
  auto rest = negative ? -static_cast<uint128_t>(value) : static_cast<uint128_t>(value);
  std::string text;
  do {
    text.push_back(static_cast<char>('0' + static_cast<int>(rest % 10)));
    rest /= 10;
  } while (rest > 0);
  if (negative) text.push_back('-');
  std::reverse(text.begin(), text.end());
  return text;
}

size_t ArrowBatches::num_rows() const {
  size_t rows = 0;
  for (const auto& array : arrays) rows += static_cast<size_t>(array->length);
  return rows;
}

std::vector<Json> ArrowBatches::Rows() const {
  std::vector<Json> rows;
  for (const auto& array : arrays) {
    Check(*schema.get(), *array.get());
    if (testing::Test::HasFatalFailure()) return rows;
    for (int64_t i = 0; i < array->length; ++i)
      rows.push_back(ValueAt(*schema.get(), *array.get(), i));
  }
  return rows;
}

absl::StatusOr<ArrowBatches> ReadStream(Released<ArrowArrayStream> stream) {
  const auto check = [&](int code) {
    return code == 0 ? absl::OkStatus() : absl::UnknownError(stream->get_last_error(stream.get()));
  };
  ArrowBatches read;
  absl::Status status = check(stream->get_schema(stream.get(), read.schema.get()));
  while (status.ok()) {
    Released<ArrowArray> array;
    status = check(stream->get_next(stream.get(), array.get()));
    if (array->release == nullptr) break;
    EXPECT_GT(array->length, 0);
    read.arrays.push_back(std::move(array));
  }
  if (!status.ok()) return status;
  return read;
}

std::vector<Json> RowsOf(const absl::StatusOr<ArrowBatches>& read) {
  EXPECT_TRUE(read.ok()) << read.status();
  return read.ok() ? read->Rows() : std::vector<Json>();
}

Reader OpenBytes(std::vector<uint8_t> bytes) {
  auto reader = Reader::Open(NewMemorySource(std::move(bytes)));
  EXPECT_TRUE(reader.ok()) << reader.status();
  return *std::move(reader);
}

testing_support::Column<int64_t> ManyNumbers() {
  testing_support::Column<int64_t> column;
  for (int64_t i = 0; i < 10000; ++i) column.rows.push_back(3 * i);
  return column;
}

const char kNestedRecord[] = R"(
  message Record {
    required int64 id;
    optional binary name (STRING);
    repeated int64 appid;
    optional group tcp { optional int64 mss; required int64 flag; }
    required group outer { optional group inner { required binary text (STRING); } }
    optional group tags (LIST) { repeated group list { optional binary element (STRING); } }
    required group deep (LIST) { repeated group list { optional group element (LIST) {
      repeated group list { required int64 element; } } } }
    optional group points (LIST) { repeated group list { required group element {
      required int64 x; repeated int64 y; optional binary z; } } }
    repeated group pairs { optional int64 a; optional group b { optional int64 c; } }
    optional group map (MAP) { repeated group key_value {
      required binary key (STRING); optional int64 value; } }
  })";

Json RandomRecord(const RecordSchema& schema, size_t number, std::mt19937_64& random) {
  const RecordNode& node = schema.node(number);
  if (node.is_leaf()) {
    if (node.type.data_type == DataType::kInt64) return static_cast<int64_t>(random() % 100);
    return "text " + std::to_string(random() % 1000);
  }
  Json group = Json::object();
  for (size_t child = number + 1; child < node.end; child = schema.node(child).end) {
    const RecordNode& field = schema.node(child);
    if (field.repetition == Repetition::kRepeated) {
      Json list = Json::array();
      for (size_t i = random() % 4; i > 0; --i) list.push_back(RandomRecord(schema, child, random));
      group[field.name] = std::move(list);
    } else if (field.repetition == Repetition::kRequired || random() % 3 > 0) {
      group[field.name] = RandomRecord(schema, child, random);
    }
  }
  return group;
}

std::vector<std::pair<std::string, std::string>> MetadataOf(const ArrowSchema& schema) {
  std::vector<std::pair<std::string, std::string>> pairs;
  const char* bytes = schema.metadata;
  if (bytes == nullptr) return pairs;
  const auto number = [&] {
    int32_t value;
    std::memcpy(&value, bytes, sizeof(value));
    bytes += sizeof(value);
    return static_cast<size_t>(value);
  };
  const auto text = [&] {
    const size_t size = number();
    std::string value(bytes, size);
    bytes += size;
    return value;
  };
  pairs.resize(number());
  for (auto& [key, value] : pairs) {
    key = text();
    value = text();
  }
  return pairs;
}

}  // namespace cfile
