#include "tools/import/csv_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "tools/records/type_inference.h"

namespace cfile::tools::csv_reader_test {

using ::testing::ElementsAre;
using Records = std::vector<std::vector<std::string>>;

// Appends the next records, at most `max_records`, to `records`. Quoted fields are enclosed in <>.
// After an error, appends the record {"error", MESSAGE} and returns false.
bool ReadNext(CsvReader& reader, Records& records, size_t max_records = SIZE_MAX) {
  for (size_t i = 0; i < max_records; ++i) {
    const absl::StatusOr<bool> more = reader.Next();
    if (!more.ok()) {
      records.push_back({"error", std::string(more.status().message())});
      return false;
    }
    if (!*more) break;
    auto& record = records.emplace_back();
    for (const CsvField& field : reader.fields()) {
      const std::string value(field.text);
      record.push_back(field.quoted ? "<" + value + ">" : value);
    }
  }
  return true;
}

// Reads all records.
Records Read(std::string_view text, const CsvDialect& dialect = {}) {
  CsvReader reader("t.csv", text, dialect);
  Records records;
  ReadNext(reader, records);
  return records;
}

// Reads all records: the first record alone, the others in pieces of at least `piece_bytes` bytes.
Records ReadPieces(std::string_view text, uint64_t piece_bytes, const CsvDialect& dialect) {
  CsvReader reader("t.csv", text, dialect);
  Records records;
  if (!ReadNext(reader, records, 1)) return records;
  for (uint64_t begin = reader.offset(), end = 0; begin != reader.size(); begin = end) {
    end = reader.RecordEnd(begin, piece_bytes);
    EXPECT_GT(end, begin);
    EXPECT_LE(end, reader.size());
    const size_t before = records.size();
    const size_t max_records = reader.MaxRecords(begin, end);
    reader.SeekToRange(begin, end);
    if (!ReadNext(reader, records)) break;
    EXPECT_LE(records.size() - before, max_records);
  }
  return records;
}

TEST(CsvReader, Records) {
  EXPECT_EQ(Read(""), Records{});
  EXPECT_EQ(Read("a,b\n1,2\n"), (Records{{"a", "b"}, {"1", "2"}}));
  EXPECT_EQ(Read("a,b\r\n1,2"), (Records{{"a", "b"}, {"1", "2"}}));
  EXPECT_EQ(Read("a\n1\r"), (Records{{"a"}, {"1"}}));
  EXPECT_EQ(Read("\xef\xbb\xbf"
                 "a,b\n,\n"),
            (Records{{"a", "b"}, {"", ""}}));
  EXPECT_EQ(Read("a\tb\n1,5\t2", {.delimiter = '\t'}), (Records{{"a", "b"}, {"1,5", "2"}}));
  EXPECT_EQ(Read("a,b\n x , y \n"), (Records{{"a", "b"}, {" x ", " y "}}));
}

TEST(CsvReader, Quotes) {
  EXPECT_EQ(Read("\"a\",\"\"\n\"x,\r\n\",1\n"), (Records{{"<a>", "<>"}, {"<x,\r\n>", "1"}}));
  EXPECT_EQ(Read("\"\"\"\",\"a\"\"b\",\"\"\"c\"\"\"\n"), (Records{{"<\">", "<a\"b>", "<\"c\">"}}));
  EXPECT_EQ(Read("\"a\"\"b\",\"c\"\n\"d\",\"e\"\"\"\n"),
            (Records{{"<a\"b>", "<c>"}, {"<d>", "<e\">"}}));
}

TEST(CsvReader, BlankLinesAreSkippedUnlessTheyAreRecords) {
  EXPECT_EQ(Read("a,b\n\n1,2\r\n\r\n"), (Records{{"a", "b"}, {"1", "2"}}));
  EXPECT_EQ(Read("a\n\n1\n"), (Records{{"a"}, {""}, {"1"}}));
  EXPECT_EQ(Read("\n\r\na,b\n1,2\n"), (Records{{"a", "b"}, {"1", "2"}}));
  EXPECT_EQ(Read("\n\na\n\n"), (Records{{"a"}, {""}}));
  EXPECT_EQ(Read("\"\"\n1\n"), (Records{{"<>"}, {"1"}}));
  EXPECT_EQ(Read("\n\r\n"), Records());
}

TEST(CsvReader, ErrorsNameThePlace) {
  const auto error = [](std::string_view text) { return Read(text).back(); };
  EXPECT_THAT(error("a,b\n1\n"),
              ElementsAre("error", "t.csv:2:1: expected 2 fields, as in the header, but found 1"));
  EXPECT_THAT(error("a,b\n1,2,3\n"),
              ElementsAre("error", "t.csv:2:5: expected 2 fields, as in the header, but found 3"));
  EXPECT_THAT(error("a,b\n\"x\ny\",\xc3\xa4\"\n"),
              ElementsAre("error",
                          "t.csv:3:5: a quote in an unquoted field; put the field in quotes and "
                          "write the quote inside it twice"));
  EXPECT_THAT(error("a,b\n\"x\"y,1\n"),
              ElementsAre("error",
                          "t.csv:2:4: text after a closing quote; inside a quoted field "
                          "write a quote twice"));
  EXPECT_THAT(error("a,b\n1,\"x\n"), ElementsAre("error", "t.csv:2:3: this quote is never closed"));
  EXPECT_THAT(error("a,b\r1,2\r\n"),
              ElementsAre("error",
                          "t.csv:1:4: a carriage return without a line feed; put a field that "
                          "contains one in quotes"));
}

TEST(CsvReader, LinesThatEndWithCarriageReturns) {
  const std::string_view text = "a,b\r1,2\r\r3,\"x\ry\"\r4,5";
  const Records expected = {{"a", "b"}, {"1", "2"}, {"3", "<x\ry>"}, {"4", "5"}};
  EXPECT_EQ(Read(text), expected);
  EXPECT_EQ(ReadPieces(text, 1, {}), expected);
  EXPECT_THAT(Read("a,b\r1,2\r3\r").back(),
              ElementsAre("error", "t.csv:3:1: expected 2 fields, as in the header, but found 1"));
  EXPECT_THAT(Read("a\r" + std::string(70'000, '1') + "\r2\n3\r").back(),
              ElementsAre("error",
                          "t.csv:3:2: a line feed, but the lines before end with carriage "
                          "returns"));
}

TEST(CsvReader, Seek) {
  const std::string_view text = "a,b\n\"1\"\"\",2\n\n3,4\n5,6\n";
  CsvReader reader("t.csv", text, ',');
  std::vector<uint64_t> offsets;
  while (*reader.Next()) offsets.push_back(reader.record_offset());
  EXPECT_THAT(offsets, ElementsAre(0, 4, 13, 17));
  EXPECT_EQ(reader.offset(), reader.size());
  reader.SeekToRange(offsets[2], reader.size());
  ASSERT_TRUE(*reader.Next());
  EXPECT_EQ(reader.fields()[0].text, "3");
  EXPECT_TRUE(reader.Holds(reader.fields()[0].text));
  reader.SeekToRange(offsets[1], reader.size());
  ASSERT_TRUE(*reader.Next());
  EXPECT_EQ(reader.fields()[0].text, "1\"");
  EXPECT_FALSE(reader.Holds(reader.fields()[0].text));
}

// Reads every short text of a few special bytes. Sanitizers check that the reader accesses no byte
// outside the text. Reading in pieces must give the same records and the same error.
TEST(CsvReader, AnyShortText) {
  constexpr std::string_view kBytes = ",\"\r\na";
  for (int length = 0; length <= 7; ++length) {
    std::vector<size_t> digits(static_cast<size_t>(length));
    for (bool more = true; more;) {
      std::string text;
      for (const size_t digit : digits) text += kBytes[digit];
      const std::vector<char> bytes(text.begin(), text.end());
      const std::string_view view(bytes.data(), bytes.size());
      for (const CsvDialect& dialect :
           {CsvDialect{}, CsvDialect{.quote = 0}, CsvDialect{.escape = 'a'},
            CsvDialect{.comment = 'a'}, CsvDialect{.skip_lines = 1, .pad = true}}) {
        if (length > 6 &&
            (dialect.quote == 0 || dialect.pad || dialect.escape + dialect.comment != 0))
          continue;
        const Records records = Read(view, dialect);
        for (const uint64_t piece_bytes : {0, 1, 3}) {
          ASSERT_EQ(ReadPieces(view, piece_bytes, dialect), records) << text;
        }
      }
      more = false;
      for (size_t& digit : digits) {
        if (++digit < kBytes.size()) {
          more = true;
          break;
        }
        digit = 0;
      }
    }
  }
}

// Reads all records from the second one on, in pieces of at least `piece_bytes` bytes. After an
// error goes on where the reader says, and adds the record to `bad`.
Records ReadGoodRecords(CsvReader reader, uint64_t piece_bytes, std::vector<RecordPlace>& bad) {
  Records records;
  reader.LeaveOutPlaceOfErrors();
  for (uint64_t begin = reader.offset(), end = 0; begin != reader.size(); begin = end) {
    end = reader.RecordEnd(begin, piece_bytes);
    reader.SeekToRange(begin, end);
    while (!ReadNext(reader, records)) {
      records.pop_back();
      bad.push_back({reader.record_offset(), reader.resume_offset()});
      reader.SeekToRange(reader.resume_offset(), end);
    }
  }
  return records;
}

// A reader that skips the bad records of a text reads the good ones, also in pieces.
TEST(CsvReader, SkippedRecordsInAnyShortText) {
  constexpr std::string_view kBytes = ",\"\na";
  for (size_t number = 0; number < 1 << 14; ++number) {
    std::string text = "a,b\n";
    for (size_t i = 0, rest = number; i < 7; ++i, rest /= 4) text += kBytes[rest % 4];
    text += "\na,b\n";
    CsvReader reader("t.csv", text, ',');
    ASSERT_TRUE(*reader.Next());
    std::vector<RecordPlace> bad, none;
    const Records good = ReadGoodRecords(reader, text.size(), bad);
    reader.SkipRecords(std::make_shared<const std::vector<RecordPlace>>(bad));
    for (const uint64_t piece_bytes : {0, 3, 100}) {
      ASSERT_EQ(ReadGoodRecords(reader, piece_bytes, none), good) << text;
      ASSERT_TRUE(none.empty()) << text;
    }
  }
}

std::string Infer(const std::vector<std::string_view>& values,
                  OldestReader oldest_reader = OldestReader::kDefault) {
  TypeInference inference;
  uint64_t offset = 0;
  for (const std::string_view value : values) inference.Add(value, offset++, true);
  return inference.Type(oldest_reader).ToString();
}

TEST(TypeInference, OfPieces) {
  for (const std::vector<std::string_view>& values :
       {std::vector<std::string_view>{"1", "1.5", "nan"}, {"x", "1"}, {"2013-01-31"}, {}}) {
    TypeInference all;
    for (const std::string_view value : values) {
      TypeInference one;
      one.Add(value, 0, true);
      all.Add(one);
    }
    EXPECT_EQ(all.Type(OldestReader::kDefault).ToString(), Infer(values));
  }
}

TEST(TypeInference, Numbers) {
  EXPECT_EQ(Infer({"1", "-2147483648", "0"}), "int32");
  EXPECT_EQ(Infer({" 1", "2 ", "NA", "-", " "}), "int32");
  EXPECT_EQ(Infer({"NA", "-"}), "string");
  EXPECT_EQ(Infer({"1", "2147483648"}), "int64");
  EXPECT_EQ(Infer({"9223372036854775807"}), "int64");
  EXPECT_EQ(Infer({"9223372036854775808"}), "string");
  EXPECT_EQ(Infer({"1", "1.5"}), "double");
  EXPECT_EQ(Infer({"1", "nan", "-inf"}), "double");
  EXPECT_EQ(Infer({"-0"}), "double");
  EXPECT_EQ(Infer({"1e5", ".5", "-1."}), "double");
  EXPECT_EQ(Infer({"9007199254740992", "0.5"}), "double");
  EXPECT_EQ(Infer({"9007199254740993", "0.5"}), "string");
  EXPECT_EQ(Infer({"nan", "inf"}), "string");
  EXPECT_EQ(Infer({"1e400"}), "string");
}

TEST(TypeInference, WhatLooksLikeNumbersButIsNone) {
  for (const std::string_view value :
       {"007", "+1", "1,000", "0x10", "00.5", "", "1-2", "na", "--", "nan(1)"}) {
    EXPECT_EQ(Infer({value}), "string") << value;
    EXPECT_EQ(Infer({"1", value}), "string") << value;
  }
}

TEST(TypeInference, OtherTypes) {
  EXPECT_EQ(Infer({}), "string");
  EXPECT_EQ(Infer({"true", "FALSE"}), "bool");
  EXPECT_EQ(Infer({"true", "1"}), "string");
  EXPECT_EQ(Infer({"2013-01-31"}), "date");
  EXPECT_EQ(Infer({"2013-02-29"}), "string");
  EXPECT_EQ(Infer({"2013-01-31T10:00:00Z", "2013-01-31 10:00+02:00", "2013-01-31"}),
            "timestamp(us,UTC)");
  EXPECT_EQ(Infer({"2013-01-31T10:00:00"}), "timestamp(us)");
  EXPECT_EQ(Infer({"2013-01-31T10:00:00", "2013-01-31T10:00:00Z"}), "string");
  EXPECT_EQ(Infer({"2013-01-31T10:00:00", "2013-01-31T10:00:00.123456789"}), "timestamp(ns)");
  EXPECT_EQ(Infer({"0013-01-31T10:00:00", "2013-01-31T10:00:00.123456789"}), "string");
}

TEST(TypeInference, OnlyWhatKuduHas) {
  EXPECT_EQ(Infer({"2013-01-31T10:00:00"}, OldestReader::kKudu), "timestamp(us,UTC)");
  EXPECT_EQ(Infer({"2013-01-31T10:00:00.123456789"}, OldestReader::kKudu), "string");
}

}  // namespace cfile::tools::csv_reader_test
