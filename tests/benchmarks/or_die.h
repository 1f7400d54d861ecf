// OrDie returns the value of a StatusOr; an error ends the program with its message.
#pragma once

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tests/benchmarks/measure.h"

namespace cfile::benchmarks {

template <typename T>
T OrDie(absl::StatusOr<T> result) {
  if (!result.ok()) Check(false, result.status().ToString());
  return *std::move(result);
}
inline void OrDie(const absl::Status& status) {
  if (!status.ok()) Check(false, status.ToString());
}

}  // namespace cfile::benchmarks
