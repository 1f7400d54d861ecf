// Makes Arrow arrays of the rows of a column.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "cfile/parts/arrow/arrow_type.h"
#include "cfile/parts/arrow/c_data.h"
#include "cfile/parts/arrow/node_levels.h"
#include "cfile/parts/scan/row_sink.h"
#include "cfile/types.h"

namespace cfile::internal {

// The place of a leaf column in the tree of fields.
struct LeafPlace {
  LevelRule rule;  // of the leaf itself
  bool nullable = false;
  // The structs and lists whose validity and offsets come from the levels of this column.
  std::vector<LevelRule> nodes;
};

// The values of one column, and of the structs and lists in LeafPlace::nodes. Thread-compatible.
class ColumnSink {
 public:
  virtual ~ColumnSink() = default;

  // Returns this object as a RowSink.
  virtual RowSink* row_sink() = 0;
  // Keeps the rows that were added: Truncate does not remove them. After an error call Undo.
  virtual absl::Status Commit() = 0;
  // Removes the rows of the last Commit, and all rows that were added later.
  virtual void Undo() = 0;
  // True if the batch has enough rows or bytes of this column.
  virtual bool WantsEnd() const = 0;
  // The number of values of the leaf. If there are lists, this counts the elements of all lists.
  virtual size_t size() const = 0;
  // Sets all members of `parts` except `children`, and empties the sink. Precondition: all rows
  // were kept.
  virtual void Finish(ArrayParts& parts) = 0;

  // Struct or list i, in the order of LeafPlace::nodes.
  NodeLevels& node(size_t i) { return nodes_[i]; }

 protected:
  ColumnSink(const LeafPlace& place, size_t capacity) {
    for (const LevelRule& rule : place.nodes) nodes_.emplace_back(rule, capacity);
    sizes_.resize(nodes_.size());
  }
  // Remembers the sizes of the nodes, and goes back to these sizes.
  void MarkNodes() {
    for (size_t i = 0; i < nodes_.size(); ++i)
      sizes_[i] = {nodes_[i].size(), nodes_[i].num_elements()};
  }
  void TruncateNodes() {
    for (size_t i = 0; i < nodes_.size(); ++i)
      nodes_[i].Truncate(sizes_[i].first, sizes_[i].second);
  }

  std::vector<NodeLevels> nodes_;

 private:
  std::vector<std::pair<size_t, size_t>> sizes_;  // of each node: values and elements
};

// `capacity`: the number of values for which the sink reserves memory.
std::unique_ptr<ColumnSink> NewColumnSink(const ColumnType& type, ArrowLayout layout,
                                          const LeafPlace& place, size_t capacity);

}  // namespace cfile::internal
