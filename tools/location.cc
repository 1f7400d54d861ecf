#include "tools/location.h"

#include <algorithm>
#include <filesystem>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#ifdef CFILE_WITH_HTTP
#include "cfile/http.h"
#endif
#include "cfile/packed_file.h"
#include "cfile/status.h"
#include "tools/command_line.h"
#include "tools/file_format.h"

namespace cfile::tools {
namespace {

#ifdef CFILE_WITH_HTTP
std::string& CacheDirectory() {
  static std::string directory;
  return directory;
}

// The connections of the process.
const absl::StatusOr<HttpClient>& Client() {
  static const absl::StatusOr<HttpClient> client = [] {
    HttpOptions options;
    options.cache_directory = CacheDirectory();
    return HttpClient::Create(options);
  }();
  return client;
}

#endif

// Calls open(client). kUnimplemented: this build cannot read URLs.
template <typename T, typename Open>
absl::StatusOr<T> AtUrl([[maybe_unused]] const std::string& url, [[maybe_unused]] Open open) {
#ifdef CFILE_WITH_HTTP
  if (!Client().ok()) return Client().status();
  return open(*Client());
#else
  return absl::UnimplementedError(
      absl::StrCat(url.substr(0, url.find("://")), ":// URLs: this build cannot read them"));
#endif
}

// Returns `path`. If it is a symbolic link to a file, returns the path of this file instead, so
// that the file is replaced and not the link. kFailedPrecondition: the file no longer has a path,
// which can be true of /dev/stdout.
absl::StatusOr<std::string> LinkedFile(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (!fs::is_symlink(path, error) || !fs::is_regular_file(path, error)) return path;
  const fs::path target = fs::canonical(path, error);
  if (!error) return target.string();
  return absl::FailedPreconditionError(
      absl::StrCat(path, " is a link that leads to no path: ", error.message()));
}

// "cfile-dump salvage PATH OUT copies its complete blocks".
std::string SalvageAdvice(const std::string& path) {
  return absl::StrCat("cfile-dump salvage ", ShellQuoted(path), " OUT copies its complete blocks");
}

// If `directory` has temporary files of a writer, sentences about them; otherwise "".
std::string UnfinishedWriteIn(const std::string& directory) {
  if (IsUrl(directory)) return "";
  const auto files = NewLocalStorage(directory)->List("");
  if (!files.ok()) return "";
  bool any = false, has_complete_files = false;
  std::vector<std::string> with_data;
  for (const StorageEntry& file : *files) {
    const std::filesystem::path path = std::filesystem::path(directory) / file.path;
    if (!IsTemporaryFileName(path.filename().string())) {
      has_complete_files = has_complete_files || !file.path.ends_with('/');
      continue;
    }
    any = true;
    if (file.size_bytes > 0) with_data.push_back(path.string());
  }
  if (!any) return "";
  std::string text = "; an import or another writer did not finish here.";
  if (with_data.empty()) {
    text += " Its files are empty.";
  } else {
    std::sort(with_data.begin(), with_data.end());
    constexpr size_t kMostNames = 4;
    const size_t shown = std::min(with_data.size(), kMostNames);
    absl::StrAppend(&text, " ", SalvageAdvice(with_data[0]));
    for (size_t i = 1; i < shown; ++i) {
      absl::StrAppend(&text, i == 1 ? "; data is also in " : ", ", with_data[i]);
    }
    if (shown < with_data.size()) {
      absl::StrAppend(&text, " and in ", with_data.size() - shown, " more temporary files");
    }
    text += '.';
  }
  // A table whose table.cft is lost must not be removed.
  if (has_complete_files) {
    return absl::StrCat(text, " The directory has complete files, too: cfile-table repair ",
                        ShellQuoted(directory), " makes a table of parts that are complete");
  }
  return absl::StrCat(text, " If no writer is at work, the directory can be removed: rm -r ",
                      ShellQuoted(directory));
}

class ObservedSource final : public Source {
 public:
  ObservedSource(std::shared_ptr<const Source> source, std::string path, ReadObserver observer)
      : source_(std::move(source)), path_(std::move(path)), observer_(std::move(observer)) {}

