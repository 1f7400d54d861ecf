#include "tests/encodings/golden_vectors.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <list>
#include <string_view>
#include <utility>

#include "absl/strings/str_split.h"
#include "encodings/core/bytes.h"
#include "nlohmann/json.hpp"

namespace cfile::encodings {
namespace {

std::vector<uint8_t> BytesOfFile(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in) << path;
  const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  return {text.begin(), text.end()};
}

template <typename P>
P GoldenValue(const nlohmann::json& value, std::list<std::string>& texts) {
  if constexpr (kIsBytes<P>) {
    const auto hex = value.get<std::string>();
    std::string& text = texts.emplace_back();
    for (size_t i = 0; i + 1 < hex.size(); i += 2)
      text.push_back(static_cast<char>(std::stoul(hex.substr(i, 2), nullptr, 16)));
    return text;
  } else if constexpr (std::is_same_v<P, Int96>) {
    const auto bytes = GoldenValue<std::string_view>(value, texts);
    EXPECT_EQ(bytes.size(), sizeof(P));
    return LoadLittleEndian<P>(AsBytes(bytes).data());
  } else if constexpr (std::is_same_v<P, float>) {
    return std::bit_cast<float>(
        static_cast<uint32_t>(std::stoul(value.get<std::string>(), nullptr, 16)));
  } else if constexpr (std::is_same_v<P, double>) {
    return std::bit_cast<double>(uint64_t{std::stoull(value.get<std::string>(), nullptr, 16)});
  } else if constexpr (std::is_same_v<P, bool>) {
    return value.is_boolean() ? value.get<bool>() : value.get<int>() != 0;
  } else {
    if (value.is_string()) return static_cast<P>(std::stoll(value.get<std::string>()));
    return static_cast<P>(value.get<int64_t>());
  }
}

std::vector<uint8_t> HexBytes(const nlohmann::json& hex) {
  std::list<std::string> texts;
  const auto bytes = AsBytes(GoldenValue<std::string_view>(hex, texts));
  return {bytes.begin(), bytes.end()};
}

}  // namespace

std::string GoldenVector::Text(const char* key) const {
  const auto at = json->find(key);
  return at != json->end() && at->is_string() ? at->get<std::string>() : "";
}

uint32_t GoldenVector::Number(const char* key) const {
  const auto at = json->find(key);
  return at != json->end() && at->is_number() ? at->get<uint32_t>() : 0;
}

bool GoldenVector::Flag(const char* key, bool missing) const { return json->value(key, missing); }

bool GoldenVector::has_values() const {
  return json->contains("values") || json->contains("values_runs");
}

std::vector<std::string> GoldenFolders(const std::string& folder) {
  std::vector<std::string> folders = {folder};
  if (const char* more = std::getenv("CFILE_GOLDEN_DIRS")) {
    const std::vector<std::string> names = absl::StrSplit(more, ':', absl::SkipEmpty());
    folders.insert(folders.end(), names.begin(), names.end());
  }
  return folders;
}

std::vector<GoldenVector> GoldenVectors(const std::string& folder) {
  std::vector<std::filesystem::path> paths;
  for (const std::string& from : GoldenFolders(folder)) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(from)) {
      if (entry.path().extension() == ".json") paths.push_back(entry.path());
    }
  }
  std::sort(paths.begin(), paths.end());
  std::vector<GoldenVector> vectors;
  for (const auto& path : paths) {
    auto bytes_path = path;
    bytes_path.replace_extension(".bin");
    const bool has_file = std::filesystem::exists(bytes_path);
    GoldenVector vector;
    vector.name = path.parent_path().filename().string() + "/" + path.stem().string();
    std::ifstream in(path);
    const auto json = std::make_shared<const nlohmann::json>(
        nlohmann::json::parse(in, nullptr, /*allow_exceptions=*/false));
    EXPECT_FALSE(json->is_discarded()) << path;
    vector.json = json;
    if (!json->is_object() || vector.Text("encoding").empty()) continue;
    if (!has_file && vector.Text("bytes_hex").empty()) continue;
    if (has_file) {
      vector.bytes = BytesOfFile(bytes_path);
    } else {
      vector.bytes = HexBytes((*json)["bytes_hex"]);
    }
    if (const std::string dictionary = vector.Text("dict_bin"); !dictionary.empty())
      vector.dictionary = BytesOfFile(path.parent_path() / dictionary);
    if (const auto hex = json->find("dictionary_hex"); hex != json->end())
      vector.dictionary = HexBytes(*hex);
    vectors.push_back(std::move(vector));
  }
  return vectors;
}

template <typename P>
Column<P> GoldenValues(const GoldenVector& vector) {
  std::vector<std::pair<P, size_t>> runs;
  Column<P> column;
  if (vector.json->contains("values")) {
    for (const auto& value : (*vector.json)["values"])
      runs.emplace_back(GoldenValue<P>(value, column.texts), 1);
  } else if (vector.json->contains("values_runs")) {
    for (const auto& run : (*vector.json)["values_runs"])
      runs.emplace_back(GoldenValue<P>(run[0], column.texts), run[1].get<size_t>());
  }
  for (const auto& run : runs) column.size += run.second;
  column.values = std::make_unique<P[]>(column.size);
  P* next = column.values.get();
  for (const auto& [value, count] : runs) next = std::fill_n(next, count, value);
  return column;
}

#define CFILE_INSTANTIATE(T) template Column<T> GoldenValues<T>(const GoldenVector&);
CFILE_FOR_EACH_VALUE_TYPE(CFILE_INSTANTIATE)
#undef CFILE_INSTANTIATE

std::vector<GoldenLevels> ReadGoldenLevels(const std::string& folder) {
  std::vector<GoldenLevels> all;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::ifstream in(entry.path());
    const nlohmann::json document = nlohmann::json::parse(in);
    for (const auto& column : document["columns"]) {
      for (const size_t kind : {0, 1}) {
        const auto encoded = column.find(kind == 0 ? "rep_levels_encoded" : "def_levels_encoded");
        if (encoded == column.end()) continue;
        GoldenLevels& levels = all.emplace_back();
        levels.name = entry.path().stem().string() + " " + column["path"].get<std::string>();
        for (const auto& triple : column["triples"])  // [repetition, definition, value]
          levels.levels.push_back(triple[kind].get<uint32_t>());
        levels.maximum = column[kind == 0 ? "max_rep" : "max_def"].get<uint32_t>();
        levels.bit_width = (*encoded)["bit_width"].get<int>();
        levels.rle_parquet_java = HexBytes((*encoded)["rle_hex_parquet_java"]);
        levels.rle_arrow = HexBytes((*encoded)["rle_hex_arrow"]);
        levels.bit_packed_parquet_java = HexBytes((*encoded)["bit_packed_hex_parquet_java"]);
      }
    }
  }
  return all;
}

}  // namespace cfile::encodings
