#include "cfile/records.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "cfile/core/io/named_status.h"
#include "cfile/core/write/column_encoder.h"
#include "cfile/parts/records/record_shredder.h"
#include "encodings/core/status.h"

namespace cfile {
namespace {

// The entries of all leaves are written to the table when approximately this many bytes are
// buffered.
constexpr size_t kBufferBytes = 1 << 20;

}  // namespace

class RecordWriter::Impl {
 public:
  Impl(const RecordSchema& schema, std::span<const WriterOptions> options, TableWriter table)
      : schema_(schema), shredder_(schema), table_(std::move(table)) {
    options_.assign(schema.leaves().size(), options.empty() ? WriterOptions{} : options[0]);
    if (options.size() > 1) options_.assign(options.begin(), options.end());
  }

  const RecordSchema& schema() const { return schema_; }
  const TableWriter& table() const { return table_; }
  uint64_t num_records() const { return shredder_.num_records(); }

  absl::Status BeginGroup(size_t node) {
    return status_.ok() ? Keep(shredder_.BeginGroup(node)) : status_;
  }
  absl::Status EndGroup(size_t node) {
    return status_.ok() ? Keep(shredder_.EndGroup(node)) : status_;
  }
  absl::Status Value(size_t node, const RecordValue& value) {
    if (!status_.ok()) return status_;
    absl::Status status = shredder_.Value(node, value);
    if (status.ok() && std::holds_alternative<std::string_view>(value)) {
      status = CheckSize(node, std::get<std::string_view>(value));
    }
    return Keep(std::move(status));
  }

  absl::Status Finish() {
    if (status_.ok() && shredder_.in_record()) {
      status_ = absl::InvalidArgumentError(
          absl::StrCat("record ", shredder_.num_records(), " has not ended"));
    }
    if (status_.ok()) status_ = Flush();
    if (status_.ok()) status_ = table_.Finish();
    return status_;
  }

 private:
  // Checks the size of a string. The column's writer checks it too, but only at the next Flush.
  [[gnu::noinline]] absl::Status CheckSize(size_t node, const std::string_view& bytes) const {
    const RecordNode& leaf = schema_.node(node);
    return internal::CheckSizes({&bytes, 1}, leaf.type, options_[leaf.first_leaf],
                                [&](size_t) { return schema_.Path(node) + ": a value"; });
  }

  // Handles the status of a call of the shredder: keeps an error, and otherwise flushes the buffers
  // if they are full, also in the middle of a record.
  absl::Status Keep(absl::Status status) {
    if (status.ok() && shredder_.buffered_bytes() < kBufferBytes) return status;
    return KeepOrFlush(std::move(status));
  }
  // KeepOrFlush is not inlined, so that the functions that are called for each value stay small.
  [[gnu::noinline]] absl::Status KeepOrFlush(absl::Status status) {
    return status_ = status.ok() ? Flush() : std::move(status);
  }

  absl::Status Flush() {
    for (size_t i = 0; i < shredder_.leaves().size(); ++i) {
      internal::LeafBuffer& leaf = *shredder_.leaves()[i];
      CFILE_RETURN_IF_ERROR(encodings::VisitPhysicalType(
          schema_.leaf(i).type.physical(), [&]<typename T>(std::type_identity<T>) {
            return table_.AppendLevels<T>(
                i, leaf.repetition(), leaf.definition(),
                static_cast<internal::TypedLeafBuffer<T>&>(leaf).values());
          }));
    }
    shredder_.Clear();
    return absl::OkStatus();
  }

  const RecordSchema schema_;
  std::vector<WriterOptions> options_;  // by leaf
  internal::RecordShredder shredder_;
  TableWriter table_;
  absl::Status status_;
};

RecordWriter::RecordWriter(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
RecordWriter::RecordWriter(RecordWriter&&) noexcept = default;
RecordWriter& RecordWriter::operator=(RecordWriter&&) noexcept = default;
RecordWriter::~RecordWriter() = default;

absl::StatusOr<RecordWriter> RecordWriter::Create(const TableLocation& table,
                                                  const RecordSchema& schema,
                                                  std::span<const WriterOptions> options) {
  if (schema.nodes().empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(table.storage()->name(), ": expected a schema with fields"));
  }
  CFILE_ASSIGN_OR_RETURN(TableWriter writer,
                         TableWriter::Create(table, Schema::OfRecords(schema), options));
  return RecordWriter(std::make_unique<Impl>(schema, options, std::move(writer)));
}

absl::StatusOr<RecordWriter> RecordWriter::Append(const TableLocation& table,
                                                  std::span<const WriterOptions> options) {
  CFILE_ASSIGN_OR_RETURN(TableWriter writer, TableWriter::Open(table, options));
  const std::string name = table.storage()->name();
  if (writer.schema().key_index().has_value()) {
    return absl::UnimplementedError(
        absl::StrCat(name, ": records cannot be appended to a table with compound keys"));
  }
  CFILE_ASSIGN_OR_RETURN(const RecordSchema schema,
                         internal::Named(writer.schema().Records(), name));
  return RecordWriter(std::make_unique<Impl>(schema, options, std::move(writer)));
}

const RecordSchema& RecordWriter::schema() const { return impl_->schema(); }
absl::Status RecordWriter::BeginGroup(size_t node) { return impl_->BeginGroup(node); }
absl::Status RecordWriter::EndGroup(size_t node) { return impl_->EndGroup(node); }
absl::Status RecordWriter::Value(size_t node, const RecordValue& value) {
  return impl_->Value(node, value);
}
absl::Status RecordWriter::Finish() { return impl_->Finish(); }
uint64_t RecordWriter::num_records() const { return impl_->num_records(); }
const TableWriter& RecordWriter::table() const { return impl_->table(); }

}  // namespace cfile
