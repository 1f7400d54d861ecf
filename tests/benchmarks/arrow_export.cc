// Writes the files that arrow_export.py reads.
// Their columns have encodings that Parquet also has.
//
//   arrow_export DIRECTORY ROWS [CODEC]
//
// Prints a line of JSON for each file: its name, and the encoding's name in Parquet.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cfile/levels.h"
#include "cfile/reader.h"
#include "cfile/table.h"
#include "cfile/writer.h"
#include "comparison_data.h"
#include "or_die.h"

namespace cfile {
namespace {

using benchmarks::OrDie;

std::string directory;
Compression compression = Compression::kNone;

void Tell(const std::string& name, const char* parquet) {
  std::printf("{\"name\": \"%s\", \"parquet\": \"%s\"}\n", name.c_str(), parquet);
}

WriterOptions Options(Encoding encoding, bool nullable = false) {
  return {.encoding = encoding, .compression = compression, .nullable = nullable};
}

template <typename T>
void Write(const std::string& data, const ColumnType& type, std::span<const T> values,
           std::span<const uint8_t> validity, Encoding encoding, const char* parquet) {
  const std::string name = data + "-" + EncodingName(encoding);
  auto writer = OrDie(Writer<T>::Create(directory + "/" + name + ".cfile", type,
                                        Options(encoding, !validity.empty())));
  OrDie(validity.empty() ? writer.Append(values) : writer.Append(values, validity));
  OrDie(writer.Finish());
  Tell(name, parquet);
}

template <typename T>
void Write(const std::string& data, const ColumnType& type, const std::vector<T>& values,
           Encoding encoding, const char* parquet) {
  Write<T>(data, type, std::span<const T>(values), {}, encoding, parquet);
}

// About one row of ten is null.
std::vector<uint8_t> SomeNulls(size_t count) {
  std::mt19937_64 random(7);
  std::vector<uint8_t> bits((count + 7) / 8, 0xff);
  for (size_t i = 0; i < count; ++i) {
    if (random() % 10 == 0) bits[i / 8] &= static_cast<uint8_t>(~(1u << i % 8));
  }
  return bits;
}

// Lists of 0 to 8 numbers.
void WriteLists(size_t count) {
  std::mt19937_64 random(8);
  std::vector<uint16_t> repetition;
  std::vector<uint16_t> definition;
  std::vector<int32_t> values;
  while (values.size() < count) {
    const size_t length = random() % 9;
    for (size_t i = 0; i < length; ++i) {
      repetition.push_back(i > 0);
      definition.push_back(2);
      values.push_back(static_cast<int32_t>(random() % 100'000));
    }
    if (length > 0) continue;
    repetition.push_back(0);
    definition.push_back(1);
  }
  for (const Encoding encoding : {Encoding::kPlain, Encoding::kParquetDeltaBinaryPacked}) {
    const std::string name = "lists-" + EncodingName(encoding);
    auto writer = OrDie(LevelWriter<int32_t>::Create(
        directory + "/" + name + ".cfile", ColumnType::Int32(),
        {.max_repetition = 1, .max_definition = 2}, Options(encoding)));
    OrDie(writer.Append(repetition, definition, values));
    OrDie(writer.Finish());
    Tell(name, encoding == Encoding::kPlain ? "PLAIN" : "DELTA_BINARY_PACKED");
  }
}

// A table of 20 columns of several types, all of them plain.
void WriteTable(size_t count) {
  const auto sequence = encodings::SequentialInts<int64_t>(count);
  const auto small = encodings::SmallInts<int32_t>(count);
  const auto walk = encodings::WalkDoubles(count);
  const auto keys = encodings::SortedKeys(count);
  const auto words = encodings::Words(count);
  const std::vector<uint8_t> validity = SomeNulls(count);
  Schema schema;
  for (int i = 0; i < 20; ++i) {
    const ColumnType types[] = {ColumnType::Int64(), ColumnType::Int32(), ColumnType::Double(),
                                ColumnType::Int32(),
                                i < 10 ? ColumnType::Int64() : ColumnType::String()};
    schema.columns.push_back(
        {.name = "c" + std::to_string(i), .type = types[i % 5], .nullable = i % 5 == 3});
  }
  const WriterOptions options = Options(Encoding::kPlain);
  auto writer = OrDie(TableWriter::Create(directory + "/table", schema, {&options, 1}));
  for (size_t i = 0; i < 20; ++i) {
    switch (i % 5) {
      case 0:
        OrDie(writer.Append<int64_t>(i, sequence));
        break;
      case 1:
        OrDie(writer.Append<int32_t>(i, small));
        break;
      case 2:
        OrDie(writer.Append<double>(i, walk));
        break;
      case 3:
        OrDie(writer.Append<int32_t>(i, small, validity));
        break;
      default:
        if (i < 10) {
          OrDie(writer.Append<int64_t>(i, sequence));
        } else {
          OrDie(writer.Append<std::string_view>(i, i == 14 ? keys.values : words.values));
        }
    }
  }
  OrDie(writer.Finish());
  Tell("table", "PLAIN");
}

void Main(size_t count) {
  const ColumnType int64 = ColumnType::Int64();
  const auto sequence = encodings::SequentialInts<int64_t>(count);
  Write(std::string("sequence"), int64, sequence, Encoding::kPlain, "PLAIN");
  Write(std::string("sequence"), int64, sequence, Encoding::kParquetDeltaBinaryPacked,
        "DELTA_BINARY_PACKED");
  const auto walk = encodings::WalkDoubles(count);
  Write(std::string("walk"), ColumnType::Double(), walk, Encoding::kPlain, "PLAIN");
  Write(std::string("walk"), ColumnType::Double(), walk, Encoding::kParquetByteStreamSplit,
        "BYTE_STREAM_SPLIT");
  const auto words = encodings::Words(count / 2);
  const ColumnType string = ColumnType::String();
  Write("words", string, words.values, Encoding::kPlain, "PLAIN");
  Write("words", string, words.values, Encoding::kParquetDeltaLengthByteArray,
        "DELTA_LENGTH_BYTE_ARRAY");
  Write("words", string, words.values, Encoding::kParquetDictionary, "DICTIONARY");
  const auto keys = encodings::SortedKeys(count / 2);
  Write("keys", string, keys.values, Encoding::kPlain, "PLAIN");
  Write("keys", string, keys.values, Encoding::kParquetDeltaByteArray, "DELTA_BYTE_ARRAY");
  const auto small = encodings::SmallInts<int32_t>(count);
  const std::vector<uint8_t> validity = SomeNulls(count);
  Write<int32_t>("nullable", ColumnType::Int32(), small, validity, Encoding::kPlain, "PLAIN");
  Write<int32_t>("nullable", ColumnType::Int32(), small, validity,
                 Encoding::kParquetDeltaBinaryPacked, "DELTA_BINARY_PACKED");
  WriteLists(count);
  WriteTable(count / 10);
}

}  // namespace
}  // namespace cfile

int main(int argc, char** argv) {
  if (argc != 3 && argc != 4) {
    std::fprintf(stderr, "usage: arrow_export DIRECTORY ROWS [CODEC]\n");
    return 2;
  }
  if (argc == 4) cfile::compression = cfile::benchmarks::OrDie(cfile::ParseCompression(argv[3]));
  cfile::directory = argv[1];
  cfile::Main(static_cast<size_t>(std::atoll(argv[2])));
}
