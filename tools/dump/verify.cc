// cfile-dump verify: checks a file or a table for damage.
#include "tools/dump/commands.h"

#include <filesystem>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cfile/records.h"
#include "cfile/status.h"
#include "tools/document.h"
#include "tools/dump/totals.h"
#include "tools/progress.h"
#include "tools/text_table.h"

namespace cfile::tools {
namespace {

// True if `report` is about a file of a table that does not exist.
bool IsMissing(const VerifyReport& report) {
  return !report.damages.empty() && absl::IsNotFound(report.damages[0].status);
}

// Describes a file by the exit code of the worst finding in it.
const char* NameOf(ExitCode worst, const VerifyReport& report) {
  switch (worst) {
    case kFine:
      return "valid";
    case kDamaged:
      return IsMissing(report) ? "MISSING" : "DAMAGED";
    case kCannotRead:
      return report.limits.empty() ? "not checked in full: this build cannot read all of it"
                                   : "not checked in full: a limit is too small";
    default:
      return "not checked in full";
  }
}

// Prints the reports of files, one after another.
class VerifyPrinter {
 public:
  VerifyPrinter(const CommonOptions& common, bool quiet, Output& output, Progress& progress)
      : common_(common), quiet_(quiet), output_(output), progress_(progress) {}

  void Add(const std::string& path, const VerifyReport& report, uint64_t file_size) {
    const ExitCode worst = Print(path, report, file_size);
    ++num_files_;
    if (worst != kFine) {
      bad_files_.push_back(absl::StrCat(Printable(path), ": ", NameOf(worst, report)));
    }
    if (worst != kFine) ++bad_counts_[worst != kDamaged ? 2 : IsMissing(report) ? 1 : 0];
  }

  // Prints the report of VerifyRecords, which compares a table's columns with each other, if it has
  // findings.
  void AddRecords(const std::string& path, const VerifyReport& report) {
    if (!report.ok()) worst_of_records_ = Print(path, report, 0);
  }

  bool all_fine() const { return worst_ == kFine; }

  ExitCode Finish() {
    Document document(common_.json, common_.path);
    document.AddJson({{"ok", all_fine()}, {"files", files_}});
    if (num_files_ > 1 && !quiet_) {
      document.AddLine(num_files_, " files checked: ", Summary());
      for (const std::string& line : bad_files_) document.AddLine("  ", line);
    }
    document.PrintTo(output_);
    return output_.Finish(worst_);
  }

 private:
  std::string Summary() const {
    std::vector<std::string> parts;
    for (size_t i = 0; i < std::size(kBad); ++i) {
      if (bad_counts_[i] > 0) parts.push_back(absl::StrCat(bad_counts_[i], kBad[i]));
    }
    if (!parts.empty()) return absl::StrJoin(parts, ", ");
    if (worst_of_records_ == kFine) return "all valid";
    return worst_of_records_ == kDamaged
               ? "each is valid, but they contradict each other"
               : "each is valid, but they were not compared in full with each other";
  }

  ExitCode Print(const std::string& path, const VerifyReport& report, uint64_t file_size) {
    ExitCode worst = kFine;
    for (const auto* list : {&report.damages, &report.limits}) {
      for (const Damage& each : *list) worst = Worse(worst, ExitCodeOfFinding(each.status));
    }
    worst_ = Worse(worst_, worst);
    Document file(common_.json);
    file.AddJson({{"path", path},
                  {"ok", report.ok()},
                  {"missing", IsMissing(report)},
                  {"data_blocks", report.data_blocks},
                  {"index_nodes", report.index_nodes},
                  {"rows", report.num_rows},
                  {"entries", report.num_entries},
                  {"bytes_checked", report.bytes_checked}});
    const std::string result = absl::StrCat(": ", NameOf(worst, report));
    const std::string shown = Printable(path);
    if (!quiet_) {
      // The user needs the whole path only of a file that has findings.
      file.AddLine(
          worst == kFine ? ShortenedForOutput(shown, result.size(), /*keep_end=*/true) : shown,
          result);
    }
    const std::string before = quiet_ ? shown + ": " : "  ";
    AddFindings("damages", path, report.damages, before, file);
    file.AddJson({{"more_damages", report.more_damages}});
    AddFindings("limits", path, report.limits, before, file);
    file.AddJson({{"more_limits", report.more_limits}});
    if (report.more_damages > 0) {
      file.AddLine(before, "and ", Plural(report.more_damages, "more damage"));
    }
    if (report.more_limits > 0) {
      file.AddLine(before, "and ", Plural(report.more_limits, "more part"), " above a limit");
    }
    AddTotals(report, file_size, file);
    files_.push_back(file.json());
    output_.text += file.text();
    progress_.End();
    output_.Drain();
    return worst;
  }

  // Adds a line, which begins with `before`, for each finding.
  static void AddFindings(const char* name, const std::string& path,
                          const std::vector<Damage>& findings, const std::string& before,
                          Document& file) {
    Table list(file.is_json());
    for (const Damage& damage : findings) {
      list.Add({{"error", MessageOf(damage.status)},
                {"block", damage.block},
                {"first_ordinal", damage.first_ordinal},
                {"last_ordinal", damage.last_ordinal}});
      std::string message = MessageOf(damage.status);
      // Omit the path, which is printed before the findings.
      if (const std::string prefix = path + ": "; message.starts_with(prefix)) {
        message.erase(0, prefix.size());
      }
      file.AddLine(before, TerminalSafe(message),
                   damage.first_ordinal && damage.last_ordinal
                       ? absl::StrCat("; concerns rows ", *damage.first_ordinal, " to ",
                                      *damage.last_ordinal)
                       : "");
    }
    file.AddTable(name, list);
  }

