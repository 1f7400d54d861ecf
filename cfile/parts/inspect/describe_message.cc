#include "cfile/parts/inspect/describe_message.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "cfile/core/format/column_message.h"
#include "cfile/core/format/metadata_keys.h"
#include "cfile/core/wire/field_reader.h"
#include "cfile/core/wire/messages.h"
#include "cfile/core/wire/parse_message.h"
#include "cfile/file_info.h"
#include "cfile/types.h"
#include "encodings/core/assert.h"
#include "encodings/core/bytes.h"
#include "encodings/core/status.h"

namespace cfile::internal {
namespace {

using encodings::BlockDescription;
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

// Reads the value of a field that is not a group; false if it is malformed.
bool ReadValue(FieldReader& reader, WireType type, Value& value) {
  if (type == WireType::kVarint) return reader.ReadVarint(value.number);
  if (type == WireType::kDelimited) return reader.ReadDelimited(value.bytes);
  if (type == WireType::kFixed64) return reader.ReadFixed(value.number);
  uint32_t four = 0;
  const bool good = reader.ReadFixed(four);
  value.number = four;
  return good;
}

// Reads the value of a field of a message that is known to be valid.
Value ReadValidValue(FieldReader& reader, WireType type) {
  Value value;
  const bool good = ReadValue(reader, type, value);
  CFILE_ASSERT(good);
  return value;
}

// Returns the field that `tag` names, or null if the message has no field with this number and
// wire type.
const Field* FindField(const MessageType& type, uint32_t tag) {
  for (const Field& field : type.fields) {
    if (wire::MakeTag(field.number, wire::WireTypeOf(field.kind)) == tag) return &field;
  }
  return nullptr;
}

// The known fields of a message, and the bytes of its unknown fields. The value of a field that is
// a message is kept as bytes. If such a field is not repeated and occurs twice, the bytes of both
// values are joined, which merges the messages.
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
      const Field* const field = FindField(type, tag);
      if (field == nullptr) {
        uint64_t ignored = 0;
        if (!reader.Skip(tag, 0, ignored)) return;
        unknown.append(begin, reader.position());
        continue;
      }
      Values& values = fields.try_emplace(field->number, Values{.field = field}).first->second;
      const Value value = ReadValidValue(reader, wire::WireTypeOf(tag));
      if (wire::WireTypeOf(tag) != WireType::kDelimited) {
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

// Returns what the number in a field means, such as the name of an encoding or of feature bits; ""
// for a plain number.
std::string NameOfNumber(const Field& field, uint64_t number) {
  if (field.name == "incompatible_features")
    return absl::StrJoin(FeatureNames(static_cast<uint32_t>(number)), ", ");
  if (field.name == "compatible_features" && number == kCompatibleFeatureStatistics)
    return "statistics";
  const bool encoding = field.name == "encoding";
  const bool compression = field.name == "compression";
  // In ColumnPB, the type is named "type".
  const bool data_type =
      field.name == "data_type" || (field.name == "type" && field.kind == Kind::kInt32);
  if ((encoding || compression || data_type) && number == kNumberInExtensions)
    return "see extensions";
  if (encoding) return EncodingName(static_cast<Encoding>(number));
  if (compression) return CompressionName(static_cast<Compression>(number));
  if (data_type) return ColumnType{.data_type = static_cast<DataType>(number)}.ToString();
  // The only field of this kind is the type of an index node.
  if (field.kind == Kind::kEnum)
    return number == wire::IndexBlockTrailer::LEAF ? "LEAF" : "INTERNAL";
  return {};
}

// Returns the first bytes of a text, in quotes and escaped.
std::string ShortText(std::string_view text) {
  constexpr size_t kShownBytes = 100;
  const std::string_view shown = text.substr(0, kShownBytes);
  return StrCat("\"", absl::CHexEscape({shown.data(), shown.size()}), "\"",
                shown.size() < text.size() ? "..." : "");
}

// Reads the value of a known field, after its tag. Sets `value` to a text that shows the value, and
// `bytes` to the bytes of a value that is bytes or a message. Returns false if the field is
// malformed.
bool ReadField(const Field& field, FieldReader& reader, std::string& value,
               std::string_view& bytes) {
  Value read;
  const WireType type = wire::WireTypeOf(field.kind);
  if (!ReadValue(reader, type, read)) return false;
  bytes = read.bytes;
  if (type == WireType::kDelimited) {
    value = ShortText(bytes);
  } else {
    value = NumberText(field.kind, read.number);
    const std::string name = NameOfNumber(field, read.number);
    if (!name.empty()) absl::StrAppend(&value, " (", name, ")");
  }
  return true;
}

// True if `text` is a ColumnPB, not larger than any that the library writes.
bool IsColumn(std::string_view text) {
  constexpr size_t kMostBytes = 64 * 1024;
  wire::Column column;
  return wire::ParseMessage(text, kMostBytes, column).ok();
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
    // Unknown bytes may be a message, which may contain another one. This limit ends the nesting.
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
      const Value value = ReadValidValue(reader, type);
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

absl::Status AddMessage(const MessageType& type, size_t size, BlockDescription& description) {
  const size_t end = description.reader().offset() + size;
  if (size > description.reader().remaining()) {
    return DataLoss("a message of ", size, " bytes at byte ", description.reader().offset(),
                    ", only ", description.reader().remaining(), " bytes are left");
  }
  const bool is_pair = &type == &wire::FileMetadataPair::kType;
  std::string_view key;  // if the message is a pair: its key, after the key was read
  while (description.reader().offset() < end) {
    const size_t left = end - description.reader().offset();
    if (description.full()) return description.AddBytes(left, "further fields");
    const std::string_view bytes = encodings::AsString(description.reader().rest().first(left));
    FieldReader reader(bytes);
    uint32_t tag = 0;
    std::string value;
    std::string_view text;
    const auto malformed = [&] {
      return DataLoss("the field of the message at byte ", description.reader().offset(),
                      " is malformed");
    };
    if (!reader.ReadTag(tag)) return malformed();
    const Field* const field = FindField(type, tag);
    const bool known = field != nullptr;
    uint64_t ignored = 0;
    if (known ? !ReadField(*field, reader, value, text) : !reader.Skip(tag, 0, ignored))
      return malformed();
    if (!known) value = StrCat("number ", wire::NumberOf(tag));
    const MessageType* inner_type = known && field->kind == Kind::kMessage ? field->type : nullptr;
    if (is_pair && known) {
      if (field->name == "key") {
        key = text;
      } else if (key == kColumnKey && IsColumn(text)) {
        inner_type = &wire::Column::kType;
      }
    }
    const size_t inner = inner_type != nullptr ? text.size() : 0;
    if (inner_type != nullptr) value = StrCat("message of ", inner, " bytes");
    const auto read = static_cast<size_t>(reader.position() - bytes.data());
    CFILE_RETURN_IF_ERROR(description.AddBytes(
        read - inner, known ? field->name : std::string_view("unknown field"), std::move(value)));
    if (inner == 0) continue;
    description.BeginStructure();
    const absl::Status status = AddMessage(*inner_type, inner, description);
    description.EndStructure();
    CFILE_RETURN_IF_ERROR(status);
  }
  return absl::OkStatus();
}

}  // namespace cfile::internal
