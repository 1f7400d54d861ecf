#include "tools/columns/row_diff.h"

#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cfile/inspect.h"

namespace cfile::tools {
namespace {

// Adds up what the files of a column have.
class Totals {
 public:
  absl::Status Add(const Reader& file) {
    const FileInfo& info = file.info();
    ++files_;
    bytes_ += info.file_size_bytes;
    versions_.insert(info.version == FormatVersion::kV1 ? "1" : "2");
    codec_settings_.insert(CompressionName(info.compression));
    created_by_.insert(info.created_by);
    checksums_ += info.has_checksums();
    positional_indexes_ += info.positional_index_root.has_value();
    value_indexes_ += info.value_index_root.has_value();
    statistics_ += info.statistics.has_value();
    movable_ += info.has_movable_blocks();
    CFILE_ASSIGN_OR_RETURN(const auto statistics, file.Statistics());
    bloom_filters_ += statistics != nullptr && !statistics->bloom_filter.empty();
    for (const auto& pair : info.header_metadata) AddMetadata(pair);
    for (const auto& pair : info.footer_metadata) AddMetadata(pair);
    return VisitBlocks(file, [&](const BlockInfo& block) {
      ++encodings_[EncodingName(block.encoding)];
      ++blocks_;
      codecs_.insert(CodecOf(block.compressed, file.info()));
      compressed_blocks_ += block.compressed;
      stored_bytes_ += block.stored_size_bytes;
      encoded_bytes_ += block.encoded_size_bytes;
      return true;
    });
  }

  Properties Texts() const {
    std::vector<std::string> encodings;
    for (const auto& [name, blocks] : encodings_) {
      encodings.push_back(absl::StrCat(name, " in ", Plural(blocks, "block")));
    }
    return {{"files", absl::StrCat(files_)},
            {"size", absl::StrCat(bytes_)},
            {"format version", absl::StrJoin(versions_, ", ")},
            {"encodings", absl::StrJoin(encodings, ", ")},
            {"codec of blocks", absl::StrJoin(codecs_, ", ")},
            {"codec setting", absl::StrJoin(codec_settings_, ", ")},
            {"blocks", absl::StrCat(blocks_)},
            {"compressed blocks", absl::StrCat(compressed_blocks_)},
            {"stored bytes of blocks", absl::StrCat(stored_bytes_)},
            {"bytes of blocks before compression", absl::StrCat(encoded_bytes_)},
            {"checksums", Having(checksums_)},
            {"positional index", Having(positional_indexes_)},
            {"value index", Having(value_indexes_)},
            {"statistics", Having(statistics_)},
            {"Bloom filter", Having(bloom_filters_)},
            {"movable blocks", Having(movable_)},
            {"metadata", absl::StrJoin(metadata_, ", ")},
            {"writer", absl::StrJoin(created_by_, ", ")}};
  }

 private:
  void AddMetadata(const std::pair<std::string, std::string>& pair) {
    if (pair.first.starts_with(kReservedKeyPrefix)) return;
    metadata_.insert(pair.first + "=" + pair.second);
  }
  // Returns the text about an optional part, such as an index. `count`: the number of files that
  // have this part.
  std::string Having(uint64_t count) const {
    if (count == 0) return "no";
    return count == files_ ? "yes" : absl::StrCat("in ", count, " of ", files_, " files");
  }

  uint64_t files_ = 0, bytes_ = 0, blocks_ = 0, compressed_blocks_ = 0;
  uint64_t stored_bytes_ = 0, encoded_bytes_ = 0;
  uint64_t checksums_ = 0, positional_indexes_ = 0, value_indexes_ = 0, statistics_ = 0;
  uint64_t movable_ = 0, bloom_filters_ = 0;
  std::set<std::string> versions_, created_by_, metadata_;
  // The codecs that blocks have, and those that the footers name. A block stays without compression
  // if the codec does not make it smaller.
  std::set<std::string> codecs_, codec_settings_;
  std::map<std::string, uint64_t> encodings_;
};

}  // namespace

Properties SchemaOf(const StoredColumn& column) {
  const ColumnSchema& schema = column.schema;
  std::string levels = "none";
  if (column.has_levels) {
    levels = absl::StrCat("repetition ", schema.levels.max_repetition, ", definition ",
                          schema.levels.max_definition,
                          schema.levels.kudu_array ? ", arrays of Kudu" : "");
  }
  return {{"type", schema.type.ToString()},
          {"nullable", schema.nullable ? "yes" : "no"},
          {"levels", std::move(levels)}};
}

absl::StatusOr<Properties> LayoutOf(const StoredColumn& column) {
  Totals totals;
  if (column.file) {
    CFILE_RETURN_IF_ERROR(totals.Add(*column.file));
    return totals.Texts();
  }
  for (size_t part = 0; part < column.table->num_parts(); ++part) {
    CFILE_ASSIGN_OR_RETURN(const std::string path, column.table->part_file(part, column.column));
    if (path.empty()) continue;  // the part is older than the column
    CFILE_ASSIGN_OR_RETURN(const Reader file, column.table->OpenColumn(part, column.column));
    CFILE_RETURN_IF_ERROR(totals.Add(file));
  }
  return totals.Texts();
}

}  // namespace cfile::tools
