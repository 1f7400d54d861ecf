#include "tools/import/type_reason.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "absl/strings/str_cat.h"
#include "tools/utf8.h"

namespace cfile::tools {
namespace {

// A longer text is hardly a mark for missing values.
constexpr size_t kMaxNullBytes = 40;

}  // namespace

std::vector<TypeReason> ExplainTypes(CsvInput& input, std::span<const ColumnEvidence> columns,
                                     Compatibility compatibility) {
  std::vector<TypeReason> reasons(columns.size());
  struct Named {
    uint64_t offset = 0;
    size_t column = 0;
  };
  std::vector<Named> named;  // the values whose lines are named
  for (size_t i = 0; i < columns.size(); ++i) {
    const auto cause = columns[i].inference.FindCause(compatibility);
    TypeReason& reason = reasons[i];
    if (!cause.has_value()) {
      reason.text = "no values";
      continue;
    }
    if (cause->lone_text.size() <= kMaxNullBytes && !cause->lone_text.empty()) {
      reason.null_text = cause->lone_text;
      reason.type_without = cause->other_type.ToString();
    }
    reason.is_notable = !cause->is_first_value || !reason.null_text.empty();
    const bool is_string = columns[i].inference.Type(compatibility).data_type == DataType::kString;
    if (cause->is_first_value && !is_string) {
      reason.text = "all values";
    } else {
      named.push_back({cause->offset, i});
    }
  }
  std::sort(named.begin(), named.end(),
            [](const Named& a, const Named& b) { return a.offset < b.offset; });
  uint64_t line = 1, offset = 0;
  for (const Named& each : named) {
    line = input.reader().Line(each.offset, offset, line);
    offset = each.offset;
    reasons[each.column].text =
        absl::StrCat("line ", line, " has ", Quoted(input.reader().FieldText(offset)));
  }
  return reasons;
}

}  // namespace cfile::tools
