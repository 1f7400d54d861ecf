#include "tests/cfile/column_testing.h"

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <type_traits>

#include "encodings/core/key_order.h"

namespace cfile::testing_support {

std::vector<Compression> BuiltInCompressions() {
  std::vector<Compression> built_in;
  for (const Compression compression : AllCompressions()) {
    if (CheckCompressionBuiltIn(compression).ok()) built_in.push_back(compression);
  }
  return built_in;
}

std::vector<ColumnType> AllColumnTypes() {
  return {ColumnType::Bool(),
          ColumnType::Int8(),
          ColumnType::Uint8(),
          ColumnType::Int16(),
          ColumnType::Uint16(),
          ColumnType::Int32(),
          ColumnType::Uint32(),
          ColumnType::Int64(),
          ColumnType::Uint64(),
          ColumnType::Int128(),
          ColumnType::Int96(),
          ColumnType::Float(),
          ColumnType::Double(),
          ColumnType::String(),
          ColumnType::Binary(),
          ColumnType::Varchar(),
          ColumnType::Date(),
          ColumnType::Timestamp(TimeUnit::kMicros),
          ColumnType::Timestamp(TimeUnit::kNanos, "Europe/Berlin"),
          ColumnType::Timestamp(TimeUnit::kMillis, ""),
          ColumnType::Time(TimeUnit::kMillis),
          ColumnType::Time(TimeUnit::kNanos),
          ColumnType::Decimal(9, 2),
          ColumnType::Decimal(18, 0),
          ColumnType::Decimal(38, 38),
          ColumnType::FixedBytes(5),
          ColumnType::Uuid()};
}

template <typename T>
Owned<T> RandomValue(const ColumnType& type, int spread, std::mt19937_64& random) {
  if constexpr (encodings::kIsBytes<T>) {
    std::string bytes;
    const bool fixed = type.physical() == PhysicalType::kFixedBytes;
    const size_t length = fixed ? type.type_length : random() % (spread == 0 ? 4 : 40);
    for (size_t i = 0; i < length; ++i)
      bytes.push_back(static_cast<char>(spread == 0 ? 'a' + random() % 2 : random()));
    return bytes;
  } else if constexpr (std::is_same_v<T, bool>) {
    return random() % 2 == 0;
  } else if constexpr (encodings::kIsFloat<T>) {
    return static_cast<T>(static_cast<int64_t>(random() % (spread == 0 ? 5 : 1000000)) - 2) /
           static_cast<T>(8);
  } else {
    const uint64_t high = random();
    const uint64_t bits = random();
    if (spread == 0) return static_cast<T>(bits % 5);
    if constexpr (sizeof(T) > 8)
      return static_cast<T>(static_cast<encodings::uint128_t>(high) << 64 | bits);
    return static_cast<T>(bits);
  }
}

template <typename T>
std::vector<T> Column<T>::Values() const {
  std::vector<T> values;
  for (const auto& row : rows) values.push_back(row ? T(*row) : T{});
  return values;
}

template <typename T>
std::vector<uint8_t> Column<T>::Validity() const {
  std::vector<uint8_t> bits((rows.size() + 7) / 8, 0);
  for (size_t i = 0; i < rows.size(); ++i) {
    if (rows[i]) bits[i / 8] = static_cast<uint8_t>(bits[i / 8] | 1 << (i % 8));
  }
  return bits;
}

// Copies the values first, because std::vector<bool> is not an array.
template <typename T>
absl::Status AppendColumn(Writer<T>& writer, const Column<T>& column, bool nullable) {
  const std::vector<T> values = column.Values();
  std::unique_ptr<T[]> array(new T[values.size()]);
  std::copy(values.begin(), values.end(), array.get());
  const std::span<const T> span(array.get(), values.size());
  return nullable ? writer.Append(span, column.Validity()) : writer.Append(span);
}

template <typename T>
Column<T> RandomColumn(const ColumnType& type, size_t num_rows, int null_percent, bool sorted,
                       std::mt19937_64& random) {
  Column<T> column;
  const int spread = static_cast<int>(random() % 2);
  while (column.rows.size() < num_rows) {
    const Owned<T> value = RandomValue<T>(type, spread, random);
    const size_t run = random() % 4 == 0 ? 1 + random() % 30 : 1;
    for (size_t i = 0; i < run && column.rows.size() < num_rows; ++i) {
      const bool null = static_cast<int>(random() % 100) < null_percent;
      column.rows.push_back(null ? std::nullopt : std::optional<Owned<T>>(value));
    }
  }
  if (sorted) {
    std::sort(column.rows.begin(), column.rows.end(),
              [](const auto& a, const auto& b) { return encodings::KeyLess<T>(T(*a), T(*b)); });
  }
  return column;
}

template <typename T>
std::vector<uint8_t> WriteColumn(const ColumnType& type, const WriterOptions& options,
                                 const Column<T>& column) {
  std::vector<uint8_t> file;
  auto writer = Writer<T>::Create(NewMemorySink(&file, "test"), type, options);
  EXPECT_TRUE(writer.ok()) << writer.status();
  if (!writer.ok()) return file;
  EXPECT_TRUE(AppendColumn<T>(*writer, column, options.nullable).ok());
  const absl::Status finished = writer->Finish();
  EXPECT_TRUE(finished.ok()) << finished;
  EXPECT_EQ(writer->totals().bytes_written, file.size());
  return file;
}

template <typename T>
void ExpectBatch(const Batch<T>& batch, const Column<T>& column) {
  uint64_t nulls = 0;
  for (size_t i = 0; i < batch.size(); ++i) {
    const uint64_t ordinal = batch.first_ordinal + i;
    ASSERT_LT(ordinal, column.rows.size());
    const auto& expected = column.rows[ordinal];
    ASSERT_EQ(batch.IsValid(i), expected.has_value()) << "ordinal " << ordinal;
    ASSERT_TRUE(encodings::KeyEqual<T>(batch.values[i], expected ? T(*expected) : T{}))
        << "ordinal " << ordinal;
    nulls += expected ? 0 : 1;
  }
  ASSERT_EQ(batch.null_count, nulls);
}

template <typename T>
void ExpectRest(Cursor<T>& cursor, const Column<T>& column, std::mt19937_64& random) {
  for (uint64_t ordinal = cursor.ordinal();;) {
    const auto batch = cursor.Next(1 + random() % 1000);
    ASSERT_TRUE(batch.ok()) << batch.status();
    ASSERT_EQ(batch->first_ordinal, ordinal);
    if (batch->empty()) {
      ASSERT_EQ(ordinal, column.rows.size());
      return;
    }
    ExpectBatch(*batch, column);
    if (testing::Test::HasFatalFailure()) return;
    ordinal += batch->size();
  }
}

#define CFILE_INSTANTIATE(T)                                                                  \
  template Owned<T> RandomValue<T>(const ColumnType&, int, std::mt19937_64&);                 \
  template struct Column<T>;                                                                  \
  template absl::Status AppendColumn<T>(Writer<T>&, const Column<T>&, bool);                  \
  template Column<T> RandomColumn<T>(const ColumnType&, size_t, int, bool, std::mt19937_64&); \
  template std::vector<uint8_t> WriteColumn<T>(const ColumnType&, const WriterOptions&,       \
                                               const Column<T>&);                             \
  template void ExpectBatch<T>(const Batch<T>&, const Column<T>&);                            \
  template void ExpectRest<T>(Cursor<T>&, const Column<T>&, std::mt19937_64&);
CFILE_FOR_EACH_VALUE_TYPE(CFILE_INSTANTIATE)
#undef CFILE_INSTANTIATE

}  // namespace cfile::testing_support
