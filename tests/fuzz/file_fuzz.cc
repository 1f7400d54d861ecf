// Whole files are scanned, searched, verified and salvaged. Their blocks are changed, and the
// checksums are corrected.
#include <string>
#include <string_view>
#include <vector>

#include "cfile/block_cache.h"
#include "cfile/inspect.h"
#include "cfile/levels.h"
#include "cfile/reader.h"
#include "cfile/salvage.h"
#include "cfile/scan.h"
#include "tests/cfile/scripted_io.h"
#include "tests/fuzz/file_parts.h"
#include "tests/fuzz/seed_files.h"

namespace cfile::fuzz {
namespace {

// These limits bound the time of an input. Reading more rows would only take more time.
constexpr int kMostBatches = 64;
constexpr size_t kBatch = 1000;

// Returns true if the call succeeded. Expects that an error says bad data, or that the file lacks
// the index for this call. The requested rows and keys exist, so that no other error is possible.
bool Found(const Reader& reader, const absl::Status& status) {
  if (absl::IsFailedPrecondition(status)) {
    Expect(!reader.info().positional_index_root || !reader.info().value_index_root);
  } else if (!status.ok()) {
    ExpectBadData(status);
  }
  return status.ok();
}

// Calls `next` until it returns an empty batch or an error about bad data. A file without any index
// cannot be read.
template <typename Next>
void ReadBatches(const Reader& reader, const Next& next) {
  for (int i = 0; i < kMostBatches; ++i) {
    const auto batch = next();
    if (absl::IsFailedPrecondition(batch.status()))
      return Expect(!reader.info().positional_index_root && !reader.info().value_index_root);
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
  auto cursor = reader.NewLevelCursor<T>();
  if (!cursor.ok()) return;
  ReadBatches(reader, [&] { return cursor->Next(kBatch); });
  for (const uint64_t part : {3u, 1u, 2u, 0u}) {
    const absl::Status status = cursor->SeekToRecord(reader.num_rows() / 3 * part);
    if (Found(reader, status)) (void)Found(reader, cursor->Next(3).status());
  }
}

// Returns a value of the file for comparisons, or an empty value if the file has none.
template <typename T>
Owned<T> SomeValue(const Reader& reader) {
  const auto value = reader.Get<T>(reader.num_rows() / 2);
  return value.ok() && *value ? **value : Owned<T>{};
}

template <typename T>
void ScanFile(const Reader& reader) {
  ScanLevels<T>(reader);
  auto cursor = reader.NewCursor<T>();
  if (!cursor.ok()) return;
  ReadBatches(reader, [&] { return cursor->Next(kBatch); });
  const Owned<T> some = SomeValue<T>(reader);
  const T value(some);
  std::vector<Predicate<T>> predicates = {
      Predicate<T>::NotEqual(value),  Predicate<T>::GreaterOrEqual(value),
      Predicate<T>::Equal(value),     Predicate<T>::Between(T{}, value),
      Predicate<T>::In({T{}, value}), Predicate<T>::IsNull()};
  if constexpr (encodings::kIsBytes<T>)
    predicates.push_back(Predicate<T>::HasPrefix(value.substr(0, value.size() / 2)));
  for (const auto& predicate : predicates) {
    auto scan = reader.NewScan<T>(predicate, {reader.num_rows() / 9, UINT64_MAX});
    if (scan.ok()) ReadBatches(reader, [&] { return scan->Next(); });
  }
}

template <typename T>
void SeekInFile(const Reader& reader) {
  auto cursor = reader.NewCursor<T>();
  if (!cursor.ok()) return;
  const uint64_t rows = reader.num_rows();
  std::vector<uint64_t> ordinals;
  for (const uint64_t part : {3u, 1u, 2u, 0u, 3u, 1u}) {
    const uint64_t ordinal = rows / 3 * part;
    if (ordinal >= rows) continue;
    ordinals.push_back(ordinal);
    (void)Found(reader, cursor->Get(ordinal).status());
  }
  OwnedBatch<T> taken;
  if (Found(reader, cursor->Take(ordinals, taken))) Expect(taken.size() == ordinals.size());
  if (const auto ranges = reader.Split(3); Found(reader, ranges.status())) {
    for (const OrdinalRange& range : *ranges) {
      if (Found(reader, cursor->SeekToRange(range))) {
        (void)Found(reader, cursor->Next(kBatch).status());
      }
    }
  }
  const Owned<T> some = SomeValue<T>(reader);
  const T key(some);
  if (const auto found = cursor->SeekToKey(key); Found(reader, found.status())) {
    Expect(found->ordinal <= rows);
    (void)Found(reader, cursor->Next(kBatch).status());
  }
  const T keys[] = {key, T{}, key};
  KeyPosition positions[std::size(keys)];
  if (Found(reader, cursor->SeekMany(keys, positions))) {
    for (const KeyPosition& position : positions) Expect(position.ordinal <= rows);
  }
  if (const auto range = cursor->SeekToKeyRange(T{}, key); Found(reader, range.status())) {
    Expect(range->begin <= range->end && range->end <= rows);
    (void)Found(reader, cursor->Next(kBatch).status());
  }
}

// Calls `use` with a reader of the file. The buffer has exactly the size of the file, so that
// AddressSanitizer detects reads past its end. If this size is odd, the source is not in memory.
// The cache is new, so that inputs do not affect each other.
template <typename Use>
void WithReader(std::span<const uint8_t> file, const Use& use, ReaderOptions options = {}) {
  options.block_cache = std::make_shared<BlockCache>(size_t{64} << 10);
  auto source = NewMemorySource(ToBytes(file));
  if (file.size() % 2 != 0)
    source = std::make_shared<testing_support::ScriptedSource>(std::move(source));
  const auto reader = Reader::Open(std::move(source), options);
  if (!reader.ok()) return ExpectBadData(reader.status());
  use(*reader);
}

void Scans(std::span<const uint8_t> file) {
  WithReader(file, [](const Reader& reader) {
    encodings::VisitPhysicalType(reader.type().physical(),
                                 [&](auto t) { ScanFile<typename decltype(t)::type>(reader); });
  });
}

// Seeks in the file without checking its checksums. Makes all seeks twice, because the second time
// they use the seek indexes.
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
    const VerifyReport report = Verify(reader);
    for (const Damage& damage : report.damages)
      Expect(absl::IsDataLoss(damage.status) || absl::IsUnimplemented(damage.status));
    for (const Damage& limit : report.limits) Expect(IsLimit(limit.status));
    (void)VisitBlocks(reader, [](const BlockInfo& block) {
      Touch(encodings::AsString(block.bytes));
      return true;
    });
  });
}

