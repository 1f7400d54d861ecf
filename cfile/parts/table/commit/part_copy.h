// Files in the folder of a part from which table.cft can be rebuilt (cfile/FORMAT.md, Table). A
// copy has the table's schema and the part's description; a mark says that the part was dropped.
// The sequence is the number of a commit.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "cfile/options.h"
#include "cfile/parts/table/manifest/table_contents.h"
#include "cfile/storage.h"

namespace cfile::internal {

// Identifies an attempt to commit. Of several attempts with the same sequence, at most one is the
// commit.
struct CommitTag {
  uint64_t sequence = 0;
  uint64_t id = 0;  // random
  friend bool operator==(const CommitTag&, const CommitTag&) = default;
};

absl::StatusOr<CommitTag> NewCommitTag(uint64_t sequence);

// Names of files that an attempt to commit writes into the folder of a part: a copy of the part's
// description, and the mark of a part that the attempt drops.
std::string PartCopyName(const CommitTag& tag);
std::string DroppedMarkName(const CommitTag& tag);

// nullopt: the name is not one of PartCopyName.
std::optional<CommitTag> ParsePartCopyName(std::string_view name);
// nullopt: the name is not one of DroppedMarkName. The mark of earlier versions, "dropped", counts
// as a mark with the greatest sequence.
std::optional<CommitTag> ParseDroppedMarkName(std::string_view name);

// NewTemporaryFolderName and IsTablePath are public in cfile/table_maintenance.h.
inline constexpr std::string_view kTemporaryFolderPrefix = "temporary-";
bool IsTablePath(std::string_view path);

// Returns what a copy holds: a table with only this part.
// `table`: the new contents of table.cft. `replaced`: the parts that `part` replaces.
TableContents CopyOfPart(const TableContents& table, const TablePart& part,
                         std::span<const TablePart> replaced);

// Reads the copies in the folder of a part, which may be a part that the table no longer has.
// Returns the contents of one copy. Its `replaced` has the names that all copies have there.
// kNotFound: there are none. kDataLoss: one is damaged. `files`: what storage.List(part) returns.
absl::StatusOr<TableContents> ReadCopies(const Storage& storage, const std::string& part,
                                         const ReaderOptions& limits);
absl::StatusOr<TableContents> ReadCopies(const Storage& storage, const std::string& part,
                                         std::span<const StorageEntry> files,
                                         const ReaderOptions& limits);

// Collects the commits that are known to have taken place.
class CommitHistory {
 public:
  // Adds the commits that `table` names, the contents of table.cft or of a copy. `attempt`: true if
  // `table` is a copy. The attempt that wrote it may have failed, and is not added.
  void Add(const TableContents& table, bool attempt);

  // Adds a commit, unless another commit with its sequence is known.
  void Add(const CommitTag& tag) { ids_.emplace(tag.sequence, tag.id); }

  // True if the attempt `tag` is known to be a commit.
  bool Proves(const CommitTag& tag) const;
  // True if another attempt is known to be the commit with the sequence of `tag`, which has then
  // failed.
  bool Disproves(const CommitTag& tag) const;

 private:
  std::map<uint64_t, uint64_t> ids_;  // by sequence
};

}  // namespace cfile::internal
