// The metadata of Parquet files: messages of golden files are read and written again with the same
// bytes, random messages survive, and damaged ones give errors.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "cfile/io.h"
#include "cfile/parts/parquet/metadata/file_metadata.h"
#include "cfile/parts/parquet/metadata/message_codec.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/cfile/golden_files.h"
#include "tests/cfile/parquet_testing.h"
#include "tests/cfile/table_fixture.h"
#include "tests/encodings/guarded_bytes.h"

namespace cfile::internal::parquet::parquet_metadata_test {

using encodings::AsBytes;
using encodings::AsString;
using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Random = std::mt19937_64;

constexpr uint64_t kLimit = 1 << 20;

absl::StatusOr<ParquetMetadata> Open(std::span<const uint8_t> bytes) {
  return ReadParquetMetadata(*NewMemoryViewSource(bytes, "the file"), kLimit);
}

bool IsEncrypted(const NamedFile& file) { return file.name.find("encrypted") != std::string::npos; }

// Calls read(bytes, &consumed) and expects that write(message) returns the bytes that were read.
template <typename Read, typename Write>
auto ReadAndWrite(std::span<const uint8_t> bytes, Read read, Write write, size_t* consumed) {
  auto message = read(bytes, consumed);
  EXPECT_TRUE(message.ok()) << message.status();
  typename decltype(message)::value_type read_message;
  if (message.ok()) read_message = *message;
  EXPECT_EQ(write(read_message), AsString(bytes.first(*consumed)));
  return read_message;
}

// Walks the messages outside of the footer. Returns how many there are.
size_t CheckMessages(std::span<const uint8_t> file, const ColumnChunk& chunk) {
  size_t count = 0;
  size_t size;
  const ColumnMetaData& column = *chunk.meta_data;
  // Without data pages, pyarrow writes 0 as their offset.
  size_t at = column.dictionary_page_offset.value_or(0);
  if (at == 0) at = column.data_page_offset;
  const size_t end = at + column.total_compressed_size;
  while (at < end) {
    const PageHeader header =
        ReadAndWrite(file.subspan(at), ReadPageHeader, WritePageHeader, &size);
    at += size + header.compressed_page_size;
    ++count;
  }
  EXPECT_EQ(at, end);
  if (chunk.offset_index_offset) {
    ReadAndWrite(file.subspan(*chunk.offset_index_offset), ReadOffsetIndex, WriteOffsetIndex,
                 &size);
    EXPECT_EQ(size, chunk.offset_index_length);
    ++count;
  }
  if (chunk.column_index_offset) {
    // The Rust crate writes another type of booleans in lists, and a field that is skipped here.
    const auto index = ReadColumnIndex(file.subspan(*chunk.column_index_offset), &size);
    EXPECT_TRUE(index.ok()) << index.status();
    if (index.ok()) {
      size_t written_size;
      const std::string written = WriteColumnIndex(*index);
      const auto again = ReadColumnIndex(AsBytes(written), &written_size);
      EXPECT_TRUE(again.ok() && WriteColumnIndex(*again) == written);
    }
    EXPECT_EQ(size, chunk.column_index_length);
    ++count;
  }
  if (column.bloom_filter_offset) {
    const BloomFilterHeader header =
        ReadAndWrite(file.subspan(*column.bloom_filter_offset), ReadBloomFilterHeader,
                     WriteBloomFilterHeader, &size);
    EXPECT_TRUE(header.algorithm.block && header.hash.xxhash && header.compression.uncompressed);
    EXPECT_EQ(size + header.num_bytes, column.bloom_filter_length.value_or(0));
    ++count;
  }
  return count;
}

// The values are those that pyarrow shows for the metadata of these files.
TEST(ParquetMetadataTest, FieldsHaveTheValuesThatPyarrowShows) {
  const std::string bytes = ReadFile(GoldenPath("pyarrow_page_index"));
  const ParquetMetadata index = Open(AsBytes(bytes)).value();
  EXPECT_EQ(index.file.version, 2);
  EXPECT_EQ(index.file.num_rows, 24);
  EXPECT_EQ(index.file.created_by, "parquet-cpp-arrow version 26.0.1");
  ASSERT_EQ(index.file.column_orders.size(), 3u);
  EXPECT_TRUE(index.file.column_orders[0].type_order.has_value());
  ASSERT_EQ(index.file.schema.size(), 4u);
  EXPECT_EQ(index.file.schema[0].num_children, 3);
  ASSERT_EQ(index.file.row_groups.size(), 3u);
  const RowGroup& group = index.file.row_groups[1];
  EXPECT_EQ(group.num_rows, 10);
  EXPECT_EQ(group.total_byte_size, 350);
  EXPECT_EQ(group.ordinal.value_or(1), 1);
  ASSERT_EQ(group.sorting_columns.size(), 1u);
  EXPECT_EQ(group.sorting_columns[0].column_idx, 0);
  EXPECT_TRUE(group.sorting_columns[0].descending && group.sorting_columns[0].nulls_first);
  const ColumnMetaData& column = group.columns[1].meta_data.value();
  EXPECT_EQ(column.type, Type::kByteArray);
  EXPECT_THAT(column.path_in_schema, ElementsAre("string"));
  EXPECT_EQ(column.codec, CompressionCodec::kUncompressed);
  EXPECT_THAT(column.encodings,
              ElementsAre(Encoding::kPlain, Encoding::kRle, Encoding::kRleDictionary));
  EXPECT_EQ(column.num_values, 10);
  EXPECT_EQ(column.dictionary_page_offset, 485);
  EXPECT_EQ(column.data_page_offset, 559);
  EXPECT_EQ(column.total_compressed_size, 155);
  EXPECT_EQ(column.statistics->min_value, "name 1");
  EXPECT_EQ(column.statistics->max_value, "name 6");
  EXPECT_EQ(column.statistics->null_count, 3);
  EXPECT_EQ(column.statistics->distinct_count, std::nullopt);
}

// Fills messages with random values. Optional fields are often absent.
class Filler {
 public:
  explicit Filler(uint64_t seed) : random_(seed) {}

