// Automatic choice: an encoder whose blocks may each be of another encoding of the registry.
#pragma once

#include <memory>

#include "cfile/options.h"
#include "encodings/block_codec.h"

namespace cfile::internal {

struct AutoOptions {
  Goal goal = Goal::kBalanced;
  // The codec of the file, if it has one: a block is compressed with it or not at all.
  Compression compression = Compression::kNone;
  int compression_level = 0;
  // All blocks are compressed that it saves a tenth of; what a scan takes for it does not count.
  bool compress_all = false;
  bool value_index = false;
  // About where blocks end, which EncoderOptions::block_size_bytes may not be: a dictionary is
  // shared out over so much.
  size_t block_size_bytes = 256 * 1024;
};

// Gathers the first values of each block, chooses by them how to store it (see Goal), and hands
// them and all that follow to that encoding's encoder. What it chose stands in
// EncodedBlock::encoding and ::compressible. The choice depends on nothing but the values, so that
// files can be reproduced.
//
// A trial encodes the sample with each encoding that takes the type. It is made for the first
// block, for one whose first values differ in nature from those that the last trial was about, and
// otherwise more and more seldom. All dictionary encodings but the last of the registry are left
// out: a file has one dictionary.
//
// Memory: that of the encoders that blocks were encoded with, a sample of up to 128 KiB and, while
// a trial is made, a small multiple of that.
// Precondition: not options.kudu_exact.
template <typename T>
std::unique_ptr<encodings::BlockEncoder<T>> MakeAutoEncoder(
    PhysicalType type, const encodings::EncoderOptions& options, const AutoOptions& choice);

}  // namespace cfile::internal
