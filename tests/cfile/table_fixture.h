// Tables of many types, and the base class of tests of tables.
// The templates exist for each type of CFILE_FOR_EACH_VALUE_TYPE.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/batch.h"
#include "cfile/table.h"
#include "gtest/gtest.h"
#include "tests/cfile/temporary_directory.h"

namespace cfile {

// For tests of the files of columns: parts are not packed.
inline const WriterOptions kLoose{.max_packed_part_bytes = 0};

std::string ReadFile(const std::string& path);
void WriteFile(const std::string& path, std::string_view contents);

// Returns the path, in the table's directory, of the file that has a column of a part.
std::string FileOf(const TableReader& table, size_t part, size_t column);

// Returns a writer for a new part of the table at `path`. Creates the table if there is none.
absl::StatusOr<TableWriter> CreateOrAppend(const std::string& path, const Schema& schema,
                                           std::span<const WriterOptions> options = {});

// Returns one column for each way to handle values. All columns but the first and the last are
// nullable.
Schema ManyTypes();

// Appends the rows from `first` to `first` + `count` - 1 of one column.
absl::Status AppendRowsOf(TableWriter& writer, size_t column, uint64_t first, uint64_t count);

absl::Status AppendRows(TableWriter& writer, uint64_t first, uint64_t count);

// EXPECTs that `batch` holds the rows that AppendRows wrote, from `batch.first_ordinal` on.
template <typename T>
void ExpectRows(const Batch<T>& batch, size_t column, const ColumnSchema& schema);

// EXPECTs that the table holds the rows 0 to `rows` - 1: by scan, by seek and by Get.
void ExpectTable(const TableReader& table, uint64_t rows);

class TableTestBase : public testing::Test {
 protected:
  // Writes a new part of `count` rows. The number of its first row is `first`. If `first` is 0,
  // creates the table.
  void WritePart(uint64_t first, uint64_t count, const Schema& schema = ManyTypes(),
                 const WriterOptions& options = {});

  // Writes a table with one string column that has a value index. Each element of `parts` becomes
  // one part.
  void WriteKeys(const std::vector<std::vector<std::string>>& parts);

  // Returns the directory of part number `part`.
  std::string PartPath(size_t part);

  // Renames the parts to names that earlier versions gave: part-000000, part-000001, ...
  void CountParts();

  TableReader OpenTable();

  TemporaryDirectory directory_;
  const std::string path_ = directory_.path("table");
  const std::string table_file_ = path_ + "/table.cft";
};

}  // namespace cfile
