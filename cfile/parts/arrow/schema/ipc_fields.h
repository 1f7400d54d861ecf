// Reads and writes the schemas of Arrow IPC.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "cfile/arrow_ipc_options.h"
#include "cfile/parts/arrow/c_data.h"
#include "cfile/parts/arrow/schema/flat_buffer.h"

namespace cfile::internal {

// Reads a table of Arrow's type Schema: a struct of its fields. `schema`: a table of `metadata`.
// Appends the numbers of the dictionaries in the order of the fields.
// Errors: see cfile/arrow_ipc.h; kUnimplemented also if a type is unknown.
absl::StatusOr<ArrowField> ReadIpcFields(FlatBuffer& metadata, const FlatTable& schema,
                                         const ArrowIpcOptions& options,
                                         std::vector<int64_t>& dictionaries);

// Reads the schema in an encapsulated IPC message.
absl::StatusOr<ArrowField> ReadIpcSchemaMessage(std::span<const uint8_t> message,
                                                const ArrowIpcOptions& options);

// Returns an encapsulated IPC message with the schema whose fields are the children of `root`.
// ReadIpcSchemaMessage returns the same fields and metadata. Returns "" for types
// that Parquet cannot hold: unions, intervals, and dictionaries of dictionaries.
std::string WriteIpcSchemaMessage(const ArrowField& root);

// The text of the metadata key ARROW:schema: the message in Base64. Reading returns nullopt if the
// text is no such message; writing returns "" as above.
std::optional<ArrowField> ParseArrowSchema(std::string_view text);
std::string WriteArrowSchema(const ArrowField& root);

}  // namespace cfile::internal
