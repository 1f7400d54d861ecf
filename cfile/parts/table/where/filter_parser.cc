#include "cfile/filter.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "cfile/parts/table/where/filter_error.h"

namespace cfile {
namespace internal {
namespace {

bool BeginsCharacter(char c) { return (c & 0xc0) != 0x80; }  // of UTF-8

}  // namespace

std::string QuotedText(std::string_view text) {
  size_t size = std::min<size_t>(text.size(), 60);
  while (size > 0 && size < text.size() && !BeginsCharacter(text[size])) --size;
  const std::string shown =
      absl::StrReplaceAll(absl::Utf8SafeCEscape({text.data(), size}), {{"\\'", "'"}});
  return absl::StrCat("\"", shown, size < text.size() ? "..." : "", "\"");
}

absl::Status FilterError(std::string_view text, size_t offset, std::string_view what) {
  std::string place = "at the end";
  if (offset < text.size()) {
    const std::string_view before = text.substr(0, offset);
    place =
        absl::StrCat("character ", std::count_if(before.begin(), before.end(), BeginsCharacter) + 1,
                     ": ", QuotedText(text.substr(offset)));
  }
  return absl::InvalidArgumentError(
      absl::StrCat(absl::string_view(what.data(), what.size()), " (", place, ")"));
}

PredicateKind Turned(PredicateKind kind) {
  using Kind = PredicateKind;
  constexpr Kind kTurned[] = {Kind::kEqual,          Kind::kNotEqual, Kind::kGreater,
                              Kind::kGreaterOrEqual, Kind::kLess,     Kind::kLessOrEqual};
  return kTurned[static_cast<size_t>(kind)];
}

}  // namespace internal
namespace {

using internal::FilterError;
using Condition = TextCondition;
using Kind = Condition::Kind;

constexpr std::string_view kBlanks = " \t\r\n";
constexpr std::string_view kExpectedTest =
    "one of = != < <= > >= ~ !~ NOT BETWEEN IN LIKE ILIKE BEGINS CONTAINS IS (write a column whose "
    "name has blanks in double quotes)";
constexpr std::string_view kExpectedEnd =
    "AND, OR or the end; write text with keywords, quotes or signs in single quotes";
// Parentheses and NOT may be nested so deep.
constexpr size_t kMaxDepth = 100;

bool IsOneOf(std::string_view characters, char c) {
  return characters.find(c) != std::string_view::npos;
}

// Appends the quoted text at `offset` of `text` to `out`, without its quotes, and moves `offset`
// after the closing quote. Two quotes inside the text stand for one quote. False if there is no
// closing quote.
bool TakeQuoted(std::string_view text, size_t& offset, std::string& out) {
  const char quote = text[offset];
  for (++offset; offset < text.size(); ++offset) {
    if (text[offset] == quote) {
      ++offset;
      if (offset == text.size() || text[offset] != quote) return true;
    }
    out += text[offset];
  }
  return false;
}

bool IsKeyword(std::string_view word) {
  constexpr std::array kKeywords = {"AND",   "OR", "NOT",     "IS",     "NULL",     "LIKE",
                                    "ILIKE", "IN", "BETWEEN", "BEGINS", "CONTAINS", "ESCAPE"};
  return std::any_of(kKeywords.begin(), kKeywords.end(), [&](const char* keyword) {
    return absl::EqualsIgnoreCase(absl::string_view(word.data(), word.size()), keyword);
  });
}

struct Token {
  enum class Kind : uint8_t { kEnd, kWord, kName, kText, kSymbol };

  Kind kind = Kind::kEnd;
  std::string text = {};  // without quotes
  size_t offset = 0;
  size_t end = 0;

  bool Is(std::string_view symbol) const { return kind == Kind::kSymbol && text == symbol; }
  // Compares without regard to case.
  bool IsWord(std::string_view word) const {
    return kind == Kind::kWord &&
           absl::EqualsIgnoreCase(text, absl::string_view(word.data(), word.size()));
  }
  bool IsKeyword() const { return kind == Kind::kWord && cfile::IsKeyword(text); }
};

class Parser {
 public:
  explicit Parser(std::string_view where) : where_(where) {}

  absl::StatusOr<ParsedFilter> Parse() {
    if (absl::Status status = Advance(); !status.ok()) return status;
    auto filter = ParseJoined("OR", 0);
    if (filter.ok() && token_.kind != Token::Kind::kEnd) return Expected(kExpectedEnd);
    return filter;
  }

