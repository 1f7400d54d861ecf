#include "cfile/table.h"

#include <algorithm>
#include <cassert>
#include <new>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cfile/compound_key.h"
#include "cfile/internal/io/named_status.h"
#include "cfile/internal/manifest/table_file.h"
#include "cfile/internal/table/column_writer.h"
#include "cfile/internal/table/compound_key_check.h"
#include "cfile/internal/table/open_table.h"
#include "cfile/internal/table/table_commit.h"
#include "cfile/internal/write/sticky_status.h"
#include "cfile/reader.h"
#include "cfile/storage.h"
#include "cfile/writer.h"
#include "encodings/core/status.h"

namespace cfile {
namespace {

using internal::ColumnWriter;
using internal::Manifest;
using internal::TablePart;
using internal::TypedColumnWriter;

}  // namespace

class TableWriter::Impl {
 public:
  explicit Impl(std::shared_ptr<Storage> storage) : storage_(std::move(storage)) {}

  ~Impl() {
    columns_.clear();  // removes the incomplete files of the columns
    if (published_) return;
    try {
      // A part's name is unique, so this removes no other part, even if another table is now at
      // the path.
      for (const TablePart& part : complete_parts_) (void)storage_->Delete(part.directory);
      if (!part_.directory.empty()) (void)storage_->Delete(part_.directory);
    } catch (const std::bad_alloc&) {
      // Building paths needs memory. If there is none, the part's files stay, as if the process had
      // been killed.
    }
  }

  absl::Status Create(const Schema& schema, std::span<const WriterOptions> options) {
    CFILE_RETURN_IF_ERROR(internal::Named(internal::ValidateSchema(schema), name()));
    const auto files = storage_->List("");
    // kFailedPrecondition: a file is at the path of the directory.
    if (absl::IsFailedPrecondition(files.status()) || (files.ok() && !files->empty())) {
      return absl::AlreadyExistsError(
          absl::StrCat(name(), ": expected nothing or an empty directory at this path"));
    }
    CFILE_RETURN_IF_ERROR(files.status());
    creates_ = true;
    schema_ = schema;
    SetLimit(options);
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
  absl::Status Append(const Manifest& now, std::span<const std::string> replaced,
                      std::span<const WriterOptions> options) {
    SetLimit(options);
    CFILE_ASSIGN_OR_RETURN(internal::FoundParts found, internal::FindParts(replaced, now));
    if (found.missing) return internal::NoSuchPart(now, *found.missing);
    replaced_parts_ = std::move(found.parts);
    for (const TablePart& part : replaced_parts_) replaced_.push_back(part.directory);
    schema_ = now.root().schema;
    identities_ = now.root().identities;
    return BeginPart(options);
  }

  absl::Status Finish() {
    CFILE_RETURN_IF_ERROR(CheckColumns());
    return finished_.Finish([&]() -> absl::Status {
      CFILE_RETURN_IF_ERROR(CompletePart());
      const absl::Status status = Publish();
      // Only files of the new parts can be missing.
      return absl::IsNotFound(status) ? Removed(complete_parts_.back().directory) : status;
    });
  }

  absl::Status NextPart() {
    CFILE_RETURN_IF_ERROR(CheckColumns());
    return finished_.Run([&]() -> absl::Status {
      CFILE_RETURN_IF_ERROR(CompletePart());
      columns_.clear();
      return BeginPart(std::vector<WriterOptions>(std::move(options_)));
    });
  }

  const Schema& schema() const { return schema_; }
  const ColumnWriter& column(size_t i) const {
    assert(i < columns_.size());
    return *columns_[i];
  }
  const std::vector<std::unique_ptr<ColumnWriter>>& columns() const { return columns_; }
  const std::vector<ColumnTotals>& complete_totals() const { return complete_totals_; }

  // Returns the writer of a column without levels that holds T.
  template <typename T>
  absl::StatusOr<Writer<T>*> WriterOf(size_t i) {
    CFILE_RETURN_IF_ERROR(CheckType<T>(i));
    if (stored_[i].has_levels()) {
      return absl::InvalidArgumentError(absl::StrCat(
          name(), ": column ", stored_[i].name, " has levels: append to it with AppendLevels"));
    }
    return &static_cast<TypedColumnWriter<Writer<T>>&>(*columns_[i]).writer();
  }

  template <typename T>
  absl::Status AppendLevels(size_t i, std::span<const uint16_t> repetition,
                            std::span<const uint16_t> definition, std::span<const T> values) {
    CFILE_RETURN_IF_ERROR(CheckType<T>(i));
    if (stored_[i].has_levels()) {
      return static_cast<TypedColumnWriter<LevelWriter<T>>&>(*columns_[i])
          .writer()
          .Append(repetition, definition, values);
    }
    if (!repetition.empty() || (!stored_[i].nullable && !definition.empty())) {
      return absl::InvalidArgumentError(
          absl::StrCat(name(), ": column ", stored_[i].name,
                       stored_[i].nullable ? " has no repetition levels" : " has no levels"));
    }
    Writer<T>& writer = static_cast<TypedColumnWriter<Writer<T>>&>(*columns_[i]).writer();
    const bool no_nulls = definition.size() == values.size() &&
                          std::all_of(definition.begin(), definition.end(),
                                      [](uint16_t level) { return level == 1; });
    return no_nulls || !stored_[i].nullable ? writer.Append(values)
                                            : internal::AppendDefined(writer, definition, values);
  }

 private:
  // Checks that the columns of the part are without error and of equal length.
  absl::Status CheckColumns() {
    CFILE_RETURN_IF_ERROR(finished_.status());
    for (const std::unique_ptr<ColumnWriter>& column : columns_) {
      CFILE_RETURN_IF_ERROR(column->status());
    }
    derives_keys_ = schema().key_index() && columns_.back()->totals().num_rows == 0;
    for (size_t i = 1; i < columns_.size() - derives_keys_; ++i) {
      if (columns_[i]->totals().num_rows != columns_[0]->totals().num_rows) {
        return absl::InvalidArgumentError(
            absl::StrCat(name(), ": expected columns of equal length, found ",
                         columns_[0]->totals().num_rows, " rows in ", stored_[0].name, " and ",
                         columns_[i]->totals().num_rows, " in ", stored_[i].name));
      }
    }
    part_.num_rows = columns_[0]->totals().num_rows;
    return absl::OkStatus();
  }

  // Completes the files of the part, and moves the part to complete_parts_.
  absl::Status CompletePart() {
    const absl::Status status = FinishPart();
    // Only files of this part can be missing.
    if (absl::IsNotFound(status)) return Removed(part_.directory);
    CFILE_RETURN_IF_ERROR(status);
    for (const auto& column : columns_) complete_totals_.push_back(column->totals());
    complete_parts_.push_back(part_);
    part_ = {};
    return absl::OkStatus();
  }

  void SetLimit(std::span<const WriterOptions> options) {
    if (!options.empty()) max_table_file_bytes_ = options[0].max_metadata_size_bytes;
  }

  template <typename T>
  absl::Status CheckType(size_t i) const {
    assert(i < columns_.size());
    const ColumnSchema& column = stored_[i];
    if (HoldsType<T>(column.type)) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat(name(), ": column ", column.name, " holds ", column.type.ToString(),
                     ", to which values of this C++ type cannot be appended"));
  }

