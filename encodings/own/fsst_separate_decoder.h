// Decodes blocks of FSST of form 2 (fsst.h): each value is compressed by itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "encodings/core/block_codec.h"
#include "encodings/kernels/fsst_values.h"
#include "encodings/own/fsst_dictionary.h"
#include "encodings/own/fsst_layout.h"

namespace cfile::encodings {

class FsstSeparateDecoder final : public BlockDecoder<std::string_view> {
 public:
  // `dictionary` may be null. Then groups with codes cannot be read.
  explicit FsstSeparateDecoder(std::shared_ptr<const SymbolDictionary> dictionary);

  // Takes time independent of the number of values, like FsstDecoder::Open.
  absl::Status Open(const BlockView& view) override;
  absl::StatusOr<size_t> Read(std::span<std::string_view> out) override;
  absl::StatusOr<size_t> ReadPacked(size_t max, PackedStrings& out) override;
  // Compares the codes of values with the codes of a constant. Returns false if low != high.
  absl::StatusOr<bool> ReadMatches(const std::string_view& low, const std::string_view& high,
                                   size_t count, uint8_t* bits) override;
  absl::StatusOr<LowerBound> SeekToKey(const std::string_view& key) override;

 private:
  static constexpr uint32_t kNoGroup = UINT32_MAX;

  // Consecutive values of the current group.
  struct Run {
    uint32_t first = 0;
    uint32_t count = 0;
  };

  absl::Status Damaged(uint32_t group, const std::string& what) const;
  // Makes the group of the value at `position` the current one: parses it, unpacks its sizes and
  // checks them. Returns the values of the group from `position` on, at most `most`.
  absl::StatusOr<Run> RunFrom(uint32_t position, size_t most);
  // The bytes that are the codes, or the text, of the values of a run.
  std::span<const uint8_t> TextOf(const Run& run) const {
    return text_.subspan(static_cast<size_t>(starts_[run.first]),
                         static_cast<size_t>(starts_[run.first + run.count] - starts_[run.first]));
  }
  // Returns the most bytes that the values of a run may have.
  size_t MostBytes(const Run& run) const {
    return run.count * common_.size() + TextOf(run).size() * (compressed_ ? kMaxSymbolBytes : 1);
  }
  // Returns the size of a value in bytes, common prefix included. Copies the codes of the value for
  // DecodeMeasured, because the bytes of a mapped file may change between the two calls. For values
  // that may be large. `run`: the value.
  absl::StatusOr<size_t> Measure(const Run& run);
  // Does the same as Decode, with the common prefix, for the value that was measured last.
  absl::StatusOr<uint8_t*> DecodeMeasured(const Run& run, uint8_t* to, std::string_view* out) const;
  // Writes the values of a run to `to`, each with `prefix` before it. Sets out[i] to value i.
  // Returns the end of the last value. Precondition: MostBytes(run) + kValueSlack bytes are
  // writable.
  absl::StatusOr<uint8_t*> Decode(const Run& run, std::string_view prefix, uint8_t* to,
                                  std::string_view* out) const;
  // Returns the value at `position` without the common prefix. It is valid until the next call.
  absl::StatusOr<std::string_view> ValueAt(uint32_t position);
  // Returns the codes of a value without the common prefix. They are valid until the next call.
  std::span<const uint8_t> CodesOf(std::string_view constant);
  // Compares the values of a run with a constant. `constant`: the bytes that a group stores for it:
  // its codes, or its text. If value i of the run is equal, sets bit `bit` + i of `bits` to 1.
  void MatchRun(const Run& run, std::span<const uint8_t> constant, size_t bit, uint8_t* bits) const;

  const std::shared_ptr<const SymbolDictionary> dictionary_;
  std::span<const uint8_t> block_;
  FsstHeader header_;
  std::string_view common_;            // the common prefix; kValueSlack bytes are readable
  uint8_t short_common_[kValueSlack];  // a copy of the common prefix, if it is short

  // The current group: whether it has codes; its text or codes; where value i begins there, and
  // where the last one ends.
  uint32_t group_ = kNoGroup;
  bool compressed_ = false;
  std::span<const uint8_t> text_;
  uint64_t starts_[kFsstGroupValues + 1];

  // The values of the last Read.
  std::unique_ptr<uint8_t[]> arena_;
  size_t arena_size_ = 0;

  std::vector<uint8_t> value_;           // the result of ValueAt
  std::vector<uint8_t> measured_codes_;  // of the value that was measured last
  // The constant that was compressed last, and its codes.
  std::string constant_;
  std::vector<uint8_t> constant_codes_;
};

}  // namespace cfile::encodings
