#include "cfile/core/read/value_cursor.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include "cfile/core/read/sort_numbers.h"
#include "encodings/core/assert.h"
#include "encodings/core/status.h"
#include "encodings/kernels/count_ones.h"

namespace cfile::internal {
namespace {

// At most this many ordinals are sorted at a time.
constexpr size_t kTakenOrdinals = size_t{1} << 17;
// If Take needs more rows of a block than this, it reads the whole block.
constexpr size_t kRowsOfPart = 4;
// SeekMany prepares this many searches at a time. What they read fits into the first-level cache.
constexpr size_t kKeysAhead = 24;
// Batches of at most kSmallRows rows cost more than their values. After kStepsAlone of them, Next
// decodes about kRowsAhead rows at once.
constexpr size_t kSmallRows = 128;
constexpr uint32_t kStepsAlone = 4;
constexpr size_t kRowsAhead = 1024;

}  // namespace

// At most this many keys are sorted at a time.
static constexpr size_t kSoughtKeys = size_t{1} << 16;

ValueCursor::ValueCursor(std::shared_ptr<FileReader> file, BlockDecoding decoding)
    : FileCursor(file, block_),
      block_(file->info().type, std::move(decoding)),
      type_(file->info().type.physical()),
      width_(encodings::WidthOf(block_.lane())) {
  static_assert(kSoughtKeys == size_t{1} << kKeyNumberBits);
  ExpectRange();
}

ValueCursor::~ValueCursor() = default;

absl::StatusOr<std::unique_ptr<ValueCursor>> ValueCursor::Clone() const {
  auto clone = std::make_unique<ValueCursor>(file_, block_.decoding());
  clone->range_ = range_;
  clone->rewound_to_ = rewound_to_;
  CFILE_RETURN_IF_ERROR(clone->SeekToPlaceOf(*this));
  return clone;
}

absl::Status ValueCursor::SeekToOrdinal(uint64_t ordinal) {
  return SeekingToAnyRow([&] { return GoTo(ordinal, BlockAccess::kSeek); });
}

absl::StatusOr<KeyPosition> ValueCursor::SeekToKey(const void* key) {
  return SeekingToAnyRow([&] { return GoToKey(key); });
}

absl::Status ValueCursor::SeekMany(encodings::ValueSpan keys, std::span<KeyPosition> positions) {
  CFILE_ASSERT(keys.count == positions.size());
  for (size_t i = 0; i < keys.count; ++i) {
    if (!IsKey(Key(KeyAt(keys.data, i)))) return NotAKey();
  }
  fetcher_.Expect(BlockPlan::kSome, [this](const LoadedNode& leaf, uint32_t entry) {
    const uint64_t offset = leaf.entry_pointer(entry).offset;
    const auto found = std::lower_bound(order_.begin(), order_.end(), offset << kKeyNumberBits);
    return found != order_.end() && *found >> kKeyNumberBits == offset;
  });
  absl::Status status = SeekingToAnyRow([&] {
    for (size_t begin = 0; begin < keys.count; begin += kSoughtKeys) {
      const size_t count = std::min(kSoughtKeys, keys.count - begin);
      CFILE_RETURN_IF_ERROR(
          SeekSome({KeyAt(keys.data, begin), count}, positions.subspan(begin, count)));
    }
    return absl::OkStatus();
  });
  ExpectRange();
  return status;
}

absl::Status ValueCursor::SeekToRange(const OrdinalRange& range) {
  CFILE_ASSERT(range.begin <= range.end);
  if (range.end > num_rows()) return OutOfRange(range.end);
  ahead_ = {};
  CFILE_RETURN_IF_ERROR(FileCursor::SeekToOrdinal(range.begin));
  SetRange(range);
  return absl::OkStatus();
}

absl::StatusOr<OrdinalRange> ValueCursor::SeekToKeyRange(const void* low, const void* high) {
  ahead_ = {};
  auto range = Seeking([&]() -> absl::StatusOr<OrdinalRange> {
    OrdinalRange found{.begin = 0, .end = num_rows()};
    if (high != nullptr) {
      CFILE_ASSIGN_OR_RETURN(const KeyPosition end, GoToKey(high));
      found.end = end.ordinal;
    }
    if (low != nullptr) {
      CFILE_ASSIGN_OR_RETURN(const KeyPosition begin, GoToKey(low));
      found.begin = std::min(begin.ordinal, found.end);
      // The range is empty, because `low` is greater than `high`: stay at `high`.
      if (begin.ordinal > found.end) CFILE_RETURN_IF_ERROR(GoToKey(high).status());
    } else {
      CFILE_RETURN_IF_ERROR(GoTo(0, BlockAccess::kSeek));
    }
    return found;
  });
  if (range.ok()) SetRange(*range);
  return range;
}

absl::StatusOr<AnyBatch> ValueCursor::Next(size_t max_rows) {
  if (!ahead_.empty() && max_rows == step_) return NextOfAhead();
  if (rewound_to_) [[unlikely]] {
    ahead_ = {};
    SetBackward(false);
    CFILE_RETURN_IF_ERROR(FileCursor::SeekToOrdinal(*rewound_to_));
    rewound_to_.reset();
  }
  const uint64_t at = FileCursor::ordinal();
  const uint64_t left = range_.end - std::min(at, range_.end);
  if (left > 0 && max_rows <= kSmallRows) return NextSmall(max_rows, left);
  if (left > 0) return NextBatch(static_cast<size_t>(std::min<uint64_t>(max_rows, left)));
  CFILE_RETURN_IF_ERROR(CheckEnd());
  return AnyBatch{.first_ordinal = at};
}

absl::StatusOr<AnyBatch> ValueCursor::NextBatch(size_t max_rows) {
  uint64_t first_ordinal = 0;
  CFILE_ASSIGN_OR_RETURN(const bool more, GoToNextRow(first_ordinal));
  auto batch = more ? block_.Next(max_rows) : AnyBatch();
  if (!batch.ok()) return KeepFailed(batch.status());
  batch->first_ordinal = first_ordinal;
  return batch;
}

absl::StatusOr<AnyBatch> ValueCursor::NextSmall(size_t step, uint64_t left) {
  if (step_ != step) steps_ = 0;
  step_ = step;
  const auto count = static_cast<size_t>(std::min<uint64_t>(step, left));
  // After an error only a seek by ordinal finds the rows again. The views of strings may need much
  // memory. A bitmap can only be cut at whole bytes.
  const bool may_read_ahead = file_->info().positional_index_root.has_value() &&
                              block_.lane() != encodings::Lane::kBytes && step > 0 &&
                              (step % 8 == 0 || !file_->info().nullable);
  if (steps_ < kStepsAlone || !may_read_ahead) {
    ++steps_;
    return NextBatch(count);
  }
  uint64_t first_ordinal = 0;
  CFILE_ASSIGN_OR_RETURN(const bool more, GoToNextRow(first_ordinal));
  if (!more) return AnyBatch{.first_ordinal = first_ordinal};
  const auto rows = block_.Next(std::min<uint64_t>(kRowsAhead / step * step, left));
  if (!rows.ok()) {  // the first `count` rows may be sound
    steps_ = 0;
    Unload();
    CFILE_RETURN_IF_ERROR(FileCursor::SeekToOrdinal(first_ordinal, BlockAccess::kScan));
    return NextBatch(count);
  }
  ahead_ = *rows;
  rewound_to_ = first_ordinal;
  return NextOfAhead();
}

AnyBatch ValueCursor::NextOfAhead() {
  AnyBatch rows{.values = ahead_.values,
                .count = std::min(step_, ahead_.count),
                .first_ordinal = *rewound_to_};
  if (ahead_.validity != nullptr) {
    rows.null_count =
        rows.count - encodings::CountOnes({ahead_.validity, (rows.count + 7) / 8}, 0, rows.count);
    if (rows.null_count > 0) rows.validity = ahead_.validity;
    ahead_.validity += step_ / 8;
  }
  ahead_.values = static_cast<const std::byte*>(ahead_.values) + rows.count * width_;
  ahead_.count -= rows.count;
  rewound_to_ = rows.first_ordinal + rows.count;
  if (ahead_.empty()) rewound_to_.reset();
  return rows;
}

absl::StatusOr<AnyBatch> ValueCursor::Previous(size_t max_rows) {
  CFILE_ASSERT(max_rows > 0);
  ahead_ = {};
  const uint64_t at = ordinal();
  if (at <= range_.begin) return AnyBatch{.first_ordinal = at};
  SetBackward(true);
  auto batch = Seeking([&]() -> absl::StatusOr<AnyBatch> {
    const bool in_order = loaded_ && at == first_ordinal_;
    CFILE_RETURN_IF_ERROR(GoBefore(at, in_order ? BlockAccess::kScan : BlockAccess::kSeek));
    const uint64_t rows = std::min<uint64_t>({max_rows, kMaxBatchRows, at - range_.begin});
    const uint64_t first = std::max(first_ordinal_, at - std::min(at, rows));
    CFILE_RETURN_IF_ERROR(SeekInBlock(first));
    // Long strings may need several batches. The last batch ends with the row before `at`.
    while (true) {
      CFILE_ASSIGN_OR_RETURN(const AnyBatch found,
                             NextBatch(static_cast<size_t>(at - FileCursor::ordinal())));
      if (FileCursor::ordinal() == at) return found;
    }
  });
  if (batch.ok()) {
    rewound_to_ = batch->first_ordinal;
  } else {
    SetBackward(false);
  }
  return batch;
}

absl::StatusOr<AnyBatch> ValueCursor::Get(uint64_t ordinal) {
  if (ordinal >= num_rows()) return OutOfRange(ordinal);
  return SeekingToAnyRow([&]() -> absl::StatusOr<AnyBatch> {
    CFILE_RETURN_IF_ERROR(GoTo(ordinal, BlockAccess::kFewRows));
    const uint32_t row = row_block_.row();
    if (absl::Status status = CheckRows({&row, 1}); !status.ok()) return Failed(status);
    auto batch = NextBatch(1);
    if (batch.ok() && in_part()) Unload();
    return batch;
  });
}

absl::Status ValueCursor::Take(std::span<const uint64_t> ordinals, OwnedValues& out) {
  for (const uint64_t ordinal : ordinals) {
    if (ordinal >= num_rows()) return OutOfRange(ordinal);
  }
  out.Reset(ordinals.size());
  ExpectBlocks(BlockPlan::kSome, [this](const LoadedNode& leaf, uint32_t entry) {
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

void ValueCursor::ExpectRange() {
  ExpectBlocks(BlockPlan::kInOrder, [this](const LoadedNode& leaf, uint32_t entry) {
    return HasRowOf(range_, leaf, entry);
  });
}

absl::Status ValueCursor::NotAKey() const {
  return absl::InvalidArgumentError(StrCat(file_->source().name(), ": NaN cannot be a key"));
}

absl::StatusOr<KeyPosition> ValueCursor::GoToKey(const void* wanted) {
  const void* key = FirstEqualKey(Key(wanted));
  CFILE_RETURN_IF_ERROR(FindBlock(key));
  // A string may lie in the last batch, in memory that is overwritten by a block or a piece.
  const std::string_view own = search_key_;
  if (block_.lane() == encodings::Lane::kBytes) key = &own;
  IndexWalk& path = paths_[1];
  if (!path.valid()) {
    CFILE_RETURN_IF_ERROR(GoToEnd());
    return KeyPosition{};
  }
  if (const auto found = SeekInPiece(key)) return *found;
  file_->Prefetch(path.leaf(), path.entry());
  CFILE_RETURN_IF_ERROR(OpenFoundBlock());
  while (true) {
    auto bound = block_.SeekToKey(key);
    if (!bound.ok()) return Failed(bound.status());
    if (bound->position < block_.num_rows()) {
      return KeyPosition{.ordinal = first_ordinal_ + bound->position, .exact = bound->exact};
    }
    // All values of this block are less than `key`. The first greater value, if any, begins the
    // next block.
    CFILE_ASSIGN_OR_RETURN(const bool more, NextBlock(BlockAccess::kSeek));
    if (!more) return KeyPosition{.ordinal = num_rows(), .exact = false};
  }
}

absl::Status ValueCursor::FindBlock(const void* key) {
  if (!IsKey(Key(key))) return NotAKey();
  absl::Status status = MovePath(key);
  if (!status.ok()) Unload();
  return status;
}

absl::Status ValueCursor::MovePath(const void* key) {
  search_key_.clear();
  AppendKey(Key(FirstEqualKey(Key(key))), search_key_);
  IndexWalk& path = paths_[1];
  CFILE_RETURN_IF_ERROR(path.SeekToKey(search_key_));
  if (num_rows() > 0) CFILE_RETURN_IF_ERROR(CheckFound(path));
  if (path.valid() && file_->info().holds_bloom_filters()) {
    return absl::FailedPreconditionError(
        StrCat(file_->source().name(), ": the file holds Bloom filters, not values"));
  }
  return absl::OkStatus();
}

absl::Status ValueCursor::OpenFoundBlock() {
  IndexWalk& path = paths_[1];
  if (loaded_ && path_ == &path && path.leaf_entry() == loaded_entry_) return absl::OkStatus();
  Unload();
  path_ = &path;
  return LoadBlock(BlockAccess::kSeek);
}

void ValueCursor::PrepareSearches(size_t begin, size_t end) {
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
    const auto block = file_->Prefetch(*place.leaf, place.entry);
    if (block_.lane() != encodings::Lane::kBytes) continue;
    // A decoder prepares several searches in the same block by itself.
    const bool alone = i + 1 == order_.size() || block_of(i + 1) != block_of(i);
    if (!alone || block.index == nullptr) continue;
    const auto* const key = static_cast<const std::string_view*>(KeyAt(sorted_keys_.get(), i));
    searches[count++] = {.key = *key, .block = block};
  }
  const std::span<Search> found(searches, count);
  for (const Search& search : found) search.block.index->PrefetchKeys(search.block.bytes);
  for (Search& search : found) search.part = search.block.index->FindPart(search.key);
  for (const Search& search : found)
    search.block.index->PrefetchPart(search.part, search.key, search.block.bytes);
}

absl::Status ValueCursor::SeekSome(encodings::ValueSpan keys, std::span<KeyPosition> positions) {
  // Sort the keys by block: the block's offset, then the key's number in the lower bits. (Offsets
  // are below 2^48.)
  order_.resize(keys.count);
  places_.resize(keys.count);
  Unload();  // the path leaves the loaded block
  IndexWalk& path = paths_[1];
  for (size_t i = 0; i < keys.count; ++i) {
    CFILE_RETURN_IF_ERROR(FindBlock(KeyAt(keys.data, i)));
    order_[i] = (path.valid() ? path.pointer().offset << kKeyNumberBits : 0) | i;
    places_[i] = path.valid() ? path.leaf_entry() : IndexWalk::LeafEntry{};
  }
  SortNumbers(order_);
  if (keys.count > sorted_keys_capacity_) {
    sorted_keys_ = std::make_unique_for_overwrite<std::byte[]>(keys.count * width_);
    sorted_keys_capacity_ = keys.count;
  }
  encodings::VisitWidth(block_.lane(), [&](auto width) {
    for (size_t i = 0; i < keys.count; ++i) {
      const void* const key = FirstEqualKey(Key(KeyAt(keys.data, order_[i] % kSoughtKeys)));
      std::memcpy(sorted_keys_.get() + i * width, key, width);
    }
  });
  bounds_.resize(keys.count);
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
    const encodings::ValueSpan block_keys(KeyAt(sorted_keys_.get(), begin), end - begin);
    if (!path.GoInLeaf(places_[order_[begin] % kSoughtKeys]))
      CFILE_RETURN_IF_ERROR(FindBlock(block_keys.data));
    if (!path.valid()) {
      for (size_t i = begin; i < end; ++i) positions[order_[i] % kSoughtKeys] = KeyPosition{};
      continue;
    }
    CFILE_RETURN_IF_ERROR(OpenFoundBlock());
    const auto bounds = std::span(bounds_).first(block_keys.count);
    if (absl::Status status = block_.SeekToKeys(block_keys, bounds); !status.ok()) {
      return Failed(status);
    }
    const uint64_t first_ordinal = first_ordinal_;
    const uint32_t block_rows = block_.num_rows();
    for (size_t i = begin; i < end; ++i) {
      const encodings::LowerBound& bound = bounds[i - begin];
      KeyPosition& position = positions[order_[i] % kSoughtKeys];
      position = {.ordinal = first_ordinal + bound.position, .exact = bound.exact};
      // All values of this block are less than the key: the position is in the next block, or at
      // the end of the file.
      if (bound.position == block_rows && position.ordinal < num_rows()) {
        CFILE_ASSIGN_OR_RETURN(position,
                               FindAfter(position.ordinal, KeyAt(block_keys.data, i - begin)));
      }
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<KeyPosition> ValueCursor::FindAfter(uint64_t ordinal, const void* key) {
  if (loaded_ && first_ordinal_ == ordinal) {
    const auto bound = block_.SeekToKey(key);
    if (!bound.ok()) return Failed(bound.status());
    if (bound->position < block_.num_rows()) {
      return KeyPosition{.ordinal = ordinal + bound->position, .exact = bound->exact};
    }
  }
  return GoToKey(key);
}

absl::Status ValueCursor::TakeSome(std::span<const uint64_t> ordinals, size_t out_begin,
                                   OwnedValues& out) {
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
    const uint64_t block_end = first_ordinal_ + block_.num_rows();
    const bool in_order = begin > 0 && !in_piece_ && !file_->in_memory() && first >= block_end &&
                          first - block_end < block_.num_rows();
    CFILE_RETURN_IF_ERROR(GoTo(first, in_order ? BlockAccess::kScan : BlockAccess::kFewRows));
    FindRows(begin);
    if (in_part() && rows_.size() > kRowsOfPart) {
      Unload();
      CFILE_RETURN_IF_ERROR(GoTo(first, BlockAccess::kSeek));
      FindRows(begin);  // again, because the block was read again
    }
    if (absl::Status status = CheckRows(rows_); !status.ok()) return Failed(status);
    const absl::Status status = block_.Take(rows_, [&](size_t taken, const AnyBatch& batch) {
      out.SetEach(batch, [&](size_t i) {
        return out_begin + static_cast<uint32_t>(order_[begin + taken + i]);
      });
    });
    if (!status.ok()) return Failed(status);
    if (in_part()) Unload();
    begin += rows_.size();
  }
  return absl::OkStatus();
}

void ValueCursor::FindRows(size_t begin) {
  rows_.clear();
  for (size_t i = begin; i < order_.size() && InBlock(order_[i] >> 32); ++i)
    rows_.push_back(static_cast<uint32_t>((order_[i] >> 32) - first_ordinal_));
}

}  // namespace cfile::internal
