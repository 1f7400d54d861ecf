#include "tools/import/summary.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tools/utf8.h"

namespace cfile::tools {
namespace {

constexpr size_t kShownRenames = 10;

// a / b; 0 if b is 0.
double Ratio(uint64_t a, double b) { return b > 0 ? static_cast<double>(a) / b : 0; }

double MegabytesPerSecond(const ImportResult& result) {
  return Ratio(result.bytes_in, result.seconds) / 1e6;
}

double CompressionRatio(const ImportResult& result) {
  return Ratio(result.bytes_in, static_cast<double>(result.bytes_out()));
}

double BytesPerRow(const ImportResult& result, const ImportedColumn& column) {
  return Ratio(column.totals.bytes_written, static_cast<double>(result.rows));
}

std::string Count(uint64_t number, std::string_view noun) {
  return absl::StrCat(WithCommas(number), " ", std::string(noun), number == 1 ? "" : "s");
}

// The encodings of the column's blocks, in the order in which they first occur.
std::string Encodings(const ImportedColumn& column) {
  std::string names;
  for (const EncodingTotals& each : column.totals.encodings) {
    absl::StrAppend(&names, names.empty() ? "" : ",", EncodingName(each.encoding));
  }
  return names.empty() ? "-" : names;
}

// The codec of the column. If only some blocks are compressed, also the number of these blocks. "-"
// if there are no blocks.
std::string Compressed(const ImportedColumn& column) {
  uint64_t blocks = 0, compressed = 0;
  for (const EncodingTotals& each : column.totals.encodings) {
    blocks += each.blocks;
    compressed += each.compressed_blocks;
  }
  if (blocks == 0) return "-";
  const std::string name = CompressionName(column.totals.compression);
  if (column.totals.compression == Compression::kNone || compressed == blocks) return name;
  if (compressed == 0) return "none";
  return absl::StrCat(name, " ", compressed, "/", blocks);
}

// Lines of cells, each column as wide as its widest cell.
class TextTable {
 public:
  // One character per column: '<' aligns it to the left, '>' to the right.
  explicit TextTable(std::string alignment) : alignment_(std::move(alignment)) {}

  void Add(std::vector<std::string> cells) { lines_.push_back(std::move(cells)); }

  std::string ToString() const {
    std::vector<size_t> widths(alignment_.size());
    for (const auto& line : lines_) {
      for (size_t i = 0; i < line.size(); ++i)
        widths[i] = std::max(widths[i], CountCharacters(line[i]));
    }
    std::string out;
    for (const auto& line : lines_) {
      for (size_t i = 0; i < line.size(); ++i) {
        const std::string padding(widths[i] - CountCharacters(line[i]), ' ');
        if (i > 0) out += "  ";
        out += alignment_[i] == '<' ? line[i] + padding : padding + line[i];
      }
      out.erase(out.find_last_not_of(' ') + 1);
      out += '\n';
    }
    return out;
  }

 private:
  const std::string alignment_;
  std::vector<std::vector<std::string>> lines_;
};

}  // namespace

std::string SummaryText(const ImportOptions& options, const ImportResult& result, bool report) {
  std::string text =
      absl::StrCat(result.inferred_schema, Printable(options.output), ": ",
                   Count(result.rows, result.records ? "record" : "row"),
                   options.append ? " added, " : ", ", Count(result.columns.size(), "column"));
  for (const std::string& column : result.sorted_by) {
    absl::StrAppend(&text, &column == result.sorted_by.data() ? ", sorted by " : ", ",
                    Printable(column));
  }
  absl::StrAppend(&text, "\n");
  if (result.reordered) {
    absl::StrAppend(&text, Printable(options.input),
                    " was not in this order: its rows were sorted\n");
  }
  for (size_t i = 0; i < result.renamed.size(); ++i) {
    if (i == kShownRenames) {
      absl::StrAppend(&text, "and ", WithCommas(result.renamed.size() - i),
                      " more columns were named in this way (--json lists them)\n");
      break;
    }
    const RenamedColumn& column = result.renamed[i];
    absl::StrAppend(&text, "column ", column.column + 1,
                    column.from.empty()
                        ? " has no name"
                        : " is another column with the name " + Printable(column.from),
                    " and was named ", Printable(column.to), "\n");
  }
  absl::StrAppendFormat(&text, "%s bytes of %s -> %s bytes (%.2f : 1) in %.2f s, %.1f MB/s\n\n",
                        WithCommas(result.bytes_in), result.format,
                        WithCommas(result.bytes_out()), CompressionRatio(result), result.seconds,
                        MegabytesPerSecond(result));

  if (report) {
    absl::StrAppend(&text, Count(result.copied_pages, "page"), " copied, ",
                    WithCommas(result.recompressed_pages), " compressed again, ",
                    WithCommas(result.recoded_pages), " encoded again\n\n");
  }
  TextTable table("<<><<>>");
  table.Add({"column", "type", "nulls", "encoding", "compression", "bytes", "bytes/row"});
  for (const ImportedColumn& column : result.columns) {
    table.Add({Printable(column.schema.name), column.schema.type.ToString(),
               column.schema.nullable ? WithCommas(column.totals.null_count()) : "-",
               Encodings(column), Compressed(column), WithCommas(column.totals.bytes_written),
               absl::StrFormat("%.3f", BytesPerRow(result, column))});
  }
  return text + table.ToString();
}

std::string SummaryJson(const ImportOptions& options, const ImportResult& result) {
  using Json = nlohmann::ordered_json;
  Json columns = Json::array();
  for (const ImportedColumn& column : result.columns) {
    Json encodings = Json::array();
    for (const EncodingTotals& each : column.totals.encodings) {
      encodings.push_back({{"encoding", EncodingName(each.encoding)},
                           {"blocks", each.blocks},
                           {"compressed_blocks", each.compressed_blocks},
                           {"stored", each.stored_bytes}});
    }
    columns.push_back({{"name", column.schema.name},
                       {"type", column.schema.type.ToString()},
                       {"nullable", column.schema.nullable},
                       {"nulls", column.totals.null_count()},
                       {"encoding", EncodingName(column.totals.encoding)},
                       {"encodings", std::move(encodings)},
                       {"compression", CompressionName(column.totals.compression)},
                       {"bytes", column.totals.bytes_written},
                       {"bytes_per_row", BytesPerRow(result, column)}});
  }
  Json renamed = Json::array();
  for (const RenamedColumn& column : result.renamed) {
    renamed.push_back({{"column", column.column + 1}, {"from", column.from}, {"to", column.to}});
  }
  Json json = {{"schema_version", 1},
               {"input", options.input},
               {"format", result.format},
               {"table", options.output},
               {"appended", options.append},
               {"rows", result.rows},
               {"bytes_in", result.bytes_in},
               {"bytes_out", result.bytes_out()},
               {"ratio", CompressionRatio(result)},
               {"seconds", result.seconds},
               {"megabytes_per_second", MegabytesPerSecond(result)},
               {"sorted_by", result.sorted_by},
               {"reordered", result.reordered},
               {"warnings", result.warnings},
               {"columns", std::move(columns)}};
  if (result.format == "CSV") {
    json["header"] = result.header;
    json["renamed"] = std::move(renamed);
  }
  if (result.format == "Parquet") {
    json["pages"] = {{"copied", result.copied_pages},
                     {"recompressed", result.recompressed_pages},
                     {"recoded", result.recoded_pages}};
  }
  if (!result.inferred_schema.empty()) json["schema"] = result.inferred_schema;
  // Paths and names need not be UTF-8.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace cfile::tools
