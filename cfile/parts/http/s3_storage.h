// Tables in buckets of S3.
#pragma once

#include <memory>
#include <string>

#include "cfile/parts/http/http_server.h"
#include "cfile/storage.h"

namespace cfile::internal {

// A table in a bucket. `prefix`: of the keys, without a slash at the end; may be empty.
std::shared_ptr<Storage> NewS3Storage(std::shared_ptr<const HttpServer> bucket, std::string prefix,
                                      std::string name);

}  // namespace cfile::internal
