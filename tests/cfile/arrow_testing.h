// Reads the structs of the Arrow C Data Interface in tests.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <random>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "cfile/arrow.h"
#include "cfile/levels.h"
#include "cfile/record_schema.h"
#include "encodings/registry.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/cfile/column_testing.h"

namespace cfile {

using Json = nlohmann::json;

// Owns a struct of the Arrow C interface. The destructor releases the struct.
template <typename Struct>
class Released {
 public:
  Released() = default;
  Released(Released&& other) noexcept : held_(std::exchange(other.held_, Struct{})) {}
  Released& operator=(Released&& other) noexcept {
    std::swap(held_, other.held_);
    return *this;
  }
  ~Released() {
    if (held_.release != nullptr) held_.release(&held_);
  }
  Struct* operator->() { return &held_; }
  const Struct* operator->() const { return &held_; }
  Struct* get() { return &held_; }
  const Struct* get() const { return &held_; }

 private:
  Struct held_{};
};

// The contents of a stream: its schema and its batches, in order.
struct ArrowBatches {
  Released<ArrowSchema> schema;
  std::vector<Released<ArrowArray>> arrays;

  size_t num_rows() const;
  // Returns all rows as JSON. A struct becomes an object. A list or a map becomes an array.
  // A decimal becomes a text, because it may have more than 64 bits.
  // A string keeps its bytes. A time becomes a number.
  // EXPECTs that the arrays fit the schema and keep the rules of the format.
  std::vector<Json> Rows() const;
};

// Reads the whole stream and releases the stream.
// If the stream returns an error, the code is kUnknown and the message is the stream's text.
absl::StatusOr<ArrowBatches> ReadStream(Released<ArrowArrayStream> stream);

// Reads the stream that export(stream) makes.
template <typename Export>
absl::StatusOr<ArrowBatches> ReadExported(const Export& export_to) {
  Released<ArrowArrayStream> stream;
  absl::Status status = export_to(stream.get());
  if (status.ok()) return ReadStream(std::move(stream));
  EXPECT_EQ(stream->release, nullptr);
  return status;
}
// Calls ExportArrowStream(arguments..., &stream) and reads the stream.
template <typename... Arguments>
absl::StatusOr<ArrowBatches> Exported(Arguments&&... arguments) {
  return ReadExported([&](ArrowArrayStream* stream) {
    return ExportArrowStream(std::forward<Arguments>(arguments)..., stream);
  });
}

// EXPECTs that the stream was read. Returns all its rows.
std::vector<Json> RowsOf(const absl::StatusOr<ArrowBatches>& read);

// Makes streams with export(stream). In each of them, one other allocation fails. EXPECTs that the
// stream throws no exception and loses no memory. `heap`: campaign::heap.
template <typename Heap, typename Export>
void ExpectNoMemory(Heap& heap, const Export& export_to) {
  bool failed = true;
  for (int64_t failing = 1; failed; ++failing) {
    const int64_t blocks = heap.blocks;
    {
      Released<ArrowArrayStream> stream;
      ASSERT_TRUE(export_to(stream.get()).ok());
      Released<ArrowSchema> schema;
      Released<ArrowArray> array;
      heap.allocations_left = failing;
      int code = stream->get_schema(stream.get(), schema.get());
      if (code == 0) code = stream->get_next(stream.get(), array.get());
      failed = heap.allocations_left == 0;
      heap.allocations_left = -1;
      ASSERT_EQ(code, failed ? ENOMEM : 0) << failing;
      if (failed) {
        EXPECT_STREQ(stream->get_last_error(stream.get()), "no memory");
        EXPECT_EQ(stream->get_next(stream.get(), array.get()), ENOMEM);
        EXPECT_EQ(array->release, nullptr);
      }
    }
    ASSERT_EQ(heap.blocks, blocks) << failing;
  }
}

Reader OpenBytes(std::vector<uint8_t> bytes);

// Returns a file with levels: the numbers that say where lists begin and where a value is missing.
template <typename T>
std::vector<uint8_t> FileOfLevels(const ColumnType& type, const LevelLimits& limits,
                                  const std::vector<uint16_t>& repetition,
                                  const std::vector<uint16_t>& definition,
                                  const std::vector<T>& values, const WriterOptions& options = {}) {
  std::vector<uint8_t> file;
  auto writer = LevelWriter<T>::Create(NewMemorySink(&file), type, limits, options);
  EXPECT_TRUE(writer.ok()) << writer.status();
  const absl::Status appended = writer->Append(repetition, definition, values);
  EXPECT_TRUE(appended.ok()) << appended;
  EXPECT_TRUE(writer->Finish().ok());
  return file;
}

// Returns a column of 10,000 rows. Row i has the value 3 * i.
testing_support::Column<int64_t> ManyNumbers();

// A schema of records with lists, maps and groups.
extern const char kNestedRecord[];
// Returns a random occurrence of a node of a schema that has only integers and strings.
Json RandomRecord(const RecordSchema& schema, size_t node, std::mt19937_64& random);

// Returns the metadata of a field.
std::vector<std::pair<std::string, std::string>> MetadataOf(const ArrowSchema& schema);

// Returns an integer of 128 bits as text.
std::string TextOf(int128_t value);

// Changes values of int96 and int128 so that they are in the range of Arrow's types.
template <typename T>
void MakeFit(testing_support::Column<T>& column) {
  for (auto& row : column.rows) {
    if constexpr (std::is_same_v<T, Int96>) {
      if (row) {
        const auto bits = static_cast<uint128_t>(*row);
        row = Int96(uint128_t{2400000 + static_cast<uint32_t>(bits >> 64) % 80000} << 64 |
                    static_cast<uint64_t>(bits) % 86400000000000u);
      }
    } else if constexpr (std::is_same_v<T, int128_t>) {
      if (row) *row /= 16;
    }
  }
}

// Calls visit(type, options, column) with a random column of each type for each encoding of this
// type. `null_percents`: -1 is a column that is not nullable.
template <typename Visit>
void ForEachTypeAndEncoding(std::initializer_list<int> null_percents, std::mt19937_64& random,
                            const Visit& visit) {
  for (const ColumnType& type : testing_support::AllColumnTypes()) {
    VisitType(type, [&]<typename T>(std::type_identity<T>) {
      for (const encodings::EncodingRow& row : encodings::Encodings()) {
        for (const int null_percent : null_percents) {
          SCOPED_TRACE(type.ToString() + " " + EncodingName(row.encoding) + " " +
                       std::to_string(null_percent));
          auto column = testing_support::RandomColumn<T>(type, 1 + random() % 2000, null_percent,
                                                         false, random);
          MakeFit(column);
          const WriterOptions options{.encoding = row.encoding,
                                      .nullable = null_percent >= 0,
                                      .block_size_bytes = 1024 + random() % 8192};
          std::vector<uint8_t> sink;
          if (!Writer<T>::Create(NewMemorySink(&sink), type, options).ok()) continue;
          visit(type, options, column);
          if (testing::Test::HasFatalFailure()) return;
        }
      }
    });
  }
}

}  // namespace cfile
