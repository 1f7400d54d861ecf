// A writer's memory does not grow with the number of rows. The tests write 100 million rows under a
// memory limit that the kernel enforces.
#include <sys/resource.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "cfile/writer.h"
#include "gtest/gtest.h"
#include "tests/cfile/scripted_io.h"
#include "tests/sanitizers.h"

namespace cfile::bounded_memory_test {

using testing_support::ScriptedSink;

size_t AddressSpaceBytes() {
  size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * 4096;
}

// While this object exists, the process can map at most `bytes` more than at construction.
class MemoryLimit {
 public:
  explicit MemoryLimit(size_t bytes) {
    getrlimit(RLIMIT_AS, &before_);
    const rlimit limit{AddressSpaceBytes() + bytes, before_.rlim_max};
    if (!kSanitized) setrlimit(RLIMIT_AS, &limit);
  }
  ~MemoryLimit() { setrlimit(RLIMIT_AS, &before_); }

 private:
  rlimit before_;
};

constexpr size_t kBatch = 10'000;

void WriteAHundredMillionRows(bool statistics, size_t most_bytes) {
  const MemoryLimit limit(16 << 20);
  auto writer = Writer<int64_t>::Create(std::make_unique<ScriptedSink>(), ColumnType::Int64(),
                                        {.encoding = Encoding::kPlain,
                                         .value_index = true,
                                         .block_size_bytes = 4096,
                                         .statistics = statistics});
  ASSERT_TRUE(writer.ok());
  std::vector<int64_t> values(kBatch);
  size_t peak = 0;
  for (int64_t row = 0; row < 100'000'000; row += kBatch) {
    for (size_t i = 0; i < kBatch; ++i) values[i] = row + static_cast<int64_t>(i);
    ASSERT_TRUE(writer->Append(values).ok());
    peak = std::max(peak, writer->memory_usage_bytes());
  }
  ASSERT_TRUE(writer->Finish().ok());
  EXPECT_EQ(writer->totals().num_rows, 100'000'000u);
  EXPECT_LT(peak, most_bytes);
  std::printf("%zu bytes held at most, %zu bytes written\n", peak,
              static_cast<size_t>(writer->totals().bytes_written));
}

TEST(BoundedMemory, AHundredMillionRowsInSixteenMegabytes) {
  WriteAHundredMillionRows(/*statistics=*/false, 1 << 20);
}

// The statistics of blocks may take half of max_block_size_bytes: here 8 MiB.
TEST(BoundedMemory, StatisticsOfTwoHundredThousandBlocks) {
  WriteAHundredMillionRows(/*statistics=*/true, 9 << 20);
}

TEST(BoundedMemory, TwentyMillionStringsInSixteenMegabytes) {
  const MemoryLimit limit(16 << 20);
  auto writer =
      Writer<std::string_view>::Create(std::make_unique<ScriptedSink>(), ColumnType::String(),
                                       {.encoding = Encoding::kPrefix, .value_index = true});
  ASSERT_TRUE(writer.ok());
  std::vector<char> text(kBatch * 16);
  std::vector<std::string_view> values(kBatch);
  size_t peak = 0;
  for (size_t row = 0; row < 20'000'000; row += kBatch) {
    for (size_t i = 0; i < kBatch; ++i) {
      char* key = &text[16 * i];
      size_t rest = row + i;
      for (int digit = 15; digit >= 0; --digit, rest /= 10)
        key[digit] = static_cast<char>('0' + rest % 10);
      values[i] = {key, 16};
    }
    ASSERT_TRUE(writer->Append(values).ok());
    peak = std::max(peak, writer->memory_usage_bytes());
  }
  ASSERT_TRUE(writer->Finish().ok());
  EXPECT_LT(peak, 2u << 20);
}

// When the writer chooses the encodings, the memory of the dictionary, the sample and the encoders
// is bounded, and memory_usage_bytes includes this memory. The values alternate, a million rows at
// a time: words from a small set, then keys that never repeat.
TEST(BoundedMemory, TwentyMillionChosenValuesInThirtyTwoMegabytes) {
  const MemoryLimit limit(32 << 20);
  auto writer =
      Writer<std::string_view>::Create(std::make_unique<ScriptedSink>(), ColumnType::String(), {});
  ASSERT_TRUE(writer.ok());
  std::vector<char> text(kBatch * 16, 'x');
  std::vector<std::string_view> values(kBatch);
  size_t peak = 0, least = SIZE_MAX;
  for (size_t row = 0; row < 20'000'000; row += kBatch) {
    for (size_t i = 0; i < kBatch; ++i) {
      char* key = &text[16 * i];
      size_t rest = row / 1'000'000 % 2 == 0 ? (row + i) * 7919 % 10'000 : row + i;
      for (int digit = 15; digit >= 0; --digit, rest /= 10)
        key[digit] = static_cast<char>('0' + rest % 10);
      values[i] = {key, 16};
    }
    ASSERT_TRUE(writer->Append(values).ok());
    peak = std::max(peak, writer->memory_usage_bytes());
    if (row > 0) least = std::min(least, writer->memory_usage_bytes());
  }
  ASSERT_TRUE(writer->Finish().ok());
  EXPECT_LT(peak, 16u << 20);
  // The writer reports at least the size of the 10,000 words and their codes.
  EXPECT_GT(least, 10'000u * (16 + 8));
  std::printf("%zu bytes held at most\n", peak);
}

}  // namespace cfile::bounded_memory_test
