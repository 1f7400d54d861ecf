// Files, whose blocks are changed behind right checksums, shown by one of cfile-dump's subcommands
// each.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>

#include "tests/cfile/temporary_directory.h"
#include "tests/fuzz/file_parts.h"
#include "tests/fuzz/seed_files.h"

// The main function of cfile-dump.
int CfileDumpMain(int argc, char** argv);

namespace cfile::fuzz {
namespace {

void Dump(std::span<const uint8_t> file) {
  static const int descriptor = memfd_create("fuzz", 0);
  static const TemporaryDirectory directory;
  const std::string salvaged = directory.path("salvaged");
  static const bool silent = std::freopen("/dev/null", "w", stdout) != nullptr;
  Expect(silent && ftruncate(descriptor, 0) == 0);
  Expect(pwrite(descriptor, file.data(), file.size(), 0) == static_cast<ssize_t>(file.size()));
  const std::string path = "/proc/self/fd/" + std::to_string(descriptor);
  const std::vector<std::vector<std::string>> commands = {
      {path},
      {"header", path},
      {"footer", path},
      {"blocks", path},
      {"index", path},
      {"values", "--count", "1000", path},
      {"at", path, "7"},
      {"find", path, "7"},
      {"records", "--count", "100", path},
      {"verify", path},
      {"values", "--where", "value > 7", path},
      {"values", "--where", "value is null", path},
      {"salvage", "--force", path, salvaged}};
  // By the bytes, so that an input is always shown by the same one.
  const size_t choice = std::hash<std::string_view>()(encodings::AsString(file));
  std::vector<std::string> command = commands[choice % commands.size()];
  if (choice / commands.size() % 2 == 0)
    command.insert(command.begin() + (command.size() > 1), "--json");
  std::vector<char*> arguments = {const_cast<char*>("cfile-dump")};
  for (std::string& word : command) arguments.push_back(word.data());
  const int code = CfileDumpMain(static_cast<int>(arguments.size()), arguments.data());
  Expect(code == 0 || code == 1 || code == 2 || code == 4);  // 3: could not be read
}

}  // namespace

std::vector<Target> Targets() { return {{"cfile-dump", Dump, SeedFiles, MutateFile}}; }

}  // namespace cfile::fuzz
