// Reads a column at the rows of a merge.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/batch.h"
#include "cfile/core/read/block_cursor.h"
#include "cfile/parts/scan/row_reader.h"
#include "cfile/parts/table/merge/key_merge.h"
#include "encodings/core/lane.h"

namespace cfile::internal {

// The rows of some runs, part by part.
class RowsByPart {
 public:
  struct Part {
    size_t number = 0;
    std::vector<uint64_t> rows;    // ascending
    std::vector<uint32_t> places;  // of these rows among all rows
  };

  // The rows of each part ascend.
  void Set(std::span<const Run> runs);
  size_t num_rows() const { return num_rows_; }
  std::span<const Part> parts() const { return {parts_.data(), num_parts_}; }

 private:
  std::vector<Part> parts_;  // the first num_parts_ are used
  size_t num_parts_ = 0;
  size_t num_rows_ = 0;
  std::vector<uint32_t> slots_;  // by the number of a part: 1 + its index in parts_, or 0
};

// A range of places among the rows of a RowsByPart.
struct Places {
  size_t begin = 0;
  size_t end = 0;
};

// Thread-compatible. Errors: those of RowReader.
class MergedColumn {
 public:
  explicit MergedColumn(encodings::Lane lane) : lane_(lane) {}

  // Returns the reader of a part's file; the same one for all calls.
  using Readers = absl::FunctionRef<absl::StatusOr<RowReader*>(size_t part)>;

  // Opens the blocks of the first rows of each part; if `last`, of the last rows. Reduces `places`
  // to rows in these blocks: they are the first ones (`last`: the last ones), at least 1.
  static absl::Status Enter(const RowsByPart& rows, Readers readers, bool last, Places& places);

  // Reads the rows at `places`. If long strings do not fit into one batch, reduces `places` as
  // Enter does; if `last`, read the remaining places again. Precondition: Enter was called, with
  // these places or more.
  absl::Status Read(const RowsByPart& rows, Readers readers, bool last, Places& places);

  // The values that Read has read, until the next call. If Read was called with more places,
  // the first ones of them, as many as `places` has.
  AnyBatch batch(const Places& places) const;

 private:
  // Copies values to their places, which are relative to `base`, in `count` rows.
  void Put(const AnyBatch& values, const uint32_t* places, size_t base, size_t count);

  const encodings::Lane lane_;
  AnyBatch batch_;
  RawBuffer values_;
  std::vector<uint8_t> validity_;
  uint64_t null_count_ = 0;
};

}  // namespace cfile::internal
