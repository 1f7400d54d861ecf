// PLAIN: values as they lie in memory (cfile/FORMAT.md, Kudu's data blocks).
//
//   fixed width   count fixed32 · first ordinal fixed32 · values back to back
//   bool          see plain_bool.h
//   bytes         see plain_binary.h
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "encodings/block_codec.h"
#include "encodings/encoding.h"
#include "encodings/physical_type.h"

namespace cfile::encodings {

// PLAIN of all types. Numbers are borrowed from the block itself where it lies aligned, views of
// bytes always point into it.
struct PlainCodec {
  static constexpr Encoding kEncoding = Encoding::kPlain;
  static constexpr std::string_view kName = "plain";
  // Bytes need an offset (4 bytes and a quarter of a selector) a value, and the padding of the last
  // group.
  static constexpr uint32_t kWorstExtraBytesPerValue = 5;
  static constexpr uint32_t kWorstExtraBytesPerBlock = 16;
  static constexpr ScanCost kScanCost{.string = 2300};
  static constexpr bool Supports(PhysicalType) { return true; }

  template <typename T>
  static std::unique_ptr<BlockEncoder<T>> MakeEncoder(PhysicalType type,
                                                      const EncoderOptions& options);
  template <typename T>
  static std::unique_ptr<BlockDecoder<T>> MakeDecoder(PhysicalType type,
                                                      const DecoderOptions& options);
};

}  // namespace cfile::encodings
