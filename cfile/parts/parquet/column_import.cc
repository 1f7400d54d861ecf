#include "cfile/parts/parquet/column_import.h"

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include "cfile/core/io/named_status.h"
#include "cfile/parts/parquet/page_copier.h"
#include "cfile/parts/parquet/page_reader.h"
#include "cfile/parts/parquet/value_check.h"
#include "cfile/parts/parquet/value_conversion.h"
#include "encodings/parquet.h"
#include "encodings/registry.h"

namespace cfile::internal {
namespace {

using encodings::AnyBlockDecoder;
using encodings::DataLoss;
using encodings::DecoderOptions;
using encodings::Dictionary;
using encodings::StrCat;
using encodings::ValueSpan;
using parquet::PageType;
using parquet::SchemaElement;
using parquet::Type;

// Rows or entries that are passed to a writer at once.
constexpr size_t kBatch = 16384;

// The type of the values in the pages of a leaf.
struct PageValues {
  PhysicalType type;
  uint32_t type_length;
};

PageValues ValuesOf(const SchemaElement& leaf, const ColumnImportPlan& plan) {
  if (plan.leaf.same_pages) return {plan.column.type.physical(), plan.column.type.type_length};
  const DataType unsigned_type = plan.file_type.data_type;
  if (unsigned_type == DataType::kUint64) return {PhysicalType::kUint64, 0};
  if (unsigned_type == DataType::kUint8 || unsigned_type == DataType::kUint16 ||
      unsigned_type == DataType::kUint32) {
    return {PhysicalType::kUint32, 0};
  }
  if (*leaf.type == Type::kFixedLenByteArray)
    return {PhysicalType::kFixedBytes, static_cast<uint32_t>(*leaf.type_length)};
  // In the order of the types' numbers.
  constexpr PhysicalType kTypes[] = {
      PhysicalType::kBool,  PhysicalType::kInt32,  PhysicalType::kInt64, PhysicalType::kInt96,
      PhysicalType::kFloat, PhysicalType::kDouble, PhysicalType::kBytes};
  return {kTypes[*leaf.type], 0};
}

class PagesImport final : public ColumnImport {
 public:
  explicit PagesImport(const ColumnImportPlan& plan)
      : plan_(plan),
        leaf_(plan.metadata->file.schema[plan.leaf.element]),
        values_type_(ValuesOf(leaf_, plan)),
        pages_(*plan.source, plan.metadata->offset, plan.reader, plan.max_page_size_bytes),
        level_check_(plan.tree == nullptr ? LevelCheck()
                                          : LevelCheck(*plan.tree, plan.leaf.column)),
        value_check_(plan.column.type),
        lane_(encodings::LaneOf(plan.column.type.physical())),
        convert_(plan.only_nulls        ? RefuseValues
                 : plan.leaf.same_pages ? nullptr
                                        : ConversionOf(values_type_.type, plan.column.type)),
        values_(NewValues(encodings::LaneOf(values_type_.type))) {}

  absl::Status Import(const parquet::ColumnChunk& chunk, uint64_t num_rows, TableWriter& writer,
                      ParquetReport& report) override {
    absl::Status status = ImportChunk(chunk, num_rows, writer, report);
    if (status.ok()) return status;
    return WithMessage(
        status, StrCat(plan_.source->name(), ": column ", plan_.name, ": ", status.message()));
  }

  const LevelCheck& levels() const override { return level_check_; }

 private:
  static std::unique_ptr<std::byte[]> NewValues(encodings::Lane lane) {
    return std::make_unique_for_overwrite<std::byte[]>(kBatch * encodings::WidthOf(lane));
  }

  LevelLimits limits() const {
    return {.max_repetition = plan_.leaf.max_repetition,
            .max_definition = plan_.leaf.max_definition};
  }

