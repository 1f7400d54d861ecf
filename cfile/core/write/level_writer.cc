#include "cfile/levels.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "cfile/core/format/file_policy.h"
#include "cfile/core/format/level_block.h"
#include "cfile/core/io/named_status.h"
#include "cfile/core/write/column_encoder.h"
#include "cfile/core/write/column_pipeline.h"
#include "encodings/core/assert.h"
#include "encodings/core/status.h"
#include "encodings/kernels/level_kernels.h"

namespace cfile {
namespace {

using encodings::ValueSpan;

constexpr uint32_t kMax32 = std::numeric_limits<uint32_t>::max();
// The block's size is checked at least once in this many entries.
constexpr size_t kMaxCheckedEntries = 1024;
// The upper bound of full_bytes_, as a multiple of block_size_bytes.
constexpr uint64_t kMaxGrowth = 16;

absl::Status CheckLimits(const LevelLimits& limits, const WriterOptions& options) {
  const auto invalid = [](auto... parts) { return absl::InvalidArgumentError(StrCat(parts...)); };
  if (limits.kudu_array && limits != LevelLimits::KuduArray(options.nullable))
    return invalid("the level limits of an array must be those of LevelLimits::KuduArray");
  if (options.value_index) return invalid("a column with levels cannot have a value index");
  if (!options.positional_index) return invalid("a column with levels needs a positional index");
  return internal::CheckLevelPolicy(limits, options);
}

class EntryWriter final : public internal::ColumnPipeline {
 public:
  // `encoder` was created with whole_records. Since a record is not divided, a block may exceed
  // block_size_bytes, up to max_block_size_bytes.
  EntryWriter(std::unique_ptr<Sink> sink, const ColumnType& type, const LevelLimits& limits,
              const WriterOptions& options, std::unique_ptr<encodings::AnyBlockEncoder> encoder)
      : ColumnPipeline(std::move(sink), type, options, std::move(encoder)),
        lane_(encodings::LaneOf(type.physical())),
        limits_(limits),
        levels_(limits, file_.policy().kudu_exact),
        checked_entries_(std::clamp<size_t>(
            options.block_size_bytes / (8 * encodings::WidthOf(lane_)), 1, kMaxCheckedEntries)),
        full_bytes_(options.block_size_bytes) {
    file_.SetLevels(limits);
    BeginLook();
  }

  absl::Status Append(const internal::AnyLevelBatch& entries) override {
    return failure_.Run(
        [&] { return AppendEntries(entries.repetition, entries.definition, entries.values); });
  }
  absl::Status Append(const internal::AnyBatch& /*rows*/) override {
    return absl::InternalError(StrCat(file_.name(), ": the column has levels"));
  }

  bool Takes(const internal::CopiedBlock& block) const override {
    return TakesAfter(block, block_entries_, encoder_->size_bytes() + levels_.size_bytes());
  }
  absl::Status CopyBlock(const internal::CopiedBlock& block) override {
    CFILE_ASSERT(Takes(block));
    return failure_.Run([&] { return Copy(block); });
  }

  absl::Status Finish() override {
    return failure_.Finish([this] { return FinishFile(); });
  }

  ColumnTotals totals() const override {
    ColumnTotals totals = pipeline_totals();
    totals.num_rows = num_records_;
    totals.num_entries = num_entries_;
    totals.num_present = num_present_;
    return totals;
  }
  size_t memory_usage_bytes() const override { return pipeline_bytes() + levels_.size_bytes(); }

 private:
  template <typename... Parts>
  absl::Status Invalid(const Parts&... parts) const {
    return absl::InvalidArgumentError(StrCat(file_.name(), ": ", parts...));
  }

