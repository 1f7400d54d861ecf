// Reads the Arrow IPC files of tests/golden/arrow, which pyarrow wrote, whole, cut off and changed.
#include "cfile/arrow_ipc.h"

#include <gmock/gmock.h>

#include <fstream>
#include <iterator>

#include "cfile/arrow_import.h"
#include "cfile/storage.h"
#include "tests/cfile/arrow_testing.h"
#include "tests/cfile/scripted_io.h"

namespace cfile::arrow_ipc_golden_test {

using testing::AnyOf;
using testing::HasSubstr;

using Bytes = std::vector<uint8_t>;

Bytes Golden(const std::string& name) {
  std::ifstream in(CFILE_SOURCE_DIR "/tests/golden/arrow/" + name, std::ios::binary);
  Bytes bytes((std::istreambuf_iterator<char>(in)), {});
  EXPECT_FALSE(bytes.empty()) << name;
  return bytes;
}

absl::StatusOr<std::vector<Json>> RowsOf(std::shared_ptr<const Source> source,
                                         const ArrowIpcOptions& options = {}) {
  CFILE_ASSIGN_OR_RETURN(ArrowArrayStream stream, OpenArrowIpc(std::move(source), options));
  Released<ArrowSchema> type;
  EXPECT_EQ(stream.get_schema(&stream, type.get()), 0);
  auto schema = ImportArrowSchema(*type.get());
  auto storage = NewMemoryStorage();
  const auto append = [&]() -> absl::Status {
    CFILE_RETURN_IF_ERROR(schema.status());
    CFILE_ASSIGN_OR_RETURN(TableWriter writer, TableWriter::Create(storage, *schema));
    CFILE_RETURN_IF_ERROR(AppendArrow(writer, &stream));
    return writer.Finish();
  };
  const absl::Status status = append();
  if (stream.release != nullptr) stream.release(&stream);
  CFILE_RETURN_IF_ERROR(status);
  CFILE_ASSIGN_OR_RETURN(const TableReader table, TableReader::Open(storage));
  return RowsOf(Exported(table, TableScanOptions{}, ArrowExportOptions{}));
}

absl::StatusOr<std::vector<Json>> RowsOf(Bytes bytes, const ArrowIpcOptions& options = {}) {
  return RowsOf(NewMemorySource(std::move(bytes), "golden"), options);
}

// The rows of the files with all types.
std::vector<Json> AllTypes(bool has_new_types) {
  std::vector<Json> rows = {
      Json::parse(
          R"({"i":3,"flag":true,"text":"b","large":"x","view":"b","price":"125","fixed":"abc",
          "word":"x","list":[1],"listview":[1],"pair":[1,2],"struct":{"x":1,"y":"p"},"runs":7,
          "map":[{"key":"k","value":1}],"day":1,"at":1})"),
      Json::parse(R"({"i":null,"flag":null,"text":null,"large":"","view":null,"price":null,
          "fixed":null,"word":"y","list":null,"listview":null,"pair":null,"struct":null,"runs":7,
          "map":null,"day":2,"at":2})"),
      Json::parse(R"({"i":1,"flag":false,"text":"a longer word of 29 characters","large":"yy",
          "view":"a longer word of 29 characters","price":"-300","fixed":"def","word":"x",
          "list":[2,3],"listview":[2,3],"pair":[3,4],"struct":{"x":null,"y":"q"},"runs":null,
          "map":[],"day":null,"at":null})")};
  for (Json& row : rows) {
    if (has_new_types) continue;
    for (const char* name : {"view", "listview", "runs"}) row.erase(name);
  }
  return rows;
}

TEST(ArrowIpcGolden, AllTypes) {
  for (const char* name : {"all_types.arrow", "all_types_lz4.arrows", "all_types_zstd.arrows"}) {
    std::vector<Json> expected = AllTypes(true);
    // The second batch is a slice of the first one.
    if (name == std::string("all_types_zstd.arrows")) {
      expected.push_back(expected[1]);
      expected.push_back(expected[2]);
    }
    const auto rows = RowsOf(Golden(name));
    ASSERT_TRUE(rows.ok()) << name << ": " << rows.status();
    EXPECT_EQ(*rows, expected) << name;
    const auto again =
        RowsOf(std::make_shared<testing_support::ScriptedSource>(NewMemorySource(Golden(name))));
    ASSERT_TRUE(again.ok()) << name << ": " << again.status();
    EXPECT_EQ(*again, expected) << name;
  }
}

TEST(ArrowIpcGolden, Version4WithoutContinuationMarkers) {
  EXPECT_EQ(RowsOf(Golden("version_4.arrows")).value(), AllTypes(false));
}

TEST(ArrowIpcGolden, DeltaAndReplacementOfADictionary) {
  const auto rows = RowsOf(Golden("dictionaries.arrows"));
  ASSERT_TRUE(rows.ok()) << rows.status();
  std::vector<std::string> words;
  for (const Json& row : *rows) words.push_back(row["word"].dump());
  EXPECT_THAT(words, testing::ElementsAre("\"a\"", "\"bb\"", "null", "\"ccc\"", "\"a\"", "\"bb\"",
                                          "\"new\"", "\"new\"", "\"new\""));
}