 private:
  absl::Status Error(std::string_view what) const {
    return FilterError(where_, token_.offset, what);
  }
  absl::Status Expected(std::string_view what) const {
    return Error(absl::StrCat("expected ", std::string(what)));
  }

  // Parses operands that `keyword` joins: OR or AND.
  absl::StatusOr<ParsedFilter> ParseJoined(std::string_view keyword, size_t depth) {
    const bool any = keyword == "OR";
    ParsedFilter joined{.kind = any ? Filter::Kind::kOr : Filter::Kind::kAnd};
    while (true) {
      auto operand = any ? ParseJoined("AND", depth) : ParseOne(depth);
      if (!operand.ok()) return operand.status();
      joined.operands.push_back(*std::move(operand));
      if (!token_.IsWord(keyword)) break;
      if (absl::Status status = Advance(); !status.ok()) return status;
    }
    if (joined.operands.size() > 1) return joined;
    ParsedFilter only = std::move(joined.operands[0]);
    return only;
  }

  absl::StatusOr<ParsedFilter> ParseOne(size_t depth) {
    const bool group = token_.Is("(");
    if (!group && !IsNegation()) return ParseCondition();
    if (depth == kMaxDepth) return Error("parentheses and NOT are nested too deep");
    if (absl::Status status = Advance(); !status.ok()) return status;
    if (!group) {
      auto operand = ParseOne(depth + 1);
      if (!operand.ok()) return operand.status();
      return Negated(*std::move(operand));
    }
    auto inner = ParseJoined("OR", depth + 1);
    if (!inner.ok()) return inner.status();
    if (!token_.Is(")")) return Expected("AND, OR or )");
    if (absl::Status status = Advance(); !status.ok()) return status;
    return inner;
  }

  static ParsedFilter Negated(ParsedFilter operand) {
    ParsedFilter negated{.kind = Filter::Kind::kNot};
    negated.operands.push_back(std::move(operand));
    return negated;
  }

  // True if the token is the keyword NOT, not a column with this name: no sign follows.
  bool IsNegation() const {
    if (!token_.IsWord("NOT")) return false;
    const size_t next = where_.find_first_not_of(kBlanks, token_.end);
    return next == std::string_view::npos || SymbolSize(next) == 0 || where_[next] == '(';
  }

  absl::Status Advance() {
    before_ = where_.substr(token_.offset, token_.end - token_.offset);
    const size_t begin = std::min(where_.find_first_not_of(kBlanks, token_.end), where_.size());
    token_ = {.offset = begin, .end = begin};
    if (begin == where_.size()) return absl::OkStatus();
    const char first = where_[begin];
    if (first == '\'' || first == '"') {
      token_.kind = first == '"' ? Token::Kind::kName : Token::Kind::kText;
      if (!TakeQuoted(where_, token_.end, token_.text)) return Error("a quote is not closed");
      return absl::OkStatus();
    }
    token_.end += SymbolSize(begin);
    token_.kind = token_.end > begin ? Token::Kind::kSymbol : Token::Kind::kWord;
    while (token_.kind == Token::Kind::kWord && token_.end < where_.size() &&
           !IsOneOf(kBlanks, where_[token_.end]) && SymbolSize(token_.end) == 0) {
      if (where_[token_.end] == '\'' || where_[token_.end] == '"') {
        return Error("a quote inside a word: write all of the value in single quotes");
      }
      ++token_.end;
    }
    token_.text = where_.substr(begin, token_.end - begin);
    for (const auto& [sign, word] : {std::pair("&&", "AND"), std::pair("||", "OR")}) {
      if (token_.text.find(sign) != std::string::npos)
        return Error(absl::StrCat("write ", word, " instead of ", sign,
                                  ", or all of the value in single quotes"));
    }
    return absl::OkStatus();
  }

  // Length in bytes of the symbol at `offset`; 0 if there is none.
  size_t SymbolSize(size_t offset) const {
    constexpr std::array<std::string_view, 13> kSymbols = {"==", "!=", "!~", "<>", "<=", ">=", "=",
                                                           "<",  ">",  "~",  "(",  ")",  ","};
    for (const std::string_view symbol : kSymbols) {
      if (where_.substr(offset).starts_with(symbol)) return symbol.size();
    }
    return 0;
  }

