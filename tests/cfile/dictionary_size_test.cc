// A file with a dictionary encoding is never larger than the PLAIN file, except for one byte per
// block without values. This byte holds the width of the codes.
#include <gtest/gtest.h>

#include "cfile/inspect.h"
#include "column_testing.h"

namespace cfile::testing_support::dictionary_size_test {

template <typename T>
void ExpectNoLarger(const ColumnType& type, size_t num_rows, int null_percent, size_t block_size,
                    std::mt19937_64& random) {
  SCOPED_TRACE(testing::Message() << type.ToString() << ", " << num_rows << " rows, "
                                  << null_percent << " % nulls, block size " << block_size);
  Column<T> column;
  const int spread = static_cast<int>(random() % 2);
  for (size_t i = 0; i < num_rows; ++i) {
    column.rows.push_back(RandomValue<T>(type, spread, random));
    if (static_cast<int>(random() % 100) < null_percent) column.rows.back().reset();
  }
  WriterOptions options{.encoding = Encoding::kParquetPlain, .nullable = true};
  options.block_size_bytes = block_size;
  const auto plain = WriteColumn<T>(type, options, column);
  options.encoding = Encoding::kParquetDictionary;
  const auto file = WriteColumn<T>(type, options, column);

  const auto reader = Reader::Open(NewMemoryViewSource(file));
  ASSERT_TRUE(reader.ok()) << reader.status();
  ASSERT_TRUE(Verify(*reader).ok());
  size_t empty_blocks = 0;
  bool uses_dictionary = false;
  ASSERT_TRUE(VisitBlocks(*reader, [&](const BlockInfo& block) {
                const bool empty = block.null_count == block.num_rows;
                empty_blocks += empty;
                uses_dictionary |= !empty && block.encoding == Encoding::kParquetDictionary;
                return true;
              }).ok());
  EXPECT_LE(file.size(), plain.size() + empty_blocks);
  EXPECT_EQ(reader->info().dictionary.has_value(), uses_dictionary);
}

TEST(DictionarySize, NoLargerThanPlain) {
  std::mt19937_64 random(11);
  for (const ColumnType& type : AllColumnTypes()) {
    encodings::VisitPhysicalType(type.physical(), [&]<typename T>(std::type_identity<T>) {
      for (const size_t num_rows : {0, 1, 2, 9, 40, 300, 5000}) {
        for (const int null_percent : {0, 30, 100}) {
          for (const size_t block_size : {100, 3000, 256 * 1024})
            ExpectNoLarger<T>(type, num_rows, null_percent, block_size, random);
        }
      }
    });
  }
}

}  // namespace cfile::testing_support::dictionary_size_test
