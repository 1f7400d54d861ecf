#include "tools/python/native/stream.h"

#include <cerrno>
#include <cstring>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "cfile/arrow_import.h"
#include "cfile/status.h"

namespace cfile_python {
namespace {

constexpr char kStreamName[] = "arrow_array_stream";
constexpr char kSchemaName[] = "arrow_schema";

// The library says which codes become which numbers of errno (cfile/arrow.h).
constexpr std::pair<int, absl::StatusCode> kCodes[] = {
    {EINVAL, absl::StatusCode::kInvalidArgument},
    {EINVAL, absl::StatusCode::kFailedPrecondition},
    {ENOENT, absl::StatusCode::kNotFound},
    {EEXIST, absl::StatusCode::kAlreadyExists},
    {EACCES, absl::StatusCode::kPermissionDenied},
    {EACCES, absl::StatusCode::kUnauthenticated},
    {ERANGE, absl::StatusCode::kOutOfRange},
    {ENOSYS, absl::StatusCode::kUnimplemented},
    {ECANCELED, absl::StatusCode::kCancelled},
    {ETIMEDOUT, absl::StatusCode::kDeadlineExceeded},
    {ENOMEM, absl::StatusCode::kResourceExhausted},
    {EAGAIN, absl::StatusCode::kAborted},
    {EAGAIN, absl::StatusCode::kUnavailable},
};

absl::StatusCode CodeOf(int error) {
  for (const auto& [number, code] : kCodes) {
    if (number == error) return code;
  }
  return absl::StatusCode::kDataLoss;
}

}  // namespace

// A stream around another one. Thread-compatible, but error() is thread-safe.
class CheckedStream {
 public:
  // Takes over *stream, whose release becomes null.
  CheckedStream(ArrowArrayStream* stream, std::string name) : name_(std::move(name)) {
    inner_.value = std::exchange(*stream, ArrowArrayStream{});
  }

  int GetSchema(ArrowSchema* out) { return Keep(inner_.value.get_schema(&inner_.value, out)); }
  int GetNext(ArrowArray* out) {
    // Some consumers hold the interpreter lock, others do not.
    const PyGILState_STATE held = PyGILState_Ensure();
    absl::Status interrupted = TakeInterrupt();
    if (interrupted.ok()) interrupted = RunSignalHandlers(name_);
    PyGILState_Release(held);
    if (!interrupted.ok()) {
      Set(std::move(interrupted));
      return EINTR;
    }
    std::optional<nb::gil_scoped_release> released;
    if (held == PyGILState_LOCKED) released.emplace();
    return Keep(inner_.value.get_next(&inner_.value, out));
  }
  const char* text() const { return text_.c_str(); }
  absl::Status error() const {
    const std::lock_guard lock(mutex_);
    return error_;
  }

 private:
  int Keep(int error) {
    if (error == 0) return 0;
    const char* const text = inner_.value.get_last_error(&inner_.value);
    Set({CodeOf(error), text != nullptr ? text : std::strerror(error)});
    return error;
  }
  void Set(absl::Status error) {
    text_ = std::string(error.message());
    const std::lock_guard lock(mutex_);
    error_ = std::move(error);
  }

