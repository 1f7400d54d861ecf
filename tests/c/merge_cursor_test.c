// Tests merging cursors of the C interface: rows in the order of their keys, over two parts.
#include "check.h"

enum { kCities = 4, kYears = 10, kRows = kCities * kYears };
static const char* const cities[] = {"Bergen", "Narvik", "Oslo", "Voss"};

// Appends the rows of each city: part 0 has the years 0, 2, 4, ..., and part 1 has 0, 3, 6, ... The
// third column says the part.
static void append_part(cfile_writer* writer, int32_t part) {
  cfile_bytes city[kRows];
  int32_t year[kRows], parts[kRows];
  for (int32_t row = 0; row < kRows; ++row) {
    city[row].data = cities[row / kYears];
    city[row].size = strlen(cities[row / kYears]);
    year[row] = row % kYears * (2 + part);
    parts[row] = part;
  }
  CHECK_OK(cfile_writer_append(writer, 0, CFILE_BYTES, city, NULL, kRows));
  CHECK_OK(cfile_writer_append(writer, 1, CFILE_INT32, year, NULL, kRows));
  CHECK_OK(cfile_writer_append(writer, 2, CFILE_INT32, parts, NULL, kRows));
  finish_writer(writer);
}

static void write_table(const char* path) {
  cfile_schema* schema = NULL;
  cfile_writer* writer = NULL;
  CHECK_OK(cfile_schema_create(&schema));
  CHECK_OK(cfile_schema_add_column(schema, "city", "string", 0, NULL));
  CHECK_OK(cfile_schema_add_column(schema, "year", "int32", 0, NULL));
  CHECK_OK(cfile_schema_add_column(schema, "part", "int32", 0, NULL));
  CHECK_OK(cfile_schema_add_key(schema, 0, 0));
  CHECK_OK(cfile_schema_add_key(schema, 1, 0));
  CHECK_OK(cfile_writer_create_table(path, schema, &writer));
  cfile_schema_free(schema);
  append_part(writer, 0);
  CHECK_OK(cfile_writer_create_part(path, NULL, &writer));
  append_part(writer, 1);
}

// Reads all rows after the position, or before it. Returns the number of rows that have the city
// and the year of the first row of `expected`, the next one, and so on; -1 if a row differs.
static int read_rows(cfile_merge_cursor* cursor, int forward, const char* city,
                     const int32_t (*expected)[2], int size) {
  int rows = 0;
  size_t count = 0;
  for (;;) {
    cfile_batch years, parts, names;
    CHECK_OK(forward ? cfile_merge_cursor_next(cursor, 3, &count)
                     : cfile_merge_cursor_previous(cursor, 3, &count));
    if (count == 0) return rows;
    CHECK_OK(cfile_merge_cursor_column(cursor, 0, &parts));
    CHECK_OK(cfile_merge_cursor_column(cursor, 1, &names));
    CHECK_OK(cfile_merge_cursor_column(cursor, 2, &years));
    CHECK(count <= 3 && names.type == CFILE_BYTES);
    CHECK(years.type == CFILE_INT32 && years.size == count);
    for (size_t i = 0; i < count; ++i) {
      const int row = forward ? rows + (int)i : size - rows - (int)count + (int)i;
      const cfile_bytes* name = (const cfile_bytes*)names.values + i;
      if (row < 0 || row >= size || name->size != strlen(city) ||
          memcmp(name->data, city, name->size) != 0 ||
          ((const int32_t*)years.values)[i] != expected[row][0] ||
          ((const int32_t*)parts.values)[i] != expected[row][1])
        return -1;
    }
    rows += (int)count;
  }
}