  absl::Status ImportChunk(const parquet::ColumnChunk& chunk, uint64_t num_rows,
                           TableWriter& writer, ParquetReport& report) {
    CFILE_ASSIGN_OR_RETURN(const uint64_t begin, CheckChunk(chunk));
    const parquet::ColumnMetaData& info = *chunk.meta_data;
    CFILE_RETURN_IF_ERROR(CompressionFromParquet(info.codec).status());
    to_ = &TableWriterAccess::Column(writer, plan_.table_column);
    writer_ = &writer;
    report_ = &report;
    opener_ = std::make_unique<PageOpener>(info.codec, limits());
    opener_of_waiting_ = std::make_unique<PageOpener>(info.codec, limits());
    copier_.emplace(plan_, info.codec, *to_);
    dictionary_ = nullptr;
    checked_dictionary_ = false;
    adopted_.reset();
    decoders_.erase(Encoding::kParquetDictionary);
    decoders_.erase(Encoding::kParquetPlainDictionary);
    rows_ = entries_ = 0;
    record_is_open_ = false;
    level_check_.Begin();
    pages_.Seek(begin);
    const auto num_entries = static_cast<uint64_t>(info.num_values);
    StoredPage stored;
    std::optional<DataPage> waiting;  // until the first level of the next page is known
    while (entries_ < num_entries) {
      CFILE_RETURN_IF_ERROR(pages_.Next(stored));
      report.bytes_in += stored.bytes.size();
      DataPage page;
      CFILE_RETURN_IF_ERROR(AtPage(stored.offset, OpenPage(stored, num_entries - entries_, page)));
      if (page.num_entries == 0) continue;
      entries_ += page.num_entries;
      if (waiting) {
        waiting->ends_record = page.begins_record;
        CFILE_RETURN_IF_ERROR(AtPage(waiting->offset, ImportPage(*waiting)));
        waiting.reset();
      }
      if (page.ends_record) {
        CFILE_RETURN_IF_ERROR(AtPage(page.offset, ImportPage(page)));
      } else {
        waiting = page;
        std::swap(opener_, opener_of_waiting_);
      }
    }
    if (waiting) {
      waiting->ends_record = true;
      CFILE_RETURN_IF_ERROR(AtPage(waiting->offset, ImportPage(*waiting)));
    }
    if (rows_ == num_rows) return absl::OkStatus();
    return DataLoss("the pages hold ", rows_, " rows, but the row group has ", num_rows);
  }

  // Returns the offset of the first page.
  absl::StatusOr<uint64_t> CheckChunk(const parquet::ColumnChunk& chunk) const {
    if (chunk.file_path.has_value() && !chunk.file_path->empty()) {
      return absl::UnimplementedError(StrCat("the pages are in another file, ", *chunk.file_path));
    }
    if (!chunk.meta_data) return DataLoss("the column chunk has no metadata");
    const parquet::ColumnMetaData& info = *chunk.meta_data;
    if (info.type != *leaf_.type)
      return DataLoss("the schema says type ", *leaf_.type, ", the column chunk ", info.type);
    if (info.num_values < 0) return DataLoss("the column chunk has ", info.num_values, " values");
    // Without pages, pyarrow stores 0 as their offset.
    if (info.num_values == 0) return uint64_t{parquet::kMagicBytes};
    // Some writers store 0 if there is no dictionary.
    int64_t begin = info.data_page_offset;
    const int64_t dictionary = info.dictionary_page_offset.value_or(0);
    if (dictionary > 0) begin = std::min(begin, dictionary);
    if (begin < static_cast<int64_t>(parquet::kMagicBytes) ||
        static_cast<uint64_t>(begin) > plan_.metadata->offset) {
      return DataLoss("the first page is at offset ", begin, ", expected ", parquet::kMagicBytes,
                      " to ", plan_.metadata->offset);
    }
    return static_cast<uint64_t>(begin);
  }

  static absl::Status AtPage(uint64_t offset, const absl::Status& status) {
    if (status.ok()) return status;
    return WithMessage(status, StrCat("page at offset ", offset, ": ", status.message()));
  }

