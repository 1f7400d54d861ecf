// Turns pages of a Parquet file into blocks of a CFile without encoding their values again.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/core/format/compress.h"
#include "cfile/core/format/data_block.h"
#include "cfile/core/format/key_codec.h"
#include "cfile/core/format/level_block.h"
#include "cfile/core/format/movable_block.h"
#include "cfile/core/format/stored_block.h"
#include "cfile/core/format/value_summary.h"
#include "cfile/core/write/copied_block.h"
#include "cfile/parquet_options.h"
#include "cfile/parts/parquet/column_import_plan.h"
#include "cfile/parts/parquet/page_bytes.h"
#include "cfile/parts/parquet/page_reader.h"
#include "cfile/parts/parquet/value_check.h"
#include "cfile/parts/table/column_writer.h"
#include "encodings/core/assert.h"
#include "encodings/core/block_codec.h"
#include "encodings/core/lane.h"
#include "encodings/core/status.h"
#include "encodings/hybrid/rle_hybrid.h"
#include "encodings/hybrid/validity.h"
#include "encodings/kernels/level_kernels.h"
#include "encodings/parquet/page_skip_table.h"

namespace cfile::internal {

// Copies pages of one column chunk. All values of a page are decoded once, before the page is
// copied: this checks the page, and gives the statistics of the block. Thread-compatible.
class PageCopier {
 public:
  // `plan` and `to` must outlive the copier. `codec`: a number of parquet::CompressionCodec that
  // CompressionFromParquet accepts.
  PageCopier(const ColumnImportPlan& plan, int32_t codec, AnyWriter& to)
      : plan_(plan),
        to_(to),
        same_compressed_bytes_(HasSameCompressedBytes(codec)),
        codec_(*CompressionFromParquet(codec)),
        value_check_(plan.column.type),
        type_(plan.column.type.physical()),
        lane_(encodings::LaneOf(type_)),
        validity_(/*kudu_exact=*/false),
        level_encoder_(plan.column.levels, /*kudu_exact=*/false),
        summary_(AnySummary::Create(type_)),
        values_(std::make_unique_for_overwrite<std::byte[]>(kBatch * encodings::WidthOf(lane_))) {}

  // True if the page may be copied, as far as this is known without its levels and values.
  bool MayCopy(const DataPage& page) const {
    if (!plan_.copies_pages || !plan_.leaf.same_pages) return false;
    if (!page.begins_record || !page.ends_record) return false;
    CopiedBlock block = BlockOf(page);
    const BlockStatistics any;
    block.statistics = &any;
    block.codec = CodecFor(page);
    block.head.sections[kBody] = {static_cast<uint32_t>(page.values.size()),
                                  static_cast<uint32_t>(page.values.size())};
    return to_.Takes(block);
  }

  // Copies a page, and adds it to the counters of `report`. Returns false, without any effect, if
  // the page cannot be copied. `decoder`: for the encoding of the page. `new_codes`: what `to` has
  // returned when it adopted the dictionary of the decoder. kDataLoss: the page is damaged, or has
  // a value that ValueCheck refuses; the values of the dictionary were checked before.
  // Preconditions: MayCopy(page); if the page has codes, `to` has adopted the dictionary.
  absl::StatusOr<bool> Copy(DataPage page, encodings::AnyBlockDecoder& decoder,
                            std::span<const uint32_t> new_codes, ParquetReport& report) {
    CopiedBlock block = BlockOf(page);
    levels_.Clear();
    CFILE_ASSIGN_OR_RETURN(const bool fits, CopyLevels(page, block.head));
    if (!fits) return false;
    encodings::BlockView view(page.values);
    view.count = block.head.present_count;
    CFILE_RETURN_IF_ERROR(decoder.Open(view));
    CFILE_ASSIGN_OR_RETURN(const bool ascends, CheckValues(decoder, block));
    if (!ascends) return false;
    const BlockStatistics statistics =
        summary_->Statistics(block.head.num_entries - block.head.present_count);
    block.statistics = &statistics;
    const bool translates = block.same_dictionary && !new_codes.empty();
    if (translates) {
      CFILE_RETURN_IF_ERROR(Translate(decoder, new_codes));
      page.values = translated_.span();
      page.compressed_values = {};
    }
    CFILE_ASSIGN_OR_RETURN(const bool stored, Store(page, block));
    if (!to_.Takes(block)) return false;
    CFILE_RETURN_IF_ERROR(to_.CopyBlock(block));
    ++(stored && !translates ? report.copied_pages : report.recompressed_pages);
    return true;
  }

