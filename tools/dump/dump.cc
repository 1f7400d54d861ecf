#include "tools/dump/dump.h"

#include <filesystem>
#include <numeric>
#include <system_error>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cfile/filter.h"
#include "cfile/packed_file.h"
#include "cfile/status.h"
#include "tools/document.h"
#include "tools/key_text.h"

namespace cfile::tools {
namespace {

namespace fs = std::filesystem;

absl::Status InsideTable(const std::string& out, const std::string& table) {
  return absl::InvalidArgumentError(
      absl::StrCat(out, " is inside the table ", table, ": choose another place for the output"));
}

// kInvalidArgument: `out` is inside the directory of a table, which has only its own files.
absl::Status CheckOutIsOutsideTables(const std::string& out) {
  if (IsUrl(out)) return absl::OkStatus();
  std::error_code ignored;
  fs::path folder = fs::weakly_canonical(fs::absolute(out, ignored), ignored);
  while (folder.has_relative_path()) {
    folder = folder.parent_path();
    if (fs::exists(folder / "table.cft", ignored)) return InsideTable(out, folder.string());
  }
  return absl::OkStatus();
}

// Copies of `common`, each with the path of a single file: the one that the user chose; with
// `all_parts`, one for each part that has a file of the column, or, if only a part is chosen, for
// each column. See OnFile for the errors.
absl::StatusOr<std::vector<CommonOptions>> FilesOf(const CommonOptions& common, bool all_parts) {
  CFILE_ASSIGN_OR_RETURN(const std::optional<TableReader> table,
                         OpenTableAt(common.path, OptionsOf(common)));
  if (!table) {
    CFILE_RETURN_IF_ERROR(CheckNoColumn(common));
    std::vector files{common};
    if (!all_parts || !IsPackedPath(common.path)) return files;
    CFILE_ASSIGN_OR_RETURN(const auto packed, OpenSourceAt(common.path));
    CFILE_ASSIGN_OR_RETURN(const std::vector<PackedColumn> columns,
                           ReadPackedDirectory(*packed, OptionsOf(common).max_metadata_size_bytes));
    files.assign(columns.size(), common);
    for (size_t i = 0; i < columns.size(); ++i) files[i].path += "/" + columns[i].file_name;
    return files;
  }
  if (table->applies_merge_rule()) return NeedsStoredRows("--column with --part");
  const bool has_part = !common.part.empty();
  std::vector<size_t> columns;
  if (!common.column.empty()) {
    CFILE_ASSIGN_OR_RETURN(columns.emplace_back(), FindFile(*table, common.column));
  } else if (all_parts && has_part) {
    columns.resize(table->schema().columns.size() + table->schema().key_index().has_value());
    std::iota(columns.begin(), columns.end(), 0);
  } else {
    return absl::InvalidArgumentError(
        absl::StrCat(common.path, " is a table: choose one of its columns, such as --column ",
                     ShellQuoted(table->schema().columns[0].name)));
  }
  const size_t num_parts = table->num_parts();
  if (!has_part && (num_parts == 0 || (num_parts > 1 && !all_parts))) {
    return absl::InvalidArgumentError(
        absl::StrCat(common.path, " has ", Plural(num_parts, "part"),
                     num_parts == 0 ? "" : ": choose one with --part, from 0 on"));
  }
  size_t first = 0;
  if (has_part) {
    CFILE_ASSIGN_OR_RETURN(first, ChosenPart(*table, common.part));
  }
  std::vector<CommonOptions> files;
  for (size_t part = first; part < num_parts && (part == first || !has_part); ++part) {
    for (const size_t column : columns) {
      CFILE_ASSIGN_OR_RETURN(const std::string inside, table->part_file(part, column));
      if (inside.empty()) continue;
      files.push_back(WholeOf(common));
      files.back().path = (fs::path(common.path) / inside).string();
    }
  }
  if (!files.empty()) return files;
  const bool several = !has_part && num_parts > 1;
  return absl::InvalidArgumentError(absl::StrCat(
      common.path, several ? ": no part has a file" : ": this part has no file", " of column ",
      common.column,
      several ? ", because all parts are older than the column: all rows have the default value"
              : ", because the part is older than the column: all rows of the part have the "
                "default value"));
}

absl::StatusOr<CommonOptions> FileOf(const CommonOptions& common) {
  CFILE_ASSIGN_OR_RETURN(std::vector<CommonOptions> files, FilesOf(common, /*all_parts=*/false));
  return std::move(files.front());
}

}  // namespace

ReaderOptions OptionsOf(const CommonOptions& common) {
  ReaderOptions options = common.limits;
  // kMap is not used: a file that is truncated while it is read must give an error, not SIGBUS.
  options.access = ReaderOptions::Access::kPread;
  options.verify_checksums = !common.ignore_checksums;
  options.stored_rows = common.stored_rows || !common.applies_rules;
  options.blocks_up_to_file_size = common.max_block_size_bytes == 0;
  if (common.max_block_size_bytes > 0) options.max_block_size_bytes = common.max_block_size_bytes;
  if (common.max_depth) {
    options.max_index_depth = *common.max_depth;
    options.record_limits.max_depth = *common.max_depth;
  }
  SetMaxLeaves(common.max_leaves, options.record_limits);
  return options;
}

Command& AddPlainCommand(Command& app, CommonOptions& common, const std::string& name,
                         const std::string& description, const std::string& help,
                         const std::string& file) {
  Command& command = app.subcommands.emplace_back(
      Command{.name = name, .description = description, .footer = help});
  command.Add("FILE", &common.path, file).required = true;
  AddLimitOptions(command, common);
  return command;
}

Command& AddCommand(Command& app, CommonOptions& common, const std::string& name,
                    const std::string& description, const std::string& help,
                    const std::string& file) {
  Command& command = AddPlainCommand(app, common, name, description, help, file);
  AddJsonOption(command, common);
  AddIgnoreChecksumsOption(command, common);
  return command;
}

void SetAction(Command& command, Action& action, Action chosen) {
  command.on_choice = [&action, chosen = std::move(chosen)] { action = chosen; };
}

void SetRowsAction(Command& command, CommonOptions& common, Action& action, Action chosen) {
  command.Add(
      "--stored-rows", &common.stored_rows,
      "Of a table with a merge rule: all rows that are stored, also those that were replaced "
      "or deleted, or are too old");
  command.on_choice = [&action, &common, chosen = std::move(chosen)] {
    action = chosen;
    common.applies_rules = true;
  };
}

absl::Status NeedsStoredRows(std::string_view what) {
  return absl::FailedPreconditionError(
      StrCat(what,
             ": the table has a merge rule, so its rows have no numbers; --stored-rows reads "
             "all rows that are stored"));
}

void AddJsonOption(Command& command, CommonOptions& common) {
  command.Add("--json", &common.json,
              "Print JSON. Integers beyond 2^53 are strings, binary values are hexadecimal");
}

void AddLimitOptions(Command& command, CommonOptions& common) {
  AddCacheOption(command);
  const auto size = [&](const char* spec, size_t& value, uint64_t max, const char* help) {
    command.Add(spec, &value, help, BytesIn(1, max)).group = kLimitsGroup;
  };
  size("--max-block-size BYTES", common.max_block_size_bytes, kMaxBytes,
       "Size of a block (default: 16MiB or the size of its file, decompressed 64 times as much)");
  size("--max-bloom-filter-size BYTES", common.limits.max_bloom_filter_bytes, kMaxIndexBytes,
       "Statistics may be this much larger than --max-block-size (default: 64MiB)");
  size("--max-metadata-size BYTES", common.limits.max_metadata_size_bytes, kMaxBytes,
       "Size of header, footer and table.cft (default: 16MiB)");
  size("--max-index-size BYTES", common.limits.max_index_size_bytes, kMaxIndexBytes,
       "Memory for index nodes (default: 256MiB)");
  command
      .Add("--max-dictionary-values NUMBER", &common.limits.max_dictionary_values,
           "Values in a file's dictionary (default: 4,194,304)", NumberIn(1, kMaxIndexBytes))
      .group = kLimitsGroup;
  command
      .Add("--max-depth LEVELS", &common.max_depth,
           "Depth of schemas (default: 64) and of indexes (default: 40)", NumberIn(1, kMaxDepth))
      .group = kLimitsGroup;
  command
      .Add("--max-leaves NUMBER", &common.max_leaves,
           "Leaf columns in the schema of records (default: 10,000)", NumberIn(1, kMaxLeaves))
      .group = kLimitsGroup;
}

void AddIgnoreChecksumsOption(Command& command, CommonOptions& common) {
  command.Add("--ignore-checksums", &common.ignore_checksums,
              "Also read what has a wrong checksum; printed values may be wrong");
}

void AddColumnOptions(Command& command, CommonOptions& common, const std::string& column_help,
                      const std::string& part_help) {
  command.Add("--column NAME", &common.column, column_help);
  command.Add("--part PART", &common.part, part_help);
}

absl::StatusOr<size_t> FindColumn(const TableReader& table, const std::string& name) {
  if (const auto column = table.schema().Find(name)) return *column;
  // The error below prints names as --columns and --where take them, so those forms work here, too.
  for (size_t column = 0; column < table.schema().columns.size(); ++column) {
    if (NameAsWritten(table.schema().columns[column].name) == name) return column;
  }
  if (name == kKeyIndexName && table.schema().key_index()) {
    return absl::InvalidArgumentError(
        "the key index has no values, but keys that are made of the values of the key columns: "
        "cfile-dump index shows these keys, and blocks, stats and hexdump show the file");
  }
  std::vector<std::string> known;
  for (const ColumnSchema& column : table.schema().columns) {
    known.push_back(NameAsWritten(column.name));
  }
  return absl::InvalidArgumentError(absl::StrCat("the table has no column ", Quoted(name),
                                                 "; it has ", ListOfNames(known),
                                                 Suggestion(name, known)));
}

absl::StatusOr<size_t> FindFile(const TableReader& table, const std::string& name) {
  if (name == kKeyIndexName && !table.schema().Find(name) && table.schema().key_index())
    return *table.schema().key_index();
  return FindColumn(table, name);
}

absl::StatusOr<size_t> FindKeyColumn(const TableReader& table, const std::string& name) {
  if (!name.empty()) return FindColumn(table, name);
  std::optional<size_t> only;
  for (size_t column = 0; column < table.schema().columns.size(); ++column) {
    CFILE_ASSIGN_OR_RETURN(const auto has_index, table.has_value_index(column));
    if (!has_index) continue;
    if (only)
      return absl::InvalidArgumentError(
          "several columns have a value index: choose one with --column NAME");
    only = column;
  }
  if (!only) return absl::FailedPreconditionError("no column of the table has a value index");
  return *only;
}

absl::Status CheckNoColumn(const CommonOptions& common) {
  if (common.column.empty() && common.part.empty()) return absl::OkStatus();
  // A path without a file is named.
  CFILE_RETURN_IF_ERROR(OpenSourceAt(common.path, OptionsOf(common)).status());
  return absl::InvalidArgumentError(
      absl::StrCat("--column and --part are for tables, but ", common.path, " is a single column"));
}

CommonOptions WholeOf(CommonOptions common) {
  common.column.clear();
  common.part.clear();
  return common;
}

absl::StatusOr<Input> OpenInput(const CommonOptions& common, const ReadObserver& observer) {
  if (!common.part.empty() && !common.column.empty()) {
    CFILE_ASSIGN_OR_RETURN(const CommonOptions file, FileOf(common));
    return OpenInput(file, observer);
  }
  Input input;
  CFILE_ASSIGN_OR_RETURN(input.table, OpenTableAt(common.path, OptionsOf(common), observer));
  if (input.table) {
    CFILE_RETURN_IF_ERROR(ChoosePart(common.part, input));
    return input;
  }
  CFILE_RETURN_IF_ERROR(CheckNoColumn(common));
  CFILE_ASSIGN_OR_RETURN(input.file, OpenFileAt(common.path, OptionsOf(common), observer));
  return input;
}

absl::Status ChoosePart(const std::string& part, Input& input) {
  if (part.empty()) return absl::OkStatus();
  CFILE_ASSIGN_OR_RETURN(input.part, ChosenPart(*input.table, part));
  CFILE_ASSIGN_OR_RETURN(const PartInfo info, input.table->part(*input.part));
  input.part_rows = {info.first_ordinal, info.first_ordinal + info.num_rows};
  return absl::OkStatus();
}

absl::Status CheckOutIsNotInput(const std::string& path, const std::string& out) {
  std::error_code ignored;
  if (out == path || (!IsUrl(path) && !IsUrl(out) && fs::equivalent(path, out, ignored))) {
    return absl::InvalidArgumentError(absl::StrCat(
        out, " is the input, which would be lost: choose another place for the output"));
  }
  const std::string_view folder = std::string_view(path).substr(0, path.find_last_not_of('/') + 1);
  if (IsUrl(out) && out.starts_with(absl::StrCat(std::string(folder), "/"))) {
    return InsideTable(out, path);
  }
  return CheckOutIsOutsideTables(out);
}

absl::Status CheckOutIsFree(const std::string& path, bool force) {
  CFILE_RETURN_IF_ERROR(CheckOutIsOutsideTables(path));
  std::error_code ignored;
  const fs::file_status status = fs::symlink_status(path, ignored);
  if (fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status) &&
      !fs::is_symlink(status)) {
    return absl::InvalidArgumentError(absl::StrCat(
        path, " is a device, a pipe or a socket: choose another place for the output"));
  }
  if (force || !fs::exists(status)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(path, " exists already; --force replaces it"));
}