  const std::string& name() const { return storage_->name(); }
  ReaderOptions limits() const { return internal::CommitLimits(max_table_file_bytes_); }

  absl::Status BeginPart(std::span<const WriterOptions> options) {
    const size_t num_columns = schema().columns.size();
    if (options.size() > 1 && options.size() != num_columns) {
      return absl::InvalidArgumentError(
          absl::StrCat(name(), ": expected no options, one for all columns or one for each of the ",
                       num_columns, " columns, found ", options.size()));
    }
    options_.assign(options.begin(), options.end());
    CFILE_ASSIGN_OR_RETURN(part_.directory, internal::NewPartName());
    const Compatibility compatibility =
        options.empty() ? Compatibility::kNone : options[0].compatibility;
    stored_ = internal::StoredColumns(schema());
    for (size_t i = 0; i < stored_.size(); ++i) {
      const WriterOptions& column_options = i == num_columns  ? CompoundKeyOptions(compatibility)
                                            : options.empty() ? WriterOptions{}
                                            : options.size() == 1 ? options[0]
                                                                  : options[i];
      CFILE_ASSIGN_OR_RETURN(columns_.emplace_back(),
                             internal::NewColumnWriter(*storage_, part_.directory,
                                                       internal::ColumnFileName(i, stored_[i].name),
                                                       stored_[i], column_options));
      max_block_size_bytes_ = std::max(max_block_size_bytes_, column_options.max_block_size_bytes);
    }
    return absl::OkStatus();
  }

