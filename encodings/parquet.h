// Parquet's encodings by themselves: pages in, values out, and back, for a program that reads or
// writes Parquet files. A codec takes and gives the bytes of a page and nothing else; no CFile is
// needed. What Parquet's metadata says (encoding, count, lengths), the caller passes on.
//
//   Parquet's type           T                 Encoding::kParquet...
//   BOOLEAN                  bool              Plain, Rle, Dictionary
//   INT32, INT64             int32_t, int64_t  Plain, Dictionary, DeltaBinaryPacked,
//                                              ByteStreamSplit, GroupVarInt (early Parquet)
//   INT96                    Int96             Plain, Dictionary
//   FLOAT, DOUBLE            float, double     Plain, Dictionary, ByteStreamSplit, Alp (preview)
//   BYTE_ARRAY               std::string_view  Plain, Dictionary, DeltaLengthByteArray,
//                                              DeltaByteArray
//   FIXED_LEN_BYTE_ARRAY(n)  std::string_view  Plain, Dictionary, DeltaByteArray, ByteStreamSplit
//
// Before its values a data page has levels: ReadHybridWithLength (version 1), ReadHybrid (version
// 2, whose header says their length) and ReadBitPacked (deprecated) read them, PutHybridWithLength,
// ... write them (levels.h, included). A column whose largest level is 0 has none of that kind in a
// page: skip the call. Whether a level is at most the column's largest is the caller's to check.
//
// A column chunk of a dictionary page and a data page: an OPTIONAL BYTE_ARRAY, version 1 of pages.
//
// ```cpp
// #include <iostream>
// #include <vector>
//
// #include "encodings/parquet.h"
//
// using namespace cfile::encodings;
//
// int main() {
//   // Writing: definition levels with a length, then the values that are there.
//   const std::vector<uint32_t> levels = {1, 1, 0, 1, 1, 1, 1, 1, 1, 1, 1};
//   const std::vector<std::string_view> cities(10, "Ny-Ålesund, Svalbard");
//   ByteWriter page;
//   PutHybridWithLength<uint32_t>(levels, LevelWidth(1), page);
//   auto encoder = parquet::MakeEncoder<std::string_view>(Encoding::kParquetDictionary).value();
//   const EncodedBlock values = parquet::EncodePage<std::string_view>(encoder, cities).value();
//   page.PutBytes(values.bytes.span());
//   const parquet::DictionaryPage words = *parquet::EncodeDictionaryPage(encoder).value();
//   std::cout << page.size() << " bytes, and a dictionary of " << words.bytes.size() << "\n";
//
//   // Reading it back; every error is an absl::Status, here it would end the program.
//   DecoderOptions options;
//   options.dictionary =
//       parquet::DecodeDictionaryPage<std::string_view>(words.count, words.bytes.span()).value();
//   const int number = parquet::NumberOf(values.encoding);  // in the page's header
//   auto decoder =
//       parquet::MakeDecoder<std::string_view>(parquet::EncodingOf(number), options).value();
//   ByteReader reader(page.span());
//   std::vector<uint32_t> defined(11);
//   absl::Status status =
//       ReadHybridWithLength<uint32_t>(reader, LevelWidth(1), std::span(defined));
//   if (status.ok()) status = parquet::OpenPage(*decoder, 10, reader.rest());
//   std::vector<std::string_view> out(4);
//   while (status.ok() && decoder->position() < decoder->count()) {
//     const auto read = decoder->Read(out);  // views: valid until the next call
//     status = read.status();
//     if (status.ok()) std::cout << *read << " of " << out[0] << "\n";
//   }
//   return status.ok() && defined == levels ? 0 : 1;
// }
// ```
//
// ```text
// 9 bytes, and a dictionary of 25
// 4 of Ny-Ålesund, Svalbard
// 4 of Ny-Ålesund, Svalbard
// 2 of Ny-Ålesund, Svalbard
// ```
//
// Decoders and encoders are used again for page after page and keep their memory; those of a column
// chunk with a dictionary only for that chunk. Each belongs to one thread at a time, dictionaries
// are immutable and shared. BlockDecoder (block_codec.h) seeks as well, and gives byte arrays as
// Arrow has them, offsets and data (ReadPacked, packed_strings.h), several times as fast. Pages may
// hold anything: what is wrong is kDataLoss, and no memory is bought by a count that the bytes do
// not bear out. No values may have no bytes.
//
// Beyond and short of what Parquet's documents say:
// - PLAIN_DICTIONARY is read, as RLE_DICTIONARY, and not written.
// - Dictionaries of BOOLEAN are read and written, but other readers refuse them.
// - A DELTA_BYTE_ARRAY page whose first value shares a prefix with the page before, as a bug of
//   early writers made them (PARQUET-246), is refused.
// - Blocks of DELTA_BINARY_PACKED that are no multiple of 128 values, as in the examples of early
//   documents, are read by MakeDeltaBinaryPackedDecoder(DeltaBlocks::kLenient) only
//   (delta_binary_packed.h).
#pragma once

