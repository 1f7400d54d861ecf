#include "cfile/parts/http/http_storage.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "cfile/parts/http/http_source.h"
#include "cfile/parts/http/whole_source.h"
#include "cfile/whole_files.h"
#include "encodings/core/status.h"

namespace cfile::internal {
namespace {

using encodings::StrCat;

class HttpStorage final : public Storage, public WholeFiles {
 public:
  HttpStorage(std::shared_ptr<const HttpServer> server, std::string url, std::string name)
      : server_(std::move(server)), url_(std::move(url)), name_(std::move(name)) {}

  const std::string& name() const override { return name_; }

  absl::StatusOr<std::shared_ptr<const Source>> Open(const std::string& path) const override {
    CFILE_RETURN_IF_ERROR(CheckStoragePath(name_, path));
    return OpenHttpSource(server_, UrlOf(path), StrCat(name_, "/", path));
  }
  std::vector<absl::StatusOr<std::shared_ptr<const Source>>> OpenMany(
      std::span<const std::string> paths) const override {
    return OpenObjects(server_, name_, paths,
                       [this](const std::string& path) { return UrlOf(path); });
  }
  std::shared_ptr<const Source> OpenWhole(const std::string& path,
                                          uint64_t size_bytes) const override {
    return OpenWholeObject(server_, name_, path, UrlOf(path), size_bytes);
  }
  bool OpensAtOnce() const override { return true; }
  absl::StatusOr<VersionedObject> Read(const std::string& path,
                                       uint64_t max_size_bytes) const override {
    CFILE_RETURN_IF_ERROR(CheckStoragePath(name_, path));
    return ReadObject(*server_, UrlOf(path), StrCat(name_, "/", path), max_size_bytes);
  }

  absl::StatusOr<std::unique_ptr<Sink>> Create(const std::string&) override { return ReadOnly(); }
  absl::StatusOr<std::vector<StorageEntry>> List(const std::string&) const override {
    return absl::FailedPreconditionError(StrCat(name_, ": files on a web server cannot be listed"));
  }
  absl::Status Delete(const std::string&) override { return ReadOnly(); }
  absl::Status Commit(const std::string&, const std::optional<std::string>&,
                      std::string_view) override {
    return ReadOnly();
  }

 private:
  std::string UrlOf(const std::string& path) const { return StrCat(url_, "/", path); }
  absl::Status ReadOnly() const {
    return absl::FailedPreconditionError(StrCat(name_, ": files on a web server can only be read"));
  }

  const std::shared_ptr<const HttpServer> server_;
  const std::string url_;
  const std::string name_;
};

}  // namespace

absl::Status CheckStoragePath(const std::string& name, std::string_view path) {
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
      StrCat(name, ": \"", Printable(path), "\" is not a path that a table has"));
}

std::vector<absl::StatusOr<std::shared_ptr<const Source>>> OpenObjects(
    const std::shared_ptr<const HttpServer>& server, const std::string& name,
    std::span<const std::string> paths,
    absl::FunctionRef<std::string(const std::string& path)> url_of) {
  std::vector<NamedUrl> objects;
  for (const std::string& path : paths) {
    if (CheckStoragePath(name, path).ok())
      objects.push_back({url_of(path), StrCat(name, "/", path)});
  }
  auto opened = OpenHttpSources(server, std::move(objects));
  std::vector<absl::StatusOr<std::shared_ptr<const Source>>> sources;
  size_t next = 0;
  for (const std::string& path : paths) {
    const absl::Status status = CheckStoragePath(name, path);
    if (status.ok()) {
      sources.push_back(std::move(opened[next++]));
    } else {
      sources.emplace_back(status);
    }
  }
  return sources;
}

std::shared_ptr<const Source> OpenWholeObject(const std::shared_ptr<const HttpServer>& server,
                                              const std::string& name, const std::string& path,
                                              std::string url, uint64_t size_bytes) {
  if (!CheckStoragePath(name, path).ok() || server->cache() != nullptr) return nullptr;
  return OpenWholeHttpSource(server, {std::move(url), StrCat(name, "/", path)}, size_bytes);
}

absl::StatusOr<VersionedObject> ReadObject(const HttpServer& server, const std::string& url,
                                           const std::string& name, uint64_t max_size_bytes) {
  HttpResponse response = server.Send({.method = HttpRequest::Method::kGet,
                                       .url = url,
                                       .follow_redirects = !server.is_s3(),
                                       .max_body_bytes = max_size_bytes});
  if (response.too_large) {
    return encodings::OutOfRange(name, ": more than ", max_size_bytes, " bytes are ",
                                 encodings::AboveLimit(max_size_bytes, "max_metadata_size_bytes"));
  }
  if (!response.ok()) return HttpError(name, response);
  return VersionedObject{.bytes = std::move(response.body), .version = response.Header("etag")};
}

std::shared_ptr<Storage> NewHttpStorage(std::shared_ptr<const HttpServer> server, std::string url,
                                        std::string name) {
  return std::make_shared<HttpStorage>(std::move(server), std::move(url), std::move(name));
}

}  // namespace cfile::internal
