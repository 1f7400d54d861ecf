// RecordSchema::Parse and ToString.
#include "cfile/record_schema.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "absl/strings/numbers.h"
#include "cfile/core/io/named_status.h"
#include "encodings/core/status.h"

namespace cfile {
namespace {

using encodings::AboveLimit;
using encodings::OutOfRange;
using encodings::StrCat;

constexpr std::string_view kBlanks = " \t\r\n";
constexpr std::string_view kPunctuation = "(){}=;,";

bool IsIn(std::string_view set, char c) { return set.find(c) != std::string_view::npos; }

bool IsControl(char c) { return static_cast<uint8_t>(c) < 0x20 || c == 0x7f; }

// True if `digits` are two hexadecimal digits; then `value` is set to their number.
bool IsHexByte(std::string_view digits, unsigned int& value) {
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + 2, value, 16);
  return error == std::errc() && end == digits.data() + 2;
}

// A word or one punctuation character. At the end of the text, the token is empty.
struct Token {
  std::string text;
  bool quoted = false;
  size_t line = 1;
  size_t column = 1;

  bool Is(std::string_view word) const { return !quoted && text == word; }
  bool is_word() const { return quoted || (!text.empty() && !IsIn(kPunctuation, text[0])); }
};

absl::Status ErrorAt(const Token& token, std::string_view what) {
  return absl::InvalidArgumentError(StrCat(token.line, ":", token.column, ": ", what));
}
absl::Status ErrorAt(const Token& token, const absl::Status& status) {
  return internal::WithMessage(status,
                               StrCat(token.line, ":", token.column, ": ", status.message()));
}

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  // The current token.
  const Token& token() const { return token_; }

  absl::Status Advance() {
    while (!text_.empty() && IsIn(kBlanks, text_[0])) Skip(1);
    token_ = {.line = line_, .column = column_};
    if (text_.empty()) return absl::OkStatus();
    if (text_[0] == '"') return Quoted();
    size_t size = 1;
    if (!IsIn(kPunctuation, text_[0])) {
      size = std::min(text_.find_first_of(" \t\r\n(){}=;,\""), text_.size());
    }
    token_.text = text_.substr(0, size);
    Skip(size);
    return absl::OkStatus();
  }

  // Describes the current token, for error messages.
  std::string Found() const {
    if (token_.text.empty() && !token_.quoted) return "found the end of the text";
    constexpr size_t kShown = 40;
    return StrCat("found '", token_.text.substr(0, kShown),
                  token_.text.size() > kShown ? "..." : "", "'");
  }

  absl::Status Expected(std::string_view what) const {
    return ErrorAt(token_, StrCat(what, " expected, ", Found()));
  }

  // Moves past the current token if it is `word`; otherwise returns an error.
  absl::Status Expect(std::string_view word) {
    if (!token_.Is(word)) return Expected(StrCat("'", word, "'"));
    return Advance();
  }

 private:
  absl::Status Quoted() {
    token_.quoted = true;
    Skip(1);
    while (!text_.empty() && text_[0] != '"') {
      char c = text_[0];
      if (c == '\\') {
        Skip(1);
        if (text_.empty()) break;
        c = text_[0];
        unsigned int code = 0;
        if (c == 'x' && text_.size() > 2 && IsHexByte(text_.substr(1, 2), code)) {
          c = static_cast<char>(code);
          Skip(2);
        }
      }
      token_.text += c;
      Skip(1);
    }
    if (text_.empty()) return ErrorAt(token_, "a quoted name has no closing quote");
    Skip(1);
    return absl::OkStatus();
  }

  void Skip(size_t count) {
    for (const char c : text_.substr(0, count)) {
      column_ = c == '\n' ? 1 : column_ + 1;
      if (c == '\n') ++line_;
    }
    text_.remove_prefix(count);
  }

  std::string_view text_;
  size_t line_ = 1;
  size_t column_ = 1;
  Token token_;
};

// NAME or NAME(ARGUMENT, ...): a type or an annotation.
struct Term {
  Token name;
  std::vector<std::string> arguments;

