// Fuzz targets for Parquet: one imports the input into a table in memory, and exports this table.
// The other reads what pandas and Arrow say about columns.
#include <algorithm>
#include <cstring>
#include <optional>

#include "absl/strings/escaping.h"
#include "cfile/parquet.h"
#include "cfile/parts/arrow/schema/ipc_fields.h"
#include "cfile/parts/parquet/arrow_description.h"
#include "cfile/parts/parquet/key_value_metadata.h"
#include "cfile/parts/parquet/pandas_metadata.h"
#include "cfile/parts/parquet/parquet_schema.h"
#include "cfile/record_schema.h"
#include "cfile/storage.h"
#include "cfile/table.h"
#include "tests/cfile/golden_files.h"
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

  for (const bool all : {true, false}) {
    ParquetExportOptions to{.data_page_v2 = bytes.size() % 2 == 0};
    const Schema schema = TableReader::Open(table)->schema();
    // Then what the metadata says about columns must change.
    if (!all) to.columns = {schema.tree ? schema.tree->node(1).name : schema.columns[0].name};
    std::vector<uint8_t> parquet;
    const auto report = ExportParquet(table, NewMemorySink(&parquet), to);
    if (!report.ok()) return ExpectBadData(report.status());
    const auto again = Import(parquet, NewMemoryStorage(), {});
    Expect(again && (all ? again->size() == copied->size() : !again->empty()));
  }
}

// The input is a description for pandas, and a message with a schema of Arrow.
void Descriptions(std::span<const uint8_t> bytes) {
  using namespace internal;
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const auto has = [](std::string_view name) { return name.size() % 2 == 1; };
  const std::string pandas = DescribeForPandas(text, 24, has, has);
  if (!pandas.empty()) Expect(DescribeForPandas(pandas, 24, has, has) == pandas);
  const Categories categories = ParseCategories(text);
  Expect(ParseCategories(WriteCategories(categories)) == categories);

  static const auto tree = RecordSchema::Parse(
      "message m { required int32 a; optional group list (LIST) { repeated group list { optional "
      "binary element (STRING); } } optional group b { required timestamp(ms,Asia/Tokyo) at; } }");
  static const Schema schema = Schema::OfRecords(*tree);
  static const auto parquet = SchemaToParquet(schema, {});
  MetadataPairs pairs{{"pandas", std::string(text)},
                      {std::string(kArrowSchema), absl::Base64Escape({text.data(), text.size()})}};
  DescribeColumns(schema, *parquet, 24, {}, {}, pairs);
  // There is a time zone, so there is a schema of Arrow.
  Expect(!pairs.empty() && pairs.back().first == kArrowSchema);
  const auto arrow = ParseArrowSchema(pairs.back().second);
  Expect(arrow && arrow->children.size() == 3);
  const auto own = FieldsOf(schema, *parquet);
  for (size_t i = 0; i < 3; ++i) Expect(Describes(arrow->children[i], own->children[i]));
  const MetadataPairs once = pairs;
  DescribeColumns(schema, *parquet, 24, {}, {}, pairs);
  Expect(pairs == once);
}

std::vector<Bytes> DescriptionSeeds() {
  using internal::ArrowField;
  const ArrowField text{.format = "u", .name = "item"};
  const ArrowField root{.format = "+s",
                        .metadata = {{"pandas", "{}"}},
                        .children = {{.format = "i", .name = "a", .metadata = {{"key", "value"}}},
                                     {.format = "c", .name = "b", .dictionary = {text}},
                                     {.format = "+L", .name = "list", .children = {text}}}};
  return {ToBytes(std::string_view(internal::WriteIpcSchemaMessage(root))),
          ToBytes(R"({"index_columns": [{"kind": "range", "name": null, "start": 0, "stop": 24, )"
                  R"("step": 1}, "a"], "columns": [{"name": "a", "field_name": "a\u00e9", )"
                  R"("metadata": null}, {"field_name": "b"}], "pandas_version": "2.2.3"})")};
}

std::vector<Bytes> Seeds() {
  std::vector<Bytes> seeds;
  for (NamedFile& file : GoldenFiles(".parquet", 4500)) {
    if (file.name.starts_with("parquet-files/") && file.name.find("encrypted") == std::string::npos)
      seeds.push_back(std::move(file.bytes));
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

std::vector<Target> Targets() {
  return {{"parquet", Parquet, Seeds, Mutate},
          {"parquet-descriptions", Descriptions, DescriptionSeeds}};
}

}  // namespace cfile::fuzz
