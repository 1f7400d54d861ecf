// What a command prints. A command names each value once; the classes below make text or JSON of
// it, whichever the user asked for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "cfile/statistics.h"
#include "cfile/status.h"
#include "cfile/types.h"
#include "tools/json.h"
#include "tools/output.h"
#include "tools/progress.h"
#include "tools/text_table.h"

namespace cfile::tools {

// The bounds as text, in the form of tools/value_text.h. Strings are not escaped. nullopt: the
// bound is not known. If a bound is not exact, perhaps no value is equal to its text.
struct BoundTexts {
  std::optional<std::string> min;
  std::optional<std::string> max;
};
BoundTexts TextOfBounds(const ColumnType& type, const BlockStatistics& statistics);

// The bound on one line, escaped by AppendPrintable and cut as CutInLine does. "-" if the bound is
// not known.
std::string BoundInLine(const std::optional<std::string>& text, size_t max_bytes);

// Returns `text` if it has at most `max_bytes` bytes, otherwise as many of its first characters,
// and "...".
std::string CutInLine(const std::string& text, size_t max_bytes);

// The properties of one thing, such as a block: in JSON the members of an object, in text the cells
// of a line. A Record makes only the form that the user asked for.
class Record {
 public:
  explicit Record(bool json) : is_json_(json), json_(Json::object()) {}
  Record(Record&&) = default;
  virtual ~Record() = default;

  void Add(std::string_view name, uint64_t number) { Add(name, number, std::to_string(number)); }
  // In text, the number has commas: 1,234.
  void AddCount(std::string_view name, uint64_t number) { Add(name, number, WithCommas(number)); }
  void AddFlag(std::string_view name, bool value) { Add(name, value, value ? "yes" : "no"); }
  // The bytes need not be UTF-8. Text shows them escaped.
  void AddBytes(std::string_view name, std::string_view bytes);
  // "minimum" and "maximum", of which text shows at most `max_bytes` bytes.
  void AddBounds(const ColumnType& type, const BlockStatistics& statistics, size_t max_bytes);
  // Adds `value` in JSON, and `text` in text.
  void Add(std::string_view name, const auto& value, const std::string& text) {
    is_json_ ? AddJson({{name, value}}) : AddText(name, text);
  }
  // AddJson adds nothing in text, AddText nothing in JSON.
  void AddJson(std::initializer_list<Fact> facts) {
    if (is_json_) AddFacts(facts, json_);
  }
  virtual void AddText(std::string_view /*name*/, const std::string& text) {
    if (!is_json_) cells_.push_back(text);
  }
  // Adds "error" in JSON, unless `status` is OK. With text, errors go to stderr.
  void AddError(const absl::Status& status) {
    if (!status.ok()) AddJson({{"error", MessageOf(status)}});
  }

  bool is_json() const { return is_json_; }
  const Json& json() const { return json_; }
  const std::vector<std::string>& cells() const { return cells_; }

 private:
  const bool is_json_;
  Json json_;
  std::vector<std::string> cells_;
};

// The head of a column of text.
struct Heading {
  std::string name;
  TextColumn form = {};
  size_t cells = 0;  // the width, for List
};
inline constexpr TextColumn kNumberColumn = {.right = true};

// Records of one kind, which are printed together: in text, a line for each, with columns as wide
// as their longest cells, after a line of headings, unless all are empty. A table that has no
// headings prints no text.
class Table {
 public:
  explicit Table(bool json, std::vector<Heading> headings = {})
      : is_json_(json), headings_(std::move(headings)) {}

  // The reference is valid until the next call. A line may have fewer cells than there are
  // headings.
  Record& Add(std::initializer_list<Fact> facts = {}) {
    records_.emplace_back(is_json_).AddJson(facts);
    return records_.back();
  }
  size_t size() const { return records_.size(); }
  bool has_text() const { return !headings_.empty() && !records_.empty(); }
  Json json() const;
  std::string text() const;

 private:
  const bool is_json_;
  std::vector<Heading> headings_;
  std::vector<Record> records_;
};

// All that a command prints: values, tables and other text. In text, a value is a line with its
// name.
class Document : public Record {
 public:
  // `path`: what the command reads or changes; JSON begins with it. `name_cells`: the width of the
  // names in text, in cells of a terminal.
  Document(bool json, const std::string& path, size_t name_cells = 0);
  // A part of a document, for List: JSON begins without members.
  explicit Document(bool json) : Record(json), name_cells_(0) {}

  // Adds the line "NAME PATH" to text. The constructor has added the path to JSON.
  void AddPath(std::string_view name, const std::string& path);
  // Adds a line with the name, in which blanks replace underscores, and with the value, which is
  // cut to the width of the output.
  void AddText(std::string_view name, const std::string& text) override;
  void AddTable(std::string_view name, const Table& table);
  // Adds text that JSON does not have. AddLine adds a line of it.
  void Append(std::string_view text) {
    if (!is_json()) text_ += text;
  }
  void AddLine(const auto&... parts) { Append(StrCat(parts..., "\n")); }
  const std::string& text() const { return text_; }
  // `indent`: see Json::dump.
  void PrintTo(Output& output, int indent = 2) const {
    output.text += is_json() ? json().dump(indent) + "\n" : text_;
  }

 private:
  void AppendLine(std::string_view name, const std::string& text, bool keep_end);

  const size_t name_cells_;
  std::string text_;
};

// Records of one kind, which are printed one by one, because there may be millions. In JSON they
// are the last member of a document: {..., NAME: [RECORD, ...], "error": ...}.
class List {
 public:
  // Prints `before`, which the list follows. `headings`: empty if the records are documents.
  List(const Document& before, std::string_view name, const std::vector<Heading>& headings,
       Output& output);
  void Add(const Record& record);
  // Adds a record whose text is not a line of a table.
  void Add(const Document& record);
  // Ends the list. In JSON, an error and the members of `more`, which is an object, follow it.
  void Finish(const absl::Status& status, const Json& more = Json::object());

 private:
  void Add(const Json& record);

  const bool is_json_;
  const TextLines form_;
  Output& output_;
  const char* separator_ = "\n";
};

}  // namespace cfile::tools