  std::string ToString() const {
    std::string text = name.text;
    for (size_t i = 0; i < arguments.size(); ++i) text += (i == 0 ? "(" : ",") + arguments[i];
    return arguments.empty() ? text : text + ")";
  }
  // Argument i as a number; -1 if there is no such argument or it is not a number.
  int Number(size_t i) const {
    int number = -1;
    return i < arguments.size() && absl::SimpleAtoi(arguments[i], &number) ? number : -1;
  }
};

absl::StatusOr<Term> ParseTerm(Lexer& lexer, std::string_view what, bool arguments) {
  if (!lexer.token().is_word() || lexer.token().quoted) return lexer.Expected(what);
  Term term{.name = lexer.token()};
  CFILE_RETURN_IF_ERROR(lexer.Advance());
  if (!arguments || !lexer.token().Is("(")) return term;
  do {
    CFILE_RETURN_IF_ERROR(lexer.Advance());
    if (!lexer.token().is_word()) return lexer.Expected("an argument");
    if (term.arguments.size() == 2) return ErrorAt(lexer.token(), "at most 2 arguments expected");
    term.arguments.push_back(lexer.token().text);
    CFILE_RETURN_IF_ERROR(lexer.Advance());
  } while (lexer.token().Is(","));
  CFILE_RETURN_IF_ERROR(lexer.Expect(")"));
  return term;
}

// Returns the type that `term` alone stands for, before its annotation is applied.
absl::StatusOr<ColumnType> BaseType(const Term& term) {
  const std::string text = term.ToString();
  if (text == "boolean") return ColumnType::Bool();
  if (text == "int") return ColumnType::Int32();
  if (text == "long") return ColumnType::Int64();
  if (term.name.text == "fixed_len_byte_array" && term.arguments.size() == 1 &&
      term.Number(0) > 0) {
    return ColumnType::FixedBytes(static_cast<uint32_t>(term.Number(0)));
  }
  auto type = ColumnType::Parse(text);
  if (type.ok()) return type;
  return ErrorAt(term.name, type.status());
}

struct IntegerRow {
  std::string_view old_name;  // the name in Parquet's older notation
  int bits;
  bool is_signed;
  DataType data_type;
};
constexpr IntegerRow kIntegers[] = {
    {"INT_8", 8, true, DataType::kInt8},       {"INT_16", 16, true, DataType::kInt16},
    {"INT_32", 32, true, DataType::kInt32},    {"INT_64", 64, true, DataType::kInt64},
    {"UINT_8", 8, false, DataType::kUint8},    {"UINT_16", 16, false, DataType::kUint16},
    {"UINT_32", 32, false, DataType::kUint32}, {"UINT_64", 64, false, DataType::kUint64},
};

TimeUnit ParseUnit(std::string_view name) {
  if (name == "MILLIS") return TimeUnit::kMillis;
  if (name == "MICROS") return TimeUnit::kMicros;
  return name == "NANOS" ? TimeUnit::kNanos : TimeUnit::kNone;
}

std::optional<ColumnType> TimeType(const Term& annotation) {
  std::string_view name = annotation.name.text;
  std::string_view unit;
  if (!annotation.arguments.empty()) unit = annotation.arguments[0];
  bool zoned = true;
  if (annotation.arguments.size() > 1) {
    zoned = annotation.arguments[1] == "true";
    if (!zoned && annotation.arguments[1] != "false") return std::nullopt;
  }
  if (const size_t old = name.find('_'); old != std::string_view::npos) {  // TIMESTAMP_MILLIS
    if (!annotation.arguments.empty()) return std::nullopt;
    unit = name.substr(old + 1);
    name = name.substr(0, old);
  }
  if (ParseUnit(unit) == TimeUnit::kNone) return std::nullopt;
  if (name == "TIME") return ColumnType::Time(ParseUnit(unit));
  if (name == "TIMESTAMP") return ColumnType::Timestamp(ParseUnit(unit), zoned ? "UTC" : "");
  return std::nullopt;
}

