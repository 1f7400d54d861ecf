// Tests files that are in memory or behind callbacks, damaged files, structs of other versions,
// and other errors.
#include "check.h"

enum { kRows = 100000 };

// A file in memory, whose callbacks can fail.
typedef struct storage {
  unsigned char bytes[500000];
  size_t size;
  int reads, frees, finishes;
  int fail_after;  // number of reads that succeed first; -1: no read fails
  cfile_code code;
  const char* message;
} storage;

static cfile_code read_storage(void* user_data, uint64_t offset, void* out, size_t size) {
  storage* const from = user_data;
  if (from->reads++ == from->fail_after) {
    if (from->message != NULL) cfile_set_error_message(from->message);
    return from->code;
  }
  memcpy(out, from->bytes + offset, size);
  return CFILE_OK;
}

static cfile_code append_storage(void* user_data, const void* data, size_t size) {
  storage* const to = user_data;
  if (to->fail_after >= 0 || to->size + size > sizeof(to->bytes)) return to->code;
  memcpy(to->bytes + to->size, data, size);
  to->size += size;
  return CFILE_OK;
}

static cfile_code finish_storage(void* user_data) {
  storage* const to = user_data;
  ++to->finishes;
  return to->fail_after >= 0 ? to->code : CFILE_OK;
}

static void free_storage(void* user_data) { ++((storage*)user_data)->frees; }

static int32_t values[kRows];

static void write_storage(storage* to) {
  const cfile_sink sink = {.struct_size = sizeof(sink),
                           .user_data = to,
                           .name = "bucket/values",
                           .append = append_storage,
                           .finish = finish_storage,
                           .free = free_storage};
  const cfile_writer_options options = {.struct_size = sizeof(options),
                                        .encoding = "plain",
                                        .compression = "none",
                                        .value_index = 1,
                                        .max_values_per_block = 1000};
  const cfile_bytes key = {7, "purpose"}, value = {6, "a test"};
  cfile_writer* writer = NULL;
  size_t row;
  for (row = 0; row < kRows; ++row) values[row] = (int32_t)(2 * row);
  memset(to, 0, sizeof(*to));
  to->fail_after = -1;
  CHECK_OK(cfile_writer_create_sink(&sink, "int32", &options, &writer));
  CHECK_OK(cfile_writer_append(writer, 0, CFILE_INT32, values, NULL, kRows));
  CHECK_OK(cfile_writer_add_metadata(writer, key, value));
  CHECK(to->finishes == 0);
  CHECK_OK(cfile_writer_finish(writer));
  CHECK(to->finishes == 1);
  cfile_writer_free(writer);
  CHECK(to->frees == 1 && to->finishes == 1 && to->size > 4 * kRows);
}

static cfile_source source_of(storage* from) {
  const cfile_source source = {.struct_size = sizeof(source),
                               .user_data = from,
                               .size = from->size,
                               .name = "bucket/values",
                               .read_at = read_storage,
                               .free = free_storage};
  from->reads = from->frees = 0;
  from->fail_after = -1;
  from->message = NULL;
  return source;
}

// Reads all rows and checks them.
static void check_rows(const cfile_file* file) {
  cfile_cursor* cursor = NULL;
  cfile_batch batch;
  size_t row = 0;
  CHECK_OK(cfile_file_cursor(file, &cursor));
  do {
    CHECK_OK(cfile_cursor_next(cursor, CFILE_MAX_BATCH_ROWS, &batch));
    CHECK(batch.first_ordinal == row || batch.size == 0);
    CHECK(batch.size == 0 ||
          memcmp(batch.values, values + row, batch.size * sizeof(values[0])) == 0);
    row += batch.size;
  } while (batch.size > 0);
  CHECK(row == kRows);
  cfile_cursor_free(cursor);
}

