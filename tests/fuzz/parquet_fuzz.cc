// A fuzz target for Parquet: imports the input into a table in memory, and exports this table.
#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>

#include "cfile/parquet.h"
#include "cfile/storage.h"
#include "cfile/table.h"
#include "tests/fuzz/target.h"

namespace cfile::fuzz {
namespace {

constexpr size_t kFooterEnd = 8;  // the length of the metadata, and the magic

// The levels and the values of a column, as bytes.
struct Entries {
  std::string repetition, definition, values;
  bool operator==(const Entries&) const = default;
};

// The entries of all columns. Expects that the table has no damage.
std::vector<Entries> Contents(const TableReader& table) {
  std::vector<Entries> contents;
  const auto append = [](std::string& text, const auto& values) {
    text.append(reinterpret_cast<const char*>(values.data()), values.size_bytes());
  };
  for (size_t column = 0; column < table.schema().columns.size(); ++column) {
    for (size_t part = 0; part < table.num_parts(); ++part)
      Expect(table.VerifyColumn(part, column).ok());
    Entries& entries = contents.emplace_back();
    VisitType(table.schema().columns[column].type, [&]<typename T>(std::type_identity<T>) {
      auto cursor = table.NewLevelCursor<T>(column);
      Expect(cursor.ok());
      for (;;) {
        const auto batch = cursor->Next(1000);
        Expect(batch.ok());
        if (batch->empty()) return;
        append(entries.repetition, batch->repetition);
        append(entries.definition, batch->definition);
        if constexpr (kIsBytes<T>) {
          for (const std::string_view value : batch->values)
            entries.values.append(value).push_back('\n');
        } else {
          append(entries.values, batch->values);
        }
      }
    });
  }
  return contents;
}

// Imports the bytes. nullopt: an error, which leaves no table.
std::optional<std::vector<Entries>> Import(std::span<const uint8_t> bytes,
                                               const std::shared_ptr<Storage>& table,
                                               const ParquetImportOptions& options) {
  const absl::Status status = ImportParquet(NewMemoryViewSource(bytes), table, options).status();
  if (!status.ok()) {
    // kInvalidArgument: names or types that a table cannot have.
    if (!absl::IsInvalidArgument(status)) ExpectBadData(status);
    Expect(table->List("")->empty());
    return std::nullopt;
  }
  const auto reader = TableReader::Open(table);
  Expect(reader.ok());
  return Contents(*reader);
}

void Parquet(std::span<const uint8_t> bytes) {
  // Small limits, so that a few bytes cannot stand for many rows. Checksums would hide the pages.
  ParquetImportOptions options{.writer = {WriterOptions{.block_size_bytes = 32}},
                               .reader = {.verify_checksums = false,
                                          .max_block_size_bytes = 1 << 18,
                                          .max_metadata_size_bytes = 1 << 18,
                                          .max_dictionary_values = 10'000}};
  const auto table = NewMemoryStorage();
  const auto copied = Import(bytes, table, options);
  // Pages that are decoded hold the same values as pages that are copied.
  options.copy_pages = false;
  Expect(Import(bytes, NewMemoryStorage(), options) == copied);
  if (!copied) return;

  std::vector<uint8_t> parquet;
  const auto report = ExportParquet(table, NewMemorySink(&parquet),
                                    {.data_page_v2 = bytes.size() % 2 == 0});
  if (!report.ok()) return ExpectBadData(report.status());
  const auto again = Import(parquet, NewMemoryStorage(), {});
  Expect(again && again->size() == copied->size());
}

std::vector<Bytes> Seeds() {
  std::vector<Bytes> seeds;
  for (const auto& entry :
       std::filesystem::directory_iterator(CFILE_SOURCE_DIR "/tests/golden/parquet-files")) {
    const std::filesystem::path& path = entry.path();
    if (path.extension() != ".parquet" || entry.file_size() > 3000) continue;
    if (path.string().find("encrypted") != std::string::npos) continue;
    std::ifstream in(path, std::ios::binary);
    seeds.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  }
  return seeds;
}

// Changes the metadata and corrects its length, or changes bytes of pages and moves nothing.
void Mutate(Bytes& file, Random& random) {
  uint32_t size = 0;
  if (file.size() >= kFooterEnd) std::memcpy(&size, &file[file.size() - kFooterEnd], sizeof(size));
  if (size >= file.size() - std::min(file.size(), kFooterEnd)) return MutateAny(file);
  const Bytes end(file.end() - kFooterEnd, file.end());
  Bytes metadata(file.end() - kFooterEnd - size, file.end() - kFooterEnd);
  file.resize(file.size() - kFooterEnd - size);
  if (random() % 2 == 0 || file.empty()) {
    MutateAny(metadata);
  } else {
    const size_t begin = random() % file.size();
    const size_t some = std::min<size_t>(file.size() - begin, 32);
    LLVMFuzzerMutate(&file[begin], some, some);
  }
  size = static_cast<uint32_t>(metadata.size());
  file.insert(file.end(), metadata.begin(), metadata.end());
  file.insert(file.end(), end.begin(), end.end());
  std::memcpy(&file[file.size() - kFooterEnd], &size, sizeof(size));
}

}  // namespace

std::vector<Target> Targets() { return {{"parquet", Parquet, Seeds, Mutate}}; }

}  // namespace cfile::fuzz
