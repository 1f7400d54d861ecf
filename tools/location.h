// Paths and URLs as arguments of the tools. Every file or table that a tool opens goes through here.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "cfile/io.h"
#include "cfile/options.h"
#include "cfile/reader.h"
#include "cfile/storage.h"
#include "cfile/table.h"
#include "tools/observed_reads.h"

namespace cfile::tools {

// True if `place` begins with http://, https:// or s3://.
bool IsUrl(const std::string& place);

// Return what is at a path or URL. kUnimplemented: this build cannot read URLs. kNotFound from
// OpenSourceAt and OpenFileAt: nothing is there. OpenFileAt returns errors of ExplainDamage.
// `observer`, if not null, gets the reads of a file, or of the columns of a table.
absl::StatusOr<TableLocation> TableAt(const std::string& place);
absl::StatusOr<std::shared_ptr<const Source>> OpenSourceAt(const std::string& place);
absl::StatusOr<Reader> OpenFileAt(const std::string& place, const ReaderOptions& options,
                                  const ReadObserver& observer = nullptr);

// Returns `status`, the error of a reader of `source`, in words that help more if it is kDataLoss:
// kInvalidArgument if the file is one of another program; the message says what reads it. If the
// file is the temporary file of a killed writer, the message says how to salvage it.
absl::Status ExplainDamage(const absl::Status& status, const Source& source);

// Begins a file at a path or at an s3:// URL. It appears, and replaces what is there, with
// Sink::Finish. kUnimplemented: this build cannot write to URLs. kInvalidArgument: another URL.
absl::StatusOr<std::unique_ptr<Sink>> CreateFileAt(const std::string& place);

// Opens the table at a path or URL. nullopt: there is none, because the place is no directory, or a
// URL below which there is no table.cft. kNotFound: the directory has no table.cft.
absl::StatusOr<std::optional<TableReader>> OpenTableAt(const std::string& place,
                                                       const ReaderOptions& options,
                                                       const ReadObserver& observer = nullptr);

// Returns the text that follows the options in the help of a tool: how URLs are reached, if this
// build can read URLs, and `text`.
std::string HelpWithUrls(const char* text);

// Adds --cache, if this build can read URLs. All files of the process use the cache.
void AddCacheOption(CLI::App& command);

}  // namespace cfile::tools
