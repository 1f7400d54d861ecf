#include "tests/golden/minted_files.h"

#include <zlib.h>

#include <algorithm>
#include <bit>
#include <fstream>
#include <memory>
#include <random>
#include <span>
#include <type_traits>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "cfile/compound_key.h"
#include "cfile/parts/table/commit/table_commit.h"
#include "cfile/parts/table/manifest/table_file.h"
#include "cfile/reader.h"
#include "cfile/record_schema.h"
#include "cfile/table.h"
#include "cfile/writer.h"
#include "encodings/core/bytes.h"
#include "gtest/gtest.h"
#include "tests/golden/json_lines.h"

namespace cfile::golden {
namespace {

template <typename T>
json ToJson(const Owned<T>& value) {
  if constexpr (encodings::kIsBytes<T>) {
    return absl::BytesToHexString(value);
  } else if constexpr (std::is_same_v<T, Int96>) {
    return absl::BytesToHexString({reinterpret_cast<const char*>(&value), sizeof value});
  } else if constexpr (std::is_same_v<T, int128_t>) {
    std::string digits;
    auto rest = static_cast<encodings::uint128_t>(value < 0 ? -value : value);
    do digits.insert(digits.begin(), static_cast<char>('0' + rest % 10));
    while ((rest /= 10) != 0);
    return value < 0 ? "-" + digits : digits;
  } else if constexpr (std::is_same_v<T, float>) {
    return std::bit_cast<uint32_t>(value);
  } else if constexpr (std::is_same_v<T, double>) {
    return std::bit_cast<uint64_t>(value);
  } else if constexpr (std::is_same_v<T, bool>) {
    return value ? 1 : 0;
  } else {
    return value;
  }
}

template <typename T>
Owned<T> FromJson(const json& value) {
  if constexpr (encodings::kIsBytes<T>) {
    return absl::HexStringToBytes(value.get<std::string>());
  } else if constexpr (std::is_same_v<T, Int96>) {
    const std::string bytes = absl::HexStringToBytes(value.get<std::string>());
    return encodings::LoadLittleEndian<T>(encodings::AsBytes(bytes).data());
  } else if constexpr (std::is_same_v<T, int128_t>) {
    const auto digits = value.get<std::string>();
    encodings::uint128_t number = 0;
    for (const char digit : digits) {
      if (digit != '-') number = number * 10 + static_cast<unsigned>(digit - '0');
    }
    return static_cast<T>(digits[0] == '-' ? -number : number);
  } else if constexpr (std::is_same_v<T, float>) {
    return std::bit_cast<float>(value.get<uint32_t>());
  } else if constexpr (std::is_same_v<T, double>) {
    return std::bit_cast<double>(value.get<uint64_t>());
  } else if constexpr (std::is_same_v<T, bool>) {
    return value.get<int>() != 0;
  } else {
    return value.get<T>();
  }
}

}  // namespace

template <typename T>
json RowsOf(const Column<T>& column) {
  json rows = json::array();
  for (const auto& row : column.rows) rows.push_back(row ? ToJson<T>(*row) : json());
  return rows;
}

template <typename T>
json RowsOf(const Leaf<T>& leaf) {
  json rows = json::array();
  for (size_t i = 0, value = 0; i < leaf.repetition.size(); ++i) {
    if (leaf.repetition[i] == 0) rows.push_back(json::array());
    const bool present = leaf.definition[i] == leaf.limits.max_definition;
    rows.back().push_back(
        {leaf.repetition[i], leaf.definition[i], present ? ToJson<T>(leaf.values[value]) : json()});
    value += present ? 1 : 0;
  }
  return rows;
}

template <typename T>
Column<T> ColumnOf(const json& rows) {
  Column<T> column;
  for (const json& row : rows) {
    column.rows.push_back(row.is_null() ? std::nullopt : std::optional<Owned<T>>(FromJson<T>(row)));
  }
  return column;
}

template <typename T>
Leaf<T> LeafOf(const json& rows, const LevelLimits& limits) {
  Leaf<T> leaf{.limits = limits};
  for (const json& row : rows) {
    for (const json& entry : row) {
      leaf.repetition.push_back(entry[0].get<uint16_t>());
      leaf.definition.push_back(entry[1].get<uint16_t>());
      if (!entry[2].is_null()) leaf.values.push_back(FromJson<T>(entry[2]));
    }
  }
  Index(leaf);
  return leaf;
}

#define CFILE_INSTANTIATE(T)                   \
  template json RowsOf<T>(const Column<T>&);   \
  template json RowsOf<T>(const Leaf<T>&);     \
  template Column<T> ColumnOf<T>(const json&); \
  template Leaf<T> LeafOf<T>(const json&, const LevelLimits&);
CFILE_FOR_EACH_VALUE_TYPE(CFILE_INSTANTIATE)
#undef CFILE_INSTANTIATE

json ToJson(const Description& column) {
  const WriterOptions& options = column.options;
  json out = {
      {"type", column.type.ToString()},
      {"encoding", options.encoding == Encoding::kAuto ? "auto" : EncodingName(options.encoding)},
      {"compression", CompressionName(options.compression)},
      {"nullable", options.nullable},
      {"version", static_cast<int>(options.version)},
      {"kudu", options.oldest_reader == OldestReader::kKudu},
      {"positional_index", options.positional_index},
      {"value_index", options.value_index},
      {"statistics", options.statistics},
      {"bloom_filter_bits", options.bloom_filter_bits_per_value},
      {"block_size", options.block_size_bytes},
      {"index_block_size", options.index_block_size_bytes},
      {"rows", column.rows}};
  if (column.levels) {
    out["levels"] = {column.levels->max_repetition, column.levels->max_definition};
    out["array"] = column.levels->kudu_array;
  }
  return out;
}

Description DescriptionOf(const json& from) {
  Description column{.type = *ColumnType::Parse(from["type"].get<std::string>()),
                     .options = {},
                     .levels = {},
                     .rows = from["rows"].get<std::string>()};
  // A build without LZ4 does not know all names. It uses BIT_PACKED instead, which no writer takes.
  const auto encoding = ParseEncoding(from["encoding"].get<std::string>());
  column.options = {
      .encoding = encoding.value_or(Encoding::kParquetBitPacked),
      .nullable = from["nullable"].get<bool>(),
      .positional_index = from["positional_index"].get<bool>(),
      .value_index = from["value_index"].get<bool>(),
      .block_size_bytes = from["block_size"].get<size_t>(),
      .index_block_size_bytes = from["index_block_size"].get<size_t>(),
      .statistics = from["statistics"].get<bool>(),
      .bloom_filter_bits_per_value = from["bloom_filter_bits"].get<uint32_t>(),
      .version = static_cast<FormatVersion>(from["version"].get<int>()),
      .oldest_reader = from["kudu"].get<bool>() ? OldestReader::kKudu : OldestReader::kDefault};
  for (const Compression codec : AllCompressions()) {
    if (CompressionName(codec) == from["compression"].get<std::string>())
      column.options.compression = codec;
  }
  if (from.contains("levels")) {
    column.levels = LevelLimits{.max_repetition = from["levels"][0].get<uint16_t>(),
                                .max_definition = from["levels"][1].get<uint16_t>(),
                                .kudu_array = from["array"].get<bool>()};
  }
  return column;
}

bool CanWrite(const Description& column) {
  return VisitType(column.type, [&]<typename T>(std::type_identity<T>) {
    std::vector<uint8_t> file;
    auto sink = NewMemorySink(&file);
    return column.levels ? LevelWriter<T>::Create(std::move(sink), column.type, *column.levels,
                                                  column.options)
                               .ok()
                         : Writer<T>::Create(std::move(sink), column.type, column.options).ok();
  });
}

std::vector<uint8_t> WriteFile(const Description& column, const json& rows) {
  return VisitType(column.type, [&]<typename T>(std::type_identity<T>) {
    if (!column.levels)
      return testing_support::WriteColumn<T>(column.type, column.options, ColumnOf<T>(rows));
    std::mt19937_64 random(1);
    return testing_support::WriteLeaf<T>(column.type, column.options,
                                         LeafOf<T>(rows, *column.levels), random);
  });
}

Schema SchemaOf(const json& table) {
  if (table.contains("tree"))
    return Schema::OfRecords(*RecordSchema::Parse(table["tree"].get<std::string>()));
  Schema schema;
  for (const json& column : table["columns"]) {
    const Description description = DescriptionOf(column);
    schema.columns.push_back({.name = absl::StrCat("c", schema.columns.size()),
                              .type = description.type,
                              .nullable = description.options.nullable});
  }
  for (const json& key : table["keys"]) schema.key_columns.push_back(key.get<size_t>());
  return schema;
}

namespace {

// Appends rows to one column.
absl::Status AppendRows(TableWriter& writer, size_t index, const Description& column,
                        const json& rows) {
  return VisitType(column.type, [&]<typename T>(std::type_identity<T>) {
    if (column.levels) {
      const Leaf<T> leaf = LeafOf<T>(rows, *column.levels);
      const std::vector<T> values(leaf.values.begin(), leaf.values.end());
      if constexpr (std::is_same_v<T, bool>) {
        return absl::UnimplementedError("no table has levels of bool");
      } else {
        return writer.AppendLevels<T>(
            index, column.levels->max_repetition > 0 ? leaf.repetition : std::vector<uint16_t>(),
            leaf.definition, values);
      }
    }
    const Column<T> flat = ColumnOf<T>(rows);
    const std::vector<T> values = flat.Values();
    const auto array = std::make_unique<T[]>(values.size());
    std::copy(values.begin(), values.end(), array.get());
    const std::span<const T> span(array.get(), values.size());
    return column.options.nullable ? writer.Append<T>(index, span, flat.Validity())
                                   : writer.Append<T>(index, span);
  });
}

// Returns the compound keys of the rows of a part.
std::vector<std::string> KeysOf(const Schema& schema, const std::vector<const json*>& rows) {
  std::vector<std::string> keys;
  for (size_t row = 0; row < rows[0]->size(); ++row) {
    CompoundKey key(schema.key_types());
    for (const size_t index : schema.key_columns) {
      VisitType(schema.columns[index].type, [&]<typename T>(std::type_identity<T>) {
        const Owned<T> value = FromJson<T>((*rows[index])[row]);
        key.Add<T>(T(value));
      });
    }
    keys.emplace_back(key.bytes());
  }
  return keys;
}

}  // namespace

absl::Status WriteTable(const std::string& directory, const json& table, const NamedRows& rows) {
  const Schema schema = SchemaOf(table);
  std::vector<Description> columns;
  std::vector<WriterOptions> options;
  for (const json& column : table["columns"]) {
    columns.push_back(DescriptionOf(column));
    options.push_back(columns.back().options);
    options.back().movable_blocks = false;  // the golden files are older than such blocks
  }
  bool first = true;
  for (const json& part : table["parts"]) {
    auto writer = first ? TableWriter::Create(directory, schema, options)
                        : TableWriter::Open(directory, options);
    if (!writer.ok()) return writer.status();
    first = false;
    std::vector<const json*> parts_rows;
    for (size_t i = 0; i < columns.size(); ++i) {
      parts_rows.push_back(&rows.at(part[i].get<std::string>()));
      const absl::Status status = AppendRows(*writer, i, columns[i], *parts_rows.back());
      if (!status.ok()) return status;
    }
    if (schema.key_index()) {
      const std::vector<std::string> keys = KeysOf(schema, parts_rows);
      const std::vector<std::string_view> views(keys.begin(), keys.end());
      const absl::Status status = writer->Append<std::string_view>(*schema.key_index(), views);
      if (!status.ok()) return status;
    }
    const absl::Status status = writer->Finish();
    if (!status.ok()) return status;
  }

  const std::string path = internal::TableFilePath(directory);
  const auto storage = NewLocalStorage(directory);
  const auto manifest = internal::ReadTable(*storage, {});
  if (!manifest.ok()) return manifest.status();
  internal::TableContents contents = (*manifest)->root();
  for (size_t i = 0; i < contents.parts.size(); ++i) {
    std::string name = absl::StrCat("part-", absl::Hex(i, absl::kZeroPad16));
    name.append(16, '0');  // a name has 128 bits
    std::filesystem::rename(directory + "/" + contents.parts[i].directory, directory + "/" + name);
    contents.parts[i].directory = name;
  }
  std::ofstream(path, std::ios::binary) << internal::SerializeTable(contents);
  return absl::OkStatus();
}

Manifest ReadManifest(const std::filesystem::path& folder) {
  Manifest manifest;
  for (json& line : ReadJsonLines(folder / kManifest)) {
    if (line.contains("library")) {
      manifest.library = line["library"].get<std::string>();
    } else if (line.contains("values")) {
      manifest.rows[line["rows"].get<std::string>()] = std::move(line["values"]);
    } else {
      (line.contains("file") ? manifest.files : manifest.tables).push_back(std::move(line));
    }
  }
  return manifest;
}

void WriteManifest(const std::filesystem::path& folder, const Manifest& manifest) {
  std::string text = json{{"library", manifest.library}}.dump() + "\n";
  for (const auto& [name, values] : manifest.rows)
    text += json{{"rows", name}, {"values", values}}.dump() + "\n";
  for (const json& file : manifest.files) text += file.dump() + "\n";
  for (const json& table : manifest.tables) text += table.dump() + "\n";
  gzFile out = gzopen((folder / kManifest).c_str(), "wb9");
  EXPECT_EQ(gzwrite(out, text.data(), static_cast<unsigned>(text.size())),
            static_cast<int>(text.size()));
  gzclose(out);
}

std::string LibraryVersion() {
  const std::vector<uint8_t> file =
      testing_support::WriteColumn<int32_t>(ColumnType::Int32(), {}, Column<int32_t>());
  return Reader::Open(NewMemoryViewSource(file))->info().created_by;
}

}  // namespace cfile::golden