 private:
  static constexpr size_t kBatch = 4096;

  // The codec of the options or, with the default options, that of the page.
  Compression CodecFor(const DataPage& page) const {
    if (plan_.writer.compression != Compression::kDefault) return plan_.writer.compression;
    return page.is_compressed ? codec_ : Compression::kNone;
  }

  CopiedBlock BlockOf(const DataPage& page) const {
    CopiedBlock block{.is_page = true};
    // PLAIN_DICTIONARY is an older name of RLE_DICTIONARY.
    block.head.encoding = page.encoding == Encoding::kParquetPlainDictionary
                              ? Encoding::kParquetDictionary
                              : page.encoding;
    block.head.num_rows = block.head.num_entries = block.head.present_count = page.num_entries;
    block.same_dictionary = block.head.encoding == Encoding::kParquetDictionary;
    return block;
  }

  // Writes the section with the levels, and sets the counts of `head`. Returns false if there are
  // nulls, but the column of the table is not nullable.
  absl::StatusOr<bool> CopyLevels(const DataPage& page, BlockHead& head) {
    if (plan_.column.has_levels()) {
      CFILE_RETURN_IF_ERROR(EncodeLevels(page, head));
      return true;
    }
    encodings::ValidityDecoder bits;
    if (plan_.leaf.max_definition > 0) {
      CFILE_RETURN_IF_ERROR(bits.Open(page.definition, page.num_entries));
      CFILE_ASSIGN_OR_RETURN(head.present_count, bits.SeekTo(page.num_entries));
    }
    const bool has_nulls = head.present_count < page.num_entries;
    if (!plan_.column.nullable) return !has_nulls;
    if (has_nulls) {
      CFILE_RETURN_IF_ERROR(bits.SeekTo(0).status());
      for (uint32_t left = page.num_entries; left > 0;) {
        uint8_t some[kBatch / 8];
        const auto count = static_cast<uint32_t>(std::min<size_t>(left, kBatch));
        CFILE_RETURN_IF_ERROR(bits.Read(count, some).status());
        validity_.AddBits(some, 0, count);
        left -= count;
      }
    } else {
      validity_.AddRun(true, page.num_entries);
    }
    AppendValidity(validity_, levels_);
    return true;
  }

  absl::Status EncodeLevels(const DataPage& page, BlockHead& head) {
    const LevelLimits& limits = plan_.column.levels;
    LevelDecoder decoder;
    decoder.Open({.repetition = page.repetition, .definition = page.definition}, limits);
    head.num_rows = head.present_count = 0;
    for (uint32_t done = 0; done < page.num_entries;) {
      uint16_t repetition[kBatch], definition[kBatch];
      const size_t count = std::min<size_t>(page.num_entries - done, kBatch);
      CFILE_RETURN_IF_ERROR(decoder.Read(repetition, definition, count));
      head.present_count +=
          static_cast<uint32_t>(encodings::CountLevels(definition, count, limits.max_definition));
      head.num_rows += static_cast<uint32_t>(
          limits.max_repetition > 0 ? encodings::CountLevels(repetition, count, 0) : count);
      CFILE_RETURN_IF_ERROR(level_encoder_.Add(repetition, definition, count, done));
      done += static_cast<uint32_t>(count);
    }
    level_encoder_.Finish(page.num_entries, head.num_rows, levels_);
    return absl::OkStatus();
  }

