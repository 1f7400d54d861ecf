// Finds the parts of a table by the copies of their descriptions (cfile/FORMAT.md, Table).
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
  bool has_copy = true;  // whether a copy of it was found; not looked up if table.cft is sound
  std::string damage;    // what is damaged in its files; empty: nothing
  // The marks in its folder that belong to failed attempts to drop the part (part_survey.cc).
  std::vector<std::string> stale_marks = {};
};

// A part that has files but does not belong to the table.
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
  // The table without parts and chunks. The sequence is the greatest one that was found.
  TableContents root;
  std::vector<SurveyedPart> parts = {};  // the parts of the table, in order
  std::vector<OtherPart> others = {};
};

struct SurveyOptions {
  bool always_find = false;  // look up the parts in their folders, even if table.cft is sound
  bool verify = false;       // read all values
  ReaderOptions reader;
};

// True for errors that say that something is lost, not that it cannot be read now or here.
bool SaysLost(const absl::Status& status);

// Sets root, parts and others of `survey`. `root`: what table.cft says; null: it cannot be read.
// `named`: the parts that are known to be in the table, in order. Errors as Repair.
absl::Status FindPartsByCopies(const Storage& storage, const SurveyOptions& options,
                               const TableContents* root, std::vector<TablePart> named,
                               Survey& survey);

}  // namespace cfile::internal
