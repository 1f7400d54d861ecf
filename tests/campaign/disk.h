// A simulated disk after a power cut.
#pragma once

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/campaign/system_calls.h"

namespace cfile::testing_support {

// Simulates a disk after a power cut. After a sync, the entries of the folder or the bytes of the
// file are certainly on the disk. Before the sync, any of them may be on the disk or be missing.
class Disk {
 public:
  // `files` has the bytes of each file by its path, and `folders` the paths of the folders.
  struct Entries {
    std::map<std::string, std::string> files;
    std::vector<std::string> folders;
  };

  // Returns what is in a folder.
  static Entries Contents(const std::string& directory) {
    Entries contents;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
      if (entry.is_directory()) contents.folders.push_back(entry.path());
      if (entry.is_regular_file()) {
        std::ifstream file(entry.path(), std::ios::binary);
        contents.files[entry.path()] = {std::istreambuf_iterator<char>(file), {}};
      }
    }
    return contents;
  }

  // Applies `events` to the folder `root`. `start`: what is in it before the events.
  Disk(const Entries& start, const std::vector<SystemCalls::Event>& events, std::mt19937_64& random)
      : random_(random) {
    for (const std::string& path : start.folders) now_[path] = durable_[path] = kFolder;
    for (const auto& [path, bytes] : start.files) {
      files_.push_back({bytes, bytes});
      now_[path] = durable_[path] = files_.size() - 1;
    }
    for (const SystemCalls::Event& event : events) Apply(event);
  }

  // Returns a possible state of the folder `from` after the power cut.
  // The keys of the map are paths inside `from`.
  // The value for a file is the bytes of the file. The value for a folder is nullopt.
  std::map<std::string, std::optional<std::string>> State(const std::string& from) {
    std::map<std::string, size_t> entries = durable_;
    for (const auto& [path, text, file] : pending_) {
      if (random_() % 2 == 0) continue;
      if (!text.empty() || file == kGone) entries.erase(path);
      if (file != kGone) entries[text.empty() ? path : text] = file;
    }
    std::map<std::string, std::optional<std::string>> state;
    for (const auto& [full_path, file] : entries) {
      const std::string path = full_path.substr(from.size() + 1);
      // If the entry of a folder is lost, all its contents are lost.
      const size_t slash = path.rfind('/');
      if (slash != path.npos && !state.contains(path.substr(0, slash))) continue;
      state[path] = file == kFolder ? std::nullopt : std::optional(BytesOf(files_[file]));
    }
    return state;
  }

  // Writes a possible state of the folder `from` after the power cut into the folder `to`.
  void Write(const std::string& from, const std::string& to) {
    for (const auto& [path, bytes] : State(from)) {
      if (bytes) {
        std::ofstream(to + "/" + path, std::ios::binary) << *bytes;
      } else {
        std::filesystem::create_directory(to + "/" + path);
      }
    }
  }

 private:
  struct File {
    std::string synced;
    std::string written;
  };
  struct Pending {
    std::string path;
    std::string text;  // the new name if this is a rename
    size_t file;
  };
  // Special values of `file`: the entry is a folder, or the entry was removed.
  static constexpr size_t kFolder = ~size_t{0};
  static constexpr size_t kGone = kFolder - 1;

  void Apply(const SystemCalls::Event& event) {
    using Event = SystemCalls::Event;
    switch (event.kind) {
      case Event::kMakeFolder:
        now_[event.path] = kFolder;
        pending_.push_back({event.path, "", kFolder});
        break;
      case Event::kCreate:
        files_.emplace_back();
        now_[event.path] = files_.size() - 1;
        pending_.push_back({event.path, "", files_.size() - 1});
        break;
      case Event::kWrite:
        files_[now_.at(event.path)].written += event.text;
        break;
      case Event::kTruncate:
        files_[now_.at(event.path)].written.resize(std::stoull(event.text));
        break;
      case Event::kRename: {
        const size_t file = now_.at(event.path);
        now_.erase(event.path);
        now_[event.text] = file;
        pending_.push_back({event.path, event.text, file});
        break;
      }
      case Event::kRemove:
        now_.erase(event.path);
        pending_.push_back({event.path, "", kGone});
        break;
      case Event::kSync: {
        const auto found = now_.find(event.path);
        if (found != now_.end() && found->second != kFolder) {
          files_[found->second].synced = files_[found->second].written;
          break;
        }
        std::vector<Pending> left;
        for (Pending& pending : pending_) {
          if (std::filesystem::path(pending.path).parent_path() != event.path) {
            left.push_back(std::move(pending));
            continue;
          }
          if (!pending.text.empty() || pending.file == kGone) durable_.erase(pending.path);
          if (pending.file == kGone) continue;
          durable_[pending.text.empty() ? pending.path : pending.text] = pending.file;
        }
        pending_ = std::move(left);
      }
    }
  }

  // Returns the bytes that the file may have: all synced bytes, followed by none of the other
  // bytes, the first ones, zeros, some pages of them, or all of them. A file that was cut and not
  // synced has the old bytes or the remaining ones.
  std::string BytesOf(const File& file) {
    std::string bytes = file.synced;
    if (file.written.size() == bytes.size()) return bytes;
    if (file.written.size() < bytes.size()) return random_() % 2 == 0 ? bytes : file.written;
    const size_t rest = file.written.size() - bytes.size();
    switch (random_() % 5) {
      case 0:
        return bytes;
      case 1:
        return bytes + file.written.substr(bytes.size(), random_() % rest);
      case 2:
        return bytes + std::string(rest, '\0');
      case 3:
        return SomePages(file.written, bytes.size());
      default:
        return file.written;
    }
  }

  // Replaces some pages by zeros, because a disk may write pages in any order.
  std::string SomePages(std::string bytes, size_t begin) {
    constexpr size_t kPageBytes = 4096;
    while (begin < bytes.size()) {
      const size_t end = std::min(begin / kPageBytes * kPageBytes + kPageBytes, bytes.size());
      if (random_() % 2 == 0) std::fill(bytes.begin() + begin, bytes.begin() + end, '\0');
      begin = end;
    }
    return bytes;
  }

  std::mt19937_64& random_;
  std::vector<File> files_;
  std::map<std::string, size_t> now_;      // the entries that programs see
  std::map<std::string, size_t> durable_;  // the entries that are certainly on the disk
  std::vector<Pending> pending_;           // the entries that may be missing
};

}  // namespace cfile::testing_support
