// Automatic choice of the encoding: an encoder whose blocks may have different encodings.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "cfile/core/write/storage_trial.h"
#include "cfile/file_info.h"
#include "encodings/core/block_codec.h"

namespace cfile::internal {

// An encoder that chooses how to store each block, and tells about its choice.
class AutoEncoder : public encodings::AnyBlockEncoder {
 public:
  // True while the encoder gathers a sample. A caller that limits the values of a block should not
  // end the block then, so that the choice does not depend on this limit.
  virtual bool sampling() const = 0;
  // Returns the sum of Trial::cost_bytes of all trials so far.
  virtual uint64_t trial_cost_bytes() const = 0;
  // Returns what a trial found whose choice stored the most values. If several trials made this
  // choice one after another, it is the one that tried the most values. Nullopt if there was no
  // trial, because there were no values.
  virtual const std::optional<ChoiceInfo>& choice() const = 0;
};

// Makes an AutoEncoder. It gathers the first values of a block (the sample), chooses an encoding
// and the compression by means of the sample (see Goal), and passes all values of the block to the
// encoder of the chosen encoding. The choice is stored in EncodedBlock::encoding and
// EncodedBlock::compressible. The choice depends only on the values, so files are reproducible.
//
// A trial (TryStorage) finds the best choice for a sample. There is a trial for the first block,
// for a block whose first values differ in nature from the values of the last trial, and otherwise
// at growing intervals. Before a trial, the sample grows to up to 256 KiB. If the column has no
// further values, the trial encodes all values with each encoding. If the nature of the values
// changes within a block, the block ends early. If the nature changes often, there is not a trial
// for each change: the cost of all trials (trial_cost_bytes) is at most 4 MiB (16 MiB for
// strings and Goal::kSize), plus a tenth of the bytes of the values, plus the cost of one trial.
//
// Memory: the encoders used so far, a sample of up to 128 KiB and, during a trial, up to 1.3 MiB
// and a small multiple of the sample. Precondition: not options.kudu_exact.
std::unique_ptr<AutoEncoder> MakeAutoEncoder(PhysicalType type,
                                             const encodings::EncoderOptions& options,
                                             const AutoOptions& choice);

}  // namespace cfile::internal
