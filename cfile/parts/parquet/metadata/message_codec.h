// Reads and writes whole messages: walks the descriptions of message_fields.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "cfile/parts/parquet/metadata/compact_protocol.h"
#include "cfile/parts/parquet/metadata/message_fields.h"

namespace cfile::internal::parquet {

template <typename T>
inline constexpr bool kIsOptional = false;
template <typename T>
inline constexpr bool kIsOptional<std::optional<T>> = true;
template <typename T>
inline constexpr bool kIsList = false;
template <typename T>
inline constexpr bool kIsList<std::vector<T>> = true;

// The type that a value has in the compact protocol.
template <typename T>
constexpr WireType WireTypeOf() {
  if constexpr (std::is_same_v<T, bool>) {
    return WireType::kTrue;
  } else if constexpr (std::is_same_v<T, int8_t>) {
    return WireType::kInt8;
  } else if constexpr (std::is_same_v<T, int16_t>) {
    return WireType::kInt16;
  } else if constexpr (std::is_same_v<T, int32_t>) {
    return WireType::kInt32;
  } else if constexpr (std::is_same_v<T, int64_t>) {
    return WireType::kInt64;
  } else if constexpr (std::is_same_v<T, std::string_view>) {
    return WireType::kBinary;
  } else {
    return kIsList<T> ? WireType::kList : WireType::kStruct;
  }
}

template <typename Message, typename T>
constexpr bool IsRequired(const Field<Message, T>& field) {
  return !kIsOptional<T> && field.presence == Presence::kByType;
}

// Calls `function` with each field of Message until it returns true. Returns true if it did.
template <typename Message, typename Function>
constexpr bool AnyField(const Function& function) {
  return std::apply([&](const auto&... field) { return (function(field) || ...); },
                    kFields<Message>);
}

template <typename Message>
bool ReadMessage(CompactReader& in, Message& message);

// Reads a value that has the type WireTypeOf<T>.
template <typename T>
bool ReadValue(CompactReader& in, T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    return in.ReadBool(value);
  } else if constexpr (std::is_same_v<T, int8_t>) {
    uint8_t byte = 0;
    const bool good = in.ReadByte(byte);
    value = static_cast<int8_t>(byte);
    return good;
  } else if constexpr (std::is_integral_v<T>) {
    int64_t integer = 0;
    const bool good =
        in.ReadInteger(std::numeric_limits<T>::min(), std::numeric_limits<T>::max(), integer);
    value = static_cast<T>(integer);
    return good;
  } else if constexpr (std::is_same_v<T, std::string_view>) {
    return in.ReadText(value);
  } else if constexpr (kIsList<T>) {
    using Element = typename T::value_type;
    constexpr WireType kElement = WireTypeOf<Element>();
    ListHeader list;
    if (!in.ReadListHeader(list)) return false;
    // Of a list of booleans the type may be that of either value.
    const bool false_type = kElement == WireType::kTrue && list.type == WireType::kFalse;
    if (list.type != kElement && !false_type && list.count > 0) {
      return in.Fail("a list has elements of type ", NameOf(list.type), ", expected ",
                     NameOf(kElement));
    }
    if (!in.Take(uint64_t{list.count} * sizeof(Element))) return false;
    value.reserve(list.count);
    for (; list.count > 0; --list.count) {
      Element element{};
      if (!ReadValue(in, element)) return false;
      value.push_back(std::move(element));
    }
    return true;
  } else {
    return ReadMessage(in, value);
  }
}

// Reads the value of a field.
template <typename T>
bool ReadField(CompactReader& in, WireType type, std::string_view name, T& member) {
  if constexpr (kIsOptional<T>) {
    return ReadField(in, type, name, member.emplace());
  } else if constexpr (std::is_same_v<T, bool>) {
    member = type == WireType::kTrue;
    return member || type == WireType::kFalse ||
           in.Fail("field ", name, " has type ", NameOf(type), ", expected boolean");
  } else {
    constexpr WireType kType = WireTypeOf<T>();
    return type == kType
               ? ReadValue(in, member)
               : in.Fail("field ", name, " has type ", NameOf(type), ", expected ", NameOf(kType));
  }
}

// `message` has its default value before.
template <typename Message>
bool ReadMessage(CompactReader& in, Message& message) {
  uint32_t seen = 0;  // one bit for each field number
  FieldHeader header;
  while (in.ReadFieldHeader(header)) {
    if (header.type == WireType::kStop) {
      return !AnyField<Message>([&](const auto& field) {
        const bool absent = IsRequired(field) && (seen >> field.number & 1) == 0;
        if (absent) in.Fail("the message lacks the field ", field.name);
        return absent;
      });
    }
    bool good = true;
    const bool known = AnyField<Message>([&](const auto& field) {
      if (field.number != header.number) return false;
      const bool twice = (seen >> field.number & 1) != 0;
      seen |= uint32_t{1} << field.number;
      good = twice ? in.Fail("field ", field.name, " occurs twice")
                   : ReadField(in, header.type, field.name, message.*field.member);
      return true;
    });
    if (!known) {
      if constexpr (requires { message.unknown_field; }) message.unknown_field = header.number;
      good = in.Skip(header.type);
    }
    if (!good) return false;
  }
  return false;
}

template <typename Message>
void WriteMessage(CompactWriter& out, const Message& message);

template <typename T>
void WriteValue(CompactWriter& out, const T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    out.PutBool(value);
  } else if constexpr (std::is_same_v<T, int8_t>) {
    out.PutByte(static_cast<uint8_t>(value));
  } else if constexpr (std::is_integral_v<T>) {
    out.PutInteger(value);
  } else if constexpr (std::is_same_v<T, std::string_view>) {
    out.PutText(value);
  } else if constexpr (kIsList<T>) {
    using Element = typename T::value_type;
    out.PutListHeader(value.size(), WireTypeOf<Element>());
    for (const Element& element : value) WriteValue<Element>(out, element);
  } else {
    WriteMessage(out, value);
  }
}

template <typename Message>
void WriteMessage(CompactWriter& out, const Message& message) {
  int16_t last = 0;
  const auto put = [&](int16_t number, const auto& value) {
    using T = std::remove_cvref_t<decltype(value)>;
    if constexpr (std::is_same_v<T, bool>) {
      out.PutFieldHeader(number, value ? WireType::kTrue : WireType::kFalse, last);
    } else {
      out.PutFieldHeader(number, WireTypeOf<T>(), last);
      WriteValue(out, value);
    }
    last = number;
  };
  AnyField<Message>([&](const auto& field) {
    const auto& member = message.*field.member;
    using T = std::remove_cvref_t<decltype(member)>;
    if constexpr (kIsOptional<T>) {
      if (member) put(field.number, *member);
    } else if constexpr (kIsList<T>) {
      if (IsRequired(field) || !member.empty()) put(field.number, member);
    } else {
      put(field.number, member);
    }
    return false;
  });
  out.PutByte(static_cast<uint8_t>(WireType::kStop));
}

}  // namespace cfile::internal::parquet
