#include "cfile/parts/parquet/pandas_metadata.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "cfile/parts/arrow/field_tree.h"
#include "encodings/core/physical_type.h"

namespace cfile::internal {
namespace {

constexpr std::string_view kSpace = " \t\r\n";

std::string_view WithoutSpace(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(kSpace), text.size()));
  return text.substr(0, text.find_last_not_of(kSpace) + 1);
}

// Returns the text as a string of JSON.
std::string Quoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20) {
      absl::StrAppend(&quoted, "\\u", absl::Hex(static_cast<unsigned char>(c), absl::kZeroPad4));
      continue;
    }
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

// An element of a list, or a member of an object.
struct Item {
  std::string_view key;  // "": an element
  std::string_view value;
};

// Reads an escape at the beginning of a text: backslash, u, and four hexadecimal digits.
std::optional<uint32_t> UnicodeEscape(std::string_view text) {
  uint32_t value = 0;
  if (text.size() < 6 || !text.starts_with("\\u")) return std::nullopt;
  if (!absl::SimpleHexAtoi(absl::string_view(text.data() + 2, 4), &value)) return std::nullopt;
  return value;
}

// Replaces two kinds of escapes that JSON has and C does not have: an escaped slash, and a pair of
// escapes (UTF-16 surrogates) that stands for one character.
std::string WithEscapesOfC(std::string_view text) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      result += text[i];
      continue;
    }
    const auto high = UnicodeEscape(text.substr(i));
    const auto low = high && *high >> 10 == 0x36 ? UnicodeEscape(text.substr(i + 6)) : std::nullopt;
    if (low && *low >> 10 == 0x37) {
      const uint32_t character = 0x10000 + ((*high & 0x3ff) << 10) + (*low & 0x3ff);
      absl::StrAppend(&result, "\\U", absl::Hex(character, absl::kZeroPad8));
      i += 11;
      continue;
    }
    if (text[++i] != '/') result += '\\';
    result += text[i];
  }
  return result;
}

// Returns the string of a JSON text; nullopt if the text is not a string.
std::optional<std::string> StringOf(std::string_view text) {
  std::string string;
  if (text.size() < 2 || text.front() != '"' || text.back() != '"') return std::nullopt;
  if (!absl::CUnescape(WithEscapesOfC(text.substr(1, text.size() - 2)), &string))
    return std::nullopt;
  return string;
}

// Returns the items of a list or an object. nullopt: the brackets do not match. Looks only at
// brackets, commas, colons and strings; the items may be wrong in themselves.
std::optional<std::vector<Item>> ItemsOf(std::string_view text) {
  if (text.size() < 2 || (text[0] != '[' && text[0] != '{')) return std::nullopt;
  const bool is_object = text[0] == '{';
  if (text.back() != (is_object ? '}' : ']')) return std::nullopt;
  text = WithoutSpace(text.substr(1, text.size() - 2));
  std::vector<Item> items;
  if (text.empty()) return items;
  size_t depth = 0, begin = 0;
  std::optional<size_t> colon;
  const auto end_item = [&](size_t end) {
    const size_t value = colon ? *colon + 1 : begin;
    items.push_back({.key = colon ? WithoutSpace(text.substr(begin, *colon - begin)) : "",
                     .value = WithoutSpace(text.substr(value, end - value))});
    begin = end + 1;
    const bool good = colon.has_value() == is_object && !items.back().value.empty();
    colon.reset();
    return good;
  };
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') {
      for (++i; i < text.size() && text[i] != '"'; ++i) i += text[i] == '\\';
      if (i >= text.size()) return std::nullopt;
    } else if (c == '[' || c == '{') {
      ++depth;
    } else if (c == ']' || c == '}') {
      if (depth-- == 0) return std::nullopt;
    } else if (depth == 0 && c == ':' && !colon) {
      colon = i;
    } else if (depth == 0 && c == ',' && !end_item(i)) {
      return std::nullopt;
    }
  }
  if (depth > 0 || !end_item(text.size())) return std::nullopt;
  return items;
}

// Returns the value of a member of an object; "" if there is none.
std::string_view Find(const std::vector<Item>& object, std::string_view key) {
  const auto found = std::find_if(object.begin(), object.end(),
                                  [&](const Item& item) { return StringOf(item.key) == key; });
  return found == object.end() ? "" : found->value;
}

