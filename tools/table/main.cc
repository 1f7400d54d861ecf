// cfile-table: lists, merges and drops the parts of a table (a part is a group of rows with its own
// files). It also removes files that the table no longer needs, and repairs damaged tables.
#include <chrono>
#include <csignal>
#include <cstdio>
#include <exception>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cfile/reader.h"
#include "cfile/status.h"
#include "cfile/table.h"
#include "cfile/table_maintenance.h"
#include "tools/command.h"
#include "tools/command_line.h"
#include "tools/json.h"
#include "tools/key_text.h"
#include "tools/location.h"
#include "tools/parts.h"
#include "tools/text_table.h"
#include "tools/utf8.h"
#ifdef CFILE_WITH_SALVAGE
#include "cfile/table_repair.h"
#endif

namespace cfile::tools {
namespace {

constexpr char kTool[] = "cfile-table";
constexpr char kHelp[] =
    "Readers that are open during a change keep the table as it was. The files of parts that were\n"
    "dropped or merged stay until `cfile-table gc` removes them.\n\n"
    "Exit codes: 0 success, 1 wrong use, 2 damaged, 3 input or output failed or another program\n"
    "changed the same parts, 4 above a limit, or needs something that this build does not have.\n\n"
    "Examples:\n"
    "  cfile-table parts flights\n"
    "  cfile-table compact flights\n"
    "  cfile-table drop flights part-0123456789abcdef0123456789abcdef\n"
    "  cfile-table drop-below flights 2013-06-01T00:00:00Z\n"
    "  cfile-table gc --older-than 3600 flights\n"
    "  cfile-table repair --dry-run flights";

struct Arguments {
  std::string directory;  // as the user wrote it: a path or a URL
  TableLocation table{std::string()};
  std::vector<std::string> parts;  // names, or the beginnings of names
  std::vector<std::string> keys;
  bool json = false;
  uint64_t older_than_seconds = 7 * 24 * 3600;
  bool salvage = false;
  bool null_lost = false;
  bool drop_damaged = false;
  bool force = false;
  bool dry_run = false;
  bool all = false;
};

ExitCode Fail(const absl::Status& status) { return Report(kTool, status); }

// Returns a JSON document: the members that all commands have, then those of `result`.
std::string JsonText(const Arguments& arguments, const Json& result) {
  Json document = {{"schema_version", 1}, {"path", arguments.directory}};
  document.update(result);
  return document.dump(2) + "\n";
}

ExitCode PrintParts(const Arguments& arguments) {
  const auto table = TableReader::Open(arguments.table);
  if (!table.ok()) return Fail(table.status());
  std::vector<std::vector<std::string>> lines = {{"part", "first row", "rows", "bytes"}};
  Json list = Json::array();
  for (size_t i = 0; i < table->num_parts(); ++i) {
    const absl::StatusOr<PartInfo> found = table->part(i);
    if (!found.ok()) return Fail(found.status());
    const PartInfo& part = *found;
    if (arguments.json) {
      list.push_back({{"part", part.name},
                      {"first_ordinal", part.first_ordinal},
                      {"rows", part.num_rows},
                      {"bytes", part.size_bytes}});
    } else {
      lines.push_back({part.name, std::to_string(part.first_ordinal), std::to_string(part.num_rows),
                       std::to_string(part.size_bytes)});
    }
  }
  return Print(kTool, arguments.json ? JsonText(arguments, {{"parts", std::move(list)}})
                                     : AlignText(lines, "<>>>", OutputWidth()));
}

absl::StatusOr<std::vector<PartInfo>> PartsOf(const TableReader& table) {
  std::vector<PartInfo> parts;
  for (size_t i = 0; i < table.num_parts(); ++i) {
    CFILE_ASSIGN_OR_RETURN(parts.emplace_back(), table.part(i));
  }
  return parts;
}

// Returns the parts that the texts of the user name.
absl::StatusOr<std::vector<PartInfo>> ChosenParts(const TableReader& table,
                                                  const std::vector<std::string>& texts) {
  std::set<size_t> chosen;
  for (const std::string& text : texts) {
    CFILE_ASSIGN_OR_RETURN(const size_t part, ChosenPart(table, text));
    chosen.insert(part);
  }
  std::vector<PartInfo> result;
  for (const size_t i : chosen) {
    CFILE_ASSIGN_OR_RETURN(result.emplace_back(), table.part(i));
  }
  return result;
}

std::vector<std::string> NamesOf(const std::vector<PartInfo>& parts) {
  std::vector<std::string> names;
  for (const PartInfo& part : parts) names.push_back(part.name);
  return names;
}

ExitCode CompactParts(const Arguments& arguments) {
  std::vector<std::string> names;
  if (!arguments.parts.empty()) {
    const auto table = TableReader::Open(arguments.table);
    if (!table.ok()) return Fail(table.status());
    const auto chosen = ChosenParts(*table, arguments.parts);
    if (!chosen.ok()) return Fail(chosen.status());
    names = NamesOf(*chosen);
  }
  const absl::StatusOr<CompactReport> report = Compact(arguments.table, names);
  if (!report.ok()) return Fail(report.status());
  if (arguments.json) {
    return Print(kTool, JsonText(arguments, {{"rows", report->rows},
                                             {"copied_blocks", report->copied_blocks},
                                             {"copied_bytes", report->copied_bytes},
                                             {"recoded_blocks", report->recoded_blocks}}));
  }
  return Print(kTool, absl::StrCat("merged ", report->rows, " rows: ", report->copied_blocks,
                                   " blocks copied (", report->copied_bytes, " bytes), ",
                                   report->recoded_blocks, " blocks encoded again\n"));
}

// The rows of one part that a command removes.
struct RemovedRows {
  std::string part;
  uint64_t rows = 0;
};

// Calls `remove` unless it is a dry run, and prints `removed`. Removes all rows only with --all.
ExitCode RemoveRows(const Arguments& arguments, const TableReader& table,
                    const std::vector<RemovedRows>& removed,
                    const std::function<absl::Status()>& remove) {
  uint64_t rows = 0;
  for (const RemovedRows& part : removed) rows += part.rows;
  if (rows > 0 && rows == table.num_rows() && !arguments.all && !arguments.dry_run) {
    return Fail(absl::InvalidArgumentError(absl::StrCat(table.directory(), ": these are all ", rows,
                                                        " rows of the table; --all removes them")));
  }
  if (!arguments.dry_run) {
    if (const absl::Status status = remove(); !status.ok()) return Fail(status);
  }
  std::string text;
  Json list = Json::array();
  for (const RemovedRows& part : removed) {
    absl::StrAppendFormat(&text, "%-37s %14u rows\n", TerminalSafe(part.part), part.rows);
    list.push_back({{"part", part.part}, {"rows", part.rows}});
  }
  absl::StrAppend(&text, arguments.dry_run ? "would remove " : "removed ", rows, " of ",
                  table.num_rows(), " rows\n");
  return Print(kTool, arguments.json ? JsonText(arguments, {{"dry_run", arguments.dry_run},
                                                            {"removed", std::move(list)},
                                                            {"rows", rows}})
                                     : text);
}

ExitCode Drop(const Arguments& arguments) {
  if (arguments.parts.empty() && !arguments.all) {
    return Misuse(kTool, kTool, "drop: name parts, or use --all");
  }
  const auto table = TableReader::Open(arguments.table);
  if (!table.ok()) return Fail(table.status());
  const auto parts =
      arguments.parts.empty() ? PartsOf(*table) : ChosenParts(*table, arguments.parts);
  if (!parts.ok()) return Fail(parts.status());
  std::vector<RemovedRows> removed;
  for (const PartInfo& part : *parts) removed.push_back({part.name, part.num_rows});
  return RemoveRows(arguments, *table, removed,
                    [&] { return DropParts(arguments.table, NamesOf(*parts)); });
}

// Returns the column by which the table is sorted: the first column with a value index.
// Precondition: the table has no compound keys.
absl::StatusOr<size_t> SortColumn(const TableReader& table) {
  for (size_t column = 0; column < table.schema().columns.size(); ++column) {
    const auto indexed = table.has_value_index(column);
    if (!indexed.ok()) return indexed.status();
    if (*indexed) return column;
  }
  return absl::FailedPreconditionError(
      absl::StrCat(table.directory(), ": the table is not sorted by a column"));
}

// Returns the numbers of rows that are less than `key`, for the parts that have such rows.
template <typename T>
absl::StatusOr<std::vector<RemovedRows>> RowsBelow(const TableReader& table, size_t column,
                                                   const T& key) {
  std::vector<RemovedRows> rows;
  for (size_t i = 0; i < table.num_parts(); ++i) {
    CFILE_ASSIGN_OR_RETURN(const PartInfo part, table.part(i));
    CFILE_ASSIGN_OR_RETURN(const BlockStatistics bounds, table.part_bounds(i, column));
    const auto least = bounds.Min<T>();
    const auto greatest = bounds.Max<T>();
    if (part.num_rows == 0 || (least && !(T(*least) < key))) continue;
    if (greatest && T(*greatest) < key) {
      rows.push_back({part.name, part.num_rows});
      continue;
    }
    CFILE_ASSIGN_OR_RETURN(const Reader file, table.OpenColumn(i, column));
    CFILE_ASSIGN_OR_RETURN(auto cursor, file.NewCursor<T>());
    CFILE_ASSIGN_OR_RETURN(const KeyPosition position, cursor.SeekToKey(key));
    if (position.ordinal > 0) rows.push_back({part.name, position.ordinal});
  }
  return rows;
}

template <typename T>
ExitCode DropBelowKey(const Arguments& arguments, const TableReader& table, size_t column,
                      const absl::StatusOr<T>& key) {
  if (!key.ok()) return Fail(key.status());
  const auto rows = RowsBelow<T>(table, column, *key);
  if (!rows.ok()) return Fail(rows.status());
  return RemoveRows(arguments, table, *rows,
                    [&] { return DropRowsBelow<T>(arguments.table, column, *key); });
}

ExitCode DropBelow(const Arguments& arguments) {
  const auto table = TableReader::Open(arguments.table);
  if (!table.ok()) return Fail(table.status());
  if (const auto key_index = table->schema().key_index()) {
    const auto key = ParseCompoundKey(table->schema().key_types(), arguments.keys);
    if (!key.ok()) return Fail(key.status());
    return DropBelowKey<std::string_view>(arguments, *table, *key_index, key->bytes());
  }
  if (arguments.keys.size() > 1) {
    return Fail(absl::InvalidArgumentError("expected one KEY: the table is sorted by one column"));
  }
  const auto column = SortColumn(*table);
  if (!column.ok()) return Fail(column.status());
  const ColumnType& type = table->schema().columns[*column].type;
  return VisitType(type, [&]<typename T>(std::type_identity<T>) {
    std::string scratch;
    return DropBelowKey<T>(arguments, *table, *column,
                           ParseKey<T>(type, arguments.keys[0], scratch));
  });
}

ExitCode RemoveGarbage(const Arguments& arguments) {
  const auto removed = CollectGarbage(
      arguments.table, std::chrono::seconds(static_cast<int64_t>(arguments.older_than_seconds)), {},
      arguments.dry_run);
  if (!removed.ok()) return Fail(removed.status());
  std::string text;
  uint64_t bytes = 0;
  Json list = Json::array();
  for (const RemovedGarbage& garbage : *removed) {
    absl::StrAppendFormat(&text, "%-37s %14u\n", TerminalSafe(garbage.name), garbage.size_bytes);
    list.push_back({{"name", garbage.name}, {"bytes", garbage.size_bytes}});
    bytes += garbage.size_bytes;
  }
  if (arguments.json) {
    return Print(kTool, JsonText(arguments, {{"dry_run", arguments.dry_run},
                                             {"removed", std::move(list)},
                                             {"bytes", bytes}}));
  }
  absl::StrAppend(&text, arguments.dry_run ? "would remove " : "removed ", removed->size(),
                  removed->size() == 1 ? " item, " : " items, ", bytes, " bytes\n");
  return Print(kTool, text);
}

#ifdef CFILE_WITH_SALVAGE
std::string RepairText(const Arguments& arguments, const RepairReport& report, uint64_t lost_rows) {
  std::string text;
  bool damaged = false, left_out = false;
  // Messages and names come from files, so they may contain control characters.
  if (!report.damage.empty()) {
    absl::StrAppend(&text, "damaged: ", TerminalSafe(report.damage), "\n");
  }
  for (const RepairedPart& part : report.parts) {
    if (part.state == RepairedPart::State::kKept) continue;
    const std::string lost = part.state == RepairedPart::State::kDamaged
                                 ? "not all readable"
                                 : absl::StrCat(part.lost_rows, " lost");
    absl::StrAppendFormat(&text, "%-37s %-11s %14u rows, %s: %s\n", TerminalSafe(part.name),
                          NameOf(part.state), part.num_rows, lost, TerminalSafe(part.reason));
    for (const auto& [column, count] : part.lost_values) {
      absl::StrAppend(&text, "  ", TerminalSafe(column), ": ", count, " lost values are null\n");
    }
    damaged = damaged || part.state == RepairedPart::State::kDamaged;
    left_out = left_out || part.state == RepairedPart::State::kLeftOut;
  }
  if (damaged) {
    absl::StrAppend(&text,
                    !arguments.salvage ? "--salvage recovers what can be read of the damaged parts"
                    : !arguments.null_lost
                        ? "no row of the damaged parts is whole; --null-lost makes lost values of "
                          "nullable columns null; --drop-damaged leaves the parts out"
                        : "nothing can be recovered of the damaged parts; --drop-damaged leaves "
                          "them out",
                    "\n");
  }
  if (left_out) {
    absl::StrAppend(&text, "--force brings back parts that were left out, until gc removes them\n");
  }
  if (!report.kept_as.empty()) {
    absl::StrAppend(&text, "the damaged table.cft is now ", TerminalSafe(report.kept_as), "\n");
  }
  absl::StrAppend(&text,
                  damaged && !report.changed ? "not repaired: "
                  : !report.changed          ? "nothing to repair: "
                  : !arguments.dry_run       ? "repaired: "
                                             : "would be repaired: ",
                  report.num_parts, report.num_parts == 1 ? " part, " : " parts, ", report.num_rows,
                  " rows, ", damaged ? "not all readable, " : "", lost_rows, " lost\n");
  return text;
}

std::string RepairJson(const Arguments& arguments, const RepairReport& report, uint64_t lost_rows) {
  Json parts = Json::array();
  for (const RepairedPart& part : report.parts) {
    Json lost_values = Json::array();
    for (const auto& [column, count] : part.lost_values) {
      lost_values.push_back({{"column", column}, {"values", count}});
    }
    parts.push_back({{"part", part.name},
                     {"state", std::string(NameOf(part.state))},
                     {"rows", part.num_rows},
                     {"lost_rows", part.lost_rows},
                     {"lost_values", std::move(lost_values)},
                     {"reason", part.reason}});
  }
  const auto text_or_null = [](const std::string& text) {
    return text.empty() ? Json() : Json(text);
  };
  return JsonText(arguments, {{"dry_run", arguments.dry_run},
                              {"changed", report.changed},
                              {"complete", report.complete()},
                              {"damage", text_or_null(report.damage)},
                              {"kept_as", text_or_null(report.kept_as)},
                              {"rows", report.num_rows},
                              {"lost_rows", lost_rows},
                              {"num_parts", report.num_parts},
                              {"parts", std::move(parts)}});
}

ExitCode RepairTable(const Arguments& arguments) {
  if (arguments.null_lost && !arguments.salvage) {
    return Misuse(kTool, kTool, "repair: --null-lost needs --salvage");
  }
  const auto report = Repair(arguments.table, {.salvage = arguments.salvage,
                                               .null_lost = arguments.null_lost,
                                               .drop_damaged = arguments.drop_damaged,
                                               .force = arguments.force,
                                               .dry_run = arguments.dry_run});
  if (!report.ok()) return Fail(report.status());
  const bool is_damaged = arguments.dry_run && report->changed;
  const ExitCode found = is_damaged || !report->complete() ? kDamaged : kFine;
  uint64_t lost_rows = 0;
  for (const RepairedPart& part : report->parts) lost_rows += part.lost_rows;
  const std::string text = arguments.json ? RepairJson(arguments, *report, lost_rows)
                                          : RepairText(arguments, *report, lost_rows);
  const ExitCode printed = Print(kTool, text);
  return printed == kFine ? found : printed;
}
#endif

int Run(int argc, char** argv) {
  Arguments arguments;
  std::function<ExitCode(const Arguments&)> action;
  Command tool{.name = kTool,
               .description =
                   "Keeps a table in order: lists, merges and drops its parts, removes old files, "
                   "repairs it.",
               .footer = HelpWithUrls(kHelp),
               .needs_subcommand = true};
  tool.Add("--version", absl::StrCat("cfile-table ", CFILE_VERSION), "Print the version");
  const auto add = [&](const std::string& name, const std::string& description,
                       ExitCode (*run)(const Arguments&)) -> Command& {
    Command& command = tool.subcommands.emplace_back(Command{
        .name = name, .description = description, .on_choice = [&action, run] { action = run; }});
    command.Add("DIRECTORY", &arguments.directory, "The directory of the table, or its s3:// URL")
        .required = true;
    return command;
  };
  const auto with_json = [&](Command& command) -> Command& {
    command.Add("--json", &arguments.json, "Print one JSON document");
    return command;
  };
  const auto with_dry_run = [&](Command& command) -> Command& {
    command.Add("--dry-run", &arguments.dry_run, "Only print what would be done");
    return with_json(command);
  };
  with_json(add("parts", "List the parts: name, first row, rows and bytes", PrintParts));
  with_json(add("compact",
                "Merge parts into one. If the table is sorted, the rows of the new part are sorted",
                CompactParts))
      .Add("PART", &arguments.parts,
           "Only these parts, which must follow each other: numbers, counted from 0, names, or the "
           "beginnings of names (default: all parts)");
  const auto with_all = [&](Command& command) -> Command& {
    command.Add("--all", &arguments.all, "Even if these are all rows of the table");
    return with_dry_run(command);
  };
  with_all(add("drop", "Remove parts from the table", Drop))
      .Add(
          "PART", &arguments.parts,
          "The numbers of the parts, counted from 0, their names, or the beginnings of names. With "
          "--all, all parts");
  with_all(add("drop-below", "Remove the rows whose key is less than KEY from a sorted table",
               DropBelow))
      .Add("KEY", &arguments.keys,
           "A value as `cfile-dump rows` prints it; a date stands for its first moment. If the "
           "table is sorted by several columns, give values of all these columns or of the first "
           "of them. Write null for a null")
      .required = true;
  with_dry_run(add("gc",
                   "Remove the files of parts that the table no longer has, or of a table whose "
                   "first writer was killed",
                   RemoveGarbage))
      .Add("--older-than SECONDS", &arguments.older_than_seconds,
           "Only files that were not changed for this many seconds (default: 7 days). "
           "No writer or reader may need these files any more",
           NumberIn(0, UINT32_MAX));
#ifdef CFILE_WITH_SALVAGE
  Command& repair = with_dry_run(
      add("repair",
          "Read all values, and rebuild a damaged or missing table.cft from the parts. Parts with "
          "damaged files stay, unless an option says otherwise. Exits with 2 if a part is damaged "
          "or left out, or if --dry-run finds something to repair",
          RepairTable));
  repair.Add("--salvage", &arguments.salvage,
             "Replace each damaged part by the rows that all its columns still have");
  repair.Add("--null-lost", &arguments.null_lost,
             "With --salvage: lost values of nullable columns become null, and their rows stay");
  repair.Add(
      "--drop-damaged", &arguments.drop_damaged,
      "Leave damaged parts out of the table; with --salvage, only parts of which nothing can "
      "be read. Their files stay until gc removes them");
  repair.Add("--force", &arguments.force,
             "Rebuild table.cft even if it is valid. Parts that an earlier repair left out come "
             "back");
#endif
  const Parsed parsed = Parse(tool, {argv + 1, argv + argc});
  if (parsed.text) return Print(kTool, *parsed.text);
  if (!parsed.error.empty()) return Misuse(kTool, kTool, parsed.error);
  absl::StatusOr<TableLocation> table = TableAt(arguments.directory);
  if (!table.ok()) return Fail(table.status());
  arguments.table = *std::move(table);
  return action(arguments);
}

}  // namespace
}  // namespace cfile::tools

int main(int argc, char** argv) {
  cfile::tools::OpenStandardStreams();
  cfile::tools::RaiseOpenFileLimit();
  std::signal(SIGPIPE, SIG_IGN);
  try {
    return cfile::tools::Run(argc, argv);
  } catch (const std::exception& error) {  // out of memory
    return cfile::tools::Report("cfile-table", absl::ResourceExhaustedError(error.what()));
  }
}
