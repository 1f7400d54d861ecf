// Strict reading of JSON values with simdjson, for the parser and the schema inference. Private to
// tools/records.
//
// simdjson's on-demand interface checks what it reads. A string that nobody reads is skipped, and
// then `["x":1,"y":2]}` passes for an array. So each string, literal and number is read or checked
// by a function below.
#pragma once

#include <simdjson.h>

#include <string_view>

#include "absl/status/status.h"
#include "encodings/status.h"
#include "tools/records/json_lines.h"

namespace cfile::tools {

namespace ondemand = simdjson::ondemand;

static_assert(simdjson::SIMDJSON_PADDING <= kJsonPadding);

// "an array", "a number", ...
std::string_view KindName(ondemand::json_type type);

absl::Status InvalidJson(simdjson::error_code error);

// The object that all of `json` must be. Precondition: kJsonPadding bytes after it may be read.
absl::Status OpenRecord(std::string_view json, ondemand::parser& parser,
                        ondemand::document& document, ondemand::object& object);
// Nothing follows the object. Call after all of its fields have been read.
absl::Status CheckEnd(ondemand::document& document);

// Precondition of these three: value.type() is that of the function. `text` points into the line,
// or into the parser's memory if there were escapes.
simdjson::error_code ReadString(ondemand::value& value, std::string_view& text);
simdjson::error_code ReadNull(ondemand::value& value);
// The number's characters, if they are a JSON number of any size.
simdjson::error_code ReadNumber(ondemand::value& value, std::string_view& token);

// True for an integer without fraction and exponent, but for -0: its sign is lost in an integer.
bool IsIntegerToken(std::string_view token);

// "the key "NAME" is repeated", after the path of its object.
std::string RepeatedKey(std::string_view name);

}  // namespace cfile::tools

#define CFILE_RETURN_IF_INVALID_JSON(expression)                                         \
  do {                                                                                   \
    if (const simdjson::error_code error_ = (expression); error_ != simdjson::SUCCESS) { \
      return InvalidJson(error_);                                                        \
    }                                                                                    \
  } while (false)
