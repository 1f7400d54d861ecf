// The C interface: reads and writes files of one column, and tables. C99 and C++.
//
//   cfile_file* file = NULL;
//   cfile_cursor* cursor = NULL;
//   cfile_batch batch;
//   if (cfile_file_open("keys.cfile", NULL, &file) != CFILE_OK ||
//       cfile_file_cursor(file, &cursor) != CFILE_OK) {
//     fprintf(stderr, "%s\n", cfile_error_message());
//   }
//   while (cfile_cursor_next(cursor, CFILE_MAX_BATCH_ROWS, &batch) == CFILE_OK && batch.size > 0) {
//     const int64_t* values = batch.values;  // if batch.type is CFILE_INT64
//     ...
//   }
//   cfile_cursor_free(cursor);
//   cfile_file_free(file);
//
// Results. Functions return CFILE_OK or the code of an error, whose text is cfile_error_message().
// cfile/CONCEPTS.md says which errors each kind of call has; comments name only the others. The
// position of a column, row, part or pair that a file, table or writer does not have is
// CFILE_OUT_OF_RANGE. Out parameters are the last parameters, and are unchanged after an error,
// unless a comment says otherwise. No exception leaves a function. If there is no memory, the code
// is CFILE_RESOURCE_EXHAUSTED. A pointer may be null only if a comment says so, or if it is an
// array without elements. Most functions check the pointers and return CFILE_INVALID_ARGUMENT.
//
// Memory. The caller frees each object with the function of its type whose name ends with _free,
// which does nothing if the object is null. Objects may be freed in any order and in any thread: a
// cursor, a lookup and a scan keep their file or table open. Strings of the caller need to live
// only during the call. Strings end with a zero byte, except cfile_bytes.
//
// Threads. Any number of threads may use one cfile_file, cfile_table or cfile_filter at the same
// time. Only one thread at a time may use any other object.
//
// Versions. Later versions may add fields at the end of a struct that begins with struct_size. Set
// struct_size to the size of the struct, and all fields that you do not need to 0:
//
//   cfile_writer_options options = {.struct_size = sizeof(options), .value_index = 1};
//
// In options, 0 means the default. A library that is older than the program does not know the newer
// fields: it returns CFILE_UNIMPLEMENTED if such a field of options is not 0, and sets such a field
// to 0 in a struct that it fills. Structs without struct_size, and the numbers of all constants,
// never change.
//
// cfile/c_values.h has errors, values and batches. Details are in the headers of the C++ interface:
// reader.h, writer.h, table.h, table_lookup.h, merge_cursor.h, table_scan.h, arrow.h and
// arrow_import.h.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "cfile/arrow_c_data.h"
#include "cfile/c_values.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cfile_file cfile_file;
typedef struct cfile_cursor cfile_cursor;
typedef struct cfile_lookup cfile_lookup;
typedef struct cfile_merge_cursor cfile_merge_cursor;
typedef struct cfile_filter cfile_filter;
typedef struct cfile_scan cfile_scan;
typedef struct cfile_table cfile_table;
typedef struct cfile_writer cfile_writer;
typedef struct cfile_schema cfile_schema;

#pragma GCC visibility push(default)  // libcfile.so exports these functions

// ---- Files

// The limits and their defaults are those of ReaderOptions (cfile/options.h).
typedef struct cfile_reader_options {
  size_t struct_size;
  // 1: reads files with pread. 0: maps files into memory. If another program truncates a mapped
  // file, a read of the missing bytes kills the process (SIGBUS).
  int32_t use_pread;
  int32_t ignore_checksums;
  uint64_t max_block_size_bytes;
  uint64_t max_bloom_filter_bytes;
  uint64_t max_metadata_size_bytes;
  uint64_t max_dictionary_values;
  uint64_t max_index_size_bytes;
  uint64_t max_table_memory_bytes;
  uint64_t max_open_files;
  uint64_t read_ahead_bytes;
  // 1, for tables with a merge rule: all stored rows, as if there were no rule.
  int32_t stored_rows;
  int32_t reserved;  // 0
} cfile_reader_options;