  const std::string& name() const override { return source_->name(); }
  uint64_t size() const override { return source_->size(); }
  bool HasLatency() const override { return source_->HasLatency(); }
  std::string identity() const override { return source_->identity(); }
  bool Forget(uint64_t offset, uint64_t size) const override {
    return source_->Forget(offset, size);
  }

  absl::Status ReadAt(uint64_t offset, std::span<uint8_t> out) const override {
    const auto begin = Clock::now();
    absl::Status status = source_->ReadAt(offset, out);
    observer_(path_, {offset, out.size(), Clock::now() - begin});
    return status;
  }

  void ReadMany(std::span<ReadRequest> requests) const override {
    const auto begin = Clock::now();
    source_->ReadMany(requests);
    const auto time = Clock::now() - begin;
    for (const ReadRequest& request : requests) {
      observer_(path_, {request.offset, request.out.size(), time});
    }
  }

 private:
  using Clock = std::chrono::steady_clock;

  const std::shared_ptr<const Source> source_;
  const std::string path_;
  const ReadObserver observer_;
};

class ObservedStorage final : public Storage {
 public:
  ObservedStorage(std::shared_ptr<Storage> storage, ReadObserver observer)
      : storage_(std::move(storage)), observer_(std::move(observer)) {}

  const std::string& name() const override { return storage_->name(); }
  absl::StatusOr<std::shared_ptr<const Source>> Open(const std::string& path) const override {
    return Observe(storage_->Open(path), path);
  }
  std::vector<absl::StatusOr<std::shared_ptr<const Source>>> OpenMany(
      std::span<const std::string> paths) const override {
    auto sources = storage_->OpenMany(paths);
    for (size_t i = 0; i < sources.size(); ++i) {
      sources[i] = Observe(std::move(sources[i]), paths[i]);
    }
    return sources;
  }
  bool OpensAtOnce() const override { return storage_->OpensAtOnce(); }
  absl::StatusOr<std::unique_ptr<Sink>> Create(const std::string& path) override {
    return storage_->Create(path);
  }
  absl::StatusOr<std::vector<StorageEntry>> List(const std::string& folder) const override {
    return storage_->List(folder);
  }
  absl::Status Delete(const std::string& path) override { return storage_->Delete(path); }
  absl::StatusOr<VersionedObject> Read(const std::string& path,
                                       uint64_t max_size_bytes) const override {
    return storage_->Read(path, max_size_bytes);
  }
  absl::Status Commit(const std::string& path, const std::optional<std::string>& expected_version,
                      std::string_view bytes) override {
    return storage_->Commit(path, expected_version, bytes);
  }

 private:
  absl::StatusOr<std::shared_ptr<const Source>> Observe(
      absl::StatusOr<std::shared_ptr<const Source>> source, const std::string& path) const {
    if (!source.ok()) return source;
    return std::make_shared<ObservedSource>(*std::move(source), path, observer_);
  }

