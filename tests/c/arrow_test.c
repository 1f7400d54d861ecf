// Tests Arrow streams through the C interface.
// The tests export files and tables as streams, and import streams into files and tables.
#include "check.h"

enum { kRows = 1000 };

// Row i holds the number i. It is null if i % 10 is 3.
static void write_numbers(const char* path) {
  const cfile_writer_options options = {
      .struct_size = sizeof(options), .encoding = "plain", .nullable = 1};
  static int32_t numbers[kRows];
  static uint8_t validity[kRows / 8];
  cfile_writer* writer = NULL;
  size_t row;
  for (row = 0; row < kRows; ++row) {
    numbers[row] = (int32_t)row;
    if (row % 10 != 3) validity[row / 8] = (uint8_t)(validity[row / 8] | 1 << (row % 8));
  }
  CHECK_OK(cfile_writer_create(path, "int32", &options, &writer));
  CHECK_OK(cfile_writer_append(writer, 0, CFILE_INT32, numbers, validity, kRows));
  finish_writer(writer);
}

// Reads the stream to its end and releases the stream. Returns the number of rows.
// Checks that the rows are those that write_numbers writes, beginning with row `first`.
static size_t count(struct ArrowArrayStream* stream, int column_only, size_t first) {
  struct ArrowSchema schema;
  struct ArrowArray array;
  size_t total = 0;
  int64_t i;
  CHECK(stream->get_schema(stream, &schema) == 0);
  CHECK(strcmp(schema.format, column_only ? "i" : "+s") == 0);
  if (!column_only) CHECK(strcmp(schema.children[0]->name, "value") == 0);
  schema.release(&schema);
  while (stream->get_next(stream, &array) == 0 && array.release != NULL) {
    const struct ArrowArray* const values = column_only ? &array : array.children[0];
    for (i = 0; i < values->length; ++i) {
      const size_t row = first + total + (size_t)i, at = (size_t)(values->offset + i);
      const uint8_t* const validity = values->buffers[0];
      const int valid = validity == NULL || (validity[at / 8] >> (at % 8) & 1) != 0;
      CHECK(valid == (row % 10 != 3));
      if (valid) CHECK(((const int32_t*)values->buffers[1])[at] == (int32_t)row);
    }
    total += (size_t)values->length;
    array.release(&array);
  }
  stream->release(stream);
  return total;
}

static void check_files(const cfile_file* file) {
  const char* const column = "value";
  const cfile_value tenth = cfile_value_int64(10);
  cfile_scan_options scan = {.struct_size = sizeof(scan), .begin = 100, .end = 160};
  cfile_arrow_options options = {.struct_size = sizeof(options), .max_batch_rows = 7};
  struct ArrowArrayStream stream;
  cfile_filter* filter = NULL;
  CHECK_OK(cfile_file_export_arrow(file, NULL, NULL, &stream));
  CHECK(count(&stream, 0, 0) == kRows);
  CHECK_OK(cfile_file_export_arrow(file, &scan, &options, &stream));
  CHECK(count(&stream, 0, 100) == 60);
  options.column_only = 1;
  CHECK_OK(cfile_file_export_arrow(file, &scan, &options, &stream));
  CHECK(count(&stream, 1, 100) == 60);

  scan.limit = 5;
  CHECK_ERROR(cfile_file_export_arrow(file, &scan, &options, &stream), CFILE_INVALID_ARGUMENT,
              "column_only");
  CHECK(stream.release == NULL);
  options.column_only = 0;
  scan.columns = &column;
  scan.num_columns = 1;
  CHECK_OK(cfile_file_export_arrow(file, &scan, &options, &stream));
  CHECK(count(&stream, 0, 100) == 5);
  CHECK_OK(cfile_filter_test("value", CFILE_LESS, &tenth, 1, &filter));
  scan.begin = scan.limit = 0;
  scan.filter = filter;
  CHECK_OK(cfile_file_export_arrow(file, &scan, NULL, &stream));
  cfile_filter_free(filter);
  {
    struct ArrowArray array;  // the filter excludes the null
    CHECK(stream.get_next(&stream, &array) == 0 && array.length == 9);
    stream.release(&stream);
    array.release(&array);  // the array is valid after the stream was released
  }

  scan.columns = NULL;
  scan.filter = NULL;
  scan.reserved = 1;
  CHECK(cfile_file_export_arrow(file, &scan, NULL, &stream) == CFILE_UNIMPLEMENTED);
  options.reserved = 1;
  CHECK(cfile_file_export_arrow(file, NULL, &options, &stream) == CFILE_UNIMPLEMENTED);
  CHECK_ERROR(cfile_file_export_arrow(file, NULL, NULL, NULL), CFILE_INVALID_ARGUMENT, "null");
}

