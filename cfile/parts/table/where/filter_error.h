// Errors in the text of a filter.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "cfile/predicate.h"

namespace cfile::internal {

// `text` in double quotes for a message, at most about 60 bytes of it, with escapes as in C.
std::string QuotedText(std::string_view text);

// Returns kInvalidArgument for an error at byte `offset` of `text`. The message has `what`, the
// number of the character at `offset`, counted from 1, and the text from there on.
absl::Status FilterError(std::string_view text, size_t offset, std::string_view what);

// Returns the operator with which the operands of `kind` are compared if they are exchanged.
// Precondition: kind <= kGreaterOrEqual.
PredicateKind Turned(PredicateKind kind);

}  // namespace cfile::internal
