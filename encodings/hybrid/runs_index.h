// The index that speeds up seeks in blocks of RLE-hybrid runs: RLE of Kudu and of Parquet, and
// codes of Parquet's dictionaries.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "encodings/core/block_codec.h"
#include "encodings/hybrid/rle_hybrid.h"

namespace cfile::encodings {

class RunsIndex final : public SeekIndex {
 public:
  // Builds the index of the first `count` values. Moves `runs` to value `count`. Returns nullptr if
  // the runs are damaged.
  static std::unique_ptr<const SeekIndex> Build(RleHybridReader& runs, uint64_t count) {
    auto checkpoints = runs.FindCheckpoints(count);
    if (!checkpoints.ok()) return nullptr;
    return std::unique_ptr<const SeekIndex>(new RunsIndex(*std::move(checkpoints)));
  }

  // Returns the checkpoints for RleHybridReader::Open: those of `index`, or none if it is null or
  // another class. They are valid as long as `index`.
  static std::span<const HybridCheckpoint> CheckpointsOf(const SeekIndex* index) {
    const auto* runs = OfKind<RunsIndex>(index);
    return runs == nullptr ? std::span<const HybridCheckpoint>() : runs->checkpoints_;
  }

  size_t memory_usage_bytes() const override {
    return sizeof(*this) + checkpoints_.capacity() * sizeof(HybridCheckpoint);
  }

 private:
  explicit RunsIndex(std::vector<HybridCheckpoint> checkpoints)
      : checkpoints_(std::move(checkpoints)) {}

  std::vector<HybridCheckpoint> checkpoints_;
};

}  // namespace cfile::encodings
