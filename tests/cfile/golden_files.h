// Reads the golden files as bytes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace cfile {

struct NamedFile {
  std::string name;
  std::vector<uint8_t> bytes;
};

// Returns the files of tests/golden whose names end with `extension` and that have at most
// `most_bytes` bytes, sorted by name. Omits the folders cfile-*: fuzzers and campaigns write files
// with the same blocks themselves.
inline std::vector<NamedFile> GoldenFiles(std::string_view extension, uintmax_t most_bytes) {
  namespace fs = std::filesystem;
  const std::string root = CFILE_SOURCE_DIR "/tests/golden";
  std::vector<NamedFile> files;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    if (entry.path().extension() != extension || entry.file_size() > most_bytes) continue;
    if (fs::relative(entry.path(), root).string().starts_with("cfile-")) continue;
    std::ifstream in(entry.path(), std::ios::binary);
    files.push_back({fs::relative(entry.path(), root).string(),
                     {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()}});
  }
  std::sort(files.begin(), files.end(),
            [](const NamedFile& a, const NamedFile& b) { return a.name < b.name; });
  return files;
}

}  // namespace cfile
