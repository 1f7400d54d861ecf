#include "cfile/table.h"

#include <algorithm>
#include <new>
#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "cfile/compound_key.h"
#include "cfile/core/format/metadata_keys.h"
#include "cfile/core/io/named_status.h"
#include "cfile/core/write/sticky_status.h"
#include "cfile/parts/table/column_writer.h"
#include "cfile/parts/table/commit/new_parts.h"
#include "cfile/parts/table/commit/table_commit.h"
#include "cfile/parts/table/commit/unfinished_table.h"
#include "cfile/parts/table/compound_key_check.h"
#include "cfile/parts/table/manifest/table_file.h"
#include "cfile/parts/table/open_table.h"
#include "cfile/parts/table/packed/packed_part.h"
#include "cfile/reader.h"
#include "cfile/storage.h"
#include "encodings/core/assert.h"
#include "encodings/core/status.h"

namespace cfile {
namespace {

using internal::AnyBatch;
using internal::AnyLevelBatch;
using internal::ColumnWriter;
using internal::Manifest;
using internal::NewParts;
using internal::Publication;
using internal::TablePart;

}  // namespace

class TableWriter::Impl {
 public:
  explicit Impl(std::shared_ptr<Storage> storage) : storage_(std::move(storage)) {}

  ~Impl() {
    columns_.clear();  // removes the incomplete files of the columns
    packed_.reset();
    if (publication_ != Publication::kNot) return;
    try {
      // A part's name is unique, so this removes no other part, even if another table is now at
      // the path.
      for (const TablePart& part : new_.parts) (void)storage_->Delete(part.directory);
      if (!part_.directory.empty()) (void)storage_->Delete(part_.directory);
    } catch (const std::bad_alloc&) {
      // Building paths needs memory. If there is none, the part's files stay, as if the process had
      // been killed.
    }
  }

  absl::Status Create(const Schema& schema, std::span<const WriterOptions> options) {
    CFILE_RETURN_IF_ERROR(internal::Named(internal::ValidateSchema(schema), name()));
    const auto files = storage_->List("");
    if (files.ok() && internal::IsUnfinishedTable(*files)) {
      return absl::AlreadyExistsError(
          absl::StrCat(name(),
                       ": a writer of a new table is at work here, or was killed; then collecting "
                       "garbage (cfile-table gc) removes its files"));
    }
    // kFailedPrecondition: a file is at the path of the directory.
    if (absl::IsFailedPrecondition(files.status()) || (files.ok() && !files->empty())) {
      return absl::AlreadyExistsError(
          absl::StrCat(name(), ": expected nothing or an empty directory at this path"));
    }
    CFILE_RETURN_IF_ERROR(files.status());
    new_.table = NewParts::Table::kMustBeNew;
    new_.schema = schema;
    new_.oldest_reader = internal::OldestReaderOfNewTable(options);
    SetLimit(options);
    return BeginPart(options);
  }

  absl::Status OpenOrCreate(const Schema& schema, std::span<const WriterOptions> options) {
    CFILE_RETURN_IF_ERROR(internal::Named(internal::ValidateSchema(schema), name()));
    SetLimit(options);
    const auto now = internal::ReadTable(*storage_, limits());
    if (!now.ok() && !absl::IsNotFound(now.status())) return now.status();
    if (now.ok()) {
      if ((*now)->root().schema != schema) {
        return absl::FailedPreconditionError(absl::StrCat(
            internal::TableFilePath(name()), ": the table has another schema than the new part"));
      }
      new_.identities = (*now)->root().identities;
      new_.oldest_reader = (*now)->root().oldest_reader;
    } else {
      new_.oldest_reader = internal::OldestReaderOfNewTable(options);
    }
    new_.table = NewParts::Table::kMayExist;
    new_.schema = schema;
    return BeginPart(options);
  }

  absl::Status Append(std::span<const WriterOptions> options,
                      std::span<const std::string> replaced = {}) {
    SetLimit(options);
    CFILE_ASSIGN_OR_RETURN(const auto now, internal::ReadTable(*storage_, limits()));
    return Append(*now, replaced, options);
  }

  // `now`: the table as the caller knows it.
  // `replaced`: the names of the parts that the new part replaces.
  // `may_reveal`: as in NewParts.
  absl::Status Append(const Manifest& now, std::span<const std::string> replaced,
                      std::span<const WriterOptions> options, bool may_reveal = false) {
    SetLimit(options);
    CFILE_ASSIGN_OR_RETURN(internal::FoundParts found, internal::FindParts(replaced, now));
    if (found.missing) return internal::NoSuchPart(now, *found.missing);
    new_.replaced_parts = std::move(found.parts);
    new_.may_reveal = may_reveal;
    for (const TablePart& part : new_.replaced_parts) new_.replaced.push_back(part.directory);
    return Begin(now.root().schema, now.root().identities, now.root().oldest_reader, options);
  }

