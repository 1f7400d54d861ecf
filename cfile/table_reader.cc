#include <algorithm>
#include <cassert>
#include <mutex>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cfile/internal/key_codec.h"
#include "cfile/internal/split_rows.h"
#include "cfile/internal/table_file.h"
#include "cfile/table.h"
#include "encodings/key_order.h"
#include "encodings/status.h"

namespace cfile {
namespace {

using encodings::DataLoss;
using internal::TableContents;
using internal::TablePart;
using internal::TablePartColumn;

// That the file is the one that table.cft speaks of.
absl::Status CheckColumnFile(const std::string& path, const FileInfo& info,
                             const TablePartColumn& expected, const ColumnSchema& column) {
  if (info.file_size_bytes != expected.size_bytes) {
    return DataLoss(path, ": ", expected.size_bytes, " bytes expected by table.cft, found ",
                    info.file_size_bytes);
  }
  if (info.num_values != expected.num_values) {
    return DataLoss(path, ": ", expected.num_values, " values expected by table.cft, found ",
                    info.num_values);
  }
  const LevelLimits levels = info.has_levels() ? info.levels : LevelLimits();
  if (levels != column.levels) {
    const auto name = [](const LevelLimits& limits) {
      return absl::StrCat(limits.max_repetition, " and ", limits.max_definition);
    };
    return DataLoss(path, ": levels up to ", name(column.levels), " expected by table.cft, found ",
                    name(levels));
  }
  if (info.type != column.type || (!column.has_levels() && info.nullable != column.nullable)) {
    const auto name = [](const ColumnType& type, bool nullable) {
      return absl::StrCat(nullable ? "nullable " : "", type.ToString());
    };
    return DataLoss(path, ": ", name(column.type, column.nullable),
                    " expected by table.cft, found ", name(info.type, info.nullable));
  }
  return absl::OkStatus();
}

}  // namespace

Schema Schema::OfRecords(const RecordSchema& tree) {
  Schema schema{.tree = tree};
  for (const size_t leaf : tree.leaves()) {
    const RecordNode& node = tree.node(leaf);
    ColumnSchema column{.name = tree.Path(leaf), .type = node.type};
    if (node.max_repetition > 0 || node.max_definition > 1) {
      column.levels = {.max_repetition = node.max_repetition,
                       .max_definition = node.max_definition};
    } else {
      column.nullable = node.max_definition == 1;
    }
    schema.columns.push_back(std::move(column));
  }
  return schema;
}

absl::StatusOr<RecordSchema> Schema::Records(const RecordLimits& limits) const {
  if (tree.has_value()) return *tree;
  std::vector<RecordNode> nodes = {{.name = "record", .num_children = columns.size()}};
  for (const ColumnSchema& column : columns) {
    nodes.push_back({.name = column.name,
                     .repetition = column.nullable ? Repetition::kOptional : Repetition::kRequired,
                     .type = column.type});
  }
  return RecordSchema::Create(std::move(nodes), limits);
}

std::optional<size_t> Schema::Find(std::string_view name) const {
  for (size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].name == name) return i;
  }
  return std::nullopt;
}

std::vector<ColumnType> Schema::key_types() const {
  std::vector<ColumnType> types;
  for (const size_t column : key_columns) types.push_back(columns[column].type);
  return types;
}

class TableReader::Impl {
 public:
  Impl(std::string directory, const ReaderOptions& options, TableContents contents)
      : directory_(std::move(directory)),
        options_(options),
        contents_(std::move(contents)),
        columns_(internal::StoredColumns(contents_.schema)),
        readers_(contents_.parts.size() * columns_.size()) {
    for (const TablePart& part : contents_.parts) {
      first_ordinals_.push_back(num_rows_);
      num_rows_ += part.num_rows;
    }
  }

  const TableContents& contents() const { return contents_; }
  const std::vector<ColumnSchema>& columns() const { return columns_; }
  const std::string& directory() const { return directory_; }
  const ReaderOptions& options() const { return options_; }
  uint64_t num_rows() const { return num_rows_; }
  size_t num_parts() const { return contents_.parts.size(); }
  uint64_t first_ordinal(size_t part) const {
    assert(part < num_parts());
    return first_ordinals_[part];
  }

  // The part with the row `ordinal`. Precondition: ordinal < num_rows().
  size_t PartOf(uint64_t ordinal) const {
    assert(ordinal < num_rows_);
    // Of several that begin there, all but the last are empty.
    const auto after = std::upper_bound(first_ordinals_.begin(), first_ordinals_.end(), ordinal);
    return static_cast<size_t>(after - first_ordinals_.begin()) - 1;
  }

