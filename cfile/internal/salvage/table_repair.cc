#include "cfile/table_repair.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cfile/internal/commit/table_commit.h"
#include "cfile/internal/manifest/manifest.h"
#include "cfile/internal/manifest/manifest_edit.h"
#include "cfile/internal/manifest/table_file.h"
#include "cfile/internal/salvage/part_salvage.h"
#include "cfile/internal/salvage/part_survey.h"
#include "cfile/table.h"
#include "encodings/core/bytes.h"
#include "encodings/core/status.h"

namespace cfile {
namespace {

using internal::Manifest;
using internal::ManifestEdit;
using internal::Survey;
using internal::SurveyedPart;
using internal::TablePart;
using PartKind = internal::OtherPart::Kind;
using State = RepairedPart::State;

State StateOf(PartKind kind) {
  switch (kind) {
    case PartKind::kDamaged:
      return State::kDamaged;
    case PartKind::kDropped:
      return State::kDropped;
    case PartKind::kUncommitted:
      return State::kUncommitted;
    case PartKind::kUnknown:
      break;
  }
  return State::kUnknown;
}

// Writes the bytes of a damaged table.cft to another file. Returns the name of this file.
absl::StatusOr<std::string> KeepDamaged(Storage& storage, const std::string& bytes) {
  CFILE_ASSIGN_OR_RETURN(const std::string name, internal::NewDamagedTableName());
  CFILE_ASSIGN_OR_RETURN(const std::unique_ptr<Sink> sink, storage.Create(name));
  CFILE_RETURN_IF_ERROR(sink->Append(encodings::AsBytes(bytes)));
  CFILE_RETURN_IF_ERROR(sink->Finish());
  return name;
}

// Replaces table.cft by a new one that names the parts of `survey`.
// If damaged parts will not be salvaged later, leaves out these parts.
absl::Status CommitParts(Storage& storage, const RepairOptions& options, const Survey& survey) {
  std::vector<TablePart> parts;
  std::vector<TablePart> described;  // the parts that get a copy
  for (const SurveyedPart& part : survey.parts) {
    if (!part.damage.empty() && !options.salvage) continue;
    parts.push_back(part.part);
    if (!part.has_copy) described.push_back(part.part);
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

// Salvages the damaged parts of `survey`, and updates what `report` says about them.
absl::Status SalvageParts(const std::shared_ptr<Storage>& storage, const RepairOptions& options,
                          const Survey& survey, RepairReport& report) {
  CFILE_ASSIGN_OR_RETURN(const TableReader table, TableReader::Open(storage, options.reader));
  std::map<std::string, size_t> numbers;
  for (size_t i = 0; i < table.num_parts(); ++i) {
    CFILE_ASSIGN_OR_RETURN(const PartInfo part, table.part(i));
    numbers.emplace(part.name, i);
  }
  for (size_t i = 0; i < survey.parts.size(); ++i) {
    if (survey.parts[i].damage.empty()) continue;
    RepairedPart& part = report.parts[i];
    const auto number = numbers.find(part.name);
    if (number == numbers.end()) {
      return absl::AbortedError(absl::StrCat(storage->name(), ": another program has changed part ",
                                             part.name, "; repair the table again"));
    }
    CFILE_ASSIGN_OR_RETURN(const uint64_t rows,
                           internal::SalvagePart(storage, table, number->second, options.reader));
    report.num_parts += rows > 0;
    report.num_rows += rows;
    part.lost_rows = part.num_rows - rows;
    if (rows == 0) part.state = State::kDamaged;
  }
  return absl::OkStatus();
}

}  // namespace

std::string_view NameOf(RepairedPart::State state) {
  switch (state) {
    case State::kKept:
      return "kept";
    case State::kSalvaged:
      return "salvaged";
    case State::kDamaged:
      return "damaged";
    case State::kDropped:
      return "dropped";
    case State::kUncommitted:
      return "uncommitted";
    case State::kUnknown:
      return "unknown";
  }
  return "";
}

bool RepairReport::complete() const {
  return std::none_of(parts.begin(), parts.end(), [](const RepairedPart& part) {
    return part.state == State::kSalvaged || part.state == State::kDamaged ||
           part.state == State::kUnknown;
  });
}

absl::StatusOr<RepairReport> Repair(const TableLocation& table, const RepairOptions& options) {
  const std::shared_ptr<Storage> storage = table.storage();
  CFILE_ASSIGN_OR_RETURN(const Survey survey,
                         internal::SurveyTable(*storage, {.always_find = options.force,
                                                          .verify = options.salvage,
                                                          .reader = options.reader}));
  RepairReport report{.damage = survey.damage};
  bool any_damaged = false;
  for (const SurveyedPart& found : survey.parts) {
    RepairedPart part{
        .name = found.part.directory, .num_rows = found.part.num_rows, .reason = found.damage};
    if (found.damage.empty()) {
      ++report.num_parts;
      report.num_rows += part.num_rows;
    } else {
      any_damaged = true;
      part.state = options.salvage ? State::kSalvaged : State::kDamaged;
      part.lost_rows = options.salvage ? 0 : part.num_rows;
    }
    report.parts.push_back(std::move(part));
  }
  for (const internal::OtherPart& other : survey.others) {
    report.parts.push_back({.name = other.name,
                            .state = StateOf(other.kind),
                            .num_rows = other.num_rows,
                            .lost_rows = other.kind == PartKind::kDamaged ? other.num_rows : 0,
                            .reason = other.reason});
  }
  const bool commits = survey.rebuilt || (any_damaged && !options.salvage);
  report.changed = commits || any_damaged;
  if (options.dry_run || !report.changed) return report;
  if (commits) {
    if (survey.version && !survey.damage.empty()) {
      CFILE_ASSIGN_OR_RETURN(report.kept_as, KeepDamaged(*storage, survey.table_bytes));
    }
    CFILE_RETURN_IF_ERROR(CommitParts(*storage, options, survey));
  }
  if (any_damaged && options.salvage) {
    CFILE_RETURN_IF_ERROR(SalvageParts(storage, options, survey, report));
  }
  return report;
}

}  // namespace cfile
