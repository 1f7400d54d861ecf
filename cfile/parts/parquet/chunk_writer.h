// Writes the pages of one column chunk, and collects what the metadata says about them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/io.h"
#include "cfile/parquet_options.h"
#include "cfile/parts/parquet/metadata/messages.h"
#include "cfile/parts/parquet/page_levels.h"
#include "cfile/statistics.h"
#include "cfile/types.h"
#include "encodings/core/bytes.h"

namespace cfile::internal {

// A sink that knows how many bytes it has.
class CountingSink {
 public:
  explicit CountingSink(Sink& sink) : sink_(sink) {}
  absl::Status Append(std::span<const uint8_t> bytes);
  uint64_t offset() const { return offset_; }

 private:
  Sink& sink_;
  uint64_t offset_ = 0;
};

// What a column chunk is a part of.
struct ChunkColumn {
  ColumnType type;  // of the values as they are written
  int32_t parquet_type = 0;
  std::vector<std::string_view> path;
  bool has_repetition = false;
  bool has_definition = false;
  bool has_order = true;  // false: there are no bounds
};

// A data page before it is written. Spans and `levels` belong to the caller.
struct NewPage {
  const PageLevels* levels = nullptr;
  Encoding encoding = Encoding::kParquetPlain;  // one of Parquet's
  std::span<const uint8_t> values;
  // If set, `values` is compressed with the chunk's codec, and this is its size before compression.
  std::optional<uint32_t> uncompressed_size = std::nullopt;
  // False: `values` stays as it is if the page may have uncompressed values.
  bool compress = true;
  BlockStatistics statistics = {};  // only the bounds and nan_count
  // The statistics are those of a block that has more values than the page.
  bool is_part_of_block = false;
  // Whether the values were encoded for this page.
  bool recoded = false;
  bool recompressed = false;  // the values were compressed otherwise before
};

// A dictionary page, compressed with the codec of a chunk.
struct NewDictionaryPage {
  uint32_t count = 0;
  uint32_t uncompressed_size = 0;
  encodings::ByteWriter bytes;
};

// The texts of `metadata` point into `texts` and into ChunkColumn::path.
struct WrittenChunk {
  parquet::ColumnMetaData metadata;
  std::deque<std::string> texts;
  std::string offset_index;
  std::string column_index;  // empty: some bounds are not known
};

// Thread-compatible. After an error only the destructor may be called.
class ChunkWriter {
 public:
  // `codec`: the codec of the chunk's pages. Pages of version 2 may have uncompressed values.
  // `holds_pages`: the dictionary page is not known before the data pages, which are then kept in
  // memory until Finish. `column`, `out` and `report` must outlive this object.
  ChunkWriter(const ChunkColumn& column, const ParquetExportOptions& options, Compression codec,
              bool holds_pages, CountingSink& out, ParquetReport& report);

  Compression codec() const { return codec_; }
  // True if a data page may have values that were compressed apart from the levels.
  bool takes_compressed() const {
    return options_.data_page_v2 || !(column_.has_repetition || column_.has_definition);
  }

  // Compresses the `count` values in `plain` with the chunk's codec.
  absl::StatusOr<NewDictionaryPage> CompressDictionary(uint32_t count,
                                                       std::span<const uint8_t> plain) const;
  // Writes the dictionary page. Call at most once, before all pages; not if the chunk holds pages.
  absl::Status WriteDictionary(const NewDictionaryPage& page);
  // kOutOfRange: the page would have 2^31 bytes or more.
  absl::Status WritePage(const NewPage& page);
  // Writes what is held, after `dictionary` if it is not null.
  absl::StatusOr<WrittenChunk> Finish(const NewDictionaryPage* dictionary = nullptr);

 private:
  // What is known of a data page that was written.
  struct Written {
    int64_t offset = 0;  // in the file, or in held_
    int32_t size = 0;    // with the header
    int64_t first_row = 0;
    int64_t null_count = 0;
    bool all_null = false;
    BlockStatistics statistics;
  };

  absl::Status Put(const parquet::PageHeader& header,
                   std::span<const std::span<const uint8_t>> pieces);
  absl::Status CountPage(int32_t page_type, Encoding encoding, size_t uncompressed_size,
                         std::span<const std::span<const uint8_t>> pieces,
                         parquet::PageHeader& header);
  void Describe(WrittenChunk& chunk);
  void DescribeBounds(WrittenChunk& chunk);

  const ChunkColumn& column_;
  const ParquetExportOptions& options_;
  const Compression codec_;
  const bool holds_pages_;
  CountingSink& out_;
  ParquetReport& report_;
  encodings::ByteWriter held_;
  encodings::ByteWriter joined_;
  encodings::ByteWriter compressed_;
  bool any_compressed_ = false;
  std::optional<int64_t> dictionary_offset_;
  int64_t num_rows_ = 0;
  int64_t num_entries_ = 0;
  int64_t uncompressed_bytes_ = 0;                            // with the headers
  int64_t stored_bytes_ = 0;                                  // with the headers
  std::map<std::pair<int32_t, int32_t>, int32_t> encodings_;  // by page type and encoding: pages
  std::vector<Written> pages_;
};

}  // namespace cfile::internal
