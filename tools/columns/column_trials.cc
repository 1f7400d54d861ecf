#include "tools/columns/column_trials.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cfile/inspect.h"
#include "cfile/status.h"
#include "encodings/registry.h"
#include "tools/columns/copy.h"
#include "tools/dump/totals.h"
#include "tools/encoding_reason.h"

namespace cfile::tools {
namespace {

double PerSecond(uint64_t amount, double seconds) {
  return seconds > 0 ? static_cast<double>(amount) / seconds : 0;
}

// The first file of the column that has rows; nullopt if there is none.
absl::StatusOr<std::optional<Reader>> FirstFile(const StoredColumn& column) {
  if (column.file) return column.file;
  const TableReader& table = *column.table;
  for (size_t part = 0; part < table.num_parts(); ++part) {
    CFILE_ASSIGN_OR_RETURN(const PartInfo info, table.part(part));
    CFILE_ASSIGN_OR_RETURN(const std::string path, table.part_file(part, column.column));
    if (info.num_rows > 0 && !path.empty()) return table.OpenColumn(part, column.column);
  }
  return std::optional<Reader>();
}

// False if the trial failed, or if some blocks got another encoding than the one that was tried.
bool IsCandidate(const FormTrial& trial) {
  return trial.result.ok() &&
         std::ranges::all_of(trial.result->totals.encodings, [&](const EncodingTotals& totals) {
           return totals.encoding == trial.form.encoding;
         });
}

// The encodings of the registry that take values of `type`, each with each codec of this build.
std::vector<StoredForm> FormsOf(const ColumnType& type) {
  std::vector<StoredForm> forms;
  for (const encodings::EncodingRow& row : encodings::Encodings()) {
    if (!row.Supports(type.physical())) continue;
    for (const Compression codec : AllCompressions()) {
      if (CheckCompressionBuiltIn(codec).ok()) forms.push_back({row.encoding, codec});
    }
  }
  return forms;
}

// Returns the encodings and codecs of the first kMostShownBlocks blocks of `file`, a result of
// FirstFile.
absl::StatusOr<FormsInUse> FindFormsInUse(const std::optional<Reader>& file) {
  FormsInUse forms;
  if (!file) return forms;
  forms.compression = file->info().compression;
  forms.choice = file->info().choice;
  CFILE_RETURN_IF_ERROR(VisitBlocks(*file, [&](const BlockInfo& block) {
    EncodingTotals& totals = TotalsOf(block.encoding, forms.encodings);
    ++totals.blocks;
    totals.compressed_blocks += block.compressed;
    totals.stored_bytes += block.stored_size_bytes;
    return block.index + 1 < kMostShownBlocks;
  }));
  return forms;
}

// Returns the options for trials: encoding kAuto, and value index and movable blocks, which change
// the size, as in FirstFile.
WriterOptions OptionsInUse(const std::optional<Reader>& file) {
  if (!file) return WriterOptions();
  return WriterOptions{.value_index = file->info().value_index_root.has_value(),
                       .movable_blocks = file->info().has_movable_blocks()};
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

Json SpeedJson(const Sample& sample, double seconds) {
  return {{"values_per_second", PerSecond(sample.num_entries, seconds)},
          {"bytes_per_second", PerSecond(sample.decoded_bytes, seconds)}};
}

// Returns what the user should know about a trial: how many blocks have another encoding than the
// chosen one, and how many blocks the codec did not make smaller.
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

// The size of the smallest file, in bytes; at least 1.
uint64_t SmallestOf(const std::vector<FormTrial>& trials) {
  uint64_t smallest = UINT64_MAX;
  for (const FormTrial& trial : trials) {
    if (trial.result.ok()) smallest = std::min(smallest, trial.result->file_bytes);
  }
  return std::max<uint64_t>(smallest, 1);
}

// What each form does to the sample.
Table TableOf(const ColumnTrials& trials, bool json) {
  const TextColumn speed = {.right = true, .drop = 1};
  // The heads have two lines.
  Table table(json, {{""},
                     {""},
                     {"", kNumberColumn},
                     {"bits/", {.right = true, .drop = 2}},
                     {"", {.right = true, .drop = 5}},
                     {"encode", speed},
                     {"encode", {.right = true, .drop = 3}},
                     {"decode", speed},
                     {"decode", kNumberColumn},
                     {""},
                     {"", {.shorten = 1, .least = 20, .drop = 4}}});
  if (!json) {
    Record& names = table.Add();
    for (const char* name :
         {"encoding", "codec", "bytes", "value", "ratio", "Mvalue/s", "MB/s", "Mvalue/s", "MB/s"}) {
      names.AddText("", name);
    }
  }
  const Sample& sample = *trials.sample;
  const uint64_t smallest = SmallestOf(trials.trials);
  for (const FormTrial& trial : trials.trials) {
    Record& record = table.Add();
    const bool in_file = trials.form_in_use() == trial.form;
    const bool automatic = trials.automatic_form() == trial.form;
    record.AddBytes("encoding", EncodingName(trial.form.encoding));
    record.AddBytes("compression", CompressionName(trial.form.compression));
    record.AddJson({{"in_file", in_file}, {"automatic", automatic}});
    if (!trial.result.ok()) {
      record.AddError(trial.result.status());
      for (const char* cell : {"fails", "", "", "", "", "", "", ""}) record.AddText("", cell);
      record.AddText("", TerminalSafe(MessageOf(trial.result.status())));
      continue;
    }
    const Trial& result = *trial.result;
    const auto add = [&](const char* name, double value) {
      record.Add(name, value, absl::StrFormat("%.2f", value));
    };
    const auto add_speeds = [&](const char* name, double seconds, bool known) {
      const double values = PerSecond(sample.num_entries, seconds);
      const double bytes = PerSecond(sample.decoded_bytes, seconds);
      record.AddJson({{name, SpeedJson(sample, seconds)}});
      record.AddText(name, known ? absl::StrFormat("%.1f", values / 1e6) : "-");
      record.AddText(name, known ? absl::StrFormat("%.0f", bytes / 1e6) : "-");
    };
    record.Add("bytes", result.file_bytes);
    add("bits_per_value", BitsPerValue(result.file_bytes, sample.num_entries));
    add("ratio", Ratio(result.file_bytes, smallest));
    add_speeds("encode", result.encode_seconds, true);
    add_speeds("decode", result.decode_seconds, result.decoded);
    record.AddJson({{"decoded", result.decoded}, {"blocks", result.totals.encodings}});
    // Marks the form of the file and the form that automatic choice takes.
    record.AddText("marks", absl::StrCat(in_file ? "<- file" : "", in_file && automatic ? ", " : "",
                                         automatic ? "<- automatic" : ""));
    std::string note = NoteOf(trial);
    if (!note.empty()) record.AddJson({{"note", note}});
    if (!result.decoded) {
      absl::StrAppend(&note, note.empty() ? "" : ", ", "not decoded: the block is read in place");
    }
    record.AddText("note", note);
  }
  return table;
}

}  // namespace

std::optional<StoredForm> MainForm(const std::vector<EncodingTotals>& encodings,
                                   Compression compression) {
  const auto main = std::max_element(
      encodings.begin(), encodings.end(),
      [](const auto& a, const auto& b) { return a.stored_bytes < b.stored_bytes; });
  if (main == encodings.end()) return std::nullopt;
  const bool compressed = 2 * main->compressed_blocks >= main->blocks;
  return StoredForm{main->encoding, compressed ? compression : Compression::kNone};
}

const FormTrial* Recommend(const std::vector<FormTrial>& trials, Goal goal,
                           uint64_t decoded_bytes) {
  double fastest_seconds = 0;
  bool any = false;
  for (const FormTrial& trial : trials) {
    if (!IsCandidate(trial)) continue;
    const double seconds = trial.result->decode_seconds;
    fastest_seconds = any ? std::min(fastest_seconds, seconds) : seconds;
    any = true;
  }
  const GoalLimits limits = LimitsOf(goal);
  const double most_seconds =
      std::max(2 * fastest_seconds, static_cast<double>(decoded_bytes) / limits.bytes_per_second);
  const auto is_fast = [&](const FormTrial& trial) {
    return IsCandidate(trial) && trial.result->decode_seconds <= most_seconds;
  };
  uint64_t smallest = UINT64_MAX;
  for (const FormTrial& trial : trials) {
    if (is_fast(trial)) smallest = std::min(smallest, trial.result->file_bytes);
  }
  const FormTrial* best = nullptr;
  for (const FormTrial& trial : trials) {
    if (!is_fast(trial) || static_cast<double>(trial.result->file_bytes) >
                               limits.factor * static_cast<double>(smallest)) {
      continue;
    }
    if (best == nullptr || trial.result->decode_seconds < best->result->decode_seconds) {
      best = &trial;
    }
  }
  return best;
}

absl::StatusOr<ColumnTrials> TryAll(const StoredColumn& column, const CommonOptions& common,
                                    const TrialOptions& arguments, Progress& progress) {
  ColumnTrials result{.column = column};
  CFILE_ASSIGN_OR_RETURN(const std::optional<Reader> file, FirstFile(column));
  CFILE_ASSIGN_OR_RETURN(result.in_use, FindFormsInUse(file));
  WriterOptions options = OptionsInUse(file);
  SetWriterLimits(common, options);
  CFILE_ASSIGN_OR_RETURN(result.sample, TakeSample(column, arguments.sample_bytes));
  const Sample& sample = *result.sample;
  if (sample.num_present == 0) return result;
  const std::vector<StoredForm> forms = FormsOf(column.schema.type);
  progress.Begin(StrCat("trying ", column.schema.name), sample.decoded_bytes * (forms.size() + 1));
  options.goal = std::ranges::find(kGoals, arguments.goal, &NamedGoal::name)->goal;
  absl::StatusOr<Trial> automatic = sample.Try(options);
  result.automatic_status = automatic.status();
  if (automatic.ok()) result.automatic = *std::move(automatic);
  for (const StoredForm& form : forms) {
    const uint64_t tried = result.trials.size() + 1;
    CFILE_RETURN_IF_ERROR(progress.Update(sample.decoded_bytes * tried, 0));
    options.encoding = form.encoding;
    options.compression = form.compression;
    result.trials.push_back({form, sample.Try(options)});
  }
  progress.End();
  Sort(arguments.sort, result.trials);
  return result;
}

std::string ImportOptionsOf(const StoredColumn& column, const StoredForm& form) {
  const std::string prefix = column.schema.name + "=";
  return StrCat("--encoding ", ShellQuoted(prefix + EncodingName(form.encoding)), " --compression ",
                ShellQuoted(prefix + CompressionName(form.compression)));
}

Document DocumentOf(const ColumnTrials& trials, const TrialOptions& options, bool json) {
  const Sample& sample = *trials.sample;
  const ColumnType& type = trials.column.schema.type;
  const FormsInUse& in_use = trials.in_use;
  Document document(json);
  document.AddJson({{"name", trials.column.schema.name},
                    {"type", type.ToString()},
                    {"rows", trials.column.num_rows}});
  document.AddLine(Printable(trials.column.schema.name), ": ", type.ToString(), ", ",
                   Plural(trials.column.num_rows, "row"));
  std::vector<std::array<uint64_t, 2>> ranges;
  for (const OrdinalRange& range : sample.ranges) ranges.push_back({range.begin, range.end});
  document.AddJson({{"sample",
                     {{"rows", sample.num_rows},
                      {"values", sample.num_entries},
                      {"nulls", sample.num_entries - sample.num_present},
                      {"decoded_bytes", sample.decoded_bytes},
                      {"all_rows", trials.has_all_rows()},
                      {"ranges", ranges}}}});
  document.Append(absl::StrFormat("  sample     %s, %.1f MB decoded\n",
                                  trials.has_all_rows()
                                      ? "all rows"
                                      : absl::StrCat(Plural(sample.num_rows, "row"), " in ",
                                                     Plural(sample.ranges.size(), "place")),
                                  static_cast<double>(sample.decoded_bytes) / 1e6));
  document.AddJson({{"in_file",
                     {{"blocks", in_use.encodings},
                      {"compression", CompressionName(in_use.compression)},
                      {"choice", in_use.choice ? JsonOf(*in_use.choice) : nullptr}}}});
  document.AddLine("  file       ", FormsText(in_use.encodings, in_use.compression));
  if (sample.num_present == 0) {
    document.AddLine("  no values, so nothing is tried");
    if (!json) return document;
  }
  const Trial& automatic = trials.automatic;
  const bool is_recorded = in_use.choice && GoalName(in_use.choice->goal) == options.goal;
  Record choice(json);
  choice.AddJson({{"goal", options.goal}, {"recomputed", true}});
  std::string text;
  if (trials.automatic_status.ok()) {
    const std::string reason = EncodingReason(type, automatic.totals);
    choice.AddJson({{"blocks", automatic.totals.encodings},
                    {"compression", CompressionName(automatic.totals.compression)},
                    {"bytes", automatic.file_bytes},
                    {"encode", SpeedJson(sample, automatic.encode_seconds)},
                    {"decode", SpeedJson(sample, automatic.decode_seconds)},
                    {"reason", reason}});
    text = absl::StrCat(FormsText(automatic.totals.encodings, automatic.totals.compression), ": ",
                        reason);
  } else {
    choice.AddError(trials.automatic_status);
    text = "fails: " + TerminalSafe(MessageOf(trials.automatic_status));
  }
  document.AddJson({{"automatic", choice}});
  if (is_recorded) text = ChoiceText(*in_use.choice, in_use.compression);
  constexpr size_t kIndentation = 13;  // where the texts of the lines above begin
  document.AddLine(WrappedForOutput(absl::StrCat("  automatic (",
                                                 is_recorded ? "recorded in the file"
                                                             : "recomputed on the sample",
                                                 ", goal ", options.goal, "): ", text),
                                    kIndentation),
                   "\n");
  document.AddTable("tried", TableOf(trials, json));
  Record recommended(json);
  for (const NamedGoal& goal : kGoals) {
    const FormTrial* best = Recommend(trials.trials, goal.goal, sample.decoded_bytes);
    if (best == nullptr) continue;
    recommended.AddJson({{goal.name,
                          {{"encoding", EncodingName(best->form.encoding)},
                           {"compression", CompressionName(best->form.compression)},
                           {"bytes", best->result->file_bytes},
                           {"options", ImportOptionsOf(trials.column, best->form)}}}});
  }
  document.AddJson({{"recommended", recommended}});
  return document;
}

}  // namespace cfile::tools