// Bytes that the program reads for the library. read_at may be called in several threads at the
// same time. The callbacks must not throw exceptions or jump out of the library.
typedef struct cfile_source {
  size_t struct_size;
  void* user_data;   // passed to the callbacks; may be null
  uint64_t size;     // the number of bytes
  const char* name;  // for errors; may be null
  // Reads `size` bytes from `offset` on into `out`: all of them, or returns an error. offset + size
  // is at most the size of the source. Before read_at returns an error, it may call
  // cfile_set_error_message. CFILE_DATA_LOSS means that the bytes are lost for ever.
  // CFILE_OUT_OF_RANGE and CFILE_UNIMPLEMENTED become CFILE_UNKNOWN.
  cfile_code (*read_at)(void* user_data, uint64_t offset, void* out, size_t size);
  // Called once, in any thread, after the last use, even if the file cannot be opened. May be null.
  void (*free)(void* user_data);
} cfile_source;

// Open a file. `options` may be null.
// cfile_file_open_memory: if `copy` is 1, the file gets its own copy of `data`. If `copy` is 0,
// `data` must outlive the file, its cursors, its scans, and its Arrow streams and arrays.
cfile_code cfile_file_open(const char* path, const cfile_reader_options* options,
                           cfile_file** file);
cfile_code cfile_file_open_memory(const void* data, size_t size, int32_t copy,
                                  const cfile_reader_options* options, cfile_file** file);
cfile_code cfile_file_open_source(const cfile_source* source, const cfile_reader_options* options,
                                  cfile_file** file);
void cfile_file_free(cfile_file* file);

// The contents of the header and the footer. The strings live as long as the file.
typedef struct cfile_file_info {
  size_t struct_size;
  uint64_t num_rows;  // nulls included
  uint64_t file_size_bytes;
  const char* type;  // as text: "int32", "string", "decimal(10,2)", "timestamp(us,UTC)", ...
  const char* encoding;
  const char* compression;
  const char* created_by;
  int32_t value_type;  // CFILE_BOOL, ...
  int32_t nullable;
  int32_t has_levels;  // 1: each row has any number of values; cursors cannot read the file
  int32_t has_positional_index;
  int32_t has_value_index;
  int32_t has_statistics;
  uint64_t num_metadata;  // pairs of header and footer
} cfile_file_info;
// `info`: the caller sets struct_size.
cfile_code cfile_file_get_info(const cfile_file* file, cfile_file_info* info);
// Returns a pair of the metadata. The bytes live as long as the file.
cfile_code cfile_file_get_metadata(const cfile_file* file, size_t index, cfile_bytes* key,
                                   cfile_bytes* value);

// ---- Cursors: a position in a column

// Makes a cursor at row 0. CFILE_FAILED_PRECONDITION: the file has levels
// (cfile_file_info.has_levels).
cfile_code cfile_file_cursor(const cfile_file* file, cfile_cursor** cursor);
// Makes an independent cursor at the same row as `cursor`.
cfile_code cfile_cursor_clone(const cfile_cursor* cursor, cfile_cursor** clone);
void cfile_cursor_free(cfile_cursor* cursor);

// cfile_cursor_next returns the rows after the cursor and goes forward. cfile_cursor_previous
// returns the rows before the cursor, in ascending order, and goes back. A batch has at most
// max_rows rows and at most CFILE_MAX_BATCH_ROWS rows, and at least 1 row unless the cursor is at
// the end (or, for previous, at the start). CFILE_INVALID_ARGUMENT: max_rows is 0.
//
// The batch is valid until the next call on this cursor. Values of a fixed width are not copied if
// they lie in a PLAIN block that is not compressed and has no nulls, in a file that is mapped or in
// memory.
cfile_code cfile_cursor_next(cfile_cursor* cursor, size_t max_rows, cfile_batch* batch);
cfile_code cfile_cursor_previous(cfile_cursor* cursor, size_t max_rows, cfile_batch* batch);

// Returns the number of the row that the next call of cfile_cursor_next returns first.
uint64_t cfile_cursor_ordinal(const cfile_cursor* cursor);
// Goes to a row. If `ordinal` is the number of rows, goes to the end.
cfile_code cfile_cursor_seek(cfile_cursor* cursor, uint64_t ordinal);
// Goes to row `begin`. Until the next seek, cfile_cursor_next ends at row `end`.
cfile_code cfile_cursor_seek_range(cfile_cursor* cursor, uint64_t begin, uint64_t end);

