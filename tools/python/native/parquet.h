// Parquet files: what cfile/_native.pyi says of import_parquet and export_parquet.
#pragma once

#include "tools/python/native/errors.h"

namespace cfile_python {

void AddParquet(nb::module_& module);

}  // namespace cfile_python