static void check_memory(storage* from) {
  unsigned char* bytes = malloc(from->size);
  cfile_file* file = NULL;
  cfile_file_info info = {.struct_size = sizeof(info)};
  cfile_bytes key, value;
  size_t i;
  int found = 0;
  CHECK_OK(cfile_file_open_memory(from->bytes, from->size, 0, NULL, &file));
  check_rows(file);
  CHECK_OK(cfile_file_get_info(file, &info));
  for (i = 0; i < info.num_metadata; ++i) {  // the library adds pairs of its own
    CHECK_OK(cfile_file_get_metadata(file, i, &key, &value));
    found += key.size == 7 && memcmp(key.data, "purpose", 7) == 0 && value.size == 6 &&
             memcmp(value.data, "a test", 6) == 0;
  }
  CHECK(found == 1);
  CHECK(cfile_file_get_metadata(file, i, &key, &value) == CFILE_OUT_OF_RANGE);
  cfile_file_free(file);

  memcpy(bytes, from->bytes, from->size);
  CHECK_OK(cfile_file_open_memory(bytes, from->size, 1, NULL, &file));
  memset(bytes, 0, from->size);
  free(bytes);  // the file object has its own copy
  check_rows(file);
  cfile_file_free(file);
}

static void check_source(storage* from) {
  cfile_source source = source_of(from);
  cfile_file* file = NULL;
  cfile_cursor* cursor = NULL;
  cfile_batch batch;
  cfile_value key = cfile_value_int64(5001);
  uint64_t ordinal = 0;
  int32_t exact = -1;
  CHECK_OK(cfile_file_open_source(&source, NULL, &file));
  check_rows(file);
  CHECK_OK(cfile_file_cursor(file, &cursor));
  cfile_file_free(file);
  CHECK(from->frees == 0 && from->reads > 0);
  CHECK_OK(cfile_cursor_seek_key(cursor, &key, &ordinal, &exact));
  CHECK(ordinal == 2501 && exact == 0);
  cfile_cursor_free(cursor);
  CHECK(from->frees == 1);

  // All reads fail, also the first one.
  source = source_of(from);
  from->fail_after = 0;
  from->code = CFILE_UNAVAILABLE;
  from->message = "the server sleeps";
  file = NULL;
  CHECK_ERROR(cfile_file_open_source(&source, NULL, &file), CFILE_UNAVAILABLE, "the server sleeps");
  CHECK(strstr(cfile_error_message(), "bucket/values") != NULL);
  CHECK(file == NULL && from->frees == 1);

  // A later read fails once. The cursor keeps its position and works after the error.
  source = source_of(from);
  CHECK_OK(cfile_file_open_source(&source, NULL, &file));
  CHECK_OK(cfile_file_cursor(file, &cursor));
  from->fail_after = from->reads;
  from->code = CFILE_PERMISSION_DENIED;
  // The start of the file was already read, so only a later row needs a read.
  CHECK_ERROR(cfile_cursor_seek(cursor, kRows / 2), CFILE_PERMISSION_DENIED, "read_at returned 7");
  CHECK(cfile_cursor_ordinal(cursor) == 0);
  CHECK_OK(cfile_cursor_seek(cursor, kRows / 2));
  CHECK_OK(cfile_cursor_next(cursor, 10, &batch));
  CHECK(batch.size == 10 && batch.first_ordinal == kRows / 2);
  cfile_cursor_free(cursor);
  cfile_file_free(file);

  // Codes that would have another meaning for the reader, or no meaning, become CFILE_UNKNOWN.
  for (from->code = -1; from->code < 20; ++from->code) {
    const cfile_code code = from->code;
    const int known = code > CFILE_OK && code <= CFILE_UNAUTHENTICATED &&
                      code != CFILE_OUT_OF_RANGE && code != CFILE_UNIMPLEMENTED;
    if (code == CFILE_OK) continue;
    source = source_of(from);
    from->fail_after = 0;
    CHECK(cfile_file_open_source(&source, NULL, &file) == (known ? code : CFILE_UNKNOWN));
  }
  source = source_of(from);
  CHECK_ERROR(cfile_file_open_source(&source, NULL, NULL), CFILE_INVALID_ARGUMENT, "null");
  CHECK(from->frees == 1);
  source.read_at = NULL;
  CHECK_ERROR(cfile_file_open_source(&source, NULL, &file), CFILE_INVALID_ARGUMENT, "read_at");
  CHECK(from->frees == 2);
}