  template <typename T>
  void Fill(T& value) {
    if constexpr (kIsOptional<T>) {
      if (random_() % 2 == 0) Fill(value.emplace());
    } else if constexpr (std::is_same_v<T, bool>) {
      value = random_() % 2 == 0;
    } else if constexpr (std::is_integral_v<T>) {
      value = static_cast<T>(static_cast<int64_t>(random_()) >> random_() % 64);
    } else if constexpr (std::is_same_v<T, std::string_view>) {
      constexpr std::string_view kText = "a text of some length, of which a part is taken";
      value = kText.substr(0, random_() % kText.size());
    } else if constexpr (kIsList<T>) {
      value.clear();
      for (uint64_t count = random_() % (random_() % 8 == 0 ? 40 : 4); count > 0; --count) {
        typename T::value_type element{};
        Fill(element);
        value.push_back(std::move(element));
      }
    } else {
      AnyField<T>([&](const auto& field) {
        Fill(value.*field.member);
        return false;
      });
    }
  }

 private:
  Random random_;
};

// The bits of all fields: a message is equal to another if these are equal.
template <typename T>
void Flatten(const T& value, std::vector<std::string>& out) {
  if constexpr (kIsOptional<T>) {
    out.push_back(value ? "present" : "absent");
    if (value) Flatten(*value, out);
  } else if constexpr (std::is_integral_v<T>) {
    out.push_back(std::to_string(value));
  } else if constexpr (std::is_same_v<T, std::string_view>) {
    out.emplace_back(value);
  } else if constexpr (kIsList<T>) {
    out.push_back(std::to_string(value.size()));
    for (const typename T::value_type& element : value) Flatten(element, out);
  } else {
    AnyField<T>([&](const auto& field) {
      Flatten(value.*field.member, out);
      return false;
    });
  }
}

template <typename Message>
std::vector<std::string> Flat(const Message& message) {
  std::vector<std::string> flat;
  Flatten(message, flat);
  return flat;
}

template <typename Message>
std::string Written(const Message& message) {
  encodings::ByteWriter out;
  CompactWriter writer(out);
  WriteMessage(writer, message);
  return std::string(out.view());
}

// Reads a message of `bytes`. Returns the error, if there is one.
template <typename Message>
absl::Status Parse(std::span<const uint8_t> bytes, Message& message, size_t* consumed = nullptr) {
  CompactReader in(bytes, 0, kLimit);
  message = {};
  const bool good = ReadMessage(in, message);
  EXPECT_EQ(good, in.status().ok());
  if (consumed != nullptr) *consumed = in.consumed();
  return in.status();
}

// Some footers are written with other bytes: pyarrow and fastparquet have optional lists without
// elements, which WriteFileMetadata omits, and Polars writes the number of a field in the long form
// although the short form has room for it.
TEST(ParquetMetadataTest, MessagesOfGoldenFilesAreWrittenAsTheyWereRead) {
  size_t exact = 0;
  size_t files = 0;
  size_t messages = 0;
  for (const NamedFile& file : GoldenFiles(".parquet", 1 << 20)) {
    if (IsEncrypted(file)) continue;
    SCOPED_TRACE(file.name);
    const auto metadata = Open(file.bytes);
    ASSERT_TRUE(metadata.ok()) << metadata.status();
    const std::string_view bytes = AsString(file.bytes).substr(metadata->offset);
    const std::string written = WriteFileMetadata(metadata->file);
    exact += bytes == written;
    FileMetaData again;
    ASSERT_TRUE(Parse(AsBytes(written), again).ok());
    EXPECT_EQ(Flat(metadata->file), Flat(again));
    for (const RowGroup& group : metadata->file.row_groups) {
      for (const ColumnChunk& chunk : group.columns) messages += CheckMessages(file.bytes, chunk);
    }
    ++files;
  }
  EXPECT_GE(exact, 3u);
  EXPECT_GE(files, 20u);
  EXPECT_GE(messages, 400u);
}

template <typename Message>
void CheckRandomMessages() {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    Message message;
    Filler(seed).Fill(message);
    const std::string bytes = Written(message);
    Message again;
    size_t consumed = 0;
    const std::string with_more = bytes + "and more";
    ASSERT_TRUE(Parse(AsBytes(with_more), again, &consumed).ok());
    EXPECT_EQ(consumed, bytes.size());
    EXPECT_EQ(Flat(message), Flat(again));
  }
}

