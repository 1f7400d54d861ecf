// The files in the folder of a part from which table.cft can be rebuilt (cfile/FORMAT.md, Table):
// copies of the schema and of the part's description, and the marks of dropped parts.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "cfile/internal/manifest/table_contents.h"

namespace cfile::internal {

// Identifies an attempt to commit. Two attempts may have the same sequence; one of them at most is
// the commit with this sequence.
struct CommitTag {
  uint64_t sequence = 0;
  uint64_t id = 0;  // random
  friend bool operator==(const CommitTag&, const CommitTag&) = default;
};

absl::StatusOr<CommitTag> NewCommitTag(uint64_t sequence);

// The names of the files that an attempt to commit writes into the folder of a part: a copy of the
// part's description, and the mark of a part that it drops.
std::string PartCopyName(const CommitTag& tag);
std::string DroppedMarkName(const CommitTag& tag);

// nullopt: the name is not one of PartCopyName.
std::optional<CommitTag> ParsePartCopyName(std::string_view name);
// nullopt: the name is not one of DroppedMarkName. The mark of earlier versions, "dropped", has the
// greatest sequence.
std::optional<CommitTag> ParseDroppedMarkName(std::string_view name);

// What a copy holds: a table with only this part. `table`: the table that has been or will be
// committed. `replaced`: the parts that the part replaces.
TableContents CopyOfPart(const TableContents& table, const TablePart& part,
                         std::span<const TablePart> replaced);

// The commits that are known to have taken place.
class CommitHistory {
 public:
  // Adds the commits that `table` names. `table`: a table.cft, or a copy. A copy may belong to an
  // attempt that failed: then call this with `attempt`, so that its own commit is left out.
  void Add(const TableContents& table, bool attempt);

  // Adds a commit, unless another one with this sequence is known.
  void Add(const CommitTag& tag) { ids_.emplace(tag.sequence, tag.id); }

  // True if another attempt has taken the place of this one.
  bool Disproves(const CommitTag& tag) const;

 private:
  std::map<uint64_t, uint64_t> ids_;  // by sequence
};

}  // namespace cfile::internal
