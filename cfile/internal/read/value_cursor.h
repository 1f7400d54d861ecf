// Implements Cursor (cfile/reader.h): adds values, ranges and searches by key to FileCursor.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/batch.h"
#include "cfile/internal/format/key_codec.h"
#include "cfile/internal/read/block_cursor.h"
#include "cfile/internal/read/file_cursor.h"
#include "cfile/internal/read/sort_numbers.h"
#include "encodings/core/assert.h"
#include "encodings/core/key_order.h"
#include "encodings/core/status.h"

namespace cfile::internal {

// The functions and errors are those of Cursor. Thread-compatible.
template <typename T>
class ValueCursor : public TypedFileCursor<BlockCursor<T>> {
  using Base = TypedFileCursor<BlockCursor<T>>;

 public:
  ValueCursor(std::shared_ptr<FileReader> file,
              std::shared_ptr<const encodings::Dictionary> dictionary)
      : Base(file, BlockCursor<T>(file->info().type, std::move(dictionary))) {
    ExpectRange();
  }

  absl::Status SeekToOrdinal(uint64_t ordinal) {
    return SeekingToAnyRow([&] { return this->GoTo(ordinal, BlockAccess::kSeek); });
  }

  absl::StatusOr<KeyPosition> SeekToKey(const T& key) {
    return SeekingToAnyRow([&] { return GoToKey(key); });
  }

  absl::Status SeekMany(std::span<const T> keys, std::span<KeyPosition> positions) {
    CFILE_ASSERT(keys.size() == positions.size());
    for (const T& key : keys) {
      if (!encodings::IsKey(key)) return NotAKey();
    }
    this->fetcher_.Expect(BlockPlan::kSome, [this](const IndexNode& leaf, uint32_t entry) {
      const uint64_t offset = leaf.entry_pointer(entry).offset;
      const auto found = std::lower_bound(order_.begin(), order_.end(), offset << kKeyNumberBits);
      return found != order_.end() && *found >> kKeyNumberBits == offset;
    });
    absl::Status status = SeekingToAnyRow([&] {
      for (size_t begin = 0; begin < keys.size(); begin += kSoughtKeys) {
        const size_t count = std::min(kSoughtKeys, keys.size() - begin);
        CFILE_RETURN_IF_ERROR(
            SeekSome(keys.subspan(begin, count), positions.subspan(begin, count)));
      }
      return absl::OkStatus();
    });
    ExpectRange();
    return status;
  }

  absl::Status SeekToRange(const OrdinalRange& range) {
    CFILE_ASSERT(range.begin <= range.end);
    if (range.end > this->num_rows()) return this->OutOfRange(range.end);
    CFILE_RETURN_IF_ERROR(Base::SeekToOrdinal(range.begin));
    SetRange(range);
    return absl::OkStatus();
  }

  absl::StatusOr<OrdinalRange> SeekToKeyRange(const std::optional<T>& low,
                                              const std::optional<T>& high) {
    auto range = this->Seeking([&]() -> absl::StatusOr<OrdinalRange> {
      OrdinalRange found{.begin = 0, .end = this->num_rows()};
      if (high) {
        CFILE_ASSIGN_OR_RETURN(const KeyPosition end, GoToKey(*high));
        found.end = end.ordinal;
      }
      if (low) {
        CFILE_ASSIGN_OR_RETURN(const KeyPosition begin, GoToKey(*low));
        found.begin = std::min(begin.ordinal, found.end);
        // The range is empty, because `low` is greater than `high`: stay at `high`.
        if (begin.ordinal > found.end) CFILE_RETURN_IF_ERROR(GoToKey(*high).status());
      } else {
        CFILE_RETURN_IF_ERROR(this->GoTo(0, BlockAccess::kSeek));
      }
      return found;
    });
    if (range.ok()) SetRange(*range);
    return range;
  }

  // Goes to the position of `other`, a cursor of the same file.
  absl::Status SeekToPlaceOf(const ValueCursor& other) {
    range_ = other.range_;
    rewound_to_ = other.rewound_to_;
    return Base::SeekToPlaceOf(other);
  }

