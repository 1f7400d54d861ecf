#include <cassert>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cfile/internal/read/split_rows.h"
#include "cfile/internal/table/compound_key_check.h"
#include "cfile/internal/table/open_table.h"
#include "cfile/table.h"
#include "encodings/core/status.h"

namespace cfile {
using encodings::DataLoss;
using internal::TablePart;
using internal::TablePartColumn;

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

TableReader::TableReader(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

absl::StatusOr<TableReader> TableReader::Open(const std::string& directory,
                                              const ReaderOptions& options) {
  CFILE_ASSIGN_OR_RETURN(std::shared_ptr<const Impl> impl, Impl::Open(directory, options));
  return TableReader(std::move(impl));
}

const std::string& TableReader::directory() const { return impl_->directory(); }
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

absl::StatusOr<bool> TableReader::has_value_index(size_t column) const {
  assert(column < impl_->columns().size());
  for (size_t part = num_parts(); part-- > 0;) {
    const TablePartColumn& in_part = impl_->contents().parts[part].columns[column];
    if (in_part.min_key.has_value()) return true;
    if (in_part.num_rows > 0) continue;
    // For a part without values table.cft does not say whether the file has a value index.
    CFILE_ASSIGN_OR_RETURN(const Reader reader, OpenColumn(part, column));
    if (reader.info().value_index_root.has_value()) return true;
  }
  return false;
}

VerifyReport TableReader::VerifyColumn(size_t part, size_t column) const {
  const absl::StatusOr<Reader> reader = OpenColumn(part, column);
  VerifyReport report;
  if (!reader.ok()) {
    report.Add({.status = reader.status()});
    return report;
  }
  report = Verify(*reader);
  // After damage the counts below are incomplete, because unreadable rows were not counted.
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
        DataLoss(path, ": the least and the greatest value are not those in table.cft");
  }
  if (column == schema().key_index()) impl_->CompareKeys(part, *reader, report);
  return report;
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

}  // namespace cfile
