// Writes the golden files of a release:
//
//   build/dev/tests/cfile_mint FOLDER
//
// Later versions must read every one of them. The program walks the registry of encodings, so a new
// encoding needs no edit here. It writes each encoding of each type with and without nulls. The
// other options (levels, codecs, versions, indexes, statistics, Bloom filter, Kudu's form) change
// from file to file, so that each pair of values of two options is in at least one file, if a
// writer accepts the pair. The program also writes tables. Minting again gives the same files.
#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "encodings/registry.h"
#include "tests/encodings/columns.h"
#include "tests/golden/minted_files.h"

namespace cfile::golden {
namespace {

constexpr size_t kRowsOfShape = 30;
constexpr size_t kRowsOfLongShape = 800;  // a block with a skip table has more than 1,024 values
constexpr size_t kRecords = 60;
constexpr size_t kRowsOfPart = 50;

// ---------------------------------------------------------------- rows

// Makes a value legal for its type: text is ASCII, a decimal has its digits, a time of day is below
// 24 hours.
template <typename T>
Owned<T> Legal(const ColumnType& type, Owned<T> value) {
  if constexpr (encodings::kIsBytes<T>) {
    if (type.data_type == DataType::kString || type.data_type == DataType::kVarchar) {
      for (char& c : value) c = static_cast<char>(c & 0x7f);
    }
  } else if constexpr (encodings::kIsInteger<T> && sizeof(T) >= 4 && T(-1) < T(0)) {
    T limit = 0;
    if (type.decimal_precision > 0) {
      limit = 1;
      for (int32_t i = 0; i < type.decimal_precision; ++i) limit = static_cast<T>(limit * 10);
    } else if (type.logical == LogicalType::kTime) {
      const int64_t seconds = 86'400;
      limit = static_cast<T>(type.time_unit == TimeUnit::kMillis   ? seconds * 1'000
                             : type.time_unit == TimeUnit::kMicros ? seconds * 1'000'000
                             : type.time_unit == TimeUnit::kNanos  ? seconds * 1'000'000'000
                                                                   : seconds);
    }
    if (limit != 0) value = static_cast<T>(value % limit);
    if (type.logical == LogicalType::kTime && value < 0) value = static_cast<T>(-value);
  }
  return value;
}

enum Rows { kFull, kNulls, kSorted, kLong, kLevels };
// The level limits of the kinds of rows from kLevels on.
constexpr LevelLimits kLimits[] = {
    {0, 2}, {1, 3}, {2, 4}, LevelLimits::KuduArray(false), LevelLimits::KuduArray(true)};
constexpr const char* kRowNames[] = {"full",       "nulls",      "sorted",
                                     "long",       "levels-0-2", "levels-1-3",
                                     "levels-2-4", "array",      "nullable-array"};

template <typename T>
Column<T> Flat(const ColumnType& type, size_t kind, uint64_t seed) {
  using encodings::Shape;
  std::vector<Shape> shapes = {Shape::kConstant, Shape::kSorted,     Shape::kRandom,
                               Shape::kRuns,     Shape::kSmallRange, Shape::kExtremes};
  if (kind == kLong) shapes = {Shape::kSorted, Shape::kSmallRange, Shape::kRuns};
  Column<T> column;
  for (const Shape shape : shapes) {
    const size_t count = kind == kLong ? kRowsOfLongShape : kRowsOfShape;
    const auto part = encodings::MakeColumn<T>(shape, count, type.type_length, ++seed);
    for (const T& value : part.span()) {
      const bool null = kind == kNulls && column.rows.size() % 7 == 3;
      column.rows.push_back(null ? std::nullopt : std::optional(Legal<T>(type, Owned<T>(value))));
    }
  }
  if (kind == kSorted) {
    std::erase_if(column.rows, [](const auto& row) { return !encodings::IsKey(T(*row)); });
    std::sort(column.rows.begin(), column.rows.end(),
              [](const auto& a, const auto& b) { return encodings::KeyLess<T>(T(*a), T(*b)); });
  }
  return column;
}

template <typename T>
Leaf<T> Levels(const ColumnType& type, const LevelLimits& limits, uint64_t seed) {
  std::mt19937_64 random(seed);
  // Makes records of arrays: if a record has several entries, each of them is an element. A schema
  // with `limits` can have such records.
  LevelLimits arrays = limits;
  arrays.kudu_array = limits.max_repetition > 0;
  Leaf<T> leaf = testing_support::RandomLeaf<T>(type, arrays, kRecords, 0, random);
  leaf.limits = limits;
  if constexpr (!std::is_same_v<T, bool>) {  // std::vector<bool> has no references
    for (Owned<T>& value : leaf.values) value = Legal<T>(type, std::move(value));
  }
  return leaf;
}

json MakeRows(const ColumnType& type, size_t kind, uint64_t seed) {
  return VisitType(type, [&]<typename T>(std::type_identity<T>) {
    return kind < kLevels ? RowsOf(Flat<T>(type, kind, seed))
                          : RowsOf(Levels<T>(type, kLimits[kind - kLevels], seed));
  });
}

// ---------------------------------------------------------------- files

// A file is a choice of one value for each of these options.
enum Option {
  kType,
  kEncoding,
  kRows,
  kCodec,
  kVersion,
  kStatistics,
  kBloom,
  kPositional,
  kKudu,
  kNumOptions
};
using Choice = std::array<size_t, kNumOptions>;

class Files {
 public:
  Files() {
    for (const encodings::EncodingRow& row : encodings::Encodings())
      encodings_.push_back(row.encoding);
    encodings_.push_back(Encoding::kAuto);
    for (const Compression codec : testing_support::BuiltInCompressions()) {
      if (codec != Compression::kLzo) codecs_.push_back(codec);  // LZO is off by default
    }
    sizes_ = {
        types_.size(), encodings_.size(), std::size(kRowNames), codecs_.size(), 2, 2, 2, 2, 2};
    for (size_t option = 0, begin = 0; option < kNumOptions; ++option) {
      begins_[option] = begin;
      begin += sizes_[option];
    }
    covered_.assign(kMostValues * kMostValues, false);
  }

