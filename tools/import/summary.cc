#include "tools/import/import_result.h"

#include <algorithm>
#include <numeric>
#include <string_view>
#include <type_traits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "cfile/records.h"
#include "cfile/status.h"
#include "cfile/table.h"
#include "cfile/table_scan.h"
#include "tools/command_line.h"
#include "tools/encoding_reason.h"
#include "tools/records/json_printer.h"
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
  if (options.inferred_types() == OldestReader::kKudu) return "the default of the type";
  return EncodingReason(column.schema.type, column.totals);
}

constexpr size_t kShownRenames = 10;
constexpr size_t kShownReasons = 10;

double Ratio(uint64_t a, double b) { return b > 0 ? static_cast<double>(a) / b : 0; }

// "1,234 rows"
std::string Count(uint64_t number, std::string_view noun) {
  return StrCat(WithCommas(number), " ", noun, number == 1 ? "" : "s");
}

// "zstd", or "zstd 3/4" if only 3 of 4 blocks are compressed, or "-" if there are no blocks.
std::string Compressed(const ImportedColumn& column) {
  uint64_t blocks = 0, compressed = 0;
  for (const EncodingTotals& each : column.totals.encodings) {
    blocks += each.blocks;
    compressed += each.compressed_blocks;
  }
  if (blocks == 0) return "-";
  if (compressed == 0) return "none";
  const std::string name = CompressionName(column.totals.compression);
  return compressed == blocks ? name : absl::StrCat(name, " ", compressed, "/", blocks);
}

void AddTitle(const ImportOptions& options, const ImportResult& result, Document& document) {
  std::vector<std::string> order;
  for (const std::string& column : result.sorted_by) {
    const bool nulls =
        !options.append && std::ranges::any_of(result.columns, [&](const ImportedColumn& each) {
          return each.schema.name == column && each.schema.nullable;
        });
    order.push_back(Printable(column) + (!nulls               ? ""
                                         : options.nulls_last ? " (nulls last)"
                                                              : " (nulls first)"));
  }
  document.AddJson({{"schema_version", 1},
                    {"input", options.input},
                    {"format", result.format},
                    {"table", options.output},
                    {"appended", options.append},
                    {"rows", result.rows},
                    {"sorted_by", result.sorted_by},
                    {"reordered", result.reordered}});
  if (!result.inferred_schema.empty()) document.AddJson({{"schema", result.inferred_schema}});
  document.AddLine(result.inferred_schema, Printable(options.output), ": ",
                   Count(result.rows, result.records ? "record" : "row"),
                   options.append ? " added, " : ", ", Count(result.columns.size(), "column"),
                   order.empty() ? "" : ", sorted by ", absl::StrJoin(order, ", "));
  if (result.reordered) {
    document.AddLine(Printable(options.input), " was not in this order: its rows were sorted");
  }
}

void AddRenamed(const std::vector<RenamedColumn>& renamed, Document& document) {
  Table list(document.is_json());
  for (const RenamedColumn& column : renamed) {
    list.Add({{"column", column.column + 1}, {"from", column.from}, {"to", column.to}});
    if (list.size() > kShownRenames) continue;
    document.AddLine("column ", column.column + 1,
                     column.from.empty()
                         ? " has no name"
                         : " is another column with the name " + Printable(column.from),
                     " and was named ", Printable(column.to));
  }
  document.AddTable("renamed", list);
  if (renamed.size() > kShownRenames) {
    document.AddLine("and ", WithCommas(renamed.size() - kShownRenames),
                     " more columns were named in this way (--json lists them)");
  }
}

void AddSkipped(const SkippedRows& skipped, Document& document) {
  document.AddJson(
      {{"skipped",
        {{"rows", skipped.count}, {"lines", skipped.lines}, {"reasons", skipped.reasons}}}});
  if (skipped.count == 0) return;
  document.AddLine(Count(skipped.count, "bad row"), " skipped:");
  for (size_t i = 0; i < skipped.reasons.size(); ++i) {
    document.AddLine("  line ", skipped.lines[i], ": ", TerminalSafe(skipped.reasons[i]));
  }
  if (skipped.count > skipped.reasons.size()) {
    document.AddLine("  and ", WithCommas(skipped.count - skipped.reasons.size()), " more");
  }
}

