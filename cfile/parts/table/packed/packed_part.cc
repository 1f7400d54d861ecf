#include "cfile/parts/table/packed/packed_part.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cfile/parts/table/manifest/table_file.h"
#include "cfile/parts/table/packed/packed_directory.h"
#include "encodings/core/assert.h"
#include "encodings/core/bytes.h"
#include "encodings/core/status.h"

namespace cfile::internal {

absl::StatusOr<std::shared_ptr<const Source>> OpenColumnFile(const Storage& storage,
                                                             const TablePart& part, size_t column) {
  CFILE_ASSIGN_OR_RETURN(auto source, storage.Open(PathInStorage(part, column)));
  const TablePartColumn& found = part.columns[column];
  if (!found.is_packed()) return source;
  const uint64_t begin = std::min(found.packed_begin(), source->size());
  const uint64_t end = std::min(found.packed_end, source->size());
  return NewSliceSource(std::move(source), begin, end - begin,
                        ColumnFilePath(storage.name(), part, column));
}

class PackedWriter::ColumnSink final : public Sink {
 public:
  ColumnSink(PackedWriter& writer, Column& column)
      : writer_(writer),
        column_(column),
        name_(absl::StrCat(writer.storage_.name(), "/", writer.PathOf(column))) {}

  const std::string& name() const override { return name_; }

  absl::Status Append(std::span<const uint8_t> bytes) override {
    if (!writer_.too_large_) {
      if (writer_.kept_bytes_.fetch_add(bytes.size()) + bytes.size() <= writer_.max_size_bytes_) {
        column_.bytes.insert(column_.bytes.end(), bytes.begin(), bytes.end());
        return absl::OkStatus();
      }
      writer_.kept_bytes_ -= bytes.size();
      writer_.too_large_ = true;
    }
    CFILE_RETURN_IF_ERROR(writer_.BeginFile(column_));
    return column_.file->Append(bytes);
  }

  absl::Status Finish() override {
    if (!writer_.too_large_) return absl::OkStatus();
    CFILE_RETURN_IF_ERROR(writer_.BeginFiles());
    return FinishFile(column_);
  }

 private:
  PackedWriter& writer_;
  Column& column_;
  const std::string name_;
};

absl::Status PackedWriter::Begin() {
  CFILE_ASSIGN_OR_RETURN(packed_, storage_.Create(PackedFilePath(folder_)));
  return absl::OkStatus();
}

std::unique_ptr<Sink> PackedWriter::NewSink(const std::string& file_name) {
  columns_.push_back(std::make_unique<Column>());
  columns_.back()->file_name = file_name;
  return std::make_unique<ColumnSink>(*this, *columns_.back());
}

absl::StatusOr<std::shared_ptr<const Source>> PackedWriter::Open(size_t column) {
  CFILE_ASSERT(column < columns_.size());
  Column& found = *columns_[column];
  if (found.file != nullptr) {
    CFILE_RETURN_IF_ERROR(FinishFile(found));
    return storage_.Open(PathOf(found));
  }
  return NewMemoryViewSource(found.bytes, absl::StrCat(storage_.name(), "/", PathOf(found)));
}

absl::Status PackedWriter::BeginFile(Column& column) {
  if (column.file != nullptr) return absl::OkStatus();
  auto file = storage_.Create(PathOf(column));
  if (absl::IsNotFound(file.status())) return NewPartRemoved(storage_, folder_);
  CFILE_ASSIGN_OR_RETURN(column.file, std::move(file));
  const std::vector<uint8_t> bytes = std::exchange(column.bytes, {});
  kept_bytes_ -= bytes.size();
  return column.file->Append(bytes);
}

absl::Status PackedWriter::FinishFile(Column& column) {
  return std::exchange(column.finished, true) ? absl::OkStatus() : column.file->Finish();
}

absl::Status PackedWriter::BeginFiles() {
  for (const auto& column : columns_) CFILE_RETURN_IF_ERROR(BeginFile(*column));
  packed_.reset();
  return absl::OkStatus();
}

absl::Status PackedWriter::Finish(TablePart& part) {
  CFILE_ASSERT(part.columns.size() == columns_.size());
  if (too_large_) {
    CFILE_RETURN_IF_ERROR(BeginFiles());
    for (const auto& column : columns_) CFILE_RETURN_IF_ERROR(FinishFile(*column));
    return absl::OkStatus();
  }
  std::vector<PackedColumn> directory;
  static constexpr uint8_t kPadding[kAlignment] = {};
  uint64_t end = 0;
  for (size_t i = 0; i < columns_.size(); ++i) {
    const Column& column = *columns_[i];
    const uint64_t begin = NextPackedOffset(end);
    CFILE_RETURN_IF_ERROR(packed_->Append({kPadding, begin - end}));
    CFILE_RETURN_IF_ERROR(packed_->Append(column.bytes));
    directory.push_back({column.file_name, begin, column.bytes.size()});
    part.columns[i].packed_end = end = begin + column.bytes.size();
  }
  const std::string tail = SerializePackedDirectory(directory);
  CFILE_RETURN_IF_ERROR(packed_->Append(encodings::AsBytes(tail)));
  part.packed_size_bytes = end + tail.size();
  CFILE_RETURN_IF_ERROR(packed_->Finish());
  for (const auto& column : columns_) column->bytes = {};
  kept_bytes_ = 0;
  return absl::OkStatus();
}

}  // namespace cfile::internal
