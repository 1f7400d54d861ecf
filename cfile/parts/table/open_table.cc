#include "cfile/parts/table/open_table.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cfile/core/format/column_message.h"
#include "cfile/core/read/reader_access.h"
#include "cfile/parts/table/commit/table_commit.h"
#include "cfile/parts/table/compound_key_check.h"
#include "cfile/parts/table/default_column.h"
#include "cfile/parts/table/manifest/part_bounds.h"
#include "cfile/parts/table/manifest/table_file.h"
#include "cfile/parts/table/part_source.h"
#include "encodings/core/assert.h"
#include "encodings/core/status.h"

namespace cfile {
namespace {

using encodings::DataLoss;
using internal::ManifestPart;
using internal::TableContents;
using internal::TablePart;
using internal::TablePartColumn;

// kDataLoss if the file differs from its description in table.cft.
absl::Status CheckColumnFile(const std::string& path, const FileInfo& info,
                             const TablePartColumn& expected, const ColumnSchema& column) {
  if (info.file_size_bytes != expected.size_bytes) {
    return DataLoss(path, ": ", expected.size_bytes, " bytes expected by table.cft, found ",
                    info.file_size_bytes);
  }
  if (info.num_rows != expected.num_rows) {
    return DataLoss(path, ": ", expected.num_rows, " rows expected by table.cft, found ",
                    info.num_rows);
  }
  const LevelLimits levels = info.has_levels() ? info.levels : LevelLimits();
  if (levels != column.levels) {
    const auto name = [](const LevelLimits& limits) {
      return absl::StrCat(limits.max_repetition, " and ", limits.max_definition);
    };
    return DataLoss(path, ": levels up to ", name(column.levels), " expected by table.cft, found ",
                    name(levels));
  }
  if (info.has_levels() != column.has_levels()) {
    return DataLoss(path, ": blocks ", column.has_levels() ? "with" : "without",
                    " levels expected by table.cft");
  }
  if (!internal::FitsColumn(info.type, column.type) ||
      (!column.has_levels() && info.nullable != column.nullable)) {
    const auto name = [](const ColumnType& type, bool nullable) {
      return absl::StrCat(nullable ? "nullable " : "", type.ToString());
    };
    return DataLoss(path, ": ", name(column.type, column.nullable),
                    " expected by table.cft, found ", name(info.type, info.nullable));
  }
  return absl::OkStatus();
}

// The identities of the files in a folder, by path.
absl::StatusOr<std::map<std::string, std::string>> FileIdentitiesOf(const Storage& storage,
                                                                    const std::string& folder) {
  std::map<std::string, std::string> identities;
  CFILE_ASSIGN_OR_RETURN(std::vector<StorageEntry> files, storage.List(folder));
  for (StorageEntry& file : files) {
    identities.emplace(std::move(file.path), std::move(file.identity));
  }
  return identities;
}

absl::Status Replaced(const Storage& storage) {
  return absl::AbortedError(
      absl::StrCat(storage.name(), ": the table has been replaced since this reader opened it"));
}

// The error that a part or a chunk is gone. `what`: the part or the chunk.
absl::Status Expired(const Storage& storage, const std::string& what) {
  return absl::AbortedError(absl::StrCat(
      storage.name(), ": snapshot expired: since this reader opened the table, ", what,
      " was dropped and its files were collected as garbage, or the table has been replaced; open "
      "the table again"));
}

// The error if a file of a part is missing: `status`, the error of the storage, or kAborted if
// table.cft no longer names the part or this file. `path`: the path of the file in the storage.
absl::Status ErrorOfMissing(const Storage& storage, const ReaderOptions& options,
                            const std::string& folder, const std::string& path,
                            const absl::Status& status) {
  const auto now = internal::ReadTable(storage, options);
  if (absl::IsNotFound(now.status())) return Replaced(storage);
  if (!now.ok()) return status;
  const auto found = internal::FindParts({&folder, 1}, **now);
  if (!found.ok()) return status;
  if (found->missing) return Expired(storage, folder);
  const TablePart& part = found->parts[0];
  for (size_t i = 0; i < part.columns.size(); ++i) {
    if (!part.columns[i].missing && internal::PathInStorage(part, i) == path) return status;
  }
  return Expired(storage, path);
}

}  // namespace

TableReader::Impl::Impl(std::shared_ptr<Storage> storage, const ReaderOptions& options,
                        std::string bytes, TableContents root, Identities identities)
    : storage_(std::move(storage)),
      whole_files_(dynamic_cast<const WholeFiles*>(storage_.get())),
      options_(internal::OptionsOfTable(options)),
      bytes_(std::move(bytes)),
      identities_(std::move(identities)),
      manifest_(std::move(root), storage_->name(), options.max_metadata_size_bytes,
                [this](const std::string& name, uint64_t size_bytes) {
                  auto chunk = internal::ReadChunk(*storage_, name, size_bytes);
                  return absl::IsNotFound(chunk.status()) ? Expired(*storage_, name)
                                                          : std::move(chunk);
                }),
      rule_(schema().merge_rule && !options.stored_rows
                ? std::optional<internal::AppliedRule>(
                      internal::AppliedRule(schema(), manifest_.root().time_bound))
                : std::nullopt),
      files_(options) {}

absl::StatusOr<std::shared_ptr<const TableReader::Impl>> TableReader::Impl::Open(
    std::shared_ptr<Storage> storage, const ReaderOptions& options,
    std::shared_ptr<const Impl> known) {
  const std::string path = internal::TableFilePath(storage->name());
  // Earlier versions gave parts names that are not unique. For them, remember the identities of the
  // files, and try again if table.cft was replaced meanwhile.
  constexpr int kMostTries = 10;
  for (int i = 0; i < kMostTries; ++i) {
    CFILE_ASSIGN_OR_RETURN(VersionedObject object, storage->Read(internal::kTableFileName,
                                                                 options.max_metadata_size_bytes));
    if (known != nullptr && known->bytes_ == object.bytes && known->identities_.empty())
      return known;
    CFILE_ASSIGN_OR_RETURN(TableContents root, internal::ParseTable(object.bytes, path, options));
    Identities identities;
    for (const TablePart& part : root.parts) {
      if (internal::IsUniquePartName(part.directory)) continue;
      CFILE_ASSIGN_OR_RETURN(identities[part.directory],
                             FileIdentitiesOf(*storage, part.directory));
    }
    if (!identities.empty()) {
      const auto after = storage->Read(internal::kTableFileName, options.max_metadata_size_bytes);
      if (!after.ok() || after->version != object.version) continue;
    }
    return std::make_shared<const Impl>(std::move(storage), options, std::move(object.bytes),
                                        std::move(root), std::move(identities));
  }
  return absl::AbortedError(
      absl::StrCat(path, ": the table was replaced repeatedly while it was read"));
}

absl::StatusOr<size_t> TableReader::Impl::PassOver(size_t part, bool reverse,
                                                   Excludes excluded) const {
  const auto excludes = [&](const internal::ChunkInfo& chunk, const OrdinalRange& rows) {
    const auto bounds_of = [&](size_t column) {
      // Without bounds nothing is known: there may be nulls and values.
      return chunk.columns[column].value_or(
          BlockStatistics{.present_count = chunk.num_rows, .null_count = chunk.num_rows});
    };
    return excluded(bounds_of, rows);
  };
  return manifest_.PassOver(part, reverse, excludes);
}

absl::Status TableReader::Impl::CheckNotReplaced(const std::string& folder,
                                                 const std::string& path) const {
  const auto found = identities_.find(folder);
  if (found == identities_.end()) return absl::OkStatus();
  CFILE_ASSIGN_OR_RETURN(const auto now, FileIdentitiesOf(*storage_, folder));
  const auto before = found->second.find(path);
  const auto after = now.find(path);
  const bool same = before == found->second.end()
                        ? after == now.end()
                        : after != now.end() && after->second == before->second;
  return same ? absl::OkStatus() : Replaced(*storage_);
}

absl::StatusOr<Reader> TableReader::Impl::OpenColumn(const ManifestPart& part,
                                                     size_t column) const {
  CFILE_ASSERT(column < columns().size());
  const uint64_t number = NumberOf(part, column);
  if (const std::optional<Reader> open = files_.Find(number)) return *open;
  return opening_.Share(number, [&]() -> absl::StatusOr<Reader> {
    // Another thread may have opened the file since it was looked up.
    if (const std::optional<Reader> open = files_.Find(number)) return *open;
    const TablePartColumn& in_part = part.part->columns[column];
    absl::StatusOr<Reader> reader = [&]() -> absl::StatusOr<Reader> {
      if (in_part.missing) return DefaultColumn(*part.part, column);
      auto begun = FindBegun(number);
      if (in_part.is_packed()) {
        if (begun != nullptr) return OpenFile(*part.part, column, std::move(begun), false);
        CFILE_ASSIGN_OR_RETURN(const PackedPartPtr packed, OpenPacked(part));
        return OpenFile(*part.part, column, ColumnOf(packed, *part.part, column), false);
      }
      if (begun == nullptr)
        return OpenFile(*part.part, column, OpenLoose(*part.part, column), false);
      const std::string path = internal::PathInStorage(*part.part, column);
      return OpenFile(*part.part, column, Checked(*part.part, path, std::move(begun)),
                      /*whole=*/true);
    }();
    CFILE_RETURN_IF_ERROR(reader.status());
    return files_.Keep(number, *std::move(reader));
  });
}

internal::ScanSource::BegunFiles TableReader::Impl::OpenTogether(
    std::span<const PartColumn> files) const {
  BegunFiles begun;
  std::vector<PartColumn> closed;
  std::vector<PartColumn> packed;
  std::vector<std::string> paths;
  for (const PartColumn& file : files) {
    const TablePart& part = *file.part.part;
    const TablePartColumn& in_part = part.columns[file.column];
    const uint64_t number = NumberOf(file.part, file.column);
    if (in_part.missing || files_.Find(number)) continue;
    if (in_part.is_packed()) {
      packed.push_back(file);
      continue;
    }
    const std::string path = internal::PathInStorage(part, file.column);
    if (auto source = BeginFile(part, number, path, in_part.size_bytes)) {
      begun.push_back(std::move(source));
      continue;
    }
    closed.push_back(file);
    paths.push_back(path);
  }
  OpenPackedTogether(packed, begun);
  if (closed.size() < 2) return begun;
  auto sources = storage_->OpenMany(paths);
  for (size_t i = 0; i < closed.size(); ++i) {
    if (!sources[i].ok()) continue;
    const TablePart& part = *closed[i].part.part;
    auto reader =
        OpenFile(part, closed[i].column, Checked(part, paths[i], std::move(sources[i])), false);
    if (reader.ok()) files_.Keep(NumberOf(closed[i].part, closed[i].column), *std::move(reader));
  }
  return begun;
}

void TableReader::Impl::OpenPackedTogether(std::span<const PartColumn> files,
                                           BegunFiles& begun) const {
  const auto keep = [&](const PackedPartPtr& open) {
    begun.push_back(std::shared_ptr<const Source>(open, open->source.get()));
  };
  std::vector<ManifestPart> closed;
  std::vector<std::string> paths;
  std::map<uint64_t, PackedPartPtr> opened;  // by the number of the part; null: not yet
  for (const PartColumn& file : files) {
    const ManifestPart& part = file.part;
    if (!opened.emplace(part.number, FindPacked(part)).second || opened[part.number]) continue;
    const std::string path = internal::PathInStorage(*part.part, file.column);
    if (auto source =
            BeginFile(*part.part, NumberOfPacked(part), path, part.part->packed_size_bytes)) {
      begun.push_back(std::move(source));
      continue;
    }
    closed.push_back(part);
    paths.push_back(path);
  }
  if (!closed.empty()) {
    auto sources = storage_->OpenMany(paths);
    for (size_t i = 0; i < closed.size(); ++i) {
      // A part that is not longer than one range of a scan is read whole.
      const bool whole = closed[i].part->packed_size_bytes <= options_.read_ahead_bytes;
      auto packed = KeepPacked(closed[i], std::move(sources[i]), whole);
      if (packed.ok()) opened[closed[i].number] = *std::move(packed);
    }
  }
  for (auto file = files.begin(); file != files.end();) {
    const uint64_t number = file->part.number;
    const auto end = std::find_if(
        file, files.end(), [&](const PartColumn& other) { return other.part.number != number; });
    if (const PackedPartPtr& packed = opened[number]) {
      keep(packed);
      BeginColumns(packed, {file, end}, begun);
    }
    file = end;
  }
}

void TableReader::Impl::BeginColumns(const PackedPartPtr& packed, std::span<const PartColumn> files,
                                     BegunFiles& begun) const {
  const Source& source = *packed->source;
  const size_t most = options_.max_requests_in_flight;
  if (!source.InMemory().empty() || !source.HasLatency() || most < 2) return;
  while (!files.empty()) {
    std::vector<internal::UnreadEnds> ends;
    std::vector<ReadRequest> requests;
    ends.reserve(std::min(most, files.size()));
    while (ends.size() < files.size() && requests.size() + 1 < most) {
      const PartColumn& file = files[ends.size()];
      const TablePartColumn& in_part = file.part.part->columns[file.column];
      internal::UnreadEnds& each = ends.emplace_back(in_part.size_bytes, /*whole=*/false);
      for (internal::BufferedEnds::Piece* piece : {&each.tail, &each.head}) {
        if (piece->bytes.empty()) continue;
        requests.push_back({in_part.packed_begin() + piece->offset, piece->bytes, {}});
      }
    }
    source.ReadMany(requests);
    // What could not be read is read again when it is needed.
    const bool all_read =
        std::all_of(requests.begin(), requests.end(),
                    [](const ReadRequest& request) { return request.status.ok(); });
    for (size_t i = 0; i < ends.size() && all_read; ++i) {
      auto column = ColumnOf(packed, *files[i].part.part, files[i].column);
      if (!column.ok()) continue;
      const std::lock_guard lock(mutex_);
      begun.push_back(KeepBegun(
          NumberOf(files[i].part, files[i].column),
          std::make_shared<internal::BufferedEnds>(*std::move(column), std::move(ends[i].head),
                                                   std::move(ends[i].tail), /*is_whole=*/false)));
    }
    files = files.subspan(ends.size());
  }
}

absl::StatusOr<std::shared_ptr<const Source>> TableReader::Impl::ColumnOf(
    const PackedPartPtr& packed, const TablePart& part, size_t column) const {
  const TablePartColumn& in_part = part.columns[column];
  const std::string path = internal::ColumnFilePath(name(), part, column);
  const auto found =
      std::find_if(packed->columns.begin(), packed->columns.end(),
                   [&](const PackedColumn& each) { return each.file_name == in_part.file_name; });
  if (found == packed->columns.end()) {
    return DataLoss(path, ": expected by table.cft, but the packed file has no such column");
  }
  if (found->offset != in_part.packed_begin() || found->size_bytes != in_part.size_bytes) {
    return DataLoss(path, ": ", in_part.size_bytes, " bytes at offset ", in_part.packed_begin(),
                    " of the packed file expected by table.cft, found ", found->size_bytes,
                    " bytes at offset ", found->offset);
  }
  // The column keeps the packed file open.
  return NewSliceSource({packed, packed->source.get()}, found->offset, found->size_bytes, path);
}

absl::StatusOr<TableReader::Impl::PackedPartPtr> TableReader::Impl::OpenPacked(
    const ManifestPart& part) const {
  if (PackedPartPtr open = FindPacked(part)) return open;
  return opening_packed_.Share(part.number, [&]() -> absl::StatusOr<PackedPartPtr> {
    if (PackedPartPtr open = FindPacked(part)) return open;
    if (auto begun = FindBegun(NumberOfPacked(part)))
      return KeepPacked(part, std::move(begun), /*whole=*/true);
    return KeepPacked(part, storage_->Open(internal::PackedFilePath(part.part->directory)),
                      /*whole=*/false);
  });
}

TableReader::Impl::PackedPartPtr TableReader::Impl::FindPacked(const ManifestPart& part) const {
  const std::lock_guard lock(mutex_);
  const auto found = packed_.find(part.number);
  return found == packed_.end() ? nullptr : found->second.lock();
}

absl::StatusOr<TableReader::Impl::PackedPartPtr> TableReader::Impl::KeepPacked(
    const ManifestPart& part, absl::StatusOr<std::shared_ptr<const Source>> source,
    bool whole) const {
  const std::string path = internal::PackedFilePath(part.part->directory);
  auto packed = std::make_shared<PackedPart>();
  CFILE_ASSIGN_OR_RETURN(packed->source, Checked(*part.part, path, std::move(source)));
  const uint64_t size = packed->source->size();
  if (size != part.part->packed_size_bytes) {
    return DataLoss(name(), "/", path, ": ", part.part->packed_size_bytes,
                    " bytes expected by table.cft, found ", size);
  }
  // One read of a small file brings all columns.
  constexpr uint64_t kSmall = internal::kBufferedHeadBytes + internal::kBufferedTailBytes;
  std::shared_ptr<const internal::BufferedEnds> in_memory;
  if (packed->source->InMemory().empty() && (whole || size <= kSmall)) {
    CFILE_ASSIGN_OR_RETURN(
        in_memory, internal::BufferEnds(packed->source, options_.max_requests_in_flight, true));
    packed->source = in_memory;
  }
  packed->usage = std::make_unique<internal::FileUsage>(std::move(in_memory), files_.usage());
  const auto read = [&] {
    return ReadPackedDirectory(*packed->source, options_.max_metadata_size_bytes);
  };
  auto columns = read();
  if (absl::IsDataLoss(columns.status()) && packed->source->Forget(0, size)) columns = read();
  CFILE_ASSIGN_OR_RETURN(packed->columns, std::move(columns));
  for (const PackedColumn& column : packed->columns)
    packed->usage->AddMemory(sizeof(column) + column.file_name.capacity());
  const std::lock_guard lock(mutex_);
  if (packed_.size() >= most_packed_) {
    std::erase_if(packed_, [](const auto& other) { return other.second.expired(); });
    most_packed_ = 2 * packed_.size() + 16;
  }
  packed_.insert_or_assign(part.number, packed);
  return packed;
}

std::shared_ptr<const Source> TableReader::Impl::BeginFile(const TablePart& part, uint64_t number,
                                                           const std::string& path,
                                                           uint64_t size_bytes) const {
  // A file that is not longer than one range of a scan is read whole.
  if (whole_files_ == nullptr || size_bytes == 0 || size_bytes > options_.read_ahead_bytes ||
      identities_.contains(part.directory))  // CheckNotReplaced needs an open file
    return nullptr;
  const std::lock_guard lock(mutex_);
  const auto found = begun_.find(number);
  if (found != begun_.end()) {
    if (auto source = found->second.lock()) return source;
  }
  auto source = whole_files_->OpenWhole(path, size_bytes);
  return source == nullptr ? nullptr : KeepBegun(number, std::move(source));
}

std::shared_ptr<const Source> TableReader::Impl::KeepBegun(
    uint64_t number, std::shared_ptr<const Source> source) const {
  std::erase_if(begun_, [](const auto& other) { return other.second.expired(); });
  begun_.insert_or_assign(number, source);
  return source;
}

std::shared_ptr<const Source> TableReader::Impl::FindBegun(uint64_t number) const {
  const std::lock_guard lock(mutex_);
  const auto found = begun_.find(number);
  return found == begun_.end() ? nullptr : found->second.lock();
}

absl::StatusOr<std::shared_ptr<const Source>> TableReader::Impl::Checked(
    const TablePart& part, const std::string& path,
    absl::StatusOr<std::shared_ptr<const Source>> source) const {
  // The reader may live longer than this object, so the function owns copies of what it needs.
  const auto error_of_missing = [storage = storage_, options = options_, folder = part.directory,
                                 path](const absl::Status& status) {
    return ErrorOfMissing(*storage, options, folder, path, status);
  };
  if (absl::IsNotFound(source.status())) return error_of_missing(source.status());
  // Check the identity after the file was opened, because an open file cannot be replaced.
  CFILE_RETURN_IF_ERROR(CheckNotReplaced(part.directory, path));
  CFILE_RETURN_IF_ERROR(source.status());
  return internal::WithErrorOfMissing(*std::move(source), error_of_missing);
}

absl::StatusOr<Reader> TableReader::Impl::OpenFile(
    const TablePart& part, size_t column, absl::StatusOr<std::shared_ptr<const Source>> source,
    bool whole) const {
  CFILE_RETURN_IF_ERROR(source.status());
  CFILE_ASSIGN_OR_RETURN(
      auto file, internal::FileReader::Open(*std::move(source), options_, files_.usage(), whole));
  CFILE_RETURN_IF_ERROR(CheckColumnFile(internal::ColumnFilePath(name(), part, column),
                                        file->info(), part.columns[column], columns()[column]));
  file->CompleteType(columns()[column].type);
  return internal::ReaderAccess::Make(std::move(file));
}

absl::StatusOr<Reader> TableReader::Impl::DefaultColumn(const TablePart& part,
                                                        size_t column) const {
  const auto& identities = manifest_.root().identities;
  return internal::NewDefaultColumn(
      columns()[column], identities ? identities->defaults[column] : std::nullopt, part.num_rows,
      absl::StrCat(name(), "/", part.directory, "/", columns()[column].name), options_);
}

BlockStatistics TableReader::Impl::Bounds(const ManifestPart& part, size_t column) const {
  return internal::BoundsOf(part.part->columns[column], columns()[column]);
}

void TableReader::Impl::CompareKeys(const ManifestPart& part, const Reader& keys,
                                    VerifyReport& report) const {
  std::vector<Reader> key_columns;
  for (const size_t column : schema().key_columns) {
    absl::StatusOr<Reader> reader = OpenColumn(part, column);
    if (!reader.ok()) return;
    key_columns.push_back(*std::move(reader));
  }
  const auto wrong = internal::FindWrongKey(schema().key_types(), key_columns, keys,
                                            schema().merge_rule.has_value());
  if (!wrong.ok() || !wrong->has_value()) return;
  const internal::WrongKey& key = **wrong;
  const std::string path = internal::ColumnFilePath(name(), *part.part, columns().size() - 1);
  report.damages.push_back({.status = DataLoss(path, ": row ", key.row, ": ", key.what),
                            .first_ordinal = key.row,
                            .last_ordinal = key.row});
}

}  // namespace cfile
