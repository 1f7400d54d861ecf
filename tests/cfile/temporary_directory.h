// A temporary directory for one test.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace cfile {

// Returns the number of open file descriptors of this process.
inline size_t OpenDescriptors() {
  const std::filesystem::directory_iterator descriptors("/proc/self/fd");
  return static_cast<size_t>(std::distance(descriptors, {}));
}

// Creates an empty directory. The destructor removes it and its contents.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    path_ = testing::TempDir() + "cfile-test-XXXXXX";
    EXPECT_NE(mkdtemp(path_.data()), nullptr) << path_;
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  ~TemporaryDirectory() { std::filesystem::remove_all(path_); }

  const std::string& path() const { return path_; }
  std::string path(const std::string& name) const { return path_ + "/" + name; }

  // Returns the paths of all files and directories inside, relative to the directory.
  std::vector<std::string> Entries() const {
    std::vector<std::string> entries;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path_)) {
      entries.push_back(std::filesystem::relative(entry.path(), path_).string());
    }
    std::sort(entries.begin(), entries.end());  // file systems have no common order
    return entries;
  }

 private:
  std::string path_;
};

}  // namespace cfile
