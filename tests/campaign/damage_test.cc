// The tests read damaged files. Either an error says where the damage is, or the damage does no
// harm. Damage with right checksums does not crash the reader. No damage causes a crash, a hang,
// too much memory, or a wrong value under a valid checksum.
#include <ctime>

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "cfile/block_cache.h"
#include "cfile/inspect.h"
#include "cfile/reader.h"
#include "gmock/gmock.h"
#include "tests/campaign/amount.h"
#include "tests/campaign/damage_files.h"
#include "tests/campaign/heap.h"
#include "tests/campaign/parts.h"
#include "tests/campaign/transcript.h"
#include "tests/sanitizers.h"

namespace cfile {
namespace {

using campaign::Bytes;
using campaign::Transcript;

constexpr uintmax_t kMostGoldenBytes = 8 * 1024;
constexpr size_t kZeroedBytes = 512;  // the size of a lost page, reduced for these small files

// Returns the files that campaigns write and the golden files. A test of a build takes only some of
// these files.
const std::vector<NamedFile>& Files() {
  static const auto* const files = new auto([] {
    std::vector<NamedFile> all = campaign::OwnFiles(/*seed=*/0);
    EXPECT_GE(all.size(), 300u);
    for (NamedFile& file : GoldenFiles(".cfile", kMostGoldenBytes)) all.push_back(std::move(file));
    const size_t step = campaign::Full() ? 1 : 12 * kThinning;
    std::vector<NamedFile> chosen;
    for (size_t i = 0; i < all.size(); i += step) chosen.push_back(std::move(all[i]));
    return chosen;
  }());
  return *files;
}

// Calls `work(i)` for each i below `count`, with one thread per core, until a test fails.
void ForEach(size_t count, const std::function<void(size_t)>& work) {
  std::atomic<size_t> next = 0;
  std::vector<std::jthread> threads;
  for (unsigned i = 0; i < std::max(1u, std::thread::hardware_concurrency()); ++i) {
    threads.emplace_back([&] {
      for (size_t at = next++; at < count && !testing::Test::HasFailure(); at = next++) work(at);
    });
  }
}

absl::StatusOr<Reader> Open(const Bytes& file) {
  // Each thread has a small cache of its own.
  thread_local const auto cache = std::make_shared<BlockCache>(64 * 1024);
  // The source is an exact copy on the heap, so that a sanitizer detects reads past its end.
  return Reader::Open(NewMemorySource(file, "damaged"), {.block_cache = cache});
}

double ThreadSeconds() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// Runs `read` and checks that its processor time and its heap memory stay within the bounds.
// Processor time does not include the time of other programs.
template <typename Read>
auto WithinBounds(Read&& read) {
  const double start = ThreadSeconds();
  std::optional<decltype(read())> result;
  EXPECT_LE(campaign::MostHeapBytes([&] { result = read(); }), campaign::kMostHeapBytes);
  EXPECT_LT(ThreadSeconds() - start, 1.0 * kThinning);
  return *std::move(result);
}

// Returns true if the message says where the damage is: an offset, the header, the footer or the
// magic.
bool NamesThePlace(const absl::Status& status) {
  const std::string message(status.message());
  if (!message.starts_with("damaged: ")) return false;  // the name of the source
  for (const char* place : {"offset ", "header", "footer", "magic"}) {
    if (message.find(place) != message.npos) return true;
  }
  return false;
}

// Reads `changed`, a damaged copy of `whole`. EXPECTs the same rows, or an error that says where
// the damage is. Returns the error.
absl::Status ExpectErrorOrSame(const Bytes& changed, const Transcript& whole,
                               const std::string& what) {
  Transcript transcript = WithinBounds([&] { return campaign::TranscriptOfFile(Open(changed)); });
  EXPECT_TRUE(transcript.IsFrontOf(whole)) << what << ": other rows, then " << transcript.status;
  EXPECT_TRUE(transcript.status.ok() || NamesThePlace(transcript.status))
      << what << ": " << transcript.status;
  return std::move(transcript.status);
}

// Returns true for an error about a limit that names the option to raise.
bool IsLimit(const absl::Status& status) {
  return absl::IsOutOfRange(status) &&
         std::string(status.message()).find(": raise max_") != std::string::npos;
}

// Reads `changed`, whose checksums are right. EXPECTs that the reader stays within its bounds, and
// that its errors are about damage or a limit.
absl::Status ExpectSurvives(const Bytes& changed, const std::string& what) {
  absl::Status status = WithinBounds([&] {
    const auto reader = Open(changed);
    if (!reader.ok()) return reader.status();
    const VerifyReport report = Verify(*reader);
    for (const Damage& damage : report.damages) {
      EXPECT_TRUE(absl::IsDataLoss(damage.status) || absl::IsUnimplemented(damage.status))
          << what << ": " << damage.status;
    }
    for (const Damage& limit : report.limits)
      EXPECT_TRUE(IsLimit(limit.status)) << what << ": " << limit.status;
    return campaign::TranscriptOfFile(reader).status;
  });
  EXPECT_TRUE(status.ok() || absl::IsDataLoss(status) || absl::IsUnimplemented(status) ||
              IsLimit(status))
      << what << ": " << status;
  return status;
}

bool VerifyFindsNothing(const Bytes& file) {
  const auto reader = Open(file);
  return reader.ok() && Verify(*reader).ok();
}

struct Whole {
  Transcript transcript;
  FileInfo info;
  std::vector<BlockPointer> blocks;
};
Whole ReadWhole(const NamedFile& file) {
  const auto reader = Open(file.bytes);
  EXPECT_TRUE(reader.ok()) << file.name << ": " << reader.status();
  if (!reader.ok()) return {};
  Whole whole{campaign::TranscriptOfFile(reader), reader->info(), campaign::BlocksOf(*reader)};
  EXPECT_TRUE(whole.transcript.status.ok()) << file.name << ": " << whole.transcript.status;
  return whole;
}

// Calls `work(file, results of reading the undamaged file)` for each file.
void ForEachFile(const std::function<void(const NamedFile&, const Whole&)>& work) {
  ForEach(Files().size(), [&](size_t i) { work(Files()[i], ReadWhole(Files()[i])); });
}

// Flips a bit of `changed`, a copy of `file`, and flips the bit back afterwards. EXPECTs that
// either the reads or Verify report the damage. Returns true if the reads did not fail, because the
// bit belongs to alignment or to bytes that they did not need.
bool FlipIsHarmless(const NamedFile& file, const Whole& whole, size_t byte, int bit,
                    Bytes& changed) {
  changed[byte] = static_cast<uint8_t>(file.bytes[byte] ^ 1 << bit);
  const std::string what = file.name + ", bit " + std::to_string(8 * byte + bit);
  const absl::Status status = ExpectErrorOrSame(changed, whole.transcript, what);
  EXPECT_TRUE(status.ok() || absl::IsDataLoss(status)) << what << ": " << status;
  EXPECT_FALSE(status.ok() && VerifyFindsNothing(changed)) << what;
  changed[byte] = file.bytes[byte];
  return status.ok();
}

// EXPECTs that the first `size` bytes of the file cannot be opened.
void ExpectPrefixRefused(const NamedFile& file, size_t size) {
  const Bytes front(file.bytes.begin(), file.bytes.begin() + static_cast<ptrdiff_t>(size));
  const absl::Status status = WithinBounds([&] { return Open(front).status(); });
  ASSERT_TRUE(absl::IsDataLoss(status)) << file.name << ", " << size << " bytes: " << status;
}

// Overwrites `size` bytes from `at` on with zeros, or fewer bytes if the file ends earlier. If the
// file has checksums, EXPECTs an error or the same rows.
void ExpectZerosReportedOrHarmless(const NamedFile& file, const Whole& whole, size_t at,
                                   size_t size) {
  Bytes changed = file.bytes;
  std::fill_n(changed.begin() + static_cast<ptrdiff_t>(at), std::min(size, changed.size() - at),
              uint8_t{0});
  const std::string what =
      file.name + ", " + std::to_string(size) + " zeros at " + std::to_string(at);
  if (!whole.info.has_checksums()) {
    (void)ExpectSurvives(changed, what);
  } else if (ExpectErrorOrSame(changed, whole.transcript, what).ok()) {
    EXPECT_TRUE(changed == file.bytes || !VerifyFindsNothing(changed)) << what;
  }
}

// Bytes of a file that have a checksum, not including the checksum, and a function that corrects
// the checksum.
struct Part {
  uint64_t begin = 0;
  uint64_t end = 0;
  std::function<void(Bytes&)> sign;
};
std::vector<Part> PartsOf(const NamedFile& file, const Whole& whole) {
  const uint64_t checksum = whole.info.has_checksums() ? internal::kChecksumBytes : 0;
  std::vector<Part> parts;
  std::set<uint64_t> movable;  // the offsets of movable blocks
  if (whole.info.has_movable_blocks()) {
    EXPECT_TRUE(VisitBlocks(*Open(file.bytes), [&](const BlockInfo& block) {
                  movable.insert(block.pointer.offset);
                  return true;
                }).ok());
  }
  for (const BlockPointer& block : whole.blocks) {
    if (movable.contains(block.offset)) {
      parts.push_back({block.offset, block.end(), [=](Bytes& changed) {
                         campaign::SignMovableBlock(
                             std::span(changed).subspan(block.offset, block.size));
                       }});
      continue;
    }
    parts.push_back({block.offset, block.end() - checksum,
                     [=](Bytes& changed) { campaign::SignBlock(block, changed); }});
  }
  parts.push_back({0, whole.info.header_size_bytes, campaign::SignMetadata});
  parts.push_back({file.bytes.size() - whole.info.footer_size_bytes, file.bytes.size(),
                   campaign::SignMetadata});
  if (checksum == 0) {
    for (Part& part : parts) part.sign = [](Bytes&) {};
  }
  return parts;
}

TEST(Damage, EveryBitFlipIsReportedOrHarmless) {
  std::atomic<uint64_t> flips = 0, harmless = 0, files = 0;
  ForEachFile([&](const NamedFile& file, const Whole& whole) {
    if (!whole.info.has_checksums()) return;
    ++files;
    Bytes changed = file.bytes;
    for (size_t byte = 0; byte < changed.size() && !testing::Test::HasFailure();
         byte += kThinning) {
      for (int bit = 0; bit < 8; ++bit, ++flips) {
        if (FlipIsHarmless(file, whole, byte, bit, changed)) ++harmless;
      }
    }
  });
  EXPECT_GT(flips, 300'000u / kThinning);
  EXPECT_LT(harmless, flips / 10);
  campaign::Done("files", files);
  campaign::Done("bit_flips", flips);
}

TEST(Damage, EveryPrefixIsRefused) {
  std::atomic<uint64_t> prefixes = 0;
  ForEach(Files().size(), [&](size_t i) {
    const NamedFile& file = Files()[i];
    for (size_t size = 0; size < file.bytes.size(); ++size, ++prefixes)
      ASSERT_NO_FATAL_FAILURE(ExpectPrefixRefused(file, size));
  });
  campaign::Done("prefixes", prefixes);
}

TEST(Damage, WhatIsAppendedIsRefused) {
  std::atomic<uint64_t> appended = 0;
  ForEach(Files().size(), [&](size_t i) {
    const NamedFile& file = Files()[i];
    std::mt19937_64 random(i);
    for (size_t size = 1; size <= 64 * 1024; size = size * 2 + random() % 2, ++appended) {
      Bytes longer = file.bytes;
      while (longer.size() < file.bytes.size() + size) {
        // The appended bytes are zeros, random bytes or a copy of the file.
        const size_t at = longer.size() - file.bytes.size();
        longer.push_back(size % 3 == 0   ? 0
                         : size % 3 == 1 ? static_cast<uint8_t>(random())
                                         : file.bytes[at % file.bytes.size()]);
      }
      if (longer.size() % file.bytes.size() == 0) continue;  // this file ends like a whole file
      const absl::Status status = WithinBounds([&] { return Open(longer).status(); });
      ASSERT_TRUE(absl::IsDataLoss(status)) << file.name << " and " << size << ": " << status;
    }
  });
  campaign::Done("appended", appended);
}

TEST(Damage, ZeroedPagesAreReportedOrHarmless) {
  std::atomic<uint64_t> pages = 0;
  ForEachFile([&](const NamedFile& file, const Whole& whole) {
    for (size_t step : {kZeroedBytes, kZeroedBytes / 8}) {
      for (size_t at = 0; at < file.bytes.size(); at += step, ++pages)
        ExpectZerosReportedOrHarmless(file, whole, at, step);
    }
  });
  campaign::Done("zeroed_pages", pages);
}

// If two blocks of a file are swapped, their checksums are right. The reader notices the wrong
// ordinals, or Verify finds the damage.
TEST(Damage, BlocksThatChangePlacesAreNoticed) {
  std::atomic<uint64_t> swaps = 0;
  ForEachFile([&](const NamedFile& file, const Whole& whole) {
    if (!whole.info.has_checksums()) return;
    for (size_t a = 0; a < whole.blocks.size(); ++a) {
      for (size_t b = a + 1; b < whole.blocks.size(); ++b) {
        if (whole.blocks[a].size != whole.blocks[b].size) continue;
        Bytes changed = file.bytes;
        const auto at = [&](uint64_t offset) {
          return changed.begin() + static_cast<ptrdiff_t>(offset);
        };
        std::swap_ranges(at(whole.blocks[a].offset), at(whole.blocks[a].end()),
                         at(whole.blocks[b].offset));
        if (changed == file.bytes) continue;
        ++swaps;
        const std::string what = file.name + ", blocks at " +
                                 std::to_string(whole.blocks[a].offset) + " and " +
                                 std::to_string(whole.blocks[b].offset);
        if (ExpectErrorOrSame(changed, whole.transcript, what).ok()) {
          EXPECT_FALSE(VerifyFindsNothing(changed)) << what;
        }
      }
    }
  });
  EXPECT_GT(swaps, 50u / kThinning);
  campaign::Done("swaps_in_a_file", swaps);
}

// A block is replaced by a block of the same size from another file, with other values. If the
// ordinals differ, the reader or Verify notices the damage. If the ordinals are equal, the damage
// may stay unnoticed, because a checksum covers only the block; then the reader must not crash.
// Verify notices some of these replacements by comparing bounds and keys with the values.
TEST(Damage, BlocksOfOtherFilesAreNoticedByTheirOrdinals) {
  const std::vector<NamedFile> ours = campaign::OwnFiles(/*seed=*/0);
  const std::vector<NamedFile> theirs = campaign::OwnFiles(/*seed=*/1'000'000);
  ASSERT_EQ(ours.size(), theirs.size());
  std::atomic<uint64_t> swaps = 0, same_ordinals = 0, unnoticed = 0, nodes = 0;
  const auto put = [&](const NamedFile& into, uint64_t to, const NamedFile& file, uint64_t from,
                       uint32_t size) {
    Bytes changed = into.bytes;
    std::copy_n(file.bytes.begin() + static_cast<ptrdiff_t>(from), size,
                changed.begin() + static_cast<ptrdiff_t>(to));
    return changed;
  };
  ForEach(ours.size(), [&](size_t i) {
    if (i % (campaign::Full() ? 1 : 8) != 0) return;
    const Whole whole = ReadWhole(ours[i]), other = ReadWhole(theirs[i]);
    if (!whole.info.has_checksums()) return;
    const auto ordinals = [](const NamedFile& file) {
      std::map<uint64_t, uint64_t> first_ordinals;  // by offset
      const auto reader = Open(file.bytes);
      EXPECT_TRUE(VisitBlocks(*reader, [&](const BlockInfo& block) {
                    first_ordinals[block.pointer.offset] = block.first_ordinal;
                    return true;
                  }).ok());
      return first_ordinals;
    };
    const auto our_ordinals = ordinals(ours[i]), their_ordinals = ordinals(theirs[i]);
    for (const auto& [our_offset, our_ordinal] : our_ordinals) {
      for (const auto& [their_offset, their_ordinal] : their_ordinals) {
        const auto size_at = [](const Whole& file, uint64_t offset) {
          return std::find_if(file.blocks.begin(), file.blocks.end(),
                              [&](const BlockPointer& block) { return block.offset == offset; })
              ->size;
        };
        const uint32_t size = size_at(whole, our_offset);
        if (size != size_at(other, their_offset)) continue;
        const Bytes changed = put(ours[i], our_offset, theirs[i], their_offset, size);
        if (changed == ours[i].bytes) continue;
        ++swaps;
        const std::string what = ours[i].name + ", the block at " + std::to_string(our_offset) +
                                 " from " + std::to_string(their_offset) + " of another";
        if (our_ordinal != their_ordinal) {
          if (ExpectErrorOrSame(changed, whole.transcript, what).ok()) {
            EXPECT_FALSE(VerifyFindsNothing(changed)) << what;
          }
          continue;
        }
        ++same_ordinals;
        (void)ExpectSurvives(changed, what);
        unnoticed += VerifyFindsNothing(changed) ? 1 : 0;
      }
    }
    // Index nodes, dictionaries and statistics do not say to which file they belong. The reader
    // must not crash.
    for (const BlockPointer& block : whole.blocks) {
      for (const BlockPointer& twin : other.blocks) {
        if (our_ordinals.contains(block.offset) || their_ordinals.contains(twin.offset)) continue;
        if (block.size != twin.size) continue;
        ++nodes;
        (void)ExpectSurvives(
            put(ours[i], block.offset, theirs[i], twin.offset, block.size),
            ours[i].name + ", a twin's for what is at " + std::to_string(block.offset));
      }
    }
  });
  EXPECT_GT(swaps, 100u);
  EXPECT_GT(same_ordinals, unnoticed);
  EXPECT_GT(nodes, 100u);
  campaign::Done("swaps_between_files", swaps);
  campaign::Done("of_the_same_ordinals", same_ordinals);
  campaign::Done("unnoticed_by_verify", unnoticed);
  campaign::Done("nodes_of_other_files", nodes);
}

// After damage with corrected checksums, the reader returns an error or any values, within the
// bounds of time and memory.
TEST(Damage, SignedDamageIsSurvived) {
  std::atomic<uint64_t> changes = 0, unsigned_changes = 0;
  ForEachFile([&](const NamedFile& file, const Whole& whole) {
    std::mt19937_64 random(file.bytes.size());
    for (const Part& part : PartsOf(file, whole)) {
      const auto survive = [&](Bytes& changed, const std::string& what) {
        part.sign(changed);
        ++changes;
        const absl::Status status = ExpectSurvives(changed, file.name + what);
        unsigned_changes += status.message().find("checksum") != absl::string_view::npos ? 1 : 0;
      };
      const uint64_t step = campaign::Full() ? 1 : 3;
      for (uint64_t at = part.begin; at < part.end && !testing::Test::HasFailure(); at += step) {
        std::vector<uint8_t> values = {0, 0xff, static_cast<uint8_t>(random()),
                                       static_cast<uint8_t>(file.bytes[at] + 1)};
        if (campaign::Full()) {
          for (int bit = 0; bit < 8; ++bit)
            values.push_back(static_cast<uint8_t>(file.bytes[at] ^ 1 << bit));
        }
        for (const uint8_t value : values) {
          Bytes changed = file.bytes;
          changed[at] = value;
          // Some changes have up to seven more random bytes.
          for (uint64_t more = random() % 6 == 0 ? random() % 8 : 0; more > 0; --more) {
            changed[part.begin + random() % (part.end - part.begin)] =
                static_cast<uint8_t>(random());
          }
          survive(changed, ", byte " + std::to_string(at) + " is " + std::to_string(value));
        }
        if (at % 16 != 0) continue;
        Bytes changed = file.bytes;
        const uint64_t zeros = std::min<uint64_t>(1 + random() % 64, part.end - at);
        std::fill_n(changed.begin() + static_cast<ptrdiff_t>(at), zeros, uint8_t{0});
        survive(changed, ", " + std::to_string(zeros) + " zeros at " + std::to_string(at));
      }
    }
  });
  // An error names a wrong checksum only if the change of a length moved the checksum.
  EXPECT_LT(unsigned_changes, changes / 50);
  EXPECT_GT(changes, 100'000u / kThinning);
  campaign::Done("signed_changes", changes);
}

// Damages random places of the golden files that are too large for the tests above.
TEST(Damage, LargeFilesAreDamagedHereAndThere) {
  std::vector<NamedFile> large = GoldenFiles(".cfile", UINTMAX_MAX);
  std::erase_if(large, [](const NamedFile& file) { return file.bytes.size() <= kMostGoldenBytes; });
  const size_t step = campaign::Full() ? 1 : 16 * kThinning;
  std::atomic<uint64_t> flips = 0, others = 0;
  ForEach(large.size() / step, [&](size_t i) {
    const NamedFile& file = large[i * step];
    const Whole whole = ReadWhole(file);
    const std::vector<Part> parts = PartsOf(file, whole);
    std::mt19937_64 random(i);
    Bytes changed = file.bytes;
    const uint64_t amount = campaign::Amount(20, 4000);
    for (uint64_t n = 0; n < amount && !testing::Test::HasFailure(); ++n) {
      const uint64_t bit = random() % (8 * changed.size());
      if (whole.info.has_checksums()) {
        ++flips;
        (void)FlipIsHarmless(file, whole, bit / 8, static_cast<int>(bit % 8), changed);
      }
      if (n % 20 != 0) continue;
      others += 3;
      ASSERT_NO_FATAL_FAILURE(ExpectPrefixRefused(file, random() % file.bytes.size()));
      ExpectZerosReportedOrHarmless(file, whole, random() % file.bytes.size(), kZeroedBytes);
      const Part& part = parts[random() % parts.size()];
      Bytes again = file.bytes;
      again[part.begin + random() % (part.end - part.begin)] = static_cast<uint8_t>(random());
      part.sign(again);
      (void)ExpectSurvives(again, file.name + ", signed change " + std::to_string(n));
    }
  });
  EXPECT_GT(flips, 0u);
  campaign::Done("large_files", large.size() / step);
  campaign::Done("bit_flips_of_them", flips);
  campaign::Done("other_changes_of_them", others);
}

}  // namespace
}  // namespace cfile
