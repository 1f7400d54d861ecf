#include "cfile/parts/arrow/ipc/ipc_dictionaries.h"

#include <utility>

#include "encodings/core/status.h"

namespace cfile::internal {
namespace {

using encodings::DataLoss;

// The numbers of the fields of DictionaryBatch.
constexpr size_t kId = 0, kData = 1, kIsDelta = 2;

}  // namespace

IpcDictionaries::IpcDictionaries(const IpcField& root, bool may_replace)
    : may_replace_(may_replace) {
  Find(root);
}

void IpcDictionaries::Find(const IpcField& field) {
  if (field.field->kind == ArrowKind::kDictionary)
    dictionaries_[field.dictionary].values = field.children.data();
  for (const IpcField& child : field.children) Find(child);
}

absl::Status IpcDictionaries::Add(const IpcMessage& message, const ArrowIpcOptions& options) {
  const FlatTable batch = message.header;
  const auto id = batch.Number<int64_t>(kId);
  const bool is_delta = batch.Number<uint8_t>(kIsDelta) != 0;
  const FlatTable data = batch.Table(kData);
  CFILE_RETURN_IF_ERROR(message.metadata->status());
  const auto found = dictionaries_.find(id);
  if (found == dictionaries_.end()) return DataLoss("no field has the dictionary ", id);
  if (!data.present()) return DataLoss("dictionary ", id, " has no values");
  std::vector<IpcArray>& chunks = found->second.chunks;
  if (is_delta && chunks.empty()) return DataLoss("a delta of dictionary ", id, " comes before it");
  if (!is_delta && !chunks.empty() && !may_replace_) {
    return DataLoss("dictionary ", id, " comes twice, which is only allowed in a stream");
  }
  CFILE_ASSIGN_OR_RETURN(std::vector<IpcArray> values,
                         ReadIpcArrays(message, data, {found->second.values, 1}, options));
  if (!is_delta) chunks.clear();
  chunks.push_back(std::move(values[0]));
  return absl::OkStatus();
}

absl::StatusOr<HeldArray> IpcDictionaries::MakeArray(const IpcField& field, const IpcArray& array) {
  ArrayParts parts{.length = array.length, .null_count = array.null_count};
  for (const HeldBytes& buffer : array.buffers) {
    // The C Data Interface has a null pointer for a bitmap that is not needed.
    parts.AddBuffer(buffer.bytes.empty() ? nullptr : buffer.bytes.data(), buffer.owner);
  }
  const bool has_runs = field.field->kind == ArrowKind::kRunEnds;
  if (has_runs) {
    const ImportField ends{.kind = ArrowKind::kNumbers};
    CFILE_ASSIGN_OR_RETURN(HeldArray child, MakeArray({.field = &ends}, array.children[0]));
    parts.children.push_back(std::move(child));
  }
  if (field.field->kind == ArrowKind::kDictionary) {
    Dictionary& dictionary = dictionaries_[field.dictionary];
    if (dictionary.chunks.empty()) {
      CFILE_ASSIGN_OR_RETURN(const std::vector<IpcArray> none,
                             ReadIpcArrays({}, {}, {dictionary.values, 1}, {}));
      CFILE_ASSIGN_OR_RETURN(parts.dictionary, MakeArray(*dictionary.values, none[0]));
      return internal::MakeArray(std::move(parts));
    }
    if (dictionary.chunks.size() > 1) {
      CFILE_ASSIGN_OR_RETURN(IpcArray whole, ConcatenateIpc(*dictionary.values, dictionary.chunks));
      dictionary.chunks.clear();
      dictionary.chunks.push_back(std::move(whole));
    }
    CFILE_ASSIGN_OR_RETURN(parts.dictionary, MakeArray(*dictionary.values, dictionary.chunks[0]));
    return internal::MakeArray(std::move(parts));
  }
  for (size_t i = 0; i < field.children.size(); ++i) {
    CFILE_ASSIGN_OR_RETURN(HeldArray child,
                           MakeArray(field.children[i], array.children[i + (has_runs ? 1 : 0)]));
    parts.children.push_back(std::move(child));
  }
  return internal::MakeArray(std::move(parts));
}

}  // namespace cfile::internal
