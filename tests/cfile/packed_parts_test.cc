// Packed parts: tables whose parts have one file for all columns.
#include "cfile/packed_file.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <numeric>
#include <set>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cfile/io.h"
#include "cfile/parts/table/manifest/table_file.h"
#include "cfile/parts/table/packed/packed_directory.h"
#include "cfile/table.h"
#include "cfile/table_columns.h"
#include "cfile/table_maintenance.h"
#include "cfile/table_repair.h"
#include "cfile/table_scan.h"
#include "encodings/core/bytes.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/cfile/request_counts.h"
#include "tests/cfile/scripted_io.h"
#include "tests/cfile/table_fixture.h"

namespace cfile::packed_parts_test {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing_support::Counts;
using testing_support::IoCall;
using testing_support::ScriptedStorage;
using testing_support::Trips;
using Bytes = std::vector<uint8_t>;

const WriterOptions kPacked{.max_packed_part_bytes = SIZE_MAX};

class PackedPartsTest : public TableTestBase {
 protected:
  // Returns the names of the files in a part's folder that have columns.
  std::vector<std::string> DataFiles(size_t part) {
    std::vector<std::string> names;
    const auto files = NewLocalStorage(path_)->List(OpenTable().part(part)->name);
    for (const StorageEntry& file : *files) {
      const std::string name = file.path.substr(file.path.rfind('/') + 1);
      if (!name.ends_with(".cft")) names.push_back(name);
    }
    return names;
  }
  bool IsPacked() { return ReadFile(table_file_).starts_with("cfiletb2"); }
};

TEST_F(PackedPartsTest, RoundTrip) {
  WritePart(0, 500, ManyTypes(), kPacked);
  EXPECT_TRUE(IsPacked());
  WritePart(500, 300, ManyTypes(), kLoose);
  WritePart(800, 0, ManyTypes(), kPacked);
  WritePart(800, 3000, ManyTypes(), kPacked);
  EXPECT_THAT(DataFiles(0), testing::ElementsAre("columns.packed"));
  EXPECT_THAT(DataFiles(1), SizeIs(ManyTypes().columns.size()));
  const TableReader table = OpenTable();
  ExpectTable(table, 3800);
  for (const size_t part : {0, 1, 2, 3}) {
    for (size_t column = 0; column < table.schema().columns.size(); ++column) {
      EXPECT_TRUE(table.VerifyColumn(part, column).ok());
      const auto bytes = table.OpenBytes(part, column);
      ASSERT_TRUE(bytes.ok()) << bytes.status();
      EXPECT_EQ((*bytes)->name(), path_ + "/" + *table.part_file(part, column));
      EXPECT_EQ(Reader::Open(*bytes)->num_rows(), table.part(part)->num_rows);
    }
    EXPECT_TRUE(table.VerifyCopy(part).ok());
  }
  ASSERT_TRUE(Compact(path_, {}, {&kLoose, 1}).ok());
  ExpectTable(OpenTable(), 3800);
  EXPECT_FALSE(IsPacked());
  ASSERT_TRUE(CollectGarbage(path_, std::chrono::seconds(0)).ok());
  ExpectTable(OpenTable(), 3800);
}

TEST_F(PackedPartsTest, CompactUnpacksASinglePart) {
  WritePart(0, 500, ManyTypes(), kPacked);
  WritePart(500, 300, ManyTypes(), kPacked);
  const PartInfo part = *OpenTable().part(0);
  const auto compact = [&](const std::string& name, size_t limit) {
    const WriterOptions options{.max_packed_part_bytes = limit};
    const auto report = Compact(path_, {&name, 1}, {&options, 1});
    EXPECT_TRUE(report.ok()) << report.status();
    return report->rows;
  };
  EXPECT_EQ(compact(part.name, SIZE_MAX), 0);
  EXPECT_EQ(compact(part.name, part.size_bytes), 0);
  EXPECT_EQ(compact(part.name, part.size_bytes - 1), 500);
  EXPECT_THAT(DataFiles(0), SizeIs(ManyTypes().columns.size()));
  EXPECT_EQ(compact(OpenTable().part(0)->name, 0), 0);  // has files of its own already
  EXPECT_THAT(DataFiles(1), testing::ElementsAre("columns.packed"));
  ExpectTable(OpenTable(), 800);
}

TEST_F(PackedPartsTest, SmallPartsArePackedByDefault) {
  WritePart(0, 500);
  EXPECT_THAT(DataFiles(0), testing::ElementsAre("columns.packed"));
  const Schema texts{.columns = {{.name = "a", .type = ColumnType::Binary()},
                                 {.name = "b", .type = ColumnType::Binary()}}};
  const std::string text(size_t{1} << 20, 'x');
  for (const size_t rows : {3, 5}) {  // of 2 MiB
    std::filesystem::remove_all(path_);
    const std::vector<WriterOptions> options(
        2, {.encoding = Encoding::kPlain, .compression = Compression::kNone});
    auto writer = TableWriter::Create(path_, texts, options);
    ASSERT_TRUE(writer.ok());
    for (const size_t column : {0, 1}) {
      const std::vector<std::string_view> values(rows, text);
      ASSERT_TRUE(writer->Append<std::string_view>(column, values).ok());
    }
    ASSERT_TRUE(writer->Finish().ok());
    EXPECT_THAT(DataFiles(0), SizeIs(rows == 3 ? 1 : 2));
  }
}

// A mapped column returns its values as pointers into the file.
TEST_F(PackedPartsTest, ValuesAreAligned) {
  const WriterOptions options{.encoding = Encoding::kPlain, .compression = Compression::kNone};
  Schema schema;
  for (const auto& type :
       {ColumnType::Int8(), ColumnType::Double(), ColumnType::Decimal(30, 0), ColumnType::Int64()})
    schema.columns.push_back({.name = absl::StrCat("c", schema.columns.size()), .type = type});
  auto writer = TableWriter::Create(path_, schema, {&options, 1});
  ASSERT_TRUE(writer.ok());
  constexpr size_t kRows = 101;
  ASSERT_TRUE(writer->Append<int8_t>(0, std::vector<int8_t>(kRows, 7)).ok());
  ASSERT_TRUE(writer->Append<double>(1, std::vector<double>(kRows, 7)).ok());
  ASSERT_TRUE(writer->Append<int128_t>(2, std::vector<int128_t>(kRows, 7)).ok());
  ASSERT_TRUE(writer->Append<int64_t>(3, std::vector<int64_t>(kRows, 7)).ok());
  ASSERT_TRUE(writer->Finish().ok());
  const auto packed = *OpenMappedSource(PartPath(0) + "/columns.packed");
  const auto columns = ReadPackedDirectory(*packed);
  ASSERT_TRUE(columns.ok()) << columns.status();
  const std::span<const uint8_t> file = packed->InMemory();
  const auto check = [&]<typename T>(size_t i, std::type_identity<T>) {
    const PackedColumn& column = (*columns)[i];
    EXPECT_EQ(column.offset % 64, 0);
    const auto reader =
        Reader::Open(NewSliceSource(packed, column.offset, column.size_bytes, "column"));
    ASSERT_TRUE(reader.ok()) << reader.status();
    auto cursor = reader->NewCursor<T>();
    const auto batch = cursor->Next(kRows);
    ASSERT_EQ(batch->size(), kRows);
    const auto* const values = reinterpret_cast<const uint8_t*>(batch->values.data());
    ASSERT_TRUE(values >= file.data() && values < file.data() + file.size());
    EXPECT_EQ((values - file.data()) % 64, 0);
  };
  check(0, std::type_identity<int8_t>());
  check(1, std::type_identity<double>());
  check(2, std::type_identity<int128_t>());
  check(3, std::type_identity<int64_t>());
}

TEST_F(PackedPartsTest, LargePartsHaveAFileForEachColumn) {
  for (const size_t limit : {1, 1000, 5000}) {
    WritePart(0, 3000, ManyTypes(), {.max_packed_part_bytes = limit});
    EXPECT_THAT(DataFiles(0), SizeIs(ManyTypes().columns.size()));
    EXPECT_FALSE(IsPacked());
    ExpectTable(OpenTable(), 3000);
    std::filesystem::remove_all(path_);
  }
}

TEST_F(PackedPartsTest, NeverForOlderReadersAndSingleColumns) {
  WritePart(0, 100, ManyTypes(),
            {.max_packed_part_bytes = SIZE_MAX, .oldest_reader = OldestReader::kVersion0_1});
  EXPECT_FALSE(IsPacked());
  EXPECT_THAT(DataFiles(0), SizeIs(ManyTypes().columns.size()));
  std::filesystem::remove_all(path_);
  Schema one;
  one.columns.push_back(ManyTypes().columns[0]);
  WritePart(0, 100, one, kPacked);
  EXPECT_FALSE(IsPacked());
}

// The keys are made from, or compared with, columns that are in memory or in files.
TEST_F(PackedPartsTest, CompoundKeys) {
  Schema schema{.columns = {{.name = "a", .type = ColumnType::Int64()},
                            {.name = "b", .type = ColumnType::Int64()}},
                .key_columns = {0, 1}};
  std::vector<int64_t> rows(5000);
  std::iota(rows.begin(), rows.end(), 0);
  for (const size_t limit : {SIZE_MAX, size_t{30'000}}) {
    const WriterOptions options{
        .encoding = Encoding::kPlain, .block_size_bytes = 1000, .max_packed_part_bytes = limit};
    const auto storage = NewMemoryStorage();
    auto writer = TableWriter::Create(storage, schema, {&options, 1});
    ASSERT_TRUE(writer.ok());
    for (const size_t column : {0, 1}) ASSERT_TRUE(writer->Append<int64_t>(column, rows).ok());
    EXPECT_EQ(writer->memory_usage_bytes() > 70'000, limit == SIZE_MAX);
    ASSERT_TRUE(writer->Finish().ok());
    const auto table = TableReader::Open(storage);
    ASSERT_TRUE(table.ok());
    for (const size_t column : {0, 1, 2}) EXPECT_TRUE(table->VerifyColumn(0, column).ok());
  }
}

TEST_F(PackedPartsTest, AFlushWritesAndSyncsOneFileOfData) {
  std::vector<std::string> created, finished;
  const auto storage =
      std::make_shared<ScriptedStorage>(NewLocalStorage(path_), [&](const IoCall& call) {
        if (call.kind == IoCall::kCreate) created.push_back(call.name);
        if (call.kind == IoCall::kFinish) finished.push_back(call.name);
        return absl::OkStatus();
      });
  auto writer = TableWriter::Create(std::shared_ptr<Storage>(storage), ManyTypes(), {&kPacked, 1});
  ASSERT_TRUE(writer.ok() && AppendRows(*writer, 0, 1000).ok());
  EXPECT_THAT(created, SizeIs(1));
  EXPECT_THAT(finished, IsEmpty());
  ASSERT_TRUE(writer->Finish().ok());
  ASSERT_THAT(created, SizeIs(2));
  ASSERT_THAT(finished, SizeIs(2));
  EXPECT_TRUE(created[0].ends_with("/columns.packed"));
  EXPECT_TRUE(created[1].ends_with(".cft"));  // the copy of the part's description
  ExpectTable(OpenTable(), 1000);
}

TEST_F(PackedPartsTest, ColumnsGetOtherValues) {
  Schema schema;
  for (const char* name : {"a", "b", "c"})
    schema.columns.push_back({.name = name, .type = ColumnType::Int32()});
  const std::vector<int32_t> rows = {5, 6, 7};
  const auto storage = NewMemoryStorage();
  auto writer = TableWriter::Create(storage, schema, {&kPacked, 1});
  ASSERT_TRUE(writer.ok());
  for (size_t i = 0; i < 3; ++i) ASSERT_TRUE(writer->Append<int32_t>(i, rows).ok());
  ASSERT_TRUE(writer->Finish().ok());
  const auto value = [&](size_t column) -> int32_t {
    const auto table = TableReader::Open(storage);
    const auto reader = table->OpenColumn(0, column);
    EXPECT_TRUE(reader.ok()) << reader.status();
    return reader.ok() ? *reader->Get<int32_t>(0).value() : -1;
  };
  const auto replace = [&](std::string name, int32_t first) {
    auto columns = ColumnsWriter::Replace(storage, {&name, 1});
    const std::vector<int32_t> values = {first, 0, 0};
    ASSERT_TRUE(columns.ok() && columns->Append<int32_t>(0, values).ok());
    ASSERT_TRUE(columns->Finish().ok());
    ASSERT_TRUE(CollectGarbage(storage, std::chrono::seconds(0)).ok());
  };
  replace("b", 10);
  EXPECT_EQ(value(1), 10);
  EXPECT_EQ(value(2), 5);
  ASSERT_TRUE(ReorderColumns(storage, std::vector<std::string>{"c", "b", "a"}).ok());
  ASSERT_TRUE(AddColumn(storage, {.name = "d", .type = ColumnType::Int32()}, int32_t{3}).ok());
  ASSERT_TRUE(WidenColumn(storage, "c", ColumnType::Int64()).ok());
  EXPECT_EQ(value(2), 5);
  EXPECT_EQ(value(3), 3);
  const auto has_packed = [&] {
    const auto files = storage->List("");
    return std::any_of(files->begin(), files->end(), [](const StorageEntry& file) {
      return file.path.ends_with("/columns.packed");
    });
  };
  EXPECT_TRUE(has_packed());
  ASSERT_TRUE(DropColumns(storage, std::vector<std::string>{"a"}).ok());
  ASSERT_TRUE(CollectGarbage(storage, std::chrono::seconds(0)).ok());
  EXPECT_FALSE(has_packed());  // no column is in it any more
  EXPECT_EQ(value(1), 10);
}

// A bit that says that parts in chunks are packed.
TEST_F(PackedPartsTest, PartsInChunks) {
  Schema schema{.columns = {{.name = "a", .type = ColumnType::Int64()},
                            {.name = "b", .type = ColumnType::Int64()}}};
  const auto storage = NewMemoryStorage();
  for (int64_t i = 0; i < 140; ++i) {
    const WriterOptions& options = i < 30 ? kPacked : kLoose;
    auto writer = TableWriter::OpenOrCreate(storage, schema, {&options, 1});
    ASSERT_TRUE(writer.ok());
    for (const size_t column : {0, 1})
      ASSERT_TRUE(writer->Append<int64_t>(column, std::vector<int64_t>{i}).ok());
    ASSERT_TRUE(writer->Finish().ok());
  }
  const auto features = [&] {
    const std::string bytes = storage->Read("table.cft", 1 << 20)->bytes;
    return internal::ParseTable(bytes, "table.cft")->incompatible_features;
  };
  constexpr uint32_t kPackedBit = 1u << 9, kChunksBit = 1u << 2;
  EXPECT_EQ(features(), kPackedBit | kChunksBit);
  const auto table = TableReader::Open(storage);
  for (size_t i = 0; i < 140; ++i)
    EXPECT_EQ(table->OpenColumn(i, 1)->Get<int64_t>(0).value(), static_cast<int64_t>(i));
  const auto object = storage->Read("table.cft", 1 << 20);
  auto contents = internal::ParseTable(object->bytes, "table.cft");
  contents->incompatible_features = kChunksBit;
  ASSERT_TRUE(
      storage->Commit("table.cft", object->version, internal::SerializeTable(*contents)).ok());
  EXPECT_THAT(TableReader::Open(storage)->OpenColumn(0, 1).status().message(),
              testing::HasSubstr("is packed, but incompatible feature bit 9 is not set"));
  // The bit is still there after table.cft was rebuilt.
  ASSERT_TRUE(storage->Delete("table.cft").ok());
  ASSERT_TRUE(Repair(storage).ok());
  EXPECT_EQ(features(), kPackedBit | kChunksBit);
}

// A small table in memory with a packed part, whose packed file tests damage.
class PackedDamageTest : public testing::Test {
 protected:
  void SetUp() override {
    auto writer = TableWriter::Create(storage_, schema_, {&kPacked, 1});
    ASSERT_TRUE(writer.ok());
    ASSERT_TRUE(writer->Append<int64_t>(0, numbers_).ok());
    ASSERT_TRUE(writer->Append<std::string_view>(1, texts_).ok());
    ASSERT_TRUE(writer->Append<int64_t>(2, numbers_).ok());
    ASSERT_TRUE(writer->Finish().ok());
    part_ = TableReader::Open(storage_)->part(0)->name;
    path_ = part_ + "/columns.packed";
    const auto source = storage_->Open(path_);
    ASSERT_TRUE(source.ok());
    bytes_.resize((*source)->size());
    ASSERT_TRUE((*source)->ReadAt(0, bytes_).ok());
    columns_ = *ReadPackedDirectory(**source);
    ASSERT_THAT(columns_, SizeIs(3));
  }

  // Returns a copy of the table with another packed file.
  std::shared_ptr<Storage> With(const Bytes& bytes) {
    const std::shared_ptr<Storage> copy = NewMemoryStorage("copy");
    const auto files = storage_->List("");
    for (const StorageEntry& file : *files) {
      if (file.path == "table.cft") continue;
      const auto source = storage_->Open(file.path);
      Bytes content((*source)->size());
      EXPECT_TRUE((*source)->ReadAt(0, content).ok());
      auto sink = copy->Create(file.path);
      EXPECT_TRUE((*sink)->Append(file.path == path_ ? bytes : content).ok());
      EXPECT_TRUE((*sink)->Finish().ok());
    }
    EXPECT_TRUE(
        copy->Commit("table.cft", std::nullopt, storage_->Read("table.cft", 1 << 20)->bytes).ok());
    return copy;
  }
  size_t directory_offset() const { return columns_.back().offset + columns_.back().size_bytes; }

  // Returns the error of reading the directory from these bytes.
  static absl::Status ErrorOf(const Bytes& bytes) {
    return ReadPackedDirectory(*NewMemoryViewSource(bytes, "file")).status();
  }

  const Schema schema_{.columns = {{.name = "a", .type = ColumnType::Int64()},
                                   {.name = "b", .type = ColumnType::String()},
                                   {.name = "c", .type = ColumnType::Int64()}}};
  const std::vector<int64_t> numbers_ = {1, 2, 3, 40};
  const std::vector<std::string_view> texts_ = {"one", "two", "three", "forty"};
  const std::shared_ptr<Storage> storage_ = NewMemoryStorage("t");
  std::string part_, path_;
  Bytes bytes_;
  std::vector<PackedColumn> columns_;
};

TEST_F(PackedDamageTest, EachByteOfTheDirectory) {
  for (size_t i = directory_offset(); i < bytes_.size(); ++i) {
    for (const int bit : {0, 3, 7}) {
      Bytes damaged = bytes_;
      damaged[i] = static_cast<uint8_t>(damaged[i] ^ 1 << bit);
      EXPECT_EQ(IsPackedFile(*NewMemoryViewSource(damaged)), i + 8 < bytes_.size());
      const auto table = TableReader::Open(With(damaged));
      ASSERT_TRUE(table.ok());
      for (const size_t column : {0, 1, 2}) {
        const absl::Status status = table->OpenColumn(0, column).status();
        ASSERT_EQ(status.code(), absl::StatusCode::kDataLoss) << i << ": " << status;
        EXPECT_THAT(std::string(status.message()), HasSubstr("copy/" + path_));
        EXPECT_THAT(std::string(status.message()), HasSubstr("offset"));
        EXPECT_FALSE(table->VerifyColumn(0, column).ok());
        EXPECT_EQ(Reader::Open(*table->OpenBytes(0, column))->num_rows(), 4);
      }
    }
  }
}

TEST_F(PackedDamageTest, PaddingIsIgnored) {
  Bytes changed = bytes_;
  size_t count = 0;
  for (size_t i = 1; i < 3; ++i) {
    for (size_t at = columns_[i - 1].offset + columns_[i - 1].size_bytes; at < columns_[i].offset;
         ++at, ++count)
      changed[at] = 0xFF;
  }
  EXPECT_GT(count, 0);
  const auto table = TableReader::Open(With(changed));
  ASSERT_TRUE(table.ok());
  for (const size_t column : {0, 1, 2}) EXPECT_TRUE(table->VerifyColumn(0, column).ok());
}

TEST_F(PackedDamageTest, DirectoriesThatContradictTheFile) {
  const auto error = [&](std::vector<PackedColumn> columns) {
    Bytes file(bytes_.begin(), bytes_.begin() + static_cast<ptrdiff_t>(directory_offset()));
    const std::string end = internal::SerializePackedDirectory(columns);
    file.insert(file.end(), end.begin(), end.end());
    const absl::Status status = ErrorOf(file);
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
    return std::string(status.message());
  };
  const auto with = [&](auto change) {
    std::vector<PackedColumn> columns = columns_;
    change(columns);
    return columns;
  };
  using Columns = std::vector<PackedColumn>&;
  EXPECT_THAT(error(with([](Columns c) { c[2].size_bytes += 1; })), HasSubstr("bytes expected"));
  EXPECT_THAT(error(with([](Columns c) { c[2].size_bytes -= 1; })), HasSubstr("bytes expected"));
  EXPECT_THAT(error(with([](Columns c) { c[0].size_bytes = UINT64_MAX; })), HasSubstr("expected"));
  EXPECT_THAT(error(with([](Columns c) { c[1].size_bytes = 0; })), HasSubstr("found 0"));
  EXPECT_THAT(error(with([](Columns c) { c.pop_back(); })), HasSubstr("bytes expected, found"));
  EXPECT_THAT(error(with([](Columns c) { c[1].file_name = c[0].file_name; })),
              HasSubstr("no other column has"));
  EXPECT_THAT(error(with([](Columns c) { c[1].file_name = "../a.cfile"; })),
              HasSubstr("found \"../a.cfile\""));
  // The directory has other columns than table.cft.
  const auto opened = [&](std::vector<PackedColumn> columns, size_t column) {
    Bytes file(bytes_.begin(), bytes_.begin() + static_cast<ptrdiff_t>(directory_offset()));
    const std::string end = internal::SerializePackedDirectory(columns);
    file.insert(file.end(), end.begin(), end.end());
    return std::string(TableReader::Open(With(file))->OpenColumn(0, column).status().message());
  };
  EXPECT_THAT(opened(with([](Columns c) { c[1].file_name = "0009-b.cfile"; }), 1),
              HasSubstr("has no such column"));
  EXPECT_THAT(opened(with([](Columns c) { std::swap(c[0].file_name, c[1].file_name); }), 0),
              HasSubstr("expected by table.cft, found"));
  EXPECT_EQ(opened(with([](Columns) {}), 1), "");
  // The limit of the directory.
  EXPECT_EQ(ReadPackedDirectory(*NewMemoryViewSource(bytes_), 50).status().code(),
            absl::StatusCode::kOutOfRange);
}

TEST_F(PackedDamageTest, CutAtEachPrefix) {
  for (size_t size = 0; size < bytes_.size(); ++size) {
    const Bytes cut(bytes_.begin(), bytes_.begin() + static_cast<ptrdiff_t>(size));
    EXPECT_EQ(ErrorOf(cut).code(), absl::StatusCode::kDataLoss);
    const std::shared_ptr<Storage> storage = With(cut);
    size_t whole = 0;  // columns
    {
      const auto table = TableReader::Open(storage);
      ASSERT_TRUE(table.ok());
      for (size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(table->OpenColumn(0, i).status().code(), absl::StatusCode::kDataLoss);
        const bool is_whole = columns_[i].offset + columns_[i].size_bytes <= size;
        EXPECT_EQ(Reader::Open(*table->OpenBytes(0, i)).ok(), is_whole);
        whole += is_whole;
      }
    }
    if (size % 7 != 0 && whole < 3) continue;
    const auto report = Repair(storage, {.salvage = true});
    ASSERT_TRUE(report.ok()) << report.status();
    if (whole == 3) {
      EXPECT_EQ(report->num_rows, 4);
      EXPECT_EQ(report->parts[0].state, RepairedPart::State::kSalvaged);
      EXPECT_TRUE(TableReader::Open(storage)->VerifyColumn(0, 1).ok());
    }
  }
}

TEST_F(PackedDamageTest, RepairFindsPackedParts) {
  const std::shared_ptr<Storage> storage = With(bytes_);
  ASSERT_TRUE(storage->Delete("table.cft").ok());
  const auto report = Repair(storage);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->num_rows, 4);
  EXPECT_EQ(report->parts[0].state, RepairedPart::State::kKept);
  EXPECT_EQ(TableReader::Open(storage)->OpenColumn(0, 1)->Get<std::string_view>(2).value(),
            "three");
}

TEST_F(PackedDamageTest, LostFiles) {
  const std::shared_ptr<Storage> storage = With(bytes_);
  const auto table = TableReader::Open(storage);
  ASSERT_TRUE(storage->Delete(path_).ok());
  EXPECT_EQ(table->OpenColumn(0, 1).status().code(), absl::StatusCode::kNotFound);
  // A part that was dropped and collected has expired.
  const std::shared_ptr<Storage> other = With(bytes_);
  const auto open = TableReader::Open(other);
  ASSERT_TRUE(DropParts(other, {&part_, 1}).ok());
  ASSERT_TRUE(CollectGarbage(other, std::chrono::seconds(0)).ok());
  EXPECT_EQ(open->OpenColumn(0, 1).status().code(), absl::StatusCode::kAborted);
}

// What reading all columns of a part costs in a storage with latency.
Counts CountsOfScan(const std::shared_ptr<Storage>& storage, bool opens_whole) {
  const auto trips = std::make_shared<Trips>(/*of_storage=*/true);
  const auto counted = std::make_shared<ScriptedStorage>(
      storage, [trips](const IoCall& call) { return trips->Call(call); });
  counted->is_remote = true;
  counted->opens_whole = opens_whole;
  const auto table = TableReader::Open(std::shared_ptr<Storage>(counted));
  EXPECT_TRUE(table.ok());
  auto scan = table->NewScan({});
  EXPECT_TRUE(scan.ok()) << scan.status();
  uint64_t rows = 0;
  for (const auto& batch : scan->Batches()) {
    EXPECT_TRUE(batch.ok()) << batch.status();
    if (batch.ok()) rows += batch->num_rows();
  }
  EXPECT_EQ(rows, table->num_rows());
  return trips->Take();
}

TEST(PackedRequests, ScansOf200Columns) {
  for (const size_t rows : {1000, 4000}) {  // 1.6 MB, 6.4 MB
    Schema schema;
    for (size_t i = 0; i < 200; ++i)
      schema.columns.push_back({.name = absl::StrCat("c", i), .type = ColumnType::Int64()});
    const WriterOptions options{.encoding = Encoding::kPlain, .max_packed_part_bytes = SIZE_MAX};
    const auto storage = NewMemoryStorage();
    auto writer = TableWriter::Create(storage, schema, {&options, 1});
    ASSERT_TRUE(writer.ok());
    for (size_t column = 0; column < 200; ++column) {
      std::vector<int64_t> values(rows);
      for (size_t i = 0; i < rows; ++i)
        values[i] = static_cast<int64_t>((column * rows + i) * 0x9E3779B97F4A7C15u >> 1);
      ASSERT_TRUE(writer->Append<int64_t>(column, values).ok());
    }
    ASSERT_TRUE(writer->Finish().ok());
    for (const bool opens_whole : {false, true}) {
      const Counts counts = CountsOfScan(storage, opens_whole);
      // At 10 ms a request, the scan takes less than 0.5 s.
      EXPECT_LE(counts.rounds, 20) << rows << " " << counts.requests;
    }
  }
}

TEST(PackedRequests, SmallPartsAreReadWithOneRequest) {
  Schema schema{.columns = {{.name = "a", .type = ColumnType::Int64()},
                            {.name = "b", .type = ColumnType::Int64()}}};
  const auto storage = NewMemoryStorage();
  auto writer = TableWriter::Create(storage, schema, {&kPacked, 1});
  ASSERT_TRUE(writer.ok());
  for (const size_t column : {0, 1})
    ASSERT_TRUE(writer->Append<int64_t>(column, std::vector<int64_t>(1000, 7)).ok());
  ASSERT_TRUE(writer->Finish().ok());
  uint64_t opened = 0, reads = 0;
  const auto counted = std::make_shared<ScriptedStorage>(storage, [&](const IoCall& call) {
    opened += call.kind == IoCall::kOpen;
    reads += call.kind == IoCall::kReadAt;
    return absl::OkStatus();
  });
  const auto table = TableReader::Open(std::shared_ptr<Storage>(counted));
  ASSERT_TRUE(table.ok());
  for (const size_t column : {0, 1})
    EXPECT_EQ(table->OpenColumn(0, column)->Get<int64_t>(999).value(), 7);
  EXPECT_EQ(opened, 1);
  EXPECT_EQ(reads, 1);
  EXPECT_EQ(table->counters().source_requests, 1);
}

}  // namespace cfile::packed_parts_test