void AddBytes(const ImportResult& result, Document& document) {
  const double ratio = Ratio(result.bytes_in, static_cast<double>(result.table_bytes));
  const double speed = Ratio(result.bytes_in, result.seconds) / 1e6;
  document.AddJson({{"bytes_in", result.bytes_in},
                    {"stored_bytes", result.stored_bytes},
                    {"packing", result.packing},
                    {"charset", result.charset.empty() ? "UTF-8" : result.charset},
                    {"bytes_out", result.bytes_out()},
                    {"table_bytes", result.table_bytes},
                    {"ratio", ratio},
                    {"seconds", result.seconds},
                    {"megabytes_per_second", speed}});
  // How the input was stored, if not as text in UTF-8: " (1,234 in gzip, UTF-16)".
  std::string stored;
  if (!result.packing.empty() || !result.charset.empty()) {
    const bool both = !result.packing.empty() && !result.charset.empty();
    stored = absl::StrCat(" (", WithCommas(result.stored_bytes), " in ", result.packing,
                          both ? ", " : "", result.charset, ")");
  }
  document.Append(absl::StrFormat("%s bytes of %s%s -> %s bytes (%.2f : 1) in %.2f s, %.1f MB/s\n",
                                  WithCommas(result.bytes_in), result.format, stored,
                                  WithCommas(result.table_bytes), ratio, result.seconds, speed));
}

// How the input was read and, with `why` and for pages of Parquet, what was chosen.
void AddChoices(const ImportOptions& options, const ImportResult& result, bool why,
                Document& document) {
  if (result.format == "CSV") {
    const std::string delimiter = DelimiterName(result.delimiter.character);
    document.AddJson({{"header", result.header},
                      {"delimiter", {{"name", delimiter}, {"reason", result.delimiter.reason}}}});
    document.AddLine("delimiter: ", delimiter, " (", result.delimiter.reason, "); the first line ",
                     result.header ? "has the names" : "is a row");
  }
  if (!why && result.format != "Parquet") return;
  document.Append("encodings and codecs: ");
  if (result.copied_pages + result.recompressed_pages > 0) {
    const bool all = result.recompressed_pages + result.recoded_pages == 0;
    document.Append(
        StrCat("those of the Parquet pages (",
               PagesText(result.copied_pages, result.recompressed_pages, result.recoded_pages),
               all ? ")\n" : "); where they changed, "));
    if (all) return;
  }
  document.AddLine("those of the options, otherwise chosen for each block",
                   options.goal == Goal::kBalanced ? ", for balanced size and speed"
                   : options.goal == Goal::kSize   ? ", for size"
                                                   : ", for speed");
}

// Why a column has a type that its first values do not have. "": there is nothing to say.
std::string ReasonText(const ImportedColumn& column) {
  const TypeReason& reason = column.reason;
  if (!reason.is_notable && reason.missing.empty()) return "";
  std::string text =
      absl::StrCat("column ", Printable(column.schema.name), ": ", column.schema.type.ToString());
  if (reason.is_notable) absl::StrAppend(&text, ", because ", reason.text);
  if (!reason.missing.empty())
    absl::StrAppend(&text, "; ", reason.missing, ", which was taken as a null");
  if (!reason.null_text.empty()) {
    absl::StrAppend(&text, "; with --null", reason.null_text.starts_with('-') ? "=" : " ",
                    ShellQuoted(reason.null_text), " it would be ", reason.type_without);
  }
  return text + "\n";
}

constexpr uint64_t kShownRows = 3;
constexpr size_t kShownBytes = 24;    // of a value
constexpr size_t kMostColumns = 100;  // each is a file that must be opened

