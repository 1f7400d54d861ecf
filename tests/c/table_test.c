// Tests tables through the C interface: they are written, described, read, scanned and maintained.
#include "check.h"

enum { kRows = 1000 };

// The table has two parts and three columns: city, year and snow. Only snow is nullable.
// The key of the table is (city, year).
// Part p has the years 2000 + 1000 p to 2999 + 1000 p. Its four cities are in ascending order.
static const char* const kCities[] = {"Bergen", "Narvik", "Oslo", "Voss"};

static int32_t year_of(size_t part, size_t row) {
  return (int32_t)(2000 + 1000 * part + row % 250);
}

static void append_part(cfile_writer* writer, size_t part) {
  static cfile_bytes cities[kRows];
  static int32_t years[kRows];
  static double snow[kRows];
  static uint8_t validity[kRows / 8];
  size_t row;
  memset(validity, 0, sizeof(validity));
  for (row = 0; row < kRows; ++row) {
    const char* const city = kCities[row / 250];
    cities[row].data = city;
    cities[row].size = strlen(city);
    years[row] = year_of(part, row);
    snow[row] = (double)row;
    if (row % 10 != 0) validity[row / 8] = (uint8_t)(validity[row / 8] | 1 << (row % 8));
  }
  CHECK_OK(cfile_writer_append(writer, 0, CFILE_BYTES, cities, NULL, kRows));
  CHECK_OK(cfile_writer_append(writer, 1, CFILE_INT32, years, NULL, kRows));
  CHECK_OK(cfile_writer_append(writer, 2, CFILE_DOUBLE, snow, validity, kRows));
  CHECK_ERROR(cfile_writer_append(writer, 3, CFILE_INT32, years, NULL, 1), CFILE_OUT_OF_RANGE,
              "no column 3");
  CHECK_ERROR(cfile_writer_append(writer, 1, CFILE_INT64, years, NULL, 1), CFILE_INVALID_ARGUMENT,
              "int32");
}

static void write_table(const char* path) {
  const cfile_writer_options prefix = {.struct_size = sizeof(prefix), .encoding = "prefix"};
  const cfile_bytes text = {1, "x"};
  cfile_schema* schema = NULL;
  cfile_writer* writer = NULL;
  cfile_table* table = NULL;
  CHECK_OK(cfile_schema_create(&schema));
  CHECK_OK(cfile_schema_add_column(schema, "city", "string", 0, &prefix));
  CHECK_OK(cfile_schema_add_column(schema, "year", "int32", 0, NULL));
  CHECK_OK(cfile_schema_add_column(schema, "snow", "double", 1, NULL));
  CHECK_ERROR(cfile_schema_add_column(schema, "odd", "int33", 0, NULL), CFILE_INVALID_ARGUMENT,
              "int33");
  CHECK_OK(cfile_schema_add_key(schema, 0, 0));
  CHECK_OK(cfile_schema_add_key(schema, 1, 0));
  CHECK_OK(cfile_writer_create_table(path, schema, &writer));
  append_part(writer, 0);
  CHECK(cfile_writer_add_metadata(writer, text, text) == CFILE_FAILED_PRECONDITION);
  cfile_writer_free(writer);  // without cfile_writer_finish, no file is left
  CHECK(cfile_table_open(path, NULL, &table) == CFILE_NOT_FOUND);
  CHECK(table == NULL);

  CHECK_OK(cfile_writer_create_table(path, schema, &writer));
  append_part(writer, 0);
  finish_writer(writer);
  CHECK(cfile_writer_create_table(path, schema, &writer) == CFILE_ALREADY_EXISTS);
  cfile_schema_free(schema);
  CHECK_OK(cfile_writer_create_part(path, NULL, &writer));
  append_part(writer, 1);
  finish_writer(writer);
}

