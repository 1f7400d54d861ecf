// Signature version 4 of Amazon's services, with the key in the header of a request.
// Format: "Signature Version 4 signing process", Authenticating Requests: Using the Authorization
// Header, in Amazon's S3 API reference.
#pragma once

#include <chrono>
#include <span>
#include <string>
#include <string_view>

#include "cfile/http_options.h"
#include "cfile/parts/http/connections.h"

namespace cfile::internal {

// The SHA-256 of `bytes`, as 64 hexadecimal digits.
std::string Sha256Hex(std::span<const uint8_t> bytes);

// Adds the headers x-amz-date, x-amz-content-sha256, x-amz-security-token (if there is a session
// token) and authorization. All headers that the request already has are signed, and the host. The
// query of the URL must be sorted and percent-encoded, as S3Bucket makes it.
// `options`: completed, not anonymous. `payload_hash`: Sha256Hex of the body.
void SignRequest(const S3Options& options, std::string_view payload_hash,
                 std::chrono::system_clock::time_point now, HttpRequest& request);

}  // namespace cfile::internal
