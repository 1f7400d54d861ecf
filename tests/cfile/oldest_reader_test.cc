// WriterOptions::oldest_reader: files and tables that older programs can read. The campaign
// tests/campaign/version_0.1 lets version 0.1 read them.
#include <bit>
#include <filesystem>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cfile/core/wire/messages.h"
#include "cfile/core/wire/parse_message.h"
#include "cfile/core/wire/write_message.h"
#include "cfile/parts/table/manifest/sealed_message.h"
#include "cfile/parts/table/manifest/table_file.h"
#include "cfile/prepared_parts.h"
#include "cfile/table.h"
#include "cfile/table_columns.h"
#include "cfile/table_maintenance.h"
#include "cfile/table_repair.h"
#include "cfile/writer.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/cfile/table_fixture.h"

namespace cfile::oldest_reader_test {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::StartsWith;

constexpr OldestReader kOld = OldestReader::kVersion0_1;
constexpr OldestReader kNew = OldestReader::kVersion0_2;
constexpr OldestReader kNewest = OldestReader::kVersion0_3;
constexpr uint32_t kNewBits = kFeatureOwnEncodings | kFeatureMovableBlocks;

TEST(OldestReaderTest, HasNames) {
  for (const OldestReader reader : {OldestReader::kKudu, kOld, kNew, kNewest}) {
    const auto parsed = ParseOldestReader(OldestReaderName(reader));
    ASSERT_TRUE(parsed.ok()) << parsed.status();
    EXPECT_EQ(*parsed, reader);
  }
  EXPECT_EQ(OldestReaderName(OldestReader::kDefault), "");
  EXPECT_EQ(OldestReaderName(OldestReader{9}), "number 9");
  for (const char* const name : {"", "0.4", "number 9"}) {
    EXPECT_EQ(ParseOldestReader(name).status().code(), absl::StatusCode::kInvalidArgument) << name;
  }
}

// Returns the incompatible features of a file of `values`.
template <typename T>
uint32_t FeaturesOf(const ColumnType& type, const std::vector<T>& values,
                    const WriterOptions& options) {
  std::vector<uint8_t> bytes;
  auto writer = Writer<T>::Create(NewMemorySink(&bytes, "test.cfile"), type, options);
  EXPECT_TRUE(writer.ok()) << writer.status();
  EXPECT_TRUE(writer->Append(std::span<const T>(values)).ok());
  EXPECT_TRUE(writer->Finish().ok());
  const auto reader = Reader::Open(NewMemorySource(bytes, "test.cfile"));
  EXPECT_TRUE(reader.ok()) << reader.status();
  return reader->info().incompatible_features;
}

TEST(OldestReaderTest, AutomaticChoiceTakesNoEncodingThatVersion01Lacks) {
  // Comments, for which FSST is chosen, and numbers of different frequencies, for COMPACT.
  const std::vector<std::string> words = {"delivery", "account", "request", "customer", "product",
                                          "service",  "quickly", "after",   "special",  "order",
                                          "packages", "pending", "above",   "final",    "deposits"};
  std::mt19937_64 random(13);
  std::vector<std::string> texts(40'000);
  for (std::string& text : texts) {
    for (size_t left = 3 + random() % 6; left > 0; --left)
      absl::StrAppend(&text, text.empty() ? "" : " ", words[random() % words.size()]);
  }
  std::vector<int64_t> numbers(40'000);
  for (int64_t& number : numbers) number = 7 + 1000 * std::countr_zero(random() | 1ull << 40);
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  for (const OldestReader reader : {kNew, kOld}) {
    const uint32_t own = reader == kNew ? kFeatureOwnEncodings : 0;
    EXPECT_EQ(
        FeaturesOf(ColumnType::String(), views, {.goal = Goal::kSize, .oldest_reader = reader}) &
            kNewBits,
        own);
    EXPECT_EQ(
        FeaturesOf(ColumnType::Int64(), numbers, {.goal = Goal::kSize, .oldest_reader = reader}) &
            kNewBits,
        own);
    EXPECT_EQ(FeaturesOf(ColumnType::Int64(), numbers,
                         {.movable_blocks = true, .oldest_reader = reader}) &
                  kNewBits,
              reader == kNew ? kFeatureMovableBlocks : 0);
  }
}

TEST(OldestReaderTest, RefusesEncodingsThatVersion01Lacks) {
  std::vector<uint8_t> bytes;
  for (const Encoding encoding : {Encoding::kFor, Encoding::kCompact}) {
    const auto writer =
        Writer<int64_t>::Create(NewMemorySink(&bytes, "test.cfile"), ColumnType::Int64(),
                                {.encoding = encoding, .oldest_reader = kOld});
    EXPECT_EQ(writer.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(writer.status().message(), HasSubstr("version 0.1 has no encoding"));
  }
}

class OldestReaderTableTest : public TableTestBase {
 protected:
  // Expects that version 0.1 can read table.cft and the files of all parts.
  void ExpectOld(uint64_t rows) {
    EXPECT_THAT(ReadFile(table_file_), StartsWith("cfiletb1"));
    const TableReader table = OpenTable();
    EXPECT_EQ(table.oldest_reader(), kOld);
    EXPECT_EQ(table.num_rows(), rows);
    for (size_t part = 0; part < table.num_parts(); ++part) {
      const size_t files = table.schema().columns.size() + (table.schema().key_index() ? 1 : 0);
      for (size_t column = 0; column < files; ++column) {
        const auto file = table.OpenColumn(part, column);
        ASSERT_TRUE(file.ok()) << file.status();
        EXPECT_EQ(file->info().incompatible_features & kNewBits, 0) << part << " " << column;
      }
    }
  }

  // Expects an error that names what ends the promise, and that the table stays as it was.
  void ExpectRefused(const absl::Status& status) {
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
    EXPECT_THAT(status.message(), HasSubstr("RaiseOldestReader"));
    EXPECT_EQ(ReadFile(table_file_), before_);
  }

  std::string before_;
};

TEST_F(OldestReaderTableTest, TableKeepsItsReader) {
  // More parts than table.cft of a newer table would describe itself.
  constexpr uint64_t kParts = 70;
  WritePart(0, 10, ManyTypes(), {.oldest_reader = kOld});
  for (uint64_t part = 1; part < kParts; ++part) WritePart(part * 10, 10);
  ExpectOld(kParts * 10);
  ExpectTable(OpenTable(), kParts * 10);
  const auto report = Compact(path_);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->copied_blocks, 0);
  ExpectOld(kParts * 10);
  ExpectTable(OpenTable(), kParts * 10);
  // A part for older readers than the table's does not change the table.
  WritePart(kParts * 10, 10, ManyTypes(), {.oldest_reader = kOld});
  ExpectOld(kParts * 10 + 10);
}

TEST_F(OldestReaderTableTest, NewTableHasTheNewestReaderOfItsOptions) {
  WritePart(0, 10);
  EXPECT_EQ(OpenTable().oldest_reader(), kNewest);
  const Schema schema{.columns = {{.name = "a", .type = ColumnType::Int32()},
                                  {.name = "b", .type = ColumnType::Int32()}}};
  const std::vector<WriterOptions> options = {{.oldest_reader = OldestReader::kKudu},
                                              {.oldest_reader = kOld}};
  auto writer = TableWriter::Create(directory_.path("two"), schema, options);
  ASSERT_TRUE(writer.ok()) << writer.status();
  const std::vector<int32_t> values = {1, 2};
  ASSERT_TRUE(writer->Append<int32_t>(0, values).ok());
  ASSERT_TRUE(writer->Append<int32_t>(1, values).ok());
  ASSERT_TRUE(writer->Finish().ok());
  const auto table = TableReader::Open(directory_.path("two"));
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_EQ(table->oldest_reader(), kOld);
  EXPECT_TRUE(table->OpenColumn(0, 0)->info().created_by.empty());  // as Kudu writes it
  EXPECT_FALSE(table->OpenColumn(0, 1)->info().created_by.empty());
}

TEST_F(OldestReaderTableTest, RefusesWhatItsReaderDoesNotKnow) {
  WritePart(0, 10, ManyTypes(), {.oldest_reader = kOld});
  before_ = ReadFile(table_file_);
  const ColumnSchema added{.name = "new", .type = ColumnType::Int32(), .nullable = true};
  ExpectRefused(AddColumn(path_, added));
  ExpectRefused(DropColumns(path_, std::vector<std::string>{ManyTypes().columns[1].name}));
  ExpectRefused(ColumnsWriter::Add(path_, std::vector<ColumnSchema>{added}).status());
  ExpectRefused(
      TableWriter::Open(path_, std::vector<WriterOptions>{{.oldest_reader = kNew}}).status());
  // A name is no feature.
  ASSERT_TRUE(RenameColumn(path_, ManyTypes().columns[0].name, "renamed").ok());
  ExpectOld(10);
}

TEST_F(OldestReaderTableTest, WidensColumnsAndAppendsTablesOnlyIfItsReaderKnowsTheResult) {
  const Schema schema{.columns = {{.name = "n", .type = ColumnType::Int32()}}};
  const auto write = [&](const std::string& path, std::vector<int32_t> values,
                         const WriterOptions& options) {
    auto writer = CreateOrAppend(path, schema, std::vector<WriterOptions>{options});
    ASSERT_TRUE(writer.ok()) << writer.status();
    ASSERT_TRUE(writer->Append<int32_t>(0, values).ok());
    ASSERT_TRUE(writer->Finish().ok());
  };
  write(path_, {1, 2}, {.oldest_reader = kOld});
  before_ = ReadFile(table_file_);
  ExpectRefused(WidenColumn(path_, "n", ColumnType::Int64()));
  write(directory_.path("fits"), {3}, {});
  const auto fits = TableReader::Open(directory_.path("fits"));
  ASSERT_TRUE(fits.ok()) << fits.status();
  const auto changes =
      AppendTable(path_, *fits, [](const ColumnSchema&) { return WriterOptions{}; });
  ASSERT_TRUE(changes.ok()) << changes.status();
  ExpectOld(3);
  before_ = ReadFile(table_file_);
  auto replace =
      ColumnsWriter::Replace(path_, {"n"}, std::vector<WriterOptions>{{.oldest_reader = kNew}});
  ASSERT_TRUE(replace.ok()) << replace.status();
  ExpectRefused(replace->Append<int32_t>(0, std::vector<int32_t>{4, 5, 6}));
  const Schema wide{.columns = {{.name = "n", .type = ColumnType::Double()}}};
  auto writer = TableWriter::Create(directory_.path("wide"), wide);
  ASSERT_TRUE(writer.ok()) << writer.status();
  ASSERT_TRUE(writer->Append<double>(0, std::vector<double>{0.5}).ok());
  ASSERT_TRUE(writer->Finish().ok());
  const auto rows = TableReader::Open(directory_.path("wide"));
  ASSERT_TRUE(rows.ok()) << rows.status();
  before_ = ReadFile(table_file_);
  ExpectRefused(
      AppendTable(path_, *rows, [](const ColumnSchema&) { return WriterOptions{}; }).status());
}

TEST_F(OldestReaderTableTest, NullableKeyNeedsVersion02) {
  const Schema schema{.columns = {{.name = "k", .type = ColumnType::Int32(), .nullable = true}},
                      .key_columns = {0}};
  const auto writer =
      TableWriter::Create(path_, schema, std::vector<WriterOptions>{{.oldest_reader = kOld}});
  EXPECT_EQ(writer.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(writer.status().message(), HasSubstr("a nullable key column"));
}

TEST_F(OldestReaderTableTest, IsRaisedByName) {
  WritePart(0, 10, ManyTypes(), {.oldest_reader = kOld});
  const auto same = RaiseOldestReader(path_, kOld);
  ASSERT_TRUE(same.ok()) << same.status();
  EXPECT_EQ(*same, kOld);
  const auto before = RaiseOldestReader(path_, kNew);
  ASSERT_TRUE(before.ok()) << before.status();
  EXPECT_EQ(*before, kOld);
  EXPECT_EQ(OpenTable().oldest_reader(), kNew);
  for (const OldestReader reader : {OldestReader::kKudu, kOld}) {
    const auto lowered = RaiseOldestReader(path_, reader).status();
    EXPECT_EQ(lowered.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(lowered.message(), HasSubstr("write its rows into a new table"));
  }
  EXPECT_EQ(RaiseOldestReader(path_, OldestReader::kDefault).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(RaiseOldestReader(directory_.path("none"), kNew).status().code(),
            absl::StatusCode::kNotFound);
  WritePart(10, 10);
  EXPECT_TRUE(OpenTable().OpenColumn(1, 0)->info().has_movable_blocks());
  const ColumnSchema added{.name = "new", .type = ColumnType::Int32(), .nullable = true};
  EXPECT_TRUE(AddColumn(path_, added).ok());
}

TEST_F(OldestReaderTableTest, RaisingSurvivesALostTableFile) {
  WritePart(0, 10, ManyTypes(), {.oldest_reader = kOld});
  fs::remove(table_file_);
  ASSERT_TRUE(Repair(path_).ok());
  ExpectOld(10);
  ASSERT_TRUE(RaiseOldestReader(path_, kNew).ok());
  fs::remove(table_file_);
  ASSERT_TRUE(Repair(path_).ok());
  EXPECT_EQ(OpenTable().oldest_reader(), kNew);
}

// Replaces table.cft by one with another oldest_reader, sequence and creator.
void Rewrite(const std::string& path, std::optional<uint32_t> reader,
             std::optional<uint64_t> sequence) {
  const std::string bytes = ReadFile(path);
  const std::string_view magics[] = {std::string_view(bytes).substr(0, 8)};
  const auto sealed = internal::UnsealMessage(bytes, magics, "a table", path);
  ASSERT_TRUE(sealed.ok()) << sealed.status();
  internal::wire::Table table;
  ASSERT_TRUE(internal::wire::ParseMessage(sealed->message, SIZE_MAX, table).ok());
  table.oldest_reader = reader;
  table.sequence = sequence;
  WriteFile(path, internal::SealMessage(std::string(magics[0]), internal::wire::Serialize(table)));
}

TEST_F(OldestReaderTableTest, TablesWithoutTheFieldHaveTheReaderOfTheirVersion) {
  WritePart(0, 10, ManyTypes(), kLoose);  // a packed part would be a feature
  const auto reader = [&](std::optional<uint32_t> field, std::optional<uint64_t> sequence) {
    Rewrite(table_file_, field, sequence);
    return OpenTable().oldest_reader();
  };
  EXPECT_EQ(reader(std::nullopt, std::nullopt), kOld);
  EXPECT_EQ(reader(0, std::nullopt), kOld);
  EXPECT_EQ(reader(std::nullopt, 7), kNew);
  EXPECT_EQ(reader(1, 7), OldestReader::kKudu);
  EXPECT_EQ(reader(9, 7), OldestReader{9});
  // A number of a later version stays.
  WritePart(10, 10, ManyTypes(), kLoose);
  EXPECT_EQ(OpenTable().oldest_reader(), OldestReader{9});
  // With a feature that version 0.1 does not know, the table is not for version 0.1.
  ASSERT_TRUE(
      AddColumn(path_, {.name = "new", .type = ColumnType::Int32(), .nullable = true}).ok());
  EXPECT_EQ(reader(2, 9), kNew);
  EXPECT_EQ(reader(std::nullopt, std::nullopt), kNew);
}

TEST_F(OldestReaderTableTest, PreparedPartsKeepIt) {
  const auto prepare = [&](const std::string& path, const std::vector<WriterOptions>& options) {
    auto writer = TableWriter::Prepare(path, ManyTypes(), options);
    EXPECT_TRUE(writer.ok()) << writer.status();
    EXPECT_TRUE(AppendRows(*writer, 0, 10).ok());
    return *writer->FinishPrepared();
  };
  const std::string old = prepare(path_, {{.oldest_reader = kOld}});
  const std::string newer = prepare(path_, {});
  ASSERT_TRUE(CommitParts(path_, std::vector<std::string>{old}).ok());
  ExpectOld(10);
  const auto refused = CommitParts(path_, std::vector<std::string>{newer}).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kAborted);
  EXPECT_THAT(refused.message(), HasSubstr("older readers"));
  ASSERT_TRUE(CommitParts(path_, std::vector<std::string>{prepare(path_, {})}).ok());
  ExpectOld(20);
  const std::string both = directory_.path("both");
  const std::vector<std::string> parts = {prepare(both, {{.oldest_reader = kOld}}),
                                          prepare(both, {})};
  ASSERT_TRUE(CommitParts(both, parts).ok());
  EXPECT_EQ(TableReader::Open(both)->oldest_reader(), kNewest);
}

}  // namespace cfile::oldest_reader_test