TEST(ArrowIpcGolden, Recognizes) {
  const auto format = [](Bytes bytes) {
    return RecognizeArrowIpc(*NewMemorySource(std::move(bytes))).value();
  };
  EXPECT_EQ(format(Golden("small.arrow")), ArrowIpcFormat::kFile);
  EXPECT_EQ(format(Golden("small.arrows")), ArrowIpcFormat::kStream);
  EXPECT_EQ(format(Golden("version_4.arrows")), ArrowIpcFormat::kStream);
  for (const std::string text : {"", "a,b\n1,2\n", "ARROW1,b\n",
                                 "\xff\xfe"
                                 "a\0,\0b\0\n\0"})
    EXPECT_EQ(format(Bytes(text.begin(), text.end())), ArrowIpcFormat::kNone) << text;
  EXPECT_EQ(format({'a', 0, 0, 0, 'b', 0, 0, 0, '\n', 0, 0, 0}), ArrowIpcFormat::kNone);
}

TEST(ArrowIpcGolden, EachPrefixIsAnErrorOrHasWholeBatches) {
  for (const char* name : {"small.arrow", "small.arrows"}) {
    const Bytes bytes = Golden(name);
    for (size_t size = 0; size < bytes.size(); ++size) {
      const auto rows = RowsOf(Bytes(bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(size)));
      if (rows.ok()) {
        // A stream may end without a marker.
        EXPECT_EQ(name, std::string("small.arrows")) << size;
        EXPECT_THAT(rows->size(), AnyOf(0, 3)) << size;
      } else if (size >= 8) {
        EXPECT_TRUE(absl::IsDataLoss(rows.status()) || absl::IsUnknown(rows.status()))
            << size << ": " << rows.status();
        EXPECT_THAT(std::string(rows.status().message()), HasSubstr("golden: ")) << size;
      }
    }
  }
}

// Each changed bit gives an error or other values. Sanitizers check the memory.
TEST(ArrowIpcGolden, EachBit) {
  for (const char* name : {"small.arrow", "small.arrows"}) {
    Bytes bytes = Golden(name);
    for (size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
      const auto flip = static_cast<uint8_t>(1 << bit % 8);
      bytes[bit / 8] ^= flip;
      const auto rows = RowsOf(bytes, {.max_batch_size_bytes = 1 << 20, .max_array_length = 1000});
      EXPECT_FALSE(rows.status().code() == absl::StatusCode::kInternal ||
                   absl::IsResourceExhausted(rows.status()))
          << bit << ": " << rows.status();
      bytes[bit / 8] ^= flip;
    }
  }
}

TEST(ArrowIpcGolden, Limits) {
  const auto error = [](const char* name, const ArrowIpcOptions& options) {
    return std::string(RowsOf(Golden(name), options).status().message());
  };
  EXPECT_THAT(error("small.arrow", {.max_metadata_size_bytes = 100}),
              HasSubstr("above the limit of 100: raise max_metadata_size_bytes"));
  EXPECT_THAT(error("small.arrow", {.max_batch_size_bytes = 100}),
              HasSubstr("above the limit of 100: raise max_batch_size_bytes"));
  EXPECT_THAT(error("all_types_zstd.arrows", {.max_batch_size_bytes = 1000}),
              HasSubstr("above the limit of 1000: raise max_batch_size_bytes"));
  EXPECT_THAT(error("small.arrow", {.max_array_length = 2}),
              HasSubstr("above the limit of 2: raise max_array_length"));
  EXPECT_THAT(error("small.arrow", {.record_limits = {.max_nodes = 3}}),
              HasSubstr("above the limit of 3: raise max_nodes"));
  EXPECT_THAT(error("small.arrow", {.record_limits = {.max_depth = 1}}),
              HasSubstr("above the limit of 1: raise max_depth"));
}

TEST(ArrowIpcGolden, BytesAfterTheEndOfAStream) {
  Bytes bytes = Golden("small.arrows");
  const Bytes again = bytes;
  bytes.insert(bytes.end(), again.begin(), again.end());
  EXPECT_THAT(std::string(RowsOf(bytes).status().message()), HasSubstr("1264 bytes follow"));
}

TEST(ArrowIpcGolden, SchemaOfAMessage) {
  const Bytes bytes = Golden("all_types_lz4.arrows");
  auto schema = ArrowIpcSchema(bytes);
  ASSERT_TRUE(schema.ok()) << schema.status();
  Released<ArrowSchema> held;
  *held.get() = *schema;
  EXPECT_EQ(held->n_children, 16);
  EXPECT_EQ(held->children[15]->name, std::string("at"));
  EXPECT_EQ(held->children[15]->format, std::string("tsu:Europe/Oslo"));
  EXPECT_TRUE(absl::IsDataLoss(ArrowIpcSchema(std::span(bytes).first(100)).status()));
}

}  // namespace cfile::arrow_ipc_golden_test
