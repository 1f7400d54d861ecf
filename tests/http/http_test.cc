// Files and tables on S3's servers and on web servers. with_servers.py starts moto, or finds
// another server, and starts proxies that disturb requests to it.
#include "cfile/http.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "cfile/parts/table/commit/part_copy.h"
#include "cfile/reader.h"
#include "cfile/status.h"
#include "cfile/table_scan.h"
#include "cfile/whole_files.h"
#include "cfile/writer.h"
#include "encodings/core/bytes.h"
#include "tests/cfile/storage_kinds.h"
#include "tests/cfile/temporary_directory.h"

namespace cfile {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// The URL of a server of with_servers.py.
std::string Server(const std::string& name) {
  const char* url = std::getenv(absl::StrCat("CFILE_TEST_SERVER_", name).c_str());
  return url == nullptr ? "" : url;
}

HttpOptions OptionsFor(const std::string& server) {
  HttpOptions options;
  options.retry_delay = std::chrono::milliseconds(2);
  options.s3.endpoint = Server(server);
  return options;
}

// The options with which files of more than 5 MiB have several parts.
HttpOptions OptionsInParts(const std::string& server) {
  HttpOptions options = OptionsFor(server);
  options.s3.part_size_bytes = 5 << 20;
  return options;
}

// True if the server refuses requests without a signature, and those with a wrong one.
bool VerifiesSignatures() { return std::getenv("CFILE_TEST_VERIFIES_SIGNATURES") != nullptr; }

HttpClient ClientOf(const HttpOptions& options) { return *HttpClient::Create(options); }
HttpClient ClientOf(const std::string& server) { return ClientOf(OptionsFor(server)); }

// A URL that no other test uses.
std::string NewUrl() {
  static std::atomic<int> number = 0;
  return absl::StrCat("s3://bucket/a key + 100%/", ++number);
}

// Bytes that differ at all offsets of a block of 64 KiB.
std::vector<uint8_t> SomeBytes(size_t size_bytes, uint64_t seed = 1) {
  std::vector<uint8_t> bytes(size_bytes);
  uint64_t state = seed;
  for (uint8_t& byte : bytes) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    byte = static_cast<uint8_t>(state >> 56);
  }
  return bytes;
}

absl::Status Put(const HttpClient& client, const std::string& url, std::span<const uint8_t> bytes,
                 ExistingFile existing = ExistingFile::kReplaced) {
  CFILE_ASSIGN_OR_RETURN(const auto sink, client.CreateUrl(url, existing));
  CFILE_RETURN_IF_ERROR(sink->Append(bytes));
  return sink->Finish();
}

void Put(const std::string& url, std::span<const uint8_t> bytes) {
  ASSERT_EQ(Put(ClientOf("S3"), url, bytes), absl::OkStatus());
}

absl::StatusOr<std::vector<uint8_t>> Get(const HttpClient& client, const std::string& url) {
  auto source = client.OpenUrl(url);
  if (!source.ok()) return source.status();
  std::vector<uint8_t> bytes((*source)->size());
  // Two pieces, so that the ends are not all.
  const size_t half = bytes.size() / 2;
  ReadRequest pieces[] = {{0, std::span(bytes).first(half), {}},
                          {half, std::span(bytes).subspan(half), {}}};
  (*source)->ReadMany(pieces);
  for (const ReadRequest& piece : pieces) {
    if (!piece.status.ok()) return piece.status;
  }
  return bytes;
}

// True if `read` are the bytes of an object from `offset` on.
bool IsRange(const std::vector<uint8_t>& read, const std::vector<uint8_t>& bytes, size_t offset) {
  return std::ranges::equal(read, std::span(bytes).subspan(offset, read.size()));
}

// The text of a URL that begins with the URL of a server.
std::string TextAt(const std::string& server, const std::string& path) {
  const auto bytes = Get(ClientOf(server), Server(server) + path);
  EXPECT_TRUE(bytes.ok()) << bytes.status();
  return bytes.ok() ? std::string(bytes->begin(), bytes->end()) : "";
}

// A number that the proxy answers at `path`.
uint64_t AskProxy(const std::string& server, const std::string& path) {
  const std::string text = TextAt(server, path);
  uint64_t number = 0;
  EXPECT_TRUE(absl::SimpleAtoi(text, &number)) << text;
  return number;
}

// The number of requests that the proxy has received since the last call.
uint64_t RequestsAt(const std::string& server) {
  static std::map<std::string, uint64_t> before;
  const uint64_t now = AskProxy(server, "/-/count");
  return now - std::exchange(before[server], now);
}

INSTANTIATE_TEST_SUITE_P(S3, StorageTest,
                         testing::Values(StorageKind{"S3",
                                                     [](const std::string& directory) {
                                                       return *ClientOf("S3").OpenTable(
                                                           absl::StrCat("s3://bucket", directory));
                                                     },
                                                     true}),
                         NameOfKind);

TEST(Http, FilesOfAllSizes) {
  const HttpClient client = ClientOf("S3");
  for (const size_t size : {0, 1, 4095, 4096, 61'440, 61'441, 65'536, 200'000}) {
    const std::string url = NewUrl();
    const std::vector<uint8_t> bytes = SomeBytes(size);
    Put(url, bytes);
    const auto found = Get(client, url);
    ASSERT_TRUE(found.ok()) << size << ": " << found.status();
    EXPECT_EQ(*found, bytes) << size;
  }
}

TEST(Http, PartsOfAnUpload) {
  const HttpClient client = ClientOf(OptionsInParts("S3"));
  for (const size_t size : {5 << 20, (5 << 20) + 1, 10 << 20, (10 << 20) + 7}) {
    const std::string url = NewUrl();
    const std::vector<uint8_t> bytes = SomeBytes(size);
    auto sink = client.CreateUrl(url);
    ASSERT_TRUE(sink.ok()) << sink.status();
    for (size_t at = 0; at < size; at += 1'000'003) {
      ASSERT_TRUE((*sink)
                      ->Append(std::span(bytes).subspan(at, std::min<size_t>(1'000'003, size - at)))
                      .ok());
    }
    EXPECT_EQ(client.OpenUrl(url).status().code(), absl::StatusCode::kNotFound);
    const absl::Status status = (*sink)->Finish();
    ASSERT_TRUE(status.ok()) << status;
    EXPECT_EQ(*Get(client, url), bytes);
  }
}