#include <algorithm>
#include <cassert>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "encodings/bytes.h"
#include "encodings/levels.h"
#include "encodings/parquet_dictionary.h"
#include "encodings/registry.h"
#include "encodings/status.h"
#include "encodings/value_dictionary.h"

namespace cfile::encodings::parquet {

// The largest page: its header has signed 32-bit sizes.
inline constexpr uint32_t kMaxPageBytes = (uint32_t{1} << 31) - 1;

// The values of Parquet's types, as in the table above.
template <typename T>
concept Value = std::same_as<T, bool> || std::same_as<T, int32_t> || std::same_as<T, int64_t> ||
    std::same_as<T, Int96> || std::same_as<T, float> || std::same_as<T, double> ||
    std::same_as<T, std::string_view>;

// Parquet's own number of an encoding (parquet.thrift), and back. Any number may be asked for: what
// is no encoding has no codec either.
constexpr Encoding EncodingOf(int parquet_number) {
  return parquet_number < 0
             ? Encoding::kAuto
             : static_cast<Encoding>(kFirstExtendedNumber + static_cast<uint32_t>(parquet_number));
}
constexpr int NumberOf(Encoding encoding) {
  return static_cast<int>(encoding) - static_cast<int>(kFirstExtendedNumber);
}

// The physical type of T. type_length, here and below: bytes of a FIXED_LEN_BYTE_ARRAY value, at
// least 1; 0 for other types.
template <Value T>
constexpr PhysicalType TypeOf(uint32_t type_length) {
  return std::same_as<T, bool>      ? PhysicalType::kBool
         : std::same_as<T, int32_t> ? PhysicalType::kInt32
         : std::same_as<T, int64_t> ? PhysicalType::kInt64
         : std::same_as<T, Int96>   ? PhysicalType::kInt96
         : std::same_as<T, float>   ? PhysicalType::kFloat
         : std::same_as<T, double>  ? PhysicalType::kDouble
         : type_length == 0         ? PhysicalType::kBytes
                                    : PhysicalType::kFixedBytes;
}

// kUnimplemented: none of Parquet's encodings.
inline absl::Status CheckEncoding(Encoding encoding) {
  if (NumberOf(encoding) >= 0) return absl::OkStatus();
  return absl::UnimplementedError(StrCat(EncodingName(encoding), " is no encoding of Parquet's"));
}

// A decoder of data pages. `options` has the type's length, and the dictionary for pages of codes.
// kUnimplemented, with both names: the encoding is not for this type, or no encoding of values.
// kInvalidArgument: the dictionary is of another type.
template <Value T>
absl::StatusOr<std::unique_ptr<BlockDecoder<T>>> MakeDecoder(Encoding encoding,
                                                             const DecoderOptions& options = {}) {
  CFILE_RETURN_IF_ERROR(CheckEncoding(encoding));
  return encodings::MakeDecoder<T>(encoding, TypeOf<T>(options.type_length), options);
}

// Opens `decoder` on the `count` values of a data page: those present, which are fewer than its
// header counts where there are nulls. `page` begins with them, behind the levels; it must stay
// valid and unchanged as long as they are read. kDataLoss: the page is damaged.
template <Value T>
absl::Status OpenPage(BlockDecoder<T>& decoder, uint32_t count, std::span<const uint8_t> page) {
  BlockView view(page);
  view.count = count;
  return decoder.Open(view);
}

// The dictionary in a dictionary page of `count` values, copied. kDataLoss: the page is damaged, or
// bytes follow the last value. kOutOfRange: it has more than max_dictionary_values.
template <Value T>
absl::StatusOr<std::shared_ptr<const Dictionary>> DecodeDictionaryPage(
    uint32_t count, std::span<const uint8_t> page, uint32_t type_length = 0,
    size_t max_dictionary_values = kMaxDictionaryValues) {
  return ReadParquetDictionaryPage(TypeOf<T>(type_length), type_length, count, page,
                                   max_dictionary_values);
}

// An encoder of data pages. Made by MakeEncoder, used by the functions below.
template <Value T>
struct Encoder {
  Encoding encoding;
  uint32_t type_length;
  std::unique_ptr<BlockEncoder<T>> blocks;
};

// kUnimplemented: as above. max_dictionary_bytes, max_dictionary_values: a page for whose values the
// dictionary page would grow beyond either has no codes. The second is what DecodeDictionaryPage
// takes, unless both are told otherwise; at most 2^31 - 1.
template <Value T>
absl::StatusOr<Encoder<T>> MakeEncoder(
    Encoding encoding, uint32_t type_length = 0,
    size_t max_dictionary_bytes = EncoderOptions().max_dictionary_bytes,
    size_t max_dictionary_values = kMaxDictionaryValues) {
  CFILE_RETURN_IF_ERROR(CheckEncoding(encoding));
  const EncoderOptions options{
      .block_size_bytes = size_t{kMaxPageBytes},
      .type_length = type_length,
      .max_dictionary_bytes = std::min(max_dictionary_bytes, size_t{kMaxPageBytes}),
      .max_dictionary_values = std::min(max_dictionary_values, size_t{kMaxPageBytes}),
      .skip_tables = false};
  CFILE_ASSIGN_OR_RETURN(auto blocks,
                         encodings::MakeEncoder<T>(encoding, TypeOf<T>(type_length), options));
  return Encoder<T>{encoding, type_length, std::move(blocks)};
}

// The data page of `values`, all of which go into it. `bytes` of what is returned is the page,
// `encoding` what the page's header must say: the encoder's but for pages on which a dictionary
// would be lost (parquet_dictionary.h).
//
// kOutOfRange: the values have more than kMaxPageBytes, at 1 byte for a BOOLEAN and 4 more for each
// byte array (so they are at most INT32_MAX), or the page has. kInvalidArgument: values of another
// length than the FIXED_LEN_BYTE_ARRAY's. After either the encoder is as before.
template <Value T>
absl::StatusOr<EncodedBlock> EncodePage(Encoder<T>& encoder, std::span<const T> values) {
  const auto too_large = [&] {
    return absl::OutOfRangeError(
        StrCat(values.size(), " values take more than a page's ", kMaxPageBytes, " bytes"));
  };
  if (values.size() > kMaxPageBytes / (kIsBytes<T> ? 1 : sizeof(T))) return too_large();
  if constexpr (kIsBytes<T>) {
    uint64_t bytes = 0;
    for (const T& value : values) {
      if (encoder.type_length > 0 && value.size() != encoder.type_length) {
        return absl::InvalidArgumentError(StrCat("a value of ", value.size(),
                                                 " bytes for a FIXED_LEN_BYTE_ARRAY(",
                                                 encoder.type_length, ")"));
      }
      bytes += value.size() + sizeof(uint32_t);
      if (bytes > kMaxPageBytes) return too_large();
    }
  }
  [[maybe_unused]] const size_t taken = encoder.blocks->Append(values);
  assert(taken == values.size());
  EncodedBlock page;
  encoder.blocks->Finish(/*first_ordinal=*/0, page);
  if (page.bytes.size() > kMaxPageBytes) return too_large();
  if (page.encoding == Encoding::kAuto) page.encoding = encoder.encoding;
  return page;
}

struct DictionaryPage {
  uint32_t count = 0;  // of values
  ByteWriter bytes;    // PLAIN
};

// The dictionary page for all data pages that `encoder` made; none if they need none. Called once,
// after the last: a further column chunk takes a new encoder. kOutOfRange: it has more than
// max_dictionary_values, which needs an encoder that was made with a higher limit.
template <Value T>
absl::StatusOr<std::optional<DictionaryPage>> EncodeDictionaryPage(
    Encoder<T>& encoder, size_t max_dictionary_values = kMaxDictionaryValues) {
  ByteWriter block;  // a CFile's: the number of values stands before them
  if (!encoder.blocks->FinishDictionary(block)) return std::nullopt;
  ByteReader reader(block.span());
  DictionaryPage page;
  [[maybe_unused]] const bool counted = reader.ReadVint32(page.count);
  assert(counted);
  CFILE_RETURN_IF_ERROR(CheckDictionarySize(page.count, max_dictionary_values));
  page.bytes.PutBytes(reader.rest());
  return page;
}

}  // namespace cfile::encodings::parquet
