// Measures reads from a source that takes 20 ms for each call of ReadAt or ReadMany. Such a source
// is like an object store that serves several requests at the same time:
//
//   build/release/tests/benchmarks/slow_source
//
// The file has 31 blocks of 256 KiB. The program opens a reader, scans all rows, takes 1,000 rows
// from all blocks, and searches for a key that is not in the cache.
// One thread searches alone, and then eight threads search at the same time.
// For each operation the program prints the milliseconds, the number of calls of the source,
// and the number of ranges that these calls read.
// The last line of the output is for a scan of the same file with pread, without latency.
// The time in this line is processor time.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "cfile/block_cache.h"
#include "cfile/reader.h"
#include "cfile/writer.h"
#include "tests/benchmarks/or_die.h"

namespace cfile {
namespace {

using benchmarks::Check;
using benchmarks::Keep;
using benchmarks::OrDie;

constexpr std::chrono::milliseconds kLatency(20);
constexpr uint64_t kBlocks = 31;
constexpr uint64_t kRowsPerBlock = 32'000;
constexpr uint64_t kRows = kBlocks * kRowsPerBlock;

class SlowSource final : public Source {
 public:
  explicit SlowSource(std::span<const uint8_t> bytes) : source_(NewMemoryViewSource(bytes)) {}

  const std::string& name() const override { return source_->name(); }
  uint64_t size() const override { return source_->size(); }
  absl::Status ReadAt(uint64_t offset, std::span<uint8_t> out) const override {
    Wait();
    ++ranges_;
    return source_->ReadAt(offset, out);
  }
  void ReadMany(std::span<ReadRequest> requests) const override {
    Wait();
    ranges_ += requests.size();
    source_->ReadMany(requests);
  }

  uint64_t calls() const { return calls_; }
  uint64_t ranges() const { return ranges_; }
  void Reset() const { calls_ = ranges_ = 0; }

 private:
  void Wait() const {
    ++calls_;
    std::this_thread::sleep_for(kLatency);
  }

  const std::shared_ptr<const Source> source_;
  mutable std::atomic<uint64_t> calls_ = 0;
  mutable std::atomic<uint64_t> ranges_ = 0;
};

// Each call makes a new cache.
// So no measurement finds blocks in the cache that an earlier measurement has read.
ReaderOptions ColdOptions() {
  return {.block_cache = std::make_shared<BlockCache>(BlockCache::kDefaultBytes)};
}

template <typename Work>
void Measure(const char* name, const SlowSource& source, const Work& work) {
  source.Reset();
  const auto begin = std::chrono::steady_clock::now();
  work();
  const std::chrono::duration<double, std::milli> elapsed =
      std::chrono::steady_clock::now() - begin;
  std::printf("%-36s %8.1f ms %4llu calls %4llu ranges\n", name, elapsed.count(),
              static_cast<unsigned long long>(source.calls()),
              static_cast<unsigned long long>(source.ranges()));
}

int64_t Sum(const Reader& reader) {
  auto cursor = OrDie(reader.NewCursor<int64_t>());
  int64_t sum = 0;
  for (const auto& batch : cursor.Batches()) {
    OrDie(batch.status());
    for (const int64_t value : batch->values) sum += value;
  }
  return sum;
}

void SearchCold(const std::shared_ptr<const SlowSource>& source, const char* name,
                size_t num_threads) {
  const Reader reader = OrDie(Reader::Open(source, ColdOptions()));
  Measure(name, *source, [&] {
    std::vector<std::thread> threads;
    for (size_t i = 0; i < num_threads; ++i) {
      threads.emplace_back([&] {
        auto cursor = OrDie(reader.NewCursor<int64_t>());
        Check(OrDie(cursor.SeekToKey(500'000)).ordinal == 500'000, "the key's row");
      });
    }
    for (std::thread& thread : threads) thread.join();
  });
}

void Run() {
  std::vector<int64_t> values(kRows);
  std::iota(values.begin(), values.end(), 0);
  std::vector<uint8_t> file;
  auto writer = OrDie(Writer<int64_t>::Create(NewMemorySink(&file), ColumnType::Int64(),
                                              {.encoding = Encoding::kPlain,
                                               .compression = Compression::kNone,
                                               .value_index = true,
                                               .block_size_bytes = 1'000'000,
                                               .max_values_per_block = kRowsPerBlock}));
  OrDie(writer.Append(values));
  OrDie(writer.Finish());
  const auto source = std::make_shared<SlowSource>(file);

  Measure("open", *source, [&] { OrDie(Reader::Open(source, ColdOptions()).status()); });
  const int64_t sum = std::accumulate(values.begin(), values.end(), int64_t{0});
  const Reader scanned = OrDie(Reader::Open(source, ColdOptions()));
  Measure("scan of 31 blocks", *source, [&] { Check(Sum(scanned) == sum, "the sum"); });

  std::mt19937_64 random(1);
  std::vector<uint64_t> ordinals(1000);
  for (size_t i = 0; i < ordinals.size(); ++i)
    ordinals[i] = i % kBlocks * kRowsPerBlock + random() % kRowsPerBlock;
  const Reader taken = OrDie(Reader::Open(source, ColdOptions()));
  Measure("Take of 1,000 rows of 31 blocks", *source, [&] {
    OwnedBatch<int64_t> out;
    OrDie(taken.Take<int64_t>(ordinals, out));
    for (size_t i = 0; i < ordinals.size(); ++i)
      Check(out.batch().values[i] == values[ordinals[i]], "a taken value");
  });

  SearchCold(source, "one cold key, one thread", 1);
  SearchCold(source, "one cold key, eight threads", 8);

  const std::string path =
      (std::filesystem::temp_directory_path() / "cfile_slow_source_benchmark").string();
  auto sink = OrDie(NewFileSink(path));
  OrDie(sink->Append(file));
  OrDie(sink->Finish());
  const Reader local = OrDie(Reader::Open(path, {.access = ReaderOptions::Access::kPread}));
  const double seconds = benchmarks::MedianSeconds([&] {
    for (int i = 0; i < 20; ++i) Check(Sum(local) == sum, "the sum");
  });
  std::filesystem::remove(path);
  std::printf("%-36s %8.2f ms\n", "scan with pread", seconds / 20 * 1e3);
}

}  // namespace
}  // namespace cfile

int main() { cfile::Run(); }
