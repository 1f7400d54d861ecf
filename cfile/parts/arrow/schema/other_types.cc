// Streams between the types of columns and other types of Arrow.
#include "cfile/arrow_import.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "cfile/core/format/metadata_keys.h"
#include "cfile/parts/arrow/c_data.h"
#include "cfile/parts/arrow/field_tree.h"
#include "cfile/parts/arrow/import_array.h"
#include "cfile/parts/arrow/import_type.h"
#include "cfile/parts/arrow/schema/half.h"
#include "cfile/parts/arrow/schema/schema_text.h"
#include "encodings/core/status.h"

namespace cfile {
namespace internal {
namespace {

using encodings::StrCat;

constexpr size_t kDeepestField = 1100;
constexpr size_t kMaxNullListBytes = size_t{256} << 20;
constexpr std::string_view kExtensionName = "ARROW:extension:name";
constexpr std::string_view kExtensionPrefix = "ARROW:extension:";

// How an array changes.
enum class Change : uint8_t {
  kNone,
  kHalfToFloat,
  kFloatToHalf,
  kNullToString,
  kToNull,
  kToFixedLists
};

// Returns the format of the column for a type that columns do not have; "" for other types.
std::string_view StoredFormat(std::string_view format) {
  return format.starts_with("tD") ? "l" : format == "e" ? "f" : format == "n" ? "u" : "";
}

// The field that has the values.
template <typename Field>
Field& ValuesOf(Field& field) {
  return field.dictionary.empty() ? field : field.dictionary[0];
}

// The fields for which the types change: those of a struct, or the field of one array.
template <typename Field>
std::vector<Field*> ColumnsOf(Field& root) {
  if (root.format != "+s") return {&root};
  std::vector<Field*> columns;
  for (auto& child : root.children) columns.push_back(&child);
  return columns;
}

const std::string* ExtensionOf(const ArrowField& field) {
  for (const auto& [key, value] : field.metadata) {
    if (key == kExtensionName) return &value;
  }
  return nullptr;
}

// Removes what comes back without ARROW:schema. Returns whether there is something else.
bool KeepMetadata(ArrowField& field) {
  const std::string* const name = ExtensionOf(field);
  const bool is_uuid = name != nullptr && *name == "arrow.uuid";
  std::erase_if(field.metadata, [&](const auto& pair) {
    return pair.first.starts_with("cfile.") ||
           (is_uuid && pair.first.starts_with(kExtensionPrefix));
  });
  bool found = !field.metadata.empty();
  for (ArrowField& child : field.children) found |= KeepMetadata(child);
  for (ArrowField& values : field.dictionary) found |= KeepMetadata(values);
  return found;
}

// The letter or the first letters of a format, the same for all that one column holds.
std::string Family(std::string_view format) {
  if (!StoredFormat(format).empty()) return std::string(StoredFormat(format));
  if (format == "U" || format == "vu") return "u";
  if (format == "Z" || format == "vz") return "z";
  if (format == "tdm") return "tdD";
  if (format == "+L" || format.starts_with("+w:") || format.starts_with("+v")) return "+l";
  if (format.starts_with("d:")) {
    const size_t bits = format.find(',', format.find(',') + 1);
    return std::string(format.substr(0, bits));
  }
  return std::string(format);
}

// The size of a number with this format; 0 for other types.
size_t ElementBytes(std::string_view format) {
  constexpr std::string_view kLetters = "cCsSiIlLfg";
  constexpr size_t kBytes[] = {1, 1, 2, 2, 4, 4, 8, 8, 4, 8};
  const size_t at = kLetters.find(format);
  return format.size() == 1 && at < kLetters.size() ? kBytes[at] : 0;
}

// The length of the lists of a fixed length that ElementsOf can make; 0 for other types.
size_t ListWidth(const ArrowField& field) {
  const std::string& format = field.format;
  if (!format.starts_with("+w:") || field.children.size() != 1 ||
      ElementBytes(field.children[0].format) == 0) {
    return 0;
  }
  int32_t width = 0;
  const char* const end = format.data() + format.size();
  const auto [rest, error] = std::from_chars(format.data() + 3, end, width);
  return error == std::errc() && rest == end ? static_cast<size_t>(std::max(width, 0)) : 0;
}

// Returns true if an array of `stored` is the storage of an array of `described`, except that the
// lists at the top may become lists of a fixed length.
bool IsStorage(const ArrowField& stored, const ArrowField& described, bool top = true) {
  if (!described.dictionary.empty() || stored.children.size() != described.children.size())
    return false;
  const std::string_view format = described.format;
  const bool is_text = Family(format) == "u" && Family(stored.format) == "u";
  const bool is_list = top && ListWidth(described) > 0 && stored.format == "+l";
  if (stored.format != format && !is_text && !is_list) return false;
  for (size_t i = 0; i < stored.children.size(); ++i) {
    if (!IsStorage(stored.children[i], described.children[i], false)) return false;
  }
  return true;
}

// Returns true if a column gives the storage of an extension type back as it is.
bool IsKept(const ArrowField& field, std::string_view extension, bool top = true) {
  const std::string_view format = field.format;
  // The storage of arrow.json is any kind of strings.
  const bool is_json = top && extension == "arrow.json" && Family(format) == "u";
  const bool is_fixed = top && ListWidth(field) > 0;
  const bool is_own = top && !StoredFormat(format).empty();
  if (!field.dictionary.empty() || format == "+r") return false;
  if (!is_json && !is_fixed && !is_own && Family(format) != format) return false;
  return std::all_of(field.children.begin(), field.children.end(),
                     [&](const ArrowField& child) { return IsKept(child, extension, false); });
}

// An error names the field. `top`: it is a column.
absl::Status CheckExtensions(const ArrowField& field, const std::string& path, bool top = true) {
  const std::string* const name = ExtensionOf(field);
  if (name != nullptr && !IsKept(field, *name, top)) {
    return absl::UnimplementedError(StrCat("Arrow field ", path, ": the extension type ", *name,
                                           " has a storage that no column gives back"));
  }
  for (const ArrowField& child : field.children)
    CFILE_RETURN_IF_ERROR(CheckExtensions(child, StrCat(path, ".", child.name), false));
  return absl::OkStatus();
}

std::string NameOf(std::string_view format) {
  if (format == "e") return "float16";
  if (!format.starts_with("tD")) return "another type";
  const char unit = format.back();
  return StrCat("duration(", unit == 's' ? "s" : StrCat(std::string(1, unit), "s"), ")");
}

// Checks durations and float16 of rows for a table that exists.
absl::Status CheckSame(const ArrowField& field, const ArrowField* described) {
  const auto other = [](const ArrowField* of) {
    const std::string_view format = of == nullptr ? "" : std::string_view(ValuesOf(*of).format);
    return format == "n" || StoredFormat(format).empty() ? "" : format;
  };
  const std::string_view found = other(&field), expected = other(described);
  if (found == expected || ValuesOf(field).format == "n") return absl::OkStatus();
  return absl::InvalidArgumentError(StrCat("Arrow field ", field.name, ": the column has the type ",
                                           NameOf(expected), ", found ", NameOf(found)));
}

// Keeps a buffer of `parts`.
template <typename T>
void AddOwned(std::vector<T> values, ArrayParts& parts) {
  const auto owner = std::make_shared<const std::vector<T>>(std::move(values));
  parts.AddBuffer(owner->data(), owner);
}

// Returns the elements of lists of the fixed length `width`. Elements of lists that are null are
// null, too: a consumer counts them. Lists that are null take at most kMaxNullListBytes.
absl::StatusOr<HeldArray> ElementsOf(const ArrowArray& lists, const std::string& format,
                                     size_t width) {
  const ArrowArray& elements = *lists.children[0];
  if (elements.n_buffers != 2) return absl::InvalidArgumentError("the lists have no numbers");
  const size_t size_bytes = ElementBytes(format);
  const auto count = static_cast<size_t>(lists.offset + lists.length);
  const auto* const bits = static_cast<const uint8_t*>(lists.buffers[0]);
  const auto* const element_bits = static_cast<const uint8_t*>(elements.buffers[0]);
  const auto is_list = [&](size_t i) {
    const auto row = static_cast<int64_t>(i);
    return row >= lists.offset && (bits == nullptr || BitAt(bits, row));
  };
  size_t nulls = 0;
  for (size_t i = 0; i < count; ++i) {
    if (!is_list(i)) {
      ++nulls;
      continue;
    }
    const int64_t begin = LoadAt<int32_t>(lists.buffers[1], static_cast<int64_t>(i));
    const int64_t end = LoadAt<int32_t>(lists.buffers[1], static_cast<int64_t>(i) + 1);
    if (end - begin != static_cast<int64_t>(width)) {
      return absl::InvalidArgumentError(StrCat("row ", i, " of a batch: a list of ", width,
                                               " elements expected, found ", end - begin));
    }
  }
  if (nulls > kMaxNullListBytes / (width * size_bytes)) {
    return absl::OutOfRangeError(StrCat(nulls, " lists of ", width,
                                        " elements that are null need more than ",
                                        kMaxNullListBytes, " bytes: read smaller batches"));
  }
  std::vector<char> values(count * width * size_bytes);
  std::vector<uint8_t> validity((count * width + 7) / 8);
  for (size_t i = 0; i < count; ++i) {
    if (!is_list(i)) continue;
    const int64_t begin =
        elements.offset + LoadAt<int32_t>(lists.buffers[1], static_cast<int64_t>(i));
    std::memcpy(
        &values[i * width * size_bytes],
        static_cast<const char*>(elements.buffers[1]) + static_cast<size_t>(begin) * size_bytes,
        width * size_bytes);
    for (size_t k = i * width; k < (i + 1) * width; ++k) {
      const int64_t element = begin + static_cast<int64_t>(k - i * width);
      const bool valid = element_bits == nullptr || BitAt(element_bits, element);
      validity[k / 8] = static_cast<uint8_t>(validity[k / 8] | int{valid} << (k % 8));
    }
  }
  ArrayParts parts{.length = static_cast<int64_t>(count * width), .null_count = -1};
  AddOwned(std::move(validity), parts);
  AddOwned(std::move(values), parts);
  return MakeArray(std::move(parts));
}

// Checks that float16 has the numbers of an array of float: another column may have had the name
// before, or other programs may have appended rows.
absl::Status CheckHalves(const ArrowArray& array, const std::string& name) {
  const auto* const bits = static_cast<const uint8_t*>(array.buffers[0]);
  for (int64_t i = array.offset; i < array.offset + array.length; ++i) {
    if (bits != nullptr && !BitAt(bits, i)) continue;
    const float number = LoadAt<float>(array.buffers[1], i);
    if (FloatOfHalf(HalfOfFloat(number)) == number || std::isnan(number)) continue;
    return absl::InvalidArgumentError(
        StrCat("Arrow field ", name, ": float16 does not have the number ", number));
  }
  return absl::OkStatus();
}

template <typename To, typename From, typename Convert>
std::vector<To> Converted(const ArrowArray& array, const Convert& convert) {
  std::vector<To> values(static_cast<size_t>(array.offset + array.length));
  for (int64_t i = array.offset; i < array.offset + array.length; ++i)
    values[static_cast<size_t>(i)] = convert(LoadAt<From>(array.buffers[1], i));
  return values;
}

// Replaces *array, which is not released. `field`: the new type.
absl::Status ChangeArray(Change change, const ArrowField& field, ArrowArray* array) {
  const auto old = std::make_shared<HeldArray>(array);
  ArrowArray& from = *old->get();
  const bool has_nulls = change == Change::kNullToString || change == Change::kToNull;
  if (from.length < 0 || from.offset < 0 ||
      (!has_nulls && (from.n_buffers != 2 || (from.length > 0 && from.buffers[1] == nullptr)))) {
    return absl::InvalidArgumentError(
        StrCat("Arrow field ", field.name, ": the array has no values"));
  }
  const auto slots = static_cast<size_t>(from.offset + from.length);
  ArrayParts parts{.length = from.length, .null_count = has_nulls ? from.length : from.null_count};
  if (change == Change::kNullToString) {
    AddOwned(std::vector<uint8_t>((slots + 7) / 8), parts);
    AddOwned(std::vector<int32_t>(slots + 1), parts);
    AddOwned(std::vector<char>(1), parts);
  } else if (!has_nulls) {
    parts.AddBuffer(from.buffers[0], old);
  }
  if (change == Change::kHalfToFloat)
    AddOwned(Converted<float, uint16_t>(from, FloatOfHalf), parts);
  if (change == Change::kFloatToHalf) {
    CFILE_RETURN_IF_ERROR(CheckHalves(from, field.name));
    AddOwned(Converted<uint16_t, float>(from, HalfOfFloat), parts);
  }
  if (change == Change::kToFixedLists) {
    CFILE_ASSIGN_OR_RETURN(HeldArray elements,
                           ElementsOf(from, field.children[0].format, ListWidth(field)));
    parts.children.push_back(std::move(elements));
  }
  HeldArray made = MakeArray(std::move(parts));
  made.get()->offset = from.offset;
  made.MoveTo(array);
  return absl::OkStatus();
}

// A stream around another one. The functions of the stream are as MakeStream says.
class OtherTypes {
 public:
  OtherTypes(Held<ArrowArrayStream> inner, ArrowField type, std::vector<Change> changes)
      : inner_(std::move(inner)), type_(std::move(type)), changes_(std::move(changes)) {}

