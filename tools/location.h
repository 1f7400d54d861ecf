// Paths and URLs as arguments of the tools. The tools open all files and tables through these
// functions.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "cfile/io.h"
#include "cfile/options.h"
#include "cfile/reader.h"
#include "cfile/storage.h"
#include "cfile/table.h"
#include "tools/command.h"

namespace cfile::tools {

// True if `place` begins with http://, https:// or s3://.
bool IsUrl(const std::string& place);

// A range of a file that was read, successfully or not.
struct ObservedRead {
  uint64_t offset = 0;
  uint64_t size_bytes = 0;
  std::chrono::nanoseconds time{};  // from the call to its return
};

// Called after each read. `path`: the path of the file in its table, as TableReader::part_file
// returns it; "" for a file that is opened alone. All reads of one call of Source::ReadMany have
// the time of this call. Must be thread-safe if several threads read.
using ReadObserver = std::function<void(const std::string& path, const ObservedRead& read)>;

// Return a source or a storage with the same bytes, which reports each read to `observer`. The
// source does not read in the background, so that the time of each read is known. The storage
// reports only reads of files that Open and OpenMany have opened.
std::shared_ptr<const Source> ObserveSource(std::shared_ptr<const Source> source,
                                            ReadObserver observer);
std::shared_ptr<Storage> ObserveStorage(std::shared_ptr<Storage> storage, ReadObserver observer);

// True if `place` ends with the name of a packed file (cfile/packed_file.h). The path of a column
// in such a file is this path, a slash, and the name of the column, as TableReader::part_file says.
bool IsPackedPath(const std::string& place);

// Return what is at a path or URL, which may be the path of a column in a packed file. If the
// directory of the packed file is damaged, OpenSourceAt, and OpenFileAt without verify_checksums,
// find the column through table.cft.
// kUnimplemented: this build cannot read URLs. kNotFound from OpenSourceAt and OpenFileAt: nothing
// is there. OpenFileAt passes errors of the reader through ExplainDamage. `observer`, if not null,
// is called for the reads of a file, or of the columns of a table.
absl::StatusOr<TableLocation> TableAt(const std::string& place);
absl::StatusOr<std::shared_ptr<const Source>> OpenSourceAt(const std::string& place,
                                                           const ReaderOptions& options = {});
absl::StatusOr<Reader> OpenFileAt(const std::string& place, const ReaderOptions& options,
                                  const ReadObserver& observer = nullptr);

// Returns `status`, an error of a reader of `source`. If the error is kDataLoss, and the cause is
// known, the returned error explains the cause instead:
// - `source` is a file of another program: kInvalidArgument, with what reads the file.
// - `source` is empty: kDataLoss, with this fact.
// - `source` is the temporary file of a killed writer, or a CFile without its end: kDataLoss, with
//   how to salvage the file.
// - `source` is a packed file: kInvalidArgument, with the paths of its columns.
absl::Status ExplainDamage(const absl::Status& status, const Source& source,
                           const ReaderOptions& options);

// Where a table has a column: TableReader::part_file(part, column) is its path.
struct PartFile {
  size_t part = 0;
  size_t column = 0;
};
// kNotFound: no column of the table has the path.
absl::StatusOr<PartFile> FindPartFile(const TableReader& table, const std::string& path);

// Begins a file at a path or at an s3:// URL. Sink::Finish makes the file appear, and replaces what
// is there. A symbolic link to a file stays, and the file is replaced. kUnimplemented: this build
// cannot write to URLs. kInvalidArgument: another URL.
absl::StatusOr<std::unique_ptr<Sink>> CreateFileAt(const std::string& place,
                                                   ExistingFile existing = ExistingFile::kReplaced);

// Opens the table at a path or URL. nullopt: there is none, because the place is no directory, or a
// URL below which there is no table.cft. kNotFound: the directory has no table.cft; if a writer did
// not finish there, the error says how to salvage its files.
absl::StatusOr<std::optional<TableReader>> OpenTableAt(const std::string& place,
                                                       const ReaderOptions& options,
                                                       const ReadObserver& observer = nullptr);

// Returns the text that follows the options in the help of a tool: first, if this build can read
// URLs, a paragraph about URLs, then `text`.
std::string HelpWithUrls(const char* text);

// Adds --cache, if this build can read URLs. All files of the process use the cache.
void AddCacheOption(Command& command);

}  // namespace cfile::tools
