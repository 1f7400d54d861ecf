// cfile-table: lists, merges, drops and repairs the parts of a table (a part is a group of rows
// with its own files), sets which programs can read it, and which times are too old, and removes
// files that the table no longer needs.
#include <chrono>
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
#include "tools/document.h"
#include "tools/key_text.h"
#include "tools/layout_options.h"
#include "tools/location.h"
#include "tools/merge_rule.h"
#include "tools/utf8.h"
#ifdef CFILE_WITH_SALVAGE
#include "cfile/table_repair.h"
#endif

namespace cfile::tools {
namespace {

constexpr char kTool[] = "cfile-table";
constexpr char kHelp[] =
    "Readers that are open during a change keep the table as it was. The files of parts that were\n"
    "dropped or merged stay until `cfile-table gc` removes them.\n"
    "`cfile-table compact DIRECTORY PART --pack-below 0` unpacks a packed part.\n\n"
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
  std::string oldest_reader, time;
  bool stored_rows = false;
  bool json = false;
  uint64_t older_than_seconds = 7 * 24 * 3600;
  bool salvage = false;
  bool null_lost = false;
  bool drop_damaged = false;
  bool force = false;
  bool dry_run = false;
  bool all = false;
  bool newest = false;
  size_t max_block_size_bytes = ReaderOptions().max_block_size_bytes;
  size_t pack_below_bytes = WriterOptions().max_packed_part_bytes;
};

ReaderOptions Reading(const Arguments& arguments) {
  return {.stored_rows = arguments.stored_rows,
          .max_block_size_bytes = arguments.max_block_size_bytes,
          .blocks_up_to_file_size = true};
}

// What can be read can be written again.
std::vector<WriterOptions> Writing(const Arguments& arguments) {
  return {{.max_block_size_bytes = kMaxBytes, .max_packed_part_bytes = arguments.pack_below_bytes}};
}

absl::StatusOr<TableReader> OpenTable(const Arguments& arguments) {
  return TableReader::Open(arguments.table, Reading(arguments));
}

// Returns the parts that the texts of the user name, or all parts if there are no texts.
absl::StatusOr<std::vector<PartInfo>> ChosenParts(const TableReader& table,
                                                  const std::vector<std::string>& texts) {
  std::set<size_t> chosen;
  for (const std::string& text : texts) {
    CFILE_ASSIGN_OR_RETURN(const size_t part, ChosenPart(table, text));
    chosen.insert(part);
  }
  std::vector<PartInfo> result;
  for (size_t i = 0; i < table.num_parts(); ++i) {
    if (!texts.empty() && !chosen.contains(i)) continue;
    CFILE_ASSIGN_OR_RETURN(result.emplace_back(), table.part(i));
  }
  return result;
}

std::vector<std::string> NamesOf(const std::vector<PartInfo>& parts) {
  std::vector<std::string> names;
  for (const PartInfo& part : parts) names.push_back(part.name);
  return names;
}

Outcome PrintParts(const Arguments& arguments, Output& output) {
  CFILE_ASSIGN_OR_RETURN(const TableReader table, OpenTable(arguments));
  CFILE_ASSIGN_OR_RETURN(const std::vector<PartInfo> parts, ChosenParts(table, {}));
  Table list(arguments.json, {{"part", {.shorten = 1}},
                              {"first row", kNumberColumn},
                              {"rows", kNumberColumn},
                              {"bytes", kNumberColumn}});
  for (const PartInfo& part : parts) {
    Record& record = list.Add();
    record.AddBytes("part", part.name);
    record.Add("first_ordinal", part.first_ordinal);
    record.Add("rows", part.num_rows);
    record.Add("bytes", part.size_bytes);
  }
  Document document(arguments.json, arguments.directory);
  document.AddTable("parts", list);
  document.PrintTo(output);
  return kFine;
}

Outcome CompactParts(const Arguments& arguments, Output& output) {
  std::vector<std::string> names;
  if (!arguments.parts.empty()) {
    CFILE_ASSIGN_OR_RETURN(const TableReader table, OpenTable(arguments));
    CFILE_ASSIGN_OR_RETURN(const auto chosen, ChosenParts(table, arguments.parts));
    names = NamesOf(chosen);
  }
  CFILE_ASSIGN_OR_RETURN(const CompactReport report,
                         Compact(arguments.table, names, Writing(arguments),
                                 arguments.newest ? KeptRows::kNewestOfKey : KeptRows::kAll));
  Document document(arguments.json, arguments.directory);
  document.AddJson({{"rows", report.rows},
                    {"copied_blocks", report.copied_blocks},
                    {"copied_bytes", report.copied_bytes},
                    {"recoded_blocks", report.recoded_blocks}});
  document.AddLine("merged ", report.rows, " rows: ", report.copied_blocks, " blocks copied (",
                   report.copied_bytes, " bytes), ", report.recoded_blocks,
                   " blocks encoded again");
  document.PrintTo(output);
  return kFine;
}

// The rows of one part that a command removes.
struct RemovedRows {
  std::string part;
  uint64_t rows = 0;
};

// Calls `remove` unless it is a dry run, and prints `removed`. Removes all rows only with --all.
Outcome RemoveRows(const Arguments& arguments, const TableReader& table,
                   const std::vector<RemovedRows>& removed,
                   const std::function<absl::Status()>& remove, Output& output) {
  uint64_t rows = 0;
  for (const RemovedRows& part : removed) rows += part.rows;
  if (rows > 0 && rows == table.num_rows() && !arguments.all && !arguments.dry_run) {
    return absl::InvalidArgumentError(absl::StrCat(table.directory(), ": these are all ", rows,
                                                   " rows of the table; --all removes them"));
  }
  if (!arguments.dry_run) CFILE_RETURN_IF_ERROR(remove());
  Document document(arguments.json, arguments.directory);
  Table list(arguments.json);
  for (const RemovedRows& part : removed) {
    list.Add({{"part", part.part}, {"rows", part.rows}});
    document.Append(absl::StrFormat("%-37s %14u rows\n", TerminalSafe(part.part), part.rows));
  }
  document.AddJson({{"dry_run", arguments.dry_run}, {"removed", list}, {"rows", rows}});
  document.AddLine(arguments.dry_run ? "would remove " : "removed ", rows, " of ", table.num_rows(),
                   " rows");
  document.PrintTo(output);
  return kFine;
}

Outcome Drop(const Arguments& arguments, Output& output) {
  if (arguments.parts.empty() && !arguments.all) {
    return Misuse(kTool, kTool, "drop: name parts, or use --all");
  }
  CFILE_ASSIGN_OR_RETURN(const TableReader table, OpenTable(arguments));
  CFILE_ASSIGN_OR_RETURN(const auto parts, ChosenParts(table, arguments.parts));
  std::vector<RemovedRows> removed;
  for (const PartInfo& part : parts) removed.push_back({part.name, part.num_rows});
  return RemoveRows(
      arguments, table, removed,
      [&] { return DropParts(arguments.table, NamesOf(parts), Reading(arguments)); }, output);
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
Outcome DropBelowKey(const Arguments& arguments, const TableReader& table, size_t column,
                     const T& key, Output& output) {
  CFILE_ASSIGN_OR_RETURN(const auto rows, RowsBelow<T>(table, column, key));
  return RemoveRows(
      arguments, table, rows,
      [&] { return DropRowsBelow<T>(arguments.table, column, key, Writing(arguments)); }, output);
}

Outcome DropBelow(const Arguments& arguments, Output& output) {
  CFILE_ASSIGN_OR_RETURN(const TableReader table, OpenTable(arguments));
  if (const auto key_index = table.schema().key_index()) {
    CFILE_ASSIGN_OR_RETURN(const CompoundKey key,
                           ParseCompoundKey(table.schema().key_types(), arguments.keys));
    return DropBelowKey<std::string_view>(arguments, table, *key_index, key.bytes(), output);
  }
  if (arguments.keys.size() > 1) {
    return absl::InvalidArgumentError("expected one KEY: the table is sorted by one column");
  }
  CFILE_ASSIGN_OR_RETURN(const std::vector<size_t> sorted_by, SortColumnsOf(table));
  if (sorted_by.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat(table.directory(), ": the table is not sorted by a column"));
  }
  const size_t column = sorted_by[0];
  const ColumnType& type = table.schema().columns[column].type;
  return VisitType(type, [&]<typename T>(std::type_identity<T>) -> Outcome {
    std::string scratch;
    CFILE_ASSIGN_OR_RETURN(const T key, ParseKey<T>(type, arguments.keys[0], scratch));
    return DropBelowKey<T>(arguments, table, column, key, output);
  });
}

Outcome Raise(const Arguments& arguments, Output& output) {
  CFILE_ASSIGN_OR_RETURN(const OldestReader reader, ParseOldestReader(arguments.oldest_reader));
  CFILE_ASSIGN_OR_RETURN(const OldestReader before, RaiseOldestReader(arguments.table, reader));
  const std::string name = OldestReaderName(before);
  Document document(arguments.json, arguments.directory);
  document.AddJson({{"before", name}, {"oldest_reader", arguments.oldest_reader}});
  if (before == reader) {
    document.AddLine("the oldest reader of the table is ", name, " already");
  } else {
    document.AddLine("the oldest reader of the table was ", name, " and is now ",
                     arguments.oldest_reader,
                     ": older programs cannot read what is written from now on");
  }
  document.PrintTo(output);
  return kFine;
}

Outcome RemoveGarbage(const Arguments& arguments, Output& output) {
  const std::chrono::seconds age(static_cast<int64_t>(arguments.older_than_seconds));
  CFILE_ASSIGN_OR_RETURN(const std::vector<RemovedGarbage> removed,
                         CollectGarbage(arguments.table, age, {}, arguments.dry_run));
  Document document(arguments.json, arguments.directory);
  uint64_t bytes = 0;
  Table list(arguments.json);
  for (const RemovedGarbage& garbage : removed) {
    list.Add({{"name", garbage.name}, {"bytes", garbage.size_bytes}});
    document.Append(
        absl::StrFormat("%-37s %14u\n", TerminalSafe(garbage.name), garbage.size_bytes));
    bytes += garbage.size_bytes;
  }
  document.AddJson({{"dry_run", arguments.dry_run}, {"removed", list}, {"bytes", bytes}});
  document.AddLine(arguments.dry_run ? "would remove " : "removed ", Plural(removed.size(), "item"),
                   ", ", bytes, " bytes");
  document.PrintTo(output);
  return kFine;
}

#ifdef CFILE_WITH_SALVAGE
// Adds the parts that have changed, or that Repair could not make whole; in JSON, all parts.
void AddParts(const Arguments& arguments, const RepairReport& report, Document& document) {
  bool damaged = false, left_out = false;
  Table parts(arguments.json);
  for (const RepairedPart& part : report.parts) {
    const bool is_damaged = part.state == RepairedPart::State::kDamaged;
    const bool is_kept = part.state == RepairedPart::State::kKept;
    damaged = damaged || is_damaged;
    left_out = left_out || part.state == RepairedPart::State::kLeftOut;
    if (!is_kept) {
      const std::string lost =
          is_damaged ? "not all readable" : absl::StrCat(part.lost_rows, " lost");
      document.Append(absl::StrFormat("%-37s %-11s %14u rows, %s: %s\n", TerminalSafe(part.name),
                                      NameOf(part.state), part.num_rows, lost,
                                      TerminalSafe(part.reason)));
    }
    Table lost_values(arguments.json);
    for (const auto& [column, count] : part.lost_values) {
      lost_values.Add({{"column", column}, {"values", count}});
      document.AddLine("  ", TerminalSafe(column), ": ", count, " lost values are null");
    }
    parts.Add({{"part", part.name},
               {"state", NameOf(part.state)},
               {"rows", part.num_rows},
               {"lost_rows", part.lost_rows},
               {"lost_values", lost_values},
               {"reason", part.reason}});
  }
  document.AddTable("parts", parts);
  if (damaged) {
    document.AddLine(!arguments.salvage ? "--salvage recovers what can be read of the damaged parts"
                     : !arguments.null_lost
                         ? "no row of the damaged parts is whole; --null-lost makes lost values of "
                           "nullable columns null; --drop-damaged leaves the parts out"
                         : "nothing can be recovered of the damaged parts; --drop-damaged leaves "
                           "them out");
  }
  if (left_out) {
    document.AddLine("--force brings back parts that were left out, until gc removes them");
  }
}

Outcome RepairTable(const Arguments& arguments, Output& output) {
  if (arguments.null_lost && !arguments.salvage) {
    return Misuse(kTool, kTool, "repair: --null-lost needs --salvage");
  }
  CFILE_ASSIGN_OR_RETURN(const RepairReport report,
                         Repair(arguments.table, {.salvage = arguments.salvage,
                                                  .null_lost = arguments.null_lost,
                                                  .drop_damaged = arguments.drop_damaged,
                                                  .force = arguments.force,
                                                  .dry_run = arguments.dry_run,
                                                  .reader = Reading(arguments)}));
  bool damaged = false;
  uint64_t lost_rows = 0;
  for (const RepairedPart& part : report.parts) {
    damaged = damaged || part.state == RepairedPart::State::kDamaged;
    lost_rows += part.lost_rows;
  }
  Document document(arguments.json, arguments.directory);
  document.AddJson({{"dry_run", arguments.dry_run},
                    {"changed", report.changed},
                    {"complete", report.complete()}});
  // Messages and names come from files, so they may contain control characters.
  const auto add = [&](const char* name, std::string_view before, const std::string& text) {
    document.AddJson({{name, Known(!text.empty(), text)}});
    if (!text.empty()) document.AddLine(before, TerminalSafe(text));
  };
  add("damage", "damaged: ", report.damage);
  AddParts(arguments, report, document);
  add("kept_as", "the damaged table.cft is now ", report.kept_as);
  document.AddJson(
      {{"rows", report.num_rows}, {"lost_rows", lost_rows}, {"num_parts", report.num_parts}});
  document.AddLine(damaged && !report.changed ? "not repaired: "
                   : !report.changed          ? "nothing to repair: "
                   : !arguments.dry_run       ? "repaired: "
                                              : "would be repaired: ",
                   Plural(report.num_parts, "part"), ", ", report.num_rows, " rows, ",
                   damaged ? "not all readable, " : "", lost_rows, " lost");
  document.PrintTo(output);
  const bool changes = arguments.dry_run && report.changed;
  return changes || !report.complete() ? kDamaged : kFine;
}
#endif

ExitCode Run(int argc, char** argv) {
  Arguments arguments;
  std::function<Outcome(const Arguments&, Output&)> action;
  Command tool{.name = kTool,
               .description =
                   "Keeps a table in order: lists, merges and drops its parts, removes old files, "
                   "repairs it.",
               .footer = HelpWithUrls(kHelp),
               .needs_subcommand = true};
  tool.Add("--version", absl::StrCat("cfile-table ", CFILE_VERSION), "Print the version");
  const auto add = [&](const std::string& name, const std::string& description,
                       Outcome (*run)(const Arguments&, Output&)) -> Command& {
    Command& command = tool.subcommands.emplace_back(Command{
        .name = name, .description = description, .on_choice = [&action, run] { action = run; }});
    command.Add("DIRECTORY", &arguments.directory, "The directory of the table, or its s3:// URL")
        .required = true;
    return command;
  };
  const auto with_block_size = [&](Command& command) -> Command& {
    command.Add("--max-block-size BYTES", &arguments.max_block_size_bytes,
                "The largest block that is read (default: 16MiB, or as much as the size of the "
                "file allows)",
                BytesIn(1, kMaxBytes));
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
  const auto with_packing = [&](Command& command) -> Command& {
    AddPackBelow(command, &arguments.pack_below_bytes);
    return with_block_size(command);
  };
  Command& compact = with_packing(with_json(
      add("compact",
          "Merge parts into one. If the table is sorted, the rows of the new part are sorted",
          CompactParts)));
  compact.Add("--newest", &arguments.newest,
              "Of rows with equal keys, keep only the newest one: the last row of the last part");
  compact.Add("PART", &arguments.parts,
              "Only these parts, which must follow each other: numbers, counted from 0, names, or "
              "the beginnings of names (default: all parts)");
  const auto with_all = [&](Command& command) -> Command& {
    command.Add("--all", &arguments.all, "Even if these are all rows of the table");
    return with_dry_run(command);
  };
  const auto with_stored_rows = [&](Command& command) -> Command& {
    command.Add(
        "--stored-rows", &arguments.stored_rows,
        "Of a table with a merge rule: even if rows that were replaced or deleted come back");
    return command;
  };
  with_stored_rows(with_all(add("drop", "Remove parts from the table", Drop)))
      .Add(
          "PART", &arguments.parts,
          "The numbers of the parts, counted from 0, their names, or the beginnings of names. With "
          "--all, all parts");
  with_packing(
      with_all(add("drop-below", "Remove the rows whose key is less than KEY from a sorted table",
                   DropBelow)))
      .Add("KEY", &arguments.keys,
           "A value as `cfile-dump rows` prints it; a date stands for its first moment. If the "
           "table is sorted by several columns, give values of all these columns or of the first "
           "of them. Write null for a null")
      .required = true;
  with_json(add("raise",
                "Let the table be written for newer readers only. To go back, use `cfile-dump "
                "rewrite DIRECTORY NEW --oldest-reader READER`",
                Raise))
      .Add("READER", &arguments.oldest_reader,
           "The oldest program that must be able to read the table: cfile 0.1, 0.2 or 0.3")
      .required = true;
  add("time-bound",
      "Raise the bound for the time column of the merge rule: keys whose newest row is before TIME "
      "have no row from now on. `compact` removes such rows",
      [](const Arguments& given, Output&) -> Outcome {
        return RaiseTimeBound(given.table, given.time);
      })
      .Add("TIME", &arguments.time, "A value as `cfile-dump rows` prints it")
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
  Command& repair = with_stored_rows(with_block_size(with_dry_run(
      add("repair",
          "Read all values, and rebuild a damaged or missing table.cft from the parts. Parts with "
          "damaged files stay, unless an option says otherwise. Exits with 2 if a part is damaged "
          "or left out, or if --dry-run finds something to repair",
          RepairTable))));
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
  Output output(kTool);
  output.IgnoreClosedPipe();
  if (parsed.text) {
    output.text = *parsed.text;
    return output.Finish(kFine);
  }
  if (!parsed.error.empty()) return Misuse(kTool, kTool, parsed.error);
  const auto run = [&]() -> Outcome {
    CFILE_ASSIGN_OR_RETURN(arguments.table, TableAt(arguments.directory));
    return action(arguments, output);
  };
  return output.Finish(run());
}

}  // namespace
}  // namespace cfile::tools

int main(int argc, char** argv) {
  return cfile::tools::RunTool(cfile::tools::kTool, [&] { return cfile::tools::Run(argc, argv); });
}
