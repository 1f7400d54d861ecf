// Compound keys: the values of several columns of a row as one string. The unsigned byte order of
// the strings is the order of the rows; the first column is the most significant (cfile/FORMAT.md,
// Compound keys). Without nullable columns, Apache Kudu's compound keys have the same bytes.
//
//   cfile::CompoundKey key({ColumnType::String(), ColumnType::Int32()});
//   key.Add<std::string_view>("EWR").Add<int32_t>(2013);      // a whole key
//   cursor->SeekToKey(key.bytes());                           // in the key_index() column
//   key.Clear().Add<std::string_view>("EWR");                 // the least key with "EWR"
//
// In compound keys, -0 and 0 are different values, and -0 comes first.
//
// Columns may be nullable. Their nulls sort before or after all values:
//
//   cfile::CompoundKey key({{.type = ColumnType::String(), .nullable = true, .nulls_last = true},
//                           {.type = ColumnType::Int32()}});
//   key.AddNull().Add<int32_t>(2013);
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "cfile/batch.h"
#include "cfile/options.h"
#include "cfile/schema.h"
#include "cfile/types.h"
#include "encodings/core/export.h"
#include "encodings/core/key_order.h"

namespace cfile {

// IsKey(value) says whether a value can be a part of a key. NaN cannot, because it has no order.
using encodings::IsKey;

// Builds compound keys, or prefixes of them. Thread-compatible.
class CFILE_EXPORT CompoundKey {
 public:
  // `columns`: the key's columns, the most significant first; at least one. For a table:
  // Schema::key_types.
  explicit CompoundKey(std::vector<KeyColumn> columns);
  // For columns that are not nullable.
  explicit CompoundKey(const std::vector<ColumnType>& types);

  // Removes all values, to begin a new key. Keeps the memory.
  CompoundKey& Clear();

  // Appends the value of the next column. T is the C++ type of the column's values. Preconditions:
  // at least one column has no value yet; HoldsType<T>(the column's type); a fixed-length value has
  // the column's length; the value is not NaN.
  template <typename T, typename = IfValueType<T>>
  CompoundKey& Add(const T& value);
  // Appends a null as the value of the next column. Preconditions: at least one column has no value
  // yet; the next column is nullable.
  CompoundKey& AddNull();

  // The key of the values added so far. If some columns have no value yet, the bytes are a prefix
  // of every key that begins with these values, and no such key is less than the bytes. Valid until
  // the next call.
  std::string_view bytes() const { return bytes_; }

 private:
  std::vector<KeyColumn> columns_;
  size_t next_ = 0;
  std::string bytes_;
};

// Reads the values of a compound key, column by column in the key's order. Thread-compatible.
class CFILE_EXPORT CompoundKeyReader {
 public:
  // `columns`: the key's columns, the most significant first. The memory of `bytes` must outlive
  // the reader.
  CompoundKeyReader(std::vector<KeyColumn> columns, std::string_view bytes);
  // For columns that are not nullable.
  CompoundKeyReader(const std::vector<ColumnType>& types, std::string_view bytes);

  // Returns the value of the next column; nullopt if it is null. Preconditions: at least one column
  // has not been read; HoldsType<T>(the column's type). kDataLoss: the bytes are not a key of these
  // columns.
  template <typename T, typename = IfValueType<T>>
  absl::StatusOr<std::optional<Owned<T>>> NextOrNull();
  // For a column that is not nullable.
  template <typename T, typename = IfValueType<T>>
  absl::StatusOr<Owned<T>> Next();

 private:
  // Both functions read from the front of bytes_.
  // ReadNull returns true if the value of a nullable column is null.
  absl::StatusOr<bool> ReadNull(size_t column);
  template <typename T>
  absl::StatusOr<Owned<T>> ReadValue(size_t column);
  absl::Status CutOff(size_t column) const;

  std::vector<KeyColumn> columns_;
  size_t next_ = 0;
  std::string_view bytes_;
};

// The options for a file of compound keys, a column of type binary: encoding PREFIX, blocks of
// 4,096 bytes, LZ4 if LZ4 was built in, and only a value index. With OldestReader::kKudu the file
// has exactly the bytes that Kudu writes.
CFILE_EXPORT WriterOptions CompoundKeyOptions(OldestReader oldest_reader = OldestReader::kDefault);

}  // namespace cfile