TEST(ParquetMetadataTest, RandomMessagesAreReadAsTheyWereWritten) {
  CheckRandomMessages<FileMetaData>();
  CheckRandomMessages<PageHeader>();
  CheckRandomMessages<OffsetIndex>();
  CheckRandomMessages<ColumnIndex>();
  CheckRandomMessages<BloomFilterHeader>();
}

template <typename Message>
void CheckDamage() {
  encodings::GuardedBytes guarded(1 << 16);
  for (uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    Message message;
    Filler(seed).Fill(message);
    const std::string bytes = Written(message);
    if (bytes.size() > 400) continue;
    const auto parse = [&](std::string_view damaged) {
      const std::span<uint8_t> copy = guarded.Last<uint8_t>(damaged.size());
      std::memcpy(copy.data(), damaged.data(), damaged.size());
      Message parsed;
      const absl::Status status = Parse(copy, parsed);
      // A message that was read can be written and read again.
      Message again;
      EXPECT_TRUE(!status.ok() || Parse(AsBytes(Written(parsed)), again).ok());
      return status;
    };
    for (size_t size = 0; size < bytes.size(); ++size) {
      const absl::Status status = parse(std::string_view(bytes).substr(0, size));
      EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << size;
      EXPECT_THAT(std::string(status.message()), HasSubstr("at offset "));
    }
    for (size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
      std::string damaged = bytes;
      damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ 1 << bit % 8);
      EXPECT_THAT(parse(damaged).code(), AnyOf(absl::StatusCode::kOk, absl::StatusCode::kDataLoss));
    }
  }
}

TEST(ParquetMetadataTest, EveryPrefixAndEveryFlippedBitOfRandomMessages) {
  CheckDamage<FileMetaData>();
  CheckDamage<PageHeader>();
  CheckDamage<OffsetIndex>();
  CheckDamage<ColumnIndex>();
  CheckDamage<BloomFilterHeader>();
}