  absl::Status Begin(const Schema& schema, std::optional<internal::ColumnIdentities> identities,
                     OldestReader oldest_reader, std::span<const WriterOptions> options) {
    SetLimit(options);
    new_.schema = schema;
    new_.identities = std::move(identities);
    new_.oldest_reader = oldest_reader;
    return BeginPart(options);
  }

  absl::Status Finish() {
    CFILE_RETURN_IF_ERROR(CheckColumns());
    return finished_.Finish([&]() -> absl::Status {
      CFILE_RETURN_IF_ERROR(CompletePart());
      const absl::Status status = internal::Publish(*storage_, limits(), new_, publication_);
      // Only files of the new parts can be missing.
      return absl::IsNotFound(status) ? Removed(new_.parts.back().directory) : status;
    });
  }

  absl::StatusOr<std::vector<TablePart>> Complete() {
    CFILE_RETURN_IF_ERROR(CheckColumns());
    CFILE_RETURN_IF_ERROR(finished_.Finish([&] { return CompletePart(); }));
    publication_ = Publication::kUnknown;  // the caller publishes the parts
    return new_.parts;
  }

  absl::StatusOr<std::string> FinishPrepared() {
    CFILE_ASSERT(new_.replaced.empty());
    CFILE_RETURN_IF_ERROR(CheckColumns());
    std::string bytes;
    const absl::Status status = finished_.Finish([&]() -> absl::Status {
      CFILE_RETURN_IF_ERROR(CompletePart());
      bytes = internal::SerializeTable({.schema = new_.schema,
                                        .parts = new_.parts,
                                        .identities = new_.identities,
                                        .oldest_reader = new_.oldest_reader});
      CFILE_RETURN_IF_ERROR(
          internal::CheckTableFileSize(bytes, name(), limits().max_metadata_size_bytes));
      publication_ = Publication::kUnknown;  // the caller may publish the parts
      return absl::OkStatus();
    });
    CFILE_RETURN_IF_ERROR(status);
    return bytes;
  }

  absl::Status NextPart() {
    CFILE_RETURN_IF_ERROR(CheckColumns());
    return finished_.Run([&]() -> absl::Status {
      CFILE_RETURN_IF_ERROR(CompletePart());
      columns_.clear();
      packed_.reset();
      return BeginPart(std::vector<WriterOptions>(std::move(options_)));
    });
  }

  void LeavesOut(std::pair<std::string, std::string> keys) { new_.left_out = std::move(keys); }

  const Schema& schema() const { return new_.schema; }
  const ColumnWriter& column(size_t i) const {
    CFILE_ASSERT(i < columns_.size());
    return *columns_[i];
  }
  const std::vector<std::unique_ptr<ColumnWriter>>& columns() const { return columns_; }
  size_t packed_bytes() const { return packed_ != nullptr ? packed_->memory_usage_bytes() : 0; }
  const std::vector<ColumnTotals>& complete_totals() const { return complete_totals_; }

  // `holds`: whether a column of a type holds the C++ type of the values.
  absl::Status Append(size_t i, internal::HoldsFunction* holds, const AnyBatch& rows) {
    CFILE_RETURN_IF_ERROR(CheckType(i, holds));
    if (!stored_[i].has_levels()) return columns_[i]->writer().Append(rows);
    return Refuse(i, " has levels: append to it with AppendLevels");
  }

  absl::Status Append(size_t i, internal::HoldsFunction* holds, const AnyLevelBatch& entries) {
    CFILE_RETURN_IF_ERROR(CheckType(i, holds));
    internal::AnyWriter& writer = columns_[i]->writer();
    if (stored_[i].has_levels()) return writer.Append(entries);
    if (!entries.repetition.empty() || (!stored_[i].nullable && !entries.definition.empty())) {
      return Refuse(i, stored_[i].nullable ? " has no repetition levels" : " has no levels");
    }
    const bool no_nulls = entries.definition.size() == entries.values.count &&
                          std::all_of(entries.definition.begin(), entries.definition.end(),
                                      [](uint16_t level) { return level == 1; });
    if (no_nulls || !stored_[i].nullable)
      return writer.Append(AnyBatch{.values = entries.values.data, .count = entries.values.count});
    return internal::AppendDefined(writer, encodings::LaneOf(stored_[i].type.physical()),
                                   entries.definition, entries.values);
  }

