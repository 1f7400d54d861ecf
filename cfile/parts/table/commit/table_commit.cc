#include "cfile/parts/table/commit/table_commit.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <memory>
#include <random>
#include <set>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cfile/parts/table/commit/part_copy.h"
#include "cfile/parts/table/manifest/table_file.h"
#include "encodings/core/bytes.h"
#include "encodings/core/status.h"

namespace cfile::internal {

ReaderOptions CommitLimits(size_t max_table_file_bytes) {
  return {.max_metadata_size_bytes = max_table_file_bytes,
          .record_limits = {SIZE_MAX, SIZE_MAX, SIZE_MAX, SIZE_MAX}};
}

std::unique_ptr<const Manifest> NewManifest(TableContents root, const Storage& storage,
                                            const ReaderOptions& limits) {
  const size_t max_size_bytes = limits.max_metadata_size_bytes;
  return std::make_unique<const Manifest>(std::move(root), storage.name(), max_size_bytes,
                                          [&storage](const std::string& name, uint64_t size_bytes) {
                                            return ReadChunk(storage, name, size_bytes);
                                          });
}

namespace {

absl::Status WriteFile(Storage& storage, const std::string& path, std::string_view bytes) {
  CFILE_ASSIGN_OR_RETURN(const std::unique_ptr<Sink> sink, storage.Create(path));
  CFILE_RETURN_IF_ERROR(sink->Append(encodings::AsBytes(bytes)));
  return sink->Finish();
}

// kOutOfRange: readers with `limits` would refuse `bytes`.
absl::Status CheckSize(std::string_view bytes, const std::string& path,
                       const ReaderOptions& limits) {
  const absl::Status status = CheckTableFileSize(bytes, path, limits.max_metadata_size_bytes);
  if (status.ok()) return status;
  return absl::Status(status.code(),
                      absl::StrCat(status.message(), ", or write fewer parts and shorter keys"));
}

// Writes the files that must be durable before table.cft is replaced.
class Preparation {
 public:
  Preparation(Storage& storage, const ReaderOptions& limits, CommitTag tag)
      : storage_(storage), limits_(limits), tag_(tag) {}

  absl::Status Write(const TableContents* before, ManifestEdit& edit) {
    for (const NewChunk& chunk : edit.new_chunks) {
      CFILE_RETURN_IF_ERROR(WriteOwn(chunk.info.file_name, chunk.bytes));
    }
    if (edit.added.empty() && edit.updated.empty() && NeedsCopy(before, edit)) {
      // The last part is the newest, so it will probably stay in the table longest.
      const auto table = NewManifest(edit.root, storage_, limits_);
      if (table->num_parts() > 0) {
        const auto last = table->Part(table->num_parts() - 1);
        if (last.ok()) edit.updated.push_back(*last->part);
      } else if (!edit.removed.empty()) {
        edit.updated.push_back(edit.removed.back());
      }
    }
    // The copies come before the marks, because a mark without a copy of its attempt says nothing.
    for (const TablePart& part : edit.added) {
      CFILE_RETURN_IF_ERROR(WriteCopy(edit, part, edit.removed));
    }
    for (const TablePart& part : edit.updated) {
      // The older copies say what the part has replaced. DeleteOlderCopies removes them.
      std::vector<TablePart> replaced;
      const auto older = ReadCopies(storage_, part.directory, limits_);
      if (older.ok()) {
        for (const std::string& name : older->replaced) replaced.push_back({.directory = name});
      }
      CFILE_RETURN_IF_ERROR(WriteCopy(edit, part, replaced));
    }
    for (const std::string& chunk : edit.removed_chunks) {
      CFILE_RETURN_IF_ERROR(WriteFile(storage_, DroppedMarkOfChunk(chunk), ""));
    }
    if (edit.removes_columns) {
      CFILE_ASSIGN_OR_RETURN(const std::string mark, NewColumnsMark());
      CFILE_RETURN_IF_ERROR(WriteOwn(mark, ""));
    }
    for (const TablePart& part : edit.removed) {
      CFILE_RETURN_IF_ERROR(WriteOwn(absl::StrCat(part.directory, "/", DroppedMarkName(tag_)), ""));
    }
    return absl::OkStatus();
  }

  // Deletes the files that Write has written, as far as possible. The last file is deleted first,
  // because the process may be killed meanwhile: if a part has lost its copy then, all later parts
  // have lost theirs, too.
  void Undo() {
    for (; !written_.empty(); written_.pop_back()) (void)storage_.Delete(written_.back());
  }

  // Deletes older copies of the parts that this commit has described again, as far as possible.
  void DeleteOlderCopies(const ManifestEdit& edit) {
    for (const TablePart& part : edit.updated) {
      const auto files = storage_.List(part.directory);
      if (!files.ok()) return;
      for (const StorageEntry& file : *files) {
        const auto tag = ParsePartCopyName(std::string_view(file.path).substr(
            std::min(file.path.size(), part.directory.size() + 1)));
        if (tag && tag->sequence <= tag_.sequence && *tag != tag_) {
          (void)storage_.Delete(file.path);
        }
      }
    }
  }

