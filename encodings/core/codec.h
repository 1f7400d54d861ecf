// What the codec structs of all encodings share (encodings/ADDING.md).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "absl/status/status.h"
#include "encodings/core/block_codec.h"
#include "encodings/core/encoding.h"

namespace cfile::encodings {

class BlockDescription;

// When automatic choice may take an encoding.
enum class Automatic : uint8_t {
  kNever,
  // For the smallest files, and for files without a value index if the block becomes much smaller
  // than with other encodings: encoding values and reading single values take long.
  kForSize,
  // For the smallest files, and for files that are searched by key, where a search in a compressed
  // block would decompress the whole block. Not if blocks may be copied into other files.
  kForSizeAndSearches,
  kAlways,
};

// The base class of all codec structs. Its members are defaults: a codec struct declares a member
// again only if its value differs.
struct CodecDefaults {
  static constexpr Automatic kAutomatic = Automatic::kAlways;
  static constexpr std::optional<Encoding> kOlderNumber = std::nullopt;
  static constexpr bool kHasCodes = true;  // see EncodingRow::has_codes
  static constexpr bool kFrontCodes = false;
};

// Declares the functions that every codec struct must define. Write a semicolon after the macro.
#define CFILE_CODEC_FUNCTIONS                                                         \
  template <typename T>                                                               \
  static std::unique_ptr<BlockEncoder<T>> MakeEncoder(PhysicalType type,              \
                                                      const EncoderOptions& options); \
  template <typename T>                                                               \
  static std::unique_ptr<BlockDecoder<T>> MakeDecoder(PhysicalType type,              \
                                                      const DecoderOptions& options); \
  CFILE_CODEC_DESCRIBE
#define CFILE_CODEC_DESCRIBE                                                     \
  static absl::Status Describe(PhysicalType type, const DecoderOptions& options, \
                               const BlockView& block, BlockDescription& description)

// Instantiate MakeEncoder or MakeDecoder of `Codec` for T.
#define CFILE_INSTANTIATE_ENCODER(Codec, T)                                     \
  template std::unique_ptr<BlockEncoder<T>> Codec::MakeEncoder<T>(PhysicalType, \
                                                                  const EncoderOptions&);
#define CFILE_INSTANTIATE_DECODER(Codec, T)                                     \
  template std::unique_ptr<BlockDecoder<T>> Codec::MakeDecoder<T>(PhysicalType, \
                                                                  const DecoderOptions&);

}  // namespace cfile::encodings
