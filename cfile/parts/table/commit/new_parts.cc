#include "cfile/parts/table/commit/new_parts.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "cfile/parts/table/commit/part_copy.h"
#include "cfile/parts/table/commit/table_commit.h"
#include "cfile/parts/table/manifest/table_file.h"
#include "encodings/core/status.h"

namespace cfile::internal {
namespace {

// A commit of new parts, which may need several attempts.
class Publisher {
 public:
  Publisher(Storage& storage, const ReaderOptions& limits, const NewParts& parts,
            Publication& publication)
      : storage_(storage), limits_(limits), new_(parts), publication_(publication) {
    publication_ = Publication::kNot;
  }

  absl::Status Run() {
    bool may_be_done = false;
    const absl::Status status = CommitTable(
        storage_, limits_, [&](const Manifest* now) { return Edit(now); }, &may_be_done);
    if (publication_ != Publication::kUnknown) return status;
    if (status.ok()) {
      publication_ = Publication::kNow;
    } else if (!may_be_done) {
      publication_ = Publication::kNot;
    }
    return status;
  }

 private:
  absl::StatusOr<std::optional<ManifestEdit>> Edit(const Manifest* now) {
    publication_ = Publication::kNot;
    if (now != nullptr && HasJob(*now)) {
      publication_ = Publication::kEarlier;
      return std::nullopt;
    }
    if (const absl::Status status = CheckTable(now); !status.ok()) {
      // The table may have changed after an earlier commit that has published the parts.
      if (now == nullptr || new_.table != NewParts::Table::kMayExist) return status;
      CFILE_ASSIGN_OR_RETURN(const size_t named, CountNamed(*now));
      if (named == 0 || named < new_.parts.size()) return status;
      publication_ = Publication::kEarlier;
      return std::nullopt;
    }
    CFILE_ASSIGN_OR_RETURN(const Traces traces, CheckFiles());
    if (now != nullptr && traces.commit) {
      CFILE_ASSIGN_OR_RETURN(const bool published, ArePublished(*now, traces));
      if (published) {
        publication_ = Publication::kEarlier;
        return std::nullopt;
      }
    }
    CFILE_RETURN_IF_ERROR(CheckReplaced(now));
    const Manifest none({.schema = new_.schema, .parts = {}, .oldest_reader = new_.oldest_reader},
                        storage_.name(), limits_.max_metadata_size_bytes, {});
    CFILE_ASSIGN_OR_RETURN(ManifestEdit edit, EditManifest(now != nullptr ? *now : none,
                                                           {.removed = new_.replaced,
                                                            .added = new_.parts,
                                                            .may_reveal = new_.may_reveal,
                                                            .left_out = new_.left_out}));
    if (!new_.job_id.empty()) {
      std::vector<std::string>& ids = edit.root.job_ids;
      ids.insert(ids.begin(), new_.job_id);
      if (ids.size() > kMaxJobIds) ids.resize(kMaxJobIds);
    }
    // From here on, table.cft may name the parts, so nobody may remove their files. Say so before
    // the commit, because a failed allocation in the commit may throw.
    publication_ = Publication::kUnknown;
    return edit;
  }

  bool HasJob(const Manifest& now) const {
    const std::vector<std::string>& ids = now.root().job_ids;
    return !new_.job_id.empty() && std::find(ids.begin(), ids.end(), new_.job_id) != ids.end();
  }

  // Returns how many of the parts are in the table.
  absl::StatusOr<size_t> CountNamed(const Manifest& now) const {
    std::set<std::string_view> names;
    for (const TablePart& part : new_.parts) names.insert(part.directory);
    size_t found = 0;
    if (names.empty()) return found;
    CFILE_RETURN_IF_ERROR(now.ForEachPart([&](const ManifestPart& part) -> absl::StatusOr<bool> {
      found += names.contains(part.part->directory);
      return found < names.size();
    }));
    return found;
  }

  // Checks that the parts fit the present table. `now`: null if there is no table.
  absl::Status CheckTable(const Manifest* now) const {
    if (new_.table == NewParts::Table::kMustBeNew) {
      return now != nullptr ? Aborted("another writer created it") : absl::OkStatus();
    }
    if (now == nullptr) {
      return new_.table == NewParts::Table::kMayExist && new_.replaced.empty()
                 ? CheckPlace()
                 : Aborted("it has been removed");
    }
    if (now->root().schema != new_.schema || now->root().identities != new_.identities) {
      return Aborted("its schema has been changed");
    }
    if (now->root().oldest_reader < new_.oldest_reader) {
      return Aborted("older readers must be able to read it, but not the new parts,");
    }
    const std::vector<std::string>& condemned = now->root().condemned;
    for (const TablePart& part : new_.parts) {
      if (std::count(condemned.begin(), condemned.end(), part.directory) > 0)
        return NewPartRemoved(storage_, part.directory);
    }
    return absl::OkStatus();
  }

