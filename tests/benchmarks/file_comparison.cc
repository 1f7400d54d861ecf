// Compares files of this library with alternatives, on the same data in one run. Each figure is the
// median of five warm runs with one thread. Prints the figures as lines of JSON.
// tests/benchmarks/run adds the alternatives that need Python, and makes one table of all figures.
//
//   file_comparison DIRECTORY [DIVISOR]         10 million numbers, 5 million strings and 20 million
//                                               URLs, all divided by DIVISOR; the data stays in DIRECTORY for other programs
//   file_comparison --scale DIRECTORY MAX_ROWS  how costs grow with the rows of a file
#include "file_comparison.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "comparison_data.h"

namespace cfile::benchmarks {
namespace {

constexpr size_t kNumbers = 10'000'000;
constexpr size_t kStrings = 5'000'000;
constexpr size_t kManyStrings = 20'000'000;
constexpr size_t kQueries = 50'000;

// Returns the default options. Only a `sorted` column has a value index.
WriterOptions Default(bool sorted) { return {.value_index = sorted}; }

// Returns the options for the smallest file.
WriterOptions ForSize(bool sorted) { return {.goal = Goal::kSize, .value_index = sorted}; }

template <typename T>
void WriteValues(const std::string& path, const T* values, size_t count) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(values),
             static_cast<std::streamsize>(count * sizeof(T)));
  Check(file.good(), "cannot write " + path);
}

template <typename T>
void CompareNumbers(const std::string& directory, const std::string& name, const ColumnType& type,
                    std::vector<T> values, std::vector<FileOptions> files) {
  const Column<T> column{.name = name,
                         .type = type,
                         .values = values,
                         .arrow_bytes = values.size() * sizeof(T),
                         .files = std::move(files)};
  MeasureMemory(column);
  MeasureFiles(column, directory);
  WriteValues(directory + "/" + name + ".values", values.data(), values.size());
}

void CompareStrings(const std::string& directory, const std::string& name,
                    const encodings::StringColumn& strings, bool sorted,
                    std::vector<FileOptions> files) {
  const Column<std::string_view> column{
      .name = name,
      .type = ColumnType::String(),
      .values = strings.values,
      .arrow_bytes = strings.offsets.size() * sizeof(int32_t) + strings.text.size(),
      .files = std::move(files)};
  MeasureMemory(column);
  MeasureFiles(column, directory);
  if (sorted) {
    const Queries queries = RandomQueries(column.values, std::min(kQueries, column.values.size()));
    MeasureSeeks(column, queries, directory);
    MeasureSortedArray(column, queries);
    MeasureKeyValueStores(column, queries, directory);
  }
  WriteValues(directory + "/" + name + ".offsets", strings.offsets.data(), strings.offsets.size());
  WriteValues(directory + "/" + name + ".text", strings.text.data(), strings.text.size());
}

void Compare(const std::string& directory, size_t divisor) {
  const size_t numbers = kNumbers / divisor;
  const size_t strings = kStrings / divisor;
  CompareNumbers<int64_t>(directory, "sequence", ColumnType::Int64(),
                          encodings::SequentialInts<int64_t>(numbers),
                          {{"default", Default(false)},
                           {"plain", {.encoding = Encoding::kPlain}},
                           {"delta", {.encoding = Encoding::kParquetDeltaBinaryPacked}},
                           {"for", {.encoding = Encoding::kFor}},
                           {"compact", {.encoding = Encoding::kCompact}},
                           {"for size", ForSize(false)}});
  CompareNumbers<double>(directory, "walk", ColumnType::Double(), encodings::WalkDoubles(numbers),
                         {{"default", Default(false)},
                          {"plain", {.encoding = Encoding::kPlain}},
                          {"compact", {.encoding = Encoding::kCompact}},
                          {"for size", ForSize(false)}});
  CompareNumbers<double>(directory, "prices", ColumnType::Double(), encodings::Prices(numbers),
                         {{"default", Default(false)},
                          {"compact", {.encoding = Encoding::kCompact}},
                          {"for size", ForSize(false)}});
  CompareStrings(directory, "keys", encodings::SortedKeys(strings), true,
                 {{"default", Default(true)},
                  {"prefix", {.encoding = Encoding::kPrefix, .value_index = true}},
                  {"for size", ForSize(true)}});
  CompareStrings(directory, "words", encodings::Words(strings), false,
                 {{"default", Default(false)},
                  {"dictionary", {.encoding = Encoding::kDict}},
                  {"for size", ForSize(false)}});
  CompareStrings(directory, "urls", encodings::SortedUrls(strings), true,
                 {{"default", Default(true)},
                  {"prefix", {.encoding = Encoding::kPrefix, .value_index = true}},
                  {"for size", ForSize(true)}});
  MeasureCodes(numbers);
  MeasureManyUrls(kManyStrings / divisor, kQueries, directory);
}

int Main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.size() == 3 && arguments[0] == "--scale") {
    MeasureScale(std::strtoull(arguments[2].c_str(), nullptr, 10), arguments[1]);
    return 0;
  }
  const size_t divisor = arguments.size() == 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  if (arguments.empty() || arguments.size() > 2 || divisor == 0 || divisor > kStrings) {
    std::fprintf(stderr,
                 "usage: file_comparison DIRECTORY [DIVISOR]\n"
                 "       file_comparison --scale DIRECTORY MAX_ROWS\n");
    return 1;
  }
  Compare(arguments[0], divisor);
  return 0;
}

}  // namespace
}  // namespace cfile::benchmarks

int main(int argc, char** argv) { return cfile::benchmarks::Main(argc, argv); }