 private:
  // True if a copy must say what this commit changes: the schema, the job_ids, the metadata, the
  // oldest reader, the bound of times, or that parts were removed.
  static bool NeedsCopy(const TableContents* before, const ManifestEdit& edit) {
    return !edit.removed.empty() || before == nullptr || before->schema != edit.root.schema ||
           before->identities != edit.root.identities || before->job_ids != edit.root.job_ids ||
           before->metadata != edit.root.metadata ||
           before->oldest_reader != edit.root.oldest_reader ||
           before->time_bound != edit.root.time_bound;
  }

  absl::Status WriteOwn(const std::string& path, std::string_view bytes) {
    written_.push_back(path);
    return WriteFile(storage_, path, bytes);
  }

  absl::Status WriteCopy(const ManifestEdit& edit, const TablePart& part,
                         std::span<const TablePart> replaced) {
    const std::string path = absl::StrCat(part.directory, "/", PartCopyName(tag_));
    TableContents copy = CopyOfPart(edit.root, part, replaced);
    const TablePart& last = edit.updated.empty() ? edit.added.back() : edit.updated.back();
    if (&part == &last) copy.job_ids = edit.root.job_ids;
    const std::string bytes = SerializeTable(copy);
    CFILE_RETURN_IF_ERROR(CheckSize(bytes, absl::StrCat(storage_.name(), "/", path), limits_));
    return WriteOwn(path, bytes);
  }