  absl::Status AppendEntries(std::span<const uint16_t> repetition,
                             std::span<const uint16_t> definition, ValueSpan values) {
    const size_t count = limits_.max_repetition > 0   ? repetition.size()
                         : limits_.max_definition > 0 ? definition.size()
                                                      : values.count;
    if (repetition.size() != (limits_.max_repetition > 0 ? count : 0) ||
        definition.size() != (limits_.max_definition > 0 ? count : 0)) {
      return Invalid("entry ", num_entries_, ": ", repetition.size(), " repetition levels and ",
                     definition.size(), " definition levels; the maxima are ",
                     limits_.max_repetition, " and ", limits_.max_definition);
    }
    size_t value = 0;
    for (size_t begin = 0; begin < count;) {
      const Part part{.repetition = limits_.max_repetition > 0 ? &repetition[begin] : nullptr,
                      .definition = limits_.max_definition > 0 ? &definition[begin] : nullptr,
                      .count = std::min(count - begin, entries_to_look_)};
      CFILE_ASSIGN_OR_RETURN(const Part taken, AppendPart(part, From(values, value)));
      begin += taken.count;
      value += taken.values;
    }
    if (value < values.count) {
      return Invalid("entry ", num_entries_, ": ", values.count, " values were given, the ", count,
                     " entries hold ", value);
    }
    return absl::OkStatus();
  }

  // The levels of consecutive entries, and the number of values in these entries.
  struct Part {
    const uint16_t* repetition = nullptr;  // null if the maximum level is 0
    const uint16_t* definition = nullptr;
    size_t count = 0;
    size_t values = 0;

    bool BeginsRecord(size_t i) const { return repetition == nullptr || repetition[i] == 0; }
    bool HoldsValue(size_t i, uint16_t max) const {
      return definition == nullptr || definition[i] == max;
    }
  };

  absl::Status CheckLevels(const Part& part) const {
    uint16_t repetition = 0, definition = 0;
    for (size_t i = 0; i < part.count && part.repetition != nullptr; ++i)
      repetition = std::max(repetition, part.repetition[i]);
    for (size_t i = 0; i < part.count && part.definition != nullptr; ++i)
      definition = std::max(definition, part.definition[i]);
    if (num_entries_ == 0 && !part.BeginsRecord(0)) {
      return Invalid("entry 0: repetition level ", part.repetition[0],
                     ", but the first record begins with repetition level 0");
    }
    if (repetition <= limits_.max_repetition && definition <= limits_.max_definition)
      return absl::OkStatus();
    for (size_t i = 0;; ++i) {
      const uint16_t r = part.repetition == nullptr ? 0 : part.repetition[i];
      const uint16_t d = part.definition == nullptr ? 0 : part.definition[i];
      if (r <= limits_.max_repetition && d <= limits_.max_definition) continue;
      return Invalid("entry ", num_entries_ + i, ": levels ", r, " and ", d, ", the maxima are ",
                     limits_.max_repetition, " and ", limits_.max_definition);
    }
  }