std::optional<ColumnType> DecimalType(DataType base, int precision, int scale) {
  ColumnType type{.data_type = base == DataType::kInt32   ? DataType::kDecimal32
                               : base == DataType::kInt64 ? DataType::kDecimal64
                                                          : DataType::kDecimal128,
                  .decimal_precision = precision,
                  .decimal_scale = scale};
  if (precision < 1 || !Validate(type).ok()) return std::nullopt;
  return type;
}

// The type for `base` with `annotation`; nullopt if they do not fit together.
std::optional<ColumnType> AnnotatedType(const ColumnType& base, const Term& annotation) {
  const std::string_view name = annotation.name.text;
  const bool is_bytes = base == ColumnType::Binary();
  const bool bare = annotation.arguments.empty();
  if (bare && (name == "STRING" || name == "UTF8" || name == "ENUM" || name == "JSON")) {
    return is_bytes || base == ColumnType::String() ? std::optional(ColumnType::String())
                                                    : std::nullopt;
  }
  if (bare && name == "UUID" && base == ColumnType::FixedBytes(16)) return ColumnType::Uuid();
  if (bare && name == "DATE" && base == ColumnType::Int32()) return ColumnType::Date();
  if (name == "DECIMAL") {
    const bool fits = base == ColumnType::Int32() || base == ColumnType::Int64() || is_bytes ||
                      base.data_type == DataType::kFixedLenByteArray;
    const int scale = annotation.arguments.size() < 2 ? 0 : annotation.Number(1);
    return fits ? DecimalType(base.data_type, annotation.Number(0), scale) : std::nullopt;
  }
  for (const IntegerRow& row : kIntegers) {
    const bool named = name == "INT" && annotation.Number(0) == row.bits &&
                       annotation.arguments.size() == 2 &&
                       annotation.arguments[1] == (row.is_signed ? "true" : "false");
    if (!named && !(bare && name == row.old_name)) continue;
    return base == (row.bits == 64 ? ColumnType::Int64() : ColumnType::Int32())
               ? std::optional(ColumnType{.data_type = row.data_type})
               : std::nullopt;
  }
  const std::optional<ColumnType> time = TimeType(annotation);
  if (!time || (base != ColumnType::Int32() && base != ColumnType::Int64())) return std::nullopt;
  const bool wide = encodings::HoldsType<int64_t>(time->physical());
  return wide == (base == ColumnType::Int64()) ? time : std::nullopt;
}

class Parser {
 public:
  Parser(std::string_view text, const RecordLimits& limits) : limits_(limits), lexer_(text) {}

  // The nodes for RecordSchema::Create, and the first token of each node.
  std::vector<RecordNode> nodes;
  std::vector<Token> begins;

  absl::Status Run() {
    CFILE_RETURN_IF_ERROR(lexer_.Advance());
    begins.push_back(lexer_.token());
    CFILE_RETURN_IF_ERROR(lexer_.Expect("message"));
    CFILE_RETURN_IF_ERROR(Name(nodes.emplace_back()));
    CFILE_RETURN_IF_ERROR(lexer_.Expect("{"));
    open_.push_back(0);
    while (!open_.empty()) {
      if (lexer_.token().Is("}") && nodes[open_.back()].num_children > 0) {
        open_.pop_back();
        CFILE_RETURN_IF_ERROR(lexer_.Advance());
        if (!open_.empty()) CFILE_RETURN_IF_ERROR(Separator(true));
      } else {
        CFILE_RETURN_IF_ERROR(Field());
      }
    }
    const Token& end = lexer_.token();
    return end.text.empty() && !end.quoted ? absl::OkStatus()
                                           : lexer_.Expected("the end of the text");
  }

 private:
  absl::Status Name(RecordNode& node) {
    if (!lexer_.token().is_word() || lexer_.token().text.empty()) return lexer_.Expected("a name");
    node.name = lexer_.token().text;
    return lexer_.Advance();
  }

  absl::Status Separator(bool optional) {
    if (lexer_.token().Is(";") || lexer_.token().Is(",")) return lexer_.Advance();
    return optional || lexer_.token().Is("}") ? absl::OkStatus() : lexer_.Expected("';'");
  }