// Goes to the first value >= key. *ordinal is its row, or the number of rows if there is none.
// *exact is 1 if this value equals the key, otherwise 0. `ordinal` and `exact` may be null.
// CFILE_FAILED_PRECONDITION: the column has no value index. CFILE_INVALID_ARGUMENT: the key has
// another type, is outside the range of the column's type, or is NaN. In a float or double column,
// a number is rounded to the nearest value of the column's type.
cfile_code cfile_cursor_seek_key(cfile_cursor* cursor, const cfile_value* key, uint64_t* ordinal,
                                 int32_t* exact);
// Goes to the rows with low <= value < high, as cfile_cursor_seek_range. A null `low` or `high` is
// no bound. `begin` and `end` may be null.
cfile_code cfile_cursor_seek_key_range(cfile_cursor* cursor, const cfile_value* low,
                                       const cfile_value* high, uint64_t* begin, uint64_t* end);
// As cfile_cursor_seek_key, for a cursor that reads a key index (cfile_table_info). `values`: the
// values that are searched, of all key columns or of the first ones.
cfile_code cfile_cursor_seek_compound_key(cfile_cursor* cursor, const cfile_value* values,
                                          size_t num_values, uint64_t* ordinal, int32_t* exact);

// Returns copies of the values at `ordinals`, which may be in any order. The batch is valid until
// the next call on this cursor. Afterwards the cursor may be at any row.
cfile_code cfile_cursor_take(cfile_cursor* cursor, const uint64_t* ordinals, size_t num_ordinals,
                             cfile_batch* batch);

// ---- Filters: conditions on rows, for scans

enum {  // tests of a column
  CFILE_EQUAL = 0,
  CFILE_NOT_EQUAL = 1,
  CFILE_LESS = 2,
  CFILE_LESS_OR_EQUAL = 3,
  CFILE_GREATER = 4,
  CFILE_GREATER_OR_EQUAL = 5,
  CFILE_BETWEEN = 6,  // two values: low <= value <= high
  CFILE_IN = 7,       // any number of values
  CFILE_HAS_PREFIX = 8,
  CFILE_IS_NULL = 9,  // no value
  CFILE_IS_NOT_NULL = 10,
  // Strings only.
  CFILE_LIKE = 11,      // a pattern with % and _, and maybe a second value: the escape character
  CFILE_ILIKE = 12,     // as CFILE_LIKE, without regard to case
  CFILE_CONTAINS = 13,  // also bytes
  CFILE_MATCHES = 14    // a regular expression of RE2
};

// Makes a test of the column with this name. The column of a file is named "value".
// A test takes one value, unless the comment above says otherwise. `values` are copied.
// A test of a null is unknown, as in SQL, except CFILE_IS_NULL and CFILE_IS_NOT_NULL.
// The scan checks whether the column exists and whether the values fit the column.
cfile_code cfile_filter_test(const char* column, int32_t test, const cfile_value* values,
                             size_t num_values, cfile_filter** filter);
// Makes a comparison of two columns of the same type. `test`: CFILE_EQUAL to
// CFILE_GREATER_OR_EQUAL.
cfile_code cfile_filter_columns(const char* column, int32_t test, const char* other_column,
                                cfile_filter** filter);
// Make a filter from text, in the grammar of cfile/filter.h: "carrier = 'UA' AND delay > 60".
// CFILE_INVALID_ARGUMENT, with the place in the text: a syntax error, or a condition that does not
// fit the columns of the file or table.
cfile_code cfile_file_filter(const cfile_file* file, const char* text, cfile_filter** filter);
cfile_code cfile_table_filter(const cfile_table* table, const char* text, cfile_filter** filter);
// Make a filter from copies of other filters, which the caller still frees.
cfile_code cfile_filter_and(const cfile_filter* const* operands, size_t num_operands,
                            cfile_filter** filter);
cfile_code cfile_filter_or(const cfile_filter* const* operands, size_t num_operands,
                           cfile_filter** filter);
cfile_code cfile_filter_not(const cfile_filter* operand, cfile_filter** filter);
void cfile_filter_free(cfile_filter* filter);

// ---- Scans: the rows of a file or a table that match a filter

