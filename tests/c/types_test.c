// Tests each type through the C interface.
// Its values are written, read, found by row and by key, taken and scanned.
#include "check.h"

enum { kRows = 120, kMaxSize = 16 };

static const char* const kTypes[] = {"bool",          "int8",
                                     "uint8",         "int16",
                                     "uint16",        "int32",
                                     "uint32",        "int64",
                                     "uint64",        "int128",
                                     "int96",         "float",
                                     "double",        "string",
                                     "varchar",       "binary",
                                     "fixed(9)",      "uuid",
                                     "date",          "time(ms)",
                                     "time(ns)",      "timestamp(us,UTC)",
                                     "timestamp(ns)", "decimal(9,2)",
                                     "decimal(18,2)", "decimal(38,3)"};

// The texts of the strings: row i has the text i.
static char texts[kRows][24];

// The values of a column as a C array, in ascending order.
// `unit` is the size of an element in bytes.
typedef struct column {
  int32_t type;
  size_t unit;
  union {
    uint64_t aligned;
    unsigned char bytes[kRows * kMaxSize];
  } values;
} column;

static void put(column* to, size_t row, const void* value, size_t unit) {
  to->unit = unit;
  memcpy(to->values.bytes + row * unit, value, unit);
}

// Sets the value of row `row`. Returns the same value as a key.
static cfile_value put_row(column* to, size_t row, size_t text_size) {
  const int64_t number = (int64_t)row - (to->type == CFILE_INT8 ? 60 : 0);
  cfile_value key = cfile_value_int64(number);
  switch (to->type) {
    case CFILE_BOOL: {
      const uint8_t value = row >= kRows / 2 ? 7 : 0;  // any value but 0 is true
      put(to, row, &value, 1);
      key.kind = CFILE_VALUE_BOOL;
      key.as.int64 = value != 0;
      break;
    }
    case CFILE_INT8:
    case CFILE_UINT8:
      put(to, row, &number, 1);  // the machine is little-endian
      break;
    case CFILE_INT16:
    case CFILE_UINT16:
      put(to, row, &number, 2);
      break;
    case CFILE_INT32:
    case CFILE_UINT32:
      put(to, row, &number, 4);
      break;
    case CFILE_INT64:
      put(to, row, &number, 8);
      break;
    case CFILE_UINT64: {
      const uint64_t value = UINT64_MAX - kRows + row;
      put(to, row, &value, 8);
      key.kind = CFILE_VALUE_UINT64;
      key.as.uint64 = value;
      break;
    }
    case CFILE_INT128: {
      cfile_int128 value;
      value.high = number - 60;
      value.low = row * 3;
      put(to, row, &value, sizeof(value));
      key.kind = CFILE_VALUE_INT128;
      key.as.int128 = value;
      break;
    }
    case CFILE_INT96: {
      cfile_int96 value;
      value.words[0] = (uint32_t)row;
      value.words[1] = 5;
      value.words[2] = 6;
      put(to, row, &value, sizeof(value));
      key.kind = CFILE_VALUE_INT96;
      key.as.int96 = value;
      break;
    }
    case CFILE_FLOAT: {
      const float value = (float)row / 4;
      put(to, row, &value, sizeof(value));
      key = cfile_value_double(value);
      break;
    }
    case CFILE_DOUBLE: {
      const double value = (double)row / 3;
      put(to, row, &value, sizeof(value));
      key = cfile_value_double(value);
      break;
    }
    default: {
      cfile_bytes value;
      snprintf(texts[row], sizeof(texts[row]), "%0*d", (int)text_size, (int)row);
      value.size = text_size;
      value.data = texts[row];
      put(to, row, &value, sizeof(value));
      key = cfile_value_bytes(value.data, value.size);
    }
  }
  return key;
}

// True if row `row` of the batch is row `expected` of the column.
static int same(const cfile_batch* batch, size_t row, const column* from, size_t expected) {
  const unsigned char* found = (const unsigned char*)batch->values + row * from->unit;
  const unsigned char* value = from->values.bytes + expected * from->unit;
  if (from->type == CFILE_BOOL) return *found == (*value != 0);
  if (from->type >= CFILE_BYTES) {
    cfile_bytes a, b;
    memcpy(&a, found, sizeof(a));
    memcpy(&b, value, sizeof(b));
    return a.size == b.size && memcmp(a.data, b.data, a.size) == 0;
  }
  return memcmp(found, value, from->unit) == 0;
}

// Checks that the batch has `size` rows of the column from `first` on.
static void check_rows(const cfile_batch* batch, const column* from, size_t first, size_t size) {
  size_t row;
  CHECK(batch->type == from->type);
  CHECK(batch->size == size);
  for (row = 0; row < batch->size; ++row) CHECK(same(batch, row, from, first + row));
}

