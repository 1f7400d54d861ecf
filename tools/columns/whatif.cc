// cfile-dump whatif: tries every encoding with every codec on a column.
#include "tools/dump/commands.h"

#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "cfile/status.h"
#include "tools/columns/trials.h"
#include "tools/columns/forms.h"
#include "tools/columns/new_output.h"
#include "tools/encoding_reason.h"
#include "tools/progress.h"

namespace cfile::tools {
namespace {

struct WhatIfArguments {
  size_t sample_bytes = size_t{16} << 20;
  std::string sort = "size";
  std::string goal = "balanced";
  bool recommend = false;
};

// What was found out about one column.
struct ColumnTrials {
  StoredColumn column;
  std::unique_ptr<Sample> sample;
  FormsInUse in_use;
  Trial automatic;                // what automatic choice does with the sample
  absl::Status automatic_status;  // not OK: `automatic` has no meaning
  std::vector<FormTrial> trials;  // sorted; those that failed are last

  std::optional<StoredForm> form_in_use() const {
    return MainForm(in_use.encodings, in_use.compression);
  }
  std::optional<StoredForm> automatic_form() const {
    return MainForm(automatic.totals.encodings, automatic.totals.compression);
  }
  bool has_all_rows() const { return sample->num_rows == column.num_rows; }
};

Goal GoalNamed(std::string_view name) {
  for (const NamedGoal& goal : kGoals) {
    if (goal.name == name) return goal.goal;
  }
  return Goal::kBalanced;
}

double PerSecond(uint64_t amount, double seconds) {
  return seconds > 0 ? static_cast<double>(amount) / seconds : 0;
}

double BitsPerValue(const Sample& sample, const Trial& trial) {
  return sample.num_entries == 0 ? 0
                                 : 8 * static_cast<double>(trial.file_bytes) /
                                       static_cast<double>(sample.num_entries);
}

void Sort(std::string_view by, std::vector<FormTrial>& trials) {
  const auto key = [&](const FormTrial& trial) {
    if (by == "decode") return trial.result->decode_seconds;
    if (by == "encode") return trial.result->encode_seconds;
    return static_cast<double>(trial.result->file_bytes);
  };
  std::stable_sort(trials.begin(), trials.end(), [&](const FormTrial& a, const FormTrial& b) {
    if (!a.result.ok() || !b.result.ok()) return a.result.ok() && !b.result.ok();
    return key(a) < key(b);
  });
}

// What the user should know about a trial: blocks that have another encoding than the chosen one,
// or that the codec did not make smaller.
std::string NoteOf(const FormTrial& trial) {
  uint64_t blocks = 0, others = 0, compressed = 0;
  std::string other;
  for (const EncodingTotals& totals : trial.result->totals.encodings) {
    blocks += totals.blocks;
    compressed += totals.compressed_blocks;
    if (totals.encoding == trial.form.encoding) continue;
    others += totals.blocks;
    other = EncodingName(totals.encoding);
  }
  std::string note;
  if (others > 0) absl::StrAppend(&note, other, " in ", others, " of ", Plural(blocks, "block"));
  if (trial.form.compression != Compression::kNone && compressed < blocks) {
    absl::StrAppend(&note, note.empty() ? "" : ", ",
                    compressed == 0 ? "no gain from the codec"
                                    : absl::StrCat("the codec gains in ", compressed, " of ",
                                                   Plural(blocks, "block")));
  }
  return note;
}

absl::StatusOr<ColumnTrials> TryAll(const StoredColumn& column, const CommonOptions& common,
                                    const WhatIfArguments& arguments, Progress& progress) {
  ColumnTrials result{.column = column};
  CFILE_ASSIGN_OR_RETURN(result.in_use, FindFormsInUse(column));
  CFILE_ASSIGN_OR_RETURN(WriterOptions options, OptionsInUse(column));
  SetWriterLimits(common, options);
  CFILE_ASSIGN_OR_RETURN(result.sample, TakeSample(column, arguments.sample_bytes));
  const Sample& sample = *result.sample;
  const std::vector<StoredForm> forms = FormsOf(column.schema.type);
  progress.Begin(StrCat("trying ", column.schema.name), sample.decoded_bytes * (forms.size() + 1));
  options.goal = GoalNamed(arguments.goal);
  absl::StatusOr<Trial> automatic = sample.Try(options);
  result.automatic_status = automatic.status();
  if (automatic.ok()) result.automatic = *std::move(automatic);
  for (const StoredForm& form : forms) {
    const uint64_t tried = result.trials.size() + 1;
    CFILE_RETURN_IF_ERROR(progress.Update(sample.decoded_bytes * tried, sample.num_rows * tried));
    options.encoding = form.encoding;
    options.compression = form.compression;
    result.trials.push_back({form, sample.Try(options)});
  }
  progress.End();
  Sort(arguments.sort, result.trials);
  return result;
}

uint64_t SmallestOf(const std::vector<FormTrial>& trials) {
  uint64_t smallest = UINT64_MAX;
  for (const FormTrial& trial : trials) {
    if (trial.result.ok()) smallest = std::min(smallest, trial.result->file_bytes);
  }
  return std::max<uint64_t>(smallest, 1);
}

std::vector<std::string> NotBuiltIn() {
  std::vector<std::string> names;
  for (const Compression codec : AllCompressions()) {
    if (!CheckCompressionBuiltIn(codec).ok()) names.push_back(CompressionName(codec));
  }
  return names;
}

std::string FailureText(const absl::Status& status) {
  const absl::string_view message = status.message();
  return "fails: " + TerminalSafe(WithOptionNames({message.data(), message.size()}));
}

void AppendTable(const ColumnTrials& trials, const WhatIfArguments& arguments, std::string& out) {
  const Sample& sample = *trials.sample;
  absl::StrAppend(&out, Printable(trials.column.schema.name), ": ",
                  trials.column.schema.type.ToString(), ", ",
                  Plural(trials.column.num_rows, "row"), "\n  sample     ");
  if (trials.has_all_rows()) {
    out += "all rows";
  } else {
    absl::StrAppend(&out, Plural(sample.num_rows, "row"), " in ",
                    Plural(sample.ranges.size(), "place"));
  }
  absl::StrAppendFormat(&out, ", %.1f MB decoded\n",
                        static_cast<double>(sample.decoded_bytes) / 1e6);
  absl::StrAppend(&out, "  file       ",
                  FormsText(trials.in_use.encodings, trials.in_use.compression), "\n");
  const ColumnTotals& automatic = trials.automatic.totals;
  absl::StrAppend(
      &out, "  automatic  ",
      trials.automatic_status.ok()
          ? absl::StrCat(FormsText(automatic.encodings, automatic.compression), ", for ",
                         arguments.goal, ": ",
                         EncodingReason(trials.column.schema.type, automatic),
                         " (found with the sample)")
          : FailureText(trials.automatic_status),
      "\n\n");
  int width = 8;
  for (const FormTrial& trial : trials.trials) {
    width = std::max(width, static_cast<int>(EncodingName(trial.form.encoding).size()));
  }
  absl::StrAppendFormat(&out, "%-*s  %-6s  %12s  %6s  %6s  %15s  %15s\n", width, "", "", "",
                        "bits/", "", "encode", "decode");
  absl::StrAppendFormat(&out, "%-*s  %-6s  %12s  %6s  %6s  %7s %7s  %7s %7s\n", width, "encoding",
                        "codec", "bytes", "value", "ratio", "Mvalue/s", "MB/s", "Mvalue/s", "MB/s");
  const uint64_t smallest = SmallestOf(trials.trials);
  for (const FormTrial& trial : trials.trials) {
    absl::StrAppendFormat(&out, "%-*s  %-6s  ", width, EncodingName(trial.form.encoding),
                          CompressionName(trial.form.compression));
    if (!trial.result.ok()) {
      absl::StrAppend(&out, FailureText(trial.result.status()), "\n");
      continue;
    }
    const Trial& result = *trial.result;
    absl::StrAppendFormat(
        &out, "%12d  %6.2f  %6.2f  %8.1f %6.0f  %8.1f %6.0f", result.file_bytes,
        BitsPerValue(sample, result),
        static_cast<double>(result.file_bytes) / static_cast<double>(smallest),
        PerSecond(sample.num_entries, result.encode_seconds) / 1e6,
        PerSecond(sample.decoded_bytes, result.encode_seconds) / 1e6,
        PerSecond(sample.num_entries, result.decode_seconds) / 1e6,
        PerSecond(sample.decoded_bytes, result.decode_seconds) / 1e6);
    std::vector<std::string> marks;
    if (trials.form_in_use() == trial.form) marks.push_back("<- file");
    if (trials.automatic_form() == trial.form) marks.push_back("<- automatic");
    if (std::string note = NoteOf(trial); !note.empty()) marks.push_back(std::move(note));
    absl::StrAppend(&out, marks.empty() ? "" : "  ", absl::StrJoin(marks, ", "), "\n");
  }
}

Json SpeedJson(const Sample& sample, double seconds) {
  return {{"values_per_second", PerSecond(sample.num_entries, seconds)},
          {"bytes_per_second", PerSecond(sample.decoded_bytes, seconds)}};
}

// The options of cfile-import that store a column in this form.
std::string ImportOptionsOf(const StoredColumn& column, const StoredForm& form) {
  const std::string prefix = column.table ? column.schema.name + "=" : "";
  return StrCat("--encoding ", ShellQuoted(prefix + EncodingName(form.encoding)),
                " --compression ", ShellQuoted(prefix + CompressionName(form.compression)));
}

Json ToJson(const ColumnTrials& trials, const WhatIfArguments& arguments) {
  const Sample& sample = *trials.sample;
  Json ranges = Json::array();
  for (const OrdinalRange& range : sample.ranges) {
    ranges.push_back({JsonInteger(range.begin), JsonInteger(range.end)});
  }
  Json tried = Json::array();
  const uint64_t smallest = SmallestOf(trials.trials);
  for (const FormTrial& trial : trials.trials) {
    Json json = {{"encoding", EncodingName(trial.form.encoding)},
                 {"compression", CompressionName(trial.form.compression)},
                 {"in_file", trials.form_in_use() == trial.form},
                 {"automatic", trials.automatic_form() == trial.form}};
    if (!trial.result.ok()) {
      json["error"] = JsonError(trial.result.status());
    } else {
      const Trial& result = *trial.result;
      json["bytes"] = JsonInteger(result.file_bytes);
      json["bits_per_value"] = BitsPerValue(sample, result);
      json["ratio"] = static_cast<double>(result.file_bytes) / static_cast<double>(smallest);
      json["encode"] = SpeedJson(sample, result.encode_seconds);
      json["decode"] = SpeedJson(sample, result.decode_seconds);
      json["blocks"] = FormsJson(result.totals.encodings);
      if (const std::string note = NoteOf(trial); !note.empty()) json["note"] = note;
    }
    tried.push_back(std::move(json));
  }
  Json recommended = Json::object();
  for (const NamedGoal& goal : kGoals) {
    const FormTrial* best = Recommend(trials.trials, goal.goal, sample.decoded_bytes);
    if (best == nullptr) continue;
    recommended[std::string(goal.name)] = {
        {"encoding", EncodingName(best->form.encoding)},
        {"compression", CompressionName(best->form.compression)},
        {"bytes", JsonInteger(best->result->file_bytes)},
        {"options", JsonBytes(ImportOptionsOf(trials.column, best->form))}};
  }
  const Trial& automatic = trials.automatic;
  Json automatic_json = {{"goal", arguments.goal}, {"recomputed", true}};
  if (trials.automatic_status.ok()) {
    automatic_json["blocks"] = FormsJson(automatic.totals.encodings);
    automatic_json["compression"] = CompressionName(automatic.totals.compression);
    automatic_json["bytes"] = JsonInteger(automatic.file_bytes);
    automatic_json["encode"] = SpeedJson(sample, automatic.encode_seconds);
    automatic_json["decode"] = SpeedJson(sample, automatic.decode_seconds);
    automatic_json["reason"] = EncodingReason(trials.column.schema.type, automatic.totals);
  } else {
    automatic_json["error"] = JsonError(trials.automatic_status);
  }
  return {{"name", JsonBytes(trials.column.schema.name)},
          {"type", trials.column.schema.type.ToString()},
          {"rows", JsonInteger(trials.column.num_rows)},
          {"sample",
           {{"rows", JsonInteger(sample.num_rows)},
            {"values", JsonInteger(sample.num_entries)},
            {"nulls", JsonInteger(sample.num_entries - sample.num_present)},
            {"decoded_bytes", JsonInteger(sample.decoded_bytes)},
            {"all_rows", trials.has_all_rows()},
            {"ranges", std::move(ranges)}}},
          {"in_file",
           {{"blocks", FormsJson(trials.in_use.encodings)},
            {"compression", CompressionName(trials.in_use.compression)}}},
          {"automatic", std::move(automatic_json)},
          {"tried", std::move(tried)},
          {"recommended", std::move(recommended)}};
}

// The options of cfile-import for all columns, for each goal.
class Recommendations {
 public:
  void Add(const ColumnTrials& trials) {
    for (size_t i = 0; i < std::size(kGoals); ++i) {
      const FormTrial* best =
          Recommend(trials.trials, kGoals[i].goal, trials.sample->decoded_bytes);
      if (best != nullptr) options_[i] += " " + ImportOptionsOf(trials.column, best->form);
    }
  }
  std::string Text() const {
    std::string text;
    for (size_t i = 0; i < std::size(kGoals); ++i) {
      absl::StrAppendFormat(&text, "%-9s%s\n", StrCat(kGoals[i].name, ":"), options_[i]);
    }
    return text;
  }

