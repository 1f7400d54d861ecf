// Files that objects of Python hold (RangedObject and ObjectFiles of cfile/_native.pyi), and local
// files whose reads let the handlers of signals run.
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

// Does the same as OpenPreadSource and NewLocalStorage. In addition, reads and writes run the
// handlers of signals from time to time, so that KeyboardInterrupt ends long work.
absl::StatusOr<std::shared_ptr<const cfile::Source>> OpenInterruptibleFile(const std::string& path);
std::shared_ptr<cfile::Storage> NewInterruptibleStorage(const std::string& directory);

}  // namespace cfile_python