  absl::StatusOr<Batch<T>> Next(size_t max_rows) {
    if (rewound_to_) [[unlikely]] {
      this->SetBackward(false);
      CFILE_RETURN_IF_ERROR(Base::SeekToOrdinal(*rewound_to_));
      rewound_to_.reset();
    }
    const uint64_t at = Base::ordinal();
    const uint64_t left = range_.end - std::min(at, range_.end);
    if (left == 0) {
      CFILE_RETURN_IF_ERROR(this->CheckEnd());
      return Batch<T>{.first_ordinal = at};
    }
    uint64_t first_ordinal = 0;
    auto batch = this->template NextBatch<Batch<T>>(
        static_cast<size_t>(std::min<uint64_t>(max_rows, left)), first_ordinal);
    if (batch.ok()) batch->first_ordinal = first_ordinal;
    return batch;
  }

  absl::StatusOr<Batch<T>> Previous(size_t max_rows) {
    CFILE_ASSERT(max_rows > 0);
    const uint64_t at = ordinal();
    if (at <= range_.begin) return Batch<T>{.first_ordinal = at};
    this->SetBackward(true);
    auto batch = this->Seeking([&]() -> absl::StatusOr<Batch<T>> {
      const bool in_order = this->loaded_ && at == this->first_ordinal_;
      CFILE_RETURN_IF_ERROR(this->GoTo(at - 1, in_order ? BlockAccess::kScan : BlockAccess::kSeek));
      const uint64_t rows = std::min<uint64_t>({max_rows, kMaxBatchRows, at - range_.begin});
      const uint64_t first = std::max(this->first_ordinal_, at - std::min(at, rows));
      CFILE_RETURN_IF_ERROR(this->SeekInBlock(first));
      // Long strings may need several batches. The last batch ends with the row before `at`.
      while (true) {
        uint64_t first_ordinal = 0;
        CFILE_ASSIGN_OR_RETURN(Batch<T> found,
                               this->template NextBatch<Batch<T>>(
                                   static_cast<size_t>(at - Base::ordinal()), first_ordinal));
        found.first_ordinal = first_ordinal;
        if (Base::ordinal() == at) return found;
      }
    });
    if (batch.ok()) {
      rewound_to_ = batch->first_ordinal;
    } else {
      this->SetBackward(false);
    }
    return batch;
  }

  // The position. After Previous the block cursor is still at the batch's end, because a seek would
  // overwrite the batch.
  uint64_t ordinal() const { return rewound_to_.value_or(Base::ordinal()); }

  // Returns the end of the rows that Next returns.
  uint64_t range_end() const { return range_.end; }

  absl::StatusOr<std::optional<T>> Get(uint64_t ordinal) {
    if (ordinal >= this->num_rows()) return this->OutOfRange(ordinal);
    return SeekingToAnyRow([&]() -> absl::StatusOr<std::optional<T>> {
      CFILE_RETURN_IF_ERROR(this->GoTo(ordinal, BlockAccess::kFewRows));
      const uint32_t row = this->row_block_.row();
      if (absl::Status status = this->CheckRows({&row, 1}); !status.ok())
        return this->Failed(status);
      uint64_t first_ordinal = 0;
      CFILE_ASSIGN_OR_RETURN(const Batch<T> batch,
                             this->template NextBatch<Batch<T>>(1, first_ordinal));
      const auto value = batch.IsValid(0) ? std::optional<T>(batch.values[0]) : std::nullopt;
      if (this->in_part()) this->Unload();
      return value;
    });
  }

  absl::Status Take(std::span<const uint64_t> ordinals, OwnedBatch<T>& out) {
    for (const uint64_t ordinal : ordinals) {
      if (ordinal >= this->num_rows()) return this->OutOfRange(ordinal);
    }
    out.Reset(ordinals.size());
    this->ExpectBlocks(BlockPlan::kSome, [this](const IndexNode& leaf, uint32_t entry) {
      return HasRowOf(order_, 32, leaf, entry);
    });
    absl::Status status = SeekingToAnyRow([&] {
      for (size_t begin = 0; begin < ordinals.size(); begin += kTakenOrdinals) {
        const size_t count = std::min(kTakenOrdinals, ordinals.size() - begin);
        CFILE_RETURN_IF_ERROR(TakeSome(ordinals.subspan(begin, count), begin, out));
      }
      return absl::OkStatus();
    });
    ExpectRange();
    return status;
  }

