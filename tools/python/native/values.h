// Stored values (cfile/_native.pyi) between Python and the library.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "cfile/filter.h"
#include "cfile/schema.h"
#include "cfile/types.h"
#include "tools/python/native/errors.h"

namespace cfile_python {

// All functions need the interpreter lock. They raise TypeError for an object of a wrong type, and
// OverflowError for a number that has more than 128 bits.

// Returns the constant for a comparison with a column of type `type`.
cfile::Literal LiteralOf(nb::handle value, const cfile::ColumnType& type);

// Returns the filter that `tuple` describes. `schema`: of the table. ValueError: the tuple is not a
// filter, or has no such column.
cfile::Filter FilterOf(nb::handle tuple, const cfile::Schema& schema);

// Returns the stored value as an object of Python. Bytes of a string column become str if they are
// UTF-8.
template <cfile::ValueType T>
nb::object ToPython(const T& value, const cfile::ColumnType& type);

// A key to search in a column. A number outside of the range of T has the nearest value of T, and
// `beyond` says on which side it is. A number between two values of T has the greater one.
template <cfile::ValueType T>
struct Key {
  T value{};          // a view into the object of Python if T is std::string_view
  int beyond = 0;     // -1: less than all values of T; 1: greater
  bool exact = true;  // the value is the key
};
template <cfile::ValueType T>
Key<T> KeyOf(nb::handle value);

// The ordinals in a buffer of uint64, or a sequence. IndexError: one is not a row.
std::vector<uint64_t> OrdinalsOf(nb::handle object, uint64_t num_rows);

// The bytes of a compound key, or of its first values; None is null. OverflowError also if a number
// is outside of the range of its column. ValueError: the table has no key columns, or fewer than
// there are values; a null of a column that is not nullable; NaN; a wrong number of bytes.
std::string CompoundBytes(const cfile::Schema& schema, nb::handle values);

}  // namespace cfile_python
