// Measures files of this library: MeasureFiles and MeasureSeeks.
#include <cstdio>
#include <utility>

#include "cfile/reader.h"
#include "cfile/writer.h"
#include "file_comparison.h"

namespace cfile::benchmarks {
namespace {

constexpr size_t kBatchRows = 4096;
constexpr size_t kTakenRows = 10'000;
constexpr size_t kKeysAtOnce = 1000;

class UnsyncedFile final : public Sink {
 public:
  explicit UnsyncedFile(const std::string& path)
      : path_(path), file_(std::fopen(path.c_str(), "wb")) {
    Check(file_ != nullptr, "cannot write " + path);
  }
  ~UnsyncedFile() override {
    if (file_ != nullptr) std::fclose(file_);
  }
  const std::string& name() const override { return path_; }
  absl::Status Append(std::span<const uint8_t> bytes) override {
    if (std::fwrite(bytes.data(), 1, bytes.size(), file_) == bytes.size()) return absl::OkStatus();
    return absl::UnknownError("cannot write " + path_);
  }
  absl::Status Finish() override {
    if (std::fclose(std::exchange(file_, nullptr)) == 0) return absl::OkStatus();
    return absl::UnknownError("cannot write " + path_);
  }

 private:
  const std::string path_;
  std::FILE* file_;
};

template <typename T>
std::string PathOf(const Column<T>& column, const FileOptions& file, const std::string& directory) {
  return directory + "/" + column.name + "-" + file.name + ".cfile";
}
std::string Who(const FileOptions& file) { return "cfile " + file.name; }

}  // namespace

std::unique_ptr<Sink> OpenUnsyncedFile(const std::string& path) {
  return std::make_unique<UnsyncedFile>(path);
}

template <typename T>
void Scan(const Reader& reader) {
  auto cursor = OrDie(reader.NewCursor<T>());
  uint64_t values = 0;
  while (true) {
    const auto batch = OrDie(cursor.Next(kBatchRows));
    if (batch.empty()) break;
    Keep(batch.values.data());
    values += batch.size();
  }
  Check(values == reader.num_rows(), "a scan gives all values");
}

template <typename T>
void MeasureFiles(const Column<T>& column, const std::string& directory) {
  const auto ordinals = RandomOrdinals(column.values.size(), kTakenRows);
  auto sorted = ordinals;
  std::sort(sorted.begin(), sorted.end());
  for (const FileOptions& file : column.files) {
    const std::string path = PathOf(column, file, directory);
    const auto rate = [&](const char* work, double seconds) {
      PrintRate(column.name, work, Who(file), column.values.size(), seconds);
    };
    rate("write", MedianSeconds([&] {
           auto writer =
               OrDie(Writer<T>::Create(OpenUnsyncedFile(path), column.type, file.options));
           OrDie(writer.Append(column.values));
           OrDie(writer.Finish());
         }));
    PrintSize(column.name, Who(file), path, column.values.size());
    rate("scan", MedianSeconds([&] { Scan<T>(OrDie(Reader::Open(path))); }));
    rate("scan unchecked",
         MedianSeconds([&] { Scan<T>(OrDie(Reader::Open(path, {.verify_checksums = false}))); }));
    const Reader reader = OrDie(Reader::Open(path));
    rate("scan again", MedianSeconds([&] { Scan<T>(reader); }));

    auto cursor = OrDie(reader.NewCursor<T>());
    OwnedBatch<T> taken;
    const double take = MedianSeconds([&] { OrDie(cursor.Take(sorted, taken)); });
    PrintLatency(column.name, "take", Who(file), sorted.size(), take);
    for (size_t i = 0; i < sorted.size(); ++i)
      Check(taken.batch().values[i] == column.values[sorted[i]], path + " has what was written");

    const double get = MedianSeconds([&] {
      for (const uint64_t ordinal : ordinals) {
        const auto value = OrDie(cursor.Get(ordinal));
        Keep(&value);
      }
    });
    PrintLatency(column.name, "one row", Who(file), ordinals.size(), get);
  }
}
template void MeasureFiles(const Column<int64_t>&, const std::string&);
template void MeasureFiles(const Column<double>&, const std::string&);
template void MeasureFiles(const Column<std::string_view>&, const std::string&);
template void Scan<int64_t>(const Reader&);
template void Scan<std::string_view>(const Reader&);

void MeasureSeeks(const Column<std::string_view>& column, const Queries& queries,
                  const std::string& directory) {
  const std::span<const std::string_view> keys = queries.keys;
  std::vector<KeyPosition> positions(keys.size());
  for (const FileOptions& file : column.files) {
    const Reader reader = OrDie(Reader::Open(PathOf(column, file, directory)));
    auto cursor = OrDie(reader.NewCursor<std::string_view>());
    const auto check = [&] {
      for (size_t i = 0; i < keys.size(); ++i)
        Check(positions[i].exact && column.values[positions[i].ordinal] == keys[i],
              "a key is found where it is");
    };
    const double one = MedianSeconds([&] {
      for (size_t i = 0; i < keys.size(); ++i) positions[i] = OrDie(cursor.SeekToKey(keys[i]));
    });
    PrintLatency(column.name, "seek", Who(file), keys.size(), one);
    check();
    const double many = MedianSeconds([&] {
      for (size_t i = 0; i < keys.size(); i += kKeysAtOnce) {
        const size_t count = std::min(kKeysAtOnce, keys.size() - i);
        OrDie(cursor.SeekMany(keys.subspan(i, count), std::span(positions).subspan(i, count)));
      }
    });
    PrintLatency(column.name, "seek many", Who(file), keys.size(), many);
    check();
  }
}

}  // namespace cfile::benchmarks