  const std::string name_;
  Released<ArrowArrayStream> inner_;
  std::string text_;  // of the last error
  mutable std::mutex mutex_;
  absl::Status error_;
};

namespace {

// Moves `value` into a new capsule, which releases it unless a consumer has taken it.
template <typename Struct>
nb::object CapsuleOf(std::unique_ptr<Released<Struct>> value, const char* name) {
  PyObject* const capsule = PyCapsule_New(value.get(), name, [](PyObject* object) {
    const char* const name = PyCapsule_GetName(object);
    delete static_cast<Released<Struct>*>(PyCapsule_GetPointer(object, name));
  });
  if (capsule == nullptr) throw nb::python_error();
  value.release();  // the capsule owns it now
  return nb::steal(capsule);
}

// Calls a method of the PyCapsule interface and moves the struct out of its capsule.
template <typename Struct>
std::unique_ptr<Released<Struct>> Taken(nb::handle object, const char* method, const char* name) {
  if (!nb::hasattr(object, method)) {
    throw nb::type_error(cfile::StrCat("expected an object with ", method, ", got ",
                                       nb::cast<std::string>(nb::type_name(object.type())))
                             .c_str());
  }
  const nb::object capsule = object.attr(method)();
  auto* const found = static_cast<Struct*>(PyCapsule_GetPointer(capsule.ptr(), name));
  if (found == nullptr) throw nb::python_error();
  if (found->release == nullptr) {
    throw nb::value_error(cfile::StrCat(method, " has returned a struct that is released").c_str());
  }
  auto taken = std::make_unique<Released<Struct>>();
  taken->value = *found;
  found->release = nullptr;
  return taken;
}

}  // namespace

int ErrnoOf(absl::StatusCode code) {
  for (const auto& [number, of_number] : kCodes) {
    if (of_number == code) return number;
  }
  return EIO;
}

ExportedStream::ExportedStream(ArrowArrayStream* stream, std::string name, Pairs metadata)
    : stream_(std::make_shared<CheckedStream>(stream, std::move(name))),
      metadata_(std::move(metadata)) {}

nb::object ExportedStream::Capsule() {
  if (std::exchange(consumed_, true)) throw nb::value_error("the stream was consumed before");
  auto stream = std::make_unique<Released<ArrowArrayStream>>();
  MakeStream(stream_, &stream->value);
  return CapsuleOf(std::move(stream), kStreamName);
}

nb::object ExportedStream::SchemaCapsule() const {
  auto schema = std::make_unique<Released<ArrowSchema>>();
  if (stream_->GetSchema(&schema->value) != 0) RaiseError();
  return CapsuleOf(std::move(schema), kSchemaName);
}

void ExportedStream::RaiseError() const { Check(stream_->error()); }

std::unique_ptr<Released<ArrowArrayStream>> StreamOf(nb::handle data, const std::string& name) {
  auto taken = Taken<ArrowArrayStream>(data, "__arrow_c_stream__", kStreamName);
  auto stream = std::make_unique<Released<ArrowArrayStream>>();
  MakeStream(std::make_shared<CheckedStream>(&taken->value, name), &stream->value);
  return stream;
}

std::unique_ptr<Released<ArrowSchema>> SchemaOf(nb::handle type) {
  return Taken<ArrowSchema>(type, "__arrow_c_schema__", kSchemaName);
}

std::vector<std::string> FieldsOf(const ArrowSchema& type) {
  std::vector<std::string> names;
  for (int64_t i = 0; i < type.n_children; ++i) {
    const char* const name = type.children[i]->name;
    names.emplace_back(name == nullptr ? "" : name);
  }
  return names;
}

void AddStreams(nb::module_& module) {
  nb::class_<ExportedStream>(module, "Stream")
      .def(
          "__init__",
          [](ExportedStream* stream, const nb::object& data,
             const std::optional<std::pair<std::string, std::vector<std::string>>>& table,
             const std::vector<std::string>& byte_lists) {
            const auto storable = StreamOf(data, "data");
            std::optional<cfile::DescribedTable> described;
            if (table) described = {table->first, table->second};
            auto pairs = ValueOf(cfile::StoreArrowTypes(described, byte_lists, &storable->value));
            new (stream) ExportedStream(&storable->value, "data", std::move(pairs));
          },
          nb::arg("data"), nb::arg("table") = nb::none(),
          nb::arg("byte_lists") = std::vector<std::string>())
      .def_prop_ro("metadata", &ExportedStream::metadata)
      .def("__arrow_c_schema__", &ExportedStream::SchemaCapsule)
      .def(
          "__arrow_c_stream__",
          [](ExportedStream& stream, const nb::object&) { return stream.Capsule(); },
          nb::arg("requested_schema") = nb::none())
      .def("raise_error", &ExportedStream::RaiseError);
}

}  // namespace cfile_python
