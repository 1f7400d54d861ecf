#include "cfile/internal/salvage/part_survey.h"

#include <memory>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cfile/inspect.h"
#include "cfile/internal/commit/table_commit.h"
#include "cfile/internal/manifest/manifest.h"
#include "cfile/internal/manifest/table_file.h"
#include "cfile/internal/salvage/part_finder.h"
#include "cfile/reader.h"
#include "encodings/core/status.h"

namespace cfile::internal {
namespace {

// Appends the parts of `chunks` to `parts`.
// If a chunk is damaged, sets `damage` and continues with the other chunks.
absl::Status ReadChunks(const Manifest& manifest, std::span<const ChunkInfo> chunks,
                        std::set<std::string>& seen, std::vector<TablePart>& parts,
                        std::string& damage) {
  for (const ChunkInfo& chunk : chunks) {
    // A damaged manifest may name a chunk any number of times.
    if (!seen.insert(chunk.file_name).second) {
      damage = absl::StrCat(manifest.directory(), "/", chunk.file_name, ": is named twice");
      continue;
    }
    const auto entries = manifest.Read(chunk);
    if (!entries.ok()) {
      if (!SaysLost(entries.status())) return entries.status();
      if (damage.empty()) damage = std::string(entries.status().message());
      continue;
    }
    CFILE_RETURN_IF_ERROR(ReadChunks(manifest, (*entries)->chunks, seen, parts, damage));
    parts.insert(parts.end(), (*entries)->parts.begin(), (*entries)->parts.end());
  }
  return absl::OkStatus();
}

// kDataLoss or kNotFound if a file of the part is damaged or missing.
absl::Status CheckFiles(const Storage& storage, const TablePart& part,
                        const SurveyOptions& options) {
  for (size_t i = 0; i < part.columns.size(); ++i) {
    const TablePartColumn& column = part.columns[i];
    if (column.missing) continue;
    CFILE_ASSIGN_OR_RETURN(auto source, storage.Open(PathInStorage(part, i)));
    const auto reader = Reader::Open(std::move(source), options.reader);
    // A file that exceeds a limit, or has a codec that this build lacks, may be intact.
    if (absl::IsOutOfRange(reader.status()) || absl::IsUnimplemented(reader.status())) continue;
    CFILE_RETURN_IF_ERROR(reader.status());
    const FileInfo& info = reader->info();
    if (info.file_size_bytes != column.size_bytes || info.num_rows != column.num_rows) {
      return encodings::DataLoss(ColumnFilePath(storage.name(), part, i), ": ", column.num_rows,
                                 " rows and ", column.size_bytes, " bytes expected, found ",
                                 info.num_rows, " rows and ", info.file_size_bytes, " bytes");
    }
    if (!options.verify) continue;
    const VerifyReport report = Verify(*reader);
    if (!report.damages.empty()) return report.damages[0].status;
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Survey> SurveyTable(const Storage& storage, const SurveyOptions& options) {
  Survey survey;
  std::vector<TablePart> named;
  std::unique_ptr<const Manifest> manifest;
  auto object = storage.Read(kTableFileName, options.reader.max_metadata_size_bytes);
  if (!object.ok() && !absl::IsNotFound(object.status())) return object.status();
  if (object.ok()) {
    survey.version = std::move(object->version);
    survey.table_bytes = std::move(object->bytes);
    auto root = ParseTable(survey.table_bytes, TableFilePath(storage.name()), options.reader);
    if (!root.ok() && !absl::IsDataLoss(root.status())) return root.status();
    if (root.ok()) {
      manifest = NewManifest(*std::move(root), storage, options.reader);
      std::set<std::string> seen;
      CFILE_RETURN_IF_ERROR(
          ReadChunks(*manifest, manifest->root().chunks, seen, named, survey.damage));
      named.insert(named.end(), manifest->root().parts.begin(), manifest->root().parts.end());
      survey.root = manifest->root();
    } else {
      survey.damage = std::string(root.status().message());
    }
  } else {
    survey.damage = absl::StrCat(TableFilePath(storage.name()), ": missing");
  }
  survey.rebuilt = options.always_find || !survey.damage.empty();
  if (survey.rebuilt) {
    CFILE_RETURN_IF_ERROR(FindPartsByCopies(storage, options,
                                            manifest != nullptr ? &manifest->root() : nullptr,
                                            std::move(named), survey));
  } else {
    survey.root.parts.clear();
    survey.root.chunks.clear();
    for (TablePart& part : named) survey.parts.push_back({.part = std::move(part)});
  }
  for (SurveyedPart& part : survey.parts) {
    const absl::Status status = CheckFiles(storage, part.part, options);
    if (status.ok()) continue;
    if (!SaysLost(status)) return status;
    part.damage = std::string(status.message());
  }
  return survey;
}

}  // namespace cfile::internal
