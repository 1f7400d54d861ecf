#include "cfile/parts/http/s3_credentials.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "cfile/parts/http/url.h"
#include "encodings/core/status.h"

namespace cfile::internal {
namespace {

constexpr size_t kMaxFileBytes = 1 << 20;

std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string Trimmed(std::string_view text) {
  const auto stripped = absl::StripAsciiWhitespace({text.data(), text.size()});
  return {stripped.data(), stripped.size()};
}

struct FileName {
  const char* variable;  // of the environment, with the path
  const char* usual;     // the file in the home directory, if the variable is not set
};
constexpr FileName kKeysFile = {"AWS_SHARED_CREDENTIALS_FILE", "/.aws/credentials"};
constexpr FileName kConfigFile = {"AWS_CONFIG_FILE", "/.aws/config"};

// "": there is neither the variable nor a home directory.
std::string PathOf(const FileName& name) {
  std::string path = Environment(name.variable);
  const std::string home = path.empty() ? Environment("HOME") : "";
  return home.empty() ? path : absl::StrCat(home, name.usual);
}

// The settings of the profile in a file. The usual file may be missing.
absl::StatusOr<std::map<std::string, std::string>> ProfileIn(const FileName& name,
                                                             const std::string& profile) {
  const std::string path = PathOf(name);
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    if (Environment(name.variable).empty()) return std::map<std::string, std::string>();
    return absl::InvalidArgumentError(
        absl::StrCat(path, " (of ", name.variable, "): cannot be opened"));
  }
  std::string text(kMaxFileBytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(file.gcount()));
  if (file.bad() || text.size() > kMaxFileBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": cannot be read, or is longer than ", kMaxFileBytes, " bytes"));
  }
  IniSections sections = ParseIni(text);
  // The config file writes "profile NAME" for all profiles but the default one.
  const auto found = sections.find(absl::StrCat("profile ", profile));
  return std::move(found != sections.end() ? found->second : sections[profile]);
}

// Sets `value`, if it is empty, to the first text that is not empty.
void SetDefault(std::string& value, std::initializer_list<std::string> texts) {
  for (const std::string& text : texts) {
    if (value.empty()) value = text;
  }
}

bool IsRegion(const std::string& region) {
  return !region.empty() && std::all_of(region.begin(), region.end(), [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_';
  });
}

}  // namespace

IniSections ParseIni(std::string_view text) {
  IniSections sections;
  std::string section;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() || line[0] == '#' || line[0] == ';') continue;
    if (absl::ascii_isspace(static_cast<unsigned char>(line[0]))) continue;
    if (line[0] == '[') {
      section = Trimmed(line.substr(1, std::min(line.find(']'), line.size()) - 1));
      continue;
    }
    const size_t equals = line.find('=');
    if (equals == std::string_view::npos) continue;
    sections[section][Trimmed(line.substr(0, equals))] = Trimmed(line.substr(equals + 1));
  }
  return sections;
}

absl::StatusOr<S3Options> CompleteS3Options(S3Options options) {
  std::string profile = Environment("AWS_PROFILE");
  const bool named_profile = !profile.empty();
  if (!named_profile) profile = "default";
  CFILE_ASSIGN_OR_RETURN(auto config, ProfileIn(kConfigFile, profile));

  if (Environment("AWS_SKIP_SIGNATURE") == "true") options.anonymous = true;
  const auto has_keys = [&] {
    return !options.access_key_id.empty() || !options.secret_access_key.empty();
  };
  // The keys and the token belong together, so all three come from one place.
  const auto take = [&](std::string id, std::string secret, std::string token) {
    if (has_keys()) return;
    options.access_key_id = std::move(id);
    options.secret_access_key = std::move(secret);
    options.session_token = std::move(token);
  };
  if (options.anonymous) {
    options.access_key_id = options.secret_access_key = options.session_token = "";
  } else {
    take(Environment("AWS_ACCESS_KEY_ID"), Environment("AWS_SECRET_ACCESS_KEY"),
         Environment("AWS_SESSION_TOKEN"));
    if (!has_keys()) {
      CFILE_ASSIGN_OR_RETURN(auto keys, ProfileIn(kKeysFile, profile));
      if (named_profile && keys.empty() && config.empty()) {
        return absl::InvalidArgumentError(
            absl::StrCat("AWS_PROFILE names the profile ", profile,
                         ", but neither the file of credentials nor the file of settings has it"));
      }
      for (auto* file : {&keys, &config}) {
        take((*file)["aws_access_key_id"], (*file)["aws_secret_access_key"],
             (*file)["aws_session_token"]);
      }
    }
    if (!has_keys()) {
      return absl::FailedPreconditionError(
          "there are no credentials for s3:// URLs: set AWS_ACCESS_KEY_ID and "
          "AWS_SECRET_ACCESS_KEY, or write ~/.aws/credentials; set AWS_SKIP_SIGNATURE=true to read "
          "public objects without credentials");
    }
    if (options.access_key_id.empty() || options.secret_access_key.empty()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "of the two keys for s3:// URLs, the ",
          options.access_key_id.empty() ? "access key id" : "secret access key", " is missing"));
    }
  }

  SetDefault(options.region, {Environment("AWS_REGION"), Environment("AWS_DEFAULT_REGION"),
                              config["region"], "us-east-1"});
  if (!IsRegion(options.region)) {
    return absl::InvalidArgumentError(
        "the region for s3:// URLs may have only letters, digits, - and _");
  }
  SetDefault(options.endpoint, {Environment("AWS_ENDPOINT_URL_S3"), Environment("AWS_ENDPOINT_URL"),
                                config["endpoint_url"]});
  if (options.endpoint.empty()) {
    options.endpoint = absl::StrCat("https://s3.", options.region, ".amazonaws.com");
  } else {
    options.path_style = true;
  }
  CFILE_RETURN_IF_ERROR(ParseEndpoint(options.endpoint).status());
  return options;
}

absl::StatusOr<std::shared_ptr<S3Keys>> S3Keys::Read(const S3Options& given) {
  std::shared_ptr<S3Keys> keys(new S3Keys(given));
  if (given.access_key_id.empty() && Environment("AWS_ACCESS_KEY_ID").empty())
    keys->paths_ = {PathOf(kKeysFile), PathOf(kConfigFile)};
  keys->states_ = keys->States();
  CFILE_ASSIGN_OR_RETURN(keys->options_, CompleteS3Options(given));
  return keys;
}

S3Options S3Keys::Now() {
  const std::lock_guard lock(mutex_);
  if (FileStates now = States(); now != states_) {
    states_ = std::move(now);
    if (const auto read = CompleteS3Options(given_); read.ok()) {
      options_.access_key_id = read->access_key_id;
      options_.secret_access_key = read->secret_access_key;
      options_.session_token = read->session_token;
    }
  }
  return options_;
}

S3Keys::FileStates S3Keys::States() const {
  FileStates states;
  for (const std::string& path : paths_) {
    std::error_code error;  // of a file that is missing
    const auto time = std::filesystem::last_write_time(path, error);
    states.emplace_back(time, std::filesystem::file_size(path, error));
  }
  return states;
}

}  // namespace cfile::internal
