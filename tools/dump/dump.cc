#include "tools/dump/dump.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tools/utf8.h"

namespace cfile::tools {
namespace {

bool IsDirectory(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_directory(path, ignored);
}

}  // namespace

ReaderOptions OptionsOf(const CommonOptions& common) {
  ReaderOptions options;
  // A file that shrinks under our eyes must give an error, not a signal.
  options.access = ReaderOptions::Access::kPread;
  options.verify_checksums = !common.ignore_checksums;
  options.max_block_size_bytes = common.max_block_size_bytes;
  options.max_metadata_size_bytes = common.max_metadata_size_bytes;
  options.max_index_size_bytes = common.max_index_size_bytes;
  if (common.max_depth) {
    options.max_index_depth = *common.max_depth;
    options.record_limits.max_depth = *common.max_depth;
  }
  SetMaxLeaves(common.max_leaves, options.record_limits);
  return options;
}

void Output::IgnoreClosedPipe() {
  std::signal(SIGPIPE, SIG_IGN);
  ignore_closed_pipe_ = true;
}

void Output::Flush() {
  if (write_error_ == 0 && std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) {
    write_error_ = errno;
  }
  text.clear();
}

ExitCode Output::Fail(const absl::Status& status) {
  Flush();
  std::fflush(stdout);
  return Report(kToolName, status);
}

ExitCode Output::Finish(ExitCode code) {
  Flush();
  if (write_error_ == 0 && std::fflush(stdout) != 0) write_error_ = errno;
  if (write_error_ == 0 || (ignore_closed_pipe_ && write_error_ == EPIPE)) return code;
  const std::string message =
      absl::StrCat("standard output could not be written: ", std::strerror(write_error_));
  const ExitCode not_written = Report(kToolName, absl::UnavailableError(message));
  return code == kFine ? not_written : code;
}

CLI::App* AddCommand(CLI::App& app, CommonOptions& common, const std::string& name,
                     const std::string& description, const std::string& help,
                     const std::string& file) {
  CLI::App* command = app.add_subcommand(name, description);
  command->add_option("FILE", common.path, file)->required()->type_name("");
  AddJsonOption(*command, common);
  AddLimitOptions(*command, common);
  command->footer(help);
  return command;
}

void AddJsonOption(CLI::App& command, CommonOptions& common) {
  command.add_flag("--json", common.json,
                   "Print JSON. Integers beyond 2^53 are strings, binary values are hexadecimal");
}

void AddLimitOptions(CLI::App& command, CommonOptions& common) {
  const auto size = [&](const char* name, size_t& value, const char* help) {
    command.add_option(name, value, help)
        ->type_name("BYTES")
        ->transform(CLI::Validator(ParseSize, ""))
        ->group("Limits, which errors name");
  };
  size("--max-block-size", common.max_block_size_bytes, "Of one block (default: 16MiB)");
  size("--max-metadata-size", common.max_metadata_size_bytes,
       "Of header, footer and table.cft (default: 16MiB)");
  size("--max-index-size", common.max_index_size_bytes,
       "Of the index nodes in memory (default: 256MiB)");
  command.add_option("--max-depth", common.max_depth, "Of schemas (default: 64) and indexes (40)")
      ->type_name("LEVELS")
      ->check(CheckUnsigned)
      ->group("Limits, which errors name");
  command
      .add_option("--max-leaves", common.max_leaves,
                  "Leaves of the schema of records (default: 10,000)")
      ->type_name("NUMBER")
      ->check(CheckUnsigned)
      ->group("Limits, which errors name");
}

void AddIgnoreChecksumsOption(CLI::App& command, CommonOptions& common) {
  command.add_flag("--ignore-checksums", common.ignore_checksums,
                   "Read blocks whose checksum is wrong, too: what is printed may be wrong");
}

absl::StatusOr<Input> OpenInput(const CommonOptions& common) {
  Input input;
  if (IsDirectory(common.path)) {
    auto table = TableReader::Open(common.path, OptionsOf(common));
    if (absl::IsNotFound(table.status())) {
      return absl::NotFoundError(
          absl::StrCat(common.path, " is a directory, but not a table: it has no table.cft"));
    }
    if (!table.ok()) return table.status();
    input.table = *std::move(table);
  } else {
    auto file = Reader::Open(common.path, OptionsOf(common));
    if (!file.ok()) return file.status();
    input.file = *std::move(file);
  }
  return input;
}

absl::StatusOr<Reader> OpenFile(const CommonOptions& common) {
  auto input = OpenInput(common);
  if (!input.ok()) return input.status();
  if (input->file) return *std::move(input->file);
  std::string hint;
  if (input->table->num_parts() > 0 && !input->table->schema().columns.empty()) {
    hint =
        absl::StrCat(", such as ",
                     (std::filesystem::path(common.path) / input->table->part_file(0, 0)).string());
  }
  return absl::InvalidArgumentError(
      absl::StrCat(common.path, " is a table: give one of its files", hint));
}

Json JsonDocument(const std::string& path) {
  return {{"schema_version", 1}, {"path", JsonBytes(path)}};
}

Json JsonInteger(uint64_t value) {
  if (value > uint64_t{1} << 53) return std::to_string(value);
  return value;
}

Json JsonBytes(std::string_view bytes) {
  if (IsUtf8(bytes)) return std::string(bytes);
  return {{"hex", Hex(bytes)}};
}

Json JsonPointer(const BlockPointer& pointer) {
  return {{"offset", JsonInteger(pointer.offset)}, {"size", pointer.size}};
}

Json JsonError(const absl::Status& status) {
  return JsonBytes({status.message().data(), status.message().size()});
}

JsonList::JsonList(const std::string& path, std::string_view name, Output& output)
    : output_(output) {
  output_.text += JsonDocument(path).dump();
  output_.text.back() = ',';
  AppendJsonBytes(name, output_.text);
  output_.text += ":[";
}

void JsonList::Add(const Json& item) {
  absl::StrAppend(&output_.text, separator_, item.dump());
  separator_ = ",\n";
}

void JsonList::Finish(const absl::Status& status) {
  output_.text += "]";
  if (!status.ok()) absl::StrAppend(&output_.text, ",\"error\":", JsonError(status).dump());
  output_.text += "}\n";
}

std::string Plural(uint64_t count, std::string_view noun) {
  return absl::StrCat(count, " ", std::string(noun), count == 1 ? "" : "s");
}

double Ratio(uint64_t encoded_bytes, uint64_t stored_bytes) {
  return stored_bytes == 0 ? 1
                           : static_cast<double>(encoded_bytes) / static_cast<double>(stored_bytes);
}

}  // namespace cfile::tools
