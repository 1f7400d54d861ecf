// Tries the encodings on a sample of a block's values, and estimates the size and the scan time of
// each. Chooses the storage of the block: its encoding, and whether it is compressed.
#include "cfile/core/write/storage_trial.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "cfile/core/format/compress.h"
#include "cfile/core/format/compression.h"
#include "cfile/core/write/dictionary_estimate.h"
#include "cfile/options.h"
#include "encodings/core/assert.h"
#include "encodings/core/bytes.h"

namespace cfile::internal {
namespace {

using encodings::ByteWriter;
using encodings::EncodedBlock;
using encodings::EncoderOptions;
using encodings::EncodingRow;
using encodings::Lane;
using encodings::ValueSpan;

// A difference of sizes is ignored if it is at most this part of the decoded bytes. If the part is
// not 0, differences of at most kNegligibleBytes for the whole column are ignored, too.
constexpr double NegligiblePart(Goal goal) { return goal == Goal::kSize ? 0 : 0.002; }
constexpr double kNegligibleBytes = 16;

// Of two candidates whose scan times differ by less than this factor, the smaller one is better.
constexpr double kAsFast = 0.95;

// Cost multiplier for encodings that must decode values to search by key, and for the decompression
// of blocks that are searched.
constexpr double kSearchFactor = 4;

// The lowest acceptable scan speed of a column with a value index, in decoded bytes per second,
// unless the goal is kSize. Searches decode blocks.
constexpr double kLeastToSearch = 2e9;

// For goals other than kSize, an encoding whose single values are slow to read counts as larger by
// this factor.
constexpr double kSlowToRead = 1.2;

// To make a table of symbols from a sample costs as much as to encode this many times the bytes of
// the sample.
constexpr uint64_t kTrainingFactor = 8;

// The bytes of a block besides its values (envelope, checksum and index entry), and of a dictionary
// besides its values. They make a difference if the values take almost no space.
constexpr double kBlockBytes = 64;
constexpr double kDictionaryBytes = 40;

// A scan writes the values that it decodes into memory. Cores write at about this speed, so a scan
// that does even less for each value is not recorded as faster.
constexpr double kMemoryBytesPerSecond = 25e9;

// With AutoOptions::compress_all, a block is compressed if this makes its size at most this
// fraction of the uncompressed size.
constexpr double kAlwaysCompressedTo = 0.9;

// If a dictionary made a column of many more values smaller than the chosen encoding by this
// factor, another trial follows when there are more values.
constexpr double kMuchSmaller = 0.8;

// A way to store the sample, with its estimated size and time.
struct Candidate {
  Storage storage;
  double bytes = 0;
  double size_factor = 1;     // the choice counts `bytes` this many times
  double bytes_to_share = 0;  // part of `bytes`, which many more values of the column would share
  double picoseconds = 0;     // of a scan, as it counts for the choice
  // Decoded bytes that a scan reads in a second, whatever the choice counts. 0: nothing is decoded.
  double bytes_per_second = 0;
  bool is_compressed = false;  // `bytes` is the size after compression

