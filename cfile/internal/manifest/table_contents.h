// What table.cft and its chunks say: the schema and the parts of a table (cfile/FORMAT.md, Table).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "cfile/schema.h"
#include "cfile/statistics.h"

namespace cfile::internal {

// The description in table.cft of one column's file in one part.
struct TablePartColumn {
  std::string file_name;  // inside the part's directory
  uint64_t size_bytes = 0;
  uint64_t num_rows = 0;
  uint64_t null_count = 0;
  // The least and the greatest value of a column with a value index, in memcmp form. Either both
  // are set or neither is.
  std::optional<std::string> min_key = {};
  std::optional<std::string> max_key = {};
  // Bounds of the values except NaN, in memcmp form and possibly cut. Only for columns without
  // min_key and max_key. `nan_count` is known only with one of them.
  std::optional<std::string> lower_bound = {};
  std::optional<std::string> upper_bound = {};
  uint64_t nan_count = 0;
  // The part has no file of this column, which is newer than the part. All its rows have the
  // column's default value, or are null if there is none.
  bool missing = false;
};

struct TablePart {
  std::string directory;  // inside the table's directory
  uint64_t num_rows = 0;
  std::vector<TablePartColumn> columns = {};  // one for each of StoredColumns
  // The parts of a table are in the order of these lists. Only Repair uses them. Empty: an earlier
  // version wrote the part.
  std::vector<uint64_t> order = {};
};

// A chunk: an immutable file with older parts of a table.
struct ChunkInfo {
  std::string file_name;  // inside the table's directory
  uint64_t size_bytes = 0;
  uint32_t crc32c = 0;
  uint32_t height = 0;  // 0: the chunk holds parts; h: it holds chunks of height h - 1
  // Totals of all parts below the chunk.
  uint64_t num_parts = 0;
  uint64_t num_rows = 0;
  uint64_t data_bytes = 0;
  // One for each of StoredColumns: the counts and bounds of all values in these parts. nullopt: not
  // known.
  std::vector<std::optional<BlockStatistics>> columns = {};
};

// No chunk is higher. With 64 entries in each chunk, that is enough for 10^14 parts.
inline constexpr uint32_t kMaxChunkHeight = 8;

// The lasting identities of the columns of a table whose columns have changed.
struct ColumnIdentities {
  std::vector<uint32_t> ids;  // one for each of StoredColumns
  // One for each column of the schema: the value of the rows of parts that lack the column, in
  // memcmp form; nullopt: null.
  std::vector<std::optional<std::string>> defaults;
  uint32_t next_id = 0;  // greater than all ids that columns have had
  friend bool operator==(const ColumnIdentities&, const ColumnIdentities&) = default;
};

struct TableContents {
  Schema schema;
  std::vector<TablePart> parts;  // after the parts of `chunks`
  // The bits kTableFeatureChunks and kTableFeatureColumnIds are set by SerializeTable.
  uint32_t incompatible_features = 0;
  std::vector<ChunkInfo> chunks = {};  // by descending height
  // nullopt: the id of a column is its number, and each part has all columns.
  std::optional<ColumnIdentities> identities = {};
  // Parts that nobody may publish any more, because CollectGarbage removes their files.
  std::vector<std::string> condemned = {};
  uint64_t sequence = 0;  // the number of the commit; 0: an earlier version made it
  // Identify the commit `sequence` and the commits before it, the newest first.
  std::vector<uint64_t> commit_ids = {};
  std::vector<std::string> replaced = {};  // see table.proto
};

// The columns that have a file in each part: the columns of the schema and, if there are key
// columns, the key index.
std::vector<ColumnSchema> StoredColumns(const Schema& schema);

// A new name for the file of a chunk: "chunk-", 128 random bits and ".cft".
absl::StatusOr<std::string> NewChunkName();
// True for names that NewChunkName makes.
bool IsChunkName(std::string_view name);

// The most parts that table.cft itself names, the most entries of a chunk, and the most chunks of
// one height that table.cft names. Readers accept any numbers.
inline constexpr size_t kMaxChunkEntries = 64;

// The most commits that a writer names in TableContents::commit_ids.
inline constexpr size_t kMaxCommitIds = 32;

}  // namespace cfile::internal
