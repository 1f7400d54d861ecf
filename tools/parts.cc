#include "tools/parts.h"

#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "cfile/filter.h"
#include "cfile/status.h"
#include "tools/command.h"

namespace cfile::tools {

absl::StatusOr<size_t> ChosenPart(const TableReader& table, const std::string& text) {
  if (text.find_first_not_of("0123456789") == std::string::npos) {
    uint64_t number = 0;
    if (absl::SimpleAtoi(text, &number) && number < table.num_parts()) return number;
    return absl::InvalidArgumentError(
        absl::StrCat("there is no part ", text, ": ", table.directory(), " has ", table.num_parts(),
                     table.num_parts() == 1 ? " part" : " parts", ", counted from 0"));
  }
  std::vector<size_t> found;
  std::vector<std::string> names;
  for (size_t i = 0; i < table.num_parts(); ++i) {
    CFILE_ASSIGN_OR_RETURN(const PartInfo part, table.part(i));
    if (part.name == text) return i;
    if (part.name.starts_with(text)) found.push_back(i);
    names.push_back(part.name);
  }
  if (found.size() == 1) return found[0];
  if (!found.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(table.directory(), ": the names of ",
                                                   found.size(), " parts begin with ", text));
  }
  return absl::InvalidArgumentError(absl::StrCat(
      table.directory(), ": no part has a name that begins with ", text, Suggestion(text, names)));
}

}  // namespace cfile::tools
