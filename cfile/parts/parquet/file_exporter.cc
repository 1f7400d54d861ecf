#include "cfile/parts/parquet/file_exporter.h"

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "cfile/core/format/value_summary.h"
#include "cfile/core/read/block_cursor.h"
#include "cfile/core/read/reader_access.h"
#include "cfile/parts/parquet/page_bytes.h"
#include "cfile/parts/parquet/source_block.h"
#include "cfile/parts/parquet/value_check.h"
#include "encodings/core/assert.h"
#include "encodings/core/status.h"
#include "encodings/hybrid/levels.h"
#include "encodings/parquet.h"
#include "encodings/parquet/page_codec.h"
#include "encodings/registry.h"

namespace cfile::internal {
namespace {

using encodings::AnyBlockEncoder;
using encodings::EncodedBlock;
using encodings::kMaxBatchValues;
using encodings::ValueSpan;

// A page whose values are encoded again has at most this many rows.
constexpr uint32_t kMostRecodedRows = 65536;
constexpr size_t kPlainHeaderBytes = 8;  // of a block with Kudu's PLAIN values of a fixed width

// What happens to the values of a block: their bytes are those of a page; the same after a header
// of kPlainHeaderBytes; they are codes of another form; or they must be encoded again.
enum class PageForm : uint8_t { kSame, kPlain, kCodes, kRecoded };

class BlockExporter final : public FileExporter {
 public:
  BlockExporter(SourceBlocks blocks, std::shared_ptr<const encodings::Dictionary> dictionary,
                const ColumnToExport& column, const ParquetExportOptions& options)
      : blocks_(std::move(blocks)),
        dictionary_(std::move(dictionary)),
        column_(column),
        options_(options),
        level_check_(*column.tree, column.leaf),
        values_(type(), {dictionary_}),
        value_check_(type()) {}

  absl::StatusOr<WrittenChunk> WriteChunk(uint64_t end, CountingSink& out,
                                          ParquetReport& report) override;

  bool keeps_categories() const override { return keeps_categories_; }
  const LevelCheck& levels() const override { return level_check_; }
  std::string_view bloom_filter() const override {
    const bool same = blocks_.statistics() != nullptr && column_.units_per_value == 1;
    return same ? std::string_view(blocks_.statistics()->bloom_filter) : "";
  }

 private:
  const ColumnType& type() const { return blocks_.info().type; }
  // True if blocks of codes keep their codes: dictionary_ then consists of values.
  bool has_codes() const {
    const bool of_values = dictionary_ != nullptr && encodings::HasCodes(blocks_.info().encoding);
    return of_values && type().physical() != PhysicalType::kBool;
  }
  // True if the pages of PLAIN hold the values as Kudu's PLAIN does.
  bool has_plain_pages() const {
    return encodings::VisitPhysicalType(type().physical(), [&]<typename T>(std::type_identity<T>) {
      return type().physical() != PhysicalType::kBytes && !std::is_same_v<T, int128_t> &&
             !encodings::kIsWidened<T>;
    });
  }
  // True if values must be checked or changed one by one.
  bool changes_values() const {
    return column_.units_per_value != 1 || (type().physical() == PhysicalType::kInt128 &&
                                            type().data_type != DataType::kDecimal128);
  }

  PageForm FormOf(Encoding encoding) const;
  // The encoding of values that were stored in a block of `encoding`.
  Encoding RecodedAs(Encoding encoding) const;

  // What the next column chunk needs.
  struct Needs {
    bool dictionary = false;  // the dictionary of the file
    bool recodes = false;
  };
  Needs NeedsOf(uint64_t end);

  absl::Status AdoptCategories();
  absl::Status WriteBlock(uint64_t end, ChunkWriter& chunk, ParquetReport& report);
  absl::Status OpenBlock();
  absl::Status CheckValues();
  absl::Status CopyPage(PageForm form, ChunkWriter& chunk);
  absl::Status WriteCodes(ChunkWriter& chunk);
  absl::Status Recode(ChunkWriter& chunk);
  absl::StatusOr<ValueSpan> Changed(ValueSpan values);
  absl::StatusOr<AnyBlockEncoder*> EncoderOf(Encoding encoding);
  BlockStatistics BlockBounds() const;
  // kInvalidArgument: readers of Parquet would refuse a value.
  absl::Status Writable(ValueSpan values) const {
    const absl::Status status = value_check_.Check(values, 0);
    return status.ok() ? status : absl::InvalidArgumentError(status.message());
  }

