// Tables on web servers, and what tables on all HTTP servers share.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/parts/http/http_server.h"
#include "cfile/storage.h"

namespace cfile::internal {

// A table whose files can only be read. `url`: without a slash at the end. `name`: for messages.
std::shared_ptr<Storage> NewHttpStorage(std::shared_ptr<const HttpServer> server, std::string url,
                                        std::string name);

// kInvalidArgument: `path` is not "NAME" or "FOLDER/NAME" with the characters that a table uses.
// Paths may come from a damaged table.cft. `name`: of the storage.
absl::Status CheckStoragePath(const std::string& name, std::string_view path);

// Implements Storage::OpenMany. url_of(path) returns the URL of a file. `name`: of the storage.
std::vector<absl::StatusOr<std::shared_ptr<const Source>>> OpenObjects(
    const std::shared_ptr<const HttpServer>& server, const std::string& name,
    std::span<const std::string> paths,
    absl::FunctionRef<std::string(const std::string& path)> url_of);

// Implements WholeFiles::OpenWhole. Returns null if the server's objects are cached, because the
// cache may have the file. `name`: of the storage.
std::shared_ptr<const Source> OpenWholeObject(const std::shared_ptr<const HttpServer>& server,
                                              const std::string& name, const std::string& path,
                                              std::string url, uint64_t size_bytes);

// Reads a whole object; its version is its ETag. Errors as of Storage::Read.
absl::StatusOr<VersionedObject> ReadObject(const HttpServer& server, const std::string& url,
                                           const std::string& name, uint64_t max_size_bytes);

}  // namespace cfile::internal
