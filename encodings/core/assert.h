// CFILE_ASSERT: checks what only a bug or a broken precondition makes false.
#pragma once

#include <cassert>

// With assertions (NDEBUG is not defined), ends the process if the expression is false. Without
// them, the expression is compiled but not evaluated, so a variable that only assertions use is not
// unused.
#ifdef NDEBUG
#define CFILE_ASSERT(...) static_cast<void>(false && static_cast<bool>(__VA_ARGS__))
#else
#define CFILE_ASSERT(...) assert((__VA_ARGS__))
#endif
