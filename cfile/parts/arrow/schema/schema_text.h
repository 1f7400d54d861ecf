// The text of the metadata key ARROW:schema: a schema of Arrow IPC in Base64.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "cfile/parts/arrow/c_data.h"

namespace cfile::internal {

// Returns a struct of the fields. nullopt: the text is no such message.
std::optional<ArrowField> ParseArrowSchema(std::string_view text);

// Returns the text for the children of `root`. Returns "" if a type cannot be written
// (ipc_schema_writer.h).
std::string WriteArrowSchema(const ArrowField& root);

}  // namespace cfile::internal
