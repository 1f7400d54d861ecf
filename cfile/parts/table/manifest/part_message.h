// Converts the descriptions of parts and chunks to messages and back (cfile/FORMAT.md, Table).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/core/wire/messages.h"
#include "cfile/parts/table/manifest/table_contents.h"
#include "cfile/schema.h"

namespace cfile::internal {

// The columns that the parts of a table have, and the ids by which parts and chunks name them.
// Immutable.
class PartLayout {
 public:
  // Precondition: CheckIdentities(contents).ok().
  explicit PartLayout(const TableContents& contents);

  const std::vector<ColumnSchema>& columns() const { return columns_; }  // StoredColumns
  // True if parts may lack columns and have them in any order.
  bool by_id() const { return by_id_; }
  // True if parts may be packed.
  bool may_pack() const { return may_pack_; }
  uint32_t id(size_t column) const { return ids_[column]; }
  // The column with this id; nullopt if the table no longer has it.
  std::optional<size_t> Find(uint32_t id) const;
  // Greater than the ids of all columns that the table ever had.
  uint32_t next_id() const { return next_id_; }
  // Sets `in_part`, the description of a column that the part lacks.
  // Returns false if the column has no default and is not nullable.
  bool FillMissing(size_t column, uint64_t num_rows, TablePartColumn& in_part) const;

 private:
  std::vector<ColumnSchema> columns_;
  bool by_id_;
  bool may_pack_;
  std::vector<uint32_t> ids_;
  uint32_t next_id_;
  std::vector<std::optional<std::string>> defaults_;
  std::unordered_map<uint32_t, size_t> columns_by_id_;  // empty unless by_id_
};

// ParsePart and ParseChunkInfo return kDataLoss if the message contradicts itself or the layout.
absl::StatusOr<TablePart> ParsePart(const wire::Part& message, const PartLayout& layout);
absl::StatusOr<ChunkInfo> ParseChunkInfo(const wire::Chunk& message, const PartLayout& layout);

// Set the fields of `message`. Its texts point into the part or the chunk, which must outlive it.
void SerializePart(const TablePart& part, const PartLayout& layout, wire::Part& message);
void SerializeChunkInfo(const ChunkInfo& chunk, const PartLayout& layout, wire::Chunk& message);

// Checks the contents of table.cft. kDataLoss: a chunk is higher than the chunk before it, or
// there are more than 2^62 rows or 2^32 parts.
absl::Status CheckRoot(const TableContents& contents);

}  // namespace cfile::internal
