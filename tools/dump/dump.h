// Shared by the subcommands of cfile-dump: options, and opening of files and tables.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/batch.h"
#include "cfile/file_info.h"
#include "cfile/io.h"
#include "cfile/reader.h"
#include "cfile/table.h"
#include "tools/command.h"
#include "tools/command_line.h"
#include "tools/location.h"
#include "tools/output.h"
#include "tools/utf8.h"

namespace cfile::tools {

inline constexpr std::string_view kToolName = "cfile-dump";

struct CommonOptions {
  std::string path;
  // The chosen column and part of a table, the part in the form of ChosenPart (tools/key_text.h);
  // or empty.
  std::string column;
  std::string part;
  bool json = false;
  bool ignore_checksums = false;
  // Whether the command applies the merge rules of tables, and whether the user asked for all
  // stored rows nevertheless.
  bool applies_rules = false;
  bool stored_rows = false;
  ReaderOptions limits;             // without those below
  size_t max_block_size_bytes = 0;  // 0: ReaderOptions::blocks_up_to_file_size
  std::optional<size_t> max_depth;  // for schemas and for indexes
  size_t max_leaves = RecordLimits().max_leaves;
};

// The function that main calls after it has parsed the command line.
using Action = std::function<Outcome(const CommonOptions&, Output&)>;

inline constexpr const char* kFileOrTable = "A .cfile, or the directory of a table";

// Adds a subcommand with the argument FILE, whose help text is `file`, and the options for limits.
// `help` follows the list of options. AddCommand also adds --json and --ignore-checksums.
Command& AddPlainCommand(Command& app, CommonOptions& common, const std::string& name,
                         const std::string& description, const std::string& help,
                         const std::string& file = kFileOrTable);
Command& AddCommand(Command& app, CommonOptions& common, const std::string& name,
                    const std::string& description, const std::string& help,
                    const std::string& file = kFileOrTable);
void SetAction(Command& command, Action& action, Action chosen);
// SetAction for a command that applies the merge rules of tables. Adds --stored-rows.
void SetRowsAction(Command& command, CommonOptions& common, Action& action, Action chosen);
// The action that calls `run` with the options of the subcommand.
template <typename Options, typename Run>
Action With(std::shared_ptr<Options> options, Run run) {
  return [options, run](const CommonOptions& common, Output& output) -> Outcome {
    return run(*options, common, output);
  };
}
void AddJsonOption(Command& command, CommonOptions& common);
void AddLimitOptions(Command& command, CommonOptions& common);
void AddIgnoreChecksumsOption(Command& command, CommonOptions& common);
// Adds --column and --part, for a FILE that may be a table. The help texts also say what happens
// without these options.
void AddColumnOptions(Command& command, CommonOptions& common, const std::string& column_help,
                      const std::string& part_help);
inline constexpr const char* kOneColumn = "The column of a table";
inline constexpr const char* kAllParts =
    "Only this part of a table: its number, counted from 0, or the beginning of its name (default: "
    "all)";
inline constexpr const char* kAllPartsOrOne =
    "Only this part of a table: its number, counted from 0, or the beginning of its name (default: "
    "all; needed for --column if the table has several parts)";
inline constexpr const char* kOnlyPart =
    "The part of a table: its number, counted from 0, or the beginning of its name; needed if the "
    "table has several";
// For commands that read rows.
inline constexpr const char* kRowsOfPart =
    "Only the rows of this part of a table: its number, counted from 0, or the beginning of its "
    "name (default: all); ordinals count from the beginning of the part";

ReaderOptions OptionsOf(const CommonOptions& common);

// The error that `what` needs the numbers of rows, or single files, but the table has a merge rule.
absl::Status NeedsStoredRows(std::string_view what);

// `common` without the chosen column and part.
CommonOptions WholeOf(CommonOptions common);

// An opened file or table: exactly one of the two is set.
struct Input {
  std::optional<Reader> file;
  std::optional<TableReader> table;
  // The part that the user chose without a column, and its rows.
  std::optional<size_t> part = {};
  std::optional<OrdinalRange> part_rows = {};

  // The parts to read: the chosen one, or all.
  OrdinalRange parts() const {
    return part ? OrdinalRange{*part, *part + 1} : OrdinalRange{0, table->num_parts()};
  }
  OrdinalRange rows() const {
    return part_rows.value_or(OrdinalRange{0, file ? file->num_rows() : table->num_rows()});
  }
  // Stored rows.
  uint64_t num_rows() const { return rows().size(); }
  // True if a merge rule hides some of the rows.
  bool applies_rule() const { return table && table->applies_merge_rule(); }
  ReaderCounters counters() const { return file ? file->counters() : table->counters(); }
};
// A file that --column and --part choose is opened as a file; a part alone is Input::part.
// `observer`: see OpenFileAt (tools/location.h).
absl::StatusOr<Input> OpenInput(const CommonOptions& common,
                                const ReadObserver& observer = nullptr);
// kInvalidArgument: there is no such part.
absl::Status ChoosePart(const std::string& part, Input& input);

// Call this before a file or table is written to `path`. kInvalidArgument: something is at `path`
// already, and `force` is false; or `path` is inside the directory of a table.
absl::Status CheckOutIsFree(const std::string& path, bool force);
inline ExistingFile ExistingOf(bool force) {
  return force ? ExistingFile::kReplaced : ExistingFile::kKept;
}

// Call this before a command replaces `out` by something else than what it reads from `path`.
// kInvalidArgument: `out` is the same file, or is inside the directory of a table.
absl::Status CheckOutIsNotInput(const std::string& path, const std::string& out);

// Wraps `action`, which works on a single file: of a table, --column and --part choose one.
// kInvalidArgument, with advice: no column is chosen, or no part is chosen and the table has not
// exactly one.
Action OnFile(Action action);
// OnFile for commands that show several files: if the table has several parts and none is chosen,
// runs `action` for the file of each part, after a line with its path; with --json, in the member
// "files" of one object. Leaves out parts that are older than the column. Returns the worst exit
// code.
Action OnEachFile(Action action);

// The name of the file of compound keys of a table, in output and as --column.
inline constexpr const char* kKeyIndexName = "key index";

// The index of the column `name`. kInvalidArgument, with the names of all columns: there is none.
absl::StatusOr<size_t> FindColumn(const TableReader& table, const std::string& name);
// FindColumn, except that "key index" is the file of compound keys, unless a column has this name.
absl::StatusOr<size_t> FindFile(const TableReader& table, const std::string& name);

// The column to search by key: the column `name`; if `name` is empty, the only column with a value
// index. kInvalidArgument: there is no column of this name, or several columns have a value index.
// kFailedPrecondition: no column has a value index.
absl::StatusOr<size_t> FindKeyColumn(const TableReader& table, const std::string& name);

// kInvalidArgument: a column or a part is chosen, although the path is a single file.
absl::Status CheckNoColumn(const CommonOptions& common);

// The codec of a block of the file `info`, or "none". `compressed`: as in BlockInfo.
std::string CodecOf(bool compressed, const FileInfo& info);

// encoded_bytes / stored_bytes; 1 if nothing is stored.
double Ratio(uint64_t encoded_bytes, uint64_t stored_bytes);

}  // namespace cfile::tools
