// Turns pages of a Parquet file into blocks of a CFile without encoding their values again.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/internal/format/compress.h"
#include "cfile/internal/format/data_block.h"
#include "cfile/internal/format/key_codec.h"
#include "cfile/internal/format/level_block.h"
#include "cfile/internal/format/movable_block.h"
#include "cfile/internal/format/stored_block.h"
#include "cfile/internal/format/value_summary.h"
#include "cfile/internal/parquet/column_import_plan.h"
#include "cfile/internal/parquet/page_bytes.h"
#include "cfile/internal/parquet/page_reader.h"
#include "cfile/internal/parquet/value_check.h"
#include "cfile/internal/table/column_writer.h"
#include "cfile/internal/write/copied_block.h"
#include "encodings/core/assert.h"
#include "encodings/core/block_codec.h"
#include "encodings/core/key_order.h"
#include "encodings/core/status.h"
#include "encodings/hybrid/rle_hybrid.h"
#include "encodings/hybrid/validity.h"
#include "encodings/kernels/level_kernels.h"
#include "encodings/parquet/page_skip_table.h"

namespace cfile::internal {

// Copies pages of one column chunk. All values of a page are decoded once, before the page is
// copied: this checks the page, and gives the statistics of the block. Thread-compatible.
template <typename T>
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
        validity_(/*kudu_exact=*/false),
        level_encoder_(plan.column.levels, /*kudu_exact=*/false) {}

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
  absl::StatusOr<bool> Copy(DataPage page, encodings::BlockDecoder<T>& decoder,
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
        summary_.Statistics(block.head.num_entries - block.head.present_count);
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
  absl::StatusOr<bool> CheckValues(encodings::BlockDecoder<T>& decoder, CopiedBlock& block) {
    summary_.Clear();
    if (values_ == nullptr) values_.reset(new T[kBatch]);
    const std::span<const T> words = decoder.DictionaryValues();
    if (!words.empty() && !plan_.writer.value_index) {
      CFILE_RETURN_IF_ERROR(CheckCodes(decoder, words));
      return true;
    }
    Owned<T> last{};
    for (bool first = true; decoder.position() < decoder.count(); first = false) {
      std::span<const T> some = decoder.Borrow(kBatch);
      if (some.empty()) {
        CFILE_ASSIGN_OR_RETURN(const size_t read, decoder.Read({values_.get(), kBatch}));
        if (read == 0) return encodings::DataLoss("the page ends before its last value");
        some = {values_.get(), read};
      }
      if (words.empty())
        CFILE_RETURN_IF_ERROR(value_check_.Check(some, decoder.position() - some.size()));
      summary_.Add(some);
      if (!plan_.writer.value_index) continue;
      if (!Ascends(some) || (!first && encodings::KeyLess<T>(some.front(), T(last)))) return false;
      if (first) AppendKey<T>(some.front(), block.first_key);
      last = some.back();
    }
    if (plan_.writer.value_index) AppendKey<T>(T(last), block.last_key);
    return true;
  }

  static bool Ascends(std::span<const T> values) {
    for (size_t i = 0; i < values.size(); ++i) {
      if (!encodings::IsKey(values[i])) return false;
      if (i > 0 && encodings::KeyLess<T>(values[i], values[i - 1])) return false;
    }
    return true;
  }

  // Checks all codes, and adds each value that occurs to summary_.
  absl::Status CheckCodes(encodings::BlockDecoder<T>& decoder, std::span<const T> words) {
    seen_.assign(words.size(), 0);
    uint32_t codes[kBatch];
    while (decoder.position() < decoder.count()) {
      CFILE_ASSIGN_OR_RETURN(const size_t read, decoder.ReadCodes(codes));
      if (read == 0) return encodings::DataLoss("the page ends before its last code");
      for (size_t i = 0; i < read; ++i) seen_[codes[i]] = 1;
    }
    size_t count = 0;
    ValueSummary<T> occurring;
    for (size_t code = 0; code < words.size(); ++code) {
      if (seen_[code] == 0) continue;
      values_[count++] = words[code];
      if (count < kBatch) continue;
      occurring.Add({values_.get(), count});
      count = 0;
    }
    occurring.Add(std::span<const T>(values_.get(), count));
    // NaNs must be counted once for each row. Pages of codes with NaN are rare.
    BlockStatistics statistics = occurring.Statistics(0);
    if (statistics.nan_count > 0) return CountEach(decoder);
    statistics.present_count = decoder.count();
    const bool set = summary_.Set(statistics);
    CFILE_ASSERT(set);
    return absl::OkStatus();
  }

  // Writes the codes of a page with other codes to translated_.
  absl::Status Translate(encodings::BlockDecoder<T>& decoder, std::span<const uint32_t> new_codes) {
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

  absl::Status CountEach(encodings::BlockDecoder<T>& decoder) {
    CFILE_RETURN_IF_ERROR(decoder.SeekTo(0));
    while (decoder.position() < decoder.count()) {
      CFILE_ASSIGN_OR_RETURN(const size_t read, decoder.Read({values_.get(), kBatch}));
      summary_.Add(std::span<const T>(values_.get(), read));
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
      const int level = plan_.writer.compression_level;
      CFILE_RETURN_IF_ERROR(Compress(wanted, page.values, compressed_, level == 0 ? 1 : level));
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
  const ValueCheck<T> value_check_;
  encodings::ValidityEncoder validity_;
  LevelEncoder level_encoder_;
  ByteWriter levels_;
  ByteWriter translated_;
  ByteWriter skip_table_;
  ByteWriter compressed_;
  ByteWriter bytes_;
  ValueSummary<T> summary_;
  std::unique_ptr<T[]> values_;  // kBatch values
  std::vector<uint8_t> seen_;    // for each code: 1 if it occurs in the page
};

}  // namespace cfile::internal
