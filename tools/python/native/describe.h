// What describes a file or a table: dictionaries with the keys that cfile/_native.pyi names.
#pragma once

#include <string>

#include "tools/python/native/errors.h"
#include "tools/python/native/opened.h"

namespace cfile_python {

nb::list Columns(const Opened& opened);
nb::object MergeRule(const Opened& opened);
nb::list Fields(const Opened& opened);
nb::list Parts(const Opened& opened);
nb::dict Info(const Opened& opened);
nb::dict Metadata(const Opened& opened);
nb::object Statistics(const Opened& opened, const std::string& column);
nb::list Blocks(const Opened& opened, const std::string& column);
nb::dict Verify(const Opened& opened);

}  // namespace cfile_python
