// Measures nested records from JSON Lines with one thread: the import as in cfile-import, reading
// all leaves as levels and values, and decoding levels. If PYTHON has pyarrow, records_pyarrow.py
// does the same work with Parquet on the same file, and the benchmark prints the ratios.
//
//   records_benchmark DIRECTORY [PYTHON [TURNS]]
//
// Creates DIRECTORY. It needs space for 200 MB of records, which are the same in every run, and for
// the files that are made from them. A row shows the best of several turns. In each turn, our code
// and pyarrow run one after the other.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cfile/table.h"
#include "encodings/core/physical_type.h"
#include "encodings/hybrid/levels.h"
#include "tests/benchmarks/or_die.h"
#include "tools/import/records_importer.h"

namespace cfile {
namespace {

constexpr size_t kFileBytes = 200'000'000;

using benchmarks::Check;
using benchmarks::Keep;
using benchmarks::OrDie;

double Seconds(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Makes records of visits to a shop. They have repeated and distinct strings, integers,
// floating-point numbers, null and missing fields, and lists of strings, of integers and of structs
// that contain a list.
class Generator {
 public:
  std::string Record() {
    std::string out = absl::StrCat("{\"id\":", ++id_, ",\"time\":", time_ += Below(1000),
                                   ",\"session\":\"", absl::Hex(random_(), absl::kZeroPad16),
                                   "\",\"user\":{\"country\":\"", kCountries[Below(8)],
                                   "\",\"age\":", Below(5) == 0 ? "null" : Text(18 + Below(70)),
                                   ",\"score\":", Fraction(100'000), "},\"tags\":[");
    List(out, 5, [&] { absl::StrAppend(&out, "\"", kTags[Below(8)], "\""); });
    out += "],\"events\":[";
    List(out, 6, [&] {
      absl::StrAppend(&out, "{\"uri\":\"/", kTags[Below(8)], "/item-", Below(20'000),
                      ".html\",\"milliseconds\":", Below(5000),
                      ",\"ok\":", Below(20) == 0 ? "false" : "true");
      if (Below(3) == 0) absl::StrAppend(&out, ",\"price\":", Fraction(1'000'000));
      out += ",\"sizes\":[";
      List(out, 4, [&] { absl::StrAppend(&out, Below(65'536)); });
      out += "]}";
    });
    return out + "]}\n";
  }

 private:
  static constexpr const char* kCountries[] = {"DE", "FR", "IT", "NL", "PL", "SE", "US", "JP"};
  static constexpr const char* kTags[] = {"new",  "returning", "mobile", "desktop",
                                          "cart", "search",    "offers", "newsletter"};

  uint64_t Below(uint64_t end) { return random_() % end; }
  static std::string Text(uint64_t number) { return absl::StrCat(number); }
  std::string Fraction(uint64_t end) {
    const uint64_t cents = Below(end);
    return absl::StrCat(cents / 100, ".", cents % 100 / 10, cents % 10);
  }
  template <typename Element>
  void List(std::string& out, uint64_t end, Element element) {
    const uint64_t size = Below(end);
    for (uint64_t i = 0; i < size; ++i) {
      if (i > 0) out += ',';
      element();
    }
  }

  std::mt19937_64 random_{6};
  uint64_t id_ = 0;
  uint64_t time_ = 1'700'000'000'000;
};

void Generate(const std::string& path) {
  if (std::filesystem::exists(path)) return;
  std::ofstream file(path + ".part", std::ios::binary);
  Generator generator;
  for (size_t bytes = 0; bytes < kFileBytes;) {
    const std::string record = generator.Record();
    file << record;
    bytes += record.size();
  }
  file.close();
  Check(file.good(), path);
  std::filesystem::rename(path + ".part", path);
}

void Import(const std::string& input, const std::string& output, const std::string& schema) {
  std::filesystem::remove_all(output);
  tools::ImportOptions options;
  options.input = input;
  options.output = output;
  options.table = TableLocation(output);
  options.schema_path = schema;
  tools::Progress progress(false);
  const tools::InputFile file = OrDie(
      tools::OpenInputFile({.path = input, .progress = [](uint64_t) { return absl::OkStatus(); }}));
  OrDie(tools::ImportRecords(options, file, progress));
}

struct Read {
  uint64_t entries = 0;
  uint64_t values = 0;
};

// Reads all levels and all values of all leaves.
Read ReadLeaves(const std::string& path) {
  const TableReader table = OrDie(TableReader::Open(path));
  Read read;
  for (size_t i = 0; i < table.schema().columns.size(); ++i) {
    encodings::VisitPhysicalType(
        table.schema().columns[i].type.physical(), [&]<typename T>(std::type_identity<T>) {
          TableLevelCursor<T> cursor = OrDie(table.NewLevelCursor<T>(i));
          for (;;) {
            const LevelBatch<T> batch = OrDie(cursor.Next(std::numeric_limits<size_t>::max()));
            if (batch.empty()) return;
            Keep(batch.values.data());
            read.entries += batch.num_entries;
            read.values += batch.values.size();
          }
        });
  }
  return read;
}

// Decodes the levels repeatedly, in blocks of 65,536 entries. Returns billions of levels per
// second.
double DecodeLevels(const std::vector<uint16_t>& levels, int width) {
  encodings::ByteWriter bytes;
  encodings::PutHybrid<uint16_t>(levels, width, bytes);
  std::vector<uint16_t> decoded(levels.size());
  constexpr int kRepeats = 500;
  double best = std::numeric_limits<double>::max();
  for (int turn = 0; turn < 5; ++turn) {
    best = std::min(best, Seconds([&] {
                      for (int i = 0; i < kRepeats; ++i) {
                        Check(encodings::ReadHybrid<uint16_t>(bytes.span(), width, decoded).ok(),
                              "levels");
                        Keep(decoded.data());
                      }
                    }));
  }
  Check(decoded == levels, "other levels");
  return static_cast<double>(kRepeats * levels.size()) / best / 1e9;
}

void PrintLevels() {
  std::mt19937_64 random(6);
  std::vector<uint16_t> flat(65'536), lists(65'536);
  for (uint16_t& level : flat) level = random() % 10 > 0 ? 1 : 0;
  // The levels are 0 to 2, like repetition levels of lists of lists with about four elements.
  for (uint16_t& level : lists) level = static_cast<uint16_t>(random() % 4 > 0 ? 2 : random() % 3);
  std::printf("%-44s %6.2f G levels/s\n", "levels of a flat column, one null in ten",
              DecodeLevels(flat, 1));
  std::printf("%-44s %6.2f G levels/s\n", "levels of lists of lists", DecodeLevels(lists, 2));
}

// Returns the seconds that the script prints, by name. Returns an empty map if no Python is given.
std::map<std::string, double> RunPeer(const std::string& python, const std::string& input) {
  std::map<std::string, double> seconds;
  if (python.empty()) return seconds;
  const std::string script = CFILE_SOURCE_DIR "/tests/benchmarks/records_pyarrow.py";
  FILE* const pipe =
      ::popen(absl::StrCat("'", python, "' '", script, "' '", input, "'").c_str(), "r");
  char name[32];
  double value;
  while (std::fscanf(pipe, "%31s %lf", name, &value) == 2) seconds[name] = value;
  Check(::pclose(pipe) == 0, script);
  return seconds;
}

int Main(int argc, char** argv) {
  Check(argc >= 2, "records_benchmark DIRECTORY [PYTHON [TURNS]]");
  const std::string directory = argv[1], python = argc > 2 ? argv[2] : "";
  const int turns = argc > 3 ? std::atoi(argv[3]) : 3;
  std::filesystem::create_directories(directory);
  const std::string input = directory + "/records.jsonl", table = directory + "/table";
  const std::string schema = directory + "/record.schema";
  Generate(input);
  Import(input, table, "");
  std::ofstream(schema) << OrDie(OrDie(TableReader::Open(table)).schema().Records()).ToString();

  std::map<std::string, double> ours, peers;
  const auto keep_best = [](std::map<std::string, double>& best, const std::string& name,
                            double seconds) {
    const auto [found, is_new] = best.emplace(name, seconds);
    if (!is_new) found->second = std::min(found->second, seconds);
  };
  Read read;
  for (int turn = 0; turn < turns; ++turn) {
    keep_best(ours, "import", Seconds([&] { Import(input, table, ""); }));
    keep_best(ours, "import_schema", Seconds([&] { Import(input, table, schema); }));
    keep_best(ours, "read", Seconds([&] { read = ReadLeaves(table); }));
    for (const auto& [name, seconds] : RunPeer(python, input)) keep_best(peers, name, seconds);
  }
  const std::pair<const char*, const char*> rows[] = {
      {"import", "import, the schema found from the records"},
      {"import_schema", "import, the schema given"},
      {"read", "all leaves read: levels and values"}};
  std::printf("%-44s %9s %9s %7s\n", "seconds, 200 MB of JSON Lines", "cfile", "pyarrow", "ratio");
  for (const auto& [name, text] : rows) {
    std::printf("%-44s %9.3f", text, ours[name]);
    if (peers.count(name) > 0) std::printf(" %9.3f %6.1fx", peers[name], peers[name] / ours[name]);
    std::printf("\n");
  }
  std::printf("%llu entries, %llu values\n", static_cast<unsigned long long>(read.entries),
              static_cast<unsigned long long>(read.values));
  PrintLevels();
  return 0;
}

}  // namespace
}  // namespace cfile

int main(int argc, char** argv) { return cfile::Main(argc, argv); }