typedef struct cfile_scan_options {
  size_t struct_size;
  const char* const* columns;  // names of the columns to return; null: all columns
  size_t num_columns;
  const cfile_filter* filter;  // null: all rows
  uint64_t begin;              // only rows from here on; as `end`, counts stored rows
  uint64_t end;                // only rows before this one; 0: no bound
  uint64_t limit;              // the maximum number of rows; 0: no limit
  int32_t reverse;             // 1: the last batch first; rows in a batch are in ascending order
  int32_t reserved;            // 0
} cfile_scan_options;

// Begins a scan. If `options` is null, the scan returns all rows and columns.
// CFILE_INVALID_ARGUMENT: there is no such column, or a test does not fit its column.
cfile_code cfile_file_scan(const cfile_file* file, const cfile_scan_options* options,
                           cfile_scan** scan);
void cfile_scan_free(cfile_scan* scan);
size_t cfile_scan_num_columns(const cfile_scan* scan);
// Goes to the next rows that match. *num_rows: their number, at most CFILE_MAX_BATCH_ROWS, or 0 at
// the end of the scan.
cfile_code cfile_scan_next(cfile_scan* scan, size_t* num_rows);
// Return what the last call of cfile_scan_next has found. cfile_scan_column returns the values of a
// column, valid until the next call of cfile_scan_next. `column`: a position in the list of columns
// that the scan returns. CFILE_OUT_OF_RANGE: also if cfile_scan_next has found nothing.
// CFILE_UNIMPLEMENTED: the column has levels. cfile_scan_ordinals copies the numbers of the rows to
// `ordinals`, which has room for *num_rows numbers.
cfile_code cfile_scan_column(cfile_scan* scan, size_t column, cfile_batch* batch);
cfile_code cfile_scan_ordinals(const cfile_scan* scan, uint64_t* ordinals);
// Makes cfile_scan_next return CFILE_CANCELLED soon. May be called in any thread.
void cfile_scan_cancel(cfile_scan* scan);

// ---- Tables: directories with a schema and parts; a part has one file, or one for each column

// Opens a table with the parts that it has now: a part is a set of rows that one writer wrote.
// `options` may be null.
cfile_code cfile_table_open(const char* directory, const cfile_reader_options* options,
                            cfile_table** table);
void cfile_table_free(cfile_table* table);

typedef struct cfile_table_info {
  size_t struct_size;
  uint64_t num_rows;  // stored rows: under a merge rule, scans return fewer
  uint64_t num_parts;
  uint64_t num_columns;
  // The number of columns of the compound key, and the position of the key index: a further column
  // of type binary, for cfile_table_cursor and cfile_cursor_seek_compound_key. Both are 0 if the
  // table has no compound key.
  uint64_t num_key_columns;
  uint64_t key_index;
  // 1: the table has a merge rule, a column for it, a bound. Otherwise the other fields are 0.
  int32_t has_merge_rule;
  int32_t has_deleted_column;
  int32_t has_time_column;
  int32_t has_time_bound;
  uint64_t deleted_column;
  uint64_t time_column;
  int64_t time_bound;
} cfile_table_info;
cfile_code cfile_table_get_info(const cfile_table* table, cfile_table_info* info);

typedef struct cfile_column_info {
  size_t struct_size;
  const char* name;  // lives as long as the table, like `type`
  const char* type;
  int32_t value_type;  // CFILE_BOOL, ...
  int32_t nullable;
  int32_t has_levels;
  int32_t is_key;  // 1: a column of the compound key
} cfile_column_info;
cfile_code cfile_table_get_column(const cfile_table* table, size_t column, cfile_column_info* info);
// Finds the position of a column. CFILE_NOT_FOUND: there is no such column.
cfile_code cfile_table_find_column(const cfile_table* table, const char* name, size_t* column);

typedef struct cfile_part_info {
  size_t struct_size;
  const char* name;  // lives as long as the table
  uint64_t first_ordinal;
  uint64_t num_rows;
  uint64_t size_bytes;
} cfile_part_info;
cfile_code cfile_table_get_part(const cfile_table* table, size_t part, cfile_part_info* info);

// If a table has a merge rule (cfile_schema_set_merge_rule), scans, lookups, merge cursors and
// Arrow streams return at most one row for each key. Rows then have no numbers, so
// cfile_table_cursor returns CFILE_FAILED_PRECONDITION. With cfile_reader_options.stored_rows, the
// rule is ignored and all stored rows are returned.

