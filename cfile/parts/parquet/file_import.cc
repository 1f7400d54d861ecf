#include "cfile/parts/parquet/file_import.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "cfile/core/io/named_status.h"
#include "cfile/parts/parquet/annotation.h"
#include "cfile/parts/parquet/column_import.h"
#include "cfile/parts/parquet/page_bytes.h"
#include "cfile/parts/parquet/page_reader.h"
#include "cfile/parts/parquet/parquet_type.h"
#include "cfile/parts/parquet/value_conversion.h"
#include "cfile/parts/table/column_writer.h"
#include "cfile/parts/table/manifest/common_type.h"
#include "cfile/status.h"
#include "encodings/core/status.h"
#include "encodings/core/value_dictionary.h"
#include "encodings/parquet.h"

namespace cfile::internal {
namespace {

using encodings::DataLoss;
using encodings::StrCat;
using parquet::RowGroup;

// Checks the counts of the row groups.
absl::Status CheckRowGroups(const parquet::FileMetaData& file) {
  size_t num_leaves = 0;
  for (const parquet::SchemaElement& element : file.schema) num_leaves += element.type.has_value();
  uint64_t num_rows = 0;
  for (size_t i = 0; i < file.row_groups.size(); ++i) {
    const RowGroup& group = file.row_groups[i];
    if (group.columns.size() != num_leaves) {
      return DataLoss("row group ", i, " has ", group.columns.size(), " columns, the schema ",
                      num_leaves);
    }
    if (group.num_rows < 0) return DataLoss("row group ", i, " has ", group.num_rows, " rows");
    num_rows += static_cast<uint64_t>(group.num_rows);
  }
  if (file.num_rows >= 0 && num_rows == static_cast<uint64_t>(file.num_rows))
    return absl::OkStatus();
  return DataLoss("the row groups have ", num_rows, " rows, the file ", file.num_rows);
}

// True if values of type `from` become values of type `to`.
bool TakesValues(const ColumnType& to, const ColumnType& from) {
  return HasSameValues(to, from) || (IsStorable(from, to) && to.data_type != DataType::kVarchar);
}

// Larger dictionaries are not kept as categories, because the header of a file would become large.
constexpr size_t kMaxCategoriesBytes = 64 << 10;

// Sets `values` to the values of the dictionary page of a column chunk of strings, if there is one.
// Returns false if the page cannot be read, or is too large.
bool ReadDictionaryPage(const Source& source, uint64_t end, const parquet::ColumnMetaData& chunk,
                        const ReaderOptions& options,
                        std::optional<std::vector<std::string>>& values) {
  values.reset();
  const int64_t offset = chunk.dictionary_page_offset.value_or(0);
  if (offset <= 0) return true;
  if (static_cast<uint64_t>(offset) > end || !CompressionFromParquet(chunk.codec).ok())
    return false;
  PageReader pages(source, end, options, kMaxCategoriesBytes);
  pages.Seek(static_cast<uint64_t>(offset));
  StoredPage stored;
  PageOpener opener(chunk.codec, {});
  std::span<const uint8_t> bytes;
  if (!pages.Next(stored).ok() || stored.header.type != parquet::PageType::kDictionaryPage ||
      !stored.header.dictionary_page_header ||
      stored.header.dictionary_page_header->num_values < 0 ||
      !opener.OpenDictionary(stored, bytes).ok()) {
    return false;
  }
  const auto page = encodings::ReadParquetDictionaryPage(
      encodings::PhysicalType::kBytes, /*type_length=*/0,
      static_cast<uint64_t>(stored.header.dictionary_page_header->num_values), bytes);
  if (!page.ok()) return false;
  const auto& words = static_cast<const encodings::ValueDictionary<std::string_view>&>(**page);
  values.emplace(words.values.get(), words.values.get() + words.size);
  return true;
}

const WriterOptions& OptionsOf(std::span<const WriterOptions> options, size_t column) {
  static const WriterOptions kDefault;
  return options.empty() ? kDefault : options.size() == 1 ? options[0] : options[column];
}

}  // namespace

std::string GroupsAround(const Schema& schema, size_t column) {
  static constexpr std::string_view kRepetitions[] = {"required ", "optional ", "repeated "};
  std::string groups;
  if (!schema.tree) return groups;
  const RecordSchema& tree = *schema.tree;
  for (size_t i = tree.leaf(column).parent; i != 0; i = tree.node(i).parent) {
    const RecordNode& node = tree.node(i);
    groups = StrCat(kRepetitions[static_cast<size_t>(node.repetition)], node.name,
                    groups.empty() ? "" : ", ", groups);
  }
  return groups;
}

absl::StatusOr<ParquetFileImport> ParquetFileImport::Open(std::shared_ptr<const Source> source,
                                                          std::span<const std::string> columns,
                                                          const ReaderOptions& options,
                                                          bool may_lack) {
  ParquetFileImport result;
  result.source_ = std::move(source);
  CFILE_ASSIGN_OR_RETURN(result.metadata_, parquet::ReadParquetMetadata(
                                               *result.source_, options.max_metadata_size_bytes));
  const std::string& name = result.source_->name();
  const parquet::FileMetaData& file = result.metadata_.file;
  CFILE_ASSIGN_OR_RETURN(
      result.from_, Named(SchemaFromParquet(file, columns, options.record_limits, may_lack), name));
  CFILE_RETURN_IF_ERROR(Named(CheckRowGroups(file), name));
  return result;
}

MetadataPairs ParquetFileImport::Annotations() const {
  MetadataPairs pairs;
  for (const ParquetLeaf& leaf : from_.leaves) {
    std::string annotation = AnnotationToKeep(metadata_.file.schema[leaf.element]);
    if (annotation.empty()) annotation = AnnotationOfGroup(metadata_.file.schema[leaf.element - 1]);
    if (!annotation.empty())
      pairs.emplace_back(from_.schema.columns[leaf.column].name, std::move(annotation));
  }
  return pairs;
}

bool ParquetFileImport::HasOnlyNulls(size_t column) const {
  const ParquetLeaf& leaf = from_.leaves[column];
  if (AnnotationOf(metadata_.file.schema[leaf.element]).unknown) return true;
  return std::ranges::all_of(metadata_.file.row_groups, [&](const RowGroup& group) {
    const auto& chunk = group.columns[leaf.chunk].meta_data;
    return chunk && (chunk->num_values == 0 ||
                     (chunk->statistics && chunk->statistics->null_count == chunk->num_values));
  });
}

Categories ParquetFileImport::ReadCategories(const ReaderOptions& options) const {
  const parquet::FileMetaData& file = metadata_.file;
  MetadataPairs pairs;
  for (const auto& [key, value] : file.key_value_metadata)
    pairs.emplace_back(key, value.value_or(""));
  const std::vector<ArrowLeaf> arrow =
      ArrowLeavesOf(pairs, file.row_groups.empty() ? 0 : file.row_groups[0].columns.size());
  Categories categories;
  for (const ParquetLeaf& leaf : from_.leaves) {
    const ColumnSchema& column = from_.schema.columns[leaf.column];
    if (arrow.empty() || !arrow[leaf.chunk].is_dictionary || column.type != ColumnType::String() ||
        leaf.max_repetition > 0 || !GroupsAround(from_.schema, leaf.column).empty()) {
      continue;
    }
    std::optional<std::vector<std::string>> first, values;
    const bool same =
        std::all_of(file.row_groups.begin(), file.row_groups.end(), [&](const RowGroup& group) {
          const auto& chunk = group.columns[leaf.chunk].meta_data;
          if (!chunk || !ReadDictionaryPage(*source_, metadata_.offset, *chunk, options, values))
            return false;
          if (!first) first = values;
          return !values || values == first;
        });
    if (same && first && AreCategories(*first)) categories.emplace(column.name, *std::move(first));
  }
  return categories;
}

absl::Status ParquetFileImport::Write(std::span<const WriterOptions> writer_options,
                                      const ParquetImportOptions& options, const Progress& progress,
                                      TableWriter& writer, ParquetReport& report) const {
  const Schema& schema = writer.schema();
  std::vector<ColumnImportPlan> plans;
  for (ParquetLeaf leaf : from_.leaves) {
    const ColumnSchema& column = from_.schema.columns[leaf.column];
    const parquet::SchemaElement& element = metadata_.file.schema[leaf.element];
    bool only_nulls = false;
    const auto takes = [&](const ColumnType& type) {
      return TakesValues(type, column.type) ||
             (element.type == parquet::Type::kInt96 &&
              (type == ColumnType::Int96() || IsMicros(type))) ||
             (only_nulls = HasOnlyNulls(leaf.column));
    };
    const std::optional<size_t> found = schema.Find(column.name);
    if (!found || !takes(schema.columns[*found].type)) {
      return UnfitRows(absl::InvalidArgumentError(
          StrCat(source_->name(), ": column ", column.name, " is ", column.type.ToString(),
                 " in this file, but the table has ",
                 !found ? "no such column" : schema.columns[*found].type.ToString())));
    }
    const std::string here = GroupsAround(from_.schema, leaf.column);
    const std::string there = GroupsAround(schema, *found);
    if (here != there || schema.columns[*found].levels != column.levels) {
      return absl::InvalidArgumentError(
          here == there ? StrCat(source_->name(), ": column ", column.name,
                                 " may be null in this file or in the table, but not in both")
                        : StrCat(source_->name(), ": the groups around column ", column.name,
                                 " are (", here, ") in this file, but (", there, ") in the table"));
    }
    leaf.same_pages = !only_nulls && HasSamePages(element, schema.columns[*found].type);
    plans.push_back({.source = source_.get(),
                     .metadata = &metadata_,
                     .leaf = leaf,
                     .name = column.name,
                     .tree = from_.schema.tree ? &*from_.schema.tree : nullptr,
                     .reader = options.reader,
                     .max_page_size_bytes = options.max_page_size_bytes,
                     .file_type = column.type,
                     .only_nulls = only_nulls,
                     .column = schema.columns[*found],
                     .table_column = *found,
                     .writer = OptionsOf(writer_options, *found),
                     .copies_pages = options.copy_pages});
  }
  std::vector<std::unique_ptr<ColumnImport>> columns;
  for (const ColumnImportPlan& plan : plans) columns.push_back(NewColumnImport(plan));
  const std::vector<RowGroup>& groups = metadata_.file.row_groups;
  std::vector<GroupLevels> levels_before(groups.size());  // of the column before, by row group
  const auto import = [&](size_t column, const RowGroup& group) -> absl::Status {
    const auto rows = static_cast<uint64_t>(group.num_rows);
    CFILE_RETURN_IF_ERROR(
        columns[column]->Import(group.columns[plans[column].leaf.chunk], rows, writer, report));
    const auto number = static_cast<size_t>(&group - groups.data());
    const LevelCheck& levels = columns[column]->levels();
    if (column > 0 && from_.schema.tree) {
      const absl::Status status =
          CompareLevels(*from_.schema.tree, column - 1, levels_before[number], levels.before());
      CFILE_RETURN_IF_ERROR(Named(status, StrCat(source_->name(), ": row group ", number)));
    }
    levels_before[number] = levels.after();
    return progress(rows);
  };
  if (options.part_per_row_group) {
    for (const RowGroup& group : groups) {
      if (&group != &groups[0]) CFILE_RETURN_IF_ERROR(TableWriterAccess::NextPart(writer));
      for (size_t i = 0; i < columns.size(); ++i) CFILE_RETURN_IF_ERROR(import(i, group));
    }
  } else {
    for (size_t i = 0; i < columns.size(); ++i) {
      for (const RowGroup& group : groups) CFILE_RETURN_IF_ERROR(import(i, group));
    }
  }
  report.rows += num_rows();
  report.row_groups += groups.size();
  return absl::OkStatus();
}

}  // namespace cfile::internal
