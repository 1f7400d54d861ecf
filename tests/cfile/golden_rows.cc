#include "tests/cfile/golden_rows.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <string>

#include "cfile/inspect.h"
#include "encodings/core/key_order.h"
#include "gtest/gtest.h"

namespace cfile {

template <typename T>
void ExpectRow(const Batch<T>& batch, size_t i, const GoldenRows<T>& expected) {
  const uint64_t ordinal = batch.first_ordinal + i;
  ASSERT_LT(ordinal, expected.size());
  ASSERT_EQ(batch.IsValid(i), expected[ordinal].has_value()) << "ordinal " << ordinal;
  if (expected[ordinal]) {
    ASSERT_TRUE(encodings::KeyEqual<T>(batch.values[i], T(*expected[ordinal])))
        << "ordinal " << ordinal;
  } else {
    ASSERT_TRUE(encodings::KeyEqual<T>(batch.values[i], T{}))
        << "a null shows bytes, ordinal " << ordinal;
  }
}

namespace {

template <typename T>
void CheckScan(const Reader& reader, const GoldenRows<T>& expected, size_t max_rows) {
  auto cursor = reader.NewCursor<T>();
  ASSERT_TRUE(cursor.ok()) << cursor.status();
  uint64_t ordinal = 0;
  while (true) {
    const auto batch = cursor->Next(max_rows);
    ASSERT_TRUE(batch.ok()) << batch.status();
    if (batch->empty()) break;
    ASSERT_EQ(batch->first_ordinal, ordinal);
    for (size_t i = 0; i < batch->size(); ++i) {
      ExpectRow(*batch, i, expected);
      if (testing::Test::HasFatalFailure()) return;
    }
    ordinal += batch->size();
  }
  EXPECT_EQ(ordinal, expected.size());
}

template <typename T>
void CheckSeeks(const Reader& reader, const GoldenRows<T>& expected, std::mt19937_64& random) {
  auto cursor = reader.NewCursor<T>();
  ASSERT_TRUE(cursor.ok()) << cursor.status();
  for (int i = 0; i < 300; ++i) {
    const uint64_t ordinal = random() % (expected.size() + 1);
    ASSERT_TRUE(cursor->SeekToOrdinal(ordinal).ok());
    EXPECT_EQ(cursor->ordinal(), ordinal);
    const auto batch = cursor->Next(1 + random() % 20);
    ASSERT_TRUE(batch.ok()) << batch.status();
    ASSERT_EQ(batch->empty(), ordinal == expected.size());
    for (size_t row = 0; row < batch->size(); ++row) {
      ExpectRow(*batch, row, expected);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
  EXPECT_TRUE(absl::IsOutOfRange(cursor->SeekToOrdinal(expected.size() + 1)));
}

// Seeks existing keys and the keys directly before and after them.
template <typename T>
void CheckKeys(const Reader& reader, const GoldenRows<T>& expected, std::mt19937_64& random) {
  auto cursor = reader.NewCursor<T>();
  ASSERT_TRUE(cursor.ok()) << cursor.status();
  const auto check = [&](const Owned<T>& key) {
    const auto at = std::lower_bound(
        expected.begin(), expected.end(), key,
        [](const auto& value, const auto& wanted) { return T(*value) < T(wanted); });
    const auto found = cursor->SeekToKey(T(key));
    ASSERT_TRUE(found.ok()) << found.status();
    ASSERT_EQ(found->ordinal, static_cast<uint64_t>(at - expected.begin()));
    ASSERT_EQ(found->exact, at != expected.end() && T(**at) == T(key));
    const auto batch = cursor->Next(3);
    ASSERT_TRUE(batch.ok()) << batch.status();
    ASSERT_EQ(batch->empty(), at == expected.end());
    for (size_t row = 0; row < batch->size(); ++row) ExpectRow(*batch, row, expected);
  };
  for (int i = 0; i < 300; ++i) {
    Owned<T> key = *expected[random() % expected.size()];
    check(key);
    if constexpr (encodings::kIsBytes<T>) {
      if (reader.type().physical() == PhysicalType::kFixedBytes) continue;
      check(key + std::string(1, '\0'));
      if (!key.empty()) {
        key.back() = static_cast<char>(key.back() - 1);
        check(key);
        key.pop_back();
        check(key);
      }
    } else if constexpr (encodings::kIsInteger<T>) {
      if (key < std::numeric_limits<T>::max()) check(static_cast<T>(key + 1));
      if (key > std::numeric_limits<T>::min()) check(static_cast<T>(key - 1));
    }
    if (testing::Test::HasFatalFailure()) return;
  }
}

}  // namespace

template <typename T>
void CheckGoldenRows(const Reader& reader, const GoldenRows<T>& expected) {
  const FileInfo& info = reader.info();
  ASSERT_EQ(expected.size(), info.num_rows);
  for (const size_t max_rows : {65536, 1000, 7}) CheckScan<T>(reader, expected, max_rows);
  std::mt19937_64 random(expected.size());
  if (info.positional_index_root) {
    CheckSeeks<T>(reader, expected, random);
  } else {
    EXPECT_EQ(reader.NewCursor<T>()->SeekToOrdinal(1).code(),
              absl::StatusCode::kFailedPrecondition);
  }
  if (info.value_index_root && !expected.empty()) CheckKeys<T>(reader, expected, random);
  const VerifyReport report = Verify(reader);
  EXPECT_TRUE(report.ok()) << report.damages[0].status;
  EXPECT_EQ(report.num_rows, info.num_rows);
  EXPECT_EQ(report.bytes_checked, info.file_size_bytes);
}

#define CFILE_INSTANTIATE(T)                                                 \
  template void ExpectRow<T>(const Batch<T>&, size_t, const GoldenRows<T>&); \
  template void CheckGoldenRows<T>(const Reader&, const GoldenRows<T>&);
CFILE_FOR_EACH_VALUE_TYPE(CFILE_INSTANTIATE)
#undef CFILE_INSTANTIATE

}  // namespace cfile
