// cfile_lookup: finds the newest rows of keys in a table.
#pragma once

#include <cstddef>
#include <vector>

#include "cfile/c.h"
#include "cfile/parts/c/value.h"
#include "cfile/schema.h"
#include "cfile/table_lookup.h"

struct cfile_lookup {
  cfile::TableLookup lookup;
  cfile::Schema schema;
  std::vector<size_t> columns;
  cfile::FoundRow row = {};                                       // what the last call has found
  std::vector<cfile::internal::Copies<cfile_bytes>> copies = {};  // one for each of `columns`
  bool broken = false;                                            // see CallOn
};