  // Opens a data page, or reads a dictionary page. After other pages, `page` has no entries.
  absl::Status OpenPage(const StoredPage& stored, uint64_t most_entries, DataPage& page) {
    switch (stored.header.type) {
      case PageType::kDictionaryPage:
        return ReadDictionary(stored);
      case PageType::kDataPage:
      case PageType::kDataPageV2:
        break;
      default:
        return absl::OkStatus();  // an index page, or one of a later version of Parquet
    }
    CFILE_RETURN_IF_ERROR(opener_->Open(stored, page));
    if (page.num_entries <= most_entries) return absl::OkStatus();
    return DataLoss("the page has ", page.num_entries, " values, but only ", most_entries,
                    " are left in the column chunk");
  }

  absl::Status ImportPage(const DataPage& page) {
    if (!page.begins_record && !record_is_open_)
      return DataLoss("the page continues a record, but no record is open");
    CFILE_RETURN_IF_ERROR(level_check_.Add(page.repetition, page.definition, page.num_entries));
    const uint64_t rows_before = RowsIn(*to_);
    CFILE_ASSIGN_OR_RETURN(AnyBlockDecoder* const decoder, DecoderOf(page.encoding));
    if (HasCodes(page) && convert_ == nullptr && !std::exchange(checked_dictionary_, true)) {
      const absl::Status status = value_check_.Check(decoder->AnyDictionaryValues(), 0);
      if (!status.ok()) return WithMessage(status, StrCat("dictionary: ", status.message()));
    }
    bool copied = false;
    if (copier_->MayCopy(page) && (!HasCodes(page) || Adopts())) {
      CFILE_ASSIGN_OR_RETURN(copied, copier_->Copy(page, *decoder, new_codes_, *report_));
    }
    if (!copied) {
      CFILE_RETURN_IF_ERROR(plan_.column.has_levels() ? RecodeEntries(page, *decoder)
                                                      : RecodeRows(page, *decoder));
      ++report_->recoded_pages;
    }
    record_is_open_ = !copied;
    rows_ += RowsIn(*to_) - rows_before;
    return absl::OkStatus();
  }
  static uint64_t RowsIn(const AnyWriter& writer) { return writer.totals().num_rows; }

  static bool HasCodes(const DataPage& page) {
    return page.encoding == Encoding::kParquetDictionary ||
           page.encoding == Encoding::kParquetPlainDictionary;
  }

  // True if the values of the chunk's dictionary are in the dictionary of the column's file.
  bool Adopts() {
    if (!adopted_)
      adopted_ = dictionary_ != nullptr && to_->AdoptDictionary(*dictionary_, new_codes_);
    return *adopted_;
  }

  absl::Status ReadDictionary(const StoredPage& stored) {
    if (!stored.header.dictionary_page_header)
      return DataLoss("the header of a dictionary page lacks its fields");
    const parquet::DictionaryPageHeader& header = *stored.header.dictionary_page_header;
    if (dictionary_ != nullptr) return DataLoss("the column chunk has a second dictionary page");
    if (entries_ > 0) return DataLoss("the dictionary page comes after data pages");
    if (header.num_values < 0) return DataLoss("a dictionary of ", header.num_values, " values");
    if (header.encoding != parquet::Encoding::kPlain &&
        header.encoding != parquet::Encoding::kPlainDictionary) {
      return absl::UnimplementedError(
          StrCat("encoding ", header.encoding, " of a dictionary page is unknown"));
    }
    std::span<const uint8_t> bytes;
    CFILE_RETURN_IF_ERROR(opener_->OpenDictionary(stored, bytes));
    CFILE_ASSIGN_OR_RETURN(dictionary_, encodings::ReadParquetDictionaryPage(
                                            values_type_.type, values_type_.type_length,
                                            static_cast<uint64_t>(header.num_values), bytes,
                                            plan_.reader.max_dictionary_values));
    return absl::OkStatus();
  }

