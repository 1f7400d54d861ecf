// Reads the golden files of every folder with a manifest: of Kudu, of version 0.1 of this library,
// and those that tests/golden/mint.cc wrote with each release. The files hold the rows of their
// manifest. A library with the version number of a folder writes the same bytes. Reads also the
// tables in tests/golden/tables-*, which tests/golden/mint_tables.cc wrote. The environment
// variable CFILE_GOLDEN_DIRS names more folders that have manifests, themselves or in subfolders.
#include <fstream>
#include <set>

#include "cfile/inspect.h"
#include "cfile/table.h"
#include "cfile/table_repair.h"
#include "tests/cfile/golden_rows.h"
#include "tests/cfile/temporary_directory.h"
#include "tests/encodings/golden_vectors.h"
#include "tests/golden/minted_files.h"
#include "tests/golden/table_rows.h"

namespace cfile::golden::minted_golden_test {

namespace fs = std::filesystem;

// Returns the folders that have a manifest.
std::vector<fs::path> Folders() {
  std::set<fs::path> folders;
  for (const std::string& root : encodings::GoldenFolders(CFILE_SOURCE_DIR "/tests/golden")) {
    for (const auto& entry : fs::recursive_directory_iterator(root)) {
      if (entry.path().filename() == kManifest) folders.insert(entry.path().parent_path());
    }
  }
  return {folders.begin(), folders.end()};
}

std::vector<uint8_t> BytesOf(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// EXPECTs that the cursor of a file or of a table returns the records of `leaf`.
template <typename T>
void CheckLevels(auto cursor, const Leaf<T>& leaf) {
  ASSERT_TRUE(cursor.ok()) << cursor.status();
  testing_support::LeafPlace place = PlaceOf(leaf, 0);
  while (true) {
    const auto batch = cursor->Next(13);
    ASSERT_TRUE(batch.ok()) << batch.status();
    ExpectLevels(*batch, 13, leaf, place);
    if (batch->empty()) break;
    if (testing::Test::HasFailure()) return;
  }
  if (leaf.num_records() == 0) return;
  ASSERT_TRUE(cursor->SeekToRecord(leaf.num_records() / 2).ok());
  place = PlaceOf(leaf, leaf.num_records() / 2);
  const auto batch = cursor->Next(5);
  ASSERT_TRUE(batch.ok()) << batch.status();
  ExpectLevels(*batch, 5, leaf, place);
}

void CheckInfo(const FileInfo& info, const Description& column) {
  const bool extends =
      info.version == FormatVersion::kV2 && column.options.oldest_reader == OldestReader::kDefault;
  EXPECT_EQ(info.type.data_type, column.type.data_type);
  if (extends) {  // other files do not store the digits of decimals
    EXPECT_EQ(info.type, column.type);
  }
  EXPECT_EQ(info.compression, column.options.compression);
  EXPECT_EQ(info.version, column.options.version);
  EXPECT_EQ(info.positional_index_root.has_value(), column.options.positional_index);
  EXPECT_EQ(info.value_index_root.has_value(), column.options.value_index);
  EXPECT_EQ(info.statistics.has_value(), column.options.statistics && extends);
  if (column.levels) {
    EXPECT_EQ(info.levels, *column.levels);
  } else {
    EXPECT_EQ(info.nullable, column.options.nullable);
  }
}

bool IsBuiltIn(const FileInfo& info) {
  return encodings::FindEncoding(info.encoding) != nullptr &&
         CheckCompressionBuiltIn(info.compression).ok();
}

// EXPECTs that the file holds the rows. Returns false if this build lacks its encoding or codec.
bool CheckFile(const Reader& reader, const Description& column, const json& rows) {
  const FileInfo& info = reader.info();
  CheckInfo(info, column);
  const bool built_in = IsBuiltIn(info);
  if (info.holds_bloom_filters()) return built_in;  // kudu_golden_test.cc reads these
  VisitType(info.type, [&]<typename T>(std::type_identity<T>) {
    if (!built_in) {
      EXPECT_EQ(reader.NewCursor<T>().status().code(), absl::StatusCode::kUnimplemented);
    } else if (column.levels) {
      CheckLevels<T>(reader.NewLevelCursor<T>(), LeafOf<T>(rows, *column.levels));
      const VerifyReport report = Verify(reader);
      EXPECT_TRUE(report.ok()) << report.damages[0].status;
    } else {
      CheckGoldenRows<T>(reader, ColumnOf<T>(rows).rows);
    }
  });
  return built_in;
}

TEST(MintedGolden, FilesHoldWhatTheManifestSays) {
  size_t num_files = 0;
  for (const fs::path& folder : Folders()) {
    const Manifest manifest = ReadManifest(folder);
    num_files += manifest.files.size();
    size_t read = 0;
    for (const json& file : manifest.files) {
      const Description column = DescriptionOf(file);
      const fs::path path = folder / (file["file"].get<std::string>() + ".cfile");
      SCOPED_TRACE(path);
      for (const auto access : {ReaderOptions::Access::kMap, ReaderOptions::Access::kPread}) {
        const auto reader = Reader::Open(path.string(), {.access = access});
        ASSERT_TRUE(reader.ok()) << reader.status();
        read += CheckFile(*reader, column, manifest.rows.at(column.rows));
        if (testing::Test::HasFailure()) return;
      }
    }
    EXPECT_GT(read, manifest.files.size()) << folder;  // also in builds without codecs
  }
  EXPECT_GT(num_files, 339u + 244 + 500);  // kudu, cfile and cfile-0.2
}

// Returns the rows of a column in all parts of a table.
json RowsOfColumn(const Manifest& manifest, const json& table, size_t column) {
  json rows = json::array();
  for (const json& part : table["parts"]) {
    for (const json& row : manifest.rows.at(part[column].get<std::string>())) rows.push_back(row);
  }
  return rows;
}

void CheckTable(const fs::path& directory, const Manifest& manifest, const json& table) {
  const auto reader = TableReader::Open(directory);
  ASSERT_TRUE(reader.ok()) << reader.status();
  EXPECT_EQ(reader->schema(), SchemaOf(table));
  ASSERT_EQ(reader->num_parts(), table["parts"].size());
  for (size_t i = 0; i < table["columns"].size(); ++i) {
    SCOPED_TRACE(i);
    const Description column = DescriptionOf(table["columns"][i]);
    if (!CanWrite(column)) continue;  // the encoding or the codec is not built in
    const json rows = RowsOfColumn(manifest, table, i);
    VisitType(column.type, [&]<typename T>(std::type_identity<T>) {
      if (column.levels) {
        CheckLevels<T>(reader->NewLevelCursor<T>(i), LeafOf<T>(rows, *column.levels));
        return;
      }
      const GoldenRows<T> expected = ColumnOf<T>(rows).rows;
      auto cursor = reader->NewCursor<T>(i);
      ASSERT_TRUE(cursor.ok()) << cursor.status();
      while (true) {
        const auto batch = cursor->Next(17);
        ASSERT_TRUE(batch.ok()) << batch.status();
        if (batch->empty()) break;
        for (size_t row = 0; row < batch->size(); ++row) ExpectRow(*batch, row, expected);
      }
      EXPECT_EQ(cursor->ordinal(), expected.size());
    });
  }
  const size_t num_files = table["columns"].size() + (reader->schema().key_index() ? 1 : 0);
  for (size_t part = 0; part < reader->num_parts(); ++part) {
    for (size_t i = 0; i < num_files; ++i) {
      if (i < table["columns"].size() && !CanWrite(DescriptionOf(table["columns"][i]))) continue;
      const VerifyReport report = reader->VerifyColumn(part, i);
      EXPECT_TRUE(report.ok()) << report.damages[0].status;
    }
  }
}

TEST(MintedGolden, TablesHoldWhatTheManifestSays) {
  size_t num_tables = 0;
  for (const fs::path& folder : Folders()) {
    const Manifest manifest = ReadManifest(folder);
    num_tables += manifest.tables.size();
    for (const json& table : manifest.tables) {
      SCOPED_TRACE(table["table"]);
      CheckTable(folder / table["table"].get<std::string>(), manifest, table);
      if (testing::Test::HasFailure()) return;
    }
  }
  EXPECT_GE(num_tables, 12u);
}

// Returns false if a file of the table has an encoding or a codec that this build lacks.
bool IsBuiltIn(const TableReader& table) {
  const size_t num_columns = table.schema().columns.size() + (table.schema().key_index() ? 1 : 0);
  for (size_t part = 0; part < table.num_parts(); ++part) {
    for (size_t column = 0; column < num_columns; ++column) {
      const auto file = table.OpenColumn(part, column);
      if (!file.ok() || !IsBuiltIn(file->info())) return false;
    }
  }
  return true;
}

// These tables have chunks, changed columns, nullable key columns, and merged or dropped parts.
// A chunk is a file that describes many parts. Older versions of the library wrote the tables.
// This version reads the same rows as the version that wrote the table.
// The same holds if table.cft and the chunks are lost and the table is repaired.
TEST(MintedGolden, TablesOfEveryFormHoldTheirRows) {
  size_t count = 0;
  for (const auto& folder : fs::directory_iterator(CFILE_SOURCE_DIR "/tests/golden")) {
    if (!folder.path().filename().string().starts_with("tables-")) continue;
    for (const auto& entry : fs::directory_iterator(folder)) {
      if (entry.path().extension() != ".json") continue;
      SCOPED_TRACE(entry.path());
      std::ifstream in(entry.path());
      const json expected = json::parse(in);
      const fs::path golden = fs::path(entry.path()).replace_extension();
      const auto table = TableReader::Open(golden, {.stored_rows = true});
      ASSERT_TRUE(table.ok()) << table.status();
      ++count;
      if (!IsBuiltIn(*table)) continue;
      EXPECT_EQ(ReadAll(golden), expected);

      TemporaryDirectory temporary;
      const fs::path lost = temporary.path("table");
      fs::copy(golden, lost, fs::copy_options::recursive);
      for (const auto& file : fs::directory_iterator(lost)) {
        if (file.is_regular_file()) fs::remove(file);
      }
      const auto report = Repair(lost);
      ASSERT_TRUE(report.ok()) << report.status();
      EXPECT_TRUE(report->complete());
      EXPECT_EQ(ReadAll(lost), expected);
    }
  }
  EXPECT_GE(count, 11u);
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

// A library writes the golden files of its own version again, with the same bytes. If this test
// fails, the written bytes have changed. Such a change needs a new version, and readers of the
// golden files must not need to know about it (cfile/FORMAT.md, Promise and versions).
//
// If a file is compressed, its bytes may differ, because they depend on the version of the codec's
// library; then the uncompressed blocks must be equal. If the writer chose the encodings, the
// blocks may differ, because the choice depends on the available codecs; then the rows must be
// equal.
TEST(MintedGolden, TheSameVersionWritesTheSameBytes) {
  for (const fs::path& folder : Folders()) {
    const Manifest manifest = ReadManifest(folder);
    if (manifest.library != LibraryVersion()) continue;
    for (const json& description : manifest.files) {
      const Description column = DescriptionOf(description);
      if (!CanWrite(column)) continue;  // the encoding or the codec is not built in
      const fs::path path = folder / (description["file"].get<std::string>() + ".cfile");
      SCOPED_TRACE(path);
      const json& rows = manifest.rows.at(column.rows);
      const std::vector<uint8_t> file = WriteFile(column, rows);
      const std::vector<uint8_t> golden = BytesOf(path);
      if (file == golden) continue;
      const bool automatic = column.options.encoding == Encoding::kAuto;
      ASSERT_TRUE(automatic || column.options.compression != Compression::kNone)
          << "the bytes have changed";
      if (automatic) {
        EXPECT_TRUE(CheckFile(*Reader::Open(NewMemoryViewSource(file)), column, rows));
      } else {
        ASSERT_EQ(Blocks(file), Blocks(golden)) << "the blocks have changed";
      }
    }
    TemporaryDirectory temporary;
    for (const json& table : manifest.tables) {
      SCOPED_TRACE(table["table"]);
      const auto name = table["table"].get<std::string>();
      std::vector<Description> columns;
      for (const json& column : table["columns"]) columns.push_back(DescriptionOf(column));
      if (!std::all_of(columns.begin(), columns.end(), CanWrite)) continue;
      const absl::Status written = WriteTable(temporary.path(name), table, manifest.rows);
      ASSERT_TRUE(written.ok()) << written;
      CheckTable(temporary.path(name), manifest, table);
      const auto reader = TableReader::Open(folder / name);
      for (size_t part = 0; part < table["parts"].size(); ++part) {
        for (size_t i = 0; i < columns.size(); ++i) {
          const WriterOptions& options = columns[i].options;
          if (options.compression != Compression::kNone || options.encoding == Encoding::kAuto)
            continue;
          const std::string file = *reader->part_file(part, i);
          EXPECT_EQ(BytesOf(temporary.path(name) + "/" + file), BytesOf(folder / name / file))
              << file;
        }
      }
    }
  }
}

}  // namespace cfile::golden::minted_golden_test
