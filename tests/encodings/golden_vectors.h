// Reads golden pages: NAME.bin with NAME.json beside it (tests/golden/parquet/INDEX.md describes
// them), or NAME.json alone, with the bytes in "bytes_hex".
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "columns.h"
#include "nlohmann/json_fwd.hpp"

namespace cfile::encodings {

struct GoldenVector {
  std::string name;
  std::shared_ptr<const nlohmann::json> json;
  std::vector<uint8_t> bytes;
  std::vector<uint8_t> dictionary;  // the dictionary page

  // Return the text, the number or the flag with this key; if it is missing, "", 0 or `missing`.
  std::string Text(const char* key) const;
  uint32_t Number(const char* key) const;
  bool Flag(const char* key, bool missing) const;
  bool has_values() const;
  uint32_t count() const { return Number("num_values"); }
};

// Returns `folder` and the folders that the environment variable CFILE_GOLDEN_DIRS names, separated
// by colons.
std::vector<std::string> GoldenFolders(const std::string& folder);

// The vectors in `folder`, in its subfolders and in the folders of CFILE_GOLDEN_DIRS, sorted by
// path.
std::vector<GoldenVector> GoldenVectors(const std::string& folder);

// Returns the values that the description of the vector lists. For each type of
// CFILE_FOR_EACH_VALUE_TYPE.
template <typename P>
Column<P> GoldenValues(const GoldenVector& vector);

// Levels of a nested column, as other implementations encoded them.
struct GoldenLevels {
  std::string name;
  std::vector<uint32_t> levels;
  uint32_t maximum = 0;
  int bit_width = 0;
  std::vector<uint8_t> rle_parquet_java, rle_arrow, bit_packed_parquet_java;
};

// The levels in the .json files of `folder`.
std::vector<GoldenLevels> ReadGoldenLevels(const std::string& folder);

}  // namespace cfile::encodings
