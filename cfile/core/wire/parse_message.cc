#include "cfile/core/wire/parse_message.h"

#include <limits>
#include <optional>
#include <vector>

#include "cfile/core/wire/field_reader.h"
#include "encodings/core/status.h"

namespace cfile::internal::wire {
namespace {

constexpr uint64_t kMostTimes = 8;

// Finds the fields of a message by their numbers. Most messages have their fields in this order, so
// each search begins at the field that was found last.
class FieldFinder {
 public:
  explicit FieldFinder(const MessageType& type) : fields_(type.fields) {}

  const Field* Find(uint32_t number) {
    for (size_t tries = 0; tries < fields_.size(); ++tries) {
      if (fields_[at_].number == number) return &fields_[at_];
      if (++at_ == fields_.size()) at_ = 0;
    }
    return nullptr;
  }

 private:
  std::span<const Field> fields_;
  size_t at_ = 0;
};

// Appends `value` to a repeated field, or sets an optional field.
template <typename T>
void Put(const Field& field, void* message, T value) {
  void* const member = field.member(message);
  if (field.label == Label::kOptional) {
    *static_cast<std::optional<T>*>(member) = value;
  } else {
    static_cast<std::vector<T>*>(member)->push_back(value);
  }
}

void PutScalar(const Field& field, void* message, uint64_t value) {
  switch (field.kind) {
    case Kind::kInt32:
      return Put(field, message, static_cast<int32_t>(value));
    case Kind::kInt64:
      return Put(field, message, static_cast<int64_t>(value));
    case Kind::kUint32:
    case Kind::kFixed32:
      return Put(field, message, static_cast<uint32_t>(value));
    case Kind::kUint64:
    case Kind::kFixed64:
      return Put(field, message, value);
    case Kind::kBool:
      return Put(field, message, value != 0);
    case Kind::kEnum:
      if (const auto number = static_cast<int32_t>(value); number >= 0 && number <= field.max_enum)
        Put(field, message, number);
      return;
    case Kind::kBytes:
    case Kind::kMessage:
      return;
  }
}

// Walks the fields of a message, counts the memory that they take, and stores them unless `message`
// is null. Each function returns false if the bytes are not a message of the type, or if the memory
// exceeds the limit.
class Parser {
 public:
  explicit Parser(uint64_t limit) : limit_(limit) {}

  uint64_t memory_bytes() const { return memory_bytes_; }

  // `message`: may be null. `depth`: the number of messages around this one.
  bool Parse(std::string_view bytes, const MessageType& type, void* message, int depth) {
    FieldReader reader(bytes);
    FieldFinder finder(type);
    while (!reader.at_end()) {
      uint32_t tag;
      if (!reader.ReadTag(tag)) return false;
      const Field* field = finder.Find(NumberOf(tag));
      const bool good = field == nullptr ? reader.Skip(tag, depth, memory_bytes_)
                                         : ParseField(reader, tag, *field, message, depth);
      if (!good || memory_bytes_ > limit_) return false;
    }
    return true;
  }

 private:
  bool ParseField(FieldReader& reader, uint32_t tag, const Field& field, void* message, int depth) {
    const WireType wire_type = WireTypeOf(tag);
    const WireType own = WireTypeOf(field.kind);
    if (wire_type == WireType::kDelimited) {
      if (own == WireType::kDelimited) {
        return field.kind == Kind::kBytes ? ParseText(reader, field, message)
                                          : ParseNested(reader, tag, field, message, depth);
      }
      if (field.label != Label::kOptional) return ParsePacked(reader, field, message);
    }
    if (wire_type != own) return reader.Skip(tag, depth, memory_bytes_);
    memory_bytes_ += kScalarBytes;
    return ParseScalar(reader, field, message);
  }

