// An object on an HTTP server as a Source.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "cfile/internal/http/http_server.h"
#include "cfile/io.h"

namespace cfile::internal {

// Opens the object at `url` for reading. Asks for the two ends of the object at the same time, which
// BufferEnds reads first; these reads then need no request. `name`: for messages.
absl::StatusOr<std::shared_ptr<const Source>> OpenHttpSource(
    std::shared_ptr<const HttpServer> server, std::string url, std::string name);

}  // namespace cfile::internal
