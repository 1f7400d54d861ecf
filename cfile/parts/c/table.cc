#include "cfile/parts/c/table.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <type_traits>

#include "cfile/parts/c/call.h"
#include "cfile/parts/c/cursor.h"
#include "cfile/parts/c/options.h"
#include "cfile/parts/c/scan.h"
#include "cfile/table_maintenance.h"
#include "cfile/table_scan.h"
#include "cfile/types.h"
#include "encodings/core/status.h"

namespace cfile::internal {
namespace {

absl::StatusOr<std::unique_ptr<cfile_cursor>> NewCursor(const TableReader& table, size_t column) {
  using Result = absl::StatusOr<std::unique_ptr<cfile_cursor>>;
  const Schema& schema = table.schema();
  const bool is_key_index = column == schema.key_index();
  const ColumnType type = is_key_index ? ColumnType::Binary() : schema.columns[column].type;
  return VisitType(type, [&]<typename T>(std::type_identity<T>) -> Result {
    CFILE_ASSIGN_OR_RETURN(TableCursor<T> cursor, table.NewCursor<T>(column));
    auto result =
        std::unique_ptr<cfile_cursor>(new cfile_cursor{std::move(cursor).untyped(), type});
    if (is_key_index) result->key_columns = schema.key_types();
    return result;
  });
}

}  // namespace
}  // namespace cfile::internal

using namespace cfile::internal;  // NOLINT(google-build-using-namespace)

cfile_code cfile_table_open(const char* directory, const cfile_reader_options* options,
                            cfile_table** table) {
  return Call({directory, table}, [&]() -> absl::Status {
    CFILE_ASSIGN_OR_RETURN(const auto reader_options, OptionsOf(options));
    CFILE_ASSIGN_OR_RETURN(auto reader, cfile::TableReader::Open(directory, reader_options));
    *table = new cfile_table(std::move(reader));
    return absl::OkStatus();
  });
}

void cfile_table_free(cfile_table* table) { delete table; }

cfile_code cfile_table_get_info(const cfile_table* table, cfile_table_info* info) {
  return Call({table, info}, [&] {
    const cfile::Schema& schema = table->reader.schema();
    const cfile::MergeRule rule = schema.merge_rule.value_or(cfile::MergeRule());
    const std::optional<int64_t> bound = table->reader.time_bound();
    return FillStruct(cfile_table_info{.struct_size = 0,
                                       .num_rows = table->reader.num_rows(),
                                       .num_parts = table->reader.num_parts(),
                                       .num_columns = schema.columns.size(),
                                       .num_key_columns = schema.key_columns.size(),
                                       .key_index = schema.key_index().value_or(0),
                                       .has_merge_rule = schema.merge_rule.has_value(),
                                       .has_deleted_column = rule.deleted_column.has_value(),
                                       .has_time_column = rule.time_column.has_value(),
                                       .has_time_bound = bound.has_value(),
                                       .deleted_column = rule.deleted_column.value_or(0),
                                       .time_column = rule.time_column.value_or(0),
                                       .time_bound = bound.value_or(0)},
                      info);
  });
}

cfile_code cfile_table_get_column(const cfile_table* table, size_t column,
                                  cfile_column_info* info) {
  return Call({table, info}, [&]() -> absl::Status {
    const cfile::Schema& schema = table->reader.schema();
    if (column >= schema.columns.size()) return NoSuch("column", column, schema.columns.size());
    const cfile::ColumnSchema& from = schema.columns[column];
    const auto& keys = schema.key_columns;
    return FillStruct(
        cfile_column_info{.struct_size = 0,
                          .name = from.name.c_str(),
                          .type = table->types[column].c_str(),
                          .value_type = static_cast<int32_t>(from.type.physical()),
                          .nullable = from.nullable,
                          .has_levels = from.has_levels(),
                          .is_key = std::find(keys.begin(), keys.end(), column) != keys.end()},
        info);
  });
}

cfile_code cfile_table_find_column(const cfile_table* table, const char* name, size_t* column) {
  return Call({table, name, column}, [&]() -> absl::Status {
    const std::optional<size_t> found = table->reader.schema().Find(name);
    if (!found) return absl::NotFoundError(absl::StrCat("there is no column ", name));
    *column = *found;
    return absl::OkStatus();
  });
}

