#include "cfile/parts/parquet/page_reader.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "cfile/core/format/compression.h"
#include "cfile/core/io/named_status.h"
#include "cfile/parts/parquet/metadata/file_metadata.h"
#include "cfile/parts/parquet/page_bytes.h"
#include "encodings/core/status.h"
#include "encodings/hybrid/levels.h"
#include "encodings/hybrid/rle_hybrid.h"
#include "encodings/parquet.h"

namespace cfile::internal {
namespace {

using encodings::AboveLimit;
using encodings::ByteReader;
using encodings::ByteWriter;
using encodings::DataLoss;
using encodings::OutOfRange;
using encodings::StrCat;
using parquet::PageType;

// A page header usually has less than 100 bytes; with long statistics it has more.
constexpr size_t kHeaderBytes = 16 << 10;

absl::Status CheckCount(int32_t count, std::string_view what) {
  if (count >= 0) return absl::OkStatus();
  return DataLoss("the page header says ", count, " ", what);
}

}  // namespace

absl::Status PageReader::Read(uint64_t offset, size_t size, std::span<const uint8_t>& bytes) {
  if (const auto all = source_.InMemory(); !all.empty()) {
    bytes = all.subspan(static_cast<size_t>(offset), size);
    return absl::OkStatus();
  }
  const uint64_t skipped = offset - buffer_offset_;  // may wrap around
  if (offset < buffer_offset_ || skipped > buffer_.size() || size > buffer_.size() - skipped) {
    const uint64_t wanted = std::max<uint64_t>(size, options_.read_ahead_bytes);
    const auto read = static_cast<size_t>(std::min<uint64_t>(wanted, end_ - offset));
    buffer_.Clear();
    uint8_t* const to = buffer_.Extend(read);
    if (absl::Status status = source_.ReadAt(offset, {to, read}); !status.ok()) {
      buffer_.Clear();
      return status;
    }
    buffer_offset_ = offset;
  }
  bytes = buffer_.span().subspan(static_cast<size_t>(offset - buffer_offset_), size);
  return absl::OkStatus();
}

absl::Status PageReader::ReadPage(StoredPage& page) {
  std::span<const uint8_t> bytes;
  size_t header_size = 0;
  for (size_t limit = kHeaderBytes;; limit = options_.max_metadata_size_bytes) {
    const auto size = static_cast<size_t>(std::min<uint64_t>(limit, end_ - offset_));
    CFILE_RETURN_IF_ERROR(Read(offset_, size, bytes));
    auto header = parquet::ReadPageHeader(bytes, &header_size);
    if (header.ok()) {
      page.header = *std::move(header);
      break;
    }
    // The header may be longer than the bytes.
    if (size < limit || limit >= options_.max_metadata_size_bytes) return header.status();
  }
  // Statistics are not used, and their bounds point into the bytes.
  if (page.header.data_page_header) page.header.data_page_header->statistics.reset();
  if (page.header.data_page_header_v2) page.header.data_page_header_v2->statistics.reset();
  CFILE_RETURN_IF_ERROR(CheckCount(page.header.compressed_page_size, "bytes"));
  CFILE_RETURN_IF_ERROR(CheckCount(page.header.uncompressed_page_size, "bytes"));
  const auto size = static_cast<size_t>(page.header.compressed_page_size);
  page.offset = offset_;
  offset_ += header_size;
  if (size > end_ - offset_) {
    return DataLoss("the page has ", size, " bytes, but only ", end_ - offset_,
                    " bytes follow its header");
  }
  const auto largest = std::max(size, static_cast<size_t>(page.header.uncompressed_page_size));
  if (largest > max_page_size_bytes_) {
    return OutOfRange("a page of ", largest, " bytes is ",
                      AboveLimit(max_page_size_bytes_, "max_page_size_bytes"));
  }
  CFILE_RETURN_IF_ERROR(Read(offset_, size, page.bytes));
  page.stays = !source_.InMemory().empty();
  offset_ += size;
  if (options_.verify_checksums && page.header.crc) {
    const auto expected = static_cast<uint32_t>(*page.header.crc);
    if (const uint32_t found = PageChecksum(page.bytes); found != expected) {
      return DataLoss("checksum mismatch of the page: expected 0x", absl::Hex(expected),
                      ", found 0x", absl::Hex(found));
    }
  }
  return absl::OkStatus();
}

absl::Status PageReader::Next(StoredPage& page) {
  const uint64_t begin = offset_;
  absl::Status status = ReadPage(page);
  if (status.ok()) return status;
  return WithMessage(status, StrCat("page at offset ", begin, ": ", status.message()));
}

absl::Status PageOpener::Uncompress(std::span<const uint8_t> bytes, size_t size,
                                    std::span<const uint8_t>& out) {
  out = {};
  // A page without values may have any compressed bytes, also none.
  if (size == 0) return absl::OkStatus();
  CFILE_ASSIGN_OR_RETURN(const Compression compression, CompressionFromParquet(codec_));
  if (compression == Compression::kNone) {
    if (bytes.size() != size)
      return DataLoss("the page has ", bytes.size(), " uncompressed bytes, expected ", size);
    out = bytes;
    return absl::OkStatus();
  }
  CFILE_RETURN_IF_ERROR(CheckUncompressedSize(compression, bytes.size(), size));
  uncompressed_.Clear();
  uint8_t* const to = uncompressed_.Extend(size);
  CFILE_RETURN_IF_ERROR(UncompressPage(codec_, bytes, {to, size}));
  out = uncompressed_.span();
  return absl::OkStatus();
}

absl::Status PageOpener::TakeLevels(int32_t encoding, uint16_t maximum, uint32_t count,
                                    ByteReader& reader, ByteWriter& converted,
                                    std::span<const uint8_t>& levels) const {
  levels = {};
  if (maximum == 0) return absl::OkStatus();
  const int width = encodings::LevelWidth(maximum);
  if (encoding == parquet::Encoding::kRle) {
    uint32_t size;
    const size_t before = reader.remaining();
    if (!reader.ReadFixed(size) || !reader.ReadBytes(size, levels))
      return DataLoss("the levels do not end within the ", before, " bytes of the page");
    return absl::OkStatus();
  }
  if (encoding != parquet::Encoding::kBitPacked) {
    return absl::UnimplementedError(StrCat("encoding ", encoding, " is not an encoding of levels"));
  }
  encodings::RleHybridEncoder hybrid(width, /*kudu_exact=*/false);
  while (count > 0) {
    // Groups of 8 levels end at whole bytes.
    uint16_t some[1024];
    const std::span<uint16_t> batch(some, std::min<size_t>(count, std::size(some)));
    CFILE_RETURN_IF_ERROR(encodings::ReadBitPacked<uint16_t>(reader, width, batch));
    hybrid.PutValues(std::span<const uint16_t>(batch));
    count -= static_cast<uint32_t>(batch.size());
  }
  converted.Clear();
  hybrid.Finish(converted, encodings::LastGroup::kWhole);
  levels = converted.span();
  return absl::OkStatus();
}

absl::Status PageOpener::ReadFirstLevel(DataPage& page) const {
  uint16_t first = page.num_entries == 0;
  if (limits_.max_repetition > 0 && page.num_entries > 0) {
    CFILE_RETURN_IF_ERROR(encodings::ReadHybrid<uint16_t>(
        page.repetition, encodings::LevelWidth(limits_.max_repetition), {&first, 1}));
  }
  page.begins_record = first == 0;
  return absl::OkStatus();
}

std::span<const uint8_t> PageOpener::Keep(const StoredPage& stored) {
  if (stored.stays || limits_.max_repetition == 0) return stored.bytes;
  kept_.Clear();
  kept_.PutBytes(stored.bytes);
  return kept_.span();
}

absl::Status PageOpener::OpenV1(const StoredPage& stored, DataPage& page) {
  const parquet::DataPageHeader& header = *stored.header.data_page_header;
  CFILE_RETURN_IF_ERROR(CheckCount(header.num_values, "values"));
  page.num_entries = static_cast<uint32_t>(header.num_values);
  page.encoding = encodings::parquet::EncodingOf(header.encoding);
  std::span<const uint8_t> bytes;
  CFILE_RETURN_IF_ERROR(
      Uncompress(Keep(stored), static_cast<size_t>(stored.header.uncompressed_page_size), bytes));
  ByteReader reader(bytes);
  CFILE_RETURN_IF_ERROR(TakeLevels(header.repetition_level_encoding, limits_.max_repetition,
                                   page.num_entries, reader, repetition_, page.repetition));
  CFILE_RETURN_IF_ERROR(TakeLevels(header.definition_level_encoding, limits_.max_definition,
                                   page.num_entries, reader, definition_, page.definition));
  CFILE_RETURN_IF_ERROR(ReadFirstLevel(page));
  page.values = reader.rest();
  const bool has_levels = limits_.max_repetition > 0 || limits_.max_definition > 0;
  page.is_compressed = codec_ != parquet::CompressionCodec::kUncompressed;
  page.compressed_values = {};
  if (page.is_compressed && !has_levels) page.compressed_values = stored.bytes;
  return absl::OkStatus();
}

absl::Status PageOpener::OpenV2(const StoredPage& stored, DataPage& page) {
  const parquet::DataPageHeaderV2& header = *stored.header.data_page_header_v2;
  CFILE_RETURN_IF_ERROR(CheckCount(header.num_values, "values"));
  CFILE_RETURN_IF_ERROR(CheckCount(header.repetition_levels_byte_length, "bytes of levels"));
  CFILE_RETURN_IF_ERROR(CheckCount(header.definition_levels_byte_length, "bytes of levels"));
  page.num_entries = static_cast<uint32_t>(header.num_values);
  page.encoding = encodings::parquet::EncodingOf(header.encoding);
  const size_t levels_size = size_t{static_cast<uint32_t>(header.repetition_levels_byte_length)} +
                             static_cast<uint32_t>(header.definition_levels_byte_length);
  const auto size = static_cast<size_t>(stored.header.uncompressed_page_size);
  ByteReader reader(Keep(stored));
  if (levels_size > size ||
      !reader.ReadBytes(static_cast<uint32_t>(header.repetition_levels_byte_length),
                        page.repetition) ||
      !reader.ReadBytes(static_cast<uint32_t>(header.definition_levels_byte_length),
                        page.definition)) {
    return DataLoss("the page has ", levels_size, " bytes of levels, but only ",
                    std::min(size, stored.bytes.size()), " bytes");
  }
  CFILE_RETURN_IF_ERROR(ReadFirstLevel(page));
  page.compressed_values = {};
  page.is_compressed =
      codec_ != parquet::CompressionCodec::kUncompressed && header.is_compressed.value_or(true);
  if (page.is_compressed) {
    page.compressed_values = reader.rest();
    return Uncompress(reader.rest(), size - levels_size, page.values);
  }
  page.values = reader.rest();
  return absl::OkStatus();
}

absl::Status PageOpener::Open(const StoredPage& stored, DataPage& page) {
  page.offset = stored.offset;
  page.ends_record = limits_.max_repetition == 0;
  if (stored.header.type == PageType::kDataPage && stored.header.data_page_header)
    return OpenV1(stored, page);
  if (stored.header.type == PageType::kDataPageV2 && stored.header.data_page_header_v2)
    return OpenV2(stored, page);
  return DataLoss("the header of a page of type ", stored.header.type, " lacks the fields of it");
}

absl::Status PageOpener::OpenDictionary(const StoredPage& stored, std::span<const uint8_t>& bytes) {
  return Uncompress(stored.bytes, static_cast<size_t>(stored.header.uncompressed_page_size), bytes);
}

}  // namespace cfile::internal
