#include "cfile/arrow_import.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "cfile/internal/arrow/c_data.h"
#include "cfile/internal/arrow/column_tree.h"
#include "cfile/internal/arrow/import_array.h"
#include "cfile/internal/arrow/import_entries.h"
#include "cfile/internal/arrow/import_plan.h"
#include "cfile/internal/arrow/import_type.h"
#include "cfile/internal/arrow/import_values.h"
#include "encodings/core/assert.h"
#include "encodings/core/status.h"

namespace cfile {
namespace internal {
namespace {

using encodings::StrCat;

// The number of rows that are read at a time.
// It is small, so that the values are still in the processor's cache when the writer takes them.
template <typename T>
constexpr int64_t kRows = encodings::kIsBytes<T> ? 1000 : 8192;
// The maximum number of entries: of several rows together, and of one row.
constexpr size_t kMaxEntries = size_t{1} << 17;
constexpr size_t kMaxRecordEntries = size_t{1} << 27;
// This is more than the maximum of any valid schema.
constexpr size_t kMaxDepth = 1100;
// The most fields that a stream can have for one node of a tree: the field itself, the values of its
// dictionary, and the two fields of the runs of these values.
constexpr size_t kFieldsOfNode = 4;

// Holds the schema and the arrays of a stream. Releases the stream.
class ImportStream {
 public:
  explicit ImportStream(ArrowArrayStream* stream) : stream_(stream) {}

  // `tree`: where the rows go. It limits the number of fields.
  absl::Status ReadSchema(const RecordSchema& tree) {
    ArrowArrayStream* const stream = stream_.get();
    if (stream_.empty()) return absl::InvalidArgumentError("the ArrowArrayStream is released");
    if (stream->get_schema == nullptr || stream->get_next == nullptr) {
      return absl::InvalidArgumentError("the ArrowArrayStream has a function that is null");
    }
    HeldSchema schema;
    CFILE_RETURN_IF_ERROR(Check(stream->get_schema(stream, schema.get()), "get_schema"));
    const size_t max_fields =
        std::max(RecordLimits().max_nodes, kFieldsOfNode * tree.nodes().size());
    CFILE_ASSIGN_OR_RETURN(root_, ReadArrowSchema(*schema.get(), kMaxDepth, max_fields));
    return absl::OkStatus();
  }
  const ImportField& root() const { return root_; }

  // Calls append(array) for each array, after the array was checked.
  template <typename Append>
  absl::Status ForEachArray(const Append& append) {
    for (uint64_t number = 0;; ++number) {
      ArrowArrayStream* const stream = stream_.get();
      HeldArray array;
      CFILE_RETURN_IF_ERROR(Check(stream->get_next(stream, array.get()), "get_next"));
      if (array.empty()) return absl::OkStatus();
      absl::Status status = CheckArray(root_, array.get());
      if (status.ok()) status = append(*array.get());
      if (!status.ok()) {
        return absl::Status(
            status.code(),
            StrCat("array ", number, " of the Arrow stream: ", std::string(status.message())));
      }
    }
  }

 private:
  // Keeps the error text of the stream.
  absl::Status Check(int error, std::string_view function) {
    if (error == 0) return absl::OkStatus();
    ArrowArrayStream* const stream = stream_.get();
    const char* const text =
        stream->get_last_error == nullptr ? nullptr : stream->get_last_error(stream);
    return absl::ErrnoToStatus(
        error, StrCat("the Arrow stream's ", function, " failed",
                      text == nullptr ? std::string() : StrCat(": ", std::string_view(text))));
  }

