#include "tools/merge_rule.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cfile/filter.h"
#include "cfile/status.h"
#include "cfile/table_maintenance.h"
#include "tools/output.h"
#include "tools/utf8.h"
#include "tools/value_text.h"

namespace cfile::tools {
namespace {

// The bound of the time column as text; "" if there is none.
std::string TextOfBound(const TableReader& table) {
  if (!table.time_bound()) return "";
  const int64_t bound = *table.time_bound();
  const ColumnType& type = table.schema().columns[*table.schema().merge_rule->time_column].type;
  return VisitType(type, [&]<typename T>(std::type_identity<T>) {
    std::string text;
    if constexpr (std::is_same_v<T, int32_t> || std::is_same_v<T, int64_t>) {
      if (std::in_range<T>(bound)) AppendText<T>(type, static_cast<T>(bound), text);
    }
    return text.empty() ? absl::StrCat(bound) : text;
  });
}

}  // namespace

void SetMergeRule(const MergeOptions& options, Schema& schema) {
  if (options.rule.empty()) return;
  schema.merge_rule = {.deleted_column = schema.Find(options.deleted_column),
                       .time_column = schema.Find(options.time_column)};
}

std::string MergeRuleLines(const Schema& schema) {
  if (!schema.merge_rule) return "";
  const auto name = [&](size_t column) { return NameAsWritten(schema.columns[column].name); };
  std::vector<std::string> keys;
  for (const size_t column : schema.key_columns) keys.push_back(name(column));
  std::string lines = absl::StrCat("sorted by ", absl::StrJoin(keys, ", "), "\nmerge newest\n");
  const MergeRule& rule = *schema.merge_rule;
  if (rule.deleted_column)
    absl::StrAppend(&lines, "deleted column ", name(*rule.deleted_column), "\n");
  if (rule.time_column) absl::StrAppend(&lines, "time column ", name(*rule.time_column), "\n");
  return lines;
}

absl::Status TakeMergeRuleLines(std::string& text, std::vector<std::string>& sorted_by,
                                MergeOptions& options) {
  const std::pair<std::string_view, std::string*> lines[] = {
      {"merge ", &options.rule},
      {"deleted column ", &options.deleted_column},
      {"time column ", &options.time_column},
      {"sorted by ", nullptr}};
  while (true) {
    text.erase(text.find_last_not_of(" \t\r\n") + 1);
    const size_t begin = text.rfind('\n') + 1;
    const std::string_view line = std::string_view(text).substr(begin);
    bool found = false;
    for (const auto& [words, option] : lines) {
      if (!line.starts_with(words)) continue;
      found = true;
      CFILE_ASSIGN_OR_RETURN(auto names, ParseNames(line.substr(words.size())));
      if (option == nullptr) {
        if (sorted_by.empty()) sorted_by = std::move(names);
      } else if (names.size() != 1 || (option == &options.rule && names[0] != "newest")) {
        return absl::InvalidArgumentError(
            StrCat("expected ", words, option == &options.rule ? "newest" : "and one name",
                   ", found ", Quoted(line)));
      } else {
        *option = names[0];
      }
    }
    if (!found) return absl::OkStatus();
    text.erase(begin);
  }
}

std::string MergeRuleText(const TableReader& table) {
  const Schema& schema = table.schema();
  if (!schema.merge_rule) return "";
  const auto name = [&](size_t column) { return Printable(schema.columns[column].name); };
  std::string text = "newest";
  const MergeRule& rule = *schema.merge_rule;
  if (rule.deleted_column) absl::StrAppend(&text, "; deleted column ", name(*rule.deleted_column));
  if (rule.time_column) absl::StrAppend(&text, "; time column ", name(*rule.time_column));
  if (table.time_bound()) absl::StrAppend(&text, ", from ", TextOfBound(table), " on");
  return text;
}

Json MergeRuleJson(const TableReader& table) {
  const Schema& schema = table.schema();
  if (!schema.merge_rule) return Json();
  const auto name = [&](const std::optional<size_t>& column) {
    return column ? std::optional(schema.columns[*column].name) : std::nullopt;
  };
  const std::string bound = TextOfBound(table);
  return JsonObject({{"rule", "newest"},
                     {"deleted_column", name(schema.merge_rule->deleted_column)},
                     {"time_column", name(schema.merge_rule->time_column)},
                     {"time_bound", bound.empty() ? std::nullopt : std::optional(bound)}});
}

absl::Status RaiseTimeBound(const TableLocation& table, const std::string& time) {
  CFILE_ASSIGN_OR_RETURN(const TableReader reader, TableReader::Open(table));
  const std::optional<MergeRule>& rule = reader.schema().merge_rule;
  if (!rule || !rule->time_column) return cfile::RaiseTimeBound(table, 0);  // returns the error
  const ColumnType& type = reader.schema().columns[*rule->time_column].type;
  return VisitType(type, [&]<typename T>(std::type_identity<T>) -> absl::Status {
    if constexpr (std::is_same_v<T, int32_t> || std::is_same_v<T, int64_t>) {
      std::string scratch;
      CFILE_ASSIGN_OR_RETURN(const T bound, ParseText<T>(type, time, scratch));
      return cfile::RaiseTimeBound(table, bound);
    }
    return absl::InternalError("the time column has another type");
  });
}

}  // namespace cfile::tools