  // Appends entries from the front of `part`, all to one block. Returns how many entries were
  // appended and how many of `values` they hold.
  absl::StatusOr<Part> AppendPart(Part part, ValueSpan values) {
    CFILE_RETURN_IF_ERROR(CheckLevels(part));
    if (block_due_) {
      size_t begin = 0;
      while (begin < part.count && !part.BeginsRecord(begin)) ++begin;
      if (begin == 0) CFILE_RETURN_IF_ERROR(FinishBlock());
      if (begin > 0) part.count = begin;
    }
    // A block that is due lacks only the end of its last record. max_values_per_block does not
    // limit this record.
    if (!block_due_) {
      part.count = std::min<uint64_t>(part.count, options_.max_values_per_block - block_entries_);
    }
    const auto too_few_values = [&](size_t entry) {
      return Invalid("entry ", num_entries_ + entry, " holds a value, but only ", values.count,
                     " values were given from entry ", num_entries_, " on");
    };
    if (lane_ == encodings::Lane::kBytes) {
      const auto strings = values.As<std::string_view>();
      // Ends the part after the value whose bytes make the next size check due.
      for (size_t i = 0; i < part.count; ++i) {
        if (!part.HoldsValue(i, limits_.max_definition)) continue;
        if (part.values == values.count) return too_few_values(i);
        if (BeginsLarge(part, i, strings[part.values].size())) {
          // End the part here: the next part begins with this record.
          if (i > 0) {
            part.count = i;
            break;
          }
          if (!HasRoomFor(strings[part.values].size())) CFILE_RETURN_IF_ERROR(FinishBlock());
        }
        bytes_to_look_ -= std::min(bytes_to_look_, strings[part.values++].size());
        if (bytes_to_look_ == 0) part.count = i + 1;
      }
      CFILE_RETURN_IF_ERROR(internal::CheckSizes(
          strings.first(part.values), type_, options_,
          [&](size_t i) { return StrCat(file_.name(), ": value ", num_present_ + i); }));
    } else {
      part.values = part.definition == nullptr ? part.count
                                               : encodings::CountLevels(part.definition, part.count,
                                                                        limits_.max_definition);
      if (part.values > values.count) {
        size_t entry = 0;
        for (size_t left = values.count;; ++entry) {
          if (part.HoldsValue(entry, limits_.max_definition) && left-- == 0) break;
        }
        return too_few_values(entry);
      }
    }
    values.count = part.values;
    const uint64_t records = part.repetition == nullptr
                                 ? part.count
                                 : encodings::CountLevels(part.repetition, part.count, 0);
    if (records > kMax32 - num_records_ || part.count > kMax32 - block_entries_)
      return TooManyRecords();
    CFILE_RETURN_IF_ERROR(internal::Named(
        levels_.Add(part.repetition, part.definition, part.count, num_entries_), file_.name()));
    statistics_.Add(values);
    while (!values.empty()) {
      const size_t taken = encoder_->AppendAny(values);
      if (taken == 0) {
        return OutOfRange(file_.name(), ": record ", num_records_ + records - 1,
                          " with the records before it in its block is ",
                          AboveLimit(options_.max_block_size_bytes, "max_block_size_bytes"));
      }
      values = From(values, taken);
    }
    num_entries_ += part.count;
    block_entries_ += part.count;
    num_records_ += records;
    block_records_ += static_cast<uint32_t>(records);
    num_present_ += part.values;
    entries_to_look_ -= part.count;
    if (entries_to_look_ == 0 || bytes_to_look_ == 0) {
      block_due_ |=
          encoder_->size_bytes() + levels_.size_bytes() >= full_bytes_ || encoder_->nearly_full();
      BeginLook();
    }
    block_due_ |= block_entries_ >= options_.max_values_per_block;
    return part;
  }

  // The values from value `begin` on.
  ValueSpan From(ValueSpan values, size_t begin) const {
    return {encodings::ValueAt(values.data, lane_, begin), values.count - begin};
  }

  absl::Status TooManyRecords() const {
    return OutOfRange(file_.name(), ": a file holds at most ", kMax32,
                      " records and a block at most as many entries: begin another part");
  }

  absl::Status Copy(const internal::CopiedBlock& block) {
    if (block.head.num_rows > kMax32 - num_records_) return TooManyRecords();
    if (block_entries_ > 0) CFILE_RETURN_IF_ERROR(FinishBlock());
    CFILE_RETURN_IF_ERROR(WriteCopy(block, num_records_, {}));
    num_records_ += block.head.num_rows;
    num_entries_ += block.head.num_entries;
    num_present_ += block.head.present_count;
    return absl::OkStatus();
  }

  // True if the entry begins a record (not the first of its block) whose first value, of `size`
  // bytes, is larger than a quarter of the largest block. Such a record gets a new block if the
  // current block has no room for this value.
  bool BeginsLarge(const Part& part, size_t entry, size_t size) const {
    return size > options_.max_block_size_bytes / 4 && part.BeginsRecord(entry) &&
           block_entries_ + entry > 0;
  }
  bool HasRoomFor(size_t value_size) const {
    const size_t beside = options_.max_block_size_bytes / 8;  // usually more than the levels
    return encoder_->size_bytes() + levels_.size_bytes() + value_size <=
           options_.max_block_size_bytes - beside;
  }