  Storage& storage_;
  const ReaderOptions& limits_;
  const CommitTag tag_;
  std::vector<std::string> written_;
};

// Returns the greatest sequence in the names of copies, for a table.cft without sequence: an
// earlier version of this library, which did not write sequences, may have replaced it.
absl::StatusOr<uint64_t> GreatestSequence(const Storage& storage) {
  uint64_t greatest = 0;
  CFILE_ASSIGN_OR_RETURN(const std::vector<StorageEntry> files, storage.List(""));
  for (const StorageEntry& file : files) {
    const auto tag = ParsePartCopyName(std::string_view(file.path).substr(file.path.find('/') + 1));
    if (tag) greatest = std::max(greatest, tag->sequence);
  }
  return greatest;
}

}  // namespace

absl::StatusOr<std::string> ReadChunk(const Storage& storage, const std::string& name,
                                      uint64_t size_bytes) {
  absl::StatusOr<VersionedObject> chunk = storage.Read(name, size_bytes);
  if (chunk.ok()) return std::move(chunk->bytes);
  if (!absl::IsOutOfRange(chunk.status())) return chunk.status();
  return encodings::DataLoss(storage.name(), "/", name, ": ", size_bytes,
                             " bytes expected by the file that names the chunk, found more");
}

absl::StatusOr<std::unique_ptr<const Manifest>> ReadTable(const Storage& storage,
                                                          const ReaderOptions& limits) {
  CFILE_ASSIGN_OR_RETURN(const VersionedObject object,
                         storage.Read(kTableFileName, limits.max_metadata_size_bytes));
  CFILE_ASSIGN_OR_RETURN(TableContents root,
                         ParseTable(object.bytes, TableFilePath(storage.name()), limits));
  return NewManifest(std::move(root), storage, limits);
}

namespace {

using Clock = std::chrono::steady_clock;

// Waits after another commit came first, so that many writers do not hinder each other: a random
// time, which on average doubles with each conflict, up to eight times an attempt. `attempt`: the
// duration of the attempt. `conflicts`: how many attempts came too late so far.
void WaitAfterConflict(Clock::duration attempt, int conflicts) {
  thread_local std::minstd_rand random(std::random_device{}());
  attempt = std::min<Clock::duration>(attempt, std::chrono::seconds(1));
  const double longest = std::ldexp(0.25, std::min(conflicts, 6));  // attempts
  std::this_thread::sleep_for(attempt * std::uniform_real_distribution<>(0, longest)(random));
}

// Decides what an attempt to commit has done for which Storage::Commit returned `error`, and sets
// `may_be_done`. Returns OK if the attempt is known to be a commit, kAborted if another attempt is
// the commit with its sequence, and otherwise `error`.
absl::Status OutcomeOf(const CommitTag& tag, absl::Status error, const Storage& storage,
                       const ReaderOptions& limits, bool& may_be_done) {
  const auto now = ReadTable(storage, limits);
  if (!now.ok()) {
    may_be_done = !absl::IsAborted(error) && !absl::IsNotFound(now.status());
    return error;
  }
  CommitHistory history;
  history.Add((*now)->root(), /*attempt=*/false);
  if (history.Proves(tag)) return absl::IsInternal(error) ? error : absl::OkStatus();
  if (history.Disproves(tag)) {
    may_be_done = false;
    return absl::AbortedError(
        absl::StrCat(TableFilePath(storage.name()), ": another writer has replaced it"));
  }
  // Tables remember kMaxCommitIds commits. Earlier versions of this library write no sequence.
  const uint64_t sequence = (*now)->root().sequence;
  may_be_done = !absl::IsAborted(error) && (sequence == 0 || sequence >= tag.sequence);
  return error;
}

}  // namespace

absl::Status CommitTable(Storage& storage, const ReaderOptions& limits, TableChange change,
                         bool* may_be_done) {
  const std::string path = TableFilePath(storage.name());
  bool unused = false;
  bool& done = may_be_done != nullptr ? *may_be_done : unused;
  done = false;
  absl::Status conflict;
  std::optional<std::string> last_version;
  for (int conflicts = 1;; ++conflicts) {
    const Clock::time_point begin = Clock::now();
    const auto object = storage.Read(kTableFileName, limits.max_metadata_size_bytes);
    if (!object.ok() && !absl::IsNotFound(object.status())) return object.status();
    std::optional<std::string> version;
    std::unique_ptr<const Manifest> now;
    if (object.ok()) {
      version = object->version;
      CFILE_ASSIGN_OR_RETURN(TableContents root, ParseTable(object->bytes, path, limits));
      if (root.sequence == 0) {
        CFILE_ASSIGN_OR_RETURN(root.sequence, GreatestSequence(storage));
      }
      now = NewManifest(std::move(root), storage, limits);
    }
    // Without this, the loop would never end if the storage refuses the version, but still returns
    // it.
    if (!conflict.ok() && version == last_version) return conflict;
    absl::StatusOr<std::optional<ManifestEdit>> changed = change(now.get());
    if (!changed.ok()) {
      // A chunk may be missing because another program has committed and then collected garbage.
      if (!absl::IsNotFound(changed.status()) || !now) return changed.status();
      const auto again = storage.Read(kTableFileName, limits.max_metadata_size_bytes);
      if (!again.ok() || again->version == version) return changed.status();
      continue;
    }
    std::optional<ManifestEdit>& edit = *changed;
    if (!edit) return absl::OkStatus();
    conflict =
        CommitEdit(storage, limits, version, now != nullptr ? &now->root() : nullptr, *edit, done);
    if (!absl::IsAborted(conflict)) return conflict;
    last_version = version;
    WaitAfterConflict(Clock::now() - begin, conflicts);
  }
}

absl::Status CommitEdit(Storage& storage, const ReaderOptions& limits,
                        const std::optional<std::string>& version, const TableContents* before,
                        ManifestEdit& edit, bool& may_be_done) {
  may_be_done = false;
  TableContents& root = edit.root;
  CFILE_ASSIGN_OR_RETURN(const CommitTag tag,
                         NewCommitTag(before != nullptr ? before->sequence + 1 : 1));
  root.sequence = tag.sequence;
  root.commit_ids = {tag.id};
  if (before != nullptr) {
    const std::vector<uint64_t>& ids = before->commit_ids;
    root.commit_ids.insert(
        root.commit_ids.end(), ids.begin(),
        ids.begin() + static_cast<ptrdiff_t>(std::min(ids.size(), kMaxCommitIds - 1)));
  }
  CFILE_RETURN_IF_ERROR(CheckOldestReader(root, TableFilePath(storage.name())));
  const std::string bytes = SerializeTable(root);
  CFILE_RETURN_IF_ERROR(CheckSize(bytes, TableFilePath(storage.name()), limits));
  Preparation preparation(storage, limits, tag);
  absl::Status status = preparation.Write(before, edit);
  if (status.ok()) {
    may_be_done = true;
    status = storage.Commit(kTableFileName, version, bytes);
    if (!status.ok()) {
      status = OutcomeOf(tag, std::move(status), storage, limits, may_be_done);
    }
    if (status.ok()) preparation.DeleteOlderCopies(edit);
  }
  if (!may_be_done) preparation.Undo();
  return status;
}

absl::StatusOr<FoundParts> FindParts(std::span<const std::string> names, const Manifest& manifest) {
  FoundParts found;
  std::set<std::string_view> missing(names.begin(), names.end());
  if (missing.empty()) return found;
  CFILE_RETURN_IF_ERROR(manifest.ForEachPart([&](const ManifestPart& part) -> absl::StatusOr<bool> {
    if (missing.erase(part.part->directory) > 0) found.parts.push_back(*part.part);
    return !missing.empty();
  }));
  if (!missing.empty()) found.missing = std::string(*missing.begin());
  return found;
}

absl::Status NoSuchPart(const Manifest& manifest, const std::string& name) {
  return absl::NotFoundError(
      absl::StrCat(TableFilePath(manifest.directory()), ": the table has no part ", name));
}

}  // namespace cfile::internal