  absl::StatusOr<AnyBlockDecoder*> DecoderOf(Encoding encoding) {
    std::unique_ptr<AnyBlockDecoder>& decoder = decoders_[encoding];
    if (decoder == nullptr) {
      CFILE_RETURN_IF_ERROR(encodings::parquet::CheckEncoding(encoding));
      CFILE_ASSIGN_OR_RETURN(decoder, encodings::MakeAnyDecoder(
                                          encoding, values_type_.type,
                                          DecoderOptions(values_type_.type_length, dictionary_)));
    }
    return decoder.get();
  }

  static absl::Status Open(AnyBlockDecoder& decoder, const DataPage& page, uint64_t present) {
    encodings::BlockView view(page.values);
    view.count = static_cast<uint32_t>(present);
    return decoder.Open(view);
  }

  // Returns the next 1 to `most` values of the column, valid until the next call.
  absl::StatusOr<ValueSpan> ReadValues(AnyBlockDecoder& decoder, size_t most) {
    most = std::min(most, kBatch);
    ValueSpan values = decoder.BorrowAny(most);
    if (values.empty()) {
      CFILE_ASSIGN_OR_RETURN(const size_t read, decoder.ReadAny(values_.get(), most));
      if (read == 0) return DataLoss("the values end before their last one");
      values = {values_.get(), read};
    }
    const uint64_t first = decoder.position() - values.count;
    if (convert_ != nullptr) {
      if (converted_ == nullptr) converted_ = NewValues(lane_);
      CFILE_RETURN_IF_ERROR(convert_(values, first, converted_.get()));
      values.data = converted_.get();
    } else if (!decoder.AnyDictionaryValues().empty()) {
      return values;  // ImportPage has checked them
    }
    CFILE_RETURN_IF_ERROR(value_check_.Check(values, first));
    return values;
  }

  // Appends the rows of a column without levels.
  absl::Status RecodeRows(const DataPage& page, AnyBlockDecoder& decoder) {
    encodings::ValidityDecoder validity;
    uint32_t present = page.num_entries;
    if (plan_.leaf.max_definition > 0) {
      CFILE_RETURN_IF_ERROR(validity.Open(page.definition, page.num_entries));
      CFILE_ASSIGN_OR_RETURN(present, validity.SeekTo(page.num_entries));
    }
    CFILE_RETURN_IF_ERROR(Open(decoder, page, present));
    const size_t column = plan_.table_column;
    if (present == page.num_entries) {
      while (decoder.position() < present) {
        CFILE_ASSIGN_OR_RETURN(const auto values,
                               ReadValues(decoder, present - decoder.position()));
        CFILE_RETURN_IF_ERROR(TableWriterAccess::Append(
            *writer_, column, AnyBatch{.values = values.data, .count = values.count}));
      }
      return absl::OkStatus();
    }
    if (rows_buffer_ == nullptr) rows_buffer_ = NewValues(lane_);
    for (uint32_t row = 0; row < page.num_entries;) {
      uint8_t bits[kBatch / 8];
      auto count = static_cast<uint32_t>(std::min<size_t>(page.num_entries - row, kBatch));
      CFILE_RETURN_IF_ERROR(validity.SeekTo(row).status());
      CFILE_ASSIGN_OR_RETURN(const uint32_t ones, validity.Read(count, bits));
      ValueSpan values;
      if (ones > 0) {
        CFILE_ASSIGN_OR_RETURN(values, ReadValues(decoder, ones));
      }
      // The decoder may return fewer values: then append only the rows before the next value.
      if (values.count < ones)
        count = static_cast<uint32_t>(encodings::PositionOfOne(bits, 0, values.count));
      encodings::SpreadValues(lane_, values.data, bits, count, rows_buffer_.get());
      CFILE_RETURN_IF_ERROR(TableWriterAccess::Append(
          *writer_, column,
          AnyBatch{.values = rows_buffer_.get(), .count = count, .validity = bits}));
      row += count;
    }
    return absl::OkStatus();
  }

