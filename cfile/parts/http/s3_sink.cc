#include "cfile/parts/http/s3_storage.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <pugixml.hpp>
#include <span>
#include <utility>
#include <vector>

#include "cfile/core/io/file_system.h"
#include "cfile/parts/http/s3_conditions.h"
#include "encodings/core/bytes.h"
#include "encodings/core/status.h"

namespace cfile::internal {
namespace {

using encodings::StrCat;

// The HTTP header with the random id in the metadata of each object.
constexpr char kUploadIdHeader[] = "x-amz-meta-cfile-upload-id";

constexpr size_t kMaxParts = 10'000;  // S3 allows no more
// After this many parts, parts become larger, so that an object may have 440 GB or more.
constexpr size_t kPartsOfOneSize = 1'000;

class S3Sink final : public Sink {
 public:
  S3Sink(std::shared_ptr<const HttpServer> bucket, std::string key, std::string name,
         ExistingFile existing)
      : bucket_(std::move(bucket)),
        key_(std::move(key)),
        name_(std::move(name)),
        existing_(existing) {}

  ~S3Sink() override {
    if (upload_id_.empty()) return;
    // Parts of an upload that was not completed cost money until they are deleted.
    (void)bucket_->Send(
        {.method = "DELETE", .url = bucket_->UrlOf(key_, {{"uploadId", upload_id_}})});
  }

  const std::string& name() const override { return name_; }

  absl::Status Append(std::span<const uint8_t> bytes) override {
    while (!bytes.empty()) {
      // A part is sent only if more bytes follow, so that the last part is never empty.
      if (part_.size() == PartSize()) CFILE_RETURN_IF_ERROR(SendPart());
      const auto head = bytes.first(std::min(bytes.size(), PartSize() - part_.size()));
      part_.insert(part_.end(), head.begin(), head.end());
      bytes = bytes.subspan(head.size());
    }
    return absl::OkStatus();
  }

  absl::Status Finish() override {
    if (existing_ == ExistingFile::kKept)
      CFILE_RETURN_IF_ERROR(CheckCondition(*bucket_, key_, name_, /*needs_version=*/false));
    if (!upload_id_.empty()) {
      CFILE_RETURN_IF_ERROR(SendPart());
      // Some servers check the condition for a PUT, but not for the end of an upload in parts.
      if (existing_ == ExistingFile::kKept && Head().ok()) return AlreadyExists();
      return Complete();
    }
    CFILE_ASSIGN_OR_RETURN(own_id_, RandomName());
    const HttpResponse response = SendLast({.method = "PUT",
                                            .url = bucket_->UrlOf(key_),
                                            .headers = {{kUploadIdHeader, own_id_}},
                                            .body = part_});
    return response.ok() || HasOwnId() ? absl::OkStatus() : Failed(response);
  }

 private:
  size_t PartSize() const {
    return bucket_->s3().part_size_bytes * (1 + etags_.size() / kPartsOfOneSize);
  }

  absl::Status SendPart() {
    if (upload_id_.empty()) CFILE_RETURN_IF_ERROR(Begin());
    if (etags_.size() == kMaxParts) {
      return absl::FailedPreconditionError(
          StrCat(name_, ": an object has at most ", kMaxParts, " parts: raise part_size_bytes"));
    }
    const HttpResponse response =
        bucket_->Send({.method = "PUT",
                       .url = bucket_->UrlOf(key_, {{"partNumber", StrCat(etags_.size() + 1)},
                                                    {"uploadId", upload_id_}}),
                       .body = part_});
    if (!response.ok()) return HttpError(name_, response);
    const std::string& etag = response.Header("etag");
    if (etag.empty()) return Unexpected("an answer to a part without an ETag");
    etags_.push_back(etag);
    part_.clear();
    return absl::OkStatus();
  }

  absl::Status Begin() {
    CFILE_ASSIGN_OR_RETURN(own_id_, RandomName());
    // If an answer is lost, the repeated request begins a second upload. The first one stays empty.
    const HttpResponse response = bucket_->Send({.method = "POST",
                                                 .url = bucket_->UrlOf(key_, {{"uploads", ""}}),
                                                 .headers = {{kUploadIdHeader, own_id_}}});
    if (!response.ok()) return HttpError(name_, response);
    pugi::xml_document document;
    document.load_buffer(response.body.data(), response.body.size());
    upload_id_ = document.child("InitiateMultipartUploadResult").child_value("UploadId");
    return upload_id_.empty() ? Unexpected("no id of the upload") : absl::OkStatus();
  }

  absl::Status Complete() {
    pugi::xml_document document;
    pugi::xml_node root = document.append_child("CompleteMultipartUpload");
    for (size_t i = 0; i < etags_.size(); ++i) {
      pugi::xml_node part = root.append_child("Part");
      part.append_child("PartNumber").text() = static_cast<unsigned>(i + 1);
      part.append_child("ETag").text() = etags_[i].c_str();
    }
    struct Writer final : pugi::xml_writer {
      void write(const void* data, size_t size) override {
        bytes.append(static_cast<const char*>(data), size);
      }
      std::string bytes;
    } body;
    document.save(body, "", pugi::format_raw);
    const HttpResponse response = SendLast({.method = "POST",
                                            .url = bucket_->UrlOf(key_, {{"uploadId", upload_id_}}),
                                            .body = encodings::AsBytes(body.bytes)});
    // The server may begin its answer with 200, and then find an error.
    pugi::xml_document answer;
    const bool says_done = response.ok() &&
                           answer.load_buffer(response.body.data(), response.body.size()) &&
                           answer.child("CompleteMultipartUploadResult");
    if (!says_done && !HasOwnId()) return Failed(response);
    upload_id_.clear();
    return absl::OkStatus();
  }

  // True if the object is the one of this sink. An attempt may have made it although its answer was
  // lost or was an error.
  bool HasOwnId() const {
    const HttpResponse response = Head();
    return response.ok() && response.Header(kUploadIdHeader) == own_id_;
  }
  HttpResponse Head() const {
    return bucket_->Send({.method = "HEAD", .url = bucket_->UrlOf(key_)});
  }

  // Sends the request that makes the object.
  HttpResponse SendLast(HttpRequest request) const {
    if (existing_ == ExistingFile::kKept) AddCondition(std::nullopt, request);
    return bucket_->Send(request);
  }
  absl::Status Failed(const HttpResponse& response) const {
    if (existing_ == ExistingFile::kKept && response.status == 412) return AlreadyExists();
    const absl::Status status = HttpError(name_, response);
    return response.ok() ? absl::UnavailableError(status.message()) : status;
  }
  absl::Status AlreadyExists() const {
    return absl::AlreadyExistsError(StrCat(name_, ": an object is there already"));
  }

  absl::Status Unexpected(const std::string& found) const {
    return absl::FailedPreconditionError(StrCat(name_, ": the server sent ", found));
  }

  const std::shared_ptr<const HttpServer> bucket_;
  const std::string key_;
  const std::string name_;
  const ExistingFile existing_;
  std::vector<uint8_t> part_;       // bytes that were not sent yet
  std::string own_id_;              // of kUploadIdHeader
  std::string upload_id_;           // "" before the first part and after the end
  std::vector<std::string> etags_;  // of the parts that were sent
};

}  // namespace

std::unique_ptr<Sink> NewS3Sink(std::shared_ptr<const HttpServer> bucket, std::string key,
                                std::string name, ExistingFile existing) {
  return std::make_unique<S3Sink>(std::move(bucket), std::move(key), std::move(name), existing);
}

}  // namespace cfile::internal
