// The runs of an RLE-hybrid stream of dictionary codes, one after the other and undecoded, so that
// a repeated code is looked up once (rle_hybrid.h has the layout, and decodes).
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "encodings/bit_packing.h"
#include "encodings/bytes.h"
#include "encodings/rle_hybrid.h"
#include "encodings/status.h"

namespace cfile::encodings {

// Memory: after the first seek, 16 bytes for every 32 runs that were passed. Thread-compatible.
class CodeRuns {
 public:
  // What is left of a run. Repeated: `packed` is empty (as it is for literals of width 0).
  struct Run {
    std::span<const uint8_t> packed;  // from the run's first literal to the end of the stream
    uint64_t first = 0;               // literal that comes next
    uint32_t value = 0;               // repeated
    uint64_t left = 0;

    void Pass(uint64_t count) {
      first += count;
      left -= count;
    }
  };

  // Where in the runs one is: a plain value, to be kept in registers.
  struct Place {
    Run run;
    size_t next = 0;  // byte of the next run's header
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
  // Goes on from `place`, `count` values behind where it was.
  void MoveTo(const Place& place, uint64_t count) {
    place_ = place;
    position_ += count;
  }

  // Enters the run behind `place`'s.
  absl::Status NextRun(Place& place) const {
    ByteReader reader(bytes_.subspan(place.next));
    const auto damaged = [&](const auto&... what) {
      return DataLoss("codes of width ", width_, ": run at byte ", place.next, " of ",
                      bytes_.size(), ": ", what...);
    };
    uint32_t header;
    if (reader.empty()) return damaged("the bytes end before it");
    if (!reader.ReadVint32(header)) return damaged("its header is no vint of 32 bits");
    const uint64_t length = header >> 1;
    if (length == 0) return damaged("its length is 0, must be at least 1");
    if ((header & 1) != 0 && length > kMaxLiteralGroups) {
      return damaged("it has ", length, " literal groups, must be at most ", kMaxLiteralGroups);
    }
    Run run;
    const size_t value_bytes = (static_cast<size_t>(width_) + 7) / 8;
    if ((header & 1) == 0) {
      if (reader.remaining() < value_bytes) {
        return damaged("its code takes ", value_bytes, " bytes, found ", reader.remaining());
      }
      std::memcpy(&run.value, reader.rest().data(), value_bytes);
      if (run.value > LowBits(width_)) return damaged("its code does not fit the width");
      run.left = length;
      place.next += reader.offset() + value_bytes;
    } else if (width_ == 0) {
      run.left = 8 * length;
      place.next += reader.offset();
    } else {
      // The last run may end with its last value's bits.
      const uint64_t wanted = length * static_cast<uint64_t>(width_);
      const uint64_t bytes = std::min<uint64_t>(wanted, reader.remaining());
      run.left = bytes == wanted ? 8 * length : 8 * bytes / static_cast<uint64_t>(width_);
      if (run.left == 0)
        return damaged("no whole code of its ", length, " literal groups is there");
      run.packed = reader.rest();
      place.next += reader.offset() + static_cast<size_t>(bytes);
    }
    place.run = run;
    return absl::OkStatus();
  }

  // Goes to value `position`. On failure nothing has moved.
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
    size_t next;  // byte of the header of the run that begins there
  };

  std::span<const uint8_t> bytes_;
  int width_ = 0;
  Place place_;
  uint64_t position_ = 0;
  std::vector<Checkpoint> checkpoints_;
};

}  // namespace cfile::encodings
