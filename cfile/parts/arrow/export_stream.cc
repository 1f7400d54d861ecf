#include "cfile/parts/arrow/export_stream.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cfile/batch.h"
#include "cfile/parts/arrow/column_sink.h"
#include "encodings/core/status.h"

namespace cfile::internal {
namespace {

struct StreamContents {
  std::unique_ptr<ExportedRows> rows;
  FieldTree fields;
  std::vector<std::unique_ptr<ColumnSink>> sinks;  // one for each exported column
};

class ExportedBatches final : public ArrowBatches {
 public:
  // `column_only`: the stream has arrays of the only field of the root, instead of structs.
  ExportedBatches(StreamContents contents, size_t max_batch_rows, bool column_only)
      : contents_(std::move(contents)),
        max_rows_(std::max<size_t>(max_batch_rows, 1)),
        column_only_(column_only) {
    std::vector<RowSink*> sinks;
    for (const auto& sink : contents_.sinks) sinks.push_back(sink->row_sink());
    contents_.rows->SetSinks(std::move(sinks));
  }

  HeldSchema Schema() const override {
    const FieldNode& root = contents_.fields.root;
    return MakeSchema((column_only_ ? root.children[0] : root).WithChildren());
  }

  absl::StatusOr<HeldArray> Next() override {
    if (failed_.ok()) failed_ = Fill();
    if (num_rows_ > 0) {
      // Rows that were read before an error are returned before the error.
      auto array = MakeBatch();
      num_rows_ = 0;
      if (!array.ok()) broken_ = array.status();
      return array;
    }
    CFILE_RETURN_IF_ERROR(broken_);
    CFILE_RETURN_IF_ERROR(std::exchange(failed_, absl::OkStatus()));
    return HeldArray();
  }

 private:
  // Adds rows to the sinks until the batch is large enough.
  absl::Status Fill() {
    while (broken_.ok() && num_rows_ < max_rows_) {
      CFILE_ASSIGN_OR_RETURN(const size_t added, contents_.rows->Add(max_rows_ - num_rows_));
      if (added == 0) return absl::OkStatus();
      bool enough = contents_.rows->keeps_apart();
      for (size_t i = 0; i < contents_.sinks.size(); ++i) {
        if (const absl::Status status = contents_.sinks[i]->Commit(); !status.ok()) {
          // The scan is already behind the rows that it added last, so the stream cannot go on.
          for (size_t k = 0; k <= i; ++k) contents_.sinks[k]->Undo();
          broken_ = absl::Status(status.code(),
                                 absl::StrCat(contents_.rows->name(), ": ", status.message()));
          return absl::OkStatus();
        }
        enough |= contents_.sinks[i]->WantsEnd();
      }
      num_rows_ += added;
      if (enough) break;
    }
    return absl::OkStatus();
  }

  absl::StatusOr<HeldArray> MakeBatch() {
    for (const auto& sink : contents_.sinks) sink->row_sink()->Truncate(0);
    const FieldNode& root = contents_.fields.root;
    if (column_only_) return MakeNode(root.children[0], num_rows_);
    ArrayParts parts{.length = static_cast<int64_t>(num_rows_)};
    parts.buffers.push_back(nullptr);
    for (const FieldNode& child : root.children) {
      CFILE_ASSIGN_OR_RETURN(HeldArray array, MakeNode(child, num_rows_));
      parts.children.push_back(std::move(array));
    }
    return MakeArray(std::move(parts));
  }

  // `length`: the number of values, as the node around this node says.
  absl::StatusOr<HeldArray> MakeNode(const FieldNode& node, size_t length) {
    ColumnSink& sink = *contents_.sinks[node.source];
    ArrayParts parts;
    if (node.kind == FieldNode::Kind::kLeaf) {
      CFILE_RETURN_IF_ERROR(CheckLength(node, sink.size(), length));
      sink.Finish(parts);
      return MakeArray(std::move(parts));
    }
    NodeLevels& levels = sink.node(node.node);
    CFILE_RETURN_IF_ERROR(CheckLength(node, levels.size(), length));
    const size_t inner = node.kind == FieldNode::Kind::kList ? levels.num_elements() : length;
    levels.Finish(parts);
    for (const FieldNode& child : node.children) {
      CFILE_ASSIGN_OR_RETURN(HeldArray array, MakeNode(child, inner));
      parts.children.push_back(std::move(array));
    }
    return MakeArray(std::move(parts));
  }

  absl::Status CheckLength(const FieldNode& node, size_t found, size_t expected) const {
    if (found == expected) return absl::OkStatus();
    return encodings::DataLoss(contents_.rows->name(),
                               ": the columns contradict each other: field ", node.field.name,
                               " has ", found, " values in a batch, expected ", expected);
  }

  StreamContents contents_;
  const size_t max_rows_;
  const bool column_only_;
  size_t num_rows_ = 0;  // the number of rows in the sinks
  absl::Status failed_;  // an error of the scan; Next first returns the rows before it
  absl::Status broken_;  // the error that all further calls return
};

}  // namespace

absl::Status ExportRows(RowsToExport exported, size_t max_batch_rows, bool column_only,
                        ArrowArrayStream* out) {
  StreamContents contents{.rows = std::move(exported.rows)};
  CFILE_ASSIGN_OR_RETURN(contents.fields, MakeFieldTree(*exported.schema, exported.columns));
  std::vector<FieldNode>& fields = contents.fields.root.children;
  if (exported.file != nullptr) DescribeFile(*exported.file, fields[0].field);
  column_only = column_only && fields.size() == 1;
  // Memory is reserved only for the rows that are read now.
  const size_t capacity =
      static_cast<size_t>(std::min<uint64_t>({max_batch_rows, kMaxBatchRows, exported.max_rows}));
  for (size_t i = 0; i < exported.columns.size(); ++i) {
    const ExportedColumn& column = exported.columns[i];
    contents.sinks.push_back(NewColumnSink(exported.schema->columns[column.column].type,
                                           column.layout, contents.fields.places[i], capacity));
  }
  MakeStream(std::make_unique<ExportedBatches>(std::move(contents), max_batch_rows, column_only),
             out);
  return absl::OkStatus();
}

}  // namespace cfile::internal
