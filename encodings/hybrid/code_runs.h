// Iterates over the runs of an RLE-hybrid stream of dictionary codes without decoding them, so that
// a repeated code is looked up only once. The layout and a decoder are in rle_hybrid.h.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "encodings/core/status.h"
#include "encodings/hybrid/rle_hybrid.h"

namespace cfile::encodings {

// Memory: after the first seek, 16 bytes for every 32 runs passed. Thread-compatible.
class CodeRuns {
 public:
  // The rest of a run. `packed` is empty if the run repeats one value; so it is for literals of
  // width 0.
  struct Run {
    std::span<const uint8_t> packed;  // from the run's first literal to the stream's end
    uint64_t first = 0;               // index of the next literal
    uint32_t value = 0;               // the repeated value
    uint64_t left = 0;

    void Pass(uint64_t count) {
      first += count;
      left -= count;
    }
  };

  // A position in the runs. A plain value, so that it can stay in registers.
  struct Place {
    Run run;
    size_t next = 0;  // offset of the next run's header
  };

  // Precondition: 0 <= width <= 32.
  void Open(std::span<const uint8_t> bytes, int width) {
    bytes_ = bytes;
    width_ = width;
    place_ = {};
    position_ = 0;
    checkpoints_.clear();
  }

  int width() const { return width_; }
  const Place& place() const { return place_; }
  // Continues at `place`, which is `count` values after the current position.
  void MoveTo(const Place& place, uint64_t count) {
    place_ = place;
    position_ += count;
  }

  // Moves `place` to the run that follows it.
  absl::Status NextRun(Place& place) const {
    const uint8_t* const begin = bytes_.data();
    const uint8_t* const end = begin + bytes_.size();
    HybridRun run;
    if (!ParseHybridRun(begin + place.next, end, width_, run)) {
      return DataLoss("codes of width ", width_, ": run at byte ", place.next, " of ",
                      bytes_.size(), ": ", WhyNoHybridRun(begin + place.next, end, width_));
    }
    place.run = {.value = static_cast<uint32_t>(run.value), .left = run.count};
    if (run.literals != nullptr) place.run.packed = {run.literals, end};
    place.next = static_cast<size_t>(run.next - begin);
    return absl::OkStatus();
  }

  // Moves to value `position`. On failure the position does not change.
  absl::Status SeekTo(uint64_t position) {
    if (checkpoints_.empty()) checkpoints_.push_back({0, 0});
    const auto after = std::upper_bound(
        checkpoints_.begin(), checkpoints_.end(), position,
        [](uint64_t wanted, const Checkpoint& at) { return wanted < at.position; });
    const bool passes_last = after == checkpoints_.end();
    Place place;
    place.next = after[-1].next;
    uint64_t at = after[-1].position;
    if (position_ >= at && position_ <= position) {
      place = place_;
      at = position_;
    }
    for (int runs = 1; at < position; ++runs) {
      if (place.run.left == 0) {
        if (passes_last && runs >= kRunsPerCheckpoint && at > checkpoints_.back().position) {
          checkpoints_.push_back({at, place.next});
          runs = 0;
        }
        CFILE_RETURN_IF_ERROR(NextRun(place));
      }
      const uint64_t passed = std::min(place.run.left, position - at);
      place.run.Pass(passed);
      at += passed;
    }
    place_ = place;
    position_ = position;
    return absl::OkStatus();
  }

 private:
  static constexpr int kRunsPerCheckpoint = 32;
  struct Checkpoint {
    uint64_t position;
    size_t next;  // offset of the header of the run that begins there
  };

  std::span<const uint8_t> bytes_;
  int width_ = 0;
  Place place_;
  uint64_t position_ = 0;
  std::vector<Checkpoint> checkpoints_;
};

}  // namespace cfile::encodings
