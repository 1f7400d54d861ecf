#include "cfile/parts/http/certificate_file.h"

#include <curl/curl.h>
#include <unistd.h>

#include <cstdlib>

namespace cfile::internal {
namespace {

bool IsReadable(const char* path) { return path != nullptr && access(path, R_OK) == 0; }

}  // namespace

std::string CertificateFile(const std::string& chosen) {
  if (!chosen.empty()) return chosen;
  const char* const environment = std::getenv("SSL_CERT_FILE");
  if (environment != nullptr && *environment != '\0') return environment;
  // A binary package may run on another system than that for which its libcurl was built.
  const curl_version_info_data* const version = curl_version_info(CURLVERSION_NOW);
  if (IsReadable(version->cainfo) || IsReadable(version->capath)) return "";
  for (const char* path : {
           "/etc/ssl/certs/ca-certificates.crt",  // Debian, Ubuntu, Arch
           "/etc/pki/tls/certs/ca-bundle.crt",    // Fedora, RHEL
           "/etc/ssl/ca-bundle.pem",              // SUSE
           "/etc/ssl/cert.pem",                   // Alpine
       }) {
    if (IsReadable(path)) return path;
  }
  return "";
}

}  // namespace cfile::internal
