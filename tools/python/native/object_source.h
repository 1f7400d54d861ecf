// Files that objects of Python hold (RangedObject and ObjectFiles of cfile/_native.pyi), and local
// files whose reads and writes let the handlers of signals run.
#pragma once

#include <memory>
#include <string>

#include "cfile/io.h"
#include "cfile/storage.h"
#include "tools/python/native/errors.h"

namespace cfile_python {

// Return a source or a storage that calls the methods of `object`. They need the interpreter lock.
// An exception of a method becomes a status (StatusOfPythonError).
std::shared_ptr<const cfile::Source> NewObjectSource(const nb::object& object);
std::shared_ptr<cfile::Storage> NewObjectStorage(const nb::object& object);

// Returns a sink that calls the method `write` of `object` and, at the end, its method `flush` if
// there is one. It does not close the object.
std::unique_ptr<cfile::Sink> NewObjectSink(const nb::object& object);

// Does the same as OpenPreadSource, NewFileSink and NewLocalStorage. In addition, reads and writes
// run the handlers of signals from time to time, so that KeyboardInterrupt ends long work.
absl::StatusOr<std::shared_ptr<const cfile::Source>> OpenInterruptibleFile(const std::string& path);
absl::StatusOr<std::unique_ptr<cfile::Sink>> NewInterruptibleSink(const std::string& path);
std::shared_ptr<cfile::Storage> NewInterruptibleStorage(const std::string& directory);

}  // namespace cfile_python
