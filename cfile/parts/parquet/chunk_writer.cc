#include "cfile/parts/parquet/chunk_writer.h"

#include <algorithm>
#include <array>
#include <set>

#include "cfile/core/format/compress.h"
#include "cfile/parts/parquet/bounds.h"
#include "cfile/parts/parquet/metadata/file_metadata.h"
#include "cfile/parts/parquet/page_bytes.h"
#include "encodings/core/assert.h"
#include "encodings/core/status.h"
#include "encodings/parquet.h"

namespace cfile::internal {
namespace {

using Pieces = std::span<const std::span<const uint8_t>>;

// Returns whether compression saves enough to be worth the time to decompress the page.
bool WorthCompressing(size_t compressed, size_t size) { return compressed <= size / 10 * 9; }

// The level of zstd.
constexpr int kLevel = 1;

size_t SizeOf(Pieces pieces) {
  size_t size = 0;
  for (const auto piece : pieces) size += piece.size();
  return size;
}

absl::Status CheckPageSize(size_t size) {
  if (size <= encodings::parquet::kMaxPageBytes) return absl::OkStatus();
  return OutOfRange("a page would have ", size, " bytes, but Parquet's pages have at most ",
                    encodings::parquet::kMaxPageBytes);
}

}  // namespace

absl::Status CountingSink::Append(std::span<const uint8_t> bytes) {
  if (bytes.empty()) return absl::OkStatus();
  offset_ += bytes.size();
  return sink_.Append(bytes);
}

ChunkWriter::ChunkWriter(const ChunkColumn& column, const ParquetExportOptions& options,
                         Compression codec, bool holds_pages, CountingSink& out,
                         ParquetReport& report)
    : column_(column),
      options_(options),
      codec_(codec),
      holds_pages_(holds_pages),
      out_(out),
      report_(report) {
  CFILE_ASSERT(CompressionToParquet(codec).has_value());
}

absl::Status ChunkWriter::Put(const parquet::PageHeader& header, Pieces pieces) {
  const std::string bytes = parquet::WritePageHeader(header);
  const auto put = [&](std::span<const uint8_t> piece) {
    if (!holds_pages_) return out_.Append(piece);
    held_.PutBytes(piece);
    return absl::OkStatus();
  };
  stored_bytes_ += static_cast<int64_t>(bytes.size() + SizeOf(pieces));
  uncompressed_bytes_ += static_cast<int64_t>(bytes.size()) + header.uncompressed_page_size;
  CFILE_RETURN_IF_ERROR(put(encodings::AsBytes(bytes)));
  for (const auto piece : pieces) CFILE_RETURN_IF_ERROR(put(piece));
  return absl::OkStatus();
}

// Begins the header of a page.
absl::Status ChunkWriter::CountPage(int32_t page_type, Encoding encoding, size_t uncompressed_size,
                                    Pieces pieces, parquet::PageHeader& header) {
  const size_t size = SizeOf(pieces);
  CFILE_RETURN_IF_ERROR(CheckPageSize(std::max(size, uncompressed_size)));
  header.type = page_type;
  header.uncompressed_page_size = static_cast<int32_t>(uncompressed_size);
  header.compressed_page_size = static_cast<int32_t>(size);
  if (options_.page_checksums) {
    uint32_t crc = 0;
    for (const auto piece : pieces) crc = PageChecksum(piece, crc);
    header.crc = static_cast<int32_t>(crc);
  }
  ++encodings_[{page_type, encodings::parquet::NumberOf(encoding)}];
  return absl::OkStatus();
}

absl::StatusOr<NewDictionaryPage> ChunkWriter::CompressDictionary(
    uint32_t count, std::span<const uint8_t> plain) const {
  NewDictionaryPage page;
  CFILE_RETURN_IF_ERROR(CheckPageSize(plain.size()));
  page.count = count;
  page.uncompressed_size = static_cast<uint32_t>(plain.size());
  if (codec_ == Compression::kNone) {
    page.bytes.PutBytes(plain);
  } else {
    CFILE_RETURN_IF_ERROR(Compress(codec_, plain, page.bytes, kLevel));
  }
  return page;
}

absl::Status ChunkWriter::WriteDictionary(const NewDictionaryPage& page) {
  CFILE_ASSERT(!dictionary_offset_);
  parquet::PageHeader header;
  const std::span<const uint8_t> bytes = page.bytes.span();
  CFILE_RETURN_IF_ERROR(CountPage(parquet::PageType::kDictionaryPage, Encoding::kParquetPlain,
                                  page.uncompressed_size, {&bytes, 1}, header));
  header.dictionary_page_header = {.num_values = static_cast<int32_t>(page.count),
                                   .encoding = parquet::Encoding::kPlain};
  dictionary_offset_ = static_cast<int64_t>(out_.offset());
  any_compressed_ |= codec_ != Compression::kNone;
  return Put(header, {&bytes, 1});
}

absl::Status ChunkWriter::WritePage(const NewPage& page) {
  const PageLevels& levels = *page.levels;
  const bool compressed = page.uncompressed_size.has_value();
  const size_t values_size = compressed ? *page.uncompressed_size : page.values.size();
  bool recompressed = page.recompressed;
  // The length before the levels of a page of version 1.
  std::array<std::array<uint8_t, sizeof(uint32_t)>, 2> lengths;
  std::vector<std::span<const uint8_t>> pieces;
  const auto put_levels = [&](bool present, const encodings::ByteWriter& bytes, size_t number) {
    if (!present) return;
    if (!options_.data_page_v2) {
      encodings::StoreLittleEndian(static_cast<uint32_t>(bytes.size()), lengths[number].data());
      pieces.push_back(lengths[number]);
    }
    pieces.push_back(bytes.span());
  };
  put_levels(column_.has_repetition, levels.repetition, 0);
  put_levels(column_.has_definition, levels.definition, 1);
  const size_t levels_size = SizeOf(pieces);
  CFILE_RETURN_IF_ERROR(CheckPageSize(levels_size + values_size));

  bool is_compressed = compressed;
  if (codec_ != Compression::kNone && !compressed && !options_.data_page_v2) {
    // All bytes of a page of version 1 are compressed.
    pieces.push_back(page.values);
    joined_.Clear();
    for (const auto piece : pieces) joined_.PutBytes(piece);
    compressed_.Clear();
    CFILE_RETURN_IF_ERROR(Compress(codec_, joined_.span(), compressed_, kLevel));
    pieces = {compressed_.span()};
    is_compressed = true;
  } else if (codec_ != Compression::kNone && !compressed && page.compress) {
    compressed_.Clear();
    CFILE_RETURN_IF_ERROR(Compress(codec_, page.values, compressed_, kLevel));
    is_compressed = WorthCompressing(compressed_.size(), page.values.size());
    pieces.push_back(is_compressed ? compressed_.span() : page.values);
  } else {
    CFILE_ASSERT(!compressed || takes_compressed());
    pieces.push_back(page.values);
  }
  recompressed |= is_compressed && !compressed;
  any_compressed_ |= is_compressed;

  const int32_t type =
      options_.data_page_v2 ? parquet::PageType::kDataPageV2 : parquet::PageType::kDataPage;
  parquet::PageHeader header;
  CFILE_RETURN_IF_ERROR(CountPage(type, page.encoding, levels_size + values_size, pieces, header));
  const auto num_entries = static_cast<int32_t>(levels.num_entries);
  const auto null_count = static_cast<int32_t>(levels.num_entries - levels.num_values);
  const int32_t encoding = encodings::parquet::NumberOf(page.encoding);
  if (options_.data_page_v2) {
    header.data_page_header_v2 = {
        .num_values = num_entries,
        .num_nulls = null_count,
        .num_rows = static_cast<int32_t>(levels.num_rows),
        .encoding = encoding,
        .definition_levels_byte_length = static_cast<int32_t>(levels.definition.size()),
        .repetition_levels_byte_length = static_cast<int32_t>(levels.repetition.size()),
        .is_compressed = is_compressed};
  } else {
    header.data_page_header = {.num_values = num_entries,
                               .encoding = encoding,
                               .definition_level_encoding = parquet::Encoding::kRle,
                               .repetition_level_encoding = parquet::Encoding::kRle};
  }
  Written& written = pages_.emplace_back();
  written.offset = static_cast<int64_t>(holds_pages_ ? held_.size() : out_.offset());
  const int64_t before = stored_bytes_;
  CFILE_RETURN_IF_ERROR(Put(header, pieces));
  written.size = static_cast<int32_t>(stored_bytes_ - before);
  written.first_row = num_rows_;
  written.null_count = null_count;
  written.all_null = levels.num_values == 0;
  written.statistics = page.statistics;
  written.statistics.present_count = levels.num_values;
  if (!column_.has_order) {
    written.statistics.min_key.reset();
    written.statistics.max_key.reset();
  }
  FitBounds(column_.type, written.statistics);
  // Only after FitBounds, for which a bound that is not exact was cut.
  if (page.is_part_of_block) written.statistics.min_exact = written.statistics.max_exact = false;
  num_rows_ += levels.num_rows;
  num_entries_ += num_entries;
  ++(page.recoded   ? report_.recoded_pages
     : recompressed ? report_.recompressed_pages
                    : report_.copied_pages);
  return absl::OkStatus();
}

absl::StatusOr<WrittenChunk> ChunkWriter::Finish(const NewDictionaryPage* dictionary) {
  if (holds_pages_) {
    const encodings::ByteWriter held = std::move(held_);
    held_ = {};
    if (dictionary != nullptr) {
      CFILE_RETURN_IF_ERROR(WriteDictionary(*dictionary));
      CFILE_RETURN_IF_ERROR(out_.Append(held_.span()));
    }
    for (Written& page : pages_) page.offset += static_cast<int64_t>(out_.offset());
    CFILE_RETURN_IF_ERROR(out_.Append(held.span()));
  }
  WrittenChunk chunk;
  Describe(chunk);
  DescribeBounds(chunk);
  return chunk;
}

void ChunkWriter::Describe(WrittenChunk& chunk) {
  parquet::ColumnMetaData& metadata = chunk.metadata;
  metadata.type = column_.parquet_type;
  std::set<int32_t> encodings;
  if (column_.has_repetition || column_.has_definition) encodings.insert(parquet::Encoding::kRle);
  for (const auto& [key, count] : encodings_) {
    encodings.insert(key.second);
    metadata.encoding_stats.push_back(
        {.page_type = key.first, .encoding = key.second, .count = count});
  }
  metadata.encodings.assign(encodings.begin(), encodings.end());
  metadata.path_in_schema = column_.path;
  // If no page is compressed, readers need no codec.
  metadata.codec = *CompressionToParquet(any_compressed_ ? codec_ : Compression::kNone);
  metadata.num_values = num_entries_;
  metadata.total_uncompressed_size = uncompressed_bytes_;
  metadata.total_compressed_size = stored_bytes_;
  metadata.data_page_offset =
      pages_.empty() ? static_cast<int64_t>(out_.offset()) : pages_.front().offset;
  metadata.dictionary_page_offset = dictionary_offset_;
  if (!options_.page_index) return;
  parquet::OffsetIndex index;
  for (const Written& page : pages_) {
    index.page_locations.push_back({.offset = page.offset,
                                    .compressed_page_size = page.size,
                                    .first_row_index = page.first_row});
  }
  chunk.offset_index = parquet::WriteOffsetIndex(index);
}

void ChunkWriter::DescribeBounds(WrittenChunk& chunk) {
  // Pages of which only the nulls and NaNs are known have no bounds.
  bool all_known = true;
  bool ascending = true, descending = true;
  const BlockStatistics* min = nullptr;
  const BlockStatistics* max = nullptr;
  const BlockStatistics* before = nullptr;
  parquet::ColumnIndex index;
  std::deque<std::string> texts;
  int64_t null_count = 0;
  bool has_min = true, has_max = true;  // of the chunk
  for (const Written& page : pages_) {
    const BlockStatistics& bounds = page.statistics;
    null_count += page.null_count;
    index.null_pages.push_back(page.all_null);
    index.null_counts.push_back(page.null_count);
    if (page.all_null) {
      index.min_values.emplace_back();
      index.max_values.emplace_back();
      continue;
    }
    const bool only_nan = bounds.nan_count == bounds.present_count;
    has_min &= only_nan || bounds.min_key.has_value();
    has_max &= only_nan || bounds.max_key.has_value();
    if (bounds.min_key && (min == nullptr || *bounds.min_key < *min->min_key)) min = &bounds;
    if (bounds.max_key && (max == nullptr || *bounds.max_key > *max->max_key)) max = &bounds;
    all_known &= bounds.min_key && bounds.max_key;
    if (!all_known) continue;
    index.min_values.push_back(texts.emplace_back(PlainOfKey(column_.type, *bounds.min_key)));
    index.max_values.push_back(texts.emplace_back(PlainOfKey(column_.type, *bounds.max_key)));
    if (before != nullptr) {
      ascending &= *before->min_key <= *bounds.min_key && *before->max_key <= *bounds.max_key;
      descending &= *before->min_key >= *bounds.min_key && *before->max_key >= *bounds.max_key;
    }
    before = &bounds;
  }
  parquet::Statistics& statistics = chunk.metadata.statistics.emplace();
  statistics.null_count = null_count;
  if (min != nullptr && has_min) {
    statistics.min_value = chunk.texts.emplace_back(PlainOfKey(column_.type, *min->min_key));
    statistics.is_min_value_exact = min->min_exact;
  }
  if (max != nullptr && has_max) {
    statistics.max_value = chunk.texts.emplace_back(PlainOfKey(column_.type, *max->max_key));
    statistics.is_max_value_exact = max->max_exact;
  }
  if (!options_.page_index || !all_known || pages_.empty()) return;
  index.boundary_order = ascending    ? parquet::BoundaryOrder::kAscending
                         : descending ? parquet::BoundaryOrder::kDescending
                                      : parquet::BoundaryOrder::kUnordered;
  chunk.column_index = parquet::WriteColumnIndex(index);
}

}  // namespace cfile::internal
