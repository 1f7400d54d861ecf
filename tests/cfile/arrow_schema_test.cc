// Schemas of Arrow IPC are read as they were written. tests/interop lets pyarrow read them.
#include "cfile/parts/arrow/schema/ipc_fields.h"

#include "absl/strings/str_split.h"
#include "encodings/core/bytes.h"
#include "gtest/gtest.h"

namespace cfile::internal::arrow_schema_test {

// The formats of types without children.
constexpr absl::string_view kFormats =
    "c C s S i I l L f g z u b d:9,2 d:38,0 tdD tts ttm ttu ttn tss: tsm:UTC tsu:Europe/Berlin "
    "tsn:+02:00 w:1 w:1000 n e Z U vz vu tdm tDs tDn d:9,2,32 d:76,3,256";

TEST(ArrowSchema, IsReadAsItWasWritten) {
  ArrowField root{.format = "+s"};
  for (const absl::string_view format : absl::StrSplit(kFormats, ' ')) {
    root.children.push_back({.format = std::string(format),
                             .name = std::string(root.children.size(), 'x'),
                             .flags = root.children.size() % 2 == 0 ? ARROW_FLAG_NULLABLE : 0});
  }
  root.metadata = {{"of", "the schema"}};
  root.children[3].metadata = {{"key", "value"}, {"", ""}, {"ARROW:extension:name", "arrow.uuid"}};
  const ArrowField list{.format = "+l", .name = "list", .children = {root.children[20]}};
  const ArrowField entries{
      .format = "+s", .name = "entries", .children = {root.children[11], list}};
  root.children.push_back({.format = "+m", .name = "map", .children = {entries}});
  root.children.push_back(list);
  for (const char* format : {"+L", "+vl", "+vL", "+w:3", "+m"}) {
    root.children.push_back({.format = format, .name = format, .children = {entries}});
  }
  root.children.back().flags = ARROW_FLAG_MAP_KEYS_SORTED;
  root.children.push_back(
      {.format = "+r", .name = "runs", .children = {{.format = "i"}, {.format = "u"}}});
  for (const char* index : {"c", "L"}) {
    root.children.push_back(
        {.format = index,
         .name = "codes",
         .metadata = {{"key", "value"}},
         .flags = index[0] == 'c' ? ARROW_FLAG_DICTIONARY_ORDERED : 0,
         .dictionary = {
             {.format = "+l", .flags = ARROW_FLAG_NULLABLE, .children = {{.format = "u"}}}}});
  }
  const std::string message = WriteIpcSchemaMessage(root);
  EXPECT_EQ(message.size() % 8, 0u);
  const auto found = ReadIpcSchemaMessage(encodings::AsBytes(message), {});
  ASSERT_TRUE(found.ok()) << found.status();
  ASSERT_EQ(found->children.size(), root.children.size());
  for (size_t i = 0; i < root.children.size(); ++i)
    EXPECT_TRUE(found->children[i] == root.children[i]) << i << " " << root.children[i].format;
  EXPECT_TRUE(*found == root);
}

TEST(ArrowSchema, OtherTypesAreNotWritten) {
  for (const char* format : {"", "ts", "tq:", "tDq", "+ud:0", "tin", "d:9", "d:9,2,256,1", "q"}) {
    EXPECT_EQ(WriteIpcSchemaMessage({.format = "+s", .children = {{.format = format}}}), "")
        << format;
  }
  const ArrowField codes{.format = "i", .dictionary = {{.format = "u"}}};
  EXPECT_EQ(
      WriteIpcSchemaMessage({.format = "+s", .children = {{.format = "i", .dictionary = {codes}}}}),
      "");
}

}  // namespace cfile::internal::arrow_schema_test
