#include "tools/dump/summary.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "tools/dump/bounds.h"
#include "tools/dump/totals.h"
#include "tools/text_table.h"
#include "tools/utf8.h"

namespace cfile::tools {
namespace {

// Totals of one column over all parts.
struct ColumnTotals {
  BlockTotals blocks;
  ColumnBounds bounds;
  bool indexed = false;  // each part has an index by value: the column is a key
  uint64_t file_bytes = 0;
  bool lacks_files = false;               // a file could not be opened
  std::vector<std::string> compressions;  // codecs that blocks use, each once

  // False: some blocks could not be read.
  bool complete() const { return blocks.status.ok(); }
};

ColumnTotals Measure(const TableReader& table, size_t column, SummaryProgress& progress) {
  ColumnTotals totals;
  for (size_t part = 0; part < table.num_parts(); ++part) {
    const auto reader = table.OpenColumn(part, column);
    if (!reader.ok()) {
      totals.blocks.status.Update(reader.status());
      totals.lacks_files = true;
      continue;
    }
    const uint64_t compressed_before = totals.blocks.compressed_blocks();
    progress.BeginFile(*reader);
    totals.blocks.Add(*reader);
    totals.bounds.Add(*reader);
    totals.indexed = reader->info().value_index_root && (part == 0 || totals.indexed);
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

// The bounds of the column. A bound that a part does not have is unknown.
BoundTexts BoundsOf(const ColumnSchema& schema, const ColumnTotals& totals) {
  if (!totals.bounds.complete) return {};
  return TextOfBounds(schema.type, totals.bounds.merged);
}

// Returns `part` / `whole`, or null if `whole` is 0.
Json Quotient(uint64_t part, uint64_t whole) {
  return whole == 0 ? Json() : Json(static_cast<double>(part) / static_cast<double>(whole));
}

// `table_bytes`: the size of the files of all columns; 0 if this size is not known.
Json ToJson(const ColumnSchema& schema, const ColumnTotals& totals, const BoundTexts& bounds,
            uint64_t table_bytes) {
  Json json = {{"name", JsonBytes(schema.name)},
               {"type", JsonBytes(schema.type.ToString())},
               {"nullable", schema.nullable || schema.has_levels()},
               {"encodings", Json::array(totals.blocks.EncodingNames())},
               {"compressions", Json::array(totals.compressions)},
               {"blocks", JsonInteger(totals.blocks.blocks)},
               {"compressed_blocks", JsonInteger(totals.blocks.compressed_blocks())},
               {"size", JsonInteger(totals.file_bytes)},
               {"stored", JsonInteger(totals.blocks.stored_bytes)},
               {"encoded", JsonInteger(totals.blocks.encoded_bytes)},
               {"decoded", JsonInteger(totals.blocks.decoded_bytes)},
               {"share", Quotient(totals.file_bytes, table_bytes)},
               {"ratio", Quotient(totals.blocks.decoded_bytes, totals.blocks.stored_bytes)},
               {"nulls", JsonInteger(totals.blocks.nulls)},
               {"minimum", JsonBound(bounds.min, totals.bounds.merged.min_exact)},
               {"maximum", JsonBound(bounds.max, totals.bounds.merged.max_exact)}};
  if (schema.has_levels()) {
    json["levels"] = {{"max_repetition", schema.levels.max_repetition},
                      {"max_definition", schema.levels.max_definition}};
  }
  if (!totals.complete()) {
    // The totals are not known, because some blocks could not be read.
    for (const char* name : {"stored", "encoded", "decoded", "share", "ratio", "nulls", "blocks",
                             "compressed_blocks"}) {
      json[name] = nullptr;
    }
    if (totals.lacks_files) json["size"] = nullptr;
    json["error"] = JsonError(totals.blocks.status);
  }
  return json;
}

std::string NamesText(const std::vector<std::string>& names) {
  return names.empty() ? "-" : absl::StrJoin(names, ",");
}

// Returns the names of the codecs: "zstd", or "zstd 3/4" if only 3 of 4 blocks are compressed.
std::string CodecsText(const ColumnTotals& totals) {
  const uint64_t compressed = totals.blocks.compressed_blocks();
  std::string text = NamesText(totals.compressions);
  if (totals.complete() && compressed > 0 && compressed < totals.blocks.blocks) {
    absl::StrAppend(&text, " ", compressed, "/", totals.blocks.blocks);
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
    json.push_back({{"name", JsonBytes(schema.columns[schema.key_columns[i]].name)}});
    if (keys[i].nullable) json.back()["nulls"] = keys[i].nulls_last ? "last" : "first";
  }
  return json;
}

}  // namespace

ExitCode SummarizeTable(const CommonOptions& common, const TableReader& table, bool by_size,
                        SummaryProgress& progress, Output& output) {
  std::vector<ColumnSchema> schema = table.schema().columns;
  const std::optional<size_t> key_index = table.schema().key_index();
  if (key_index) schema.push_back({.name = kKeyIndexName, .type = ColumnType::Binary()});
  std::vector<ColumnTotals> all;
  absl::Status status;
  uint64_t blocks = 0, bytes = 0, nulls = 0, stored = 0, decoded = 0;
  bool lacks_files = false;
  std::string key;  // the column that is a key alone
  progress.Begin(BytesOf(table));
  for (size_t column = 0; column < schema.size(); ++column) {
    ColumnTotals& totals = all.emplace_back(Measure(table, column, progress));
    // The bounds of compound keys are not shown: users cannot read these keys.
    if (column == key_index) totals.bounds.complete = false;
    status.Update(totals.blocks.status);
    if (totals.indexed && key.empty()) key = schema[column].name;
    blocks += totals.blocks.blocks;
    bytes += totals.file_bytes;
    lacks_files = lacks_files || totals.lacks_files;
    nulls += totals.blocks.nulls;
    stored += totals.blocks.stored_bytes;
    decoded += totals.blocks.decoded_bytes;
  }
  progress.End();
  std::vector<size_t> order(schema.size());
  std::iota(order.begin(), order.end(), size_t{0});
  if (by_size) {
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return all[a].file_bytes > all[b].file_bytes; });
  }

