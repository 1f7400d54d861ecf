#include "tools/import/summary.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cfile/table.h"
#include "cfile/table_scan.h"
#include "tools/command_line.h"
#include "tools/encoding_reason.h"
#include "tools/json.h"
#include "tools/text_table.h"
#include "tools/utf8.h"
#include "tools/value_text.h"

namespace cfile::tools {
namespace {

// Why the column has its encoding, in a few words: the option that chose the encoding, or the
// reason of automatic choice.
std::string ReasonOf(const ImportOptions& options, const ImportResult& result,
                     const ImportedColumn& column) {
  if (column.totals.num_present == 0) return "no values";
  if (options.encoding.Of(column.schema.name) != Encoding::kAuto) return "--encoding";
  if (result.format == "Parquet" && !options.goal_given && !result.reordered) {
    return result.recoded_pages == 0 ? "as in the pages" : "as in the pages, if possible";
  }
  if (options.inferred_types() == Compatibility::kKudu) return "the default of the type";
  return EncodingReason(column.schema.type, column.totals);
}

constexpr size_t kShownRenames = 10;
constexpr size_t kShownReasons = 10;

// a / b; 0 if b is 0.
double Ratio(uint64_t a, double b) { return b > 0 ? static_cast<double>(a) / b : 0; }

double MegabytesPerSecond(const ImportResult& result) {
  return Ratio(result.bytes_in, result.seconds) / 1e6;
}

double CompressionRatio(const ImportResult& result) {
  return Ratio(result.bytes_in, static_cast<double>(result.table_bytes));
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

// How the input was stored, if not as text in UTF-8: " (1,234 in gzip, UTF-16)".
std::string Stored(const ImportResult& result) {
  if (result.packing.empty() && result.charset.empty()) return "";
  const bool both = !result.packing.empty() && !result.charset.empty();
  return absl::StrCat(" (", WithCommas(result.stored_bytes), " in ", result.packing,
                      both ? ", " : "", result.charset, ")");
}

// "--null NA"
std::string NullOption(const std::string& text) {
  return absl::StrCat(text.starts_with('-') ? "--null=" : "--null ", ShellQuoted(text));
}

// How the input was read and, with `why` and for pages of Parquet, what was chosen.
void AppendChoices(const ImportOptions& options, const ImportResult& result, bool why,
                   std::string& text) {
  if (result.format == "CSV") {
    absl::StrAppend(&text, "delimiter: ", DelimiterName(result.delimiter.character), " (",
                    result.delimiter.reason, "); the first line ",
                    result.header ? "has the names" : "is a row", "\n");
  }
  if (!why && result.format != "Parquet") return;
  text += "encodings and codecs: ";
  if (result.copied_pages + result.recompressed_pages > 0) {
    const bool all = result.recompressed_pages + result.recoded_pages == 0;
    absl::StrAppend(&text, "those of the Parquet pages (",
                    PagesText(result.copied_pages, result.recompressed_pages, result.recoded_pages),
                    all ? ")\n" : "); where they changed, ");
    if (all) return;
  }
  absl::StrAppend(&text, "those of the options, otherwise chosen for each block",
                  options.goal == Goal::kBalanced ? ", for balanced size and speed"
                  : options.goal == Goal::kSize   ? ", for size"
                                                  : ", for speed",
                  "\n");
}

// Why columns have types that their first values do not have.
void AppendReasons(const ImportResult& result, std::string& text) {
  size_t shown = 0;
  for (const ImportedColumn& column : result.columns) {
    if (!column.reason.is_notable && column.reason.missing.empty()) continue;
    if (shown == kShownReasons) {
      absl::StrAppend(&text, "(--json says more about the types)\n");
      return;
    }
    absl::StrAppend(&text, shown++ == 0 ? "\n" : "", "column ", Printable(column.schema.name), ": ",
                    column.schema.type.ToString());
    if (column.reason.is_notable) absl::StrAppend(&text, ", because ", column.reason.text);
    if (!column.reason.missing.empty())
      absl::StrAppend(&text, "; ", column.reason.missing, ", which was taken as a null");
    if (!column.reason.null_text.empty()) {
      absl::StrAppend(&text, "; with ", NullOption(column.reason.null_text), " it would be ",
                      column.reason.type_without);
    }
    absl::StrAppend(&text, "\n");
  }
}

void AppendSkipped(const SkippedRows& skipped, std::string& text) {
  if (skipped.count == 0) return;
  absl::StrAppend(&text, Count(skipped.count, "bad row"), " skipped:\n");
  for (size_t i = 0; i < skipped.reasons.size(); ++i) {
    absl::StrAppend(&text, "  line ", skipped.lines[i], ": ", TerminalSafe(skipped.reasons[i]),
                    "\n");
  }
  if (skipped.count > skipped.reasons.size()) {
    absl::StrAppend(&text, "  and ", WithCommas(skipped.count - skipped.reasons.size()), " more\n");
  }
}

constexpr uint64_t kShownRows = 3;
constexpr size_t kShownBytes = 24;    // of a value
constexpr size_t kMostColumns = 100;  // each is a file that must be opened

// Adds a cell for each of the first new rows to the lines of the columns, which follow a heading.
// Adds nothing if the rows are nested, or if they are not cheap to read.
void AddFirstRows(const ImportOptions& options, const ImportResult& result,
                  std::vector<std::vector<std::string>>& lines) {
  const bool nested = std::ranges::any_of(
      result.columns, [](const ImportedColumn& column) { return column.schema.has_levels(); });
  if (nested || result.columns.size() > kMostColumns ||
      options.output.find("://") != std::string::npos)
    return;
  const auto table = TableReader::Open(options.output);
  if (!table.ok()) return;
  const uint64_t begin = table->num_rows() - std::min(table->num_rows(), result.rows);
  std::vector<std::string> names;
  for (const ImportedColumn& column : result.columns) {
    const auto found = table->schema().Find(column.schema.name);
    if (!found || table->schema().columns[*found].type != column.schema.type) return;
    names.push_back(column.schema.name);
  }
  auto scan = table->NewScan(
      {.columns = names, .range = {begin, begin + std::min(kShownRows, result.rows)}});
  if (!scan.ok()) return;
  for (const auto& batch : scan->Batches()) {
    if (!batch.ok()) return;
    for (size_t row = 0; row < batch->num_rows(); ++row)
      lines[0].push_back(absl::StrCat("row ", batch->ordinal(row)));
    for (size_t column = 0; column < result.columns.size(); ++column) {
      const ColumnType& type = result.columns[column].schema.type;
      VisitType(type, [&]<typename T>(std::type_identity<T>) {
        const auto values = batch->column<T>(column);
        for (size_t row = 0; row < batch->num_rows(); ++row) {
          std::string text;
          if (values.IsValid(row)) AppendText<T>(type, values.values[row], text);
          const std::string_view shown = CutText(text, kShownBytes);
          lines[column + 1].push_back(
              !values.IsValid(row) ? "null"
                                   : Printable(shown) + (shown.size() < text.size() ? "..." : ""));
        }
      });
    }
  }
}

}  // namespace

std::string SummaryText(const ImportOptions& options, const ImportResult& result, bool report,
                        bool why) {
  std::string text =
      absl::StrCat(result.inferred_schema, Printable(options.output), ": ",
                   Count(result.rows, result.records ? "record" : "row"),
                   options.append ? " added, " : ", ", Count(result.columns.size(), "column"));
  for (const std::string& column : result.sorted_by) {
    const auto has_nulls = [&](const ImportedColumn& each) {
      return each.schema.name == column && each.schema.nullable && !options.append;
    };
    const bool nulls = std::any_of(result.columns.begin(), result.columns.end(), has_nulls);
    absl::StrAppend(&text, &column == result.sorted_by.data() ? ", sorted by " : ", ",
                    Printable(column),
                    !nulls               ? ""
                    : options.nulls_last ? " (nulls last)"
                                         : " (nulls first)");
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
  AppendSkipped(result.skipped, text);
  absl::StrAppendFormat(&text, "%s bytes of %s%s -> %s bytes (%.2f : 1) in %.2f s, %.1f MB/s\n",
                        WithCommas(result.bytes_in), result.format, Stored(result),
                        WithCommas(result.table_bytes), CompressionRatio(result), result.seconds,
                        MegabytesPerSecond(result));
  AppendChoices(options, result, why, text);
  text += '\n';

  if (report) {
    absl::StrAppend(&text,
                    PagesText(result.copied_pages, result.recompressed_pages, result.recoded_pages),
                    "\n\n");
  }
  std::vector<std::vector<std::string>> lines = {{"column", "type", "nulls"}};
  std::string alignment = "<<>";
  if (why) {
    lines[0].insert(lines[0].end(),
                    {"encoding", "compression", "bytes", "bytes/row", "why this encoding"});
    alignment += "<<>><";
  }
  for (const ImportedColumn& column : result.columns) {
    auto& line = lines.emplace_back(std::vector<std::string>{
        Printable(column.schema.name), column.schema.type.ToString(),
        column.schema.nullable ? WithCommas(column.totals.null_count()) : "-"});
    if (!why) continue;
    line.insert(
        line.end(),
        {Encodings(column), Compressed(column), WithCommas(column.totals.bytes_written),
         absl::StrFormat("%.3f", BytesPerRow(result, column)), ReasonOf(options, result, column)});
  }
  if (!why) AddFirstRows(options, result, lines);
  alignment.resize(lines[0].size(), '<');
  text += AlignText(lines, alignment);
  AppendReasons(result, text);
  return text;
}

std::string SummaryJson(const ImportOptions& options, const ImportResult& result) {
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
                       {"type_reason", column.reason.text},
                       {"nullable", column.schema.nullable},
                       {"nulls", column.totals.null_count()},
                       {"encoding", EncodingName(column.totals.encoding)},
                       {"encodings", std::move(encodings)},
                       {"encoding_reason", ReasonOf(options, result, column)},
                       {"compression", CompressionName(column.totals.compression)},
                       {"bytes", column.totals.bytes_written},
                       {"bytes_per_row", BytesPerRow(result, column)}});
    if (!column.reason.missing.empty()) columns.back()["missing"] = column.reason.missing;
    if (!column.reason.null_text.empty()) {
      columns.back()["null_suggested"] = {{"text", column.reason.null_text},
                                          {"type", column.reason.type_without}};
    }
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
               {"stored_bytes", result.stored_bytes},
               {"packing", result.packing},
               {"charset", result.charset.empty() ? "UTF-8" : result.charset},
               {"bytes_out", result.bytes_out()},
               {"table_bytes", result.table_bytes},
               {"ratio", CompressionRatio(result)},
               {"seconds", result.seconds},
               {"megabytes_per_second", MegabytesPerSecond(result)},
               {"sorted_by", Json::array(result.sorted_by)},
               {"reordered", result.reordered},
               {"warnings", Json::array(result.warnings)},
               {"columns", std::move(columns)}};
  if (result.format == "CSV") {
    json["header"] = result.header;
    json["renamed"] = std::move(renamed);
    json["delimiter"] = {{"name", DelimiterName(result.delimiter.character)},
                         {"reason", result.delimiter.reason}};
  }
  if (result.format == "CSV" || result.format == "JSON") {
    json["skipped"] = {{"rows", result.skipped.count},
                       {"lines", Json::array(result.skipped.lines)},
                       {"reasons", Json::array(result.skipped.reasons)}};
  }
  if (result.format == "Parquet") {
    json["pages"] = {{"copied", result.copied_pages},
                     {"recompressed", result.recompressed_pages},
                     {"recoded", result.recoded_pages}};
  }
  if (!result.inferred_schema.empty()) json["schema"] = result.inferred_schema;
  // Paths and names need not be UTF-8.
  return json.dump(2) + "\n";
}

}  // namespace cfile::tools