static void check_description(const cfile_table* table) {
  cfile_table_info info = {.struct_size = sizeof(info)};
  cfile_column_info column = {.struct_size = sizeof(column)};
  cfile_part_info first = {.struct_size = sizeof(first)};
  cfile_part_info second = {.struct_size = sizeof(second)};
  size_t position = 99;
  CHECK_OK(cfile_table_get_info(table, &info));
  CHECK(info.num_rows == 2 * kRows && info.num_parts == 2 && info.num_columns == 3);
  CHECK(info.num_key_columns == 2 && info.key_index == 3);
  CHECK_OK(cfile_table_get_column(table, 2, &column));
  CHECK(strcmp(column.name, "snow") == 0 && strcmp(column.type, "double") == 0);
  CHECK(column.value_type == CFILE_DOUBLE && column.nullable == 1 && column.is_key == 0);
  CHECK_OK(cfile_table_get_column(table, 1, &column));
  CHECK(strcmp(column.name, "year") == 0 && column.is_key == 1 && column.nullable == 0);
  CHECK_ERROR(cfile_table_get_column(table, 3, &column), CFILE_OUT_OF_RANGE, "no column 3");
  CHECK_OK(cfile_table_find_column(table, "year", &position));
  CHECK(position == 1);
  CHECK_ERROR(cfile_table_find_column(table, "rain", &position), CFILE_NOT_FOUND, "rain");
  CHECK_OK(cfile_table_get_part(table, 0, &first));
  CHECK_OK(cfile_table_get_part(table, 1, &second));
  CHECK(first.first_ordinal == 0 && first.num_rows == kRows && first.size_bytes > 0);
  CHECK(second.first_ordinal == kRows && strcmp(first.name, second.name) != 0);
  CHECK(cfile_table_get_part(table, 2, &first) == CFILE_OUT_OF_RANGE);
}

static void check_cursors(const cfile_table* table) {
  cfile_cursor* cursor = NULL;
  cfile_batch batch;
  const uint64_t ordinals[] = {1999, 3};
  uint64_t ordinal = 0;
  int32_t exact = -1;
  cfile_value key[3];
  CHECK_OK(cfile_table_cursor(table, 1, &cursor));
  CHECK_OK(cfile_cursor_seek(cursor, kRows + 7));
  CHECK_OK(cfile_cursor_next(cursor, 2, &batch));
  CHECK(batch.size == 2 && batch.first_ordinal == kRows + 7);
  CHECK(((const int32_t*)batch.values)[0] == 3007);
  CHECK_OK(cfile_cursor_take(cursor, ordinals, 2, &batch));
  CHECK(batch.size == 2 && ((const int32_t*)batch.values)[0] == 3249);
  CHECK(((const int32_t*)batch.values)[1] == 2003);
  key[0] = cfile_value_int64(2005);
  CHECK_ERROR(cfile_cursor_seek_key(cursor, key, &ordinal, &exact), CFILE_FAILED_PRECONDITION,
              "value index");
  CHECK_ERROR(cfile_cursor_seek_compound_key(cursor, key, 1, &ordinal, &exact),
              CFILE_INVALID_ARGUMENT, "only key indexes");
  cfile_cursor_free(cursor);

  CHECK_OK(cfile_table_cursor(table, 3, &cursor));
  key[0] = cfile_value_bytes("Oslo", 4);
  key[1] = cfile_value_int64(3100);
  CHECK_OK(cfile_cursor_seek_compound_key(cursor, key, 2, &ordinal, &exact));
  CHECK(ordinal == kRows + 600 && exact == 1);
  CHECK_OK(cfile_cursor_seek_compound_key(cursor, key, 1, &ordinal, &exact));
  CHECK(ordinal == 500 && exact == 0);
  CHECK(cfile_cursor_seek_compound_key(cursor, key, 3, NULL, NULL) == CFILE_INVALID_ARGUMENT);
  CHECK(cfile_cursor_seek_compound_key(cursor, key, 0, NULL, NULL) == CFILE_INVALID_ARGUMENT);
  key[0].kind = CFILE_VALUE_NULL;  // the column is not nullable
  CHECK(cfile_cursor_seek_compound_key(cursor, key, 1, NULL, NULL) == CFILE_INVALID_ARGUMENT);
  cfile_cursor_free(cursor);
  CHECK(cfile_table_cursor(table, 4, &cursor) == CFILE_OUT_OF_RANGE);
}

static void check_lookup(const cfile_table* table) {
  cfile_lookup* lookup = NULL;
  cfile_batch batch;
  const size_t columns[] = {2, 0, 9};
  uint64_t ordinal = 0;
  int32_t found = -1;
  cfile_value key[2];
  CHECK_ERROR(cfile_table_lookup(table, columns, 3, &lookup), CFILE_OUT_OF_RANGE, "no column 9");
  CHECK_OK(cfile_table_lookup(table, columns, 2, &lookup));
  key[0] = cfile_value_bytes("Oslo", 4);
  key[1] = cfile_value_int64(3100);
  CHECK_OK(cfile_lookup_get(lookup, key, 2, &found, &ordinal));
  CHECK(found == 1 && ordinal == kRows + 600);
  CHECK_OK(cfile_lookup_column(lookup, 1, &batch));
  CHECK(batch.size == 1 && batch.type == CFILE_BYTES);
  CHECK(memcmp(((const cfile_bytes*)batch.values)[0].data, "Oslo", 4) == 0);
  CHECK_OK(cfile_lookup_column(lookup, 0, &batch));
  CHECK(batch.size == 1 && batch.type == CFILE_DOUBLE);
  CHECK_ERROR(cfile_lookup_column(lookup, 2, &batch), CFILE_OUT_OF_RANGE, "no column 2");
  key[1] = cfile_value_int64(1);
  CHECK_OK(cfile_lookup_get(lookup, key, 2, &found, NULL));
  CHECK(found == 0);
  CHECK(cfile_lookup_column(lookup, 0, &batch) == CFILE_OUT_OF_RANGE);
  CHECK_ERROR(cfile_lookup_get(lookup, key, 1, &found, NULL), CFILE_INVALID_ARGUMENT, "2 values");
  cfile_lookup_free(lookup);
}

