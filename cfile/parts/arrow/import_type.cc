#include "cfile/parts/arrow/import_type.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>
#include <string_view>

#include "cfile/parts/arrow/arrow_type.h"
#include "cfile/parts/table/manifest/common_type.h"
#include "cfile/status.h"
#include "encodings/core/status.h"

namespace cfile::internal {
namespace {

using encodings::AboveLimit;
using encodings::OutOfRange;
using encodings::StrCat;

template <typename... Parts>
absl::Status Malformed(const ImportField& field, const Parts&... parts) {
  return absl::InvalidArgumentError(StrCat(field.InField(), ": ", parts...));
}

// Parses all of a text as a number.
template <typename Integer>
bool ParseNumber(std::string_view text, Integer& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

// Sets kind, type, physical and width of a field. Returns false if the format is not one of the
// types of one letter.
bool SetSimple(char format, ImportField& field) {
  const auto set = [&](ArrowKind kind, ColumnType type) {
    field.kind = kind;
    field.type = std::move(type);
    field.physical = field.type.physical();
    return true;
  };
  if (format == 'n') return set(ArrowKind::kNull, {});
  if (format == 'U') return set(ArrowKind::kStrings64, ColumnType::String());
  if (format == 'Z') return set(ArrowKind::kStrings64, ColumnType::Binary());
  for (const FormatLetter& row : kFormatLetters) {
    if (row.letter != format) continue;
    return set(format == 'b'                    ? ArrowKind::kBits
               : format == 'u' || format == 'z' ? ArrowKind::kStrings32
                                                : ArrowKind::kNumbers,
               {.data_type = row.type});
  }
  return false;
}

TimeUnit UnitOf(char letter) {
  const size_t unit = kTimeUnitLetters.find(letter);
  return unit == std::string_view::npos ? TimeUnit::kNone : static_cast<TimeUnit>(unit);
}

// Parses the formats of dates, times and timestamps.
bool SetTemporal(std::string_view format, ImportField& field) {
  if (format == "tdD" || format == "tdm") {
    field.kind = format == "tdD" ? ArrowKind::kNumbers : ArrowKind::kMillis;
    field.type = ColumnType::Date();
  } else {
    if (format.size() < 3) return false;
    const TimeUnit unit = UnitOf(format[2]);
    if (unit == TimeUnit::kNone) return false;
    if (format[1] == 't' && format.size() == 3) {
      field.type = ColumnType::Time(unit);
    } else if (format[1] == 's' && format.size() >= 4 && format[3] == ':') {
      field.type = ColumnType::Timestamp(unit, std::string(format.substr(4)));
    } else {
      return false;
    }
    field.kind = ArrowKind::kNumbers;
  }
  field.physical = field.type.physical();
  return true;
}

// Parses "d:precision,scale" or "d:precision,scale,bits".
absl::Status SetDecimal(std::string_view format, ImportField& field) {
  const std::string_view arguments = format.substr(2);
  const size_t comma = arguments.find(',');
  if (comma == std::string_view::npos) return Malformed(field, "format \"", format, "\"");
  std::string_view scale_text = arguments.substr(comma + 1);
  uint32_t bits = 128;
  if (const size_t second = scale_text.find(','); second != std::string_view::npos) {
    if (!ParseNumber(scale_text.substr(second + 1), bits) ||
        (bits != 32 && bits != 64 && bits != 128 && bits != 256)) {
      return Malformed(field, "format \"", format, "\"");
    }
    scale_text = scale_text.substr(0, second);
  }
  int32_t precision = 0;
  int32_t scale = 0;
  if (!ParseNumber(arguments.substr(0, comma), precision) || !ParseNumber(scale_text, scale) ||
      precision < 1) {
    return Malformed(field, "format \"", format, "\"");
  }
  if (precision > 38 || scale < 0 || scale > precision) {
    return absl::UnimplementedError(StrCat(field.InField(), ": no column can hold decimals of ",
                                           precision, " digits with a scale of ", scale));
  }
  field.kind = ArrowKind::kDecimals;
  field.type = ColumnType::Decimal(precision, scale);
  field.width = bits / 8;
  return absl::OkStatus();
}

std::string_view NameOfUnsupported(std::string_view format) {
  if (format == "e") return "float16";
  if (format.starts_with("tD")) return "duration";
  if (format.starts_with("ti")) return "interval";
  if (format.starts_with("+u")) return "union";
  return "";
}

// Sets all members except name, path, nullable, metadata and children.
absl::Status SetFormat(std::string_view format, ImportField& field) {
  const std::string_view unsupported = NameOfUnsupported(format);
  if (!unsupported.empty()) {
    return absl::UnimplementedError(
        StrCat(field.InField(), ": no column can hold the type ", unsupported));
  }
  const auto malformed = [&] { return Malformed(field, "unknown format \"", format, "\""); };
  const auto set = [&](ArrowKind kind) {
    field.kind = kind;
    return absl::OkStatus();
  };
  if (format.size() == 1) return SetSimple(format[0], field) ? absl::OkStatus() : malformed();
  if (format.starts_with('t')) return SetTemporal(format, field) ? absl::OkStatus() : malformed();
  if (format.starts_with("d:")) return SetDecimal(format, field);
  if (format == "_pli128") {  // Polars' integers of 128 bits
    field.type = ColumnType::Int128();
    field.width = 16;
    return set(ArrowKind::kDecimals);
  }
  if (format == "vu" || format == "vz") {
    field.type = format == "vu" ? ColumnType::String() : ColumnType::Binary();
    return set(ArrowKind::kViews);
  }
  if (format.starts_with("w:") || format.starts_with("+w:")) {
    int32_t width = 0;
    const bool list = format[0] == '+';
    if (!ParseNumber(format.substr(list ? 3 : 2), width) || width < 0) return malformed();
    field.width = static_cast<uint32_t>(width);
    if (list) return set(ArrowKind::kFixedLists);
    if (width == 0) {
      return absl::UnimplementedError(
          StrCat(field.InField(), ": no column can hold the type fixed-size binary of 0 bytes"));
    }
    field.type = ColumnType::FixedBytes(field.width);
    return set(ArrowKind::kFixedBytes);
  }
  if (format == "+s") return set(ArrowKind::kStruct);
  field.is_map = format == "+m";
  if (format == "+l" || format == "+m") return set(ArrowKind::kList32);
  if (format == "+L") return set(ArrowKind::kList64);
  if (format == "+vl") return set(ArrowKind::kListViews32);
  if (format == "+vL") return set(ArrowKind::kListViews64);
  if (format == "+r") return set(ArrowKind::kRunEnds);
  return malformed();
}

// Reads int32 lengths and the bytes after each length. The size of the memory is not known.
class MetadataReader {
 public:
  explicit MetadataReader(const char* at) : at_(at) {}
  // Returns the number, or -1 if the number is negative.
  int32_t Number() {
    int32_t number;
    std::memcpy(&number, at_, sizeof(number));
    at_ += sizeof(number);
    return std::max(number, -1);
  }
  std::optional<std::string> Text() {
    const int32_t size = Number();
    if (size < 0) return std::nullopt;
    std::string text(at_, static_cast<size_t>(size));
    at_ += size;
    return text;
  }

 private:
  const char* at_;
};

absl::Status ReadMetadata(const char* metadata, ImportField& field) {
  if (metadata == nullptr) return absl::OkStatus();
  MetadataReader reader(metadata);
  const int32_t count = reader.Number();
  if (count < 0) return Malformed(field, "the number of metadata pairs is negative");
  for (int32_t i = 0; i < count; ++i) {
    auto key = reader.Text();
    auto value = key ? reader.Text() : std::nullopt;
    if (!value)
      return Malformed(field, "the length of a text in metadata pair ", i, " is negative");
    field.metadata.emplace_back(*std::move(key), *std::move(value));
  }
  return absl::OkStatus();
}

class SchemaReader {
 public:
  SchemaReader(size_t max_depth, size_t max_nodes) : max_depth_(max_depth), max_nodes_(max_nodes) {}

  // `role`: names the field in errors if the field has no name.
  // `depth`: the number of fields around this field.
  absl::Status Read(const ArrowSchema* schema, std::string_view parent_path, std::string_view role,
                    size_t depth, ImportField& field) {
    field.path = parent_path;
    if (schema == nullptr) return Malformed(field, "the ArrowSchema of a child is null");
    if (schema->name != nullptr) field.name = schema->name;
    const std::string_view shown = field.name.empty() ? role : std::string_view(field.name);
    if (depth > 0) field.path = StrCat(parent_path, parent_path.empty() ? "" : ".", shown);
    if (depth > max_depth_) {
      return OutOfRange(field.InField(), ": a depth of ", depth, " is ",
                        AboveLimit(max_depth_, "max_depth"));
    }
    if (++nodes_ > max_nodes_) {
      return OutOfRange(field.InField(), ": more fields than ",
                        AboveLimit(max_nodes_, "max_nodes"));
    }
    if (schema->release == nullptr) return Malformed(field, "the ArrowSchema is released");
    if (schema->format == nullptr) return Malformed(field, "the format is null");
    field.nullable = (schema->flags & ARROW_FLAG_NULLABLE) != 0;
    CFILE_RETURN_IF_ERROR(ReadMetadata(schema->metadata, field));
    CFILE_RETURN_IF_ERROR(SetFormat(schema->format, field));
    if (schema->n_children < 0 || (schema->n_children > 0 && schema->children == nullptr)) {
      return Malformed(field, "the number of children is ", schema->n_children,
                       schema->children == nullptr ? " and the children are null" : "");
    }
    if (schema->dictionary != nullptr) return ReadDictionary(*schema, depth, field);
    CFILE_RETURN_IF_ERROR(ReadChildren(*schema, depth, field));
    SetUuid(field);
    return CheckStructure(*schema, field);
  }

 private:
  absl::Status ReadDictionary(const ArrowSchema& schema, size_t depth, ImportField& field) {
    if (field.kind != ArrowKind::kNumbers || !IsWider(field.type, ColumnType::Int128())) {
      return Malformed(field, "the indexes of a dictionary are integers, found the format \"",
                       std::string_view(schema.format), "\"");
    }
    field.kind = ArrowKind::kDictionary;
    field.children.emplace_back();
    CFILE_RETURN_IF_ERROR(
        Read(schema.dictionary, field.path, "dictionary", depth + 1, field.children[0]));
    return absl::OkStatus();
  }

  absl::Status ReadChildren(const ArrowSchema& schema, size_t depth, ImportField& field) {
    const bool is_list = field.is_list();
    for (int64_t i = 0; i < schema.n_children; ++i) {
      ImportField child;
      CFILE_RETURN_IF_ERROR(Read(schema.children[i], field.path,
                                 is_list ? std::string("element") : StrCat("child ", i), depth + 1,
                                 child));
      field.children.push_back(std::move(child));
    }
    return absl::OkStatus();
  }

  // Checks the number of children and their types.
  absl::Status CheckStructure(const ArrowSchema& schema, ImportField& field) const {
    const size_t count = field.children.size();
    if (field.kind == ArrowKind::kStruct) return absl::OkStatus();
    const size_t expected = field.is_list() ? 1 : field.kind == ArrowKind::kRunEnds ? 2 : 0;
    if (count != expected) {
      return Malformed(field, "format \"", std::string_view(schema.format), "\": expected ",
                       expected, " children, found ", count);
    }
    if (field.is_map) {
      const ImportField& entries = field.children[0];
      if (entries.kind != ArrowKind::kStruct || entries.children.size() != 2) {
        return Malformed(field, "the child of a map is a struct of a key and a value");
      }
    }
    if (field.kind != ArrowKind::kRunEnds) return absl::OkStatus();
    const ImportField& ends = field.children[0];
    if (ends.kind != ArrowKind::kNumbers ||
        (ends.type != ColumnType::Int16() && ends.type != ColumnType::Int32() &&
         ends.type != ColumnType::Int64())) {
      return Malformed(field, "run ends are int16, int32 or int64");
    }
    field.physical = ends.physical;
    field.children.erase(field.children.begin());
    return absl::OkStatus();
  }

  static void SetUuid(ImportField& field) {
    const std::string* const extension = field.FindMetadata("ARROW:extension:name");
    if (extension != nullptr && *extension == "arrow.uuid" &&
        field.type == ColumnType::FixedBytes(16)) {
      field.type = ColumnType::Uuid();
    }
  }

  const size_t max_depth_;
  const size_t max_nodes_;
  size_t nodes_ = 0;
};

bool HoldsValuesOf(const ImportField& field, const ColumnType& target) {
  const ColumnType& from = field.type;
  if (from == target || IsWider(from, target)) return true;
  if (field.kind == ArrowKind::kDecimals) {
    return DecimalDigits(target) >= DecimalDigits(from) &&
           target.decimal_scale == from.decimal_scale;
  }
  if (target.logical != LogicalType::kNone && target.logical != LogicalType::kUuid) return false;
  switch (from.data_type) {
    case DataType::kBool:
      return target.data_type == DataType::kIsDeleted;
    case DataType::kString:
      return target.data_type == DataType::kVarchar || target.data_type == DataType::kBinary;
    case DataType::kFixedLenByteArray:
      return target.data_type == DataType::kBinary || target.type_length == from.type_length;
    default:
      return from == ColumnType::Timestamp(TimeUnit::kNanos, "") &&
             target.data_type == DataType::kInt96;
  }
}

}  // namespace

const std::string* ImportField::FindMetadata(std::string_view key) const {
  for (const auto& [found, value] : metadata) {
    if (found == key) return &value;
  }
  return nullptr;
}

std::string ImportField::InField() const {
  return path.empty() ? "the root of the Arrow schema" : StrCat("Arrow field ", path);
}

const ImportField& ImportField::values() const {
  const ImportField* field = this;
  while (field->kind == ArrowKind::kDictionary || field->kind == ArrowKind::kRunEnds) {
    field = &field->children[0];
  }
  return *field;
}

absl::StatusOr<ImportField> ReadArrowSchema(const ArrowSchema& schema, size_t max_depth,
                                            size_t max_nodes) {
  ImportField root;
  CFILE_RETURN_IF_ERROR(SchemaReader(max_depth, max_nodes).Read(&schema, "", "", 0, root));
  return root;
}

absl::StatusOr<ArrowField> CopyArrowSchema(const ArrowSchema& schema, size_t max_depth) {
  ImportField described;
  if (schema.name != nullptr) described.path = described.name = schema.name;
  if (max_depth == 0 || schema.release == nullptr || schema.format == nullptr)
    return Malformed(described, "the ArrowSchema is released, has no format, or is too deep");
  CFILE_RETURN_IF_ERROR(ReadMetadata(schema.metadata, described));
  ArrowField field{.format = schema.format,
                   .name = std::move(described.name),
                   .metadata = std::move(described.metadata),
                   .flags = schema.flags};
  for (int64_t i = 0; i < schema.n_children; ++i) {
    if (schema.children == nullptr || schema.children[i] == nullptr)
      return Malformed(described, "the ArrowSchema of a child is null");
    CFILE_ASSIGN_OR_RETURN(ArrowField child, CopyArrowSchema(*schema.children[i], max_depth - 1));
    field.children.push_back(std::move(child));
  }
  if (schema.dictionary == nullptr) return field;
  CFILE_ASSIGN_OR_RETURN(ArrowField values, CopyArrowSchema(*schema.dictionary, max_depth - 1));
  field.dictionary.push_back(std::move(values));
  return field;
}

absl::Status CheckStorable(const ImportField& field, const ColumnType& target) {
  if (HoldsValuesOf(field, target)) return absl::OkStatus();
  return UnfitRows(Malformed(field, "its values are ", field.type.ToString(),
                             ", but the column holds ", target.ToString()));
}

}  // namespace cfile::internal
