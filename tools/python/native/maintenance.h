// Functions that change tables (cfile/_native.pyi).
#pragma once

#include "tools/python/native/errors.h"

namespace cfile_python {

// Adds the functions to the module.
void AddMaintenance(nb::module_& module);

}  // namespace cfile_python
