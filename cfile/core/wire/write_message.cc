#include "cfile/core/wire/write_message.h"

#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

#include "cfile/core/wire/field_reader.h"
#include "encodings/core/assert.h"

namespace cfile::internal::wire {
namespace {

// The sizes of the nested messages, in the order in which these messages are written.
using Sizes = std::vector<size_t>;

// A sink that counts the bytes of a message, and keeps the sizes of its nested messages.
class Counter {
 public:
  explicit Counter(Sizes& sizes) : sizes_(sizes) {}

  size_t size_bytes() const { return size_bytes_; }

  void PutVarint(uint64_t value) {
    size_bytes_ += (static_cast<size_t>(std::bit_width(value | 1)) + 6) / 7;
  }
  template <typename T>
  void PutFixed(T) {
    size_bytes_ += sizeof(T);
  }
  void PutBytes(std::string_view bytes) { size_bytes_ += bytes.size(); }
  template <typename Write>
  void PutNested(const Write& write) {
    const size_t i = sizes_.size();
    sizes_.push_back(0);
    const size_t before = size_bytes_;
    write();
    sizes_[i] = size_bytes_ - before;
    PutVarint(sizes_[i]);
  }

 private:
  Sizes& sizes_;
  size_t size_bytes_ = 0;
};

// A sink that writes a message. Before that, a Counter must have counted the bytes of the message.
class Output {
 public:
  Output(const Sizes& sizes, char* to) : sizes_(sizes), to_(to) {}

  const char* end() const { return to_; }

  void PutVarint(uint64_t value) {
    for (; value >= 0x80; value >>= 7) *to_++ = static_cast<char>(value | 0x80);
    *to_++ = static_cast<char>(value);
  }
  template <typename T>
  void PutFixed(T value) {
    std::memcpy(to_, &value, sizeof(T));
    to_ += sizeof(T);
  }
  void PutBytes(std::string_view bytes) { to_ += bytes.copy(to_, bytes.size()); }
  template <typename Write>
  void PutNested(const Write& write) {
    PutVarint(sizes_[next_++]);
    write();
  }

 private:
  const Sizes& sizes_;
  size_t next_ = 0;
  char* to_;
};

template <typename Sink, typename T>
void PutValue(Kind kind, T value, Sink& sink) {
  if constexpr (std::is_same_v<T, std::string_view>) {
    sink.PutVarint(value.size());
    sink.PutBytes(value);
  } else if (kind == Kind::kFixed32 || kind == Kind::kFixed64) {
    sink.PutFixed(value);
  } else {
    sink.PutVarint(static_cast<uint64_t>(value));  // extends the sign
  }
}

template <typename T, typename Sink>
void WriteValues(const Field& field, const void* message, Sink& sink) {
  // The parser changes messages, so `member` takes a message that is not const. This function does
  // not change it.
  const void* const member = field.member(const_cast<void*>(message));
  const uint32_t tag = MakeTag(field.number, WireTypeOf(field.kind));
  if (field.label == Label::kOptional) {
    const auto& value = *static_cast<const std::optional<T>*>(member);
    if (!value) return;
    sink.PutVarint(tag);
    PutValue(field.kind, *value, sink);
    return;
  }
  const auto& values = *static_cast<const std::vector<T>*>(member);
  if (field.label == Label::kRepeated) {
    for (const T value : values) {
      sink.PutVarint(tag);
      PutValue(field.kind, value, sink);
    }
  } else if (!values.empty()) {
    sink.PutVarint(MakeTag(field.number, WireType::kDelimited));
    sink.PutNested([&] {
      for (const T value : values) PutValue(field.kind, value, sink);
    });
  }
}

template <typename Sink>
void WriteMessage(const MessageType& type, const void* message, Sink& sink) {
  for (const Field& field : type.fields) {
    switch (field.kind) {
      case Kind::kInt32:
      case Kind::kEnum:
        WriteValues<int32_t>(field, message, sink);
        break;
      case Kind::kInt64:
        WriteValues<int64_t>(field, message, sink);
        break;
      case Kind::kUint32:
      case Kind::kFixed32:
        WriteValues<uint32_t>(field, message, sink);
        break;
      case Kind::kUint64:
      case Kind::kFixed64:
        WriteValues<uint64_t>(field, message, sink);
        break;
      case Kind::kBool:
        WriteValues<bool>(field, message, sink);
        break;
      case Kind::kBytes:
        WriteValues<std::string_view>(field, message, sink);
        break;
      case Kind::kMessage: {
        const Elements elements = field.elements(message);
        const auto* element = static_cast<const char*>(elements.first);
        for (size_t i = 0; i < elements.count; ++i, element += field.type->size_bytes) {
          sink.PutVarint(MakeTag(field.number, WireType::kDelimited));
          sink.PutNested([&] { WriteMessage(*field.type, element, sink); });
        }
        break;
      }
    }
  }
}

}  // namespace

std::string SerializeMessage(const MessageType& type, const void* message) {
  Sizes sizes;
  Counter counter(sizes);
  WriteMessage(type, message, counter);
  std::string bytes(counter.size_bytes(), '\0');
  Output output(sizes, bytes.data());
  WriteMessage(type, message, output);
  CFILE_ASSERT(output.end() == bytes.data() + bytes.size());
  return bytes;
}

size_t SizeOfMessage(const MessageType& type, const void* message) {
  Sizes sizes;
  Counter counter(sizes);
  WriteMessage(type, message, counter);
  return counter.size_bytes();
}

}  // namespace cfile::internal::wire