// Bytes of a message: a type with the number of the field after the one before, and so on.
std::string Bytes(std::initializer_list<int> bytes) { return {bytes.begin(), bytes.end()}; }

template <typename Message>
std::string ErrorOf(const std::string& bytes) {
  Message message;
  const absl::Status status = Parse(AsBytes(bytes), message);
  if (status.ok()) return "OK";
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  return std::string(status.message());
}

TEST(ParquetMetadataTest, UnknownFieldsAreSkipped) {
  const std::string key = Bytes({0x18, 1, 'k'});  // field 1 of KeyValue
  const std::string unknown[] = {
      Bytes({0x21}),                          // field 3: true
      Bytes({0x22}),                          // false
      Bytes({0x23, 0xff}),                    // 8-bit integer
      Bytes({0x24, 0x80, 1}),                 // 16-bit integer
      Bytes({0x26, 2}),                       // 64-bit integer
      Bytes({0x27, 0, 1, 2, 3, 4, 5, 6, 7}),  // double
      Bytes({0x28, 2, 'a', 'b'}),             // binary
      Bytes({0x29, 0x31, 1, 0, 2}),           // list of three booleans
      Bytes({0x2a, 0x28, 1, 'a', 0}),         // set of two binaries
      Bytes({0x29, 0x0c}),                    // list without elements
      Bytes({0x2b, 0}),                       // map without elements
      Bytes({0x2b, 1, 0x58, 4, 1, 'v'}),      // map of an integer to a binary
      Bytes({0x2c, 0x1c, 0x11, 0, 0}),        // message with a message with a boolean
      Bytes({0x2d, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}),  // UUID
      Bytes({0x05, 0xc8, 1, 2}),                                            // field 100
      Bytes({0x05, 1, 2}),                                                  // field -1
  };
  for (const std::string& field : unknown) {
    SCOPED_TRACE(testing::PrintToString(AsBytes(field)));
    const std::string bytes = key + field + '\0';
    KeyValue pair;
    ASSERT_TRUE(Parse(AsBytes(bytes), pair).ok());
    EXPECT_EQ(pair.key, "k");
    for (size_t size = 0; size < field.size(); ++size)
      EXPECT_NE(ErrorOf<KeyValue>(key + field.substr(0, size) + (size == 0 ? "" : "\0")), "OK");
  }
  LogicalType type;
  ASSERT_TRUE(Parse(AsBytes(Bytes({0x0c, 40, 0, 0})), type).ok());
  EXPECT_EQ(type.unknown_field, 20);
  // Encryption has fields, which are not looked at.
  ColumnChunk chunk;
  ASSERT_TRUE(Parse(AsBytes(Bytes({0x26, 0, 0x6c, 0x1c, 0, 0, 0})), chunk).ok());
  EXPECT_TRUE(chunk.crypto_metadata.has_value());
}

