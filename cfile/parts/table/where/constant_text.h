// The constants of filters in text form.
#pragma once

#include <string_view>

#include "absl/status/statusor.h"
#include "cfile/filter.h"
#include "cfile/types.h"

namespace cfile::internal {

// A constant that is compared with the values of a column.
struct FilterConstant {
  Literal literal;
  // False if the type of the column has no such number. Then `literal` is the next smaller number,
  // in units of the last digit of a decimal or of a time; or, if `below`, the least int128, which
  // is greater.
  bool exact = true;
  bool below = false;
};

// kInvalidArgument, with the text: it is not a value of `type`, and not a number that can be
// compared with the values. cfile/filter.h describes the forms.
absl::StatusOr<FilterConstant> ConstantOfText(const ColumnType& type, std::string_view text);

}  // namespace cfile::internal
