// Makes the compound keys of a table's part from the part's rows, and compares them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cfile/reader.h"
#include "cfile/schema.h"
#include "cfile/untyped.h"

namespace cfile::internal {

// A row whose stored key is not the key of the values in its key columns.
struct WrongKey {
  uint64_t row = 0;  // in the part
  std::string what;  // the expected and the found key, as text
};

// Returns the first wrong key; nullopt if all keys are right. `types`: Schema::key_types.
// `columns`: readers of the key columns. `keys`: a reader of the stored keys. All readers have the
// same number of rows, and all rows are read. `different`: a key that is equal to the one before it
// is wrong, too. Memory: one block and one batch of each file. Errors: those of Cursor::Next.
absl::StatusOr<std::optional<WrongKey>> FindWrongKey(const std::vector<KeyColumn>& types,
                                                     std::span<const Reader> columns,
                                                     const Reader& keys, bool different);

// Appends the keys of the first `num_rows` rows of `columns` to `writer`. `types`, `columns`,
// `different`: as in FindWrongKey.
// kInvalidArgument, naming the row: a value is NaN, or a key is less than the key before it, or, if
// `different`, equal to it. Other errors as Cursor::Next and Writer::Append.
absl::Status AppendKeys(const std::vector<KeyColumn>& types, std::span<const Reader> columns,
                        uint64_t num_rows, bool different, AnyWriter& writer);

}  // namespace cfile::internal
