#include "cfile/parts/http/http_storage.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "cfile/parts/http/http_source.h"
#include "encodings/core/status.h"

namespace cfile::internal {

using encodings::StrCat;

absl::StatusOr<std::shared_ptr<const Source>> HttpStorage::Open(const std::string& path) const {
  return std::move(OpenMany({&path, 1}).front());
}

std::vector<absl::StatusOr<std::shared_ptr<const Source>>> HttpStorage::OpenMany(
    std::span<const std::string> paths) const {
  std::vector<NamedUrl> objects;
  std::vector<absl::StatusOr<std::shared_ptr<const Source>>> sources;
  for (const std::string& path : paths) {
    sources.emplace_back(std::shared_ptr<const Source>());
    if (const absl::Status status = CheckPath(path); status.ok()) {
      objects.push_back({UrlOf(path), NameOf(path)});
    } else {
      sources.back() = status;
    }
  }
  auto opened = OpenHttpSources(server_, std::move(objects));
  size_t next = 0;
  for (auto& source : sources) {
    if (source.ok()) source = std::move(opened[next++]);
  }
  return sources;
}

std::shared_ptr<const Source> HttpStorage::OpenWhole(const std::string& path,
                                                     uint64_t size_bytes) const {
  if (!CheckPath(path).ok() || server_->cache() != nullptr) return nullptr;
  return OpenWholeHttpSource(server_, {UrlOf(path), NameOf(path)}, size_bytes);
}

absl::StatusOr<VersionedObject> HttpStorage::Read(const std::string& path,
                                                  uint64_t max_size_bytes) const {
  CFILE_RETURN_IF_ERROR(CheckPath(path));
  HttpResponse response = server_->Send({.url = UrlOf(path),
                                         .follow_redirects = !server_->is_s3(),
                                         .max_body_bytes = max_size_bytes});
  if (response.too_large) {
    return encodings::OutOfRange(NameOf(path), ": more than ", max_size_bytes, " bytes are ",
                                 encodings::AboveLimit(max_size_bytes, "max_metadata_size_bytes"));
  }
  if (!response.ok()) return HttpError(NameOf(path), response);
  return VersionedObject{.bytes = std::move(response.body), .version = response.Header("etag")};
}

absl::StatusOr<std::unique_ptr<Sink>> HttpStorage::Create(const std::string&) { return ReadOnly(); }

absl::StatusOr<std::vector<StorageEntry>> HttpStorage::List(const std::string&) const {
  return absl::FailedPreconditionError(StrCat(name_, ": files on a web server cannot be listed"));
}

absl::Status HttpStorage::Delete(const std::string&) { return ReadOnly(); }

absl::Status HttpStorage::Commit(const std::string&, const std::optional<std::string>&,
                                 std::string_view) {
  return ReadOnly();
}

absl::Status HttpStorage::CheckPath(std::string_view path) const {
  size_t begin = 0;
  for (int names = 1; names <= 2; ++names) {
    const size_t end = std::min(path.find('/', begin), path.size());
    const std::string_view part = path.substr(begin, end - begin);
    const bool good = !part.empty() && part != "." && part != ".." &&
                      std::all_of(part.begin(), part.end(), [](char c) {
                        return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '-' ||
                               c == '_' || c == '.';
                      });
    if (!good) break;
    if (end == path.size()) return absl::OkStatus();
    begin = end + 1;
  }
  return absl::InvalidArgumentError(
      StrCat(name_, ": \"", Printable(path), "\" is not a path that a table has"));
}

std::string HttpStorage::UrlOf(std::string_view path) const { return StrCat(url_, path); }
std::string HttpStorage::NameOf(std::string_view path) const { return StrCat(name_, "/", path); }

absl::Status HttpStorage::ReadOnly() const {
  return absl::FailedPreconditionError(StrCat(name_, ": files on a web server can only be read"));
}

}  // namespace cfile::internal