static void check_sink(storage* to) {
  cfile_sink sink = {.struct_size = sizeof(sink), .user_data = to, .append = append_storage};
  cfile_writer* writer = NULL;
  to->size = 0;
  to->frees = 0;
  to->fail_after = -1;
  // A sink may lack the optional callbacks.
  CHECK_OK(cfile_writer_create_sink(&sink, "int32", NULL, &writer));
  CHECK_OK(cfile_writer_append(writer, 0, CFILE_INT32, values, NULL, 10));
  finish_writer(writer);
  CHECK(to->frees == 0 && to->size > 0);

  sink.free = free_storage;
  sink.finish = finish_storage;
  to->finishes = 0;
  CHECK(cfile_writer_create_sink(&sink, "int33", NULL, &writer) == CFILE_INVALID_ARGUMENT);
  CHECK(cfile_writer_create_sink(&sink, NULL, NULL, &writer) == CFILE_INVALID_ARGUMENT);
  CHECK(to->frees == 2);
  CHECK_OK(cfile_writer_create_sink(&sink, "int32", NULL, &writer));
  cfile_writer_free(writer);
  CHECK(to->frees == 3 && to->finishes == 0);

  CHECK_OK(cfile_writer_create_sink(&sink, "int32", NULL, &writer));
  to->fail_after = 0;
  to->code = CFILE_RESOURCE_EXHAUSTED;
  CHECK_OK(cfile_writer_append(writer, 0, CFILE_INT32, values, NULL, 10));
  CHECK_ERROR(cfile_writer_finish(writer), CFILE_RESOURCE_EXHAUSTED, "append returned 8");
  CHECK(to->finishes == 0);
  cfile_writer_free(writer);
  CHECK(to->frees == 4);
  sink.append = NULL;
  CHECK_ERROR(cfile_writer_create_sink(&sink, "int32", NULL, &writer), CFILE_INVALID_ARGUMENT,
              "append is null");
}

static void check_damage(storage* from) {
  cfile_file* file = NULL;
  cfile_cursor* cursor = NULL;
  cfile_batch batch;
  size_t row = 0;
  cfile_code code;
  const cfile_reader_options careless = {.struct_size = sizeof(careless), .ignore_checksums = 1};
  from->bytes[from->size / 2] ^= 1;
  CHECK_OK(cfile_file_open_memory(from->bytes, from->size, 0, NULL, &file));
  CHECK_OK(cfile_file_cursor(file, &cursor));
  do {
    code = cfile_cursor_next(cursor, CFILE_MAX_BATCH_ROWS, &batch);
    if (code == CFILE_OK) row += batch.size;
  } while (code == CFILE_OK && batch.size > 0);
  CHECK(code == CFILE_DATA_LOSS && row > 0 && row < kRows && row % 1000 == 0);
  CHECK(strstr(cfile_error_message(), "checksum") != NULL);
  CHECK_OK(cfile_cursor_seek(cursor, kRows - 1));
  CHECK_OK(cfile_cursor_next(cursor, 10, &batch));
  CHECK(((const int32_t*)batch.values)[0] == values[kRows - 1]);
  cfile_cursor_free(cursor);
  cfile_file_free(file);
  CHECK_OK(cfile_file_open_memory(from->bytes, from->size, 0, &careless, &file));
  CHECK_OK(cfile_file_cursor(file, &cursor));
  CHECK_OK(cfile_cursor_seek(cursor, row));
  CHECK_OK(cfile_cursor_next(cursor, 10, &batch));
  cfile_cursor_free(cursor);
  cfile_file_free(file);
  from->bytes[from->size / 2] ^= 1;

  CHECK(cfile_file_open_memory(from->bytes, from->size - 1, 0, NULL, &file) == CFILE_DATA_LOSS);
  CHECK(cfile_file_open_memory(from->bytes, 0, 0, NULL, &file) == CFILE_DATA_LOSS);
  CHECK(cfile_file_open_memory(NULL, 0, 0, NULL, &file) == CFILE_DATA_LOSS);
  CHECK(cfile_file_open_memory(NULL, 1, 0, NULL, &file) == CFILE_INVALID_ARGUMENT);
}

