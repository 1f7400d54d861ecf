// cfile_cursor: a cursor of a file or a table, for values of any type.
#pragma once

#include <memory>
#include <vector>

#include "cfile/batch.h"
#include "cfile/c.h"
#include "cfile/parts/c/value.h"
#include "cfile/schema.h"
#include "cfile/types.h"
#include "cfile/untyped.h"

struct cfile_cursor {
  std::unique_ptr<cfile::internal::AnyCursor> cursor;
  cfile::ColumnType type;
  std::vector<cfile::KeyColumn> key_columns = {};  // empty unless this is a cursor of a key index
  // `taken` and `copies` hold the values of the last batch.
  cfile::internal::OwnedValues taken{cfile::encodings::LaneOf(type.physical())};
  cfile::internal::Copies<cfile_bytes> copies = {};
  bool broken = false;  // see CallOn
};
