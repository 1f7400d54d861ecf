// ReadDictionary: the values of a file's dictionary.
#include "cfile/inspect.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "absl/functional/function_ref.h"
#include "cfile/core/format/stored_block.h"
#include "cfile/core/read/file_reader.h"
#include "cfile/core/read/reader_access.h"
#include "cfile/parts/inspect/dictionary_block.h"
#include "cfile/reader.h"
#include "encodings/core/bytes.h"
#include "encodings/core/status.h"
#include "encodings/registry.h"

namespace cfile {

absl::StatusOr<internal::DictionaryBlock> internal::SplitDictionary(
    const FileInfo& info, std::span<const uint8_t> bytes) {
  DictionaryBlock block;
  block.values.bytes = bytes;
  if (static_cast<uint32_t>(info.encoding) < encodings::kFirstExtendedNumber) return block;
  block.encoding = Encoding::kParquetPlain;
  encodings::ByteReader reader(bytes);
  uint64_t count = 0;
  if (!reader.ReadVint64(count) || count > std::numeric_limits<uint32_t>::max()) {
    return DataLoss("the number of values of the dictionary is malformed in its ", bytes.size(),
                    " bytes");
  }
  block.count_bytes = reader.offset();
  block.values.bytes = reader.rest();
  block.values.count = static_cast<uint32_t>(count);
  return block;
}

namespace {

// Calls add(values) for all values of the dictionary in `bytes`. `info`: of the file.
absl::Status Decode(const FileInfo& info, std::span<const uint8_t> bytes,
                    absl::FunctionRef<void(encodings::ValueSpan values)> add) {
  CFILE_ASSIGN_OR_RETURN(const internal::DictionaryBlock block,
                         internal::SplitDictionary(info, bytes));
  const PhysicalType type = info.type.physical();
  CFILE_ASSIGN_OR_RETURN(const auto decoder,
                         encodings::MakeAnyDecoder(block.encoding, type, info.type.type_length));
  CFILE_RETURN_IF_ERROR(decoder->Open(block.values));
  constexpr size_t kBatch = 1024;
  const auto batch = std::make_unique_for_overwrite<std::byte[]>(
      kBatch * encodings::WidthOf(encodings::LaneOf(type)));
  while (decoder->position() < decoder->count()) {
    const size_t wanted = std::min<size_t>(kBatch, decoder->count() - decoder->position());
    CFILE_ASSIGN_OR_RETURN(const size_t read, decoder->ReadAny(batch.get(), wanted));
    add({batch.get(), read});
  }
  return absl::OkStatus();
}

// Calls add(values) for all values of the dictionary of a file, if it has one.
absl::Status Visit(const Reader& reader, absl::FunctionRef<void(encodings::ValueSpan values)> add) {
  internal::FileReader& file = *internal::ReaderAccess::File(reader);
  const FileInfo& info = file.info();
  // Checks the number of values, among other things, before memory is allocated for them.
  CFILE_RETURN_IF_ERROR(file.Dictionary().status());
  if (!info.dictionary) return absl::OkStatus();
  internal::BlockBuffer buffer;
  const absl::StatusOr<internal::FetchedBlock> block = internal::FetchBlock(
      file.source(), internal::BlockFormatOf(info), *info.dictionary,
      file.options().verify_checksums, file.options().max_block_size_bytes, buffer);
  const absl::Status status = block.ok() ? Decode(info, block->bytes, add) : block.status();
  return status.ok() ? status : internal::InBlock(status, file.source().name(), *info.dictionary);
}

}  // namespace

template <typename T, typename>
absl::StatusOr<std::vector<Owned<T>>> ReadDictionary(const Reader& reader) {
  std::vector<Owned<T>> values;
  CFILE_RETURN_IF_ERROR(Visit(reader, [&](encodings::ValueSpan some) {
    const std::span<const T> typed = some.As<T>();
    values.insert(values.end(), typed.begin(), typed.end());
  }));
  return values;
}

#define CFILE_INSTANTIATE(T) \
  template absl::StatusOr<std::vector<Owned<T>>> ReadDictionary<T>(const Reader&);
CFILE_FOR_EACH_VALUE_TYPE(CFILE_INSTANTIATE)
#undef CFILE_INSTANTIATE

}  // namespace cfile
