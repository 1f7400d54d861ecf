// Takes the rows of a column from a scan and makes Arrow arrays of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "cfile/internal/arrow/arrow_type.h"
#include "cfile/internal/arrow/c_data.h"
#include "cfile/internal/arrow/node_levels.h"
#include "cfile/internal/read/row_sink.h"
#include "cfile/types.h"

namespace cfile::internal {

// Where a leaf column is in the tree of fields.
struct LeafPlace {
  LevelRule rule;  // of the leaf itself
  bool nullable = false;
  // Of the structs and lists whose validity and offsets are made from the levels of this column.
  std::vector<LevelRule> nodes;
};

// The values of one column, and of the structs and lists in LeafPlace::nodes. Thread-compatible.
class ColumnSink {
 public:
  virtual ~ColumnSink() = default;

  // The same object, as a ValueSink of the column's C++ type.
  virtual RowSink* row_sink() = 0;
  // Keeps the rows that were added.
  virtual absl::Status Commit() = 0;
  // True if the batch has enough of this column.
  virtual bool WantsEnd() const = 0;
  // The number of values of the leaf: with lists, of all their elements.
  virtual size_t size() const = 0;
  // Sets all members of `parts` except for its children. The column is then empty. Precondition:
  // all rows were kept.
  virtual void Finish(ArrayParts& parts) = 0;

  // The structs and lists, in the order of LeafPlace::nodes.
  NodeLevels& node(size_t i) { return nodes_[i]; }

 protected:
  explicit ColumnSink(const LeafPlace& place) : nodes_(place.nodes.begin(), place.nodes.end()) {}

  std::vector<NodeLevels> nodes_;
};

// `capacity`: values for which the column reserves memory.
std::unique_ptr<ColumnSink> NewColumnSink(const ColumnType& type, ArrowLayout layout,
                                          const LeafPlace& place, size_t capacity);

}  // namespace cfile::internal