static void check_compound_keys(const char* path) {
  // The years and the parts of the rows of Oslo from 4 on and before 13.
  const int32_t expected[][2] = {{4, 0}, {6, 0}, {6, 1}, {8, 0}, {9, 1}, {10, 0}, {12, 0}, {12, 1}};
  const size_t columns[] = {2, 0, 1, 3};
  const cfile_value oslo = cfile_value_bytes("Oslo", 4), voss = cfile_value_bytes("Voss", 4);
  const cfile_value low[] = {oslo, cfile_value_int64(4)}, high[] = {oslo, cfile_value_int64(13)};
  const cfile_value wrong[] = {cfile_value_int64(1), oslo, oslo};
  cfile_table* table = NULL;
  cfile_merge_cursor* cursor = NULL;
  cfile_batch batch;
  size_t count = 99, total = 0;
  int32_t exact = -1;
  CHECK_OK(cfile_table_open(path, NULL, &table));
  CHECK_ERROR(cfile_table_merge_cursor(table, columns, 4, &cursor), CFILE_OUT_OF_RANGE,
              "no column 3");
  CHECK_OK(cfile_table_merge_cursor(table, columns, 3, &cursor));
  cfile_table_free(table);  // the cursor keeps the table open
  CHECK_ERROR(cfile_merge_cursor_column(cursor, 0, &batch), CFILE_OUT_OF_RANGE, "no column 0");

  CHECK_OK(cfile_merge_cursor_seek_key_range(cursor, low, 2, high, 2));
  CHECK(read_rows(cursor, 1, "Oslo", expected, 8) == 8);
  CHECK(cfile_merge_cursor_column(cursor, 0, &batch) == CFILE_OUT_OF_RANGE);
  CHECK(read_rows(cursor, 0, "Oslo", expected, 8) == 8);
  CHECK_OK(cfile_merge_cursor_seek_end(cursor));
  CHECK(read_rows(cursor, 0, "Oslo", expected, 8) == 8);
  CHECK_OK(cfile_merge_cursor_seek_key(cursor, low, 2, &exact));
  CHECK(exact == 1);
  CHECK_OK(cfile_merge_cursor_next(cursor, 3, &count));
  CHECK_OK(cfile_merge_cursor_column(cursor, 2, &batch));
  CHECK(count > 0 && ((const int32_t*)batch.values)[0] == 4);
  CHECK_ERROR(cfile_merge_cursor_column(cursor, 3, &batch), CFILE_OUT_OF_RANGE, "no column 3");

  // The first column of the key, and ranges without a bound
  CHECK_OK(cfile_merge_cursor_seek_key_range(cursor, &oslo, 1, &voss, 1));
  do {
    CHECK_OK(cfile_merge_cursor_next(cursor, CFILE_MAX_BATCH_ROWS, &count));
    total += count;
  } while (count > 0);
  CHECK(total == 2 * kYears);
  CHECK_OK(cfile_merge_cursor_seek_key_range(cursor, NULL, 0, NULL, 0));
  CHECK_OK(cfile_merge_cursor_seek_key(cursor, &voss, 1, &exact));
  CHECK(exact == 0);
  for (total = 0; count = 0, cfile_merge_cursor_previous(cursor, 7, &count), count > 0;)
    total += count;
  CHECK(total == 6 * kYears);

  CHECK_ERROR(cfile_merge_cursor_seek_key(cursor, wrong, 1, NULL), CFILE_INVALID_ARGUMENT, "type");
  CHECK_ERROR(cfile_merge_cursor_seek_key(cursor, wrong, 3, NULL), CFILE_INVALID_ARGUMENT,
              "at most 2 values");
  CHECK_ERROR(cfile_merge_cursor_seek_key(cursor, NULL, 0, NULL), CFILE_INVALID_ARGUMENT,
              "no values");
  CHECK(cfile_merge_cursor_seek_key_range(cursor, low, 2, NULL, 1) == CFILE_INVALID_ARGUMENT);
  CHECK_OK(cfile_merge_cursor_next(cursor, 1, &count));
  CHECK_ERROR(cfile_merge_cursor_next(cursor, 0, &count), CFILE_INVALID_ARGUMENT, "max_rows");
  CHECK(count == 1 && cfile_merge_cursor_column(cursor, 0, &batch) == CFILE_OUT_OF_RANGE);
  CHECK(cfile_merge_cursor_next(NULL, 1, &count) == CFILE_INVALID_ARGUMENT);
  cfile_merge_cursor_free(cursor);
  cfile_merge_cursor_free(NULL);
}

