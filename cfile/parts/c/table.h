// cfile_table: an open table.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "cfile/c.h"
#include "cfile/table.h"

struct cfile_table {
  explicit cfile_table(cfile::TableReader table) : reader(std::move(table)) {
    for (const auto& column : reader.schema().columns) types.push_back(column.type.ToString());
  }

  const cfile::TableReader reader;
  std::vector<std::string> types;  // the types of the columns, as text
  mutable std::mutex mutex;
  // The names of the parts that were asked for, protected by the mutex.
  mutable std::map<size_t, std::string> part_names;
};
