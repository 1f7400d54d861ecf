#include "cfile/parts/http/s3_storage.h"

#include <algorithm>
#include <pugixml.hpp>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/time/time.h"
#include "cfile/core/io/file_system.h"
#include "cfile/core/io/percent_decode.h"
#include "cfile/parts/http/http_storage.h"
#include "cfile/parts/http/s3_conditions.h"
#include "cfile/parts/http/url.h"
#include "encodings/core/bytes.h"
#include "encodings/core/status.h"

namespace cfile::internal {
namespace {

using encodings::StrCat;

// A page of a list has at most 1,000 keys of at most 1,024 bytes, percent-encoded.
constexpr uint64_t kMaxPageBytes = 8 << 20;

class S3Storage final : public HttpStorage {
 public:
  // `prefix`: of the keys; empty, or with a slash at the end.
  S3Storage(std::shared_ptr<const HttpServer> bucket, std::string prefix, std::string name)
      : HttpStorage(bucket, bucket->UrlOf(prefix), std::move(name)), prefix_(std::move(prefix)) {}

  absl::StatusOr<std::unique_ptr<Sink>> Create(const std::string& path) override {
    CFILE_RETURN_IF_ERROR(CheckPath(path));
    return NewS3Sink(shared_server(), prefix_ + path, NameOf(path), ExistingFile::kReplaced);
  }

  absl::StatusOr<std::vector<StorageEntry>> List(const std::string& folder) const override {
    std::string prefix = prefix_;
    if (!folder.empty()) {
      CFILE_RETURN_IF_ERROR(CheckPath(folder));
      prefix += StrCat(folder, "/");
    }
    std::vector<StorageEntry> entries;
    std::string token;
    do {
      CFILE_ASSIGN_OR_RETURN(token, ListPage(prefix, token, entries));
    } while (!token.empty());
    return entries;
  }

  absl::Status Delete(const std::string& path) override {
    CFILE_RETURN_IF_ERROR(CheckPath(path));
    std::vector<StorageEntry> files;
    // Only a name without a folder can be that of a folder.
    if (path.find('/') == std::string::npos) {
      CFILE_ASSIGN_OR_RETURN(files, List(path));
    }
    files.push_back({.path = path, .size_bytes = 0, .changed = {}, .identity = {}});
    std::vector<HttpRequest> requests;
    for (const StorageEntry& file : files)
      requests.push_back({.method = "DELETE", .url = UrlOf(file.path)});
    const std::vector<HttpResponse> responses = server().Send(requests);
    for (size_t i = 0; i < files.size(); ++i) {
      if (!responses[i].ok() && responses[i].status != 404)
        return HttpError(NameOf(files[i].path), responses[i]);
    }
    return absl::OkStatus();
  }

  absl::StatusOr<VersionedObject> Read(const std::string& path,
                                       uint64_t max_size_bytes) const override {
    CFILE_ASSIGN_OR_RETURN(VersionedObject object, HttpStorage::Read(path, max_size_bytes));
    if (object.version.empty()) return Unexpected(path, "an object without an ETag");
    return object;
  }

  absl::Status Commit(const std::string& path, const std::optional<std::string>& expected_version,
                      std::string_view bytes) override {
    CFILE_RETURN_IF_ERROR(CheckPath(path));
    CFILE_RETURN_IF_ERROR(CheckCondition(server(), prefix_ + path, NameOf(path),
                                         /*needs_version=*/expected_version.has_value()));
    HttpRequest request{.method = "PUT", .url = UrlOf(path), .body = encodings::AsBytes(bytes)};
    AddCondition(expected_version, request);
    HttpResponse response;
    bool may_be_done = false;  // an attempt failed, but the server may have done what it asked for
    // After a failure, the object may have been replaced, so look before each repetition.
    for (int attempt = 1; attempt <= server().options().max_attempts; ++attempt) {
      if (attempt > 1) {
        const absl::Status status = server().WaitBefore(attempt);
        if (!status.ok()) return Unknown(path, status);
      }
      response = server().Send(request, /*repeatable=*/false);
      // The server may have got the whole request.
      if (response.interrupted) return Unknown(path, HttpError(NameOf(path), response));
      if (response.ok()) return absl::OkStatus();
      const bool refused = response.status == 412 || (response.status == 404 && expected_version);
      // Another request for the object was in progress, and this one had no effect.
      const bool conflict = response.status == 409;
      if (refused && !may_be_done) return Refused(path, response);
      if (!refused && !conflict && !MayPass(response)) return HttpError(NameOf(path), response);
      may_be_done = may_be_done || !(refused || conflict);
      const HttpResponse now = server().Send({.method = "HEAD", .url = UrlOf(path)});
      if (!now.ok() && now.status != 404) return Unknown(path, HttpError(NameOf(path), now));
      // This call or another writer has replaced the object.
      if (now.ok() ? now.Header("etag") != expected_version : expected_version.has_value()) {
        return may_be_done ? Unknown(path, HttpError(NameOf(path), response))
                           : Refused(path, response);
      }
    }
    return HttpError(NameOf(path), response);
  }

