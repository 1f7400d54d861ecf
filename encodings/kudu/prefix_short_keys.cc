// The fast path of PREFIX decoding, for keys of up to 64 bytes. The current key stays in vector
// registers from entry to entry: loading the previous key from memory would stall, because it has
// just been stored in two parts. The load of a suffix begins `shared` bytes before the suffix in
// the block, so that the suffix arrives at its place in the key. A mask then keeps the shared bytes
// of the previous key.
#include "encodings/kudu/prefix_walk.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "encodings/kudu/prefix_short_keys.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace cfile::encodings {
namespace HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR || HWY_HAVE_SCALABLE
// Without vectors, or if vectors cannot be class members, the general path reads all keys.
bool ReadShort(const PrefixLayout&, size_t, const uint8_t*, PrefixWalk&,
               std::span<std::string_view>, size_t& done) {
  done = 0;
  return true;
}
#else

namespace hn = hwy::HWY_NAMESPACE;

// kMaxShortKeyBytes bytes of ones, then as many zero bytes. A load that begins s bytes before the
// middle gives s bytes of ones, then zeros.
struct KeepMask {
  uint8_t bytes[2 * kMaxShortKeyBytes];
  constexpr KeepMask() : bytes() {
    for (size_t i = 0; i < kMaxShortKeyBytes; ++i) bytes[i] = 0xff;
  }
};
constexpr KeepMask kKeepMask;

// A key of at most 16 * kVectors bytes. The bytes after its end are unspecified.
template <size_t kVectors>
class ShortKey {
 public:
  static constexpr size_t kBytes = 16 * kVectors;

  // Loads the key at `from`. Reads kBytes bytes.
  explicit ShortKey(const uint8_t* from) {
    for (size_t i = 0; i < kVectors; ++i) lanes_[i] = hn::LoadU(Tag(), from + 16 * i);
  }

  // Keeps the first `shared` bytes and takes the following bytes from `suffix`. Reads kBytes bytes
  // at suffix - shared.
  HWY_INLINE void Replace(size_t shared, const uint8_t* suffix) {
    const uint8_t* keep = kKeepMask.bytes + kMaxShortKeyBytes - shared;
    for (size_t i = 0; i < kVectors; ++i) {
      lanes_[i] = hn::IfVecThenElse(hn::LoadU(Tag(), keep + 16 * i), lanes_[i],
                                    hn::LoadU(Tag(), suffix - shared + 16 * i));
    }
  }

  // Stores the key. Writes kBytes bytes.
  HWY_INLINE void Store(uint8_t* to) const {
    for (size_t i = 0; i < kVectors; ++i) hn::StoreU(lanes_[i], Tag(), to + 16 * i);
  }

 private:
  using Tag = hn::FixedTag<uint8_t, 16>;
  hn::Vec<Tag> lanes_[kVectors];
};

template <size_t kVectors>
bool ReadKeys(const PrefixLayout& layout, const uint8_t* arena_end, PrefixWalk& walk,
              std::span<std::string_view> out, size_t& done) {
  using Key = ShortKey<kVectors>;
  done = 0;
  uint8_t* to = walk.key + walk.key_size;
  // Limit the number of keys, so that the loop need not check the end of the arena.
  const size_t wanted = std::min(out.size(), static_cast<size_t>(arena_end - to) / Key::kBytes);
  const auto entries_bytes = static_cast<size_t>(layout.entries_end - layout.entries);
  if (wanted == 0 || walk.key_size > Key::kBytes || entries_bytes < 2 + Key::kBytes) return true;
  // At least kBytes bytes follow the two lengths of an entry at or before `last`. At least `shared`
  // bytes precede the entry's suffix in the block, because the previous key was built from them.
  const uint8_t* const last = layout.entries_end - 2 - Key::kBytes;

  const uint8_t* next = walk.next;
  size_t key_size = walk.key_size;
  uint32_t restart = walk.restart;
  uint64_t until_restart = walk.restart_position - walk.position;
  Key key(walk.key);
  size_t i = 0;
  uintptr_t mismatch = 0;
  while (i < wanted) {
    if (until_restart == 0) {
      // Continue at the stored offset, not at the end of the last entry: then the CPU can work on
      // two intervals at the same time. The two addresses must be equal. Collect differences
      // without a branch, because a branch would make the CPU wait for the last entry.
      const uint8_t* at = layout.RestartAddress(restart);
      if (at == nullptr) break;
      mismatch |= reinterpret_cast<uintptr_t>(at) ^ reinterpret_cast<uintptr_t>(next);
      next = at;
      key_size = 0;
      ++restart;
      until_restart = layout.restart_interval;
    }
    const size_t begin = i;
    const size_t end = i + static_cast<size_t>(std::min<uint64_t>(wanted - i, until_restart));
    for (; i < end && next <= last; ++i) {
      const uint32_t lengths = LoadLittleEndian<uint16_t>(next);
      const size_t shared = lengths & 0xff;
      const size_t unshared = lengths >> 8;
      const size_t size = shared + unshared;
      // A length of several bytes begins with a byte above 127, which is too large here.
      if (size > Key::kBytes || shared > key_size) break;
      key.Replace(shared, next + 2);
      key.Store(to);
      out[i] = AsString({to, size});
      to += size;
      key_size = size;
      next += 2 + unshared;
    }
    until_restart -= i - begin;
    if (i < end) break;
  }
  if (mismatch != 0) return false;
  done = i;
  walk.next = next;
  walk.position += static_cast<uint32_t>(i);
  walk.restart = restart;
  walk.restart_position = walk.position + until_restart;
  walk.key = to - key_size;
  walk.key_size = key_size;
  return true;
}

bool ReadShort(const PrefixLayout& layout, size_t limit, const uint8_t* arena_end, PrefixWalk& walk,
               std::span<std::string_view> out, size_t& done) {
  if (limit == 16) return ReadKeys<1>(layout, arena_end, walk, out, done);
  if (limit == 32) return ReadKeys<2>(layout, arena_end, walk, out, done);
  return ReadKeys<4>(layout, arena_end, walk, out, done);
}
#endif

}  // namespace HWY_NAMESPACE
}  // namespace cfile::encodings
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cfile::encodings {

HWY_EXPORT(ReadShort);

bool ReadShortKeys(const PrefixLayout& layout, size_t limit, const uint8_t* arena_end,
                   PrefixWalk& walk, std::span<std::string_view> out, size_t& done) {
  return HWY_DYNAMIC_DISPATCH(ReadShort)(layout, limit, arena_end, walk, out, done);
}

}  // namespace cfile::encodings
#endif  // HWY_ONCE
