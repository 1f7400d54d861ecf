// Damages one file of a table in many ways. Compares what Repair keeps with what Salvage of the
// files alone can read. tests/campaign/nothing_lost chooses other seeds than 0, and with them other
// layouts of the files.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cfile/salvage.h"
#include "cfile/table.h"
#include "cfile/table_repair.h"
#include "encodings/core/bytes.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/campaign/amount.h"

namespace cfile::repair_damage_test {

using State = RepairedPart::State;
using Files = std::map<std::string, std::string>;  // bytes by path

constexpr int64_t kRows = 3000;  // of each part
constexpr int64_t kParts = 3;

bool IsNull(int64_t id) { return id % 7 == 0; }

enum class Damage { kCut, kFlippedByte, kRemoved, kZeroedPage };

Files FilesOf(const Storage& storage) {
  Files files;
  const auto list = storage.List("");
  for (const StorageEntry& file : *list) {
    files[file.path] = storage.Read(file.path, UINT64_MAX)->bytes;
  }
  return files;
}

std::shared_ptr<Storage> StorageOf(const Files& files) {
  auto storage = NewMemoryStorage("t");
  for (const auto& [path, bytes] : files) {
    auto sink = storage->Create(path);
    EXPECT_TRUE((*sink)->Append(encodings::AsBytes(bytes)).ok() && (*sink)->Finish().ok());
  }
  return storage;
}

// Columns: id, ascending without gaps; text, which says the id; tripled, which is 3 * id or null.
void AppendPart(const std::shared_ptr<Storage>& storage, int64_t first, WriterOptions layout) {
  const Schema schema = {
      .columns = {{.name = "id", .type = ColumnType::Int64()},
                  {.name = "text", .type = ColumnType::String()},
                  {.name = "tripled", .type = ColumnType::Int64(), .nullable = true}}};
  std::vector<WriterOptions> options(3, layout);
  auto writer = first == 0 ? TableWriter::Create(storage, schema, options)
                           : TableWriter::Open(storage, options);
  ASSERT_TRUE(writer.ok()) << writer.status();
  std::vector<int64_t> ids, tripled;
  std::vector<std::string> texts;
  std::vector<uint8_t> validity((kRows + 7) / 8);
  for (int64_t i = 0; i < kRows; ++i) {
    ids.push_back(first + i);
    texts.push_back(absl::StrCat("text ", first + i));
    tripled.push_back(3 * (first + i));
    if (!IsNull(first + i)) validity[i / 8] |= static_cast<uint8_t>(1 << (i % 8));
  }
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  ASSERT_TRUE(writer->Append<int64_t>(0, ids).ok());
  ASSERT_TRUE(writer->Append<std::string_view>(1, views).ok());
  ASSERT_TRUE(writer->Append<int64_t>(2, tripled, validity).ok());
  const absl::Status status = writer->Finish();
  ASSERT_TRUE(status.ok()) << status;
}

void DamageFile(Damage damage, const std::string& path, Files& files, std::mt19937& random) {
  std::string& bytes = files[path];
  const size_t at = random() % bytes.size();
  switch (damage) {
    case Damage::kCut:
      bytes.resize(random() % 2 == 0 ? at : bytes.size() - std::min<size_t>(bytes.size(), 100));
      break;
    case Damage::kFlippedByte:
      bytes[at] = static_cast<char>(~bytes[at]);
      break;
    case Damage::kRemoved:
      files.erase(path);
      break;
    case Damage::kZeroedPage: {
      const size_t begin = at / 4096 * 4096;
      std::fill_n(bytes.begin() + static_cast<ptrdiff_t>(begin),
                  std::min<size_t>(4096, bytes.size() - begin), '\0');
      break;
    }
  }
}

// For each row of a part, whether Salvage of the file alone finds the row.
std::vector<bool> ReadableRows(const Storage& storage, const std::string& path) {
  std::vector<bool> readable(kRows);
  auto source = storage.Open(path);
  if (!source.ok()) return readable;
  std::vector<uint8_t> saved;
  const auto report = Salvage(*std::move(source), NewMemorySink(&saved), {.value_index = false});
  if (!report.ok()) return readable;
  uint64_t end = report->rows;
  for (const OrdinalRange& range : report->missing) end += range.size();
  for (uint64_t row = 0; row < std::min<uint64_t>(end, kRows); ++row) readable[row] = true;
  for (const OrdinalRange& range : report->missing) {
    for (uint64_t row = range.begin; row < std::min<uint64_t>(range.end, kRows); ++row) {
      readable[row] = false;
    }
  }
  return readable;
}

std::string Shown(const RepairReport& report) {
  std::string text = absl::StrCat(report.damage, "; ", report.changed, " ", report.num_parts, " ",
                                  report.num_rows);
  for (const RepairedPart& part : report.parts) {
    absl::StrAppend(&text, "\n", part.name, " ", std::string(NameOf(part.state)), " ",
                    part.num_rows, " ", part.lost_rows);
    for (const auto& [column, count] : part.lost_values) {
      absl::StrAppend(&text, " ", column, " ", count);
    }
  }
  return text;
}

// Repairs a table of `files`. EXPECTs that a dry run changes nothing and reports the same.
RepairReport MustRepair(const std::shared_ptr<Storage>& storage, RepairOptions options) {
  const Files before = FilesOf(*storage);
  options.dry_run = true;
  const auto planned = Repair(storage, options);
  EXPECT_TRUE(planned.ok()) << planned.status();
  EXPECT_EQ(FilesOf(*storage), before);
  options.dry_run = false;
  auto report = Repair(storage, options);
  EXPECT_TRUE(report.ok()) << report.status();
  if (!planned.ok() || !report.ok()) return {};
  EXPECT_EQ(Shown(*planned), Shown(*report));
  EXPECT_EQ(report->changed, FilesOf(*storage) != before);
  return *std::move(report);
}

// EXPECTs that the table has these ids in order. `nulls`: how many values of tripled are null that
// were not.
void ExpectTable(const std::shared_ptr<Storage>& storage, const std::vector<int64_t>& ids,
                 uint64_t nulls) {
  const auto table = TableReader::Open(storage);
  ASSERT_TRUE(table.ok()) << table.status();
  ASSERT_EQ(table->num_rows(), ids.size());
  auto id = table->NewCursor<int64_t>(0);
  auto text = table->NewCursor<std::string_view>(1);
  auto tripled = table->NewCursor<int64_t>(2);
  uint64_t found_nulls = 0;
  for (uint64_t row = 0; row < ids.size(); ++row) {
    ASSERT_EQ(**id->Get(row), ids[row]);
    ASSERT_EQ(**text->Get(row), absl::StrCat("text ", ids[row]));
    const auto value = *tripled->Get(row);
    if (value) {
      ASSERT_FALSE(IsNull(ids[row]));
      ASSERT_EQ(*value, 3 * ids[row]);
    } else if (!IsNull(ids[row])) {
      ++found_nulls;
    }
  }
  EXPECT_EQ(found_nulls, nulls);
  for (size_t part = 0; part < table->num_parts(); ++part) {
    EXPECT_TRUE(table->VerifyCopy(part).ok());
    for (size_t column = 0; column < 3; ++column) {
      EXPECT_TRUE(table->VerifyColumn(part, column).ok());
    }
  }
}

// Repairs a table of `files`. A file of `part`, the part with the ids from `first`, or table.cft is
// damaged.
void ExpectRepaired(const Files& files, const std::string& part, int64_t first, bool null_lost) {
  auto storage = StorageOf(files);
  std::vector<bool> readable[3];
  for (size_t column = 0; column < 3; ++column) {
    const std::string name = absl::StrCat(part, "/000", column, "-");
    const auto file = files.lower_bound(name);
    const bool exists = file != files.end() && file->first.starts_with(name);
    readable[column] = exists ? ReadableRows(*storage, file->first) : std::vector<bool>(kRows);
  }
  std::vector<int64_t> ids;
  uint64_t nulls = 0, lost_values = 0, rows_of_part = 0;
  for (int64_t id = 0; id < kParts * kRows; ++id) {
    if (id >= first && id < first + kRows) {
      const auto row = static_cast<size_t>(id - first);
      const bool is_lost = !readable[2][row];
      if (!readable[0][row] || !readable[1][row] || (is_lost && !null_lost)) continue;
      lost_values += is_lost;
      nulls += is_lost && !IsNull(id);
      ++rows_of_part;
    }
    ids.push_back(id);
  }
  // Without `salvage`, no row leaves the table.
  EXPECT_EQ(MustRepair(storage, {}).num_rows, kParts * kRows);
  const RepairReport report = MustRepair(storage, {.salvage = true, .null_lost = null_lost});
  if (rows_of_part > 0) {
    EXPECT_EQ(report.num_rows, ids.size());
    uint64_t reported = 0;
    for (const RepairedPart& each : report.parts) {
      for (const auto& [column, count] : each.lost_values) reported += count;
    }
    EXPECT_EQ(reported, lost_values);
  } else {
    // No row of the part can be read. Repair keeps such a part unless drop_damaged is set.
    EXPECT_EQ(report.num_rows, kParts * kRows);
    EXPECT_FALSE(report.complete());
    MustRepair(storage, {.salvage = true, .null_lost = null_lost, .drop_damaged = true});
  }
  ExpectTable(storage, ids, nulls);
}

TEST(RepairDamage, KeepsWhatSalvageOfTheFilesAloneReads) {
  const char* const chosen = std::getenv("CFILE_CAMPAIGN_SEED");
  const uint32_t first = chosen == nullptr ? 0 : static_cast<uint32_t>(std::atoi(chosen));
  WriterOptions layout{.encoding = Encoding::kPlain,
                       .compression = Compression::kNone,
                       .block_size_bytes = 2048,
                       .max_packed_part_bytes = 0};
  if (first != 0) {
    layout.encoding = first % 2 == 0 ? Encoding::kPlain : Encoding::kAuto;
    layout.compression = first % 3 == 0 ? Compression::kNone : Compression::kZstd;
    layout.block_size_bytes = size_t{128} << first % 7;
  }
  const auto table = NewMemoryStorage("t");
  for (int64_t part = 0; part < kParts; ++part) AppendPart(table, part * kRows, layout);
  ASSERT_FALSE(testing::Test::HasFailure());
  const Files files = FilesOf(*table);
  const std::string part = TableReader::Open(table)->part(1)->name;
  std::vector<std::string> paths = {"table.cft"};
  for (const auto& [path, bytes] : files) {
    if (path.starts_with(part)) paths.push_back(path);
  }
  ASSERT_EQ(paths.size(), 5);  // three columns and the copy
  for (const std::string& path : paths) {
    for (const Damage damage :
         {Damage::kCut, Damage::kFlippedByte, Damage::kRemoved, Damage::kZeroedPage}) {
      for (uint32_t seed = first; seed < first + campaign::Amount(2, 6); ++seed) {
        SCOPED_TRACE(absl::StrCat(path, ", damage ", static_cast<int>(damage), ", seed ", seed));
        std::mt19937 random(seed);
        Files damaged = files;
        DamageFile(damage, path, damaged, random);
        ExpectRepaired(damaged, part, kRows, /*null_lost=*/seed % 2 == 0);
        if (testing::Test::HasFailure()) return;
      }
    }
  }
}

}  // namespace cfile::repair_damage_test
