#include "tools/columns/copy.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>
#include <system_error>
#include <type_traits>
#include <utility>

#include <unistd.h>
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "cfile/prepared_parts.h"
#include "cfile/statistics.h"
#include "cfile/status.h"
#include "cfile/table_maintenance.h"
#include "tools/dump/totals.h"
#include "tools/location.h"

namespace cfile::tools {
namespace {

// Calls append(rows) for all rows of `range`.
template <typename T, typename AppendRows>
absl::Status CopyRows(const StoredColumn& from, const OrdinalRange& range, AppendRows append,
                      const CopyProgress& progress) {
  CFILE_ASSIGN_OR_RETURN(const auto reader, ReadRows<T>(from, range));
  for (;;) {
    CFILE_ASSIGN_OR_RETURN(const Rows<T> rows, reader(kMaxBatchRows));
    if (rows.empty()) return absl::OkStatus();
    CFILE_RETURN_IF_ERROR(append(rows));
    CFILE_RETURN_IF_ERROR(progress(rows.num_rows()));
  }
}

template <typename T>
absl::Status AppendTo(TableWriter& writer, size_t column, bool has_levels, const Rows<T>& rows) {
  if (has_levels) {
    const LevelBatch<T>& levels = rows.levels;
    return writer.AppendLevels<T>(column, levels.repetition, levels.definition, levels.values);
  }
  const Batch<T>& batch = rows.flat;
  if (batch.validity == nullptr) return writer.Append<T>(column, batch.values);
  return writer.Append<T>(column, batch.values, {batch.validity, (batch.size() + 7) / 8});
}

absl::StatusOr<std::optional<uint32_t>> BloomBitsOf(const Reader& file) {
  std::optional<BloomFilterInfo> filter = file.info().bloom_filter;
  if (!filter && file.info().statistics) {
    CFILE_ASSIGN_OR_RETURN(const auto statistics, file.Statistics());
    if (statistics != nullptr && !statistics->bloom_filter.empty()) {
      filter = DescribeBloomFilter(statistics->bloom_filter);
    }
  }
  if (!filter) return std::nullopt;
  // The smallest filter has 256 bits, however few values there are.
  constexpr double kMostBits = 64;
  return static_cast<uint32_t>(std::lround(std::clamp(filter->bits_per_value(), 1.0, kMostBits)));
}

namespace fs = std::filesystem;

absl::Status Failed(const std::string& what, const std::error_code& error) {
  return absl::UnavailableError(absl::StrCat(what, ": ", error.message()));
}

// kInvalidArgument: the directory `path` has a file or folder whose name is not one that tables
// give, and which would be removed together with the table. `name`: the directory, for the message.
absl::Status CheckOnlyTableFiles(const std::string& path, const std::string& name) {
  CFILE_ASSIGN_OR_RETURN(const std::vector<StorageEntry> files, NewLocalStorage(path)->List(""));
  for (const StorageEntry& file : files) {
    if (IsTablePath(file.path)) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(name, " has files of its table, and also ", file.path,
                     ", which --force would remove: move it to another place first"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<WriterOptions> OptionsLike(const Reader& file, const LayoutOptions& options,
                                          const std::string& column) {
  const FileInfo& info = file.info();
  WriterOptions writer = WriterOptionsOf(options, column);
  writer.value_index = info.value_index_root.has_value();
  writer.positional_index = info.positional_index_root.has_value() || !writer.value_index;
  for (const auto& pair : info.header_metadata) {
    if (!pair.first.starts_with(kReservedKeyPrefix)) writer.metadata.push_back(pair);
  }
  if (!options.has_extensions()) return writer;
  if (info.has_movable_blocks()) writer.movable_blocks = true;
  if (writer.bloom_filter_bits_per_value == 0) {
    CFILE_ASSIGN_OR_RETURN(const std::optional<uint32_t> bits, BloomBitsOf(file));
    writer.bloom_filter_bits_per_value = bits.value_or(0);
  }
  return writer;
}

absl::StatusOr<ColumnTotals> CopyFile(const Reader& file, const WriterOptions& options,
                                      std::unique_ptr<Sink> sink, const CopyProgress& progress) {
  const StoredColumn from = ColumnOf(file);
  return VisitType(
      from.schema.type, [&]<typename T>(std::type_identity<T>) -> absl::StatusOr<ColumnTotals> {
        CFILE_ASSIGN_OR_RETURN(auto writer, FileWriter<T>::Create(std::move(sink), from, options));
        CFILE_RETURN_IF_ERROR(CopyRows<T>(
            from, kAllRows, [&](const Rows<T>& rows) { return writer.Append(rows); }, progress));
        for (const auto& [key, value] : file.info().footer_metadata) {
          if (!key.starts_with(kReservedKeyPrefix)) {
            CFILE_RETURN_IF_ERROR(writer.AddMetadata(key, value));
          }
        }
        CFILE_RETURN_IF_ERROR(writer.Finish());
        return writer.totals();
      });
}

absl::StatusOr<std::vector<ColumnTotals>> CopyTable(
    const TableReader& from, const OrdinalRange& parts, const TableLocation& to,
    const std::function<absl::StatusOr<WriterOptions>(size_t part, size_t column)>& options_of,
    OldestReader oldest_reader, const CopyProgress& progress) {
  const Schema& schema = from.schema();
  std::vector<ColumnTotals> totals(schema.columns.size() + (schema.key_index() ? 1 : 0));
  std::vector<std::string> prepared;
  for (size_t part = parts.begin; part < parts.end; ++part) {
    CFILE_ASSIGN_OR_RETURN(const PartInfo info, from.part(part));
    const OrdinalRange range{info.first_ordinal, info.first_ordinal + info.num_rows};
    std::vector<WriterOptions> options;
    for (size_t column = 0; column < schema.columns.size(); ++column) {
      CFILE_ASSIGN_OR_RETURN(options.emplace_back(), options_of(part, column));
    }
    CFILE_ASSIGN_OR_RETURN(TableWriter writer, TableWriter::Prepare(to, schema, options));
    for (size_t column = 0; column < schema.columns.size(); ++column) {
      const StoredColumn stored = ColumnOf(from, column);
      CFILE_RETURN_IF_ERROR(VisitType(stored.schema.type, [&]<typename T>(std::type_identity<T>) {
        return CopyRows<T>(
            stored, range,
            [&](const Rows<T>& rows) { return AppendTo(writer, column, stored.has_levels, rows); },
            progress);
      }));
    }
    CFILE_ASSIGN_OR_RETURN(prepared.emplace_back(), writer.FinishPrepared());
    for (size_t column = 0; column < totals.size(); ++column) {
      const ColumnTotals part_totals = writer.totals(column);
      totals[column].num_rows += part_totals.num_rows;
      totals[column].bytes_written += part_totals.bytes_written;
      totals[column].compression = part_totals.compression;
      AddTo(totals[column].encodings, part_totals.encodings);
    }
  }
  const CommitPartsOptions options{.schema = &schema, .oldest_reader = oldest_reader};
  CFILE_RETURN_IF_ERROR(CommitParts(to, prepared, options).status());
  if (from.time_bound()) CFILE_RETURN_IF_ERROR(RaiseTimeBound(to, *from.time_bound()));
  return totals;
}

void SetWriterLimits(const CommonOptions& common, WriterOptions& options) {
  // What can be read can be written again.
  options.max_block_size_bytes =
      common.max_block_size_bytes > 0 ? common.max_block_size_bytes : kMaxBytes;
  options.max_metadata_size_bytes = common.limits.max_metadata_size_bytes;
  options.max_index_size_bytes = common.limits.max_index_size_bytes;
  options.max_dictionary_values = common.limits.max_dictionary_values;
  options.max_bloom_filter_bytes = common.limits.max_bloom_filter_bytes;
}

absl::StatusOr<NewTable> NewTable::Create(const std::string& path, bool force) {
  CFILE_ASSIGN_OR_RETURN(TableLocation location, TableAt(path));
  if (IsUrl(path)) {
    CFILE_ASSIGN_OR_RETURN(const std::vector<StorageEntry> files, location.storage()->List(""));
    if (files.empty()) return NewTable(path, "", std::move(location));
    return absl::InvalidArgumentError(
        absl::StrCat(path, " exists already; --force does not replace tables at URLs"));
  }
  CFILE_RETURN_IF_ERROR(CheckOutIsFree(path, force));
  std::error_code error;
  if (fs::exists(fs::symlink_status(path, error))) {
    if (!fs::exists(fs::path(path) / "table.cft")) {
      return absl::InvalidArgumentError(
          absl::StrCat(path, " is not a table: --force replaces only tables by tables"));
    }
    CFILE_RETURN_IF_ERROR(CheckOnlyTableFiles(path, path));
  }
  // (path / ".").parent_path() removes a slash at the end.
  const fs::path place = (fs::path(path) / ".").parent_path();
  std::string temporary =
      (place.parent_path() / absl::StrCat(".", place.filename().string(), ".", getpid(), "-table"))
          .string();
  if (!fs::create_directory(temporary, error)) {
    return error ? Failed(absl::StrCat("cannot make ", temporary), error)
                 : absl::InvalidArgumentError(absl::StrCat(
                       temporary,
                       " exists already; another program may be writing it; otherwise remove it"));
  }
  return NewTable(place.string(), temporary, TableLocation(temporary));
}

NewTable::NewTable(std::string path, std::string temporary, TableLocation location)
    : path_(std::move(path)), temporary_(std::move(temporary)), location_(std::move(location)) {}

NewTable::NewTable(NewTable&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_(std::exchange(other.temporary_, "")),
      location_(std::move(other.location_)) {}

NewTable::~NewTable() { Discard(); }

void NewTable::Discard() {
  std::error_code ignored;
  if (!temporary_.empty()) fs::remove_all(temporary_, ignored);
}

absl::Status NewTable::WithFinalPath(const absl::Status& status) const {
  if (temporary_.empty()) return status;
  return {status.code(), absl::StrReplaceAll(status.message(), {{temporary_, path_}})};
}

absl::Status NewTable::Finish() {
  if (temporary_.empty()) return absl::OkStatus();
  std::error_code error;
  const std::string old = temporary_ + "-old";
  const bool replaces = fs::exists(fs::symlink_status(path_, error));
  if (replaces) {
    fs::rename(path_, old, error);
    if (error) return Failed(absl::StrCat("cannot move ", path_, " to ", old), error);
    // Another program may have added files meanwhile.
    if (const absl::Status status = CheckOnlyTableFiles(old, path_); !status.ok()) {
      fs::rename(old, path_, error);
      return status;
    }
  }
  fs::rename(temporary_, path_, error);
  if (error) {
    const absl::Status status =
        Failed(absl::StrCat("cannot move ", temporary_, " to ", path_), error);
    if (replaces) fs::rename(old, path_, error);
    return status;
  }
  temporary_.clear();
  if (!replaces) return absl::OkStatus();
  fs::remove_all(old, error);
  return error ? Failed(absl::StrCat("cannot remove ", old), error) : absl::OkStatus();
}

}  // namespace cfile::tools
