// Writes small blocks of all encodings into a directory, as block_fuzz takes them.
//
//   block_seeds DIRECTORY
#include <cstdio>
#include <fstream>
#include <string>

#include "tests/encodings/blocks.h"
#include "tests/fuzz/block_input.h"

int main(int argc, char** argv) {
  using namespace cfile::encodings;
  if (argc != 2) return std::fprintf(stderr, "usage: block_seeds DIRECTORY\n"), 1;
  const std::vector<Pair> pairs = AllPairs();
  int files = 0;
  for (size_t i = 0; i < pairs.size(); ++i) {
    const Pair& pair = pairs[i];
    const EncoderOptions options{
        .block_size_bytes = 400,
        .type_length = pair.type == PhysicalType::kFixedBytes ? uint32_t{5} : uint32_t{0}};
    VisitPhysicalType(pair.type, [&](auto t) {
      using T = typename decltype(t)::type;
      for (const Shape shape : kShapes) {
        const auto column = MakeColumn<T>(shape, 60, options.type_length, 1);
        for (const Block& block : Encode<T>(pair, column.span(), options)) {
          if (block.encoding != pair.encoding) continue;  // a dictionary that does not pay
          BlockInput input{.pair = static_cast<uint8_t>(i),
                           .type_length = static_cast<uint8_t>(options.type_length),
                           .count = block.count,
                           .first_ordinal = static_cast<uint32_t>(block.first_ordinal),
                           .skip_table = block.skip_table,
                           .dictionary = {},
                           .bytes = block.bytes};
          if (block.dictionary_bytes != nullptr) input.dictionary = *block.dictionary_bytes;
          ByteWriter out;
          input.Append(out);
          std::ofstream(std::string(argv[1]) + "/" + std::to_string(files++), std::ios::binary)
              << out.view();
        }
      }
    });
  }
  std::printf("%d blocks of %zu pairs\n", files, pairs.size());
}
