// cfile_merge_cursor: reads the rows of a table in the order of their keys.
#pragma once

#include <cstddef>
#include <vector>

#include "cfile/c.h"
#include "cfile/merge_cursor.h"
#include "cfile/parts/c/value.h"
#include "cfile/schema.h"
#include "cfile/types.h"

struct cfile_merge_cursor {
  cfile::MergeCursor cursor;
  cfile::Schema schema;
  std::vector<cfile::PhysicalType> types;                         // of the columns
  cfile::MergeBatch batch = {};                                   // what the last call has read
  std::vector<cfile::internal::Copies<cfile_bytes>> copies = {};  // one for each column
  bool broken = false;                                            // see CallOn
};
