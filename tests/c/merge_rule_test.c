// Tests tables with a merge rule through the C interface.
#include "check.h"

enum { kRows = 3 };

// Appends rows with the keys `first`, `first` + 1 and `first` + 2. The first one deletes its key if
// `deletes` is 1. The values are their keys times `factor`, the times `time`.
static void append_part(cfile_writer* writer, int64_t first, int64_t factor, int deletes,
                        int32_t time) {
  int64_t keys[kRows], values[kRows];
  int32_t times[kRows];
  const uint8_t deleted[kRows] = {(uint8_t)deletes, 0, 0};
  for (int i = 0; i < kRows; ++i) {
    keys[i] = first + i;
    values[i] = keys[i] * factor;
    times[i] = time;
  }
  CHECK_OK(cfile_writer_append(writer, 0, CFILE_INT64, keys, NULL, kRows));
  CHECK_OK(cfile_writer_append(writer, 1, CFILE_INT64, values, NULL, kRows));
  CHECK_OK(cfile_writer_append(writer, 2, CFILE_BOOL, deleted, NULL, kRows));
  CHECK_OK(cfile_writer_append(writer, 3, CFILE_INT32, times, NULL, kRows));
  finish_writer(writer);
}

static void write_table(const char* path) {
  const size_t deleted = 2, time = 3, wrong = 1;
  cfile_schema* schema = NULL;
  cfile_writer* writer = NULL;
  CHECK_OK(cfile_schema_create(&schema));
  CHECK_OK(cfile_schema_add_column(schema, "id", "int64", 0, NULL));
  CHECK_OK(cfile_schema_add_column(schema, "value", "int64", 0, NULL));
  CHECK_OK(cfile_schema_add_column(schema, "deleted", "bool", 0, NULL));
  CHECK_OK(cfile_schema_add_column(schema, "day", "date", 0, NULL));
  CHECK_OK(cfile_schema_add_key(schema, 0, 0));
  CHECK_OK(cfile_schema_set_merge_rule(schema, &wrong, NULL));
  CHECK_ERROR(cfile_writer_create_table(path, schema, &writer), CFILE_INVALID_ARGUMENT, "bool");
  CHECK_OK(cfile_schema_set_merge_rule(schema, &deleted, &time));
  CHECK_OK(cfile_writer_create_table(path, schema, &writer));
  cfile_schema_free(schema);
  append_part(writer, 1, 10, 0, 5);
  CHECK_OK(cfile_writer_create_part(path, NULL, &writer));
  append_part(writer, 2, 100, 1, 9);
}

// Returns the sum of the values of all rows that a scan returns.
static int64_t sum_of(const char* path, int32_t stored_rows) {
  const cfile_reader_options options = {.struct_size = sizeof(options), .stored_rows = stored_rows};
  cfile_table* table = NULL;
  cfile_scan* scan = NULL;
  cfile_batch batch;
  size_t rows = 0;
  int64_t sum = 0;
  CHECK_OK(cfile_table_open(path, &options, &table));
  CHECK_OK(cfile_table_scan(table, NULL, &scan));
  for (;;) {
    CHECK_OK(cfile_scan_next(scan, &rows));
    if (rows == 0) break;
    CHECK_OK(cfile_scan_column(scan, 1, &batch));
    for (size_t i = 0; i < rows; ++i) sum += ((const int64_t*)batch.values)[i];
  }
  cfile_scan_free(scan);
  cfile_table_free(table);
  return sum;
}

static void check_reading(const char* path) {
  const size_t columns[] = {1};
  const cfile_value deleted = cfile_value_int64(2), replaced = cfile_value_int64(3);
  cfile_table_info info = {.struct_size = sizeof(info)};
  cfile_table* table = NULL;
  cfile_cursor* cursor = NULL;
  cfile_lookup* lookup = NULL;
  cfile_batch batch;
  int32_t found = -1;
  CHECK_OK(cfile_table_open(path, NULL, &table));
  CHECK_OK(cfile_table_get_info(table, &info));
  CHECK(info.num_rows == 2 * kRows && info.has_merge_rule == 1);
  CHECK(info.has_deleted_column == 1 && info.deleted_column == 2);
  CHECK(info.has_time_column == 1 && info.time_column == 3 && info.has_time_bound == 0);
  CHECK_ERROR(cfile_table_cursor(table, 1, &cursor), CFILE_FAILED_PRECONDITION, "merge rule");
  CHECK_OK(cfile_table_lookup(table, columns, 1, &lookup));
  CHECK_OK(cfile_lookup_get(lookup, &deleted, 1, &found, NULL));
  CHECK(found == 0);
  CHECK_OK(cfile_lookup_get(lookup, &replaced, 1, &found, NULL));
  CHECK(found == 1);
  CHECK_OK(cfile_lookup_column(lookup, 0, &batch));
  CHECK(((const int64_t*)batch.values)[0] == 300);
  cfile_lookup_free(lookup);
  cfile_table_free(table);
  CHECK(sum_of(path, 0) == 10 + 300 + 400);
  CHECK(sum_of(path, 1) == 10 + 20 + 30 + 200 + 300 + 400);
}

static void check_bound(const char* path) {
  cfile_table_info info = {.struct_size = sizeof(info)};
  cfile_table* table = NULL;
  CHECK_OK(cfile_table_raise_time_bound(path, 6));
  CHECK(cfile_table_raise_time_bound(path, 5) == CFILE_INVALID_ARGUMENT);
  CHECK(sum_of(path, 0) == 300 + 400);
  CHECK_OK(cfile_table_open(path, NULL, &table));
  CHECK_OK(cfile_table_get_info(table, &info));
  CHECK(info.has_time_bound == 1 && info.time_bound == 6);
  cfile_table_free(table);
}

// Opens the table and fills `part` with its second part. The name of the part lives as long as the
// table.
static cfile_table* open_second_part(const char* path, cfile_part_info* part) {
  cfile_table* table = NULL;
  CHECK_OK(cfile_table_open(path, NULL, &table));
  CHECK_OK(cfile_table_get_part(table, 1, part));
  return table;
}

static void check_dropping(const char* path) {
  cfile_part_info part = {.struct_size = sizeof(part)};
  cfile_table* table = open_second_part(path, &part);
  CHECK_ERROR(cfile_table_drop_parts(path, &part.name, 1, NULL), CFILE_FAILED_PRECONDITION,
              part.name);
  cfile_table_free(table);
  CHECK_OK(cfile_table_compact(path, NULL, 0, NULL));
  CHECK(sum_of(path, 1) == 300 + 400);
}

// With stored_rows, a part may be dropped although older rows count again.
static void check_dropping_stored_rows(const char* path) {
  const cfile_reader_options stored = {.struct_size = sizeof(stored), .stored_rows = 1};
  cfile_part_info part = {.struct_size = sizeof(part)};
  cfile_table* table = open_second_part(path, &part);
  CHECK_OK(cfile_table_drop_parts(path, &part.name, 1, &stored));
  cfile_table_free(table);
  CHECK(sum_of(path, 0) == 10 + 20 + 30);
}

int main(void) {
  char path[300];
  make_directory();
  snprintf(path, sizeof(path), "%stable", directory);
  write_table(path);
  check_reading(path);
  check_bound(path);
  check_dropping(path);
  snprintf(path, sizeof(path), "%sother", directory);
  write_table(path);
  check_dropping_stored_rows(path);
  return finish();
}