TEST(Http, AnUploadThatFailsIsAborted) {
  HttpOptions options = OptionsInParts("ERROR_IN_SUCCESS");
  options.max_attempts = 2;
  const HttpClient client = ClientOf(options);
  const std::string url = NewUrl();
  EXPECT_THAT(Put(client, url, SomeBytes(11 << 20)).ToString(),
              AllOf(HasSubstr(url), HasSubstr("InternalError")));
  EXPECT_EQ(client.OpenUrl(url).status().code(), absl::StatusCode::kNotFound);
  // Nothing is left of the upload. (tests/campaign/s3_server looks into the folder of its server.)
  if (VerifiesSignatures()) return;
  EXPECT_THAT(TextAt("S3", "/bucket?uploads"),
              AllOf(HasSubstr("ListMultipartUploadsResult"), Not(HasSubstr("<Upload>"))));
}

// An older object with the same size is not the object of the upload.
TEST(Http, AnUploadThatFailsLeavesTheOlderObject) {
  const std::string url = NewUrl();
  const std::vector<uint8_t> older = SomeBytes(11 << 20);
  ASSERT_EQ(Put(ClientOf(OptionsInParts("S3")), url, older), absl::OkStatus());
  const absl::Status status =
      Put(ClientOf(OptionsInParts("ERROR_IN_SUCCESS")), url, SomeBytes(11 << 20, 2));
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(status.ToString(), AllOf(HasSubstr(url), HasSubstr("InternalError")));
  EXPECT_EQ(*Get(ClientOf("S3"), url), older);
}

// The upload is complete, but the answer does not say so.
TEST(Http, AnUploadIsRecognisedByItsId) {
  const std::string url = NewUrl();
  uint64_t seed = 1;
  for (const char* server : {"ERROR_AFTER_SUCCESS", "EMPTY_SUCCESS", "LOST_ANSWER_FIRST"}) {
    const std::vector<uint8_t> bytes = SomeBytes(11 << 20, ++seed);
    EXPECT_EQ(Put(ClientOf(OptionsInParts(server)), url, bytes), absl::OkStatus()) << server;
    EXPECT_EQ(*Get(ClientOf("S3"), url), bytes) << server;
  }
}

// Writes a part with the rows from `first` on.
absl::Status WriteTenRows(absl::StatusOr<TableWriter> writer, uint64_t first = 0) {
  CFILE_RETURN_IF_ERROR(writer.status());
  CFILE_RETURN_IF_ERROR(AppendRows(*writer, first, 10));
  return writer->Finish();
}
// Also creates the table if `first` is 0.
absl::Status WritePart(const std::shared_ptr<Storage>& storage, uint64_t first,
                       const WriterOptions& options = {}) {
  return WriteTenRows(first == 0 ? TableWriter::Create(storage, ManyTypes(), {&options, 1})
                                 : TableWriter::Open(storage, {&options, 1}),
                      first);
}

// Servers that disturb each request once: the library repeats the request.
class DisturbedTest : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(All, DisturbedTest,
                         testing::Values("LATENCY", "LONG_LATENCY", "CUT_FIRST", "TRUNCATED_FIRST",
                                         "LOST_ANSWER_FIRST", "SLOW_DOWN_FIRST",
                                         "INTERNAL_ERROR_FIRST"),
                         [](const auto& test) { return std::string(test.param); });

TEST_P(DisturbedTest, FilesAreWrittenAndRead) {
  const HttpClient client = ClientOf(OptionsInParts(GetParam()));
  for (const size_t size : {1'000, 300'000, 12 << 20}) {
    const std::string url = NewUrl();
    const std::vector<uint8_t> bytes = SomeBytes(size);
    ASSERT_EQ(Put(client, url, bytes), absl::OkStatus());
    const auto found = Get(client, url);
    ASSERT_TRUE(found.ok()) << found.status();
    EXPECT_EQ(*found, bytes);
  }
  EXPECT_EQ(client.counters().retries == 0, std::string_view(GetParam()).ends_with("LATENCY"));
}

TEST_P(DisturbedTest, TablesLoseNoCommit) {
  const std::string url = NewUrl();
  for (uint64_t part = 0; part < 3; ++part) {
    ASSERT_EQ(WritePart(*ClientOf(GetParam()).OpenTable(url), 10 * part), absl::OkStatus());
  }
  const auto storage = *ClientOf(GetParam()).OpenTable(url);
  const auto table = TableReader::Open(storage);
  ASSERT_TRUE(table.ok()) << table.status();
  ExpectTable(*table, 30);
  // A writer that wrongly takes its commit for lost removes the copies of the descriptions.
  for (size_t i = 0; i < table->num_parts(); ++i) {
    const PartInfo part = *table->part(i);
    const auto files = storage->List(part.name);
    ASSERT_TRUE(files.ok()) << files.status();
    EXPECT_TRUE(std::any_of(files->begin(), files->end(), [&](const StorageEntry& file) {
      return internal::ParsePartCopyName(file.path.substr(part.name.size() + 1)).has_value();
    })) << part.name;
  }
}

TEST(Http, ServersThatIgnoreConditionsAreRefused) {
  const std::string url = NewUrl();
  ASSERT_EQ(WritePart(*ClientOf("S3").OpenTable(url), 0), absl::OkStatus());
  for (const std::string server : {"NO_CONDITIONS", "NO_NEW_CONDITION"}) {
    const HttpClient client = ClientOf(server);
    const auto expect_refused = [&](const absl::Status& status, const std::string& condition) {
      EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
      EXPECT_THAT(status.ToString(), AllOf(HasSubstr("ignores the condition " + condition + " "),
                                           HasSubstr(Server(server) + "/bucket")));
    };
    const auto is_new = client.OpenTable(url + " new");
    expect_refused(WritePart(*is_new, 0), "If-None-Match");
    EXPECT_TRUE((*is_new)->List("")->empty());
    const auto sink = client.CreateUrl(url + ".file", ExistingFile::kKept);
    expect_refused((*sink)->Finish(), "If-None-Match");
    EXPECT_EQ(client.OpenUrl(url + ".file").status().code(), absl::StatusCode::kNotFound);
    const auto appended = WriteTenRows(TableWriter::Open(*client.OpenTable(url)));
    if (server == "NO_CONDITIONS") {
      expect_refused(appended, "If-Match");
    } else {
      EXPECT_TRUE(appended.ok()) << appended;
    }
    EXPECT_EQ(TableReader::Open(*client.OpenTable(url))->num_rows(),
              server == "NO_CONDITIONS" ? 10 : 20);
  }
}

