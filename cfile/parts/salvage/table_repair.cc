#include "cfile/table_repair.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cfile/parts/salvage/part_salvage.h"
#include "cfile/parts/salvage/part_survey.h"
#include "cfile/parts/table/commit/table_commit.h"
#include "cfile/parts/table/manifest/manifest.h"
#include "cfile/parts/table/manifest/manifest_edit.h"
#include "cfile/parts/table/manifest/table_file.h"
#include "cfile/table.h"
#include "encodings/core/bytes.h"
#include "encodings/core/status.h"

namespace cfile {
namespace {

using internal::Manifest;
using internal::ManifestEdit;
using internal::Survey;
using internal::SurveyedPart;
using internal::SurveyedTable;
using internal::TablePart;
using PartKind = internal::OtherPart::Kind;
using State = RepairedPart::State;

State StateOf(PartKind kind) {
  switch (kind) {
    case PartKind::kLeftOut:
      return State::kLeftOut;
    case PartKind::kDropped:
      return State::kDropped;
    case PartKind::kUncommitted:
      return State::kUncommitted;
    case PartKind::kUnknown:
      break;
  }
  return State::kUnknown;
}

// Writes the bytes of a damaged table.cft to another file, and returns its name.
absl::StatusOr<std::string> KeepDamaged(Storage& storage, const std::string& bytes) {
  CFILE_ASSIGN_OR_RETURN(const std::string name, internal::NewDamagedTableName());
  CFILE_ASSIGN_OR_RETURN(const std::unique_ptr<Sink> sink, storage.Create(name));
  CFILE_RETURN_IF_ERROR(sink->Append(encodings::AsBytes(bytes)));
  CFILE_RETURN_IF_ERROR(sink->Finish());
  return name;
}

// Replaces table.cft by a new one that names the parts of `survey`, except those that `report`
// says are left out.
absl::Status CommitParts(Storage& storage, const RepairOptions& options, const Survey& survey,
                         const RepairReport& report) {
  std::vector<TablePart> parts;
  std::vector<TablePart> described;  // the parts that get a copy
  for (size_t i = 0; i < survey.parts.size(); ++i) {
    if (report.parts[i].state == State::kLeftOut) continue;
    parts.push_back(survey.parts[i].part);
    if (!survey.parts[i].has_copy) described.push_back(survey.parts[i].part);
  }
  // At least one copy must name this commit. Write the copy of the last part.
  if (described.empty() && !parts.empty()) described.push_back(parts.back());
  const Manifest none(survey.root, storage.name(), options.reader.max_metadata_size_bytes, {});
  CFILE_ASSIGN_OR_RETURN(ManifestEdit edit,
                         internal::EditManifest(none, {.added = std::move(parts)}));
  edit.added.clear();
  edit.updated = std::move(described);
  bool may_be_done = false;
  CFILE_RETURN_IF_ERROR(internal::CommitEdit(storage, options.reader, survey.version, &survey.root,
                                             edit, may_be_done));
  for (const SurveyedPart& part : survey.parts) {
    for (const std::string& mark : part.stale_marks) {
      (void)storage.Delete(absl::StrCat(part.part.directory, "/", mark));
    }
  }
  return absl::OkStatus();
}

// Sets what Repair does with the damaged part `number` of `surveyed`, and with how many of its
// rows.
absl::Status Plan(const std::shared_ptr<Storage>& storage, const RepairOptions& options,
                  const SurveyedTable& surveyed, size_t number, RepairedPart& part) {
  internal::SalvagedRows salvaged;
  if (options.salvage) {
    CFILE_ASSIGN_OR_RETURN(
        salvaged, internal::SalvagePart(
                      storage, surveyed.table, number,
                      {.null_lost = options.null_lost, .dry_run = true, .reader = options.reader}));
  }
  const bool stays = salvaged.rows == 0 && !options.drop_damaged;
  part.state = salvaged.rows > 0 ? State::kSalvaged : stays ? State::kDamaged : State::kLeftOut;
  part.lost_rows = stays ? 0 : part.num_rows - salvaged.rows;
  part.lost_values = std::move(salvaged.lost_values);
  return absl::OkStatus();
}

// Salvages the parts for which `report` says so.
absl::Status SalvageParts(const std::shared_ptr<Storage>& storage, const RepairOptions& options,
                          const RepairReport& report) {
  ReaderOptions reader = options.reader;
  reader.stored_rows = true;  // Repair has checked that older rows may come back
  CFILE_ASSIGN_OR_RETURN(const TableReader table, TableReader::Open(storage, reader));
  std::map<std::string, size_t> numbers;
  for (size_t i = 0; i < table.num_parts(); ++i) {
    CFILE_ASSIGN_OR_RETURN(const PartInfo part, table.part(i));
    numbers.emplace(part.name, i);
  }
  for (const RepairedPart& part : report.parts) {
    if (part.state != State::kSalvaged) continue;
    const auto number = numbers.find(part.name);
    if (number == numbers.end()) {
      return absl::AbortedError(absl::StrCat(storage->name(), ": another program has changed part ",
                                             part.name, "; repair the table again"));
    }
    CFILE_RETURN_IF_ERROR(
        internal::SalvagePart(storage, table, number->second,
                              {.null_lost = options.null_lost, .reader = options.reader})
            .status());
  }
  return absl::OkStatus();
}

// Under a merge rule, a lost row may have replaced or deleted older rows, which would count again.
absl::Status CheckLosesNothing(const Storage& storage, const Survey& survey,
                               const RepairReport& report) {
  for (size_t i = 0; i < report.parts.size(); ++i) {
    const RepairedPart& part = report.parts[i];
    // An earlier Repair was allowed to leave the other parts out.
    const bool is_lost =
        i < survey.parts.size() ? part.lost_rows > 0 : part.state == State::kUnknown;
    if (!is_lost) continue;
    return absl::FailedPreconditionError(absl::StrCat(
        storage.name(), ": part ", part.name,
        " would lose rows, and by the table's merge rule they "
        "may have replaced or deleted older rows, which would count again. To go on, ask for "
        "ReaderOptions::stored_rows"));
  }
  return absl::OkStatus();
}

}  // namespace

std::string_view NameOf(RepairedPart::State state) {
  constexpr std::string_view kNames[] = {"kept",    "salvaged",    "damaged", "left out",
                                         "dropped", "uncommitted", "unknown"};
  static_assert(std::size(kNames) == static_cast<size_t>(RepairedPart::State::kUnknown) + 1);
  return kNames[static_cast<size_t>(state)];
}

bool RepairReport::complete() const {
  return std::none_of(parts.begin(), parts.end(), [](const RepairedPart& part) {
    return part.state == State::kSalvaged || part.state == State::kDamaged ||
           part.state == State::kLeftOut || part.state == State::kUnknown;
  });
}

absl::StatusOr<RepairReport> Repair(const TableLocation& table, const RepairOptions& options) {
  const std::shared_ptr<Storage> storage = table.storage();
  CFILE_ASSIGN_OR_RETURN(const SurveyedTable surveyed,
                         internal::SurveyTable(storage, options.force, options.reader));
  const Survey& survey = surveyed.survey;
  RepairReport report{.damage = survey.damage.empty() ? survey.copy_damage : survey.damage};
  bool leaves_out = false, salvages = false;
  for (size_t i = 0; i < survey.parts.size(); ++i) {
    const SurveyedPart& found = survey.parts[i];
    RepairedPart part{.name = found.part.directory,
                      .num_rows = found.part.num_rows,
                      .reason = std::string(found.damage.message())};
    if (!found.damage.ok()) {
      // Rows that cannot be read now may be readable later.
      const bool removes_rows = options.salvage || options.drop_damaged;
      if (!internal::SaysLost(found.damage) && (removes_rows || absl::IsCancelled(found.damage))) {
        return found.damage;
      }
      CFILE_RETURN_IF_ERROR(Plan(storage, options, surveyed, i, part));
    }
    leaves_out = leaves_out || part.state == State::kLeftOut;
    salvages = salvages || part.state == State::kSalvaged;
    report.num_parts += part.state != State::kLeftOut;
    report.num_rows += part.num_rows - part.lost_rows;
    report.parts.push_back(std::move(part));
  }
  for (const internal::OtherPart& other : survey.others) {
    const bool lost = other.kind == PartKind::kLeftOut || other.kind == PartKind::kUnknown;
    report.parts.push_back({.name = other.name,
                            .state = StateOf(other.kind),
                            .num_rows = other.num_rows,
                            .lost_rows = lost ? other.num_rows : 0,
                            .reason = other.reason});
  }
  const bool commits = survey.finds_parts || !report.damage.empty() || leaves_out;
  report.changed = commits || salvages;
  if (options.dry_run) return report;
  if (survey.root.schema.merge_rule && !options.reader.stored_rows)
    CFILE_RETURN_IF_ERROR(CheckLosesNothing(*storage, survey, report));
  if (commits) {
    if (survey.version && !survey.damage.empty()) {
      CFILE_ASSIGN_OR_RETURN(report.kept_as, KeepDamaged(*storage, survey.table_bytes));
    }
    CFILE_RETURN_IF_ERROR(CommitParts(*storage, options, survey, report));
  }
  if (salvages) CFILE_RETURN_IF_ERROR(SalvageParts(storage, options, report));
  return report;
}

}  // namespace cfile