// Makes a cursor over all parts of a column, or of the key index. All rows of a batch are from one
// part. After cfile_cursor_seek_key, cfile_cursor_next continues by row number, not by key.
// CFILE_INVALID_ARGUMENT: the column has levels.
cfile_code cfile_table_cursor(const cfile_table* table, size_t column, cfile_cursor** cursor);
cfile_code cfile_table_scan(const cfile_table* table, const cfile_scan_options* options,
                            cfile_scan** scan);

// Makes an object that finds the newest row of a key, and reads `columns` of this row: the last row
// of the last part that has the key. More about it: TableLookup (cfile/table_lookup.h).
// CFILE_INVALID_ARGUMENT: a column has levels. CFILE_FAILED_PRECONDITION: the table has no keys.
cfile_code cfile_table_lookup(const cfile_table* table, const size_t* columns, size_t num_columns,
                              cfile_lookup** lookup);
void cfile_lookup_free(cfile_lookup* lookup);
// Finds the newest row of a key. `key`: one value for each key column; without key columns, one
// value of the first column that has a value index in each part. *found: 1, or 0 if no row has the
// key. *ordinal: the number of the row, if there is one; `ordinal` may be null.
// CFILE_INVALID_ARGUMENT: the values do not fit the key.
cfile_code cfile_lookup_get(cfile_lookup* lookup, const cfile_value* key, size_t num_values,
                            int32_t* found, uint64_t* ordinal);
// Returns the value of a column of the row that was found, as a batch of one row, valid until the
// next call of cfile_lookup_get. `column`: a position in the list of columns of the lookup.
// CFILE_OUT_OF_RANGE: also if the last call has found no row.
cfile_code cfile_lookup_column(cfile_lookup* lookup, size_t column, cfile_batch* batch);

// Makes a cursor that reads the rows of a table in the order of their keys; of rows with equal
// keys, the newest comes last. The cursor is before the first row. `columns`: the positions of the
// columns to read; the key index cannot be read. More about it: MergeCursor
// (cfile/merge_cursor.h). Errors as cfile_table_lookup.
cfile_code cfile_table_merge_cursor(const cfile_table* table, const size_t* columns,
                                    size_t num_columns, cfile_merge_cursor** cursor);
void cfile_merge_cursor_free(cfile_merge_cursor* cursor);
// In the following calls, a key has values as in cfile_lookup_get, or only those of the first key
// columns: then it is the least key with these values. CFILE_INVALID_ARGUMENT: the values do not
// fit the key.
//
// Goes to the first row of the range whose key is at least `key`, or to the end of the range.
// *exact: 1 if `key` has all values and the row has this key; `exact` may be null.
cfile_code cfile_merge_cursor_seek_key(cfile_merge_cursor* cursor, const cfile_value* key,
                                       size_t num_values, int32_t* exact);
// Limits the cursor to the rows whose keys are at least `low` and less than `high`, and goes to the
// first of these rows. A key without values is no bound. (To read all keys that begin with some
// values, pass these values as `low`. For `high`, replace the last one by the next greater value.)
cfile_code cfile_merge_cursor_seek_key_range(cfile_merge_cursor* cursor, const cfile_value* low,
                                             size_t num_low, const cfile_value* high,
                                             size_t num_high);
// Goes to the end of the range.
cfile_code cfile_merge_cursor_seek_end(cfile_merge_cursor* cursor);
// Read at most `max_rows` and at most CFILE_MAX_BATCH_ROWS rows after or before the position, in
// the order of their keys, and go to the other side of these rows. *num_rows is 0 only at the end
// or the beginning of the range. CFILE_INVALID_ARGUMENT: max_rows is 0.
cfile_code cfile_merge_cursor_next(cfile_merge_cursor* cursor, size_t max_rows, size_t* num_rows);
cfile_code cfile_merge_cursor_previous(cfile_merge_cursor* cursor, size_t max_rows,
                                       size_t* num_rows);
// Returns the values of a column in the rows that the last call has read, valid until the next call
// that moves the cursor; first_ordinal is not set. `column`: a position in the list of columns of
// the cursor. CFILE_OUT_OF_RANGE: also if the last call has read no rows.
cfile_code cfile_merge_cursor_column(cfile_merge_cursor* cursor, size_t column, cfile_batch* batch);

// ---- Writers: of a file, or of a new part of a table

