// The structs of the Arrow C Data Interface and of the Arrow C Stream Interface
// (https://arrow.apache.org/docs/format/CDataInterface.html and CStreamInterface.html), for C and
// C++. cfile/arrow.h and cfile/c.h pass data in these structs. No Arrow library is needed.
//
// All libraries declare these structs with the same layout. The macros ARROW_C_DATA_INTERFACE and
// ARROW_C_STREAM_INTERFACE let a program include the headers of several libraries.
//
// The program that gives away a struct sets `release`. The program that receives it calls `release`
// once. A struct whose `release` is null is released and holds nothing.
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
  const char* format;    // the type as text
  const char* name;      // the name of the field; may be null
  const char* metadata;  // keys and values in Arrow's binary form; may be null
  int64_t flags;         // ARROW_FLAG_... added together
  int64_t n_children;
  struct ArrowSchema** children;
  struct ArrowSchema* dictionary;  // the type of the values if the arrays hold indexes; else null
  void (*release)(struct ArrowSchema*);
  void* private_data;  // belongs to the library that made the struct
};

// The values of a field.
struct ArrowArray {
  int64_t length;      // the number of values, nulls included
  int64_t null_count;  // -1: unknown
  int64_t offset;      // the first value's position in the buffers
  int64_t n_buffers;
  int64_t n_children;
  const void** buffers;  // as the type says; the first is the validity bitmap, if there is one
  struct ArrowArray** children;
  struct ArrowArray* dictionary;  // the values if the array holds indexes; else null
  void (*release)(struct ArrowArray*);
  void* private_data;
};

#endif  // ARROW_C_DATA_INTERFACE

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

// A sequence of arrays of one type. get_schema and get_next return 0 or an errno code.
struct ArrowArrayStream {
  // The caller releases *out.
  int (*get_schema)(struct ArrowArrayStream*, struct ArrowSchema* out);
  // The caller releases *out. At the end of the stream, out->release is null.
  int (*get_next)(struct ArrowArrayStream*, struct ArrowArray* out);
  // The text of the last error, or null. Valid until the next call on the stream.
  const char* (*get_last_error)(struct ArrowArrayStream*);
  void (*release)(struct ArrowArrayStream*);
  void* private_data;
};

#endif  // ARROW_C_STREAM_INTERFACE

#ifdef __cplusplus
}  // extern "C"
#endif
