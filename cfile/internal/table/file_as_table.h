// A file that can be scanned like a table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "cfile/internal/read/reader_access.h"
#include "cfile/internal/table/scan_source.h"
#include "cfile/reader.h"
#include "cfile/schema.h"

namespace cfile::internal {

// A file as a table with one column.
class FileAsTable final : public ScanSource {
 public:
  explicit FileAsTable(const Reader& reader)
      : reader_(reader),
        schema_{.columns = {{.name = "value",
                             .type = reader.type(),
                             .nullable = reader.info().nullable,
                             .levels = reader.info().has_levels() ? reader.info().levels
                                                                  : LevelLimits()}}} {}

  const std::string& name() const override { return ReaderAccess::File(reader_)->source().name(); }
  const Schema& schema() const override { return schema_; }
  const ReaderOptions& options() const override { return ReaderAccess::File(reader_)->options(); }
  uint64_t num_rows() const override { return reader_.num_rows(); }
  size_t num_parts() const override { return 1; }
  absl::StatusOr<ManifestPart> Part(size_t) const override { return ManifestPart{.part = part_}; }
  absl::StatusOr<ManifestPart> PartOfRow(uint64_t) const override { return Part(0); }
  absl::StatusOr<size_t> PassOver(size_t part, bool, Excludes) const override { return part; }
  BlockStatistics Bounds(const ManifestPart&, size_t) const override {
    // Nothing is known: there may be nulls and values.
    return {.present_count = reader_.num_rows(), .null_count = reader_.num_rows()};
  }
  absl::StatusOr<Reader> OpenColumn(const ManifestPart&, size_t) const override { return reader_; }

 private:
  const Reader reader_;
  const Schema schema_;
  const std::shared_ptr<const TablePart> part_ =
      std::make_shared<TablePart>(TablePart{.num_rows = reader_.num_rows()});
};

}  // namespace cfile::internal