// More about each field: WriterOptions (cfile/options.h).
typedef struct cfile_writer_options {
  size_t struct_size;
  const char* encoding;     // by name: "plain", "prefix", ...; null: "auto"
  const char* compression;  // by name: "none", "zstd", ...; null: "auto"
  int32_t goal;             // CFILE_GOAL_...
  int32_t compression_level;
  int32_t nullable;     // ignored for tables: the schema says it
  int32_t value_index;  // 1: seeks by key; the values must be in ascending order
  int32_t no_positional_index;
  int32_t no_statistics;
  int32_t format_version;  // 1 or 2; 0: 2
  int32_t oldest_reader;   // CFILE_OLDEST_READER_...
  uint32_t bloom_filter_bits_per_value;
  uint32_t max_values_per_block;
  uint64_t block_size_bytes;
  uint64_t max_block_size_bytes;
  uint64_t max_value_size_bytes;
  uint64_t max_packed_part_bytes;  // of the first column; 1: no part is packed; UINT64_MAX: each
} cfile_writer_options;
enum { CFILE_GOAL_BALANCED = 0, CFILE_GOAL_SIZE = 1, CFILE_GOAL_SPEED = 2 };
enum {
  CFILE_OLDEST_READER_DEFAULT = 0,
  CFILE_OLDEST_READER_KUDU = 1,
  CFILE_OLDEST_READER_0_1 = 2,
  CFILE_OLDEST_READER_0_2 = 3,
  CFILE_OLDEST_READER_0_3 = 4
};

// A place for the bytes of a file. The library makes one call at a time. For the callbacks and
// their codes of errors, the rules of cfile_source hold.
typedef struct cfile_sink {
  size_t struct_size;
  void* user_data;   // passed to the callbacks; may be null
  const char* name;  // for errors; may be null
  cfile_code (*append)(void* user_data, const void* data, size_t size);
  // Makes all bytes durable and visible. Called at most once, as the last call before `free`.
  // May be null.
  cfile_code (*finish)(void* user_data);
  // Called once, even if the writer cannot be created. If `finish` was not called before, or
  // failed, `free` must discard the bytes. May be null.
  void (*free)(void* user_data);
} cfile_sink;

// Begin a file. `type`: as in cfile_file_info.type. `options` may be null.
// The file appears at `path` when cfile_writer_finish succeeds.
cfile_code cfile_writer_create(const char* path, const char* type,
                               const cfile_writer_options* options, cfile_writer** writer);
cfile_code cfile_writer_create_sink(const cfile_sink* sink, const char* type,
                                    const cfile_writer_options* options, cfile_writer** writer);

// Describe the columns of a new table.
// cfile_schema_add_key makes the column at this position the next column of the compound key.
// If nulls_last is 1, the nulls of this column are after all values.
cfile_code cfile_schema_create(cfile_schema** schema);
cfile_code cfile_schema_add_column(cfile_schema* schema, const char* name, const char* type,
                                   int32_t nullable, const cfile_writer_options* options);
cfile_code cfile_schema_add_key(cfile_schema* schema, size_t column, int32_t nulls_last);
// Gives a table with keys the merge rule "newest wins" (MergeRule in cfile/schema.h): a row
// replaces the rows of its key in older parts. The rows of one part must have different keys. If
// the newest row of a key is true in `deleted_column`, a column of bools, or has a time below the
// bound in `time_column`, stored as int32 or int64, the table has no row of this key. Both may be
// null.
cfile_code cfile_schema_set_merge_rule(cfile_schema* schema, const size_t* deleted_column,
                                       const size_t* time_column);
void cfile_schema_free(cfile_schema* schema);

// cfile_writer_create_table begins a new table in a directory that does not exist or is empty.
// cfile_writer_create_part begins a further part of a table. `options` are for all columns of the
// part, and may be null. The rows become visible, all at once, when cfile_writer_finish succeeds.
cfile_code cfile_writer_create_table(const char* directory, const cfile_schema* schema,
                                     cfile_writer** writer);
cfile_code cfile_writer_create_part(const char* directory, const cfile_writer_options* options,
                                    cfile_writer** writer);

// Appends rows to a column. A file has only column 0. The columns of a table may be filled in any
// order. `type`: the type of the elements of `values` (CFILE_BOOL, ...), which must be the type of
// the column. CFILE_BYTES also stands for CFILE_FIXED_BYTES. `validity`: as in cfile_batch; null:
// all rows hold a value. If the library refuses `column`, `type` or a null pointer, the writer may
// be used further. After any other error each later call returns an error.
cfile_code cfile_writer_append(cfile_writer* writer, size_t column, int32_t type,
                               const void* values, const uint8_t* validity, size_t num_values);
