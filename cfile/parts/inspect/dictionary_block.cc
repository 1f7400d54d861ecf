#include "cfile/parts/inspect/dictionary_block.h"

#include <limits>

#include "encodings/core/bytes.h"
#include "encodings/core/status.h"

namespace cfile::internal {

absl::StatusOr<DictionaryBlock> SplitDictionary(const FileInfo& info,
                                                std::span<const uint8_t> bytes) {
  DictionaryBlock block;
  block.values.bytes = bytes;
  if (static_cast<uint32_t>(info.encoding) < encodings::kFirstExtendedNumber) return block;
  block.encoding = Encoding::kParquetPlain;
  encodings::ByteReader reader(bytes);
  uint64_t count = 0;
  if (!reader.ReadVint64(count) || count > std::numeric_limits<uint32_t>::max()) {
    return encodings::DataLoss("the number of values of the dictionary is malformed in its ",
                               bytes.size(), " bytes");
  }
  block.count_bytes = reader.offset();
  block.values.bytes = reader.rest();
  block.values.count = static_cast<uint32_t>(count);
  return block;
}

}  // namespace cfile::internal
