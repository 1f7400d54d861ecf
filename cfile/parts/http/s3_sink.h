// Writes an object of S3.
#pragma once

#include <memory>
#include <string>

#include "cfile/io.h"
#include "cfile/parts/http/http_server.h"

namespace cfile::internal {

// A sink for the object with this key. See HttpClient::CreateUrl. `name`: for messages.
std::unique_ptr<Sink> NewS3Sink(std::shared_ptr<const HttpServer> bucket, std::string key,
                                std::string name, ExistingFile existing);

}  // namespace cfile::internal
