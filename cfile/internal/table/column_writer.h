// Writes the file of one column of a table's part.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/internal/manifest/table_file.h"
#include "cfile/internal/write/copied_block.h"
#include "cfile/levels.h"
#include "cfile/schema.h"
#include "cfile/storage.h"
#include "cfile/writer.h"
#include "encodings/core/status.h"

namespace cfile {
class TableWriter;  // cfile/table.h
}  // namespace cfile

namespace cfile::internal {

// A Writer or LevelWriter of any type. Thread-compatible.
class ColumnWriter {
 public:
  virtual ~ColumnWriter() = default;
  // The first error of any call so far.
  virtual absl::Status status() = 0;
  // Completes the file. Returns its description for table.cft.
  virtual absl::StatusOr<TablePartColumn> Finish() = 0;
  // Returns true if the next call may be CopyBlock for `block`.
  // If the result is false, the caller must append the rows of `block` instead. Reasons for false:
  // the options ask for other blocks, the block is too small or too large, or its statistics are
  // not known. Does not look at the keys of `block`.
  virtual bool Takes(const CopiedBlock& block) const = 0;
  // Writes a copy of `block` after the rows so far. The copied block gets no other rows.
  // Precondition: the last record so far is complete. Errors: those of Writer::Append.
  virtual absl::Status CopyBlock(const CopiedBlock& block) = 0;
  // Adds the values of `dictionary` to the file's dictionary, so that blocks with their codes may
  // be copied (CopiedBlock::same_dictionary). See BlockEncoder::AdoptDictionary.
  virtual bool AdoptDictionary(const encodings::Dictionary& dictionary,
                               std::vector<uint32_t>& codes) = 0;
  virtual ColumnTotals totals() const = 0;
  virtual size_t memory_usage_bytes() const = 0;
};

// Gives the library access to the files of a TableWriter.
class TableWriterAccess {
 public:
  // The writer of a column or of the key index. Precondition: it exists.
  static ColumnWriter& Column(TableWriter& writer, size_t column);
  // Ends the part, and begins another part with the same options. Finish makes all parts visible at
  // once. Errors: those of Finish, except those of the commit, and those of TableWriter::Create.
  static absl::Status NextPart(TableWriter& writer);
  // Begins a part for a table that gets these columns in the commit of the part.
  // Errors: those of TableWriter::Append.
  static absl::StatusOr<TableWriter> Begin(std::shared_ptr<Storage> storage, const Schema& schema,
                                           const ColumnIdentities& identities,
                                           std::span<const WriterOptions> options);
  // Completes the files. Called instead of Finish. The caller publishes the parts or removes them.
  static absl::StatusOr<std::vector<TablePart>> Complete(TableWriter& writer);
  // The totals of all files of the first part, then those of the second part, and so on. Has the
  // parts that are complete; after Finish, all parts.
  static std::span<const ColumnTotals> CompleteTotals(const TableWriter& writer);
};

// The description of a finished file for table.cft.
TablePartColumn DescribeColumn(const std::string& file_name, ColumnTotals totals);

// W: Writer<T> or LevelWriter<T>.
template <typename W>
class TypedColumnWriter final : public ColumnWriter {
 public:
  TypedColumnWriter(W writer, std::string file_name)
      : writer_(std::move(writer)), file_name_(std::move(file_name)) {}

  W& writer() { return writer_; }
  absl::Status status() override {
    if constexpr (requires { writer_.AppendNull(); }) {
      return writer_.Append({}, {});
    } else {
      return writer_.Append({}, {}, {});
    }
  }

  absl::StatusOr<TablePartColumn> Finish() override {
    CFILE_RETURN_IF_ERROR(writer_.Finish());
    return DescribeColumn(file_name_, writer_.totals());
  }

  bool Takes(const CopiedBlock& block) const override { return writer_.Takes(block); }
  absl::Status CopyBlock(const CopiedBlock& block) override { return writer_.CopyBlock(block); }
  bool AdoptDictionary(const encodings::Dictionary& dictionary,
                       std::vector<uint32_t>& codes) override {
    return writer_.AdoptDictionary(dictionary, codes);
  }
  ColumnTotals totals() const override { return writer_.totals(); }
  size_t memory_usage_bytes() const override { return writer_.memory_usage_bytes(); }

 private:
  W writer_;
  const std::string file_name_;
};

// Begins a file of the column in the folder `folder` of a storage.
// Errors: those of Storage::Create, Writer::Create and LevelWriter::Create.
// The text of an error names the column.
absl::StatusOr<std::unique_ptr<ColumnWriter>> NewColumnWriter(Storage& storage,
                                                              const std::string& folder,
                                                              std::string file_name,
                                                              const ColumnSchema& column,
                                                              WriterOptions options);

// Appends entries with the definition levels 0 and 1 as rows of a nullable column.
// kInvalidArgument: another level, or not one value for each 1.
template <typename T>
absl::Status AppendDefined(Writer<T>& writer, std::span<const uint16_t> definition,
                           std::span<const T> values);

}  // namespace cfile::internal
