#include "tests/golden/json_lines.h"

#include <zlib.h>

#include "gtest/gtest.h"

namespace cfile::golden {

std::vector<nlohmann::json> ReadJsonLines(const std::string& path) {
  std::vector<nlohmann::json> lines;
  gzFile file = gzopen(path.c_str(), "rb");
  if (file == nullptr) {
    ADD_FAILURE() << "cannot open " << path;
    return lines;
  }
  std::string text;
  char buffer[1 << 16];
  for (int n; (n = gzread(file, buffer, sizeof(buffer))) > 0;)
    text.append(buffer, static_cast<size_t>(n));
  gzclose(file);
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = text.find('\n', begin);
    lines.push_back(nlohmann::json::parse(text.substr(begin, end - begin)));
    begin = end == std::string::npos ? text.size() : end + 1;
  }
  return lines;
}

}  // namespace cfile::golden
