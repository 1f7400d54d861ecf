// Tables whose table.cft, chunks or columns are damaged or missing are repaired.
#include "cfile/table_repair.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cfile/core/format/compression.h"
#include "cfile/core/format/file_metadata.h"
#include "cfile/parts/table/commit/part_copy.h"
#include "cfile/parts/table/manifest/table_file.h"
#include "cfile/table.h"
#include "cfile/table_columns.h"
#include "cfile/table_maintenance.h"
#include "encodings/core/bytes.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/cfile/scripted_io.h"
#include "tests/cfile/table_contents.h"
#include "tests/cfile/table_fixture.h"

namespace cfile::table_repair_test {

namespace fs = std::filesystem;
using State = RepairedPart::State;
using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing_support::Fault;
using testing_support::IoCall;
using testing_support::Script;
using testing_support::ScriptedStorage;

constexpr int64_t kRows = 10;  // of each part

// Refuses calls that change a storage after a number of them, as if the process had been killed.
struct Kill {
  int calls_left;
  int calls_between = 0;  // how many calls succeed after the first failed call
  bool happened = false;

  // Returns an error for a call that is refused.
  absl::Status Call(const IoCall& call) {
    const bool changes = call.kind == IoCall::kCreate || call.kind == IoCall::kDelete ||
                         call.kind == IoCall::kCommit;
    if (!changes || calls_left-- > 0) return absl::OkStatus();
    // The first call is refused. `calls_between` other calls then succeed. All later calls fail.
    const bool is_later = std::exchange(happened, true);
    return is_later && calls_between-- > 0 ? absl::OkStatus() : absl::UnavailableError("killed");
  }
  Script script() {
    return [this](const IoCall& call) { return Call(call); };
  }
};

// Returns each of `names` with the probability 1/3.
std::vector<std::string> SomeOf(const std::vector<std::string>& names, std::mt19937& random) {
  std::vector<std::string> chosen;
  for (const std::string& name : names) {
    if (random() % 3 == 0) chosen.push_back(name);
  }
  return chosen;
}

// Returns names that follow each other.
std::vector<std::string> Neighbours(const std::vector<std::string>& names, std::mt19937& random) {
  const size_t begin = random() % (names.size() + 1);
  const size_t end = begin + random() % (names.size() + 1 - begin);
  return {names.begin() + static_cast<ptrdiff_t>(begin),
          names.begin() + static_cast<ptrdiff_t>(end)};
}

class TableRepairTest : public testing::Test {
 protected:
  void Fill(TableWriter& writer, const std::vector<int64_t>& values) {
    ASSERT_TRUE(writer.Append<int64_t>(0, values).ok());
    std::vector<std::string> texts;
    for (const int64_t value : values) texts.push_back("text " + std::to_string(value));
    const std::vector<std::string_view> views(texts.begin(), texts.end());
    ASSERT_TRUE(writer.Append<std::string_view>(1, views).ok());
  }

  // Appends a part of kRows rows; creates the table if there is none.
  absl::Status Append(const std::shared_ptr<Storage>& storage) {
    const bool is_new = !storage->Open("table.cft").ok();
    auto writer = is_new ? TableWriter::Create(storage, schema_, {&options_, 1})
                         : TableWriter::Open(storage, {&options_, 1});
    if (!writer.ok()) return writer.status();
    std::vector<int64_t> values;
    for (int64_t i = 0; i < kRows; ++i) values.push_back(next_ + i);
    next_ += kRows;
    Fill(*writer, values);
    return writer->Finish();
  }
  void AppendParts(int count) {
    for (int i = 0; i < count; ++i) {
      const absl::Status status = Append(storage_);
      ASSERT_TRUE(status.ok()) << status;
    }
  }

  std::vector<int64_t> Values() const {
    std::vector<int64_t> values;
    const auto table = TableReader::Open(storage_);
    EXPECT_TRUE(table.ok()) << table.status();
    if (!table.ok()) return values;
    auto numbers = table->NewCursor<int64_t>(0);
    auto texts = table->NewCursor<std::string_view>(1);
    for (uint64_t row = 0; row < table->num_rows(); ++row) {
      const auto number = numbers->Get(row);
      const auto text = texts->Get(row);
      EXPECT_TRUE(number.ok() && text.ok()) << number.status() << text.status();
      if (!number.ok() || !text.ok()) return values;
      values.push_back(**number);
      EXPECT_EQ(**text, "text " + std::to_string(**number));
    }
    return values;
  }

  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    const auto table = TableReader::Open(storage_);
    EXPECT_TRUE(table.ok()) << table.status();
    for (size_t part = 0; table.ok() && part < table->num_parts(); ++part) {
      names.push_back(table->part(part)->name);
    }
    return names;
  }

  // The paths of all files, except table.cft, that begin with `prefix`.
  std::vector<std::string> Files(const std::string& prefix) const {
    std::vector<std::string> paths;
    const std::vector<StorageEntry> files = *storage_->List("");
    for (const StorageEntry& file : files) {
      if (file.path.starts_with(prefix) && file.path != "table.cft") paths.push_back(file.path);
    }
    return paths;
  }

  std::string Bytes(const std::string& path) const {
    return storage_->Read(path, UINT64_MAX)->bytes;
  }
  void Write(const std::string& path, std::string_view bytes) {
    auto sink = storage_->Create(path);
    ASSERT_TRUE(sink.ok() && (*sink)->Append(encodings::AsBytes(bytes)).ok());
    ASSERT_TRUE((*sink)->Finish().ok());
  }
  // Inverts the bits of one byte.
  void Damage(const std::string& path, size_t offset) {
    std::string bytes = Bytes(path);
    ASSERT_LT(offset, bytes.size());
    bytes[offset] = static_cast<char>(~bytes[offset]);
    Write(path, bytes);
  }
  void LoseTable() { ASSERT_TRUE(storage_->Delete("table.cft").ok()); }

  // Calls Repair. EXPECTs that a dry run changes nothing and reports the same.
  RepairReport MustRepair(RepairOptions options = {}) {
    const auto state = [&] {
      const auto table = storage_->Read("table.cft", UINT64_MAX);
      return std::pair(Files(""), table.ok() ? table->version : "");
    };
    const auto before = state();
    const bool dry_run = std::exchange(options.dry_run, true);
    auto planned = Repair(storage_, options);
    EXPECT_TRUE(planned.ok()) << planned.status();
    EXPECT_EQ(state(), before);
    if (dry_run || !planned.ok()) return planned.ok() ? *std::move(planned) : RepairReport();
    options.dry_run = false;
    auto report = Repair(storage_, options);
    EXPECT_TRUE(report.ok()) << report.status();
    if (!report.ok()) return {};
    EXPECT_EQ(Shown(*planned), Shown(*report));
    EXPECT_EQ(report->changed, state() != before);
    const auto table = TableReader::Open(storage_);
    EXPECT_TRUE(table.ok()) << table.status();
    if (table.ok()) {
      EXPECT_EQ(table->num_parts(), report->num_parts);
      EXPECT_EQ(table->num_rows(), report->num_rows);
      for (size_t part = 0; part < table->num_parts(); ++part) {
        EXPECT_TRUE(table->VerifyCopy(part).ok());
      }
    }
    return *std::move(report);
  }

