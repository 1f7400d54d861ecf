// Measures work with arrays in memory. Its figures are limits for the figures of files.
#include <cstring>
#include <memory>
#include <random>

#include "file_comparison.h"

namespace cfile::benchmarks {

std::vector<uint64_t> RandomOrdinals(size_t values, size_t count) {
  std::mt19937_64 random(3);
  std::vector<uint64_t> ordinals(count);
  for (uint64_t& ordinal : ordinals) ordinal = random() % values;
  return ordinals;
}

Queries RandomQueries(std::span<const std::string_view> keys, size_t count) {
  Queries queries;
  const auto ordinals = RandomOrdinals(keys.size(), count);
  for (const uint64_t ordinal : ordinals) queries.text += keys[ordinal];
  const std::string_view text = queries.text;
  size_t at = 0;
  for (const uint64_t ordinal : ordinals) {
    queries.keys.push_back(text.substr(at, keys[ordinal].size()));
    at += keys[ordinal].size();
  }
  return queries;
}

template <typename T>
void MeasureMemory(const Column<T>& column) {
  const std::vector<char> from(column.arrow_bytes, 1);
  std::vector<char> to(column.arrow_bytes);
  const double copy = MedianSeconds([&] {
    std::memcpy(to.data(), from.data(), from.size());
    Keep(to.data());
  });
  for (const char* work : {"scan", "scan again", "write"})
    PrintRate(column.name, work, "memcpy", column.values.size(), copy);

  // For strings, this also reads the bytes of each view.
  const auto ordinals = RandomOrdinals(column.values.size(), 10'000);
  const double read = MedianSeconds([&] {
    uint64_t sum = 0;
    for (const uint64_t ordinal : ordinals) {
      if constexpr (std::is_same_v<T, std::string_view>) {
        sum += static_cast<uint64_t>(column.values[ordinal].back());
      } else {
        sum += static_cast<uint64_t>(column.values[ordinal]);
      }
    }
    Keep(&sum);
  });
  PrintLatency(column.name, "take", "array", ordinals.size(), read);
  PrintLatency(column.name, "one row", "array", ordinals.size(), read);
}
template void MeasureMemory(const Column<int64_t>&);
template void MeasureMemory(const Column<double>&);
template void MeasureMemory(const Column<std::string_view>&);

void MeasureSortedArray(const Column<std::string_view>& column, const Queries& queries) {
  const double search = MedianSeconds([&] {
    for (const std::string_view key : queries.keys) {
      const auto found = std::lower_bound(column.values.begin(), column.values.end(), key);
      Check(found != column.values.end() && *found == key, "a key is found in the array");
    }
  });
  for (const char* work : {"seek", "seek many"})
    PrintLatency(column.name, work, "sorted array", queries.keys.size(), search);
}

}  // namespace cfile::benchmarks
