// An object on an HTTP server as a Source.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cfile/io.h"
#include "cfile/parts/http/http_server.h"

namespace cfile::internal {

struct NamedUrl {
  std::string url;
  std::string name;  // for messages
};

// Opens objects for reading, and returns the results in the same order. Asks for the two ends of
// all objects at the same time, which BufferEnds then reads without a request.
std::vector<absl::StatusOr<std::shared_ptr<const Source>>> OpenHttpSources(
    std::shared_ptr<const HttpServer> server, std::vector<NamedUrl> objects);

// Opens one object. `name`: for messages.
absl::StatusOr<std::shared_ptr<const Source>> OpenHttpSource(
    std::shared_ptr<const HttpServer> server, std::string url, std::string name);

// A request for a range of an object, for example "bytes=0-99".
HttpRequest RangeRequest(const HttpServer& server, const std::string& url, std::string range);

// Returns the source of an object. `last`: the response to a request for a range that should end at
// the end of the object. `first`: the response to a request for the first bytes of the object, or
// an empty response.
absl::StatusOr<std::shared_ptr<const Source>> SourceOfEnds(std::shared_ptr<const HttpServer> server,
                                                           NamedUrl object,
                                                           const HttpResponse& last,
                                                           const HttpResponse& first);

// Implements WholeFiles::OpenWhole for a small object. The first read waits for the response, and
// takes its bytes; later reads are those of a source of OpenHttpSource. If the request fails, the
// first read opens the object as OpenHttpSource does. Precondition: size_bytes > 0.
std::shared_ptr<const Source> OpenWholeHttpSource(std::shared_ptr<const HttpServer> server,
                                                  NamedUrl object, uint64_t size_bytes);

}  // namespace cfile::internal
