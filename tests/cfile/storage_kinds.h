// Tests that every kind of storage does what cfile/storage.h says. A program that includes this
// header instantiates them for its kinds:
//
//   INSTANTIATE_TEST_SUITE_P(All, StorageTest, testing::Values(StorageKind{...}), NameOfKind);
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "cfile/storage.h"
#include "cfile/table.h"
#include "cfile/table_maintenance.h"
#include "encodings/core/bytes.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/cfile/table_fixture.h"
#include "tests/cfile/temporary_directory.h"

namespace cfile {

struct StorageKind {
  std::string name;
  // Makes an empty storage. `directory`: a path that does not exist, of a new temporary folder.
  std::function<std::shared_ptr<Storage>(const std::string& directory)> make;
  bool hashes_bytes = false;  // objects with equal bytes have the same version
};

inline std::string NameOfKind(const testing::TestParamInfo<StorageKind>& test) {
  return test.param.name;
}
inline void PrintTo(const StorageKind& kind, std::ostream* out) { *out << kind.name; }

class StorageTest : public testing::TestWithParam<StorageKind> {
 protected:
  void Write(const std::string& path, std::string_view text) {
    auto sink = storage_->Create(path);
    ASSERT_TRUE(sink.ok()) << sink.status();
    EXPECT_FALSE(storage_->Open(path).ok());
    ASSERT_TRUE((*sink)->Append(encodings::AsBytes(text)).ok());
    ASSERT_TRUE((*sink)->Finish().ok());
  }

  std::string Read(const std::string& path) {
    const auto source = storage_->Open(path);
    if (!source.ok()) return source.status().ToString();
    std::string text((*source)->size(), '\0');
    EXPECT_TRUE((*source)->ReadAt(0, {reinterpret_cast<uint8_t*>(text.data()), text.size()}).ok());
    return text;
  }

  std::vector<std::string> List(const std::string& folder = "") {
    const auto entries = storage_->List(folder);
    EXPECT_TRUE(entries.ok()) << entries.status();
    std::vector<std::string> paths;
    for (const StorageEntry& entry : *entries) paths.push_back(entry.path);
    return paths;
  }