 private:
  // Checks that the columns of the part are without error and of equal length.
  absl::Status CheckColumns() {
    CFILE_RETURN_IF_ERROR(finished_.status());
    for (size_t i = 0; i < columns_.size(); ++i) {
      CFILE_RETURN_IF_ERROR(refused_[i]);
      CFILE_RETURN_IF_ERROR(columns_[i]->writer().status());
    }
    derives_keys_ = schema().key_index() && columns_.back()->writer().totals().num_rows == 0;
    for (size_t i = 1; i < columns_.size() - derives_keys_; ++i) {
      if (columns_[i]->writer().totals().num_rows != columns_[0]->writer().totals().num_rows) {
        return absl::InvalidArgumentError(absl::StrCat(
            name(), ": expected columns of equal length, found ",
            columns_[0]->writer().totals().num_rows, " rows in ", stored_[0].name, " and ",
            columns_[i]->writer().totals().num_rows, " in ", stored_[i].name));
      }
    }
    part_.num_rows = columns_[0]->writer().totals().num_rows;
    return absl::OkStatus();
  }

  // Completes the files of the part, and moves the part to new_.parts.
  absl::Status CompletePart() {
    const absl::Status status = FinishPart();
    // Only files of this part can be missing.
    if (absl::IsNotFound(status)) return Removed(part_.directory);
    CFILE_RETURN_IF_ERROR(status);
    for (const auto& column : columns_) complete_totals_.push_back(column->writer().totals());
    new_.parts.push_back(part_);
    part_ = {};
    return absl::OkStatus();
  }

  void SetLimit(std::span<const WriterOptions> options) {
    if (!options.empty()) max_table_file_bytes_ = options[0].max_metadata_size_bytes;
  }

  absl::Status CheckType(size_t i, internal::HoldsFunction* holds) {
    CFILE_ASSERT(i < columns_.size());
    if (!refused_[i].ok() || holds(stored_[i].type)) return refused_[i];
    return Refuse(i, absl::StrCat(" holds ", stored_[i].type.ToString(),
                                  ", to which values of this C++ type cannot be appended"));
  }
  // Keeps the error for later calls, and returns it.
  absl::Status Refuse(size_t i, const std::string& what) {
    return refused_[i] =
               absl::InvalidArgumentError(absl::StrCat(name(), ": column ", stored_[i].name, what));
  }

  const std::string& name() const { return storage_->name(); }
  ReaderOptions limits() const { return internal::CommitLimits(max_table_file_bytes_); }

  absl::Status BeginPart(std::span<const WriterOptions> options) {
    CFILE_RETURN_IF_ERROR(internal::CheckOldestReader(schema(), new_.identities, new_.oldest_reader,
                                                      internal::TableFilePath(name())));
    const size_t num_columns = schema().columns.size();
    if (options.size() > 1 && options.size() != num_columns &&
        options.size() != internal::StoredColumns(schema()).size()) {
      return absl::InvalidArgumentError(absl::StrCat(
          name(), ": expected no options, one for all columns or one for each of the ", num_columns,
          " columns", schema().key_index() ? " (and one more for the key index)" : "", ", found ",
          options.size()));
    }
    options_.assign(options.begin(), options.end());
    CFILE_ASSIGN_OR_RETURN(part_.directory, internal::NewPartName());
    if (!options.empty()) {
      const auto& pairs = options[0].metadata;
      part_.has_arrow_schema = std::any_of(pairs.begin(), pairs.end(), [](const auto& pair) {
        return pair.first == internal::kArrowSchema;
      });
    }
    stored_ = internal::StoredColumns(schema());
    refused_.resize(stored_.size());
    const size_t most =
        options.empty() ? WriterOptions().max_packed_part_bytes : options[0].max_packed_part_bytes;
    if (most > 0 && stored_.size() > 1 && internal::KnowsTableFeatures(new_.oldest_reader)) {
      packed_ = std::make_unique<internal::PackedWriter>(*storage_, part_.directory, most);
      CFILE_RETURN_IF_ERROR(packed_->Begin());
    }
    for (size_t i = 0; i < stored_.size(); ++i) {
      const WriterOptions column_options = internal::OptionsOfFile(options, i, num_columns);
      CFILE_ASSIGN_OR_RETURN(
          columns_.emplace_back(),
          internal::NewColumnWriter(*storage_, part_.directory,
                                    internal::ColumnFileName(i, stored_[i].name), stored_[i],
                                    column_options, new_.oldest_reader, packed_.get()));
      max_block_size_bytes_ = std::max(max_block_size_bytes_, column_options.max_block_size_bytes);
    }
    return absl::OkStatus();
  }

