// Implements Storage for the files of a local directory.
#include "cfile/parts/table/storage/local_storage.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <filesystem>
#include <map>
#include <mutex>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cfile/core/io/file_system.h"
#include "cfile/storage.h"
#include "encodings/core/bytes.h"
#include "encodings/core/status.h"

namespace cfile {
namespace {

namespace fs = std::filesystem;
using internal::FileIdentity;
using internal::SystemError;

std::string TextOf(const FileIdentity& identity) {
  return absl::StrCat(identity.device, ":", identity.number, ":", identity.size_bytes, ":",
                      identity.changed_s, ".", identity.changed_ns);
}

// The folders with files that are being written, or that are not durable yet. The columns of a part
// are written together: only the last one that ends syncs the folder, because a sync of the folder
// takes as long as a sync of a file. Thread-safe.
class OpenFolders {
 public:
  void Begin(const std::string& folder) {
    const std::lock_guard lock(mutex_);
    ++folders_[folder].open_files;
  }
  // Ends a file: `finished` if it has got its name.
  absl::Status End(const std::string& folder, bool finished) {
    {
      const std::lock_guard lock(mutex_);
      Folder& state = folders_[folder];
      if (finished) state.last_finished = ++num_finished_;
      if (--state.open_files > 0) return absl::OkStatus();
    }
    const absl::Status status = Sync(folder);
    // (If garbage collection has removed the folder, the writer is told so.)
    return status.ok() || absl::IsNotFound(status) ? status : absl::InternalError(status.message());
  }
  bool HasOpenFile(const std::string& folder) {
    const std::lock_guard lock(mutex_);
    const auto found = folders_.find(folder);
    return found != folders_.end() && found->second.open_files > 0;
  }
  // Makes all files durable that were finished before.
  absl::Status SyncAll() {
    std::vector<std::string> names;
    {
      const std::lock_guard lock(mutex_);
      for (const auto& [name, state] : folders_) names.push_back(name);
    }
    for (const std::string& name : names) {
      const absl::Status status = Sync(name);
      if (!status.ok() && !absl::IsNotFound(status)) return status;
    }
    return absl::OkStatus();
  }

 private:
  // Files are counted over all folders, in the order in which they were finished.
  struct Folder {
    size_t open_files = 0;
    uint64_t last_finished = 0;
    uint64_t last_durable = 0;
  };

  // Syncs the folder if a file in it is not durable, and forgets it if no file is open.
  absl::Status Sync(const std::string& name) {
    uint64_t finished = 0;
    {
      const std::lock_guard lock(mutex_);
      const auto found = folders_.find(name);
      if (found == folders_.end()) return absl::OkStatus();
      finished = found->second.last_finished;
    }
    // (Another thread may sync it, too, but its sync may have begun before the last file ended.)
    if (finished > 0) CFILE_RETURN_IF_ERROR(internal::SyncFolder(name));
    const std::lock_guard lock(mutex_);
    const auto found = folders_.find(name);
    if (found == folders_.end()) return absl::OkStatus();
    Folder& state = found->second;
    state.last_durable = std::max(state.last_durable, finished);
    if (state.open_files == 0 && state.last_durable >= state.last_finished) folders_.erase(found);
    return absl::OkStatus();
  }

  std::mutex mutex_;
  uint64_t num_finished_ = 0;
  std::map<std::string, Folder> folders_;
};

class LocalSink final : public Sink {
 public:
  LocalSink(std::unique_ptr<Sink> file, std::shared_ptr<OpenFolders> folders)
      : file_(std::move(file)),
        folders_(std::move(folders)),
        folder_(internal::FolderOf(file_->name())) {
    folders_->Begin(folder_);
  }
  ~LocalSink() override {
    if (folders_ != nullptr) folders_->End(folder_, /*finished=*/false).IgnoreError();
  }

  const std::string& name() const override { return file_->name(); }
  absl::Status Append(std::span<const uint8_t> bytes) override { return file_->Append(bytes); }
  absl::Status Finish() override {
    CFILE_RETURN_IF_ERROR(file_->Finish());
    return std::exchange(folders_, nullptr)->End(folder_, /*finished=*/true);
  }

 private:
  const std::unique_ptr<Sink> file_;
  std::shared_ptr<OpenFolders> folders_;  // null after Finish
  const std::string folder_;
};

class LocalStorage final : public Storage {
 public:
  LocalStorage(std::string directory, ReaderOptions::Access access)
      : directory_(directory.empty() ? "." : std::move(directory)), access_(access) {}

