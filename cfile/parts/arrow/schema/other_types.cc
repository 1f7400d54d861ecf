// Streams between the types of columns and other types of Arrow.
#include "cfile/arrow_import.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "cfile/core/format/metadata_keys.h"
#include "cfile/parts/arrow/c_data.h"
#include "cfile/parts/arrow/field_tree.h"
#include "cfile/parts/arrow/import_type.h"
#include "cfile/parts/arrow/schema/changed_array.h"
#include "cfile/parts/arrow/schema/ipc_fields.h"
#include "encodings/core/status.h"

namespace cfile {
namespace internal {
namespace {

using encodings::StrCat;

constexpr size_t kDeepestField = 1100;
constexpr std::string_view kExtensionName = "ARROW:extension:name";
constexpr std::string_view kExtensionPrefix = "ARROW:extension:";

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

// The first letters of a format: the same for all formats whose values one column can hold.
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

// The child of `described` that stands for child `i` of `field`; null if there is none.
const ArrowField* SameChild(const ArrowField& field, size_t i, const ArrowField* described) {
  if (described == nullptr) return nullptr;
  const std::vector<ArrowField>& children = described->children;
  for (const ArrowField& child : children) {
    if (field.format == "+s" && child.name == field.children[i].name) return &child;
  }
  // The fields of lists and maps may have any names.
  return children.size() == field.children.size() ? &children[i] : nullptr;
}

// The field that has the values of runs; another field as it is.
const ArrowField& WithoutRuns(const ArrowField& field) {
  return field.format == "+r" && field.children.size() == 2 ? field.children[1] : field;
}

// Checks durations and float16 of rows for a table that exists.
absl::Status CheckSame(const ArrowField& of_rows, const ArrowField* described,
                       const std::string& path) {
  const ArrowField& field = WithoutRuns(of_rows);
  if (described != nullptr) described = &WithoutRuns(*described);
  const auto other = [](const ArrowField* of) {
    const std::string_view format = of == nullptr ? "" : std::string_view(ValuesOf(*of).format);
    return format == "n" || StoredFormat(format).empty() ? "" : format;
  };
  const std::string_view found = other(&field), expected = other(described);
  if (found != expected && ValuesOf(field).format != "n") {
    return absl::InvalidArgumentError(StrCat("Arrow field ", path, ": the column has the type ",
                                             NameOf(expected), ", found ", NameOf(found)));
  }
  for (size_t i = 0; i < field.children.size(); ++i) {
    CFILE_RETURN_IF_ERROR(CheckSame(field.children[i], SameChild(field, i, described),
                                    StrCat(path, ".", field.children[i].name)));
  }
  return absl::OkStatus();
}

// The error that a function of the stream has returned.
absl::Status ErrorOf(ArrowArrayStream* stream, int error) {
  const char* const text = stream->get_last_error(stream);
  return {absl::ErrnoToStatusCode(error), text == nullptr ? "" : text};
}

// The batches of another stream, with the arrays that change.
class ChangedBatches final : public ArrowBatches {
 public:
  ChangedBatches(ArrowArrayStream* inner, ArrowField type, FieldChange change)
      : inner_(inner), type_(std::move(type)), change_(std::move(change)) {}

  HeldSchema Schema() const override { return MakeSchema(type_); }

  absl::StatusOr<HeldArray> Next() override {
    HeldArray batch;
    ArrowArrayStream* const inner = inner_.get();
    if (const int error = inner->get_next(inner, batch.get()); error != 0)
      return ErrorOf(inner, error);
    if (!batch.empty()) CFILE_RETURN_IF_ERROR(ChangeArray(change_, type_, "", batch.get()));
    return batch;
  }