// A commit takes place, other writers commit, and then the connection is cut.
TEST(Http, ACommitWhoseAnswerIsLostIsNotRepeated) {
  const std::string url = NewUrl();
  const auto storage = ClientOf("S3").OpenTable(url);
  ASSERT_EQ(WritePart(*storage, 0), absl::OkStatus());
  std::atomic<bool> done = false;
  std::thread writer([&] {
    const auto late = ClientOf("LOST_ANSWER_LATE").OpenTable(url);
    const absl::Status status = WriteTenRows(TableWriter::Open(*late));
    EXPECT_TRUE(status.ok()) << status;
    done = true;
  });
  // A table names its last 32 commits. After more commits, the writer cannot know its outcome.
  uint64_t rows = 20;
  do {
    const absl::Status status = WriteTenRows(TableWriter::Open(*storage));
    EXPECT_TRUE(status.ok()) << status;
    rows += 10;
  } while (!done && rows < 20 + 10 * 31);
  writer.join();
  EXPECT_EQ(TableReader::Open(*storage)->num_rows(), rows);
}

TEST(Http, ConditionsAreTriedOnceForEachBucket) {
  const HttpClient client = ClientOf("PROXY");
  uint64_t requests[2];
  for (uint64_t& count : requests) {
    RequestsAt("PROXY");
    ASSERT_EQ(WritePart(*client.OpenTable(NewUrl()), 0), absl::OkStatus());
    count = RequestsAt("PROXY");
  }
  EXPECT_EQ(requests[0], requests[1] + 3);
}

