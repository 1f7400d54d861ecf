// Whole files: scanned, sought, verified, and shown by cfile-dump. Their blocks are changed behind
// right checksums.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>

#include "cfile/inspect.h"
#include "cfile/internal/bloom_filter.h"
#include "cfile/levels.h"
#include "cfile/reader.h"
#include "cfile/scan.h"
#include "tests/fuzz/file_parts.h"
#include "tests/fuzz/seed_files.h"

// The main function of cfile-dump.
int CfileDumpMain(int argc, char** argv);

namespace cfile::fuzz {
namespace {

// More rows than these read are a matter of patience, not of bytes.
constexpr int kMostBatches = 64;
constexpr size_t kBatch = 1000;

// Calls `next` until it gives an empty batch, or bad data.
template <typename Next>
void ReadBatches(const Next& next) {
  for (int i = 0; i < kMostBatches; ++i) {
    const auto batch = next();
    if (!batch.ok()) return ExpectBadData(batch.status());
    if (batch->empty()) return;
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(batch->values[0])>,
                                 std::string_view>) {
      for (const std::string_view value : batch->values) Touch(value);
    }
  }
}

template <typename T>
void ScanLevels(const Reader& reader) {
  auto cursor = LevelCursor<T>::Open(reader);
  if (!cursor.ok()) return;
  ReadBatches([&] { return cursor->Next(kBatch); });
  for (const uint64_t part : {3u, 1u, 2u, 0u}) {
    if (cursor->SeekToRecord(reader.num_values() / 3 * part).ok()) (void)cursor->Next(3);
  }
}

// A value of the file to compare with, if there is one.
template <typename T>
Owned<T> SomeValue(const Reader& reader) {
  const auto value = reader.Get<T>(reader.num_values() / 2);
  return value.ok() && *value ? **value : Owned<T>{};
}

template <typename T>
void ScanFile(const Reader& reader) {
  ScanLevels<T>(reader);
  auto cursor = reader.NewCursor<T>();
  if (!cursor.ok()) return;
  ReadBatches([&] { return cursor->Next(kBatch); });
  const Owned<T> some = SomeValue<T>(reader);
  const T value(some);
  std::vector<Predicate<T>> predicates = {
      Predicate<T>::NotEqual(value),  Predicate<T>::GreaterOrEqual(value),
      Predicate<T>::Equal(value),     Predicate<T>::Between(T{}, value),
      Predicate<T>::In({T{}, value}), Predicate<T>::IsNull()};
  if constexpr (encodings::kIsBytes<T>)
    predicates.push_back(Predicate<T>::HasPrefix(value.substr(0, value.size() / 2)));
  for (const auto& predicate : predicates) {
    auto scan = Scan<T>::Open(reader, predicate, {.first_ordinal = reader.num_values() / 9});
    if (scan.ok()) ReadBatches([&] { return scan->Next(); });
  }
}

template <typename T>
void SeekInFile(const Reader& reader) {
  auto cursor = reader.NewCursor<T>();
  if (!cursor.ok()) return;
  const uint64_t rows = reader.num_values();
  std::vector<uint64_t> ordinals;
  for (const uint64_t part : {3u, 1u, 2u, 0u, 3u, 1u}) {
    const uint64_t ordinal = rows / 3 * part;
    if (ordinal >= rows) continue;
    ordinals.push_back(ordinal);
    (void)cursor->Get(ordinal);
  }
  OwnedBatch<T> taken;
  if (cursor->Take(ordinals, taken).ok()) Expect(taken.size() == ordinals.size());
  if (const auto ranges = reader.Split(3); ranges.ok()) {
    for (const OrdinalRange& range : *ranges) {
      if (cursor->SeekToRange(range).ok()) (void)cursor->Next(kBatch);
    }
  }
  const Owned<T> some = SomeValue<T>(reader);
  const T key(some);
  if (const auto found = cursor->SeekToKey(key); found.ok()) {
    Expect(found->ordinal <= rows);
    (void)cursor->Next(kBatch);
  }
  const T keys[] = {key, T{}, key};
  KeyPosition positions[std::size(keys)];
  if (cursor->SeekMany(keys, positions).ok()) {
    for (const KeyPosition& position : positions) Expect(position.ordinal <= rows);
  }
  if (const auto range = cursor->SeekToKeyRange(T{}, key); range.ok()) {
    Expect(range->begin <= range->end && range->end <= rows);
    (void)cursor->Next(kBatch);
  }
}

// In memory of its own size, so that AddressSanitizer sees what is read behind it.
template <typename Use>
void WithReader(std::span<const uint8_t> file, const Use& use, const ReaderOptions& options = {}) {
  const auto reader = Reader::Open(NewMemorySource(ToBytes(file)), options);
  if (!reader.ok()) return ExpectBadData(reader.status());
  use(*reader);
}

void Scans(std::span<const uint8_t> file) {
  WithReader(file, [](const Reader& reader) {
    encodings::VisitPhysicalType(reader.type().physical(),
                                 [&](auto t) { ScanFile<typename decltype(t)::type>(reader); });
  });
}

// Blocks are sought whether their checksums are right or not; twice, as the second time their seek
// indexes are there.
void Seeks(std::span<const uint8_t> file) {
  WithReader(file,
             [](const Reader& reader) {
               encodings::VisitPhysicalType(reader.type().physical(), [&](auto t) {
                 for (int i = 0; i < 2; ++i) SeekInFile<typename decltype(t)::type>(reader);
               });
             },
             {.verify_checksums = false});
}

void Verifies(std::span<const uint8_t> file) {
  WithReader(file, [](const Reader& reader) {
    for (const Damage& damage : Verify(reader).damages) ExpectBadData(damage.status);
    (void)VisitBlocks(reader, [](const BlockInfo& block) {
      Touch(encodings::AsString(block.bytes));
      return true;
    });
  });
}

// One of the subcommands, chosen by the bytes, so that each input has its own.
void Dumps(std::span<const uint8_t> file) {
  static const int descriptor = memfd_create("fuzz", 0);
  static const bool silent = std::freopen("/dev/null", "w", stdout) != nullptr;
  Expect(silent && ftruncate(descriptor, 0) == 0);
  Expect(pwrite(descriptor, file.data(), file.size(), 0) == static_cast<ssize_t>(file.size()));
  const std::string path = "/proc/self/fd/" + std::to_string(descriptor);
  const std::vector<std::vector<std::string>> commands = {{path},
                                                          {"header", path},
                                                          {"footer", path},
                                                          {"blocks", path},
                                                          {"index", path},
                                                          {"values", "--count", "1000", path},
                                                          {"at", path, "7"},
                                                          {"find", path, "7"},
                                                          {"records", "--count", "100", path},
                                                          {"verify", path}};
  for (std::vector<std::string> command : commands) {
    for (const bool json : {false, true}) {
      if (json) command.insert(command.end() - 1, "--json");
      std::vector<char*> arguments = {const_cast<char*>("cfile-dump")};
      for (std::string& word : command) arguments.push_back(word.data());
      const int code = CfileDumpMain(static_cast<int>(arguments.size()), arguments.data());
      Expect(code >= 0 && code <= 4);
    }
  }
}

}  // namespace

std::vector<Target> Targets() {
  return {{"open-scan", Scans, SeedFiles, MutateFile},
          {"open-seek", Seeks, SeedFiles, MutateFile},
          {"verify", Verifies, SeedFiles, MutateFile},
          {"cfile-dump", Dumps, SeedFiles, MutateFile}};
}

}  // namespace cfile::fuzz
