// Says whether a sanitizer is active, so that tests can do less work or use less memory.
#pragma once

namespace cfile {

// GCC defines __SANITIZE_ADDRESS__ and __SANITIZE_THREAD__; clang has __has_feature. The preset
// tsan defines CFILE_THREAD_SANITIZER instead of __SANITIZE_THREAD__, because protobuf's headers
// give maps two more fields if __SANITIZE_THREAD__ is defined, and the installed library lacks
// these fields.
#ifdef __has_feature
#if __has_feature(address_sanitizer) && !defined(__SANITIZE_ADDRESS__)
#define __SANITIZE_ADDRESS__ 1
#endif
#if __has_feature(thread_sanitizer) && !defined(CFILE_THREAD_SANITIZER)
#define CFILE_THREAD_SANITIZER 1
#endif
#endif
#if defined(__SANITIZE_THREAD__) && !defined(CFILE_THREAD_SANITIZER)
#define CFILE_THREAD_SANITIZER 1
#endif

#if defined(CFILE_THREAD_SANITIZER)
// Under ThreadSanitizer, tests do only one of kThinning steps. ThreadSanitizer makes work in one
// thread at least ten times slower and finds nothing there.
inline constexpr int kThinning = 16;
#else
inline constexpr int kThinning = 1;
#endif

// Sanitizers reserve terabytes of addresses, so that a limit of the address space cannot be set. A
// test that is compiled without them may be linked with a library that is compiled with them
// (tests/sanitized.cmake).
#if defined(__SANITIZE_ADDRESS__) || defined(CFILE_THREAD_SANITIZER)
inline constexpr bool kSanitized = true;
#else
extern "C" void __asan_init() __attribute__((weak));
inline const bool kSanitized = __asan_init != nullptr;
#endif

}  // namespace cfile