static cfile_filter* test(const char* column, int32_t kind, const cfile_value* values,
                          size_t size) {
  cfile_filter* filter = NULL;
  CHECK_OK(cfile_filter_test(column, kind, values, size, &filter));
  return filter;
}

// Scans the table with the filter, then frees the filter. Returns the number of rows.
// Sets *sum to the sum of the row numbers.
static size_t count(const cfile_table* table, cfile_filter* filter, uint64_t* sum) {
  static uint64_t ordinals[CFILE_MAX_BATCH_ROWS];
  const char* const no_columns[] = {""};
  cfile_scan_options options = {.struct_size = sizeof(options), .columns = no_columns};
  cfile_scan* scan = NULL;
  size_t total = 0, num_rows = 0, row;
  *sum = 0;
  options.filter = filter;
  CHECK_OK(cfile_table_scan(table, &options, &scan));
  CHECK(cfile_scan_num_columns(scan) == 0);
  do {
    CHECK_OK(cfile_scan_next(scan, &num_rows));
    CHECK_OK(cfile_scan_ordinals(scan, ordinals));
    for (row = 0; row < num_rows; ++row) *sum += ordinals[row];
    total += num_rows;
  } while (num_rows > 0);
  cfile_scan_free(scan);
  cfile_filter_free(filter);
  return total;
}

static void check_filters(const cfile_table* table) {
  const cfile_value voss = cfile_value_bytes("Voss", 4);
  const cfile_value cities[] = {cfile_value_bytes("Voss", 4), cfile_value_bytes("Oslo", 4)};
  const cfile_value years[] = {cfile_value_int64(2010), cfile_value_int64(2019)};
  const cfile_value half = cfile_value_double(2009.5);
  const cfile_value nothing = cfile_value_bytes(NULL, 5);
  cfile_filter *operands[2], *both = NULL, *negated = NULL;
  uint64_t sum = 0;
  CHECK(count(table, test("city", CFILE_EQUAL, &voss, 1), &sum) == 500);
  CHECK(count(table, test("city", CFILE_NOT_EQUAL, &voss, 1), &sum) == 1500);
  CHECK(count(table, test("city", CFILE_IN, cities, 2), &sum) == 1000);
  CHECK(count(table, test("city", CFILE_IN, NULL, 0), &sum) == 0);
  CHECK(count(table,
              test("city", CFILE_HAS_PREFIX,
                   &(cfile_value){CFILE_VALUE_BYTES, 0, {.bytes = {1, "B"}}}, 1),
              &sum) == 500);
  CHECK(count(table, test("year", CFILE_BETWEEN, years, 2), &sum) == 40);
  CHECK(count(table, test("year", CFILE_LESS, &years[0], 1), &sum) == 40);
  CHECK(count(table, test("year", CFILE_LESS_OR_EQUAL, &years[0], 1), &sum) == 44);
  CHECK(count(table, test("year", CFILE_GREATER, &half, 1), &sum) == 1960);
  CHECK(count(table, test("year", CFILE_GREATER_OR_EQUAL, &years[1], 1), &sum) == 1924);
  CHECK(count(table, test("snow", CFILE_IS_NULL, NULL, 0), &sum) == 200);
  CHECK(count(table, test("snow", CFILE_IS_NOT_NULL, NULL, 0), &sum) == 1800);
  CHECK(count(table, NULL, &sum) == 2000 && sum == 1999 * 1000);
  CHECK_OK(cfile_filter_and(NULL, 0, &both));
  CHECK(count(table, both, &sum) == 2000);
  CHECK(cfile_filter_and(NULL, 1, &both) == CFILE_INVALID_ARGUMENT);

  operands[0] = test("city", CFILE_EQUAL, &voss, 1);
  operands[1] = test("year", CFILE_EQUAL, &years[0], 1);
  CHECK_OK(cfile_filter_and((const cfile_filter* const*)operands, 2, &both));
  CHECK_OK(cfile_filter_not(both, &negated));
  CHECK(count(table, negated, &sum) == 1999);
  CHECK(count(table, both, &sum) == 1 && sum == 760);
  CHECK_OK(cfile_filter_or((const cfile_filter* const*)operands, 2, &both));
  CHECK(count(table, both, &sum) == 503);
  CHECK(cfile_filter_or((const cfile_filter*[]){NULL}, 1, &both) == CFILE_INVALID_ARGUMENT);
  cfile_filter_free(operands[0]);
  cfile_filter_free(operands[1]);

  CHECK_OK(cfile_table_filter(table, "city like '%o_s' and not year >= 2010.5", &both));
  CHECK(count(table, both, &sum) == 11);
  CHECK_ERROR(cfile_table_filter(table, "city == 'Voss'", &both), CFILE_INVALID_ARGUMENT,
              "write = instead of == (character 6");
  CHECK(count(table,
              test("city", CFILE_CONTAINS,
                   &(cfile_value){CFILE_VALUE_BYTES, 0, {.bytes = {2, "os"}}}, 1),
              &sum) == 500);
  CHECK_OK(cfile_filter_columns("city", CFILE_EQUAL, "city", &both));
  CHECK(count(table, both, &sum) == 2000);
  CHECK(cfile_filter_columns("city", CFILE_IN, "city", &both) == CFILE_INVALID_ARGUMENT);

  CHECK(cfile_filter_test("city", 15, &voss, 1, &both) == CFILE_INVALID_ARGUMENT);
  CHECK(cfile_filter_test("city", CFILE_EQUAL, NULL, 1, &both) == CFILE_INVALID_ARGUMENT);
  CHECK_ERROR(cfile_filter_test("city", CFILE_EQUAL, &nothing, 1, &both), CFILE_INVALID_ARGUMENT,
              "null");
}

