// Runs fuzz targets with libFuzzer.
//
//   NAME_fuzz --list                             prints the names of its targets
//   NAME_fuzz --target=TARGET --seeds=DIRECTORY  writes the seeds of the target
//   NAME_fuzz --target=TARGET ...                runs libFuzzer with its options
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>

#include "absl/hash/hash.h"
#include "tests/fuzz/target.h"

namespace cfile::fuzz {
namespace {

Target target;

void WriteSeeds(const std::string& directory) {
  for (const Bytes& seed : target.seeds()) {
    const std::string name = std::to_string(
        std::hash<std::string_view>()({reinterpret_cast<const char*>(seed.data()), seed.size()}));
    std::ofstream(directory + "/" + name, std::ios::binary)
        .write(reinterpret_cast<const char*>(seed.data()), static_cast<ptrdiff_t>(seed.size()));
  }
}

void Initialize(std::span<char*> arguments) {
  for (const std::string_view argument : arguments) {
    const std::string_view value =
        argument.substr(std::min(argument.find('=') + 1, argument.size()));
    if (argument == "--list") {
      for (const Target& each : Targets()) std::printf("%s\n", each.name.c_str());
      std::exit(0);
    }
    if (argument.starts_with("--target=")) {
      for (Target& each : Targets()) {
        if (each.name == value) target = std::move(each);
      }
    }
    if (argument.starts_with("--seeds=") && target.seeds) {
      WriteSeeds(std::string(value));
      std::exit(0);
    }
  }
  if (!target.run) {
    std::fprintf(stderr, "--target=NAME first, one of --list\n");
    std::exit(1);
  }
}

}  // namespace
}  // namespace cfile::fuzz

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  cfile::fuzz::Initialize({*argv, static_cast<size_t>(*argc)});
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  cfile::fuzz::target.run({data, size});
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned int seed) {
  using namespace cfile::fuzz;
  if (!target.mutate) return LLVMFuzzerMutate(data, size, max_size);
  Random random(seed);
  Bytes input(data, data + size);
  target.mutate(input, random);
  if (input.size() > max_size) return size;
  std::copy(input.begin(), input.end(), data);
  return input.size();
}
