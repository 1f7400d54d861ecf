// The parts of the module cfile._native.
#pragma once

#include <string>
#include <vector>

#include "cfile/options.h"
#include "tools/python/native/errors.h"

namespace cfile_python {

// Returns the options for each column of an existing table, or nothing if there are no settings.
std::vector<cfile::WriterOptions> OptionsOfTable(const std::string& path, const nb::dict& settings);

// Add classes and functions to the module.
void AddStreams(nb::module_& module);
void AddOpened(nb::module_& module);
void AddWriters(nb::module_& module);
void AddMaintenance(nb::module_& module);

}  // namespace cfile_python