  const std::shared_ptr<Storage> storage_;
  const ReadObserver observer_;
};

}  // namespace

bool IsUrl(const std::string& place) {
  return place.starts_with("http://") || place.starts_with("https://") ||
         place.starts_with("s3://");
}

bool IsPackedPath(const std::string& place) {
  return place == kPackedFileName ||
         place.ends_with(absl::StrCat("/", std::string(kPackedFileName)));
}

absl::StatusOr<TableLocation> TableAt(const std::string& place) {
  if (!IsUrl(place)) return TableLocation(place);
  CFILE_ASSIGN_OR_RETURN(auto storage, AtUrl<std::shared_ptr<Storage>>(place, [&](auto& client) {
                           return client.OpenTable(place);
                         }));
  return TableLocation(std::move(storage));
}

namespace {

// Opens a column of a packed file whose directory is damaged. Returns `damage` if the table does
// not say where the column is. `place`: TABLE/PART/columns.packed/NAME.
absl::StatusOr<std::shared_ptr<const Source>> OpenByTable(const std::string& place,
                                                          const ReaderOptions& options,
                                                          absl::Status damage) {
  size_t slash = place.size();
  for (int names = 0; names < 3; ++names) {
    slash = slash == 0 ? place.npos : place.rfind('/', slash - 1);
    if (slash == place.npos) return damage;
  }
  const auto table = OpenTableAt(place.substr(0, slash), options);
  if (!table.ok() || !*table) return damage;
  const auto found = FindPartFile(**table, place.substr(slash + 1));
  return found.ok() ? (*table)->OpenBytes(found->part, found->column) : damage;
}

}  // namespace

absl::StatusOr<PartFile> FindPartFile(const TableReader& table, const std::string& path) {
  const size_t columns = table.schema().columns.size() + (table.schema().key_index() ? 1 : 0);
  for (size_t part = 0; part < table.num_parts(); ++part) {
    for (size_t column = 0; column < columns; ++column) {
      CFILE_ASSIGN_OR_RETURN(const std::string file, table.part_file(part, column));
      if (file == path) return PartFile{part, column};
    }
  }
  return absl::NotFoundError(absl::StrCat(path, ": no column of the table has this file"));
}

namespace {

// `by_table`: finds a column of a packed file through table.cft if the directory is damaged.
absl::StatusOr<std::shared_ptr<const Source>> Open(const std::string& place,
                                                   const ReaderOptions& options, bool by_table) {
  if (const size_t slash = place.rfind('/');
      slash != place.npos && IsPackedPath(place.substr(0, slash))) {
    CFILE_ASSIGN_OR_RETURN(auto packed, Open(place.substr(0, slash), options, by_table));
    const auto columns = ReadPackedDirectory(*packed, options.max_metadata_size_bytes);
    if (by_table && absl::IsDataLoss(columns.status()))
      return OpenByTable(place, options, columns.status());
    CFILE_RETURN_IF_ERROR(columns.status());
    for (const PackedColumn& column : *columns) {
      if (column.file_name == place.substr(slash + 1))
        return NewSliceSource(std::move(packed), column.offset, column.size_bytes, place);
    }
    return absl::NotFoundError(absl::StrCat(place, ": the packed file has no such column"));
  }
  if (!IsUrl(place)) return OpenPreadSource(place);
  return AtUrl<std::shared_ptr<const Source>>(place,
                                              [&](auto& client) { return client.OpenUrl(place); });
}

}  // namespace

absl::StatusOr<std::shared_ptr<const Source>> OpenSourceAt(const std::string& place,
                                                           const ReaderOptions& options) {
  return Open(place, options, /*by_table=*/true);
}

absl::StatusOr<std::unique_ptr<Sink>> CreateFileAt(const std::string& place,
                                                   ExistingFile existing) {
  if (IsUrl(place)) {
    return AtUrl<std::unique_ptr<Sink>>(place,
                                        [&](auto& client) { return client.CreateUrl(place); });
  }
  CFILE_ASSIGN_OR_RETURN(const std::string path, LinkedFile(place));
  return NewFileSink(path, existing);
}

absl::StatusOr<Reader> OpenFileAt(const std::string& place, const ReaderOptions& options,
                                  const ReadObserver& observer) {
  CFILE_ASSIGN_OR_RETURN(auto source, Open(place, options, /*by_table=*/!options.verify_checksums));
  if (observer) source = ObserveSource(std::move(source), observer);
  auto reader = Reader::Open(source, options);
  if (!reader.ok()) return ExplainDamage(reader.status(), *source, options);
  return reader;
}

absl::Status ExplainDamage(const absl::Status& status, const Source& source,
                           const ReaderOptions& options) {
  if (!absl::IsDataLoss(status)) return status;
  const std::string& path = source.name();
  if (IsPackedFile(source)) {
    CFILE_ASSIGN_OR_RETURN(const auto columns,
                           ReadPackedDirectory(source, options.max_metadata_size_bytes));
    std::string names;
    for (const PackedColumn& column : columns)
      absl::StrAppend(&names, names.empty() ? " " : ", ", path, "/", column.file_name);
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": the file is a packed part of a table; its columns are", names));
  }
  const bool temporary = IsTemporaryFileName(std::filesystem::path(path).filename().string());
  const std::string foreign = DescribeForeignFile(source);
  if (!foreign.empty() && source.size() == 0) {
    return absl::DataLossError(absl::StrCat(
        path, ": ", foreign,
        temporary ? "; it belongs to an import or another writer that did not finish, and can be "
                    "removed if no writer is at work"
                  : ""));
  }
  if (!foreign.empty()) return absl::InvalidArgumentError(absl::StrCat(path, ": ", foreign));
  if (temporary) {
    return absl::DataLossError(absl::StrCat(
        status.message(),
        "; this is the temporary file of a writer that did not finish: ", SalvageAdvice(path)));
  }
  if (!HasDamagedEnd(source)) return status;
  return absl::DataLossError(absl::StrCat(
      status.message(), "; the end of this CFile is damaged or missing: ", SalvageAdvice(path)));
}