  // Reads the finished part back and compares its compound keys with its rows.
  absl::Status CheckKeys() const {
    CFILE_ASSIGN_OR_RETURN(const std::vector<Reader> columns, OpenKeyColumns());
    CFILE_ASSIGN_OR_RETURN(const Reader keys, OpenToCheck(*schema().key_index()));
    CFILE_ASSIGN_OR_RETURN(const auto wrong,
                           internal::FindWrongKey(schema().key_types(), columns, keys));
    if (!wrong.has_value()) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat(name(), ": row ", wrong->row, " of the new part: ", wrong->what));
  }

  // Makes the compound keys from the key columns, which are finished.
  absl::Status DeriveKeys() {
    CFILE_ASSIGN_OR_RETURN(const std::vector<Reader> columns, OpenKeyColumns());
    CFILE_ASSIGN_OR_RETURN(auto* const writer, WriterOf<std::string_view>(*schema().key_index()));
    return internal::Named(
        internal::AppendKeys(schema().key_types(), columns, part_.num_rows, *writer), name());
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
    CFILE_ASSIGN_OR_RETURN(auto source, storage_->Open(internal::PathInStorage(part_, column)));
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
    return absl::OkStatus();
  }

  // Makes table.cft name the complete parts after the parts that are there now, or in the place of
  // the parts that they replace.
  absl::Status Publish() {
    const absl::Status status = internal::CommitTable(
        *storage_, limits(),
        [&](const Manifest* now) -> absl::StatusOr<std::optional<internal::ManifestEdit>> {
          if (std::exchange(published_, false)) {
            // The storage says that another commit came first.
            // But this commit may have succeeded before that one.
            CFILE_ASSIGN_OR_RETURN(published_, now != nullptr ? Names(*now) : false);
            if (published_) return std::nullopt;
          }
          CFILE_RETURN_IF_ERROR(CheckTable(now));
          CFILE_RETURN_IF_ERROR(CheckFiles());
          const Manifest none({.schema = schema_, .parts = {}}, name(), max_table_file_bytes_, {});
          CFILE_ASSIGN_OR_RETURN(internal::ManifestEdit edit,
                                 internal::EditManifest(now != nullptr ? *now : none,
                                                        {.removed = replaced_, .added = complete_parts_}));
          // From here on, table.cft may name the parts. So the destructor must keep them.
          // Set published_ before the commit, because a failed allocation may throw in the commit.
          published_ = true;
          return edit;
        });
    if (status.ok() || !published_) return status;
    // table.cft may name the parts in spite of the error.
    const auto now = internal::ReadTable(*storage_, limits());
    if (now.ok()) {
      const absl::StatusOr<bool> named = Names(**now);
      published_ = !named.ok() || *named;
    } else {
      published_ = !absl::IsNotFound(now.status());
    }
    return status;
  }

  // True if the parts are in the table.
  absl::StatusOr<bool> Names(const Manifest& now) const {
    bool found = false;
    CFILE_RETURN_IF_ERROR(
        now.ForEachPart([&](const internal::ManifestPart& part) -> absl::StatusOr<bool> {
          found = part.part->directory == complete_parts_.back().directory;
          return !found;
        }));
    return found;
  }

  // kAborted if the parts do not fit the present table. `now`: null if there is no table.
  absl::Status CheckTable(const Manifest* now) const {
    const auto aborted = [&](std::string_view what) {
      return absl::AbortedError(absl::StrCat(internal::TableFilePath(name()), ": ",
                                             std::string(what), " since this writer began"));
    };
    if (creates_) return now != nullptr ? aborted("another writer created it") : absl::OkStatus();
    if (now == nullptr) return aborted("it has been removed");
    if (now->root().schema != schema_ || now->root().identities != identities_) {
      return aborted("its schema has been changed");
    }
    const std::vector<std::string>& condemned = now->root().condemned;
    for (const TablePart& part : complete_parts_) {
      if (std::count(condemned.begin(), condemned.end(), part.directory) > 0)
        return Removed(part.directory);
    }
    CFILE_ASSIGN_OR_RETURN(const internal::FoundParts found, internal::FindParts(replaced_, *now));
    if (found.missing) {
      return absl::AbortedError(absl::StrCat(internal::NoSuchPart(*now, *found.missing).message(),
                                             " any more, which was to be replaced"));
    }
    // The schema is the same, so both parts have the same columns.
    for (size_t part = 0; part < found.parts.size(); ++part) {
      for (size_t i = 0; i < stored_.size(); ++i) {
        if (found.parts[part].columns[i].file_name != replaced_parts_[part].columns[i].file_name) {
          return aborted(absl::StrCat("column ", stored_[i].name, " of ", replaced_[part],
                                      ", which was to be replaced, has got other values"));
        }
      }
    }
    return absl::OkStatus();
  }

