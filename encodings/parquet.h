// Encodes and decodes pages of Parquet files, without a CFile, for programs that read or write
// Parquet files. The functions take and return only the bytes of pages; the caller reads and writes
// Parquet's metadata and passes the encoding, the number of values and the lengths from it.
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
// A data page begins with levels; the values follow. To read levels, call ReadHybridWithLength
// (pages of version 1), ReadHybrid (version 2, where the page's header stores their length) or
// ReadBitPacked (deprecated). To write them, call PutHybridWithLength, PutHybrid or PutBitPacked
// (levels.h, included here). If a column's largest level is 0, its pages have no levels of that
// kind: skip the call. The caller checks that each level is at most the column's largest level.
//
// Example: a column chunk of an OPTIONAL BYTE_ARRAY, with a dictionary page and a data page of
// version 1.
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
//   // Write a page: definition levels with a length, then the values that are not null.
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
//   // Read the page. Errors are returned as absl::Status; here .value() ends the program instead.
//   DecoderOptions options;
//   options.dictionary =
//       parquet::DecodeDictionaryPage<std::string_view>(words.count, words.bytes.span()).value();
//   const int number = parquet::NumberOf(values.encoding);  // stored in the page's header
//   auto decoder =
//       parquet::MakeDecoder<std::string_view>(parquet::EncodingOf(number), options).value();
//   ByteReader reader(page.span());
//   std::vector<uint32_t> defined(11);
//   absl::Status status =
//       ReadHybridWithLength<uint32_t>(reader, LevelWidth(1), std::span(defined));
//   if (status.ok()) status = parquet::OpenPage(*decoder, 10, reader.rest());
//   std::vector<std::string_view> out(4);
//   while (status.ok() && decoder->position() < decoder->count()) {
//     const auto read = decoder->Read(out);  // views, valid until the next call
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
// Use one decoder or encoder for page after page, because it keeps its memory. If it has a
// dictionary, use it for one column chunk only. Only one thread at a time may use a decoder or an
// encoder; dictionaries are immutable and may be shared between threads. The free functions are
// thread-safe.
//
// A BlockDecoder (block_codec.h) can also seek. For byte arrays, ReadPacked returns offsets and
// data in Arrow's layout (packed_strings.h), several times as fast as Read.
//
// Pages are untrusted: a damaged page gives kDataLoss, and a count in a page never makes a decoder
// allocate more than the bytes of the page justify. A page of no values may have no bytes.
//
// Differences from Parquet's documents:
// - PLAIN_DICTIONARY is read (as RLE_DICTIONARY), but not written.
// - Dictionaries of BOOLEAN are read and written, but other readers reject them.
// - A DELTA_BYTE_ARRAY page whose first value shares a prefix with the last value of the page
//   before is refused. A bug of early writers made such pages (PARQUET-246).
// - DELTA_BINARY_PACKED pages with blocks that are no multiple of 128 values, as in the examples of
//   early documents, are read only by MakeDeltaBinaryPackedDecoder(DeltaBlocks::kLenient)
//   (delta_binary_packed.h, which is not installed).
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "encodings/core/assert.h"
#include "encodings/core/bytes.h"
#include "encodings/core/status.h"
#include "encodings/core/value_dictionary.h"
#include "encodings/hybrid/levels.h"
#include "encodings/parquet/dictionary_page.h"
#include "encodings/registry.h"

