// Parts of the module cfile._native. cfile/_native.pyi describes their classes and functions.
#pragma once

#include <string>
#include <vector>

#include "tools/python/native/errors.h"

namespace cfile_python {

using Names = std::vector<std::string>;

void AddReading(nb::module_& module);
void AddWriters(nb::module_& module);
void AddMaintenance(nb::module_& module);
void AddParquet(nb::module_& module);

}  // namespace cfile_python
