// Options of writers (WriterSettings of cfile/_native.pyi).
#pragma once

#include <vector>

#include "cfile/options.h"
#include "cfile/schema.h"
#include "tools/python/native/errors.h"
#include "tools/python/native/location.h"

namespace cfile_python {

// Returns the options of one file. KeyError: there is no such option. TypeError, ValueError: the
// value of an option is wrong; the message names the option. Needs the interpreter lock.
cfile::WriterOptions OptionsOf(const nb::dict& settings);

// Returns the options of each column of a table. The settings for "" hold for all columns that
// `settings` does not name. KeyError: there is no such column.
std::vector<cfile::WriterOptions> OptionsOf(const nb::dict& settings, const cfile::Schema& schema);

// Takes the schema from the table at `path`, which it does not open if there are no settings.
std::vector<cfile::WriterOptions> OptionsOfTable(const Location& path, const nb::dict& settings);

}  // namespace cfile_python