// The first new rows of a table.
struct FirstRows {
  std::vector<Heading> headings;
  std::vector<std::vector<std::string>> cells;  // by column
};

bool IsNested(const ImportResult& result) {
  return std::ranges::any_of(
      result.columns, [](const ImportedColumn& column) { return column.schema.has_levels(); });
}

// The new table, if its rows are cheap to read.
absl::StatusOr<TableReader> OpenForRows(const ImportOptions& options, const ImportResult& result) {
  if (result.columns.size() > kMostColumns || options.output.find("://") != std::string::npos)
    return absl::UnavailableError("");
  return TableReader::Open(options.output, {.stored_rows = true, .blocks_up_to_file_size = true});
}

// The first new records of a table of nested records, as lines of JSON.
std::string FirstRecords(const ImportOptions& options, const ImportResult& result) {
  constexpr size_t kMostCells = 100;
  if (!IsNested(result)) return "";
  const auto table = OpenForRows(options, result);
  if (!table.ok()) return "";
  auto reader = RecordReader::Open(*table);
  if (!reader.ok()) return "";
  const uint64_t begin = table->num_rows() - std::min(table->num_rows(), result.rows);
  if (!reader->Seek(begin).ok()) return "";
  std::string lines, text;
  std::vector<size_t> leaves(reader->schema().leaves().size());
  std::iota(leaves.begin(), leaves.end(), size_t{0});
  for (uint64_t i = 0; i < std::min(kShownRows, result.rows); ++i) {
    std::string first;  // the beginning of a long record
    JsonPrinter printer(reader->schema(), leaves, text, [&] {
      if (first.empty()) first = text.substr(0, JsonPrinter::kDrainBytes);
      text.clear();
      return absl::OkStatus();
    });
    if (!reader->Next(printer).value_or(false)) return "";
    const std::string& shown = first.empty() ? text : first;
    absl::StrAppend(&lines,
                    Shortened(TerminalSafe(shown.substr(0, shown.find('\n'))),
                              OutputWidth().value_or(kMostCells)),
                    "\n");
    text.clear();
  }
  return lines;
}

// No rows if they are nested or not cheap to read.
FirstRows ReadFirstRows(const ImportOptions& options, const ImportResult& result) {
  const size_t num_columns = result.columns.size();
  const FirstRows none{.cells = std::vector<std::vector<std::string>>(num_columns)};
  if (IsNested(result)) return none;
  const auto table = OpenForRows(options, result);
  if (!table.ok()) return none;
  const uint64_t begin = table->num_rows() - std::min(table->num_rows(), result.rows);
  std::vector<std::string> names;
  std::vector<ColumnType> types;  // --evolve may have changed them
  for (const ImportedColumn& column : result.columns) {
    const auto found = table->schema().Find(column.schema.name);
    if (!found) return none;
    names.push_back(column.schema.name);
    types.push_back(table->schema().columns[*found].type);
  }
  auto scan = table->NewScan(
      {.columns = names, .range = {begin, begin + std::min(kShownRows, result.rows)}});
  if (!scan.ok()) return none;
  FirstRows rows = none;
  for (const auto& batch : scan->Batches()) {
    if (!batch.ok()) return none;
    for (size_t row = 0; row < batch->num_rows(); ++row)
      rows.headings.push_back({absl::StrCat("row ", batch->ordinal(row))});
    for (size_t column = 0; column < num_columns; ++column) {
      const ColumnType& type = types[column];
      VisitType(type, [&]<typename T>(std::type_identity<T>) {
        const auto values = batch->column<T>(column);
        for (size_t row = 0; row < batch->num_rows(); ++row) {
          std::string text;
          if (values.IsValid(row)) AppendText<T>(type, values.values[row], text);
          const std::string_view shown = CutText(text, kShownBytes);
          rows.cells[column].push_back(
              !values.IsValid(row) ? "null"
                                   : Printable(shown) + (shown.size() < text.size() ? "..." : ""));
        }
      });
    }
  }
  return rows;
}