static void check_cursor(cfile_cursor* cursor, const column* rows) {
  cfile_cursor* clone = NULL;
  cfile_batch batch;
  const uint64_t ordinals[] = {100, 0, 7};
  CHECK_OK(cfile_cursor_next(cursor, kRows + 1, &batch));
  check_rows(&batch, rows, 0, kRows);
  CHECK(batch.validity == NULL && batch.null_count == 0 && batch.first_ordinal == 0);
  CHECK_OK(cfile_cursor_next(cursor, 10, &batch));
  CHECK(batch.size == 0);
  CHECK_OK(cfile_cursor_previous(cursor, 5, &batch));
  check_rows(&batch, rows, kRows - 5, 5);

  CHECK_OK(cfile_cursor_seek(cursor, 33));
  CHECK(cfile_cursor_ordinal(cursor) == 33);
  CHECK_OK(cfile_cursor_clone(cursor, &clone));
  CHECK_OK(cfile_cursor_next(cursor, 3, &batch));
  check_rows(&batch, rows, 33, 3);
  CHECK(batch.first_ordinal == 33);
  CHECK(cfile_cursor_ordinal(clone) == 33);
  cfile_cursor_free(clone);

  CHECK_OK(cfile_cursor_seek_range(cursor, 10, 12));
  CHECK_OK(cfile_cursor_next(cursor, 100, &batch));
  check_rows(&batch, rows, 10, 2);
  CHECK_OK(cfile_cursor_next(cursor, 100, &batch));
  CHECK(batch.size == 0);

  CHECK_OK(cfile_cursor_take(cursor, ordinals, 3, &batch));
  CHECK(batch.size == 3);
  CHECK(same(&batch, 0, rows, 100) && same(&batch, 1, rows, 0) && same(&batch, 2, rows, 7));

  CHECK_OK(cfile_cursor_take(cursor, NULL, 0, &batch));
  CHECK(batch.size == 0);
  CHECK_ERROR(cfile_cursor_take(cursor, NULL, 1, &batch), CFILE_INVALID_ARGUMENT, "null");
  CHECK_ERROR(cfile_cursor_next(cursor, 0, &batch), CFILE_INVALID_ARGUMENT, "max_rows");
  CHECK_ERROR(cfile_cursor_seek(cursor, kRows + 1), CFILE_OUT_OF_RANGE, "120");
  CHECK_ERROR(cfile_cursor_seek_range(cursor, 2, 1), CFILE_INVALID_ARGUMENT, "begins at 2");
  CHECK(cfile_cursor_seek_range(cursor, 2, 1000) == CFILE_OUT_OF_RANGE);
  CHECK(cfile_cursor_take(cursor, (const uint64_t[]){kRows}, 1, &batch) == CFILE_OUT_OF_RANGE);
}