  // Chooses the files: first one for each type, encoding and kind of nulls, then one for each pair
  // of options that no chosen file has.
  std::vector<Choice> ChooseAll() {
    for (size_t type = 0; type < types_.size(); ++type) {
      for (size_t encoding = 0; encoding + 1 < encodings_.size(); ++encoding) {
        for (const size_t rows : {kFull, kNulls}) {
          if (!encodings::FindEncoding(encodings_[encoding])->Supports(types_[type].physical()))
            continue;
          Choice base{};
          base[kType] = type, base[kEncoding] = encoding, base[kRows] = rows;
          Add(Best(base, {true, true, true}));
        }
      }
    }
    for (size_t a = 0; a < kNumOptions; ++a) {
      for (size_t b = a + 1; b < kNumOptions; ++b) {
        for (size_t i = 0; i < sizes_[a]; ++i) {
          for (size_t j = 0; j < sizes_[b]; ++j) {
            if (Covered(a, i, b, j)) continue;
            Choice base{};
            std::array<bool, kNumOptions> fixed{};
            base[a] = i, base[b] = j, fixed[a] = fixed[b] = true;
            Add(Best(base, fixed));
          }
        }
      }
    }
    return chosen_;
  }

  Description Describe(const Choice& choice) const {
    const size_t kind = choice[kRows];
    const bool small = kind != kLong;
    Description column{
        .type = types_[choice[kType]],
        .options = {.encoding = encodings_[choice[kEncoding]],
                    .compression = codecs_[choice[kCodec]],
                    .nullable = kind == kNulls,
                    .positional_index = choice[kPositional] == 0,
                    .value_index = kind == kSorted,
                    .block_size_bytes = small ? size_t{300} : size_t{64} * 1024,
                    .index_block_size_bytes = small ? size_t{100} : size_t{32} * 1024,
                    .statistics = choice[kStatistics] == 0,
                    .bloom_filter_bits_per_value = choice[kBloom] == 0 ? 0u : 10u,
                    .version = choice[kVersion] == 0 ? FormatVersion::kV2 : FormatVersion::kV1,
                    .oldest_reader =
                        choice[kKudu] == 0 ? OldestReader::kDefault : OldestReader::kKudu},
        .levels = {},
        .rows = absl::StrCat(types_[choice[kType]].ToString(), " ", kRowNames[kind])};
    if (kind >= kLevels) column.levels = kLimits[kind - kLevels];
    return column;
  }

