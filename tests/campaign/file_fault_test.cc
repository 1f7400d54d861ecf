// In these tests each system call fails in turn, alone or together with all later calls, while
// files and tables are written, read and salvaged.
#include <sys/resource.h>
#include <sys/stat.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "cfile/block_cache.h"
#include "cfile/inspect.h"
#include "cfile/protobuf_records.h"
#include "cfile/reader.h"
#include "cfile/salvage.h"
#include "cfile/table_maintenance.h"
#include "cfile/writer.h"
#include "encodings/core/status.h"
#include "gmock/gmock.h"
#include "google/protobuf/timestamp.pb.h"
#include "gtest/gtest.h"
#include "tests/campaign/amount.h"
#include "tests/campaign/record_table.h"
#include "tests/campaign/system_calls.h"
#include "tests/cfile/other_user.h"
#include "tests/cfile/table_fixture.h"

namespace cfile {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing_support::FaultMode;
using testing_support::SystemCalls;

constexpr size_t kRows = 30'000;
// For this number of rows a sink makes more than three writes.
constexpr size_t kManyRows = 110'000;

// Writes the numbers `first`, `first` + 1, ...
absl::Status WriteNumbers(const std::string& path, int64_t first, size_t rows = kRows) {
  std::vector<int64_t> values(rows);
  for (size_t i = 0; i < rows; ++i) values[i] = first + static_cast<int64_t>(i);
  auto writer = Writer<int64_t>::Create(path, ColumnType::Int64(), {.encoding = Encoding::kPlain});
  if (!writer.ok()) return writer.status();
  absl::Status status = writer->Append(values);
  return status.ok() ? writer->Finish() : status;
}

absl::Status ReadNumbers(const std::string& path, int64_t first,
                         ReaderOptions::Access access = ReaderOptions::Access::kPread,
                         size_t rows = kRows) {
  auto reader = Reader::Open(path, {.access = access});
  if (!reader.ok()) return reader.status();
  auto cursor = reader->NewCursor<int64_t>();
  if (!cursor.ok()) return cursor.status();
  for (uint64_t ordinal = 0; ordinal < rows;) {
    const auto batch = cursor->Next(1000);
    if (!batch.ok()) return batch.status();
    for (size_t i = 0; i < batch->size(); ++i) {
      EXPECT_EQ(batch->values[i], first + static_cast<int64_t>(ordinal + i));
    }
    if (testing::Test::HasFailure()) return absl::UnknownError("other values");
    ordinal += batch->size();
  }
  return absl::OkStatus();
}

// Returns true if `status` names the first failed call and a path in `directory`.
// Some failed calls need not be reported, so the function skips these calls: every close,
// every unlink, and all calls whose names are in `survived`.
// Such an unlink removes a temporary file or a lock file.
bool NamesTheCall(const absl::Status& status, const std::vector<std::string>& failed,
                  const std::string& directory, const std::string& survived) {
  for (const std::string& call : failed) {
    if (status.ToString().find(call + " " + directory) != std::string::npos) return true;
    if (call != "close" && call != "unlink" && survived.find(call) == survived.npos) return false;
  }
  return false;
}

// Removes the temporary files, recognized by IsTemporaryFileName. An attempt leaves such files if
// the calls that remove them also fail.
void RemoveTemporaryFiles(const std::string& directory) {
  std::vector<fs::path> left;
  for (const auto& entry : fs::recursive_directory_iterator(directory)) {
    if (IsTemporaryFileName(entry.path().filename().string())) left.push_back(entry.path());
  }
  for (const fs::path& path : left) fs::remove(path);
}

// The result of an attempt in which a call failed.
struct Outcome {
  absl::Status status;
  std::string failed;  // name of the first failed call; empty if none failed
  FaultMode mode;
};

// Calls `prepare`, `attempt` and `check` repeatedly. In each round, the next system call of
// `attempt` fails with `error`, alone or together with all later calls. Ends when `attempt` makes
// fewer calls. Before `check`, system calls work again; if all later calls failed, temporary files
// are removed.
void FailEachCall(const std::string& directory, int error, const std::function<void()>& prepare,
                  const std::function<absl::Status()>& attempt,
                  const std::function<void(const Outcome&)>& check, int64_t least_calls = 3,
                  const std::string& survived = "") {
  const size_t descriptors = OpenDescriptors();
  for (const FaultMode mode : testing_support::kFaultModes) {
    // EINTR does not last, because the library repeats an interrupted call until it succeeds.
    if (mode == FaultMode::kFromThenOn && error == EINTR) continue;
    uint64_t done = 0;
    for (int64_t number = 1;; number += testing_support::FaultStep(mode, 2), ++done) {
      ASSERT_LT(number, 10'000);
      prepare();
      SystemCalls::Get().Arm(directory, number, error, mode);
      const absl::Status status = attempt();
      SystemCalls::Get().Disarm();
      const std::vector<std::string> failed = SystemCalls::Get().failed();
      if (!status.ok()) {
        EXPECT_TRUE(NamesTheCall(status, failed, directory, survived)) << status;
        EXPECT_NE(status.code(), absl::StatusCode::kDataLoss);
      }
      if (mode == FaultMode::kFromThenOn) RemoveTemporaryFiles(directory);
      check({status, failed.empty() ? "" : failed[0], mode});
      EXPECT_EQ(OpenDescriptors(), descriptors);
      if (testing::Test::HasFailure()) {
        FAIL() << "call " << number << (mode == FaultMode::kOnce ? ", " : " and later, ")
               << testing::PrintToString(failed) << ", error " << error << ": " << status;
      }
      if (failed.empty()) {
        EXPECT_TRUE(status.ok()) << status;
        EXPECT_GT(number, least_calls);
        campaign::Done("failed_calls", done);
        break;
      }
    }
  }
}

// Returns true if the caller may see no error. The library repeats interrupted and short calls, and
// ignores a failing close after reading. It reports all other failures.
bool MayBeSilent(const std::string& failed, int error) {
  return error == EINTR || error == SystemCalls::kShort || failed == "close";
}

constexpr int kErrors[] = {EIO, ENOSPC, EDQUOT, EINTR, SystemCalls::kShort};

class FileFaultTest : public testing::TestWithParam<int> {
 protected:
  TemporaryDirectory directory_;
};
INSTANTIATE_TEST_SUITE_P(Errors, FileFaultTest, testing::ValuesIn(kErrors));

TEST_P(FileFaultTest, EachCallOfASinkFails) {
  const std::string path = directory_.path("file");
  const auto write = [&](int64_t first) { return WriteNumbers(path, first, kManyRows); };
  const auto read = [&](int64_t first) {
    return ReadNumbers(path, first, ReaderOptions::Access::kPread, kManyRows);
  };
  bool told_of_close = false;  // the writer reported a failed close before the rename
  for (const bool older : {false, true}) {
    if (GetParam() == SystemCalls::kShort && older) continue;
    FailEachCall(
        directory_.path(), GetParam(),
        [&] {
          fs::remove(path);
          if (older) WriteFile(path, "older");
        },
        [&] { return write(5); },
        [&](const Outcome& outcome) {
          const auto& [status, failed, mode] = outcome;
          // After the file has its new name, only the sync of the folder can fail.
          const std::string message(status.message().data(), status.message().size());
          const bool synced_late = message.starts_with("fsync " + directory_.path() + ":") ||
                                   message.starts_with("open " + directory_.path() + ":");
          if (!failed.empty() && !MayBeSilent(failed, GetParam())) {
            EXPECT_FALSE(status.ok());
          }
          told_of_close |= failed == "close" && !status.ok();
          if (status.ok() || synced_late) {
            EXPECT_THAT(directory_.Entries(), ElementsAre("file"));
            const absl::Status found = read(5);
            EXPECT_TRUE(found.ok()) << found;
          } else if (older) {
            EXPECT_THAT(directory_.Entries(), ElementsAre("file"));
            EXPECT_EQ(ReadFile(path), "older");
          } else {
            EXPECT_THAT(directory_.Entries(), IsEmpty());
          }
          if (mode == FaultMode::kOnce || failed.empty()) return;
          const absl::Status again = write(7);
          EXPECT_TRUE(again.ok()) << again;
          EXPECT_THAT(directory_.Entries(), ElementsAre("file"));
          EXPECT_TRUE(read(7).ok());
        });
  }
  EXPECT_EQ(told_of_close, GetParam() != EINTR && GetParam() != SystemCalls::kShort);
}

TEST_P(FileFaultTest, EachCallOfAReaderFails) {
  const std::string path = directory_.path("file");
  ASSERT_TRUE(WriteNumbers(path, 5).ok());
  if (GetParam() == ENOSPC || GetParam() == EDQUOT) return;
  for (const auto access : {ReaderOptions::Access::kPread, ReaderOptions::Access::kMap}) {
    const bool maps = access == ReaderOptions::Access::kMap;
    if (maps && GetParam() == SystemCalls::kShort) continue;  // a mapped file is not read by calls
    std::set<std::string> all_failed;
    FailEachCall(
        directory_.path(), GetParam(), [] {}, [&] { return ReadNumbers(path, 5, access); },
        [&](const Outcome& outcome) {
          const auto& [status, failed, mode] = outcome;
          all_failed.insert(failed);
          if (failed.empty() || MayBeSilent(failed, GetParam())) {
            EXPECT_TRUE(status.ok()) << status;
          } else {
            EXPECT_FALSE(status.ok());
          }
        },
        // If the file is mapped, only open and close can be interrupted.
        maps && GetParam() == EINTR ? 2 : 3);
    if (GetParam() != EIO) continue;
    EXPECT_THAT(all_failed,
                ElementsAre("", "close", "fstat", maps ? "mmap" : "open", maps ? "open" : "pread"));
  }
}

// Each call of Salvage of a torn file fails. The new file lacks only rows that could not be read,
// and the report names the failed read.
TEST_P(FileFaultTest, EachCallOfSalvageFails) {
  const std::string torn = directory_.path("torn");
  const std::string saved = directory_.path("saved");
  ASSERT_TRUE(WriteNumbers(torn, 5).ok());
  fs::resize_file(torn, fs::file_size(torn) - 1);
  FailEachCall(
      directory_.path(), GetParam(), [&] { fs::remove(saved); },
      [&]() -> absl::Status {
        CFILE_ASSIGN_OR_RETURN(auto source, OpenPreadSource(torn));
        CFILE_ASSIGN_OR_RETURN(auto sink, NewFileSink(saved));
        CFILE_ASSIGN_OR_RETURN(const SalvageReport report,
                               Salvage(std::move(source), std::move(sink)));
        for (const LostBytes& lost : report.lost) {
          if (lost.reason.starts_with("pread ")) return absl::UnavailableError(lost.reason);
        }
        EXPECT_EQ(report.rows, kRows);
        return absl::OkStatus();
      },
      [&](const Outcome& outcome) {
        // While Salvage searches for blocks, it repeats a read that fails once.
        if (!outcome.failed.empty() && outcome.failed != "pread" &&
            !MayBeSilent(outcome.failed, GetParam())) {
          EXPECT_FALSE(outcome.status.ok());
        }
        if (outcome.status.ok()) {
          EXPECT_TRUE(ReadNumbers(saved, 5).ok());
        }
        for (const std::string& entry : directory_.Entries()) {
          EXPECT_TRUE(entry == "torn" || entry == "saved") << entry;
        }
      },
      3, "pread");
}

// If a temporary file cannot be removed, it keeps its temporary name, which IsTemporaryFileName
// recognizes. The writer returns its first error.
TEST(TemporaryFileTest, CannotBeRemoved) {
  const TemporaryDirectory directory;
  {
    const auto sink = NewFileSink(directory.path("file"));
    ASSERT_TRUE(sink.ok()) << sink.status();
    SystemCalls::Get().Arm(directory.path(), 1, EIO, FaultMode::kOnce);
  }
  SystemCalls::Get().Disarm();
  EXPECT_THAT(SystemCalls::Get().failed(), ElementsAre("unlink"));
  ASSERT_EQ(directory.Entries().size(), 1);
  EXPECT_TRUE(IsTemporaryFileName(directory.Entries()[0])) << directory.Entries()[0];
  EXPECT_TRUE(WriteNumbers(directory.path("file"), 5).ok());
  EXPECT_TRUE(ReadNumbers(directory.path("file"), 5).ok());
}

// Writes two rows of two columns into a new table, or into a new part of the table at `path`. The
// first column holds `value` and `value` + 1. Returns the first error. Functions that continue
// after an error EXPECT that Finish returns this error.
using WriteTwo = absl::Status (*)(const std::string& path, bool is_new, int64_t value);

absl::Status WriteTwoRowsWith(const WriterOptions& options, const std::string& path, bool is_new,
                              int64_t value) {
  const Schema schema{.columns = {{.name = "a", .type = ColumnType::Int64()},
                                  {.name = "b", .type = ColumnType::String()}}};
  CFILE_ASSIGN_OR_RETURN(auto writer, is_new ? TableWriter::Create(path, schema, {&options, 1})
                                             : TableWriter::Open(path, {&options, 1}));
  const std::vector<int64_t> numbers = {value, value + 1};
  const std::vector<std::string_view> texts = {"x", "y"};
  CFILE_RETURN_IF_ERROR(writer.Append<int64_t>(0, numbers));
  CFILE_RETURN_IF_ERROR(writer.Append<std::string_view>(1, texts));
  return writer.Finish();
}

absl::Status WriteTwoRows(const std::string& path, bool is_new, int64_t value) {
  return WriteTwoRowsWith({}, path, is_new, value);
}
absl::Status WriteTwoLooseRows(const std::string& path, bool is_new, int64_t value) {
  return WriteTwoRowsWith(kLoose, path, is_new, value);
}
// The part becomes too large for a packed file.
absl::Status WriteTwoGrownRows(const std::string& path, bool is_new, int64_t value) {
  return WriteTwoRowsWith({.max_packed_part_bytes = 1}, path, is_new, value);
}

// Writes more bytes than the sink buffers, so that some bytes are written before Finish.
absl::Status WriteTwoRecords(const std::string& path, bool is_new, int64_t value) {
  CFILE_ASSIGN_OR_RETURN(const RecordSchema schema,
                         RecordSchema::Parse("message Two { required int64 a;"
                                             "  repeated binary b (STRING); }"));
  CFILE_ASSIGN_OR_RETURN(auto writer,
                         is_new ? RecordWriter::Create(path, schema) : RecordWriter::Append(path));
  const std::string text(600'000, 'x');
  absl::Status status;
  for (const int64_t a : {value, value + 1}) {
    status.Update(TellJson(schema, 0, {{"a", a}, {"b", Json::array({text})}}, writer));
  }
  const absl::Status finished = writer.Finish();
  EXPECT_TRUE(status.ok() || finished == status) << finished;
  return finished;
}

absl::Status WriteTwoMessages(const std::string& path, bool is_new, int64_t value) {
  google::protobuf::Timestamp message;  // a message type with two fields
  const auto& type = *message.GetDescriptor();
  CFILE_ASSIGN_OR_RETURN(
      auto writer, is_new ? MessageWriter::Create(path, type) : MessageWriter::Append(path, type));
  absl::Status status;
  for (const int64_t seconds : {value, value + 1}) {
    message.set_seconds(seconds);
    status.Update(writer.Write(message));
  }
  const absl::Status finished = writer.Finish();
  EXPECT_TRUE(status.ok() || finished == status) << finished;
  return finished;
}

// EXPECTs that the table is undamaged, and that its first column holds 1, 2, ...
void ExpectNumbers(const TableReader& table) {
  auto cursor = table.NewCursor<int64_t>(0);
  ASSERT_TRUE(cursor.ok()) << cursor.status();
  for (uint64_t row = 0; row < table.num_rows(); ++row) {
    const auto number = cursor->Get(row);
    ASSERT_TRUE(number.ok()) << number.status();
    EXPECT_EQ(*number, static_cast<int64_t>(row + 1));
  }
  for (size_t part = 0; part < table.num_parts(); ++part) {
    for (const size_t column : {0, 1}) {
      const VerifyReport report = table.VerifyColumn(part, column);
      EXPECT_TRUE(report.ok()) << report.damages[0].status;
    }
  }
}

// EXPECTs that the table has `parts` parts, and that each part has two rows.
void ExpectTwos(const std::string& path, size_t parts) {
  const auto table = TableReader::Open(path);
  ASSERT_TRUE(table.ok()) << table.status();
  ASSERT_EQ(table->num_parts(), parts);
  EXPECT_EQ(table->num_rows(), 2 * parts);
  ExpectNumbers(*table);
}

class TableFaultTest : public testing::TestWithParam<std::tuple<int, WriteTwo>> {
 protected:
  // Makes a table of one part.
  void SetUp() override {
    ASSERT_TRUE(Write(/*is_new=*/true, 1).ok());
    fs::remove(older_.path());
    fs::copy(path_, older_.path(), fs::copy_options::recursive);
  }
  int error() const { return std::get<0>(GetParam()); }
  bool grown() const { return std::get<1>(GetParam()) == &WriteTwoGrownRows; }
  bool loose() const { return grown() || std::get<1>(GetParam()) == &WriteTwoLooseRows; }
  // The entries of a part: its folder, its files and the copy of its description.
  size_t of_part() const { return loose() ? 4 : 3; }
  absl::Status Write(bool is_new, int64_t value) {
    return std::get<1>(GetParam())(path_, is_new, value);
  }
  // Restores the table of one part, or replaces the table by an empty folder.
  void Prepare(bool is_new) {
    fs::remove_all(path_);
    if (is_new) {
      fs::create_directory(path_);
    } else {
      fs::copy(older_.path(), path_, fs::copy_options::recursive);
    }
  }

  TemporaryDirectory directory_, older_;
  const std::string path_ = directory_.path("table");
};
INSTANTIATE_TEST_SUITE_P(Rows, TableFaultTest,
                         testing::Combine(testing::ValuesIn(kErrors),
                                          testing::Values(&WriteTwoRows)));
INSTANTIATE_TEST_SUITE_P(LooseRows, TableFaultTest,
                         testing::Combine(testing::Values(EIO, EINTR, SystemCalls::kShort),
                                          testing::Values(&WriteTwoLooseRows, &WriteTwoGrownRows)));
INSTANTIATE_TEST_SUITE_P(Records, TableFaultTest,
                         testing::Combine(testing::Values(EIO, EINTR, SystemCalls::kShort),
                                          testing::Values(&WriteTwoRecords)));
INSTANTIATE_TEST_SUITE_P(Messages, TableFaultTest,
                         testing::Combine(testing::Values(EIO),
                                          testing::Values(&WriteTwoMessages)));

TEST_P(TableFaultTest, EachCallOfAWriterFails) {
  // A failed call "read directory" need not be reported, because std::filesystem makes more
  // of these calls than necessary. But the failure to open a folder must be reported.
  bool told_of_folder = false;
  // Writes a new table in a new folder, a new table in an existing folder, and a new part.
  for (const bool has_folder : {false, true}) {
    for (const bool is_new : {true, false}) {
      if (!has_folder && !is_new) continue;
      FailEachCall(
          directory_.path(), error(),
          [&] {
            Prepare(is_new);
            if (!has_folder) fs::remove(path_);
          },
          [&] { return Write(is_new, is_new ? 1 : 3); },
          [&](const Outcome& outcome) {
            const auto& [status, failed, mode] = outcome;
            const std::string table_file = path_ + "/table.cft";
            const bool synced_late =
                !status.ok() && fs::exists(table_file) &&
                (is_new || ReadFile(table_file) != ReadFile(older_.path("table.cft")));
            told_of_folder |= status.message().find("open " + path_) != std::string::npos;
            // If a call on the lock file fails, the lock file stays.
            // If only the removal of the lock file failed, the table is complete.
            const bool lock_left = fs::exists(path_ + "/table.lock");
            if (lock_left && mode == FaultMode::kOnce) {
              EXPECT_THAT(failed, testing::AnyOf("flock", "fstat", "stat", "unlink"));
            }
            // The packed file of a part that has grown may also stay.
            const bool packed_left = grown() && failed == "unlink";
            if (!failed.empty() && failed != "read directory" && !MayBeSilent(failed, error()) &&
                !(lock_left && failed == "unlink") && !packed_left) {
              EXPECT_FALSE(status.ok());
            }
            if (synced_late) {
              EXPECT_THAT(status.message(), HasSubstr(" " + path_ + ":"));
            }
            const size_t before = is_new ? 0 : 1;
            const size_t parts = before + (status.ok() || synced_late ? 1 : 0);
            // The expected entries are those of each part, the folder of the table, and table.cft.
            const size_t named = of_part() * parts + (parts > 0 ? 2 : has_folder ? 1 : 0);
            const size_t left = directory_.Entries().size() - named;
            // Other entries may stay if they could not be removed, or if table.cft could not be
            // read again and may name them.
            const size_t may_stay =
                mode == FaultMode::kOnce || status.ok() ? 0 : of_part() + !has_folder;
            const size_t of_lock = !lock_left ? 0 : 1 + (parts == 0 && !has_folder);
            EXPECT_LE(left, may_stay + of_lock + packed_left);
            if (parts > 0) {
              ExpectTwos(path_, parts);
            } else {
              EXPECT_FALSE(fs::exists(table_file));
            }
            if (status.ok()) return;
            // The second attempt succeeds, unless a leftover part prevents the creation of a new
            // table.
            if (parts == 0 && fs::exists(path_) && !fs::is_empty(path_)) {
              EXPECT_EQ(Write(is_new, 1).code(), absl::StatusCode::kAlreadyExists);
              fs::remove_all(path_);
            }
            const absl::Status again = Write(parts == 0, static_cast<int64_t>(2 * parts + 1));
            EXPECT_TRUE(again.ok()) << again;
            ExpectTwos(path_, parts + 1);
          },
          3, "read directory");
    }
  }
  // The tests see calls of stat only with glibc 2.33 or later, where stat is a function.
  EXPECT_EQ(told_of_folder, error() != EINTR && error() != SystemCalls::kShort);
}

// A writer removes its part if Finish fails because of the limit of table.cft, or if the writer is
// destroyed without Finish. No call reports a failure of this removal, and leftover files do no
// harm.
TEST_P(TableFaultTest, EachCallOfAWriterThatFailsItselfFails) {
  const WriterOptions options{
      .max_metadata_size_bytes = ReadFile(older_.path("table.cft")).size(),
      .max_packed_part_bytes = loose() ? 0 : WriterOptions().max_packed_part_bytes};
  for (const bool given_up : {false, true}) {
    std::set<std::string> all_failed;
    FailEachCall(
        directory_.path(), error(), [&] { Prepare(/*is_new=*/false); },
        [&]() -> absl::Status {
          CFILE_ASSIGN_OR_RETURN(auto writer, TableWriter::Open(path_, {&options, 1}));
          if (given_up) return absl::OkStatus();
          const absl::Status status = writer.Finish();
          EXPECT_FALSE(status.ok());
          return absl::IsOutOfRange(status) ? absl::OkStatus() : status;
        },
        [&](const Outcome& outcome) {
          all_failed.insert(outcome.failed);
          if (outcome.failed.empty()) {
            EXPECT_EQ(directory_.Entries().size(), 2 + of_part());
          }
          ExpectTwos(path_, 1);
          const absl::Status again = Write(/*is_new=*/false, 3);
          EXPECT_TRUE(again.ok()) << again;
          ExpectTwos(path_, 2);
        },
        1, "read directory");
    if (error() == EIO) {
      EXPECT_THAT(all_failed,
                  testing::IsSupersetOf(given_up ? std::vector{"unlink", "read directory", "remove"}
                                                 : std::vector{"unlinkat", "read directory"}));
    }
  }
}

// Calls fail while parts are dropped or merged, and while garbage is removed.
// After a failure, the table is as before the change, or as after a change without a failure.
// The next attempt succeeds and leaves no garbage.
TEST_P(TableFaultTest, EachCallOfMaintenanceFails) {
  ASSERT_TRUE(Write(/*is_new=*/false, 3).ok());
  fs::remove_all(older_.path());
  fs::copy(path_, older_.path(), fs::copy_options::recursive);
  for (const bool merges : {false, true}) {
    if (merges && error() != EIO && !campaign::Full()) continue;
    const auto maintain = [&]() -> absl::Status {
      CFILE_ASSIGN_OR_RETURN(const TableReader table, TableReader::Open(path_));
      if (table.num_parts() == 2 && merges) {
        const WriterOptions options = loose() ? kLoose : WriterOptions();
        CFILE_RETURN_IF_ERROR(Compact(path_, {}, {&options, 1}).status());
      } else if (table.num_parts() == 2) {
        const std::string name = table.part(1)->name;
        CFILE_RETURN_IF_ERROR(DropParts(path_, {&name, 1}));
      }
      const absl::Status status = CollectGarbage(path_, std::chrono::seconds(0)).status();
      const std::string message(status.message());
      if (!message.starts_with("remove ")) return status;
      // The library does not know which call of std::filesystem::remove_all failed.
      return absl::UnavailableError(SystemCalls::Get().failed()[0] + message.substr(6));
    };
    // EXPECTs the rows of both parts or of only the first part. Returns the number of parts.
    const auto expect_rows = [&]() -> size_t {
      const auto table = TableReader::Open(path_);
      EXPECT_TRUE(table.ok()) << table.status();
      if (!table.ok()) return 0;
      EXPECT_EQ(table->num_rows(), merges || table->num_parts() == 2 ? 4 : 2);
      ExpectNumbers(*table);
      return table->num_parts();
    };
    std::map<std::string, int> silent;  // how often the failed call gave no error
    FailEachCall(
        directory_.path(), error(), [&] { Prepare(/*is_new=*/false); }, maintain,
        [&](const Outcome& outcome) {
          const auto& [status, failed, mode] = outcome;
          const size_t parts = expect_rows();
          EXPECT_TRUE(parts == 1 || (parts == 2 && !status.ok())) << parts;
          const size_t left = directory_.Entries().size() - fs::exists(path_ + "/table.lock");
          if (status.ok() && mode == FaultMode::kOnce && !failed.empty() &&
              !MayBeSilent(failed, error())) {
            ++silent[failed];
          }
          if (status.ok()) {
            // A copy is a file with the description of a part.
            // The older copy of the remaining part may still be there.
            const size_t least = 2 + of_part();
            EXPECT_TRUE(left == least || (left == least + 1 && !merges && !failed.empty()))
                << failed;
          }
          const absl::Status again = maintain();
          EXPECT_TRUE(again.ok()) << again;
          EXPECT_EQ(expect_rows(), 1);
          // A lock file that could not be removed stays until the next commit.
          EXPECT_EQ(directory_.Entries().size() - fs::exists(path_ + "/table.lock"), 2 + of_part());
        },
        3,
        "read directory, remove, stat, fsync, open, pread, fstat");  // of an older copy
    // To read the older copy, to remove it, and to remove the lock file may fail without an error.
    const std::map<std::string, int> may_be_silent =
        merges ? std::map<std::string, int>{{"read directory", 1}, {"unlink", 2}}
               : std::map<std::string, int>{{"fstat", 1}, {"fsync", 1},          {"open", 4},
                                            {"pread", 1}, {"read directory", 1}, {"remove", 1},
                                            {"stat", 8},  {"unlink", 2}};
    for (const auto& [call, count] : silent) {
      const auto limit = may_be_silent.find(call);
      EXPECT_LE(count, limit == may_be_silent.end() ? 0 : limit->second)
          << call << (merges ? " of a merge" : " of a drop");
    }
  }
}

// Reads a table of records by column cursors, level cursors and record readers, and verifies it.
absl::Status ReadTable(const TableReader& table) {
  using namespace campaign;
  const uint64_t end = table.num_rows();
  CFILE_ASSIGN_OR_RETURN(TableCursor<int64_t> ids, table.NewCursor<int64_t>(kId));
  CFILE_RETURN_IF_ERROR(ReadIds(ids, 0, end));
  CFILE_ASSIGN_OR_RETURN(auto numbers, table.NewLevelCursor<int64_t>(kNumber));
  CFILE_RETURN_IF_ERROR(ReadItems(numbers, 0, end));
  CFILE_ASSIGN_OR_RETURN(auto records, RecordReader::Open(table));
  CFILE_RETURN_IF_ERROR(ReadRecords(records, end / 2 - 10, end / 2 + 10));
  CFILE_RETURN_IF_ERROR(ReadRecords(records, end - 10, end));
  for (size_t part = 0; part < table.num_parts(); ++part) {
    for (const size_t column : {kId, kName, kNumber}) {
      const VerifyReport report = table.VerifyColumn(part, column);
      if (!report.ok()) return report.damages[0].status;
    }
  }
  return absl::OkStatus();
}

TEST_P(FileFaultTest, EachCallOfATableReaderFails) {
  if (GetParam() == ENOSPC || GetParam() == EDQUOT) return;
  const std::string path = directory_.path("table");
  const absl::Status written = campaign::WriteRecordTable(path, 2, 6000);
  ASSERT_TRUE(written.ok()) << written;
  for (const auto access : {ReaderOptions::Access::kPread, ReaderOptions::Access::kMap}) {
    const bool maps = access == ReaderOptions::Access::kMap;
    if (maps && GetParam() == SystemCalls::kShort) continue;  // only table.cft is read by calls
    const ReaderOptions options{.access = access,
                                .block_cache = std::make_shared<BlockCache>(1 << 16),
                                .read_ahead_bytes = 10'000};
    std::optional<TableReader> table;
    FailEachCall(
        directory_.path(), GetParam(), [&] { table.reset(); },
        [&]() -> absl::Status {
          CFILE_ASSIGN_OR_RETURN(table, TableReader::Open(path, options));
          return ReadTable(*table);
        },
        [&](const Outcome& outcome) {
          const auto& [status, failed, mode] = outcome;
          // If a read of several blocks fails, the reader reads the needed block alone.
          const bool recovers = failed == "pread" && mode == FaultMode::kOnce;
          if (!failed.empty() && !recovers && !MayBeSilent(failed, GetParam())) {
            EXPECT_FALSE(status.ok());
          }
          // After a failed call, the same TableReader can be used again.
          if (table && !status.ok()) {
            const absl::Status again = ReadTable(*table);
            EXPECT_TRUE(again.ok()) << again;
          }
          table.reset();
        });
  }
}

// A limit on the size of files simulates a full disk, at many sizes. The writer leaves the older
// file as it was.
TEST(FullDiskTest, LeavesWhatWasThere) {
  const TemporaryDirectory directory;
  const std::string path = directory.path("file");
  WriteFile(path, "older");
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = signal(SIGXFSZ, SIG_IGN);
  absl::Status status = absl::UnknownError("");
  int refusals = 0;
  for (rlim_t limit = 0; !status.ok() && limit < 1'000'000; limit += 10'007) {
    const rlimit little{.rlim_cur = limit, .rlim_max = before.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &little), 0);
    status = WriteNumbers(path, 5);
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
    if (status.ok()) break;
    ++refusals;
    EXPECT_THAT(status.message(), HasSubstr("write " + directory.path() + "/.file."));
    EXPECT_EQ(ReadFile(path), "older");
    EXPECT_THAT(directory.Entries(), ElementsAre("file"));
  }
  signal(SIGXFSZ, handler);
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_GT(refusals, 20);
  EXPECT_TRUE(ReadNumbers(path, 5).ok());
}

// Without locks, two writers could lose each other's commits. So commits are refused.
TEST(FolderFaultTest, FileSystemWithoutLocks) {
  TemporaryDirectory directory;
  const std::string path = directory.path("table");
  for (const int error : {ENOLCK, EOPNOTSUPP, ENOSYS}) {
    std::vector<std::string> failed;
    absl::Status status;
    for (int64_t number = 1; failed != std::vector<std::string>{"flock"}; ++number) {
      ASSERT_LT(number, 1000);
      fs::remove_all(path);
      ASSERT_TRUE(WriteTwoRows(path, /*is_new=*/true, 1).ok());
      SystemCalls::Get().Arm(path, number, error, FaultMode::kOnce);
      status = WriteTwoRows(path, /*is_new=*/false, 3);
      SystemCalls::Get().Disarm();
      failed = SystemCalls::Get().failed();
    }
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
    EXPECT_THAT(status.message(), HasSubstr("flock " + path + "/table.lock: "));
    EXPECT_THAT(status.message(), HasSubstr("without locks of files"));
    ExpectTwos(path, 1);
  }
}

TEST(FolderFaultTest, RemovedFolder) {
  const TemporaryDirectory directory;
  fs::create_directory(directory.path("folder"));
  const auto sink = NewFileSink(directory.path("folder/file"));
  ASSERT_TRUE(sink.ok()) << sink.status();
  fs::remove_all(directory.path("folder"));
  const absl::Status status = (*sink)->Finish();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(status.message(), HasSubstr("rename to " + directory.path("folder/file") + ": "));
  EXPECT_THAT(directory.Entries(), IsEmpty());
}

TEST(FolderFaultTest, ForbiddenFolder) {
  const OtherUser user;
  if (geteuid() == 0) GTEST_SKIP() << "root cannot become another user";
  const TemporaryDirectory directory;
  ASSERT_EQ(chmod(directory.path().c_str(), 0500), 0);
  const absl::Status status = WriteNumbers(directory.path("file"), 5);
  auto table = TableWriter::Create(directory.path("table"),
                                   {.columns = {{.name = "a", .type = ColumnType::Int64()}}});
  ASSERT_EQ(chmod(directory.path().c_str(), 0700), 0);
  EXPECT_EQ(status.code(), absl::StatusCode::kPermissionDenied);
  EXPECT_THAT(status.message(), HasSubstr("open " + directory.path() + "/.file."));
  EXPECT_EQ(table.status().code(), absl::StatusCode::kPermissionDenied);
  EXPECT_THAT(table.status().message(), HasSubstr("mkdir " + directory.path("table") + ": "));
  EXPECT_THAT(directory.Entries(), IsEmpty());
}

TEST(FolderFaultTest, ForbiddenTable) {
  const OtherUser user;
  if (geteuid() == 0) GTEST_SKIP() << "root cannot become another user";
  const TemporaryDirectory directory;
  const std::string path = directory.path("table");
  auto writer =
      TableWriter::Create(path, {.columns = {{.name = "a", .type = ColumnType::Int64()}}});
  ASSERT_TRUE(writer.ok()) << writer.status();
  ASSERT_TRUE(writer->Finish().ok());
  const std::vector<std::string> entries = directory.Entries();
  ASSERT_EQ(chmod(path.c_str(), 0500), 0);
  const absl::Status reading = TableReader::Open(path).status();
  const absl::Status appending = TableWriter::Open(path).status();
  ASSERT_EQ(chmod((path + "/table.cft").c_str(), 0), 0);
  const absl::Status forbidden = TableReader::Open(path).status();
  ASSERT_EQ(chmod(path.c_str(), 0700), 0);
  EXPECT_TRUE(reading.ok()) << reading;
  EXPECT_EQ(appending.code(), absl::StatusCode::kPermissionDenied);
  EXPECT_THAT(appending.message(), HasSubstr("mkdir " + path + "/part-"));
  EXPECT_EQ(forbidden.code(), absl::StatusCode::kPermissionDenied);
  EXPECT_THAT(forbidden.message(), HasSubstr("open " + path + "/table.cft: "));
  EXPECT_EQ(directory.Entries(), entries);
}

TEST(FolderFaultTest, FolderOfTheFilesName) {
  const TemporaryDirectory directory;
  fs::create_directory(directory.path("file"));
  const absl::Status status = WriteNumbers(directory.path("file"), 5);
  EXPECT_THAT(status.message(),
              HasSubstr(directory.path("file") + " is a directory: a new file can only"));
  EXPECT_THAT(directory.Entries(), ElementsAre("file"));
}

}  // namespace
}  // namespace cfile