  // What a dry run and the real run report in the same way.
  static std::string Shown(const RepairReport& report) {
    std::string text = absl::StrCat(report.damage, "; ", report.changed, " ", report.num_parts, " ",
                                    report.num_rows);
    for (const RepairedPart& part : report.parts) {
      absl::StrAppend(&text, "\n", part.name, " ", std::string(NameOf(part.state)), " ",
                      part.num_rows, " ", part.lost_rows, " ", part.reason);
      for (const auto& [column, count] : part.lost_values) {
        absl::StrAppend(&text, "; ", column, " ", count);
      }
    }
    return text;
  }

  // The states of the parts in the report that are not kept, by name.
  static std::map<std::string, State> States(const RepairReport& report) {
    std::map<std::string, State> states;
    for (const RepairedPart& part : report.parts) {
      if (part.state != State::kKept) states[part.name] = part.state;
      EXPECT_EQ(part.reason.empty(), part.state == State::kKept) << part.reason;
    }
    return states;
  }

  Schema schema_ = {.columns = {{.name = "a", .type = ColumnType::Int64()},
                                {.name = "b", .type = ColumnType::String()}}};
  WriterOptions options_ = kLoose;  // many tests change the files of columns
  std::shared_ptr<Storage> storage_ = NewMemoryStorage("t");
  int64_t next_ = 0;
};

