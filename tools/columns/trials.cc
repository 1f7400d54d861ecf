#include "tools/columns/trials.h"

#include <algorithm>

#include "cfile/inspect.h"
#include "cfile/options.h"
#include "cfile/status.h"
#include "encodings/registry.h"
#include "tools/dump/totals.h"

namespace cfile::tools {
namespace {

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

}  // namespace

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

std::optional<StoredForm> MainForm(const std::vector<EncodingTotals>& encodings,
                                   Compression compression) {
  const auto main = std::max_element(
      encodings.begin(), encodings.end(),
      [](const auto& a, const auto& b) { return a.stored_bytes < b.stored_bytes; });
  if (main == encodings.end()) return std::nullopt;
  const bool compressed = 2 * main->compressed_blocks >= main->blocks;
  return StoredForm{main->encoding, compressed ? compression : Compression::kNone};
}

absl::StatusOr<FormsInUse> FindFormsInUse(const StoredColumn& column) {
  FormsInUse forms;
  CFILE_ASSIGN_OR_RETURN(const std::optional<Reader> file, FirstFile(column));
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

absl::StatusOr<WriterOptions> OptionsInUse(const StoredColumn& column) {
  CFILE_ASSIGN_OR_RETURN(const std::optional<Reader> file, FirstFile(column));
  if (!file) return WriterOptions();
  return WriterOptions{.value_index = file->info().value_index_root.has_value(),
                       .movable_blocks = file->info().has_movable_blocks()};
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

}  // namespace cfile::tools