  absl::StatusOr<ParsedFilter> ParseCondition() {
    ParsedFilter parsed;
    Condition& condition = parsed.condition;
    condition.column_offset = token_.offset;
    if (token_.kind == Token::Kind::kText) return ParseTurned();
    if (token_.kind != Token::Kind::kWord && token_.kind != Token::Kind::kName) {
      return Expected(where_.find_first_not_of(kBlanks) == std::string_view::npos
                          ? "a condition such as carrier = 'UA'"
                          : "a column (a name in double quotes, or a word)");
    }
    condition.column = token_.text;
    if (absl::Status status = Advance(); !status.ok()) return status;
    condition.kind_offset = token_.offset;
    if (token_.kind == Token::Kind::kEnd || token_.Is(")") || token_.IsWord("AND") ||
        token_.IsWord("OR")) {
      return parsed;  // a column of true and false
    }
    const bool negated_word = token_.IsWord("NOT");
    if (negated_word) {
      if (absl::Status status = Advance(); !status.ok()) return status;
    }
    const bool negated = negated_word || token_.Is("!~");
    condition.kind_offset = token_.offset;
    if (absl::Status status = ParseTest(negated_word, condition); !status.ok()) return status;
    return negated ? Negated(std::move(parsed)) : parsed;
  }

  // Parses a text, an operator and a column: 'UA' = carrier.
  absl::StatusOr<ParsedFilter> ParseTurned() {
    ParsedFilter parsed;
    Condition& condition = parsed.condition;
    condition.values.push_back({.text = token_.text, .offset = token_.offset});
    if (absl::Status status = Advance(); !status.ok()) return status;
    const std::optional<Kind> kind = Comparison(token_);
    if (!kind || *kind > Kind::kGreaterOrEqual) {
      return Expected(
          "= != < <= > or >= and a column after the text (columns are words, or in double "
          "quotes)");
    }
    condition.kind = internal::Turned(*kind);
    condition.kind_offset = token_.offset;
    if (absl::Status status = Advance(); !status.ok()) return status;
    if (token_.kind != Token::Kind::kWord && token_.kind != Token::Kind::kName)
      return Expected("a column");
    condition.column = token_.text;
    condition.column_offset = token_.offset;
    if (absl::Status status = Advance(); !status.ok()) return status;
    return parsed;
  }

  // Parses what follows the column, or NOT if `negated`.
  absl::Status ParseTest(bool negated, Condition& condition) {
    const Token relation = token_;
    const std::optional<Kind> compared = Comparison(relation);
    const bool word = relation.IsWord("BETWEEN") || relation.IsWord("IN") ||
                      (compared && relation.kind == Token::Kind::kWord);
    if (relation.Is("==")) return Error("write = instead of ==");
    if (negated && !word) return Expected("BETWEEN, IN, LIKE, ILIKE, BEGINS or CONTAINS after NOT");
    if (!compared && !word && !relation.IsWord("IS")) return Expected(kExpectedTest);
    if (absl::Status status = Advance(); !status.ok()) return status;
    if (compared) {
      condition.kind = *compared;
      if (absl::Status status = ParseValue(condition, *compared <= Kind::kGreaterOrEqual);
          !status.ok() || !token_.IsWord("ESCAPE") ||
          (*compared != Kind::kLike && *compared != Kind::kILike)) {
        return status;
      }
      if (absl::Status status = Advance(); !status.ok()) return status;
      return ParseValue(condition);
    }
    if (relation.IsWord("BETWEEN")) return ParseBetween(condition);
    return relation.IsWord("IN") ? ParseIn(condition) : ParseIs(condition);
  }

  // The kind of an operator that is followed by one value; nullopt for other tokens.
  static std::optional<Kind> Comparison(const Token& token) {
    if (token.Is("=")) return Kind::kEqual;
    if (token.Is("!=") || token.Is("<>")) return Kind::kNotEqual;
    if (token.Is("<")) return Kind::kLess;
    if (token.Is("<=")) return Kind::kLessOrEqual;
    if (token.Is(">")) return Kind::kGreater;
    if (token.Is(">=")) return Kind::kGreaterOrEqual;
    if (token.Is("~") || token.Is("!~")) return Kind::kMatches;
    if (token.IsWord("BEGINS")) return Kind::kHasPrefix;
    if (token.IsWord("LIKE")) return Kind::kLike;
    if (token.IsWord("ILIKE")) return Kind::kILike;
    if (token.IsWord("CONTAINS")) return Kind::kContains;
    return std::nullopt;
  }