Action OnFile(Action action) {
  return [action = std::move(action)](const CommonOptions& common, Output& output) -> Outcome {
    CFILE_ASSIGN_OR_RETURN(const CommonOptions file, FileOf(common));
    return action(file, output);
  };
}

Action OnEachFile(Action action) {
  return [action = std::move(action)](const CommonOptions& common, Output& output) -> Outcome {
    CFILE_ASSIGN_OR_RETURN(const auto files, FilesOf(common, /*all_parts=*/true));
    if (files.size() == 1) return action(files.front(), output);
    ExitCode worst = kFine;
    if (common.json) {
      output.text += Document(common.json, common.path).json().dump();
      output.text.back() = ',';
      output.text += "\"files\":[\n";
      output.SetSeparator("");
    }
    for (const CommonOptions& file : files) {
      if (common.json) {
        if (!output.has_separator()) output.SetSeparator(",\n");
      } else {
        absl::StrAppend(&output.text, &file == &files.front() ? "# " : "\n# ", Printable(file.path),
                        "\n");
      }
      worst = Worse(worst, output.Finish(action(file, output)));
      // Standard output cannot be written. The error was printed.
      if (!output.Drain()) return worst;
    }
    if (!common.json) return worst;
    output.SetSeparator("");  // also if nothing was printed since the last one
    output.text += "]}\n";
    return worst;
  };
}

std::string CodecOf(bool compressed, const FileInfo& info) {
  return CompressionName(compressed ? info.compression : Compression::kNone);
}

double Ratio(uint64_t encoded_bytes, uint64_t stored_bytes) {
  return stored_bytes == 0 ? 1
                           : static_cast<double>(encoded_bytes) / static_cast<double>(stored_bytes);
}

}  // namespace cfile::tools
