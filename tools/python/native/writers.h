// Writers of files and tables (cfile/_native.pyi).
#pragma once

#include "tools/python/native/errors.h"

namespace cfile_python {

// Adds the classes TableWriter and FileWriter to the module.
void AddWriters(nb::module_& module);

}  // namespace cfile_python
