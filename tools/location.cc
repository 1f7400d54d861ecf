#include "tools/location.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#ifdef CFILE_WITH_HTTP
#include "cfile/http.h"
#endif
#include "tools/file_format.h"

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

absl::StatusOr<std::unique_ptr<Sink>> CreateAtUrl(const std::string& url) {
  if (!Client().ok()) return Client().status();
  return Client()->CreateUrl(url);
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
absl::StatusOr<std::unique_ptr<Sink>> CreateAtUrl(const std::string& url) {
  return CannotRead(url);
}
#endif

// The end of a sentence about the temporary file `path`: what the file is, and how to salvage it.
std::string UnfinishedFile(const std::string& path) {
  return absl::StrCat("is the temporary file of a writer that did not finish: cfile-dump salvage ",
                      path, " OUT copies its complete blocks");
}

// If a file in `directory` is the temporary file of a writer that did not finish, a sentence about
// this file; otherwise "".
std::string UnfinishedFileIn(const std::string& directory) {
  if (IsUrl(directory)) return "";
  const auto files = NewLocalStorage(directory)->List("");
  if (!files.ok()) return "";
  for (const StorageEntry& file : *files) {
    const std::filesystem::path path = std::filesystem::path(directory) / file.path;
    if (!IsTemporaryFileName(path.filename().string())) continue;
    return absl::StrCat("; ", path.string(), " ", UnfinishedFile(path.string()));
  }
  return "";
}

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

absl::StatusOr<std::unique_ptr<Sink>> CreateFileAt(const std::string& place) {
  return IsUrl(place) ? CreateAtUrl(place) : NewFileSink(place);
}

absl::StatusOr<Reader> OpenFileAt(const std::string& place, const ReaderOptions& options,
                                  const ReadObserver& observer) {
  auto source = OpenSourceAt(place);
  if (!source.ok()) return source.status();
  if (observer) source = ObserveSource(*std::move(source), observer);
  auto reader = Reader::Open(*source, options);
  if (!reader.ok()) return ExplainDamage(reader.status(), **source);
  return reader;
}

absl::Status ExplainDamage(const absl::Status& status, const Source& source) {
  if (!absl::IsDataLoss(status)) return status;
  const std::string foreign = DescribeForeignFile(source);
  if (!foreign.empty()) {
    const std::string message = absl::StrCat(source.name(), ": ", foreign);
    return source.size() == 0 ? absl::DataLossError(message)
                              : absl::InvalidArgumentError(message);
  }
  const std::string name = std::filesystem::path(source.name()).filename().string();
  if (!IsTemporaryFileName(name)) return status;
  return absl::DataLossError(
      absl::StrCat(status.message(), "; this ", UnfinishedFile(source.name())));
}

absl::StatusOr<std::optional<TableReader>> OpenTableAt(const std::string& place,
                                                       const ReaderOptions& options,
                                                       const ReadObserver& observer) {
  const bool at_url = IsUrl(place);
  std::error_code ignored;
  if (at_url ? place.find('?') != std::string::npos && !place.starts_with("s3://")
             : !std::filesystem::is_directory(place, ignored))
    return std::nullopt;
  auto location = TableAt(place);
  if (!location.ok()) return location.status();
  if (observer) {
    location = TableLocation(ObserveStorage(location->storage(options.access), observer));
  }
  auto table = TableReader::Open(*location, options);
  if (table.ok()) return *std::move(table);
  const bool is_missing = absl::IsNotFound(table.status());
  // Without the right to list a bucket, S3 denies access to what does not exist.
  if (at_url && (is_missing || absl::IsPermissionDenied(table.status()))) return std::nullopt;
  if (!is_missing) return table.status();
  return absl::NotFoundError(
      absl::StrCat(place, " is a directory, but not a table: it has no table.cft",
                   UnfinishedFileIn(place)));
}

std::string HelpWithUrls(const char* text) {
#ifdef CFILE_WITH_HTTP
  constexpr char kUrls[] =
      "URLs:\n"
      "  A file or a table may be at an s3://BUCKET/KEY URL, or, to be read, at an http:// or\n"
      "  https:// URL. For s3://, the keys come from AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and\n"
      "  AWS_SESSION_TOKEN, or from the profile AWS_PROFILE in ~/.aws/credentials. AWS_REGION is\n"
      "  the region, and AWS_ENDPOINT_URL the server if it is not Amazon's.\n"
      "  AWS_SKIP_SIGNATURE=true reads public objects without keys.\n\n";
  return std::string(kUrls) + text;
#else
  return text;
#endif
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
