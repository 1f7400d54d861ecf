#include "tools/dump/commands.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <set>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "cfile/records.h"
#include "cfile/status.h"
#include "tools/columns/column_trials.h"
#include "tools/columns/stored_column.h"
#include "tools/dump/totals.h"
#include "tools/location.h"
#include "tools/progress.h"
#include "tools/report/file_description.h"
#include "tools/report/resources.h"

namespace cfile::tools {
namespace {

constexpr size_t kMaxFiles = 1000;                // the most files of a table that get a map
constexpr size_t kValuesBytes = size_t{2} << 20;  // the most bytes of the values of all blocks

struct ReportArguments {
  std::string out;
  bool force = false;
  PageShare page = {.regions = 20'000, .values_per_block = 5, .value_bytes = kValuesBytes};
  bool whatif = false;
  size_t sample_bytes = size_t{1} << 20;  // of each column, for `whatif`
};

// The source expression of a content security policy for text with this SHA-256.
std::string HashSource(std::string_view sha256_hex) {
  const std::string digest = absl::HexStringToBytes(std::string(sha256_hex));
  return absl::StrCat("'sha256-", absl::Base64Escape(digest), "'");
}

// `data` without characters that can begin or end a tag or a comment.
std::string ScriptData(const Json& data) {
  return absl::StrReplaceAll(data.dump(), {{"<", "\\u003c"}, {">", "\\u003e"}, {"&", "\\u0026"}});
}

std::string HtmlText(std::string_view text) {
  return absl::StrReplaceAll(
      TerminalSafe(text),
      {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}, {"'", "&#39;"}});
}

// Returns a complete HTML page in UTF-8, which loads nothing: its content security policy allows
// only the script and the style that the build has embedded. All strings are shown as text. `data`:
// what page.js shows; PageData and file_description.h say what it has.
std::string MakePage(std::string_view title, const Json& data) {
  const std::string policy =
      absl::StrCat("default-src 'none'; script-src ", HashSource(kPageScriptSha256), "; style-src ",
                   HashSource(kPageStyleSha256), "; base-uri 'none'; form-action 'none'");
  // StrReplaceAll does not search the texts that it has put in.
  const std::string style(kPageStyle), script(kPageScript);
  return absl::StrReplaceAll(std::string(kPageTemplate), {{"{{policy}}", policy},
                                                          {"{{title}}", HtmlText(title)},
                                                          {"{{style}}", style},
                                                          {"{{data}}", ScriptData(data)},
                                                          {"{{script}}", script}});
}

class PageData {
 public:
  PageData(const CommonOptions& common, const ReportArguments& arguments, Progress& progress)
      : common_(common),
        page_(arguments.page),
        sample_bytes_(arguments.whatif ? arguments.sample_bytes : 0),
        progress_(progress) {}

  // A file or a table that cannot be opened.
  void AddUnreadable(const absl::Status& status) {
    VerifyReport report;
    report.Add({.status = status});
    AddFindings(report, Json::object());
  }

  absl::Status AddFile(const Reader& reader) {
    progress_.Begin("verifying", 0);
    AddFindings(Verify(reader), {{"file", 0}});
    Json names = Json::object();
    CFILE_RETURN_IF_ERROR(AddTrials(ColumnOf(reader), names));
    progress_.Begin("describing", reader.info().file_size_bytes);
    return Describe(reader, page_, std::move(names)).status();
  }

  // Errors: those of reading the descriptions of parts.
  absl::Status AddTable(const Input& input) {
    const TableReader& table = *input.table;
    parts_ = input.parts();
    const size_t num_columns = table.schema().columns.size() + (table.schema().key_index() ? 1 : 0);
    uint64_t bytes = 0;
    for (size_t part = parts_.begin; part < parts_.end; ++part) {
      CFILE_ASSIGN_OR_RETURN(const PartInfo info, table.part(part));
      bytes += info.size_bytes;
    }
    progress_.Begin("verifying and describing", bytes);
    const size_t num_files = std::clamp<size_t>(num_columns * parts_.size(), 1, kMaxFiles);
    PageShare share = page_;
    share.regions = std::max<size_t>(share.regions / num_files, 1);
    share.value_bytes /= num_files;
    std::vector<Json> columns(num_columns);
    for (size_t column = 0; column < num_columns; ++column) {
      CFILE_ASSIGN_OR_RETURN(columns[column], AddColumn(table, column, share));
    }
    // The trials come last, because the progress line shows the trials of each column as a stage of
    // their own.
    for (size_t column = 0; column < table.schema().columns.size(); ++column) {
      CFILE_ASSIGN_OR_RETURN(const auto found,
                             ColumnsOf(input, table.schema().columns[column].name));
      for (const StoredColumn& each : found) {
        CFILE_RETURN_IF_ERROR(AddTrials(each, columns[column]));
      }
    }
    data_.AddJson({{"rows", input.num_rows()}, {"parts", parts_.size()}, {"columns", columns}});
    if (worst_ == kFine && !input.part) AddFindings(VerifyRecords(table), Json::object());
    return absl::OkStatus();
  }

