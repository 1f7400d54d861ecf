// The structs of the Arrow C Data Interface and the Arrow C Stream Interface
// (https://arrow.apache.org/docs/format/CDataInterface.html), for C and C++. Their layout is the
// same in all libraries; the macros let several headers declare them.
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1  // the order of the dictionary's values has a meaning
#define ARROW_FLAG_NULLABLE 2            // values may be null
#define ARROW_FLAG_MAP_KEYS_SORTED 4     // the keys of each map are sorted

// The type of a field.
struct ArrowSchema {
  const char* format;    // the type, as text
  const char* name;      // of the field; may be null
  const char* metadata;  // keys and values in Arrow's binary form; may be null
  int64_t flags;         // ARROW_FLAG_...
  int64_t n_children;
  struct ArrowSchema** children;
  struct ArrowSchema* dictionary;        // the type of the values if the array holds indexes
  void (*release)(struct ArrowSchema*);  // frees what the struct owns; null: released already
  void* private_data;                    // of the library that made the struct
};

// The values of a field.
struct ArrowArray {
  int64_t length;      // values, nulls included
  int64_t null_count;  // -1: unknown
  int64_t offset;      // values at the begin of the buffers that are not part of the array
  int64_t n_buffers;
  int64_t n_children;
  const void** buffers;  // as many and in the order that the type says; the first is the validity
  struct ArrowArray** children;
  struct ArrowArray* dictionary;
  void (*release)(struct ArrowArray*);  // frees what the struct owns; null: released already
  void* private_data;                   // of the library that made the struct
};

#endif  // ARROW_C_DATA_INTERFACE

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

// A sequence of arrays of one type. Each function returns 0 or an errno code.
struct ArrowArrayStream {
  int (*get_schema)(struct ArrowArrayStream*, struct ArrowSchema* out);
  // Sets out->release to null at the end.
  int (*get_next)(struct ArrowArrayStream*, struct ArrowArray* out);
  // The text of the last error; valid until the next call on the stream.
  const char* (*get_last_error)(struct ArrowArrayStream*);
  void (*release)(struct ArrowArrayStream*);  // null: released already
  void* private_data;                         // of the library that made the struct
};

#endif  // ARROW_C_STREAM_INTERFACE

#ifdef __cplusplus
}  // extern "C"
#endif
