// Joins the arrays of a dictionary and of its deltas.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "cfile/parts/arrow/ipc/ipc_body.h"
#include "cfile/parts/arrow/ipc/ipc_schema.h"

namespace cfile::internal {

// Returns the values of `arrays`, one array after the other. All are arrays of `field`.
// kDataLoss: offsets or run ends are wrong. kOutOfRange: strings or lists with 32-bit offsets have
// 2^31 bytes or elements together, or the last run end does not fit its type.
absl::StatusOr<IpcArray> ConcatenateIpc(const IpcField& field, const std::vector<IpcArray>& arrays);

}  // namespace cfile::internal
