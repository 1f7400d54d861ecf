#include "tools/location.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#ifdef CFILE_WITH_HTTP
#include "cfile/http.h"
#endif

namespace cfile::tools {
namespace {

#ifdef CFILE_WITH_HTTP
std::string& CacheDirectory() {
  static std::string directory;
  return directory;
}

// The connections of the process.
const absl::StatusOr<HttpClient>& Client() {
  static const absl::StatusOr<HttpClient> client = [] {
    HttpOptions options;
    options.cache_directory = CacheDirectory();
    return HttpClient::Create(options);
  }();
  return client;
}

absl::StatusOr<std::shared_ptr<Storage>> OpenUrlTable(const std::string& url) {
  if (!Client().ok()) return Client().status();
  return Client()->OpenTable(url);
}

absl::StatusOr<std::shared_ptr<const Source>> OpenUrlSource(const std::string& url) {
  if (!Client().ok()) return Client().status();
  return Client()->OpenUrl(url);
}
#else
absl::Status CannotRead(const std::string& url) {
  return absl::UnimplementedError(
      absl::StrCat(url.substr(0, url.find("://")), ":// URLs: this build cannot read them"));
}
absl::StatusOr<std::shared_ptr<Storage>> OpenUrlTable(const std::string& url) {
  return CannotRead(url);
}
absl::StatusOr<std::shared_ptr<const Source>> OpenUrlSource(const std::string& url) {
  return CannotRead(url);
}
#endif

}  // namespace

bool IsUrl(const std::string& place) {
  return place.starts_with("http://") || place.starts_with("https://") ||
         place.starts_with("s3://");
}

absl::StatusOr<TableLocation> TableAt(const std::string& place) {
  if (!IsUrl(place)) return TableLocation(place);
  auto storage = OpenUrlTable(place);
  if (!storage.ok()) return storage.status();
  return TableLocation(*std::move(storage));
}

absl::StatusOr<std::shared_ptr<const Source>> OpenSourceAt(const std::string& place) {
  return IsUrl(place) ? OpenUrlSource(place) : OpenPreadSource(place);
}

absl::StatusOr<Reader> OpenFileAt(const std::string& place, const ReaderOptions& options) {
  if (!IsUrl(place)) return Reader::Open(place, options);
  auto source = OpenUrlSource(place);
  if (!source.ok()) return source.status();
  return Reader::Open(*std::move(source), options);
}

absl::StatusOr<bool> IsTableAt(const std::string& place) {
  if (!IsUrl(place)) {
    std::error_code ignored;
    return std::filesystem::is_directory(place, ignored);
  }
  if (place.find('?') != std::string::npos && !place.starts_with("s3://")) return false;
  const auto storage = OpenUrlTable(place);
  if (!storage.ok()) return storage.status();
  const auto found = (*storage)->Open("table.cft");
  if (absl::IsNotFound(found.status())) return false;
  if (!found.ok()) return found.status();
  return true;
}

void AddCacheOption([[maybe_unused]] CLI::App& command) {
#ifdef CFILE_WITH_HTTP
  command
      .add_option("--cache", CacheDirectory(),
                  "Keep what is read from URLs in this directory, up to 10 GiB")
      ->type_name("DIRECTORY");
#endif
}

}  // namespace cfile::tools
