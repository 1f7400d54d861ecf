// Builds the structs of the Arrow C interfaces by hand.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "cfile/arrow_c_data.h"
#include "cfile/record_schema.h"
#include "cfile/types.h"
#include "nlohmann/json.hpp"

namespace cfile {

using Json = nlohmann::json;

// The type of a field. Of a dictionary-encoded or run-end-encoded field: the type of its values.
struct Shape {
  std::string format;
  std::string name;
  bool nullable = true;
  std::vector<Shape> children;
  enum class Encoding { kPlain, kDictionary, kRunEnds } encoding = Encoding::kPlain;
  char index = 'i';  // the format of indexes and run ends
  std::vector<std::pair<std::string, std::string>> metadata;
};

// An ArrowSchema and the memory that it points to. Tests may change all of it. The
// structs own nothing.
struct BuiltSchema {
  ArrowSchema c{};
  std::string format, name, metadata;
  std::vector<std::unique_ptr<BuiltSchema>> children;
  std::vector<ArrowSchema*> pointers;
  std::unique_ptr<BuiltSchema> dictionary;
};
std::unique_ptr<BuiltSchema> BuildSchema(const Shape& shape);

// The metadata in Arrow's binary form.
std::string MetadataBytes(const std::vector<std::pair<std::string, std::string>>& metadata);

// The same for an ArrowArray.
struct BuiltArray {
  ArrowArray c{};
  std::vector<std::vector<uint8_t>> buffers;
  std::vector<const void*> buffer_pointers;
  std::vector<std::unique_ptr<BuiltArray>> children;
  std::vector<ArrowArray*> pointers;
  std::unique_ptr<BuiltArray> dictionary;

  // Sets the pointers of `c`. An empty buffer becomes null.
  void Point();
};

// How arrays are built.
struct BuildOptions {
  bool slices = true;   // offsets, and values before and after the slice
  bool garbage = true;  // values where a null is
};

// Builds an array of `shape` that holds `values`. A value is null, a leaf's value as ValueToJson
// gives it, an array of elements, or an object of fields (a map is an array of objects with the
// fields "key" and "value").
std::unique_ptr<BuiltArray> BuildArray(const Shape& shape, const std::vector<Json>& values,
                                       std::mt19937_64& random, const BuildOptions& options = {});

// A random value of `shape`, null only if it is nullable.
Json RandomArrowValue(const Shape& shape, std::mt19937_64& random);

// The record, or the part of a record below `node`, that a table returns for `value`.
Json RecordOf(const RecordSchema& schema, size_t node, const Json& value);

// A stream of a schema and arrays. Must outlive the ArrowArrayStream.
class BuiltStream {
 public:
  std::unique_ptr<BuiltSchema> schema;
  std::vector<std::unique_ptr<BuiltArray>> arrays;
  int schema_error = 0;
  int next_error = 0;  // after the last array
  const char* error_text = "the stream's own text";

  // Gives the stream away.
  ArrowArrayStream* Open();
  // What was given away, and what was released: the stream, the schema and the arrays.
  int given = 0;
  int released = 0;

 private:
  static int GetSchema(ArrowArrayStream* stream, ArrowSchema* out);
  static int GetNext(ArrowArrayStream* stream, ArrowArray* out);

  ArrowArrayStream stream_{};
  size_t next_ = 0;
};

}  // namespace cfile
