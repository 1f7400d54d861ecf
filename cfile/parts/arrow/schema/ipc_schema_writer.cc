#include "cfile/parts/arrow/schema/ipc_schema_writer.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"

namespace cfile::internal {
namespace {

// The number that a field of a table holds. A field that points to something holds 0 at first; the
// offset is written later. nullopt: the table does not have the field.
using Cell = std::optional<uint64_t>;
constexpr size_t kCellBytes = 8;

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

// The numbers of the types whose tables have at most one field, by the format.
struct PlainType {
  std::string_view format;
  uint8_t number;
  Cell cell = std::nullopt;  // the unit of a date, the precision of a floating point number
};
constexpr PlainType kPlainTypes[] = {
    {"n", 1},      {"e", 3, 0},   {"f", 3, 1}, {"g", 3, 2}, {"z", 4},    {"u", 5},  {"b", 6},
    {"tdD", 8, 0}, {"tdm", 8, 1}, {"+l", 12},  {"+s", 13},  {"Z", 19},   {"U", 20}, {"+L", 21},
    {"+r", 22},    {"vz", 23},    {"vu", 24},  {"+vl", 25}, {"+vL", 26},
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

// The reverse of FormatOf in ipc_fields.cc. nullopt: see WriteIpcSchemaMessage.
std::optional<Type> TypeOf(std::string_view format, int64_t flags) {
  constexpr std::string_view kIntegers = "cCsSiIlL", kUnits = "smun";
  if (const size_t at = kIntegers.find(format); format.size() == 1 && at < kIntegers.size())
    return Type{2, {uint64_t{8} << at / 2, 1 - at % 2}};
  for (const PlainType& type : kPlainTypes) {
    if (type.format != format) continue;
    return type.cell ? Type{type.number, {type.cell}} : Type{type.number};
  }
  if (format == "+m") return Type{17, {(flags & ARROW_FLAG_MAP_KEYS_SORTED) != 0}};
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
    out_.Text(field.name, cell(0));
    const size_t first_of_type = out_.Table(type->cells, cell(3));
    if (!type->text.empty())
      out_.Text(type->text, first_of_type + kCellBytes * (type->cells.size() - 1));
    if (is_dictionary) {
      // Three fields: the number of the dictionary, the type of the indexes, and whether the
      // dictionary is ordered.
      const Cell dictionary[] = {num_dictionaries_++, 0,
                                 (field.flags & ARROW_FLAG_DICTIONARY_ORDERED) != 0};
      out_.Table(index->cells, out_.Table(dictionary, cell(4)) + kCellBytes);
    }
    if (!WriteFields(values.children, cell(5))) return false;
    WriteMetadata(field, cell(6));
    return true;
  }

  FlatBufferWriter out_;
  uint64_t num_dictionaries_ = 0;
};

}  // namespace

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
  if (!writer.WriteFields(root.children, first_of_schema + kCellBytes)) return "";
  writer.WriteMetadata(root, first_of_schema + 2 * kCellBytes);
  out.Align(kCellBytes);
  std::string bytes = out.bytes();
  const auto size = static_cast<uint32_t>(bytes.size() - kPrefixBytes);
  std::memcpy(&bytes[sizeof(uint32_t)], &size, sizeof(size));
  return bytes;
}

}  // namespace cfile::internal
