// Implements Scan (cfile/scan.h) without the type of the values.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "absl/status/statusor.h"
#include "cfile/batch.h"
#include "cfile/core/read/file_reader.h"
#include "cfile/core/read/predicate_matcher.h"
#include "encodings/registry.h"

namespace cfile {
struct ScanCounters;  // cfile/scan.h
}  // namespace cfile

namespace cfile::internal {

// The matching rows of a batch. The values have the column's C++ type.
struct AnyScanBatch {
  std::span<const uint64_t> ordinals;
  const void* values = nullptr;
};

// The functions and errors are those of Scan. Thread-compatible.
class ValueScan {
 public:
  virtual ~ValueScan() = default;
  virtual absl::StatusOr<AnyScanBatch> Next() = 0;
  virtual const ScanCounters& counters() const = 0;
  virtual const std::shared_ptr<FileReader>& file() const = 0;
  // Whether the rows that the scan finds are nulls.
  virtual bool finds_nulls() const = 0;
};

// Begins a scan of the rows of `range` that match. `matcher` is for the C++ type of the values.
// `make_decoder`: as for PrepareToRead. Errors: those of Reader::NewScan.
absl::StatusOr<std::unique_ptr<ValueScan>> NewValueScan(
    const std::shared_ptr<FileReader>& file, std::shared_ptr<const ValueMatcher> matcher,
    const OrdinalRange& range, encodings::DecoderMaker* make_decoder = &encodings::MakeAnyDecoder);

}  // namespace cfile::internal
