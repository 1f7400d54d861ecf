// Automatic choice of the encoding: an encoder whose blocks may have different encodings.
#pragma once

#include <cstdint>
#include <memory>

#include "cfile/internal/write/storage_trial.h"
#include "encodings/core/block_codec.h"

namespace cfile::internal {

// An encoder that chooses how to store each block.
template <typename T>
class AutoEncoder : public encodings::BlockEncoder<T> {
 public:
  // What the trials have cost so far (Trial::cost_bytes).
  virtual uint64_t trial_cost_bytes() const = 0;
};

// Makes such an encoder. It gathers the first values of the block (the sample), chooses an encoding
// and the compression from the sample (see Goal), and passes all values of the block to the encoder
// of the chosen encoding. The choice is stored in EncodedBlock::encoding and ::compressible. It
// depends only on the values, so files are reproducible.
//
// A trial takes place for the first block, for a block whose first values differ in nature from
// those of the last trial, and otherwise at growing intervals. For a trial the sample grows to up
// to 256 KiB; if the column ends before, each encoding encodes all of it (see TryStorage). A block
// ends early if later values differ in nature. If the values change often, there is no trial for
// each change: beyond the first 4 MiB, trials encode and compress at most a tenth as many bytes as
// the values have, plus the bytes of one trial.
//
// Memory: the encoders used so far, a sample of up to 128 KiB and, during a trial, up to 1.3 MiB
// and a small multiple of the sample.
// Precondition: not options.kudu_exact.
template <typename T>
std::unique_ptr<AutoEncoder<T>> MakeAutoEncoder(PhysicalType type,
                                                const encodings::EncoderOptions& options,
                                                const AutoOptions& choice);

}  // namespace cfile::internal
