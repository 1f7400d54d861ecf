// Whole files: opened, scanned, sought, verified. Checksums of blocks are not looked at, those of
// header and footer are signed again after each mutation, so that what lies behind them is reached.
#include <cstdlib>
#include <cstring>

#include "cfile/inspect.h"
#include "cfile/internal/crc32c.h"
#include "cfile/reader.h"
#include "cfile/scan.h"
#include "encodings/bytes.h"

namespace cfile {
namespace {

void Expect(bool holds) {
  if (!holds) std::abort();
}

template <typename T>
void Exercise(const Reader& reader) {
  auto cursor = reader.NewCursor<T>();
  if (!cursor.ok()) return;
  constexpr int kMostBatches = 64;
  for (int batch = 0; batch < kMostBatches; ++batch) {
    const auto rows = cursor->Next(1000);
    if (!rows.ok()) Expect(absl::IsDataLoss(rows.status()) || absl::IsUnimplemented(rows.status()));
    if (!rows.ok() || rows->empty()) break;
  }
  for (const uint64_t part : {3u, 1u, 2u, 0u}) {
    const uint64_t ordinal = reader.num_values() / 3 * part;
    if (ordinal < reader.num_values()) (void)cursor->Get(ordinal);
  }
  (void)cursor->SeekToKey(T{});
  for (const auto& predicate : {Predicate<T>::NotEqual(T{}), Predicate<T>::GreaterOrEqual(T{}),
                                Predicate<T>::Equal(T{}), Predicate<T>::IsNull()}) {
    auto scan = Scan<T>::Open(reader, predicate);
    for (int batch = 0; scan.ok() && batch < kMostBatches; ++batch) {
      const auto rows = scan->Next();
      if (!rows.ok())
        Expect(absl::IsDataLoss(rows.status()) || absl::IsUnimplemented(rows.status()));
      if (!rows.ok() || rows->empty()) break;
    }
  }
}

// header: magic, length, message, checksum; footer: checksum, message, length, magic.
void Sign(uint8_t* data, size_t size) {
  using encodings::LoadLittleEndian;
  using encodings::StoreLittleEndian;
  constexpr size_t kMagicBytes = 8;
  if (size < 2 * (kMagicBytes + 8)) return;
  const size_t header = kMagicBytes + 4 + LoadLittleEndian<uint32_t>(data + kMagicBytes);
  if (header > size - 4) return;
  StoreLittleEndian(internal::Crc32c({data, header}), data + header);
  const size_t end = size - kMagicBytes - 4;
  const size_t message = LoadLittleEndian<uint32_t>(data + end);
  if (message > end - 4) return;
  const size_t begin = end - message;
  StoreLittleEndian(internal::Crc32c({data + begin, size - begin}), data + begin - 4);
}

}  // namespace
}  // namespace cfile

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned int /*seed*/) {
  size = LLVMFuzzerMutate(data, size, max_size);
  cfile::Sign(data, size);
  return size;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace cfile;
  // Memory of its own size, so that AddressSanitizer sees what is read behind it.
  const auto reader = Reader::Open(NewMemorySource(std::vector<uint8_t>(data, data + size)),
                                   {.verify_checksums = false});
  if (!reader.ok()) {
    Expect(absl::IsDataLoss(reader.status()) || absl::IsUnimplemented(reader.status()));
    return 0;
  }
  encodings::VisitPhysicalType(reader->type().physical(),
                               [&](auto t) { Exercise<typename decltype(t)::type>(*reader); });
  (void)Verify(*reader);
  return 0;
}