  // Decodes all values, and adds them to summary_. For a column with a value index, also sets the
  // keys of `block`, and returns false if the values do not ascend.
  absl::StatusOr<bool> CheckValues(encodings::AnyBlockDecoder& decoder, CopiedBlock& block) {
    summary_->Clear();
    const encodings::ValueSpan words = decoder.AnyDictionaryValues();
    if (!words.empty() && !plan_.writer.value_index) {
      CFILE_RETURN_IF_ERROR(CheckCodes(decoder, words));
      return true;
    }
    OwnedKey last;
    for (bool first = true; decoder.position() < decoder.count(); first = false) {
      encodings::ValueSpan some = decoder.BorrowAny(kBatch);
      if (some.empty()) {
        CFILE_ASSIGN_OR_RETURN(const size_t read, decoder.ReadAny(values_.get(), kBatch));
        if (read == 0) return encodings::DataLoss("the page ends before its last value");
        some = {values_.get(), read};
      }
      if (words.empty())
        CFILE_RETURN_IF_ERROR(value_check_.Check(some, decoder.position() - some.count));
      summary_->AddAny(some);
      if (!plan_.writer.value_index) continue;
      if (FindOrderFault(some, type_, first ? nullptr : last.value())) return false;
      if (first) AppendKey({some.data, type_}, block.first_key);
      last.Set({encodings::ValueAt(some.data, lane_, some.count - 1), type_});
    }
    if (plan_.writer.value_index) AppendKey({last.value(), type_}, block.last_key);
    return true;
  }

  // Checks all codes, and adds each value that occurs to summary_.
  absl::Status CheckCodes(encodings::AnyBlockDecoder& decoder, encodings::ValueSpan words) {
    seen_.assign(words.count, 0);
    uint32_t codes[kBatch];
    while (decoder.position() < decoder.count()) {
      CFILE_ASSIGN_OR_RETURN(const size_t read, decoder.ReadCodes(codes));
      if (read == 0) return encodings::DataLoss("the page ends before its last code");
      for (size_t i = 0; i < read; ++i) seen_[codes[i]] = 1;
    }
    const std::unique_ptr<AnySummary> occurring = AnySummary::Create(type_);
    encodings::VisitWidth(lane_, [&](auto width) {
      size_t count = 0;
      for (size_t code = 0; code < words.count; ++code) {
        if (seen_[code] == 0) continue;
        std::memcpy(values_.get() + width * count++, encodings::ValueAt(words.data, lane_, code),
                    width);
        if (count < kBatch) continue;
        occurring->AddAny({values_.get(), count});
        count = 0;
      }
      occurring->AddAny({values_.get(), count});
    });
    // NaNs must be counted once for each row. Pages of codes with NaN are rare.
    BlockStatistics statistics = occurring->Statistics(0);
    if (statistics.nan_count > 0) return CountEach(decoder);
    statistics.present_count = decoder.count();
    const bool set = summary_->Set(statistics);
    CFILE_ASSERT(set);
    return absl::OkStatus();
  }

  // Writes the codes of a page with other codes to translated_.
  absl::Status Translate(encodings::AnyBlockDecoder& decoder, std::span<const uint32_t> new_codes) {
    const uint32_t largest = *std::max_element(new_codes.begin(), new_codes.end());
    // Not all readers of Parquet know codes without bits.
    const int width = std::max(1, static_cast<int>(std::bit_width(largest)));
    encodings::RleHybridEncoder hybrid(width, /*kudu_exact=*/false);
    CFILE_RETURN_IF_ERROR(decoder.SeekTo(0));
    uint32_t codes[kBatch];
    while (decoder.position() < decoder.count()) {
      CFILE_ASSIGN_OR_RETURN(const size_t read, decoder.ReadCodes(codes));
      for (uint32_t& code : std::span(codes, read)) code = new_codes[code];
      hybrid.PutValues(std::span<const uint32_t>(codes, read));
    }
    translated_.Clear();
    translated_.PutFixed(static_cast<uint8_t>(width));
    hybrid.Finish(translated_, encodings::LastGroup::kWhole);
    return absl::OkStatus();
  }