  double counted_bytes() const { return size_factor * bytes; }
  StorageSize size() const {
    return {.encoding = storage.row->encoding,
            .compressed = is_compressed,
            .size_bytes = static_cast<uint64_t>(std::max(1.0, std::round(bytes)))};
  }
};

// The bytes of a sample that was encoded into one block.
struct EncodedSample {
  ByteWriter block;  // skip table and values
  ByteWriter dictionary;
};

// Encodes the sample; nullopt if it does not fit into one block, or if the encoder has stored it in
// another encoding than `encoding`.
std::optional<EncodedSample> EncodeSample(ValueSpan values, PhysicalType type,
                                          EncoderOptions options, Encoding encoding) {
  options.block_size_bytes = std::numeric_limits<int32_t>::max();
  auto encoder = encodings::MakeAnyEncoder(encoding, type, options);
  CFILE_ASSERT(encoder.ok());
  if ((*encoder)->AppendAny(values) < values.count) return std::nullopt;
  EncodedBlock block;
  (*encoder)->Finish(0, block);
  if (block.encoding != Encoding::kAuto && block.encoding != encoding) return std::nullopt;
  EncodedSample sample{.block = std::move(block.skip_table)};
  sample.block.PutBytes(block.bytes.span());
  (*encoder)->FinishDictionary(sample.dictionary);
  return sample;
}

// Looks at the candidates whose scan time is at most `budget` and whose size is at most
// `most_bytes`. Chooses the fastest of them whose size is at most `slack` times the smallest size,
// or exceeds the smallest size by at most `negligible` bytes. Returns nullptr if there is no such
// candidate.
const Candidate* Choose(std::span<const Candidate> candidates, double budget, double slack,
                        double negligible, double most_bytes) {
  const auto allowed = [&](const Candidate& each) { return each.picoseconds <= budget; };
  double smallest = std::numeric_limits<double>::infinity();
  for (const Candidate& each : candidates) {
    if (allowed(each)) smallest = std::min(smallest, each.counted_bytes());
  }
  const double most = std::min(std::max(slack * smallest, smallest + negligible), most_bytes);
  const Candidate* best = nullptr;
  for (const Candidate& each : candidates) {
    if (!allowed(each) || each.counted_bytes() > most) continue;
    if (best == nullptr || each.picoseconds < kAsFast * best->picoseconds ||
        (kAsFast * each.picoseconds <= best->picoseconds &&
         each.counted_bytes() < 0.99 * best->counted_bytes())) {
      best = &each;
    }
  }
  return best;
}

GoalLimits LimitsOfTrial(const AutoOptions& choice) {
  GoalLimits limits = LimitsOf(choice.goal);
  if (choice.value_index && choice.goal != Goal::kSize) {
    limits.bytes_per_second = std::max(limits.bytes_per_second, kLeastToSearch);
  }
  return limits;
}

// Encodes values with several encodings, and counts the cost (Trial::cost_bytes).
class Trials {
 public:
  Trials(PhysicalType type, const EncoderOptions& options, const AutoOptions& choice)
      : type_(type),
        lane_(encodings::LaneOf(type)),
        options_(options),
        choice_(choice),
        limits_(LimitsOfTrial(choice)) {}

  uint64_t cost_bytes() const { return cost_bytes_; }

  // Encodes `values` with each encoding of `rows`, and compresses the results, except the results
  // of rows in `no_gain`. Returns the candidates in the order of `rows`. `column_values`: the
  // number of values in the column; `values` are some of them.
  std::vector<Candidate> Run(ValueSpan values, uint64_t column_values,
                             std::span<const EncodingRow* const> rows,
                             std::vector<const EncodingRow*> no_gain = {}) {
    no_gain_ = std::move(no_gain);
    candidates_.clear();
    values_ = values;
    column_values_ = column_values;
    own_bytes_ = static_cast<double>(OwnBytes(values, lane_));
    for (const EncodingRow* row : rows) TryRow(*row);
    return candidates_;
  }

  // Returns the size of the values as PLAIN without compression.
  double plain_bytes() const { return plain_bytes_; }

  // Returns the best of `candidates` for the Goal, or `plain` if no candidate is acceptable.
  // `plain`: PLAIN without compression; candidates larger than `plain` are not acceptable.
  // `candidates`: some candidates of the last call of Run.
  const Candidate& Best(std::span<const Candidate> candidates, const Candidate& plain) const {
    const double few =
        NegligiblePart(choice_.goal) * static_cast<double>(DecodedBytes(values_, lane_));
    const double negligible = few == 0 ? 0 : std::max(kNegligibleBytes * part(), few);
    const Candidate* best = Choose(candidates, budget(), limits_.factor, negligible, plain.bytes);
    return best == nullptr ? plain : *best;
  }

 private:
  bool is_bytes() const { return lane_ == Lane::kBytes; }

  // Returns the longest acceptable time of a scan of the values, in picoseconds.
  double budget() const {
    return 1e12 / limits_.bytes_per_second * static_cast<double>(DecodedBytes(values_, lane_));
  }

  // Returns the number of values divided by the number of values in the column.
  double part() const {
    return static_cast<double>(values_.count) / static_cast<double>(column_values_);
  }

  // Returns the time in which a scan decodes the values, which are not compressed.
  double ScanPicoseconds(const EncodingRow& row) const {
    const encodings::ScanCost& cost = row.scan_cost;
    return static_cast<double>(values_.count) * (is_bytes() ? cost.string : cost.number) +
           own_bytes_ * cost.byte;
  }