cfile_code cfile_table_get_part(const cfile_table* table, size_t part, cfile_part_info* info) {
  return Call({table, info}, [&]() -> absl::Status {
    const size_t num_parts = table->reader.num_parts();
    if (part >= num_parts) return NoSuch("part", part, num_parts);
    CFILE_ASSIGN_OR_RETURN(cfile::PartInfo from, table->reader.part(part));
    const char* name = nullptr;
    {
      const std::lock_guard lock(table->mutex);
      name = table->part_names.try_emplace(part, std::move(from.name)).first->second.c_str();
    }
    return FillStruct(cfile_part_info{.struct_size = 0,
                                      .name = name,
                                      .first_ordinal = from.first_ordinal,
                                      .num_rows = from.num_rows,
                                      .size_bytes = from.size_bytes},
                      info);
  });
}

cfile_code cfile_table_cursor(const cfile_table* table, size_t column, cfile_cursor** cursor) {
  return Call({table, cursor}, [&]() -> absl::Status {
    const cfile::Schema& schema = table->reader.schema();
    if (column >= schema.columns.size() && column != schema.key_index())
      return NoSuch("column", column, schema.columns.size());
    CFILE_ASSIGN_OR_RETURN(auto result, NewCursor(table->reader, column));
    *cursor = result.release();
    return absl::OkStatus();
  });
}

cfile_code cfile_table_filter(const cfile_table* table, const char* text, cfile_filter** filter) {
  return Call({table, text, filter},
              [&] { return ParseFilter(text, table->reader.schema(), filter); });
}

cfile_code cfile_table_scan(const cfile_table* table, const cfile_scan_options* options,
                            cfile_scan** scan) {
  return Call({table, scan}, [&] {
    return NewAnyScan(
        options, table->reader.schema().columns,
        [&](const cfile::TableScanOptions& scan_options) {
          return table->reader.NewScan(scan_options);
        },
        scan);
  });
}

namespace {

// Calls `work` with the names of the parts.
template <typename Work>
cfile_code CallOnParts(const char* directory, const char* const* parts, size_t num_parts,
                       Work&& work) {
  return Call({directory, ArrayOf(parts, num_parts)}, [&]() -> absl::Status {
    CFILE_ASSIGN_OR_RETURN(const std::vector<std::string> names, StringsOf(parts, num_parts));
    return work(names);
  });
}

}  // namespace

cfile_code cfile_table_compact(const char* directory, const char* const* parts, size_t num_parts,
                               const cfile_compact_options* options) {
  const auto compact = [&](const std::vector<std::string>& names) -> absl::Status {
    cfile_compact_options given;
    CFILE_RETURN_IF_ERROR(ReadStruct(options, given));
    const auto kept =
        given.newest_of_key != 0 ? cfile::KeptRows::kNewestOfKey : cfile::KeptRows::kAll;
    return cfile::Compact(directory, names, {}, kept).status();
  };
  return CallOnParts(directory, parts, num_parts, compact);
}

cfile_code cfile_table_drop_parts(const char* directory, const char* const* parts, size_t num_parts,
                                  const cfile_reader_options* options) {
  const auto drop = [&](const std::vector<std::string>& names) -> absl::Status {
    CFILE_ASSIGN_OR_RETURN(const cfile::ReaderOptions reader_options, OptionsOf(options));
    return cfile::DropParts(directory, names, reader_options);
  };
  return CallOnParts(directory, parts, num_parts, drop);
}

cfile_code cfile_table_raise_time_bound(const char* directory, int64_t bound) {
  return Call({directory}, [&] { return cfile::RaiseTimeBound(directory, bound); });
}

cfile_code cfile_table_collect_garbage(const char* directory, uint64_t older_than) {
  return Call({directory}, [&] {
    // A larger number of seconds would not fit into the clock's type.
    constexpr uint64_t kCenturies = uint64_t{10'000} * 365 * 24 * 3600;
    const std::chrono::seconds age(std::min(older_than, kCenturies));
    return cfile::CollectGarbage(directory, age).status();
  });
}
