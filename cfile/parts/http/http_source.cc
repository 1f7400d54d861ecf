#include "cfile/parts/http/http_source.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "cfile/core/io/buffered_ends.h"
#include "cfile/parts/http/disk_cache.h"
#include "encodings/core/bytes.h"
#include "encodings/core/status.h"

namespace cfile::internal {
namespace {

using encodings::StrCat;

// A merged range is not longer, so that a long read still has several requests in flight.
constexpr uint64_t kMaxMergedBytes = 8 << 20;

// A cache holds pieces of this size. The last piece of an object is shorter.
constexpr uint64_t kCachedPieceBytes = 64 << 10;

// What a Content-Range header says: "bytes FIRST-LAST/SIZE", or "bytes */SIZE" without a range.
struct ContentRange {
  std::optional<std::pair<uint64_t, uint64_t>> range;  // the first byte and the last
  uint64_t size_bytes = 0;                             // of the object
};

bool TakeNumber(std::string_view& text, uint64_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return true;
}

bool Take(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

std::optional<ContentRange> ParseContentRange(std::string_view text) {
  ContentRange parsed;
  if (!Take(text, "bytes ")) return std::nullopt;
  if (!Take(text, "*")) {
    uint64_t first = 0, last = 0;
    if (!TakeNumber(text, first) || !Take(text, "-") || !TakeNumber(text, last) || last < first)
      return std::nullopt;
    parsed.range = {first, last};
  }
  if (!Take(text, "/") || !TakeNumber(text, parsed.size_bytes) || !text.empty())
    return std::nullopt;
  if (parsed.range && parsed.range->second >= parsed.size_bytes) return std::nullopt;
  return parsed;
}

// What distinguishes the versions of an object.
struct Version {
  std::string etag;      // "" if there is none, or if it is weak and cannot be compared
  std::string modified;  // the header Last-Modified; "" if there is none

  static Version Of(const HttpResponse& response) {
    const std::string& etag = response.Header("etag");
    return {.etag = etag.starts_with('"') ? etag : "",
            .modified = response.Header("last-modified")};
  }
  bool operator==(const Version&) const = default;

  // Lets the server refuse the request for another version.
  void Require(HttpRequest& request) const {
    if (!etag.empty()) {
      request.headers.emplace_back("if-match", etag);
    } else if (!modified.empty()) {
      request.headers.emplace_back("if-unmodified-since", modified);
    }
  }
};

absl::Status NoRanges(const std::string& name, const HttpResponse& response) {
  return absl::FailedPreconditionError(StrCat(
      name, ": the server does not answer requests for ranges as HTTP demands: status ",
      response.status, ", Content-Range \"", Printable(response.Header("content-range")), "\""));
}

absl::Status Changed(const std::string& name) {
  return absl::AbortedError(StrCat(name, ": the object has changed since it was opened"));
}

class HttpSource final : public Source {
 public:
  using Piece = BufferedEnds::Piece;

  HttpSource(std::shared_ptr<const HttpServer> server, std::string url, std::string name,
             uint64_t size_bytes, Version version, Piece head, Piece tail)
      : server_(std::move(server)),
        url_(std::move(url)),
        name_(std::move(name)),
        size_bytes_(size_bytes),
        version_(std::move(version)),
        head_(std::move(head)),
        tail_(std::move(tail)) {}

  const std::string& name() const override { return name_; }
  uint64_t size() const override { return size_bytes_; }
  std::string identity() const override {
    return version_.etag.empty() ? "" : StrCat(url_, " ", version_.etag);
  }

  absl::Status ReadAt(uint64_t offset, std::span<uint8_t> out) const override {
    ReadRequest request{.offset = offset, .out = out, .status = {}};
    ReadMany({&request, 1});
    return request.status;
  }

  // The response was damaged, or the object is.
  bool Forget(uint64_t offset, uint64_t size) const override {
    if (uses_cache() && size > 0) {
      const uint64_t last = (offset + size - 1) / kCachedPieceBytes;
      for (uint64_t i = offset / kCachedPieceBytes; i <= last; ++i)
        server_->cache()->Remove(KeyOf(i));
    }
    return true;
  }

  bool ReadsInBackground() const override { return true; }
  std::unique_ptr<PendingRead> BeginRead(uint64_t offset, std::span<uint8_t> out) const override {
    return std::make_unique<BackgroundRead>(*this, offset, out);
  }

  void ReadMany(std::span<ReadRequest> requests) const override {
    std::vector<ReadRequest*> left;
    {
      const std::lock_guard lock(mutex_);
      for (ReadRequest& request : requests) {
        if (!tail_.Copy(request.offset, request.out) && !head_.Copy(request.offset, request.out))
          left.push_back(&request);
      }
      // The first reads are those of a reader that opens the file, which keeps what it needs.
      head_ = tail_ = Piece();
    }
    std::erase_if(left, [](const ReadRequest* range) { return range->out.empty(); });
    if (left.empty()) return;
    if (uses_cache()) {
      FetchThroughCache(left);
    } else {
      Fetch(std::move(left));
    }
  }

 private:
  // Reads a range with one request. If the source uses the cache, reads the pieces of the range
  // that are not in the cache, from the first of them to the last.
  class BackgroundRead final : public PendingRead {
   public:
    BackgroundRead(const HttpSource& source, uint64_t offset, std::span<uint8_t> out)
        : source_(source), offset_(offset), out_(out) {
      if (source.uses_cache()) {
        FindMissingPieces();
      } else {
        range_ = {.offset = offset, .out = out, .status = {}};
      }
      if (range_.out.empty()) return;
      request_ = source.RequestOf(range_.offset, range_.out);
      response_ = source.server_->Begin(request_);
    }

    absl::Status Wait() override {
      if (response_ == nullptr) return source_.ReadAt(offset_, out_);
      const HttpResponse response = response_->Wait();
      if (MayPass(response)) {
        CFILE_RETURN_IF_ERROR(source_.server_->WaitBefore(/*attempt=*/2));
        return source_.ReadAt(offset_, out_);
      }
      CFILE_RETURN_IF_ERROR(source_.Check(request_, response, range_.offset, range_.out.size()));
      if (!source_.uses_cache()) return absl::OkStatus();
      for (size_t done = 0; done < pieces_.size(); done += kCachedPieceBytes) {
        source_.server_->cache()->Write(
            source_.KeyOf((range_.offset + done) / kCachedPieceBytes),
            std::span(pieces_).subspan(done, std::min(kCachedPieceBytes, pieces_.size() - done)));
      }
      return TakePieces();
    }

   private:
    // Fills out_: the bytes in front of pieces_ and after pieces_ are in the cache.
    absl::Status TakePieces() const {
      const uint64_t end = offset_ + out_.size();
      const uint64_t begin = std::max(offset_, range_.offset);
      const uint64_t stop = std::min(end, range_.offset + pieces_.size());
      std::memcpy(out_.data() + (begin - offset_), pieces_.data() + (begin - range_.offset),
                  stop - begin);
      ReadRequest ends[] = {{offset_, out_.first(begin - offset_), {}},
                            {stop, out_.subspan(stop - offset_), {}}};
      source_.ReadMany(ends);
      for (const ReadRequest& part : ends) CFILE_RETURN_IF_ERROR(part.status);
      return absl::OkStatus();
    }

    void FindMissingPieces() {
      uint64_t begin = offset_ / kCachedPieceBytes;
      uint64_t end = (offset_ + out_.size() + kCachedPieceBytes - 1) / kCachedPieceBytes;
      const auto has = [&](uint64_t piece) {
        return source_.server_->cache()->Has(source_.KeyOf(piece));
      };
      while (begin < end && has(begin)) ++begin;
      while (begin < end && has(end - 1)) --end;
      if (begin == end) return;
      range_.offset = begin * kCachedPieceBytes;
      pieces_.resize(std::min(end * kCachedPieceBytes, source_.size_bytes_) - range_.offset);
      range_.out = pieces_;
    }

    const HttpSource& source_;
    const uint64_t offset_;
    const std::span<uint8_t> out_;
    ReadRequest range_;            // what is requested; empty: nothing
    std::vector<uint8_t> pieces_;  // the memory of range_, if the source uses the cache
    HttpRequest request_;
    std::unique_ptr<PendingResponse> response_;  // null: nothing is requested
  };

  // Neighbouring ranges that one request reads.
  struct Group {
    std::vector<ReadRequest*> ranges;  // in the order of their offsets
    uint64_t begin = 0, end = 0;
    std::vector<uint8_t> bytes;  // of all ranges and of the gaps, if there are several ranges
  };

  std::vector<Group> Grouped(std::vector<ReadRequest*> ranges) const {
    std::sort(ranges.begin(), ranges.end(),
              [](const auto* a, const auto* b) { return a->offset < b->offset; });
    std::vector<Group> groups;
    for (ReadRequest* range : ranges) {
      const uint64_t end = range->offset + range->out.size();
      if (!groups.empty()) {
        Group& last = groups.back();
        if (range->offset <= last.end + server_->options().merge_gap_bytes &&
            end - last.begin <= kMaxMergedBytes) {
          last.ranges.push_back(range);
          last.end = std::max(last.end, end);
          continue;
        }
      }
      groups.push_back({.ranges = {range}, .begin = range->offset, .end = end, .bytes = {}});
    }
    return groups;
  }

  bool uses_cache() const { return server_->cache() != nullptr && !version_.etag.empty(); }

  // A request for the bytes at `offset`. Precondition: `out` is not empty.
  HttpRequest RequestOf(uint64_t offset, std::span<uint8_t> out) const {
    HttpRequest request =
        RangeRequest(*server_, url_, StrCat("bytes=", offset, "-", offset + out.size() - 1));
    version_.Require(request);
    request.out = out;
    return request;
  }

  void Fetch(std::vector<ReadRequest*> ranges) const {
    std::vector<Group> groups = Grouped(std::move(ranges));
    std::vector<HttpRequest> requests;
    for (Group& group : groups) {
      if (group.ranges.size() > 1) group.bytes.resize(group.end - group.begin);
      requests.push_back(RequestOf(
          group.begin, group.ranges.size() > 1 ? std::span(group.bytes) : group.ranges[0]->out));
    }
    const std::vector<HttpResponse> responses = server_->Send(requests);
    for (size_t i = 0; i < groups.size(); ++i) {
      const absl::Status status =
          Check(requests[i], responses[i], groups[i].begin, groups[i].end - groups[i].begin);
      for (ReadRequest* range : groups[i].ranges) {
        range->status = status;
        if (!status.ok() || groups[i].bytes.empty()) continue;
        std::memcpy(range->out.data(), groups[i].bytes.data() + (range->offset - groups[i].begin),
                    range->out.size());
      }
    }
  }

  // Reads whole pieces from the cache, after fetching those that are not there.
  void FetchThroughCache(std::span<ReadRequest* const> ranges) const {
    std::map<uint64_t, ReadRequest> pieces;  // by number
    std::vector<std::vector<uint8_t>> memory;
    std::vector<ReadRequest*> missing;
    for (const ReadRequest* range : ranges) {
      const uint64_t last = (range->offset + range->out.size() - 1) / kCachedPieceBytes;
      for (uint64_t i = range->offset / kCachedPieceBytes; i <= last; ++i) {
        const auto [piece, is_new] = pieces.try_emplace(i);
        if (!is_new) continue;
        const uint64_t offset = i * kCachedPieceBytes;
        memory.emplace_back(std::min(kCachedPieceBytes, size_bytes_ - offset));
        piece->second = {.offset = offset, .out = memory.back(), .status = {}};
        if (!server_->cache()->Read(KeyOf(i), memory.back())) missing.push_back(&piece->second);
      }
    }
    if (!missing.empty()) Fetch(missing);
    for (const ReadRequest* piece : missing) {
      if (piece->status.ok()) {
        server_->cache()->Write(KeyOf(piece->offset / kCachedPieceBytes), piece->out);
      }
    }
    for (ReadRequest* range : ranges) CopyFromPieces(pieces, *range);
  }

  static void CopyFromPieces(const std::map<uint64_t, ReadRequest>& pieces, ReadRequest& range) {
    for (size_t done = 0; done < range.out.size();) {
      const uint64_t at = range.offset + done;
      const ReadRequest& piece = pieces.at(at / kCachedPieceBytes);
      if (!piece.status.ok()) {
        range.status = piece.status;
        return;
      }
      const uint64_t skipped = at - piece.offset;
      const size_t count = std::min(range.out.size() - done, piece.out.size() - skipped);
      std::memcpy(range.out.data() + done, piece.out.data() + skipped, count);
      done += count;
    }
  }

  std::string KeyOf(uint64_t piece) const { return StrCat(identity(), " ", piece); }

  // Checks the response to a request for `size_bytes` bytes at `offset`.
  absl::Status Check(const HttpRequest& request, const HttpResponse& response, uint64_t offset,
                     uint64_t size_bytes) const {
    if (!response.transport.ok()) return HttpError(name_, response);
    if (response.status == 412 || response.status == 416) return Changed(name_);
    if (response.status != 206) {
      return response.status == 200 ? NoRanges(name_, response) : HttpError(name_, response);
    }
    const auto found = ParseContentRange(response.Header("content-range"));
    if (found && found->size_bytes != size_bytes_) return Changed(name_);
    if (Version::Of(response) != version_) return Changed(name_);
    if (!found || found->range != std::pair(offset, offset + size_bytes - 1) ||
        response.body_bytes != request.out.size())
      return NoRanges(name_, response);
    return absl::OkStatus();
  }

  const std::shared_ptr<const HttpServer> server_;
  const std::string url_;
  const std::string name_;
  const uint64_t size_bytes_;
  const Version version_;
  mutable std::mutex mutex_;
  mutable Piece head_, tail_;  // from the opening; guarded by mutex_
};

BufferedEnds::Piece PieceOf(uint64_t offset, const std::string& body) {
  const auto bytes = encodings::AsBytes(body);
  return {.offset = offset, .bytes = std::vector<uint8_t>(bytes.begin(), bytes.end())};
}

}  // namespace

HttpRequest RangeRequest(const HttpServer& server, const std::string& url, std::string range) {
  HttpRequest request{.url = url, .follow_redirects = !server.is_s3()};
  request.headers.emplace_back("range", std::move(range));
  // A compressed body would have other offsets.
  request.headers.emplace_back("accept-encoding", "identity");
  return request;
}

absl::StatusOr<std::shared_ptr<const Source>> SourceOfEnds(std::shared_ptr<const HttpServer> server,
                                                           NamedUrl object,
                                                           const HttpResponse& last,
                                                           const HttpResponse& first) {
  if (last.too_large) return NoRanges(object.name, last);
  if (!last.transport.ok()) return HttpError(object.name, last);
  const Version version = Version::Of(last);
  const auto source = [&](uint64_t size_bytes, BufferedEnds::Piece head, BufferedEnds::Piece tail) {
    return std::make_shared<HttpSource>(std::move(server), std::move(object.url),
                                        std::move(object.name), size_bytes, version,
                                        std::move(head), std::move(tail));
  };
  // Servers answer with the whole object if it is not longer than the range.
  if (last.status == 200) return source(last.body.size(), {}, PieceOf(0, last.body));
  const auto range = ParseContentRange(last.Header("content-range"));
  if (last.status == 416 && range && range->size_bytes == 0) return source(0, {}, {});
  if (last.status != 206) return HttpError(object.name, last);
  if (!range || !range->range || range->range->second + 1 != range->size_bytes ||
      range->range->second + 1 - range->range->first != last.body.size())
    return NoRanges(object.name, last);
  // The head is only an advantage: without it, the reader asks again.
  BufferedEnds::Piece head;
  const auto start = ParseContentRange(first.Header("content-range"));
  if (first.transport.ok() && first.status == 206 && Version::Of(first) == version && start &&
      start->size_bytes == range->size_bytes && !first.body.empty() &&
      start->range == std::pair<uint64_t, uint64_t>(0, first.body.size() - 1))
    head = PieceOf(0, first.body);
  return source(range->size_bytes, std::move(head), PieceOf(range->range->first, last.body));
}

std::vector<absl::StatusOr<std::shared_ptr<const Source>>> OpenHttpSources(
    std::shared_ptr<const HttpServer> server, std::vector<NamedUrl> objects) {
  std::vector<HttpRequest> requests;
  for (const NamedUrl& object : objects) {
    requests.push_back(RangeRequest(*server, object.url, StrCat("bytes=-", kBufferedTailBytes)));
    requests.push_back(
        RangeRequest(*server, object.url, StrCat("bytes=0-", kBufferedHeadBytes - 1)));
  }
  for (HttpRequest& request : requests) request.max_body_bytes = kBufferedTailBytes;
  const std::vector<HttpResponse> responses = server->Send(requests);
  std::vector<absl::StatusOr<std::shared_ptr<const Source>>> sources;
  for (size_t i = 0; i < objects.size(); ++i) {
    sources.push_back(
        SourceOfEnds(server, std::move(objects[i]), responses[2 * i], responses[2 * i + 1]));
  }
  return sources;
}

absl::StatusOr<std::shared_ptr<const Source>> OpenHttpSource(
    std::shared_ptr<const HttpServer> server, std::string url, std::string name) {
  return std::move(OpenHttpSources(std::move(server), {{std::move(url), std::move(name)}}).front());
}

}  // namespace cfile::internal