TEST(ParquetMetadataTest, ErrorsSayWhatIsWrong) {
  const auto deep = [](int depth) {
    return Bytes({0x18, 0}) + std::string(depth, 0x2c) + std::string(depth + 1, 0);
  };
  EXPECT_EQ(ErrorOf<KeyValue>(deep(30)), "OK");
  const std::pair<std::string, std::string> kErrors[] = {
      {"", "at offset 0: the message is incomplete"},
      {Bytes({0}), "at offset 1: the message lacks the field key"},
      {Bytes({0x10}), "at offset 1: a field has type 0"},
      {Bytes({0x15, 2}), "at offset 1: field key has type 32-bit integer, expected binary"},
      {Bytes({0x11, 0}), "at offset 1: field key has type boolean, expected binary"},
      {Bytes({0x1e, 0}), "at offset 1: field key has type unknown type, expected binary"},
      {Bytes({0x18, 1, 'a', 0x08, 2, 0, 0}), "at offset 5: field key occurs twice"},
      {Bytes({0x18, 5, 'a'}), "at offset 1: a binary value is incomplete"},
      {Bytes({0x18, 0, 0x2e, 0}), "at offset 3: a value has the unknown type 14"},
      {Bytes({0x18, 0, 0x29, 0xf5, 0xff, 0xff, 0xff, 0xff, 0x0f, 0}),
       "at offset 9: a list has 4294967295 elements, but only 1 bytes follow"},
      {Bytes({0x18, 0, 0x29, 0x20, 0, 0, 0}), "at offset 4: a value has the unknown type 0"},
      {Bytes({0x18, 0, 0x2b, 0xff, 0xff, 0xff, 0xff, 0x0f, 0x00, 0}),
       "at offset 9: a value has the unknown type 0"},
      {Bytes({0x18, 0, 0x2b, 0xff, 0xff, 0xff, 0xff, 0x0f, 0x11, 1}),
       "at offset 10: the message is incomplete"},
      {Bytes({0x18, 0, 0x29, 0x11, 3}), "at offset 5: expected a boolean 0, 1 or 2, found 3"},
      {Bytes({0xf5, 0, 0x05, 0xfe, 0xff, 0x07}),
       "at offset 6: the integer 65535 is outside of its type"},
      {deep(40), "at offset 36: values are nested more than 32 deep"},
  };
  for (const auto& [bytes, error] : kErrors) {
    SCOPED_TRACE(error);
    EXPECT_EQ(ErrorOf<KeyValue>(bytes), error);
  }
  EXPECT_EQ(ErrorOf<DataPageHeader>(Bytes({0x15, 0x80, 0x80, 0x80, 0x80, 0x10})),
            "at offset 6: the integer 2147483648 is outside of its type");
  EXPECT_EQ(ErrorOf<OffsetIndex>(Bytes({0x19, 0x16, 2, 0})),
            "at offset 2: a list has elements of type 64-bit integer, expected message");
  EXPECT_EQ(ErrorOf<SortingColumn>(Bytes({0x15, 0, 0x15, 0, 0})),
            "at offset 3: field descending has type 32-bit integer, expected boolean");
}

TEST(ParquetMetadataTest, MemoryIsBoundedByTheBytes) {
  const auto read = [](const FileMetaData& file) {
    return Open(AsBytes("PAR1" + WriteFileMetadata(file))).status();
  };
  // Column chunks of 3 bytes, which have no metadata.
  FileMetaData file;
  file.row_groups.emplace_back().columns.resize(20'000);
  EXPECT_THAT(std::string(read(file).message()), HasSubstr("bytes of memory"));
  // Columns with short names.
  file = {};
  file.schema.resize(20'000, {.type = Type::kInt32, .repetition_type = 0, .name = "c"});
  EXPECT_TRUE(read(file).ok()) << read(file);
}

TEST(ParquetMetadataTest, FilesThatAreNoParquetFiles) {
  const auto error = [](std::string_view bytes, uint64_t limit) {
    return ReadParquetMetadata(*NewMemoryViewSource(AsBytes(bytes), "the file"), limit)
        .status()
        .ToString();
  };
  for (const char* bytes : {"", "some text that is longer"}) {
    EXPECT_THAT(error(bytes, kLimit),
                HasSubstr("INVALID_ARGUMENT: the file: expected a Parquet file"));
  }
  for (const char* bytes : {"PAR1", "PAR1PAR1", "PAR1 and some text that is longer"}) {
    EXPECT_THAT(error(bytes, kLimit),
                HasSubstr("INVALID_ARGUMENT: the file: the Parquet file is cut off"));
  }
  EXPECT_THAT(error(std::string_view("PAR1\x00\x00\x00\x00PAR1", 12), kLimit),
              HasSubstr("the file: the metadata at offset 4: the message is incomplete"));
  EXPECT_EQ(error(std::string_view("PAR1\x01\x00\x00\x00PAR1", 12), kLimit),
            "DATA_LOSS: the file: at offset 4: the metadata has 1 bytes, expected at most 0");
  EXPECT_EQ(error(std::string_view("PAR1\x00\x00\x02\x00\x00\x00PAR1", 14), 1),
            "OUT_OF_RANGE: the file: the metadata has 2 bytes, above the limit of 1: raise "
            "max_metadata_size_bytes");
}

}  // namespace cfile::internal::parquet::parquet_metadata_test