  std::string Name(const Choice& choice) const {
    const Encoding encoding = encodings_[choice[kEncoding]];
    std::string name = absl::StrCat(
        types_[choice[kType]].ToString(), "_",
        encoding == Encoding::kAuto ? "auto" : EncodingName(encoding), "_",
        kRowNames[choice[kRows]], "_", CompressionName(codecs_[choice[kCodec]]),
        choice[kVersion] == 0 ? "" : "_v1", choice[kStatistics] == 0 ? "" : "_nostatistics",
        choice[kBloom] == 0 ? "" : "_bloom", choice[kPositional] == 0 ? "" : "_byvalue",
        choice[kKudu] == 0 ? "" : "_kudu");
    for (char& c : name) {
      if (!absl::ascii_isalnum(static_cast<unsigned char>(c)) && c != '_') c = '-';
    }
    return name;
  }

  const std::vector<ColumnType>& types() const { return types_; }
  const std::vector<Compression>& codecs() const { return codecs_; }

 private:
  static constexpr size_t kMostValues = 256;  // more than the number of values of all options
  static constexpr int kTrials = 4000;

  size_t Pair(size_t a, size_t i, size_t b, size_t j) const {
    return (begins_[a] + i) * kMostValues + begins_[b] + j;
  }
  bool Covered(size_t a, size_t i, size_t b, size_t j) const { return covered_[Pair(a, i, b, j)]; }

  // Returns the number of pairs of this choice that no chosen file has yet.
  int Gain(const Choice& choice) const {
    int gain = 0;
    for (size_t a = 0; a < kNumOptions; ++a) {
      for (size_t b = a + 1; b < kNumOptions; ++b) gain += !Covered(a, choice[a], b, choice[b]);
    }
    return gain;
  }

  // Returns the best of many choices that agree with `base` in the options that are `fixed`;
  // nullopt if no writer takes any of them.
  std::optional<Choice> Best(const Choice& base, const std::array<bool, kNumOptions>& fixed) {
    std::optional<Choice> best;
    int best_gain = -1;
    for (int trial = 0; trial < kTrials; ++trial) {
      Choice choice = base;
      for (size_t option = 0; option < kNumOptions; ++option) {
        if (!fixed[option]) choice[option] = random_() % sizes_[option];
      }
      const int gain = Gain(choice);
      if (gain <= best_gain || !CanWrite(Describe(choice))) continue;
      best = choice;
      best_gain = gain;
    }
    return best;
  }

  void Add(const std::optional<Choice>& choice) {
    if (!choice) return;
    for (size_t a = 0; a < kNumOptions; ++a) {
      for (size_t b = a + 1; b < kNumOptions; ++b)
        covered_[Pair(a, (*choice)[a], b, (*choice)[b])] = true;
    }
    if (std::find(chosen_.begin(), chosen_.end(), *choice) == chosen_.end())
      chosen_.push_back(*choice);
  }

