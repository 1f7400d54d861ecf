// Describes the messages of proto/cfile.proto and proto/table.proto, for the code that parses,
// writes and shows messages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

namespace cfile::internal::wire {

enum class Kind : uint8_t {
  kInt32,
  kInt64,
  kUint32,
  kUint64,
  kBool,
  kEnum,
  kFixed32,
  kFixed64,
  kBytes,
  kMessage
};
enum class Label : uint8_t { kOptional, kRepeated, kPacked };

struct MessageType;

// The messages in one field of a message. They lie one after another in memory.
struct Elements {
  const void* first = nullptr;
  size_t count = 0;
};

// One field of a message: a member of a struct. The type of the member follows from the field:
// - std::optional<T> or std::unique_ptr<Message> for an optional field
// - std::vector<T> for a repeated field
// T is std::string_view for bytes, and int32_t for an enum.
struct Field {
  uint32_t number = 0;
  std::string_view name;
  Kind kind = Kind::kInt32;
  Label label = Label::kOptional;
  // For kEnum: the numbers from 0 to max_enum are known.
  int32_t max_enum = 0;

  // Returns the member of the message at `message`. Not for kMessage.
  void* (*member)(void* message) = nullptr;

  // Only for kMessage:
  const MessageType* type = nullptr;
  Elements (*elements)(const void* message) = nullptr;
  // For an optional field, returns its message. For a repeated field, adds a message and returns
  // it, after reserving memory for `expected` messages if it is the first one.
  void* (*add)(void* message, size_t expected) = nullptr;
};

struct MessageType {
  std::string_view name;          // in the .proto file
  std::span<const Field> fields;  // by ascending number
  size_t size_bytes = 0;          // in memory
};

// The rest of this file makes a Field from a pointer to a member: Make<&BlockPointer::offset>(1,
// "offset").

template <typename Message, typename T>
T MemberType(T Message::*);
template <typename Message, typename T>
Message ClassType(T Message::*);

template <typename T>
inline constexpr bool kIsPointer = false;
template <typename T>
inline constexpr bool kIsPointer<std::unique_ptr<T>> = true;
template <typename T>
inline constexpr bool kIsVector = false;
template <typename T>
inline constexpr bool kIsVector<std::vector<T>> = true;

template <typename T>
constexpr Kind KindOf() {
  if constexpr (std::is_same_v<T, int32_t>) {
    return Kind::kInt32;
  } else if constexpr (std::is_same_v<T, int64_t>) {
    return Kind::kInt64;
  } else if constexpr (std::is_same_v<T, uint32_t>) {
    return Kind::kUint32;
  } else if constexpr (std::is_same_v<T, uint64_t>) {
    return Kind::kUint64;
  } else if constexpr (std::is_same_v<T, bool>) {
    return Kind::kBool;
  } else if constexpr (std::is_same_v<T, std::string_view>) {
    return Kind::kBytes;
  } else {
    return Kind::kMessage;
  }
}

template <auto kMember>
constexpr Field Make(uint32_t number, std::string_view name) {
  using Message = decltype(ClassType(kMember));
  using Member = decltype(MemberType(kMember));
  Field field{.number = number, .name = name};
  field.label = kIsVector<Member> ? Label::kRepeated : Label::kOptional;
  if constexpr (kIsPointer<Member>) {
    using T = typename Member::element_type;
    field.kind = Kind::kMessage;
    field.type = &T::kType;
    field.elements = [](const void* message) {
      const T* element = (static_cast<const Message*>(message)->*kMember).get();
      return Elements{.first = element, .count = element == nullptr ? size_t{0} : 1};
    };
    field.add = [](void* message, size_t) -> void* {
      Member& member = static_cast<Message*>(message)->*kMember;
      if (member == nullptr) member = std::make_unique<T>();
      return member.get();
    };
  } else {
    using T = typename Member::value_type;
    field.kind = KindOf<T>();
    if constexpr (KindOf<T>() == Kind::kMessage) {
      field.type = &T::kType;
      field.elements = [](const void* message) {
        const Member& member = static_cast<const Message*>(message)->*kMember;
        return Elements{.first = member.data(), .count = member.size()};
      };
      field.add = [](void* message, size_t expected) -> void* {
        Member& member = static_cast<Message*>(message)->*kMember;
        if (member.empty()) member.reserve(expected);
        return &member.emplace_back();
      };
    } else {
      field.member = [](void* message) -> void* {
        return &(static_cast<Message*>(message)->*kMember);
      };
    }
  }
  return field;
}

template <auto kMember>
constexpr Field MakeEnum(uint32_t number, std::string_view name, int32_t max_enum) {
  static_assert(std::is_same_v<decltype(MemberType(kMember)), std::optional<int32_t>>);
  Field field = Make<kMember>(number, name);
  field.kind = Kind::kEnum;
  field.max_enum = max_enum;
  return field;
}

// An unsigned number that is stored in 4 or 8 bytes instead of a varint.
template <auto kMember>
constexpr Field MakeFixed(uint32_t number, std::string_view name) {
  Field field = Make<kMember>(number, name);
  field.kind = field.kind == Kind::kUint32 ? Kind::kFixed32 : Kind::kFixed64;
  return field;
}

constexpr Field Packed(Field field) {
  field.label = Label::kPacked;
  return field;
}

}  // namespace cfile::internal::wire
