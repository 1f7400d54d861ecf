// Reads the pages of a Parquet file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "absl/status/status.h"
#include "cfile/core/format/level_block.h"
#include "cfile/io.h"
#include "cfile/options.h"
#include "cfile/parts/parquet/metadata/messages.h"
#include "cfile/types.h"
#include "encodings/core/bytes.h"

namespace cfile::internal {

// A page as it is stored. The views are valid until the next call of the reader.
struct StoredPage {
  parquet::PageHeader header;  // without statistics
  uint64_t offset = 0;         // of the header in the file
  std::span<const uint8_t> bytes;
  bool stays = false;  // true: `bytes` is valid as long as the source
};

// Reads the pages of a column chunk, one after the other. If the source is in memory, copies
// nothing. Otherwise reads read_ahead_bytes at once, and keeps as much memory, or one page.
// Thread-compatible.
class PageReader {
 public:
  // `end`: all pages of the file end at or before this offset. `source` must outlive the reader.
  PageReader(const Source& source, uint64_t end, const ReaderOptions& options,
             size_t max_page_size_bytes)
      : source_(source), end_(end), options_(options), max_page_size_bytes_(max_page_size_bytes) {}

  // Goes to the page at `offset`. Precondition: offset <= end.
  void Seek(uint64_t offset) { offset_ = offset; }

  // Reads the page at the current offset and moves past it. Verifies the page's checksum if there
  // is one and options.verify_checksums is set. Errors begin with the offset of the page, except
  // those of the source. kDataLoss: the page is damaged or does not end before `end`. kOutOfRange:
  // the page exceeds max_page_size_bytes.
  absl::Status Next(StoredPage& page);

 private:
  absl::Status ReadPage(StoredPage& page);
  // Sets `bytes` to `size` bytes from `offset` on. Precondition: they lie before end_.
  absl::Status Read(uint64_t offset, size_t size, std::span<const uint8_t>& bytes);

  const Source& source_;
  const uint64_t end_;
  const ReaderOptions options_;
  const size_t max_page_size_bytes_;
  uint64_t offset_ = 0;
  encodings::ByteWriter
      buffer_;  // the bytes from buffer_offset_ on, if the source is not in memory
  uint64_t buffer_offset_ = 0;
};

// A data page before compression, divided into levels and values. The views are valid until its
// opener opens the next page and, if ends_record is true, until the reader reads the next page.
struct DataPage {
  uint64_t offset = 0;  // of the page in the file
  uint32_t num_entries = 0;
  bool begins_record = false;  // true: the first entry begins a record
  // True: the last entry ends a record. Not known of a page of a repeated column before the next
  // page is open: some writers divide records between pages, also between pages of version 2.
  bool ends_record = false;
  Encoding encoding = Encoding::kPlain;
  // Both RLE-hybrid, as in a block of a CFile; empty if the maximum of the levels is 0.
  std::span<const uint8_t> repetition;
  std::span<const uint8_t> definition;
  std::span<const uint8_t> values;
  bool is_compressed = false;  // in the file
  // The values as they are stored, if they are compressed apart from the levels; otherwise empty.
  std::span<const uint8_t> compressed_values;
};

// Decompresses and divides pages. Memory: one page. Thread-compatible.
class PageOpener {
 public:
  // `codec`: a number of parquet::CompressionCodec that CompressionFromParquet accepts. `limits`:
  // the maximum levels of the column.
  PageOpener(int32_t codec, const LevelLimits& limits) : codec_(codec), limits_(limits) {}

  // Opens a page of type DATA_PAGE or DATA_PAGE_V2. A page without entries begins no record.
  // kDataLoss: the page is damaged. kUnimplemented: an encoding of levels is unknown.
  absl::Status Open(const StoredPage& stored, DataPage& page);
  // Decompresses a page of type DICTIONARY_PAGE.
  absl::Status OpenDictionary(const StoredPage& stored, std::span<const uint8_t>& bytes);

 private:
  absl::Status OpenV1(const StoredPage& stored, DataPage& page);
  absl::Status OpenV2(const StoredPage& stored, DataPage& page);
  // Returns the page's bytes. Copies them if they must stay valid until the next page is open.
  std::span<const uint8_t> Keep(const StoredPage& stored);
  // Decompresses `bytes`, which have `size` bytes before compression.
  absl::Status Uncompress(std::span<const uint8_t> bytes, size_t size,
                          std::span<const uint8_t>& out);
  // Takes the levels of one kind from the front of a page of version 1.
  absl::Status TakeLevels(int32_t encoding, uint16_t maximum, uint32_t count,
                          encodings::ByteReader& reader, encodings::ByteWriter& converted,
                          std::span<const uint8_t>& levels) const;
  // Sets page.begins_record.
  absl::Status ReadFirstLevel(DataPage& page) const;

  const int32_t codec_;
  const LevelLimits limits_;
  encodings::ByteWriter kept_;
  encodings::ByteWriter uncompressed_;
  encodings::ByteWriter repetition_;  // levels of the deprecated form BIT_PACKED, converted
  encodings::ByteWriter definition_;
};

}  // namespace cfile::internal
