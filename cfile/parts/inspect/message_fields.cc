#include "cfile/parts/inspect/message_fields.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "absl/strings/escaping.h"
#include "absl/strings/str_join.h"
#include "cfile/core/format/column_message.h"
#include "cfile/core/format/metadata_keys.h"
#include "cfile/core/wire/field_reader.h"
#include "cfile/core/wire/messages.h"
#include "cfile/core/wire/parse_message.h"
#include "cfile/file_info.h"
#include "cfile/types.h"
#include "encodings/core/bytes.h"
#include "encodings/core/status.h"

namespace cfile::internal {
namespace {

using encodings::BlockDescription;
using encodings::DataLoss;
using encodings::StrCat;
using wire::Field;
using wire::FieldReader;
using wire::Kind;
using wire::MessageType;
using wire::WireType;

// Returns what the number in a field means: for example, the name of an encoding, or the names of
// feature bits. Returns "" if the field is a plain number.
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

std::string NumberText(const Field& field, uint64_t number) {
  if (field.kind == Kind::kBool) return number != 0 ? "true" : "false";
  std::string text = field.kind == Kind::kInt32 || field.kind == Kind::kInt64
                         ? StrCat(static_cast<int64_t>(number))
                         : StrCat(number);
  const std::string name = NameOfNumber(field, number);
  return name.empty() ? text : StrCat(text, " (", name, ")");
}

// Reads the value of a known field, after its tag. Sets `value` to a text that shows the value. If
// the value is bytes or a message, also sets `text` to these bytes. Returns false if the field is
// malformed.
bool ReadField(const Field& field, FieldReader& reader, std::string& value,
               std::string_view& text) {
  uint64_t number = 0;
  uint32_t four = 0;
  switch (field.kind) {
    case Kind::kBytes:
    case Kind::kMessage:
      if (!reader.ReadDelimited(text)) return false;
      value = ShortText(text);
      return true;
    case Kind::kFixed32:
      if (!reader.ReadFixed(four)) return false;
      value = StrCat(four);
      return true;
    case Kind::kFixed64:
      if (!reader.ReadFixed(number)) return false;
      value = StrCat(number);
      return true;
    default:
      if (!reader.ReadVarint(number)) return false;
      value = NumberText(field, number);
      return true;
  }
}

WireType WireTypeOf(Kind kind) {
  switch (kind) {
    case Kind::kBytes:
    case Kind::kMessage:
      return WireType::kDelimited;
    case Kind::kFixed32:
      return WireType::kFixed32;
    case Kind::kFixed64:
      return WireType::kFixed64;
    default:
      return WireType::kVarint;
  }
}

// True if `text` is a ColumnPB. Returns false if it is larger than any ColumnPB that the library
// writes.
bool IsColumn(std::string_view text) {
  constexpr size_t kMostBytes = 64 * 1024;
  wire::Column column;
  return wire::ParseMessage(text, kMostBytes, column).ok();
}

}  // namespace

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
    const auto field =
        std::find_if(type.fields.begin(), type.fields.end(), [tag](const Field& known) {
          return known.number == wire::NumberOf(tag) &&
                 WireTypeOf(known.kind) == wire::WireTypeOf(tag);
        });
    const bool known = field != type.fields.end();
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