// Adds a pair to the metadata of a file. CFILE_FAILED_PRECONDITION: the writer writes a table.
cfile_code cfile_writer_add_metadata(cfile_writer* writer, cfile_bytes key, cfile_bytes value);
// Completes the file or the part, and makes it visible. Called once; only free the writer
// afterwards.
cfile_code cfile_writer_finish(cfile_writer* writer);
// If cfile_writer_finish was not called, removes all that was written.
void cfile_writer_free(cfile_writer* writer);

// ---- Arrow: rows in the structs of the Arrow C Data Interface (cfile/arrow_c_data.h)

// The fields are those of ArrowExportOptions (cfile/arrow.h).
typedef struct cfile_arrow_options {
  size_t struct_size;
  int32_t string_views;     // 1: strings become utf8_view, and binary columns binary_view
  int32_t no_dictionaries;  // 1: strings never become dictionary arrays
  int32_t column_only;      // 1, only for files: arrays of the column instead of structs
  int32_t reserved;         // 0
  uint64_t max_batch_rows;
} cfile_arrow_options;

// Make a stream of the rows that `scan` selects; null: of all rows and columns. `options`: null
// means the defaults. *stream is an uninitialised or released struct, which the caller releases,
// and which is released after an error. The stream and its arrays own or share the memory that they
// need, but the caller must keep bytes that cfile_file_open_memory did not copy. Errors: as
// cfile_file_scan. CFILE_UNIMPLEMENTED: a column has no Arrow type. CFILE_INVALID_ARGUMENT:
// column_only is set for a table, or together with a filter, columns, a limit or `reverse`.
cfile_code cfile_file_export_arrow(const cfile_file* file, const cfile_scan_options* scan,
                                   const cfile_arrow_options* options,
                                   struct ArrowArrayStream* stream);
cfile_code cfile_table_export_arrow(const cfile_table* table, const cfile_scan_options* scan,
                                    const cfile_arrow_options* options,
                                    struct ArrowArrayStream* stream);

// Appends all arrays of a stream. For a file, the arrays hold values, or structs with one field.
// For a table, the arrays hold structs, and the columns are found by name. Releases the stream in
// each case, even after an error, after which the caller may only free the writer.
// cfile/arrow_import.h says which Arrow types a column takes, and which errors there are.
cfile_code cfile_writer_append_arrow(cfile_writer* writer, struct ArrowArrayStream* stream);

// ---- Maintenance of tables (cfile/table_maintenance.h)

typedef struct cfile_compact_options {
  size_t struct_size;
  int32_t newest_of_key;  // 1: keeps only the newest row of each key, as with a merge rule
  int32_t reserved;       // 0
} cfile_compact_options;

// Merges the parts with these names (cfile_part_info). If num_parts is 0, merges all parts.
// `options` may be null. CFILE_INVALID_ARGUMENT: another part is between them.
cfile_code cfile_table_compact(const char* directory, const char* const* parts, size_t num_parts,
                               const cfile_compact_options* options);
// Removes the parts with these names. Their files stay until cfile_table_collect_garbage. `options`
// may be null. CFILE_FAILED_PRECONDITION: by the table's merge rule, older rows could count again
// (the option stored_rows allows it).
cfile_code cfile_table_drop_parts(const char* directory, const char* const* parts, size_t num_parts,
                                  const cfile_reader_options* options);
// Raises the bound of the merge rule's time column: a number as the column stores it. Rows with
// earlier times no longer count. CFILE_FAILED_PRECONDITION: the table has no such column.
// CFILE_INVALID_ARGUMENT: the bound is greater already.
cfile_code cfile_table_raise_time_bound(const char* directory, int64_t bound);
// Removes files that are left in the directory and no longer belong to the table. A file is removed
// only if its last change is at least `older_than` seconds ago, which must be longer than any
// writer or reader keeps the table open. 604,800 seconds are one week.
cfile_code cfile_table_collect_garbage(const char* directory, uint64_t older_than);

#pragma GCC visibility pop

#ifdef __cplusplus
}  // extern "C"
#endif