  Held<ArrowArrayStream> stream_;
  ImportField root_;
};

// Receives the values of a column.
template <typename T>
class ValueTarget {
 public:
  virtual ~ValueTarget() = default;
  // Appends to a column without levels. `validity`: empty if no row is null.
  virtual absl::Status AppendRows(std::span<const T> values, std::span<const uint8_t> validity) = 0;
  // Appends to a column with levels.
  virtual absl::Status AppendEntries(std::span<const uint16_t> repetition,
                                     std::span<const uint16_t> definition,
                                     std::span<const T> values) = 0;
};

// W is TableWriter or ColumnsWriter.
template <typename T, typename W>
class TableTarget final : public ValueTarget<T> {
 public:
  TableTarget(W& writer, size_t column) : writer_(writer), column_(column) {}
  absl::Status AppendRows(std::span<const T> values, std::span<const uint8_t> validity) override {
    return validity.empty() ? writer_.Append(column_, values)
                            : writer_.Append(column_, values, validity);
  }
  absl::Status AppendEntries(std::span<const uint16_t> repetition,
                             std::span<const uint16_t> definition,
                             std::span<const T> values) override {
    return writer_.AppendLevels(column_, repetition, definition, values);
  }

 private:
  W& writer_;
  const size_t column_;
};

// W is Writer<T> or LevelWriter<T>.
template <typename T, typename W>
class WriterTarget final : public ValueTarget<T> {
 public:
  explicit WriterTarget(W& writer) : writer_(writer) {}
  absl::Status AppendRows(std::span<const T> values, std::span<const uint8_t> validity) override {
    if constexpr (std::is_same_v<W, Writer<T>>) {
      return validity.empty() ? writer_.Append(values) : writer_.Append(values, validity);
    }
    CFILE_ASSERT(false && "the column has levels");
    return absl::InternalError("the column has levels");
  }
  absl::Status AppendEntries(std::span<const uint16_t> repetition,
                             std::span<const uint16_t> definition,
                             std::span<const T> values) override {
    if constexpr (std::is_same_v<W, LevelWriter<T>>) {
      return writer_.Append(repetition, definition, values);
    }
    CFILE_ASSERT(false && "the column has no levels");
    return absl::InternalError("the column has no levels");
  }

 private:
  W& writer_;
};

// Appends the values of arrays to a column.
class ColumnImporter {
 public:
  virtual ~ColumnImporter() = default;
  virtual absl::Status Append(const ArrowArray& array) = 0;
};

template <typename T>
class TypedImporter final : public ColumnImporter {
 public:
  TypedImporter(ImportLeaf leaf, bool has_levels, std::unique_ptr<ValueTarget<T>> target)
      : leaf_(std::move(leaf)),
        has_levels_(has_levels),
        target_(std::move(target)),
        entries_(!has_levels) {}

  absl::Status Append(const ArrowArray& array) override {
    int64_t most = kRows<T>;
    for (int64_t begin = 0; begin < array.length;) {
      const int64_t rows = std::min(most, array.length - begin);
      const auto values = entries_.Make(leaf_.steps, array, begin, static_cast<size_t>(rows),
                                        rows > 1 ? kMaxEntries : kMaxRecordEntries);
      if (absl::IsResourceExhausted(values.status())) {
        if (rows == 1) return InRows(begin, rows, absl::OutOfRangeError(values.status().message()));
        most = rows / 2;
        continue;
      }
      CFILE_RETURN_IF_ERROR(InRows(begin, rows, values.status()));
      CFILE_RETURN_IF_ERROR(InRows(begin, rows, AppendMade(**values)));
      begin += rows;
    }
    return absl::OkStatus();
  }

 private:
  static absl::Status InRows(int64_t begin, int64_t rows, const absl::Status& status) {
    if (status.ok()) return status;
    return absl::Status(status.code(), StrCat("rows ", begin, " to ", begin + rows - 1, ": ",
                                              std::string(status.message())));
  }

  absl::Status AppendMade(const ArrowArray& array) {
    Slots& slots = entries_.slots();
    if (slots.null_count < slots.count) CFILE_RETURN_IF_ERROR(leaf_.unfit);
    CFILE_ASSIGN_OR_RETURN(
        const std::span<const T> values,
        ReadValues<T>(leaf_.steps.back().field->values(), array, slots, buffer_));
    if (has_levels_) {
      entries_.Finish(leaf_);
      return target_->AppendEntries(entries_.repetition(), entries_.definition(), values);
    }
    if (slots.null_count == 0) return target_->AppendRows(values, {});
    slots.MakeValidity();
    return target_->AppendRows(values, slots.validity);
  }

