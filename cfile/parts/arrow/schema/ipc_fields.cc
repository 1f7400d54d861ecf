#include "cfile/parts/arrow/schema/ipc_fields.h"

#include <cstring>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "cfile/parts/arrow/schema/ipc_message.h"
#include "encodings/core/bytes.h"
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

// The number that a field of a table holds. A field that points to something holds 0 at first; the
// offset is written later. nullopt: the table does not have the field.
using Cell = std::optional<uint64_t>;
constexpr size_t kCellBytes = 8;

constexpr std::string_view kIntegers = "cCsSiIlL";  // of 8, 16, 32 and 64 bits
constexpr std::string_view kUnits = "smun";         // the letters of the units of times

// Arrow's types with at most one parameter, and their numbers in the union Type of Schema.fbs.
struct PlainType {
  std::string_view format;
  uint8_t number;
  Cell cell = std::nullopt;  // its value: a unit, or the precision of a float
};
constexpr PlainType kPlainTypes[] = {
    {"n", 1},   {"e", 3, 0},   {"f", 3, 1},   {"g", 3, 2},    {"z", 4},       {"u", 5},
    {"b", 6},   {"tdD", 8, 0}, {"tdm", 8, 1}, {"tiM", 11, 0}, {"tiD", 11, 1}, {"tin", 11, 2},
    {"+l", 12}, {"+s", 13},    {"+m", 17},    {"Z", 19},      {"U", 20},      {"+L", 21},
    {"+r", 22}, {"vz", 23},    {"vu", 24},    {"+vl", 25},    {"+vL", 26},
};

std::string IntFormat(const FlatTable& type) {
  const bool is_unsigned = type.Number<uint8_t>(1) == 0;
  for (size_t i = is_unsigned; i < kIntegers.size(); i += 2) {
    if (type.Number<int32_t>(0) == 8 << i / 2) return std::string(1, kIntegers[i]);
  }
  return "";
}

// Returns a format of the times of `unit`: `begin`, the letter of the unit, `end`.
std::string TimeFormat(std::string_view begin, int16_t unit, std::string_view end = "") {
  if (unit < 0 || unit > 3) return "";
  return StrCat(begin, kUnits.substr(static_cast<size_t>(unit), 1), end);
}

