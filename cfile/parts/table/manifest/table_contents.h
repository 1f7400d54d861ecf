// What table.cft and its chunks say: the schema and the parts of a table (cfile/FORMAT.md, Table).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "cfile/core/format/file_policy.h"
#include "cfile/options.h"
#include "cfile/schema.h"
#include "cfile/statistics.h"

namespace cfile::internal {

// True if `name` is a single component of a path, which stays inside its folder.
bool IsPlainName(const std::string& name);

// The description of one column's file in one part. table.cft and chunks have such descriptions.
struct TablePartColumn {
  std::string file_name;  // inside the part's directory
  uint64_t size_bytes = 0;
  uint64_t num_rows = 0;
  uint64_t null_count = 0;
  // The least and the greatest value of a column with a value index, in memcmp form; both or none.
  std::optional<std::string> min_key = {};
  std::optional<std::string> max_key = {};
  // Bounds of the values except NaN, in memcmp form, perhaps cut; only for columns without min_key
  // and max_key. `nan_count` is known only if one of the two bounds is set.
  std::optional<std::string> lower_bound = {};
  std::optional<std::string> upper_bound = {};
  uint64_t nan_count = 0;
  // True: the part has no file of this column, which is newer than the part. All its rows have the
  // column's default value or, without a default, are null.
  bool missing = false;
  // Where the column's CFile ends in the part's packed file. 0: the column has its own file.
  uint64_t packed_end = 0;

  bool is_packed() const { return packed_end > 0; }
  // The name of the file in the part's directory that has the column: file_name or kPackedFileName.
  std::string stored_in() const;
  uint64_t packed_begin() const { return packed_end - size_bytes; }
};

struct TablePart {
  std::string directory;  // inside the table's directory
  uint64_t num_rows = 0;
  std::vector<TablePartColumn> columns = {};  // one for each of StoredColumns
  // The place of the part in the table: parts are sorted by this list of numbers, which only Repair
  // uses. Empty: an earlier version of this library wrote the part.
  std::vector<uint64_t> order = {};
  bool has_arrow_schema = false;   // the first column's file has it among its metadata
  uint64_t packed_size_bytes = 0;  // of the packed file; 0: there is none

  // True if one of the columns is in the packed file.
  bool is_packed() const;
};

// A chunk: an immutable file that describes older parts of a table, or names other chunks.
struct ChunkInfo {
  std::string file_name;  // inside the table's directory
  uint64_t size_bytes = 0;
  uint32_t crc32c = 0;
  uint32_t height = 0;  // 0: the chunk holds parts; h: it holds chunks of height h - 1
  // Totals of all parts in the chunk and in the chunks that this chunk names.
  uint64_t num_parts = 0;
  uint64_t num_rows = 0;
  uint64_t data_bytes = 0;
  // One element for each of StoredColumns: the counts and bounds of all values in these parts.
  // nullopt: not known.
  std::vector<std::optional<BlockStatistics>> columns = {};
};

// The greatest height of a chunk. With 64 entries in each chunk, that is enough for 10^14 parts.
inline constexpr uint32_t kMaxChunkHeight = 8;

// The ids of the columns of a table. A column keeps its id when its name or its position changes.
struct ColumnIdentities {
  std::vector<uint32_t> ids;  // one for each of StoredColumns
  // One element for each column of the schema: the value, in memcmp form, of the rows of parts that
  // lack the column. nullopt: these rows are null.
  std::vector<std::optional<std::string>> defaults;
  uint32_t next_id = 0;  // greater than all ids that columns ever had
  friend bool operator==(const ColumnIdentities&, const ColumnIdentities&) = default;
};

struct TableContents {
  Schema schema;
  std::vector<TablePart> parts;  // newer than the parts of `chunks`, in order
  // SerializeTable sets the bits of chunks, column ids, metadata and packed parts. EditManifest
  // sets the bit of packed parts, too, because SerializeTable does not see the parts in chunks.
  uint32_t incompatible_features = 0;
  std::vector<ChunkInfo> chunks = {};  // by descending height
  // nullopt: the id of a column is its number, and each part has all columns.
  std::optional<ColumnIdentities> identities = {};
  // The paths of folders and files that CollectGarbage will remove: parts, chunks and files of
  // columns. No writer may publish them again.
  std::vector<std::string> condemned = {};
  uint64_t sequence = 0;  // the number of the commit; 0: an earlier version made it
  // The ids of the commit `sequence` and of the commits before it, the newest first.
  std::vector<uint64_t> commit_ids = {};
  // The ids of jobs whose commits have taken place, the newest first (cfile/prepared_parts.h).
  std::vector<std::string> job_ids = {};
  // The metadata of the table. Empty: the file of the first column in the first part has it.
  std::vector<std::pair<std::string, std::string>> metadata = {};
  // Files and messages that are written for the table have nothing that this reader cannot read.
  OldestReader oldest_reader = kNewestReader;
  // The bound for the time column of the schema's merge rule. nullopt: none.
  std::optional<int64_t> time_bound = {};
  // Only in a copy of a part's description: the names of the parts that this part replaced.
  std::vector<std::string> replaced = {};
};

// The columns that have a file in each part: the columns of the schema and, if there are key
// columns, the key index.
std::vector<ColumnSchema> StoredColumns(const Schema& schema);

// A new name for the file of a chunk: "chunk-", 128 random bits and ".cft".
absl::StatusOr<std::string> NewChunkName();
// True for names that NewChunkName makes.
bool IsChunkName(std::string_view name);

// Writers put at most this many entries into a chunk, and name at most this many parts, and chunks
// of each height, in table.cft itself. Readers accept greater numbers.
inline constexpr size_t kMaxChunkEntries = 64;

// A writer names at most this many commits in TableContents::commit_ids.
inline constexpr size_t kMaxCommitIds = 32;

// A writer keeps at most this many ids in TableContents::job_ids.
inline constexpr size_t kMaxJobIds = 1000;

}  // namespace cfile::internal