  // Called once.
  const Json& Finish() {
    data_.AddJson({{"findings", findings_},
                   {"files", std::move(files_)},
                   {"files_left_out", files_left_out_}});
    return data_.json();
  }
  size_t num_findings() const { return findings_.size(); }
  // The exit code that cfile-dump verify has for this file or table.
  ExitCode worst() const { return worst_; }

 private:
  // Adds the files of one column. Returns what the page shows about the column as a whole.
  absl::StatusOr<Json> AddColumn(const TableReader& table, size_t column, const PageShare& share) {
    BlockTotals totals;
    uint64_t bytes = 0;
    std::set<std::string> codecs;
    for (size_t part = parts_.begin; part < parts_.end; ++part) {
      CFILE_ASSIGN_OR_RETURN(const std::string file, table.part_file(part, column));
      if (file.empty()) continue;  // the part is older than the column
      const VerifyReport report = table.VerifyColumn(part, column);
      const auto reader = table.OpenColumn(part, column);
      const bool has_map = reader.ok() && files_.size() < kMaxFiles;
      const std::optional<size_t> number = has_map ? std::optional(files_.size()) : std::nullopt;
      AddFindings(report,
                  JsonObject({{"path", Printable(file)}, {"column", column}, {"file", number}}));
      if (!reader.ok()) continue;
      if (!has_map) ++files_left_out_;
      Json names = JsonObject({{"path", Printable(file)}, {"column", column}, {"part", part}});
      CFILE_ASSIGN_OR_RETURN(const BlockTotals of_file,
                             Describe(*reader, has_map ? share : PageShare(), std::move(names)));
      totals.Add(of_file);
      bytes += reader->info().file_size_bytes;
      codecs.insert(CompressionName(of_file.compressed_blocks() > 0 ? reader->info().compression
                                                                    : Compression::kNone));
    }
    const bool key_index = column == table.schema().columns.size();
    const ColumnSchema schema = key_index ? ColumnSchema{kKeyIndexName, ColumnType::Binary()}
                                          : table.schema().columns[column];
    return JsonObject({{"name", Printable(schema.name)},
                       {"type", Printable(schema.type.ToString())},
                       {"encodings", totals.EncodingNames()},
                       {"codecs", codecs},
                       {"bytes", bytes},
                       {"complete", totals.status.ok()},
                       {"blocks", totals.blocks},
                       {"nulls", totals.nulls},
                       {"encoded", totals.encoded_bytes},
                       {"stored", totals.stored_bytes}});
  }

  // Adds the sizes and speeds of other encodings and codecs. Adds nothing if the column cannot be
  // read, because then there are findings. kCancelled: after a signal.
  absl::Status AddTrials(const StoredColumn& column, Json& json) {
    if (sample_bytes_ == 0 || column.num_rows == 0) return absl::OkStatus();
    const TrialOptions options{.sample_bytes = sample_bytes_};
    const auto trials = TryAll(column, common_, options, progress_);
    if (absl::IsCancelled(trials.status())) return trials.status();
    if (trials.ok()) AddFacts({{"whatif", DocumentOf(*trials, options, /*json=*/true)}}, json);
    return absl::OkStatus();
  }

  // Reads a file. Unless the share has no regions, adds the members of `names` and the description
  // of the file to the page.
  absl::StatusOr<BlockTotals> Describe(const Reader& reader, const PageShare& share, Json names) {
    CFILE_ASSIGN_OR_RETURN(FileDescription file, DescribeFile(reader, share, [&](uint64_t bytes) {
                             bytes_done_ += bytes;
                             return progress_.Update(bytes_done_, 0);
                           }));
    if (share.regions > 0) {
      names.update(file.json);
      files_.push_back(std::move(names));
    }
    return std::move(file.totals);
  }

  // `place`: the members "path", "column" and "file" of the findings.
  void AddFindings(const VerifyReport& report, const Json& place) {
    for (const auto* list : {&report.damages, &report.limits}) {
      for (const Damage& damage : *list) {
        worst_ = Worse(worst_, ExitCodeOfFinding(damage.status));
        Json finding = place;
        AddFacts({{"message", TerminalSafe(MessageOf(damage.status))},
                  {"first_row", damage.first_ordinal},
                  {"last_row", damage.last_ordinal}},
                 finding);
        if (list == &report.limits) finding["limit"] = true;
        if (damage.block) finding.update(JsonOf(*damage.block));
        findings_.push_back(std::move(finding));
      }
    }
    if (const uint64_t more = report.more_damages + report.more_limits; more > 0) {
      findings_.push_back(place);
      AddFacts({{"message", absl::StrCat("and ", Plural(more, "more finding"))}}, findings_.back());
    }
  }

