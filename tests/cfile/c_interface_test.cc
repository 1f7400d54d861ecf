// Tests the C interface in a C++ program. This file has tests of exceptions,
// and tests with files that a C program cannot write. The other tests are in tests/c.
#include "cfile/c.h"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "cfile/io.h"
#include "cfile/levels.h"
#include "cfile/table.h"
#include "tests/cfile/temporary_directory.h"

namespace {

// Returns the bytes of a file of 100,000 numbers.
std::vector<uint8_t> NumbersFile() {
  std::vector<uint8_t> bytes;
  cfile_sink sink = {};
  sink.struct_size = sizeof(sink);
  sink.user_data = &bytes;
  sink.append = [](void* user_data, const void* data, size_t size) -> cfile_code {
    const auto* begin = static_cast<const uint8_t*>(data);
    auto& to = *static_cast<std::vector<uint8_t>*>(user_data);
    to.insert(to.end(), begin, begin + size);
    return CFILE_OK;
  };
  cfile_writer_options options = {};
  options.struct_size = sizeof(options);
  options.encoding = "plain";
  const std::vector<int64_t> values(100'000, 7);
  cfile_writer* writer = nullptr;
  EXPECT_EQ(cfile_writer_create_sink(&sink, "int64", &options, &writer), CFILE_OK);
  EXPECT_EQ(cfile_writer_append(writer, 0, CFILE_INT64, values.data(), nullptr, values.size()),
            CFILE_OK);
  EXPECT_EQ(cfile_writer_finish(writer), CFILE_OK);
  cfile_writer_free(writer);
  return bytes;
}

struct ThrowingFile {
  std::vector<uint8_t> bytes = NumbersFile();
  std::function<void()> before_read = [] {};

  cfile_code Open(cfile_file** file) {
    cfile_source source = {};
    source.struct_size = sizeof(source);
    source.user_data = this;
    source.size = bytes.size();
    source.read_at = [](void* user_data, uint64_t offset, void* out, size_t size) -> cfile_code {
      const auto* self = static_cast<ThrowingFile*>(user_data);
      self->before_read();
      std::memcpy(out, self->bytes.data() + offset, size);
      return CFILE_OK;
    };
    return cfile_file_open_source(&source, nullptr, file);
  }
};

TEST(CInterface, NoExceptionLeavesWhenAFileIsOpened) {
  ThrowingFile source;
  cfile_file* file = nullptr;
  source.before_read = [] { throw std::bad_alloc(); };
  EXPECT_EQ(source.Open(&file), CFILE_RESOURCE_EXHAUSTED);
  EXPECT_STREQ(cfile_error_message(), "out of memory");
  source.before_read = [] { throw std::length_error("too long"); };
  EXPECT_EQ(source.Open(&file), CFILE_RESOURCE_EXHAUSTED);
  source.before_read = [] { throw std::runtime_error("odd"); };
  EXPECT_EQ(source.Open(&file), CFILE_INTERNAL);
  EXPECT_STREQ(cfile_error_message(), "odd");
  source.before_read = [] { throw 5; };
  EXPECT_EQ(source.Open(&file), CFILE_INTERNAL);
  EXPECT_EQ(file, nullptr);
}

TEST(CInterface, ACursorWithAnExceptionCanOnlyBeFreed) {
  ThrowingFile source;
  cfile_file* file = nullptr;
  cfile_cursor* cursor = nullptr;
  cfile_cursor* clone = nullptr;
  cfile_batch batch = {};
  ASSERT_EQ(source.Open(&file), CFILE_OK) << cfile_error_message();
  ASSERT_EQ(cfile_file_cursor(file, &cursor), CFILE_OK);
  source.before_read = [] { throw std::bad_alloc(); };
  EXPECT_EQ(cfile_cursor_next(cursor, 10, &batch), CFILE_RESOURCE_EXHAUSTED);
  source.before_read = [] {};
  EXPECT_EQ(cfile_cursor_next(cursor, 10, &batch), CFILE_FAILED_PRECONDITION);
  EXPECT_EQ(cfile_cursor_seek(cursor, 0), CFILE_FAILED_PRECONDITION);
  EXPECT_EQ(cfile_cursor_clone(cursor, &clone), CFILE_FAILED_PRECONDITION);
  cfile_cursor_free(cursor);

  // The error has not changed the file object. It can still read.
  ASSERT_EQ(cfile_file_cursor(file, &cursor), CFILE_OK);
  EXPECT_EQ(cfile_cursor_next(cursor, 10, &batch), CFILE_OK) << cfile_error_message();
  EXPECT_EQ(batch.size, 10u);
  cfile_cursor_free(cursor);
  cfile_file_free(file);
}

TEST(CInterface, ColumnsWithLevelsAreErrors) {
  std::vector<uint8_t> bytes;
  auto writer =
      cfile::LevelWriter<int32_t>::Create(cfile::NewMemorySink(&bytes), cfile::ColumnType::Int32(),
                                          {.max_repetition = 1, .max_definition = 1});
  ASSERT_TRUE(writer.ok());
  const std::vector<uint16_t> repetition = {0, 1, 0}, definition = {1, 1, 0};
  const std::vector<int32_t> values = {5, 6};
  ASSERT_TRUE(writer->Append(repetition, definition, values).ok());
  ASSERT_TRUE(writer->Finish().ok());

  cfile_file* file = nullptr;
  cfile_cursor* cursor = nullptr;
  cfile_scan* scan = nullptr;
  cfile_batch batch = {};
  cfile_file_info info = {};
  size_t num_rows = 0;
  info.struct_size = sizeof(info);
  ASSERT_EQ(cfile_file_open_memory(bytes.data(), bytes.size(), 0, nullptr, &file), CFILE_OK);
  ASSERT_EQ(cfile_file_get_info(file, &info), CFILE_OK);
  EXPECT_EQ(info.num_rows, 2u);
  EXPECT_EQ(info.has_levels, 1);
  EXPECT_EQ(cfile_file_cursor(file, &cursor), CFILE_FAILED_PRECONDITION);
  ASSERT_EQ(cfile_file_scan(file, nullptr, &scan), CFILE_OK) << cfile_error_message();
  ASSERT_EQ(cfile_scan_next(scan, &num_rows), CFILE_OK) << cfile_error_message();
  EXPECT_EQ(num_rows, 2u);
  EXPECT_EQ(cfile_scan_column(scan, 0, &batch), CFILE_UNIMPLEMENTED);
  cfile_scan_free(scan);
  cfile_file_free(file);
}

TEST(CInterface, PackedParts) {
  const cfile::TemporaryDirectory directory;
  for (const uint64_t limit : {uint64_t{0}, uint64_t{1}, UINT64_MAX}) {
    const std::string path = directory.path("table") + std::to_string(limit);
    cfile_writer_options options = {};
    options.struct_size = sizeof(options);
    options.max_packed_part_bytes = limit;
    cfile_schema* schema = nullptr;
    cfile_writer* writer = nullptr;
    ASSERT_EQ(cfile_schema_create(&schema), CFILE_OK);
    for (const char* name : {"a", "b"})
      ASSERT_EQ(cfile_schema_add_column(schema, name, "int64", 0, &options), CFILE_OK);
    ASSERT_EQ(cfile_writer_create_table(path.c_str(), schema, &writer), CFILE_OK);
    const int64_t value = 5;
    for (const size_t column : {0, 1})
      ASSERT_EQ(cfile_writer_append(writer, column, CFILE_INT64, &value, nullptr, 1), CFILE_OK);
    ASSERT_EQ(cfile_writer_finish(writer), CFILE_OK);
    cfile_writer_free(writer);
    cfile_schema_free(schema);
    const auto table = cfile::TableReader::Open(path);
    ASSERT_TRUE(table.ok()) << table.status();
    EXPECT_EQ(table->part_file(0, 1)->find("columns.packed") != std::string::npos, limit != 1);
  }
}

}  // namespace
