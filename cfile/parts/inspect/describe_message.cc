#include "cfile/parts/inspect/describe_message.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "cfile/core/wire/field_reader.h"
#include "encodings/core/assert.h"
#include "encodings/core/bytes.h"

namespace cfile::internal {
namespace {

using wire::Field;
using wire::FieldReader;
using wire::Kind;
using wire::Label;
using wire::MessageType;
using wire::WireType;

absl::string_view View(std::string_view text) { return {text.data(), text.size()}; }

// The value of a field: a number, or bytes.
struct Value {
  uint64_t number = 0;
  std::string_view bytes;
};

// Reads the value of a field that is not a group.
Value ReadValue(FieldReader& reader, WireType type) {
  Value value;
  bool good = true;
  if (type == WireType::kVarint) {
    good = reader.ReadVarint(value.number);
  } else if (type == WireType::kDelimited) {
    good = reader.ReadDelimited(value.bytes);
  } else if (type == WireType::kFixed64) {
    good = reader.ReadFixed(value.number);
  } else {
    uint32_t four = 0;
    good = reader.ReadFixed(four);
    value.number = four;
  }
  CFILE_ASSERT(good);
  return value;
}

// The known fields of a message, and the bytes of its unknown fields.
// If the value of a field is a message, the value is kept as bytes.
// If such a field is not repeated and occurs twice, the bytes of both values are joined.
// The result is the merged message.
struct Parsed {
  struct Values {
    const Field* field;
    std::vector<uint64_t> numbers;
    std::vector<std::string> texts;
  };
  std::map<uint32_t, Values> fields;
  std::string unknown;

  Parsed(std::string_view bytes, const MessageType& type) {
    for (FieldReader reader(bytes); !reader.at_end();) {
      const char* const begin = reader.position();
      uint32_t tag = 0;
      if (!reader.ReadTag(tag)) return;
      const auto field =
          std::find_if(type.fields.begin(), type.fields.end(),
                       [tag](const Field& known) { return known.number == wire::NumberOf(tag); });
      const bool is_text = field != type.fields.end() &&
                           (field->kind == Kind::kBytes || field->kind == Kind::kMessage);
      const WireType expected = is_text ? WireType::kDelimited : WireType::kVarint;
      if (field == type.fields.end() || wire::WireTypeOf(tag) != expected) {
        uint64_t ignored = 0;
        if (!reader.Skip(tag, 0, ignored)) return;
        unknown.append(begin, reader.position());
        continue;
      }
      Values& values = fields.try_emplace(field->number, Values{.field = &*field}).first->second;
      const Value value = ReadValue(reader, expected);
      if (!is_text) {
        values.numbers.assign(1, value.number);
      } else if (field->label == Label::kRepeated || values.texts.empty()) {
        values.texts.emplace_back(value.bytes);
      } else if (field->kind == Kind::kMessage) {
        values.texts.front().append(value.bytes);
      } else {
        values.texts.front() = value.bytes;
      }
    }
  }
};

std::string NumberText(Kind kind, uint64_t number) {
  switch (kind) {
    case Kind::kInt32:
      return absl::StrCat(static_cast<int32_t>(number));
    case Kind::kInt64:
      return absl::StrCat(static_cast<int64_t>(number));
    case Kind::kUint32:
      return absl::StrCat(static_cast<uint32_t>(number));
    case Kind::kBool:
      return number != 0 ? "true" : "false";
    default:
      return absl::StrCat(number);
  }
}

// Appends lines to a text. `indent`: the spaces before each line.
class TextPrinter {
 public:
  explicit TextPrinter(std::string& out) : out_(out) {}

  void PrintMessage(std::string_view bytes, const MessageType& type, size_t indent) {
    const Parsed parsed(bytes, type);
    for (const auto& [number, values] : parsed.fields) {
      const Field& field = *values.field;
      for (const uint64_t value : values.numbers)
        Line(indent, View(field.name), ": ", NumberText(field.kind, value));
      for (const std::string& value : values.texts) {
        if (field.kind == Kind::kBytes) {
          Line(indent, View(field.name), ": \"", absl::CEscape(value), "\"");
          continue;
        }
        Line(indent, View(field.name), " {");
        PrintMessage(value, *field.type, indent + kIndent);
        Line(indent, "}");
      }
    }
    // Unknown bytes may be a message, and this message may contain another message.
    // This limit ends the nesting.
    constexpr int kMostMessages = 10;
    FieldReader unknown(parsed.unknown);
    PrintUnknown(unknown, indent, kMostMessages);
  }

