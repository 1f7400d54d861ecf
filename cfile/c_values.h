// Errors, values and batches of the C interface (cfile/c.h). Include cfile/c.h.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

// ---- Errors

// The codes of absl::Status, with the same numbers.
typedef int32_t cfile_code;
enum {
  CFILE_OK = 0,
  CFILE_CANCELLED = 1,         // cfile_scan_cancel was called
  CFILE_UNKNOWN = 2,           // an error of the system that has no code of its own
  CFILE_INVALID_ARGUMENT = 3,  // a mistake of the caller
  CFILE_DEADLINE_EXCEEDED = 4,
  CFILE_NOT_FOUND = 5,
  CFILE_ALREADY_EXISTS = 6,
  CFILE_PERMISSION_DENIED = 7,
  CFILE_RESOURCE_EXHAUSTED = 8,   // for example memory
  CFILE_FAILED_PRECONDITION = 9,  // for example: the file has no index for this search
  CFILE_ABORTED = 10,             // the table has changed meanwhile
  CFILE_OUT_OF_RANGE = 11,        // above a limit (the text names it), or after the last row
  CFILE_UNIMPLEMENTED = 12,       // a feature or a codec that this library does not have
  CFILE_INTERNAL = 13,
  CFILE_UNAVAILABLE = 14,
  CFILE_DATA_LOSS = 15,  // damage: the text names the file, the offset, and what was expected
  CFILE_UNAUTHENTICATED = 16
};

// Returns the text of the last error of a call in this thread. Never null. Valid until the next
// error in this thread.
const char* cfile_error_message(void);
// For callbacks (cfile_source, cfile_sink) that return an error: sets the text that
// cfile_error_message will contain. `message` is copied.
void cfile_set_error_message(const char* message);

// Returns the version of the library, for example "0.2.0".
const char* cfile_version(void);

// ---- Values

// How the values of a column lie in memory.
enum {
  CFILE_BOOL = 0,  // uint8_t: 0 is false, and any other value is true
  CFILE_INT8 = 1,
  CFILE_UINT8 = 2,
  CFILE_INT16 = 3,
  CFILE_UINT16 = 4,
  CFILE_INT32 = 5,
  CFILE_UINT32 = 6,
  CFILE_INT64 = 7,
  CFILE_UINT64 = 8,
  CFILE_INT128 = 9,  // cfile_int128
  CFILE_INT96 = 10,  // cfile_int96
  CFILE_FLOAT = 11,
  CFILE_DOUBLE = 12,
  CFILE_BYTES = 13,       // cfile_bytes: strings and bytes
  CFILE_FIXED_BYTES = 14  // cfile_bytes: all values of the column have the same size
};

// Bytes or UTF-8 text, without a zero byte at the end. `data` may be null if `size` is 0.
typedef struct cfile_bytes {
  size_t size;
  const char* data;
} cfile_bytes;

// The number high * 2^64 + low.
typedef struct cfile_int128 {
  uint64_t low;
  int64_t high;
} cfile_int128;

typedef struct cfile_int96 {
  uint32_t words[3];  // least significant first
} cfile_int96;

// A single value: a key, or a constant of a filter. The functions cfile_value_... make the most
// common ones.
typedef struct cfile_value {
  int32_t kind;  // CFILE_VALUE_...
  int32_t reserved;
  union {
    int64_t int64;
    uint64_t uint64;
    double number;
    cfile_int128 int128;
    cfile_int96 int96;
    cfile_bytes bytes;
  } as;
} cfile_value;
enum {
  CFILE_VALUE_NULL = 0,  // only in compound keys
  CFILE_VALUE_BOOL = 1,  // as.int64: 0 is false
  CFILE_VALUE_INT64 = 2,
  CFILE_VALUE_UINT64 = 3,
  CFILE_VALUE_DOUBLE = 4,  // as.number
  CFILE_VALUE_INT128 = 5,
  CFILE_VALUE_INT96 = 6,
  CFILE_VALUE_BYTES = 7
};

// Makes a value for an integer column. For a date, time or timestamp column, `value` is the stored
// number. For a decimal column, `value` is the number without the decimal point.
static inline cfile_value cfile_value_int64(int64_t value) {
  cfile_value result = {CFILE_VALUE_INT64, 0, {0}};
  result.as.int64 = value;
  return result;
}
static inline cfile_value cfile_value_double(double value) {
  cfile_value result = {CFILE_VALUE_DOUBLE, 0, {0}};
  result.as.number = value;
  return result;
}
static inline cfile_value cfile_value_bytes(const char* data, size_t size) {
  cfile_value result = {CFILE_VALUE_BYTES, 0, {0}};
  result.as.bytes.size = size;
  result.as.bytes.data = data;
  return result;
}

// The maximum number of rows in a batch.
#define CFILE_MAX_BATCH_ROWS 65536

// Rows of a column. The batch does not own its arrays; the function that fills it says how long
// they stay valid.
typedef struct cfile_batch {
  int32_t type;  // CFILE_BOOL, ...: the type of the elements of `values`
  int32_t reserved;
  size_t size;              // the number of rows
  const void* values;       // one element per row; the value of a null is 0 or empty
  const uint8_t* validity;  // bit i % 8 of byte i / 8 is 1 if row i holds a value; null: no nulls
  uint64_t null_count;
  uint64_t first_ordinal;  // the number of the first row; 0 in batches of takes and scans
} cfile_batch;

static inline int cfile_batch_is_valid(const cfile_batch* batch, size_t row) {
  return batch->validity == NULL || (batch->validity[row / 8] >> (row % 8) & 1) != 0;
}

#pragma GCC visibility pop

#ifdef __cplusplus
}  // extern "C"
#endif