  // Reads the finished part back and compares its compound keys with its rows.
  absl::Status CheckKeys() const {
    CFILE_ASSIGN_OR_RETURN(const std::vector<Reader> columns, OpenKeyColumns());
    CFILE_ASSIGN_OR_RETURN(const Reader keys, OpenToCheck(*schema().key_index()));
    CFILE_ASSIGN_OR_RETURN(const auto wrong,
                           internal::FindWrongKey(schema().key_types(), columns, keys,
                                                  schema().merge_rule.has_value()));
    if (!wrong.has_value()) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat(name(), ": row ", wrong->row, " of the new part: ", wrong->what));
  }

  // Makes the compound keys from the key columns, which are finished.
  absl::Status DeriveKeys() {
    CFILE_ASSIGN_OR_RETURN(const std::vector<Reader> columns, OpenKeyColumns());
    return internal::Named(internal::AppendKeys(schema().key_types(), columns, part_.num_rows,
                                                schema().merge_rule.has_value(),
                                                columns_[*schema().key_index()]->writer()),
                           name());
  }

  absl::StatusOr<std::vector<Reader>> OpenKeyColumns() const {
    std::vector<Reader> columns;
    for (const size_t column : schema().key_columns) {
      CFILE_ASSIGN_OR_RETURN(Reader reader, OpenToCheck(column));
      columns.push_back(std::move(reader));
    }
    return columns;
  }

  // Opens a finished file of the part.
  absl::StatusOr<Reader> OpenToCheck(size_t column) const {
    // These limits are at least as high as those of the options with which the files were written.
    CFILE_ASSIGN_OR_RETURN(
        auto source, packed_ != nullptr ? packed_->Open(column)
                                        : storage_->Open(internal::PathInStorage(part_, column)));
    return Reader::Open(std::move(source), {.max_block_size_bytes = max_block_size_bytes_,
                                            .max_metadata_size_bytes = SIZE_MAX,
                                            .max_dictionary_values = SIZE_MAX,
                                            .max_index_depth = 1000,
                                            .max_index_size_bytes = SIZE_MAX});
  }

  absl::Status FinishPart() {
    for (size_t i = 0; i < columns_.size(); ++i) {
      // The key index is the last column.
      if (derives_keys_ && i == schema().key_index()) CFILE_RETURN_IF_ERROR(DeriveKeys());
      CFILE_ASSIGN_OR_RETURN(part_.columns.emplace_back(), columns_[i]->Finish());
    }
    if (schema().key_index() && !derives_keys_) CFILE_RETURN_IF_ERROR(CheckKeys());
    return packed_ != nullptr ? packed_->Finish(part_) : absl::OkStatus();
  }

  absl::Status Removed(const std::string& path) const {
    return internal::NewPartRemoved(*storage_, path);
  }

  const std::shared_ptr<Storage> storage_;
  internal::StickyStatus finished_{name()};
  Publication publication_ = Publication::kNot;  // unless kNot, the destructor keeps the files
  size_t max_table_file_bytes_ = WriterOptions().max_metadata_size_bytes;
  size_t max_block_size_bytes_ = 0;   // the largest of all columns
  NewParts new_;                      // what Finish publishes. `parts` has the complete parts
  std::vector<ColumnSchema> stored_;  // the columns that columns_ write
  std::vector<WriterOptions> options_;
  std::vector<ColumnTotals> complete_totals_;       // of all columns of the first part, and so on
  TablePart part_;                                  // the part that columns_ write
  std::unique_ptr<internal::PackedWriter> packed_;  // receives the files of columns_; may be null
  std::vector<std::unique_ptr<ColumnWriter>> columns_;
  std::vector<absl::Status> refused_;  // the first error of a call for each of columns_
  bool derives_keys_ = false;          // the caller has appended no compound keys
};

// For callers that have the values as the column has them.
static bool HoldsAnyType(const ColumnType&) { return true; }

internal::AnyWriter& internal::TableWriterAccess::Column(TableWriter& writer, size_t column) {
  CFILE_ASSERT(column < writer.impl_->columns().size());
  return writer.impl_->columns()[column]->writer();
}

absl::Status internal::TableWriterAccess::Append(TableWriter& writer, size_t column,
                                                 const AnyBatch& rows) {
  return writer.impl_->Append(column, &HoldsAnyType, rows);
}

absl::Status internal::TableWriterAccess::Append(TableWriter& writer, size_t column,
                                                 const AnyLevelBatch& entries) {
  return writer.impl_->Append(column, &HoldsAnyType, entries);
}