  // Returns the size of `bytes` after compression, or nullopt if the codec fails.
  std::optional<size_t> CompressedSize(const ByteWriter& bytes) {
    compressed_.Clear();
    cost_bytes_ += bytes.size();
    if (!Compress(choice_.compression, bytes.span(), compressed_, choice_.compression_level).ok())
      return std::nullopt;
    return compressed_.size();
  }

  void TryRow(const EncodingRow& row) {
    const bool all_values = column_values_ == values_.count;
    const double scan = ScanPicoseconds(row);
    const double search_factor =
        choice_.value_index && row.scan_cost.decodes_to_search ? kSearchFactor : 1;
    const auto speed = [&](double picoseconds) {
      const auto bytes = static_cast<double>(DecodedBytes(values_, lane_));
      return picoseconds == 0 ? 0 : std::min(1e12 * bytes / picoseconds, kMemoryBytesPerSecond);
    };
    const bool slow =
        row.automatic == encodings::Automatic::kForSize && choice_.goal != Goal::kSize;
    Candidate candidate{.storage = {.row = &row, .compressed = choice_.compress_all},
                        .size_factor = slow ? kSlowToRead : 1,
                        .picoseconds = search_factor * scan,
                        .bytes_per_second = speed(scan)};
    cost_bytes_ += DecodedBytes(values_, lane_);
    const auto encoded = EncodeSample(values_, type_, options_, row.encoding);
    double encoded_bytes = encoded ? static_cast<double>(encoded->block.size()) : 0;
    // The first block of a page encoding ends when the values, not the encoded page, reach the
    // block size.
    const bool is_page = static_cast<uint32_t>(row.encoding) >= encodings::kFirstExtendedNumber;
    const double blocks = own_bytes_ / static_cast<double>(options_.block_size_bytes);
    double beside = (is_page ? std::max(part(), std::min(1.0, blocks)) : part()) * kBlockBytes;
    double scale = 1;  // the encoded bytes count this many times
    if (row.has_dictionary && !row.has_codes) {
      // The file has one table of symbols, for all values.
      cost_bytes_ += kTrainingFactor * DecodedBytes(values_, lane_);
      if (encoded) beside += part() * static_cast<double>(encoded->dictionary.size());
    } else if (row.has_dictionary) {
      double share = encoded ? static_cast<double>(encoded->dictionary.size()) : 0;
      double least_share = share;
      if (!all_values) {
        const auto estimate = EstimateDictionary(values_, type_, column_values_, options_);
        if (!estimate) return;
        share = estimate->share;
        least_share = estimate->least_share;
        scale = std::max(1.0, estimate->wider);
        encoded_bytes = encoded ? scale * encoded_bytes : estimate->codes;
      }
      if (encoded) {
        const double ratio = DictionaryRatio(encoded->dictionary);
        share *= ratio;
        least_share *= ratio;
      }
      beside += part() * kDictionaryBytes + share;
      candidate.bytes_to_share = share - least_share;
    }
    if (!encoded && (!row.has_codes || all_values)) return;
    candidate.bytes = beside + encoded_bytes;
    if (row.encoding == Encoding::kPlain) plain_bytes_ = candidate.bytes;
    const auto decompression = [&](size_t compressed_size) {
      return static_cast<double>(
          DecompressionPicoseconds(choice_.compression, compressed_size, encoded->block.size()));
    };
    // How many times a decompression counts.
    const bool searched = choice_.for_searches && is_bytes();
    const double counted = choice_.compress_all ? 0 : searched ? kSearchFactor : 1;
    std::optional<size_t> compressed;
    if (encoded && (!slow || choice_.compress_all) && choice_.compression != Compression::kNone &&
        std::ranges::find(no_gain_, &row) == no_gain_.end() &&
        candidate.picoseconds + counted * decompression(0) <= budget()) {
      compressed = CompressedSize(encoded->block);
    }
    const double most = choice_.compress_all ? kAlwaysCompressedTo : limits_.compressed_to;
    const double compressed_bytes =
        compressed ? beside + scale * static_cast<double>(*compressed) : candidate.bytes;
    const bool pays = compressed && compressed_bytes <= most * candidate.bytes;
    if (!pays || !choice_.compress_all) candidates_.push_back(candidate);
    if (!pays) return;
    candidate.storage.compressed = candidate.is_compressed = true;
    candidate.bytes = compressed_bytes;
    candidate.picoseconds += counted * decompression(*compressed);
    candidate.bytes_per_second = speed(scan + decompression(*compressed));
    candidates_.push_back(candidate);
  }