TEST_F(TableRepairTest, SoundTablesAreLeftAlone) {
  AppendParts(3);
  const VersionedObject before = *storage_->Read("table.cft", 10'000);
  for (const bool salvage : {false, true}) {
    const RepairReport report = MustRepair({.salvage = salvage});
    EXPECT_FALSE(report.changed);
    EXPECT_TRUE(report.complete());
    EXPECT_EQ(report.damage, "");
    EXPECT_EQ(report.num_parts, 3);
    EXPECT_EQ(report.num_rows, 3 * kRows);
    EXPECT_EQ(report.parts.size(), 3);
  }
  EXPECT_EQ(storage_->Read("table.cft", 10'000)->version, before.version);
}

TEST_F(TableRepairTest, NothingToRepair) {
  EXPECT_EQ(Repair(storage_).status().code(), absl::StatusCode::kNotFound);
  AppendParts(1);
  LoseTable();
  const std::string name = Files("part-")[0].substr(0, 37);
  for (const std::string& file : Files(name + "/part-")) ASSERT_TRUE(storage_->Delete(file).ok());
  const absl::Status status = Repair(storage_).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(status.message()), HasSubstr("an earlier version"));
}

// After random changes, the rebuilt table has the same parts in the same order as the lost one.
TEST_F(TableRepairTest, RebuildsLostTables) {
  for (uint32_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    options_ = seed % 2 == 0 ? kLoose : WriterOptions();
    storage_ = NewMemoryStorage("t");
    AppendParts(1 + static_cast<int>(random() % 3));
    for (int step = 0; step < 30; ++step) {
      const std::vector<std::string> names = Names();
      const std::vector<std::string> chosen = SomeOf(names, random);
      absl::Status status;
      switch (random() % 8) {
        case 0:
          status = Compact(storage_, Neighbours(names, random)).status();
          break;
        case 1:
          if (chosen.size() < names.size()) status = DropParts(storage_, chosen);
          break;
        case 2: {
          auto writer = TableWriter::Replace(storage_, chosen);
          ASSERT_TRUE(writer.ok());
          Fill(*writer, {next_++, next_++});
          status = writer->Finish();
          break;
        }
        case 3:
          status = CollectGarbage(storage_, std::chrono::seconds(0)).status();
          break;
        case 4: {
          const std::vector<int64_t> before = Values();
          LoseTable();
          const RepairReport report = MustRepair();
          EXPECT_TRUE(report.changed && report.complete());
          EXPECT_THAT(Values(), ElementsAreArray(before));
          EXPECT_THAT(Names(), ElementsAreArray(names));
          break;
        }
        default:
          AppendParts(1);
      }
      ASSERT_TRUE(status.ok()) << status;
    }
    const std::vector<int64_t> before = Values();
    const std::vector<std::string> names = Names();
    if (random() % 2 == 0) {
      LoseTable();
    } else {
      Damage("table.cft", random() % Bytes("table.cft").size());
    }
    MustRepair();
    EXPECT_THAT(Values(), ElementsAreArray(before));
    EXPECT_THAT(Names(), ElementsAreArray(names));
    AppendParts(1);
    EXPECT_EQ(Values().size(), before.size() + kRows);
  }
}

TEST_F(TableRepairTest, KeepsTheDamagedFile) {
  AppendParts(2);
  const std::vector<int64_t> before = Values();
  Damage("table.cft", 30);
  const std::string damaged = Bytes("table.cft");
  const RepairReport dry = MustRepair({.dry_run = true});
  EXPECT_TRUE(dry.changed);
  EXPECT_EQ(dry.num_rows, before.size());
  EXPECT_EQ(Bytes("table.cft"), damaged);
  const RepairReport report = MustRepair();
  EXPECT_THAT(report.damage, HasSubstr("checksum mismatch"));
  EXPECT_THAT(report.kept_as, testing::StartsWith("table.cft.damaged-"));
  EXPECT_EQ(Bytes(report.kept_as), damaged);
  EXPECT_THAT(Values(), ElementsAreArray(before));
  EXPECT_FALSE(MustRepair().changed);
}

TEST_F(TableRepairTest, DroppedPartsStayDropped) {
  AppendParts(4);
  const std::vector<std::string> names = Names();
  ASSERT_TRUE(DropParts(storage_, {&names[3], 1}).ok());
  ASSERT_TRUE(Compact(storage_, std::vector{names[0], names[1]}).ok());
  const std::vector<int64_t> before = Values();
  LoseTable();
  const RepairReport report = MustRepair();
  EXPECT_TRUE(report.complete());
  EXPECT_THAT(States(report), testing::UnorderedElementsAre(std::pair(names[0], State::kDropped),
                                                            std::pair(names[1], State::kDropped),
                                                            std::pair(names[3], State::kDropped)));
  EXPECT_THAT(Values(), ElementsAreArray(before));
  // Garbage collection still finds them.
  EXPECT_EQ(CollectGarbage(storage_, std::chrono::seconds(0))->size(), 3);
  EXPECT_THAT(Values(), ElementsAreArray(before));
}

// In each run, a collection of garbage is killed at another step.
// The files of a folder may vanish in any order.
TEST_F(TableRepairTest, HalfCollectedPartsStayDropped) {
  for (int calls = 0;; ++calls) {
    options_ = calls % 2 == 0 ? kLoose : WriterOptions();
    storage_ = NewMemoryStorage("t");
    AppendParts(3);
    const std::vector<std::string> names = Names();
    ASSERT_TRUE(DropParts(storage_, {&names[1], 1}).ok());
    Kill kill{.calls_left = calls};
    // Delete of a folder fails after it has removed only some files. The column files stay, and
    // also the copy of the part's description.
    const auto stopping = std::make_shared<ScriptedStorage>(storage_, [&](const IoCall& call) {
      const absl::Status status = kill.Call(call);
      if (!status.ok() || call.kind != IoCall::kDelete || call.name.find('/') != call.name.npos)
        return status;
      const auto files = storage_->List(call.name);
      for (const StorageEntry& file : *files) {
        if (!file.path.ends_with(".cfile") && !file.path.ends_with(".packed") &&
            !file.path.ends_with(".cft"))
          (void)storage_->Delete(file.path);
      }
      return absl::UnavailableError("killed");
    });
    (void)CollectGarbage(stopping, std::chrono::seconds(0));
    LoseTable();
    MustRepair();
    EXPECT_THAT(Names(), ElementsAre(names[0], names[2])) << calls;
    if (!kill.happened) break;
  }
}

TEST_F(TableRepairTest, AllPartsDropped) {
  AppendParts(2);
  ASSERT_TRUE(DropParts(storage_, Names()).ok());
  LoseTable();
  EXPECT_EQ(MustRepair().num_parts, 0);
  AppendParts(1);
  EXPECT_EQ(Values().size(), kRows);
  LoseTable();
  EXPECT_EQ(MustRepair().num_parts, 1);
}

// The other folders of parts: of writers that have not finished, and damaged copies.
TEST_F(TableRepairTest, PartsWithoutCopies) {
  AppendParts(3);
  const std::vector<std::string> names = Names();
  const std::vector<int64_t> before = Values();
  const std::string unfinished = "part-" + std::string(32, 'a');
  Write(unfinished + "/0000-a.cfile", Bytes(Files(names[0] + "/0000")[0]));
  Write(unfinished + "/0001-b.cfile", Bytes(Files(names[0] + "/0001")[0]));
  Damage(Files(names[1] + "/part-")[0], 50);
  LoseTable();
  const RepairReport report = MustRepair();
  EXPECT_FALSE(report.complete());
  EXPECT_THAT(States(report),
              testing::UnorderedElementsAre(std::pair(names[1], State::kUnknown),
                                            std::pair(unfinished, State::kUnknown)));
  EXPECT_THAT(Names(), ElementsAre(names[0], names[2]));
}

// A writer is killed at each step of a change, and then table.cft is lost. The table is the one
// before or after the change.
TEST_F(TableRepairTest, PowerCutsAndLostTables) {
  const std::function<absl::Status(std::shared_ptr<Storage>)> changes[] = {
      [&](const std::shared_ptr<Storage>& storage) { return Append(storage); },
      [&](const std::shared_ptr<Storage>& storage) {
        return DropParts(storage, {&Names()[1], 1});
      },
      [&](const std::shared_ptr<Storage>& storage) { return Compact(storage).status(); },
  };
  for (const auto& change : changes) {
    for (const bool lose : {false, true}) {
      options_ = lose ? WriterOptions() : kLoose;
      bool done = false;
      std::vector<bool> changed;
      for (int calls = 0; !done; ++calls) {
        storage_ = NewMemoryStorage("t");
        next_ = 0;
        AppendParts(4);
        const std::vector<int64_t> before = Values();
        const std::vector<std::string> names_before = Names();
        Kill kill{.calls_left = calls};
        const auto stopping = std::make_shared<ScriptedStorage>(storage_, kill.script());
        (void)change(stopping);
        done = !kill.happened;
        if (lose) {
          LoseTable();
          MustRepair();
        }
        const std::vector<std::string> names = Names();
        changed.push_back(names != names_before);
        const std::vector<int64_t> values = Values();
        EXPECT_TRUE(!changed.back() || values.size() != before.size() || values == before);
        // Whatever the state is, another commit and a loss do not change it.
        AppendParts(1);
        if (!lose) {
          const std::vector<std::string> next = Names();
          LoseTable();
          const RepairReport report = MustRepair();
          EXPECT_THAT(Names(), ElementsAreArray(next)) << calls;
        }
      }
      EXPECT_FALSE(changed.front());
      EXPECT_TRUE(changed.back());
      EXPECT_TRUE(std::is_sorted(changed.begin(), changed.end()));
    }
  }
}

// A drop that meets another commit and fails leaves no mark in a part that stays.
TEST_F(TableRepairTest, FailedDropsLeaveNoMarks) {
  AppendParts(3);
  const std::vector<std::string> names = Names();
  bool first = true;
  const auto storage = std::make_shared<ScriptedStorage>(storage_, [&](const IoCall& call) {
    if (call.kind == IoCall::kCommit && std::exchange(first, false)) {
      EXPECT_TRUE(DropParts(storage_, {&names[1], 1}).ok());
    }
    return absl::OkStatus();
  });
  EXPECT_EQ(DropParts(storage, std::vector{names[0], names[1]}).code(),
            absl::StatusCode::kNotFound);
  LoseTable();
  MustRepair();
  EXPECT_THAT(Names(), ElementsAre(names[0], names[2]));
}

// With many parts, the table has chunks. A damaged chunk is rebuilt; parts that the rest of the
// manifest names need no copies.
TEST_F(TableRepairTest, DamagedChunks) {
  AppendParts(150);
  const std::vector<std::string> names = Names();
  const std::vector<int64_t> before = Values();
  const std::vector<std::string> chunks = Files("chunk-");
  ASSERT_EQ(chunks.size(), 2);
  for (const bool missing : {false, true}) {
    SCOPED_TRACE(missing);
    const std::string chunk = Files("chunk-")[0];
    ASSERT_TRUE(missing ? storage_->Delete(chunk).ok() : (Damage(chunk, 100), true));
    const RepairReport report = MustRepair();
    EXPECT_THAT(report.damage, HasSubstr(chunk));
    EXPECT_TRUE(report.complete());
    EXPECT_THAT(Names(), ElementsAreArray(names));
    EXPECT_THAT(Values(), ElementsAreArray(before));
    // Of the damaged chunk and of those that were replaced, nothing is left after a collection.
    ASSERT_TRUE(CollectGarbage(storage_, std::chrono::seconds(0)).ok());
    EXPECT_EQ(Files("chunk-").size(), 2);
    EXPECT_FALSE(MustRepair().changed);
  }
}

TEST_F(TableRepairTest, MissingColumns) {
  AppendParts(3);
  const std::vector<std::string> names = Names();
  const std::string file = Files(names[1] + "/0001")[0];
  const std::string bytes = Bytes(file);
  ASSERT_TRUE(storage_->Delete(file).ok());
  // The part stays, even if nothing of it can be salvaged and if table.cft is rebuilt.
  for (const bool salvage : {false, true}) {
    for (const bool force : {false, true}) {
      const RepairReport kept = MustRepair({.salvage = salvage, .force = force});
      EXPECT_EQ(kept.changed, force);
      EXPECT_FALSE(kept.complete());
      EXPECT_THAT(States(kept), ElementsAre(std::pair(names[1], State::kDamaged)));
      EXPECT_EQ(kept.parts[1].lost_rows, 0);
      EXPECT_EQ(kept.num_rows, 3 * kRows);
      EXPECT_THAT(Names(), ElementsAreArray(names));
    }
  }
  for (const bool salvage : {false, true}) {
    const RepairReport report = MustRepair({.salvage = salvage, .drop_damaged = true});
    EXPECT_TRUE(report.changed);
    EXPECT_FALSE(report.complete());
    EXPECT_THAT(States(report), ElementsAre(std::pair(names[1], State::kLeftOut)));
    EXPECT_EQ(report.parts[1].lost_rows, kRows);
    EXPECT_EQ(report.num_rows, 2 * kRows);
    EXPECT_THAT(Names(), ElementsAre(names[0], names[2]));
    // Later reports name the part, also after another commit.
    if (salvage) AppendParts(1);
    const RepairReport later = MustRepair({.salvage = salvage});
    EXPECT_FALSE(later.changed || later.complete());
    EXPECT_THAT(States(later), ElementsAre(std::pair(names[1], State::kLeftOut)));
    EXPECT_EQ(later.parts.back().num_rows, kRows);
    EXPECT_EQ(later.parts.back().lost_rows, kRows);
    if (salvage) break;
    // The file is found again.
    Write(file, bytes);
    EXPECT_FALSE(MustRepair().changed);
    EXPECT_TRUE(MustRepair({.force = true}).complete());
    EXPECT_THAT(Names(), ElementsAreArray(names));
    ASSERT_TRUE(storage_->Delete(file).ok());
  }
  ASSERT_TRUE(CollectGarbage(storage_, std::chrono::seconds(0)).ok());
  EXPECT_TRUE(MustRepair().complete());
}

// Parts that were left out come back for `salvage`.
TEST_F(TableRepairTest, LeftOutPartsCanBeSalvaged) {
  AppendParts(2);
  const std::vector<std::string> names = Names();
  const std::string file = Files(names[1] + "/0000")[0];
  const std::string bytes = Bytes(file);
  Write(file, bytes.substr(0, bytes.size() - 100));  // without the footer
  MustRepair({.drop_damaged = true});
  EXPECT_THAT(Names(), ElementsAre(names[0]));
  EXPECT_FALSE(MustRepair({.salvage = true}).changed);
  const RepairReport report = MustRepair({.salvage = true, .force = true});
  EXPECT_EQ(report.parts[1].state, State::kSalvaged);
  EXPECT_EQ(report.num_rows, Values().size());
}

// A file that cannot be read now may be sound, so no row of its part is removed.
TEST_F(TableRepairTest, ErrorsOfTheStorageRemoveNoRows) {
  AppendParts(2);
  const std::string file = Files(Names()[1] + "/0001")[0];
  const auto storage = std::make_shared<ScriptedStorage>(storage_, [&](const IoCall& call) {
    return call.kind == IoCall::kOpen && call.name == file ? absl::UnavailableError("off")
                                                           : absl::OkStatus();
  });
  const auto report = Repair(storage);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_FALSE(report->changed);
  EXPECT_EQ(report->parts[1].state, State::kDamaged);
  EXPECT_TRUE(absl::IsUnavailable(Repair(storage, {.salvage = true}).status()));
  EXPECT_TRUE(absl::IsUnavailable(Repair(storage, {.drop_damaged = true}).status()));
}

// A file with a codec that this build lacks may be sound, so it is not damaged, and no row of its
// part is removed.
TEST_F(TableRepairTest, UnknownCodecsAreNoDamage) {
  if (!CheckCompressionBuiltIn(Compression::kZstd).ok()) GTEST_SKIP() << "zstd is not built in";
  options_.compression = Compression::kZstd;
  AppendParts(2);
  const std::string path = Files(Names()[1] + "/0001")[0];
  std::string file = Bytes(path);
  FileInfo info = Reader::Open(NewMemorySource({file.begin(), file.end()}))->info();
  file.resize(file.size() - info.footer_size_bytes);
  ASSERT_EQ(info.compression, Compression::kZstd);
  info.compression = Compression{105};
  encodings::ByteWriter footer;
  internal::AppendFooter(info, /*extensions=*/true, footer);
  file.append(footer.span().begin(), footer.span().end());
  Write(path, file);
  EXPECT_TRUE(
      absl::IsUnimplemented(TableReader::Open(storage_)->VerifyColumn(1, 1).damages[0].status));
  for (const bool lost : {false, true}) {
    if (lost) LoseTable();
    const RepairReport report = MustRepair({.salvage = true, .null_lost = true});
    EXPECT_EQ(report.parts[1].state, State::kKept) << report.parts[1].reason;
    EXPECT_EQ(report.num_rows, 2 * kRows);
  }
}

// With null_lost, a row stays only if it has a value that can be read, and the order of the rows
// and the groups of records stay, too.
TEST_F(TableRepairTest, LostValuesThatCannotBecomeNull) {
  schema_.columns[0].nullable = schema_.columns[1].nullable = true;
  AppendParts(1);
  std::string part = Names()[0];
  ASSERT_TRUE(storage_->Delete(Files(part + "/0001")[0]).ok());
  const RepairReport report = MustRepair({.salvage = true, .null_lost = true});
  EXPECT_EQ(report.num_rows, kRows);
  EXPECT_THAT(report.parts[0].lost_values, ElementsAre(std::pair("b", kRows)));
  part = Names()[0];
  ASSERT_TRUE(storage_->Delete(Files(part + "/columns.packed")[0]).ok());
  EXPECT_FALSE(MustRepair({.salvage = true, .null_lost = true}).changed);

  const Schema tree = Schema::OfRecords(*RecordSchema::Parse(
      "message m { required int64 id; optional group g { required int64 a; required int64 b; } }"));
  Schema keyed = {.columns = schema_.columns, .key_columns = {0}};
  keyed.columns[1].type = ColumnType::Int64();
  for (const Schema& schema : {tree, keyed}) {
    storage_ = NewMemoryStorage("t");
    auto writer = TableWriter::Create(storage_, schema, {&options_, 1});
    ASSERT_TRUE(writer.ok()) << writer.status();
    const std::vector<int64_t> values = {1, 2, 3};
    const std::vector<uint8_t> validity = {7};
    for (size_t i = 0; i < schema.columns.size(); ++i) {
      const bool nullable = schema.columns[i].nullable;
      ASSERT_TRUE((nullable ? writer->Append<int64_t>(i, values, validity)
                            : writer->Append<int64_t>(i, values))
                      .ok());
    }
    ASSERT_TRUE(writer->Finish().ok());
    const size_t lost = schema.tree ? 1 : 0;
    ASSERT_TRUE(schema.columns[lost].nullable && !schema.columns[lost].has_levels());
    ASSERT_TRUE(storage_->Delete(Files(absl::StrCat(Names()[0], "/000", lost))[0]).ok());
    EXPECT_FALSE(MustRepair({.salvage = true, .null_lost = true}).changed);
  }
}

// Floats without bounds, such as NaNs, have no value index, and get none.
TEST_F(TableRepairTest, SalvagesColumnsWithoutBounds) {
  schema_ = {.columns = {{.name = "a", .type = ColumnType::Double()},
                         {.name = "b", .type = ColumnType::Int96()}}};
  auto writer = TableWriter::Create(storage_, schema_, {&options_, 1});
  ASSERT_TRUE(writer.ok());
  ASSERT_TRUE(writer->Append<double>(0, std::vector<double>(10, NAN)).ok());
  ASSERT_TRUE(writer->Append<Int96>(1, std::vector<Int96>(10)).ok());
  ASSERT_TRUE(writer->Finish().ok());
  const std::string file = Files(Names()[0] + "/0000")[0];
  Damage(file, Bytes(file).size() - 12);
  const RepairReport report = MustRepair({.salvage = true});
  EXPECT_EQ(report.parts[0].state, State::kSalvaged);
  EXPECT_EQ(report.num_rows, 10);
}

// A lost table.cft can be rebuilt only from the copies. So Repair checks the copies, and writes
// damaged ones again, while table.cft is still sound.
TEST_F(TableRepairTest, DamagedCopiesAreWrittenAgain) {
  for (const int parts : {3, 70}) {
    for (const bool missing : {false, true}) {
      storage_ = NewMemoryStorage("t");
      AppendParts(parts);
      const std::vector<std::string> names = Names();
      const std::vector<int64_t> before = Values();
      const std::string copy = Files(names[1] + "/part-")[0];
      ASSERT_TRUE(missing ? storage_->Delete(copy).ok() : (Damage(copy, 50), true));
      int lists = 0;
      const auto counting = std::make_shared<ScriptedStorage>(storage_, [&](const IoCall& call) {
        lists += call.kind == IoCall::kList;
        return absl::OkStatus();
      });
      const TableReader table = *TableReader::Open(counting);
      EXPECT_TRUE(table.VerifyCopy(0).ok());
      EXPECT_EQ(lists, 1);
      const VerifyReport damaged = table.VerifyCopy(1);
      ASSERT_EQ(damaged.damages.size(), 1);
      EXPECT_EQ(absl::IsNotFound(damaged.damages[0].status), missing);
      const RepairReport report = MustRepair();
      EXPECT_TRUE(report.changed && report.complete());
      EXPECT_THAT(report.damage, HasSubstr(names[1]));
      EXPECT_EQ(report.kept_as, "");
      EXPECT_FALSE(MustRepair().changed);
      LoseTable();
      EXPECT_TRUE(MustRepair().complete());
      EXPECT_THAT(Names(), ElementsAreArray(names));
      EXPECT_THAT(Values(), ElementsAreArray(before));
    }
  }
}

// The rows that all columns still have come back, even if table.cft is lost, too.
TEST_F(TableRepairTest, SalvagesColumns) {
  for (const bool lose : {false, true}) {
    SCOPED_TRACE(lose);
    storage_ = NewMemoryStorage("t");
    next_ = 0;
    AppendParts(1);
    constexpr int64_t kMany = 20'000;
    const WriterOptions options{.encoding = Encoding::kPlain,
                                .value_index = false,
                                .block_size_bytes = 4096,
                                .max_packed_part_bytes = 0};
    auto writer = TableWriter::Open(storage_, {&options, 1});
    ASSERT_TRUE(writer.ok());
    std::vector<int64_t> values;
    for (int64_t i = 0; i < kMany; ++i) values.push_back(kRows + i);
    Fill(*writer, values);
    ASSERT_TRUE(writer->Finish().ok());
    next_ = kRows + kMany;
    AppendParts(1);
    const std::vector<std::string> names = Names();
    for (const std::string column : {"/0000", "/0001"}) {
      const std::string file = Files(names[1] + column)[0];
      Damage(file, Bytes(file).size() / (column == "/0000" ? 2 : 3));
    }
    if (lose) LoseTable();
    const RepairReport dry = MustRepair({.dry_run = true});
    EXPECT_EQ(dry.changed, lose);
    EXPECT_THAT(States(dry), ElementsAre(std::pair(names[1], State::kDamaged)));
    const RepairReport report = MustRepair({.salvage = true});
    ASSERT_EQ(report.parts.size(), 3);
    EXPECT_THAT(States(report), ElementsAre(std::pair(names[1], State::kSalvaged)));
    const std::vector<int64_t> after = Values();
    EXPECT_EQ(report.num_rows, after.size());
    EXPECT_EQ(report.num_parts, 3);
    EXPECT_EQ(after.size() + report.parts[1].lost_rows, 2 * kRows + kMany);
    // Each damage costs one block of at most 4 KiB: 512 numbers, or some texts.
    EXPECT_GT(report.parts[1].lost_rows, 512);
    EXPECT_LT(report.parts[1].lost_rows, 2000);
    EXPECT_TRUE(std::is_sorted(after.begin(), after.end()));
    EXPECT_EQ(after.back(), next_ - 1);
    EXPECT_THAT(Files("temporary-"), IsEmpty());
    EXPECT_FALSE(MustRepair({.salvage = true}).changed);
    // The damaged part does not come back.
    LoseTable();
    MustRepair();
    EXPECT_THAT(Values(), ElementsAreArray(after));
  }
}

// What can be read can be written, even if it is larger than the limits of a writer by default.
TEST_F(TableRepairTest, SalvagesLargeBlocks) {
  const WriterOptions few_rows = {.encoding = Encoding::kPlain, .max_values_per_block = 1};
  const WriterOptions large = {.encoding = Encoding::kPlain, .max_block_size_bytes = 64 << 20};
  const WriterOptions options[] = {few_rows, large};
  auto writer = TableWriter::Create(storage_, schema_, options);
  ASSERT_TRUE(writer.ok()) << writer.status();
  ASSERT_TRUE(writer->Append<int64_t>(0, std::vector<int64_t>{1, 2, 3}).ok());
  const std::string text(17 << 20, 'a');
  ASSERT_TRUE(writer->Append<std::string_view>(1, std::vector<std::string_view>(3, text)).ok());
  ASSERT_TRUE(writer->Finish().ok());
  const std::string numbers = Files(Names()[0] + "/0000")[0];
  const absl::StatusOr<Reader> reader = Reader::Open(*storage_->Open(numbers));
  ASSERT_TRUE(reader.ok()) << reader.status();
  Damage(numbers, reader->info().header_size_bytes + 4);
  const auto report =
      Repair(storage_, {.salvage = true, .reader = {.blocks_up_to_file_size = true}});
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->parts[0].state, State::kSalvaged);
  EXPECT_GT(report->num_rows, 0u);
}

// Repairs of tables of many types, with compound keys and nested columns.
TEST_F(TableRepairTest, SalvagesKeysAndLevels) {
  const Schema schema = Schema::OfRecords(
      *RecordSchema::Parse("message m { required int64 id; repeated int64 number; }"));
  Schema keyed = schema;
  keyed.key_columns = {0};
  auto writer = TableWriter::Create(storage_, keyed, {&options_, 1});
  ASSERT_TRUE(writer.ok()) << writer.status();
  std::vector<int64_t> ids;
  std::vector<uint16_t> repetition, definition;
  for (int64_t i = 0; i < 100; ++i) {
    ids.push_back(i);
    repetition.insert(repetition.end(), {0, 1});
    definition.insert(definition.end(), {1, 1});
  }
  std::vector<int64_t> numbers(200, 7);
  ASSERT_TRUE(writer->Append<int64_t>(0, ids).ok());
  ASSERT_TRUE(writer->AppendLevels<int64_t>(1, repetition, definition, numbers).ok());
  ASSERT_TRUE(writer->Finish().ok());
  const std::string name = Names()[0];
  // The keys can be made anew.
  ASSERT_TRUE(storage_->Delete(Files(name + "/0002")[0]).ok());
  LoseTable();
  const RepairReport report = MustRepair({.salvage = true});
  EXPECT_EQ(report.parts[0].state, State::kSalvaged);
  EXPECT_EQ(report.parts[0].lost_rows, 0);
  const auto table = TableReader::Open(storage_);
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_EQ(table->num_rows(), 100);
  for (size_t column = 0; column < 3; ++column) EXPECT_TRUE(table->VerifyColumn(0, column).ok());
}

// A copy with a byte changed anywhere costs its part at most, and never crashes.
TEST_F(TableRepairTest, EachDamagedByteOfACopy) {
  AppendParts(2);
  const std::vector<std::string> names = Names();
  const std::string copy = Files(names[0] + "/part-")[0];
  const std::string bytes = Bytes(copy);
  LoseTable();
  for (size_t i = 0; i < bytes.size(); ++i) {
    Damage(copy, i);
    const RepairReport report = MustRepair({.dry_run = true});
    EXPECT_EQ(report.num_parts, 1) << i;
    EXPECT_THAT(States(report), ElementsAre(std::pair(names[0], State::kUnknown)));
    Write(copy, bytes);
  }
  EXPECT_EQ(MustRepair().num_parts, 2);
}

// A drop that a power cut interrupted: its mark does not count without its copy, and not at all if
// later commits show that the drop did not take place.
TEST_F(TableRepairTest, MarksOfInterruptedDrops) {
  AppendParts(3);
  const std::vector<std::string> names = Names();
  const internal::CommitTag tag{.sequence = 4, .id = 1};
  auto copy = internal::ParseTable(Bytes(Files(names[2] + "/part-")[0]), "copy");
  ASSERT_TRUE(copy.ok());
  EXPECT_EQ(copy->sequence, 3);
  EXPECT_EQ(copy->commit_ids.size(), 3);
  copy->sequence = tag.sequence;
  copy->commit_ids.insert(copy->commit_ids.begin(), tag.id);
  Write(names[1] + "/" + internal::DroppedMarkName(tag), "");
  const auto lost = *storage_->Read("table.cft", 10'000);
  LoseTable();
  EXPECT_EQ(MustRepair({.dry_run = true}).num_parts, 3);
  Write(names[2] + "/" + internal::PartCopyName(tag), internal::SerializeTable(*copy));
  EXPECT_EQ(MustRepair({.dry_run = true}).num_parts, 2);
  ASSERT_TRUE(storage_->Commit("table.cft", std::nullopt, lost.bytes).ok());
  AppendParts(1);
  EXPECT_EQ(Names().size(), 4);
  LoseTable();
  EXPECT_EQ(MustRepair().num_parts, 4);
  EXPECT_THAT(Files(names[1] + "/dropped"), IsEmpty());
}

// Writers of earlier versions write no sequence into table.cft. The copies are not garbage then.
TEST_F(TableRepairTest, CopiesStayIfTheSequenceIsLost) {
  AppendParts(2);
  const auto table = storage_->Read("table.cft", 10'000);
  ASSERT_TRUE(table.ok());
  auto contents = internal::ParseTable(table->bytes, "table.cft");
  ASSERT_TRUE(contents.ok());
  contents->sequence = 0;
  contents->commit_ids.clear();
  const std::string bytes = internal::SerializeTable(*contents);
  ASSERT_TRUE(storage_->Commit("table.cft", table->version, bytes).ok());
  ASSERT_TRUE(CollectGarbage(storage_, std::chrono::seconds(0)).ok());
  LoseTable();
  EXPECT_EQ(MustRepair().num_parts, 2);
}

// Stale copies and marks are garbage; the copies of the table's parts are not.
TEST_F(TableRepairTest, GarbageOfFailedCommits) {
  AppendParts(2);
  const std::vector<std::string> names = Names();
  const std::vector<std::string> before = Files("");
  const std::string copy = Bytes(Files(names[0] + "/part-")[0]);
  for (const uint64_t sequence : {1, 2, 3}) {
    Write(names[0] + "/" + internal::PartCopyName({.sequence = sequence, .id = 5}), copy);
    Write(names[0] + "/" + internal::DroppedMarkName({.sequence = sequence, .id = 5}), "");
  }
  Write(names[0] + "/dropped", "");
  EXPECT_EQ(CollectGarbage(storage_, std::chrono::seconds(0))->size(), 7);
  EXPECT_THAT(Files(""), ElementsAreArray(before));
}

// Tests the repair of tables whose columns were changed.
class RepairedColumnsTest : public TableRepairTest {
 protected:
  using Change = std::function<absl::Status(const std::shared_ptr<Storage>&)>;

  RepairedColumnsTest() {
    schema_ = {.columns = {{.name = "a", .type = ColumnType::Int32()},
                           {.name = "b", .type = ColumnType::String(), .nullable = true},
                           {.name = "c", .type = ColumnType::Float()}}};
  }

  TableReader Open() const {
    auto table = TableReader::Open(storage_);
    EXPECT_TRUE(table.ok()) << table.status();
    return *std::move(table);
  }

  // Appends parts of three rows. Creates the table if there is none.
  void AppendParts(int count) {
    for (int i = 0; i < count; ++i, next_ += 3) {
      const bool is_new = !storage_->Open("table.cft").ok();
      const Schema schema = is_new ? schema_ : Open().schema();
      auto writer = is_new ? TableWriter::Create(storage_, schema, {&options_, 1})
                           : TableWriter::Open(storage_, {&options_, 1});
      ASSERT_TRUE(writer.ok()) << writer.status();
      ASSERT_TRUE(AppendNumbers(*writer, schema, next_, 3).ok());
      const absl::Status status = writer->Finish();
      ASSERT_TRUE(status.ok()) << status;
    }
  }

  // Writes the values `first`, `first` + 1, and so on.
  static absl::Status WriteColumn(absl::StatusOr<ColumnsWriter> writer, const ColumnSchema& column,
                                  int64_t first) {
    if (!writer.ok()) return writer.status();
    const absl::Status status = AppendNumbers(*writer, 0, column, first, writer->num_rows());
    return status.ok() ? writer->Finish() : status;
  }

  std::vector<Change> Changes() const {
    const ColumnSchema x = {.name = "x", .type = ColumnType::Int32(), .nullable = true};
    const ColumnSchema y = {.name = "y", .type = ColumnType::Double()};
    return {
        [=](const auto& storage) { return AddColumn(storage, x, int64_t{7}); },
        [](const auto& storage) { return DropColumns(storage, std::vector<std::string>{"b"}); },
        [](const auto& storage) { return RenameColumn(storage, "b", "words"); },
        [](const auto& storage) {
          return ReorderColumns(storage, std::vector<std::string>{"c", "a", "b"});
        },
        [](const auto& storage) { return WidenColumn(storage, "a", ColumnType::Int64()); },
        [=](const auto& storage) {
          return WriteColumn(ColumnsWriter::Add(storage, {&x, 1}), x, 100);
        },
        [=](const auto& storage) {
          return WriteColumn(ColumnsWriter::Add(storage, {&y, 1}), y, 100);
        },
        [=, this](const auto& storage) {
          return WriteColumn(ColumnsWriter::Replace(storage, {"b"}), schema_.columns[1], 100);
        },
    };
  }

  // Removes table.cft, and repairs the table. EXPECTs that the table is as before.
  void ExpectRebuilt() {
    const TableReader before = Open();
    const std::vector<std::string> names = Names();
    LoseTable();
    const RepairReport report = MustRepair();
    EXPECT_TRUE(report.changed);
    EXPECT_TRUE(report.complete());
    EXPECT_EQ(report.num_rows, before.num_rows());
    EXPECT_EQ(Open().schema(), before.schema());
    EXPECT_THAT(Names(), ElementsAreArray(names));
    EXPECT_THAT(Contents(Open()), ElementsAreArray(Contents(before)));
  }

  // EXPECTs that the rebuilt table can be changed, cleaned of garbage, and repaired again.
  void ExpectUsable() {
    const uint64_t rows = Open().num_rows();
    AppendParts(1);
    EXPECT_EQ(Open().num_rows(), rows + 3);
    ExpectRebuilt();
    const std::vector<std::string> before = Contents(Open());
    ASSERT_TRUE(CollectGarbage(storage_, std::chrono::seconds(0)).ok());
    EXPECT_THAT(Contents(Open()), ElementsAreArray(before));
    ExpectRebuilt();
  }
};

TEST_F(RepairedColumnsTest, EachChange) {
  for (const int parts : {1, 3, 70}) {
    const std::vector<Change> changes = Changes();
    for (size_t i = 0; i < changes.size(); ++i) {
      SCOPED_TRACE(absl::StrCat("change ", i, " of a table of ", parts, " parts"));
      storage_ = NewMemoryStorage("t");
      next_ = 0;
      AppendParts(parts);
      const absl::Status status = changes[i](storage_);
      ASSERT_TRUE(status.ok()) << status;
      ExpectRebuilt();
      ExpectUsable();
      if (HasFailure()) return;
    }
  }
}

// A chunk is a file that describes many parts. The chunk in this test is damaged.
// Its parts are older than a change of columns.
TEST_F(RepairedColumnsTest, EachChangeAndADamagedChunk) {
  for (const Change& change : Changes()) {
    storage_ = NewMemoryStorage("t");
    next_ = 0;
    AppendParts(70);
    ASSERT_TRUE(change(storage_).ok());
    ASSERT_TRUE(CollectGarbage(storage_, std::chrono::seconds(0)).ok());
    const std::vector<std::string> before = Contents(Open());
    ASSERT_EQ(Files("chunk-").size(), 1);
    ASSERT_TRUE(storage_->Delete(Files("chunk-")[0]).ok());
    EXPECT_TRUE(MustRepair().complete());
    EXPECT_THAT(Contents(Open()), ElementsAreArray(before));
    if (HasFailure()) return;
  }
}

TEST_F(RepairedColumnsTest, RandomChanges) {
  for (uint32_t seed = 0; seed < 25; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    options_ = seed % 2 == 0 ? kLoose : WriterOptions();
    storage_ = NewMemoryStorage("t");
    next_ = 0;
    AppendParts(1 + static_cast<int>(random() % 3));
    for (int step = 0; step < 40; ++step) {
      SCOPED_TRACE(step);
      const std::vector<std::string> names = Names();
      const Schema schema = Open().schema();
      const ColumnSchema column = schema.columns[random() % schema.columns.size()];
      const std::vector<std::string> chosen = SomeOf(names, random);
      ColumnSchema added = {.name = absl::StrCat("added", next_, "_", step),
                            .type = random() % 2 == 0 ? ColumnType::Int32() : ColumnType::Float(),
                            .nullable = random() % 2 == 0};
      absl::Status status;
      switch (random() % 14) {
        case 0:
          status = Compact(storage_, Neighbours(names, random)).status();
          break;
        case 1:
          if (chosen.size() < names.size()) status = DropParts(storage_, chosen);
          break;
        case 2:
          status = CollectGarbage(storage_, std::chrono::seconds(0)).status();
          break;
        case 3:
          ExpectRebuilt();
          break;
        case 4:
          status = added.nullable ? AddColumn(storage_, added) : AddColumn(storage_, added, 7);
          break;
        case 5:
          status = WriteColumn(ColumnsWriter::Add(storage_, {&added, 1}), added, next_);
          break;
        case 6:
        case 7:
          status = WriteColumn(ColumnsWriter::Replace(storage_, {column.name}), column, next_);
          break;
        case 8:
          if (schema.columns.size() > 1) {
            status = DropColumns(storage_, std::vector{column.name});
          }
          break;
        case 9:
          status = RenameColumn(storage_, column.name, added.name);
          break;
        case 10: {
          std::vector<std::string> order;
          for (const ColumnSchema& each : schema.columns) order.push_back(each.name);
          std::shuffle(order.begin(), order.end(), random);
          status = ReorderColumns(storage_, order);
          break;
        }
        case 11:
          if (column.type == ColumnType::Int32() || column.type == ColumnType::Float()) {
            status = WidenColumn(
                storage_, column.name,
                column.type == ColumnType::Float() ? ColumnType::Double() : ColumnType::Int64());
          }
          break;
        default:
          AppendParts(1);
      }
      ASSERT_TRUE(status.ok()) << status;
      if (HasFailure()) return;
    }
    ExpectRebuilt();
    ExpectUsable();
    if (HasFailure()) return;
  }
}

// In each run, a change is interrupted at another call of the storage, and then table.cft is lost.
// After the repair, all parts have the columns from before the change,
// or all parts have the columns from after the change.
TEST_F(RepairedColumnsTest, InterruptedChanges) {
  const std::vector<Change> changes = Changes();
  // Some parts have no values of column d. In these parts, d has a default.
  const auto prepare = [&](size_t change) {
    storage_ = NewMemoryStorage("t");
    next_ = 0;
    options_ = kLoose;
    AppendParts(2);
    ASSERT_TRUE(AddColumn(storage_, {.name = "d", .type = ColumnType::Int32()}, int64_t{5}).ok());
    if (change == 3) {
      ASSERT_TRUE(DropColumns(storage_, std::vector<std::string>{"d"}).ok());
    }
    options_ = WriterOptions();
    AppendParts(2);
  };
  for (size_t i = 0; i < changes.size(); ++i) {
    prepare(i);
    const std::vector<std::string> before = Contents(Open());
    ASSERT_TRUE(changes[i](storage_).ok());
    const std::vector<std::string> changed = Contents(Open());
    // If calls_between is -1, only one call fails. Otherwise one call fails, then calls_between
    // calls succeed, and then the process is killed.
    for (const int calls_between : {-1, 0, 1, 2, 3}) {
      bool done = false, seen_before = false, seen_after = false;
      for (int calls = 0; !done; ++calls) {
        SCOPED_TRACE(absl::StrCat("change ", i, ", call ", calls, ", then ", calls_between));
        prepare(i);
        Kill kill{.calls_left = calls, .calls_between = calls_between};
        Fault fault;
        fault.FailOnce(static_cast<uint64_t>(calls) + 1);
        const bool once = calls_between < 0;
        const absl::Status status = changes[i](
            std::make_shared<ScriptedStorage>(storage_, once ? fault.script() : kill.script()));
        done = once ? !fault.fired() : !kill.happened;
        const bool committed = Contents(Open()) == changed;
        EXPECT_TRUE(committed || (!status.ok() && Contents(Open()) == before)) << status;
        LoseTable();
        EXPECT_TRUE(MustRepair().complete());
        const std::vector<std::string> after = Contents(Open());
        // A change that was prepared but not committed may count as made.
        EXPECT_TRUE(after == changed || (!committed && after == before))
            << testing::PrintToString(after);
        (after == before ? seen_before : seen_after) = true;
        if (calls % 8 == 0) ExpectUsable();
        if (HasFailure()) return;
      }
      EXPECT_TRUE(seen_before && seen_after);
    }
  }
}

// Some parts have no file of column d. In these parts, d has a default.
// The column d is widened, and the change is interrupted.
TEST_F(RepairedColumnsTest, InterruptedWideningOfADefault) {
  for (int calls = 0;; ++calls) {
    SCOPED_TRACE(calls);
    storage_ = NewMemoryStorage("t");
    next_ = 0;
    AppendParts(2);
    ASSERT_TRUE(AddColumn(storage_, {.name = "d", .type = ColumnType::Int32()}, int64_t{5}).ok());
    AppendParts(2);
    const std::vector<std::string> before = Contents(Open());
    Kill kill{.calls_left = calls};
    const auto stopping = std::make_shared<ScriptedStorage>(storage_, kill.script());
    (void)WidenColumn(stopping, "d", ColumnType::Int64());
    const std::vector<std::string> now = Contents(Open());
    LoseTable();
    EXPECT_TRUE(MustRepair().complete());
    const std::vector<std::string> after = Contents(Open());
    EXPECT_TRUE(now == before || after == now) << testing::PrintToString(after);
    EXPECT_EQ(after[3].substr(after[3].find(' ', 2)), before[3].substr(before[3].find(' ', 2)));
    if (HasFailure() || !kill.happened) break;
  }
}

// Salvages parts whose columns are older or newer than the parts.
// Files that the table no longer needs may be missing.
TEST_F(RepairedColumnsTest, SalvagesColumnsOfSeveralAges) {
  for (const bool lose : {false, true}) {
    SCOPED_TRACE(lose);
    storage_ = NewMemoryStorage("t");
    next_ = 0;
    AppendParts(2);
    const std::vector<std::string> dropped = Files(Names()[0] + "/0001");
    const ColumnSchema& c = schema_.columns[2];
    ASSERT_TRUE(AddColumn(storage_, {.name = "d", .type = ColumnType::Int32()}, int64_t{5}).ok());
    ASSERT_TRUE(DropColumns(storage_, std::vector<std::string>{"b"}).ok());
    ASSERT_TRUE(WriteColumn(ColumnsWriter::Replace(storage_, {"c"}), c, 100).ok());
    ASSERT_TRUE(WidenColumn(storage_, "a", ColumnType::Int64()).ok());
    ASSERT_TRUE(RenameColumn(storage_, "c", "e").ok());
    AppendParts(1);
    ASSERT_EQ(dropped.size(), 1);
    ASSERT_TRUE(storage_->Delete(dropped[0]).ok());
    if (lose) LoseTable();
    EXPECT_TRUE(MustRepair({.salvage = true}).complete());
    const std::vector<std::string> before = Contents(Open());
    EXPECT_THAT(before,
                ElementsAre("a int64 0 1 2 3 4 5 6 7 8", "e float 100 101 102 103 104 105 6 7 8",
                            "d int32 5 5 5 5 5 5 6 7 8"));
    // The footer of a file is damaged, but the only block of the file is not.
    const std::string file = *Open().part_file(0, 1);
    Damage(file, Bytes(file).size() - 12);
    if (lose) LoseTable();
    EXPECT_EQ(MustRepair({.drop_damaged = true, .dry_run = true}).num_parts, 2);
    const RepairReport report = MustRepair({.salvage = true});
    EXPECT_EQ(report.parts[0].state, State::kSalvaged);
    EXPECT_EQ(report.parts[0].lost_rows, 0);
    EXPECT_THAT(Contents(Open()), ElementsAreArray(before));
    ExpectRebuilt();
    ExpectUsable();
  }
}

TEST(TableRepairLocal, RepairsADirectory) {
  const TemporaryDirectory directory;
  const std::string path = directory.path("table");
  for (uint64_t part = 0; part < 3; ++part) {
    auto writer = CreateOrAppend(path, ManyTypes());
    ASSERT_TRUE(writer.ok() && AppendRows(*writer, 100 * part, 100).ok() && writer->Finish().ok());
  }
  for (const bool lose : {false, true}) {
    if (lose) {
      fs::remove(path + "/table.cft");
    } else {
      WriteFile(path + "/table.cft", "");
    }
    const auto report = Repair(path);
    ASSERT_TRUE(report.ok()) << report.status();
    EXPECT_TRUE(report->complete());
    ExpectTable(*TableReader::Open(path), 300);
  }
}

}  // namespace cfile::table_repair_test