// Returns the list with changed(element) instead of each element, and without those for which it is
// nullopt. Returns nullopt if the text is not a list.
template <typename Changed>
std::optional<std::string> WithChanged(std::string_view list, const Changed& changed) {
  const auto elements = ItemsOf(list);
  if (!elements || list[0] != '[') return std::nullopt;
  std::string result = "[";
  bool all_stay = true;
  for (const Item& element : *elements) {
    const std::optional<std::string> text = changed(element.value);
    all_stay &= text == element.value;
    if (!text) continue;
    if (result.size() > 1) result += ", ";
    result += *text;
  }
  return all_stay ? std::string(list) : result + "]";
}

// The description of a column whose categories have no order.
std::string WithoutOrder(std::string_view column, const std::vector<Item>& members) {
  const auto metadata = ItemsOf(Find(members, "metadata"));
  const std::string_view ordered = metadata ? Find(*metadata, "ordered") : "";
  if (ordered != "true") return std::string(column);
  const auto begin = static_cast<size_t>(ordered.data() - column.data());
  return std::string(column).replace(begin, ordered.size(), "false");
}

// True if the object describes a RangeIndex of this number of rows, or another kind of index.
bool HasRows(const std::vector<Item>& index, std::optional<uint64_t> num_rows) {
  if (StringOf(Find(index, "kind")) != "range") return true;
  int64_t start, stop, step;
  const auto read = [&](std::string_view key, int64_t& number) {
    const std::string_view text = Find(index, key);
    return absl::SimpleAtoi(absl::string_view(text.data(), text.size()), &number);
  };
  if (!num_rows || !read("start", start) || !read("stop", stop) || !read("step", step) || step == 0)
    return false;
  using encodings::int128_t;
  const int128_t distance = int128_t{stop} - start;
  const int128_t rows = (distance + step - (step > 0 ? 1 : -1)) / step;
  return std::max<int128_t>(rows, 0) == static_cast<int128_t>(*num_rows);
}

}  // namespace

std::string DescribeForPandas(std::string_view description, std::optional<uint64_t> num_rows,
                              absl::FunctionRef<bool(std::string_view name)> has_column,
                              absl::FunctionRef<bool(std::string_view name)> has_order) {
  description = WithoutSpace(description);
  const auto members = ItemsOf(description);
  if (!members || !description.starts_with('{')) return "";
  const auto column_of = [&](std::string_view object) -> std::optional<std::string> {
    const auto column = ItemsOf(object);
    const auto name = column ? StringOf(Find(*column, "field_name")) : std::nullopt;
    if (!name.has_value() || !has_column(*name)) return std::nullopt;
    return has_order(*name) ? std::string(object) : WithoutOrder(object, *column);
  };
  const auto index_of = [&](std::string_view index) -> std::optional<std::string> {
    const auto object = ItemsOf(index);
    const auto name = object ? std::nullopt : StringOf(index);
    const bool stays = object ? HasRows(*object, num_rows) : name.has_value() && has_column(*name);
    return stays ? std::optional(std::string(index)) : std::nullopt;
  };
  std::string result;
  size_t done = 0;
  for (const Item& member : *members) {
    const std::optional<std::string> key = StringOf(member.key);
    if (key != "columns" && key != "index_columns") continue;
    const auto list = key == "columns" ? WithChanged(member.value, column_of)
                                       : WithChanged(member.value, index_of);
    if (!list) return "";
    const auto begin = static_cast<size_t>(member.value.data() - description.data());
    result.append(description.substr(done, begin - done)).append(*list);
    done = begin + member.value.size();
  }
  return result.append(description.substr(done));
}

bool AreCategories(const std::vector<std::string>& values) {
  const std::set<std::string_view> different(values.begin(), values.end());
  return different.size() == values.size() &&
         std::all_of(values.begin(), values.end(), [](const auto& text) { return IsUtf8(text); });
}

Categories ParseCategories(std::string_view text) {
  Categories categories;
  text = WithoutSpace(text);
  const auto members = ItemsOf(text);
  if (!members || text[0] != '{') return categories;
  for (const Item& member : *members) {
    const auto name = StringOf(member.key);
    const auto elements = ItemsOf(member.value);
    if (!name || !elements || member.value[0] != '[') continue;
    std::vector<std::string> values;
    for (const Item& element : *elements) {
      if (auto value = StringOf(element.value)) values.push_back(*std::move(value));
    }
    if (values.size() == elements->size() && AreCategories(values))
      categories.insert_or_assign(*name, std::move(values));
  }
  return categories;
}

std::string WriteCategories(const Categories& categories) {
  std::string text = "{";
  for (const auto& [column, values] : categories) {
    absl::StrAppend(&text, text.size() > 1 ? ", " : "", Quoted(column), ": [");
    for (const std::string& value : values)
      absl::StrAppend(&text, text.back() == '[' ? "" : ", ", Quoted(value));
    text += "]";
  }
  return text + "}";
}

}  // namespace cfile::internal