// Returns the format of the C Data Interface for the type with this number; "" if the type is
// malformed or unknown.
std::string FormatOf(uint8_t number, const FlatTable& type) {
  const auto unit = [&](int16_t absent) { return type.Number<int16_t>(0, absent); };
  const auto first = [&] { return type.Number<int32_t>(0); };
  switch (number) {
    case 2:
      return IntFormat(type);
    case 7: {  // decimal
      const auto bits = type.Number<int32_t>(2, 128);
      return StrCat("d:", first(), ",", type.Number<int32_t>(1),
                    bits == 128 ? "" : StrCat(",", bits));
    }
    case 9:  // time
      return TimeFormat("tt", unit(1));
    case 10:  // timestamp
      return TimeFormat("ts", unit(0), StrCat(":", type.Text(1)));
    case 14:  // union
      return unit(0) == 0 ? "+us:" : "+ud:";
    case 15:
      return StrCat("w:", first());
    case 16:
      return StrCat("+w:", first());
    case 18:  // duration
      return TimeFormat("tD", unit(1));
    default:
      break;
  }
  // A missing unit means milliseconds (1) for dates, and 0 for other types.
  constexpr uint8_t kDate = 8;
  for (const PlainType& plain : kPlainTypes) {
    if (plain.number != number) continue;
    if (!plain.cell || unit(number == kDate) == static_cast<int16_t>(*plain.cell))
      return std::string(plain.format);
  }
  return "";
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

// Writes tables, and after each table what it points to. Each field of a table has a cell of 8
// bytes, so fields of all sizes are aligned, and a number of any size is at the cell's begin.
class FlatBufferWriter {
 public:
  // Returns the position of the first cell.
  size_t Table(std::span<const Cell> cells, std::optional<size_t> pointer = std::nullopt) {
    const size_t vtable = bytes_.size();
    Append<uint16_t>(2 * (2 + cells.size()));
    Append<uint16_t>(kCellBytes * (1 + cells.size()));
    for (size_t i = 0; i < cells.size(); ++i) Append<uint16_t>(cells[i] ? kCellBytes * (1 + i) : 0);
    Align(kCellBytes);
    if (pointer) Point(*pointer);
    Append<uint64_t>(static_cast<uint32_t>(bytes_.size() - vtable));
    const size_t first = bytes_.size();
    for (const Cell& cell : cells) Append<uint64_t>(cell.value_or(0));
    return first;
  }
  void Text(std::string_view text, size_t pointer) {
    Point(pointer);
    Append<uint32_t>(text.size());
    bytes_.append(text).push_back('\0');
    Align(kCellBytes);
  }
  // Returns the position of the first element, which is an offset of 4 bytes.
  size_t Vector(size_t size, size_t pointer) {
    Point(pointer);
    Append<uint32_t>(size);
    const size_t first = bytes_.size();
    bytes_.append(size * sizeof(uint32_t), '\0');
    Align(kCellBytes);
    return first;
  }
  // Makes the offset at `pointer` point to the end of what was written.
  void Point(size_t pointer) {
    const auto offset = static_cast<uint32_t>(bytes_.size() - pointer);
    std::memcpy(&bytes_[pointer], &offset, sizeof(offset));
  }
  template <typename T>
  void Append(uint64_t value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof(T));
  }
  void Align(size_t to) { bytes_.append((to - bytes_.size() % to) % to, '\0'); }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

// A type: its number in Arrow's union of types, its fields, and the text of the last field.
struct Type {
  uint8_t number;
  std::vector<Cell> cells = {};
  std::string_view text = {};
};

// The numbers between the commas of a text, for example of "9,2".
std::vector<Cell> ParseNumbers(std::string_view text) {
  std::vector<Cell> numbers;
  const absl::string_view view(text.data(), text.size());
  for (const absl::string_view part : absl::StrSplit(view, ',')) {
    uint64_t number = 0;
    (void)absl::SimpleAtoi(part, &number);
    numbers.emplace_back(number);
  }
  return numbers;
}

// The reverse of FormatOf. nullopt: see WriteIpcSchemaMessage.
std::optional<Type> TypeOf(std::string_view format, int64_t flags) {
  if (const size_t at = kIntegers.find(format); format.size() == 1 && at < kIntegers.size())
    return Type{2, {uint64_t{8} << at / 2, 1 - at % 2}};
  if (format == "+m") return Type{17, {(flags & ARROW_FLAG_MAP_KEYS_SORTED) != 0}};
  for (const PlainType& type : kPlainTypes) {
    if (type.format != format || format.starts_with("ti")) continue;
    return type.cell ? Type{type.number, {type.cell}} : Type{type.number};
  }
  if (format.starts_with("w:")) return Type{15, ParseNumbers(format.substr(2))};
  if (format.starts_with("+w:")) return Type{16, ParseNumbers(format.substr(3))};
  if (format.starts_with("d:")) {
    Type decimal{7, ParseNumbers(format.substr(2))};
    if (decimal.cells.size() == 2) decimal.cells.emplace_back(128);
    return decimal.cells.size() == 3 ? std::optional(decimal) : std::nullopt;
  }
  if (format.size() < 3) return std::nullopt;
  const size_t unit = kUnits.find(format[2]);
  if (unit == std::string_view::npos) return std::nullopt;
  if (format.starts_with("tt")) return Type{9, {unit, unit < 2 ? 32 : 64}};
  if (format.starts_with("tD")) return Type{18, {unit}};
  if (!format.starts_with("ts") || format.size() < 4) return std::nullopt;
  const std::string_view zone = format.substr(4);
  return Type{10, {unit, zone.empty() ? Cell() : Cell(0)}, zone};
}

class SchemaWriter {
 public:
  // Returns false if there is a type that is not known here.
  bool WriteFields(const std::vector<ArrowField>& fields, size_t pointer) {
    size_t element = out_.Vector(fields.size(), pointer);
    for (const ArrowField& field : fields) {
      if (!WriteField(field, element)) return false;
      element += sizeof(uint32_t);
    }
    return true;
  }
  // Writes nothing if there is no metadata: then the table does not have the field at `pointer`.
  void WriteMetadata(const ArrowField& field, size_t pointer) {
    if (field.metadata.empty()) return;
    size_t element = out_.Vector(field.metadata.size(), pointer);
    for (const auto& [key, value] : field.metadata) {
      const Cell pair[] = {0, 0};
      const size_t first_of_pair = out_.Table(pair, element);
      out_.Text(key, first_of_pair);
      out_.Text(value, first_of_pair + kCellBytes);
      element += sizeof(uint32_t);
    }
  }
  FlatBufferWriter& out() { return out_; }

 private:
  bool WriteField(const ArrowField& field, size_t pointer) {
    // Arrow's table of a field has the type of the values, not that of the indexes.
    const bool is_dictionary = !field.dictionary.empty();
    const ArrowField& values = is_dictionary ? field.dictionary[0] : field;
    const std::optional<Type> type = TypeOf(values.format, values.flags);
    const std::optional<Type> index = is_dictionary ? TypeOf(field.format, 0) : std::nullopt;
    if (!type || !values.dictionary.empty() || index.has_value() != is_dictionary) return false;
    const bool nullable = (field.flags & ARROW_FLAG_NULLABLE) != 0;
    // The name, nullable, the number of the type, the type, the dictionary, children, metadata
    const Cell cells[] = {0,
                          nullable,
                          type->number,
                          0,
                          is_dictionary ? Cell(0) : Cell(),
                          0,
                          field.metadata.empty() ? Cell() : Cell(0)};
    const size_t first = out_.Table(cells, pointer);
    const auto cell = [&](size_t i) { return first + kCellBytes * i; };
    using F = FieldFields;
    out_.Text(field.name, cell(F::kName));
    const size_t first_of_type = out_.Table(type->cells, cell(F::kType));
    if (!type->text.empty())
      out_.Text(type->text, first_of_type + kCellBytes * (type->cells.size() - 1));
    if (is_dictionary) {
      // Three fields: the number of the dictionary, the type of the indexes, and whether the
      // dictionary is ordered.
      const Cell dictionary[] = {num_dictionaries_++, 0,
                                 (field.flags & ARROW_FLAG_DICTIONARY_ORDERED) != 0};
      out_.Table(index->cells, out_.Table(dictionary, cell(F::kDictionary)) +
                                   kCellBytes * DictionaryFields::kIndexType);
    }
    if (!WriteFields(values.children, cell(F::kChildren))) return false;
    WriteMetadata(field, cell(F::kMetadata));
    return true;
  }

  FlatBufferWriter out_;
  uint64_t num_dictionaries_ = 0;
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

std::string WriteIpcSchemaMessage(const ArrowField& root) {
  SchemaWriter writer;
  FlatBufferWriter& out = writer.out();
  out.Append<uint64_t>(0xffffffff);  // a continuation marker and the size of the metadata
  // The FlatBuffer begins here. Offsets are relative, so the 8 bytes before do not matter.
  constexpr size_t kPrefixBytes = 8;
  const size_t pointer_to_root = out.bytes().size();
  out.Append<uint64_t>(0);
  // The version (5), the kind of the header (a schema), the header, the size of the body
  const Cell message[] = {4, 1, 0, 0};
  const size_t first = out.Table(message, pointer_to_root);
  // Little-endian, the fields, metadata
  const Cell schema[] = {0, 0, root.metadata.empty() ? Cell() : Cell(0)};
  const size_t first_of_schema = out.Table(schema, first + 2 * kCellBytes);
  if (!writer.WriteFields(root.children, first_of_schema + kCellBytes * SchemaFields::kFields))
    return "";
  writer.WriteMetadata(root, first_of_schema + kCellBytes * SchemaFields::kMetadata);
  out.Align(kCellBytes);
  std::string bytes = out.bytes();
  const auto size = static_cast<uint32_t>(bytes.size() - kPrefixBytes);
  std::memcpy(&bytes[sizeof(uint32_t)], &size, sizeof(size));
  return bytes;
}

std::optional<ArrowField> ParseArrowSchema(std::string_view text) {
  std::string message;
  if (!absl::Base64Unescape({text.data(), text.size()}, &message)) return std::nullopt;
  auto schema = ReadIpcSchemaMessage(encodings::AsBytes(message), {});
  return schema.ok() ? std::optional(*std::move(schema)) : std::nullopt;
}

std::string WriteArrowSchema(const ArrowField& root) {
  const std::string message = WriteIpcSchemaMessage(root);
  return absl::Base64Escape({message.data(), message.size()});
}

}  // namespace cfile::internal
