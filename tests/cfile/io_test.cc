#include "cfile/io.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "encodings/core/bytes.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/cfile/other_user.h"
#include "tests/cfile/temporary_directory.h"

namespace cfile::io_test {

using encodings::AsBytes;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string ReadFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void WriteFile(const std::string& path, const std::string& contents) {
  std::ofstream(path, std::ios::binary) << contents;
}

std::string Pattern(size_t size) {
  std::string bytes(size, '\0');
  for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(i * 7 + i / 251);
  return bytes;
}

// The type of the two functions that open a file as a source.
using OpenFunction = absl::StatusOr<std::shared_ptr<const Source>> (*)(const std::string&);
class FileSourceTest : public testing::TestWithParam<OpenFunction> {
 protected:
  TemporaryDirectory directory_;
};
INSTANTIATE_TEST_SUITE_P(Open, FileSourceTest,
                         testing::Values(&OpenMappedSource, &OpenPreadSource));

TEST_P(FileSourceTest, ReadsAnyRange) {
  const std::string path = directory_.path("file");
  const std::string contents = Pattern(100'000);
  WriteFile(path, contents);
  const auto source = GetParam()(path);
  ASSERT_TRUE(source.ok()) << source.status();
  EXPECT_EQ((*source)->name(), path);
  ASSERT_EQ((*source)->size(), contents.size());
  for (const size_t offset : {0u, 1u, 4095u, 99'999u, 100'000u}) {
    for (const size_t size : {0u, 1u, 5000u, 100'000u}) {
      if (size > contents.size() - offset) continue;
      std::vector<uint8_t> out(size);
      ASSERT_TRUE((*source)->ReadAt(offset, out).ok());
      EXPECT_EQ(encodings::AsString(out), contents.substr(offset, size));
    }
  }
}

TEST_P(FileSourceTest, SurvivesRemovalAndReplacement) {
  const std::string path = directory_.path("file");
  WriteFile(path, "before");
  const auto source = GetParam()(path);
  ASSERT_TRUE(source.ok());
  std::filesystem::remove(path);
  WriteFile(path, "after!");
  std::vector<uint8_t> out(6);
  ASSERT_TRUE((*source)->ReadAt(0, out).ok());
  EXPECT_EQ(encodings::AsString(out), "before");
}

TEST_P(FileSourceTest, EmptyFileIsAnEmptySource) {
  const std::string path = directory_.path("empty");
  WriteFile(path, "");
  const auto source = GetParam()(path);
  ASSERT_TRUE(source.ok()) << source.status();
  EXPECT_EQ((*source)->size(), 0);
  EXPECT_TRUE((*source)->ReadAt(0, {}).ok());
}

TEST_P(FileSourceTest, RefusesWhatIsNoFile) {
  const auto missing = GetParam()(directory_.path("missing"));
  EXPECT_EQ(missing.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(missing.status().message(), HasSubstr("open " + directory_.path("missing") + ": "));

  const auto folder = GetParam()(directory_.path());
  EXPECT_EQ(folder.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(folder.status().message(), HasSubstr(directory_.path() + ": "));
  EXPECT_THAT(folder.status().message(), HasSubstr("a directory"));

  // Opening a FIFO must not block until a writer opens it.
  ASSERT_EQ(mkfifo(directory_.path("pipe").c_str(), 0600), 0);
  EXPECT_EQ(GetParam()(directory_.path("pipe")).status().code(),
            absl::StatusCode::kFailedPrecondition);
}

TEST_P(FileSourceTest, NamesAForbiddenFile) {
  const OtherUser user;
  if (geteuid() == 0) GTEST_SKIP() << "root cannot become another user";
  const TemporaryDirectory directory;
  const std::string path = directory.path("secret");
  WriteFile(path, "x");
  ASSERT_EQ(chmod(path.c_str(), 0), 0);
  const absl::Status status = GetParam()(path).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kPermissionDenied);
  EXPECT_THAT(status.message(), HasSubstr("open " + path + ": "));
}

TEST(PreadSourceTest, TruncatedFileGivesAStatus) {
  const TemporaryDirectory directory;
  const std::string path = directory.path("file");
  WriteFile(path, Pattern(1000));
  const auto source = OpenPreadSource(path);
  ASSERT_TRUE(source.ok());
  std::filesystem::resize_file(path, 500);
  std::vector<uint8_t> out(100);
  EXPECT_TRUE((*source)->ReadAt(400, out).ok());
  const absl::Status status = (*source)->ReadAt(450, out);
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(status.message(), HasSubstr(path + ": had 1000 bytes"));
}

TEST(MappedSourceTest, GivesItsMemory) {
  const TemporaryDirectory directory;
  WriteFile(directory.path("file"), "abc");
  const auto source = OpenMappedSource(directory.path("file"));
  ASSERT_TRUE(source.ok());
  EXPECT_EQ(encodings::AsString((*source)->InMemory()), "abc");
  EXPECT_TRUE((*OpenPreadSource(directory.path("file")))->InMemory().empty());
}

TEST(MemorySourceTest, OwnsOrViews) {
  const std::vector<uint8_t> bytes = {1, 2, 3, 4};
  const auto owner = NewMemorySource(bytes);
  EXPECT_EQ(owner->name(), "memory");
  EXPECT_NE(owner->InMemory().data(), bytes.data());
  const auto view = NewMemoryViewSource(bytes, "here");
  EXPECT_EQ(view->name(), "here");
  EXPECT_EQ(view->InMemory().data(), bytes.data());
  for (const auto& source : {owner, view}) {
    ASSERT_EQ(source->size(), 4);
    std::vector<uint8_t> out(2);
    ASSERT_TRUE(source->ReadAt(1, out).ok());
    EXPECT_THAT(out, ElementsAre(2, 3));
  }
}

TEST(MemorySinkTest, KeepsOnlyWhatIsFinished) {
  std::vector<uint8_t> bytes = {9};
  ASSERT_TRUE(NewMemorySink(&bytes)->Append(AsBytes("dropped")).ok());
  EXPECT_THAT(bytes, ElementsAre(9));
  auto sink = NewMemorySink(&bytes, "there");
  EXPECT_EQ(sink->name(), "there");
  ASSERT_TRUE(sink->Append(AsBytes("\1\2")).ok());
  ASSERT_TRUE(sink->Append(AsBytes("\3")).ok());
  ASSERT_TRUE(sink->Finish().ok());
  sink.reset();
  EXPECT_THAT(bytes, ElementsAre(9, 1, 2, 3));
}

TEST(FileSinkTest, WritesPiecesOfAnySize) {
  const TemporaryDirectory directory;
  const std::string path = directory.path("file");
  std::string expected;
  auto sink = NewFileSink(path);
  ASSERT_TRUE(sink.ok()) << sink.status();
  EXPECT_EQ((*sink)->name(), path);
  // The sizes are close to the buffer's size, so that appends find the buffer at many fill levels.
  for (const size_t size : {0, 1, 65'535, 1, 65'536, 65'537, 300'000, 17, 40'000, 40'000, 3}) {
    const std::string piece = Pattern(size);
    ASSERT_TRUE((*sink)->Append(AsBytes(piece)).ok());
    expected += piece;
  }
  EXPECT_FALSE(std::filesystem::exists(path));
  ASSERT_TRUE((*sink)->Finish().ok());
  EXPECT_EQ(ReadFile(path), expected);
  EXPECT_THAT(directory.Entries(), ElementsAre("file"));
  sink->reset();
  EXPECT_THAT(directory.Entries(), ElementsAre("file"));
}

// A table may have more columns than a process may have descriptors.
TEST(FileSinkTest, MoreFilesThanDescriptors) {
  rlimit before = {};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit limit = before;
  limit.rlim_cur = 64;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
  const TemporaryDirectory directory;
  const auto path_of = [&](size_t i) { return directory.path(std::to_string(i)); };
  const auto size_of = [](size_t i) { return i % 20 == 0 ? 300'000 + i : i; };
  std::vector<std::unique_ptr<Sink>> sinks;
  absl::Status status;
  for (size_t i = 0; i < 100 && status.ok(); ++i) {
    auto sink = NewFileSink(path_of(i));
    status = sink.status();
    if (sink.ok()) sinks.push_back(*std::move(sink));
  }
  for (int time = 0; time < 2; ++time) {
    for (size_t i = 0; i < sinks.size(); ++i)
      status.Update(sinks[i]->Append(AsBytes(Pattern(size_of(i)))));
  }
  for (const auto& sink : sinks) status.Update(sink->Finish());
  std::vector<std::shared_ptr<const Source>> sources;
  for (size_t i = 0; i < 100 && status.ok(); ++i) {
    auto source = OpenPreadSource(path_of(i));
    status = source.status();
    if (source.ok()) sources.push_back(*std::move(source));
  }
  for (size_t i = 0; i < sources.size(); ++i) {
    std::string found(2 * size_of(i), '\0');
    status.Update(sources[i]->ReadAt(0, {reinterpret_cast<uint8_t*>(found.data()), found.size()}));
    EXPECT_EQ(found, Pattern(size_of(i)) + Pattern(size_of(i)));
  }
  EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  ASSERT_TRUE(status.ok()) << status;
  // A file that is not kept open may have been replaced.
  WriteFile(directory.path("other"), Pattern(500));
  std::filesystem::rename(directory.path("other"), path_of(99));
  uint8_t byte;
  EXPECT_EQ(sources[99]->ReadAt(0, {&byte, 1}).code(), absl::StatusCode::kAborted);
  for (size_t i = 0; i < 99; ++i)
    EXPECT_EQ(ReadFile(path_of(i)), Pattern(size_of(i)) + Pattern(size_of(i)));
}

TEST(FileSinkTest, IsATemporaryFileUntilItIsFinished) {
  const TemporaryDirectory directory;
  {
    const auto sink = NewFileSink(directory.path("file"));
    ASSERT_TRUE(sink.ok());
    const std::vector<std::string> entries = directory.Entries();
    ASSERT_EQ(entries.size(), 1);
    EXPECT_TRUE(IsTemporaryFileName(entries[0])) << entries[0];
    ASSERT_TRUE((*sink)->Append(AsBytes(Pattern(100'000))).ok());
  }
  EXPECT_THAT(directory.Entries(), IsEmpty());
}

TEST(FileSinkTest, ReplacesOnlyOnFinish) {
  const TemporaryDirectory directory;
  const std::string path = directory.path("file");
  WriteFile(path, "old");
  {
    const auto dropped = NewFileSink(path);
    ASSERT_TRUE((*dropped)->Append(AsBytes("new")).ok());
  }
  EXPECT_EQ(ReadFile(path), "old");
  const auto sink = NewFileSink(path);
  ASSERT_TRUE((*sink)->Append(AsBytes("new")).ok());
  ASSERT_TRUE((*sink)->Finish().ok());
  EXPECT_EQ(ReadFile(path), "new");
  EXPECT_THAT(directory.Entries(), ElementsAre("file"));
}

TEST(FileSinkTest, SinksOfOnePathDoNotMeet) {
  const TemporaryDirectory directory;
  const std::string path = directory.path("file");
  const auto first = NewFileSink(path);
  const auto second = NewFileSink(path);
  ASSERT_TRUE(first.ok() && second.ok());
  ASSERT_TRUE((*first)->Append(AsBytes("first")).ok());
  ASSERT_TRUE((*second)->Append(AsBytes("second")).ok());
  ASSERT_TRUE((*second)->Finish().ok());
  EXPECT_EQ(ReadFile(path), "second");
  ASSERT_TRUE((*first)->Finish().ok());
  EXPECT_EQ(ReadFile(path), "first");
}

TEST(FileSinkTest, NewFilesReplaceNoOther) {
  const TemporaryDirectory directory;
  const std::string path = directory.path("file");
  constexpr size_t kThreads = 4;
  for (int round = 0; round < 50; ++round) {
    std::filesystem::remove(path);
    std::atomic<size_t> written = 0;
    std::vector<std::thread> threads;
    for (size_t thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back([&] {
        const auto sink = NewFileSink(path, ExistingFile::kKept);
        const absl::Status status = (*sink)->Finish();
        written += status.ok();
        if (!status.ok()) {
          EXPECT_EQ(status.code(), absl::StatusCode::kAlreadyExists) << status;
          EXPECT_THAT(std::string(status.message()), HasSubstr(path));
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(written, 1);
    EXPECT_THAT(directory.Entries(), ElementsAre("file"));
  }
}

TEST(FileSinkTest, PassesOverALeftTemporaryFile) {
  const TemporaryDirectory directory;
  std::string name;
  {
    const auto sink = NewFileSink(directory.path("file"));
    name = directory.Entries().at(0);
  }
  // Creates the next names that this process would choose, as if a killed process had left these
  // files.
  const size_t dash = name.rfind('-', name.rfind(".cfile-tmp") - 1);
  const int number = std::stoi(name.substr(dash + 1));
  for (int i = 1; i <= 3; ++i) {
    WriteFile(directory.path(name.substr(0, dash + 1) + std::to_string(number + i) + ".cfile-tmp"),
              "left");
  }
  const auto sink = NewFileSink(directory.path("file"));
  ASSERT_TRUE(sink.ok()) << sink.status();
  ASSERT_TRUE((*sink)->Finish().ok());
  EXPECT_EQ(directory.Entries().size(), 4);
}

TEST(FileSinkTest, TakesTheLongestName) {
  const TemporaryDirectory directory;
  const std::string path = directory.path(std::string(255, 'n'));
  const auto sink = NewFileSink(path);
  ASSERT_TRUE(sink.ok()) << sink.status();
  ASSERT_TRUE((*sink)->Finish().ok());
  EXPECT_TRUE(std::filesystem::exists(path));
}

TEST(FileSinkTest, TakesARelativePath) {
  const TemporaryDirectory directory;
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(directory.path());
  const auto sink = NewFileSink("file");
  ASSERT_TRUE(sink.ok()) << sink.status();
  EXPECT_EQ(directory.Entries().size(), 1);
  EXPECT_TRUE((*sink)->Finish().ok());
  std::filesystem::current_path(before);
  EXPECT_THAT(directory.Entries(), ElementsAre("file"));
}

TEST(FileSinkTest, SaysWhatFails) {
  const TemporaryDirectory directory;
  const auto no_folder = NewFileSink(directory.path("missing/file"));
  EXPECT_EQ(no_folder.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(no_folder.status().message(), HasSubstr("open " + directory.path("missing/")));
  EXPECT_EQ(NewFileSink("").status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(NewFileSink(directory.path("")).status().code(), absl::StatusCode::kInvalidArgument);

  std::filesystem::create_directory(directory.path("folder"));
  const absl::Status status = NewFileSink(directory.path("folder")).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(status.message(), HasSubstr(directory.path("folder") + " is a directory: "));
  EXPECT_THAT(directory.Entries(), ElementsAre("folder"));
}

// The sink replaces regular files only. It refuses a FIFO, a link to a FIFO and a link to a device.
TEST(FileSinkTest, ReplacesOnlyFiles) {
  const TemporaryDirectory directory;
  const std::string pipe = directory.path("pipe"), link = directory.path("link");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const auto expect_refused = [](const std::string& path, const char* what) {
    const absl::Status status = NewFileSink(path).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
    EXPECT_THAT(status.message(), HasSubstr(path + what));
  };
  expect_refused(pipe, " is a FIFO: ");
  std::filesystem::create_symlink(pipe, link);
  expect_refused(link, " is a FIFO: ");
  std::filesystem::remove(link);
  std::filesystem::create_symlink("/dev/null", link);
  expect_refused(link, " is a device: ");
  EXPECT_TRUE(std::filesystem::is_fifo(pipe));

  // The sink also refuses a FIFO that is created while the file is being written.
  const std::string late = directory.path("late");
  const auto sink = NewFileSink(late);
  ASSERT_TRUE(sink.ok()) << sink.status();
  ASSERT_EQ(mkfifo(late.c_str(), 0600), 0);
  EXPECT_EQ((*sink)->Finish().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(std::filesystem::is_fifo(late));
}

// If the path is a link, the sink replaces the link and not its target.
TEST(FileSinkTest, ReplacesALinkToAFile) {
  const TemporaryDirectory directory;
  WriteFile(directory.path("file"), "old");
  for (const char* target : {"file", "missing"}) {
    const std::string link = directory.path("link");
    std::filesystem::remove(link);
    std::filesystem::create_symlink(target, link);
    const auto sink = NewFileSink(link);
    ASSERT_TRUE(sink.ok()) << sink.status();
    ASSERT_TRUE((*sink)->Append(AsBytes("new")).ok());
    ASSERT_TRUE((*sink)->Finish().ok());
    EXPECT_FALSE(std::filesystem::is_symlink(link));
    EXPECT_EQ(std::filesystem::file_size(link), 3);
    EXPECT_THAT(directory.Entries(), ElementsAre("file", "link"));
  }
  std::ifstream file(directory.path("file"));
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), "old");
}

TEST(FileSinkTest, FullDiskIsResourceExhausted) {
  // /dev/full refuses every write. The sink only creates regular files, so the test makes the
  // sink's descriptor refer to /dev/full.
  const TemporaryDirectory directory;
  const auto sink = NewFileSink(directory.path("file"));
  ASSERT_TRUE(sink.ok());
  const std::string temporary = directory.path(directory.Entries().at(0));
  int descriptor = -1;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code ignored;
    if (std::filesystem::read_symlink(entry, ignored) == temporary) {
      descriptor = std::stoi(entry.path().filename());
    }
  }
  ASSERT_GE(descriptor, 0);
  const int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
  ASSERT_GE(full, 0);
  ASSERT_EQ(dup2(full, descriptor), descriptor);
  close(full);
  const absl::Status status = (*sink)->Append(AsBytes(Pattern(300'000)));
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(status.message(), HasSubstr("write " + temporary + ": "));
}

TEST(IsTemporaryFileNameTest, TellsOnlyOurs) {
  EXPECT_TRUE(IsTemporaryFileName(".column.cfile.123-4.cfile-tmp"));
  EXPECT_FALSE(IsTemporaryFileName("column.cfile"));
  EXPECT_FALSE(IsTemporaryFileName(".hidden-column.cfile"));
  EXPECT_FALSE(IsTemporaryFileName("mine.cfile-tmp"));
  for (const char* name : {".mine.cfile-tmp", ".mine.1.cfile-tmp", ".mine.1-.cfile-tmp",
                           ".mine.-1.cfile-tmp", ".mine.1-x.cfile-tmp", ".1-1.cfile-tmp"}) {
    EXPECT_FALSE(IsTemporaryFileName(name)) << name;
  }
  EXPECT_FALSE(IsTemporaryFileName(".cfile-tmp"));
  EXPECT_FALSE(IsTemporaryFileName(""));
}

}  // namespace cfile::io_test
