// Reads the rows of one file for conditions on its values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "absl/container/inlined_vector.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/batch.h"
#include "cfile/core/read/file_cursor.h"
#include "cfile/core/read/index_walk.h"
#include "cfile/core/read/level_block_cursor.h"
#include "cfile/parts/scan/predicate_judge.h"
#include "cfile/parts/scan/row_filter.h"
#include "encodings/core/lane.h"
#include "encodings/registry.h"

namespace cfile::internal {

// Shared by all conditions on one column. Thread-compatible. A batch is valid until the next call.
class ConditionRows final : protected FileCursor {
 public:
  ConditionRows(const std::shared_ptr<FileReader>& file, BlockDecoding decoding)
      : ConditionRows(file, ShapedBlock(file->info(), std::move(decoding))) {}

  FileReader& file() const { return *file_; }
  using FileCursor::Failed;

  // Adds the judge of a condition, which decides from statistics which rows may match. It must
  // outlive this object.
  void Add(const PredicateJudge* judge) { judges_.push_back(judge); }

  // Says which rows will be read, and in which direction. `all`: true if the caller also reads
  // blocks whose rows all match.
  void Expect(const OrdinalRange& rows, bool backward, bool all = false);

  // Opens the block that has row `row`. Returns false if this block was open already.
  absl::StatusOr<bool> Enter(uint64_t row);

  bool has_all_begun() const { return fetcher_.has_all_planned(); }

  // Checks that the positional index, if there is one, has the block of row `row`, which the scan
  // skips. Call it for ascending rows. Precondition: the file has statistics of each block.
  absl::Status CheckSkipped(uint64_t row);
  // kDataLoss: the index has blocks after the open block, which has the file's last row.
  absl::Status CheckLastBlock() const {
    return loaded_ && end() == num_rows() ? CheckLast(*path_) : absl::OkStatus();
  }

  // The functions below work on the block that is open.
  uint64_t first_ordinal() const { return first_ordinal_; }
  uint64_t end() const { return first_ordinal_ + row_block_.num_rows(); }
  encodings::ValueSpan DictionaryValues() {
    return block_.flat == nullptr ? encodings::ValueSpan() : block_.flat->DictionaryValues();
  }

  // Both functions decode rows from `begin` on, at most `count` rows. Codes returns one code of
  // DictionaryValues() for each row, and Values one value for each row. Precondition of Codes:
  // DictionaryValues() is not empty.
  absl::StatusOr<Batch<uint32_t>> Codes(uint64_t begin, size_t count);
  absl::StatusOr<AnyBatch> Values(uint64_t begin, size_t count);

  // Compares `count` rows from `begin` on with a predicate, without decoding them
  // (BlockCursor::NextMatches). Returns false if this is not possible for the open block.
  absl::StatusOr<bool> Compare(uint64_t begin, size_t count, const ValueMatcher& matcher,
                               uint8_t* bits, const uint8_t*& validity);

  // BlockCursor::Take for rows of the open block. Precondition: the column is flat.
  absl::Status Take(std::span<const uint32_t> rows,
                    absl::FunctionRef<void(size_t i, const AnyBatch& batch)> put);

 private:
  ConditionRows(const std::shared_ptr<FileReader>& file, ShapedBlock block);

  bool Reads(Verdict verdict) const {
    return verdict == Verdict::kSome || (reads_all_ && verdict == Verdict::kAll);
  }

  // If only keys can find the block of row `row`, goes to the last block before it that a value
  // index has found for a condition.
  absl::Status EnterByKey(uint64_t row);

  // Returns the next rows of the block, each with one value.
  absl::StatusOr<AnyBatch> NextRows(size_t count);

  // Returns the first `count` rows of `batch` if it begins with row `begin`; otherwise calls
  // `next`, which decodes them.
  absl::StatusOr<AnyBatch> Decode(uint64_t begin, size_t count, AnyBatch& batch,
                                  absl::FunctionRef<absl::StatusOr<AnyBatch>()> next);

  ShapedBlock block_;
  absl::InlinedVector<const PredicateJudge*, 2> judges_;
  OrdinalRange expected_;   // blocks with these rows are read in advance
  bool reads_all_ = false;  // see Expect
  IndexWalk skipped_{file_.get(), IndexKind::kPositional};  // at the last block of CheckSkipped
  bool compares_ = true;  // false: Compare always returns false for the open block
  // The rows that were decoded last, and the batch that has these rows.
  OrdinalRange decoded_;
  const AnyBatch* decoded_batch_ = nullptr;
  AnyBatch codes_;
  AnyBatch batch_;
  // The values and the validity of a batch that was made from levels.
  RawBuffer values_;
  uint8_t validity_[RowFilter::kMaxRows / 8];
};

// Opens `judge`, and returns the rows of `file`: those of a condition in `others` on the same
// column, if there is one. The caller adds the judge to them. Returns null if no row matches and
// `may_lack` is true.
absl::StatusOr<std::shared_ptr<ConditionRows>> OpenRows(
    const std::shared_ptr<FileReader>& file, std::span<const std::unique_ptr<RowFilter>> others,
    PredicateJudge& judge, bool may_lack = false,
    encodings::DecoderMaker* make_decoder = &encodings::MakeAnyDecoder);

}  // namespace cfile::internal