  const CommonOptions& common_;
  const PageShare page_;
  const size_t sample_bytes_;  // 0: no trials
  Progress& progress_;
  OrdinalRange parts_;  // of the table
  uint64_t bytes_done_ = 0;
  Document data_{/*json=*/true, Printable(common_.path)};
  Json findings_ = Json::array();
  Json files_ = Json::array();
  size_t files_left_out_ = 0;
  ExitCode worst_ = kFine;
};

absl::Status AddInput(const CommonOptions& common, PageData& page) {
  const auto input = OpenInput(common);
  if (input.ok()) return input->file ? page.AddFile(*input->file) : page.AddTable(*input);
  // As for verify, a wrong command line and a path that cannot be read are no findings.
  const ExitCode code = ExitCodeOf(input.status());
  if (code == kUsage || code == kIoError) return input.status();
  page.AddUnreadable(input.status());
  return absl::OkStatus();
}

Outcome WriteReport(const ReportArguments& arguments, const CommonOptions& common, Output& output) {
  output.IgnoreClosedPipe();
  CFILE_RETURN_IF_ERROR(CheckOutIsFree(arguments.out, arguments.force));
  CancelOnSignals();  // so that the temporary file is removed
  CFILE_ASSIGN_OR_RETURN(auto sink, CreateFileAt(arguments.out, ExistingOf(arguments.force)));
  Progress progress;
  PageData page(common, arguments, progress);
  absl::Status status = AddInput(common, page);
  progress.End();
  if (status.ok()) {
    const std::string html = MakePage(common.path, page.Finish());
    status = sink->Append({reinterpret_cast<const uint8_t*>(html.data()), html.size()});
  }
  if (status.ok()) status = sink->Finish();
  if (!status.ok()) {
    sink.reset();  // removes the temporary file, also before a signal ends the process
    return status;
  }
  absl::StrAppend(&output.text, Printable(arguments.out), ": ",
                  page.num_findings() == 0 ? "no findings" : Plural(page.num_findings(), "finding"),
                  "\n");
  return page.worst();
}

}  // namespace

void AddReportCommand(Command& app, CommonOptions& common, Action& action) {
  Command& command = AddPlainCommand(
      app, common, "report", "Write an HTML page about a file or a table",
      "The page shows a map of the file, the trees of both indexes, the distribution of values\n"
      "and nulls over the blocks, what `verify` finds, and, with --whatif, what `whatif` says\n"
      "about other encodings. Of a table it also shows the bytes of each column, and begins with\n"
      "the first damaged one. A browser needs no network for it: the page loads nothing.\n"
      "Everything that is read is shown as text; the page runs only its own script.\n\n"
      "OUT has no more than the first --values values of each data block, cut to 60 bytes, and in\n"
      "total 2 MiB of them. It also has the bounds and the index keys of the blocks, cut to 60\n"
      "bytes. The first --regions regions are described one by one; of a table, each file gets an\n"
      "equal share of both limits, and the first 1,000 files have a map.\n\n"
      "OUT appears when it is complete, even if FILE is damaged. OUT cannot be FILE, or inside\n"
      "the table FILE. The exit code is that of `verify`: 0 if everything is valid, 2 if anything\n"
      "is damaged or missing.\n\n"
      "Examples:\n"
      "  cfile-dump report keys.cfile --html keys.html\n"
      "  cfile-dump report flights --html flights.html --force\n"
      "  cfile-dump report flights --column carrier --html carrier.html --values 0");
  AddIgnoreChecksumsOption(command, common);
  AddColumnOptions(command, common, "Only this column of a table", kAllPartsOrOne);
  const auto arguments = std::make_shared<ReportArguments>();
  command.Add("--html OUT", &arguments->out, "The file to write").required = true;
  command.Add("--force", &arguments->force, "Replace OUT if it exists");
  command.Add("--values N", &arguments->page.values_per_block,
              "Values of each data block on the page (default: 5)", NumberIn(0, 1000));
  command.Add("--regions N", &arguments->page.regions,
              "Regions that are described one by one (default: 20,000)", NumberIn(1, 1'000'000));
  command.Add("--whatif", &arguments->whatif,
              "Also try other encodings on a sample of each column (takes longer)");
  command.Add("--sample-bytes BYTES", &arguments->sample_bytes,
              "Decoded bytes of the sample of each column, with --whatif (default: 1MiB)",
              BytesIn(1, kMaxIndexBytes));
  SetAction(command, action, [arguments](const CommonOptions& chosen, Output& output) -> Outcome {
    CFILE_RETURN_IF_ERROR(CheckOutIsNotInput(chosen.path, arguments->out));
    const Action write = With(arguments, WriteReport);
    return (chosen.column.empty() ? write : OnFile(write))(chosen, output);
  });
}

}  // namespace cfile::tools
