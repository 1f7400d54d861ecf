// In these tests each call of a Source or of a Sink fails in turn, alone or together with all later
// calls. The tests check the readers and writers of rows and of records, and Salvage.
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "cfile/block_cache.h"
#include "cfile/inspect.h"
#include "cfile/levels.h"
#include "cfile/reader.h"
#include "cfile/salvage.h"
#include "cfile/scan.h"
#include "cfile/writer.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/campaign/amount.h"
#include "tests/campaign/failing_io.h"
#include "tests/cfile/column_testing.h"
#include "tests/cfile/level_testing.h"

namespace cfile {
namespace {

using testing::Contains;
using testing::Field;
using testing::HasSubstr;
using testing_support::Column;
using testing_support::FailEachCall;
using testing_support::Fault;
using testing_support::FaultMode;
using testing_support::Leaf;
using testing_support::ScriptedSink;
using testing_support::ScriptedSource;

struct Case {
  std::string name;
  ColumnType type;
  WriterOptions options;
};

std::vector<Case> Cases(bool value_index) {
  std::vector<Case> cases;
  // Blocks and nodes are small and many, so that the trees are deep and each block needs a call
  // of the source or of the sink.
  const WriterOptions options{.value_index = value_index,
                              .block_size_bytes = 4000,
                              .max_values_per_block = 1000,
                              .index_block_size_bytes = 100};
  const auto add = [&](const std::string& name, const ColumnType& type, Encoding encoding,
                       Compression compression = Compression::kNone) {
    Case& added = cases.emplace_back(Case{name, type, options});
    added.options.encoding = encoding;
    added.options.compression = compression;
  };
  add("plain", ColumnType::Int64(), Encoding::kPlain);
  add("plain_lz4", ColumnType::Int64(), Encoding::kPlain, Compression::kLz4);
  add("prefix", ColumnType::String(), Encoding::kPrefix);
  add("dict", ColumnType::String(), Encoding::kDict);
  add("auto", ColumnType::String(), Encoding::kAuto, Compression::kDefault);
  cases.back().options.nullable = !value_index;
  cases.back().options.bloom_filter_bits_per_value = 10;
  return cases;
}

constexpr size_t kRows = 20'000;

// Returns a column of different values. Its file is several times as large as the head and the tail
// that a reader keeps in memory.
template <typename T>
Column<T> ColumnOf(const Case& test) {
  std::mt19937_64 random(7);
  Column<T> column;
  for (size_t i = 0; i < kRows; ++i) {
    auto& row = column.rows.emplace_back();
    if (test.options.nullable && random() % 5 == 0) continue;
    if constexpr (std::is_same_v<T, std::string_view>) {
      row = std::to_string(1'000'000 + i) + std::to_string(random());
    } else {
      row = static_cast<T>(i << 32 | random() % 1'000'000);
    }
  }
  return column;
}

class FaultTest : public testing::TestWithParam<Case> {
 protected:
  // Calls `check` with the C++ type of the column's values.
  template <typename Check>
  void ForColumn(Check check) {
    if (GetParam().type.physical() == PhysicalType::kBytes) {
      check(std::type_identity<std::string_view>());
    } else {
      check(std::type_identity<int64_t>());
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Columns, FaultTest, testing::ValuesIn(Cases(/*value_index=*/false)),
                         [](const auto& test) { return test.param.name; });
INSTANTIATE_TEST_SUITE_P(IndexedColumns, FaultTest, testing::ValuesIn(Cases(/*value_index=*/true)),
                         [](const auto& test) { return test.param.name; });

// Reads the rows in several ways and EXPECTs the rows of `column`. Returns the first error.
template <typename T>
absl::Status ReadAll(const Reader& reader, Cursor<T>& cursor, const Column<T>& column) {
  if (const absl::Status status = cursor.SeekToOrdinal(0); !status.ok()) return status;
  for (uint64_t ordinal = 0; ordinal < column.rows.size();) {
    const auto batch = cursor.Next(300);
    if (!batch.ok()) return batch.status();
    EXPECT_EQ(batch->first_ordinal, ordinal);
    testing_support::ExpectBatch(*batch, column);
    if (batch->empty()) break;
    ordinal += batch->size();
  }
  for (const uint64_t ordinal : {19'000u, 3u, 10'000u}) {
    const auto value = cursor.Get(ordinal);
    if (!value.ok()) return value.status();
    EXPECT_EQ(value->has_value(), column.rows[ordinal].has_value());
    if (*value) {
      EXPECT_TRUE(**value == T(*column.rows[ordinal]));
    }
  }
  OwnedBatch<T> taken;
  const std::vector<uint64_t> ordinals = {kRows - 1, 0, 1, 11'000, 2};
  if (const absl::Status status = cursor.Take(ordinals, taken); !status.ok()) return status;
  for (size_t i = 0; i < ordinals.size(); ++i) {
    EXPECT_TRUE(taken.batch().values[i] ==
                (column.rows[ordinals[i]] ? T(*column.rows[ordinals[i]]) : T{}));
  }
  if (reader.info().value_index_root) {
    const T keys[] = {T(*column.rows[12'000]), T(*column.rows[10])};
    KeyPosition positions[2];
    const auto found = cursor.SeekToKey(keys[0]);
    if (!found.ok()) return found.status();
    if (const absl::Status status = cursor.SeekMany(keys, positions); !status.ok()) return status;
    EXPECT_EQ(positions[0].ordinal, found->ordinal);
    EXPECT_TRUE(found->exact && positions[1].exact);
    EXPECT_EQ(positions[1].ordinal, 10);
  }
  const T wanted = column.rows[1] ? T(*column.rows[1]) : T{};
  auto scan = reader.NewScan<T>(Predicate<T>::Equal(wanted));
  if (!scan.ok()) return scan.status();
  while (true) {
    const auto rows = scan->Next();
    if (!rows.ok()) return rows.status();
    if (rows->empty()) return absl::OkStatus();
  }
}

void ExpectInjected(const absl::Status& status, absl::StatusCode code) {
  EXPECT_EQ(status.code(), code) << status;
  EXPECT_THAT(status.message(), HasSubstr("ReadAt test: made to fail"));
}

// Opens `bytes`, calls `make_cursor`(reader), which returns a StatusOr, and `read`(reader, cursor),
// which returns a status. Each read of `bytes` fails in turn. EXPECTs more than `least` reads. The
// failing read returns kUnavailable, like an error of the disk, or kDataLoss, like a file that has
// become shorter.
template <typename MakeCursor, typename Read>
void ExpectEachReadFails(const std::vector<uint8_t>& bytes, uint64_t least,
                         const MakeCursor& make_cursor, const Read& read) {
  for (const absl::StatusCode code :
       {absl::StatusCode::kUnavailable, absl::StatusCode::kDataLoss}) {
    Fault fault(code);
    const auto source =
        std::make_shared<ScriptedSource>(NewMemorySource(bytes, "test"), fault.script());
    FailEachCall(fault, "failed_reads", least, [&](int64_t number, FaultMode mode) {
      const ReaderOptions options{.block_cache = std::make_shared<BlockCache>(1 << 16),
                                  .read_ahead_bytes = 10'000};
      // The failed call is repeated. It fails again while the fault lasts, and succeeds after the
      // fault ends.
      const auto retry = [&](const absl::Status& first, const auto& again) {
        ExpectInjected(first, code);
        if (mode == FaultMode::kFromThenOn) {
          if (const absl::Status second = again(); !second.ok()) ExpectInjected(second, code);
        }
        fault.Disarm();
        const absl::Status last = again();
        ASSERT_TRUE(last.ok()) << last;
      };
      Arm(fault, number, mode);
      auto reader = Reader::Open(source, options);
      if (!reader.ok()) {
        ASSERT_NO_FATAL_FAILURE(retry(reader.status(), [&] {
          reader = Reader::Open(source, options);
          return reader.status();
        }));
      }
      auto cursor = make_cursor(*reader);
      if (!cursor.ok()) {
        ASSERT_NO_FATAL_FAILURE(retry(cursor.status(), [&] {
          cursor = make_cursor(*reader);
          return cursor.status();
        }));
      }
      // After a failed call, the same cursor can be used again.
      if (const absl::Status status = read(*reader, *cursor); !status.ok()) {
        retry(status, [&] { return read(*reader, *cursor); });
      }
    });
  }
}

TEST_P(FaultTest, EachReadFails) {
  ForColumn([&]<typename T>(std::type_identity<T>) {
    const Column<T> column = ColumnOf<T>(GetParam());
    ExpectEachReadFails(
        testing_support::WriteColumn(GetParam().type, GetParam().options, column), 9,
        [](const Reader& reader) { return reader.NewCursor<T>(); },
        [&](const Reader& reader, Cursor<T>& cursor) { return ReadAll(reader, cursor, column); });
  });
}

TEST_P(FaultTest, EachReadOfVerifyFails) {
  ForColumn([&]<typename T>(std::type_identity<T>) {
    Fault fault;
    const auto source = std::make_shared<ScriptedSource>(
        NewMemorySource(testing_support::WriteColumn(GetParam().type, GetParam().options,
                                                     ColumnOf<T>(GetParam())),
                        "test"),
        fault.script());
    FailEachCall(fault, "failed_reads", 2, [&](int64_t number, FaultMode mode) {
      const auto reader = Reader::Open(source);
      ASSERT_TRUE(reader.ok()) << reader.status();
      Arm(fault, number, mode);
      VerifyReport report = Verify(*reader);
      if (fault.fired()) {
        fault.Disarm();
        ASSERT_FALSE(report.ok());
        ExpectInjected(report.damages[0].status, absl::StatusCode::kUnavailable);
        report = Verify(*reader);
      }
      ASSERT_TRUE(report.ok()) << report.damages[0].status;
      EXPECT_EQ(report.num_rows, kRows);
    });
  });
}

// Makes each Append and the Finish of the sink fail in turn. `write`(sink) creates a writer,
// appends all values and finishes the writer. After a failure, `write` repeats the same calls.
template <typename Write>
void ExpectEachWriteFails(const std::vector<uint8_t>& expected, const Write& write,
                          uint64_t least = 5) {
  Fault fault(absl::StatusCode::kResourceExhausted);
  bool finish_failed = false;
  FailEachCall(fault, "failed_writes", least, [&](int64_t number, FaultMode mode) {
    std::vector<uint8_t> bytes;
    const auto attempt = [&] {
      return write(std::make_unique<ScriptedSink>(NewMemorySink(&bytes, "test"), fault.script()));
    };
    Arm(fault, number, mode);
    absl::Status status = attempt();
    ASSERT_EQ(status.ok(), !fault.fired()) << status;
    if (!status.ok()) {
      EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
      const bool in_finish = status.message() == "Finish test: made to fail";
      EXPECT_TRUE(in_finish || status.message() == "Append test: made to fail") << status;
      finish_failed |= in_finish;
      EXPECT_TRUE(bytes.empty());
      if (mode == FaultMode::kOnce) return;
      fault.Disarm();
      status = attempt();
      ASSERT_TRUE(status.ok()) << status;
    }
    EXPECT_EQ(bytes, expected);
  });
  EXPECT_TRUE(finish_failed);
}

TEST_P(FaultTest, EachWriteFails) {
  ForColumn([&]<typename T>(std::type_identity<T>) {
    const Column<T> column = ColumnOf<T>(GetParam());
    const WriterOptions& options = GetParam().options;
    ExpectEachWriteFails(testing_support::WriteColumn(GetParam().type, options, column),
                         [&](std::unique_ptr<Sink> sink) {
                           auto writer =
                               Writer<T>::Create(std::move(sink), GetParam().type, options);
                           if (!writer.ok()) return writer.status();
                           absl::Status status = AppendColumn<T>(*writer, column, options.nullable);
                           if (status.ok()) status = writer->Finish();
                           if (!status.ok()) {
                             EXPECT_EQ(writer->Append(std::span<const T>()), status);
                             EXPECT_EQ(writer->AddMetadata("key", "value"), status);
                             EXPECT_EQ(writer->Finish(), status);
                           }
                           return status;
                         });
  });
}

// Returns the numbers of the rows that Salvage recovered according to its report. These are the
// `total` rows without the missing rows. In a file without its footer, further rows at the end may
// be lost.
std::vector<size_t> SavedRows(const SalvageReport& report, size_t total) {
  std::vector<size_t> rows;
  size_t next = 0;
  const auto add = [&](size_t end) {
    while (next < end) rows.push_back(next++);
  };
  for (const OrdinalRange& missing : report.missing) {
    add(missing.begin);
    next = missing.end;
  }
  add(report.has_footer ? total : next + report.rows - rows.size());
  EXPECT_EQ(rows.size(), report.rows);
  return rows;
}

// Salvages `bytes`, a file of `rows` rows, in three ways: each call of the source fails, each page
// of the file is unreadable, and each call of the sink fails. If the file has checksums, repeats
// this without the footer. `expect`(reader, saved) checks that the new file holds the rows `saved`.
// EXPECTs that an error or the report names each failed read.
template <typename Expect>
void ExpectEachCallOfSalvageFails(const std::vector<uint8_t>& bytes, size_t rows,
                                  const Expect& expect) {
  const auto whole = Reader::Open(NewMemoryViewSource(bytes));
  ASSERT_TRUE(whole.ok()) << whole.status();
  const FileInfo& info = whole->info();
  for (const bool torn : {false, true}) {
    if (torn && !info.has_checksums()) continue;
    const auto memory = NewMemoryViewSource(
        std::span(bytes).first(bytes.size() - (torn ? info.footer_size_bytes : 0)), "test");
    std::vector<uint8_t> saved;
    // Returns true if the report names lost bytes.
    const auto salvage = [&](const std::shared_ptr<const Source>& source) {
      saved.clear();
      const auto report = Salvage(source, NewMemorySink(&saved, "new"));
      if (!report.ok()) {
        ExpectInjected(report.status(), absl::StatusCode::kUnavailable);
        EXPECT_TRUE(saved.empty());
        return false;
      }
      if (report->lost.empty()) {
        EXPECT_EQ(report->rows, rows);
        EXPECT_TRUE(report->missing.empty());
      } else {
        EXPECT_THAT(report->lost,
                    Contains(Field(&LostBytes::reason, HasSubstr("ReadAt test: made to fail"))));
      }
      EXPECT_EQ(report->complete(), !torn && report->lost.empty());
      const auto reader = Reader::Open(NewMemoryViewSource(saved));
      EXPECT_TRUE(reader.ok()) << reader.status();
      if (reader.ok()) expect(*reader, SavedRows(*report, rows));
      return !report->lost.empty();
    };
    for (uint64_t bad = 0; bad < memory->size(); bad += campaign::Full() ? 4096 : 20'480) {
      salvage(std::make_shared<ScriptedSource>(memory, testing_support::UnreadableByte(bad)));
      if (testing::Test::HasFailure()) FAIL() << "byte " << bad;
    }
    Fault fault;
    const auto source = std::make_shared<ScriptedSource>(memory, fault.script());
    FailEachCall(fault, "failed_reads", 3, [&](int64_t number, FaultMode mode) {
      Arm(fault, number, mode);
      const bool lost = salvage(source);
      // While Salvage searches for blocks, it repeats a failed read. So a torn file loses nothing
      // if a read fails once.
      EXPECT_FALSE(lost && (!fault.fired() || (torn && mode == FaultMode::kOnce)));
    });
    ExpectEachWriteFails(
        saved,
        [&](std::unique_ptr<Sink> sink) { return Salvage(memory, std::move(sink)).status(); }, 4);
  }
}

TEST_P(FaultTest, EachCallOfSalvageFails) {
  ForColumn([&]<typename T>(std::type_identity<T>) {
    Column<T> column = ColumnOf<T>(GetParam());
    if (!std::is_same_v<T, int64_t>) column.rows.resize(kRows / 4);  // Salvage runs many times
    for (const FormatVersion version : {FormatVersion::kV1, FormatVersion::kV2}) {
      WriterOptions options = GetParam().options;
      options.version = version;
      if (version == FormatVersion::kV1) options.bloom_filter_bits_per_value = 0;
      ExpectEachCallOfSalvageFails(testing_support::WriteColumn(GetParam().type, options, column),
                                   column.rows.size(),
                                   [&](const Reader& reader, const std::vector<size_t>& saved) {
                                     Column<T> rows;
                                     for (const size_t row : saved)
                                       rows.rows.push_back(column.rows.at(row));
                                     std::mt19937_64 random(7);
                                     auto cursor = reader.NewCursor<T>();
                                     ASSERT_TRUE(cursor.ok()) << cursor.status();
                                     testing_support::ExpectRest(*cursor, rows, random);
                                   });
    }
  });
}

// Tests leaves of records, with the cases of FaultTest that have no value index: records cannot
// have a value index.
class LevelFaultTest : public FaultTest {
 protected:
  // Numbers take fewer bytes than texts, so that more records are needed. The file must exceed the
  // head and the tail that a reader keeps in memory.
  template <typename T>
  Leaf<T> MakeLeaf() const {
    std::mt19937_64 random(7);
    const size_t records = std::is_same_v<T, int64_t> ? kRows / 4 : kRows / 6;
    return testing_support::RandomLeaf<T>(
        GetParam().type, {.max_repetition = 2, .max_definition = 3}, records, 0, random);
  }
  template <typename T>
  std::vector<uint8_t> WriteLeaf(const Leaf<T>& leaf) const {
    std::mt19937_64 random(7);
    return testing_support::WriteLeaf(GetParam().type, GetParam().options, leaf, random);
  }
};
INSTANTIATE_TEST_SUITE_P(Leaves, LevelFaultTest, testing::ValuesIn(Cases(/*value_index=*/false)),
                         [](const auto& test) { return test.param.name; });

TEST_P(LevelFaultTest, EachReadFails) {
  ForColumn([&]<typename T>(std::type_identity<T>) {
    const Leaf<T> leaf = MakeLeaf<T>();
    ExpectEachReadFails(
        WriteLeaf(leaf), 5, [](const Reader& reader) { return reader.NewLevelCursor<T>(); },
        [&](const Reader&, LevelCursor<T>& cursor) {
          std::mt19937_64 random(7);
          absl::Status status = cursor.SeekToRecord(0);
          if (status.ok()) status = testing_support::ReadRest(cursor, &leaf, random);
          if (status.ok()) status = cursor.SeekToRecord(leaf.num_records() / 2);
          if (status.ok()) status = testing_support::ReadRest(cursor, &leaf, random, 3);
          return status;
        });
  });
}

TEST_P(LevelFaultTest, EachCallOfSalvageFails) {
  ForColumn([&]<typename T>(std::type_identity<T>) {
    const Leaf<T> leaf = MakeLeaf<T>();
    ExpectEachCallOfSalvageFails(
        WriteLeaf(leaf), leaf.num_records(),
        [&](const Reader& reader, const std::vector<size_t>& saved) {
          Leaf<T> rest{.limits = leaf.limits};
          const auto add = [](auto& to, const auto& from, const std::vector<size_t>& begins,
                              size_t record) {
            to.insert(to.end(), from.begin() + static_cast<ptrdiff_t>(begins.at(record)),
                      from.begin() + static_cast<ptrdiff_t>(begins.at(record + 1)));
          };
          for (const size_t record : saved) {
            add(rest.repetition, leaf.repetition, leaf.entries, record);
            add(rest.definition, leaf.definition, leaf.entries, record);
            add(rest.values, leaf.values, leaf.first_values, record);
          }
          testing_support::Index(rest);
          std::mt19937_64 random(7);
          auto cursor = reader.NewLevelCursor<T>();
          ASSERT_TRUE(cursor.ok()) << cursor.status();
          const absl::Status status = testing_support::ReadRest(*cursor, &rest, random);
          EXPECT_TRUE(status.ok()) << status;
        });
  });
}

TEST_P(LevelFaultTest, EachWriteFails) {
  ForColumn([&]<typename T>(std::type_identity<T>) {
    const Leaf<T> leaf = MakeLeaf<T>();
    const std::vector<T> values(leaf.values.begin(), leaf.values.end());
    ExpectEachWriteFails(WriteLeaf(leaf), [&](std::unique_ptr<Sink> sink) {
      auto writer =
          LevelWriter<T>::Create(std::move(sink), GetParam().type, leaf.limits, GetParam().options);
      if (!writer.ok()) return writer.status();
      absl::Status status = writer->Append(leaf.repetition, leaf.definition, values);
      if (status.ok()) status = writer->Finish();
      if (!status.ok()) {
        EXPECT_EQ(writer->Append({}, {}, {}), status);
        EXPECT_EQ(writer->AddMetadata("key", "value"), status);
        EXPECT_EQ(writer->Finish(), status);
      }
      return status;
    });
  });
}

}  // namespace
}  // namespace cfile
