#include "tools/import/type_reason.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "tools/utf8.h"

namespace cfile::tools {
namespace {

// True if people write `text` for a missing value. Any other text is a value, which must not be
// declared null so that a column gets another type.
bool MeansMissing(std::string_view text) {
  constexpr std::string_view kWords[] = {
      "-",       "--",      "?",     ".",       "\\n",         "n/a",      "n a",
      "#n/a",    "na",      "nan",   "null",    "(null)",      "nil",      "none",
      "missing", "unknown", "blank", "(blank)", "unavailable", "undefined"};
  const std::string lower = absl::AsciiStrToLower(absl::string_view(text.data(), text.size()));
  return std::find(std::begin(kWords), std::end(kWords), lower) != std::end(kWords);
}

}  // namespace

std::vector<TypeReason> ExplainTypes(CsvInput& input, std::span<const ColumnEvidence> columns,
                                     OldestReader oldest_reader) {
  std::vector<TypeReason> reasons(columns.size());
  struct Named {
    uint64_t offset = 0;
    size_t column = 0;
    bool missing = false;
  };
  std::vector<Named> named;  // the values whose lines are named
  for (size_t i = 0; i < columns.size(); ++i) {
    const auto cause = columns[i].inference.FindCause(oldest_reader);
    TypeReason& reason = reasons[i];
    if (!cause.has_value()) {
      reason.text = "no values";
      continue;
    }
    if (MeansMissing(cause->lone_text)) {
      reason.null_text = cause->lone_text;
      reason.type_without = cause->other_type.ToString();
    }
    reason.is_notable = !cause->is_first_value || !reason.null_text.empty();
    const bool is_string = columns[i].inference.Type(oldest_reader).data_type == DataType::kString;
    if (columns[i].inference.has_missing() && !is_string)
      named.push_back({columns[i].inference.first_missing(), i, true});
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
    const TextParts& parts = input.reader().parts();
    const std::string file = parts == nullptr ? "" : " of " + PartAt(parts, offset).name;
    TypeReason& reason = reasons[each.column];
    (each.missing ? reason.missing : reason.text) =
        absl::StrCat("line ", line, file, " has ", Quoted(input.reader().FieldText(offset)));
  }
  return reasons;
}

}  // namespace cfile::tools
