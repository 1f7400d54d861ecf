#include "tests/cfile/limits_property.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cfile/inspect.h"
#include "cfile/levels.h"
#include "cfile/reader.h"
#include "cfile/writer.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace cfile::testing_support {
namespace {

// Returns the limits of `options` as options of a reader.
ReaderOptions SameLimits(const WriterOptions& options) {
  return {.max_block_size_bytes = options.max_block_size_bytes,
          .max_metadata_size_bytes = options.max_metadata_size_bytes,
          .max_dictionary_values = options.max_dictionary_values,
          .max_index_size_bytes = options.max_index_size_bytes};
}

// EXPECTs that `status`, which a writer into `file` returned, is OK, or an error about a limit. If
// it is an error, EXPECTs that nothing was published.
void ExpectWrittenOrRefused(const absl::Status& status, const std::vector<uint8_t>& file) {
  if (status.ok()) return;
  EXPECT_EQ(status.code(), absl::StatusCode::kOutOfRange) << status;
  // Kudu limits the size of header and footer; no option raises that limit.
  EXPECT_THAT(std::string(status.message()),
              testing::AnyOf(testing::HasSubstr("raise max_"), testing::HasSubstr("Kudu reads")));
  EXPECT_TRUE(file.empty());
}

// Opens the file and EXPECTs that Verify finds no damage.
absl::StatusOr<Reader> OpenAndVerify(const std::vector<uint8_t>& file,
                                     const ReaderOptions& options) {
  absl::StatusOr<Reader> reader = Reader::Open(NewMemoryViewSource(file), options);
  EXPECT_TRUE(reader.ok()) << reader.status();
  if (!reader.ok()) return reader;
  const VerifyReport report = Verify(*reader);
  EXPECT_TRUE(report.ok()) << report.damages[0].status;
  return reader;
}

}  // namespace

template <typename T>
absl::Status TryColumn(const ColumnType& type, const WriterOptions& options,
                       const Column<T>& column, std::mt19937_64& random) {
  std::vector<uint8_t> file;
  absl::Status status = [&] {
    auto writer = Writer<T>::Create(NewMemorySink(&file), type, options);
    if (!writer.ok()) return writer.status();
    absl::Status appended = AppendColumn<T>(*writer, column, options.nullable);
    return appended.ok() ? writer->Finish() : appended;
  }();
  ExpectWrittenOrRefused(status, file);
  if (!status.ok()) return status;
  const auto reader = OpenAndVerify(file, SameLimits(options));
  if (!reader.ok()) return status;
  auto cursor = reader->template NewCursor<T>();
  EXPECT_TRUE(cursor.ok()) << cursor.status();
  if (!cursor.ok()) return status;
  if (options.positional_index) {
    const absl::Status sought = cursor->SeekToOrdinal(0);
    EXPECT_TRUE(sought.ok()) << sought;
    if (sought.ok()) ExpectRest(*cursor, column, random);
  }
  if (options.value_index && !column.rows.empty()) {
    const T last(*column.rows.back());
    const auto found = cursor->SeekToKey(last);
    EXPECT_TRUE(found.ok() && found->exact) << found.status();
  }
  return status;
}

template <typename T>
absl::Status TryLeaf(const ColumnType& type, const WriterOptions& options, const Leaf<T>& leaf,
                     std::mt19937_64& random) {
  std::vector<uint8_t> file;
  absl::Status status = [&]() -> absl::Status {
    auto writer = LevelWriter<T>::Create(NewMemorySink(&file), type, leaf.limits, options);
    if (!writer.ok()) return writer.status();
    const std::unique_ptr<T[]> values(new T[leaf.values.size()]);
    std::copy(leaf.values.begin(), leaf.values.end(), values.get());
    const size_t entries = leaf.repetition.size();
    const size_t half = entries == 0 ? 0 : random() % entries;
    size_t value = 0;
    for (const OrdinalRange& range : {OrdinalRange{0, half}, OrdinalRange{half, entries}}) {
      size_t held = 0;
      for (uint64_t i = range.begin; i < range.end; ++i)
        held += leaf.definition[i] == leaf.limits.max_definition ? 1 : 0;
      const auto levels = [&](const std::vector<uint16_t>& all, uint16_t max) {
        return max == 0 ? std::span<const uint16_t>()
                        : std::span(all).subspan(range.begin, range.size());
      };
      absl::Status appended = writer->Append(levels(leaf.repetition, leaf.limits.max_repetition),
                                             levels(leaf.definition, leaf.limits.max_definition),
                                             {values.get() + value, held});
      if (!appended.ok()) return appended;
      value += held;
    }
    return writer->Finish();
  }();
  ExpectWrittenOrRefused(status, file);
  if (!status.ok()) return status;
  const auto reader = OpenAndVerify(file, SameLimits(options));
  if (!reader.ok()) return status;
  auto cursor = reader->NewLevelCursor<T>();
  EXPECT_TRUE(cursor.ok()) << cursor.status();
  if (!cursor.ok()) return status;
  const absl::Status read = ReadRest(*cursor, &leaf, random);
  EXPECT_TRUE(read.ok()) << read;
  return status;
}

#define CFILE_INSTANTIATE(T)                                                                    \
  template absl::Status TryColumn<T>(const ColumnType&, const WriterOptions&, const Column<T>&, \
                                     std::mt19937_64&);                                         \
  template absl::Status TryLeaf<T>(const ColumnType&, const WriterOptions&, const Leaf<T>&,     \
                                   std::mt19937_64&);
CFILE_FOR_EACH_VALUE_TYPE(CFILE_INSTANTIATE)
#undef CFILE_INSTANTIATE

}  // namespace cfile::testing_support
