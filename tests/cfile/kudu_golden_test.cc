// The tests read files of real Kudu and golden files of version 0.1 of this library, by scan, by
// ordinal and by key, and compare them with the expected rows. The environment variable
// CFILE_GOLDEN_DIRS names more folders of golden files, separated by colons. minted_golden_test.cc
// reads the golden files of later versions.
#include <bit>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cfile/inspect.h"
#include "cfile/internal/format/data_block.h"
#include "cfile/reader.h"
#include "encodings/core/key_order.h"
#include "encodings/registry.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/cfile/golden_rows.h"
#include "tests/golden/json_lines.h"

namespace cfile {
namespace {

using nlohmann::json;

std::string FromHex(const std::string& hex) {
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes.push_back(static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

int128_t ParseInt128(const std::string& text) {
  int128_t value = 0;
  for (const char c : text) {
    if (c != '-') value = value * 10 - (c - '0');  // computes -value, so that the least int128 fits
  }
  return text[0] == '-' ? value : -value;
}

template <typename T>
Owned<T> FromJson(const json& value, bool hex) {
  if constexpr (encodings::kIsBytes<T>) {
    return hex ? FromHex(value.get<std::string>()) : value.get<std::string>();
  } else if constexpr (encodings::kIsFloat<T>) {
    if (value == "NaN") return std::numeric_limits<T>::quiet_NaN();
    if (value == "Infinity") return std::numeric_limits<T>::infinity();
    if (value == "-Infinity") return -std::numeric_limits<T>::infinity();
    // Parses the 9 digits as float32, because a conversion to double first would round twice.
    if constexpr (std::is_same_v<T, float>) return std::strtof(value.dump().c_str(), nullptr);
    return value.get<T>();
  } else if constexpr (std::is_same_v<T, int128_t>) {
    return value.is_string() ? ParseInt128(value.get<std::string>())
                             : static_cast<int128_t>(value.get<int64_t>());
  } else if constexpr (std::is_same_v<T, Int96>) {
    return T();  // Kudu has no INT96
  } else {
    return value.get<T>();
  }
}

void CheckFile(const std::filesystem::path& path, int* read) {
  const std::filesystem::path base = path.parent_path() / path.stem();
  const json description = json::parse(std::ifstream(base.string() + ".json"));
  for (const auto access : {ReaderOptions::Access::kMap, ReaderOptions::Access::kPread}) {
    const auto reader = Reader::Open(path.string(), {.access = access});
    ASSERT_TRUE(reader.ok()) << reader.status();
    const FileInfo& info = reader->info();
    EXPECT_EQ(info.num_rows, description["num_values"].get<uint64_t>());
    EXPECT_EQ(info.nullable, description["nullable"].get<bool>());
    EXPECT_EQ(info.positional_index_root.has_value(), description.value("has_posidx", true));
    EXPECT_EQ(info.value_index_root.has_value(), description["has_validx"].get<bool>());
    const encodings::EncodingRow* row = encodings::FindEncoding(info.encoding);
    const bool built_in = row != nullptr && row->Supports(info.type.physical()) &&
                          CheckCompressionBuiltIn(info.compression).ok();
    encodings::VisitPhysicalType(info.type.physical(), [&](auto type) {
      using T = typename decltype(type)::type;
      if (!built_in) {
        EXPECT_EQ(reader->NewCursor<T>().status().code(), absl::StatusCode::kUnimplemented);
        return;
      }
      const bool hex = description.value("hex", false);
      GoldenRows<T> expected;
      for (const json& value : golden::ReadJsonLines(base.string() + ".values.gz")) {
        expected.push_back(value.is_null() ? std::nullopt
                                           : std::optional<Owned<T>>(FromJson<T>(value, hex)));
      }
      CheckGoldenRows<T>(*reader, expected);
      ++*read;
    });
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(KuduGolden, ReadsBackExactly) {
  std::vector<std::string> folders = {CFILE_SOURCE_DIR "/tests/golden/kudu",
                                      CFILE_SOURCE_DIR "/tests/golden/cfile"};  // version 0.1
  if (const char* more = std::getenv("CFILE_GOLDEN_DIRS")) {
    std::istringstream list(more);
    for (std::string folder; std::getline(list, folder, ':');) {
      if (!folder.empty()) folders.push_back(folder);
    }
  }
  int files = 0;
  int read = 0;
  for (const std::string& folder : folders) {
    if (!std::filesystem::is_directory(folder)) continue;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      if (entry.path().extension() != ".cfile") continue;
      SCOPED_TRACE(entry.path().string());
      ++files;
      CheckFile(entry.path(), &read);
    }
  }
  EXPECT_GE(files, 338 + 200);
  EXPECT_GE(read, 2 * (338 + 200));
  std::printf("%d files, %d readings\n", files, read);
}

// Calls check(reader, description, path without suffix) for each file in `folder`. The folder holds
// files that Kudu stores in addition to its columns.
template <typename Check>
void ForSideFiles(const char* folder, int expected, Check check) {
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(
           std::string(CFILE_SOURCE_DIR "/tests/golden/kudu/") + folder)) {
    if (entry.path().extension() != ".cfile") continue;
    SCOPED_TRACE(entry.path().string());
    const auto reader = Reader::Open(entry.path().string());
    ASSERT_TRUE(reader.ok()) << reader.status();
    const std::string base = (entry.path().parent_path() / entry.path().stem()).string();
    check(*reader, json::parse(std::ifstream(base + ".json")), base);
    const VerifyReport report = Verify(*reader);
    EXPECT_TRUE(report.ok()) << report.damages[0].status;
    EXPECT_EQ(report.bytes_checked, reader->info().file_size_bytes);
    ++files;
  }
  EXPECT_EQ(files, expected);
}

TEST(KuduGolden, ShowsBloomFiltersAsBytes) {
  ForSideFiles("bloom", 6, [](const Reader& reader, const json& description, const std::string&) {
    EXPECT_TRUE(reader.info().holds_bloom_filters());
    const json& filters = description["blocks"];
    size_t index = 0;
    const absl::Status status = VisitBlocks(reader, [&](const BlockInfo& block) {
      const json& filter = filters.at(index++);
      EXPECT_EQ(block.pointer.offset, filter["offset"].get<uint64_t>());
      // A block consists of the header's length, the header and the bits.
      const size_t bits = filter["bits_bytes"].get<size_t>();
      EXPECT_EQ(block.bytes.size(), 4 + 2 + bits);
      EXPECT_EQ(block.bytes[5], filter["num_hash_functions"].get<int>());
      int ones = 0;
      for (const uint8_t byte : block.bytes.last(bits)) ones += std::popcount(byte);
      EXPECT_EQ(ones, filter["ones"].get<int>());
      for (const size_t size : {0, 3, 5, 6})  // the bits are missing
        EXPECT_FALSE(internal::CheckBloomFilter(block.bytes.first(size)).ok()) << size;
      return true;
    });
    EXPECT_TRUE(status.ok()) << status;
    EXPECT_EQ(index, filters.size());
    EXPECT_EQ(reader.NewCursor<std::string_view>()->SeekToKey("").status().code(),
              absl::StatusCode::kFailedPrecondition);
  });
}

TEST(KuduGolden, ReadsDeltasBack) {
  ForSideFiles("delta", 3, [](const Reader& reader, const json&, const std::string& base) {
    if (!CheckCompressionBuiltIn(reader.info().compression).ok()) return;
    EXPECT_FALSE(reader.info().holds_bloom_filters());
    auto cursor = reader.NewCursor<std::string_view>();
    ASSERT_TRUE(cursor.ok()) << cursor.status();
    ASSERT_TRUE(cursor->SeekToKey("").ok());  // the file has only a value index
    const std::vector<json> expected = golden::ReadJsonLines(base + ".values.gz");
    size_t row = 0;
    while (true) {
      const auto batch = cursor->Next(1000);
      ASSERT_TRUE(batch.ok()) << batch.status();
      if (batch->empty()) break;
      for (const std::string_view value : batch->values) {
        ASSERT_LT(row, expected.size());
        ASSERT_EQ(value, FromHex(expected[row++].get<std::string>()));
      }
    }
    EXPECT_EQ(row, expected.size());
  });
}

}  // namespace
}  // namespace cfile