  // Returns the stored size of a dictionary divided by its size before compression. A file with a
  // codec compresses the dictionary if this saves at least a tenth.
  double DictionaryRatio(const ByteWriter& dictionary) {
    if (choice_.compression == Compression::kNone || dictionary.size() == 0) return 1;
    const std::optional<size_t> compressed = CompressedSize(dictionary);
    const double ratio =
        compressed ? static_cast<double>(*compressed) / static_cast<double>(dictionary.size()) : 1;
    return ratio <= kAlwaysCompressedTo ? ratio : 1;
  }

  const PhysicalType type_;
  const Lane lane_;
  const EncoderOptions& options_;
  const AutoOptions& choice_;
  const GoalLimits limits_;
  uint64_t cost_bytes_ = 0;
  double plain_bytes_ = 0;  // of the values of the last call of Run that tried PLAIN
  ByteWriter compressed_;

  // The arguments and the result of the current call of Run.
  std::vector<const EncodingRow*> no_gain_;
  ValueSpan values_;
  uint64_t column_values_ = 0;
  double own_bytes_ = 0;  // the bytes of values_, without the views of strings
  std::vector<Candidate> candidates_;
};

// All candidates encode pieces of kPieceValues values, and the two best then encode pieces of
// kFinalPieceValues values. For kSize, the three best encode pieces of kFinalPieceValuesForSize
// values, which costs the same.
constexpr size_t kPieceValues = 1024;
constexpr size_t kFinalPieceValues = 4096;
constexpr size_t kFinalPieceValuesForSize = 3072;

// Copies four pieces of equal size that are spread evenly over `values`, and returns the copies.
// Returns `values` if they are not more than four pieces. A piece has at most `piece_values`
// values, and about 8 * piece_values bytes. `piece_values` is a multiple of 1,024, because some
// encodings divide values into vectors of 1,024 values.
ValueSpan Spread(ValueSpan values, Lane lane, size_t piece_values,
                 std::unique_ptr<std::byte[]>& copies) {
  constexpr size_t kPieces = 4;
  const size_t bytes = std::max<size_t>(OwnBytes(values, lane), 1);
  const size_t fitting = values.count * (8 * piece_values) / bytes;
  const size_t piece = std::clamp<size_t>(fitting, 1, piece_values);
  if (values.count <= kPieces * piece) return values;
  const size_t piece_bytes = piece * encodings::WidthOf(lane);
  copies = std::make_unique_for_overwrite<std::byte[]>(kPieces * piece_bytes);
  for (size_t i = 0; i < kPieces; ++i) {
    const size_t begin = (values.count - piece) * i / (kPieces - 1);
    std::memcpy(&copies[i * piece_bytes], encodings::ValueAt(values.data, lane, begin),
                piece_bytes);
  }
  return {copies.get(), kPieces * piece};
}

}  // namespace

std::vector<const EncodingRow*> TrialCandidates(PhysicalType type, const AutoOptions& choice) {
  const bool for_size = choice.goal == Goal::kSize;
  const auto may_take = [&](encodings::Automatic automatic) {
    switch (automatic) {
      case encodings::Automatic::kNever:
        return false;
      case encodings::Automatic::kForSize:
        return for_size || (choice.goal == Goal::kBalanced && !choice.value_index);
      case encodings::Automatic::kForSizeAndSearches:
        return for_size ? !choice.movable_blocks : choice.for_searches;
      case encodings::Automatic::kAlways:
        break;
    }
    return true;
  };
  std::vector<const EncodingRow*> candidates;
  for (const EncodingRow& row : encodings::Encodings()) {
    const bool own = static_cast<uint32_t>(row.encoding) >= encodings::kFirstOwnNumber;
    if (own && !choice.own_encodings) continue;
    if (choice.single_values && !for_size && row.scan_cost.decodes_to_read) continue;
    if (may_take(row.automatic) && row.Supports(type)) candidates.push_back(&row);
  }
  return candidates;
}

Trial TryStorage(ValueSpan values, uint64_t column_values, PhysicalType type,
                 const EncoderOptions& options, const AutoOptions& choice,
                 std::span<const EncodingRow* const> rows) {
  Trials trials(type, options, choice);
  const Lane lane = encodings::LaneOf(type);
  std::unique_ptr<std::byte[]> copies, final_copies;
  const bool at_end = column_values == values.count;
  if (!at_end) {
    values = Spread(values, lane,
                    choice.goal == Goal::kSize ? kFinalPieceValuesForSize : kFinalPieceValues,
                    final_copies);
  }
  const ValueSpan few = at_end ? values : Spread(values, lane, kPieceValues, copies);
  std::vector<const EncodingRow*> tried(rows.begin(), rows.end());
  if (!at_end && lane != Lane::kBytes) {
    // For numbers, blocks of Parquet's PLAIN are only a few bytes smaller than blocks of PLAIN.
    std::erase_if(tried,
                  [](const EncodingRow* row) { return row->encoding == Encoding::kParquetPlain; });
  }
  std::vector<Candidate> candidates = trials.Run(few, column_values, tried);
  Candidate plain = candidates.front();
  Candidate best = trials.Best(candidates, plain);
  double plain_bytes = trials.plain_bytes();
  std::vector<Candidate> others;  // the candidates that are not finalists
  if (few.count < values.count) {
    // The finalists: the best encoding, the best encoding of the others, and so on. A finalist is
    // compressed again only if compression has made it small enough before.
    const size_t most_finalists = choice.goal == Goal::kSize ? 3 : 2;
    std::vector<const EncodingRow*> finalists, no_gain;
    for (const Candidate* each = &best; finalists.size() < most_finalists;) {
      const EncodingRow* row = each->storage.row;
      if (std::ranges::find(finalists, row) != finalists.end()) break;
      finalists.push_back(row);
      const bool compressed = std::ranges::any_of(candidates, [&](const Candidate& other) {
        return other.storage.row == row && other.storage.compressed;
      });
      if (!compressed) no_gain.push_back(row);
      std::erase_if(candidates, [&](const Candidate& other) { return other.storage.row == row; });
      each = &trials.Best(candidates, plain);
    }
    others = std::move(candidates);
    candidates = trials.Run(values, column_values, finalists, std::move(no_gain));
    const double more = static_cast<double>(DecodedBytes(values, lane)) /
                        static_cast<double>(DecodedBytes(few, lane));
    plain.bytes *= more;
    plain_bytes *= more;
    for (Candidate& other : others) {
      other.bytes *= more;
      other.bytes_to_share *= more;
      other.picoseconds *= more;
    }
    best = trials.Best(candidates, plain);
  }
  candidates.insert(candidates.end(), others.begin(), others.end());
  Candidate smallest = best;
  bool depends_on_count = false;
  for (const Candidate& each : candidates) {
    if (each.bytes < smallest.bytes) smallest = each;
    depends_on_count =
        depends_on_count || (each.bytes_to_share > 0 && each.storage.row != best.storage.row &&
                             each.bytes - each.bytes_to_share < kMuchSmaller * best.bytes);
  }
  const auto has_symbols = [](const Candidate& each) {
    return each.storage.row->has_dictionary && !each.storage.row->has_codes;
  };
  if (depends_on_count && has_symbols(best)) {
    // A table of symbols would take the place of the file's only dictionary, that of values, which
    // is better with more values.
    std::erase_if(candidates, has_symbols);
    best = trials.Best(candidates, plain);
  }
  return {
      .storage = best.storage,
      .depends_on_count = depends_on_count,
      .found = {.goal = choice.goal,
                .num_values = values.count,
                .plain_size_bytes = static_cast<uint64_t>(std::max(1.0, std::round(plain_bytes))),
                .chosen = best.size(),
                .smallest = smallest.size(),
                .scan_bytes_per_second = static_cast<uint64_t>(best.bytes_per_second)},
      .cost_bytes = trials.cost_bytes()};
}

}  // namespace cfile::internal