  // Called if there is no table.cft. kAlreadyExists: there are files that no writer of a table has
  // made. kFailedPrecondition: there was a table, and a new table.cft would make its parts garbage.
  absl::Status CheckPlace() const {
    CFILE_ASSIGN_OR_RETURN(const std::vector<StorageEntry> files, storage_.List(""));
    bool had_table = false;
    for (const StorageEntry& file : files) {
      // The first commit of a table may have been killed before it wrote table.cft.
      const std::string_view name = std::string_view(file.path).substr(file.path.find('/') + 1);
      const auto copy = ParsePartCopyName(name);
      had_table = had_table || (copy && copy->sequence > 1) || ParseDroppedMarkName(name);
      if (!IsTablePath(file.path)) {
        return absl::AlreadyExistsError(absl::StrCat(
            storage_.name(), ": expected a table or nothing at this path, found ", file.path));
      }
    }
    if (!had_table) return absl::OkStatus();
    // Other writers may just have made the table, so look again.
    const absl::Status now =
        storage_.Read(kTableFileName, limits_.max_metadata_size_bytes).status();
    if (!absl::IsNotFound(now)) return now;
    return absl::FailedPreconditionError(
        absl::StrCat(TableFilePath(storage_.name()),
                     ": the file is missing, but parts of the table are there: rebuild it with "
                     "Repair or cfile-table repair before you write"));
  }

  // kAborted if a part to replace is gone or has got other values.
  absl::Status CheckReplaced(const Manifest* now) const {
    if (now == nullptr || new_.replaced.empty()) return absl::OkStatus();
    CFILE_ASSIGN_OR_RETURN(const FoundParts found, FindParts(new_.replaced, *now));
    if (found.missing) {
      return absl::AbortedError(absl::StrCat(NoSuchPart(*now, *found.missing).message(),
                                             " any more, which was to be replaced"));
    }
    // The schema is the same, so both parts have the same columns.
    for (size_t part = 0; part < new_.replaced_parts.size(); ++part) {
      const TablePart& before = new_.replaced_parts[part];
      for (size_t i = 0; i < before.columns.size(); ++i) {
        if (found.parts[part].columns[i].file_name != before.columns[i].file_name) {
          return Aborted(absl::StrCat("column ", now->layout().columns()[i].name, " of ",
                                      before.directory,
                                      ", which was to be replaced, has got other values"));
        }
      }
    }
    return absl::OkStatus();
  }

  // What an earlier attempt to publish the parts has left in their folders.
  struct Traces {
    bool commit = false;  // a copy of a part's description, or a mark
    // The parts that a later commit has dropped. Only parts of the table get a mark.
    size_t dropped = 0;
  };

  // kAborted if a file of the parts is no longer where the writer put it.
  absl::StatusOr<Traces> CheckFiles() const {
    Traces traces;
    for (const TablePart& part : new_.parts) {
      CFILE_ASSIGN_OR_RETURN(const std::vector<StorageEntry> files, storage_.List(part.directory));
      std::set<std::string_view> paths;
      bool dropped = false;
      for (const StorageEntry& file : files) {
        paths.insert(file.path);
        const std::string_view name = std::string_view(file.path).substr(
            std::min(file.path.size(), part.directory.size() + 1));
        const bool is_mark = ParseDroppedMarkName(name).has_value();
        dropped = dropped || is_mark;
        traces.commit = traces.commit || is_mark || ParsePartCopyName(name).has_value();
      }
      traces.dropped += dropped;
      for (size_t i = 0; i < part.columns.size(); ++i) {
        const std::string path = PathInStorage(part, i);
        if (!paths.contains(path)) return NewPartRemoved(storage_, path);
      }
    }
    return traces;
  }

  // True if a commit has published the parts. The table may have dropped them since.
  absl::StatusOr<bool> ArePublished(const Manifest& now, const Traces& traces) const {
    CFILE_ASSIGN_OR_RETURN(const size_t named, CountNamed(now));
    if (named + traces.dropped == 0) return false;
    // Parts of one commit become visible together. A dropped part may still be in the table,
    // because the commit that wanted to drop it has failed.
    if (named + traces.dropped >= new_.parts.size()) return true;
    return absl::InvalidArgumentError(
        absl::StrCat(TableFilePath(storage_.name()), ": ", named, " of the ", new_.parts.size(),
                     " parts of this commit are in the table already"));
  }

  absl::Status Aborted(std::string_view what) const {
    return absl::AbortedError(absl::StrCat(TableFilePath(storage_.name()), ": ", std::string(what),
                                           " since this writer began"));
  }

  Storage& storage_;
  const ReaderOptions& limits_;
  const NewParts& new_;
  Publication& publication_;
};

}  // namespace

absl::Status Publish(Storage& storage, const ReaderOptions& limits, const NewParts& parts,
                     Publication& publication) {
  return Publisher(storage, limits, parts, publication).Run();
}

}  // namespace cfile::internal
