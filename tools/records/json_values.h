// Strict reading of JSON values with simdjson, for the parser and the schema inference. Private to
// tools/records.
//
// simdjson's on-demand interface checks only the parts of JSON that are read. A string that is not
// read is skipped, and `["x":1,"y":2]}` is then accepted as an array. So each string, literal and
// number must be read or checked by a function below.
#pragma once

#include <simdjson.h>

#include <string_view>

#include "absl/status/status.h"
#include "cfile/status.h"
#include "tools/records/json_lines.h"

namespace cfile::tools {

namespace ondemand = simdjson::ondemand;

static_assert(simdjson::SIMDJSON_PADDING <= kJsonPadding);

// "an array", "a number", ...
std::string_view KindName(ondemand::json_type type);

absl::Status InvalidJson(simdjson::error_code error);

// Opens `json`, which must be an object. kInvalidArgument: it is not. Precondition: kJsonPadding
// bytes after `json` must be readable.
absl::Status OpenRecord(std::string_view json, ondemand::parser& parser,
                        ondemand::document& document, ondemand::object& object);
// kInvalidArgument if anything follows the object. Call after all of its fields have been read.
absl::Status CheckEnd(ondemand::document& document);

// Precondition of the next three functions: value.type() is the type in the function's name.
//
// `text` points into the line, or into the parser's memory if the string has escapes.
simdjson::error_code ReadString(ondemand::value& value, std::string_view& text);
simdjson::error_code ReadNull(ondemand::value& value);
// `token` becomes the characters of the number. NUMBER_ERROR: they are not a valid JSON number.
simdjson::error_code ReadNumber(ondemand::value& value, std::string_view& token);

// `text` becomes the JSON text of a value of any kind, which is checked completely.
simdjson::error_code ReadJson(ondemand::value& value, std::string_view& text);

// True if a number has no fraction and no exponent. False for -0, whose sign an integer loses.
bool IsIntegerToken(std::string_view token);

// The message 'the key "NAME" is repeated', to be put after the path of its object.
std::string RepeatedKey(std::string_view name);

}  // namespace cfile::tools

#define CFILE_RETURN_IF_INVALID_JSON(expression)                                         \
  do {                                                                                   \
    if (const simdjson::error_code error_ = (expression); error_ != simdjson::SUCCESS) { \
      return InvalidJson(error_);                                                        \
    }                                                                                    \
  } while (false)
