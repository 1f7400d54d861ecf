// Signatures, compared with the examples of Amazon's S3 API reference (Signature Calculations for
// the Authorization Header: Transferring Payload in a Single Chunk). The example with a session
// token was signed by botocore 1.43.11.
#include "cfile/parts/http/s3_signature.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "cfile/core/io/percent_decode.h"
#include "cfile/parts/http/connections.h"
#include "cfile/parts/http/s3_credentials.h"
#include "cfile/parts/http/url.h"
#include "encodings/core/bytes.h"
#include "tests/cfile/table_fixture.h"
#include "tests/cfile/temporary_directory.h"

namespace cfile::internal {
namespace {

using encodings::AsBytes;
using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

// 2013-05-24T00:00:00Z, of all examples.
constexpr std::chrono::system_clock::time_point kTime{std::chrono::seconds{1'369'353'600}};

std::string Authorization(HttpRequest request, std::string_view body = "",
                          const std::string& session_token = "") {
  const S3Options options = {.access_key_id = "AKIAIOSFODNN7EXAMPLE",
                             .secret_access_key = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
                             .session_token = session_token,
                             .region = "us-east-1",
                             .endpoint = {}};
  SignRequest(options, Sha256Hex(AsBytes(body)), kTime, request);
  return request.headers.back().second;
}

TEST(S3Signature, Examples) {
  const std::string host = "https://examplebucket.s3.amazonaws.com/";
  const HttpRequest range = {.url = host + "test.txt", .headers = {{"range", "bytes=0-9"}}};
  EXPECT_EQ(Authorization(range),
            "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, "
            "SignedHeaders=host;range;x-amz-content-sha256;x-amz-date, "
            "Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41");
  EXPECT_THAT(
      Authorization(range, "", "AQoEXAMPLEH4aoAH0gNCAPy+/="),
      EndsWith("=host;range;x-amz-content-sha256;x-amz-date;x-amz-security-token, "
               "Signature=af941e33460076c7d043ae531d0d576e488ef370952822717949be7bf1ff86f8"));
  EXPECT_THAT(Authorization({.method = "PUT",
                             .url = host + UrlEncode("test$file.text", true),
                             .headers = {{"date", "Fri, 24 May 2013 00:00:00 GMT"},
                                         {"x-amz-storage-class", "REDUCED_REDUNDANCY"}}},
                            "Welcome to Amazon S3."),
              EndsWith("=98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"));
  EXPECT_THAT(Authorization({.url = host + "?lifecycle="}),  // a query without a value
              EndsWith("=fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"));
  EXPECT_THAT(Authorization({.url = host + "?max-keys=2&prefix=J"}),
              EndsWith("=34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"));
}

TEST(Ini, SectionsAndComments) {
  const IniSections sections = ParseIni(
      "# a comment\n[default]\naws_access_key_id = AAA\r\naws_secret_access_key=b=c\n\n"
      "[profile two]\nregion = eu-west-1\ns3 =\n  max_concurrent_requests = 20\n; x = "
      "y\nnothing\n");
  EXPECT_EQ(
      sections,
      (IniSections{{"default", {{"aws_access_key_id", "AAA"}, {"aws_secret_access_key", "b=c"}}},
                   {"profile two", {{"region", "eu-west-1"}, {"s3", ""}}}}));
  EXPECT_TRUE(ParseIni("").empty());
  EXPECT_TRUE(ParseIni("[").empty());
}

TEST(Url, Encoding) {
  EXPECT_EQ(UrlEncode("a b/c+d%é~", true), "a%20b/c%2Bd%25%C3%A9~");
  EXPECT_EQ(UrlEncode("a/b", false), "a%2Fb");
  std::string decoded;
  EXPECT_TRUE(PercentDecode("a%20b%2Fc", decoded));
  EXPECT_EQ(decoded, "a b/c");
  for (const char* wrong : {"%", "%2", "%zz", "a%"}) EXPECT_FALSE(PercentDecode(wrong, decoded));
}

TEST(Url, MessagesHaveNoSecret) {
  EXPECT_EQ(RedactedUrl("https://user:password@host/path?signature=x#y"), "https://host/path");
  EXPECT_EQ(RedactedUrl("https://host?x@y"), "https://host");
  EXPECT_EQ(RedactedUrl("s3://bucket/a?b"), "s3://bucket/a?b");
  EXPECT_EQ(RedactedUrl("no url?secret"), "no url");
}

TEST(Url, TheUsualPortOfAnEndpointIsNotSigned) {
  EXPECT_EQ(ParseEndpoint("http://localhost:80")->host, "localhost");
  EXPECT_EQ(ParseEndpoint("https://localhost:443/")->host, "localhost");
  EXPECT_EQ(ParseEndpoint("https://[::443]:443")->host, "[::443]");
  EXPECT_EQ(ParseEndpoint("http://localhost:443")->host, "localhost:443");
  EXPECT_EQ(ParseEndpoint("https://localhost:80")->host, "localhost:80");
}

TEST(Url, MessagesAboutEndpoints) {
  EXPECT_EQ(ParseEndpoint("https://localhost:9000/")->host, "localhost:9000");
  const auto message = [](const char* url) { return ParseEndpoint(url).status().ToString(); };
  EXPECT_THAT(message("localhost:9000"),
              AllOf(HasSubstr("\"localhost:9000\""), HasSubstr("does not begin with https://")));
  EXPECT_THAT(message("http://user:hidden@localhost"),
              AllOf(HasSubstr("\"http://localhost\""), HasSubstr("has a user or a password"),
                    Not(HasSubstr("hidden"))));
  EXPECT_THAT(message("user:hidden@localhost"),
              AllOf(HasSubstr("\"localhost\""), Not(HasSubstr("hidden"))));
  EXPECT_THAT(message("http://"), HasSubstr("has no host"));
  EXPECT_THAT(message("http://localhost/bucket"), HasSubstr("something follows the host"));
}

using Values = std::map<std::string, std::string>;

// The files of credentials and of settings. `Found` sets variables of the environment, and unsets
// the others that name credentials.
class Credentials : public testing::Test {
 protected:
  absl::StatusOr<S3Options> Found(Values values, const S3Options& options = {}) {
    values.insert({{"AWS_SHARED_CREDENTIALS_FILE", file_}, {"AWS_CONFIG_FILE", settings_}});
    Unset();
    for (const auto& [name, value] : values) setenv(name.c_str(), value.c_str(), 1);
    return CompleteS3Options(options);
  }
  void SetUp() override { WriteFile(settings_, ""); }
  void TearDown() override { Unset(); }

  TemporaryDirectory directory_;
  const std::string file_ = directory_.path("credentials"), settings_ = directory_.path("config");

 private:
  static void Unset() {
    for (const char* name :
         {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE",
          "AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE", "AWS_SESSION_TOKEN"}) {
      unsetenv(name);
    }
  }
};

TEST_F(Credentials, KeysOfTheEnvironmentComeBeforeTheProfile) {
  WriteFile(file_, "[other]\naws_access_key_id = OF-FILE\naws_secret_access_key = b\n");
  Values values = {{"AWS_ACCESS_KEY_ID", "OF-ENVIRONMENT"},
                   {"AWS_SECRET_ACCESS_KEY", "a"},
                   {"AWS_PROFILE", "other"}};
  EXPECT_EQ(Found(values)->access_key_id, "OF-ENVIRONMENT");
  // Neither the profile nor the file is needed.
  values["AWS_PROFILE"] = "none";
  values["AWS_SHARED_CREDENTIALS_FILE"] = "/nowhere";
  const auto found = Found(values);
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ(found->access_key_id, "OF-ENVIRONMENT");
}

TEST_F(Credentials, TheTokenBelongsToItsKeys) {
  WriteFile(file_,
            "[default]\naws_access_key_id = a\naws_secret_access_key = b\n"
            "aws_session_token = of-file\n");
  const auto token = [&](const Values& values, const S3Options& options = {}) {
    const auto found = Found(values, options);
    return found.ok() ? found->session_token : found.status().ToString();
  };
  const Values keys = {{"AWS_ACCESS_KEY_ID", "c"}, {"AWS_SECRET_ACCESS_KEY", "d"}};
  Values keys_and_token = keys;
  keys_and_token["AWS_SESSION_TOKEN"] = "of-environment";
  S3Options options;
  EXPECT_EQ(token({}), "of-file");
  EXPECT_EQ(token({{"AWS_SESSION_TOKEN", "of-environment"}}), "of-file");
  EXPECT_EQ(token(keys), "");
  EXPECT_EQ(token(keys_and_token), "of-environment");
  options.access_key_id = options.secret_access_key = "e";
  EXPECT_EQ(token(keys_and_token, options), "");
  options.session_token = "of-options";
  EXPECT_EQ(token(keys_and_token, options), "of-options");
}

TEST_F(Credentials, TheProfileMustExist) {
  WriteFile(file_, "[other]\naws_access_key_id = OF-FILE\naws_secret_access_key = b\n");
  const auto found = Found({{"AWS_PROFILE", "other"}});
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ(found->access_key_id, "OF-FILE");
  EXPECT_THAT(Found({{"AWS_PROFILE", "none"}}).status().ToString(),
              HasSubstr("AWS_PROFILE names the profile none"));
}

TEST(Url, Buckets) {
  EXPECT_EQ(ParseS3Url("s3://bucket/a/b")->key, "a/b");
  EXPECT_EQ(ParseS3Url("s3://bucket")->key, "");
  for (const char* wrong : {"s3://", "s3://a", "s3://Bucket/x", "s3://a..b/x", "s3://-ab/../x/",
                            "s3://ab_c/x", "https://bucket/x"}) {
    EXPECT_EQ(ParseS3Url(wrong).status().code(), std::string_view(wrong) == "s3://-ab/../x/"
                                                     ? absl::StatusCode::kOk
                                                     : absl::StatusCode::kInvalidArgument)
        << wrong;
  }
}

}  // namespace
}  // namespace cfile::internal
