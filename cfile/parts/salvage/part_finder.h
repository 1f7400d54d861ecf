// Finds the parts of a table by the copies of their descriptions (cfile/FORMAT.md, Table).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "cfile/options.h"
#include "cfile/parts/table/manifest/table_contents.h"
#include "cfile/storage.h"

namespace cfile::internal {

struct SurveyedPart {
  TablePart part;        // described by the schema of Survey::root
  bool has_copy = true;  // false: a copy is missing or cannot be read
  absl::Status damage;   // of the part's files
  // The marks that failed attempts to drop the part have left in its folder.
  std::vector<std::string> stale_marks = {};
};

// A part that has files in the storage, but does not belong to the table.
struct OtherPart {
  // See RepairedPart::State.
  enum class Kind : uint8_t { kLeftOut, kDropped, kUncommitted, kUnknown };
  std::string name;
  Kind kind = Kind::kUnknown;
  uint64_t num_rows = 0;
  std::string reason;
};

struct Survey {
  std::optional<std::string> version;  // of table.cft; nullopt: there is none
  std::string table_bytes;             // of table.cft
  std::string damage;                  // of table.cft or a chunk; empty: none
  std::string copy_damage;             // the first copy that table.cft needs but that is lost
  bool finds_parts = false;            // whether parts that table.cft does not name are added
  // The table without parts and chunks, with the greatest sequence (the number of a commit) that
  // was found.
  TableContents root;
  std::vector<SurveyedPart> parts = {};  // the parts of the table, in order
  std::vector<OtherPart> others = {};
};

// True for errors which say that data is lost, and not only that it cannot be read now, or on this
// computer.
bool SaysLost(const absl::Status& status);

// Reads the copies of the parts' descriptions, and sets the members root, parts, others and
// copy_damage of `survey`. If survey.finds_parts is false, `others` gets only the parts that an
// earlier Repair has left out. `root`: the contents of table.cft, or null if it cannot be read.
// `named`: the parts that are known to be in the table, in order. Errors: those of Repair.
absl::Status FindPartsByCopies(const Storage& storage, const ReaderOptions& options,
                               const TableContents* root, std::vector<TablePart> named,
                               Survey& survey);

}  // namespace cfile::internal
