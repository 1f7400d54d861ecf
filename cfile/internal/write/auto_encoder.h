// Automatic choice of the encoding: an encoder whose blocks may have different encodings.
#pragma once

#include <memory>

#include "cfile/internal/write/storage_trial.h"
#include "encodings/core/block_codec.h"

namespace cfile::internal {

// Makes an encoder that chooses how to store each block. The encoder gathers the first values of
// the block (the sample), chooses an encoding and the compression from the sample (see Goal), and
// passes all values of the block to the encoder of the chosen encoding. The choice is stored in
// EncodedBlock::encoding and ::compressible. The choice depends only on the values, so files are
// reproducible.
//
// A trial encodes the sample with each encoding that supports the type. A trial takes place for the
// first block, for a block whose first values differ in nature from those of the last trial, and
// otherwise at growing intervals. It tries the encodings whose row of the registry says `automatic`.
//
// Memory: the encoders used so far, a sample of up to 128 KiB and, during a trial, a small multiple
// of the sample.
// Precondition: not options.kudu_exact.
template <typename T>
std::unique_ptr<encodings::BlockEncoder<T>> MakeAutoEncoder(
    PhysicalType type, const encodings::EncoderOptions& options, const AutoOptions& choice);

}  // namespace cfile::internal
