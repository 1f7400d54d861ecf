#include "tools/columns/column_trials.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cfile/status.h"
#include "tools/columns/forms.h"
#include "tools/columns/new_output.h"
#include "tools/dump/totals.h"
#include "tools/encoding_reason.h"

namespace cfile::tools {
namespace {

Goal GoalNamed(std::string_view name) {
  for (const NamedGoal& goal : kGoals) {
    if (goal.name == name) return goal.goal;
  }
  return Goal::kBalanced;
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

}  // namespace

double PerSecond(uint64_t amount, double seconds) {
  return seconds > 0 ? static_cast<double>(amount) / seconds : 0;
}

bool IsDecoded(const Sample& sample, const Trial& trial) {
  // No core writes memory at this speed.
  constexpr double kMostBytesPerSecond = 1e11;
  return PerSecond(sample.decoded_bytes, trial.decode_seconds) < kMostBytesPerSecond;
}

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
                                    const TrialOptions& arguments, Progress& progress) {
  ColumnTrials result{.column = column};
  CFILE_ASSIGN_OR_RETURN(result.in_use, FindFormsInUse(column));
  CFILE_ASSIGN_OR_RETURN(WriterOptions options, OptionsInUse(column));
  SetWriterLimits(common, options);
  CFILE_ASSIGN_OR_RETURN(result.sample, TakeSample(column, arguments.sample_bytes));
  const Sample& sample = *result.sample;
  if (sample.num_present == 0) return result;
  const std::vector<StoredForm> forms = FormsOf(column.schema.type);
  progress.Begin(StrCat("trying ", column.schema.name), sample.decoded_bytes * (forms.size() + 1));
  options.goal = GoalNamed(arguments.goal);
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

uint64_t SmallestOf(const std::vector<FormTrial>& trials) {
  uint64_t smallest = UINT64_MAX;
  for (const FormTrial& trial : trials) {
    if (trial.result.ok()) smallest = std::min(smallest, trial.result->file_bytes);
  }
  return std::max<uint64_t>(smallest, 1);
}

std::string ImportOptionsOf(const StoredColumn& column, const StoredForm& form) {
  const std::string prefix = column.schema.name + "=";
  return StrCat("--encoding ", ShellQuoted(prefix + EncodingName(form.encoding)), " --compression ",
                ShellQuoted(prefix + CompressionName(form.compression)));
}

Json ToJson(const ColumnTrials& trials, const TrialOptions& options) {
  const Sample& sample = *trials.sample;
  Json ranges = Json::array();
  for (const OrdinalRange& range : sample.ranges) {
    ranges.push_back(Json::array({JsonInteger(range.begin), JsonInteger(range.end)}));
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
      json["bits_per_value"] = BitsPerValue(result.file_bytes, sample.num_entries);
      json["ratio"] = Ratio(result.file_bytes, smallest);
      json["encode"] = SpeedJson(sample, result.encode_seconds);
      json["decode"] = SpeedJson(sample, result.decode_seconds);
      json["decoded"] = IsDecoded(sample, result);
      json["blocks"] = FormsJson(result.totals.encodings);
      if (const std::string note = NoteOf(trial); !note.empty()) json["note"] = note;
    }
    tried.push_back(std::move(json));
  }
  Json recommended = Json::object();
  for (const NamedGoal& goal : kGoals) {
    const FormTrial* best = Recommend(trials.trials, goal.goal, sample.decoded_bytes);
    if (best == nullptr) continue;
    recommended[goal.name] = {{"encoding", EncodingName(best->form.encoding)},
                              {"compression", CompressionName(best->form.compression)},
                              {"bytes", JsonInteger(best->result->file_bytes)},
                              {"options", JsonBytes(ImportOptionsOf(trials.column, best->form))}};
  }
  const Trial& automatic = trials.automatic;
  Json automatic_json = {{"goal", options.goal}, {"recomputed", true}};
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
            {"compression", CompressionName(trials.in_use.compression)},
            {"choice", trials.in_use.choice ? ChoiceJson(*trials.in_use.choice) : Json()}}},
          {"automatic", std::move(automatic_json)},
          {"tried", std::move(tried)},
          {"recommended", std::move(recommended)}};
}

}  // namespace cfile::tools