  const ImportLeaf leaf_;
  const bool has_levels_;
  const std::unique_ptr<ValueTarget<T>> target_;
  ImportEntries entries_;
  ValueBuffer<T> buffer_;
};

// Appends the rows of a stream to one column.
template <typename T, typename W>
absl::Status AppendColumn(W& writer, const ColumnSchema& column, ArrowArrayStream* from) {
  ImportStream stream(from);
  CFILE_ASSIGN_OR_RETURN(const RecordSchema tree, ColumnTree({.columns = {column}}));
  CFILE_RETURN_IF_ERROR(stream.ReadSchema(tree));
  CFILE_ASSIGN_OR_RETURN(ImportLeaf leaf, PlanColumn(stream.root(), tree));
  CFILE_RETURN_IF_ERROR(leaf.unfit);
  TypedImporter<T> importer(std::move(leaf), std::is_same_v<W, LevelWriter<T>>,
                            std::make_unique<WriterTarget<T, W>>(writer));
  return stream.ForEachArray([&](const ArrowArray& array) { return importer.Append(array); });
}

// Appends the rows of a stream to all columns of a TableWriter or a ColumnsWriter.
template <typename W>
absl::Status AppendRows(W& writer, ArrowArrayStream* from) {
  ImportStream stream(from);
  CFILE_ASSIGN_OR_RETURN(const RecordSchema tree, ColumnTree(writer.schema()));
  CFILE_RETURN_IF_ERROR(stream.ReadSchema(tree));
  CFILE_ASSIGN_OR_RETURN(std::vector<ImportLeaf> leaves, PlanRecords(stream.root(), tree));
  std::vector<std::unique_ptr<ColumnImporter>> importers;
  for (ImportLeaf& leaf : leaves) {
    const size_t column = leaf.column;
    const ColumnSchema& stored = writer.schema().columns[column];
    VisitType(stored.type, [&]<typename T>(std::type_identity<T>) {
      importers.push_back(
          std::make_unique<TypedImporter<T>>(std::move(leaf), stored.has_levels(),
                                             std::make_unique<TableTarget<T, W>>(writer, column)));
    });
  }
  return stream.ForEachArray([&](const ArrowArray& array) -> absl::Status {
    for (const auto& importer : importers) CFILE_RETURN_IF_ERROR(importer->Append(array));
    return absl::OkStatus();
  });
}

}  // namespace
}  // namespace internal

absl::Status AppendArrow(TableWriter& writer, ArrowArrayStream* stream) {
  return internal::AppendRows(writer, stream);
}

absl::Status AppendArrow(ColumnsWriter& writer, ArrowArrayStream* stream) {
  return internal::AppendRows(writer, stream);
}

template <typename T, typename>
absl::Status AppendArrow(Writer<T>& writer, ArrowArrayStream* stream) {
  // The writer checks whether nulls are allowed.
  return internal::AppendColumn<T>(
      writer, {.name = "value", .type = writer.type(), .nullable = true}, stream);
}

template <typename T, typename>
absl::Status AppendArrow(LevelWriter<T>& writer, ArrowArrayStream* stream) {
  return internal::AppendColumn<T>(
      writer, {.name = "value", .type = writer.type(), .levels = writer.limits()}, stream);
}

#define CFILE_INSTANTIATE(T)                                        \
  template absl::Status AppendArrow(Writer<T>&, ArrowArrayStream*); \
  template absl::Status AppendArrow(LevelWriter<T>&, ArrowArrayStream*);
CFILE_FOR_EACH_VALUE_TYPE(CFILE_INSTANTIATE)
#undef CFILE_INSTANTIATE

}  // namespace cfile
