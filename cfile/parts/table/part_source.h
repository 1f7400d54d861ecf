// Sources of the files of a table's parts.
#pragma once

#include <functional>
#include <memory>

#include "absl/status/status.h"
#include "cfile/io.h"

namespace cfile::internal {

// Returns a source that reads from `source`. If `source` returns kNotFound, because the file was
// deleted meanwhile, the result returns the error of `error_of_missing` instead. `error_of_missing`
// must be thread-safe.
std::shared_ptr<const Source> WithErrorOfMissing(
    std::shared_ptr<const Source> source,
    std::function<absl::Status(const absl::Status&)> error_of_missing);

}  // namespace cfile::internal
