// The steps of writing a column that Writer and LevelWriter share: encode a block and write it to
// the file; at the end write the dictionary and the statistics.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "cfile/core/format/statistics_block.h"
#include "cfile/core/io/named_status.h"
#include "cfile/core/write/auto_encoder.h"
#include "cfile/core/write/copied_block.h"
#include "cfile/core/write/file_writer.h"
#include "cfile/core/write/sticky_status.h"
#include "cfile/file_info.h"
#include "cfile/io.h"
#include "cfile/options.h"
#include "cfile/untyped.h"
#include "encodings/core/block_codec.h"
#include "encodings/core/bytes.h"
#include "encodings/core/status.h"

namespace cfile::internal {

// The base class of the writers of rows and of levels. These classes pass values to encoder_, count
// rows or levels, and decide where blocks end. Thread-compatible.
class ColumnPipeline : public AnyWriter {
 public:
  // Precondition: PrepareToWrite returned OK for `options`.
  ColumnPipeline(std::unique_ptr<Sink> sink, const ColumnType& type, const WriterOptions& options,
                 std::unique_ptr<encodings::AnyBlockEncoder> encoder)
      : options_(options),
        type_(type),
        file_(std::move(sink), type, options),
        encoder_(std::move(encoder)),
        chooser_(dynamic_cast<const AutoEncoder*>(encoder_.get())),
        statistics_(type.physical(), options) {
    if (!file_.policy().limits_rows) options_.max_values_per_block = UINT32_MAX;
  }

  absl::Status Begin() {
    return failure_.Run([&] { return file_.Begin(); });
  }

  absl::Status AddMetadata(std::string_view key, std::string_view value) override {
    CFILE_RETURN_IF_ERROR(failure_.status());
    return file_.AddFooterMetadata(key, value);
  }

  // See BlockEncoder::AdoptDictionary.
  bool AdoptDictionary(const encodings::Dictionary& dictionary,
                       std::vector<uint32_t>& codes) override {
    return encoder_->AdoptDictionary(dictionary, codes);
  }

  absl::Status status() const override { return failure_.status(); }
  const ColumnType& type() const override { return type_; }

 protected:
  // Ends the encoder's current block and writes this block. `append_prefix(prefix)` appends the
  // bytes before the values: the null bitmap or the levels. `value_key`: the block's key in the
  // value index.
  template <typename AppendPrefix>
  absl::Status WriteBlock(const BlockRows& rows, std::string_view value_key,
                          const AppendPrefix& append_prefix) {
    encoder_->Finish(file_.BodyOrdinal(rows.first_ordinal), block_);
    prefix_.Clear();
    append_prefix(prefix_);
    // The encoder has chosen for the values alone.
    if (options_.goal == Goal::kSize && prefix_.size() > block_.bytes.size() / 16)
      block_.compressible = true;
    statistics_.FinishBlock(rows.num_entries);
    return file_.AppendBlock(block_, rows, value_key, prefix_);
  }

  // True if `block` may be copied (MayCopy), and neither `block` nor the current block is so small
  // that they should be joined (JoinsBlocks).
  // `entries` and `bytes`: the numbers of entries and of bytes in the current block.
  bool TakesAfter(const CopiedBlock& block, uint64_t entries, size_t bytes) const {
    return MayCopy(block, file_.info(), options_) &&
           !JoinsBlocks(block, entries, bytes, options_) && !statistics_.has_bloom_filter() &&
           statistics_.CanAddBlock(block.statistics);
  }

  // Writes a copy of `block`. Preconditions: Takes has returned true; the current block has no
  // entries.
  absl::Status WriteCopy(const CopiedBlock& block, uint64_t first_ordinal,
                         std::string_view value_key) {
    if (block.statistics != nullptr) statistics_.AddBlock(*block.statistics);
    return file_.CopyBlock(block, first_ordinal, value_key);
  }

  // Writes the rest of the file after the data blocks, and makes the file visible. `num_entries` is
  // passed to FileWriter::Finish.
  absl::Status WriteEnd(uint64_t num_rows, std::optional<uint64_t> num_entries = std::nullopt) {
    encodings::ByteWriter dictionary;
    const bool has_dictionary = encoder_->FinishDictionary(dictionary);
    CFILE_ASSIGN_OR_RETURN(const auto statistics, Named(statistics_.Finish(), file_.name()));
    if (chooser_ != nullptr && chooser_->choice()) file_.SetChoice(*chooser_->choice());
    CFILE_RETURN_IF_ERROR(
        file_.Finish(num_rows, has_dictionary ? &dictionary : nullptr, statistics, num_entries));
    if (!statistics.message.empty()) file_statistics_ = statistics_.file_statistics();
    return absl::OkStatus();
  }

  // The totals that do not depend on the writer's rows and keys.
  ColumnTotals pipeline_totals() const {
    ColumnTotals totals = file_.totals();
    totals.statistics = file_statistics_;
    return totals;
  }

  // Bytes of memory in use, without the null bitmap and the levels.
  size_t pipeline_bytes() const {
    return file_.memory_usage_bytes() + encoder_->size_bytes() + encoder_->retained_bytes() +
           block_.bytes.capacity() + prefix_.capacity() + statistics_.memory_usage_bytes();
  }

  // The size of the block that was written last, in bytes before compression.
  size_t last_block_bytes() const { return prefix_.size() + block_.bytes.size(); }

  WriterOptions options_;
  const ColumnType type_;
  FileWriter file_;
  const std::unique_ptr<encodings::AnyBlockEncoder> encoder_;
  const AutoEncoder* const chooser_;  // encoder_, or null if the options name the encoding
  StatisticsWriter statistics_;
  StickyStatus failure_{file_.name()};

 private:
  encodings::EncodedBlock block_;
  encodings::ByteWriter prefix_;
  std::optional<BlockStatistics> file_statistics_;  // after WriteEnd
};

}  // namespace cfile::internal
