// What the tests of the C interface share: checks, and a directory for files.
#ifndef CFILE_TESTS_C_CHECK_H_
#define CFILE_TESTS_C_CHECK_H_

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cfile/c.h"

static int num_failed = 0;

#define CHECK(condition)                                                                         \
  do {                                                                                           \
    if (!(condition)) {                                                                          \
      fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #condition, cfile_error_message()); \
      ++num_failed;                                                                              \
    }                                                                                            \
  } while (0)

#define CHECK_OK(call) CHECK((call) == CFILE_OK)

// Checks that `call` returns `code`. Checks that the error text contains `text`.
#define CHECK_ERROR(call, code, text)                     \
  do {                                                    \
    CHECK((call) == (code));                              \
    CHECK(strstr(cfile_error_message(), (text)) != NULL); \
  } while (0)

// The path of a new directory. It ends with /.
static char directory[256];

static inline void make_directory(void) {
  const char* parent = getenv("TMPDIR");
  snprintf(directory, sizeof(directory), "%s/cfile_c_XXXXXX", parent != NULL ? parent : "/tmp");
  if (mkdtemp(directory) == NULL) {
    perror(directory);
    exit(1);
  }
  strcat(directory, "/");
}

// Returns the path of a file in the directory. The path is valid until the next call.
static inline const char* path_of(const char* name) {
  static char path[512];
  snprintf(path, sizeof(path), "%s%s", directory, name);
  return path;
}

static inline void finish_writer(cfile_writer* writer) {
  CHECK_OK(cfile_writer_finish(writer));
  cfile_writer_free(writer);
}

// Removes the directory. Returns the exit code of the test.
static inline int finish(void) {
  char command[300];
  snprintf(command, sizeof(command), "rm -rf '%s'", directory);
  if (system(command) != 0) ++num_failed;
  if (num_failed > 0) fprintf(stderr, "%d checks failed\n", num_failed);
  return num_failed > 0;
}

#endif  // CFILE_TESTS_C_CHECK_H_
