// Names the functions that encodings/parquet.h needs for each type of Parquet's values.
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "encodings/parquet.h"

absl::Status UseParquetPage();

namespace {

using namespace cfile::encodings;

template <typename T>
absl::Status UseType(uint32_t type_length) {
  const std::vector<uint16_t> levels = {1, 1, 1};
  ByteWriter page;
  PutHybridWithLength<uint16_t>(levels, LevelWidth(1), page);
  ByteReader reader(page.span());
  std::vector<uint16_t> read_levels(3);
  CFILE_RETURN_IF_ERROR(
      ReadHybridWithLength<uint16_t>(reader, LevelWidth(1), std::span(read_levels)));

  const auto values = std::make_unique<T[]>(3);
  CFILE_ASSIGN_OR_RETURN(auto encoder,
                         parquet::MakeEncoder<T>(Encoding::kParquetDictionary, type_length));
  CFILE_ASSIGN_OR_RETURN(const EncodedBlock block,
                         parquet::EncodePage<T>(encoder, std::span<const T>(values.get(), 3)));
  CFILE_ASSIGN_OR_RETURN(const auto words, parquet::EncodeDictionaryPage(encoder));
  DecoderOptions options(type_length);
  if (words.has_value()) {
    CFILE_ASSIGN_OR_RETURN(options.dictionary, parquet::DecodeDictionaryPage<T>(
                                                   words->count, words->bytes.span(), type_length));
  }
  CFILE_ASSIGN_OR_RETURN(auto decoder, parquet::MakeDecoder<T>(block.encoding, options));
  CFILE_RETURN_IF_ERROR(parquet::OpenPage(*decoder, 3, block.bytes.span()));
  const auto out = std::make_unique<T[]>(3);
  CFILE_ASSIGN_OR_RETURN(const size_t read, decoder->Read(std::span<T>(out.get(), 3)));
  return read > 0 && levels == read_levels ? absl::OkStatus()
                                           : absl::InternalError("the page has no values");
}

}  // namespace

absl::Status UseParquetPage() {
  CFILE_RETURN_IF_ERROR(UseType<bool>(0));
  CFILE_RETURN_IF_ERROR(UseType<int32_t>(0));
  CFILE_RETURN_IF_ERROR(UseType<int64_t>(0));
  CFILE_RETURN_IF_ERROR(UseType<Int96>(0));
  CFILE_RETURN_IF_ERROR(UseType<float>(0));
  CFILE_RETURN_IF_ERROR(UseType<double>(0));
  return UseType<std::string_view>(0);
}