TEST(Http, NewObjectsReplaceNoOther) {
  for (const size_t size : {1'000, 11 << 20}) {
    for (const char* server : {"S3", "LOST_ANSWER_FIRST", "INTERNAL_ERROR_FIRST"}) {
      const HttpClient client = ClientOf(OptionsInParts(server));
      const std::string url = NewUrl();
      const std::vector<uint8_t> bytes = SomeBytes(size);
      EXPECT_EQ(Put(client, url, bytes, ExistingFile::kKept), absl::OkStatus())
          << server << " " << size;
      const absl::Status again = Put(client, url, SomeBytes(size, 2), ExistingFile::kKept);
      EXPECT_EQ(again.code(), absl::StatusCode::kAlreadyExists) << server << " " << again;
      EXPECT_EQ(*Get(ClientOf("S3"), url), bytes) << server << " " << size;
    }
  }
}

TEST(Http, ServersThatDoNotAnswer) {
  const std::string url = NewUrl();
  Put(url, SomeBytes(300'000));
  HttpOptions unavailable = OptionsFor("ALWAYS_UNAVAILABLE");
  unavailable.max_attempts = 3;
  const HttpClient client = ClientOf(unavailable);
  const absl::Status status = Get(client, url).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(status.ToString(),
              AllOf(HasSubstr(url), HasSubstr("503 SlowDown (Please try again.)"),
                    HasSubstr("request id request-1"), Not(HasSubstr("test-secret"))));
  EXPECT_EQ(client.counters().requests, 6);  // two ranges, three times

  HttpOptions nobody = OptionsFor("S3");
  nobody.s3.endpoint = "http://127.0.0.1:1";
  nobody.max_attempts = 2;
  const absl::Status refused = Get(ClientOf(nobody), url).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kUnavailable) << refused;
}

TEST(Http, AServerThatDripsIsCutOff) {
  const std::string url = NewUrl();
  Put(url, SomeBytes(300'000));
  HttpOptions options = OptionsFor("DRIP");
  options.max_attempts = 1;
  options.connect_timeout = options.stall_timeout = std::chrono::seconds(1);
  std::vector<uint8_t> middle(1000);
  const auto source = ClientOf(options).OpenUrl(url);
  ASSERT_TRUE(source.ok()) << source.status();
  const absl::Status status = (*source)->ReadAt(100'000, middle);
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable) << status;
  EXPECT_THAT(status.ToString(), HasSubstr("timed out"));

  options.stall_timeout = std::chrono::seconds(30);
  const auto patient = ClientOf(options).OpenUrl(url);
  ASSERT_TRUE(patient.ok()) << patient.status();
  EXPECT_TRUE((*patient)->ReadAt(100'000, std::span(middle).first(3)).ok());  // slow, but in time
}

TEST(Http, ServersThatAnswerWithOtherRanges) {
  const std::string url = NewUrl();
  Put(url, SomeBytes(300'000));
  const absl::Status no_ranges = Get(ClientOf("NO_RANGES"), url).status();
  EXPECT_EQ(no_ranges.code(), absl::StatusCode::kFailedPrecondition) << no_ranges;
  std::vector<uint8_t> middle(1000);
  const absl::Status wrong_range = (*ClientOf("WRONG_RANGE").OpenUrl(url))->ReadAt(100'000, middle);
  EXPECT_EQ(wrong_range.code(), absl::StatusCode::kFailedPrecondition) << wrong_range;
}

TEST(Http, AWrongSecretIsRefused) {
  if (!VerifiesSignatures()) GTEST_SKIP() << "the server does not verify signatures";
  const std::string url = NewUrl();
  Put(url, SomeBytes(1000));
  HttpOptions options = OptionsFor("S3");
  options.s3.access_key_id = std::getenv("AWS_ACCESS_KEY_ID");
  options.s3.secret_access_key = "a-wrong-secret";
  const HttpClient client = ClientOf(options);
  const auto sink = client.CreateUrl(url);
  ASSERT_TRUE(sink.ok() && (*sink)->Append(SomeBytes(10)).ok());
  const auto storage = client.OpenTable(url);
  ASSERT_TRUE(storage.ok()) << storage.status();
  for (const absl::Status& status :
       {client.OpenUrl(url).status(), (*sink)->Finish(), (*storage)->List("").status(),
        (*storage)->Read("table.cft", 100).status(), (*storage)->Delete("a"),
        (*storage)->Commit("table.cft", std::nullopt, "x"), TableReader::Open(*storage).status()}) {
    EXPECT_EQ(status.code(), absl::StatusCode::kPermissionDenied) << status;
    EXPECT_THAT(status.ToString(),
                AllOf(HasSubstr(url), HasSubstr("403 SignatureDoesNotMatch"),
                      HasSubstr("request id "), Not(HasSubstr("a-wrong-secret")),
                      Not(HasSubstr("Signature=")), Not(HasSubstr("Credential="))));
  }
  EXPECT_EQ(client.counters().retries, 0);
  EXPECT_TRUE(Get(ClientOf("S3"), url).ok());  // nothing has changed
}

TEST(Http, SessionTokensAreSentAndSigned) {
  const std::string url = NewUrl();
  Put(url, SomeBytes(100));
  HttpOptions options = OptionsFor("ONLY_WITH_TOKEN");
  options.s3.access_key_id = std::getenv("AWS_ACCESS_KEY_ID");
  options.s3.secret_access_key = std::getenv("AWS_SECRET_ACCESS_KEY");
  options.s3.session_token = "another-token";
  const absl::Status refused = Get(ClientOf(options), url).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kPermissionDenied) << refused;
  EXPECT_THAT(refused.ToString(), Not(HasSubstr("another-token")));
  options.s3.session_token = "the/token+=";
  const auto bytes = Get(ClientOf(options), url);
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  EXPECT_EQ(*bytes, SomeBytes(100));
}

// Gives a variable of the environment another value, for one test.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    Set(value);
  }
  ~Variable() { Set(before_ ? before_->c_str() : nullptr); }

 private:
  void Set(const char* value) {
    if (value == nullptr) {
      unsetenv(name_);
    } else {
      setenv(name_, value, 1);
    }
  }

  const char* const name_;
  std::optional<std::string> before_;
};

TEST(Http, CredentialsThatChangeAreReadAgain) {
  const std::string url = NewUrl();
  Put(url, SomeBytes(300'000));
  const TemporaryDirectory directory;
  const std::string file = directory.path("credentials");
  const auto write =
      [&, id = std::string(std::getenv("AWS_ACCESS_KEY_ID")),
       secret = std::string(std::getenv("AWS_SECRET_ACCESS_KEY"))](const std::string& token) {
        std::ofstream(file) << "[default]\naws_access_key_id = " << id
                            << "\naws_secret_access_key = " << secret
                            << "\naws_session_token = " << token << "\n";
      };
  const Variable id("AWS_ACCESS_KEY_ID", nullptr), secret("AWS_SECRET_ACCESS_KEY", nullptr);
  const Variable named("AWS_SHARED_CREDENTIALS_FILE", file.c_str());
  write("the/token+=");
  const HttpClient client = ClientOf("ONLY_WITH_TOKEN");
  const auto source = client.OpenUrl(url);
  ASSERT_TRUE(source.ok()) << source.status();
  std::vector<uint8_t> middle(1000);
  EXPECT_TRUE((*source)->ReadAt(100'000, middle).ok());
  write("expired");
  EXPECT_EQ((*source)->ReadAt(150'000, middle).code(), absl::StatusCode::kPermissionDenied);
  std::ofstream(file) << "[default]\naws_access_key_id = half of a file\n";
  EXPECT_EQ((*source)->ReadAt(150'000, middle).code(), absl::StatusCode::kPermissionDenied);
  write("the/token+=");
  const absl::Status status = (*source)->ReadAt(150'000, middle);
  EXPECT_TRUE(status.ok()) << status;
}

TEST(Http, KeysWithAllCharacters) {
  for (const std::string name : {"a b", "a+b", "100%", "%41", "Zürich/東京", "a=b&c;d",
                                 "~!$'()*,:@[]", "a?b#c", "a//b", "\"<>\\^`{|}"}) {
    // versitygw keeps objects as files, so it cannot list such keys.
    if (name == "a//b" && VerifiesSignatures()) continue;
    const std::string url = absl::StrCat(NewUrl(), "/", name);
    Put(url, SomeBytes(100));
    const auto found = Get(ClientOf("S3"), url);
    ASSERT_TRUE(found.ok()) << found.status();
    EXPECT_EQ(*found, SomeBytes(100));
    // (Some servers have no object whose key is the prefix of a table.)
    const auto storage = ClientOf("S3").OpenTable(url + ".table");
    ASSERT_TRUE(storage.ok()) << storage.status();
    ASSERT_EQ(WritePart(*storage, 0), absl::OkStatus());
    const auto table = TableReader::Open(*storage);
    ASSERT_TRUE(table.ok()) << table.status();
    ExpectTable(*table, 10);
    const auto entries = (*storage)->List("");
    ASSERT_TRUE(entries.ok()) << entries.status();
    EXPECT_EQ(entries->size(), 3)
        << name;  // table.cft, a packed part and the copy of its description
    for (const StorageEntry& entry : *entries) EXPECT_TRUE((*storage)->Delete(entry.path).ok());
    EXPECT_TRUE((*storage)->List("")->empty()) << name;
  }
}

TEST(Http, ObjectsThatChangeAreNoticed) {
  const std::string url = NewUrl();
  Put(url, SomeBytes(300'000));
  const auto source = ClientOf("S3").OpenUrl(url);
  ASSERT_TRUE(source.ok());
  Put(url, SomeBytes(300'000, 2));
  std::vector<uint8_t> bytes(10);
  const absl::Status status = (*source)->ReadAt(100'000, bytes);
  EXPECT_EQ(status.code(), absl::StatusCode::kAborted) << status;
  EXPECT_THAT(status.ToString(), HasSubstr("has changed since it was opened"));
  const absl::Status in_background = (*source)->BeginRead(100'000, bytes)->Wait();
  EXPECT_EQ(in_background.code(), absl::StatusCode::kAborted) << in_background;
  EXPECT_NE((*source)->identity(), (*ClientOf("S3").OpenUrl(url))->identity());
}

TEST(Http, SpacesInListsMayBePlus) {
  const std::string url = NewUrl() + "/a + b";
  Put(url + "/file", SomeBytes(10));
  for (const char* server : {"S3", "PLUS_FOR_SPACE"}) {
    const auto entries = (*ClientOf(server).OpenTable(url))->List("");
    ASSERT_TRUE(entries.ok()) << entries.status();
    ASSERT_EQ(entries->size(), 1) << server;
    EXPECT_EQ((*entries)[0].path, "file");
  }
}

TEST(Http, RedirectsGetNoSecret) {
  const std::string url = NewUrl();
  Put(url, SomeBytes(300'000));
  // Redirects of S3 are errors.
  const absl::Status status = Get(ClientOf("REDIRECT_ELSEWHERE"), url).status();
  EXPECT_THAT(status.ToString(), HasSubstr("the server answered 307"));
  // A web server may redirect. The user and the password of the URL stay with its host.
  std::string web = Server("REDIRECT_ELSEWHERE");
  web.insert(web.find("://") + 3, "user:password@");
  const auto found = Get(ClientOf("S3"), web + "/bucket/redirected");
  EXPECT_THAT(found.status().ToString(),
              AllOf(HasSubstr(VerifiesSignatures() ? "answered 403" : "answered 404"),
                    Not(HasSubstr("SecretFollowed")), Not(HasSubstr("password"))));
}

TEST(Http, TlsIsVerified) {
  const std::string server = Server("HTTPS");
  if (server.empty()) GTEST_SKIP() << "nginx or openssl is not installed";
  const std::string folder = std::getenv("CFILE_TEST_WEB_FOLDER");
  const std::vector<uint8_t> bytes = SomeBytes(300'000);
  WriteFile(folder + "/file", encodings::AsString(bytes));
  ASSERT_EQ(WriteTenRows(TableWriter::Create(folder + "/table", ManyTypes())), absl::OkStatus());
  HttpOptions options;
  options.max_attempts = 1;
  options.certificate_file = std::getenv("CFILE_TEST_AUTHORITY");
  const HttpClient client = ClientOf(options);
  const auto found = Get(client, server + "/file");
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ(*found, bytes);
  const auto storage = client.OpenTable(server + "/table/");
  const auto table = TableReader::Open(*storage);
  ASSERT_TRUE(table.ok()) << table.status();
  ExpectTable(*table, 10);
  EXPECT_EQ((*storage)->Delete("x").code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(Get(client, server + "/none").status().code(), absl::StatusCode::kNotFound);
  // The system does not know the authority.
  options.certificate_file = "";
  EXPECT_THAT(Get(ClientOf(options), server + "/file").status().ToString(), HasSubstr("SSL"));
  // The certificate is for another host.
  std::string other = server;
  other.replace(other.find("localhost"), 9, "127.0.0.1");
  EXPECT_THAT(Get(client, other + "/file").status().ToString(), HasSubstr("SSL"));
  // https:// is not left for http://.
  EXPECT_THAT(Get(client, server + "/to-http").status().ToString(), HasSubstr("rotocol"));
}

// Reads both halves of a file that is read whole.
absl::StatusOr<std::vector<uint8_t>> GetWhole(const HttpClient& client, const std::string& url,
                                              uint64_t size_bytes) {
  const auto storage = *client.OpenTable(url);
  const auto source = dynamic_cast<const WholeFiles&>(*storage).OpenWhole("file", size_bytes);
  if (source == nullptr) return absl::UnimplementedError("the storage does not read whole files");
  EXPECT_EQ(source->size(), size_bytes);
  std::vector<uint8_t> bytes(size_bytes);
  CFILE_RETURN_IF_ERROR(source->ReadAt(0, bytes));
  // Later reads ask the server.
  std::vector<uint8_t> half(size_bytes / 2);
  CFILE_RETURN_IF_ERROR(source->ReadAt(size_bytes / 2, half));
  EXPECT_TRUE(IsRange(half, bytes, size_bytes / 2));
  return bytes;
}

TEST(Http, WholeFiles) {
  const std::string url = NewUrl();
  const std::vector<uint8_t> bytes = SomeBytes(300'000);
  Put(url + "/file", bytes);
  for (const char* server : {"PROXY", "LATENCY", "CUT_FIRST", "TRUNCATED_FIRST", "SLOW_DOWN_FIRST",
                             "INTERNAL_ERROR_FIRST"}) {
    const auto found = GetWhole(ClientOf(server), url, bytes.size());
    ASSERT_TRUE(found.ok()) << server << ": " << found.status();
    EXPECT_EQ(*found, bytes) << server;
  }
  // All is read with one request, and has the identity of the version.
  RequestsAt("PROXY");
  const auto storage = *ClientOf("PROXY").OpenTable(url);
  const auto source = dynamic_cast<const WholeFiles&>(*storage).OpenWhole("file", bytes.size());
  std::vector<uint8_t> read(bytes.size());
  ASSERT_TRUE(source->ReadAt(0, read).ok());
  EXPECT_EQ(read, bytes);
  EXPECT_EQ(RequestsAt("PROXY"), 1);
  EXPECT_EQ(source->identity(), (*(*ClientOf("PROXY").OpenTable(url))->Open("file"))->identity());
  // Nobody waits for the response.
  dynamic_cast<const WholeFiles&>(*storage).OpenWhole("file", bytes.size()).reset();
  // A file with another size is not the file that was asked for.
  for (const uint64_t size_bytes : {299'999, 300'001, 1}) {
    const absl::Status status = GetWhole(ClientOf("S3"), url, size_bytes).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << status;
    EXPECT_THAT(status.ToString(),
                HasSubstr(absl::StrCat("expected a file of ", size_bytes, " bytes, found 300000")));
  }
  EXPECT_EQ(GetWhole(ClientOf("S3"), url + "/none", 10).status().code(),
            absl::StatusCode::kNotFound);
  EXPECT_EQ(dynamic_cast<const WholeFiles&>(*storage).OpenWhole("../file", 10), nullptr);
  // The cache may have the file.
  TemporaryDirectory directory;
  HttpOptions options = OptionsFor("S3");
  options.cache_directory = directory.path("cache");
  EXPECT_EQ(GetWhole(ClientOf(options), url, 10).status().code(), absl::StatusCode::kUnimplemented);
}

TEST(Http, AScanReadsSmallFilesWhole) {
  for (const bool packed : {false, true}) {
    const std::string url = NewUrl();
    for (uint64_t part = 0; part < 4; ++part) {
      ASSERT_EQ(
          WritePart(*ClientOf("S3").OpenTable(url), 10 * part, packed ? WriterOptions() : kLoose),
          absl::OkStatus());
    }
    RequestsAt("PROXY");
    const auto table = TableReader::Open(*ClientOf("PROXY").OpenTable(url));
    ASSERT_TRUE(table.ok()) << table.status();
    auto scan = table->NewScan({});
    ASSERT_TRUE(scan.ok()) << scan.status();
    uint64_t rows = 0;
    for (const auto& batch : scan->Batches()) rows += batch->num_rows();
    EXPECT_EQ(rows, 40);
    EXPECT_EQ(RequestsAt("PROXY"), 1 + 4 * (packed ? 1 : ManyTypes().columns.size()));
  }
}

TEST(Http, PathsOfATableAreChecked) {
  const auto storage = *ClientOf("S3").OpenTable(NewUrl());
  for (const char* path :
       {"", ".", "..", "../x", "a/..", "a/b/c", "/a", "a//b", "a?b", "a b", "a/"}) {
    EXPECT_EQ(storage->Open(path).status().code(), absl::StatusCode::kInvalidArgument) << path;
    EXPECT_EQ(storage->Delete(path).code(), absl::StatusCode::kInvalidArgument) << path;
  }
}

TEST(Http, NeighbouringRangesAreOneRequest) {
  const std::string url = NewUrl();
  const std::vector<uint8_t> bytes = SomeBytes(2 << 20);
  Put(url, bytes);
  const auto source = ClientOf("PROXY").OpenUrl(url);
  ASSERT_TRUE(source.ok());
  RequestsAt("PROXY");
  std::vector<std::vector<uint8_t>> read(6, std::vector<uint8_t>(1000));
  const uint64_t offsets[] = {100'000, 101'000, 150'000, 700'000, 699'000, 1'500'000};
  std::vector<ReadRequest> requests;
  for (size_t i = 0; i < 6; ++i) requests.push_back({offsets[i], read[i], {}});
  (*source)->ReadMany(requests);
  for (size_t i = 0; i < 6; ++i) {
    EXPECT_TRUE(requests[i].status.ok()) << requests[i].status;
    EXPECT_TRUE(IsRange(read[i], bytes, offsets[i]));
  }
  EXPECT_EQ(RequestsAt("PROXY"), 3);
}

TEST(Http, TheCacheSavesRequests) {
  TemporaryDirectory directory;
  HttpOptions options = OptionsFor("PROXY");
  options.cache_directory = directory.path("cache");
  const std::string url = NewUrl();
  const std::vector<uint8_t> bytes = SomeBytes(1'000'000);
  Put(url, bytes);
  RequestsAt("PROXY");
  EXPECT_EQ(*Get(ClientOf(options), url), bytes);
  EXPECT_EQ(RequestsAt("PROXY"), 3);  // both ends, and all pieces
  EXPECT_EQ(*Get(ClientOf(options), url), bytes);
  EXPECT_EQ(RequestsAt("PROXY"), 2);
  // Another version of the object is another object.
  const std::vector<uint8_t> changed = SomeBytes(1'000'000, 2);
  Put(url, changed);
  EXPECT_EQ(*Get(ClientOf(options), url), changed);
  RequestsAt("PROXY");
  // Damaged pieces are read again.
  int files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(options.cache_directory)) {
    if (!entry.is_regular_file() || entry.path().filename() == "cfile-cache") continue;
    std::fstream file(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(1000);
    const int byte = file.get();
    file.seekp(1000);
    file.put(static_cast<char>(byte ^ 1));
    ++files;
  }
  EXPECT_EQ(files, 2 * 16);
  EXPECT_EQ(*Get(ClientOf(options), url), changed);
  EXPECT_EQ(RequestsAt("PROXY"), 3);
  // The cache is the user's alone.
  const auto mode = std::filesystem::status(options.cache_directory).permissions();
  EXPECT_EQ(mode, std::filesystem::perms::owner_all);
  std::filesystem::permissions(options.cache_directory, std::filesystem::perms(0755));
  EXPECT_EQ(HttpClient::Create(options).status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST(Http, TheCacheRemovesOnlyItsOwnFiles) {
  namespace fs = std::filesystem;
  TemporaryDirectory directory;
  HttpOptions options = OptionsFor("S3");
  options.max_cache_bytes = 1 << 20;
  const std::string piece = "ab/" + std::string(62, '0');
  const auto add = [&](const std::string& name) {
    const fs::path path = fs::path(options.cache_directory) / name;
    fs::create_directories(path.parent_path());
    fs::permissions(options.cache_directory, fs::perms::owner_all);
    WriteFile(path.string(), std::string(2 << 20, 'x'));
    fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::hours(1000));
  };
  const std::vector<std::string> others = {"thesis.txt",
                                           "notes.tmp",
                                           "ab/notes.tmp",
                                           "cd/ef",
                                           std::string(64, '0'),
                                           "AB/" + std::string(62, '0'),
                                           "abc/" + std::string(62, '0'),
                                           piece + ".tmp",
                                           piece + ".1.2",
                                           piece + ".1x.tmp",
                                           "ab/cd/" + std::string(62, '0'),
                                           "cd/" + std::string(62, '0') + "/notes.txt"};
  for (size_t i = 0; i < others.size(); ++i) {
    options.cache_directory = directory.path("not_a_cache" + std::to_string(i));
    add(piece);
    add(others[i]);
    const absl::Status status = HttpClient::Create(options).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << others[i];
    EXPECT_THAT(std::string(status.message()),
                HasSubstr(options.cache_directory + ": expected a cache or an empty directory"));
    EXPECT_TRUE(fs::exists(options.cache_directory + "/" + piece));
    EXPECT_TRUE(fs::exists(options.cache_directory + "/" + others[i]));
  }
  // A cache of an earlier version has no marker.
  options.cache_directory = directory.path("cache");
  add(piece);
  add(piece + ".1.2.tmp");
  EXPECT_TRUE(HttpClient::Create(options).ok());
  EXPECT_FALSE(fs::exists(options.cache_directory + "/" + piece));
  EXPECT_FALSE(fs::exists(options.cache_directory + "/" + piece + ".1.2.tmp"));
  // Files that are added to a cache stay.
  for (const std::string& name : others) add(name);
  add(piece);
  EXPECT_TRUE(HttpClient::Create(options).ok());
  EXPECT_FALSE(fs::exists(options.cache_directory + "/" + piece));
  for (const std::string& name : others) {
    EXPECT_TRUE(fs::exists(options.cache_directory + "/" + name)) << name;
  }
}

TEST(Http, TheCacheIsBounded) {
  TemporaryDirectory directory;
  HttpOptions options = OptionsFor("S3");
  options.cache_directory = directory.path("cache");
  options.max_cache_bytes = 1 << 20;
  for (int i = 0; i < 5; ++i) {
    const std::string url = NewUrl();
    Put(url, SomeBytes(1'000'000));
    EXPECT_TRUE(Get(ClientOf(options), url).ok());
    uint64_t size_bytes = 0;
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(options.cache_directory)) {
      if (entry.is_regular_file()) size_bytes += entry.file_size();
    }
    EXPECT_LE(size_bytes, (1 << 20) * 17 / 16);
    EXPECT_GT(size_bytes, 1 << 19);
  }
}

int64_t Mixed(uint64_t row) { return static_cast<int64_t>(row * 0x9E3779B97F4A7C15u >> 1); }

// Puts a file of 200,000 numbers, Mixed(0), Mixed(1), ..., in blocks of 16 KiB.
std::string PutNumbers() {
  std::vector<uint8_t> file;
  auto writer =
      Writer<int64_t>::Create(NewMemorySink(&file), ColumnType::Int64(),
                              {.encoding = Encoding::kPlain, .block_size_bytes = 16 << 10});
  EXPECT_TRUE(writer.ok());
  std::vector<int64_t> values(200'000);
  for (size_t i = 0; i < values.size(); ++i) values[i] = Mixed(i);
  EXPECT_TRUE(writer->Append(values).ok() && writer->Finish().ok());
  const std::string url = NewUrl();
  Put(url, file);
  return url;
}

// A response was damaged on its way. The cache does not keep it, and no reader sees it.
TEST(Http, DamagedResponsesDoNotStayInTheCache) {
  const std::string url = PutNumbers();
  TemporaryDirectory directory;
  for (const bool in_background : {true, false}) {
    SCOPED_TRACE(in_background);
    HttpOptions options = OptionsFor("DAMAGED_ONCE");
    options.cache_directory = directory.path(in_background ? "a" : "b");
    const std::string copy = NewUrl();
    Put(copy, *Get(ClientOf("S3"), url));
    for (const char* server : {"DAMAGED_ONCE", "PROXY"}) {  // then from the cache
      options.s3.endpoint = Server(server);
      const auto source = ClientOf(options).OpenUrl(copy);
      ASSERT_TRUE(source.ok()) << source.status();
      const auto reader = Reader::Open(*source);
      ASSERT_TRUE(reader.ok()) << reader.status();
      auto cursor = *reader->NewCursor<int64_t>();
      for (uint64_t row = 0; row < 200'000;) {
        if (!in_background) {
          ASSERT_TRUE(cursor.SeekToOrdinal(row).ok());
        }
        const auto batch = cursor.Next(1'000);
        ASSERT_TRUE(batch.ok()) << batch.status();
        for (size_t i = 0; i < batch->size(); ++i)
          ASSERT_EQ(batch->values[i], Mixed(batch->first_ordinal + i));
        row += batch->size();
      }
    }
  }
}

// A scan reads small files whole, and keeps them in memory.
TEST(Http, DamagedResponsesOfWholeFilesAreReadAgain) {
  const std::string url = NewUrl();
  std::vector<int64_t> values(20'000);
  std::mt19937_64 random(1);
  for (int64_t& value : values) value = static_cast<int64_t>(random());
  auto writer = TableWriter::Create(*ClientOf("S3").OpenTable(url),
                                    {.columns = {{.name = "a", .type = ColumnType::Int64()}}});
  ASSERT_TRUE(writer.ok() && writer->Append<int64_t>(0, values).ok() && writer->Finish().ok());
  const auto table = TableReader::Open(*ClientOf("DAMAGED_ONCE").OpenTable(url));
  ASSERT_TRUE(table.ok()) << table.status();
  for (const char* when : {"with the damaged bytes in memory", "again"}) {
    SCOPED_TRACE(when);
    auto scan = table->NewScan({});
    ASSERT_TRUE(scan.ok()) << scan.status();
    uint64_t row = 0;
    for (const auto& batch : scan->Batches()) {
      ASSERT_TRUE(batch.ok()) << batch.status();
      for (const int64_t value : batch->column<int64_t>(0).values) ASSERT_EQ(value, values[row++]);
    }
    EXPECT_EQ(row, values.size());
  }
}

TEST(Http, OpeningAFileIsOneRoundTrip) {
  const std::string url = PutNumbers();
  RequestsAt("PROXY");
  const auto source = ClientOf("PROXY").OpenUrl(url);
  ASSERT_TRUE(source.ok());
  const auto reader = Reader::Open(*source);
  ASSERT_TRUE(reader.ok()) << reader.status();
  EXPECT_EQ(RequestsAt("PROXY"), 2);  // at the same time: both ends of the file
}

TEST(Http, BlocksAreReadAtTheSameTime) {
  const std::string url = PutNumbers();
  RequestsAt("GATHERING");
  const HttpClient client = ClientOf("GATHERING");
  const Reader reader = *Reader::Open(*client.OpenUrl(url), {.read_ahead_bytes = 16 << 10});
  std::vector<uint64_t> ordinals(90);
  for (size_t i = 0; i < ordinals.size(); ++i) ordinals[i] = i * 2'100;  // in 90 of 98 blocks
  OwnedBatch<int64_t> taken;
  ASSERT_TRUE(reader.Take(ordinals, taken).ok());
  for (size_t i = 0; i < ordinals.size(); ++i)
    EXPECT_EQ(taken.batch().values[i], Mixed(ordinals[i])) << i;
  EXPECT_LE(RequestsAt("GATHERING"), 2 + 90);
  const uint64_t most = AskProxy("GATHERING", "/-/most");
  EXPECT_GE(most, 12);
  EXPECT_LE(most, 16);
  EXPECT_LE(client.counters().connections, 16);
}

TEST(Http, ReadsInTheBackground) {
  const std::string url = NewUrl();
  const std::vector<uint8_t> bytes = SomeBytes(1'000'000);
  Put(url, bytes);
  TemporaryDirectory directory;
  for (const bool cached : {false, true}) {
    // Each proxy that disturbs the first request makes Wait repeat the read.
    for (const char* server : {"PROXY", "LATENCY", "CUT_FIRST", "TRUNCATED_FIRST",
                               "SLOW_DOWN_FIRST", "INTERNAL_ERROR_FIRST"}) {
      HttpOptions options = OptionsFor(server);
      if (cached) options.cache_directory = directory.path(server);
      const HttpClient client = ClientOf(options);
      const auto source = *client.OpenUrl(url);
      ASSERT_TRUE(source->ReadsInBackground());
      struct Piece {
        uint64_t offset;
        std::vector<uint8_t> bytes;
        std::unique_ptr<PendingRead> read;
      };
      std::vector<Piece> pieces;
      for (uint64_t offset = 1; offset + 30'000 < bytes.size(); offset += 30'000) {
        Piece& piece = pieces.emplace_back(offset, std::vector<uint8_t>(30'000), nullptr);
        piece.read = source->BeginRead(offset, piece.bytes);
      }
      for (size_t i = 0; i < pieces.size(); i += 3) pieces[i].read.reset();  // not needed any more
      for (Piece& piece : pieces) {
        if (piece.read == nullptr) continue;
        const absl::Status status = piece.read->Wait();
        ASSERT_TRUE(status.ok()) << server << ": " << status;
        EXPECT_TRUE(IsRange(piece.bytes, bytes, piece.offset)) << server << " " << piece.offset;
      }
    }
  }
}

// An object on the server, and a client with a cache that has opened the object.
struct CachedObject {
  TemporaryDirectory directory;
  const std::string cache = directory.path("cache");
  const std::vector<uint8_t> bytes = SomeBytes(1'000'000);
  const std::string url = NewUrl();
  const HttpClient client = [&] {
    Put(url, bytes);
    HttpOptions options = OptionsFor("PROXY");
    options.cache_directory = cache;
    return ClientOf(options);
  }();
  const std::shared_ptr<const Source> source = *client.OpenUrl(url);
};

TEST(Http, ReadsInTheBackgroundThroughTheCache) {
  const CachedObject object;
  RequestsAt("PROXY");
  std::vector<uint8_t> read(300'000);
  for (const uint64_t expected : {1, 0}) {
    ASSERT_TRUE(object.source->BeginRead(100'000, read)->Wait().ok());
    EXPECT_TRUE(IsRange(read, object.bytes, 100'000));
    EXPECT_EQ(RequestsAt("PROXY"), expected);
  }
  // A range that begins before the pieces in the cache needs only the others.
  const uint64_t before = object.client.counters().bytes_received;
  read.resize(400'000);
  ASSERT_TRUE(object.source->BeginRead(0, read)->Wait().ok());
  EXPECT_TRUE(IsRange(read, object.bytes, 0));
  EXPECT_EQ(object.client.counters().bytes_received - before, 64 << 10);
}

TEST(Http, ACacheThatCannotBeWrittenCostsNoRequest) {
  const CachedObject object;
  std::filesystem::remove_all(object.cache);
  WriteFile(object.cache, "not a directory");
  RequestsAt("PROXY");
  std::vector<uint8_t> read(300'000);
  ASSERT_TRUE(object.source->BeginRead(100'000, read)->Wait().ok());
  EXPECT_TRUE(IsRange(read, object.bytes, 100'000));
  EXPECT_EQ(RequestsAt("PROXY"), 1);
}

TEST(Http, TheCacheMakesItsDirectories) {
  TemporaryDirectory directory;
  HttpOptions options = OptionsFor("S3");
  for (const char* path : {"a/b/cache", "c//d/"}) {
    options.cache_directory = directory.path(path);
    const auto client = HttpClient::Create(options);
    ASSERT_TRUE(client.ok()) << client.status();
  }
  for (const char* path : {"a", "a/b", "a/b/cache", "c", "c/d"}) {
    EXPECT_EQ(std::filesystem::status(directory.path(path)).permissions(),
              std::filesystem::perms::owner_all)
        << path;
  }
  WriteFile(directory.path("file"), "");
  options.cache_directory = directory.path("file/cache");
  EXPECT_THAT(HttpClient::Create(options).status().ToString(),
              AllOf(HasSubstr("file/cache: cannot make the directory: "), HasSubstr("irectory")));
}

TEST(Http, AForkedProcessHasItsOwnConnections) {
  const std::string url = NewUrl();
  const std::vector<uint8_t> bytes = SomeBytes(300'000);
  Put(url, bytes);
  const HttpClient client = ClientOf("LATENCY");
  const auto source = *client.OpenUrl(url);
  std::vector<uint8_t> read(1'000), begun(1'000);
  auto pending = source->BeginRead(200'000, begun);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const bool good = source->ReadAt(100'000, read).ok() && pending->Wait().ok() &&
                      IsRange(read, bytes, 100'000) && IsRange(begun, bytes, 200'000);
    pending.reset();
    _exit(good ? 0 : 1);
  }
  int status = 1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  ASSERT_TRUE(pending->Wait().ok());
  EXPECT_TRUE(IsRange(begun, bytes, 200'000));
  ASSERT_TRUE(source->ReadAt(100'000, read).ok());
  EXPECT_TRUE(IsRange(read, bytes, 100'000));
}

}  // namespace
}  // namespace cfile
