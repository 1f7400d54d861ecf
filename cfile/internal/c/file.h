// cfile_file: an open file.
#pragma once

#include <string>

#include "cfile/c.h"
#include "cfile/reader.h"

struct cfile_file {
  cfile::Reader reader;
  std::string type;  // as text, like the next two
  std::string encoding;
  std::string compression;
};
