// Records are split into the same levels and values as by parquet-java, and assembled again. The
// environment variable CFILE_GOLDEN_DIRS names more folders of golden sets, separated by colons.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "cfile/parts/records/leaf_buffer.h"
#include "cfile/parts/records/record_assembler.h"
#include "cfile/parts/records/record_shredder.h"
#include "record_testing.h"
#include "tests/encodings/golden_vectors.h"

namespace cfile::record_shredding_golden_test {

// A LeafStream over a LeafBuffer. Loads `batch` entries at a time.
class MemoryStream final : public internal::LeafStream {
 public:
  MemoryStream(const RecordNode& leaf, internal::LeafBuffer& buffer, size_t num_records,
               size_t batch)
      : leaf_(leaf), buffer_(buffer), num_entries_(num_records), batch_(batch) {
    if (leaf.max_definition > 0) num_entries_ = buffer.definition().size();
  }

 private:
  absl::Status SeekToRecord(uint64_t record) override {
    next_ = value_ = loaded_values_ = 0;
    for (; next_ < num_entries_; ++next_) {
      const bool begins = leaf_.max_repetition == 0 || buffer_.repetition()[next_] == 0;
      if (begins && record-- == 0) break;
      value_ += HasValue(next_);
    }
    return absl::OkStatus();
  }
  absl::StatusOr<Entries> Load() override {
    value_ += loaded_values_;
    loaded_values_ = 0;
    const size_t size = std::min(batch_, num_entries_ - next_);
    Entries entries{.num_entries = size};
    if (leaf_.max_repetition > 0) entries.repetition = buffer_.repetition().subspan(next_, size);
    if (leaf_.max_definition > 0) entries.definition = buffer_.definition().subspan(next_, size);
    for (size_t i = 0; i < size; ++i) loaded_values_ += HasValue(next_++);
    entries.ends_record =
        next_ == num_entries_ || leaf_.max_repetition == 0 || buffer_.repetition()[next_] == 0;
    return entries;
  }
  absl::Status Tell(size_t i, size_t node, RecordVisitor& visitor) const override {
    return encodings::VisitPhysicalType(
        leaf_.type.physical(), [&]<typename T>(std::type_identity<T>) {
          auto& typed = static_cast<internal::TypedLeafBuffer<T>&>(buffer_);
          return visitor.Value(node, RecordValue(typed.values()[value_ + i]));
        });
  }
  bool HasValue(size_t entry) const {
    return leaf_.max_definition == 0 || buffer_.definition()[entry] == leaf_.max_definition;
  }

  const RecordNode leaf_;
  internal::LeafBuffer& buffer_;
  size_t num_entries_;
  const size_t batch_;
  size_t next_ = 0;   // the next entry to load
  size_t value_ = 0;  // index of the first loaded value
  size_t loaded_values_ = 0;
};

struct Set {
  std::string name;
  Json json;
};

// Returns the golden sets of kind "nested levels" in the project's folder, in the folders of
// CFILE_GOLDEN_DIRS, and in their subfolders.
std::vector<Set> GoldenSets() {
  std::vector<Set> sets;
  for (const std::string& folder :
       encodings::GoldenFolders(CFILE_SOURCE_DIR "/tests/golden/parquet/nested")) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
      if (entry.path().extension() != ".json") continue;
      std::ifstream in(entry.path());
      Json json = Json::parse(in, nullptr, false);
      if (!json.is_object() || json.value("kind", "") != "nested levels") continue;
      sets.push_back({entry.path().stem().string(), std::move(json)});
    }
  }
  return sets;
}

// Returns the entries of a leaf as [[repetition, definition, value], ...].
Json Triples(const RecordNode& leaf, internal::LeafBuffer& buffer, size_t num_records) {
  return encodings::VisitPhysicalType(leaf.type.physical(), [&]<typename T>(std::type_identity<T>) {
    const auto values = static_cast<internal::TypedLeafBuffer<T>&>(buffer).values();
    Json triples = Json::array();
    size_t value = 0;
    const size_t num_entries = leaf.max_definition > 0 ? buffer.definition().size() : num_records;
    for (size_t i = 0; i < num_entries; ++i) {
      const int repetition = leaf.max_repetition > 0 ? buffer.repetition()[i] : 0;
      const int definition = leaf.max_definition > 0 ? buffer.definition()[i] : 0;
      Json json = nullptr;
      if (definition == leaf.max_definition) json = ValueToJson<T>(values[value++]);
      triples.push_back({repetition, definition, json});
    }
    EXPECT_EQ(value, values.size());
    return triples;
  });
}

TEST(RecordShreddingGolden, LevelsAndRecords) {
  const std::vector<Set> sets = GoldenSets();
  EXPECT_GE(sets.size(), 13u);
  for (const Set& set : sets) {
    SCOPED_TRACE(set.name);
    const auto schema = RecordSchema::Parse(set.json["schema"].get<std::string>());
    ASSERT_TRUE(schema.ok()) << schema.status();
    EXPECT_EQ(RecordSchema::Parse(schema->ToString()).value(), *schema);

    internal::RecordShredder shredder(*schema);
    for (const Json& record : set.json["records"]) {
      ASSERT_EQ(TellJson(*schema, 0, record, shredder), absl::OkStatus()) << record;
    }
    const size_t num_records = set.json["records"].size();
    ASSERT_EQ(shredder.num_records(), num_records);
    ASSERT_EQ(schema->leaves().size(), set.json["columns"].size());
    for (size_t i = 0; i < schema->leaves().size(); ++i) {
      const Json& column = set.json["columns"][i];
      EXPECT_EQ(schema->Path(schema->leaves()[i]), column["path"]);
      EXPECT_EQ(schema->leaf(i).max_repetition, column["max_rep"]);
      EXPECT_EQ(schema->leaf(i).max_definition, column["max_def"]);
      EXPECT_EQ(Triples(schema->leaf(i), *shredder.leaves()[i], num_records), column["triples"]);
    }

    // Reads all leaves, and then each leaf alone. Loads the entries in one batch and in many
    // batches.
    for (size_t projection = 0; projection <= schema->leaves().size(); ++projection) {
      std::vector<size_t> leaves;
      for (size_t i = 0; i < schema->leaves().size(); ++i) {
        if (projection == 0 || projection == i + 1) leaves.push_back(i);
      }
      for (const size_t batch : {size_t{1}, size_t{7}, size_t{1} << 20}) {
        std::vector<MemoryStream> memory;
        for (const size_t leaf : leaves) {
          memory.emplace_back(schema->leaf(leaf), *shredder.leaves()[leaf], num_records, batch);
        }
        std::vector<internal::LeafStream*> streams;
        for (MemoryStream& stream : memory) streams.push_back(&stream);
        internal::RecordAssembler assembler(*schema, leaves, streams);
        JsonVisitor visitor(*schema);
        const size_t begin = num_records / 3 * (projection % 2);
        ASSERT_EQ(assembler.Seek(begin), absl::OkStatus());
        for (size_t i = begin; i < num_records; ++i) {
          ASSERT_EQ(assembler.Next(visitor), absl::OkStatus());
          ASSERT_EQ(visitor.records.back(), Stored(*schema, set.json["records"][i], leaves));
        }
        EXPECT_EQ(assembler.Next(visitor).code(), absl::StatusCode::kDataLoss);
      }
    }
  }
}

}  // namespace cfile::record_shredding_golden_test
