#include "cfile/records.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cfile/core/io/named_status.h"
#include "cfile/parts/records/record_assembler.h"
#include "encodings/core/status.h"

namespace cfile {
namespace {

template <typename T>
class TableStream final : public internal::LeafStream {
 public:
  explicit TableStream(TableLevelCursor<T> cursor) : cursor_(std::move(cursor)) {}

 private:
  static constexpr size_t kBatchRecords = 4096;

  absl::Status SeekToRecord(uint64_t record) override { return cursor_.SeekToRecord(record); }

  absl::StatusOr<Entries> Load() override {
    CFILE_ASSIGN_OR_RETURN(const LevelBatch<T> batch, cursor_.Next(kBatchRecords));
    values_ = batch.values;
    return Entries{.num_entries = batch.num_entries,
                   .repetition = batch.repetition,
                   .definition = batch.definition,
                   .ends_record = batch.num_records > 0};
  }

  absl::Status Tell(size_t i, size_t node, RecordVisitor& visitor) const override {
    return visitor.Value(node, RecordValue(std::in_place_type<T>, values_[i]));
  }

  TableLevelCursor<T> cursor_;
  std::span<const T> values_;
};

absl::StatusOr<std::unique_ptr<internal::LeafStream>> OpenStream(const TableReader& table,
                                                                 size_t leaf) {
  return encodings::VisitPhysicalType(
      table.schema().columns[leaf].type.physical(),
      [&]<typename T>(
          std::type_identity<T>) -> absl::StatusOr<std::unique_ptr<internal::LeafStream>> {
        CFILE_ASSIGN_OR_RETURN(TableLevelCursor<T> cursor, table.NewLevelCursor<T>(leaf));
        return std::make_unique<TableStream<T>>(std::move(cursor));
      });
}

class NoVisitor final : public RecordVisitor {
  absl::Status BeginGroup(size_t) override { return absl::OkStatus(); }
  absl::Status EndGroup(size_t) override { return absl::OkStatus(); }
  absl::Status Value(size_t, const RecordValue&) override { return absl::OkStatus(); }
};

}  // namespace

class RecordReader::Impl {
 public:
  Impl(const TableReader& table, const RecordSchema& schema, std::span<const size_t> leaves,
       std::vector<std::unique_ptr<internal::LeafStream>> streams)
      : directory_(table.directory()),
        schema_(schema),
        num_records_(table.num_rows()),
        streams_(std::move(streams)),
        assembler_(schema, leaves, Pointers()) {}

  const RecordSchema& schema() const { return schema_; }
  uint64_t num_records() const { return num_records_; }
  uint64_t record() const { return assembler_.record(); }

  absl::Status Seek(uint64_t record) {
    if (record > num_records_) {
      return absl::OutOfRangeError(absl::StrCat(directory_, ": record ", record, ", the table has ",
                                                num_records_, " records"));
    }
    return assembler_.Seek(record);
  }

  absl::StatusOr<bool> Next(RecordVisitor& visitor) {
    if (assembler_.record() == num_records_) return false;
    const absl::Status status = assembler_.Next(visitor);
    if (absl::IsDataLoss(status)) return internal::Named(status, directory_);
    CFILE_RETURN_IF_ERROR(status);
    return true;
  }

 private:
  std::vector<internal::LeafStream*> Pointers() const {
    std::vector<internal::LeafStream*> pointers;
    for (const auto& stream : streams_) pointers.push_back(stream.get());
    return pointers;
  }

  const std::string directory_;
  const RecordSchema schema_;
  const uint64_t num_records_;
  const std::vector<std::unique_ptr<internal::LeafStream>> streams_;
  internal::RecordAssembler assembler_;
};

RecordReader::RecordReader(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
RecordReader::RecordReader(RecordReader&&) noexcept = default;
RecordReader& RecordReader::operator=(RecordReader&&) noexcept = default;
RecordReader::~RecordReader() = default;

absl::StatusOr<RecordReader> RecordReader::Open(const TableLocation& table,
                                                std::span<const std::string> paths,
                                                const ReaderOptions& options) {
  CFILE_ASSIGN_OR_RETURN(const TableReader reader, TableReader::Open(table, options));
  return Open(reader, paths);
}

absl::StatusOr<RecordReader> RecordReader::Open(const TableReader& table,
                                                std::span<const std::string> paths) {
  CFILE_ASSIGN_OR_RETURN(
      const RecordSchema schema,
      internal::Named(table.schema().Records(table.record_limits()), table.directory()));
  std::vector<size_t> leaves(schema.leaves().size());
  std::iota(leaves.begin(), leaves.end(), size_t{0});
  if (!paths.empty()) {
    CFILE_ASSIGN_OR_RETURN(leaves, internal::Named(schema.SelectLeaves(paths), table.directory()));
  }
  std::vector<std::unique_ptr<internal::LeafStream>> streams;
  for (const size_t leaf : leaves) {
    CFILE_ASSIGN_OR_RETURN(streams.emplace_back(), OpenStream(table, leaf));
  }
  return RecordReader(std::make_unique<Impl>(table, schema, leaves, std::move(streams)));
}

const RecordSchema& RecordReader::schema() const { return impl_->schema(); }
uint64_t RecordReader::num_records() const { return impl_->num_records(); }
uint64_t RecordReader::record() const { return impl_->record(); }
absl::Status RecordReader::Seek(uint64_t record) { return impl_->Seek(record); }
absl::StatusOr<bool> RecordReader::Next(RecordVisitor& visitor) { return impl_->Next(visitor); }

VerifyReport VerifyRecords(const TableReader& table) {
  VerifyReport report;
  const std::vector<ColumnSchema>& columns = table.schema().columns;
  if (std::none_of(columns.begin(), columns.end(),
                   [](const ColumnSchema& column) { return column.has_levels(); })) {
    return report;
  }
  auto reader = RecordReader::Open(table.StoredRows());
  if (!reader.ok()) {
    report.Add({.status = reader.status()});
    return report;
  }
  NoVisitor visitor;
  for (;;) {
    const absl::StatusOr<bool> more = reader->Next(visitor);
    report.num_rows = reader->record();
    if (!more.ok()) {
      report.Add({.status = more.status(),
                  .first_ordinal = report.num_rows,
                  .last_ordinal = report.num_rows});
    }
    if (!more.value_or(false)) return report;
  }
}

}  // namespace cfile