// A table whose key is one column of numbers.
static void check_numbers(const char* path) {
  const cfile_writer_options indexed = {.struct_size = sizeof(indexed), .value_index = 1};
  const int64_t odd[] = {1, 3, 5, 7}, even[] = {2, 4, 6};
  const cfile_value low = cfile_value_int64(3), high = cfile_value_int64(7);
  const cfile_value text = cfile_value_bytes("x", 1);
  const size_t column = 0;
  cfile_schema* schema = NULL;
  cfile_writer* writer = NULL;
  cfile_table* table = NULL;
  cfile_merge_cursor* cursor = NULL;
  int64_t expected = 3;
  size_t count = 0;
  CHECK_OK(cfile_schema_create(&schema));
  CHECK_OK(cfile_schema_add_column(schema, "n", "int64", 0, &indexed));
  CHECK_OK(cfile_writer_create_table(path, schema, &writer));
  cfile_schema_free(schema);
  CHECK_OK(cfile_writer_append(writer, 0, CFILE_INT64, odd, NULL, 4));
  finish_writer(writer);
  CHECK_OK(cfile_writer_create_part(path, &indexed, &writer));
  CHECK_OK(cfile_writer_append(writer, 0, CFILE_INT64, even, NULL, 3));
  finish_writer(writer);
  CHECK_OK(cfile_table_open(path, NULL, &table));
  CHECK_OK(cfile_table_merge_cursor(table, &column, 1, &cursor));
  CHECK_OK(cfile_merge_cursor_seek_key_range(cursor, &low, 1, &high, 1));
  for (;;) {
    cfile_batch batch;
    CHECK_OK(cfile_merge_cursor_next(cursor, 10, &count));
    if (count == 0) break;
    CHECK_OK(cfile_merge_cursor_column(cursor, 0, &batch));
    for (size_t i = 0; i < count; ++i) CHECK(((const int64_t*)batch.values)[i] == expected++);
  }
  CHECK(expected == 7);
  CHECK(cfile_merge_cursor_seek_key(cursor, &text, 1, NULL) == CFILE_INVALID_ARGUMENT);
  cfile_merge_cursor_free(cursor);
  cfile_table_free(table);
}

// A text at the end of a key has no end mark, so the key ("Oslo", "") has the bytes of ("Oslo").
static void check_exact(const char* path) {
  cfile_schema* schema = NULL;
  cfile_writer* writer = NULL;
  CHECK_OK(cfile_schema_create(&schema));
  for (size_t i = 0; i < 2; ++i) {
    CHECK_OK(cfile_schema_add_column(schema, i == 0 ? "city" : "street", "string", 0, NULL));
    CHECK_OK(cfile_schema_add_key(schema, i, 0));
  }
  CHECK_OK(cfile_writer_create_table(path, schema, &writer));
  cfile_schema_free(schema);
  const cfile_value key[] = {cfile_value_bytes("Oslo", 4), cfile_value_bytes("", 0)};
  const cfile_bytes city = {4, "Oslo"}, street = {0, ""};
  CHECK_OK(cfile_writer_append(writer, 0, CFILE_BYTES, &city, NULL, 1));
  CHECK_OK(cfile_writer_append(writer, 1, CFILE_BYTES, &street, NULL, 1));
  finish_writer(writer);
  cfile_table* table = NULL;
  cfile_merge_cursor* cursor = NULL;
  const size_t column = 0;
  int32_t exact = -1;
  CHECK_OK(cfile_table_open(path, NULL, &table));
  CHECK_OK(cfile_table_merge_cursor(table, &column, 1, &cursor));
  CHECK_OK(cfile_merge_cursor_seek_key(cursor, key, 1, &exact));
  CHECK(exact == 0);
  CHECK_OK(cfile_merge_cursor_seek_key(cursor, key, 2, &exact));
  CHECK(exact == 1);
  cfile_merge_cursor_free(cursor);
  cfile_table_free(table);
}

int main(void) {
  char path[300];
  make_directory();
  snprintf(path, sizeof(path), "%stable", directory);
  write_table(path);
  check_compound_keys(path);
  check_numbers(path_of("numbers"));
  check_exact(path_of("exact"));
  return finish();
}
