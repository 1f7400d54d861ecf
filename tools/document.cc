#include "tools/document.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "tools/utf8.h"
#include "tools/value_text.h"

namespace cfile::tools {
namespace {

// {"text": ..., "exact": ...}, or null if the bound is not known.
Json JsonBound(const std::optional<std::string>& text, bool exact) {
  if (!text) return nullptr;
  return JsonObject({{"text", *text}, {"exact", exact}});
}

TextLines FormOf(const std::vector<Heading>& headings) {
  std::vector<TextColumn> columns;
  std::vector<size_t> widths;
  for (const Heading& heading : headings) {
    columns.push_back(heading.form);
    widths.push_back(std::max(heading.cells, heading.name.size()));
  }
  return TextLines(std::move(columns), widths, OutputWidth());
}

std::vector<std::string> NamesOf(const std::vector<Heading>& headings) {
  std::vector<std::string> names;
  for (const Heading& heading : headings) names.push_back(heading.name);
  return names;
}

}  // namespace

BoundTexts TextOfBounds(const ColumnType& type, const BlockStatistics& statistics) {
  return VisitType(type, [&]<typename T>(std::type_identity<T>) {
    const auto text = [&](const std::optional<Owned<T>>& value) -> std::optional<std::string> {
      if (!value) return std::nullopt;
      std::string out;
      T bound(*value);
      if constexpr (kIsFloat<T>) {
        // The sign of a zero bound has no meaning: files store bounds that hold both zeros.
        if (bound == 0) bound = 0;
      }
      AppendText<T>(type, bound, out);
      return out;
    };
    return BoundTexts{text(statistics.Min<T>()), text(statistics.Max<T>())};
  });
}

std::string BoundInLine(const std::optional<std::string>& text, size_t max_bytes) {
  if (!text) return "-";
  return CutInLine(Printable(*text), max_bytes);
}

std::string CutInLine(const std::string& text, size_t max_bytes) {
  const std::string_view shown = CutText(text, max_bytes);
  return std::string(shown) + (shown.size() < text.size() ? "..." : "");
}

void Record::AddBytes(std::string_view name, std::string_view bytes) {
  Add(name, bytes, Printable(bytes));
}

void Record::AddBounds(const ColumnType& type, const BlockStatistics& statistics,
                       size_t max_bytes) {
  const BoundTexts bounds = TextOfBounds(type, statistics);
  Add("minimum", JsonBound(bounds.min, statistics.min_exact), BoundInLine(bounds.min, max_bytes));
  Add("maximum", JsonBound(bounds.max, statistics.max_exact), BoundInLine(bounds.max, max_bytes));
}

Json Table::json() const {
  Json list = Json::array();
  for (const Record& record : records_) list.push_back(record.json());
  return list;
}

std::string Table::text() const {
  std::vector<std::vector<std::string>> lines;
  std::vector<TextColumn> columns;
  for (const Heading& heading : headings_) columns.push_back(heading.form);
  const bool named =
      std::ranges::any_of(headings_, [](const auto& each) { return !each.name.empty(); });
  if (named) lines.push_back(NamesOf(headings_));
  for (const Record& record : records_) {
    lines.push_back(record.cells());
    lines.back().resize(headings_.size());
  }
  return AlignText(lines, columns, OutputWidth());
}

Document::Document(bool json, const std::string& path, size_t name_cells)
    : Record(json), name_cells_(name_cells) {
  AddJson({{"schema_version", 1}, {"path", path}});
}

void Document::AddPath(std::string_view name, const std::string& path) {
  AppendLine(name, Printable(path), /*keep_end=*/true);
}

void Document::AddText(std::string_view name, const std::string& text) {
  AppendLine(name, text, /*keep_end=*/false);
}

void Document::AppendLine(std::string_view name, const std::string& text, bool keep_end) {
  if (is_json()) return;
  absl::StrAppendFormat(&text_, "%-*s %s\n", static_cast<int>(name_cells_) - 1,
                        absl::StrReplaceAll(std::string(name), {{"_", " "}}),
                        ShortenedForOutput(text, name_cells_, keep_end));
}

void Document::AddTable(std::string_view name, const Table& table) {
  if (is_json()) {
    AddJson({{name, table}});
  } else if (table.has_text()) {
    text_ += table.text();
  }
}

List::List(const Document& before, std::string_view name, const std::vector<Heading>& headings,
           Output& output)
    : is_json_(before.is_json()), form_(FormOf(headings)), output_(output) {
  output_.text += is_json_ ? before.json().dump() : before.text();
  if (is_json_) {
    output_.text.back() = ',';
    AppendJsonBytes(name, output_.text);
    output_.text += ":[";
  } else if (!headings.empty()) {
    form_.Append(NamesOf(headings), output_.text);
  }
}

void List::Add(const Record& record) {
  is_json_ ? Add(record.json()) : form_.Append(record.cells(), output_.text);
}

void List::Add(const Document& record) {
  is_json_ ? Add(record.json()) : static_cast<void>(output_.text += record.text());
}

void List::Add(const Json& record) {
  absl::StrAppend(&output_.text, std::exchange(separator_, ",\n"), record.dump());
}

void List::Finish(const absl::Status& status, const Json& more) {
  if (!is_json_) return form_.AppendNote(output_.text);
  Json last = Json::object();
  if (!status.ok()) last["error"] = JsonOf(MessageOf(status));
  last.update(more);
  std::string members = last.dump();
  if (last.size() > 0) members[0] = ',';
  absl::StrAppend(&output_.text, "]", last.size() > 0 ? members : "}", "\n");
}

}  // namespace cfile::tools
