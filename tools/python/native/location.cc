#include "tools/python/native/location.h"

#include <cstdlib>
#include <map>
#include <tuple>
#include <utility>

#include "cfile/status.h"
#include "tools/python/native/object_source.h"
#ifdef CFILE_WITH_HTTP
#include "cfile/http.h"
#endif

namespace cfile_python {
namespace {

std::shared_ptr<cfile::Storage> LocalStorage(const std::string& directory) {
  return cfile::NewLocalStorage(directory, cfile::ReaderOptions::Access::kPread);
}

}  // namespace

#ifdef CFILE_WITH_HTTP
namespace {

template <typename T>
T Cast(const std::string& option, nb::handle value) {
  T result{};
  if (nb::try_cast<T>(value, result)) return result;
  throw nb::type_error(cfile::StrCat("storage_options: ", option, " has a wrong type").c_str());
}

cfile::HttpOptions HttpOptionsOf(const nb::dict& options) {
  cfile::HttpOptions http;
  for (const auto [key, value] : options) {
    const auto option = nb::cast<std::string>(key);
    if (option == "endpoint") {
      http.s3.endpoint = Cast<std::string>(option, value);
    } else if (option == "region") {
      http.s3.region = Cast<std::string>(option, value);
    } else if (option == "anonymous") {
      http.s3.anonymous = Cast<bool>(option, value);
    } else if (option == "path_style") {
      http.s3.path_style = Cast<bool>(option, value);
    } else if (option == "cache") {
      http.cache_directory = Cast<std::string>(option, value);
    } else if (option == "certificate_file") {
      http.certificate_file = Cast<std::string>(option, value);
    } else {
      throw nb::key_error(cfile::StrCat("storage_options: ", option).c_str());
    }
  }
  return http;
}

// The variables of the environment that a client reads.
std::string Environment() {
  std::string text;
  for (const char* name :
       {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_REGION",
        "AWS_DEFAULT_REGION", "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_PROFILE",
        "AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE", "AWS_SKIP_SIGNATURE", "HOME",
        "SSL_CERT_FILE"}) {
    const char* const value = std::getenv(name);
    text += cfile::StrCat(value == nullptr ? "" : value, "\n");
  }
  return text;
}

// The client for these options. It keeps its connections until the environment changes: a program may
// get new credentials.
std::shared_ptr<const cfile::HttpClient> ClientOf(const cfile::HttpOptions& options) {
  using Key = std::tuple<std::string, std::string, bool, bool, std::string, std::string>;
  struct Client {
    std::string environment;
    std::shared_ptr<const cfile::HttpClient> client;
  };
  static auto* const clients = new std::map<Key, Client>();  // guarded by the interpreter lock
  const cfile::S3Options& s3 = options.s3;
  Client& known = (*clients)[{s3.endpoint, s3.region, s3.anonymous, s3.path_style,
                              options.cache_directory, options.certificate_file}];
  std::string environment = Environment();
  if (known.client == nullptr || known.environment != environment) {
    known.client = std::make_shared<cfile::HttpClient>(ValueOf(cfile::HttpClient::Create(options)));
    known.environment = std::move(environment);
  }
  return known.client;
}

}  // namespace

Location::Location(std::string url, const nb::dict& options)
    : text_(std::move(url)), client_(ClientOf(HttpOptionsOf(options))) {}

absl::StatusOr<std::shared_ptr<const cfile::Source>> Location::OpenFile() const {
  return Interruptible(client_ == nullptr ? cfile::OpenPreadSource(text_)
                                          : client_->OpenUrl(text_));
}

absl::StatusOr<std::unique_ptr<cfile::Sink>> Location::CreateFile() const {
  return Interruptible(client_ == nullptr ? cfile::NewFileSink(text_) : client_->CreateUrl(text_));
}

std::shared_ptr<cfile::Storage> Location::Storage() const {
  return Interruptible(client_ == nullptr ? LocalStorage(text_)
                                          : ValueOf(client_->OpenTable(text_)));
}

#else

Location::Location(std::string url, const nb::dict&) : text_(std::move(url)) {
  Raise(absl::UnimplementedError("this build of cfile cannot read URLs"));
}

absl::StatusOr<std::shared_ptr<const cfile::Source>> Location::OpenFile() const {
  return Interruptible(cfile::OpenPreadSource(text_));
}

absl::StatusOr<std::unique_ptr<cfile::Sink>> Location::CreateFile() const {
  return Interruptible(cfile::NewFileSink(text_));
}

std::shared_ptr<cfile::Storage> Location::Storage() const {
  return Interruptible(LocalStorage(text_));
}

#endif

Location::Location(std::string path) : text_(std::move(path)) {}

std::optional<Location> LocationOf(const nb::object& object) {
  std::string path;
  if (nb::try_cast(object, path)) return Location(std::move(path));
  if (nb::isinstance<Location>(object)) return nb::cast<Location>(object);
  return std::nullopt;
}

void AddLocation(nb::module_& module) {
  nb::class_<Location>(module, "Location")
      .def(nb::init<std::string>())
      .def(nb::init<std::string, const nb::dict&>(), nb::arg("url"), nb::arg("options"))
      .def("__str__", &Location::text);
  nb::implicitly_convertible<std::string, Location>();
  module.def("has_http", [] {
#ifdef CFILE_WITH_HTTP
    return true;
#else
    return false;
#endif
  });
}

}  // namespace cfile_python
