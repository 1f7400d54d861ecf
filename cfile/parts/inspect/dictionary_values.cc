// ReadDictionary: the values of a file's dictionary.
#include "cfile/inspect.h"

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "cfile/core/format/stored_block.h"
#include "cfile/core/read/file_reader.h"
#include "cfile/core/read/reader_access.h"
#include "cfile/parts/inspect/dictionary_block.h"
#include "cfile/reader.h"
#include "encodings/core/status.h"
#include "encodings/registry.h"

namespace cfile {
namespace {

template <typename T>
absl::StatusOr<std::vector<Owned<T>>> Decode(const FileInfo& info, std::span<const uint8_t> bytes) {
  CFILE_ASSIGN_OR_RETURN(const internal::DictionaryBlock block,
                         internal::SplitDictionary(info, bytes));
  CFILE_ASSIGN_OR_RETURN(
      const auto decoder,
      encodings::MakeDecoder<T>(block.encoding, info.type.physical(), info.type.type_length));
  CFILE_RETURN_IF_ERROR(decoder->Open(block.values));
  std::vector<Owned<T>> values;
  values.reserve(decoder->count());
  constexpr size_t kBatch = 1024;
  const auto batch = std::make_unique<T[]>(kBatch);
  while (decoder->position() < decoder->count()) {
    const size_t wanted = std::min<size_t>(kBatch, decoder->count() - decoder->position());
    CFILE_ASSIGN_OR_RETURN(const size_t read, decoder->Read({batch.get(), wanted}));
    values.insert(values.end(), batch.get(), batch.get() + read);
  }
  return values;
}

}  // namespace

template <typename T, typename>
absl::StatusOr<std::vector<Owned<T>>> ReadDictionary(const Reader& reader) {
  internal::FileReader& file = *internal::ReaderAccess::File(reader);
  const FileInfo& info = file.info();
  // Checks the number of values, among other things, before memory is allocated for them.
  CFILE_RETURN_IF_ERROR(file.Dictionary().status());
  if (!info.dictionary) return std::vector<Owned<T>>();
  internal::BlockBuffer buffer;
  auto values = [&]() -> absl::StatusOr<std::vector<Owned<T>>> {
    CFILE_ASSIGN_OR_RETURN(
        const internal::FetchedBlock block,
        internal::FetchBlock(file.source(), info, *info.dictionary, file.options().verify_checksums,
                             file.options().max_block_size_bytes, buffer));
    return Decode<T>(info, block.bytes);
  }();
  if (!values.ok())
    return internal::InBlock(values.status(), file.source().name(), *info.dictionary);
  return values;
}

#define CFILE_INSTANTIATE(T) \
  template absl::StatusOr<std::vector<Owned<T>>> ReadDictionary<T>(const Reader&);
CFILE_FOR_EACH_VALUE_TYPE(CFILE_INSTANTIATE)
#undef CFILE_INSTANTIATE

}  // namespace cfile