  static void MakeStream(std::unique_ptr<OtherTypes> types, ArrowArrayStream* out) {
    *out = {.get_schema =
                [](ArrowArrayStream* stream, ArrowSchema* schema) {
                  return Of(stream).Call([&] {
                    MakeSchema(Of(stream).type_).MoveTo(schema);
                    return 0;
                  });
                },
            .get_next =
                [](ArrowArrayStream* stream, ArrowArray* array) {
                  return Of(stream).Call([&] { return Of(stream).Next(array); });
                },
            .get_last_error =
                [](ArrowArrayStream* stream) {
                  OtherTypes& own = Of(stream);
                  return own.error_.empty() ? own.inner_.get()->get_last_error(own.inner_.get())
                                            : own.error_.c_str();
                },
            .release =
                [](ArrowArrayStream* stream) {
                  delete &Of(stream);
                  stream->release = nullptr;
                },
            .private_data = types.release()};
  }

 private:
  static OtherTypes& Of(ArrowArrayStream* stream) {
    return *static_cast<OtherTypes*>(stream->private_data);
  }

  template <typename Function>
  int Call(const Function& function) noexcept {
    try {
      return function();
    } catch (const std::exception&) {  // also std::length_error
      error_ = "no memory";
      return ENOMEM;
    }
  }

