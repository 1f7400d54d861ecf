#include "tools/json.h"

#include <algorithm>
#include <cassert>
#include <charconv>
#include <cmath>

#include "tools/utf8.h"

namespace cfile::tools {
namespace {

// Lays out JSON that has no spaces between its tokens.
std::string Indented(std::string_view json, size_t indent) {
  std::string out;
  size_t depth = 0;
  bool opened = false;  // the token before was [ or {
  const auto new_line = [&] { out.append("\n").append(indent * depth, ' '); };
  for (size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    const bool closes = c == ']' || c == '}';
    if (closes) --depth;
    if (closes != opened) new_line();  // [] and {} stay on their line
    opened = c == '[' || c == '{';
    if (opened) ++depth;
    out += c;
    if (c == ',') {
      new_line();
    } else if (c == ':') {
      out += ' ';
    } else if (c == '"') {
      while (json[++i] != '"') {
        out += json[i];
        if (json[i] == '\\') out += json[++i];
      }
      out += '"';
    }
  }
  return out;
}

}  // namespace

Json::Json(double value) : Json() {
  if (!std::isfinite(value)) return;
  const double size = std::abs(value);
  const bool fixed = size == 0 || (size >= 1e-4 && size < 1e15);
  char digits[32];
  const auto form = fixed ? std::chars_format::fixed : std::chars_format::scientific;
  text_.assign(digits, std::to_chars(digits, std::end(digits), value, form).ptr);
  if (fixed && text_.find('.') == text_.npos) text_ += ".0";
}

Json::Json(std::initializer_list<Member> members) : kind_(Kind::kObject) {
  for (const Member& member : members) {
    names_.emplace_back(member.name);
    items_.push_back(std::move(member.value));
  }
}

Json Json::FromText(std::string_view text) {
  double value = 0;
  if (text.find_first_of(".eE") != text.npos &&
      std::from_chars(text.data(), text.data() + text.size(), value).ec == std::errc()) {
    return value;
  }
  Json json;
  json.text_ = text;
  return json;
}

void Json::push_back(Json item) {
  assert(kind_ == Kind::kArray);
  items_.push_back(std::move(item));
}

Json& Json::operator[](std::string_view name) {
  if (is_null()) *this = object();
  assert(kind_ == Kind::kObject);
  const auto found = std::find(names_.begin(), names_.end(), name);
  if (found != names_.end()) return items_[static_cast<size_t>(found - names_.begin())];
  names_.emplace_back(name);
  return items_.emplace_back();
}

bool Json::contains(std::string_view name) const {
  return std::find(names_.begin(), names_.end(), name) != names_.end();
}

void Json::update(const Json& other) {
  for (size_t i = 0; i < other.names_.size(); ++i) (*this)[other.names_[i]] = other.items_[i];
}

std::string Json::dump(int indent) const {
  std::string text;
  Append(text);
  return indent < 0 ? text : Indented(text, static_cast<size_t>(indent));
}

std::string Json::Quoted(std::string_view text) {
  std::string out;
  AppendJsonBytes(IsUtf8(text) ? text : ReplaceInvalidUtf8(text), out);
  return out;
}

void Json::Append(std::string& out) const {
  if (kind_ == Kind::kText) {
    out += text_;
    return;
  }
  out += kind_ == Kind::kArray ? '[' : '{';
  for (size_t i = 0; i < items_.size(); ++i) {
    if (i > 0) out += ',';
    if (kind_ == Kind::kObject) out.append(Quoted(names_[i])).append(":");
    items_[i].Append(out);
  }
  out += kind_ == Kind::kArray ? ']' : '}';
}

}  // namespace cfile::tools
