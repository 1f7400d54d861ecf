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

// The type of a field. If the field is dictionary-encoded or run-end-encoded,
// `format` is the format of the values.
struct Shape {
  std::string format;
  std::string name;
  bool nullable = true;
  std::vector<Shape> children;
  enum class Encoding { kPlain, kDictionary, kRunEnds } encoding = Encoding::kPlain;
  char index = 'i';  // the format of the dictionary indexes or of the run ends
  std::vector<std::pair<std::string, std::string>> metadata;
};

// An ArrowSchema and the memory to which the ArrowSchema points.
// BuiltSchema owns this memory. The ArrowSchema itself owns nothing. Tests may change everything.
struct BuiltSchema {
  ArrowSchema c{};
  std::string format, name, metadata;
  std::vector<std::unique_ptr<BuiltSchema>> children;
  std::vector<ArrowSchema*> pointers;
  std::unique_ptr<BuiltSchema> dictionary;
};
std::unique_ptr<BuiltSchema> BuildSchema(const Shape& shape);

// Returns the metadata in Arrow's binary form.
std::string MetadataBytes(const std::vector<std::pair<std::string, std::string>>& metadata);

// An ArrowArray and the memory to which the ArrowArray points.
// BuiltArray owns this memory. The ArrowArray itself owns nothing. Tests may change everything.
struct BuiltArray {
  ArrowArray c{};
  std::vector<std::vector<uint8_t>> buffers;
  std::vector<const void*> buffer_pointers;
  std::vector<std::unique_ptr<BuiltArray>> children;
  std::vector<ArrowArray*> pointers;
  std::unique_ptr<BuiltArray> dictionary;

  // Sets the pointers in `c`. The pointer to an empty buffer becomes null.
  void Point();
};

// Options of BuildArray.
struct BuildOptions {
  bool slices = true;   // arrays have an offset, and values before and after their rows
  bool garbage = true;  // the buffers have any values in the places of nulls
};

// Builds an array of `shape` that holds `values`.
// The value of a leaf has the form that ValueToJson returns.
// The value of a list is an array of its elements. The value of a group is an object of fields.
// The value of a map is an array of objects with the fields "key" and "value".
// Each value may also be null.
std::unique_ptr<BuiltArray> BuildArray(const Shape& shape, const std::vector<Json>& values,
                                       std::mt19937_64& random, const BuildOptions& options = {});

// Returns a random value of `shape`. The value may be null if `shape` is nullable.
Json RandomArrowValue(const Shape& shape, std::mt19937_64& random);

// Returns the record that a table returns for `value`.
// If `node` is not the root, `value` and the result are only the piece of a record below `node`.
Json RecordOf(const RecordSchema& schema, size_t node, const Json& value);

// A stream that has one schema and any number of arrays.
// The BuiltStream must live longer than the ArrowArrayStream that Open returns.
class BuiltStream {
 public:
  std::unique_ptr<BuiltSchema> schema;
  std::vector<std::unique_ptr<BuiltArray>> arrays;
  int schema_error = 0;
  int next_error = 0;  // what get_next returns after the last array
  const char* error_text = "the stream's own text";

  // Returns the stream. The caller must release it.
  ArrowArrayStream* Open();
  // `given` counts the structs that a consumer has got: the stream, the schema and the arrays.
  // `released` counts those of them that the consumer has released.
  int given = 0;
  int released = 0;

 private:
  static int GetSchema(ArrowArrayStream* stream, ArrowSchema* out);
  static int GetNext(ArrowArrayStream* stream, ArrowArray* out);

  ArrowArrayStream stream_{};
  size_t next_ = 0;
};

}  // namespace cfile