namespace cfile::encodings::parquet {

// A page has at most this many bytes, because the page's header has signed 32-bit sizes.
inline constexpr uint32_t kMaxPageBytes = (uint32_t{1} << 31) - 1;

// The C++ types of Parquet's values, as in the table above.
template <typename T>
concept Value = std::same_as<T, bool> || std::same_as<T, int32_t> || std::same_as<T, int64_t> ||
    std::same_as<T, Int96> || std::same_as<T, float> || std::same_as<T, double> ||
    std::same_as<T, std::string_view>;

// Parquet's encodings have the numbers kFirstExtendedNumber to kFirstExtendedNumber + kNumbers - 1.
inline constexpr int kNumbers = 100;

// Convert Parquet's own number of an encoding (parquet.thrift) to Encoding, and back. EncodingOf
// accepts any number; if it is not the number of an encoding, MakeDecoder and MakeEncoder return
// kUnimplemented.
constexpr Encoding EncodingOf(int parquet_number) {
  return parquet_number < 0 || parquet_number >= kNumbers
             ? Encoding::kAuto
             : static_cast<Encoding>(kFirstExtendedNumber + static_cast<uint32_t>(parquet_number));
}
constexpr int NumberOf(Encoding encoding) {
  return static_cast<int>(encoding) - static_cast<int>(kFirstExtendedNumber);
}

// Returns the physical type of values of the C++ type T. `type_length`, here and below, is the size
// of a value in bytes if the column's type is FIXED_LEN_BYTE_ARRAY (at least 1), and 0 otherwise.
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

// Returns kUnimplemented if `encoding` is not one of Parquet's encodings.
inline absl::Status CheckEncoding(Encoding encoding) {
  if (NumberOf(encoding) >= 0 && NumberOf(encoding) < kNumbers) return absl::OkStatus();
  return absl::UnimplementedError(StrCat(EncodingName(encoding), " is not an encoding of Parquet"));
}

// Returns a new decoder of data pages. `options` holds the type length and, for pages of codes, the
// dictionary. kUnimplemented: this build has no decoder of this encoding for this type; the message
// names both. kInvalidArgument: the dictionary is of another type.
template <Value T>
absl::StatusOr<std::unique_ptr<BlockDecoder<T>>> MakeDecoder(Encoding encoding,
                                                             const DecoderOptions& options = {}) {
  CFILE_RETURN_IF_ERROR(CheckEncoding(encoding));
  return encodings::MakeDecoder<T>(encoding, TypeOf<T>(options.type_length), options);
}

// Opens `decoder` on the `count` values of a data page. `count` excludes nulls, unlike the number
// of values in the page's header. `page` begins with the values, after the levels; its bytes must
// stay valid and unchanged while the decoder reads them. kDataLoss: the page is damaged.
template <Value T>
absl::Status OpenPage(BlockDecoder<T>& decoder, uint32_t count, std::span<const uint8_t> page) {
  BlockView view(page);
  view.count = count;
  return decoder.Open(view);
}

// Decodes a dictionary page of `count` values. The values are copied: `page` need not outlive the
// call. kDataLoss: the page is damaged, or bytes follow the last value. kOutOfRange: `count` is
// more than max_dictionary_values.
template <Value T>
absl::StatusOr<std::shared_ptr<const Dictionary>> DecodeDictionaryPage(
    uint32_t count, std::span<const uint8_t> page, uint32_t type_length = 0,
    size_t max_dictionary_values = kMaxDictionaryValues) {
  return ReadParquetDictionaryPage(TypeOf<T>(type_length), type_length, count, page,
                                   max_dictionary_values);
}

// An encoder of data pages. Made by MakeEncoder, used by the functions below. Only one thread at a
// time may use it.
template <Value T>
struct Encoder {
  Encoding encoding;
  uint32_t type_length;
  std::unique_ptr<BlockEncoder<T>> blocks;
};

// Returns a new encoder of data pages. A page has no codes if its values would make the dictionary
// page larger than max_dictionary_bytes, or give it more than max_dictionary_values values. A limit
// of more than 2^31 - 1 counts as 2^31 - 1. DecodeDictionaryPage has the same default of
// max_dictionary_values. kUnimplemented: as for MakeDecoder.
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

// Encodes all of `values` as one data page. In the result, `bytes` is the page, and `encoding` is
// the encoding to store in the page's header. It is the encoder's encoding, except for pages on
// which a dictionary would not save bytes (parquet_dictionary.h).
//
// kOutOfRange: the values or the page have more than kMaxPageBytes bytes. For this limit a BOOLEAN
// counts as 1 byte, and a byte array as 4 bytes more than its length; so there are at most
// INT32_MAX values. kInvalidArgument: the length of a FIXED_LEN_BYTE_ARRAY value is not
// `type_length`. An error leaves the encoder unchanged.
template <Value T>
absl::StatusOr<EncodedBlock> EncodePage(Encoder<T>& encoder, std::span<const T> values) {
  const auto too_large = [&] {
    return absl::OutOfRangeError(
        StrCat(values.size(), " values take more bytes than a page may have, ", kMaxPageBytes));
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
  const size_t taken = encoder.blocks->Append(values);
  CFILE_ASSERT(taken == values.size());
  EncodedBlock page;
  encoder.blocks->Finish(/*first_ordinal=*/0, page);
  if (page.bytes.size() > kMaxPageBytes) return too_large();
  if (page.encoding == Encoding::kAuto) page.encoding = encoder.encoding;
  return page;
}

struct DictionaryPage {
  uint32_t count = 0;  // number of values
  ByteWriter bytes;    // the values, PLAIN; without the page's header
};

// Returns the dictionary page for all data pages that `encoder` made, or nullopt if none of them
// needs it. Call it once, after the last data page; use a new encoder for the next column chunk.
// kOutOfRange: the dictionary has more than max_dictionary_values values; this can happen only if
// MakeEncoder was given a higher limit.
template <Value T>
absl::StatusOr<std::optional<DictionaryPage>> EncodeDictionaryPage(
    Encoder<T>& encoder, size_t max_dictionary_values = kMaxDictionaryValues) {
  ByteWriter block;  // as in a CFile: the number of values, then the page
  if (!encoder.blocks->FinishDictionary(block)) return std::nullopt;
  ByteReader reader(block.span());
  DictionaryPage page;
  const bool counted = reader.ReadVint32(page.count);
  CFILE_ASSERT(counted);
  CFILE_RETURN_IF_ERROR(CheckDictionarySize(page.count, max_dictionary_values));
  page.bytes.PutBytes(reader.rest());
  return page;
}

}  // namespace cfile::encodings::parquet
