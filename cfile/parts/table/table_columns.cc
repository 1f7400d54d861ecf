// Changes the columns of a table without writing files of columns.
#include "cfile/table_columns.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "cfile/core/io/named_status.h"
#include "cfile/parts/table/bound_filter.h"
#include "cfile/parts/table/column_change.h"
#include "cfile/parts/table/commit/table_commit.h"
#include "cfile/parts/table/default_column.h"
#include "cfile/parts/table/manifest/table_file.h"
#include "encodings/core/status.h"

namespace cfile {
namespace {

using internal::Manifest;
using internal::ManifestEdit;
using internal::TableColumns;

// Calls `change` to change the columns of the table, and commits the result.
absl::Status ChangeColumns(
    const TableLocation& location, const ReaderOptions& options, bool removes_columns,
    absl::FunctionRef<absl::Status(const Storage&, const Manifest&, TableColumns&)> change) {
  const std::shared_ptr<Storage> storage = location.storage();
  const auto edit = [&](const Manifest* now) -> absl::StatusOr<std::optional<ManifestEdit>> {
    if (now == nullptr) return internal::NoTable(*storage);
    CFILE_RETURN_IF_ERROR(internal::CheckFlat(*storage, now->root().schema));
    TableColumns columns{now->root().schema, internal::IdentitiesOf(now->root())};
    CFILE_RETURN_IF_ERROR(change(*storage, *now, columns));
    CFILE_RETURN_IF_ERROR(
        internal::Named(internal::ValidateSchema(columns.schema), storage->name()));
    CFILE_ASSIGN_OR_RETURN(
        internal::TableContents root,
        internal::Named(internal::WithSchema(now->root(), columns.schema, columns.identities),
                        storage->name()));
    if (root.metadata.empty() &&
        columns.identities.ids[0] != internal::IdentitiesOf(now->root()).ids[0]) {
      CFILE_ASSIGN_OR_RETURN(root.metadata, internal::FirstColumnMetadata(*storage, *now, options));
    }
    // If the id of each column is still its number, no ids are stored, so that older readers can
    // read the table.
    if (columns.identities == internal::IdentitiesOf(now->root())) {
      root.identities = now->root().identities;
    }
    return ManifestEdit{.root = std::move(root), .removes_columns = removes_columns};
  };
  return internal::CommitTable(*storage, options, edit);
}

absl::StatusOr<size_t> Find(const Storage& storage, const TableColumns& columns,
                            std::string_view name) {
  if (const auto column = columns.schema.Find(name)) return *column;
  return internal::NoColumn(storage, name);
}

}  // namespace

absl::Status AddColumn(const TableLocation& table, const ColumnSchema& column,
                       const std::optional<Literal>& default_value, const ReaderOptions& options) {
  const auto add = [&](const Storage& storage, const Manifest& now,
                       TableColumns& columns) -> absl::Status {
    columns.schema.columns.push_back(column);
    CFILE_RETURN_IF_ERROR(
        internal::Named(internal::ValidateSchema(columns.schema), storage.name()));
    const auto error = [&](const absl::Status& status) {
      return internal::WithMessage(status, absl::StrCat(storage.name(), ": the default of column ",
                                                        column.name, ": ", status.message()));
    };
    if (column.has_levels()) {
      return absl::InvalidArgumentError(absl::StrCat(storage.name(), ": column ", column.name,
                                                     " has levels, but the table is flat"));
    }
    std::optional<std::string> key;
    if (default_value) {
      auto of_literal = internal::KeyOfLiteral(column.type, *default_value);
      if (!of_literal.ok()) return error(of_literal.status());
      key = *std::move(of_literal);
      // Readers make a file in memory from the default. Check that this works.
      const auto file = internal::NewDefaultColumn(column, key, 1, column.name, {});
      if (!file.ok()) return error(file.status());
    } else if (!column.nullable && now.num_parts() > 0) {
      return error(absl::InvalidArgumentError(
          "there is none, but the table has parts and the column is not nullable"));
    }
    columns.schema.columns.pop_back();
    return columns.Add(column, std::move(key));
  };
  return ChangeColumns(table, options, /*removes_columns=*/false, add);
}

absl::Status DropColumns(const TableLocation& table, std::span<const std::string> names,
                         const ReaderOptions& options) {
  const auto drop = [&](const Storage& storage, const Manifest&,
                        TableColumns& columns) -> absl::Status {
    std::vector<bool> dropped(columns.schema.columns.size());
    for (const std::string& name : names) {
      CFILE_ASSIGN_OR_RETURN(const size_t column, Find(storage, columns, name));
      dropped[column] = true;
    }
    for (const size_t column : columns.schema.key_columns) {
      if (!dropped[column]) continue;
      return absl::FailedPreconditionError(
          absl::StrCat(storage.name(), ": column ", columns.schema.columns[column].name,
                       " is a key column, which cannot be dropped"));
    }
    for (size_t column = 0; column < dropped.size(); ++column) {
      if (!dropped[column] || !columns.schema.IsOfRule(column)) continue;
      return internal::IsColumnOfRule(storage, columns.schema, column);
    }
    std::vector<size_t> order;
    for (size_t i = 0; i < dropped.size(); ++i) {
      if (!dropped[i]) order.push_back(i);
    }
    columns.Rearrange(order);
    return absl::OkStatus();
  };
  return ChangeColumns(table, options, /*removes_columns=*/true, drop);
}

absl::Status RenameColumn(const TableLocation& table, std::string_view from, std::string_view to,
                          const ReaderOptions& options) {
  const auto rename = [&](const Storage& storage, const Manifest&,
                          TableColumns& columns) -> absl::Status {
    CFILE_ASSIGN_OR_RETURN(const size_t column, Find(storage, columns, from));
    columns.schema.columns[column].name = std::string(to);
    return absl::OkStatus();
  };
  return ChangeColumns(table, options, /*removes_columns=*/false, rename);
}

absl::Status ReorderColumns(const TableLocation& table, std::span<const std::string> names,
                            const ReaderOptions& options) {
  const auto reorder = [&](const Storage& storage, const Manifest&,
                           TableColumns& columns) -> absl::Status {
    std::vector<size_t> order;
    for (const std::string& name : names) {
      CFILE_ASSIGN_OR_RETURN(const size_t column, Find(storage, columns, name));
      order.push_back(column);
    }
    std::vector<size_t> all = order;
    std::sort(all.begin(), all.end());
    std::vector<size_t> expected(columns.schema.columns.size());
    std::iota(expected.begin(), expected.end(), size_t{0});
    if (all != expected) {
      return absl::InvalidArgumentError(absl::StrCat(storage.name(), ": expected each of the ",
                                                     expected.size(), " columns once, found ",
                                                     names.size(), " names"));
    }
    columns.Rearrange(order);
    return absl::OkStatus();
  };
  return ChangeColumns(table, options, /*removes_columns=*/false, reorder);
}

absl::Status ChangeMetadata(const TableLocation& table,
                            absl::FunctionRef<absl::Status(internal::MetadataPairs&)> change,
                            const ReaderOptions& options) {
  const std::shared_ptr<Storage> storage = table.storage();
  const auto edit = [&](const Manifest* now) -> absl::StatusOr<std::optional<ManifestEdit>> {
    if (now == nullptr) return internal::NoTable(*storage);
    internal::TableContents root = now->root();
    if (root.metadata.empty()) {
      CFILE_ASSIGN_OR_RETURN(root.metadata, internal::FirstColumnMetadata(*storage, *now, options));
    }
    CFILE_RETURN_IF_ERROR(change(root.metadata));
    if (root.metadata == now->root().metadata) return std::nullopt;
    for (const auto& [key, value] : root.metadata)
      CFILE_RETURN_IF_ERROR(internal::CheckMetadataKey(key));
    // Without pairs in table.cft, those of the file of the first column count.
    if (root.metadata.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat(storage->name(), ": no metadata would be left"));
    }
    return ManifestEdit{.root = std::move(root)};
  };
  return internal::CommitTable(*storage, options, edit);
}

}  // namespace cfile