  absl::Status Field() {
    const Token begin = lexer_.token();
    constexpr std::string_view kRepetitions[] = {"required", "optional", "repeated"};
    const auto found = std::find_if(std::begin(kRepetitions), std::end(kRepetitions),
                                    [&](std::string_view name) { return begin.Is(name); });
    if (found == std::end(kRepetitions)) {
      return lexer_.Expected("required, optional or repeated");
    }
    CFILE_RETURN_IF_ERROR(lexer_.Advance());
    begins.push_back(begin);
    // Depth and number of nodes are checked here, before memory is allocated for them. Build checks
    // the other limits.
    if (open_.size() > limits_.max_depth) {
      return ErrorAt(begin, OutOfRange("a depth of ", open_.size(), " is ",
                                       AboveLimit(limits_.max_depth, "max_depth")));
    }
    if (nodes.size() >= limits_.max_nodes) {
      return ErrorAt(begin, OutOfRange("node ", nodes.size() + 1, " is ",
                                       AboveLimit(limits_.max_nodes, "max_nodes")));
    }
    RecordNode node{.repetition = static_cast<Repetition>(found - std::begin(kRepetitions))};
    ++nodes[open_.back()].num_children;
    CFILE_ASSIGN_OR_RETURN(const Term type, ParseTerm(lexer_, "group or a type", true));
    CFILE_RETURN_IF_ERROR(Name(node));
    std::optional<Term> annotation;
    if (lexer_.token().Is("(")) {
      CFILE_RETURN_IF_ERROR(lexer_.Advance());
      CFILE_ASSIGN_OR_RETURN(annotation, ParseTerm(lexer_, "an annotation", true));
      CFILE_RETURN_IF_ERROR(lexer_.Expect(")"));
    }
    if (lexer_.token().Is("=")) {  // a field number, which is ignored
      CFILE_RETURN_IF_ERROR(lexer_.Advance());
      int ignored;
      if (!absl::SimpleAtoi(lexer_.token().text, &ignored)) return lexer_.Expected("a number");
      CFILE_RETURN_IF_ERROR(lexer_.Advance());
    }
    return type.ToString() == "group" ? Group(std::move(node), annotation)
                                      : Leaf(std::move(node), type, annotation);
  }

  absl::Status Group(RecordNode node, const std::optional<Term>& annotation) {
    if (annotation.has_value()) {
      const std::string text = annotation->ToString();
      if (text == "LIST") {
        node.kind = GroupKind::kList;
      } else if (text == "MAP") {
        node.kind = GroupKind::kMap;
      } else if (text != "MAP_KEY_VALUE") {  // written by older writers inside of a MAP
        return ErrorAt(annotation->name, StrCat("LIST or MAP expected, found ", text));
      }
    }
    open_.push_back(nodes.size());
    nodes.push_back(std::move(node));
    return lexer_.Expect("{");
  }

  absl::Status Leaf(RecordNode node, const Term& type, const std::optional<Term>& annotation) {
    CFILE_ASSIGN_OR_RETURN(node.type, BaseType(type));
    if (annotation.has_value()) {
      const std::optional<ColumnType> annotated = AnnotatedType(node.type, *annotation);
      if (!annotated) {
        return ErrorAt(annotation->name, StrCat(annotation->ToString(), " is not an annotation of ",
                                                type.ToString()));
      }
      node.type = *annotated;
    }
    nodes.push_back(std::move(node));
    return Separator(false);
  }

  const RecordLimits& limits_;
  Lexer lexer_;
  std::vector<size_t> open_;  // the groups that contain the next field
};

std::string NameText(const std::string& name) {
  if (name.find_first_of(" (){}=;,\"") == std::string::npos &&
      std::none_of(name.begin(), name.end(), IsControl)) {
    return name;
  }
  std::string text = "\"";
  for (const char c : name) {
    if (IsControl(c)) {
      constexpr std::string_view kDigits = "0123456789abcdef";
      text += {'\\', 'x', kDigits[static_cast<uint8_t>(c) >> 4], kDigits[c & 15]};
      continue;
    }
    if (c == '"' || c == '\\') text += '\\';
    text += c;
  }
  return text + '"';
}