void AddColumn(const ImportOptions& options, const ImportResult& result,
               const ImportedColumn& column, bool why, Record& record) {
  const ColumnTotals& totals = column.totals;
  std::vector<std::string> encodings;  // in the order in which they first occur
  for (const EncodingTotals& each : totals.encodings) {
    encodings.push_back(EncodingName(each.encoding));
  }
  const double bytes_per_row = Ratio(totals.bytes_written, static_cast<double>(result.rows));
  record.AddBytes("name", column.schema.name);
  record.AddBytes("type", column.schema.type.ToString());
  record.AddJson({{"type_reason", column.reason.text}, {"nullable", column.schema.nullable}});
  record.Add("nulls", totals.null_count(),
             column.schema.nullable ? WithCommas(totals.null_count()) : "-");
  record.AddJson({{"encoding", EncodingName(totals.encoding)}, {"encodings", totals.encodings}});
  if (!record.is_json() && !why) return;
  record.AddText("encodings", encodings.empty() ? "-" : absl::StrJoin(encodings, ","));
  record.Add("compression", CompressionName(totals.compression), Compressed(column));
  record.AddCount("bytes", totals.bytes_written);
  record.Add("bytes_per_row", bytes_per_row, absl::StrFormat("%.3f", bytes_per_row));
  record.AddBytes("encoding_reason", ReasonOf(options, result, column));
  if (!column.reason.missing.empty()) record.AddJson({{"missing", column.reason.missing}});
  if (!column.reason.null_text.empty()) {
    record.AddJson({{"null_suggested",
                     {{"text", column.reason.null_text}, {"type", column.reason.type_without}}}});
  }
}

}  // namespace

Document Summary(const ImportOptions& options, const ImportResult& result, bool json, bool report,
                 bool why) {
  Document document(json);
  AddTitle(options, result, document);
  if (result.format == "CSV") AddRenamed(result.renamed, document);
  if (result.format == "CSV" || result.format == "JSON") AddSkipped(result.skipped, document);
  AddBytes(result, document);
  AddChoices(options, result, why, document);
  document.Append("\n");
  document.AddJson({{"warnings", result.warnings}});
  if (result.format == "Parquet") {
    document.AddJson({{"pages",
                       {{"copied", result.copied_pages},
                        {"recompressed", result.recompressed_pages},
                        {"recoded", result.recoded_pages}}}});
  }
  if (report) {
    document.AddLine(
        PagesText(result.copied_pages, result.recompressed_pages, result.recoded_pages), "\n");
  }
  std::vector<Heading> headings = {{"column"}, {"type"}, {"nulls", kNumberColumn}};
  FirstRows rows;
  if (!json && !why) rows = ReadFirstRows(options, result);
  if (why) {
    rows.headings = {{"encoding"},
                     {"compression"},
                     {"bytes", kNumberColumn},
                     {"bytes/row", kNumberColumn},
                     {"why this encoding"}};
  }
  headings.insert(headings.end(), rows.headings.begin(), rows.headings.end());
  Table columns(json, headings);
  std::string reasons;
  size_t num_reasons = 0;
  for (size_t i = 0; i < result.columns.size(); ++i) {
    const ImportedColumn& column = result.columns[i];
    Record& record = columns.Add();
    AddColumn(options, result, column, why, record);
    if (!json && !why) {
      for (const std::string& cell : rows.cells[i]) record.AddText("", cell);
    }
    const std::string reason = ReasonText(column);
    if (!reason.empty() && num_reasons++ < kShownReasons) reasons += reason;
  }
  document.AddTable("columns", columns);
  if (!json && !why) {
    if (const std::string records = FirstRecords(options, result); !records.empty())
      document.Append("\n" + records);
  }
  if (!reasons.empty()) document.Append("\n" + reasons);
  if (num_reasons > kShownReasons) document.AddLine("(--json says more about the types)");
  return document;
}

}  // namespace cfile::tools
