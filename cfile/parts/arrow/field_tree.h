// The Arrow fields of exported rows, one for each node of a schema. A field says which Arrow type
// the node has, and which column has its values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "cfile/file_info.h"
#include "cfile/parts/arrow/arrow_type.h"
#include "cfile/parts/arrow/c_data.h"
#include "cfile/parts/arrow/column_sink.h"
#include "cfile/schema.h"

namespace cfile::internal {

struct ExportedColumn {
  size_t column = 0;  // the index in schema.columns
  ArrowLayout layout = ArrowLayout::kSame;
};

// Returns `columns`, which are indexes in schema.columns, with the layouts of their types, none of
// which is kDictionary. `name`: what is exported, for messages. kInvalidArgument: a column of a
// table of records is selected twice. The error names the column.
absl::StatusOr<std::vector<ExportedColumn>> ColumnsToExport(const Schema& schema,
                                                            const std::vector<size_t>& columns,
                                                            bool string_views,
                                                            const std::string& name);

// A field with its children. If the field is a leaf, `source` is the index of its column in the
// exported columns. If it is a struct or a list below the root, its validity and offsets come from
// a node: LeafPlace::nodes[node] of the exported column `source`.
struct FieldNode {
  ArrowField field;  // without its children
  enum class Kind : uint8_t { kLeaf, kStruct, kList } kind = Kind::kStruct;
  size_t source = 0;
  size_t node = 0;
  std::vector<FieldNode> children;

  ArrowField WithChildren() const;
};

struct FieldTree {
  FieldNode root;                 // a struct
  std::vector<LeafPlace> places;  // one for each exported column
};

// Returns the fields of `columns`, in the order of schema.tree if there is one, otherwise of
// `columns`. A column of a tree may occur only once. kUnimplemented: a column has no Arrow type.
absl::StatusOr<FieldTree> MakeFieldTree(const Schema& schema,
                                        const std::vector<ExportedColumn>& columns);

bool IsUtf8(std::string_view text);

// Adds what the header and the footer of a file say about the file's column to the metadata.
void DescribeFile(const FileInfo& info, ArrowField& field);

}  // namespace cfile::internal
