// What is written for Kudu is, byte for byte, what Kudu wrote: files of real Kudu are read and
// written anew. (Uncompressed ones: a codec's output depends on its version.)
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <numeric>
#include <string>
#include <vector>

#include "cfile/io.h"
#include "cfile/reader.h"
#include "cfile/writer.h"
#include "encodings/registry.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace cfile {
namespace {

// How many rows Kudu's flush handed over at a time when these files were made: those of one leaf of
// its tree in memory. The last leaf had what was left, up to 13. It shows in where blocks end.
constexpr size_t kRowsPerAppend = 7;

std::vector<uint8_t> ReadFile(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

template <typename T>
std::vector<uint8_t> WriteAnew(const Reader& reader, size_t block_size_bytes) {
  const FileInfo& info = reader.info();
  std::vector<uint8_t> bytes;
  auto writer = Writer<T>::Create(NewMemorySink(&bytes), info.type,
                                  {.encoding = info.encoding,
                                   .nullable = info.nullable,
                                   .positional_index = info.positional_index_root.has_value(),
                                   .value_index = info.value_index_root.has_value(),
                                   .block_size_bytes = block_size_bytes,
                                   .compatibility = Compatibility::kKudu,
                                   .metadata = {}});
  EXPECT_TRUE(writer.ok()) << writer.status();
  auto cursor = reader.NewCursor<T>();
  EXPECT_TRUE(cursor.ok()) << cursor.status();
  if (!writer.ok() || !cursor.ok()) return {};

  OwnedBatch<T> rows;
  std::vector<uint64_t> ordinals;
  for (uint64_t begin = 0; begin < info.num_values; begin += ordinals.size()) {
    const uint64_t left = info.num_values - begin;
    ordinals.resize(left < 2 * kRowsPerAppend ? left : kRowsPerAppend);
    std::iota(ordinals.begin(), ordinals.end(), begin);
    EXPECT_TRUE(cursor->Take(ordinals, rows).ok());
    const Batch<T> batch = rows.batch();
    const absl::Status status =
        batch.validity == nullptr
            ? (*writer)->Append(batch.values)
            : (*writer)->Append(batch.values, {batch.validity, (batch.size() + 7) / 8});
    EXPECT_TRUE(status.ok()) << status;
  }
  if (info.value_index_root) {
    EXPECT_TRUE((*writer)->AddMetadata("min_key", (*writer)->min_key()).ok());
    EXPECT_TRUE((*writer)->AddMetadata("max_key", (*writer)->max_key()).ok());
  }
  const absl::Status status = (*writer)->Finish();
  EXPECT_TRUE(status.ok()) << status;
  return bytes;
}

TEST(KuduBytesGolden, AreWrittenAnew) {
  size_t num_files = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(CFILE_SOURCE_DIR "/tests/golden/kudu")) {
    if (entry.path().extension() != ".cfile") continue;
    std::filesystem::path json_path = entry.path();
    json_path.replace_extension(".json");
    const auto json = nlohmann::json::parse(ReadFile(json_path));
    const auto reader = Reader::Open(entry.path());
    // Later encodings have rows of their own in the registry when they come.
    if (!reader.ok() || encodings::FindEncoding(reader->info().encoding) == nullptr) continue;
    if (reader->info().compression != Compression::kNone || !reader->info().has_checksums())
      continue;
    SCOPED_TRACE(entry.path().filename());
    const std::vector<uint8_t> expected = ReadFile(entry.path());
    const auto found = encodings::VisitPhysicalType(reader->type().physical(), [&](auto t) {
      return WriteAnew<typename decltype(t)::type>(*reader, json.at("block_size").get<size_t>());
    });
    const auto difference =
        std::mismatch(expected.begin(), expected.end(), found.begin(), found.end());
    EXPECT_TRUE(difference.first == expected.end() && difference.second == found.end())
        << expected.size() << " bytes expected, " << found.size()
        << " written, the first difference is at byte " << difference.first - expected.begin();
    ++num_files;
  }
  EXPECT_GT(num_files, 80u);
}

}  // namespace
}  // namespace cfile