  void AddTotals(const VerifyReport& report, uint64_t file_size, Document& file) const {
    if (quiet_ || file_size == 0) return;  // a file without a size could not be opened
    const std::string totals =
        absl::StrCat("  checked ", report.bytes_checked, " of ", Plural(file_size, "byte"), ": ",
                     Plural(report.data_blocks, "data block"), ", ",
                     Plural(report.index_nodes, "index node"), ", ", Plural(report.num_rows, "row"),
                     report.num_entries == report.num_rows
                         ? ""
                         : absl::StrCat(" of ", report.num_entries, " entries"));
    file.AddLine(WrappedForOutput(totals, 4));
  }

  const CommonOptions& common_;
  const bool quiet_;
  Output& output_;
  Progress& progress_;
  Json files_ = Json::array();  // also what AddRecords prints
  uint64_t num_files_ = 0;
  ExitCode worst_ = kFine;
  std::vector<std::string> bad_files_;  // what is printed last
  static constexpr const char* kBad[] = {" damaged", " missing", " not checked in full"};
  uint64_t bad_counts_[std::size(kBad)] = {};
  ExitCode worst_of_records_ = kFine;
};

uint64_t SizeOf(const absl::StatusOr<Reader>& reader) {
  return reader.ok() ? reader->info().file_size_bytes : 0;
}

Outcome VerifyInput(bool quiet, const CommonOptions& common, Output& output) {
  output.IgnoreClosedPipe();
  Progress progress;
  uint64_t bytes_read = 0;
  const auto show_progress = [&](const std::string&, const ObservedRead& read) {
    bytes_read += read.size_bytes;
    progress.Update(bytes_read, 0).IgnoreError();  // no signal is caught, so there is no error
  };
  progress.Begin("opening", 0);
  VerifyPrinter printer(common, quiet, output, progress);
  // Open the whole table even if only one file is checked, because files are compared with
  // table.cft.
  auto input = OpenInput(WholeOf(common), show_progress);
  progress.End();
  bytes_read = 0;
  if (!input.ok()) {
    // A path that cannot be read, or is no CFile, is wrong use and no finding.
    const ExitCode code = ExitCodeOf(input.status());
    if (code == kIoError || code == kUsage) return input.status();
    VerifyReport report;
    report.Add({.status = input.status()});
    printer.Add(common.path, report, 0);
  } else if (input->file) {
    CFILE_RETURN_IF_ERROR(CheckNoColumn(common));
    const uint64_t size = SizeOf(*input->file);
    progress.Begin("verifying", size);
    printer.Add(common.path, Verify(*input->file), size);
  } else {
    const TableReader& table = *input->table;
    const Schema& schema = table.schema();
    CFILE_RETURN_IF_ERROR(ChoosePart(common.part, *input));
    OrdinalRange columns{0, schema.columns.size() + (schema.key_index() ? 1 : 0)};
    if (!common.column.empty()) {
      CFILE_ASSIGN_OR_RETURN(columns.begin, FindFile(table, common.column));
      columns.end = columns.begin + 1;
    }
    const bool all = common.column.empty() && common.part.empty();
    progress.Begin("verifying", all ? BytesOf(table) : 0);
    for (size_t part = input->parts().begin; part < input->parts().end; ++part) {
      for (size_t column = columns.begin; column < columns.end; ++column) {
        const auto file = table.part_file(part, column);
        if (!file.ok()) {
          progress.End();
          return file.status();
        }
        if (file->empty()) continue;  // the part is older than the column
        const std::filesystem::path path = std::filesystem::path(common.path) / *file;
        printer.Add(path.string(), table.VerifyColumn(part, column),
                    SizeOf(table.OpenColumn(part, column)));
      }
      if (!common.column.empty()) continue;
      const VerifyReport copy = table.VerifyCopy(part);
      const auto info = table.part(part);
      if (copy.ok() || !info.ok()) continue;
      printer.Add((std::filesystem::path(common.path) / info->name).string(), copy, 0);
    }
    if (all && printer.all_fine()) {
      progress.Begin("comparing columns", 0);
      printer.AddRecords(common.path, VerifyRecords(table));
    }
  }
  progress.End();
  return printer.Finish();
}

}  // namespace

void AddVerifyCommand(Command& app, CommonOptions& common, Action& action) {
  Command& command = AddPlainCommand(
      app, common, "verify", "Read everything and say what is damaged",
      "Checks all checksums, all structures and all values, and that they agree with each\n"
      "other. In a table, checks all files, also the copies of the descriptions of the parts,\n"
      "which `cfile-table repair` needs if table.cft is lost; if these are valid, also checks\n"
      "that the columns of nested records agree with each other, and that compound keys agree\n"
      "with their rows.\n"
      "Each finding is a line. With --quiet, nothing else is printed, and each line begins with\n"
      "the name of the file.\n"
      "The exit code is 0 if everything is valid, 2 if anything is damaged or a file of a table\n"
      "is missing, and 4 if a limit kept a part from being checked; the finding names the option\n"
      "to raise. verify runs to its end even if nobody reads its output.\n\n"
      "Examples:\n"
      "  cfile-dump verify keys.cfile\n"
      "  cfile-dump verify --json flights | jq '.files[] | select(.ok | not)'");
  AddJsonOption(command, common);
  AddColumnOptions(command, common, "Only the files of this column of a table", kAllParts);
  auto quiet = std::make_shared<bool>(false);
  command.Add("--quiet", quiet.get(), "Print only the findings").excludes = {"--json"};
  SetAction(command, action, With(quiet, VerifyInput));
}

}  // namespace cfile::tools