  absl::Status CountEach(encodings::AnyBlockDecoder& decoder) {
    CFILE_RETURN_IF_ERROR(decoder.SeekTo(0));
    while (decoder.position() < decoder.count()) {
      CFILE_ASSIGN_OR_RETURN(const size_t read, decoder.ReadAny(values_.get(), kBatch));
      summary_->AddAny({values_.get(), read});
    }
    return absl::OkStatus();
  }

  // Sets the codec, the sections and the bytes of `block`. Returns true if the values stay as they
  // are stored in the file, false if they were decompressed.
  absl::StatusOr<bool> Store(const DataPage& page, CopiedBlock& block) {
    const Compression wanted = CodecFor(page);
    std::span<const uint8_t> body = page.values;
    bool as_stored = !page.is_compressed;
    bool compressed = false;
    const auto worth = [&](size_t size) {
      return size < page.values.size() &&
             10 * (levels_.size() + size) <= 9 * (levels_.size() + page.values.size());
    };
    if (wanted == codec_ && same_compressed_bytes_ && !page.compressed_values.empty()) {
      compressed = as_stored = worth(page.compressed_values.size());
      if (compressed) body = page.compressed_values;
    } else if (wanted != Compression::kNone && page.values.size() >= kLeastCompressedBytes) {
      compressed_.Clear();
      CFILE_RETURN_IF_ERROR(
          Compress(wanted, page.values, compressed_, plan_.writer.compression_level));
      compressed = worth(compressed_.size());
      if (compressed) {
        body = compressed_.span();
        as_stored = false;
      }
    }
    block.codec = wanted;
    block.head.compression = compressed ? wanted : Compression::kNone;
    block.head.sections[kLevels] = {static_cast<uint32_t>(levels_.size()),
                                    static_cast<uint32_t>(levels_.size())};
    skip_table_.Clear();
    CFILE_RETURN_IF_ERROR(encodings::PutSkipTable(block.head.encoding, plan_.column.type.physical(),
                                                  page.values, block.head.present_count,
                                                  skip_table_));
    block.head.sections[kSkipTable] = {static_cast<uint32_t>(skip_table_.size()),
                                       static_cast<uint32_t>(skip_table_.size())};
    block.head.sections[kBody] = {static_cast<uint32_t>(body.size()),
                                  static_cast<uint32_t>(page.values.size())};
    bytes_.Clear();
    AppendBlockHead(block.head, {levels_.span(), skip_table_.span(), body}, bytes_);
    bytes_.PutBytes(levels_.span());
    bytes_.PutBytes(skip_table_.span());
    // The copy is aligned as the block at `offset` is: align the values.
    block.offset = (kAlignment - bytes_.size() % kAlignment) % kAlignment;
    bytes_.PutBytes(body);
    block.bytes = bytes_.span();
    return as_stored;
  }

  // Shorter bodies are not compressed, as in blocks that a Writer makes.
  static constexpr size_t kLeastCompressedBytes = 64;

  const ColumnImportPlan& plan_;
  AnyWriter& to_;
  const bool same_compressed_bytes_;
  const Compression codec_;
  const ValueCheck value_check_;
  const PhysicalType type_;
  const encodings::Lane lane_;
  encodings::ValidityEncoder validity_;
  LevelEncoder level_encoder_;
  ByteWriter levels_;
  ByteWriter translated_;
  ByteWriter skip_table_;
  ByteWriter compressed_;
  ByteWriter bytes_;
  const std::unique_ptr<AnySummary> summary_;
  const std::unique_ptr<std::byte[]> values_;  // kBatch values
  std::vector<uint8_t> seen_;                  // for each code: 1 if it occurs in the page
};

}  // namespace cfile::internal
