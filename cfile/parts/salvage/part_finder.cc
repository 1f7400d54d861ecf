#include "cfile/parts/salvage/part_finder.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cfile/parts/table/commit/part_copy.h"
#include "cfile/parts/table/manifest/manifest_edit.h"
#include "cfile/parts/table/manifest/table_file.h"
#include "encodings/core/status.h"

namespace cfile::internal {
namespace {

using PartKind = OtherPart::Kind;

// Words of this file (see also cfile/parts/table/commit/part_copy.h):
// - A part is a folder with some rows of the table.
// - A copy is a file in the folder of a part. It has the table's schema and the part's description.
// - A mark is an empty file in the folder of a part. It says that the part was dropped.
// - An attempt is a try to commit. An attempt writes copies and marks before it replaces table.cft.
//   So the copies and marks stay if the process dies before the end of the attempt.
// - The sequence is the number of a commit.
//   Several attempts may have the same sequence. Only one of them can be a commit.

// A copy that was read.
struct Copy {
  CommitTag tag;
  size_t table = 0;  // the position in PartFinder::tables_
  TablePart part;
};

// The folder of a part.
struct Folder {
  std::map<std::string, uint64_t, std::less<>> sizes;  // by the name of the file
  std::chrono::system_clock::time_point newest;
  std::vector<Copy> copies;             // the copies that can be read
  std::vector<std::string> unreadable;  // why the other copies cannot be read
  std::map<std::string, CommitTag> marks;
  // The names of the parts that replaced this part, with the commits that replaced it.
  std::vector<std::pair<std::string, CommitTag>> replaced_by;
};

// Finds out which parts belong to the table, from the copies and the marks of all parts.
class PartFinder {
 public:
  // `named`: the parts that are known to be in the table, in order.
  // `root`: the contents of table.cft; null: table.cft cannot be read.
  PartFinder(const Storage& storage, const ReaderOptions& options, const TableContents* root,
             std::vector<TablePart> named)
      : storage_(storage), options_(options), root_(root), named_(std::move(named)) {
    if (root_ != nullptr) history_.Add(*root_, /*attempt=*/false);
  }