  absl::Status ParseBetween(Condition& condition) {
    condition.kind = Kind::kBetween;
    if (absl::Status status = ParseValue(condition); !status.ok()) return status;
    if (!token_.IsWord("AND")) return Expected("AND and the upper bound of BETWEEN");
    if (absl::Status status = Advance(); !status.ok()) return status;
    return ParseValue(condition);
  }

  absl::Status ParseIn(Condition& condition) {
    condition.kind = Kind::kIn;
    if (!token_.Is("(")) return Expected("( after IN");
    do {
      if (absl::Status status = Advance(); !status.ok()) return status;
      if (absl::Status status = ParseValue(condition); !status.ok()) return status;
    } while (token_.Is(","));
    if (!token_.Is(")")) return Expected(", or )");
    return Advance();
  }

  absl::Status ParseIs(Condition& condition) {
    condition.kind = token_.IsWord("NOT") ? Kind::kIsNotNull : Kind::kIsNull;
    if (condition.kind == Kind::kIsNotNull) {
      if (absl::Status status = Advance(); !status.ok()) return status;
    }
    if (!token_.IsWord("NULL")) return Error("expected NULL or NOT NULL after IS");
    return Advance();
  }

  // Takes a quoted text, or all words up to AND, OR or a token that is not a word. `or_column`:
  // also a name in double quotes.
  absl::Status ParseValue(Condition& condition, bool or_column = false) {
    using Form = Condition::Value::Form;
    Condition::Value value{.text = token_.text, .offset = token_.offset};
    if (token_.kind == Token::Kind::kName && or_column) {
      value.form = Form::kName;
      condition.values.push_back(std::move(value));
      return Advance();
    }
    if (token_.kind == Token::Kind::kName) {
      return Error("expected a value; write values in single quotes, columns in double quotes");
    }
    if (token_.kind == Token::Kind::kText) {
      condition.values.push_back(std::move(value));
      return Advance();
    }
    if (token_.kind != Token::Kind::kWord || token_.IsWord("AND")) {
      return Error(absl::StrCat("expected a value after ", before_,
                                " (the empty text is '', a keyword as text is 'and')"));
    }
    if (token_.IsWord("NULL")) {
      return Error("NULL cannot be compared: use IS NULL, or 'null' for the text");
    }
    // A value of one word may be a keyword (state = OR). In a value of several words, a keyword is
    // more likely a mistake.
    bool keyword = token_.IsKeyword();
    size_t end = token_.end;
    if (absl::Status status = Advance(); !status.ok()) return status;
    value.form = Form::kWord;
    while (token_.kind == Token::Kind::kWord && !token_.IsWord("AND") && !token_.IsWord("OR") &&
           !token_.IsWord("ESCAPE")) {
      value.form = Form::kWords;
      if (keyword || token_.IsKeyword()) {
        return Expected(kExpectedEnd);
      }
      end = token_.end;
      if (absl::Status status = Advance(); !status.ok()) return status;
    }
    value.text = where_.substr(value.offset, end - value.offset);
    condition.values.push_back(std::move(value));
    return absl::OkStatus();
  }

  const std::string_view where_;
  Token token_;
  std::string before_;  // the text in `where_` of the token before token_
};

}  // namespace

absl::StatusOr<ParsedFilter> ParseFilter(std::string_view where) { return Parser(where).Parse(); }

absl::StatusOr<std::vector<std::string>> ParseNames(std::string_view list) {
  std::vector<std::string> names;
  for (size_t offset = 0;; ++offset) {
    const size_t begin = offset;
    std::string& name = names.emplace_back();
    if (list.substr(begin).starts_with('"')) {
      if (!TakeQuoted(list, offset, name)) {
        return FilterError(list, begin, "a quote is not closed");
      }
      if (offset < list.size() && list[offset] != ',') {
        return FilterError(list, offset, "expected a comma or the end after the quote");
      }
    } else {
      offset = std::min(list.find(',', begin), list.size());
      name = list.substr(begin, offset - begin);
    }
    if (name.empty()) return FilterError(list, begin, "expected a name");
    if (offset == list.size()) return names;
  }
}

std::string NameAsWritten(std::string_view name) {
  if (!name.empty() && name.find_first_of(" \t\r\n'\"(),=<>!~&|") == std::string_view::npos &&
      !IsKeyword(name)) {
    return std::string(name);
  }
  std::string quoted = "\"";
  for (const char c : name) quoted.append(c == '"' ? 2 : 1, c);
  return quoted + '"';
}

}  // namespace cfile
