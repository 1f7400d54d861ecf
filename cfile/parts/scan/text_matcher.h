// Tests of strings that are no comparisons: LIKE, ILIKE, contains and regular expressions.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "absl/status/statusor.h"
#include "cfile/parts/scan/predicate_matcher.h"
#include "cfile/predicate.h"

namespace cfile::internal {

// Returns a matcher for strings. `test` is kLike, kILike, kContains or kMatches; `constants` are
// those of the functions in cfile/filter.h. kInvalidArgument: a pattern, an escape character or a
// regular expression that is not valid. kUnimplemented: RE2 is needed and was not built in.
absl::StatusOr<std::shared_ptr<const ValueMatcher>> NewTextMatcher(
    PredicateKind test, std::span<const std::string> constants);

// Returns a matcher for Judge only, which knows that nulls do not match and nothing else. The
// values may have any type.
std::shared_ptr<const ValueMatcher> MatchSome();

}  // namespace cfile::internal
