// Paths and URLs as arguments of the tools. Every file or table that a tool opens goes through here.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "cfile/io.h"
#include "cfile/options.h"
#include "cfile/reader.h"
#include "cfile/storage.h"

namespace cfile::tools {

// True if `place` begins with http://, https:// or s3://.
bool IsUrl(const std::string& place);

// Return what is at a path or URL. kUnimplemented: this build cannot read URLs. kNotFound from
// OpenSourceAt and OpenFileAt: nothing is there.
absl::StatusOr<TableLocation> TableAt(const std::string& place);
absl::StatusOr<std::shared_ptr<const Source>> OpenSourceAt(const std::string& place);
absl::StatusOr<Reader> OpenFileAt(const std::string& place, const ReaderOptions& options);

// True for a directory, and for a URL below which there is a table.cft.
absl::StatusOr<bool> IsTableAt(const std::string& place);

// Adds --cache, if this build can read URLs. All files of the process use the cache.
void AddCacheOption(CLI::App& command);

}  // namespace cfile::tools
