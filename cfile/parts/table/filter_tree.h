// Evaluates a filter on the rows of one part of a table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "cfile/parts/scan/row_filter.h"
#include "cfile/parts/table/bound_filter.h"
#include "cfile/parts/table/scan_source.h"

namespace cfile::internal {

// A bound filter and the open files of its columns. Thread-compatible. After an error a call may be
// repeated.
class FilterTree {
 public:
  // What is known about rows without reading values.
  struct Judgement {
    JudgedRows rows;
    // The number of the condition that decided; SIZE_MAX: an Or without conditions.
    size_t condition = SIZE_MAX;
  };

  // The open file of each condition, by its number; null: it is not open.
  using OpenConditions = std::vector<std::unique_ptr<RowFilter>>;
  // Opens the files of `part` that `filter` needs for the rows `rows` of the part. After an error,
  // the conditions that were opened are in `opened`: a call with the same arguments continues with
  // the others. `opened` is empty in the first call for a part. Errors: those of
  // ScanSource::OpenColumn and NewRowFilter.
  static absl::StatusOr<FilterTree> Open(const BoundFilter& filter, const ScanSource& source,
                                         const ManifestPart& part, const OrdinalRange& rows,
                                         OpenConditions& opened);

  // A filter that is true for a row if `bits` are and, unless it is nullopt, `tree` is.
  static FilterTree OfBits(RowBits bits, std::optional<FilterTree> tree);

  // Returns what is known about row `row` of the part, and about all rows of the result's range,
  // which contains it. Precondition: row < the number of rows.
  Judgement Judge(uint64_t row) const;

  // As RowFilter::Match.
  absl::StatusOr<size_t> Match(uint64_t begin, size_t count, uint8_t* bits);

  // Calls visit(number, filter) for each condition: its number and its open file.
  template <typename Visit>
  void VisitConditions(const Visit& visit) const {
    if (leaf_ != nullptr && number_ != SIZE_MAX) visit(number_, *leaf_);
    for (const FilterTree& operand : operands_) operand.VisitConditions(visit);
  }

 private:
  FilterTree() = default;
  // Makes the tree of conditions that are open.
  FilterTree(const BoundFilter& filter, OpenConditions& opened);
  absl::StatusOr<size_t> MatchLeaf(uint64_t begin, size_t count, uint8_t* bits);
  absl::StatusOr<size_t> MatchAnd(uint64_t begin, size_t count, uint8_t* bits);
  absl::StatusOr<size_t> MatchOr(uint64_t begin, size_t count, uint8_t* bits);
  double cost_per_row() const;
  void SortOperands();

  Filter::Kind kind_ = Filter::Kind::kAnd;
  std::vector<FilterTree> operands_;  // in the order in which they are evaluated
  std::unique_ptr<RowFilter> leaf_;   // kColumn only
  size_t number_ = 0;                 // of the condition; SIZE_MAX: the filter's bits
  // How many rows this node was asked about, and how many of them matched.
  uint64_t rows_asked_ = 0;
  uint64_t rows_matched_ = 0;
  size_t windows_ = 0;  // calls of MatchAnd
};

// Returns what the bounds say about all rows of a part or of several parts.
// Does not set the range of the result.
FilterTree::Judgement JudgeBounds(const BoundFilter& filter, ScanSource::BoundsOfColumn bounds_of);

}  // namespace cfile::internal