  // Appends the entries of a column with levels.
  absl::Status RecodeEntries(const DataPage& page, AnyBlockDecoder& decoder) {
    const LevelBlock block{.repetition = page.repetition, .definition = page.definition};
    repetition_.resize(kBatch);
    definition_.resize(kBatch);
    uint64_t present = 0;
    for (const bool counts : {true, false}) {
      levels_.Open(block, limits());
      if (!counts) CFILE_RETURN_IF_ERROR(Open(decoder, page, present));
      for (uint32_t entry = 0; entry < page.num_entries;) {
        const size_t count = std::min<size_t>(page.num_entries - entry, kBatch);
        CFILE_RETURN_IF_ERROR(levels_.Read(repetition_.data(), definition_.data(), count));
        if (entries_ + entry == 0 && limits().max_repetition > 0 && repetition_[0] != 0)
          return DataLoss("a column chunk begins with repetition level ", repetition_[0]);
        if (counts) {
          present += encodings::CountLevels(definition_.data(), count, limits().max_definition);
        } else {
          CFILE_RETURN_IF_ERROR(AppendEntries(count, decoder));
        }
        entry += static_cast<uint32_t>(count);
      }
    }
    return absl::OkStatus();
  }

  // Appends `count` entries, whose levels are in repetition_ and definition_.
  absl::Status AppendEntries(size_t count, AnyBlockDecoder& decoder) {
    const uint16_t most = limits().max_definition;
    for (size_t begin = 0; begin < count;) {
      const size_t wanted = encodings::CountLevels(&definition_[begin], count - begin, most);
      ValueSpan values;
      if (wanted > 0) {
        CFILE_ASSIGN_OR_RETURN(values, ReadValues(decoder, wanted));
      }
      size_t end = count;
      if (values.count < wanted) {
        end = begin;
        for (size_t left = values.count; left > 0 || definition_[end] != most; ++end)
          left -= definition_[end] == most;
      }
      const auto levels = [&](const std::vector<uint16_t>& all, uint16_t maximum) {
        return maximum == 0 ? std::span<const uint16_t>()
                            : std::span<const uint16_t>(&all[begin], end - begin);
      };
      CFILE_RETURN_IF_ERROR(TableWriterAccess::Append(
          *writer_, plan_.table_column,
          AnyLevelBatch{.repetition = levels(repetition_, limits().max_repetition),
                        .definition = levels(definition_, most),
                        .values = values}));
      begin = end;
    }
    return absl::OkStatus();
  }

  const ColumnImportPlan& plan_;
  const SchemaElement& leaf_;
  const PageValues values_type_;
  PageReader pages_;
  LevelCheck level_check_;

  // The column chunk that is imported.
  TableWriter* writer_ = nullptr;
  AnyWriter* to_ = nullptr;
  ParquetReport* report_ = nullptr;
  std::unique_ptr<PageOpener> opener_;
  std::unique_ptr<PageOpener> opener_of_waiting_;
  std::optional<PageCopier> copier_;
  std::shared_ptr<const Dictionary> dictionary_;
  bool checked_dictionary_ = false;  // value_check_ has seen the values of dictionary_
  std::optional<bool> adopted_;      // see Adopts
  std::vector<uint32_t> new_codes_;  // for each code in dictionary_; empty: the codes are the same
  std::map<Encoding, std::unique_ptr<AnyBlockDecoder>> decoders_;
  uint64_t entries_ = 0;
  uint64_t rows_ = 0;
  bool record_is_open_ = false;  // the next page may continue the last record

  const ValueCheck value_check_;
  const encodings::Lane lane_;  // of the column
  const Conversion convert_;    // from the values of pages; null: the column has the same values
  const std::unique_ptr<std::byte[]> values_;  // kBatch values of pages
  std::unique_ptr<std::byte[]> converted_;     // kBatch values of the column
  std::unique_ptr<std::byte[]> rows_buffer_;   // kBatch rows, if a page has nulls
  LevelDecoder levels_;
  std::vector<uint16_t> repetition_;
  std::vector<uint16_t> definition_;
};

}  // namespace

std::unique_ptr<ColumnImport> NewColumnImport(const ColumnImportPlan& plan) {
  return std::make_unique<PagesImport>(plan);
}

}  // namespace cfile::internal
