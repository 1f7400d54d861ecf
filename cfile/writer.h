// Writes one column into one file. Errors, lifetime and threads: cfile/CONCEPTS.md.
//
//   auto writer = cfile::Writer<std::string_view>::Create(
//       "keys.cfile", cfile::ColumnType::String(), {.value_index = true});
//   CFILE_RETURN_IF_ERROR(writer.status());             // cfile/status.h
//   CFILE_RETURN_IF_ERROR(writer->Append(keys));
//   return writer->Finish();
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/batch.h"
#include "cfile/file_info.h"
#include "cfile/io.h"
#include "cfile/options.h"
#include "cfile/types.h"
#include "cfile/untyped.h"
#include "encodings/core/assert.h"
#include "encodings/core/export.h"

namespace cfile {

// The functions that Writer and LevelWriter have in common.
class CFILE_EXPORT WriterBase {
 public:
  // Adds a (key, value) pair to the footer. kInvalidArgument: the key begins with "cfile."; then
  // nothing is added, and the writer can go on.
  absl::Status AddMetadata(std::string_view key, std::string_view value) {
    return impl_->AddMetadata(key, value);
  }

  // Writes the remaining data, the indexes and the footer. A file that a reader with the same
  // limits would refuse is never published: kOutOfRange.
  absl::Status Finish() { return impl_->Finish(); }

  const ColumnType& type() const { return impl_->type(); }

  // What has been written so far.
  ColumnTotals totals() const { return impl_->totals(); }
  size_t memory_usage_bytes() const { return impl_->memory_usage_bytes(); }

 protected:
  explicit WriterBase(std::unique_ptr<internal::AnyWriter> impl) : impl_(std::move(impl)) {}

  // NewValueWriter and NewEntryWriter (cfile/untyped.h), which the shared library does not export.
  static absl::StatusOr<std::unique_ptr<internal::AnyWriter>> NewValues(
      absl::StatusOr<std::unique_ptr<Sink>> sink, const ColumnType& type,
      const WriterOptions& options, bool holds_type);
  static absl::StatusOr<std::unique_ptr<internal::AnyWriter>> NewEntries(
      absl::StatusOr<std::unique_ptr<Sink>> sink, const ColumnType& type, const LevelLimits& limits,
      const WriterOptions& options, bool holds_type);

  std::unique_ptr<internal::AnyWriter> impl_;
};

// Writes values of type T; cfile/types.h says which T each ColumnType takes.
//
// The file's bytes depend only on type, options, rows and metadata. They do not depend on threads,
// nor on how the rows are divided among calls (except with OldestReader::kKudu: some of Kudu's
// encodings end blocks where calls end).
//
// Memory, independent of the number of rows:
// - one data block, and 256 KiB for the bytes that were not written yet;
// - one node for each level of each index (keys are shortened, see cfile/FORMAT.md, Index nodes);
// - for a dictionary encoding: the dictionary of at most 1 MiB, and a hash map of its values;
// - for automatic choice: a sample of 128 KiB (during a trial up to 1.25 MiB), and block buffers
//   for each encoding in use.
// The statistics take 20 to 150 bytes for each block, at most half of max_block_size_bytes, and a
// Bloom filter takes at most max_bloom_filter_bytes.
//
// After an error, the file at the path stays as it was (for one exception see NewFileSink,
// cfile/io.h).
template <typename T>
class Writer : public WriterBase {
  static_assert(CheckValueType<T>());

 public:
  // Begins a file at `path` or into `sink`. A file at `path` is written with NewFileSink, and the
  // errors are those of NewFileSink, too: the file appears at `path`, and replaces an existing
  // file, when Finish succeeds.
  static absl::StatusOr<Writer> Create(const std::string& path, const ColumnType& type,
                                       const WriterOptions& options = {}) {
    return Begin(NewFileSink(path), type, options);
  }
  static absl::StatusOr<Writer> Create(std::unique_ptr<Sink> sink, const ColumnType& type,
                                       const WriterOptions& options = {}) {
    return Begin(std::move(sink), type, options);
  }

  // Appends rows that all hold a value. kInvalidArgument: a fixed-length value has another length;
  // or, with a value index, a value is NaN or less than the value before it (the error names its
  // ordinal). kOutOfRange: the file would have more than 2^32 - 1 rows.
  absl::Status Append(std::span<const T> values) {
    return impl_->Append(internal::AnyBatch{.values = values.data(), .count = values.size()});
  }
  // Appends values in braces: Append({1, 2, 3}).
  absl::Status Append(std::initializer_list<T> values) requires(!std::same_as<T, bool>) {
    return Append(std::span<const T>(values.begin(), values.size()));
  }
  // For bool a template, so that {pointer, size} stays a span. (A pointer converts to bool.)
  template <std::same_as<bool> B>
  absl::Status Append(std::initializer_list<B> values) requires std::same_as<T, bool> {
    return Append(std::span<const T>(values.begin(), values.size()));
  }

  // Appends rows of which some may be null. Bit i % 8 of validity[i / 8] is 1 if row i holds a
  // value (Arrow's validity bitmap). values[i] is ignored if row i is null. Precondition:
  // validity.size() >= (values.size() + 7) / 8. kInvalidArgument: also if a row is null, but the
  // column is not nullable or has a value index (the error names the ordinal).
  absl::Status Append(std::span<const T> values, std::span<const uint8_t> validity) {
    CFILE_ASSERT(validity.size() >= (values.size() + 7) / 8);
    return Append(Batch<T>{.values = values, .validity = validity.data()});
  }

  // Appends the rows of `batch`, for example of a batch that a cursor has returned. A template, so
  // that the compiler prefers a span where braces could mean either.
  template <std::same_as<Batch<T>> B = Batch<T>>
  absl::Status Append(const B& batch) {
    return impl_->Append(internal::AnyBatch::Of(batch));
  }

  absl::Status AppendNull() {
    const T value{};
    constexpr uint8_t kNull = 0;
    return impl_->Append(internal::AnyBatch{.values = &value, .count = 1, .validity = &kNull});
  }

 private:
  explicit Writer(std::unique_ptr<internal::AnyWriter> writer) : WriterBase(std::move(writer)) {}

  static absl::StatusOr<Writer> Begin(absl::StatusOr<std::unique_ptr<Sink>> sink,
                                      const ColumnType& type, const WriterOptions& options) {
    auto writer = NewValues(std::move(sink), type, options, HoldsType<T>(type));
    if (!writer.ok()) return writer.status();
    return Writer(*std::move(writer));
  }
};

}  // namespace cfile