  absl::StatusOr<Reader> OpenColumn(size_t part, size_t column) const {
    assert(part < num_parts() && column < columns_.size());
    std::optional<Reader>& slot = readers_[part * columns_.size() + column];
    {
      const std::lock_guard lock(mutex_);
      if (slot.has_value()) return *slot;
    }
    const std::string path = internal::ColumnFilePath(directory_, contents_.parts[part], column);
    CFILE_ASSIGN_OR_RETURN(Reader reader, Reader::Open(path, options_));
    CFILE_RETURN_IF_ERROR(CheckColumnFile(path, reader.info(),
                                          contents_.parts[part].columns[column], columns_[column]));
    // Where two threads were at it, both use what the first one opened.
    const std::lock_guard lock(mutex_);
    if (!slot.has_value()) slot = std::move(reader);
    return *slot;
  }

 private:
  const std::string directory_;
  const ReaderOptions options_;
  const TableContents contents_;
  const std::vector<ColumnSchema> columns_;  // those that have files
  std::vector<uint64_t> first_ordinals_;     // by part
  uint64_t num_rows_ = 0;
  mutable std::mutex mutex_;
  mutable std::vector<std::optional<Reader>> readers_;  // guarded by mutex_; part by part
};

TableReader::TableReader(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

absl::StatusOr<TableReader> TableReader::Open(const std::string& directory,
                                              const ReaderOptions& options) {
  const std::string path = internal::TableFilePath(directory);
  CFILE_ASSIGN_OR_RETURN(const std::string bytes,
                         internal::ReadTableFile(path, options.max_metadata_size_bytes));
  CFILE_ASSIGN_OR_RETURN(TableContents contents, internal::ParseTable(bytes, path, options));
  return TableReader(std::make_shared<const Impl>(directory, options, std::move(contents)));
}

const Schema& TableReader::schema() const { return impl_->contents().schema; }
const RecordLimits& TableReader::record_limits() const { return impl_->options().record_limits; }
uint64_t TableReader::num_rows() const { return impl_->num_rows(); }
size_t TableReader::num_parts() const { return impl_->num_parts(); }

uint64_t TableReader::part_num_rows(size_t part) const {
  assert(part < num_parts());
  return impl_->contents().parts[part].num_rows;
}
uint64_t TableReader::part_first_ordinal(size_t part) const { return impl_->first_ordinal(part); }

std::string TableReader::part_file(size_t part, size_t column) const {
  assert(part < num_parts() && column < impl_->columns().size());
  const TablePart& contents = impl_->contents().parts[part];
  return absl::StrCat(contents.directory, "/", contents.columns[column].file_name);
}

absl::StatusOr<Reader> TableReader::OpenColumn(size_t part, size_t column) const {
  return impl_->OpenColumn(part, column);
}

template <typename T>
class TableCursor<T>::Impl {
 public:
  Impl(std::shared_ptr<const TableReader::Impl> table, size_t column)
      : table_(std::move(table)), column_(column), end_(table_->num_rows()) {}

  uint64_t ordinal() const { return ordinal_; }

  // Makes cursor_ that of `part`.
  absl::Status Enter(size_t part) {
    if (cursor_.has_value() && part_ == part) return absl::OkStatus();
    cursor_.reset();
    CFILE_ASSIGN_OR_RETURN(const Reader reader, table_->OpenColumn(part, column_));
    CFILE_ASSIGN_OR_RETURN(cursor_, reader.NewCursor<T>());
    part_ = part;
    return absl::OkStatus();
  }

  absl::Status SeekToOrdinal(uint64_t ordinal) {
    end_ = table_->num_rows();
    if (ordinal > table_->num_rows()) {
      return absl::OutOfRangeError(absl::StrCat(table_->directory(), ": row ", ordinal,
                                                " sought in ", table_->num_rows(), " rows"));
    }
    if (ordinal < table_->num_rows()) {
      const size_t part = table_->PartOf(ordinal);
      CFILE_RETURN_IF_ERROR(Enter(part));
      CFILE_RETURN_IF_ERROR(cursor_->SeekToOrdinal(ordinal - table_->first_ordinal(part)));
    }
    ordinal_ = ordinal;
    return absl::OkStatus();
  }

  absl::Status SeekToRange(const OrdinalRange& range) {
    assert(range.begin <= range.end);
    // What is wrong with an end behind the rows is wrong with going there.
    if (range.end > table_->num_rows()) return SeekToOrdinal(range.end);
    CFILE_RETURN_IF_ERROR(SeekToOrdinal(range.begin));
    end_ = range.end;
    return absl::OkStatus();
  }

  absl::StatusOr<Batch<T>> Next(size_t max_rows) {
    const uint64_t left = end_ - std::min(ordinal_, end_);
    if (left == 0) return Batch<T>{.first_ordinal = ordinal_};
    const size_t part = table_->PartOf(ordinal_);
    CFILE_RETURN_IF_ERROR(Enter(part));
    const uint64_t first_ordinal = table_->first_ordinal(part);
    if (cursor_->ordinal() != ordinal_ - first_ordinal) {
      CFILE_RETURN_IF_ERROR(cursor_->SeekToOrdinal(ordinal_ - first_ordinal));
    }
    CFILE_ASSIGN_OR_RETURN(Batch<T> batch,
                           cursor_->Next(static_cast<size_t>(std::min<uint64_t>(max_rows, left))));
    batch.first_ordinal += first_ordinal;
    ordinal_ += batch.size();
    return batch;
  }

  absl::StatusOr<std::optional<T>> Get(uint64_t ordinal) {
    if (ordinal >= table_->num_rows()) {
      return absl::OutOfRangeError(absl::StrCat(table_->directory(), ": row ", ordinal,
                                                " wanted of ", table_->num_rows(), " rows"));
    }
    end_ = table_->num_rows();
    const size_t part = table_->PartOf(ordinal);
    CFILE_RETURN_IF_ERROR(Enter(part));
    CFILE_ASSIGN_OR_RETURN(std::optional<T> value,
                           cursor_->Get(ordinal - table_->first_ordinal(part)));
    ordinal_ = ordinal + 1;
    return value;
  }

  absl::StatusOr<KeyPosition> SeekToKey(const T& key) {
    end_ = table_->num_rows();
    if (!encodings::IsKey(key)) return absl::InvalidArgumentError("NaN is no key");
    CFILE_RETURN_IF_ERROR(FindKeyedParts());
    std::string wanted;
    internal::AppendKey(key, wanted);
    const auto found =
        std::partition_point(keyed_parts_->begin(), keyed_parts_->end(),
                             [&](size_t part) { return *PartColumn(part).max_key < wanted; });
    if (found == keyed_parts_->end()) {
      ordinal_ = table_->num_rows();
      return KeyPosition{.ordinal = ordinal_};
    }
    CFILE_RETURN_IF_ERROR(Enter(*found));
    CFILE_ASSIGN_OR_RETURN(KeyPosition position, cursor_->SeekToKey(key));
    if (position.ordinal >= PartColumn(*found).num_values) {
      return DataLoss(
          internal::ColumnFilePath(table_->directory(), table_->contents().parts[*found], column_),
          ": table.cft says that the greatest value is not below the key sought, found all below");
    }
    position.ordinal += table_->first_ordinal(*found);
    ordinal_ = position.ordinal;
    return position;
  }

 private:
  const TablePartColumn& PartColumn(size_t part) const {
    return table_->contents().parts[part].columns[column_];
  }

  // Fills keyed_parts_, once.
  absl::Status FindKeyedParts() {
    if (keyed_parts_.has_value()) return absl::OkStatus();
    std::vector<size_t> parts;
    for (size_t part = 0; part < table_->num_parts(); ++part) {
      const TablePartColumn& column = PartColumn(part);
      if (column.num_values == 0) continue;
      const auto error = [&](std::string_view what) {
        return absl::FailedPreconditionError(absl::StrCat(
            table_->directory(), ": no search by key in column ", table_->columns()[column_].name,
            ": ", std::string(what), " ", table_->contents().parts[part].directory));
      };
      if (!column.min_key.has_value()) return error("there is no value index in");
      if (!parts.empty() && *column.min_key < *PartColumn(parts.back()).max_key) {
        return error("the part before it has values above the first one of");
      }
      parts.push_back(part);
    }
    keyed_parts_ = std::move(parts);
    return absl::OkStatus();
  }

  const std::shared_ptr<const TableReader::Impl> table_;
  const size_t column_;
  uint64_t ordinal_ = 0;
  uint64_t end_;  // where Next ends
  size_t part_ = 0;
  std::optional<Cursor<T>> cursor_;                 // of part_
  std::optional<std::vector<size_t>> keyed_parts_;  // those with rows, once known to ascend
};

VerifyReport TableReader::VerifyColumn(size_t part, size_t column) const {
  const absl::StatusOr<Reader> reader = OpenColumn(part, column);
  VerifyReport report;
  if (!reader.ok()) {
    report.damages.emplace_back().status = reader.status();
    return report;
  }
  report = Verify(*reader);
  // What could not be read was not counted.
  if (!report.ok()) return report;
  const TablePart& in_part = impl_->contents().parts[part];
  const TablePartColumn& expected = in_part.columns[column];
  const std::string path = internal::ColumnFilePath(impl_->directory(), in_part, column);
  if (report.null_count != expected.null_count) {
    report.damages.emplace_back().status = DataLoss(
        path, ": ", expected.null_count, " nulls expected by table.cft, found ", report.null_count);
  }
  if (report.min_key.value_or("") != expected.min_key.value_or("") ||
      report.max_key.value_or("") != expected.max_key.value_or("")) {
    report.damages.emplace_back().status =
        DataLoss(path, ": the least and greatest value are not those that table.cft says");
  }
  return report;
}

template <typename T>
absl::StatusOr<TableCursor<T>> TableReader::NewCursor(size_t column) const {
  assert(column < impl_->columns().size());
  const ColumnSchema& column_schema = impl_->columns()[column];
  if (!HoldsType<T>(column_schema.type)) {
    return absl::InvalidArgumentError(
        absl::StrCat(impl_->directory(), ": column ", column_schema.name, " holds ",
                     column_schema.type.ToString(), ", which is not read as this C++ type"));
  }
  if (column_schema.has_levels()) {
    return absl::InvalidArgumentError(
        absl::StrCat(impl_->directory(), ": column ", column_schema.name,
                     " has levels, which are not read as one value a row"));
  }
  auto impl = std::make_unique<typename TableCursor<T>::Impl>(impl_, column);
  // Here already, so that a codec that is not built in is found here.
  if (num_rows() > 0) CFILE_RETURN_IF_ERROR(impl->Enter(impl_->PartOf(0)));
  return TableCursor<T>(std::move(impl));
}

absl::StatusOr<std::vector<OrdinalRange>> TableReader::Split(size_t column,
                                                             size_t max_ranges) const {
  assert(column < impl_->columns().size());
  return internal::SplitRows(
      num_rows(), max_ranges, [&](uint64_t ordinal) -> absl::StatusOr<uint64_t> {
        const size_t part = impl_->PartOf(ordinal);
        CFILE_ASSIGN_OR_RETURN(const Reader reader, impl_->OpenColumn(part, column));
        const uint64_t first_ordinal = impl_->first_ordinal(part);
        CFILE_ASSIGN_OR_RETURN(const uint64_t begin, reader.BlockBegin(ordinal - first_ordinal));
        return first_ordinal + begin;
      });
}

template <typename T>
TableCursor<T>::TableCursor(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
template <typename T>
TableCursor<T>::TableCursor(TableCursor&&) noexcept = default;
template <typename T>
TableCursor<T>& TableCursor<T>::operator=(TableCursor&&) noexcept = default;
template <typename T>
TableCursor<T>::~TableCursor() = default;

template <typename T>
absl::Status TableCursor<T>::SeekToOrdinal(uint64_t ordinal) {
  return impl_->SeekToOrdinal(ordinal);
}
template <typename T>
absl::Status TableCursor<T>::SeekToRange(const OrdinalRange& range) {
  return impl_->SeekToRange(range);
}
template <typename T>
absl::StatusOr<Batch<T>> TableCursor<T>::Next(size_t max_rows) {
  return impl_->Next(max_rows);
}
template <typename T>
absl::StatusOr<std::optional<T>> TableCursor<T>::Get(uint64_t ordinal) {
  return impl_->Get(ordinal);
}
template <typename T>
uint64_t TableCursor<T>::ordinal() const {
  return impl_->ordinal();
}
template <typename T>
absl::StatusOr<KeyPosition> TableCursor<T>::SeekToKey(const T& key) {
  return impl_->SeekToKey(key);
}

#define CFILE_INSTANTIATE(T)     \
  template class TableCursor<T>; \
  template absl::StatusOr<TableCursor<T>> TableReader::NewCursor<T>(size_t) const;
CFILE_FOR_EACH_VALUE_TYPE(CFILE_INSTANTIATE)
#undef CFILE_INSTANTIATE

}  // namespace cfile