  bool ParseText(FieldReader& reader, const Field& field, void* message) {
    std::string_view text;
    if (!reader.ReadDelimited(text)) return false;
    memory_bytes_ += kTextBytes + text.size();
    if (message != nullptr) Put(field, message, text);
    return true;
  }

  bool ParsePacked(FieldReader& reader, const Field& field, void* message) {
    std::string_view packed;
    if (!reader.ReadDelimited(packed)) return false;
    memory_bytes_ += kTextBytes + kScalarBytes * packed.size();
    if (memory_bytes_ > limit_) return false;
    for (FieldReader scalars(packed); !scalars.at_end();) {
      if (!ParseScalar(scalars, field, message)) return false;
    }
    return true;
  }

  bool ParseScalar(FieldReader& reader, const Field& field, void* message) {
    uint64_t value = 0;
    if (field.kind == Kind::kFixed32) {
      uint32_t four;
      if (!reader.ReadFixed(four)) return false;
      value = four;
    } else if (!(field.kind == Kind::kFixed64 ? reader.ReadFixed(value)
                                              : reader.ReadVarint(value))) {
      return false;
    }
    if (message != nullptr) PutScalar(field, message, value);
    return true;
  }

  bool ParseNested(FieldReader& reader, uint32_t tag, const Field& field, void* message,
                   int depth) {
    std::string_view bytes;
    if (!reader.ReadDelimited(bytes)) return false;
    memory_bytes_ += kMessageBytes;
    if (memory_bytes_ > limit_ || depth + 1 >= kDeepest) return false;
    void* nested = nullptr;
    if (message != nullptr) {
      const bool first = field.label == Label::kRepeated && field.elements(message).count == 0;
      nested = field.add(message, first ? CountFrom(reader, tag, depth) : 1);
    }
    return Parse(bytes, *field.type, nested, depth + 1);
  }

  // Returns how many messages a repeated field will have: 1, plus the number of fields with `tag`
  // after `reader`, but not more than the limit allows. The vector reserves this number, so that it
  // has no spare memory.
  size_t CountFrom(FieldReader reader, uint32_t tag, int depth) const {
    const uint64_t most = 1 + (limit_ - memory_bytes_) / kMessageBytes;
    size_t count = 1;
    uint64_t ignored = 0;
    for (uint32_t next; count < most && !reader.at_end() && reader.ReadTag(next) &&
                        reader.Skip(next, depth, ignored);) {
      count += next == tag;
    }
    return count;
  }

  const uint64_t limit_;
  uint64_t memory_bytes_ = 0;
};

}  // namespace

absl::Status CheckParsedSize(std::string_view bytes, uint64_t max_size_bytes,
                             const MessageType& type) {
  return MergeMessage(bytes, max_size_bytes, type, nullptr);
}

absl::Status MergeMessage(std::string_view bytes, uint64_t max_size_bytes, const MessageType& type,
                          void* message) {
  const auto does_not_parse = [] { return DataLoss("its message does not parse"); };
  if (bytes.size() > std::numeric_limits<int32_t>::max()) {
    return OutOfRange("its message of ", bytes.size(), " bytes is larger than 2^31 - 1 bytes");
  }
  // In relation to its size, a small message takes more memory than a large one.
  constexpr uint64_t kSmallBytes = 64 * 1024;
  constexpr uint64_t kMost = std::numeric_limits<uint64_t>::max();
  const uint64_t limit = max_size_bytes > (kMost - kSmallBytes) / kMostTimes
                             ? kMost
                             : kMostTimes * max_size_bytes + kSmallBytes;
  Parser parser(limit);
  if (parser.Parse(bytes, type, message, 0)) return absl::OkStatus();
  if (parser.memory_bytes() <= limit) return does_not_parse();
  return OutOfRange("its message of ", bytes.size(), " bytes takes more than ", kMostTimes,
                    " times the limit of ", max_size_bytes,
                    " bytes in memory: raise max_metadata_size_bytes");
}

}  // namespace cfile::internal::wire
