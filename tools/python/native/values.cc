#include "tools/python/native/values.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <utility>
#include <vector>

#include "cfile/compound_key.h"
#include "cfile/filter.h"
#include "cfile/status.h"
#include "tools/python/native/errors.h"

namespace cfile_python {
namespace {

using cfile::ColumnType;
using cfile::DataType;
using cfile::Filter;
using cfile::int128_t;
using cfile::Int96;
using cfile::Literal;
using cfile::PredicateKind;
using cfile::uint128_t;

std::string TypeName(nb::handle value) {
  return nb::cast<std::string>(nb::type_name(value.type()));
}

[[noreturn]] void RaiseType(const char* expected, nb::handle value) {
  throw nb::type_error(cfile::StrCat("expected ", expected, ", got ", TypeName(value)).c_str());
}

// Returns the bytes of a str or of bytes, valid as long as `value`.
std::string_view BytesOf(nb::handle value) {
  if (PyUnicode_Check(value.ptr())) {
    Py_ssize_t size = 0;
    const char* const text = PyUnicode_AsUTF8AndSize(value.ptr(), &size);
    if (text == nullptr) throw nb::python_error();
    return {text, static_cast<size_t>(size)};
  }
  if (!PyBytes_Check(value.ptr())) RaiseType("str or bytes", value);
  char* bytes = nullptr;
  Py_ssize_t size = 0;
  if (PyBytes_AsStringAndSize(value.ptr(), &bytes, &size) != 0) throw nb::python_error();
  return {bytes, static_cast<size_t>(size)};
}

constexpr int128_t kLeast = std::numeric_limits<int64_t>::min() * (int128_t{1} << 64);
constexpr int128_t kGreatest = -(kLeast + 1);

// Returns the number, or the nearest one of 128 bits; `beyond` is then -1 or 1.
int128_t IntegerOf(nb::handle value, int& beyond) {
  const nb::object number =
      nb::steal(PyNumber_Index(value.ptr()));  // also takes bool and integers of NumPy
  if (!number.is_valid()) {
    PyErr_Clear();
    RaiseType("int", value);
  }
  int overflow = 0;
  const long long small = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
  if (overflow == 0) {
    if (small == -1 && PyErr_Occurred() != nullptr) throw nb::python_error();
    return small;
  }
  const nb::object high = number >> nb::int_(64);
  const long long top = PyLong_AsLongLongAndOverflow(high.ptr(), &overflow);
  if (overflow != 0) {
    beyond = overflow;
    return overflow < 0 ? kLeast : kGreatest;
  }
  const unsigned long long low = PyLong_AsUnsignedLongLongMask(number.ptr());
  return int128_t{top} * (int128_t{1} << 64) + int128_t{low};
}

double NumberOf(nb::handle value) {
  const double number = PyFloat_AsDouble(value.ptr());
  if (number == -1 && PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    RaiseType("float or int", value);
  }
  return number;
}

Int96 Int96Of(nb::handle value) {
  const std::string_view bytes = BytesOf(value);
  if (bytes.size() != sizeof(Int96)) throw nb::value_error("an int96 value has 12 bytes");
  Int96 number;
  std::memcpy(number.words, bytes.data(), sizeof(Int96));
  return number;
}

constexpr std::pair<std::string_view, PredicateKind> kKinds[] = {
    {"==", PredicateKind::kEqual},
    {"!=", PredicateKind::kNotEqual},
    {"<", PredicateKind::kLess},
    {"<=", PredicateKind::kLessOrEqual},
    {">", PredicateKind::kGreater},
    {">=", PredicateKind::kGreaterOrEqual},
    {"between", PredicateKind::kBetween},
    {"in", PredicateKind::kIn},
    {"prefix", PredicateKind::kHasPrefix},
    {"is_null", PredicateKind::kIsNull},
    {"is_not_null", PredicateKind::kIsNotNull},
    {"like", PredicateKind::kLike},
    {"ilike", PredicateKind::kILike},
    {"contains", PredicateKind::kContains},
    {"matches", PredicateKind::kMatches},
};

PredicateKind KindOf(std::string_view text) {
  for (const auto& [name, kind] : kKinds) {
    if (name == text) return kind;
  }
  throw nb::value_error(cfile::StrCat("there is no test ", text).c_str());
}

// Filters come from expressions that a user may nest as deep as memory allows.
constexpr int kMaxDepth = 500;

Filter FilterAt(nb::handle node, const cfile::Schema& schema, int depth) {
  if (depth > kMaxDepth) throw nb::value_error("the condition is nested too deeply");
  const nb::tuple parts = nb::cast<nb::tuple>(node);
  const std::string kind = nb::cast<std::string>(parts[0]);
  if (kind == "test") {
    const std::string column = nb::cast<std::string>(parts[1]);
    const std::optional<size_t> position = schema.Find(column);
    if (!position) throw nb::value_error(cfile::StrCat("there is no column ", column).c_str());
    std::vector<Literal> literals;
    for (const nb::handle value : nb::cast<nb::sequence>(parts[3])) {
      literals.push_back(LiteralOf(value, schema.columns[*position].type));
    }
    return {column, KindOf(nb::cast<std::string>(parts[2])), std::move(literals)};
  }
  if (kind == "text") return ValueOf(cfile::FilterOfText(nb::cast<std::string>(parts[1]), schema));
  if (kind == "columns") {
    return cfile::CompareColumns(nb::cast<std::string>(parts[1]),
                                 KindOf(nb::cast<std::string>(parts[2])),
                                 nb::cast<std::string>(parts[3]));
  }
  if (kind == "not") return {Filter::Kind::kNot, {FilterAt(parts[1], schema, depth + 1)}};
  if (kind != "and" && kind != "or")
    throw nb::value_error(cfile::StrCat("there is no condition ", kind).c_str());
  std::vector<Filter> operands;
  for (const nb::handle operand : nb::cast<nb::sequence>(parts[1])) {
    operands.push_back(FilterAt(operand, schema, depth + 1));
  }
  return {kind == "and" ? Filter::Kind::kAnd : Filter::Kind::kOr, std::move(operands)};
}

nb::object PythonInteger(int128_t value) {
  const nb::int_ high(static_cast<int64_t>(value >> 64));
  return (high << nb::int_(64)) | nb::int_(static_cast<uint64_t>(value));
}

}  // namespace

Literal LiteralOf(nb::handle value, const ColumnType& type) {
  if (type.data_type == DataType::kInt96) return Int96Of(value);
  if (PyBool_Check(value.ptr())) return value.is(Py_True);
  if (PyUnicode_Check(value.ptr()) || PyBytes_Check(value.ptr()))
    return std::string(BytesOf(value));
  if (PyFloat_Check(value.ptr())) return NumberOf(value);
  int beyond = 0;
  const int128_t number = IntegerOf(value, beyond);
  if (beyond != 0) throw std::overflow_error("the number has more than 128 bits");
  return number;
}

Filter FilterOf(nb::handle tuple, const cfile::Schema& schema) {
  return FilterAt(tuple, schema, 0);
}

template <cfile::ValueType T>
nb::object ToPython(const T& value, const ColumnType& type) {
  if constexpr (std::is_same_v<T, bool>) {
    return nb::bool_(value);
  } else if constexpr (std::is_same_v<T, int128_t>) {
    return PythonInteger(value);
  } else if constexpr (cfile::kIsInteger<T>) {
    return nb::int_(value);
  } else if constexpr (cfile::kIsFloat<T>) {
    return nb::float_(static_cast<double>(value));
  } else if constexpr (std::is_same_v<T, Int96>) {
    return nb::bytes(reinterpret_cast<const char*>(value.words), sizeof(Int96));
  } else {
    if (type.data_type == DataType::kString || type.data_type == DataType::kVarchar) {
      PyObject* const text =
          PyUnicode_DecodeUTF8(value.data(), static_cast<Py_ssize_t>(value.size()), nullptr);
      if (text != nullptr) return nb::steal(text);
      PyErr_Clear();
    }
    return nb::bytes(value.data(), value.size());
  }
}

template <cfile::ValueType T>
Key<T> KeyOf(nb::handle value) {
  Key<T> key;
  if constexpr (std::is_same_v<T, bool>) {
    if (!PyBool_Check(value.ptr())) RaiseType("bool", value);
    key.value = value.is(Py_True);
  } else if constexpr (cfile::kIsInteger<T>) {
    const int128_t number = IntegerOf(value, key.beyond);
    if constexpr (std::is_same_v<T, int128_t>) {
      key.value = number;
    } else {
      using Limits = std::numeric_limits<T>;
      if (number < int128_t{Limits::min()}) key.beyond = -1;
      if (number > int128_t{Limits::max()}) key.beyond = 1;
      key.value = key.beyond < 0   ? Limits::min()
                  : key.beyond > 0 ? Limits::max()
                                   : static_cast<T>(number);
    }
    key.exact = key.beyond == 0;
  } else if constexpr (std::is_same_v<T, float>) {
    // A number between two floats has the position of the greater one.
    const double number = NumberOf(value);
    key.value = static_cast<float>(number);
    key.exact = static_cast<double>(key.value) == number;
    if (static_cast<double>(key.value) < number) {
      key.value = std::nextafter(key.value, std::numeric_limits<float>::infinity());
    }
  } else if constexpr (std::is_same_v<T, double>) {
    key.value = NumberOf(value);
  } else if constexpr (std::is_same_v<T, Int96>) {
    key.value = Int96Of(value);
  } else {
    key.value = BytesOf(value);
  }
  return key;
}

namespace {

void AddToKey(cfile::CompoundKey& key, const cfile::KeyColumn& column, nb::handle value) {
  if (value.is_none()) {
    if (!column.nullable) throw nb::value_error("None in a key: the column has no nulls");
    key.AddNull();
    return;
  }
  cfile::VisitType(column.type, [&]<typename T>(std::type_identity<T>) {
    const Key<T> part = KeyOf<T>(value);
    if (part.beyond != 0)
      throw std::overflow_error("outside of the range of " + column.type.ToString());
    if (!cfile::IsKey(part.value)) throw nb::value_error("NaN cannot be a key");
    if constexpr (cfile::kIsBytes<T>) {
      if (column.type.physical() == cfile::PhysicalType::kFixedBytes &&
          part.value.size() != column.type.type_length) {
        throw nb::value_error(cfile::StrCat("a value of ", column.type.ToString(), " has ",
                                            column.type.type_length, " bytes")
                                  .c_str());
      }
    }
    key.Add<T>(part.value);
  });
}

}  // namespace

std::string CompoundBytes(const cfile::Schema& schema, nb::handle values) {
  if (!schema.key_index()) throw nb::value_error("the table has no key columns");
  const std::vector<cfile::KeyColumn> columns = schema.key_types();
  cfile::CompoundKey key(columns);
  size_t count = 0;
  for (const nb::handle value : nb::iter(values)) {
    if (count == columns.size()) throw nb::value_error("the key has more values than key columns");
    AddToKey(key, columns[count++], value);
  }
  return std::string(key.bytes());
}

std::vector<uint64_t> OrdinalsOf(nb::handle object, uint64_t num_rows) {
  std::vector<uint64_t> ordinals;
  const bool is_sequence = PyList_Check(object.ptr()) || PyTuple_Check(object.ptr());
  Py_buffer buffer;
  if (!is_sequence && PyObject_GetBuffer(object.ptr(), &buffer, PyBUF_FORMAT | PyBUF_ND) == 0) {
    const std::string_view format = buffer.format == nullptr ? "B" : buffer.format;
    const bool fits = buffer.itemsize == sizeof(uint64_t) && buffer.ndim == 1 &&
                      (format == "Q" || format == "L" || format == "=Q" || format == "<Q");
    if (fits) {
      ordinals.resize(buffer.len / sizeof(uint64_t));
      if (buffer.len > 0) std::memcpy(ordinals.data(), buffer.buf, buffer.len);
    }
    PyBuffer_Release(&buffer);
    if (!fits) throw nb::type_error("expected a buffer of uint64 with one dimension");
  } else {
    PyErr_Clear();
    for (const nb::handle ordinal : nb::iter(object))
      ordinals.push_back(nb::cast<uint64_t>(ordinal));
  }
  for (const uint64_t ordinal : ordinals) {
    if (ordinal < num_rows) continue;
    throw nb::index_error(cfile::StrCat("row ", ordinal, " of ", num_rows, " rows").c_str());
  }
  return ordinals;
}

#define CFILE_INSTANTIATE(T)                                                      \
  template nb::object ToPython<T>(const T& value, const cfile::ColumnType& type); \
  template Key<T> KeyOf<T>(nb::handle value);
CFILE_FOR_EACH_VALUE_TYPE(CFILE_INSTANTIATE)
#undef CFILE_INSTANTIATE

}  // namespace cfile_python
