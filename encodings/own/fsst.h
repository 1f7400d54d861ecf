// FSST: strings whose bytes are codes of a symbol table (cfile/FORMAT.md, FSST). All blocks of a
// file share one table:
//
//   block     form, 1 byte · size of the common prefix vint32 · common prefix ·
//             offset of each group fixed32 · the groups
//   table     number of symbols vint64 · PLAIN (100) page of the symbols
//
// A group has 64 values. In form 1 they are front-coded: the first value shares only the common
// prefix of the block, so that decoding can begin there. A symbol may extend over several suffixes.
//
//   group     width of the shared sizes, top bit: codes · width of the suffix sizes · size of the
//             first suffix, least shared size, least suffix size vint32 each · packed sizes · codes
//
// In form 2 each value is compressed by itself, so that one value can be decoded, or compared for
// equality, without the others.
//
//   group     width of the sizes, top bit: codes · least size vint32 · packed sizes · codes
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "encodings/core/automatic.h"
#include "encodings/core/block_codec.h"
#include "encodings/core/block_description.h"
#include "encodings/core/encoding.h"
#include "encodings/core/physical_type.h"

namespace cfile::encodings {

// The encoder and decoder of FSST.
//
// The encoder makes the table from a sample of the first block that has values, and keeps it. The
// table keeps the limits that EncoderOptions has for dictionaries, with symbols as values. If
// the codes of a group would take as many bytes as its text, the group has the text. Blocks whose
// values ascend, or that have a value of more than 1 MiB, have form 1. The others have form 1 if,
// by an estimate from some groups, front coding saves at least a twentieth of their bytes.
//
// A decoder checks the header of a block in Open, and a group when it reads from the group. It
// keeps the decompressed group (form 1), and about 1 MiB for the values of one Read. If the values
// would take more, Read returns fewer values.
struct FsstCodec {
  static constexpr Encoding kEncoding = Encoding::kFsst;
  static constexpr std::string_view kName = "fsst";
  static constexpr bool Supports(PhysicalType type) { return type == PhysicalType::kBytes; }
  // Per value: two packed sizes of 32 bits, and its share of the group's offset and header. Per
  // block: form, size of the prefix, and one more group.
  static constexpr uint32_t kWorstExtraBytesPerValue = 9;
  static constexpr uint32_t kWorstExtraBytesPerBlock = 6 + 21;
  // This is the cost of form 1. Form 2 costs up to three times as much. Automatic choice uses this
  // number for both forms: form 2 is taken only for Goal::kSize, whose limit of speed is low.
  static constexpr ScanCost kScanCost{.string = 4000, .byte = 60};
  static constexpr Automatic kAutomatic = Automatic::kForSizeAndSearches;
  static constexpr bool kHasCodes = false;  // the dictionary consists of symbols, not of values

  template <typename T>
  requires kIsBytes<T>
  static std::unique_ptr<BlockEncoder<T>> MakeEncoder(PhysicalType, const EncoderOptions& options) {
    return MakeBytesEncoder(options);
  }
  template <typename T>
  requires kIsBytes<T>
  static std::unique_ptr<BlockDecoder<T>> MakeDecoder(PhysicalType, const DecoderOptions& options) {
    return MakeBytesDecoder(options);
  }
  static absl::StatusOr<std::shared_ptr<const Dictionary>> LoadDictionary(
      PhysicalType type, uint32_t type_length, std::span<const uint8_t> bytes, size_t max_values);
  static absl::Status Describe(PhysicalType type, const DecoderOptions& options,
                               const BlockView& block, BlockDescription& description);

 private:
  static std::unique_ptr<BlockEncoder<std::string_view>> MakeBytesEncoder(
      const EncoderOptions& options);
  static std::unique_ptr<BlockDecoder<std::string_view>> MakeBytesDecoder(
      const DecoderOptions& options);
};

}  // namespace cfile::encodings
