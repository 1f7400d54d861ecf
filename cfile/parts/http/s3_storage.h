// Tables and objects in buckets of S3.
#pragma once

#include <memory>
#include <string>

#include "cfile/parts/http/http_server.h"
#include "cfile/storage.h"

namespace cfile::internal {

// A table in a bucket. `prefix`: of the keys, without a slash at the end; may be empty.
std::shared_ptr<Storage> NewS3Storage(std::shared_ptr<const HttpServer> bucket, std::string prefix,
                                      std::string name);

// A sink for the object with this key. See HttpClient::CreateUrl. `name`: for messages.
std::unique_ptr<Sink> NewS3Sink(std::shared_ptr<const HttpServer> bucket, std::string key,
                                std::string name, ExistingFile existing);

}  // namespace cfile::internal
