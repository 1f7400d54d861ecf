// Measures how the costs of a file grow with its rows.
#include <algorithm>

#include "cfile/inspect.h"
#include "cfile/reader.h"
#include "cfile/writer.h"
#include "comparison_data.h"
#include "file_comparison.h"

namespace cfile::benchmarks {
namespace {

constexpr size_t kAppendedRows = 65536;
constexpr size_t kLookups = 20'000;

// The number of levels and nodes of an index; 0 if the file does not have the index.
struct IndexShape {
  uint32_t depth = 0;
  uint64_t nodes = 0;
};
IndexShape ShapeOf(const Reader& reader, IndexKind kind) {
  IndexShape shape;
  OrDie(VisitIndex(reader, kind, [&](const IndexNodeInfo& node) {
    shape.depth = std::max(shape.depth, node.depth + 1);
    ++shape.nodes;
    return true;
  }));
  return shape;
}

// Writes a file of `rows` rows in pieces, and reads it by scans and seeks. `next` returns the
// values of the rows [begin, end). look_up(cursor, ordinal) seeks the row with this ordinal.
template <typename T, typename Next, typename LookUp>
void MeasureFile(const std::string& data, const std::string& path, const ColumnType& type,
                 const WriterOptions& options, size_t rows, Next next, LookUp look_up) {
  double write = 0;
  size_t memory_bytes = 0;
  auto writer = OrDie(Writer<T>::Create(OpenUnsyncedFile(path), type, options));
  for (size_t begin = 0; begin < rows; begin += kAppendedRows) {
    const std::vector<T>& values = next(begin, std::min(begin + kAppendedRows, rows));
    const double started = ProcessorSeconds();
    OrDie(writer.Append(values));
    write += ProcessorSeconds() - started;
    memory_bytes = std::max(memory_bytes, writer.memory_usage_bytes());
  }
  const double started = ProcessorSeconds();
  OrDie(writer.Finish());
  write += ProcessorSeconds() - started;

  const double open = MedianSeconds([&] {
    const auto reader = OrDie(Reader::Open(path));
    Keep(&reader);
  });
  const double scan = MedianSeconds([&] { Scan<T>(OrDie(Reader::Open(path))); });
  const auto reader = OrDie(Reader::Open(path));
  auto cursor = OrDie(reader.NewCursor<T>());
  const auto ordinals = RandomOrdinals(rows, kLookups);
  const double seek = MedianSeconds([&] {
    for (const uint64_t ordinal : ordinals) look_up(cursor, ordinal);
  });

  const IndexShape positional = ShapeOf(reader, IndexKind::kPositional);
  const IndexShape value = ShapeOf(reader, IndexKind::kValue);
  uint64_t blocks = 0;
  OrDie(VisitBlocks(reader, [&](const BlockInfo&) {
    ++blocks;
    return true;
  }));
  const double count = static_cast<double>(rows);
  std::printf(
      "{\"data\": \"%s\", \"rows\": %zu, \"write_rate\": %.6g, \"memory_kib\": %zu, "
      "\"bytes_per_value\": %.6g, \"open_us\": %.6g, \"scan_rate\": %.6g, \"seek_us\": %.6g, "
      "\"blocks\": %zu, \"positional_depth\": %u, \"positional_nodes\": %zu, \"value_depth\": %u, "
      "\"value_nodes\": %zu}\n",
      data.c_str(), rows, count / write / 1e6, memory_bytes / 1024,
      static_cast<double>(std::filesystem::file_size(path)) / count, open * 1e6, count / scan / 1e6,
      seek / kLookups * 1e6, static_cast<size_t>(blocks), positional.depth,
      static_cast<size_t>(positional.nodes), value.depth, static_cast<size_t>(value.nodes));
  std::fflush(stdout);
  std::filesystem::remove(path);
}

void MeasureNumbers(const std::string& data, const std::string& path, Encoding encoding,
                    size_t rows) {
  std::mt19937_64 random(1);
  std::vector<int64_t> values;
  MeasureFile<int64_t>(
      data, path, ColumnType::Int64(), {.encoding = encoding}, rows,
      [&](size_t begin, size_t end) -> const std::vector<int64_t>& {
        values.clear();
        for (size_t i = begin; i < end; ++i)
          values.push_back(
              static_cast<int64_t>(1'600'000'000'000'000 + i * 1000 + random() % 1000));
        return values;
      },
      [](Cursor<int64_t>& cursor, uint64_t ordinal) {
        const auto value = OrDie(cursor.Get(ordinal));
        Keep(&value);
      });
}

void MeasureStrings(const std::string& path, size_t rows) {
  std::vector<std::string> keys;
  std::vector<std::string_view> values;
  MeasureFile<std::string_view>(
      "keys, prefix", path, ColumnType::String(),
      {.encoding = Encoding::kPrefix, .value_index = true}, rows,
      [&](size_t begin, size_t end) -> const std::vector<std::string_view>& {
        keys.clear();
        for (size_t i = begin; i < end; ++i) keys.push_back(encodings::SortedKey(i));
        values.assign(keys.begin(), keys.end());
        return values;
      },
      [](Cursor<std::string_view>& cursor, uint64_t ordinal) {
        const auto found = OrDie(cursor.SeekToKey(encodings::SortedKey(ordinal)));
        Check(found.ordinal == ordinal, "a key is found where it is");
      });
}

}  // namespace

void MeasureScale(size_t max_rows, const std::string& directory) {
  const std::string path = directory + "/scale.cfile";
  for (size_t rows = 10'000; rows <= max_rows; rows *= 10) {
    MeasureNumbers("sequence, plain", path, Encoding::kPlain, rows);
    MeasureNumbers("sequence, delta", path, Encoding::kParquetDeltaBinaryPacked, rows);
    MeasureStrings(path, rows);
  }
}

}  // namespace cfile::benchmarks
