#include "cfile/parts/arrow/schema/ipc_fields.h"

#include <string>
#include <string_view>
#include <utility>

#include "cfile/parts/arrow/schema/ipc_message.h"
#include "encodings/core/status.h"

namespace cfile::internal {
namespace {

using encodings::AboveLimit;
using encodings::DataLoss;
using encodings::OutOfRange;
using encodings::StrCat;

// The numbers of the fields of Arrow's tables.
struct SchemaFields {
  static constexpr size_t kEndianness = 0, kFields = 1, kMetadata = 2;
};
struct FieldFields {
  static constexpr size_t kName = 0, kNullable = 1, kTypeNumber = 2, kType = 3, kDictionary = 4,
                          kChildren = 5, kMetadata = 6;
};
struct DictionaryFields {
  static constexpr size_t kId = 0, kIndexType = 1, kOrdered = 2;
};

// The memory of a pair of two short texts.
constexpr size_t kPairBytes = 64;

// Returns the letter of a time unit.
std::string_view UnitLetter(int16_t unit) {
  constexpr std::string_view kLetters = "smun";
  return unit < 0 || unit > 3 ? "" : kLetters.substr(static_cast<size_t>(unit), 1);
}

std::string IntFormat(const FlatTable& type) {
  const bool is_signed = type.Number<uint8_t>(1) != 0;
  switch (type.Number<int32_t>(0)) {
    case 8:
      return is_signed ? "c" : "C";
    case 16:
      return is_signed ? "s" : "S";
    case 32:
      return is_signed ? "i" : "I";
    case 64:
      return is_signed ? "l" : "L";
    default:
      return "";
  }
}

// Returns a format of the times of `unit`: `begin`, the letter of the unit, `end`.
std::string TimeFormat(std::string_view begin, int16_t unit, std::string_view end = "") {
  const std::string_view letter = UnitLetter(unit);
  return letter.empty() ? "" : StrCat(begin, letter, end);
}

std::string DecimalFormat(const FlatTable& type) {
  const auto bits = type.Number<int32_t>(2, 128);
  return StrCat("d:", type.Number<int32_t>(0), ",", type.Number<int32_t>(1),
                bits == 128 ? "" : StrCat(",", bits));
}

// Returns the format of the C Data Interface for the type with this number in Arrow's union of
// types; "" if the type is malformed or unknown.
std::string FormatOf(uint8_t number, const FlatTable& type) {
  constexpr std::string_view kFloats = "efg";
  const auto unit = [&](int16_t absent) { return type.Number<int16_t>(0, absent); };
  switch (number) {
    case 1:
      return "n";
    case 2:
      return IntFormat(type);
    case 3:
      return unit(0) < 0 || unit(0) > 2 ? ""
                                        : std::string(1, kFloats[static_cast<size_t>(unit(0))]);
    case 4:
      return "z";
    case 5:
      return "u";
    case 6:
      return "b";
    case 7:
      return DecimalFormat(type);
    case 8:  // date
      return unit(1) == 0 ? "tdD" : unit(1) == 1 ? "tdm" : "";
    case 9:  // time
      return TimeFormat("tt", unit(1));
    case 10:  // timestamp
      return TimeFormat("ts", unit(0), StrCat(":", type.Text(1)));
    case 11:  // interval
      return unit(0) == 0 ? "tiM" : unit(0) == 1 ? "tiD" : unit(0) == 2 ? "tin" : "";
    case 12:
      return "+l";
    case 13:
      return "+s";
    case 14:  // union
      return type.Number<int16_t>(0) == 0 ? "+us:" : "+ud:";
    case 15:
      return StrCat("w:", type.Number<int32_t>(0));
    case 16:
      return StrCat("+w:", type.Number<int32_t>(0));
    case 17:
      return "+m";
    case 18:  // duration
      return TimeFormat("tD", unit(1));
    case 19:
      return "Z";
    case 20:
      return "U";
    case 21:
      return "+L";
    case 22:
      return "+r";
    case 23:
      return "vz";
    case 24:
      return "vu";
    case 25:
      return "+vl";
    case 26:
      return "+vL";
    default:
      return "";
  }
}

class FieldsReader {
 public:
  FieldsReader(FlatBuffer& metadata, const ArrowIpcOptions& options,
               std::vector<int64_t>& dictionaries)
      : metadata_(metadata), options_(options), dictionaries_(dictionaries) {}

