// Finds the parts of a table by the copies of their descriptions (cfile/FORMAT.md, Table).
// A copy is a file in the folder of a part. It has the description of this part.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "cfile/internal/manifest/table_contents.h"
#include "cfile/options.h"
#include "cfile/storage.h"

namespace cfile::internal {

struct SurveyedPart {
  TablePart part;        // described by the schema of Survey::root
  bool has_copy = true;  // false: no copy was found; true, too, if table.cft is sound
  std::string damage;    // what is damaged in the part's files; empty: nothing
  // The marks in the folder of the part that failed attempts to drop the part have left.
  // A mark is a file that says that the part was dropped.
  std::vector<std::string> stale_marks = {};
};

// A part that has files in the storage, but does not belong to the table.
struct OtherPart {
  // See RepairedPart::State.
  enum class Kind : uint8_t { kDamaged, kDropped, kUncommitted, kUnknown };
  std::string name;
  Kind kind = Kind::kUnknown;
  uint64_t num_rows = 0;
  std::string reason;
};

struct Survey {
  std::optional<std::string> version;  // of table.cft; nullopt: there is none
  std::string table_bytes;             // of table.cft
  std::string damage;                  // see RepairReport
  bool rebuilt = false;                // whether the parts were looked up in their folders
  // The table without parts and chunks.
  // Its sequence (the number of a commit) is the greatest one that was found.
  TableContents root;
  std::vector<SurveyedPart> parts = {};  // the parts of the table, in order
  std::vector<OtherPart> others = {};
};

struct SurveyOptions {
  bool always_find = false;  // look up the parts in their folders, even if table.cft is sound
  bool verify = false;       // read all values
  ReaderOptions reader;
};

// True for errors which say that data is lost.
// False for errors which say only that data cannot be read now, or on this computer.
bool SaysLost(const absl::Status& status);

// Sets root, parts and others of `survey`.
// `root`: the contents of table.cft; null: table.cft cannot be read.
// `named`: the parts that are known to be in the table, in order. Errors as Repair.
absl::Status FindPartsByCopies(const Storage& storage, const SurveyOptions& options,
                               const TableContents* root, std::vector<TablePart> named,
                               Survey& survey);

}  // namespace cfile::internal
