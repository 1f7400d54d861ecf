#include "encodings/hybrid/describe_runs.h"

#include <algorithm>

#include "encodings/core/assert.h"
#include "encodings/core/status.h"
#include "encodings/hybrid/rle_hybrid.h"

namespace cfile::encodings {

absl::Status DescribeRuns(int width, uint64_t count, uint64_t size, BlockDescription& description) {
  ByteReader& reader = description.reader();
  CFILE_ASSERT(size <= reader.remaining());
  const uint8_t* next = reader.rest().data();
  const uint8_t* const end = next + size;
  while (count > 0 && !description.full()) {
    HybridRun run;
    if (!ParseHybridRun(next, end, width, run)) {
      return DataLoss("run at byte ", reader.offset(), ": ", WhyNoHybridRun(next, end, width));
    }
    const bool literal = *next % 2 != 0;
    CFILE_RETURN_IF_ERROR(description.AddBytes(static_cast<uint64_t>(run.next - next),
                                               literal ? "literal run" : "repeated run",
                                               StrCat(run.count, " values")));
    count -= std::min(count, run.count);
    next = run.next;
  }
  if (count == 0) return absl::OkStatus();
  return description.AddBytes(static_cast<uint64_t>(end - next), "further runs");
}

}  // namespace cfile::encodings
