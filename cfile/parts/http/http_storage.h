// Tables on web servers, and what tables on all HTTP servers share.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/parts/http/http_server.h"
#include "cfile/storage.h"
#include "cfile/whole_files.h"

namespace cfile::internal {

// A table whose files can only be read. Thread-safe.
class HttpStorage : public Storage, public WholeFiles {
 public:
  // `url`: of the table, with a slash at the end. `name`: for messages.
  HttpStorage(std::shared_ptr<const HttpServer> server, std::string url, std::string name)
      : server_(std::move(server)), url_(std::move(url)), name_(std::move(name)) {}

  const std::string& name() const override { return name_; }
  absl::StatusOr<std::shared_ptr<const Source>> Open(const std::string& path) const override;
  std::vector<absl::StatusOr<std::shared_ptr<const Source>>> OpenMany(
      std::span<const std::string> paths) const override;
  // Returns null also if the server's objects are cached, because the cache may have the file.
  std::shared_ptr<const Source> OpenWhole(const std::string& path,
                                          uint64_t size_bytes) const override;
  bool OpensAtOnce() const override { return true; }
  // The version of an object is its ETag.
  absl::StatusOr<VersionedObject> Read(const std::string& path,
                                       uint64_t max_size_bytes) const override;

  absl::StatusOr<std::unique_ptr<Sink>> Create(const std::string& path) override;
  absl::StatusOr<std::vector<StorageEntry>> List(const std::string& folder) const override;
  absl::Status Delete(const std::string& path) override;
  absl::Status Commit(const std::string& path, const std::optional<std::string>& expected_version,
                      std::string_view bytes) override;

 protected:
  // kInvalidArgument: `path` is not "NAME" or "FOLDER/NAME" with the characters that a table uses.
  // Paths may come from a damaged table.cft.
  absl::Status CheckPath(std::string_view path) const;
  // Precondition: CheckPath(path).ok(), so that no character needs to be encoded.
  std::string UrlOf(std::string_view path) const;
  std::string NameOf(std::string_view path) const;
  const HttpServer& server() const { return *server_; }
  const std::shared_ptr<const HttpServer>& shared_server() const { return server_; }

 private:
  absl::Status ReadOnly() const;

  const std::shared_ptr<const HttpServer> server_;
  const std::string url_;
  const std::string name_;
};

}  // namespace cfile::internal
