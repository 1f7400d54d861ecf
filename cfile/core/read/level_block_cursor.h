// A position inside one block of records. Combines the levels with the values.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/batch.h"
#include "cfile/core/format/level_block.h"
#include "cfile/core/read/block_cursor.h"
#include "cfile/file_info.h"
#include "cfile/types.h"

namespace cfile::internal {

// Walks over the entries of a block without their values and finds where records end. Separate from
// LevelBlockCursor, because it does not depend on the type of the values. Thread-compatible.
class LevelWindow {
 public:
  // Counts of successive entries, of the records that end in these entries, and of their values.
  struct Extent {
    size_t entries = 0;
    size_t records = 0;
    size_t values = 0;
  };

  // Goes to the first entry of `block`. The bytes of `block` must stay valid while it is open.
  void Open(const LevelBlock& block, const LevelLimits& limits);

  // Returns the extent of the next entries: either at most `max_records` whole records, or the
  // front part of one record that is longer than a batch. The extent is empty at the block's end.
  // Does not move the position.
  absl::StatusOr<Extent> Look(size_t max_records);
  // Returns the longest front part of the last result of Look that has at most `values` values. If
  // at least one whole record fits, the front part has only whole records. Precondition: the last
  // result has more than `values` values.
  Extent Cut(size_t values) const;
  // Moves past entries that Look or Cut returned.
  void Pass(const Extent& extent);

  // The levels of the next `entries` entries; empty if the maximum level is 0.
  std::span<const uint16_t> repetition(size_t entries) const;
  std::span<const uint16_t> definition(size_t entries) const;

  uint32_t num_entries() const { return num_entries_; }
  // The number of records whose last entry was passed, and the number of values that were passed.
  uint32_t record() const { return record_; }
  uint32_t value() const { return value_; }
  bool at_end() const { return begin_ == end_ && decoded_all(); }
  // True if some but not all entries of the record with the number record() were passed.
  bool inside_record() const { return inside_record_; }
  size_t memory_usage_bytes() const {
    return (repetition_.capacity() + definition_.capacity()) * sizeof(uint16_t);
  }

 private:
  bool decoded_all() const { return decoded_ == num_entries_; }
  // Decodes further entries into the window.
  absl::Status Fill();
  size_t CountValues(size_t begin, size_t end) const;
  // Sets `end` to the entry after the next `max_records` records. If the window has fewer whole
  // records, sets `end` to the last entry in the window that begins a record. Returns the number of
  // records before `end`. This is 0 if no second record begins in the window.
  size_t FindEnd(size_t max_records, size_t& end) const;
  // Returns the last of the entries begin + 1 to end - 1 that begins a record, or `begin` if none
  // of them begins a record.
  size_t LastBegin(size_t begin, size_t end) const;

  LevelLimits limits_;
  LevelDecoder decoder_;
  uint32_t num_entries_ = 0;
  uint32_t decoded_ = 0;
  uint32_t record_ = 0;
  uint32_t value_ = 0;
  bool inside_record_ = false;

  // The window: the entries begin_ to end_ - 1 are decoded and not yet passed.
  std::vector<uint16_t> repetition_;
  std::vector<uint16_t> definition_;
  size_t begin_ = 0;
  size_t end_ = 0;
};

// Reads the records of one block at a time, which FileCursor uses as rows. Thread-compatible.
// Errors do not name the block.
class LevelBlockCursor final : public RowBlock {
 public:
  LevelBlockCursor(const ColumnType& type, BlockDecoding decoding)
      : values_(type, std::move(decoding)) {}

  // Opens a block, with the parameters and errors of BlockCursor::Open. In a flat file, each row is
  // a record with one entry.
  absl::Status Open(std::span<const uint8_t> bytes, const FileInfo& info,
                    std::optional<uint64_t> first_ordinal,
                    const encodings::SeekIndex* seek_index = nullptr,
                    const BlockHead* head = nullptr) override;
  std::unique_ptr<const encodings::SeekIndex> BuildSeekIndex() override {
    return values_.BuildSeekIndex();
  }

  Encoding encoding() const override { return values_.encoding(); }
  uint32_t num_entries() const override { return window_.num_entries(); }
  uint32_t num_present() const override { return values_.num_present(); }

  // Goes to the first entry of record `row`. Precondition: row <= num_rows().
  absl::Status SeekToRow(uint32_t row) override;

  // Reads the next records (see LevelCursor::Next). The caller sets the batch's first_record.
  // room(count) returns the memory into which `count` values are decoded, or null if they may lie
  // anywhere.
  absl::StatusOr<AnyLevelBatch> Next(
      size_t max_records,
      absl::FunctionRef<void*(size_t count)> room = [](size_t) -> void* { return nullptr; });
  size_t memory_usage_bytes() const {
    return window_.memory_usage_bytes() + values_.memory_usage_bytes();
  }

 private:
  absl::Status CheckCounts() const;
  void Pass(const LevelWindow::Extent& extent) {
    window_.Pass(extent);
    row_ = window_.record();
  }
  // Goes to the first entry of the open block.
  void Rewind() {
    window_.Open(block_, limits_);
    row_ = 0;
  }

  LevelLimits limits_;
  LevelBlock block_;
  LevelWindow window_;
  BlockCursor values_;
};

// The block of a column of any shape: either `flat` or `levels` is not null.
struct ShapedBlock {
  ShapedBlock(const FileInfo& info, BlockDecoding decoding) {
    if (info.has_levels()) {
      levels = std::make_unique<LevelBlockCursor>(info.type, std::move(decoding));
    } else {
      flat = std::make_unique<BlockCursor>(info.type, std::move(decoding));
    }
  }
  RowBlock& rows() const { return flat ? static_cast<RowBlock&>(*flat) : *levels; }

  std::unique_ptr<BlockCursor> flat;
  std::unique_ptr<LevelBlockCursor> levels;
};

}  // namespace cfile::internal
