// cfile_file: an open file.
#pragma once

#include <string>

#include "cfile/c.h"
#include "cfile/reader.h"

struct cfile_file {
  cfile::Reader reader;
  // The names of type, encoding and compression.
  std::string type;
  std::string encoding;
  std::string compression;
};
