#include "tools/dump/column_text.h"

#include <cmath>
#include <type_traits>

#include "tools/output.h"
#include "tools/utf8.h"
#include "tools/value_meaning.h"
#include "tools/value_text.h"

namespace cfile::tools {
namespace {

// True if a JSON reader that stores numbers as double reads `value` exactly.
template <typename T>
bool IsExactInJson(const T& value) {
  if constexpr (std::is_same_v<T, int64_t>) {
    return -(int64_t{1} << 53) <= value && value <= int64_t{1} << 53;
  } else if constexpr (std::is_same_v<T, uint64_t>) {
    return value <= uint64_t{1} << 53;
  } else if constexpr (std::is_floating_point_v<T>) {
    return std::isfinite(value);
  } else {
    return true;
  }
}

// The text of a value. Uses `buffer` if the value is not a text.
template <typename T>
std::string_view TextOf(const ColumnType& type, const T& value, std::string& buffer) {
  if constexpr (std::is_same_v<T, std::string_view>) {
    if (IsText(type)) return value;
  }
  buffer.clear();
  AppendText<T>(type, value, buffer);
  return buffer;
}

template <typename T>
void AppendValueTo(const ColumnType& type, bool json_number, const T& value, Form form,
                   std::string& buffer, std::string& out) {
  if (form == Form::kHex) {
    if constexpr (std::is_same_v<T, std::string_view>) {
      if (value.empty()) out += "\"\"";
      AppendHex(value, out);
    } else {
      AppendHex({reinterpret_cast<const char*>(&value), sizeof(value)}, out);
    }
  } else if (form == Form::kJson) {
    if (json_number && IsExactInJson(value)) {
      AppendJsonNumber<T>(type, value, out);
    } else {
      AppendJsonBytes(TextOf(type, value, buffer), out);
    }
  } else if constexpr (std::is_same_v<T, std::string_view>) {
    AppendPrintable(TextOf(type, value, buffer), out);
  } else {
    AppendText<T>(type, value, out);
  }
}

template <typename T>
class TypedColumnText final : public ColumnText {
 public:
  explicit TypedColumnText(const ColumnType& type)
      : type_(type), json_number_(IsJsonNumber(type)) {}

  void Open(const TableBatch& batch, size_t column) override { batch_ = batch.column<T>(column); }

  void Append(size_t row, Form form, std::string& out) override {
    if (batch_.IsValid(row)) {
      AppendValueTo<T>(type_, json_number_, batch_.values[row], form, buffer_, out);
    } else {
      out += "null";
    }
  }

 private:
  const ColumnType type_;
  const bool json_number_;
  Batch<T> batch_;
  std::string buffer_;
};

}  // namespace

template <ValueType T>
void AppendValue(const ColumnType& type, const T& value, Form form, std::string& out) {
  std::string buffer;
  AppendValueTo<T>(type, IsJsonNumber(type), value, form, buffer, out);
}
template <ValueType T>
Json JsonValue(const ColumnType& type, const T& value) {
  std::string text;
  if (!IsJsonNumber(type) || !IsExactInJson(value)) return JsonOf(TextOf(type, value, text));
  AppendJsonNumber<T>(type, value, text);
  return Json::FromText(text);
}
#define CFILE_INSTANTIATE(T)                                                     \
  template void AppendValue<T>(const ColumnType&, const T&, Form, std::string&); \
  template Json JsonValue<T>(const ColumnType&, const T&);
CFILE_FOR_EACH_VALUE_TYPE(CFILE_INSTANTIATE)
#undef CFILE_INSTANTIATE

std::unique_ptr<ColumnText> NewColumnText(const ColumnType& type) {
  return VisitType(type, [&]<typename T>(std::type_identity<T>) -> std::unique_ptr<ColumnText> {
    return std::make_unique<TypedColumnText<T>>(type);
  });
}

}  // namespace cfile::tools
