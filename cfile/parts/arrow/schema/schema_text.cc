#include "cfile/parts/arrow/schema/schema_text.h"

#include <utility>

#include "absl/strings/escaping.h"
#include "cfile/parts/arrow/schema/ipc_fields.h"
#include "cfile/parts/arrow/schema/ipc_schema_writer.h"
#include "encodings/core/bytes.h"

namespace cfile::internal {

std::optional<ArrowField> ParseArrowSchema(std::string_view text) {
  std::string message;
  if (!absl::Base64Unescape({text.data(), text.size()}, &message)) return std::nullopt;
  auto schema = ReadIpcSchemaMessage(encodings::AsBytes(message), {});
  return schema.ok() ? std::optional(*std::move(schema)) : std::nullopt;
}

std::string WriteArrowSchema(const ArrowField& root) {
  const std::string message = WriteIpcSchemaMessage(root);
  return absl::Base64Escape({message.data(), message.size()});
}

}  // namespace cfile::internal