 private:
  Held<ArrowArrayStream> inner_;
  const ArrowField type_;
  const FieldChange change_;
};

absl::StatusOr<ArrowField> TypeOf(ArrowArrayStream* stream) {
  HeldSchema schema;
  if (const int error = stream->get_schema(stream, schema.get()); error != 0)
    return ErrorOf(stream, error);
  return CopyArrowSchema(*schema.get(), kDeepestField);
}

void Replace(ArrowField type, FieldChange change, ArrowArrayStream* stream) {
  MakeStream(std::make_unique<ChangedBatches>(stream, std::move(type), std::move(change)), stream);
}

// Adds what changes in a child. `children`: how many there are.
void AddChange(FieldChange of_child, size_t i, size_t children, FieldChange& change) {
  if (!of_child.any()) return;
  change.children.resize(children);
  change.children[i] = std::move(of_child);
}

// Gives a field the type that a column stores, sets `is_changed` if this is another type, and
// returns what changes in its arrays.
FieldChange Store(ArrowField& field, bool& is_changed) {
  FieldChange change;
  std::string& format = ValuesOf(field).format;
  const bool is_null = format == "n";
  // ImportArrowSchema refuses dictionaries of float16.
  if (!StoredFormat(format).empty() && (format != "e" || field.dictionary.empty())) {
    is_changed = true;
    if (is_null) change.own = Change::kNullToString;
    if (format == "e") change.own = Change::kHalfToFloat;
    format = StoredFormat(format);
    if (is_null) {
      field.format = "u";  // also of a dictionary without values
      field.dictionary.clear();
    }
  }
  for (size_t i = 0; i < field.children.size(); ++i)
    AddChange(Store(field.children[i], is_changed), i, field.children.size(), change);
  return change;
}

// As Store, for a column of lists of numbers that have a fixed length, here or in the table.
// `same`: the description of the table's column; null if there is none. `as_bytes`: whether a
// column stores the lists as bytes.
absl::Status StoreLists(const ArrowField* same, bool as_bytes, ArrowField& column,
                        FieldChange& change) {
  const size_t width = ListWidth(column), kept_width = same == nullptr ? 0 : ListWidth(*same);
  const bool is_list = (column.format == "+l" || column.format == "+L") && kept_width > 0 &&
                       column.children.size() == 1 &&
                       column.children[0].format == same->children[0].format;
  if (width > 0 && kept_width > 0 && width != kept_width) {
    return absl::InvalidArgumentError(StrCat("Arrow field ", column.name,
                                             ": the column has lists of ", kept_width,
                                             " elements, found lists of ", width));
  }
  if (width > 0 && kept_width > 0 && as_bytes &&
      column.children[0].format != same->children[0].format) {
    return absl::InvalidArgumentError(
        StrCat("Arrow field ", column.name, ": the column has lists of numbers of another type"));
  }
  if (!(width > 0 && as_bytes) && !is_list) return absl::OkStatus();
  change.lists = width > 0 ? column : *same;
  change.large_lists = column.format == "+L";
  change.own = !as_bytes   ? Change::kToFixedLists
               : width > 0 ? Change::kFixedListsToBytes
                           : Change::kListsToBytes;
  if (as_bytes) column.children.clear();
  column.format = as_bytes ? StrCat("w:", ListBytes(change.lists)) : same->format;
  return absl::OkStatus();
}

// Adds the metadata of a described field to `field`. `is_storage`: its extension type, too.
void AddMetadata(const ArrowField& described, bool is_storage, ArrowField& field) {
  for (const auto& pair : described.metadata) {
    if (!pair.first.starts_with("cfile.") &&
        (is_storage || !pair.first.starts_with(kExtensionPrefix))) {
      field.metadata.push_back(pair);
    }
  }
}

using IsNull = absl::FunctionRef<bool(const std::string& column)>;

// Gives a field its described type. Returns what changes in its arrays. `path`: the name of the
// column if the field has no children. `top`: true if the field is not a child of another field.
FieldChange Restore(const ArrowField& described, const std::string& path, IsNull is_null,
                    ArrowField& field, bool top = true) {
  if (const ArrowField& runs = WithoutRuns(described); &runs != &described) {
    AddMetadata(described, false, field);
    return Restore(runs, path, is_null, field, top);
  }
  const ArrowField& values = ValuesOf(described);
  FieldChange change;
  const std::string_view format = values.format;
  if (format == "n") {
    // The import of a Parquet file makes a column of int32.
    const bool is_stored = Family(field.format) == "u" || field.format == "i";
    if (is_stored && field.dictionary.empty() && is_null(path)) {
      change.own = Change::kToNull;
      field.format = format;
    }
  } else if (format == "e" && field.format == "f") {
    change.own = Change::kFloatToHalf;
    field.format = format;
  } else if (format == "e" ? field.format == "w:2" : field.format == StoredFormat(format)) {
    field.format = format;
  }
  const bool is_bytes =
      top && ListBytes(described) > 0 && field.format == StrCat("w:", ListBytes(described));
  const bool is_storage = is_bytes || IsStorage(field, described, top);
  if (is_bytes || (is_storage && field.format != format && format.starts_with("+w:"))) {
    change.own = is_bytes ? Change::kBytesToFixedLists : Change::kToFixedLists;
    change.lists = described;
    field.format = format;
    if (is_bytes)
      field.children = {{.format = described.children[0].format,
                         .name = described.children[0].name,
                         .flags = described.children[0].flags}};
  }
  AddMetadata(described, is_storage, field);
  const bool is_list = field.format == "+l" || field.format.starts_with("+w:");
  for (size_t i = 0; i < field.children.size(); ++i) {
    const ArrowField* const child = SameChild(field, i, &described);
    if (child == nullptr) continue;
    const std::string name = is_list                ? "list.element"
                             : field.format == "+m" ? "key_value"
                                                    : field.children[i].name;
    AddChange(Restore(*child, StrCat(path, ".", name), is_null, field.children[i], false), i,
              field.children.size(), change);
  }
  return change;
}

}  // namespace
}  // namespace internal

absl::StatusOr<std::vector<std::pair<std::string, std::string>>> StoreArrowTypes(
    const std::optional<DescribedTable>& table, const std::vector<std::string>& byte_lists,
    ArrowArrayStream* stream) {
  using namespace internal;
  CFILE_ASSIGN_OR_RETURN(ArrowField type, TypeOf(stream));
  ArrowField kept = type;
  const std::optional<ArrowField> known =
      table ? ParseArrowSchema(table->arrow_schema) : std::nullopt;
  const auto contains = [](const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  const bool is_struct = type.format == "+s";
  bool is_changed = false, is_kept = false;
  FieldChange change;
  const std::vector<ArrowField*> columns = ColumnsOf(type);
  std::vector<bool> changed(columns.size());
  for (size_t i = 0; i < columns.size(); ++i) {
    ArrowField& column = *columns[i];
    CFILE_RETURN_IF_ERROR(CheckExtensions(column, column.name));
    is_kept |= column.format.starts_with("+w:");  // a column of lists does not know their length
    const ArrowField* same = nullptr;
    for (size_t k = 0; known && k < known->children.size(); ++k) {
      const ArrowField& field = known->children[k];
      if (field.name == column.name || !is_struct) same = &field;
    }
    const bool is_known = table && (!is_struct || contains(table->columns, column.name));
    if (is_known) CFILE_RETURN_IF_ERROR(CheckSame(column, same, column.name));
    const bool as_bytes = contains(byte_lists, is_struct ? column.name : "") &&
                          (!is_known || (same != nullptr && ListWidth(*same) > 0));
    FieldChange of_column;
    CFILE_RETURN_IF_ERROR(StoreLists(is_known ? same : nullptr, as_bytes, column, of_column));
    bool changes = of_column.any();
    if (!changes) of_column = Store(column, changes);
    changed[i] = changes;
    is_changed |= changes;
    if (is_struct)
      AddChange(std::move(of_column), i, columns.size(), change);
    else
      change = std::move(of_column);
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
  // A type that the text cannot describe, for example Polars' integers of 128 bits, comes back as
  // the column has it.
  std::string text = WriteArrowSchema(kept);
  for (size_t i = kept.children.size(); text.empty() && i-- > 0;) {
    ArrowField& column = kept.children[i];
    if (!WriteArrowSchema({.format = "+s", .children = {column}}).empty()) continue;
    if (changed[i] || KeepMetadata(column)) {
      return absl::UnimplementedError(
          StrCat("Arrow field ", column.name, ": ", kArrowSchema, " cannot describe the type"));
    }
    kept.children.erase(kept.children.begin() + static_cast<std::ptrdiff_t>(i));
  }
  if (text.empty()) text = WriteArrowSchema(kept);
  if (is_changed) Replace(std::move(type), std::move(change), stream);
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
  FieldChange change;
  const bool is_rows = type.format == "+s" && type.name.empty();
  const std::vector<ArrowField*> columns =
      is_rows ? ColumnsOf(type) : std::vector<ArrowField*>{&type};
  for (size_t i = 0; i < columns.size(); ++i) {
    ArrowField& column = *columns[i];
    std::erase_if(column.metadata, [](const auto& pair) { return pair.first == kArrowSchema; });
    const auto field = std::find_if(described->children.begin(), described->children.end(),
                                    [&](const auto& child) { return child.name == column.name; });
    if (field == described->children.end()) continue;
    FieldChange of_column = Restore(*field, column.name, is_null, column);
    if (is_rows)
      AddChange(std::move(of_column), i, columns.size(), change);
    else
      change = std::move(of_column);
  }
  if (is_rows) {
    for (const auto& pair : described->metadata) {
      if (pair.first != "pandas" && !pair.first.starts_with("cfile."))
        type.metadata.push_back(pair);
    }
  }
  Replace(std::move(type), std::move(change), stream);
  return absl::OkStatus();
}

std::string ChangeArrowSchema(std::string_view arrow_schema,
                              const std::map<std::string, std::string>& renamed,
                              std::string_view other, const std::vector<std::string>& added) {
  using namespace internal;
  std::optional<ArrowField> described = ParseArrowSchema(arrow_schema);
  if (!described && !arrow_schema.empty()) return std::string(arrow_schema);
  if (!described) described = {.format = "+s"};
  std::vector<ArrowField>& fields = described->children;
  const auto is_added = [&](const ArrowField& field) {
    return std::find(added.begin(), added.end(), field.name) != added.end();
  };
  for (ArrowField& field : fields) {
    if (const auto found = renamed.find(field.name); found != renamed.end())
      field.name = found->second;
  }
  std::erase_if(fields, [&](const auto& field) { return field.name.empty() || is_added(field); });
  if (std::optional<ArrowField> from = ParseArrowSchema(other)) {
    for (ArrowField& field : from->children) {
      if (is_added(field)) fields.push_back(std::move(field));
    }
  }
  std::string text = WriteArrowSchema(*described);
  return text.empty() ? std::string(arrow_schema) : text;
}

}  // namespace cfile
