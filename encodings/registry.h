// The registry: the only list of encodings. Writers, readers, tools, tests, fuzzers and benchmarks
// iterate over it. Its contents are constant; all functions are thread-safe.
//
// To add an encoding, see encodings/ADDING.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "encodings/core/block_codec.h"
#include "encodings/core/block_fields.h"
#include "encodings/core/codec.h"
#include "encodings/core/encoding.h"
#include "encodings/core/export.h"
#include "encodings/core/physical_type.h"

namespace cfile::encodings {

// One row: an encoding that this build implements.
struct EncodingRow {
  Encoding encoding;
  std::string_view name;   // in tools, options and documents
  std::string_view suits;  // EncodingSuits
  // Another number of the same encoding, which is read but not written.
  std::optional<Encoding> older_number;
  // The types that the encoding supports: a bit mask of 1 << PhysicalType.
  uint32_t types;
  // A block of n values that have v bytes of their own (OwnBytes) takes at most v + n *
  // worst_extra_bytes_per_value + worst_extra_bytes_per_block bytes.
  uint32_t worst_extra_bytes_per_value;
  uint32_t worst_extra_bytes_per_block;
  ScanCost scan_cost;
  Automatic automatic;

  // True if the blocks of a file share a dictionary: see BlockEncoder::FinishDictionary and
  // LoadDictionary.
  bool has_dictionary;
  // True if the dictionary consists of values of the column, and blocks store codes of them: see
  // BlockDecoder::ReadCodes. If this is false, only decoders understand the dictionary.
  bool has_codes;
  // True if the encoding stores strings without the bytes that they share with the string before,
  // so that an export to Parquet should do so, too. False for Parquet's own encodings, because
  // exports copy their pages unchanged.
  bool front_codes;

  constexpr bool Supports(PhysicalType type) const {
    return (types >> static_cast<uint32_t>(type) & 1) != 0;
  }
};

// Returns all rows in the order of their numbers. They are static.
CFILE_EXPORT std::span<const EncodingRow> Encodings();

// Return the row with this encoding or this name, or nullptr if this build has none. Rows are
// static.
CFILE_EXPORT const EncodingRow* FindEncoding(Encoding encoding);
CFILE_EXPORT const EncodingRow* FindEncoding(std::string_view name);

// Returns the row of the encoding that decodes blocks of `encoding`, which may be its older number,
// or nullptr if this build has none.
CFILE_EXPORT const EncodingRow* FindDecoding(Encoding encoding);

// Returns EncodingRow::has_codes of FindDecoding, or false if this build has no such encoding. If
// true for the encoding of a file with a dictionary, this dictionary is a ValueDictionary
// (core/value_dictionary.h).
CFILE_EXPORT bool HasCodes(Encoding encoding);

// Return a new encoder or decoder for blocks of `type`. Only one thread at a time may use it.
// kUnimplemented: this build has no such encoding for this type; the message names both.
// kInvalidArgument, MakeDecoder only: the values of the dictionary are of another type. (Decoders
// ignore a dictionary of symbols that is not for them.) Preconditions:
// HoldsType<T>(type); options.type_length > 0 for kFixedBytes.
template <typename T>
CFILE_EXPORT absl::StatusOr<std::unique_ptr<BlockEncoder<T>>> MakeEncoder(
    Encoding encoding, PhysicalType type, const EncoderOptions& options);
template <typename T>
CFILE_EXPORT absl::StatusOr<std::unique_ptr<BlockDecoder<T>>> MakeDecoder(
    Encoding encoding, PhysicalType type, const DecoderOptions& options);

// Like MakeEncoder<T>, where T is the C++ type of `type`.
absl::StatusOr<std::unique_ptr<AnyBlockEncoder>> MakeAnyEncoder(Encoding encoding,
                                                                PhysicalType type,
                                                                const EncoderOptions& options);

// Returns a decoder as MakeDecoder does, of the type T that `type` says. A program that uses
// MakeAnyDecoder contains all codecs; one that uses MakeDecoderOf<T>, those of T.
using DecoderMaker = absl::StatusOr<std::unique_ptr<AnyBlockDecoder>>(
    Encoding encoding, PhysicalType type, const DecoderOptions& options);
CFILE_EXPORT DecoderMaker MakeAnyDecoder;
template <typename T>
CFILE_EXPORT absl::StatusOr<std::unique_ptr<AnyBlockDecoder>> MakeDecoderOf(
    Encoding encoding, PhysicalType type, const DecoderOptions& options);

// Decodes the dictionary of a file's blocks from `bytes`, which BlockEncoder::FinishDictionary
// appended. The values are copied: `bytes` need not outlive the call. The dictionary is immutable
// and may be shared between threads. kDataLoss: `bytes` are damaged. kOutOfRange: the dictionary
// has more than `max_values` values. kUnimplemented: this build has no such encoding for this type,
// or the encoding has no dictionary.
CFILE_EXPORT absl::StatusOr<std::shared_ptr<const Dictionary>> LoadDictionary(
    Encoding encoding, PhysicalType type, uint32_t type_length, std::span<const uint8_t> bytes,
    size_t max_values = kMaxDictionaryValues);

// Checks what can be checked of a block without the dictionary of its file. If the block stores its
// count and first ordinal, sets these members of `block`, even if the values are damaged.
// kDataLoss: the block is damaged. kUnimplemented: this build has no such encoding, or the encoding
// has no dictionary.
absl::Status CheckWithoutDictionary(Encoding encoding, BlockView& block);

// Describes the bytes of a block, for inspection. `fields` is set to fields that cover all bytes of
// the block in ascending order, without gaps and overlaps: at most `max_fields`, which must be at
// least kMaxBlockFields. If the encoding does not describe its blocks, one field covers all bytes.
// Checks only what is needed to find the fields. kDataLoss: the block is damaged. kUnimplemented:
// as for MakeDecoder. After an error, the last field has the bytes that were not understood, if
// any: "unknown bytes".
CFILE_EXPORT absl::Status DescribeBlock(Encoding encoding, PhysicalType type,
                                        const DecoderOptions& options, const BlockView& block,
                                        std::vector<BlockField>& fields,
                                        size_t max_fields = kMaxBlockFields);

// Returns the name of `type` for messages: "int32", "fixed bytes", ...
CFILE_EXPORT std::string_view PhysicalTypeName(PhysicalType type);

}  // namespace cfile::encodings