static void check_scans(cfile_table* table) {
  const char* const columns[] = {"snow", "city"};
  const char* const wrong[] = {"rain"};
  const char* const nothing[] = {NULL};
  const cfile_value text = cfile_value_bytes("x", 1);
  cfile_scan_options options = {.struct_size = sizeof(options),
                                .columns = columns,
                                .num_columns = 2,
                                .begin = 995,
                                .end = 1005,
                                .limit = 7};
  cfile_scan* scan = NULL;
  cfile_batch batch;
  uint64_t ordinals[10];
  size_t num_rows = 0;
  CHECK_OK(cfile_table_scan(table, &options, &scan));
  CHECK(cfile_scan_num_columns(scan) == 2);
  CHECK_OK(cfile_scan_next(scan, &num_rows));
  CHECK(num_rows == 5);  // all rows of a batch are from one part
  CHECK_OK(cfile_scan_column(scan, 0, &batch));
  CHECK(batch.size == 5 && batch.type == CFILE_DOUBLE && batch.null_count == 0);
  CHECK(((const double*)batch.values)[4] == 999);
  CHECK_OK(cfile_scan_next(scan, &num_rows));
  CHECK(num_rows == 2);
  CHECK_OK(cfile_scan_column(scan, 0, &batch));
  CHECK(batch.null_count == 1 && !cfile_batch_is_valid(&batch, 0));
  CHECK_OK(cfile_scan_column(scan, 1, &batch));
  CHECK(memcmp(((const cfile_bytes*)batch.values)[1].data, "Bergen", 6) == 0);
  CHECK_ERROR(cfile_scan_column(scan, 2, &batch), CFILE_OUT_OF_RANGE, "no column 2");
  CHECK_OK(cfile_scan_next(scan, &num_rows));
  CHECK(num_rows == 0);
  cfile_scan_free(scan);

  options.reverse = 1;
  CHECK_OK(cfile_table_scan(table, &options, &scan));
  CHECK_OK(cfile_scan_next(scan, &num_rows));
  CHECK_OK(cfile_scan_ordinals(scan, ordinals));
  CHECK(num_rows == 5 && ordinals[0] == 1000 && ordinals[4] == 1004);
  cfile_scan_cancel(scan);
  CHECK(cfile_scan_next(scan, &num_rows) == CFILE_CANCELLED);
  cfile_scan_free(scan);

  options.columns = wrong;
  options.num_columns = 1;
  CHECK_ERROR(cfile_table_scan(table, &options, &scan), CFILE_INVALID_ARGUMENT, "rain");
  options.columns = nothing;
  CHECK_ERROR(cfile_table_scan(table, &options, &scan), CFILE_INVALID_ARGUMENT, "name 0 is null");
  options.columns = NULL;
  options.reserved = 1;
  CHECK(cfile_table_scan(table, &options, &scan) == CFILE_UNIMPLEMENTED);
  options.reserved = 0;
  options.begin = 2000;
  CHECK_ERROR(cfile_table_scan(table, &options, &scan), CFILE_INVALID_ARGUMENT, "begins at 2000");
  {
    cfile_scan_options filtered = {.struct_size = sizeof(filtered)};
    cfile_filter* filter = test("year", CFILE_EQUAL, &text, 1);
    filtered.filter = filter;
    CHECK_ERROR(cfile_table_scan(table, &filtered, &scan), CFILE_INVALID_ARGUMENT, "year");
    cfile_filter_free(filter);
    filter = test("year", CFILE_BETWEEN, &text, 1);
    filtered.filter = filter;
    CHECK(cfile_table_scan(table, &filtered, &scan) == CFILE_INVALID_ARGUMENT);
    cfile_filter_free(filter);
  }
  // Without options, the scan returns all rows and columns. The scan keeps the table open.
  CHECK_OK(cfile_table_scan(table, NULL, &scan));
  cfile_table_free(table);
  CHECK(cfile_scan_num_columns(scan) == 3);
  CHECK_OK(cfile_scan_next(scan, &num_rows));
  CHECK(num_rows == kRows);
  cfile_scan_free(scan);
}