  void BeginLook() {
    entries_to_look_ = checked_entries_;
    bytes_to_look_ = checked_entries_ * 8 * encodings::WidthOf(lane_);
  }

  absl::Status FinishFile() {
    if (block_entries_ > 0) CFILE_RETURN_IF_ERROR(FinishBlock());
    return WriteEnd(num_records_,
                    limits_.kudu_array ? std::nullopt : std::optional<uint64_t>(num_entries_));
  }

  absl::Status FinishBlock() {
    const uint64_t first_record = num_records_ - block_records_;
    const auto num_entries = static_cast<uint32_t>(block_entries_);
    const size_t raw_bytes = encoder_->size_bytes() + levels_.size_bytes();
    CFILE_RETURN_IF_ERROR(WriteBlock({first_record, block_records_, num_entries}, {},
                                     [&](encodings::ByteWriter& prefix) {
                                       levels_.Finish(num_entries, block_records_, prefix);
                                     }));
    // Estimates how many unencoded bytes fill the next block, by the compression of this block. The
    // estimate is at most half of the largest block, so that the block's last record has room.
    const uint64_t stored_bytes = std::max<uint64_t>(last_block_bytes(), 1);
    const uint64_t largest = std::max<uint64_t>(
        options_.block_size_bytes, std::min<uint64_t>(kMaxGrowth * options_.block_size_bytes,
                                                      options_.max_block_size_bytes / 2));
    full_bytes_ = std::clamp<uint64_t>(options_.block_size_bytes * raw_bytes / stored_bytes,
                                       options_.block_size_bytes, largest);
    block_entries_ = 0;
    block_records_ = 0;
    block_due_ = false;
    BeginLook();
    return absl::OkStatus();
  }

  const encodings::Lane lane_;
  const LevelLimits limits_;
  internal::LevelEncoder levels_;
  // The number of entries between two checks of the block's size: about an eighth of a block. The
  // places of the checks depend on the entries only, not on how calls divide the entries.
  const size_t checked_entries_;
  // The number of entries, and of bytes of strings, until the next size check. The check is due
  // when one of the two numbers is 0.
  size_t entries_to_look_ = 0;
  size_t bytes_to_look_ = 0;
  uint64_t full_bytes_;  // a block is due at this many bytes before encoding, or more
  uint64_t block_entries_ = 0;
  uint32_t block_records_ = 0;
  bool block_due_ = false;  // the block ends before the next record
  uint64_t num_records_ = 0;
  uint64_t num_entries_ = 0;
  uint64_t num_present_ = 0;
};

}  // namespace

absl::StatusOr<std::unique_ptr<internal::AnyWriter>> internal::NewEntryWriter(
    absl::StatusOr<std::unique_ptr<Sink>> opened, const ColumnType& type, const LevelLimits& limits,
    const WriterOptions& user_options, bool holds_type) {
  CFILE_ASSIGN_OR_RETURN(std::unique_ptr<Sink> sink, std::move(opened));
  WriterOptions options = user_options;
  options.nullable = limits.max_definition > (limits.kudu_array ? 2 : 0);
  CFILE_RETURN_IF_ERROR(Named(CheckLimits(limits, options), sink->name()));
  CFILE_RETURN_IF_ERROR(PrepareToWrite(sink->name(), type, holds_type, options));
  CFILE_ASSIGN_OR_RETURN(auto encoder, NewEncoder(type, options, /*whole_records=*/true));
  auto writer =
      std::make_unique<EntryWriter>(std::move(sink), type, limits, options, std::move(encoder));
  CFILE_RETURN_IF_ERROR(writer->Begin());
  return writer;
}

}  // namespace cfile