static void check_keys(cfile_cursor* cursor, const cfile_value* keys, int32_t type) {
  cfile_value wrong = cfile_value_bytes("x", 1);
  uint64_t ordinal = 0, end = 0;
  int32_t exact = -1;
  size_t row;
  for (row = 0; row < kRows; row += 17) {
    const size_t first = type == CFILE_BOOL ? (row < kRows / 2 ? 0 : kRows / 2) : row;
    CHECK_OK(cfile_cursor_seek_key(cursor, &keys[row], &ordinal, &exact));
    CHECK(ordinal == first && exact == 1);
    CHECK(cfile_cursor_ordinal(cursor) == first);
  }
  CHECK_OK(cfile_cursor_seek_key(cursor, &keys[3], NULL, NULL));
  if (type != CFILE_BOOL) {
    CHECK_OK(cfile_cursor_seek_key_range(cursor, &keys[20], &keys[30], &ordinal, &end));
    CHECK(ordinal == 20 && end == 30);
  }
  CHECK_OK(cfile_cursor_seek_key_range(cursor, NULL, NULL, &ordinal, &end));
  CHECK(ordinal == 0 && end == kRows);

  if (type >= CFILE_BYTES) {
    const cfile_value nothing = cfile_value_bytes(NULL, 9);
    CHECK_ERROR(cfile_cursor_seek_key(cursor, &nothing, &ordinal, &exact), CFILE_INVALID_ARGUMENT,
                "null");
  }
  if (type == CFILE_BYTES) wrong = cfile_value_int64(1);
  CHECK_ERROR(cfile_cursor_seek_key(cursor, &wrong, &ordinal, &exact), CFILE_INVALID_ARGUMENT,
              "not a value of the column's type");
  wrong.kind = 99;
  CHECK(cfile_cursor_seek_key(cursor, &wrong, &ordinal, &exact) == CFILE_INVALID_ARGUMENT);
  wrong.kind = CFILE_VALUE_NULL;
  CHECK(cfile_cursor_seek_key(cursor, &wrong, &ordinal, &exact) == CFILE_INVALID_ARGUMENT);
  wrong = cfile_value_int64(1000);
  if (type == CFILE_INT8 || type == CFILE_UINT8)
    CHECK(cfile_cursor_seek_key(cursor, &wrong, &ordinal, &exact) == CFILE_INVALID_ARGUMENT);
  wrong = cfile_value_double(1e300);
  if (type == CFILE_FLOAT)
    CHECK(cfile_cursor_seek_key(cursor, &wrong, &ordinal, &exact) == CFILE_INVALID_ARGUMENT);
  wrong = cfile_value_int64((INT64_C(1) << 53) + 1);  // a double has 53 bits of precision
  if (type == CFILE_FLOAT || type == CFILE_DOUBLE)
    CHECK_ERROR(cfile_cursor_seek_key(cursor, &wrong, &ordinal, &exact), CFILE_INVALID_ARGUMENT,
                "not a value of the column's type");
  wrong = cfile_value_double((double)(0.0f / (exact < 2 ? 0.0f : 1.0f)));
  if (type == CFILE_FLOAT || type == CFILE_DOUBLE)
    CHECK_ERROR(cfile_cursor_seek_key(cursor, &wrong, &ordinal, &exact), CFILE_INVALID_ARGUMENT,
                "NaN");
  // After an error, the cursor has the same position as before.
  CHECK(cfile_cursor_ordinal(cursor) == 0);
}

// Row i is null if i % 3 is 1.
static void check_nulls(const char* type, const column* rows, const cfile_value* keys) {
  const cfile_writer_options nullable = {.struct_size = sizeof(nullable), .nullable = 1};
  const char* const path = path_of("nulls");
  uint8_t validity[kRows / 8];
  uint64_t ordinals[kRows];
  cfile_writer* writer = NULL;
  cfile_file* file = NULL;
  cfile_cursor* cursor = NULL;
  cfile_filter* filter = NULL;
  cfile_scan* scan = NULL;
  cfile_batch batch;
  size_t row, num_rows = 0;
  memset(validity, 0, sizeof(validity));
  for (row = 0; row < kRows; ++row)
    validity[row / 8] = (uint8_t)(validity[row / 8] | (row % 3 != 1) << (row % 8));

  CHECK_OK(cfile_writer_create(path, type, &nullable, &writer));
  CHECK_OK(cfile_writer_append(writer, 0, rows->type, rows->values.bytes, validity, kRows));
  finish_writer(writer);
  CHECK_OK(cfile_file_open(path, NULL, &file));
  CHECK_OK(cfile_file_cursor(file, &cursor));
  CHECK_OK(cfile_cursor_next(cursor, kRows, &batch));
  CHECK(batch.size == kRows && batch.null_count == kRows / 3 && batch.validity != NULL);
  for (row = 0; row < batch.size; ++row) {
    CHECK(cfile_batch_is_valid(&batch, row) == (row % 3 != 1));
    if (row % 3 != 1) CHECK(same(&batch, row, rows, row));
  }
  cfile_cursor_free(cursor);

  {
    cfile_scan_options options = {.struct_size = sizeof(options)};
    CHECK_OK(cfile_filter_test("value", CFILE_EQUAL, &keys[63], 1, &filter));
    options.filter = filter;
    CHECK_OK(cfile_file_scan(file, &options, &scan));
    cfile_filter_free(filter);
    CHECK(cfile_scan_num_columns(scan) == 1);
    CHECK_OK(cfile_scan_next(scan, &num_rows));
    CHECK(num_rows == (size_t)(rows->type == CFILE_BOOL ? kRows / 3 : 1));
    CHECK_OK(cfile_scan_ordinals(scan, ordinals));
    CHECK_OK(cfile_scan_column(scan, 0, &batch));
    CHECK(batch.size == num_rows && batch.type == rows->type);
    for (row = 0; row < num_rows; ++row) CHECK(same(&batch, row, rows, ordinals[row]));
    CHECK(ordinals[num_rows - 1] == (uint64_t)(rows->type == CFILE_BOOL ? kRows - 1 : 63));
    CHECK_OK(cfile_scan_next(scan, &num_rows));
    CHECK(num_rows == 0);
    CHECK(cfile_scan_column(scan, 0, &batch) == CFILE_OUT_OF_RANGE);
    cfile_scan_free(scan);
  }
  cfile_file_free(file);
}

