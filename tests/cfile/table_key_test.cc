#include "cfile/table.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

#include "cfile/internal/table_file.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/cfile/table_fixture.h"

namespace cfile {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

using TableKeyTest = TableTestBase;

TEST_F(TableKeyTest, SeeksByKeyAcrossParts) {
  const std::vector<std::vector<std::string>> parts = {{"b", "d", "d"}, {},         {"d", "d", "f"},
                                                       {"h"},           {"k", "m"}, {}};
  WriteKeys(parts);
  std::vector<std::string> all;
  for (const auto& part : parts) all.insert(all.end(), part.begin(), part.end());
  auto cursor = OpenTable().NewCursor<std::string_view>(0);
  ASSERT_TRUE(cursor.ok()) << cursor.status();
  for (const std::string key : {"", "a", "b", "bb", "d", "e", "f", "fa", "g", "h", "i", "k", "l",
                                "m", "n", "zz", "d", "a"}) {
    const auto expected = std::lower_bound(all.begin(), all.end(), key);
    const auto found = cursor->SeekToKey(key);
    ASSERT_TRUE(found.ok()) << found.status();
    EXPECT_EQ(found->ordinal, expected - all.begin()) << key;
    EXPECT_EQ(found->exact, expected != all.end() && *expected == key) << key;
    EXPECT_EQ(cursor->ordinal(), found->ordinal);
    // It goes on from there, into the next parts.
    std::vector<std::string> rest;
    while (true) {
      const auto batch = cursor->Next(2);
      ASSERT_TRUE(batch.ok()) << batch.status();
      if (batch->empty()) break;
      rest.insert(rest.end(), batch->values.begin(), batch->values.end());
    }
    EXPECT_EQ(rest, std::vector<std::string>(expected, all.end())) << key;
  }
}

TEST_F(TableKeyTest, SeeksByNumberAcrossParts) {
  const Schema schema{.columns = {{.name = "n", .type = ColumnType::Double()}}};
  const WriterOptions options{.value_index = true};
  for (const std::vector<double>& values : {std::vector<double>{-10, -2.5}, {-1, 0, 1}, {2, 300}}) {
    auto writer = fs::exists(path_) ? TableWriter::Append(path_, {&options, 1})
                                    : TableWriter::Create(path_, schema, {&options, 1});
    ASSERT_TRUE(writer.ok()) << writer.status();
    ASSERT_TRUE((*writer)->Append<double>(0, values).ok());
    ASSERT_TRUE((*writer)->Finish().ok());
  }
  auto cursor = OpenTable().NewCursor<double>(0);
  ASSERT_TRUE(cursor.ok());
  for (const auto& [key, ordinal, exact] :
       std::vector<std::tuple<double, uint64_t, bool>>{{-11, 0, false},
                                                       {-2.5, 1, true},
                                                       {-2, 2, false},
                                                       {1, 4, true},
                                                       {1.5, 5, false},
                                                       {300, 6, true},
                                                       {301, 7, false}}) {
    const auto found = cursor->SeekToKey(key);
    ASSERT_TRUE(found.ok()) << found.status();
    EXPECT_EQ(found->ordinal, ordinal) << key;
    EXPECT_EQ(found->exact, exact) << key;
  }
  EXPECT_EQ(cursor->SeekToKey(std::numeric_limits<double>::quiet_NaN()).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_F(TableKeyTest, NoSeekByKeyWhereThePartsAreUnordered) {
  WriteKeys({{"a", "c"}, {"b"}});
  auto cursor = OpenTable().NewCursor<std::string_view>(0);
  ASSERT_TRUE(cursor.ok());
  const auto found = cursor->SeekToKey("a");
  EXPECT_EQ(found.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(found.status().message(), HasSubstr("part-000001"));
  EXPECT_EQ(cursor->Next(10)->size(), 2);
}

TEST_F(TableKeyTest, NoSeekByKeyWithoutAValueIndex) {
  WriteKeys({{"a", "c"}});
  {
    auto writer = TableWriter::Append(path_);
    ASSERT_TRUE((*writer)->Append<std::string_view>(0, std::vector<std::string_view>{"d"}).ok());
    ASSERT_TRUE((*writer)->Finish().ok());
  }
  auto cursor = OpenTable().NewCursor<std::string_view>(0);
  ASSERT_TRUE(cursor.ok());
  const auto found = cursor->SeekToKey("a");
  EXPECT_EQ(found.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(found.status().message(), HasSubstr("no value index in part-000001"));
}

TEST_F(TableKeyTest, EmptyTableIsSoughtByKey) {
  WriteKeys({{}});
  const auto contents = internal::ParseTable(ReadFile(table_file_), table_file_);
  ASSERT_TRUE(contents.ok()) << contents.status();
  EXPECT_FALSE(contents->parts[0].columns[0].min_key.has_value());
  auto cursor = OpenTable().NewCursor<std::string_view>(0);
  ASSERT_TRUE(cursor.ok());
  const auto found = cursor->SeekToKey("a");
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ(found->ordinal, 0);
  EXPECT_FALSE(found->exact);
}

// The empty string is the least of keys, and not the absence of one.
TEST_F(TableKeyTest, EmptyStringIsAKey) {
  WriteKeys({{""}, {"", "a"}});
  auto cursor = OpenTable().NewCursor<std::string_view>(0);
  ASSERT_TRUE(cursor.ok());
  const auto found = cursor->SeekToKey("");
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ(found->ordinal, 0);
  EXPECT_TRUE(found->exact);
  EXPECT_EQ(cursor->SeekToKey("a")->ordinal, 2);
}

}  // namespace
}  // namespace cfile
