// Compares the sizes of files by Goal: the data of the benchmarks at a tenth, and the rows of the
// golden files. tests/golden/choice_sizes.json records the sums.
#include <fstream>
#include <set>

#include "column_testing.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/benchmarks/comparison_data.h"
#include "tests/golden/minted_files.h"

namespace cfile::choice_sizes_test {

using nlohmann::json;

// So many bytes may be lost in one file.
constexpr double kFewBytes = 512;

class ChoiceSizes : public testing::Test {
 protected:
  // Writes a column for each goal and as PLAIN. write(options) returns the size in bytes.
  template <typename Write>
  void Compare(const std::string& name, const Write& write) {
    const auto plain = static_cast<double>(
        write(WriterOptions{.encoding = Encoding::kPlain, .compression = Compression::kNone}));
    const auto balanced = static_cast<double>(write(WriterOptions{}));
    const auto size = static_cast<double>(write(WriterOptions{.goal = Goal::kSize}));
    EXPECT_LE(size, 1.01 * balanced + kFewBytes) << name;
    EXPECT_LE(balanced, 1.02 * plain + kFewBytes) << name;
    plain_ += plain;
    balanced_ += balanced;
    size_ += size;
  }

  // Compares the sums with those that the file records.
  void ExpectRecorded(const std::string& group) {
    EXPECT_LE(size_, balanced_);
    const json recorded =
        json::parse(std::ifstream(CFILE_SOURCE_DIR "/tests/golden/choice_sizes.json"))[group];
    for (const auto& [key, sum] :
         {std::pair("size", size_), std::pair("balanced", balanced_), std::pair("plain", plain_)}) {
      const double expected = recorded.value(key, 0.0);
      EXPECT_NEAR(sum, expected, 0.01 * expected)
          << group << " " << key
          << ": if the change is wanted, change tests/golden/choice_sizes.json, and say why";
    }
  }

 private:
  double plain_ = 0;
  double balanced_ = 0;
  double size_ = 0;
};

TEST_F(ChoiceSizes, Benchmarks) {
  constexpr size_t kNumbers = 1'000'000;
  constexpr size_t kStrings = 500'000;
  const auto compare = [&]<typename T>(const std::string& name, const ColumnType& type,
                                       std::span<const T> values) {
    Compare(name, [&](const WriterOptions& options) {
      std::vector<uint8_t> file;
      auto writer = Writer<T>::Create(NewMemorySink(&file, name), type, options);
      EXPECT_TRUE(writer.ok()) << writer.status();
      EXPECT_EQ(writer->Append(values), absl::OkStatus());
      EXPECT_EQ(writer->Finish(), absl::OkStatus());
      return file.size();
    });
  };
  const auto numbers = [&]<typename T>(const std::string& name, const ColumnType& type,
                                       const std::vector<T>& values) {
    compare(name, type, std::span<const T>(values));
  };
  numbers("sequential", ColumnType::Int64(), encodings::SequentialInts<int64_t>(kNumbers));
  numbers("small", ColumnType::Int32(), encodings::SmallInts<int32_t>(kNumbers));
  numbers("random", ColumnType::Int64(), encodings::RandomInts<int64_t>(kNumbers));
  numbers("walk", ColumnType::Double(), encodings::WalkDoubles(kNumbers));
  numbers("prices", ColumnType::Double(), encodings::Prices(kNumbers));
  for (const bool runs : {false, true}) {
    const auto bits = runs ? encodings::RunBools(kNumbers) : encodings::RandomBools(kNumbers);
    const auto values = std::make_unique<bool[]>(kNumbers);
    std::copy(bits.begin(), bits.end(), values.get());
    compare(runs ? "runs of bools" : "bools", ColumnType::Bool(),
            std::span<const bool>(values.get(), kNumbers));
  }
  numbers("keys", ColumnType::String(), encodings::SortedKeys(kStrings).values);
  numbers("words", ColumnType::String(), encodings::Words(kStrings).values);
  numbers("urls", ColumnType::String(), encodings::SortedUrls(kStrings).values);
  ExpectRecorded("benchmarks");
}

TEST_F(ChoiceSizes, GoldenColumns) {
  for (const char* const folder : {"cfile-0.2", "kudu"}) {
    const auto manifest =
        golden::ReadManifest(std::filesystem::path(CFILE_SOURCE_DIR "/tests/golden") / folder);
    std::set<std::string> seen;
    for (const json& file : manifest.files) {
      golden::Description column = golden::DescriptionOf(file);
      const json& rows = manifest.rows.at(column.rows);
      if (!seen.insert(absl::StrCat(column.type.ToString(), " ", column.rows)).second) continue;
      Compare(absl::StrCat(folder, " ", column.rows), [&](WriterOptions options) {
        options.nullable = column.options.nullable;
        column.options = options;
        return golden::WriteFile(column, rows).size();
      });
    }
  }
  ExpectRecorded("golden");
}

}  // namespace cfile::choice_sizes_test