  const std::string& name() const override { return directory_; }

  absl::StatusOr<std::shared_ptr<const Source>> Open(const std::string& path) const override {
    return access_ == ReaderOptions::Access::kMap ? OpenMappedSource(PathOf(path))
                                                  : OpenPreadSource(PathOf(path));
  }

  absl::StatusOr<std::unique_ptr<Sink>> Create(const std::string& path) override {
    auto file = internal::NewUnsyncedFileSink(PathOf(path));
    // A folder with an open file has existed: another program has removed or moved it.
    if (absl::IsNotFound(file.status()) &&
        !folders_->HasOpenFile(internal::FolderOf(PathOf(path)))) {
      CFILE_ASSIGN_OR_RETURN(const bool made, MakeFolder(directory_));
      if (made) made_directory_ = true;
      CFILE_RETURN_IF_ERROR(MakeFolder(internal::FolderOf(PathOf(path))).status());
      file = internal::NewUnsyncedFileSink(PathOf(path));
    }
    CFILE_RETURN_IF_ERROR(file.status());
    return std::make_unique<LocalSink>(*std::move(file), folders_);
  }

  absl::StatusOr<std::vector<StorageEntry>> List(const std::string& folder) const override {
    const std::string root = folder.empty() ? directory_ : PathOf(folder);
    std::vector<StorageEntry> entries;
    CFILE_RETURN_IF_ERROR(
        AddEntries(root, folder.empty() ? folder : absl::StrCat(folder, "/"), entries));
    return entries;
  }

  absl::Status Delete(const std::string& path) override {
    std::error_code error;
    // Repeats the removal if another process removes or adds a file in the folder at the same time.
    do {
      fs::remove_all(PathOf(path), error);
    } while (error == std::errc::no_such_file_or_directory ||
             error == std::errc::directory_not_empty);
    if (error) return SystemError("remove", PathOf(path), error.value());
    // Fails if another process has put something into the directory.
    if (made_directory_ && rmdir(directory_.c_str()) == 0) {
      made_directory_ = false;
      return absl::OkStatus();
    }
    const absl::Status status = internal::SyncFolder(internal::FolderOf(PathOf(path)));
    return absl::IsNotFound(status) ? absl::OkStatus() : status;
  }

  absl::StatusOr<VersionedObject> Read(const std::string& path,
                                       uint64_t max_size_bytes) const override {
    const std::string full_path = PathOf(path);
    // The file is not mapped, because another process may replace it.
    CFILE_ASSIGN_OR_RETURN(const std::shared_ptr<const Source> source, OpenPreadSource(full_path));
    CFILE_ASSIGN_OR_RETURN(const auto identity, internal::IdentityOf(full_path));
    if (source->size() > max_size_bytes) {
      return encodings::OutOfRange(
          full_path, ": ", source->size(), " bytes are ",
          encodings::AboveLimit(max_size_bytes, "max_metadata_size_bytes"));
    }
    VersionedObject object;
    object.bytes.resize(source->size());
    CFILE_RETURN_IF_ERROR(
        source->ReadAt(0, {reinterpret_cast<uint8_t*>(object.bytes.data()), object.bytes.size()}));
    // The version consists of the identity and the bytes of the file, because a later file may get
    // the identity of an earlier one. If another process has replaced the file since this function
    // opened it above, no later file has this version.
    object.version = absl::StrCat(identity ? TextOf(*identity) : "", "\n", object.bytes);
    return object;
  }

  absl::Status Commit(const std::string& path, const std::optional<std::string>& expected_version,
                      std::string_view bytes) override {
    const std::string full_path = PathOf(path);
    if (!expected_version) {
      CFILE_ASSIGN_OR_RETURN(const bool made, MakeFolder(directory_));
      if (made) made_directory_ = true;
    }
    // Make the files that the object names durable before the object itself.
    CFILE_RETURN_IF_ERROR(folders_->SyncAll());
    CFILE_RETURN_IF_ERROR(internal::SyncFolder(directory_));
    if (!expected_version) CFILE_RETURN_IF_ERROR(SyncParent());
    CFILE_ASSIGN_OR_RETURN(const auto lock,
                           internal::FileLock::Acquire(internal::LockFilePath(full_path)));
    const auto found = Read(path, UINT64_MAX);
    if (!found.ok() && !absl::IsNotFound(found.status())) return found.status();
    const bool expected = found.ok() ? found->version == expected_version : !expected_version;
    if (!expected)
      return absl::AbortedError(absl::StrCat(full_path, ": another writer has replaced it"));
    CFILE_ASSIGN_OR_RETURN(const std::unique_ptr<Sink> sink, NewFileSink(full_path));
    CFILE_RETURN_IF_ERROR(sink->Append(encodings::AsBytes(bytes)));
    return sink->Finish();
  }