 private:
  std::string options_[std::size(kGoals)];
};

absl::StatusOr<std::vector<StoredColumn>> ChooseColumns(const Input& input,
                                                        const CommonOptions& common) {
  std::vector<StoredColumn> columns;
  if (input.file) {
    columns.push_back(ColumnOf(*input.file));
    return columns;
  }
  if (!common.column.empty()) {
    CFILE_ASSIGN_OR_RETURN(const size_t column, FindColumn(*input.table, common.column));
    columns.push_back(ColumnOf(*input.table, column));
    return columns;
  }
  for (size_t i = 0; i < input.table->schema().columns.size(); ++i) {
    columns.push_back(ColumnOf(*input.table, i));
  }
  return columns;
}

ExitCode RunWhatIf(const WhatIfArguments& arguments, const CommonOptions& common, Output& output) {
  const auto input = OpenInput(common);
  if (!input.ok()) return output.Fail(input.status());
  const auto columns = ChooseColumns(*input, common);
  if (!columns.ok()) return output.Fail(columns.status());
  Progress progress(isatty(STDERR_FILENO) != 0);
  Recommendations recommendations;
  Json document = JsonDocument(common.path);
  document["columns"] = Json::array();
  for (const StoredColumn& column : *columns) {
    absl::StatusOr<ColumnTrials> trials = TryAll(column, common, arguments, progress);
    if (!trials.ok()) return output.Fail(trials.status());
    if (common.json) {
      document["columns"].push_back(ToJson(*trials, arguments));
    } else if (arguments.recommend) {
      recommendations.Add(*trials);
    } else {
      if (&column != columns->data()) output.text += '\n';
      AppendTable(*trials, arguments, output.text);
      output.Flush();
    }
  }
  if (common.json) {
    document["not_built_in"] = NotBuiltIn();
    absl::StrAppend(&output.text, document.dump(2), "\n");
  } else if (arguments.recommend) {
    output.text += recommendations.Text();
  } else {
    output.text += "\nSpeeds were measured on this machine, in memory, with one thread.\n";
    if (const auto names = NotBuiltIn(); !names.empty()) {
      absl::StrAppend(&output.text, "This build lacks ", absl::StrJoin(names, ", "), ".\n");
    }
  }
  return output.Finish(kFine);
}

}  // namespace

void AddWhatIfCommand(CLI::App& app, CommonOptions& common, Action& action) {
  CLI::App* command = AddCommand(
      app, common, "whatif", "Try every encoding with every codec on a column",
      "Writes the column, or a sample of it, into memory in each form that its type allows, reads\n"
      "it again, and prints the sizes and the speeds:\n"
      "  bytes       of a file with these rows: blocks, indexes, header and footer\n"
      "  bits/value  per row; in a column with levels, per entry\n"
      "  ratio       to the smallest file\n"
      "  Mvalue/s    million values in a second, and MB/s: million bytes of decoded values in a\n"
      "              second; a string counts as its bytes and 16 more\n"
      "The speeds are measured while the command runs, with one thread, and differ from run to\n"
      "run. Blocks have the default size. Codecs have their default levels; automatic choice may\n"
      "use another level of zstd.\n"
      "'<- file' marks the form of most bytes of the file (of its first 64 blocks; of a table, in\n"
      "the first part). '<- automatic' marks what `--encoding auto` chooses for the sample. Files\n"
      "do not record why an encoding was chosen, so the choice and its reason are found again.\n"
      "A sample has up to 16 ranges of rows, spread evenly. Each begins with a block.\n\n"
      "--recommend prints options of cfile-import for the goals size, balanced and speed:\n"
      "the form that is read fastest and is at most 5 %, 15 % or 100 % larger than the smallest.\n"
      "Forms that are read slower than 0.25, 2 and 6 GB/s do not count, unless they have half of\n"
      "the speed of the fastest form.\n\n"
      "Examples:\n"
      "  cfile-dump whatif keys.cfile\n"
      "  cfile-dump whatif flights --column carrier --sort decode\n"
      "  cfile-dump whatif flights --recommend\n"
      "  cfile-dump whatif flights --column carrier --sample-bytes 1MiB --json");
  AddIgnoreChecksumsOption(*command, common);
  const auto arguments = std::make_shared<WhatIfArguments>();
  command->add_option("--column", common.column, "The column of a table (default: each column)")
      ->type_name("NAME");
  command
      ->add_option("--sample-bytes", arguments->sample_bytes,
                   "Decoded bytes of the sample of each column (default: 16MiB)")
      ->type_name("BYTES")
      ->transform(BytesIn(1, kMaxIndexBytes));
  command->add_option("--sort", arguments->sort, "By size (default), decode or encode speed")
      ->type_name("ORDER")
      ->check(CLI::IsMember({"size", "decode", "encode"}).description(""));
  command
      ->add_option("--for", arguments->goal,
                   "The goal of automatic choice: size, speed or balanced (default)")
      ->type_name("GOAL")
      ->check(CLI::IsMember({"balanced", "size", "speed"}).description(""));
  command->add_flag("--recommend", arguments->recommend,
                    "Print only options for cfile-import, for each of three goals");
  command->callback([&action, arguments] {
    action = [arguments](const CommonOptions& chosen, Output& output) {
      return RunWhatIf(*arguments, chosen, output);
    };
  });
}

}  // namespace cfile::tools
