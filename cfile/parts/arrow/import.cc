#include "cfile/arrow_import.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "cfile/core/io/named_status.h"
#include "cfile/parts/arrow/c_data.h"
#include "cfile/parts/arrow/column_tree.h"
#include "cfile/parts/arrow/import_array.h"
#include "cfile/parts/arrow/import_entries.h"
#include "cfile/parts/arrow/import_plan.h"
#include "cfile/parts/arrow/import_type.h"
#include "cfile/parts/arrow/import_values.h"
#include "cfile/types.h"
#include "encodings/core/status.h"

namespace cfile {
namespace internal {
namespace {

using encodings::StrCat;

// The number of rows that are read at a time: so few that the values are still in the processor's
// cache when the writer takes them.
constexpr int64_t RowsOf(PhysicalType type) {
  const bool bytes = type == PhysicalType::kBytes || type == PhysicalType::kFixedBytes;
  return bytes ? 1000 : 8192;
}
// The maximum number of entries: of several rows together, and of one row.
constexpr size_t kMaxEntries = size_t{1} << 17;
constexpr size_t kMaxRecordEntries = size_t{1} << 27;
// This is more than the maximum of any valid schema.
constexpr size_t kMaxDepth = 1100;
// The most fields that a stream can have for one node of a tree: the field itself, the values of
// its dictionary, and the two fields of the runs of these values.
constexpr size_t kFieldsOfNode = 4;

// Holds the schema and the arrays of a stream, which it releases.
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
        return WithMessage(status, StrCat("array ", number,
                                          " of the Arrow stream: ", std::string(status.message())));
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

// Where the values of a column go: append_rows if the column has no levels, otherwise
// append_entries. The values have the C++ type of the column.
struct Target {
  std::function<absl::Status(const AnyBatch& rows)> append_rows = nullptr;
  std::function<absl::Status(const AnyLevelBatch& entries)> append_entries = nullptr;
};

// Appends the values of arrays to a column.
class ColumnImporter {
 public:
  // `type`: of the column.
  ColumnImporter(PhysicalType type, ImportLeaf leaf, Target target)
      : type_(type),
        leaf_(std::move(leaf)),
        target_(std::move(target)),
        entries_(/*flat=*/!target_.append_entries) {}

  absl::Status Append(const ArrowArray& array) {
    int64_t most = RowsOf(type_);
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
    return WithMessage(status, StrCat("rows ", begin, " to ", begin + rows - 1, ": ",
                                      std::string(status.message())));
  }

  absl::Status AppendMade(const ArrowArray& array) {
    Slots& slots = entries_.slots();
    if (slots.null_count < slots.count) CFILE_RETURN_IF_ERROR(leaf_.unfit);
    CFILE_ASSIGN_OR_RETURN(
        const encodings::ValueSpan values,
        ReadValues(type_, leaf_.steps.back().field->values(), array, slots, buffer_));
    if (target_.append_entries) {
      entries_.Finish(leaf_);
      return target_.append_entries({.repetition = entries_.repetition(),
                                     .definition = entries_.definition(),
                                     .values = values});
    }
    AnyBatch rows{.values = values.data, .count = values.count};
    if (slots.null_count > 0) {
      slots.MakeValidity();
      rows.validity = slots.validity.data();
    }
    return target_.append_rows(rows);
  }

  const PhysicalType type_;
  const ImportLeaf leaf_;
  const Target target_;
  ImportEntries entries_;
  ValueBuffer buffer_;
};

// Appends the rows of a stream to one column.
absl::Status AppendColumn(const ColumnSchema& column, Target target, ArrowArrayStream* from) {
  ImportStream stream(from);
  CFILE_ASSIGN_OR_RETURN(const RecordSchema tree, ColumnTree({.columns = {column}}));
  CFILE_RETURN_IF_ERROR(stream.ReadSchema(tree));
  CFILE_ASSIGN_OR_RETURN(ImportLeaf leaf, PlanColumn(stream.root(), tree));
  CFILE_RETURN_IF_ERROR(leaf.unfit);
  ColumnImporter importer(column.type.physical(), std::move(leaf), std::move(target));
  return stream.ForEachArray([&](const ArrowArray& array) { return importer.Append(array); });
}

// Appends the rows of a stream to all columns of a TableWriter or a ColumnsWriter.
template <typename W>
absl::Status AppendRows(W& writer, ArrowArrayStream* from) {
  ImportStream stream(from);
  CFILE_ASSIGN_OR_RETURN(const RecordSchema tree, ColumnTree(writer.schema()));
  CFILE_RETURN_IF_ERROR(stream.ReadSchema(tree));
  CFILE_ASSIGN_OR_RETURN(std::vector<ImportLeaf> leaves, PlanRecords(stream.root(), tree));
  std::vector<ColumnImporter> importers;
  importers.reserve(leaves.size());
  for (ImportLeaf& leaf : leaves) {
    const size_t column = leaf.column;
    const ColumnSchema& stored = writer.schema().columns[column];
    VisitType(stored.type, [&]<typename T>(std::type_identity<T>) {
      Target target;
      if (stored.has_levels()) {
        target.append_entries = [&writer, column](const AnyLevelBatch& entries) {
          return writer.AppendLevels(column, entries.repetition, entries.definition,
                                     entries.values.As<T>());
        };
      } else {
        target.append_rows = [&writer, column](const AnyBatch& rows) {
          const std::span<const T> values = rows.As<T>().values;
          if (rows.validity == nullptr) return writer.Append(column, values);
          const std::span validity(rows.validity, (rows.count + 7) / 8);
          return writer.Append(column, values, validity);
        };
      }
      importers.emplace_back(stored.type.physical(), std::move(leaf), std::move(target));
    });
  }
  return stream.ForEachArray([&](const ArrowArray& array) -> absl::Status {
    for (ColumnImporter& importer : importers) CFILE_RETURN_IF_ERROR(importer.Append(array));
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
  return internal::AppendColumn(
      {.name = "value", .type = writer.type(), .nullable = true},
      {.append_rows = [&](const internal::AnyBatch& rows) { return writer.Append(rows.As<T>()); }},
      stream);
}

template <typename T, typename>
absl::Status AppendArrow(LevelWriter<T>& writer, ArrowArrayStream* stream) {
  return internal::AppendColumn({.name = "value", .type = writer.type(), .levels = writer.limits()},
                                {.append_entries =
                                     [&](const internal::AnyLevelBatch& entries) {
                                       return writer.Append(entries.repetition, entries.definition,
                                                            entries.values.As<T>());
                                     }},
                                stream);
}

#define CFILE_INSTANTIATE(T)                                        \
  template absl::Status AppendArrow(Writer<T>&, ArrowArrayStream*); \
  template absl::Status AppendArrow(LevelWriter<T>&, ArrowArrayStream*);
CFILE_FOR_EACH_VALUE_TYPE(CFILE_INSTANTIATE)
#undef CFILE_INSTANTIATE

}  // namespace cfile