bool Verified(const Bytes& file) {
  const auto reader = Reader::Open(NewMemorySource(file));
  return reader.ok() && Verify(*reader).ok();
}

// Returns the seeds. Also checks the code that changes files: after a file was split and written
// again, Verify returns the same result. Files without checksums cannot be split.
std::vector<Bytes> RewrittenSeedFiles() {
  std::vector<Bytes> files = SeedFiles();
  size_t rewritten = 0;
  for (const Bytes& file : files) {
    const auto parts = FileParts::Of(file);
    if (!parts) continue;
    Expect(Verified(parts->Write(SIZE_MAX, {})) == Verified(file));
    ++rewritten;
  }
  Expect(rewritten + 5 > files.size());
  return files;
}

// Salvages any bytes. The new file must be valid.
void Salvages(std::span<const uint8_t> file) {
  Bytes salvaged;
  const auto report = Salvage(NewMemorySource(ToBytes(file)), NewMemorySink(&salvaged));
  if (report.ok()) return Expect(Verified(salvaged));
  Expect(salvaged.empty());
  // Files of Bloom filters have no values to salvage. A damaged file with a value index may have
  // unsorted rows.
  if (absl::IsFailedPrecondition(report.status()) || absl::IsInvalidArgument(report.status()))
    return;
  ExpectBadData(report.status());
}

