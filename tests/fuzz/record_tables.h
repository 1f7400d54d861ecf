// Tables of records in a directory in memory.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "cfile/parts/table/manifest/table_file.h"
#include "cfile/records.h"
#include "tests/fuzz/file_parts.h"
#include "tools/records/json_lines.h"
#include "tools/records/json_parser.h"

namespace cfile::fuzz {

inline void WriteWhole(const std::filesystem::path& path, std::span<const uint8_t> bytes) {
  std::ofstream file(path, std::ios::binary);
  file << encodings::AsString(bytes);
  file.close();
  Expect(file.good());
}

// A new empty directory with a path for a table and a path for an input file.
struct Place {
  Place() : directory(Root() / "table"), input(Root() / "input") {
    std::filesystem::remove_all(Root());
    std::filesystem::create_directories(Root());
  }
  static std::filesystem::path Root() {
    return std::filesystem::path(access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp") /
           ("cfile-fuzz-" + std::to_string(getpid()));
  }
  ~Place() { std::filesystem::remove_all(Root()); }
  void WriteInput(std::span<const uint8_t> bytes) const { WriteWhole(input, bytes); }
  std::filesystem::path directory, input;
};

// Returns the schema of the table. An input holds the files of all leaves, each after its length.
// WriteTable writes a table.cft that describes these files.
inline RecordSchema TableSchema() {
  return RecordSchema::Parse(R"(message m { required int64 id; optional binary name (STRING);
    optional group tags (LIST) { repeated group list { optional binary element (STRING); } }
    repeated group r { optional int32 a; repeated double b; } })")
      .value();
}

inline std::vector<Bytes> SplitLeaves(std::span<const uint8_t> bytes) {
  std::vector<Bytes> leaves;
  encodings::ByteReader reader(bytes);
  for (std::span<const uint8_t> leaf; reader.ReadLengthPrefixed(leaf);)
    leaves.push_back(ToBytes(leaf));
  return leaves;
}

inline Bytes JoinLeaves(const std::vector<Bytes>& leaves) {
  encodings::ByteWriter out;
  for (const Bytes& leaf : leaves) out.PutLengthPrefixed(leaf);
  return ToBytes(out.span());
}

inline constexpr uint64_t kTableRows = 4;

// Writes the table into `directory`. Returns false if the number of leaves is wrong.
inline bool WriteTable(const std::vector<Bytes>& leaves, const std::filesystem::path& directory) {
  internal::TableContents contents{.schema = Schema::OfRecords(TableSchema()),
                                   .parts = {{.directory = "part", .num_rows = kTableRows}}};
  if (leaves.size() != contents.schema.columns.size()) return false;
  std::filesystem::create_directories(directory / "part");
  for (size_t i = 0; i < leaves.size(); ++i) {
    const std::string name = internal::ColumnFileName(i, contents.schema.columns[i].name);
    WriteWhole(directory / "part" / name, leaves[i]);
    contents.parts[0].columns.push_back(
        {.file_name = name, .size_bytes = leaves[i].size(), .num_rows = kTableRows});
  }
  WriteWhole(internal::TableFilePath(directory.string()),
             encodings::AsBytes(internal::SerializeTable(contents)));
  return true;
}

inline std::vector<Bytes> RecordTableSeeds() {
  std::vector<Bytes> seeds;
  const RecordSchema schema = TableSchema();
  for (const Compression compression : {Compression::kNone, Compression::kZstd}) {
    const Place place;
    const WriterOptions options{.compression = compression, .block_size_bytes = 60};
    auto writer = RecordWriter::Create(place.directory.string(), schema, {&options, 1}).value();
    tools::JsonParser parser(schema);
    for (std::string line : {R"({"id":1,"name":"a","tags":["x",null],"r":[{"a":1,"b":[0.5,1]}]})",
                             R"({"id":2,"tags":[]})", R"({"id":3,"r":[{},{"b":[2]}]})",
                             R"({"id":4,"name":"b","tags":["y"]})"}) {
      const size_t size = line.size();
      line.resize(size + tools::kJsonPadding);
      Expect(parser.Tell(std::string_view(line).substr(0, size), writer).ok());
    }
    Expect(writer.Finish().ok());
    const auto table = TableReader::Open(place.directory.string()).value();
    std::vector<Bytes> leaves;
    for (size_t i = 0; i < table.schema().columns.size(); ++i) {
      std::ifstream in(place.directory / *table.part_file(0, i), std::ios::binary);
      leaves.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
    }
    seeds.push_back(JoinLeaves(leaves));
  }
  return seeds;
}

inline void MutateLeaf(Bytes& bytes, Random& random) {
  std::vector<Bytes> leaves = SplitLeaves(bytes);
  if (leaves.empty()) return MutateAny(bytes);
  MutateFile(leaves[random() % leaves.size()], random);
  bytes = JoinLeaves(leaves);
}

}  // namespace cfile::fuzz
