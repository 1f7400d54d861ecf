// Begins files for values whose C++ type the caller does not name.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "cfile/core/write/copied_block.h"
#include "cfile/io.h"
#include "cfile/options.h"
#include "cfile/types.h"
#include "cfile/untyped.h"

namespace cfile::internal {

// Begin a file in `sink`, or return its error. `holds_type`: HoldsType of the caller's C++ type.
// Errors: those of Writer::Create and LevelWriter::Create.
absl::StatusOr<std::unique_ptr<AnyWriter>> NewValueWriter(
    absl::StatusOr<std::unique_ptr<Sink>> sink, const ColumnType& type,
    const WriterOptions& options, bool holds_type = true);
absl::StatusOr<std::unique_ptr<AnyWriter>> NewEntryWriter(
    absl::StatusOr<std::unique_ptr<Sink>> sink, const ColumnType& type, const LevelLimits& limits,
    const WriterOptions& options, bool holds_type = true);

}  // namespace cfile::internal