static void check_writers(const cfile_file* file) {
  const cfile_writer_options nullable = {.struct_size = sizeof(nullable), .nullable = 1};
  const cfile_arrow_options column_only = {.struct_size = sizeof(column_only), .column_only = 1};
  cfile_scan_options scan = {.struct_size = sizeof(scan), .begin = 400};
  struct ArrowArrayStream stream;
  cfile_schema* schema = NULL;
  cfile_writer* writer = NULL;
  cfile_file* copy = NULL;
  cfile_table* table = NULL;
  char path[300];

  CHECK_OK(cfile_writer_create(path_of("copy"), "int32", &nullable, &writer));
  CHECK_OK(cfile_file_export_arrow(file, NULL, NULL, &stream));
  CHECK_OK(cfile_writer_append_arrow(writer, &stream));
  CHECK(stream.release == NULL);
  CHECK_ERROR(cfile_writer_append_arrow(writer, NULL), CFILE_INVALID_ARGUMENT, "null");
  CHECK_OK(cfile_writer_finish(writer));
  CHECK_OK(cfile_file_export_arrow(file, NULL, NULL, &stream));
  CHECK(cfile_writer_append_arrow(writer, &stream) == CFILE_FAILED_PRECONDITION);
  CHECK(stream.release == NULL);  // the stream is released even if the writer has already finished
  cfile_writer_free(writer);
  CHECK_OK(cfile_file_open(path_of("copy"), NULL, &copy));
  CHECK_OK(cfile_file_export_arrow(copy, NULL, NULL, &stream));
  cfile_file_free(copy);  // the stream keeps the file open
  CHECK(count(&stream, 0, 0) == kRows);

  snprintf(path, sizeof(path), "%stable", directory);
  CHECK_OK(cfile_schema_create(&schema));
  CHECK_OK(cfile_schema_add_column(schema, "value", "int64", 1, NULL));
  CHECK_OK(cfile_writer_create_table(path, schema, &writer));
  cfile_schema_free(schema);
  CHECK_OK(cfile_file_export_arrow(file, &scan, NULL, &stream));
  CHECK_OK(cfile_writer_append_arrow(writer, &stream));
  finish_writer(writer);
  CHECK_OK(cfile_table_open(path, NULL, &table));
  scan.begin = 0;
  scan.end = 10;
  CHECK_OK(cfile_table_export_arrow(table, &scan, NULL, &stream));
  {
    struct ArrowArray array;
    CHECK(stream.get_next(&stream, &array) == 0 && array.length == 10);
    CHECK(((const int64_t*)array.children[0]->buffers[1])[9] == 409);
    array.release(&array);
    stream.release(&stream);
  }
  CHECK(cfile_table_export_arrow(table, NULL, &column_only, &stream) == CFILE_INVALID_ARGUMENT);
  CHECK(stream.release == NULL);
  cfile_table_free(table);

  // A column of strings cannot take the numbers of the stream.
  CHECK_OK(cfile_writer_create(path_of("other"), "string", &nullable, &writer));
  CHECK_OK(cfile_file_export_arrow(file, NULL, NULL, &stream));
  CHECK(cfile_writer_append_arrow(writer, &stream) != CFILE_OK && stream.release == NULL);
  cfile_writer_free(writer);
}

int main(void) {
  cfile_file* file = NULL;
  make_directory();
  write_numbers(path_of("numbers"));
  CHECK_OK(cfile_file_open(path_of("numbers"), NULL, &file));
  check_files(file);
  check_writers(file);
  cfile_file_free(file);
  return finish();
}