absl::Status internal::TableWriterAccess::NextPart(TableWriter& writer) {
  return writer.impl_->NextPart();
}

void internal::TableWriterAccess::LeavesOut(TableWriter& writer,
                                            std::pair<std::string, std::string> keys) {
  writer.impl_->LeavesOut(std::move(keys));
}

absl::StatusOr<TableWriter> internal::TableWriterAccess::Begin(
    std::shared_ptr<Storage> storage, const Schema& schema,
    std::optional<ColumnIdentities> identities, OldestReader oldest_reader,
    std::span<const WriterOptions> options) {
  auto impl = std::make_unique<TableWriter::Impl>(std::move(storage));
  CFILE_RETURN_IF_ERROR(impl->Begin(schema, std::move(identities), oldest_reader, options));
  return TableWriter(std::move(impl));
}

absl::StatusOr<std::vector<TablePart>> internal::TableWriterAccess::Complete(TableWriter& writer) {
  return writer.impl_->Complete();
}

std::span<const ColumnTotals> internal::TableWriterAccess::CompleteTotals(
    const TableWriter& writer) {
  return writer.impl_->complete_totals();
}

TableWriter::TableWriter(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
TableWriter::TableWriter(TableWriter&&) noexcept = default;
TableWriter& TableWriter::operator=(TableWriter&&) noexcept = default;
TableWriter::~TableWriter() = default;

absl::StatusOr<TableWriter> TableWriter::Create(const TableLocation& table, const Schema& schema,
                                                std::span<const WriterOptions> options) {
  auto impl = std::make_unique<Impl>(table.storage());
  CFILE_RETURN_IF_ERROR(impl->Create(schema, options));
  return TableWriter(std::move(impl));
}

absl::StatusOr<TableWriter> TableWriter::Open(const TableLocation& table,
                                              std::span<const WriterOptions> options) {
  auto impl = std::make_unique<Impl>(table.storage());
  CFILE_RETURN_IF_ERROR(impl->Append(options));
  return TableWriter(std::move(impl));
}

absl::StatusOr<TableWriter> TableWriter::OpenOrCreate(const TableLocation& table,
                                                      const Schema& schema,
                                                      std::span<const WriterOptions> options) {
  auto impl = std::make_unique<Impl>(table.storage());
  CFILE_RETURN_IF_ERROR(impl->OpenOrCreate(schema, options));
  return TableWriter(std::move(impl));
}

absl::StatusOr<TableWriter> TableWriter::Replace(const TableLocation& table,
                                                 std::span<const std::string> parts,
                                                 std::span<const WriterOptions> options) {
  auto impl = std::make_unique<Impl>(table.storage());
  CFILE_RETURN_IF_ERROR(impl->Append(options, parts));
  return TableWriter(std::move(impl));
}

absl::StatusOr<TableWriter> TableWriter::Replace(const TableLocation& table,
                                                 const TableReader& snapshot,
                                                 std::span<const std::string> parts,
                                                 std::span<const WriterOptions> options) {
  auto impl = std::make_unique<Impl>(table.storage());
  CFILE_RETURN_IF_ERROR(impl->Append(snapshot.impl_->manifest(), parts, options,
                                     snapshot.impl_->options().stored_rows));
  return TableWriter(std::move(impl));
}

const Schema& TableWriter::schema() const { return impl_->schema(); }

absl::Status TableWriter::Append(size_t column, const std::vector<bool>& values) {
  const auto bools = std::make_unique<bool[]>(values.size());
  std::copy(values.begin(), values.end(), bools.get());
  return Append(column, std::span<const bool>(bools.get(), values.size()));
}

absl::Status TableWriter::AppendRows(size_t column, internal::HoldsFunction* holds,
                                     const AnyBatch& rows) {
  return impl_->Append(column, holds, rows);
}

absl::Status TableWriter::AppendEntries(size_t column, internal::HoldsFunction* holds,
                                        const AnyLevelBatch& entries) {
  return impl_->Append(column, holds, entries);
}

absl::Status TableWriter::Finish() { return impl_->Finish(); }

absl::StatusOr<std::string> TableWriter::FinishPrepared() { return impl_->FinishPrepared(); }

ColumnTotals TableWriter::totals(size_t column) const {
  return impl_->column(column).writer().totals();
}

size_t TableWriter::memory_usage_bytes() const {
  size_t bytes = impl_->packed_bytes();
  for (const auto& column : impl_->columns()) bytes += column->writer().memory_usage_bytes();
  return bytes;
}

}  // namespace cfile
