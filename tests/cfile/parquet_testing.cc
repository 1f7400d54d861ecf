#include "tests/cfile/parquet_testing.h"

#include <filesystem>
#include <type_traits>

namespace cfile {
namespace {

// The entries of a column.
std::vector<std::string> EntriesOf(const TableReader& table, size_t column) {
  std::vector<std::string> entries;
  VisitType(table.schema().columns[column].type, [&]<typename T>(std::type_identity<T>) {
    auto cursor = table.NewLevelCursor<T>(column);
    ASSERT_TRUE(cursor.ok()) << cursor.status();
    const ColumnSchema& schema = table.schema().columns[column];
    const int most = schema.has_levels() ? schema.levels.max_definition : schema.nullable;
    for (;;) {
      const auto batch = cursor->Next(1000);
      ASSERT_TRUE(batch.ok()) << batch.status();
      if (batch->empty()) return;
      size_t value = 0;
      for (size_t i = 0; i < batch->num_entries; ++i) {
        const int repetition = batch->repetition.empty() ? 0 : batch->repetition[i];
        const int definition = batch->definition.empty() ? 0 : batch->definition[i];
        std::string entry = std::to_string(repetition) + "," + std::to_string(definition) + ",";
        if (definition == most) {
          const T& held = batch->values[value++];
          if constexpr (kIsBytes<T>) {
            entry += held;
          } else if constexpr (std::is_arithmetic_v<T>) {
            entry += std::to_string(held);
          } else {
            entry.append(reinterpret_cast<const char*>(&held), sizeof(T));
          }
        }
        entries.push_back(std::move(entry));
      }
    }
  });
  return entries;
}

}  // namespace

std::string GoldenPath(const std::string& name) {
  return std::string(CFILE_SOURCE_DIR) + "/tests/golden/parquet-files/" + name + ".parquet";
}

std::vector<std::string> GoldenNames() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(CFILE_SOURCE_DIR) +
                                                               "/tests/golden/parquet-files")) {
    if (entry.path().extension() != ".parquet") continue;
    const std::string name = entry.path().stem().string();
    if (name.find("encrypted") == std::string::npos) names.push_back(name);
  }
  return names;
}

std::shared_ptr<const Source> InMemory(const std::string& bytes) {
  return NewMemorySource(std::vector<uint8_t>(bytes.begin(), bytes.end()), "x.parquet");
}

std::shared_ptr<Storage> Imported(const std::vector<uint8_t>& parquet,
                                  const ParquetImportOptions& options) {
  const auto storage = NewMemoryStorage("imported");
  const auto report = ImportParquet(NewMemorySource(parquet), storage, options);
  EXPECT_TRUE(report.ok()) << report.status();
  return storage;
}

internal::parquet::ParquetMetadata FooterOf(std::span<const uint8_t> parquet) {
  auto metadata = internal::parquet::ReadParquetMetadata(*NewMemoryViewSource(parquet), 1 << 24);
  EXPECT_TRUE(metadata.ok()) << metadata.status();
  return metadata.ok() ? *std::move(metadata) : internal::parquet::ParquetMetadata();
}

std::map<std::string, std::vector<std::string>> Contents(const TableLocation& location) {
  std::map<std::string, std::vector<std::string>> contents;
  const auto table = TableReader::Open(location);
  EXPECT_TRUE(table.ok()) << table.status();
  if (!table.ok()) return contents;
  for (size_t i = 0; i < table->schema().columns.size(); ++i) {
    for (size_t part = 0; part < table->num_parts(); ++part) {
      const VerifyReport report = table->VerifyColumn(part, i);
      EXPECT_TRUE(report.ok()) << table->schema().columns[i].name << ": "
                               << (report.damages.empty() ? ""
                                                          : report.damages[0].status.ToString());
    }
    contents[table->schema().columns[i].name] = EntriesOf(*table, i);
  }
  return contents;
}

}  // namespace cfile
