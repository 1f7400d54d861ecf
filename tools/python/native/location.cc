#include "tools/python/native/location.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
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
T Cast(const char* option, nb::handle value) {
  T result{};
  if (nb::try_cast<T>(value, result)) return result;
  throw nb::type_error(cfile::StrCat("storage_options: ", option, " has a wrong type").c_str());
}

using Options = cfile::HttpOptions;

// The keys of storage_options, and how each sets its option.
struct StorageOption {
  const char* name;
  void (*set)(const char* name, nb::handle value, Options& options);
};
constexpr StorageOption kStorageOptions[] = {
    {"endpoint", [](const char* name, nb::handle value,
                    Options& options) { options.s3.endpoint = Cast<std::string>(name, value); }},
    {"region", [](const char* name, nb::handle value,
                  Options& options) { options.s3.region = Cast<std::string>(name, value); }},
    {"anonymous", [](const char* name, nb::handle value,
                     Options& options) { options.s3.anonymous = Cast<bool>(name, value); }},
    {"path_style", [](const char* name, nb::handle value,
                      Options& options) { options.s3.path_style = Cast<bool>(name, value); }},
    {"cache", [](const char* name, nb::handle value,
                 Options& options) { options.cache_directory = Cast<std::string>(name, value); }},
    {"certificate_file",
     [](const char* name, nb::handle value, Options& options) {
       options.certificate_file = Cast<std::string>(name, value);
     }},
};

Options HttpOptionsOf(const nb::dict& given) {
  Options options{.interrupted = [] {
    const absl::Status status = TakeInterrupt();
    return status.ok() ? RunSignalHandlers("a request") : status;
  }};
  for (const auto [key, value] : given) {
    const auto name = nb::cast<std::string>(nb::str(key));
    const auto* const option = std::find_if(std::begin(kStorageOptions), std::end(kStorageOptions),
                                            [&](const auto& known) { return known.name == name; });
    if (option == std::end(kStorageOptions)) {
      std::string names;
      for (const StorageOption& known : kStorageOptions)
        names += cfile::StrCat(names.empty() ? "" : ", ", known.name);
      Raise(absl::InvalidArgumentError(
          cfile::StrCat("storage_options: there is no option ", name, "; there are ", names)));
    }
    option->set(option->name, value, options);
  }
  return options;
}

// The variables of the environment that a client reads.
std::string Environment() {
  std::string text;
  for (const char* name : {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN",
                           "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_ENDPOINT_URL_S3",
                           "AWS_ENDPOINT_URL", "AWS_PROFILE", "AWS_SHARED_CREDENTIALS_FILE",
                           "AWS_CONFIG_FILE", "AWS_SKIP_SIGNATURE", "HOME", "SSL_CERT_FILE"}) {
    const char* const value = std::getenv(name);
    text += cfile::StrCat(value == nullptr ? "" : value, "\n");
  }
  return text;
}

// The client for these options. The client keeps its connections until the environment changes,
// because a program may get new credentials.
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

absl::StatusOr<std::unique_ptr<cfile::Sink>> Location::CreateFile(
    cfile::ExistingFile existing) const {
  return Interruptible(client_ == nullptr ? cfile::NewFileSink(text_, existing)
                                          : client_->CreateUrl(text_, existing));
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

absl::StatusOr<std::unique_ptr<cfile::Sink>> Location::CreateFile(
    cfile::ExistingFile existing) const {
  return Interruptible(cfile::NewFileSink(text_, existing));
}

std::shared_ptr<cfile::Storage> Location::Storage() const {
  return Interruptible(LocalStorage(text_));
}

#endif

Location::Location(std::string path) : text_(std::move(path)) {}

namespace {

// What os.fsencode returns for a str. ValueError: there is a zero byte in it.
std::string BytesOf(nb::handle path) {
  PyObject* bytes = nullptr;
  if (PyUnicode_FSConverter(path.ptr(), &bytes) == 0) throw nb::python_error();
  return PyBytes_AsString(nb::steal(bytes).ptr());
}

}  // namespace

std::optional<Location> LocationOf(const nb::object& object) {
  if (nb::isinstance<nb::str>(object)) return Location(BytesOf(object));
  if (nb::isinstance<Location>(object)) return nb::cast<Location>(object);
  return std::nullopt;
}

void AddLocation(nb::module_& module) {
  nb::class_<Location>(module, "Location")
      .def("__init__",
           [](Location* place, const nb::str& path) { new (place) Location(BytesOf(path)); })
      .def(nb::init<std::string, const nb::dict&>(), nb::arg("url"), nb::arg("options"))
      .def("__str__", [](const Location& place) { return PathOf(place.text()); });
  nb::implicitly_convertible<nb::str, Location>();
  module.def("has_http", [] {
#ifdef CFILE_WITH_HTTP
    return true;
#else
    return false;
#endif
  });
}

}  // namespace cfile_python
