// Merge rules (cfile/schema.h) on command lines, in texts and in the text of a schema.
//
// In the text of a schema, these lines follow the record if the table has a rule. cfile-import
// --schema takes them as its options.
//
//   sorted by day, name
//   merge newest
//   deleted column gone
//   time column at
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/schema.h"
#include "cfile/storage.h"
#include "cfile/table.h"
#include "tools/json.h"

namespace cfile::tools {

// --merge, --deleted-column and --time-column. "": not given.
struct MergeOptions {
  std::string rule;  // "newest"
  std::string deleted_column, time_column;
};

// Gives a schema the rule. Its key columns are not set yet. Precondition: the columns exist.
void SetMergeRule(const MergeOptions& options, Schema& schema);

// The lines above; "" if there is no rule.
std::string MergeRuleLines(const Schema& schema);
// Moves these lines from the end of `text` into the options. kInvalidArgument: a line has no list
// of names, or names several columns of the rule.
absl::Status TakeMergeRuleLines(std::string& text, std::vector<std::string>& sorted_by,
                                MergeOptions& options);

// "newest; deleted column gone; time column at, from 2024-01-01 on"; "" if the table has no rule.
std::string MergeRuleText(const TableReader& table);
// {"rule":"newest","deleted_column":"gone","time_column":"at","time_bound":"2024-01-01"}, without
// members that the table does not have.
Json MergeRuleJson(const TableReader& table);

// Raises the bound of the table's time column (cfile/table_maintenance.h). `time`: a text as
// tools/value_text.h describes it. kInvalidArgument: `time` is no such text. Other errors: those of
// cfile::RaiseTimeBound.
absl::Status RaiseTimeBound(const TableLocation& table, const std::string& time);

}  // namespace cfile::tools
