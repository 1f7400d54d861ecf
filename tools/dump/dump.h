// What the subcommands of cfile-dump share: their place on the command line, opening, output.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/inspect.h"
#include "cfile/reader.h"
#include "cfile/table.h"
#include "nlohmann/json.hpp"
#include "tools/command_line.h"
#include "tools/utf8.h"

namespace cfile::tools {

inline constexpr std::string_view kToolName = "cfile-dump";

// What every subcommand understands.
struct CommonOptions {
  std::string path;
  // Of a table: a column, and of that one part.
  std::string column;
  std::optional<size_t> part;
  bool json = false;
  bool ignore_checksums = false;
  // Limits of ReaderOptions; the depth is that of schemas and of indexes.
  size_t max_block_size_bytes = ReaderOptions().max_block_size_bytes;
  size_t max_bloom_filter_bytes = ReaderOptions().max_bloom_filter_bytes;
  size_t max_metadata_size_bytes = ReaderOptions().max_metadata_size_bytes;
  std::optional<size_t> max_depth;
  size_t max_leaves = RecordLimits().max_leaves;
  size_t max_index_size_bytes = ReaderOptions().max_index_size_bytes;
  size_t max_dictionary_values = ReaderOptions().max_dictionary_values;
};

// Standard output, written 64 KiB at a time.
class Output {
 public:
  // Append what is to be printed here, then call Drain.
  std::string text;

  // Writes the text if enough of it is there.
  void Drain() {
    if (text.size() >= kFlushBytes) Flush();
  }
  void Flush();

  // Prints what is pending, then the error to stderr. Returns its exit code.
  ExitCode Fail(const absl::Status& status);
  // Prints what is pending. Fails if any of the output could not be written.
  ExitCode Finish(ExitCode code);

 private:
  static constexpr size_t kFlushBytes = 64 * 1024;
};

// What main runs after the command line was understood.
using Action = std::function<ExitCode(const CommonOptions&, Output&)>;

// Each adds its subcommand; if the user calls it, `action` is set to it.
void AddHeaderCommand(CLI::App& app, CommonOptions& common, Action& action);
void AddFooterCommand(CLI::App& app, CommonOptions& common, Action& action);
void AddBlocksCommand(CLI::App& app, CommonOptions& common, Action& action);
void AddIndexCommand(CLI::App& app, CommonOptions& common, Action& action);
void AddValuesCommand(CLI::App& app, CommonOptions& common, Action& action);
void AddAtCommand(CLI::App& app, CommonOptions& common, Action& action);
void AddFindCommand(CLI::App& app, CommonOptions& common, Action& action);
void AddRecordsCommand(CLI::App& app, CommonOptions& common, Action& action);
void AddVerifyCommand(CLI::App& app, CommonOptions& common, Action& action);
void AddSalvageCommand(CLI::App& app, CommonOptions& common, Action& action);

// No subcommand: a screen about a file or a table.
ExitCode PrintSummary(const CommonOptions& common, Output& output);

inline constexpr const char* kFileOrTable = "A .cfile, or the directory of a table";

// A subcommand with its FILE, of which `file` says what it may be; `help` stands below the list of
// options.
CLI::App* AddCommand(CLI::App& app, CommonOptions& common, const std::string& name,
                     const std::string& description, const std::string& help,
                     const std::string& file = kFileOrTable);
void AddJsonOption(CLI::App& command, CommonOptions& common);
void AddLimitOptions(CLI::App& command, CommonOptions& common);
void AddIgnoreChecksumsOption(CLI::App& command, CommonOptions& common);
// --column and --part, by which a FILE may be a table. `column_help` and `part_help` say what is
// done without them.
void AddColumnOptions(CLI::App& command, CommonOptions& common, const std::string& column_help,
                      const std::string& part_help);
inline constexpr const char* kOneColumn = "Of a table: this column";
inline constexpr const char* kAllParts = "Of one part only, counted from 0 (default: all)";
inline constexpr const char* kOnlyPart =
    "Of this part, counted from 0; needed if the table has several";
// For CLI::Option::check: CLI11 takes -1 for an unsigned number.
std::string CheckUnsigned(const std::string& text);

ReaderOptions OptionsOf(const CommonOptions& common);

// What a path names: exactly one of the two.
struct Input {
  std::optional<Reader> file;
  std::optional<TableReader> table;
};
absl::StatusOr<Input> OpenInput(const CommonOptions& common);

// An action on a single file: a table's column and part become the path of their file. A table
// without them gives an error that says how to choose.
Action OnFile(Action action);

// The column of that name; kInvalidArgument, naming those that there are.
absl::StatusOr<size_t> FindColumn(const TableReader& table, const std::string& name);
// The same for columns as they have files: "key index" is that of the compound keys, too.
absl::StatusOr<size_t> FindFile(const TableReader& table, const std::string& name);

// kInvalidArgument: the table has no such part; or, of a single file, a column or a part is chosen.
absl::Status CheckPart(const TableReader& table, const CommonOptions& common);
absl::Status CheckNoColumn(const CommonOptions& common);

// Keys stay in the order in which they were set.
using Json = nlohmann::ordered_json;

// {"schema_version": 1, "path": ...}: how every object we print begins.
Json JsonDocument(const std::string& path);
// JavaScript and many other readers of JSON are exact up to 2^53 only: what is above becomes a
// string.
Json JsonInteger(uint64_t value);
// Bytes that are UTF-8 are a string, all others {"hex": "..."}.
Json JsonBytes(std::string_view bytes);
Json JsonPointer(const BlockPointer& pointer);
Json JsonError(const absl::Status& status);

// {"schema_version": 1, "path": ..., NAME: [ITEM, ...], "error": ...}, printed item by item: there
// may be millions.
class JsonList {
 public:
  JsonList(const std::string& path, std::string_view name, Output& output);
  void Add(const Json& item);
  void Finish(const absl::Status& status);

 private:
  Output& output_;
  const char* separator_ = "\n";
};

// "1 block", "2 blocks".
std::string Plural(uint64_t count, std::string_view noun);

// Encoded over stored, 1 for nothing.
double Ratio(uint64_t encoded_bytes, uint64_t stored_bytes);

}  // namespace cfile::tools