static void check_maintenance(const char* path) {
  cfile_table* table = NULL;
  cfile_table_info info = {.struct_size = sizeof(info)};
  cfile_part_info part = {.struct_size = sizeof(part)};
  const char* name = "no-such-part";
  CHECK(cfile_table_drop_parts(path, &name, 1, NULL) == CFILE_NOT_FOUND);
  CHECK(cfile_table_drop_parts(path, NULL, 1, NULL) == CFILE_INVALID_ARGUMENT);
  name = NULL;
  CHECK_ERROR(cfile_table_drop_parts(path, &name, 1, NULL), CFILE_INVALID_ARGUMENT,
              "name 0 is null");
  CHECK_OK(cfile_table_compact(path, NULL, 0, NULL));
  CHECK_OK(cfile_table_open(path, NULL, &table));
  CHECK_OK(cfile_table_get_info(table, &info));
  CHECK(info.num_parts == 1 && info.num_rows == 2 * kRows);
  CHECK_OK(cfile_table_get_part(table, 0, &part));
  CHECK_OK(cfile_table_drop_parts(path, &part.name, 1, NULL));
  cfile_table_free(table);
  CHECK_OK(cfile_table_collect_garbage(path, UINT64_MAX));
  CHECK_OK(cfile_table_collect_garbage(path, 0));
  CHECK_OK(cfile_table_open(path, NULL, &table));
  CHECK_OK(cfile_table_get_info(table, &info));
  CHECK(info.num_rows == 0 && info.num_parts == 0);
  cfile_table_free(table);
}

// Two parts have the same keys.
static void check_newest_of_key(const char* path) {
  const cfile_compact_options newest = {.struct_size = sizeof(newest), .newest_of_key = 1};
  const cfile_compact_options too_small = {.struct_size = 1};
  cfile_table_info info = {.struct_size = sizeof(info)};
  cfile_table* table = NULL;
  cfile_writer* writer = NULL;
  for (int i = 0; i < 2; ++i) {
    CHECK_OK(cfile_writer_create_part(path, NULL, &writer));
    append_part(writer, 0);
    finish_writer(writer);
  }
  CHECK_ERROR(cfile_table_compact(path, NULL, 0, &too_small), CFILE_INVALID_ARGUMENT,
              "struct_size");
  CHECK_OK(cfile_table_compact(path, NULL, 0, &newest));
  CHECK_OK(cfile_table_open(path, NULL, &table));
  CHECK_OK(cfile_table_get_info(table, &info));
  CHECK(info.num_rows == kRows && info.num_parts == 1);
  cfile_table_free(table);
}

int main(void) {
  char path[300];
  cfile_table* table = NULL;
  make_directory();
  snprintf(path, sizeof(path), "%stable", directory);
  write_table(path);
  CHECK_OK(cfile_table_open(path, NULL, &table));
  check_description(table);
  check_cursors(table);
  check_lookup(table);
  check_filters(table);
  check_scans(table);
  check_maintenance(path);
  check_newest_of_key(path);
  return finish();
}
