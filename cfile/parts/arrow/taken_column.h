// Reads one column for a take: its rows come in the order of a list of ordinals.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "cfile/parts/scan/row_sink.h"
#include "cfile/parts/table/scan_source.h"

namespace cfile::internal {

// Consecutive ordinals of a list. A column reads the rows of one group at a time.
struct OrdinalGroup {
  size_t begin = 0;              // the index of the first ordinal in the list
  std::vector<uint64_t> rows;    // the rows of the ordinals, in ascending order, each row once
  std::vector<uint32_t> places;  // for each ordinal of the group, the index of its row in `rows`

  size_t end() const { return begin + places.size(); }
};

inline constexpr size_t kGroupOrdinals = size_t{1} << 16;

// Makes groups. The last group is kept, because often several columns need it. Thread-compatible.
class OrdinalGrouper {
 public:
  explicit OrdinalGrouper(std::vector<uint64_t> ordinals) : ordinals_(std::move(ordinals)) {}

  size_t num_ordinals() const { return ordinals_.size(); }

  // Returns the group of 1 to `most` ordinals that begins with ordinal number `begin` of the list.
  // Preconditions: begin < num_ordinals(); 0 < most <= kGroupOrdinals.
  std::shared_ptr<const OrdinalGroup> GroupAt(size_t begin, size_t most);

 private:
  std::shared_ptr<const OrdinalGroup> Make(size_t begin, size_t most);

  const std::vector<uint64_t> ordinals_;
  std::shared_ptr<const OrdinalGroup> last_;
  size_t last_most_ = 0;
  std::vector<uint64_t> order_;  // memory that each call uses again
};

// Keeps the rows of one group, and adds them to a sink in the order of the ordinals. The kept
// values have at most kEnoughBytes bytes (value_store.h), or are one row. The columns of a take
// share one grouper, and go through its list from the first ordinal on. After an error a call may
// be repeated. Errors as TableScan::Next. Thread-compatible.
class TakenColumn {
 public:
  virtual ~TakenColumn() = default;

  // `sink`: of the column's C++ type. It must outlive this object.
  virtual void SetSink(RowSink* sink) = 0;

  // Reads the rows of the ordinals from number `begin` on, unless they are kept already. Returns
  // how many rows Add may add next: at least 1, at most `max_rows`, and so few that a batch does
  // not become much larger than kEnoughBytes. Precondition: begin is less than the number of
  // ordinals, and max_rows is not 0.
  virtual absl::StatusOr<size_t> Prepare(OrdinalGrouper& grouper, size_t begin,
                                         size_t max_rows) = 0;

  // Adds the rows of `count` ordinals to the sink, and returns how many it took. Preconditions:
  // Prepare was called for `begin` and has returned at least `count`; count is not 0.
  virtual absl::StatusOr<size_t> Add(size_t begin, size_t count) = 0;
};

// `column`: an index in the columns of the source's schema. `source` must outlive the result.
// `max_requests`: how many blocks may be read in advance at the same time.
std::unique_ptr<TakenColumn> NewTakenColumn(const ScanSource& source, size_t column,
                                            size_t max_requests);

}  // namespace cfile::internal
