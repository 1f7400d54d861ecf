// A file that is written for Kudu has exactly the bytes that Kudu writes. The test reads files of
// real Kudu and writes their rows again. If the compressed bytes depend on the codec's version,
// only the uncompressed blocks are compared.
#include <algorithm>
#include <cstdio>
#include <deque>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "cfile/inspect.h"
#include "cfile/io.h"
#include "cfile/reader.h"
#include "cfile/writer.h"
#include "encodings/registry.h"
#include "gtest/gtest.h"
#include "tests/golden/minted_files.h"

namespace cfile::kudu_bytes_golden_test {

// Kudu's flush appended this many rows at a time when it wrote these files: the rows of one leaf of
// its in-memory tree. The last append had up to 13 rows. The ends of blocks depend on this number.
constexpr size_t kRowsPerAppend = 7;

std::vector<uint8_t> ReadFile(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

// Calls append(batch) for all rows, kRowsPerAppend rows at a time, as Kudu appended them.
template <typename T, typename Append>
void ForEachAppend(const Reader& reader, Append append) {
  auto cursor = reader.NewCursor<T>();
  ASSERT_TRUE(cursor.ok()) << cursor.status();
  // Without a positional index, rows can be read only in order, and a batch ends at the end of a
  // block. So all rows are read first.
  const bool in_order = !reader.info().positional_index_root;
  const auto values = std::make_unique<T[]>(in_order ? reader.num_rows() : 0);
  std::deque<std::string> texts;
  for (size_t read = 0; in_order && read < reader.num_rows();) {
    const auto batch = cursor->Next(kRowsPerAppend);
    ASSERT_TRUE(batch.ok()) << batch.status();
    ASSERT_FALSE(batch->empty());
    for (T value : batch->values) {
      if constexpr (std::is_same_v<T, std::string_view>) value = texts.emplace_back(value);
      values[read++] = value;
    }
  }
  OwnedBatch<T> rows;
  std::vector<uint64_t> ordinals;
  for (uint64_t begin = 0; begin < reader.num_rows(); begin += ordinals.size()) {
    const uint64_t left = reader.num_rows() - begin;
    ordinals.resize(left < 2 * kRowsPerAppend ? left : kRowsPerAppend);
    std::iota(ordinals.begin(), ordinals.end(), begin);
    if (in_order) {
      append(Batch<T>{.values = {values.get() + begin, ordinals.size()}});
    } else {
      ASSERT_TRUE(cursor->Take(ordinals, rows).ok());
      append(rows.batch());
    }
  }
}

template <typename T>
std::vector<uint8_t> WriteAnew(const Reader& reader, Encoding encoding, size_t block_size_bytes) {
  const FileInfo& info = reader.info();
  std::vector<uint8_t> bytes;
  auto writer = Writer<T>::Create(NewMemorySink(&bytes), info.type,
                                  {.encoding = encoding,
                                   .compression = info.compression,
                                   .nullable = info.nullable,
                                   .positional_index = info.positional_index_root.has_value(),
                                   .value_index = info.value_index_root.has_value(),
                                   .block_size_bytes = block_size_bytes,
                                   .oldest_reader = OldestReader::kKudu,
                                   .metadata = {}});
  EXPECT_TRUE(writer.ok()) << writer.status();
  if (!writer.ok()) return {};

  ForEachAppend<T>(reader, [&](const Batch<T>& batch) {
    const absl::Status status = writer->Append(batch);
    EXPECT_TRUE(status.ok()) << status;
  });
  for (const auto& [key, value] : info.footer_metadata) {
    const ColumnTotals totals = writer->totals();
    const std::string known = key == "min_key"   ? *totals.min_key
                              : key == "max_key" ? *totals.max_key
                                                 : value;
    EXPECT_TRUE(writer->AddMetadata(key, known).ok());
  }
  const absl::Status status = writer->Finish();
  EXPECT_TRUE(status.ok()) << status;
  return bytes;
}

// Returns the uncompressed bytes of all data blocks.
std::vector<std::vector<uint8_t>> Blocks(const std::vector<uint8_t>& file) {
  std::vector<std::vector<uint8_t>> blocks;
  const auto reader = Reader::Open(NewMemoryViewSource(file));
  EXPECT_TRUE(reader.ok()) << reader.status();
  if (!reader.ok()) return blocks;
  const absl::Status status = VisitBlocks(*reader, [&](const BlockInfo& block) {
    blocks.emplace_back(block.bytes.begin(), block.bytes.end());
    return true;
  });
  EXPECT_TRUE(status.ok()) << status;
  return blocks;
}

// Returns why the file's bytes may differ from Kudu's although the blocks are equal. Returns an
// empty string if the bytes must be equal.
std::string Reason(const FileInfo& info) {
  if (!info.has_checksums()) return "it has no checksums, and we always write them";
  if (info.compression == Compression::kSnappy) return "Kudu has another version of Snappy";
  return "";
}

TEST(KuduBytesGolden, AreWrittenAnew) {
  size_t num_files = 0;
  size_t num_equal = 0;
  size_t num_automatic = 0;
  const std::filesystem::path folder = CFILE_SOURCE_DIR "/tests/golden/kudu";
  for (const golden::json& file : golden::ReadManifest(folder).files) {
    const std::filesystem::path path = folder / (file["file"].get<std::string>() + ".cfile");
    const auto reader = Reader::Open(path);
    ASSERT_TRUE(reader.ok()) << reader.status();
    // Skips files whose encoding or codec is not built in.
    if (encodings::FindEncoding(reader->info().encoding) == nullptr ||
        !CheckCompressionBuiltIn(reader->info().compression).ok()) {
      continue;
    }
    SCOPED_TRACE(path.filename());
    // If Kudu chose the encoding itself, the writer chooses the encoding, too.
    const bool automatic = file["origin"]["requested_encoding"] == "AUTO_ENCODING";
    const Encoding encoding = automatic ? Encoding::kAuto : reader->info().encoding;
    num_automatic += automatic ? 1 : 0;
    const std::vector<uint8_t> expected = ReadFile(path);
    const auto found = encodings::VisitPhysicalType(reader->type().physical(), [&](auto t) {
      return WriteAnew<typename decltype(t)::type>(*reader, encoding,
                                                   file["block_size"].get<size_t>());
    });
    ++num_files;
    if (found == expected) {
      ++num_equal;
      continue;
    }
    const auto at = std::mismatch(expected.begin(), expected.end(), found.begin(), found.end());
    EXPECT_NE(Reason(reader->info()), "")
        << expected.size() << " bytes expected, " << found.size()
        << " written, the first difference is at byte " << at.first - expected.begin();
    EXPECT_TRUE(Blocks(found) == Blocks(expected));
    std::printf("not the same to the byte, but every block: %s: %s\n", path.filename().c_str(),
                Reason(reader->info()).c_str());
  }
  std::printf("%zu of %zu files are the same to the byte\n", num_equal, num_files);
  EXPECT_GE(10 * num_equal, 9 * num_files);
  EXPECT_GT(num_automatic, 40u);
}

}  // namespace cfile::kudu_bytes_golden_test
