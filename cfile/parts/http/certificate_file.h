// The certificates of the authorities that sign the certificates of servers.
#pragma once

#include <string>

namespace cfile::internal {

// Returns the file with the certificates of trusted authorities: `chosen`, or SSL_CERT_FILE of the
// environment, or the file of the system. "" means the place that libcurl was built with.
std::string CertificateFile(const std::string& chosen);

}  // namespace cfile::internal
