#include "cfile/parts/arrow/ipc/ipc_schema.h"

#include <map>
#include <string>
#include <utility>

#include "cfile/parts/arrow/schema/ipc_fields.h"
#include "encodings/core/status.h"

namespace cfile::internal {
namespace {

using encodings::DataLoss;

bool SameType(const ArrowField& a, const ArrowField& b) {
  if (a.format != b.format || a.children.size() != b.children.size() ||
      a.dictionary.size() != b.dictionary.size()) {
    return false;
  }
  for (size_t i = 0; i < a.children.size(); ++i)
    if (!SameType(a.children[i], b.children[i])) return false;
  return a.dictionary.empty() || SameType(a.dictionary[0], b.dictionary[0]);
}

// Assigns the numbers of dictionaries, which are in the order in which fields come.
IpcField MakeField(const ImportField& field, std::vector<int64_t>::const_iterator& dictionaries) {
  IpcField made{.field = &field};
  if (field.kind == ArrowKind::kDictionary) made.dictionary = *dictionaries++;
  for (const ImportField& child : field.children)
    made.children.push_back(MakeField(child, dictionaries));
  return made;
}

// kDataLoss: two fields have the same dictionary, but other types of values.
absl::Status CheckShared(const ArrowField& type, std::vector<int64_t>::const_iterator& dictionaries,
                         std::map<int64_t, const ArrowField*>& seen) {
  if (!type.dictionary.empty()) {
    const int64_t id = *dictionaries++;
    const ArrowField& values = type.dictionary[0];
    const auto [found, is_new] = seen.emplace(id, &values);
    if (!is_new && !SameType(*found->second, values)) {
      return DataLoss("Arrow field ", type.name, ": dictionary ", id,
                      " has values of another type in another field");
    }
    return CheckShared(values, dictionaries, seen);
  }
  for (const ArrowField& child : type.children)
    CFILE_RETURN_IF_ERROR(CheckShared(child, dictionaries, seen));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<const IpcSchema>> ReadIpcSchema(FlatBuffer& metadata,
                                                               const FlatTable& schema,
                                                               const ArrowIpcOptions& options) {
  auto made = std::make_unique<IpcSchema>();
  std::vector<int64_t> dictionaries;
  CFILE_ASSIGN_OR_RETURN(made->type, ReadIpcFields(metadata, schema, options, dictionaries));
  auto next = dictionaries.cbegin();
  std::map<int64_t, const ArrowField*> seen;
  CFILE_RETURN_IF_ERROR(CheckShared(made->type, next, seen));
  auto import = ReadArrowSchema(*MakeSchema(made->type).get(), options.record_limits.max_depth,
                                options.record_limits.max_nodes);
  if (absl::IsInvalidArgument(import.status()))
    return DataLoss(std::string(import.status().message()));
  CFILE_RETURN_IF_ERROR(import.status());
  made->import = *std::move(import);
  next = dictionaries.cbegin();
  made->root = MakeField(made->import, next);
  return made;
}

}  // namespace cfile::internal
