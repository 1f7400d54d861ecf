#include "cfile/parts/http/disk_cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <optional>
#include <system_error>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "cfile/core/io/file_system.h"
#include "cfile/parts/http/s3_signature.h"
#include "encodings/core/bytes.h"
#include "encodings/core/status.h"

namespace cfile::internal {
namespace {

namespace fs = std::filesystem;
using encodings::AsBytes;
using encodings::StrCat;

constexpr std::string_view kMagic = "cfcache1";
constexpr size_t kHashBytes = 32;
constexpr size_t kHeadBytes = kMagic.size() + kHashBytes;
constexpr std::string_view kTemporarySuffix = ".tmp";
constexpr std::string_view kMarkerName = "cfile-cache";
constexpr size_t kFolderDigits = 2;
constexpr size_t kFileDigits = 2 * kHashBytes - kFolderDigits;
// Files that a killed process has left behind are deleted after this time.
constexpr auto kOldTemporary = std::chrono::hours(1);

bool ReadAll(int descriptor, std::span<uint8_t> out) {
  while (!out.empty()) {
    const ssize_t count = read(descriptor, out.data(), out.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    out = out.subspan(static_cast<size_t>(count));
  }
  return true;
}

bool WriteAll(int descriptor, std::span<const uint8_t> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = write(descriptor, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    bytes = bytes.subspan(static_cast<size_t>(count));
  }
  return true;
}

// Makes a directory and its missing parents, which only the user may use. Returns errno or 0.
int MakeDirectories(const std::string& path) {
  int error = 0;
  for (size_t end = 0; end != std::string::npos;) {
    end = path.find('/', end + 1);
    error = mkdir(path.substr(0, end).c_str(), 0700) == 0 || errno == EEXIST ? 0 : errno;
  }
  return error;
}

bool IsHex(std::string_view text, size_t digits) {
  return text.size() == digits && text.find_first_not_of("0123456789abcdef") == text.npos;
}

// True for names that Write gives to temporary files: REST.PROCESS.NUMBER.tmp.
bool IsTemporaryName(std::string_view name) {
  if (!name.ends_with(kTemporarySuffix)) return false;
  name.remove_suffix(kTemporarySuffix.size());
  return IsHex(name.substr(0, kFileDigits), kFileDigits) && name.substr(kFileDigits, 1) == "." &&
         name.find_first_not_of("0123456789.", kFileDigits) == name.npos;
}

struct CachedFile {
  fs::file_time_type used;
  uint64_t size_bytes;
  fs::path path;
};

// Empty if the folder cannot be read.
std::vector<fs::directory_entry> EntriesOf(const fs::path& folder) {
  std::vector<fs::directory_entry> entries;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    entries.push_back(*entry);
  }
  return entries;
}

// What is in the directory.
struct Found {
  std::vector<CachedFile> pieces;
  std::vector<CachedFile> temporary;
  std::optional<fs::path> foreign;  // the first file or folder that no cache makes, if any
};

Found FilesIn(const std::string& directory) {
  Found found;
  for (const fs::directory_entry& folder : EntriesOf(directory)) {
    std::error_code ignored;  // other processes delete files, too
    const std::string folder_name = folder.path().filename().string();
    if (folder_name == kMarkerName) continue;
    if (!IsHex(folder_name, kFolderDigits) ||
        folder.symlink_status(ignored).type() != fs::file_type::directory) {
      found.foreign = folder.path();
      continue;
    }
    for (const fs::directory_entry& entry : EntriesOf(folder.path())) {
      const std::string name = entry.path().filename().string();
      const bool is_piece = IsHex(name, kFileDigits);
      if ((!is_piece && !IsTemporaryName(name)) || entry.is_directory(ignored)) {
        found.foreign = entry.path();
        continue;
      }
      if (entry.symlink_status(ignored).type() != fs::file_type::regular) continue;
      const uint64_t size_bytes = entry.file_size(ignored);
      if (ignored) continue;
      const auto used = entry.last_write_time(ignored);
      if (ignored) continue;
      (is_piece ? found.pieces : found.temporary)
          .push_back({.used = used, .size_bytes = size_bytes, .path = entry.path()});
    }
  }
  return found;
}

// Marks the directory as a cache if it is empty, or has only files of a cache.
absl::Status Adopt(const std::string& directory) {
  const std::string marker = StrCat(directory, "/", kMarkerName);
  struct stat found;
  if (lstat(marker.c_str(), &found) == 0 && S_ISREG(found.st_mode)) return absl::OkStatus();
  if (const auto foreign = FilesIn(directory).foreign) {
    return absl::FailedPreconditionError(
        absl::StrCat(directory, ": expected a cache or an empty directory, found ",
                     foreign->lexically_relative(directory).string()));
  }
  const FileDescriptor file(
      open(marker.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (file.get() >= 0) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(marker, ": cannot make the file: ", std::strerror(errno)));
}

}  // namespace

absl::StatusOr<std::shared_ptr<DiskCache>> DiskCache::Open(const std::string& directory,
                                                           uint64_t max_bytes) {
  if (const int error = MakeDirectories(directory); error != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(directory, ": cannot make the directory: ", std::strerror(error)));
  }
  struct stat found;
  if (stat(directory.c_str(), &found) != 0 || !S_ISDIR(found.st_mode)) {
    return absl::InvalidArgumentError(absl::StrCat(directory, ": not a directory"));
  }
  if (found.st_uid != geteuid() || (found.st_mode & 077) != 0) {
    return absl::FailedPreconditionError(absl::StrCat(
        directory,
        ": a cache must belong to the user alone (chmod 700), because whoever can write "
        "there can change what is read"));
  }
  CFILE_RETURN_IF_ERROR(Adopt(directory));
  std::shared_ptr<DiskCache> cache(new DiskCache(directory, max_bytes));
  cache->Shrink();
  return cache;
}

std::string DiskCache::PathOf(std::string_view key) const {
  const std::string hash = Sha256Hex(AsBytes(key));
  return StrCat(directory_, "/", hash.substr(0, 2), "/", hash.substr(2));
}

bool DiskCache::Has(std::string_view key) const { return access(PathOf(key).c_str(), R_OK) == 0; }

bool DiskCache::Read(std::string_view key, std::span<uint8_t> out) {
  const std::string path = PathOf(key);
  const FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  struct stat found;
  if (file.get() < 0 || fstat(file.get(), &found) != 0) return false;
  std::array<uint8_t, kHeadBytes> head;
  const bool complete = static_cast<uint64_t>(found.st_size) == kHeadBytes + out.size() &&
                        ReadAll(file.get(), head) && ReadAll(file.get(), out);
  const std::string hash = Sha256Hex(out);
  const std::string expected = absl::BytesToHexString(
      {reinterpret_cast<const char*>(head.data()) + kMagic.size(), kHashBytes});
  if (!complete || !encodings::AsString(head).starts_with(kMagic) || hash != expected) {
    unlink(path.c_str());
    return false;
  }
  // The time of the last use decides what is deleted first. One minute is precise enough.
  if (found.st_mtime + 60 < time(nullptr)) futimens(file.get(), nullptr);
  return true;
}

void DiskCache::Remove(std::string_view key) const { unlink(PathOf(key).c_str()); }

void DiskCache::Write(std::string_view key, std::span<const uint8_t> piece) {
  static std::atomic<uint64_t> number = 0;
  const std::string path = PathOf(key);
  const std::string folder = path.substr(0, path.rfind('/'));
  const std::string temporary = StrCat(path, ".", getpid(), ".", ++number, kTemporarySuffix);
  mkdir(folder.c_str(), 0700);
  std::vector<uint8_t> head(kMagic.begin(), kMagic.end());
  const std::string hash = absl::HexStringToBytes(Sha256Hex(piece));
  head.insert(head.end(), hash.begin(), hash.end());
  {
    const FileDescriptor file(
        open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (file.get() < 0) return;
    if (!WriteAll(file.get(), head) || !WriteAll(file.get(), piece) ||
        rename(temporary.c_str(), path.c_str()) != 0) {
      unlink(temporary.c_str());
      return;
    }
  }
  // Each process may write a sixteenth of the limit before it counts again.
  if ((written_bytes_ += kHeadBytes + piece.size()) > max_bytes_ / 16) Shrink();
}

void DiskCache::Shrink() {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return;
  written_bytes_ = 0;
  Found found = FilesIn(directory_);
  const auto now = fs::file_time_type::clock::now();
  for (const CachedFile& file : found.temporary) {
    std::error_code ignored;
    if (now - file.used > kOldTemporary) fs::remove(file.path, ignored);
  }
  std::vector<CachedFile>& files = found.pieces;
  uint64_t bytes = 0;
  for (const CachedFile& file : files) bytes += file.size_bytes;
  if (bytes <= max_bytes_ - max_bytes_ / 16) return;
  std::sort(files.begin(), files.end(),
            [](const CachedFile& a, const CachedFile& b) { return a.used < b.used; });
  for (const CachedFile& file : files) {
    if (bytes <= max_bytes_ - max_bytes_ / 8) break;
    std::error_code ignored;
    fs::remove(file.path, ignored);
    bytes -= file.size_bytes;
  }
}

}  // namespace cfile::internal
