#include "cfile/parts/salvage/part_survey.h"

#include <map>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cfile/inspect.h"
#include "cfile/parts/table/commit/table_commit.h"
#include "cfile/parts/table/manifest/manifest.h"
#include "cfile/parts/table/manifest/manifest_edit.h"
#include "cfile/parts/table/manifest/table_file.h"
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

// A storage in which small files of another storage are replaced by files in memory.
class StorageWithFiles final : public Storage {
 public:
  // `files`: the bytes by path.
  StorageWithFiles(std::shared_ptr<Storage> base, std::map<std::string, std::string> files)
      : base_(std::move(base)), files_(std::move(files)) {}

  const std::string& name() const override { return base_->name(); }
  absl::StatusOr<std::shared_ptr<const Source>> Open(const std::string& path) const override {
    return base_->Open(path);
  }
  bool OpensAtOnce() const override { return base_->OpensAtOnce(); }
  std::vector<absl::StatusOr<std::shared_ptr<const Source>>> OpenMany(
      std::span<const std::string> paths) const override {
    return base_->OpenMany(paths);
  }
  absl::StatusOr<std::vector<StorageEntry>> List(const std::string& folder) const override {
    return base_->List(folder);
  }
  absl::StatusOr<VersionedObject> Read(const std::string& path,
                                       uint64_t max_size_bytes) const override {
    const auto file = files_.find(path);
    if (file == files_.end()) return base_->Read(path, max_size_bytes);
    return VersionedObject{.bytes = file->second, .version = ""};
  }
  absl::StatusOr<std::unique_ptr<Sink>> Create(const std::string&) override { return ReadOnly(); }
  absl::Status Delete(const std::string&) override { return ReadOnly(); }
  absl::Status Commit(const std::string&, const std::optional<std::string>&,
                      std::string_view) override {
    return ReadOnly();
  }

 private:
  static absl::Status ReadOnly() { return absl::FailedPreconditionError("only for reading"); }

  const std::shared_ptr<Storage> base_;
  const std::map<std::string, std::string> files_;
};

absl::StatusOr<TableReader> OpenInMemory(const std::shared_ptr<Storage>& storage,
                                         const Survey& survey, const ReaderOptions& options) {
  std::vector<TablePart> parts;
  for (const SurveyedPart& part : survey.parts) parts.push_back(part.part);
  CFILE_ASSIGN_OR_RETURN(
      const ManifestEdit edit,
      EditManifest(Manifest(survey.root, storage->name(), options.max_metadata_size_bytes, {}),
                   {.added = std::move(parts)}));
  std::map<std::string, std::string> files = {{kTableFileName, SerializeTable(edit.root)}};
  for (const NewChunk& chunk : edit.new_chunks) files[chunk.info.file_name] = chunk.bytes;
  return TableReader::Open(std::make_shared<StorageWithFiles>(storage, std::move(files)), options);
}

// Sets SurveyedPart::damage.
void CheckParts(const TableReader& table, std::vector<SurveyedPart>& parts) {
  const size_t num_files = table.schema().columns.size() + (table.schema().key_index() ? 1 : 0);
  for (size_t part = 0; part < parts.size(); ++part) {
    for (size_t column = 0; column < num_files && parts[part].damage.ok(); ++column) {
      parts[part].damage = CheckFile(table, part, column);
    }
  }
}

}  // namespace

absl::Status CheckFile(const TableReader& table, size_t part, size_t column) {
  // A file that exceeds a limit, or has a codec that this build lacks, may be intact.
  const auto may_be_intact = [](const absl::Status& status) {
    return absl::IsOutOfRange(status) || absl::IsUnimplemented(status);
  };
  const absl::Status opened = table.OpenColumn(part, column).status();
  if (!opened.ok()) return may_be_intact(opened) ? absl::OkStatus() : opened;
  for (const Damage& damage : table.VerifyColumn(part, column).damages) {
    if (!may_be_intact(damage.status)) return damage.status;
  }
  return absl::OkStatus();
}

absl::StatusOr<SurveyedTable> SurveyTable(const std::shared_ptr<Storage>& shared, bool force,
                                          const ReaderOptions& options) {
  const Storage& storage = *shared;
  Survey survey;
  std::vector<TablePart> named;
  std::unique_ptr<const Manifest> manifest;
  auto object = storage.Read(kTableFileName, options.max_metadata_size_bytes);
  if (!object.ok() && !absl::IsNotFound(object.status())) return object.status();
  if (object.ok()) {
    survey.version = std::move(object->version);
    survey.table_bytes = std::move(object->bytes);
    auto root = ParseTable(survey.table_bytes, TableFilePath(storage.name()), options);
    if (!root.ok() && !absl::IsDataLoss(root.status())) return root.status();
    if (root.ok()) {
      manifest = NewManifest(*std::move(root), storage, options);
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
  survey.finds_parts = force || !survey.damage.empty();
  CFILE_RETURN_IF_ERROR(FindPartsByCopies(storage, options,
                                          manifest != nullptr ? &manifest->root() : nullptr,
                                          std::move(named), survey));
  CFILE_ASSIGN_OR_RETURN(TableReader table, OpenInMemory(shared, survey, options));
  CheckParts(table, survey.parts);
  return SurveyedTable{.survey = std::move(survey), .table = std::move(table)};
}

}  // namespace cfile::internal
