// Every call of a Source and of a Sink fails once: what Reader and Writer make of it.
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "cfile/inspect.h"
#include "cfile/reader.h"
#include "cfile/scan.h"
#include "cfile/writer.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/campaign/amount.h"
#include "tests/campaign/failing_io.h"
#include "tests/cfile/column_testing.h"

namespace cfile {
namespace {

using testing::HasSubstr;
using testing_support::Column;
using testing_support::FailingSink;
using testing_support::FailingSource;
using testing_support::Fault;

struct Case {
  std::string name;
  ColumnType type;
  WriterOptions options;
};

std::vector<Case> Cases() {
  std::vector<Case> cases;
  for (const bool value_index : {false, true}) {
    // Many small blocks and nodes: trees of some depth, and a call for each.
    const WriterOptions options{.value_index = value_index,
                                .block_size_bytes = 4000,
                                .max_values_per_block = 1000,
                                .index_block_size_bytes = 100};
    const std::string suffix = value_index ? "_indexed" : "";
    const auto add = [&](const std::string& name, const ColumnType& type, Encoding encoding,
                         Compression compression = Compression::kNone) {
      Case& added = cases.emplace_back(Case{name + suffix, type, options});
      added.options.encoding = encoding;
      added.options.compression = compression;
    };
    add("plain", ColumnType::Int64(), Encoding::kPlain);
    add("plain_lz4", ColumnType::Int64(), Encoding::kPlain, Compression::kLz4);
    add("prefix", ColumnType::String(), Encoding::kPrefix);
    add("dict", ColumnType::String(), Encoding::kDict);
    add("auto", ColumnType::String(), Encoding::kAuto, Compression::kDefault);
    if (!value_index) cases.back().options.nullable = true;
    cases.back().options.bloom_filter_bits_per_value = 10;
  }
  return cases;
}

constexpr size_t kRows = 20'000;

// Different values, long enough for a file of several times what a reader keeps of its ends.
template <typename T>
Column<T> ColumnOf(const Case& test) {
  std::mt19937_64 random(7);
  Column<T> column;
  for (size_t i = 0; i < kRows; ++i) {
    auto& row = column.rows.emplace_back();
    if (test.options.nullable && random() % 5 == 0) continue;
    if constexpr (std::is_same_v<T, std::string_view>) {
      row = std::to_string(1'000'000 + i) + std::to_string(random());
    } else {
      row = static_cast<T>(i << 32 | random() % 1'000'000);
    }
  }
  return column;
}

class FaultTest : public testing::TestWithParam<Case> {
 protected:
  // Calls `check` with the column's C++ type.
  template <typename Check>
  void ForColumn(Check check) {
    if (GetParam().type.physical() == PhysicalType::kBytes) {
      check(std::type_identity<std::string_view>());
    } else {
      check(std::type_identity<int64_t>());
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Columns, FaultTest, testing::ValuesIn(Cases()),
                         [](const auto& test) { return test.param.name; });

// Calls that succeed give what the model has; the first error is returned.
template <typename T>
absl::Status ReadAll(const Reader& reader, Cursor<T>& cursor, const Column<T>& column) {
  if (const absl::Status status = cursor.SeekToOrdinal(0); !status.ok()) return status;
  for (uint64_t ordinal = 0; ordinal < column.rows.size();) {
    const auto batch = cursor.Next(300);
    if (!batch.ok()) return batch.status();
    EXPECT_EQ(batch->first_ordinal, ordinal);
    testing_support::ExpectBatch(*batch, column);
    if (batch->empty()) break;
    ordinal += batch->size();
  }
  for (const uint64_t ordinal : {19'000u, 3u, 10'000u}) {
    const auto value = cursor.Get(ordinal);
    if (!value.ok()) return value.status();
    EXPECT_EQ(value->has_value(), column.rows[ordinal].has_value());
    if (*value) {
      EXPECT_TRUE(**value == T(*column.rows[ordinal]));
    }
  }
  OwnedBatch<T> taken;
  const std::vector<uint64_t> ordinals = {kRows - 1, 0, 1, 11'000, 2};
  if (const absl::Status status = cursor.Take(ordinals, taken); !status.ok()) return status;
  for (size_t i = 0; i < ordinals.size(); ++i) {
    EXPECT_TRUE(taken.batch().values[i] ==
                (column.rows[ordinals[i]] ? T(*column.rows[ordinals[i]]) : T{}));
  }
  if (reader.info().value_index_root) {
    const T keys[] = {T(*column.rows[12'000]), T(*column.rows[10])};
    KeyPosition positions[2];
    const auto found = cursor.SeekToKey(keys[0]);
    if (!found.ok()) return found.status();
    if (const absl::Status status = cursor.SeekMany(keys, positions); !status.ok()) return status;
    EXPECT_EQ(positions[0].ordinal, found->ordinal);
    EXPECT_TRUE(found->exact && positions[1].exact);
    EXPECT_EQ(positions[1].ordinal, 10);
  }
  const T wanted = column.rows[1] ? T(*column.rows[1]) : T{};
  auto scan = Scan<T>::Open(reader, Predicate<T>::Equal(wanted));
  if (!scan.ok()) return scan.status();
  while (true) {
    const auto rows = scan->Next();
    if (!rows.ok()) return rows.status();
    if (rows->empty()) return absl::OkStatus();
  }
}

void ExpectInjected(const absl::Status& status, absl::StatusCode code) {
  EXPECT_EQ(status.code(), code) << status;
  EXPECT_THAT(status.message(), HasSubstr("ReadAt test: made to fail"));
}

// kUnavailable: an error of the disk. kDataLoss: a read that found the file shorter.
TEST_P(FaultTest, EachReadFails) {
  ForColumn([&]<typename T>(std::type_identity<T>) {
    const Column<T> column = ColumnOf<T>(GetParam());
    const auto bytes = testing_support::WriteColumn(GetParam().type, GetParam().options, column);
    for (const absl::StatusCode code :
         {absl::StatusCode::kUnavailable, absl::StatusCode::kDataLoss}) {
      const auto fault = std::make_shared<Fault>(code);
      const auto source = std::make_shared<FailingSource>(NewMemorySource(bytes, "test"), fault);
      for (int64_t number = 1;; ++number) {
        ASSERT_LT(number, 100'000);
        const ReaderOptions options{.block_cache = std::make_shared<BlockCache>(1 << 16),
                                    .read_ahead_bytes = 10'000};
        fault->Arm(number);
        auto reader = Reader::Open(source, options);
        if (!reader.ok()) {
          ExpectInjected(reader.status(), code);
          reader = Reader::Open(source, options);
          ASSERT_TRUE(reader.ok()) << reader.status();
        }
        auto cursor = reader->template NewCursor<T>();
        if (!cursor.ok()) {
          ExpectInjected(cursor.status(), code);
          cursor = reader->template NewCursor<T>();
          ASSERT_TRUE(cursor.ok()) << cursor.status();
        }
        // The same cursor goes on after the call that failed.
        if (const absl::Status status = ReadAll(*reader, *cursor, column); !status.ok()) {
          ExpectInjected(status, code);
          const absl::Status again = ReadAll(*reader, *cursor, column);
          ASSERT_TRUE(again.ok()) << again;
        }
        if (HasFailure()) FAIL() << "read " << number;
        if (!fault->fired()) {
          EXPECT_GT(number, 10);
          campaign::Done("failed_reads", static_cast<uint64_t>(number) - 1);
          break;
        }
      }
    }
  });
}

// A scan that goes on with Next after an error gives the rows that the error kept back.
TEST_P(FaultTest, NextGoesOnAfterAFailedRead) {
  ForColumn([&]<typename T>(std::type_identity<T>) {
    const Column<T> column = ColumnOf<T>(GetParam());
    const auto fault = std::make_shared<Fault>(absl::StatusCode::kUnavailable);
    const auto source = std::make_shared<FailingSource>(
        NewMemorySource(testing_support::WriteColumn(GetParam().type, GetParam().options, column),
                        "test"),
        fault);
    const auto reader = Reader::Open(
        source, {.block_cache = std::make_shared<BlockCache>(1 << 16), .read_ahead_bytes = 10'000});
    ASSERT_TRUE(reader.ok()) << reader.status();
    for (int64_t number = 1;; ++number) {
      auto cursor = reader->template NewCursor<T>();
      ASSERT_TRUE(cursor.ok()) << cursor.status();
      fault->Arm(number);
      for (uint64_t ordinal = 0; ordinal < column.rows.size();) {
        const auto batch = cursor->Next(300);
        ASSERT_EQ(cursor->ordinal(), batch.ok() ? ordinal + batch->size() : ordinal);
        if (!batch.ok()) {
          ExpectInjected(batch.status(), absl::StatusCode::kUnavailable);
          if (HasFailure()) return;
          continue;
        }
        ASSERT_EQ(batch->first_ordinal, ordinal);
        testing_support::ExpectBatch(*batch, column);
        ASSERT_FALSE(batch->empty());
        ordinal += batch->size();
      }
      if (!fault->fired()) {
        campaign::Done("failed_reads", static_cast<uint64_t>(number) - 1);
        break;
      }
    }
  });
}

TEST_P(FaultTest, EachReadOfVerifyFails) {
  ForColumn([&]<typename T>(std::type_identity<T>) {
    const auto fault = std::make_shared<Fault>(absl::StatusCode::kUnavailable);
    const auto source = std::make_shared<FailingSource>(
        NewMemorySource(testing_support::WriteColumn(GetParam().type, GetParam().options,
                                                     ColumnOf<T>(GetParam())),
                        "test"),
        fault);
    for (int64_t number = 1;; ++number) {
      const auto reader = Reader::Open(source);
      ASSERT_TRUE(reader.ok()) << reader.status();
      fault->Arm(number);
      const VerifyReport report = Verify(*reader);
      if (!fault->fired()) {
        EXPECT_TRUE(report.ok()) << report.damages[0].status;
        EXPECT_EQ(report.values, kRows);
        campaign::Done("failed_reads", static_cast<uint64_t>(number) - 1);
        break;
      }
      ASSERT_FALSE(report.ok()) << "read " << number;
      ExpectInjected(report.damages[0].status, absl::StatusCode::kUnavailable);
      const VerifyReport again = Verify(*reader);
      ASSERT_TRUE(again.ok()) << again.damages[0].status;
    }
  });
}

// In turn each Append of the sink, and its Finish.
TEST_P(FaultTest, EachWriteFails) {
  ForColumn([&]<typename T>(std::type_identity<T>) {
    const Column<T> column = ColumnOf<T>(GetParam());
    const auto expected = testing_support::WriteColumn(GetParam().type, GetParam().options, column);
    const auto fault = std::make_shared<Fault>(absl::StatusCode::kResourceExhausted);
    bool finish_failed = false;
    for (int64_t number = 1;; ++number) {
      std::vector<uint8_t> bytes;
      int breaches = 0;
      fault->Arm(number);
      {
        auto writer = Writer<T>::Create(
            std::make_unique<FailingSink>(NewMemorySink(&bytes, "test"), fault, &breaches),
            GetParam().type, GetParam().options);
        absl::Status status = writer.status();
        if (status.ok()) {
          status = AppendColumn<T>(**writer, column, GetParam().options.nullable);
          if (status.ok()) status = (*writer)->Finish();
          if (!status.ok()) {
            EXPECT_EQ((*writer)->Append(std::span<const T>()), status);
            EXPECT_EQ((*writer)->AddMetadata("key", "value"), status);
            EXPECT_EQ((*writer)->Finish(), status);
          }
        }
        ASSERT_EQ(status.ok(), !fault->fired()) << status;
        if (!status.ok()) {
          EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
          const bool in_finish = status.message() == "Finish test: made to fail";
          EXPECT_TRUE(in_finish || status.message() == "Append test: made to fail") << status;
          finish_failed |= in_finish;
        }
      }
      EXPECT_EQ(breaches, 0);
      if (HasFailure()) FAIL() << "write " << number;
      if (!fault->fired()) {
        EXPECT_EQ(bytes, expected);
        campaign::Done("failed_writes", static_cast<uint64_t>(number) - 1);
        break;
      }
      EXPECT_TRUE(bytes.empty());
    }
    EXPECT_TRUE(finish_failed);
  });
}

}  // namespace
}  // namespace cfile
