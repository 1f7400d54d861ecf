// Keys of several columns: one string for the values of a row, so made that the unsigned order of
// the bytes is the order of the rows, the first column counting most (cfile/FORMAT.md, Compound
// keys). The same bytes as Apache Kudu's.
//
//   cfile::CompoundKey key({ColumnType::String(), ColumnType::Int32()});
//   key.Add<std::string_view>("EWR").Add<int32_t>(2013);      // a whole key
//   cursor->SeekToKey(key.bytes());                           // of a table's key_index() column
//   key.Clear().Add<std::string_view>("EWR");                 // the least of all keys with "EWR"
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "cfile/batch.h"
#include "cfile/options.h"
#include "cfile/types.h"

namespace cfile {

// Builds keys, or prefixes of keys, of given columns. Thread-compatible.
class CompoundKey {
 public:
  // The types of the key's columns, the most significant first; at least one.
  explicit CompoundKey(std::vector<ColumnType> types);

  // Begins a new key. Keeps the memory.
  CompoundKey& Clear();

  // Appends the value of the next column. Preconditions: not all columns have theirs;
  // HoldsType<T>(its type); fixed-length bytes have its length; the value is not NaN. T: as in
  // Writer.
  template <typename T>
  CompoundKey& Add(const T& value);

  // The key of the values added so far. With fewer than all columns it is the least of all keys
  // that begin with these values, and every such key begins with these bytes. Valid until the next
  // call.
  std::string_view bytes() const { return bytes_; }

 private:
  std::vector<ColumnType> types_;
  size_t next_ = 0;
  std::string bytes_;
};

// Takes a key apart, column by column in the key's order. Thread-compatible.
class CompoundKeyReader {
 public:
  // `bytes` must outlive the reader.
  CompoundKeyReader(std::vector<ColumnType> types, std::string_view bytes);

  // The value of the next column. Preconditions: not all columns were read;
  // HoldsType<T>(its type). kDataLoss: the bytes are not those of such a key.
  template <typename T>
  absl::StatusOr<Owned<T>> Next();

 private:
  std::vector<ColumnType> types_;
  size_t next_ = 0;
  std::string_view bytes_;
};

// How a file of compound keys is written, for a column of type binary: PREFIX, blocks of 4,096
// bytes, LZ4 where that was built in, found by value only; with Compatibility::kKudu byte for byte
// as Kudu writes it.
WriterOptions CompoundKeyOptions(Compatibility compatibility = Compatibility::kNone);

}  // namespace cfile