 private:
  // At most this many ordinals, or keys, are sorted at a time.
  static constexpr size_t kTakenOrdinals = size_t{1} << 17;
  // If Take needs more rows of a block than this, it reads the whole block.
  static constexpr size_t kRowsOfPart = 4;
  static constexpr int kKeyNumberBits = 16;
  // SeekMany prepares this many searches at a time. What they read fits into the first-level cache.
  static constexpr size_t kKeysAhead = 24;
  static constexpr size_t kSoughtKeys = size_t{1} << kKeyNumberBits;

  // Tells the fetcher that Next and Previous will read only rows of range_.
  void ExpectRange() {
    this->ExpectBlocks(BlockPlan::kInOrder, [this](const IndexNode& leaf, uint32_t entry) {
      return HasRowOf(range_, leaf, entry);
    });
  }

  // Calls `seek` as Seeking does. After the seek, Next continues to the last row of the file.
  template <typename Seek>
  auto SeekingToAnyRow(const Seek& seek) {
    auto result = this->Seeking(seek);
    if (result.ok()) SetRange({.begin = 0, .end = this->num_rows()});
    return result;
  }

  // Call after a successful seek. Limits Next and Previous to the rows of `range`, and forgets the
  // position from which Previous went back.
  void SetRange(const OrdinalRange& range) {
    range_ = range;
    rewound_to_.reset();
    this->SetBackward(false);
  }

  absl::Status NotAKey() const {
    return absl::InvalidArgumentError(
        absl::StrCat(this->file_->source().name(), ": NaN cannot be a key"));
  }

  absl::StatusOr<KeyPosition> GoToKey(const T& wanted) {
    const T key = encodings::FirstEqualKey(wanted);
    CFILE_RETURN_IF_ERROR(FindBlock(key));
    IndexWalk& path = this->paths_[1];
    if (!path.valid()) {
      CFILE_RETURN_IF_ERROR(this->GoToEnd());
      return KeyPosition{};
    }
    this->file_->Prefetch(path.leaf(), path.entry());
    CFILE_RETURN_IF_ERROR(OpenFoundBlock());
    while (true) {
      auto bound = this->block_.SeekToKey(key);
      if (!bound.ok()) return this->Failed(bound.status());
      if (bound->position < this->block_.num_rows()) {
        return KeyPosition{.ordinal = this->first_ordinal_ + bound->position,
                           .exact = bound->exact};
      }
      // All values of this block are less than `key`. The first greater value, if any, begins the
      // next block.
      CFILE_ASSIGN_OR_RETURN(const bool more, this->NextBlock(BlockAccess::kSeek));
      if (!more) return KeyPosition{.ordinal = this->num_rows(), .exact = false};
    }
  }

  // Moves the path of the value index to the block that may contain the first value >= `key`. In a
  // file without values, the path is not valid() afterwards.
  absl::Status FindBlock(const T& key) {
    if (!encodings::IsKey(key)) return NotAKey();
    absl::Status status = MovePath(key);
    if (!status.ok()) this->Unload();
    return status;
  }
  absl::Status MovePath(const T& key) {
    search_key_.clear();
    AppendKey(encodings::FirstEqualKey(key), search_key_);
    IndexWalk& path = this->paths_[1];
    CFILE_RETURN_IF_ERROR(path.SeekToKey(search_key_));
    if (this->num_rows() > 0) CFILE_RETURN_IF_ERROR(this->CheckFound(path));
    if (path.valid() && this->file_->info().holds_bloom_filters()) {
      return absl::FailedPreconditionError(
          absl::StrCat(this->file_->source().name(), ": the file holds Bloom filters, not values"));
    }
    return absl::OkStatus();
  }

  // Opens the block that FindBlock found, which may be open already.
  absl::Status OpenFoundBlock() {
    IndexWalk& path = this->paths_[1];
    if (this->loaded_ && this->path_ == &path && path.leaf_entry() == this->loaded_entry_)
      return absl::OkStatus();
    this->Unload();
    this->path_ = &path;
    return this->LoadBlock(BlockAccess::kSeek);
  }

