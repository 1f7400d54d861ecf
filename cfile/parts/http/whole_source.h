// A small object on an HTTP server that is read whole, in the background.
#pragma once

#include <cstdint>
#include <memory>

#include "cfile/io.h"
#include "cfile/parts/http/http_server.h"
#include "cfile/parts/http/http_source.h"

namespace cfile::internal {

// Implements WholeFiles::OpenWhole. The first read waits for the response, and takes its bytes.
// Later reads work like reads of a source of OpenHttpSource. If the request fails, the first read
// opens the object as OpenHttpSource does. Precondition: size_bytes > 0.
std::shared_ptr<const Source> OpenWholeHttpSource(std::shared_ptr<const HttpServer> server,
                                                  NamedUrl object, uint64_t size_bytes);

}  // namespace cfile::internal
