// A program that opens a file and seeks a key. Its size and its shared libraries are measured
// (install_test.py).
#include <iostream>
#include <string_view>

#include "absl/status/status.h"
#include "cfile/reader.h"
#include "cfile/status.h"

namespace {

absl::Status Seek(const char* path, std::string_view key) {
  CFILE_ASSIGN_OR_RETURN(const auto reader, cfile::Reader::Open(path));
  CFILE_ASSIGN_OR_RETURN(auto cursor, reader.NewCursor<std::string_view>());
  CFILE_ASSIGN_OR_RETURN(const auto found, cursor.SeekToKey(key));
  std::cout << "row " << found.ordinal << (found.exact ? "" : " has a larger key") << "\n";
  return absl::OkStatus();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const absl::Status status = Seek(argv[1], argv[2]);
  if (!status.ok()) std::cerr << status << "\n";
  return status.ok() ? 0 : 1;
}