  TemporaryDirectory directory_;
  const std::shared_ptr<Storage> storage_ = GetParam().make(directory_.path("table"));
};

TEST_P(StorageTest, WritesListsReadsAndDeletes) {
  EXPECT_THAT(List(), testing::IsEmpty());
  EXPECT_EQ(storage_->Open("a").status().code(), absl::StatusCode::kNotFound);
  Write("part/a", "one");
  Write("part/b", "");
  Write("other/a", "three");
  EXPECT_EQ(Read("part/a"), "one");
  EXPECT_EQ(Read("part/b"), "");
  EXPECT_THAT(List(), testing::UnorderedElementsAre("part/a", "part/b", "other/a"));
  EXPECT_THAT(List("part"), testing::UnorderedElementsAre("part/a", "part/b"));
  EXPECT_THAT(List("par"), testing::IsEmpty());
  const auto entries = storage_->List("other");
  ASSERT_TRUE(entries.ok() && entries->size() == 1);
  EXPECT_EQ((*entries)[0].size_bytes, 5);
  EXPECT_FALSE((*entries)[0].identity.empty());
  const auto age = std::chrono::system_clock::now() - (*entries)[0].changed;
  EXPECT_LT(age < std::chrono::seconds(0) ? -age : age, std::chrono::hours(1));
  ASSERT_TRUE(storage_->Delete("part/a").ok());
  EXPECT_THAT(List("part"), testing::ElementsAre("part/b"));
  ASSERT_TRUE(storage_->Delete("part").ok());
  ASSERT_TRUE(storage_->Delete("part").ok());
  EXPECT_THAT(List(), testing::ElementsAre("other/a"));
}

TEST_P(StorageTest, FilesThatAreNotFinishedLeaveNothing) {
  {
    auto sink = storage_->Create("part/a");
    ASSERT_TRUE(sink.ok());
    ASSERT_TRUE((*sink)->Append(encodings::AsBytes("text")).ok());
  }
  EXPECT_EQ(storage_->Open("part/a").status().code(), absl::StatusCode::kNotFound);
  ASSERT_TRUE(storage_->Delete("part").ok());
  EXPECT_THAT(List(), testing::IsEmpty());
  EXPECT_THAT(directory_.Entries(), testing::IsEmpty());
}

TEST_P(StorageTest, OpenSourcesSurviveDeletion) {
  Write("part/a", "one");
  const auto source = storage_->Open("part/a");
  ASSERT_TRUE(source.ok());
  ASSERT_TRUE(storage_->Delete("part").ok());
  uint8_t byte = 0;
  ASSERT_TRUE((*source)->ReadAt(1, {&byte, 1}).ok());
  EXPECT_EQ(byte, 'n');
}

TEST_P(StorageTest, CommitsOnlyOverTheExpectedVersion) {
  EXPECT_EQ(storage_->Read("x.cft", 100).status().code(), absl::StatusCode::kNotFound);
  Write("part/a", "");
  EXPECT_EQ(storage_->Commit("x.cft", "version", "one").code(), absl::StatusCode::kAborted);
  ASSERT_TRUE(storage_->Commit("x.cft", std::nullopt, "one").ok());
  EXPECT_EQ(storage_->Commit("x.cft", std::nullopt, "two").code(), absl::StatusCode::kAborted);
  const auto one = storage_->Read("x.cft", 3);
  ASSERT_TRUE(one.ok()) << one.status();
  EXPECT_EQ(one->bytes, "one");
  EXPECT_EQ(storage_->Read("x.cft", 2).status().code(), absl::StatusCode::kOutOfRange);
  // A commit of the same bytes makes a new version, unless the version is a hash of the bytes.
  const std::string same = GetParam().hashes_bytes ? "one again" : "one";
  ASSERT_TRUE(storage_->Commit("x.cft", one->version, same).ok());
  EXPECT_EQ(storage_->Commit("x.cft", one->version, "two").code(), absl::StatusCode::kAborted);
  const auto again = storage_->Read("x.cft", 100);
  ASSERT_TRUE(again.ok() && storage_->Commit("x.cft", again->version, "two").ok());
  EXPECT_EQ(Read("x.cft"), "two");
  EXPECT_THAT(List(), testing::UnorderedElementsAre("part/a", "x.cft"));
}

TEST_P(StorageTest, EachCommitHasOneWinner) {
  ASSERT_TRUE(storage_->Create("part/a").ok());  // makes the directory
  ASSERT_TRUE(storage_->Commit("count.cft", std::nullopt, "").ok());
  constexpr int kThreads = 4, kCommits = 50;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&] {
      for (int commits = 0; commits < kCommits;) {
        const auto found = storage_->Read("count.cft", 1000);
        ASSERT_TRUE(found.ok()) << found.status();
        const absl::Status status =
            storage_->Commit("count.cft", found->version, found->bytes + "x");
        ASSERT_TRUE(status.ok() || absl::IsAborted(status)) << status;
        commits += status.ok();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(Read("count.cft").size(), kThreads * kCommits);
}

TEST_P(StorageTest, HoldsATable) {
  for (uint64_t part = 0; part < 3; ++part) {
    auto writer = part == 0 ? TableWriter::Create(storage_, ManyTypes(), {&kLoose, 1})
                            : TableWriter::Open(storage_, {&kLoose, 1});
    ASSERT_TRUE(writer.ok()) << writer.status();
    ASSERT_TRUE(AppendRows(*writer, 10 * part, 10).ok());
    const absl::Status status = writer->Finish();
    ASSERT_TRUE(status.ok()) << status;
  }
  EXPECT_EQ(TableWriter::Create(storage_, ManyTypes()).status().code(),
            absl::StatusCode::kAlreadyExists);
  const auto table = TableReader::Open(storage_);
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_EQ(table->directory(), storage_->name());
  ExpectTable(*table, 30);
  // A packed part has one file, and the copy of its description.
  const size_t files = List().size();
  auto writer = TableWriter::Open(storage_);
  ASSERT_TRUE(writer.ok() && AppendRows(*writer, 30, 5000).ok());
  ASSERT_TRUE(writer->Finish().ok());
  EXPECT_EQ(List().size(), files + 2);
  ExpectTable(*TableReader::Open(storage_), 5030);
  ASSERT_TRUE(DropParts(storage_, std::vector{TableReader::Open(storage_)->part(3)->name}).ok());
  ASSERT_TRUE(Compact(storage_).ok());
  const auto compacted = TableReader::Open(storage_);
  ASSERT_TRUE(compacted.ok());
  EXPECT_EQ(compacted->num_parts(), 1);
  ExpectTable(*compacted, 30);
  const auto removed = CollectGarbage(storage_, std::chrono::seconds(0));
  ASSERT_TRUE(removed.ok()) << removed.status();
  EXPECT_EQ(removed->size(), 4);
  // The storage has table.cft, the file of one packed part, and the copy of its description.
  EXPECT_EQ(List().size(), 3);
  ASSERT_TRUE(DropParts(storage_, std::vector{compacted->part(0)->name}).ok());
  EXPECT_EQ(TableReader::Open(storage_)->num_rows(), 0);
  ASSERT_TRUE(CollectGarbage(storage_, std::chrono::seconds(0)).ok());
  EXPECT_THAT(List(), testing::ElementsAre("table.cft"));
}

}  // namespace cfile
