// Compares the compound keys of a part with its rows.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cfile/reader.h"

namespace cfile::internal {

// A row whose stored key is not that of its key columns.
struct WrongKey {
  uint64_t row = 0;  // of the part
  std::string what;  // expected and found
};

// The first such row; nullopt if there is none. `columns`: the files of the key columns, the most
// significant first; `keys`: that of the keys, of as many rows. Reads all of them; holds a block
// and a batch of each. Errors as Cursor::Next.
absl::StatusOr<std::optional<WrongKey>> FindWrongKey(std::span<const Reader> columns,
                                                     const Reader& keys);

}  // namespace cfile::internal