  // Prepares the searches for the keys order_[begin] to order_[end - 1] (SeekIndex::PrefetchKeys).
  // Precondition: at most kKeysAhead keys.
  void PrepareSearches(size_t begin, size_t end) {
    struct Search {
      std::string_view key;
      FileReader::PlacedBlock block;
      uint32_t part = 0;
    };
    Search searches[kKeysAhead];
    size_t count = 0;
    const auto block_of = [&](size_t i) { return order_[i] >> kKeyNumberBits; };
    for (size_t i = begin; i < end; ++i) {
      const auto& place = places_[order_[i] % kSoughtKeys];
      if (place.leaf == nullptr || (i > 0 && block_of(i - 1) == block_of(i))) continue;
      const auto block = this->file_->Prefetch(*place.leaf, place.entry);
      if constexpr (encodings::kIsBytes<T>) {
        // A decoder prepares several searches in the same block by itself.
        const bool alone = i + 1 == order_.size() || block_of(i + 1) != block_of(i);
        if (alone && block.index != nullptr)
          searches[count++] = {.key = sorted_keys_[i], .block = block};
      }
    }
    const std::span<Search> found(searches, count);
    for (const Search& search : found) search.block.index->PrefetchKeys(search.block.bytes);
    for (Search& search : found) search.part = search.block.index->FindPart(search.key);
    for (const Search& search : found)
      search.block.index->PrefetchPart(search.part, search.key, search.block.bytes);
  }

  absl::Status SeekSome(std::span<const T> keys, std::span<KeyPosition> positions) {
    // Sort the keys by block: the block's offset, then the key's number in the lower bits. (Offsets
    // are below 2^48.)
    order_.resize(keys.size());
    places_.resize(keys.size());
    this->Unload();  // the path leaves the loaded block
    IndexWalk& path = this->paths_[1];
    for (size_t i = 0; i < keys.size(); ++i) {
      CFILE_RETURN_IF_ERROR(FindBlock(keys[i]));
      order_[i] = (path.valid() ? path.pointer().offset << kKeyNumberBits : 0) | i;
      places_[i] = path.valid() ? path.leaf_entry() : IndexWalk::LeafEntry{};
    }
    SortNumbers(order_);
    if (keys.size() > sorted_keys_capacity_) {
      // A std::vector<bool> would have no array of bool.
      sorted_keys_ = std::make_unique<T[]>(keys.size());
      sorted_keys_capacity_ = keys.size();
    }
    for (size_t i = 0; i < keys.size(); ++i)
      sorted_keys_[i] = encodings::FirstEqualKey(keys[order_[i] % kSoughtKeys]);
    bounds_.resize(keys.size());
    size_t prepared = 0;
    for (size_t begin = 0, end = 0; begin < order_.size(); begin = end) {
      end = begin + 1;
      while (end < order_.size() &&
             order_[end] >> kKeyNumberBits == order_[begin] >> kKeyNumberBits) {
        ++end;
      }
      if (begin >= prepared) {
        prepared = std::min(begin + kKeysAhead, order_.size());
        PrepareSearches(begin, prepared);
      }
      const std::span<const T> block_keys(sorted_keys_.get() + begin, end - begin);
      if (!path.GoInLeaf(places_[order_[begin] % kSoughtKeys]))
        CFILE_RETURN_IF_ERROR(FindBlock(block_keys[0]));
      if (!path.valid()) {
        for (size_t i = begin; i < end; ++i) positions[order_[i] % kSoughtKeys] = KeyPosition{};
        continue;
      }
      CFILE_RETURN_IF_ERROR(OpenFoundBlock());
      const auto bounds = std::span(bounds_).first(block_keys.size());
      if (absl::Status status = this->block_.SeekToKeys(block_keys, bounds); !status.ok()) {
        return this->Failed(status);
      }
      const uint64_t first_ordinal = this->first_ordinal_;
      const uint32_t num_rows = this->block_.num_rows();
      for (size_t i = begin; i < end; ++i) {
        const encodings::LowerBound& bound = bounds[i - begin];
        KeyPosition& position = positions[order_[i] % kSoughtKeys];
        position = {.ordinal = first_ordinal + bound.position, .exact = bound.exact};
        // All values of this block are less than the key: the position is in the next block, or at
        // the end of the file.
        if (bound.position == num_rows && position.ordinal < this->num_rows()) {
          CFILE_ASSIGN_OR_RETURN(position, FindAfter(position.ordinal, block_keys[i - begin]));
        }
      }
    }
    return absl::OkStatus();
  }