static void check_type(const char* type) {
  static column rows;
  const char* const path = path_of("file");
  cfile_writer_options options = {.struct_size = sizeof(options), .block_size_bytes = 1 << 20};
  cfile_file_info info = {.struct_size = sizeof(info)};
  cfile_writer* writer = NULL;
  cfile_file* file = NULL;
  cfile_cursor* cursor = NULL;
  cfile_value keys[kRows];
  const size_t text_size = strcmp(type, "uuid") == 0 ? 16 : 9;
  const int failed = num_failed;
  size_t row;

  // A file without rows also has a type of values.
  CHECK_OK(cfile_writer_create(path, type, NULL, &writer));
  CHECK(cfile_writer_append(writer, 0, -1, NULL, NULL, 0) == CFILE_INVALID_ARGUMENT);
  cfile_writer_free(writer);
  CHECK_OK(cfile_writer_create(path, type, NULL, &writer));
  CHECK_OK(cfile_writer_finish(writer));
  CHECK(cfile_writer_finish(writer) == CFILE_FAILED_PRECONDITION);
  cfile_writer_free(writer);
  CHECK_OK(cfile_file_open(path, NULL, &file));
  CHECK_OK(cfile_file_get_info(file, &info));
  CHECK(info.num_rows == 0 && strcmp(info.type, type) == 0);
  rows.type = info.value_type;
  cfile_file_free(file);

  for (row = 0; row < kRows; ++row) keys[row] = put_row(&rows, row, text_size);
  options.value_index = rows.type != CFILE_INT96;  // int96 values have no order
  CHECK_OK(cfile_writer_create(path, type, &options, &writer));
  CHECK_OK(cfile_writer_append(writer, 0, rows.type, rows.values.bytes, NULL, 50));
  CHECK_OK(cfile_writer_append(writer, 0, rows.type, rows.values.bytes + 50 * rows.unit, NULL,
                               kRows - 50));
  CHECK_ERROR(
      cfile_writer_append(writer, 0, (rows.type + 1) % CFILE_BYTES, rows.values.bytes, NULL, 1),
      CFILE_INVALID_ARGUMENT, type);
  CHECK(cfile_writer_append(writer, 1, rows.type, rows.values.bytes, NULL, 1) ==
        CFILE_OUT_OF_RANGE);
  finish_writer(writer);

  CHECK_OK(cfile_file_open(path, NULL, &file));
  CHECK_OK(cfile_file_get_info(file, &info));
  CHECK(info.num_rows == kRows && info.has_value_index == options.value_index);
  CHECK(info.has_positional_index == 1 && info.has_statistics == 1 && info.nullable == 0);
  CHECK_OK(cfile_file_cursor(file, &cursor));
  cfile_file_free(file);  // the cursor keeps the file open
  check_cursor(cursor, &rows);
  if (options.value_index) check_keys(cursor, keys, rows.type);
  cfile_cursor_free(cursor);
  check_nulls(type, &rows, keys);
  if (num_failed > failed) fprintf(stderr, "... with the type %s\n", type);
}

// A program may pass int128 values that are only aligned like uint64_t.
static void check_alignment(void) {
  cfile_int128 values[4] = {{1, 0}, {2, 0}, {3, 0}, {4, 0}};
  unsigned char bytes[sizeof(values) + 8];
  const char* const path = path_of("aligned");
  cfile_writer* writer = NULL;
  cfile_file* file = NULL;
  cfile_cursor* cursor = NULL;
  cfile_batch batch;
  memcpy(bytes + 8, values, sizeof(values));
  CHECK_OK(cfile_writer_create(path, "int128", NULL, &writer));
  CHECK_OK(cfile_writer_append(writer, 0, CFILE_INT128, bytes + 8, NULL, 4));
  CHECK_OK(cfile_writer_append(writer, 0, CFILE_INT128, values, NULL, 4));
  finish_writer(writer);
  CHECK_OK(cfile_file_open(path, NULL, &file));
  CHECK_OK(cfile_file_cursor(file, &cursor));
  CHECK_OK(cfile_cursor_next(cursor, 10, &batch));
  CHECK(batch.size == 8 && memcmp(batch.values, values, sizeof(values)) == 0);
  cfile_cursor_free(cursor);
  cfile_file_free(file);
}

int main(void) {
  size_t i;
  make_directory();
  for (i = 0; i < sizeof(kTypes) / sizeof(kTypes[0]); ++i) check_type(kTypes[i]);
  check_alignment();
  return finish();
}
