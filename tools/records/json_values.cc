#include "tools/records/json_values.h"

#include <string>

#include "absl/strings/ascii.h"
#include "tools/utf8.h"

namespace cfile::tools {
namespace {

// The characters of a scalar, without the blanks that simdjson includes after them.
std::string_view TokenOf(ondemand::value& value) {
  std::string_view text = value.raw_json_token();
  const auto is_blank = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

// -?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?
bool IsNumber(std::string_view text) {
  const char* at = text.data();
  const char* const end = at + text.size();
  const auto skip_digits = [&] {
    const char* const begin = at;
    while (at != end && absl::ascii_isdigit(static_cast<unsigned char>(*at))) ++at;
    return at != begin;
  };
  if (at != end && *at == '-') ++at;
  if (at != end && *at == '0') {
    ++at;
  } else if (!skip_digits()) {
    return false;
  }
  if (at != end && *at == '.') {
    ++at;
    if (!skip_digits()) return false;
  }
  if (at != end && (*at == 'e' || *at == 'E')) {
    ++at;
    if (at != end && (*at == '+' || *at == '-')) ++at;
    if (!skip_digits()) return false;
  }
  return at == end;
}

}  // namespace

std::string_view KindName(ondemand::json_type type) {
  switch (type) {
    case ondemand::json_type::array:
      return "an array";
    case ondemand::json_type::object:
      return "an object";
    case ondemand::json_type::number:
      return "a number";
    case ondemand::json_type::string:
      return "a string";
    case ondemand::json_type::boolean:
      return "true or false";
    case ondemand::json_type::null:
      return "null";
  }
  return "something else";
}

absl::Status InvalidJson(simdjson::error_code error) {
  std::string_view what = simdjson::error_message(error);
  switch (error) {
    case simdjson::TAPE_ERROR:
      what =
          "a comma, a colon, a bracket or a quote is missing or superfluous, or a value is not "
          "JSON, such as NaN";
      break;
    case simdjson::INCOMPLETE_ARRAY_OR_OBJECT:
      what = "an object or an array does not end";
      break;
    case simdjson::INCORRECT_TYPE:
    case simdjson::T_ATOM_ERROR:
    case simdjson::F_ATOM_ERROR:
    case simdjson::N_ATOM_ERROR:
      what = "a value is neither a string, a number, an object, an array, true, false nor null";
      break;
    case simdjson::NUMBER_ERROR:
      what = "a number has a wrong form";
      break;
    case simdjson::STRING_ERROR:
      what = "a string has a wrong escape";
      break;
    case simdjson::UNCLOSED_STRING:
      what = "a string does not end";
      break;
    case simdjson::UNESCAPED_CHARS:
      what = "a string has a control character without an escape";
      break;
    default:
      break;
  }
  return absl::InvalidArgumentError(StrCat("invalid JSON: ", what));
}

bool IsJsonObject(std::string_view json) {
  simdjson::dom::parser parser;
  return parser.parse(json.data(), json.size()).is_object();
}

absl::Status OpenRecord(std::string_view json, ondemand::parser& parser,
                        ondemand::document& document, ondemand::object& object) {
  CFILE_RETURN_IF_INVALID_JSON(
      parser.iterate(json.data(), json.size(), json.size() + kJsonPadding).get(document));
  ondemand::json_type type;
  CFILE_RETURN_IF_INVALID_JSON(document.type().get(type));
  if (type != ondemand::json_type::object) {
    return absl::InvalidArgumentError(StrCat("a record must be an object; found ", KindName(type)));
  }
  CFILE_RETURN_IF_INVALID_JSON(document.get_object().get(object));
  return absl::OkStatus();
}

absl::Status CheckEnd(ondemand::document& document) {
  if (document.current_location().error() == simdjson::OUT_OF_BOUNDS) return absl::OkStatus();
  return absl::InvalidArgumentError("invalid JSON: something follows the record");
}

simdjson::error_code ReadString(ondemand::value& value, std::string_view& text) {
  // Usually the string has no escapes and is not copied.
  const std::string_view token = TokenOf(value);
  if (token.size() < 2 || token.back() != '"' || token.find('\\') != std::string_view::npos) {
    return value.get_string().get(text);
  }
  text = token.substr(1, token.size() - 2);
  return value.get_raw_json_string().error();
}

simdjson::error_code ReadNull(ondemand::value& value) {
  bool is_null = false;
  const simdjson::error_code error = value.is_null().get(is_null);
  return error != simdjson::SUCCESS || is_null ? error : simdjson::N_ATOM_ERROR;
}

simdjson::error_code ReadNumber(ondemand::value& value, std::string_view& token) {
  token = TokenOf(value);
  return IsNumber(token) ? simdjson::SUCCESS : simdjson::NUMBER_ERROR;
}

simdjson::error_code ReadJson(ondemand::value& value, std::string_view& text) {
  ondemand::json_type type;
  if (const auto error = value.type().get(type); error != simdjson::SUCCESS) return error;
  simdjson::error_code error = simdjson::SUCCESS;
  if (type == ondemand::json_type::object) {
    ondemand::object object;
    error = value.get_object().get(object);
    if (error == simdjson::SUCCESS) error = object.raw_json().get(text);
  } else if (type == ondemand::json_type::array) {
    ondemand::array array;
    error = value.get_array().get(array);
    if (error == simdjson::SUCCESS) error = array.raw_json().get(text);
  } else {
    text = TokenOf(value);
  }
  if (error != simdjson::SUCCESS) return error;
  // The on-demand interface has only found the brackets.
  simdjson::dom::parser parser;
  return parser.parse(text.data(), text.size()).error();
}

bool IsIntegerToken(std::string_view token) {
  return token.find_first_of(".eE") == std::string_view::npos && !token.starts_with("-0");
}

std::string RepeatedKey(std::string_view name) {
  return StrCat("the key ", Quoted(name), " is repeated");
}

}  // namespace cfile::tools
