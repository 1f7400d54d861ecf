#include "cfile/parquet.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <limits>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cfile/parts/arrow/field_tree.h"
#include "cfile/parts/parquet/annotation.h"
#include "cfile/parts/parquet/chunk_writer.h"
#include "cfile/parts/parquet/file_exporter.h"
#include "cfile/parts/parquet/key_value_metadata.h"
#include "cfile/parts/parquet/metadata/file_metadata.h"
#include "cfile/parts/parquet/page_bytes.h"
#include "cfile/parts/parquet/parquet_schema.h"
#include "cfile/parts/parquet/parquet_type.h"
#include "cfile/table.h"
#include "encodings/core/status.h"
#include "encodings/parquet.h"

namespace cfile {
namespace internal {
namespace {

// What is exported: a table, or a file as a table with one part and one column.
struct ParquetRows {
  Schema schema;
  uint64_t num_rows = 0;
  size_t num_parts = 0;
  std::function<absl::StatusOr<Reader>(size_t part, size_t column)> open;
  std::function<absl::StatusOr<MetadataPairs>()> metadata;
};

class Exporter {
 public:
  Exporter(const ParquetRows& rows, Sink& sink, const ParquetExportOptions& options)
      : rows_(rows), options_(options), out_(sink) {}

  absl::StatusOr<ParquetReport> Export();

 private:
  // The indexes and the filter of a column chunk.
  struct Chunk {
    WrittenChunk written;
    parquet::ColumnChunk* chunk = nullptr;
  };

  absl::Status WritePart(size_t part);
  absl::Status WriteRowGroup(std::span<const std::unique_ptr<FileExporter>> files,
                             uint64_t num_rows, uint64_t end);
  absl::Status WriteBloomFilter(const FileExporter& file, size_t leaf, size_t first_row_group);
  absl::Status WriteIndexes();
  absl::Status WriteEnd();
  absl::Status AddMetadata();
  void DescribeColumns();
  absl::Status AnnotateLeaf(const Reader& file, size_t leaf);
  void FindSortingColumns(std::span<const Reader> files);
  absl::Status InColumn(size_t leaf, const absl::Status& status) const;
  absl::Status Append(std::string_view bytes) { return out_.Append(encodings::AsBytes(bytes)); }

