#include "tests/cfile/table_contents.h"

#include <filesystem>
#include <sstream>
#include <type_traits>

#include "absl/strings/str_cat.h"
#include "cfile/inspect.h"
#include "gtest/gtest.h"
#include "tests/cfile/table_fixture.h"

namespace cfile {
namespace {

template <typename T>
std::string TextOf(const T& value) {
  std::ostringstream text;
  if constexpr (std::is_same_v<T, int128_t> || std::is_same_v<T, uint128_t>) {
    text << static_cast<int64_t>(value);
  } else if constexpr (std::is_same_v<T, Int96>) {
    text << "int96";
  } else {
    text << +value;
  }
  return text.str();
}
template <>
std::string TextOf(const std::string_view& value) {
  return std::string(value);
}
template <>
std::string TextOf(const bool& value) {
  return value ? "true" : "false";
}

}  // namespace

std::vector<std::string> ValuesOf(const TableReader& table, size_t column) {
  std::vector<std::string> values;
  const ColumnSchema& schema = table.schema().columns[column];
  VisitType(schema.type, [&]<typename T>(std::type_identity<T>) {
    auto cursor = table.NewCursor<T>(column);
    EXPECT_TRUE(cursor.ok()) << cursor.status();
    while (cursor.ok()) {
      const auto batch = cursor->Next(7);
      EXPECT_TRUE(batch.ok()) << batch.status();
      if (!batch.ok() || batch->empty()) break;
      for (size_t i = 0; i < batch->size(); ++i) {
        values.push_back(batch->IsValid(i) ? TextOf<T>(batch->values[i]) : "null");
      }
    }
  });
  EXPECT_EQ(values.size(), table.num_rows()) << schema.name;
  return values;
}

std::vector<std::string> Contents(const TableReader& table) {
  std::vector<std::string> contents;
  for (size_t column = 0; column < table.schema().columns.size(); ++column) {
    const ColumnSchema& schema = table.schema().columns[column];
    contents.push_back(
        absl::StrCat(schema.name, " ", schema.type.ToString(), schema.nullable ? " null" : ""));
    for (const std::string& value : ValuesOf(table, column)) {
      absl::StrAppend(&contents.back(), " ", value);
    }
    for (size_t part = 0; part < table.num_parts(); ++part) {
      const VerifyReport report = table.VerifyColumn(part, column);
      EXPECT_TRUE(report.ok()) << report.damages[0].status;
    }
  }
  if (const auto key_index = table.schema().key_index()) {
    for (size_t part = 0; part < table.num_parts(); ++part) {
      const VerifyReport report = table.VerifyColumn(part, *key_index);
      EXPECT_TRUE(report.ok()) << report.damages[0].status;
    }
  }
  return contents;
}

absl::Status AppendNumbers(TableWriter& writer, const Schema& schema, int64_t first, size_t count) {
  for (size_t column = 0; column < schema.columns.size(); ++column) {
    const absl::Status status = AppendNumbers(writer, column, schema.columns[column], first, count);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

void WriteFiles(const Storage& storage, const std::string& path) {
  const auto files = storage.List("");
  ASSERT_TRUE(files.ok()) << files.status();
  for (const StorageEntry& file : *files) {
    const std::string to = path + "/" + file.path;
    std::filesystem::create_directories(std::filesystem::path(to).parent_path());
    WriteFile(to, storage.Read(file.path, UINT64_MAX)->bytes);
  }
}

}  // namespace cfile
