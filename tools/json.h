// A JSON document that a tool prints.
#pragma once

#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cfile::tools {

// A value of any kind. The members of an object keep the order in which they were added. Braces
// make an object: Json json = {{"name", "a"}, {"place", {{"offset", 1}, {"size", 2}}}}.
// Thread-compatible.
class Json {
 public:
  struct Member;

  Json(std::nullptr_t = nullptr) : text_("null") {}
  Json(bool value) : text_(value ? "true" : "false") {}
  template <std::integral T>
  Json(T value) : text_(std::to_string(value)) {}
  // The shortest text that reads back exactly, with a point or an exponent; null if `value` is NaN
  // or infinite.
  Json(double value);
  // A string. U+FFFD replaces bytes that are not UTF-8.
  template <std::convertible_to<std::string_view> T>
  Json(const T& text) : text_(Quoted(text)) {}
  // Precondition: the names differ.
  Json(std::initializer_list<Member> members);

  static Json object() { return Json(Kind::kObject); }
  static Json array(std::initializer_list<Json> items = {}) { return {Kind::kArray, items}; }
  template <typename List>
  static Json array(const List& list) {
    Json json = array();
    for (const auto& item : list) json.push_back(item);
    return json;
  }
  // A value from its text. Precondition: `text` is valid JSON without spaces between its tokens.
  // A number with a point or an exponent becomes a double; all else is printed as it is.
  static Json FromText(std::string_view text);

  bool is_null() const { return kind_ == Kind::kText && text_ == "null"; }

  // The number of items or members. 0 for other values.
  size_t size() const { return items_.size(); }
  // Arrays. References are valid until the next push_back.
  void push_back(Json item);
  Json& operator[](size_t i) { return items_[i]; }
  Json& back() { return items_.back(); }
  // Objects. operator[] adds the member, as null, if there is none, and makes null an object.
  // References are valid until a member is added.
  Json& operator[](std::string_view name);
  bool contains(std::string_view name) const;
  // Sets the members of the object `other`.
  void update(const Json& other);

  // The text, in UTF-8. `indent`: the spaces before each line for each level of nesting; -1: one
  // line without spaces.
  std::string dump(int indent = -1) const;

 private:
  enum class Kind : unsigned char { kText, kArray, kObject };

  Json(Kind kind, std::vector<Json> items = {}) : kind_(kind), items_(std::move(items)) {}
  static std::string Quoted(std::string_view text);
  void Append(std::string& out) const;

  Kind kind_ = Kind::kText;
  std::string text_;                // kText: the text of the value
  std::vector<Json> items_;         // of an array, or the values of an object's members
  std::vector<std::string> names_;  // the names of an object's members
};

struct Json::Member {
  std::string_view name;
  mutable Json value;  // the constructor of the object moves it
};

}  // namespace cfile::tools
