// The one list of encodings. Writers, readers, tools, tests, fuzzers and benchmarks walk it.
//
// To add an encoding: a file pair with a codec struct (see EncodingRow for its members), one line
// in `Codecs` below, one section of cfile/FORMAT.md, one golden vector. Nothing else is edited.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "encodings/block_codec.h"
#include "encodings/encoding.h"
#include "encodings/physical_type.h"

namespace cfile::encodings {

// One row: an encoding that this build implements.
struct EncodingRow {
  Encoding encoding;
  std::string_view name;  // in tools, options and documents
  // Bit 1 << PhysicalType for each type that it takes.
  uint32_t types;
  // A block of n values, whose own bytes are v in sum, takes at most v + n *
  // worst_extra_bytes_per_value + worst_extra_bytes_per_block bytes.
  uint32_t worst_extra_bytes_per_value;
  uint32_t worst_extra_bytes_per_block;
  ScanCost scan_cost;

  // Blocks share a dictionary: see BlockEncoder::FinishDictionary and LoadDictionary.
  bool has_dictionary;

  constexpr bool Supports(PhysicalType type) const {
    return (types >> static_cast<uint32_t>(type) & 1) != 0;
  }
};

// All rows, by number.
std::span<const EncodingRow> Encodings();

// The row of `encoding` or of `name`; nullptr if this build has none.
const EncodingRow* FindEncoding(Encoding encoding);
const EncodingRow* FindEncoding(std::string_view name);

// A new encoder or decoder for blocks of `type`. kUnimplemented, with both names, if the registry
// has no such pair; of a decoder kInvalidArgument if the dictionary is of another type.
// Preconditions: HoldsType<T>(type); type_length > 0 for kFixedBytes.
template <typename T>
absl::StatusOr<std::unique_ptr<BlockEncoder<T>>> MakeEncoder(Encoding encoding, PhysicalType type,
                                                             const EncoderOptions& options);
template <typename T>
absl::StatusOr<std::unique_ptr<BlockDecoder<T>>> MakeDecoder(Encoding encoding, PhysicalType type,
                                                             const DecoderOptions& options);

// The dictionary of a file's blocks, from what BlockEncoder::FinishDictionary appended; decodes all
// of it. kDataLoss: it is damaged. kOutOfRange: it has more than `max_values`. kUnimplemented: no
// such pair, or an encoding without a dictionary.
absl::StatusOr<std::shared_ptr<const Dictionary>> LoadDictionary(
    Encoding encoding, PhysicalType type, uint32_t type_length, std::span<const uint8_t> bytes,
    size_t max_values = kMaxDictionaryValues);

// "int32", "fixed bytes", ...
std::string_view PhysicalTypeName(PhysicalType type);

}  // namespace cfile::encodings