std::string_view UnitText(TimeUnit unit) {
  return unit == TimeUnit::kMillis ? "MILLIS" : unit == TimeUnit::kMicros ? "MICROS" : "NANOS";
}

// TYPE and " (ANNOTATION)" in Parquet's notation; for types without such a notation, this library's
// name of the type and "".
std::pair<std::string, std::string> TypeText(const ColumnType& type) {
  for (const IntegerRow& row : kIntegers) {
    if (type != ColumnType{.data_type = row.data_type}) continue;
    if (row.is_signed && row.bits >= 32) break;
    return {row.bits == 64 ? "int64" : "int32",
            StrCat(" (INT(", row.bits, ",", row.is_signed ? "true" : "false", "))")};
  }
  if (type == ColumnType::Bool()) return {"boolean", ""};
  if (type == ColumnType::String()) return {"binary", " (STRING)"};
  if (type == ColumnType::Date()) return {"int32", " (DATE)"};
  if (type == ColumnType::Uuid()) return {"fixed_len_byte_array(16)", " (UUID)"};
  if (type.data_type == DataType::kFixedLenByteArray) {
    return {StrCat("fixed_len_byte_array(", type.type_length, ")"), ""};
  }
  if (type.decimal_precision > 0) {
    return {type.data_type == DataType::kDecimal32   ? "int32"
            : type.data_type == DataType::kDecimal64 ? "int64"
                                                     : "fixed_len_byte_array(16)",
            StrCat(" (DECIMAL(", type.decimal_precision, ",", type.decimal_scale, "))")};
  }
  if (type.logical == LogicalType::kTime && type.time_unit != TimeUnit::kSeconds) {
    return {type.time_unit == TimeUnit::kMillis ? "int32" : "int64",
            StrCat(" (TIME(", UnitText(type.time_unit), ",true))")};
  }
  for (const TimeUnit unit : {TimeUnit::kMillis, TimeUnit::kMicros, TimeUnit::kNanos}) {
    for (const char* zone : {"UTC", ""}) {
      if (type != ColumnType::Timestamp(unit, zone)) continue;
      return {"int64",
              StrCat(" (TIMESTAMP(", UnitText(unit), ",", zone[0] != 0 ? "true" : "false", "))")};
    }
  }
  return {type.ToString(), ""};
}

}  // namespace

absl::StatusOr<RecordSchema> RecordSchema::Parse(std::string_view text,
                                                 const RecordLimits& limits) {
  Parser parser(text, limits);
  CFILE_RETURN_IF_ERROR(parser.Run());
  size_t wrong;
  auto schema = Build(std::move(parser.nodes), limits, wrong);
  if (schema.ok()) return schema;
  return ErrorAt(parser.begins[wrong], schema.status());
}

std::string RecordSchema::ToString() const {
  constexpr std::array kRepetitions = {"required ", "optional ", "repeated "};
  constexpr std::array kKinds = {"", " (LIST)", " (MAP)"};
  std::string text = StrCat("message ", NameText(nodes_[0].name), " {\n");
  std::vector<size_t> ends = {nodes_.size()};
  for (size_t i = 1; i < nodes_.size(); ++i) {
    const RecordNode& node = nodes_[i];
    text.append(2 * ends.size(), ' ');
    text += kRepetitions[static_cast<size_t>(node.repetition)];
    if (node.is_leaf()) {
      const auto [type, annotation] = TypeText(node.type);
      text += type + " " + NameText(node.name) + annotation + ";\n";
    } else {
      text += StrCat("group ", NameText(node.name), kKinds[static_cast<size_t>(node.kind)], " {\n");
      ends.push_back(node.end);
    }
    while (!ends.empty() && ends.back() == i + 1) {
      ends.pop_back();
      text.append(2 * ends.size(), ' ');
      text += "}\n";
    }
  }
  return text;
}

}  // namespace cfile
