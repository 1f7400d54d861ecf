// What tests do otherwise under a sanitizer.
#pragma once

namespace cfile {

// As GCC calls them.
#ifdef __has_feature
#if __has_feature(address_sanitizer) && !defined(__SANITIZE_ADDRESS__)
#define __SANITIZE_ADDRESS__ 1
#endif
#if __has_feature(thread_sanitizer) && !defined(__SANITIZE_THREAD__)
#define __SANITIZE_THREAD__ 1
#endif
#endif

#if defined(__SANITIZE_THREAD__)
// ThreadSanitizer slows a walk of one thread down by ten and more and finds nothing in it: of its
// steps every so manieth is enough.
inline constexpr int kThinning = 16;
#else
inline constexpr int kThinning = 1;
#endif

// Sanitizers reserve terabytes of addresses.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

}  // namespace cfile