 private:
  absl::Status Refused(const std::string& path, const HttpResponse& response) const {
    return absl::AbortedError(
        StrCat(NameOf(path), ": another writer has replaced it (status ", response.status, ")"));
  }
  absl::Status Unknown(const std::string& path, const absl::Status& status) const {
    return absl::UnavailableError(
        StrCat(NameOf(path), ": it is not known whether the object was replaced: ",
               std::string_view(status.message().data(), status.message().size())));
  }
  absl::Status Unexpected(const std::string& path, std::string_view found) const {
    return absl::FailedPreconditionError(StrCat(NameOf(path), ": the server sent ", found));
  }

  // Decodes a key in a list. Amazon S3 and MinIO encode a space as '+', and '+' as %2B.
  static bool DecodeKey(std::string& key) {
    std::replace(key.begin(), key.end(), '+', ' ');
    const std::string text = std::move(key);
    return PercentDecode(text, key);
  }

  // Appends the entries of one page. Returns the token of the next page, or "".
  absl::StatusOr<std::string> ListPage(const std::string& prefix, const std::string& token,
                                       std::vector<StorageEntry>& entries) const {
    UrlQuery query = {{"list-type", "2"}, {"encoding-type", "url"}, {"prefix", prefix}};
    if (!token.empty()) query.emplace_back("continuation-token", token);
    const HttpResponse response =
        server().Send({.url = server().UrlOf("", query), .max_body_bytes = kMaxPageBytes});
    if (!response.ok()) return HttpError(name(), response);
    pugi::xml_document document;
    const bool complete = document.load_buffer(response.body.data(), response.body.size());
    const pugi::xml_node result = document.child("ListBucketResult");
    if (!complete || !result) return Unexpected("", "no list of objects");
    // Some servers do not encode keys, whatever the request asks for.
    const bool encoded = std::string_view(result.child_value("EncodingType")) == "url";
    for (const pugi::xml_node object : result.children("Contents")) {
      CFILE_RETURN_IF_ERROR(AddEntry(object, encoded, entries));
    }
    if (std::string_view(result.child_value("IsTruncated")) != "true") return "";
    std::string next = result.child_value("NextContinuationToken");
    if (next.empty() || next == token) return Unexpected("", "a list that does not end");
    return next;
  }

  absl::Status AddEntry(const pugi::xml_node& object, bool encoded,
                        std::vector<StorageEntry>& entries) const {
    std::string key = object.child_value("Key");
    const std::string_view size_text = object.child_value("Size");
    const std::string_view time_text = object.child_value("LastModified");
    uint64_t size_bytes = 0;
    absl::Time changed;
    std::string error;
    if ((encoded && !DecodeKey(key)) || !key.starts_with(prefix_) ||
        !absl::SimpleAtoi({size_text.data(), size_text.size()}, &size_bytes) ||
        !absl::ParseTime(absl::RFC3339_full, {time_text.data(), time_text.size()}, &changed,
                         &error))
      return Unexpected("", "a list with an entry that cannot be read");
    std::string path = key.substr(prefix_.size());
    // Other objects below the prefix are not files of this table.
    const size_t probe = path.rfind(kProbeInfix);
    const bool is_probe =
        probe != path.npos && IsRandomName(path.substr(probe + kProbeInfix.size()));
    if (is_probe || !CheckPath(path).ok()) return absl::OkStatus();
    entries.push_back({.path = std::move(path),
                       .size_bytes = size_bytes,
                       .changed = absl::ToChronoTime(changed),
                       .identity = object.child_value("ETag")});
    return absl::OkStatus();
  }

  const std::string prefix_;
};

}  // namespace

std::shared_ptr<Storage> NewS3Storage(std::shared_ptr<const HttpServer> bucket, std::string prefix,
                                      std::string name) {
  if (!prefix.empty()) prefix += '/';
  return std::make_shared<S3Storage>(std::move(bucket), std::move(prefix), std::move(name));
}

}  // namespace cfile::internal