  Json columns = Json::array(), json_key_index;
  std::vector<std::vector<std::string>> lines = {{"column", "type", "encoding", "codec", "bytes",
                                                  "share", "ratio", "nulls", "minimum", "maximum"}};
  // These functions return "-" for a number that is not known, because some blocks could not be
  // read.
  const auto number = [](bool known, uint64_t value) {
    return known ? std::to_string(value) : "-";
  };
  const auto percent = [&](bool known, uint64_t part) {
    return bytes == 0 || !known ? std::string("-")
                                : absl::StrFormat("%.1f %%", 100 * static_cast<double>(part) /
                                                                 static_cast<double>(bytes));
  };
  const auto ratio = [](bool known, uint64_t of_decoded, uint64_t of_stored) {
    return known ? absl::StrFormat("%.2f", Ratio(of_decoded, of_stored)) : "-";
  };
  for (const size_t i : order) {
    const ColumnTotals& totals = all[i];
    const bool known = totals.complete();
    const BoundTexts bounds = BoundsOf(schema[i], totals);
    Json json = ToJson(schema[i], totals, bounds, lacks_files ? 0 : bytes);
    if (i == key_index) {
      json_key_index = std::move(json);
    } else {
      columns.push_back(std::move(json));
    }
    constexpr size_t kBoundBytes = 28;
    const bool has_nulls = schema[i].nullable || schema[i].has_levels();
    lines.push_back({Printable(schema[i].name), Printable(schema[i].type.ToString()),
                     NamesText(totals.blocks.EncodingNames()), CodecsText(totals),
                     number(!totals.lacks_files, totals.file_bytes),
                     percent(!lacks_files, totals.file_bytes),
                     ratio(known, totals.blocks.decoded_bytes, totals.blocks.stored_bytes),
                     number(known && has_nulls, totals.blocks.nulls),
                     BoundInLine(bounds.min, kBoundBytes), BoundInLine(bounds.max, kBoundBytes)});
    if (!known) lines.back()[0] += " (incomplete)";
  }
  const bool known = status.ok();
  lines.push_back({known ? "total" : "total (incomplete)", "", "", "", std::to_string(bytes),
                   percent(!lacks_files, bytes), ratio(known, decoded, stored),
                   number(known, nulls), "", ""});
  // How the table fits a narrow terminal: bounds are shortened first, then names and types, then
  // lists of encodings and of codecs. The share and the ratio are left out before the bounds.
  const TextColumn bound = {.shorten = 1, .least = 8, .drop = 3};
  const std::vector<TextColumn> form = {
      {.shorten = 2, .least = 10, .cut = TextColumn::Cut::kMiddle},
      {.shorten = 2, .least = 8, .drop = 6},
      {.shorten = 3, .least = 12},
      {.shorten = 3, .least = 5, .drop = 5},
      {.right = true},
      {.right = true, .drop = 1},
      {.right = true, .drop = 2},
      {.right = true, .drop = 4},
      bound,
      bound};

  if (common.json) {
    Json json = JsonDocument(common.path);
    json["rows"] = JsonInteger(table.num_rows());
    Json& parts = json["parts"] = Json::array();
    for (size_t part = 0; part < table.num_parts(); ++part) {
      const absl::StatusOr<PartInfo> info = table.part(part);
      if (!info.ok()) return output.Fail(info.status());
      parts.push_back({{"name", JsonBytes(info->name)},
                       {"first_ordinal", JsonInteger(info->first_ordinal)},
                       {"rows", JsonInteger(info->num_rows)}});
    }
    if (table.schema().key_index()) {
      json["keys"] = KeysJson(table.schema());
    } else if (!key.empty()) {
      json["keys"] = Json::array({{{"name", JsonBytes(key)}}});
    }
    json["size"] = lacks_files ? Json() : JsonInteger(bytes);
    json["nulls"] = known ? JsonInteger(nulls) : Json();
    json["ratio"] = known ? Quotient(decoded, stored) : Json();
    json["columns"] = std::move(columns);
    if (key_index) json["key_index"] = std::move(json_key_index);
    if (!status.ok()) json["error"] = JsonError(status);
    absl::StrAppend(&output.text, json.dump(2), "\n");
  } else {
    constexpr size_t kNameCells = 7;  // a name, such as "table", and the spaces after it
    output.text =
        absl::StrFormat("%-6s %s\n%-6s %u\n%-6s %u\n%-6s %u%s\n", "table",
                        ShortenedForOutput(Printable(common.path), kNameCells, /*keep_end=*/true),
                        "rows", table.num_rows(), "parts", table.num_parts(), "blocks", blocks,
                        known ? "" : " (incomplete)");
    const std::string keys = table.schema().key_index() ? KeysText(table.schema())
                             : key.empty()              ? ""
                                                        : Printable(key);
    if (!keys.empty()) {
      absl::StrAppendFormat(&output.text, "%-6s %s\n", "keys",
                            ShortenedForOutput(keys, kNameCells));
    }
    output.text += "\n" + AlignText(lines, form, OutputWidth());
  }
  return status.ok() ? output.Finish(kFine) : output.Fail(status);
}

}  // namespace cfile::tools
