// Runs fuzz targets without libFuzzer, as a test of every build. Each target of the program runs
// with its seeds, with N changed seeds, and with the inputs that fuzzers have found.
//
//   NAME_fuzz_replay [--changed=N] FOUND      FOUND/TARGET holds the inputs that once failed
//   NAME_fuzz_replay --target=TARGET FILE...  runs only these inputs
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/fuzz/target.h"

namespace {

using namespace cfile::fuzz;

Random mutations;

}  // namespace

// Replaces libFuzzer's function: changes, inserts, removes or repeats a few bytes.
extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size) {
  constexpr uint8_t kBytes[] = {0, 1, 0x7f, 0x80, 0xfe, 0xff};
  Bytes bytes(data, data + size);
  for (auto changes = 1 + mutations() % 4; changes > 0; --changes) {
    const size_t at = bytes.empty() ? 0 : mutations() % bytes.size();
    const auto place = bytes.begin() + static_cast<ptrdiff_t>(at);
    const size_t count = std::min<size_t>(1 + mutations() % 8, bytes.size() - at);
    switch (bytes.empty() ? 4 : mutations() % 6) {
      case 0:
        *place = static_cast<uint8_t>(*place ^ 1 << mutations() % 8);
        break;
      case 1:
        *place = static_cast<uint8_t>(*place + mutations() % 5 - 2);
        break;
      case 2:
        std::fill_n(place, count, kBytes[mutations() % std::size(kBytes)]);
        break;
      case 3:
        bytes.erase(place, place + static_cast<ptrdiff_t>(count));
        break;
      case 4:
        bytes.insert(place, static_cast<uint8_t>(mutations()));
        break;
      case 5: {
        const Bytes again(place, place + static_cast<ptrdiff_t>(count));
        bytes.insert(bytes.begin() + static_cast<ptrdiff_t>(mutations() % bytes.size()),
                     again.begin(), again.end());
        break;
      }
    }
  }
  bytes.resize(std::min(bytes.size(), max_size));
  std::copy(bytes.begin(), bytes.end(), data);
  return bytes.size();
}

namespace {

// Runs the target with a copy of the input. The buffer has exactly the size of the input, so that
// AddressSanitizer detects reads past its end.
void Run(const Target& target, const Bytes& input) {
  const auto exact = std::make_unique<uint8_t[]>(input.size());
  std::copy(input.begin(), input.end(), exact.get());
  target.run({exact.get(), input.size()});
}

void RunFile(const Target& target, const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  Run(target, {std::istreambuf_iterator<char>(in), {}});
}

void RunAll(const Target& target, const std::filesystem::path& found, size_t changed) {
  size_t inputs = 0;
  if (is_directory(found)) {
    for (const auto& entry : std::filesystem::directory_iterator(found)) {
      RunFile(target, entry.path());
      ++inputs;
    }
  }
  const std::vector<Bytes> seeds = target.seeds();
  Expect(!seeds.empty());
  for (const Bytes& seed : seeds) Run(target, seed);
  Random random;
  mutations.seed(1);
  for (size_t i = 0; i < changed; ++i) {
    Bytes input = seeds[i % seeds.size()];
    for (auto times = 1 + random() % 3; times > 0; --times)
      target.mutate ? target.mutate(input, random) : MutateAny(input);
    Run(target, input);
  }
  std::fprintf(stderr, "%-36s %4zu seeds, %zu changed, %zu found\n", target.name.c_str(),
               seeds.size(), changed, inputs);
}

}  // namespace

int main(int argc, char** argv) {
  size_t changed = 0;
  std::string name;
  for (const std::string argument : std::span(argv + 1, static_cast<size_t>(argc - 1))) {
    if (argument.starts_with("--changed=")) {
      changed = std::stoul(argument.substr(argument.find('=') + 1));
    } else if (argument.starts_with("--target=")) {
      name = argument.substr(argument.find('=') + 1);
    } else {
      Expect(std::filesystem::exists(argument));
      for (const Target& target : Targets()) {
        if (name.empty()) RunAll(target, std::filesystem::path(argument) / target.name, changed);
        if (name == target.name) RunFile(target, argument);
      }
    }
  }
}