  // `path`: in the storage.
  absl::Status Removed(const std::string& path) const {
    return absl::AbortedError(absl::StrCat(
        name(), "/", path, ": the new part has been removed while it was written, or the table has been moved"));
  }

  // kAborted if a file of the parts is no longer where the writer put it.
  absl::Status CheckFiles() const {
    for (const TablePart& part : complete_parts_) {
      CFILE_ASSIGN_OR_RETURN(const std::vector<StorageEntry> files, storage_->List(part.directory));
      std::set<std::string_view> paths;
      for (const StorageEntry& file : files) paths.insert(file.path);
      for (size_t i = 0; i < part.columns.size(); ++i) {
        const std::string path = internal::PathInStorage(part, i);
        if (!paths.contains(path)) return Removed(path);
      }
    }
    return absl::OkStatus();
  }

  const std::shared_ptr<Storage> storage_;
  internal::StickyStatus finished_{name()};
  bool published_ = false;
  size_t max_table_file_bytes_ = WriterOptions().max_metadata_size_bytes;
  size_t max_block_size_bytes_ = 0;        // the largest of all columns
  bool creates_ = false;                   // true: the table is new
  std::vector<TablePart> replaced_parts_;  // the parts that this part replaces
  std::vector<std::string> replaced_;      // the names of replaced_parts_
  Schema schema_;
  std::optional<internal::ColumnIdentities> identities_;  // of a table whose columns changed
  std::vector<ColumnSchema> stored_;                      // the columns that columns_ write
  std::vector<WriterOptions> options_;
  std::vector<TablePart> complete_parts_;  // Finish publishes all of them
  std::vector<ColumnTotals> complete_totals_;  // of all columns of the first part, and so on
  TablePart part_;                         // the part that columns_ write
  std::vector<std::unique_ptr<ColumnWriter>> columns_;
  bool derives_keys_ = false;  // the caller has appended no compound keys
};

internal::ColumnWriter& internal::TableWriterAccess::Column(TableWriter& writer, size_t column) {
  assert(column < writer.impl_->columns().size());
  return *writer.impl_->columns()[column];
}

absl::Status internal::TableWriterAccess::NextPart(TableWriter& writer) {
  return writer.impl_->NextPart();
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

absl::StatusOr<TableWriter> TableWriter::Append(const TableLocation& table,
                                                std::span<const WriterOptions> options) {
  auto impl = std::make_unique<Impl>(table.storage());
  CFILE_RETURN_IF_ERROR(impl->Append(options));
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
  CFILE_RETURN_IF_ERROR(impl->Append(snapshot.impl_->manifest(), parts, options));
  return TableWriter(std::move(impl));
}

const Schema& TableWriter::schema() const { return impl_->schema(); }

template <ValueType T>
absl::Status TableWriter::Append(size_t column, std::span<const T> values) {
  CFILE_ASSIGN_OR_RETURN(Writer<T>* const writer, impl_->WriterOf<T>(column));
  return writer->Append(values);
}

template <ValueType T>
absl::Status TableWriter::Append(size_t column, std::span<const T> values,
                                 std::span<const uint8_t> validity) {
  CFILE_ASSIGN_OR_RETURN(Writer<T>* const writer, impl_->WriterOf<T>(column));
  return writer->Append(values, validity);
}

template <ValueType T>
absl::Status TableWriter::AppendLevels(size_t column, std::span<const uint16_t> repetition,
                                       std::span<const uint16_t> definition,
                                       std::span<const T> values) {
  return impl_->AppendLevels(column, repetition, definition, values);
}

absl::Status TableWriter::Finish() { return impl_->Finish(); }

ColumnTotals TableWriter::totals(size_t column) const { return impl_->column(column).totals(); }

size_t TableWriter::memory_usage_bytes() const {
  size_t bytes = 0;
  for (const auto& column : impl_->columns()) bytes += column->memory_usage_bytes();
  return bytes;
}

#define CFILE_INSTANTIATE(T)                                                \
  template absl::Status TableWriter::Append<T>(size_t, std::span<const T>); \
  template absl::Status TableWriter::Append<T>(size_t, std::span<const T>,  \
                                               std::span<const uint8_t>);   \
  template absl::Status TableWriter::AppendLevels<T>(                       \
      size_t, std::span<const uint16_t>, std::span<const uint16_t>, std::span<const T>);
CFILE_FOR_EACH_VALUE_TYPE(CFILE_INSTANTIATE)
#undef CFILE_INSTANTIATE

}  // namespace cfile
