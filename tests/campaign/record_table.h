// A table of records for the campaigns of faults and of threads. The contents of a record depend
// only on its number.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "cfile/records.h"
#include "cfile/status.h"
#include "cfile/table.h"
#include "gtest/gtest.h"
#include "tests/cfile/record_testing.h"

namespace cfile::campaign {

// The numbers of the leaves in the schema.
enum RecordLeaf : size_t { kId, kName, kNumber };

inline uint64_t NumItems(uint64_t record) { return record % 5; }
inline Json MakeRecord(uint64_t record) {
  Json json = {{"id", record * 31}};
  if (record % 3 != 0) json["name"] = "record " + std::to_string(record);
  for (uint64_t i = 0; i < NumItems(record); ++i) json["items"].push_back({{"number", record + i}});
  return json;
}

// Writes a table of `parts` parts with `rows` records each.
inline absl::Status WriteRecordTable(const std::string& directory, size_t parts, uint64_t rows) {
  const WriterOptions options{
      .encoding = Encoding::kPlain, .block_size_bytes = 4000, .index_block_size_bytes = 100};
  CFILE_ASSIGN_OR_RETURN(
      const RecordSchema schema,
      RecordSchema::Parse("message Record { required int64 id;"
                          "  optional binary name (STRING);"
                          "  repeated group items { required int64 number; } }"));
  for (size_t part = 0; part < parts; ++part) {
    CFILE_ASSIGN_OR_RETURN(auto writer, part == 0
                                            ? RecordWriter::Create(directory, schema, {&options, 1})
                                            : RecordWriter::Append(directory, {&options, 1}));
    for (uint64_t row = 0; row < rows; ++row) {
      CFILE_RETURN_IF_ERROR(TellJson(schema, 0, MakeRecord(part * rows + row), writer));
    }
    CFILE_RETURN_IF_ERROR(writer.Finish());
  }
  return absl::OkStatus();
}

// Each of these functions reads the records from `begin` to `end` and EXPECTs the records that
// WriteRecordTable wrote. Returns OK or the first error.
inline absl::Status ReadIds(TableCursor<int64_t>& cursor, uint64_t begin, uint64_t end) {
  CFILE_RETURN_IF_ERROR(cursor.SeekToRange({begin, end}));
  for (uint64_t record = begin; record < end;) {
    CFILE_ASSIGN_OR_RETURN(const Batch<int64_t> batch, cursor.Next(1000));
    EXPECT_EQ(batch.first_ordinal, record);
    EXPECT_FALSE(batch.empty());
    for (const int64_t id : batch.values) EXPECT_EQ(id, static_cast<int64_t>(31 * record++));
    if (testing::Test::HasFailure()) break;
  }
  return absl::OkStatus();
}

inline absl::Status ReadItems(TableLevelCursor<int64_t>& cursor, uint64_t begin, uint64_t end) {
  CFILE_RETURN_IF_ERROR(cursor.SeekToRecord(begin));
  for (uint64_t record = begin; record < end;) {
    CFILE_ASSIGN_OR_RETURN(const LevelBatch<int64_t> batch, cursor.Next(end - record));
    EXPECT_EQ(batch.first_record, record);
    EXPECT_FALSE(batch.empty());
    size_t entries = 0;
    size_t values = 0;
    for (const uint64_t next = record + batch.num_records; record < next; ++record) {
      entries += std::max<uint64_t>(NumItems(record), 1);
      for (uint64_t i = 0; i < NumItems(record) && values < batch.values.size(); ++i) {
        EXPECT_EQ(batch.values[values++], static_cast<int64_t>(record + i));
      }
    }
    EXPECT_EQ(batch.num_entries, entries);
    EXPECT_EQ(batch.values.size(), values);
    if (testing::Test::HasFailure()) break;
  }
  return absl::OkStatus();
}

inline absl::Status ReadRecords(RecordReader& reader, uint64_t begin, uint64_t end) {
  CFILE_RETURN_IF_ERROR(reader.Seek(begin));
  JsonVisitor visitor(reader.schema());
  for (uint64_t record = begin; record < end; ++record) {
    visitor.records.clear();
    CFILE_ASSIGN_OR_RETURN(const bool more, reader.Next(visitor));
    EXPECT_TRUE(more);
    EXPECT_EQ(visitor.records.at(0), MakeRecord(record));
    if (testing::Test::HasFailure()) break;
  }
  return absl::OkStatus();
}

}  // namespace cfile::campaign