absl::StatusOr<std::optional<TableReader>> OpenTableAt(const std::string& place,
                                                       const ReaderOptions& options,
                                                       const ReadObserver& observer) {
  const bool at_url = IsUrl(place);
  std::error_code ignored;
  if (at_url ? place.find('?') != std::string::npos && !place.starts_with("s3://")
             : !std::filesystem::is_directory(place, ignored))
    return std::nullopt;
  CFILE_ASSIGN_OR_RETURN(TableLocation location, TableAt(place));
  if (observer) {
    location = TableLocation(ObserveStorage(location.storage(options.access), observer));
  }
  auto table = TableReader::Open(location, options);
  if (table.ok()) return *std::move(table);
  const bool is_missing = absl::IsNotFound(table.status());
  // Without the right to list a bucket, S3 denies access to what does not exist.
  if (at_url && (is_missing || absl::IsPermissionDenied(table.status()))) return std::nullopt;
  if (!is_missing) return table.status();
  return absl::NotFoundError(absl::StrCat(
      place, " is a directory, but not a table: it has no table.cft", UnfinishedWriteIn(place)));
}

std::string HelpWithUrls(const char* text) {
#ifdef CFILE_WITH_HTTP
  constexpr char kUrls[] =
      "URLs:\n"
      "  A file or a table may be at an s3://BUCKET/KEY URL, or, to be read, at an\n"
      "  http:// or https:// URL. For s3://, the keys come from AWS_ACCESS_KEY_ID,\n"
      "  AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN, or from the profile AWS_PROFILE\n"
      "  in ~/.aws/credentials. AWS_REGION is the region, and AWS_ENDPOINT_URL the\n"
      "  server if it is not Amazon's.\n"
      "  AWS_SKIP_SIGNATURE=true reads public objects without keys.\n\n";
  return std::string(kUrls) + text;
#else
  return text;
#endif
}

void AddCacheOption([[maybe_unused]] Command& command) {
#ifdef CFILE_WITH_HTTP
  command.Add("--cache DIRECTORY", &CacheDirectory(),
              "Keep what is read from URLs in this directory, up to 10 GiB");
#endif
}

std::shared_ptr<const Source> ObserveSource(std::shared_ptr<const Source> source,
                                            ReadObserver observer) {
  return std::make_shared<ObservedSource>(std::move(source), "", std::move(observer));
}

std::shared_ptr<Storage> ObserveStorage(std::shared_ptr<Storage> storage, ReadObserver observer) {
  return std::make_shared<ObservedStorage>(std::move(storage), std::move(observer));
}

}  // namespace cfile::tools