  const std::vector<ColumnType> types_ = testing_support::AllColumnTypes();
  std::vector<Encoding> encodings_;
  std::vector<Compression> codecs_;
  std::array<size_t, kNumOptions> sizes_, begins_;
  std::vector<bool> covered_;
  std::vector<Choice> chosen_;
  std::mt19937_64 random_{1};
};

// ---------------------------------------------------------------- tables

constexpr size_t kTables = 12;
constexpr size_t kColumns = 5;
constexpr char kTree[] =
    "message m { required int32 a; optional group b { optional double c; }"
    " optional group d (LIST) { repeated group list { optional int64 element; } }"
    " optional group e (LIST) { repeated group list { optional string element; } } }";

// Adds the tables to the manifest. The types, encodings and codecs of their columns change from
// table to table.
void AddTables(const Files& files, Manifest& manifest) {
  size_t turn = 0;
  const auto describe = [&](const ColumnType& type) {
    Description column{.type = type, .options = {}, .levels = {}, .rows = {}};
    std::vector<Encoding> takes = {Encoding::kAuto};
    for (const encodings::EncodingRow& row : encodings::Encodings()) {
      if (row.Supports(type.physical())) takes.push_back(row.encoding);
    }
    column.options = {.encoding = takes[turn % takes.size()],
                      .compression = files.codecs()[turn % files.codecs().size()],
                      .block_size_bytes = 300,
                      .index_block_size_bytes = 100};
    ++turn;
    return column;
  };
  for (size_t i = 0; i < kTables; ++i) {
    const std::string name = absl::StrCat("table-", absl::Dec(i, absl::kZeroPad2));
    const bool nested = i % 4 == 3;
    const size_t num_keys = nested ? 0 : i % 4;  // 0, 1 (a value index) or 2 (compound keys)
    json table = {{"table", name}, {"columns", json::array()}, {"keys", json::array()}};
    std::vector<Description> columns;
    if (nested) {
      table["tree"] = kTree;
      for (const ColumnSchema& column : SchemaOf(table).columns) {
        columns.push_back(describe(column.type));
        columns.back().options.nullable = column.levels.max_definition == 1;
        if (column.levels.max_definition > 1) columns.back().levels = column.levels;
      }
    } else {
      for (size_t j = 0; j < num_keys; ++j)
        columns.push_back(describe(j == 0 ? ColumnType::Int32() : ColumnType::String()));
      if (num_keys == 1) columns[0].options.value_index = true;
      if (num_keys == 2) table["keys"] = {0, 1};
      for (size_t j = 0; j < kColumns; ++j) {
        columns.push_back(describe(files.types()[(i * kColumns + j) % files.types().size()]));
        columns.back().options.nullable = j % 2 == 1;
      }
    }
    for (const Description& column : columns) table["columns"].push_back(ToJson(column));
    for (size_t part = 0; part < 1 + i / 4 % 2; ++part) {
      json names = json::array();
      for (size_t j = 0; j < columns.size(); ++j) {
        const Description& column = columns[j];
        const size_t kind = column.levels  ? kLevels + (column.levels->max_repetition > 0 ? 1u : 0u)
                            : j < num_keys ? size_t{kSorted}
                            : column.options.nullable ? size_t{kNulls}
                                                      : size_t{kFull};
        json rows = MakeRows(column.type, kind, 100 * (part + 1));
        while (rows.size() > kRowsOfPart) rows.erase(rows.size() - 1);
        // Equal values of the first key column follow each other, and the second one ascends.
        if (num_keys == 2 && j == 0) {
          for (size_t row = 0; row < rows.size(); ++row) rows[row] = json(rows[row / 4 * 4]);
        }
        names.push_back(absl::StrCat(name, " ", part, " ", j));
        manifest.rows[names.back().get<std::string>()] = std::move(rows);
      }
      table["parts"].push_back(names);
    }
    manifest.tables.push_back(std::move(table));
  }
}

int Mint(const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  Manifest manifest{.library = LibraryVersion(), .rows = {}, .files = {}, .tables = {}};
  Files files;
  size_t bytes = 0;
  for (const Choice& choice : files.ChooseAll()) {
    const Description column = files.Describe(choice);
    json& rows = manifest.rows[column.rows];
    if (rows.is_null()) rows = MakeRows(column.type, choice[kRows], 1);
    const std::string name = files.Name(choice);
    const std::vector<uint8_t> file = WriteFile(column, rows);
    std::ofstream(folder / (name + ".cfile"), std::ios::binary)
        .write(reinterpret_cast<const char*>(file.data()),
               static_cast<std::streamsize>(file.size()));
    bytes += file.size();
    json line = {{"file", name}};
    line.update(ToJson(column));
    manifest.files.push_back(std::move(line));
  }
  AddTables(files, manifest);
  for (const json& table : manifest.tables) {
    const absl::Status status =
        WriteTable(folder / table["table"].get<std::string>(), table, manifest.rows);
    if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
    EXPECT_TRUE(status.ok());
  }
  WriteManifest(folder, manifest);
  std::printf("%zu files of %zu bytes and %zu tables\n", manifest.files.size(), bytes,
              manifest.tables.size());
  return testing::UnitTest::GetInstance()->ad_hoc_test_result().Failed() ? 1 : 0;
}

}  // namespace
}  // namespace cfile::golden

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: cfile_mint FOLDER\n");
    return 2;
  }
  return cfile::golden::Mint(argv[1]);
}
