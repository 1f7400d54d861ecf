#include "tools/dump/summary.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "tools/utf8.h"

namespace cfile::tools {
namespace {

// Totals of one column over all parts.
struct ColumnTotals {
  BlockTotals blocks;
  uint64_t file_bytes = 0;
  std::vector<std::string> compressions;  // codecs that blocks use, each once
};

ColumnTotals Measure(const TableReader& table, size_t column) {
  ColumnTotals totals;
  for (size_t part = 0; part < table.num_parts(); ++part) {
    const auto reader = table.OpenColumn(part, column);
    if (!reader.ok()) {
      totals.blocks.status.Update(reader.status());
      continue;
    }
    const uint64_t compressed_before = totals.blocks.compressed_blocks();
    totals.blocks.Add(*reader);
    totals.file_bytes += reader->info().file_size_bytes;
    if (totals.blocks.compressed_blocks() > compressed_before) {
      AddName(CompressionName(reader->info().compression), totals.compressions);
    }
  }
  if (totals.compressions.empty() && totals.blocks.blocks > 0) {
    totals.compressions.push_back(CompressionName(Compression::kNone));
  }
  return totals;
}

Json ToJson(const ColumnSchema& schema, const ColumnTotals& totals) {
  Json json = {{"name", JsonBytes(schema.name)},
               {"type", JsonBytes(schema.type.ToString())},
               {"nullable", schema.nullable || schema.has_levels()},
               {"encodings", totals.blocks.EncodingNames()},
               {"compressions", totals.compressions},
               {"blocks", JsonInteger(totals.blocks.blocks)},
               {"size", JsonInteger(totals.file_bytes)},
               {"stored", JsonInteger(totals.blocks.stored_bytes)},
               {"encoded", JsonInteger(totals.blocks.encoded_bytes)},
               {"nulls", JsonInteger(totals.blocks.nulls)}};
  if (schema.has_levels()) {
    json["levels"] = {{"max_repetition", schema.levels.max_repetition},
                      {"max_definition", schema.levels.max_definition}};
  }
  if (!totals.blocks.status.ok()) json["error"] = JsonError(totals.blocks.status);
  return json;
}

// Joins the cells of `lines` into text with aligned columns. Columns from `first_right` on, which
// hold numbers, are aligned to the right.
std::string Align(const std::vector<std::vector<std::string>>& lines, size_t first_right) {
  std::vector<size_t> widths(lines[0].size());
  for (const auto& line : lines) {
    for (size_t i = 0; i < line.size(); ++i)
      widths[i] = std::max(widths[i], CountCharacters(line[i]));
  }
  std::string text;
  for (const auto& line : lines) {
    for (size_t i = 0; i < line.size(); ++i) {
      const std::string padding(widths[i] - CountCharacters(line[i]), ' ');
      absl::StrAppend(&text, i == 0 ? "" : "  ",
                      i < first_right ? line[i] + padding : padding + line[i]);
    }
    text += '\n';
  }
  return text;
}

// Returns the names of the key columns.
// After the name of a nullable column, the text says where the nulls of this column sort.
std::string KeysText(const Schema& schema) {
  const std::vector<KeyColumn> keys = schema.key_types();
  std::string text;
  for (size_t i = 0; i < keys.size(); ++i) {
    absl::StrAppend(&text, i == 0 ? "" : ", ",
                    Printable(schema.columns[schema.key_columns[i]].name));
    if (keys[i].nullable) text += keys[i].nulls_last ? " (nulls last)" : " (nulls first)";
  }
  return text;
}

Json KeysJson(const Schema& schema) {
  const std::vector<KeyColumn> keys = schema.key_types();
  Json json = Json::array();
  for (size_t i = 0; i < keys.size(); ++i) {
    Json& key =
        json.emplace_back(Json{{"name", JsonBytes(schema.columns[schema.key_columns[i]].name)}});
    if (keys[i].nullable) key["nulls"] = keys[i].nulls_last ? "last" : "first";
  }
  return json;
}

}  // namespace

ExitCode SummarizeTable(const CommonOptions& common, const TableReader& table, Output& output) {
  Json columns = Json::array();
  std::vector<std::vector<std::string>> lines = {{"column", "type", "nullable", "encoding",
                                                  "compression", "blocks", "bytes", "bits/value",
                                                  "nulls"}};
  absl::Status status;
  uint64_t blocks = 0, bytes = 0, nulls = 0;
  for (size_t column = 0; column < table.schema().columns.size(); ++column) {
    const ColumnSchema& schema = table.schema().columns[column];
    const ColumnTotals totals = Measure(table, column);
    status.Update(totals.blocks.status);
    blocks += totals.blocks.blocks;
    bytes += totals.file_bytes;
    nulls += totals.blocks.nulls;
    columns.push_back(ToJson(schema, totals));
    const auto list = [](const std::vector<std::string>& names) {
      return names.empty() ? "-" : absl::StrJoin(names, ",");
    };
    lines.push_back({Printable(schema.name), Printable(schema.type.ToString()),
                     schema.has_levels() ? "levels"
                     : schema.nullable   ? "yes"
                                         : "no",
                     list(totals.blocks.EncodingNames()), list(totals.compressions),
                     std::to_string(totals.blocks.blocks), std::to_string(totals.file_bytes),
                     absl::StrFormat("%.2f", BitsPerValue(totals.file_bytes, table.num_rows())),
                     std::to_string(totals.blocks.nulls)});
    // Marks totals as incomplete if some blocks could not be read.
    if (!totals.blocks.status.ok()) lines.back()[0] += " (incomplete)";
  }
  lines.push_back({"total", "", "", "", "", std::to_string(blocks), std::to_string(bytes),
                   absl::StrFormat("%.2f", BitsPerValue(bytes, table.num_rows())),
                   std::to_string(nulls)});

  if (common.json) {
    Json json = JsonDocument(common.path);
    json["rows"] = JsonInteger(table.num_rows());
    Json& parts = json["parts"] = Json::array();
    for (size_t part = 0; part < table.num_parts(); ++part) {
      const absl::StatusOr<PartInfo> info = table.part(part);
      if (!info.ok()) return output.Fail(info.status());
      parts.push_back({{"first_ordinal", JsonInteger(info->first_ordinal)},
                       {"rows", JsonInteger(info->num_rows)}});
    }
    if (table.schema().key_index()) json["keys"] = KeysJson(table.schema());
    json["size"] = JsonInteger(bytes);
    json["nulls"] = JsonInteger(nulls);
    json["columns"] = std::move(columns);
    if (!status.ok()) json["error"] = JsonError(status);
    output.text = json.dump(2) + "\n";
  } else {
    output.text = absl::StrFormat("%-6s %s\n%-6s %u\n%-6s %u\n", "table", Printable(common.path),
                                  "rows", table.num_rows(), "parts", table.num_parts());
    if (table.schema().key_index()) {
      absl::StrAppendFormat(&output.text, "%-6s %s\n", "keys", KeysText(table.schema()));
    }
    output.text += "\n" + Align(lines, 5);
  }
  return status.ok() ? output.Finish(kFine) : output.Fail(status);
}

}  // namespace cfile::tools