static void check_versions(const storage* from) {
  // A newer program has structs with one more field.
  struct {
    cfile_reader_options known;
    uint64_t later;
  } options = {{.struct_size = sizeof(options)}, 0};
  struct {
    cfile_file_info known;
    uint64_t later;
  } info;
  // An older program has a struct with only the first two fields.
  struct {
    size_t struct_size;
    uint64_t num_rows;
    uint64_t not_part_of_the_struct;
  } old_info;
  cfile_reader_options plain = {.struct_size = sizeof(plain)};
  cfile_file* file = NULL;
  CHECK_OK(cfile_file_open_memory(from->bytes, from->size, 0, &options.known, &file));
  memset(&info, 0xff, sizeof(info));
  info.known.struct_size = sizeof(info);
  CHECK_OK(cfile_file_get_info(file, &info.known));
  CHECK(info.known.num_rows == kRows && info.later == 0);
  CHECK(info.known.struct_size == sizeof(info));
  old_info.struct_size = 2 * sizeof(uint64_t);
  old_info.not_part_of_the_struct = 77;
  CHECK_OK(cfile_file_get_info(file, (cfile_file_info*)(void*)&old_info));
  CHECK(old_info.num_rows == kRows && old_info.not_part_of_the_struct == 77);
  info.known.struct_size = 0;
  CHECK_ERROR(cfile_file_get_info(file, &info.known), CFILE_INVALID_ARGUMENT, "struct_size is 0");
  cfile_file_free(file);

  options.later = 1;
  file = NULL;
  CHECK_ERROR(cfile_file_open_memory(from->bytes, from->size, 0, &options.known, &file),
              CFILE_UNIMPLEMENTED, "does not know");
  CHECK(file == NULL);
  plain.struct_size = 3;
  CHECK_ERROR(cfile_file_open_memory(from->bytes, from->size, 0, &plain, &file),
              CFILE_INVALID_ARGUMENT, "struct_size is 3");
  // An older program does not know max_metadata_size_bytes.
  // So the library ignores the bytes at the place of this field.
  plain.max_metadata_size_bytes = 1;
  plain.struct_size = offsetof(cfile_reader_options, max_metadata_size_bytes);
  CHECK_OK(cfile_file_open_memory(from->bytes, from->size, 0, &plain, &file));
  cfile_file_free(file);
  plain.struct_size = sizeof(plain);
  CHECK_ERROR(cfile_file_open_memory(from->bytes, from->size, 0, &plain, &file), CFILE_OUT_OF_RANGE,
              "max_metadata_size_bytes");
}

static void check_errors(void) {
  static const cfile_writer_options wrong[] = {
      {.struct_size = sizeof(wrong[0]), .encoding = "morse"},
      {.struct_size = sizeof(wrong[0]), .compression = "foam"},
      {.struct_size = sizeof(wrong[0]), .goal = 3},
      {.struct_size = sizeof(wrong[0]), .format_version = 3}};
  const cfile_bytes nothing = {5, NULL};
  cfile_file* file = NULL;
  cfile_writer* writer = NULL;
  size_t i;
  CHECK_ERROR(cfile_file_open(path_of("absent"), NULL, &file), CFILE_NOT_FOUND, "absent");
  CHECK_ERROR(cfile_file_open(NULL, NULL, &file), CFILE_INVALID_ARGUMENT, "null");
  CHECK_ERROR(cfile_file_open(path_of("absent"), NULL, NULL), CFILE_INVALID_ARGUMENT, "null");
  CHECK_ERROR(cfile_cursor_seek(NULL, 0), CFILE_INVALID_ARGUMENT, "null");
  for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); ++i)
    CHECK(cfile_writer_create(path_of("wrong"), "int32", &wrong[i], &writer) ==
          CFILE_INVALID_ARGUMENT);
  CHECK(writer == NULL);
  // If a writer is freed without a call of finish, no file is left.
  CHECK_OK(cfile_writer_create(path_of("abandoned"), "int32", NULL, &writer));
  CHECK_ERROR(cfile_writer_append(writer, 0, CFILE_INT32, NULL, NULL, 5), CFILE_INVALID_ARGUMENT,
              "null");
  CHECK_ERROR(cfile_writer_add_metadata(writer, nothing, nothing), CFILE_INVALID_ARGUMENT, "null");
  cfile_writer_free(writer);
  CHECK(cfile_file_open(path_of("abandoned"), NULL, &file) == CFILE_NOT_FOUND);

  cfile_file_free(NULL);
  cfile_cursor_free(NULL);
  cfile_scan_free(NULL);
  cfile_filter_free(NULL);
  cfile_table_free(NULL);
  cfile_schema_free(NULL);
  cfile_writer_free(NULL);
  CHECK(strchr(cfile_version(), '.') != NULL);
}

int main(void) {
  static storage file, other;
  make_directory();
  write_storage(&file);
  check_memory(&file);
  check_source(&file);
  check_sink(&other);
  check_damage(&file);
  check_versions(&file);
  check_errors();
  return finish();
}