template <typename T>
void AppendValue(const T& value, std::string& row) {
  if constexpr (encodings::kIsBytes<T>) {
    row += std::to_string(value.size()) + ":";
    row += std::string_view(value.data(), value.size());
  } else {
    row.append(reinterpret_cast<const char*>(&value), sizeof(value));
  }
}

// Returns the rows of a file as strings. Different rows have different strings.
template <typename T>
std::vector<std::string> RowsOf(const Reader& reader) {
  std::vector<std::string> rows;
  if (reader.info().has_levels()) {
    auto cursor = reader.NewLevelCursor<T>();
    Expect(cursor.ok());
    for (auto batch = cursor->Next(1); batch.ok() && !batch->empty(); batch = cursor->Next(1)) {
      std::string& row = rows.emplace_back();
      for (const auto level : batch->repetition) row += std::to_string(level) + "r";
      for (const auto level : batch->definition) row += std::to_string(level) + "d";
      for (const T& value : batch->values) AppendValue(value, row);
    }
    return rows;
  }
  auto cursor = reader.NewCursor<T>();
  Expect(cursor.ok());
  for (auto batch = cursor->Next(1); batch.ok() && !batch->empty(); batch = cursor->Next(1)) {
    std::string& row = rows.emplace_back();
    if (batch->null_count == 0) AppendValue(batch->values[0], row);
  }
  return rows;
}

// Salvages `torn`, the first bytes of a valid file with the rows `rows`. Expects the rows in order,
// without the rows that the report calls missing. Returns the number of recovered rows.
template <typename T>
size_t SalvageTorn(const Bytes& torn, const std::vector<std::string>& rows) {
  Bytes salvaged;
  const auto report = Salvage(NewMemorySource(torn), NewMemorySink(&salvaged));
  if (!report.ok()) return 0;
  std::vector<std::string> expected;
  uint64_t next = 0;
  const auto expect_rows = [&](uint64_t end) {
    for (; next < end && expected.size() < report->rows; ++next) expected.push_back(rows.at(next));
  };
  for (const OrdinalRange& missing : report->missing) {
    expect_rows(missing.begin);
    next = missing.end;
  }
  expect_rows(rows.size());
  const auto reader = Reader::Open(NewMemorySource(salvaged));
  Expect(reader.ok() && RowsOf<T>(*reader) == expected && expected.size() == report->rows);
  return expected.size();
}

std::vector<Bytes> TornSeedFiles() {
  const std::vector<Bytes> files = SeedFiles();
  size_t rows_that_came_back = 0;
  for (const Bytes& file : files) {
    const auto whole = Reader::Open(NewMemorySource(file));
    if (!Verified(file) || whole->info().holds_bloom_filters()) continue;
    encodings::VisitPhysicalType(whole->type().physical(), [&](auto t) {
      using T = typename decltype(t)::type;
      const std::vector<std::string> rows = RowsOf<T>(*whole);
      for (size_t part = 1; part < 8; ++part) {
        const auto size = static_cast<ptrdiff_t>(file.size() * part / 8);
        rows_that_came_back += SalvageTorn<T>({file.begin(), file.begin() + size}, rows);
      }
    });
  }
  Expect(rows_that_came_back > 100 * files.size());
  return files;
}

// Changes the file in half of the calls, and truncates it in half of the calls.
void MutateTornFile(Bytes& file, Random& random) {
  if (random() % 2 == 0) MutateFile(file, random);
  if (random() % 2 == 0) file.resize(random() % (file.size() + 1));
}

}  // namespace

std::vector<Target> Targets() {
  return {{"open-scan", Scans, RewrittenSeedFiles, MutateFile},
          {"open-seek", Seeks, SeedFiles, MutateFile},
          {"salvage", Salvages, TornSeedFiles, MutateTornFile},
          {"verify", Verifies, SeedFiles, MutateFile}};
}

}  // namespace cfile::fuzz
