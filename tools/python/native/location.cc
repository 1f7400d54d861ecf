#include "tools/python/native/location.h"

#include <cstdlib>
#include <map>
#include <tuple>
#include <utility>

#include "cfile/status.h"
#include "cfile/table.h"
#include "tools/python/native/object_source.h"
#include "tools/python/native/settings.h"
#ifdef CFILE_WITH_HTTP
#include "cfile/http.h"
#endif

namespace cfile_python {
namespace {

#ifdef CFILE_WITH_HTTP
cfile::HttpOptions HttpOptionsOf(const nb::dict& given) {
  cfile::HttpOptions options{.interrupted = [] {
    const absl::Status status = TakeInterrupt();
    return status.ok() ? RunSignalHandlers("a request") : status;
  }};
  Given(given, "storage_options: ")
      .To("endpoint", options.s3.endpoint)
      .To("region", options.s3.region)
      .To("anonymous", options.s3.anonymous)
      .To("path_style", options.s3.path_style)
      .To("cache", options.cache_directory)
      .To("certificate_file", options.certificate_file)
      .Done();
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
#endif

// What os.fsencode returns for a str. ValueError: there is a zero byte in it.
std::string EncodedPath(nb::handle path) {
  PyObject* bytes = nullptr;
  if (PyUnicode_FSConverter(path.ptr(), &bytes) == 0) throw nb::python_error();
  return PyBytes_AsString(nb::steal(bytes).ptr());
}

}  // namespace

Location::Location(std::string path) : text_(std::move(path)) {}

Location::Location(std::string url, [[maybe_unused]] const nb::dict& options)
    : text_(std::move(url)) {
#ifdef CFILE_WITH_HTTP
  client_ = ClientOf(HttpOptionsOf(options));
#else
  Raise(absl::UnimplementedError("this build of cfile cannot read URLs"));
#endif
}

absl::StatusOr<std::shared_ptr<const cfile::Source>> Location::OpenFile() const {
#ifdef CFILE_WITH_HTTP
  if (is_url()) return Interruptible(client_->OpenUrl(text_));
#endif
  return Interruptible(cfile::OpenPreadSource(text_));
}

absl::StatusOr<std::unique_ptr<cfile::Sink>> Location::CreateFile(
    cfile::ExistingFile existing) const {
#ifdef CFILE_WITH_HTTP
  if (is_url()) return Interruptible(client_->CreateUrl(text_, existing));
#endif
  return Interruptible(cfile::NewFileSink(text_, existing));
}

std::shared_ptr<cfile::Storage> Location::Storage() const {
#ifdef CFILE_WITH_HTTP
  if (is_url()) return Interruptible(ValueOf(client_->OpenTable(text_)));
#endif
  return Interruptible(cfile::NewLocalStorage(text_, cfile::ReaderOptions::Access::kPread));
}

std::optional<Location> LocationOf(const nb::object& object) {
  if (nb::isinstance<nb::str>(object)) return Location(EncodedPath(object));
  if (nb::isinstance<Location>(object)) return nb::cast<Location>(object);
  return std::nullopt;
}

cfile::Schema SchemaOfTable(const Location& place) {
  return AtTable(place,
                 [](const auto& storage) { return cfile::TableReader::Open(storage, kLimits); })
      .schema();
}

std::vector<cfile::WriterOptions> OptionsOfTable(const Location& place, const nb::dict& settings) {
  if (settings.size() == 0) return {};
  return OptionsOf(settings, SchemaOfTable(place));
}

void AddLocation(nb::module_& module) {
  nb::class_<Location>(module, "Location")
      .def("__init__",
           [](Location* place, const nb::str& path) { new (place) Location(EncodedPath(path)); })
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
