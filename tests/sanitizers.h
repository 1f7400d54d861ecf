// What tests do otherwise under a sanitizer.
#pragma once

namespace cfile {

// GCC defines __SANITIZE_ADDRESS__ and __SANITIZE_THREAD__, clang has __has_feature. The preset tsan
// defines CFILE_THREAD_SANITIZER instead of __SANITIZE_THREAD__, because with the latter the headers
// of protobuf give maps two fields that the installed library does not know.
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
// ThreadSanitizer makes work in one thread at least ten times slower and finds nothing there, so
// tests do only one of this many steps.
inline constexpr int kThinning = 16;
#else
inline constexpr int kThinning = 1;
#endif

// Sanitizers reserve terabytes of addresses.
#if defined(__SANITIZE_ADDRESS__) || defined(CFILE_THREAD_SANITIZER)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

}  // namespace cfile