 private:
  static constexpr size_t kIndent = 2;
  // Without this limit, a deeply nested field of two bytes would become a line with thousands of
  // spaces.
  static constexpr size_t kMostIndent = 100;

  template <typename... Parts>
  void Line(size_t indent, const Parts&... parts) {
    absl::StrAppend(&out_, std::string(std::min(indent, kMostIndent), ' '), parts..., "\n");
  }

  // True if `bytes` are a message with at most `groups` nested groups.
  static bool IsMessage(std::string_view bytes, int groups) {
    uint64_t ignored = 0;
    for (FieldReader reader(bytes); !reader.at_end();) {
      uint32_t tag;
      if (!reader.ReadTag(tag) || !reader.Skip(tag, wire::kDeepest - groups, ignored)) {
        return false;
      }
    }
    return true;
  }

  // Prints the fields up to the end, or up to the end of a group.
  void PrintUnknown(FieldReader& reader, size_t indent, int messages) {
    while (!reader.at_end()) {
      uint32_t tag = 0;
      if (!reader.ReadTag(tag)) return;
      const uint32_t number = wire::NumberOf(tag);
      const WireType type = wire::WireTypeOf(tag);
      if (type == WireType::kEndGroup) return;
      if (type == WireType::kStartGroup) {
        Line(indent, number, " {");
        PrintUnknown(reader, indent + kIndent, messages - 1);
        Line(indent, "}");
        continue;
      }
      const Value value = ReadValue(reader, type);
      if (type == WireType::kVarint) {
        Line(indent, number, ": ", value.number);
      } else if (type == WireType::kFixed32) {
        Line(indent, number, ": 0x", absl::Hex(value.number, absl::kZeroPad8));
      } else if (type == WireType::kFixed64) {
        Line(indent, number, ": 0x", absl::Hex(value.number, absl::kZeroPad16));
      } else if (!value.bytes.empty() && messages > 0 && IsMessage(value.bytes, messages)) {
        Line(indent, number, " {");
        FieldReader fields(value.bytes);
        PrintUnknown(fields, indent + kIndent, messages - 1);
        Line(indent, "}");
      } else {
        Line(indent, number, ": \"", absl::CEscape(View(value.bytes)), "\"");
      }
    }
  }

  std::string& out_;
};

void PrintJson(std::string_view bytes, const MessageType& type, std::string& out) {
  const Parsed parsed(bytes, type);
  out += '{';
  const char* comma = "";
  for (const auto& [number, values] : parsed.fields) {
    const Field& field = *values.field;
    absl::StrAppend(&out, comma, "\"", View(field.name), "\":");
    comma = ",";
    for (const uint64_t value : values.numbers) {
      // In JSON, numbers of 64 bits are texts, because JavaScript's numbers are not exact enough.
      const char* quote = field.kind == Kind::kInt64 || field.kind == Kind::kUint64 ? "\"" : "";
      absl::StrAppend(&out, quote, NumberText(field.kind, value), quote);
    }
    const bool repeated = field.label == Label::kRepeated;
    if (repeated) out += '[';
    for (const std::string& value : values.texts) {
      if (&value != &values.texts.front()) out += ',';
      if (field.kind == Kind::kBytes) {
        absl::StrAppend(&out, "\"", absl::Base64Escape(value), "\"");
      } else {
        PrintJson(value, *field.type, out);
      }
    }
    if (repeated) out += ']';
  }
  out += '}';
}

}  // namespace

void DescribeMessage(std::string_view bytes, const MessageType& type, std::string& text,
                     std::string& json) {
  TextPrinter(text).PrintMessage(bytes, type, 0);
  PrintJson(bytes, type, json);
}

}  // namespace cfile::internal