  // Does the same as GoToKey, for a key that is greater than all values before row `ordinal`. A
  // block begins at this row; if this block is loaded, searches it first.
  absl::StatusOr<KeyPosition> FindAfter(uint64_t ordinal, const T& key) {
    if (this->loaded_ && this->first_ordinal_ == ordinal) {
      const auto bound = this->block_.SeekToKey(key);
      if (!bound.ok()) return this->Failed(bound.status());
      if (bound->position < this->block_.num_rows()) {
        return KeyPosition{.ordinal = ordinal + bound->position, .exact = bound->exact};
      }
    }
    return GoToKey(key);
  }

  // Copies the values at `ordinals` to the rows of `out` from `out_begin` on.
  absl::Status TakeSome(std::span<const uint64_t> ordinals, size_t out_begin, OwnedBatch<T>& out) {
    // The upper 32 bits are the ordinal, the lower 32 bits its index in `ordinals`.
    order_.resize(ordinals.size());
    bool ascending = true;
    for (size_t i = 0; i < ordinals.size(); ++i) {
      order_[i] = ordinals[i] << 32 | i;
      ascending &= i == 0 || order_[i - 1] < order_[i];
    }
    if (!ascending) SortNumbers(order_);
    for (size_t begin = 0; begin < order_.size();) {
      const uint64_t first = order_[begin] >> 32;
      // If several blocks are read in order, these blocks are not kept in the cache.
      const uint64_t block_end = this->first_ordinal_ + this->block_.num_rows();
      const bool in_order = begin > 0 && !this->file_->in_memory() && first >= block_end &&
                            first - block_end < this->block_.num_rows();
      CFILE_RETURN_IF_ERROR(
          this->GoTo(first, in_order ? BlockAccess::kScan : BlockAccess::kFewRows));
      FindRows(begin);
      if (this->in_part() && rows_.size() > kRowsOfPart) {
        this->Unload();
        CFILE_RETURN_IF_ERROR(this->GoTo(first, BlockAccess::kSeek));
        FindRows(begin);  // again, because the block was read again
      }
      if (absl::Status status = this->CheckRows(rows_); !status.ok()) return this->Failed(status);
      const auto place = [&](size_t i) {
        return out_begin + static_cast<uint32_t>(order_[begin + i]);
      };
      absl::Status status = this->block_.Take(
          rows_, [&](size_t i, const T& value) { out.Set(place(i), value); },
          [&](size_t i) { out.SetNull(place(i)); });
      if (!status.ok()) return this->Failed(status);
      if (this->in_part()) this->Unload();
      begin += rows_.size();
    }
    return absl::OkStatus();
  }

  // Sets `rows_` to the rows of order_[begin] and of the elements after it, up to the first one
  // that is not in the current block.
  void FindRows(size_t begin) {
    rows_.clear();
    for (size_t i = begin; i < order_.size() && this->InBlock(order_[i] >> 32); ++i)
      rows_.push_back(static_cast<uint32_t>((order_[i] >> 32) - this->first_ordinal_));
  }

  OrdinalRange range_{.begin = 0, .end = this->num_rows()};  // Next and Previous stay in it
  std::optional<uint64_t> rewound_to_;  // the position after Previous, until the next seek
  std::string search_key_;
  std::vector<uint64_t> order_;
  std::vector<IndexWalk::LeafEntry> places_;  // of the blocks of keys
  std::vector<uint32_t> rows_;
  std::unique_ptr<T[]> sorted_keys_;
  size_t sorted_keys_capacity_ = 0;
  std::vector<encodings::LowerBound> bounds_;
};

}  // namespace cfile::internal
