// Arrow streams between Python and the library, as capsules of Arrow's PyCapsule interface
// (https://arrow.apache.org/docs/format/CDataInterface/PyCapsuleInterface.html).
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cfile/arrow_c_data.h"
#include "tools/python/native/errors.h"

namespace cfile_python {

// Releases a struct of Arrow at the end of its lifetime. Without the interpreter lock, because
// releasing may take time.
template <typename Struct>
struct Released {
  Struct value{};
  Released() = default;
  Released(const Released&) = delete;
  Released& operator=(const Released&) = delete;
  ~Released() {
    if (value.release != nullptr) value.release(&value);
  }
};

// The number of errno that a stream returns for an error.
int ErrnoOf(absl::StatusCode code);

// Makes a stream that shares `source`. Its members are GetSchema(ArrowSchema*) and
// GetNext(ArrowArray*), which return a number of errno, and text(): of the last error.
template <typename Source>
void MakeStream(std::shared_ptr<Source> source, ArrowArrayStream* out) {
  using Held = std::shared_ptr<Source>;
  *out = {.get_schema =
              [](ArrowArrayStream* stream, ArrowSchema* schema) {
                return (*static_cast<Held*>(stream->private_data))->GetSchema(schema);
              },
          .get_next =
              [](ArrowArrayStream* stream, ArrowArray* array) {
                return (*static_cast<Held*>(stream->private_data))->GetNext(array);
              },
          .get_last_error =
              [](ArrowArrayStream* stream) {
                return (*static_cast<Held*>(stream->private_data))->text();
              },
          .release =
              [](ArrowArrayStream* stream) {
                delete static_cast<Held*>(stream->private_data);
                stream->release = nullptr;
              },
          .private_data = new Held(std::move(source))};
}

class CheckedStream;

// A stream that leaves the library (Stream of cfile/_native.pyi). While a consumer reads it, the
// interpreter lock is released, and before each batch the handlers of signals run.
class ExportedStream {
 public:
  using Pairs = std::vector<std::pair<std::string, std::string>>;

  // Takes over `stream`, whose release becomes null. `name`: of the file or table, for errors.
  // `metadata`: see StoreArrowTypes.
  ExportedStream(ArrowArrayStream* stream, std::string name, Pairs metadata = {});

  const Pairs& metadata() const { return metadata_; }

  // Returns a capsule with the stream. ValueError: the function was called before.
  nb::object Capsule();
  // Returns a capsule with the type of the stream. Precondition: no thread reads the stream.
  nb::object SchemaCapsule() const;
  // Raises the exception of the stream's last error, if there is one.
  void RaiseError() const;

 private:
  std::shared_ptr<CheckedStream> stream_;  // shared with the stream of the capsule
  const Pairs metadata_;
  bool consumed_ = false;
};

// Moves the stream out of an object that has __arrow_c_stream__. TypeError: it has no such method,
// or the method returns something else. Needs the interpreter lock.
// The result runs the handlers of signals before each batch.
std::unique_ptr<Released<ArrowArrayStream>> StreamOf(nb::handle data, const std::string& name);

// Moves the type out of an object that has __arrow_c_schema__. Errors as StreamOf.
std::unique_ptr<Released<ArrowSchema>> SchemaOf(nb::handle type);

// The names of the fields of a struct type.
std::vector<std::string> FieldsOf(const ArrowSchema& type);

void AddStreams(nb::module_& module);

}  // namespace cfile_python