  int Next(ArrowArray* array) {
    if (const int error = inner_.get()->get_next(inner_.get(), array); error != 0) return error;
    if (array->release == nullptr) return 0;
    const std::vector<ArrowField*> columns = ColumnsOf(type_);
    const bool is_struct = type_.format == "+s";
    for (size_t i = 0; i < changes_.size(); ++i) {
      if (changes_[i] == Change::kNone) continue;
      ArrowArray* changed = array;
      if (is_struct)
        changed = i < static_cast<size_t>(array->n_children) ? array->children[i] : nullptr;
      absl::Status status = absl::InvalidArgumentError("a child of a batch is missing");
      if (changed != nullptr) status = ChangeArray(changes_[i], *columns[i], changed);
      if (status.ok()) continue;
      error_ = std::string(status.message());
      HeldArray released(array);
      return EINVAL;
    }
    return 0;
  }

  Held<ArrowArrayStream> inner_;
  ArrowField type_;
  const std::vector<Change> changes_;  // of ColumnsOf(type_)
  std::string error_;                  // of this stream; the inner one keeps its own
};

absl::StatusOr<ArrowField> TypeOf(ArrowArrayStream* stream) {
  HeldSchema schema;
  if (const int error = stream->get_schema(stream, schema.get()); error != 0) {
    const char* const text = stream->get_last_error(stream);
    return absl::ErrnoToStatus(error, text == nullptr ? "" : text);
  }
  return CopyArrowSchema(*schema.get(), kDeepestField);
}

void Replace(ArrowField type, std::vector<Change> changes, ArrowArrayStream* stream) {
  Held<ArrowArrayStream> inner(stream);
  OtherTypes::MakeStream(
      std::make_unique<OtherTypes>(std::move(inner), std::move(type), std::move(changes)), stream);
}

// Gives a field its described type. Returns what changes in its arrays. The arrays of a field
// inside of another one (`top` is false) stay as they are.
Change Restore(const ArrowField& described, bool is_null, ArrowField& field, bool top = true) {
  const ArrowField& values = ValuesOf(described);
  Change change = Change::kNone;
  const std::string_view format = values.format;
  if (top && format == "n" && is_null && field.children.empty() && field.dictionary.empty()) {
    change = Change::kToNull;
    field.format = format;
  } else if (top && format == "e" && field.format == "f") {
    change = Change::kFloatToHalf;
    field.format = format;
  } else if (format == "e" ? field.format == "w:2"
                           : format != "n" && field.format == StoredFormat(format)) {
    field.format = format;
  }
  const bool is_storage = IsStorage(field, described, top);
  if (is_storage && field.format != format && format.starts_with("+w:") &&
      ExtensionOf(described) != nullptr) {
    field.format = format;
    change = Change::kToFixedLists;
  }
  for (const auto& pair : described.metadata) {
    if (is_storage || !pair.first.starts_with(kExtensionPrefix)) field.metadata.push_back(pair);
  }
  if (field.children.size() != described.children.size()) return change;
  for (size_t i = 0; i < field.children.size(); ++i) {
    const ArrowField& child = described.children[i];
    if (field.format != "+s" || child.name == field.children[i].name)
      Restore(child, false, field.children[i], false);
  }
  return change;
}

}  // namespace
}  // namespace internal

absl::StatusOr<std::vector<std::pair<std::string, std::string>>> StoreArrowTypes(
    const std::optional<std::string>& described, ArrowArrayStream* stream) {
  using namespace internal;
  CFILE_ASSIGN_OR_RETURN(ArrowField type, TypeOf(stream));
  ArrowField kept = type;
  const std::optional<ArrowField> known = described ? ParseArrowSchema(*described) : std::nullopt;
  std::vector<Change> changes;
  bool is_changed = false, is_kept = false;
  for (ArrowField* const column : ColumnsOf(type)) {
    CFILE_RETURN_IF_ERROR(CheckExtensions(*column, column->name));
    if (described) {
      const ArrowField* same = nullptr;
      for (size_t i = 0; known && i < known->children.size(); ++i) {
        const ArrowField& field = known->children[i];
        if (field.name == column->name || type.format != "+s") same = &field;
      }
      CFILE_RETURN_IF_ERROR(CheckSame(*column, same));
    }
    std::string& format = ValuesOf(*column).format;
    is_kept |= format.starts_with("+w:");  // a column of lists does not know their length
    const bool is_null = format == "n";
    changes.push_back(is_null ? Change::kNullToString : Change::kNone);
    // ImportArrowSchema refuses dictionaries of float16.
    if (format == "e" && column->dictionary.empty()) changes.back() = Change::kHalfToFloat;
    if (StoredFormat(format).empty() || (format == "e" && !column->dictionary.empty())) continue;
    is_changed = true;
    format = StoredFormat(format);
    if (!is_null) continue;
    column->format = "u";  // also of a dictionary without values
    column->dictionary.clear();
  }
  std::erase_if(kept.metadata, [](const auto& pair) { return pair.first == "pandas"; });
  is_kept |= KeepMetadata(kept);
  MetadataPairs pairs;
  if (!is_changed && !is_kept) return pairs;
  for (const auto& pair : kept.metadata) {
    if (IsUtf8(pair.first) && IsUtf8(pair.second) && pair.first != kArrowSchema)
      pairs.push_back(pair);
  }
  if (kept.format != "+s") {
    kept.name = "value";  // the name of the column of a file
    kept = {.format = "+s", .children = {std::move(kept)}};
  }
  std::string text = WriteArrowSchema(kept);
  if (text.empty())
    return absl::UnimplementedError("a type beside other types that no column has is not known");
  if (is_changed) Replace(std::move(type), std::move(changes), stream);
  pairs.emplace_back(kArrowSchema, std::move(text));
  return pairs;
}

absl::Status RestoreArrowTypes(std::string_view arrow_schema,
                               absl::FunctionRef<bool(const std::string& column)> is_null,
                               ArrowArrayStream* stream) {
  using namespace internal;
  const std::optional<ArrowField> described = ParseArrowSchema(arrow_schema);
  if (!described) return absl::OkStatus();
  CFILE_ASSIGN_OR_RETURN(ArrowField type, TypeOf(stream));
  std::vector<Change> changes;
  for (ArrowField* const column : ColumnsOf(type)) {
    changes.push_back(Change::kNone);
    std::erase_if(column->metadata, [](const auto& pair) { return pair.first == kArrowSchema; });
    for (const ArrowField& field : described->children) {
      if (field.name != column->name) continue;
      const bool nulls = ValuesOf(field).format == "n" && is_null(column->name);
      changes.back() = Restore(field, nulls, *column);
      break;
    }
  }
  if (type.format == "+s") {
    for (const auto& pair : described->metadata) {
      if (pair.first != "pandas") type.metadata.push_back(pair);
    }
  }
  Replace(std::move(type), std::move(changes), stream);
  return absl::OkStatus();
}

}  // namespace cfile
