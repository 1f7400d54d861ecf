// Expected rows of golden files are stored as JSON lines, compressed with gzip.
#pragma once

#include <string>
#include <vector>

#include "nlohmann/json.hpp"

namespace cfile::golden {

// Returns the JSON values of the file `path`, one per line. If the file cannot be read, the test
// fails and the result is empty.
std::vector<nlohmann::json> ReadJsonLines(const std::string& path);

}  // namespace cfile::golden