 private:
  std::string PathOf(const std::string& path) const { return absl::StrCat(directory_, "/", path); }

  // Creates a folder. Returns false if something is at its path.
  static absl::StatusOr<bool> MakeFolder(const std::string& path) {
    std::error_code error;
    if (fs::create_directory(path, error)) return true;
    if (!error || error == std::errc::file_exists) return false;
    return SystemError("mkdir", path, error.value());
  }

  // Makes the entry of the directory in its parent durable, even if the directory existed before.
  absl::Status SyncParent() const {
    // "/.." finds the parent even if the path ends with a slash or "." or is a symbolic link.
    const absl::Status status = internal::SyncFolder(absl::StrCat(directory_, "/.."));
    // A parent without read permission cannot be synced. If the directory existed before, making
    // its entry durable was the task of its creator.
    if (!made_directory_ && absl::IsPermissionDenied(status)) return absl::OkStatus();
    return status;
  }

  // Appends the files in `folder`. `prefix`: the path of the folder in this storage, with a slash.
  static absl::Status AddEntries(const std::string& folder, const std::string& prefix,
                                 std::vector<StorageEntry>& entries) {
    // Do not use std::filesystem::directory_iterator: it ends the process if there is no memory.
    auto descriptor = internal::FileDescriptor::Open(folder, O_RDONLY | O_DIRECTORY);
    if (absl::IsNotFound(descriptor.status())) return absl::OkStatus();
    CFILE_RETURN_IF_ERROR(descriptor.status());
    const std::unique_ptr<DIR, int (*)(DIR*)> directory(fdopendir(descriptor->get()), closedir);
    if (directory == nullptr) return SystemError("read directory", folder, errno);
    (void)descriptor->release();  // closedir closes the descriptor
    while (true) {
      errno = 0;
      const dirent* const entry = readdir(directory.get());
      if (entry == nullptr) break;
      const std::string name = entry->d_name;
      if (name == "." || name == "..") continue;
      CFILE_RETURN_IF_ERROR(AddEntry(absl::StrCat(folder, "/", name), name, prefix, entries));
    }
    return errno == 0 ? absl::OkStatus() : SystemError("read directory", folder, errno);
  }

  static absl::Status AddEntry(const std::string& full_path, const std::string& name,
                               const std::string& prefix, std::vector<StorageEntry>& entries) {
    struct stat status;
    const bool is_folder = lstat(full_path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
    if (is_folder && prefix.empty()) {
      const size_t before = entries.size();
      CFILE_RETURN_IF_ERROR(AddEntries(full_path, absl::StrCat(name, "/"), entries));
      if (entries.size() > before) return absl::OkStatus();
    }
    CFILE_ASSIGN_OR_RETURN(const std::optional<FileIdentity> found,
                           internal::IdentityOf(full_path));
    if (!found) return absl::OkStatus();      // another process has removed the object
    using Clock = std::chrono::system_clock;  // its unit depends on the standard library
    const auto changed =
        std::chrono::seconds(found->changed_s) + std::chrono::nanoseconds(found->changed_ns);
    entries.push_back(
        {.path = absl::StrCat(prefix, name, is_folder ? "/" : ""),
         .size_bytes = is_folder ? 0 : found->size_bytes,
         .changed = Clock::time_point(std::chrono::duration_cast<Clock::duration>(changed)),
         .identity = TextOf(*found)});
    return absl::OkStatus();
  }

  const std::string directory_;
  const ReaderOptions::Access access_;
  std::atomic<bool> made_directory_ = false;  // by this storage
  const std::shared_ptr<OpenFolders> folders_ = std::make_shared<OpenFolders>();
};

}  // namespace

std::shared_ptr<Storage> NewLocalStorage(std::string directory, ReaderOptions::Access access) {
  return std::make_shared<LocalStorage>(std::move(directory), access);
}

std::string internal::LockFilePath(const std::string& path) {
  return absl::StrCat(path.substr(0, path.rfind('.')), ".lock");
}

}  // namespace cfile
