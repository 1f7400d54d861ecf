// The class Opened, and the functions that open files and tables (cfile/_native.pyi).
#pragma once

#include "tools/python/native/errors.h"

namespace cfile_python {

// Adds the class and the functions to the module.
void AddReading(nb::module_& module);

}  // namespace cfile_python