  SourceBlocks blocks_;
  const std::shared_ptr<const encodings::Dictionary> dictionary_;
  const ColumnToExport& column_;
  const ParquetExportOptions& options_;
  uint64_t row_ = 0;  // the next row to write

  // The current block and the levels of the current page.
  SourceBlock block_;
  bool is_open_ = false;  // values_ is at this block
  PageLevelReader level_reader_;
  PageLevels levels_;
  LevelCheck level_check_;
  BlockCursor values_;
  const ValueCheck value_check_;
  bool checked_dictionary_ = false;

  // The dictionary page of the file, compressed with the codec of the last chunk that needed it.
  std::optional<NewDictionaryPage> dictionary_page_;
  Compression dictionary_codec_ = Compression::kNone;
  uint32_t dictionary_size_ = 0;

  bool makes_dictionary_ = false;  // for the current chunk
  bool copies_codes_ = false;      // the codes in the file are also the codes of the categories
  bool keeps_categories_ = true;
  std::map<Encoding, std::unique_ptr<AnyBlockEncoder>> encoders_;
  EncodedBlock encoded_;
  const std::unique_ptr<AnySummary> summary_ = AnySummary::Create(type().physical());
  std::unique_ptr<std::byte[]> changed_;
  std::vector<uint32_t> codes_;
  ByteWriter code_bytes_;
};

PageForm BlockExporter::FormOf(Encoding encoding) const {
  const bool has_other_codes = column_.categories != nullptr && !copies_codes_;
  if (changes_values() || has_other_codes) return PageForm::kRecoded;
  const PageForm same = column_.same_pages ? PageForm::kSame : PageForm::kRecoded;
  switch (encoding) {
    case Encoding::kPlain:
      return column_.same_pages && has_plain_pages() ? PageForm::kPlain : PageForm::kRecoded;
    case Encoding::kDict:
      return has_codes() ? PageForm::kCodes : PageForm::kRecoded;
    case Encoding::kParquetPlainDictionary:
    case Encoding::kParquetDictionary:
      return has_codes() ? same : PageForm::kRecoded;
    case Encoding::kParquetPlain:
      return column_.categories == nullptr ? same : PageForm::kRecoded;
    case Encoding::kParquetRle:
    case Encoding::kParquetDeltaBinaryPacked:
      return same;
    case Encoding::kParquetDeltaLengthByteArray:
      return column_.plain_or_codes ? PageForm::kRecoded : same;
    case Encoding::kParquetDeltaByteArray:
    case Encoding::kParquetByteStreamSplit:
      // DuckDB and Polars do not read these encodings of FIXED_LEN_BYTE_ARRAY.
      return column_.plain_or_codes ||
                     column_.chunk.parquet_type == parquet::Type::kFixedLenByteArray
                 ? PageForm::kRecoded
                 : same;
    default:  // not Parquet's; GROUP_VAR_INT and ALP, which other readers do not have
      return PageForm::kRecoded;
  }
}

Encoding BlockExporter::RecodedAs(Encoding encoding) const {
  switch (type().physical()) {
    case PhysicalType::kBytes:
      if (column_.categories != nullptr) return Encoding::kParquetDictionary;
      if (column_.plain_or_codes) return Encoding::kParquetPlain;
      if (const encodings::EncodingRow* const row = encodings::FindEncoding(encoding);
          row != nullptr && row->front_codes)
        return Encoding::kParquetDeltaByteArray;
      return makes_dictionary_ ? Encoding::kParquetDictionary
                               : Encoding::kParquetDeltaLengthByteArray;
    case PhysicalType::kBool:
      return encoding == Encoding::kRle ? Encoding::kParquetRle : Encoding::kParquetPlain;
    case PhysicalType::kInt128:
    case PhysicalType::kInt96:
    case PhysicalType::kFloat:
    case PhysicalType::kDouble:
    case PhysicalType::kFixedBytes:
      return Encoding::kParquetPlain;
    default:  // the integers of at most 8 bytes
      return Encoding::kParquetDeltaBinaryPacked;
  }
}

BlockExporter::Needs BlockExporter::NeedsOf(uint64_t end) {
  Needs needs;
  const bool known = blocks_.VisitEncodings(end, [&](Encoding encoding) {
    const PageForm form = FormOf(encoding);
    needs.recodes |= form == PageForm::kRecoded;
    const encodings::EncodingRow* const row = encodings::FindEncoding(encoding);
    needs.dictionary |= row != nullptr && row->has_codes && form != PageForm::kRecoded;
  });
  if (!known) needs = {.dictionary = has_codes() && !changes_values(), .recodes = true};
  return needs;
}

absl::StatusOr<WrittenChunk> BlockExporter::WriteChunk(uint64_t end, CountingSink& out,
                                                       ParquetReport& report) {
  CFILE_ASSERT(row_ < end);
  level_check_.Begin();
  encoders_.erase(Encoding::kParquetDictionary);
  if (column_.categories != nullptr) CFILE_RETURN_IF_ERROR(AdoptCategories());
  const Needs needs = NeedsOf(end);
  Compression codec = options_.compression;
  if (codec == Compression::kDefault) {
    codec = CodecOfPages(blocks_.info().compression);
    // Pages of version 1 are compressed all or not at all. In other cases, pages that lose their
    // encoding should not become much larger.
    if (codec == Compression::kNone && needs.recodes && options_.data_page_v2) codec = UsualCodec();
  }
  // With plain_or_codes, an encoder of codes could choose another encoding.
  makes_dictionary_ =
      column_.categories != nullptr || (needs.recodes && !has_codes() && !column_.plain_or_codes &&
                                        type().physical() == PhysicalType::kBytes);
  ChunkWriter chunk(column_.chunk, options_, codec, makes_dictionary_, out, report);
  if (needs.dictionary && !makes_dictionary_) {
    if (!dictionary_page_ || dictionary_codec_ != codec) {
      ByteWriter plain;
      dictionary_size_ = PutDictionary(*dictionary_, type().physical(), plain);
      CFILE_ASSIGN_OR_RETURN(dictionary_page_,
                             chunk.CompressDictionary(dictionary_size_, plain.span()));
      dictionary_codec_ = codec;
    }
    CFILE_RETURN_IF_ERROR(chunk.WriteDictionary(*dictionary_page_));
  }
  while (row_ < end) CFILE_RETURN_IF_ERROR(WriteBlock(end, chunk, report));
  if (!makes_dictionary_) return chunk.Finish();
  const auto encoder = encoders_.find(Encoding::kParquetDictionary);
  ByteWriter block;
  if (encoder == encoders_.end() || !encoder->second->FinishDictionary(block))
    return chunk.Finish();
  encodings::ByteReader reader(block.span());
  uint32_t count = 0;
  const bool counted = reader.ReadVint32(count);
  CFILE_ASSERT(counted);
  if (column_.categories != nullptr)
    keeps_categories_ &= HasValues(*column_.categories, reader.rest());
  CFILE_ASSIGN_OR_RETURN(const NewDictionaryPage page,
                         chunk.CompressDictionary(count, reader.rest()));
  return chunk.Finish(&page);
}

// Begins the dictionary of a chunk with the categories.
absl::Status BlockExporter::AdoptCategories() {
  CFILE_ASSIGN_OR_RETURN(const auto encoder, EncoderOf(Encoding::kParquetDictionary));
  std::vector<uint32_t> codes;
  const bool adopted = encoder->AdoptDictionary(*column_.categories, codes) && codes.empty();
  keeps_categories_ &= adopted;
  ByteWriter own;
  if (has_codes()) PutDictionary(*dictionary_, type().physical(), own);
  copies_codes_ = adopted && has_codes() && HasValues(*column_.categories, own.span());
  return absl::OkStatus();
}

// Writes the rows of the current block from row_ on, but not those from `end` on.
absl::Status BlockExporter::WriteBlock(uint64_t end, ChunkWriter& chunk, ParquetReport& report) {
  CFILE_RETURN_IF_ERROR(blocks_.Load(block_));
  is_open_ = false;
  const PageForm form = FormOf(block_.levels.values.encoding);
  const DataBlock& parts = block_.levels.values;
  // If the values can be copied as they are, the head has all counts.
  const bool may_copy_compressed = form == PageForm::kSame && block_.compressed &&
                                   block_.codec == chunk.codec() && chunk.takes_compressed() &&
                                   !options_.check_values;
  const auto in_block = [&](const absl::Status& status) { return blocks_.InThisBlock(status); };
  if (!may_copy_compressed || !parts.present_count) CFILE_RETURN_IF_ERROR(in_block(OpenBlock()));
  const uint32_t present = is_open_ ? values_.num_present() : *parts.present_count;
  const bool required = !blocks_.info().has_levels() && !blocks_.info().nullable;
  const uint32_t num_rows = required ? present : block_.levels.num_records;
  const uint64_t begin = blocks_.first_row();
  if (num_rows == 0) return in_block(encodings::DataLoss("a data block has no rows"));
  CFILE_RETURN_IF_ERROR(in_block(CheckEndOrdinal(begin + num_rows, blocks_.info().num_rows)));
  CFILE_RETURN_IF_ERROR(
      in_block(level_reader_.Open(block_.levels, blocks_.info(), num_rows, present)));
  if (row_ == begin) report.bytes_in += block_.stored_bytes;

  if (row_ > begin) {
    const auto done = static_cast<uint32_t>(row_ - begin);
    CFILE_RETURN_IF_ERROR(in_block(level_reader_.Next(done, levels_)));
  }
  const auto next_rows = [&](uint64_t count) -> absl::Status {
    CFILE_RETURN_IF_ERROR(level_reader_.Next(static_cast<uint32_t>(count), levels_));
    return level_check_.Add(levels_.repetition.span(), levels_.definition.span(),
                            levels_.num_entries);
  };
  const uint64_t stop = std::min(end, begin + num_rows);
  const bool whole = row_ == begin && stop == begin + num_rows;
  if (whole && (form == PageForm::kSame || form == PageForm::kPlain)) {
    CFILE_RETURN_IF_ERROR(in_block(next_rows(num_rows)));
    CFILE_RETURN_IF_ERROR(in_block(CopyPage(form, chunk)));
  } else {
    if (!is_open_) CFILE_RETURN_IF_ERROR(in_block(OpenBlock()));
    const bool codes = form != PageForm::kRecoded && !values_.DictionaryValues().empty();
    for (uint64_t row = row_; row < stop;) {
      const uint64_t count = codes ? stop - row : std::min<uint64_t>(stop - row, kMostRecodedRows);
      CFILE_RETURN_IF_ERROR(in_block(next_rows(count)));
      CFILE_RETURN_IF_ERROR(in_block(codes ? WriteCodes(chunk) : Recode(chunk)));
      row += count;
    }
  }
  row_ = stop;
  if (stop < begin + num_rows) return absl::OkStatus();
  return blocks_.Next(num_rows);
}

absl::Status BlockExporter::OpenBlock() {
  CFILE_RETURN_IF_ERROR(blocks_.Uncompress(block_));
  CFILE_RETURN_IF_ERROR(values_.Open(block_.levels.values, blocks_.first_row()));
  is_open_ = true;
  if (values_.DictionaryValues().empty() || std::exchange(checked_dictionary_, true))
    return absl::OkStatus();
  return Writable(values_.DictionaryValues());
}

// Checks all values of the open block that Open has not checked.
absl::Status BlockExporter::CheckValues() {
  const Encoding encoding = values_.encoding();
  const bool fixed_width = type().physical() != PhysicalType::kBytes;
  // For these encodings, Open compares the number of bytes with the number of values.
  if (encoding == Encoding::kPlain || encoding == Encoding::kParquetByteStreamSplit ||
      (encoding == Encoding::kParquetPlain && fixed_width)) {
    if (!value_check_.checks()) return absl::OkStatus();
  }
  const bool codes = !values_.DictionaryValues().empty();
  for (uint32_t left = values_.num_present(); left > 0;) {
    size_t count = 0;
    if (codes) {
      CFILE_ASSIGN_OR_RETURN(const Batch<uint32_t> batch, values_.NextCodes(left));
      count = batch.size();
    } else {
      CFILE_ASSIGN_OR_RETURN(const AnyBatch batch, values_.Next(left));
      CFILE_RETURN_IF_ERROR(Writable({batch.values, batch.count}));
      count = batch.size();
    }
    left -= static_cast<uint32_t>(count);
  }
  return absl::OkStatus();
}

// Returns the bounds of the current block's values. They are bounds, too, of a part of the block.
BlockStatistics BlockExporter::BlockBounds() const {
  return block_.statistics == nullptr ? BlockStatistics() : *block_.statistics;
}

// Writes a page of all values of the block, without encoding them again.
absl::Status BlockExporter::CopyPage(PageForm form, ChunkWriter& chunk) {
  if (is_open_) CFILE_RETURN_IF_ERROR(CheckValues());
  NewPage page{.levels = &levels_, .statistics = BlockBounds()};
  // Readers refuse some encodings without values.
  if (levels_.num_values == 0) {
    page.encoding = Encoding::kParquetPlain;
    return chunk.WritePage(page);
  }
  page.encoding = block_.levels.values.encoding;
  if (form == PageForm::kPlain) page.encoding = Encoding::kParquetPlain;
  if (page.encoding == Encoding::kParquetPlainDictionary)
    page.encoding = Encoding::kParquetDictionary;
  const bool copies_compressed = form == PageForm::kSame && block_.compressed &&
                                 block_.codec == chunk.codec() && chunk.takes_compressed();
  if (copies_compressed) {
    page.values = block_.stored_values;
    page.uncompressed_size = block_.values_size;
    return chunk.WritePage(page);
  }
  page.values = block_.levels.values.values;
  if (form == PageForm::kPlain) page.values = page.values.subspan(kPlainHeaderBytes);
  page.recompressed = block_.compressed || block_.was_compressed;
  // The block was not worth compressing with this codec, or should not be compressed.
  page.compress = page.recompressed || (options_.compression != Compression::kDefault &&
                                        CodecOfPages(blocks_.info().compression) != chunk.codec());
  return chunk.WritePage(page);
}

// Writes a page of the codes of the current values.
absl::Status BlockExporter::WriteCodes(ChunkWriter& chunk) {
  CFILE_RETURN_IF_ERROR(values_.SeekToRow(levels_.first_value));
  codes_.clear();
  for (uint32_t left = levels_.num_values; left > 0;) {
    CFILE_ASSIGN_OR_RETURN(const Batch<uint32_t> batch, values_.NextCodes(left));
    codes_.insert(codes_.end(), batch.values.begin(), batch.values.end());
    left -= static_cast<uint32_t>(batch.size());
  }
  const auto size = static_cast<uint32_t>(values_.DictionaryValues().count);
  code_bytes_.Clear();
  encodings::PutIndexes<uint32_t>(codes_, std::max(1, encodings::LevelWidth(size - 1)),
                                  code_bytes_);
  const bool whole = levels_.num_rows == level_reader_.num_rows();
  return chunk.WritePage({.levels = &levels_,
                          .encoding = Encoding::kParquetDictionary,
                          .values = code_bytes_.span(),
                          .statistics = BlockBounds(),
                          .is_part_of_block = !whole,
                          .recoded = true});
}

// Decodes the current values, and writes a page of them.
absl::Status BlockExporter::Recode(ChunkWriter& chunk) {
  // Without values there may be no dictionary.
  const Encoding encoding =
      levels_.num_values == 0 ? Encoding::kParquetPlain : RecodedAs(values_.encoding());
  CFILE_ASSIGN_OR_RETURN(AnyBlockEncoder* const encoder, EncoderOf(encoding));
  CFILE_RETURN_IF_ERROR(values_.SeekToRow(levels_.first_value));
  summary_->Clear();
  for (uint32_t left = levels_.num_values; left > 0;) {
    CFILE_ASSIGN_OR_RETURN(const AnyBatch batch, values_.Next(left));
    ValueSpan values(batch.values, batch.count);
    if (values_.DictionaryValues().empty()) CFILE_RETURN_IF_ERROR(Writable(values));
    if (changes_values()) {
      CFILE_ASSIGN_OR_RETURN(values, Changed(values));
    }
    summary_->AddAny(values);
    if (encoder->AppendAny(values) < values.count) {
      return OutOfRange(levels_.num_rows, " rows take more bytes than a page may have, ",
                        encodings::parquet::kMaxPageBytes);
    }
    left -= static_cast<uint32_t>(batch.size());
  }
  encoder->Finish(/*first_ordinal=*/0, encoded_);
  keeps_categories_ &= levels_.num_values == 0 || encoded_.encoding == Encoding::kAuto;
  return chunk.WritePage(
      {.levels = &levels_,
       .encoding = encoded_.encoding == Encoding::kAuto ? encoding : encoded_.encoding,
       .values = encoded_.bytes.span(),
       .statistics = summary_->Statistics(levels_.num_entries - levels_.num_values),
       .recoded = true});
}

// Stores `values`, seconds, in the unit of Parquet in `changed`, and returns this.
template <typename T>
absl::StatusOr<ValueSpan> InUnits(std::span<const T> values, int64_t units_per_value,
                                  void* changed) {
  for (size_t i = 0; i < values.size(); ++i) {
    if (__builtin_mul_overflow(values[i], units_per_value, static_cast<T*>(changed) + i)) {
      return absl::InvalidArgumentError(encodings::StrCat(
          values[i], " seconds are too many for milliseconds, and Parquet has no seconds"));
    }
  }
  return ValueSpan(changed, values.size());
}

// Returns the values as they are in Parquet. Valid until the next call. Precondition:
// changes_values().
absl::StatusOr<ValueSpan> BlockExporter::Changed(ValueSpan values) {
  if (type().physical() == PhysicalType::kInt128) {
    constexpr int128_t kMost = [] {
      int128_t power = 1;
      for (int digit = 0; digit < 38; ++digit) power *= 10;
      return power - 1;
    }();
    for (const int128_t value : values.As<int128_t>()) {
      if (value > kMost || value < -kMost) {
        return absl::InvalidArgumentError(
            "an int128 has more than 38 digits, the most that a decimal of Parquet may have");
      }
    }
    return values;
  }
  CFILE_ASSERT(values.count <= kMaxBatchValues);
  if (changed_ == nullptr) {
    changed_ = std::make_unique_for_overwrite<std::byte[]>(kMaxBatchValues * sizeof(int64_t));
  }
  return type().physical() == PhysicalType::kInt32
             ? InUnits(values.As<int32_t>(), column_.units_per_value, changed_.get())
             : InUnits(values.As<int64_t>(), column_.units_per_value, changed_.get());
}

absl::StatusOr<AnyBlockEncoder*> BlockExporter::EncoderOf(Encoding encoding) {
  auto& encoder = encoders_[encoding];
  if (encoder != nullptr) return encoder.get();
  const encodings::EncoderOptions options = {
      .block_size_bytes = size_t{encodings::parquet::kMaxPageBytes},
      .type_length = type().type_length,
      .skip_tables = false};
  CFILE_ASSIGN_OR_RETURN(encoder, encodings::MakeAnyEncoder(encoding, type().physical(), options));
  return encoder.get();
}

}  // namespace

absl::StatusOr<std::unique_ptr<FileExporter>> FileExporter::Create(
    const Reader& reader, const ColumnToExport& column, const ParquetExportOptions& options) {
  const std::shared_ptr<FileReader>& file = ReaderAccess::File(reader);
  CFILE_ASSIGN_OR_RETURN(SourceBlocks blocks, SourceBlocks::Open(file));
  CFILE_ASSIGN_OR_RETURN(auto dictionary, file->Dictionary());
  return std::make_unique<BlockExporter>(std::move(blocks), std::move(dictionary), column, options);
}

}  // namespace cfile::internal
