#include "cfile/parts/arrow/buffer_pool.h"

#include <mutex>
#include <utility>
#include <vector>

namespace cfile::internal {
namespace {

using encodings::ByteWriter;
using encodings::PackedStrings;

constexpr size_t kMaxKeptBytes = size_t{32} << 20;
constexpr size_t kMaxKept = 256;            // buffers
constexpr size_t kSmall = size_t{1} << 15;  // bytes; malloc itself reuses smaller buffers

// The buffers that wait for their next use. Thread-safe.
template <typename Buffer>
class Pool {
 public:
  // The pool is never destroyed, because arrays may be released after main.
  static Pool& Get() {
    static Pool* const pool = new Pool;
    return *pool;
  }

  // Returns a buffer of the pool that has `least` to `most` bytes of memory, or a new one.
  Buffer Take(size_t least, size_t most) {
    const std::lock_guard lock(mutex_);
    // The buffer that was released last is the most likely one to be in the processor's caches.
    for (size_t i = kept_.size(); i-- > 0;) {
      if (kept_[i].bytes < least || kept_[i].bytes > most) continue;
      Buffer buffer = std::move(kept_[i].buffer);
      kept_bytes_ -= kept_[i].bytes;
      if (i + 1 < kept_.size()) kept_[i] = std::move(kept_.back());
      kept_.pop_back();
      return buffer;
    }
    return {};
  }

  void Keep(Buffer& buffer, size_t bytes) {
    const std::lock_guard lock(mutex_);
    if (bytes < kSmall || bytes > kMaxKeptBytes - kept_bytes_ || kept_.size() == kMaxKept) return;
    kept_.push_back({std::move(buffer), bytes});
    kept_bytes_ += bytes;
  }

 private:
  struct Kept {
    Buffer buffer;
    size_t bytes;  // the size of the buffer's memory
  };

  Pool() { kept_.reserve(kMaxKept); }

  std::mutex mutex_;
  std::vector<Kept> kept_;
  size_t kept_bytes_ = 0;
};

size_t MemoryOf(const ByteWriter& bytes) { return bytes.capacity(); }
size_t MemoryOf(const PackedStrings& strings) { return strings.memory_bytes(); }

// Owns a buffer. The destructor gives the buffer to the pool.
template <typename Buffer>
struct Returned {
  explicit Returned(Buffer& from) : buffer(std::move(from)) {}
  ~Returned() {
    const size_t bytes = MemoryOf(buffer);
    buffer.Clear();
    Pool<Buffer>::Get().Keep(buffer, bytes);
  }
  Buffer buffer;
};

template <typename Buffer>
std::shared_ptr<const Buffer> Own(Buffer& buffer) {
  Pool<Buffer>::Get();  // made now, because a destructor must not allocate memory
  auto returned = std::make_shared<Returned<Buffer>>(buffer);
  const Buffer* const held = &returned->buffer;
  return {std::move(returned), held};
}

}  // namespace

ByteWriter TakeBytes(size_t capacity) {
  ByteWriter bytes;
  if (capacity >= kSmall) bytes = Pool<ByteWriter>::Get().Take(capacity, 8 * capacity);
  bytes.Reserve(capacity);
  return bytes;
}
PackedStrings TakeStrings() { return Pool<PackedStrings>::Get().Take(kSmall, SIZE_MAX); }

std::shared_ptr<const ByteWriter> OwnBytes(ByteWriter& bytes) { return Own(bytes); }
std::shared_ptr<const PackedStrings> OwnStrings(PackedStrings& strings) { return Own(strings); }

}  // namespace cfile::internal