  const ParquetRows& rows_;
  const ParquetExportOptions& options_;
  CountingSink out_;
  ParquetReport report_;
  ParquetOfSchema schema_;
  std::vector<ColumnToExport> columns_;  // one for each leaf
  std::deque<parquet::RowGroup> row_groups_;
  std::deque<WrittenChunk> chunks_;  // of all row groups, in order
  MetadataPairs kept_;               // the metadata of the table
  MetadataPairs metadata_;
  std::set<std::string, std::less<>> ordered_;  // the columns whose pages have their categories
  std::deque<std::string> annotations_;         // texts into which schema_ points
  std::vector<parquet::SortingColumn> sorting_columns_;  // of the current part
};

absl::Status Exporter::InColumn(size_t leaf, const absl::Status& status) const {
  if (status.ok()) return status;
  const std::string& column = rows_.schema.columns[schema_.leaves[leaf].column].name;
  return absl::Status(status.code(), encodings::StrCat("column ", column, ": ", status.message()));
}

absl::StatusOr<ParquetReport> Exporter::Export() {
  if (options_.max_row_group_rows == 0)
    return absl::InvalidArgumentError("max_row_group_rows must be at least 1");
  CFILE_RETURN_IF_ERROR(CheckExportCompression(options_.compression));
  CFILE_ASSIGN_OR_RETURN(schema_, SchemaToParquet(rows_.schema, options_.columns));
  for (const ParquetLeaf& leaf : schema_.leaves) {
    const size_t number = columns_.size();
    const ColumnType& type = rows_.schema.columns[leaf.column].type;
    columns_.push_back({.chunk = {.type = type,
                                  .parquet_type = *schema_.elements[leaf.element].type,
                                  .path = schema_.Path(leaf),
                                  .has_repetition = leaf.max_repetition > 0,
                                  .has_definition = leaf.max_definition > 0},
                        .tree = schema_.tree.get(),
                        .leaf = number,
                        .same_pages = leaf.same_pages,
                        .units_per_value = ParquetUnitsPerValue(type)});
  }
  metadata_ = options_.metadata;
  CFILE_RETURN_IF_ERROR(Append({parquet::kMagic, parquet::kMagicBytes}));
  for (size_t part = 0; part < rows_.num_parts; ++part) CFILE_RETURN_IF_ERROR(WritePart(part));
  CFILE_RETURN_IF_ERROR(WriteIndexes());
  CFILE_RETURN_IF_ERROR(WriteEnd());
  report_.row_groups = row_groups_.size();
  report_.bytes_out = out_.offset();
  return report_;
}

absl::Status Exporter::WritePart(size_t part) {
  std::vector<std::unique_ptr<FileExporter>> files;
  std::vector<Reader> readers;
  for (size_t leaf = 0; leaf < columns_.size(); ++leaf) {
    CFILE_ASSIGN_OR_RETURN(Reader file, rows_.open(part, schema_.leaves[leaf].column));
    if (part == 0) CFILE_RETURN_IF_ERROR(AnnotateLeaf(file, leaf));
    readers.push_back(std::move(file));
  }
  if (part == 0) CFILE_RETURN_IF_ERROR(AddMetadata());
  for (size_t leaf = 0; leaf < columns_.size(); ++leaf) {
    auto exporter = FileExporter::Create(readers[leaf], columns_[leaf], options_);
    CFILE_RETURN_IF_ERROR(InColumn(leaf, exporter.status()));
    files.push_back(*std::move(exporter));
  }
  FindSortingColumns(readers);
  const Reader* const largest =
      &*std::max_element(readers.begin(), readers.end(), [](const Reader& a, const Reader& b) {
        return a.info().file_size_bytes < b.info().file_size_bytes;
      });
  const size_t first_row_group = row_groups_.size();
  const uint64_t num_rows = largest->num_rows();
  for (uint64_t begin = 0; begin < num_rows;) {
    uint64_t end = num_rows;
    if (num_rows - begin > options_.max_row_group_rows) {
      // A block that is divided between two row groups must be encoded again, so the row group ends
      // where a block of the largest file ends.
      end = begin + options_.max_row_group_rows;
      if (largest->info().positional_index_root) {
        CFILE_ASSIGN_OR_RETURN(const uint64_t block, largest->BlockBegin(end));
        if (block > begin) end = block;
      }
    }
    CFILE_RETURN_IF_ERROR(WriteRowGroup(files, end - begin, end));
    begin = end;
  }
  for (size_t leaf = 0; leaf < files.size(); ++leaf) {
    CFILE_RETURN_IF_ERROR(WriteBloomFilter(*files[leaf], leaf, first_row_group));
    const std::string& column = rows_.schema.columns[schema_.leaves[leaf].column].name;
    if (!files[leaf]->keeps_categories() && ordered_.erase(column) > 0) DescribeColumns();
  }
  return absl::OkStatus();
}

// `end`: the row of the part after the row group.
absl::Status Exporter::WriteRowGroup(std::span<const std::unique_ptr<FileExporter>> files,
                                     uint64_t num_rows, uint64_t end) {
  parquet::RowGroup& group = row_groups_.emplace_back();
  group.num_rows = static_cast<int64_t>(num_rows);
  group.file_offset = static_cast<int64_t>(out_.offset());
  if (row_groups_.size() <= size_t{std::numeric_limits<int16_t>::max()} + 1)
    group.ordinal = static_cast<int16_t>(row_groups_.size() - 1);
  group.sorting_columns = sorting_columns_;
  int64_t compressed_size = 0;
  for (size_t leaf = 0; leaf < files.size(); ++leaf) {
    auto chunk = files[leaf]->WriteChunk(end, out_, report_);
    CFILE_RETURN_IF_ERROR(InColumn(leaf, chunk.status()));
    if (leaf > 0) {
      CFILE_RETURN_IF_ERROR(CompareLevels(*schema_.tree, leaf - 1,
                                          files[leaf - 1]->levels().after(),
                                          files[leaf]->levels().before()));
    }
    const WrittenChunk& written = chunks_.emplace_back(*std::move(chunk));
    group.columns.emplace_back().meta_data = written.metadata;
    group.total_byte_size += written.metadata.total_uncompressed_size;
    compressed_size += written.metadata.total_compressed_size;
  }
  group.total_compressed_size = compressed_size;
  report_.rows += num_rows;
  if (options_.progress && !options_.progress(report_.rows, rows_.num_rows))
    return absl::CancelledError("the caller has cancelled the export");
  return absl::OkStatus();
}

// Sets the sorting columns of the part with these files, one for each leaf.
void Exporter::FindSortingColumns(std::span<const Reader> files) {
  const Schema& schema = rows_.schema;
  sorting_columns_.clear();
  for (const size_t key : schema.key_columns) {
    const auto leaf = std::find_if(schema_.leaves.begin(), schema_.leaves.end(),
                                   [&](const ParquetLeaf& l) { return l.column == key; });
    if (leaf == schema_.leaves.end() ||
        !columns_[static_cast<size_t>(leaf - schema_.leaves.begin())].chunk.has_order) {
      return;
    }
    const bool nulls_last = std::find(schema.nulls_last.begin(), schema.nulls_last.end(), key) !=
                            schema.nulls_last.end();
    sorting_columns_.push_back({.column_idx = static_cast<int32_t>(leaf - schema_.leaves.begin()),
                                .nulls_first = !nulls_last});
  }
  if (!sorting_columns_.empty()) return;
  // The values of a file with a value index ascend, and there are no nulls.
  for (size_t leaf = 0; leaf < files.size(); ++leaf) {
    if (files[leaf].info().value_index_root && columns_[leaf].chunk.has_order)
      sorting_columns_.push_back({.column_idx = static_cast<int32_t>(leaf), .nulls_first = true});
  }
}

// All row groups of a part share the filter of the part's file.
absl::Status Exporter::WriteBloomFilter(const FileExporter& file, size_t leaf,
                                        size_t first_row_group) {
  const std::string_view bits = file.bloom_filter();
  if (bits.empty() || bits.size() > size_t{std::numeric_limits<int32_t>::max()})
    return absl::OkStatus();
  parquet::BloomFilterHeader header{.num_bytes = static_cast<int32_t>(bits.size())};
  header.algorithm.block.emplace();
  header.hash.xxhash.emplace();
  header.compression.uncompressed.emplace();
  const uint64_t offset = out_.offset();
  CFILE_RETURN_IF_ERROR(Append(parquet::WriteBloomFilterHeader(header)));
  CFILE_RETURN_IF_ERROR(Append(bits));
  for (size_t group = first_row_group; group < row_groups_.size(); ++group) {
    parquet::ColumnMetaData& metadata = *row_groups_[group].columns[leaf].meta_data;
    metadata.bloom_filter_offset = static_cast<int64_t>(offset);
    metadata.bloom_filter_length = static_cast<int32_t>(out_.offset() - offset);
  }
  return absl::OkStatus();
}

absl::Status Exporter::WriteIndexes() {
  const auto write = [&](std::string WrittenChunk::*bytes,
                         std::optional<int64_t> parquet::ColumnChunk::*offset,
                         std::optional<int32_t> parquet::ColumnChunk::*length) -> absl::Status {
    auto written = chunks_.begin();
    for (parquet::RowGroup& group : row_groups_) {
      for (parquet::ColumnChunk& chunk : group.columns) {
        std::string& index = (*written++).*bytes;
        if (index.empty()) continue;
        chunk.*offset = static_cast<int64_t>(out_.offset());
        chunk.*length = static_cast<int32_t>(index.size());
        CFILE_RETURN_IF_ERROR(Append(index));
        index = {};
      }
    }
    return absl::OkStatus();
  };
  CFILE_RETURN_IF_ERROR(write(&WrittenChunk::column_index,
                              &parquet::ColumnChunk::column_index_offset,
                              &parquet::ColumnChunk::column_index_length));
  return write(&WrittenChunk::offset_index, &parquet::ColumnChunk::offset_index_offset,
               &parquet::ColumnChunk::offset_index_length);
}

void Exporter::DescribeColumns() {
  metadata_ = options_.metadata;
  MetadataPairs pairs = kept_;
  internal::DescribeColumns(rows_.schema, schema_, rows_.num_rows, ordered_, metadata_, pairs);
  metadata_.insert(metadata_.end(), pairs.begin(), pairs.end());
}

// Adds the metadata of the table.
absl::Status Exporter::AddMetadata() {
  CFILE_ASSIGN_OR_RETURN(kept_, rows_.metadata());
  const Categories categories = TakeCategories(kept_);
  DescribeColumns();
  const std::vector<ArrowLeaf> leaves = ArrowLeavesOf(metadata_, columns_.size());
  for (size_t i = 0; i < leaves.size(); ++i) {
    columns_[i].plain_or_codes = leaves[i].is_dictionary;
    const ColumnSchema& column = rows_.schema.columns[schema_.leaves[i].column];
    const auto found = categories.find(column.name);
    if (found == categories.end() || !leaves[i].is_dictionary ||
        column.type != ColumnType::String()) {
      continue;
    }
    encodings::ByteWriter plain;
    for (const std::string& value : found->second) {
      plain.PutFixed(static_cast<uint32_t>(value.size()));
      plain.PutBytes(encodings::AsBytes(value));
    }
    CFILE_ASSIGN_OR_RETURN(
        columns_[i].categories,
        encodings::ReadParquetDictionaryPage(encodings::PhysicalType::kBytes, /*type_length=*/0,
                                             found->second.size(), plain.span()));
    ordered_.insert(column.name);
  }
  if (!ordered_.empty()) DescribeColumns();
  return absl::OkStatus();
}

// Gives a leaf the annotation that the Parquet file had from which the column was imported.
absl::Status Exporter::AnnotateLeaf(const Reader& file, size_t leaf) {
  const ParquetLeaf& place = schema_.leaves[leaf];
  parquet::SchemaElement& element = schema_.elements[place.element];
  const size_t parent = schema_.tree->node(place.element).parent;
  const bool is_first = parent > 0 && parent + 1 == place.element;
  for (const auto& [key, value] : file.info().header_metadata) {
    if (key != kAnnotationKey || !IsUtf8(value)) continue;
    // The elements may point into the text.
    annotations_.push_back(value);
    Annotate(annotations_.back(), element, is_first ? &schema_.elements[parent] : nullptr);
  }
  // UNKNOWN means that all values are null. The table may have got others later.
  if (element.logical_type && element.logical_type->unknown) {
    for (size_t part = 0; part < rows_.num_parts; ++part) {
      CFILE_ASSIGN_OR_RETURN(const Reader other, rows_.open(part, place.column));
      CFILE_ASSIGN_OR_RETURN(const auto statistics, other.Statistics());
      if (statistics == nullptr ? other.num_rows() > 0 : statistics->file.present_count > 0)
        TypeToParquet(rows_.schema.columns[place.column].type, element);
    }
  }
  columns_[leaf].chunk.has_order = HasOrderOfItsBytes(element);
  return absl::OkStatus();
}

absl::Status Exporter::WriteEnd() {
  static constexpr std::string_view kCreatedBy = "cfile version " CFILE_VERSION;
  parquet::FileMetaData metadata;
  metadata.version = 2;
  metadata.schema = schema_.elements;
  metadata.num_rows = static_cast<int64_t>(report_.rows);
  metadata.row_groups.assign(std::make_move_iterator(row_groups_.begin()),
                             std::make_move_iterator(row_groups_.end()));
  for (const auto& [key, value] : metadata_)
    metadata.key_value_metadata.push_back({.key = key, .value = value});
  metadata.created_by = kCreatedBy;
  metadata.column_orders.resize(columns_.size());
  for (parquet::ColumnOrder& order : metadata.column_orders) order.type_order.emplace();
  return Append(parquet::WriteFileMetadata(metadata));
}

absl::StatusOr<ParquetReport> ExportToParquet(const ParquetRows& rows, std::unique_ptr<Sink> sink,
                                              const ParquetExportOptions& options) {
  CFILE_ASSIGN_OR_RETURN(const ParquetReport report, Exporter(rows, *sink, options).Export());
  CFILE_RETURN_IF_ERROR(sink->Finish());
  return report;
}

}  // namespace
}  // namespace internal

absl::StatusOr<ParquetReport> ExportParquet(const TableLocation& table, std::unique_ptr<Sink> sink,
                                            const ParquetExportOptions& options) {
  CFILE_ASSIGN_OR_RETURN(const TableReader reader, TableReader::Open(table, options.reader));
  return ExportParquet(reader, std::move(sink), options);
}

absl::StatusOr<ParquetReport> ExportParquet(const TableReader& table, std::unique_ptr<Sink> sink,
                                            const ParquetExportOptions& options) {
  if (table.applies_merge_rule()) {
    return absl::FailedPreconditionError(absl::StrCat(
        table.directory(),
        ": Parquet would get rows that were replaced, because the table has a "
        "merge rule. Compact it into one part, and open this with ReaderOptions::stored_rows"));
  }
  const internal::ParquetRows rows{
      .schema = table.schema(),
      .num_rows = table.num_rows(),
      .num_parts = table.num_parts(),
      .open = [&](size_t part, size_t column) { return table.OpenColumn(part, column); },
      .metadata = [&] { return table.metadata(); }};
  return internal::ExportToParquet(rows, std::move(sink), options);
}

absl::StatusOr<ParquetReport> ExportParquet(const Reader& file, std::unique_ptr<Sink> sink,
                                            const ParquetExportOptions& options) {
  const FileInfo& info = file.info();
  const internal::ParquetRows rows{
      .schema = {.columns = {{.name = "value",
                              .type = info.type,
                              .nullable = info.nullable,
                              .levels = info.has_levels() ? info.levels : LevelLimits()}}},
      .num_rows = info.num_rows,
      .num_parts = 1,
      .open = [&](size_t, size_t) { return file; },
      .metadata = [&] { return internal::TablePairs(info); }};
  return internal::ExportToParquet(rows, std::move(sink), options);
}

absl::StatusOr<ParquetReport> ExportParquet(const TableLocation& table, const std::string& path,
                                            const ParquetExportOptions& options) {
  CFILE_ASSIGN_OR_RETURN(std::unique_ptr<Sink> sink, NewFileSink(path));
  return ExportParquet(table, std::move(sink), options);
}

}  // namespace cfile