  // `path`: the names of the fields around this field.
  absl::Status Read(const FlatTable& table, std::string_view path, size_t depth,
                    ArrowField& field) {
    using F = FieldFields;
    if (depth > options_.record_limits.max_depth) {
      return OutOfRange("Arrow field ", path, ": a depth of ", depth, " is ",
                        AboveLimit(options_.record_limits.max_depth, "max_depth"));
    }
    if (++fields_ > options_.record_limits.max_nodes) {
      return OutOfRange("Arrow field ", path, ": more fields than ",
                        AboveLimit(options_.record_limits.max_nodes, "max_nodes"));
    }
    const std::string_view name = table.Text(F::kName);
    // The path counts, because each field of an import has a copy of it.
    CFILE_RETURN_IF_ERROR(CountText(path.size() + name.size()));
    const std::string full_path = StrCat(path, path.empty() ? "" : ".", name);
    field.name = name;
    CFILE_RETURN_IF_ERROR(ReadMetadata(table.Tables(F::kMetadata), field));
    if (table.Number<uint8_t>(F::kNullable) != 0) field.flags |= ARROW_FLAG_NULLABLE;
    ArrowField* values = &field;
    if (const FlatTable dictionary = table.Table(F::kDictionary); dictionary.present()) {
      using D = DictionaryFields;
      const FlatTable index = dictionary.Table(D::kIndexType);
      field.format = index.present() ? IntFormat(index) : "i";
      if (field.format.empty()) {
        return DataLoss("Arrow field ", full_path,
                        ": the type of its dictionary indexes is unknown");
      }
      if (dictionary.Number<uint8_t>(D::kOrdered) != 0)
        field.flags |= ARROW_FLAG_DICTIONARY_ORDERED;
      dictionaries_.push_back(dictionary.Number<int64_t>(D::kId));
      field.dictionary.push_back({.flags = ARROW_FLAG_NULLABLE});
      values = field.dictionary.data();
    }
    CFILE_RETURN_IF_ERROR(ReadType(table, full_path, *values));
    const FlatTables children = table.Tables(F::kChildren);
    for (size_t i = 0; i < children.size(); ++i) {
      CFILE_RETURN_IF_ERROR(
          Read(children[i], full_path, depth + 1, values->children.emplace_back()));
    }
    return metadata_.status();
  }

  absl::Status ReadMetadata(const FlatTables& pairs, ArrowField& field) {
    for (size_t i = 0; i < pairs.size(); ++i) {
      const FlatTable pair = pairs[i];
      const std::string_view key = pair.Text(0), value = pair.Text(1);
      CFILE_RETURN_IF_ERROR(CountText(kPairBytes + key.size() + value.size()));
      field.metadata.emplace_back(key, value);
    }
    return metadata_.status();
  }

 private:
  // Many fields may share the bytes of a text, so the memory for texts has a limit.
  absl::Status CountText(size_t size_bytes) {
    text_bytes_ += size_bytes;
    if (text_bytes_ <= options_.max_metadata_size_bytes) return absl::OkStatus();
    return OutOfRange("the size of the names and metadata of the fields is ",
                      AboveLimit(options_.max_metadata_size_bytes, "max_metadata_size_bytes"));
  }

  absl::Status ReadType(const FlatTable& table, std::string_view path, ArrowField& field) {
    using F = FieldFields;
    const auto number = table.Number<uint8_t>(F::kTypeNumber);
    const FlatTable type = table.Table(F::kType);
    field.format = FormatOf(number, type);
    CFILE_RETURN_IF_ERROR(CountText(field.format.size()));
    if (number == 17 && type.Number<uint8_t>(0) != 0) field.flags |= ARROW_FLAG_MAP_KEYS_SORTED;
    CFILE_RETURN_IF_ERROR(metadata_.status());
    if (!field.format.empty()) return absl::OkStatus();
    return absl::UnimplementedError(
        StrCat("Arrow field ", path, ": a type of the kind ", int{number}, " is unknown"));
  }

  FlatBuffer& metadata_;
  const ArrowIpcOptions& options_;
  std::vector<int64_t>& dictionaries_;
  size_t fields_ = 0;
  uint64_t text_bytes_ = 0;
};

}  // namespace

absl::StatusOr<ArrowField> ReadIpcFields(FlatBuffer& metadata, const FlatTable& schema,
                                         const ArrowIpcOptions& options,
                                         std::vector<int64_t>& dictionaries) {
  ArrowField root{.format = "+s"};
  if (schema.Number<int16_t>(SchemaFields::kEndianness) != 0) {
    return absl::UnimplementedError("the data are big-endian; only little-endian data can be read");
  }
  FieldsReader reader(metadata, options, dictionaries);
  CFILE_RETURN_IF_ERROR(reader.ReadMetadata(schema.Tables(SchemaFields::kMetadata), root));
  const FlatTables fields = schema.Tables(SchemaFields::kFields);
  for (size_t i = 0; i < fields.size(); ++i)
    CFILE_RETURN_IF_ERROR(reader.Read(fields[i], "", 1, root.children.emplace_back()));
  CFILE_RETURN_IF_ERROR(metadata.status());
  return root;
}

absl::StatusOr<ArrowField> ReadIpcSchemaMessage(std::span<const uint8_t> message,
                                                const ArrowIpcOptions& options) {
  const auto source = NewMemoryViewSource(message, "Arrow schema");
  CFILE_ASSIGN_OR_RETURN(const IpcMessage read, ReadIpcMessage(source, 0, message.size(), options));
  if (read.kind != IpcHeader::kSchema) return WrongKind(read, "a schema");
  std::vector<int64_t> dictionaries;
  return ReadIpcFields(*read.metadata, read.header, options, dictionaries);
}

}  // namespace cfile::internal
