// Writes and reads the choice that a footer records (cfile/FORMAT.md, The recorded choice).
#pragma once

#include <optional>

#include "cfile/core/wire/messages.h"
#include "cfile/file_info.h"

namespace cfile::internal {

// Returns the message for `choice` in a file whose footer has the encoding `file_encoding`.
// Precondition: the sizes and the number of values are not 0, and `smallest` is not larger than
// `chosen`.
wire::Choice DescribeChoice(const ChoiceInfo& choice, Encoding file_encoding);

// The reverse of DescribeChoice. Returns nullopt if the message breaks the precondition of
// DescribeChoice, or if the goal is unknown.
std::optional<ChoiceInfo> InterpretChoice(const wire::Choice& message, Encoding file_encoding);

}  // namespace cfile::internal
