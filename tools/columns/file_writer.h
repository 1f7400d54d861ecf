// Writes one file with or without levels: a Writer or a LevelWriter.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/io.h"
#include "cfile/levels.h"
#include "cfile/options.h"
#include "cfile/schema.h"
#include "cfile/status.h"
#include "cfile/writer.h"
#include "tools/columns/stored_column.h"

namespace cfile::tools {

// The functions do what those of Writer and LevelWriter do. Movable.
template <typename T>
class FileWriter {
 public:
  // The file gets the type of `column`, and nulls and levels if `column` has them;
  // options.nullable is ignored.
  static absl::StatusOr<FileWriter> Create(std::unique_ptr<Sink> sink, const StoredColumn& column,
                                           WriterOptions options) {
    FileWriter writer;
    const ColumnSchema& schema = column.schema;
    options.nullable = schema.nullable;
    if (column.has_levels) {
      CFILE_ASSIGN_OR_RETURN(writer.levels_, LevelWriter<T>::Create(std::move(sink), schema.type,
                                                                    schema.levels, options));
    } else {
      CFILE_ASSIGN_OR_RETURN(writer.flat_,
                             Writer<T>::Create(std::move(sink), schema.type, options));
    }
    return writer;
  }

  // Precondition: the rows are of a column with levels if and only if the file gets levels.
  absl::Status Append(const Rows<T>& rows) {
    const LevelBatch<T>& levels = rows.levels;
    return flat_ ? flat_->Append(rows.flat)
                 : levels_->Append(levels.repetition, levels.definition, levels.values);
  }
  absl::Status AddMetadata(std::string_view key, std::string_view value) {
    return flat_ ? flat_->AddMetadata(key, value) : levels_->AddMetadata(key, value);
  }
  absl::Status Finish() { return flat_ ? flat_->Finish() : levels_->Finish(); }
  ColumnTotals totals() const { return flat_ ? flat_->totals() : levels_->totals(); }

 private:
  FileWriter() = default;

  std::optional<Writer<T>> flat_;
  std::optional<LevelWriter<T>> levels_;
};

}  // namespace cfile::tools