  // Sets `root`, `parts`, `others` and `copy_damage` of `survey`.
  absl::Status Find(Survey& survey) {
    CFILE_RETURN_IF_ERROR(ListFolders());
    for (auto& [name, folder] : folders_) CFILE_RETURN_IF_ERROR(ReadCopies(name, folder));
    ExcludeInterrupted();
    // Perhaps no file says which of several attempts with the same sequence is the commit. Then
    // assume that it is the last one: each earlier attempt stopped before the last one began, or
    // failed because of it.
    for (auto& [sequence, ids] : attempts_) {
      std::erase_if(ids, [&, sequence = sequence](const auto& attempt) {
        return Disproved({.sequence = sequence, .id = attempt.first});
      });
      if (ids.empty()) continue;
      const auto last = std::max_element(
          ids.begin(), ids.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
      history_.Add({.sequence = sequence, .id = last->first});
    }
    CFILE_RETURN_IF_ERROR(SetRoot(survey.root));
    for (TablePart& part : named_) {
      Folder& folder = folders_[part.directory];
      // A copy that cannot be read may be the only one that describes all files of the part.
      const bool has_copy = !folder.copies.empty() && folder.unreadable.empty();
      // Earlier versions of this library wrote neither an order nor copies.
      if (!has_copy && !part.order.empty() && survey.copy_damage.empty()) {
        survey.copy_damage = folder.unreadable.empty()
                                 ? absl::StrCat(storage_.name(), "/", part.directory,
                                                ": the copy of its description is missing")
                                 : folder.unreadable[0];
      }
      survey.parts.push_back({.part = std::move(part), .has_copy = has_copy});
      for (const auto& [mark, tag] : folder.marks) survey.parts.back().stale_marks.push_back(mark);
      folder.sizes.clear();
      found_.insert(survey.parts.back().part.directory);
    }
    // Parts of earlier versions of this library have no TablePart::order. The order of the times of
    // their files is probably their order in the table.
    std::vector<std::pair<std::string, const Folder*>> by_time;
    for (const auto& [name, folder] : folders_) {
      if (!found_.contains(name)) by_time.emplace_back(name, &folder);
    }
    std::stable_sort(by_time.begin(), by_time.end(), [](const auto& a, const auto& b) {
      return a.second->newest < b.second->newest;
    });
    for (const auto& [name, folder] : by_time) Judge(name, *folder, survey);
    std::stable_sort(
        survey.parts.begin(), survey.parts.end(),
        [](const SurveyedPart& a, const SurveyedPart& b) { return a.part.order < b.part.order; });
    return absl::OkStatus();
  }

 private:
  bool Disproved(const CommitTag& tag) const {
    return history_.Disproves(tag) || (root_ != nullptr && tag.sequence > root_->sequence) ||
           interrupted_.contains({tag.sequence, tag.id});
  }

  absl::Status ListFolders() {
    CFILE_ASSIGN_OR_RETURN(const std::vector<StorageEntry> files, storage_.List(""));
    for (const StorageEntry& file : files) {
      const size_t slash = file.path.find('/');
      if (slash == file.path.npos || !IsPartName(file.path.substr(0, slash))) continue;
      Folder& folder = folders_[file.path.substr(0, slash)];
      std::string name = file.path.substr(slash + 1);
      folder.newest = std::max(folder.newest, file.changed);
      const auto mark = ParseDroppedMarkName(name);
      if (mark) folder.marks.emplace(name, *mark);
      const auto attempt = mark ? mark : ParsePartCopyName(name);
      if (attempt && name != kDroppedFileName) {
        auto& time = attempts_[attempt->sequence][attempt->id];
        time = std::max(time, file.changed);
      }
      folder.sizes.emplace(std::move(name), file.size_bytes);
    }
    return absl::OkStatus();
  }

  absl::Status ReadCopies(const std::string& name, Folder& folder) {
    for (const auto& [file, size] : folder.sizes) {
      const auto tag = ParsePartCopyName(file);
      if (!tag) continue;
      absl::StatusOr<TableContents> copy = ReadCopy(name, file, *tag);
      if (!copy.ok()) {
        if (!SaysLost(copy.status())) return copy.status();
        folder.unreadable.emplace_back(copy.status().message());
        continue;
      }
      history_.Add(*copy, /*attempt=*/true);
      for (const std::string& replaced : copy->replaced) {
        const auto found = folders_.find(replaced);
        if (found != folders_.end()) found->second.replaced_by.emplace_back(name, *tag);
      }
      if (!copy->job_ids.empty()) {
        job_ids_[{tag->sequence, tag->id}] = std::exchange(copy->job_ids, {});
      }
      TablePart part = std::move(copy->parts[0]);
      folder.copies.push_back(
          {.tag = *tag, .table = NumberOf(*std::move(copy)), .part = std::move(part)});
    }
    return absl::OkStatus();
  }

  absl::StatusOr<TableContents> ReadCopy(const std::string& folder, const std::string& file,
                                         const CommitTag& tag) const {
    const std::string path = absl::StrCat(folder, "/", file);
    const std::string full_path = absl::StrCat(storage_.name(), "/", path);
    CFILE_ASSIGN_OR_RETURN(const VersionedObject object,
                           storage_.Read(path, options_.max_metadata_size_bytes));
    CFILE_ASSIGN_OR_RETURN(TableContents copy, ParseTable(object.bytes, full_path, options_));
    if (copy.parts.size() != 1 || copy.parts[0].directory != folder || !copy.chunks.empty() ||
        copy.sequence != tag.sequence || copy.commit_ids.empty() || copy.commit_ids[0] != tag.id) {
      return encodings::DataLoss(full_path, ": this is not the copy of this part and this commit");
    }
    return copy;
  }

  // Returns the position in tables_ of the table that `copy` describes: many copies differ only in
  // the commit.
  size_t NumberOf(TableContents copy) {
    copy.parts.clear();
    copy.replaced.clear();
    for (size_t i = 0; i < tables_.size(); ++i) {
      if (tables_[i].schema == copy.schema && tables_[i].identities == copy.identities &&
          tables_[i].incompatible_features == copy.incompatible_features &&
          tables_[i].metadata == copy.metadata && tables_[i].oldest_reader == copy.oldest_reader &&
          tables_[i].time_bound == copy.time_bound) {
        commits_[i].push_back({copy.sequence, copy.commit_ids});
        return i;
      }
    }
    commits_.push_back({{copy.sequence, copy.commit_ids}});
    tables_.push_back(std::move(copy));
    return tables_.size() - 1;
  }

  // Takes the schema and the job_ids from table.cft, or from the newest copies whose commits may
  // have taken place.
  absl::Status SetRoot(TableContents& root) const {
    if (root_ != nullptr) {
      root = *root_;
      root.parts.clear();
      root.chunks.clear();
      return absl::OkStatus();
    }
    bool found = false;
    std::optional<int64_t> bound;  // it only rises, and the newest copy may be lost
    for (size_t i = 0; i < tables_.size(); ++i) {
      for (const auto& [sequence, ids] : commits_[i]) {
        if (Disproved({sequence, ids[0]})) continue;
        bound = std::max(bound, tables_[i].time_bound);
        if (found && sequence <= root.sequence) continue;
        root = tables_[i];
        root.sequence = sequence;
        root.commit_ids = ids;
        found = true;
      }
    }
    if (!found) {
      const std::string path = TableFilePath(storage_.name());
      if (folders_.empty()) return absl::NotFoundError(absl::StrCat(path, ": there is no table"));
      std::string reason = "it may have been written by an earlier version";
      for (const auto& [name, folder] : folders_) {
        if (!folder.unreadable.empty()) reason = folder.unreadable[0];
      }
      return encodings::DataLoss(path, ": cannot be rebuilt: none of ", folders_.size(),
                                 " folders of parts has a readable copy of the schema: ", reason);
    }
    root.time_bound = bound;
    std::set<std::string_view> known;
    for (const auto& [tag, ids] : job_ids_) {
      if (Disproved({.sequence = tag.first, .id = tag.second})) continue;
      for (const std::string& id : ids) {
        if (known.size() < kMaxJobIds && known.insert(id).second) root.job_ids.push_back(id);
      }
    }
    // Marks without copies are those of an interrupted attempt, or of an older writer that has
    // dropped all parts.
    uint64_t greatest = root.sequence;
    for (const auto& [name, folder] : folders_) {
      for (const auto& [file, tag] : folder.marks) {
        if (file != kDroppedFileName) greatest = std::max(greatest, tag.sequence);
      }
    }
    if (greatest > root.sequence) root.commit_ids.clear();
    root.sequence = greatest;
    return absl::OkStatus();
  }

  static bool HasFile(const Folder& folder, const TablePart& part, const TablePartColumn& column) {
    const auto file = folder.sizes.find(column.stored_in());
    return file != folder.sizes.end() &&
           file->second == (column.is_packed() ? part.packed_size_bytes : column.size_bytes);
  }

  static const Copy* CopyWith(const CommitTag& tag, const Folder& folder) {
    const auto found = std::find_if(folder.copies.begin(), folder.copies.end(),
                                    [&](const Copy& copy) { return copy.tag == tag; });
    return found == folder.copies.end() ? nullptr : &*found;
  }

  // Sets interrupted_. Without table.cft, only the newest attempts can be unfinished, because each
  // attempt begins from a commit that took place.
  void ExcludeInterrupted() {
    if (root_ != nullptr) return;
    uint64_t last = 0;
    for (const auto& [name, folder] : folders_) {
      for (const Copy& copy : folder.copies) last = std::max(last, copy.tag.sequence);
    }
    for (const auto& [name, folder] : folders_) {
      for (const Copy& copy : folder.copies) {
        if (copy.tag.sequence == last) interrupted_.emplace(last, copy.tag.id);
      }
    }
    TableContents before;
    const bool found = SetRoot(before).ok();
    std::set<std::pair<uint64_t, uint64_t>> interrupted;
    for (const auto& [sequence, id] : interrupted_) {
      if (found && IsInterrupted({.sequence = sequence, .id = id}, before)) {
        interrupted.emplace(sequence, id);
      }
    }
    // An attempt whose copies are lost was interrupted, although its marks may be durable.
    // interrupted_ has the newest attempts with copies here.
    for (const auto& [name, folder] : folders_) {
      for (const auto& [file, tag] : folder.marks) {
        const std::pair attempt(tag.sequence, tag.id);
        if (file != kDroppedFileName && tag.sequence >= last && !interrupted_.contains(attempt)) {
          interrupted.insert(attempt);
        }
      }
    }
    interrupted_ = std::move(interrupted);
  }

  // True if this attempt gave new files of columns to parts, but stopped before its end, so that
  // these files are gone again, or another part did not get such files. Precondition: interrupted_
  // contains the attempt. `before`: the table before this attempt.
  bool IsInterrupted(const CommitTag& tag, const TableContents& before) const {
    std::vector<const Copy*> others;  // the copies of parts that the attempt did not reach
    for (const auto& [name, folder] : folders_) {
      std::vector<std::string> stale;
      const Copy* const copy = CopyOf(folder);
      if (copy != nullptr && CopyWith(tag, folder) == nullptr && folder.unreadable.empty() &&
          ReasonOfDrop(folder, stale).empty()) {
        others.push_back(copy);
      }
    }
    for (const auto& [name, folder] : folders_) {
      const Copy* const copy = CopyWith(tag, folder);
      const Copy* const older = CopyOf(folder);
      // After a commit, the older copies are deleted.
      if (copy == nullptr || older == nullptr) continue;
      const std::vector<TablePartColumn>& columns = copy->part.columns;
      for (size_t i = 0; i < columns.size(); ++i) {
        const bool is_new =
            !columns[i].missing &&
            std::none_of(older->part.columns.begin(), older->part.columns.end(),
                         [&](const auto& old) { return old.file_name == columns[i].file_name; });
        if (!is_new) continue;
        if (!HasFile(folder, copy->part, columns[i])) return true;
        // An attempt writes copies from the last part to the first.
        // Parts that other commits add meanwhile need no new files.
        const bool is_partial = std::any_of(others.begin(), others.end(), [&](const Copy* other) {
          return other->part.order < copy->part.order &&
                 NeedsFile(tables_[copy->table], i, before, *other);
        });
        if (is_partial) return true;
      }
    }
    return false;
  }

  // Returns true if a commit that gives new files to column `column` of `after` must give one to
  // this part, too.
  bool NeedsFile(const TableContents& after, size_t column, const TableContents& before,
                 const Copy& copy) const {
    if (PartLayout(before).Find(PartLayout(after).id(column))) return true;  // other values
    if (column >= after.schema.columns.size()) return true;  // the key index, which was added
    const auto old = before.schema.Find(after.schema.columns[column].name);
    if (!old) return true;  // a new column
    // The column gets another type. A part that only has the default value needs no file.
    TablePart part = copy.part;
    return Translate(tables_[copy.table], before, part).ok() && !part.columns[*old].missing;
  }

  // Returns the newest copy that describes a part; null: there is none. Prefers copies that name
  // only files in the folder, and ignores copies of attempts that have failed.
  const Copy* CopyOf(const Folder& folder) const {
    const Copy* best = nullptr;
    bool best_is_whole = false;
    for (const Copy& copy : folder.copies) {
      if (Disproved(copy.tag)) continue;
      const bool is_whole = std::all_of(
          copy.part.columns.begin(), copy.part.columns.end(),
          [&](const auto& column) { return column.missing || HasFile(folder, copy.part, column); });
      if (best == nullptr || is_whole > best_is_whole ||
          (is_whole == best_is_whole && copy.tag.sequence > best->tag.sequence)) {
        best = &copy;
        best_is_whole = is_whole;
      }
    }
    return best;
  }

  // Returns why the part is not in the table, or "" if the part is in the table.
  // Sets `stale` to the marks of failed attempts to drop the part.
  std::string ReasonOfDrop(const Folder& folder, std::vector<std::string>& stale) const {
    // If a commit has described a part again, the part was in the table before this commit.
    uint64_t described = 0;
    for (const Copy& copy : folder.copies) described = std::max(described, copy.tag.sequence);
    for (const auto& [by, tag] : folder.replaced_by) {
      if (tag.sequence >= described && !Disproved(tag)) return absl::StrCat("replaced by ", by);
    }
    for (const auto& [file, tag] : folder.marks) {
      const bool is_old_mark = file == kDroppedFileName;
      if (tag.sequence >= described && (is_old_mark || !Disproved(tag))) {
        return absl::StrCat("its folder holds the mark ", file);
      }
      stale.push_back(file);
    }
    return "";
  }

  // Adds a part that is not in `named_` to `survey`: table.cft does not name it, or cannot be read.
  void Judge(const std::string& name, const Folder& folder, Survey& survey) const {
    OtherPart other{.name = name};
    const Copy* const copy = CopyOf(folder);
    SurveyedPart found;
    if (!folder.copies.empty()) other.num_rows = folder.copies[0].part.num_rows;
    other.reason = ReasonOfDrop(folder, found.stale_marks);
    if (!other.reason.empty()) {
      other.kind = PartKind::kDropped;
    } else if (copy == nullptr && !folder.copies.empty()) {
      other.kind = PartKind::kUncommitted;
      other.reason = "the commit that wrote it has failed, because another commit took its place";
    } else if (copy == nullptr) {
      other.kind = PartKind::kUnknown;
      other.reason = folder.unreadable.empty()
                         ? "no copy of its description: its writer has not finished, or an earlier "
                           "version wrote it"
                         : folder.unreadable[0];
    } else {
      found.part = copy->part;
      other.num_rows = copy->part.num_rows;
      const absl::Status status = Translate(tables_[copy->table], survey.root, found.part);
      if (!status.ok()) {
        other.reason = std::string(status.message());
      } else if (survey.finds_parts) {
        survey.parts.push_back(std::move(found));
        return;
      } else {
        other.kind = PartKind::kLeftOut;
        other.reason = "table.cft does not name it, although no commit has dropped it";
      }
    }
    if (survey.finds_parts || other.kind == PartKind::kLeftOut) {
      survey.others.push_back(std::move(other));
    }
  }

  // Describes `part` by the schema of `to` instead of the schema of `from`.
  static absl::Status Translate(const TableContents& from, const TableContents& to,
                                TablePart& part) {
    if (from.schema == to.schema && from.identities == to.identities) return absl::OkStatus();
    if (!to.identities) {
      // If the columns of `to` have no ids, only the names of columns can have changed.
      Schema renamed = from.schema;
      for (size_t i = 0; i < std::min(renamed.columns.size(), to.schema.columns.size()); ++i) {
        renamed.columns[i].name = to.schema.columns[i].name;
      }
      if (!from.identities && !to.schema.tree && renamed == to.schema) return absl::OkStatus();
      return encodings::DataLoss("part ", part.directory, ": its copy has another schema than the ",
                                 "newest copy, whose columns have no ids");
    }
    TableContents table = from;
    table.parts = {std::move(part)};
    CFILE_ASSIGN_OR_RETURN(const TableContents result,
                           WithSchema(table, to.schema, *to.identities));
    part = result.parts[0];
    return absl::OkStatus();
  }

  const Storage& storage_;
  const ReaderOptions& options_;
  const TableContents* const root_;
  std::vector<TablePart> named_;
  std::set<std::string> found_;  // the names of the parts in named_
  CommitHistory history_;
  // The sequence and the id of each attempt that changed files of columns and did not take place.
  std::set<std::pair<uint64_t, uint64_t>> interrupted_;
  // The times at which attempts wrote their files, by sequence and id.
  std::map<uint64_t, std::map<uint64_t, std::chrono::system_clock::time_point>> attempts_;
  // The job_ids that the copies of an attempt to commit have. The keys are the sequence and the id
  // of the attempt; the newest attempt comes first.
  std::map<std::pair<uint64_t, uint64_t>, std::vector<std::string>, std::greater<>> job_ids_;
  std::map<std::string, Folder> folders_;  // of parts, by name
  std::vector<TableContents> tables_;      // the different schemas of the copies
  struct Commit {
    uint64_t sequence;
    std::vector<uint64_t> ids;
  };
  std::vector<std::vector<Commit>> commits_;  // the commits of the copies, for each of tables_
};

}  // namespace

bool SaysLost(const absl::Status& status) {
  return absl::IsDataLoss(status) || absl::IsNotFound(status);
}

absl::Status FindPartsByCopies(const Storage& storage, const ReaderOptions& options,
                               const TableContents* root, std::vector<TablePart> named,
                               Survey& survey) {
  return PartFinder(storage, options, root, std::move(named)).Find(survey);
}

}  // namespace cfile::internal
