// Verify: reads everything in a file and checks that it is consistent.
#include "cfile/inspect.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <unordered_set>
#include <utility>
#include <vector>

#include "cfile/core/format/key_codec.h"
#include "cfile/core/read/block_cursor.h"
#include "cfile/core/read/file_cursor.h"
#include "cfile/core/read/file_reader.h"
#include "cfile/core/read/level_block_cursor.h"
#include "cfile/core/read/reader_access.h"
#include "cfile/parts/inspect/index_nodes.h"
#include "cfile/parts/inspect/pieces_check.h"
#include "cfile/parts/inspect/statistics_check.h"
#include "cfile/reader.h"
#include "encodings/core/key_order.h"
#include "encodings/core/status.h"
#include "encodings/core/value_dictionary.h"

namespace cfile {
namespace {

using internal::FileReader;

// Checks one file and collects the damages. Messages identify an index entry and its block by the
// block's pointer.
class Verifier {
 public:
  // `reader` must outlive the Verifier.
  explicit Verifier(const Reader& reader)
      : reader_(reader), file_(*internal::ReaderAccess::File(reader)) {}

  VerifyReport Run() {
    const FileInfo& info = file_.info();
    WalkIndex(IndexKind::kPositional);
    WalkIndex(IndexKind::kValue);
    ReadBlocks();
    const bool complete = complete_[0] && complete_[1];
    if (complete && info.positional_index_root && info.value_index_root) CompareIndexes();
    if (complete && info.positional_index_root) CheckBlockPieces();
    CheckLayout(complete);
    if (report_.ok() && !info.holds_bloom_filters()) {
      // Cursors refuse an unknown codec or encoding even if no block of the file uses it.
      const absl::Status status = internal::PrepareToRead(file_).status();
      if (!status.ok()) Report(status);
    }
    return std::move(report_);
  }

 private:
  struct Entry {
    uint64_t ordinal;
    std::string key;
    BlockPointer pointer;
  };

  const std::string& name() const { return file_.source().name(); }

  void Report(absl::Status status, std::optional<BlockPointer> block = std::nullopt,
              std::optional<uint64_t> first = std::nullopt,
              std::optional<uint64_t> last = std::nullopt) {
    if (block && absl::IsOutOfRange(status)) unchecked_.insert(block->offset);
    report_.Add({.status = std::move(status),
                 .block = block,
                 .first_ordinal = first,
                 .last_ordinal = last});
  }

  std::vector<Entry>& entries(IndexKind kind) { return entries_[static_cast<size_t>(kind)]; }

  // Collects the entries of all readable leaves.
  void WalkIndex(IndexKind kind) {
    internal::VisitIndexNodes(file_, kind, [&](const internal::VisitedNode& visited) {
      if (!visited.node.ok()) {
        complete_[static_cast<size_t>(kind)] = false;
        const uint64_t first = visited.first_ordinal;
        Report(visited.node.status(), visited.pointer, first,
               std::max(visited.end_ordinal, first + 1) - 1);
        return internal::IndexVisit::kSkip;
      }
      const internal::LoadedNode& node = **visited.node;
      ++report_.index_nodes;
      for (uint32_t i = 0; node.leaf() && i < node.num_entries(); ++i) {
        const bool positional = kind == IndexKind::kPositional;
        entries(kind).push_back({positional ? node.ordinal(i) : 0,
                                 positional ? std::string() : std::string(node.key(i)),
                                 node.entry_pointer(i)});
      }
      return internal::IndexVisit::kDescend;
    });
  }

  // Checks that both indexes have one entry per block, in the same order.
  void CompareIndexes() {
    const auto& by_ordinal = entries(IndexKind::kPositional);
    const auto& by_key = entries(IndexKind::kValue);
    if (by_ordinal.size() != by_key.size()) {
      Report(DataLoss(name(), ": the positional index has ", by_ordinal.size(),
                      " blocks, the value index ", by_key.size()));
      return;
    }
    for (size_t i = 0; i < by_ordinal.size(); ++i) {
      if (by_ordinal[i].pointer == by_key[i].pointer) continue;
      Report(DataLoss(name(), ": block ", i, " lies at offset ", by_ordinal[i].pointer.offset,
                      " for the positional index, at offset ", by_key[i].pointer.offset,
                      " for the value index"));
      return;
    }
  }

  void ReadBlocks() {
    if (auto dictionary = file_.Dictionary(); dictionary.ok()) {
      dictionary_ = *std::move(dictionary);
    } else {
      Report(dictionary.status(), file_.info().dictionary);
      dictionary_exceeds_limit_ = absl::IsOutOfRange(dictionary.status());
    }
    auto statistics = file_.Statistics();
    if (statistics.ok() && *statistics == nullptr && file_.info().statistics) {
      // The statistics were not read because their stored size exceeds a limit. ReadStatistics
      // returns an error that names the limit, or the statistics if their size before compression
      // is allowed.
      auto read = file_.ReadStatistics();
      if (read.ok()) {
        statistics = std::make_shared<const FileStatistics>(*std::move(read));
      } else {
        statistics = read.status();
      }
    }
    internal::StatisticsChecker checker(type(), statistics.ok() ? *statistics : nullptr);
    // Use the positional index, unless there is none, or only the value index could be read
    // completely.
    const bool positional = file_.info().positional_index_root &&
                            (complete_[0] || !file_.info().value_index_root || !complete_[1]);
    const auto& blocks = entries(positional ? IndexKind::kPositional : IndexKind::kValue);
    const bool keyed = file_.info().value_index_root.has_value() &&
                       entries(IndexKind::kValue).size() == blocks.size();
    uint64_t ordinal = 0;
    bool lost = false;  // a damaged block came before, so the next ordinal is unknown
    std::optional<internal::OwnedKey> previous;
    internal::BlockCursor rows(file_.info().type, {dictionary_});
    internal::LevelBlockCursor records(file_.info().type, {dictionary_});
    for (size_t i = 0; i < blocks.size(); ++i) {
      const BlockPointer& pointer = blocks[i].pointer;
      ++report_.data_blocks;
      uint64_t first = positional ? blocks[i].ordinal : ordinal;
      std::optional<uint64_t> expected;
      if (positional || !lost) expected = first;
      const std::string* key = keyed ? &entries(IndexKind::kValue)[i].key : nullptr;
      uint64_t num_rows = 0;
      const uint64_t entries_before = report_.num_entries;
      const auto read = [&](auto& cursor) {
        return ReadBlock(cursor, pointer, expected, key, previous, first, num_rows, checker);
      };
      absl::Status status = file_.info().has_levels() ? read(records) : read(rows);
      if (status.ok() && complete_[0] && !lost)
        status = internal::CheckFirstOrdinal(ordinal, first);
      // If a block cannot be read, its rows are the rows up to the next block.
      uint64_t end = first + num_rows;
      if (!status.ok() && positional)
        end = i + 1 < blocks.size() ? blocks[i + 1].ordinal : file_.info().num_rows;
      // The dictionary exceeds a limit, which has been reported, so the error of a block that needs
      // it is not damage.
      const bool limited = dictionary_exceeds_limit_ && encodings::IsMissingDictionary(status);
      if (limited) unchecked_.insert(pointer.offset);
      if (!status.ok() && !limited) {
        Report(internal::InBlock(status, name(), pointer), pointer, first,
               end > first ? end - 1 : first);
      }
      absl::Status checked = checker.FinishBlock(i, report_.num_entries - entries_before);
      if (status.ok()) ReportStatistics(std::move(checked));
      lost = !status.ok() && !positional;
      report_.num_rows += num_rows;
      ordinal = end;
    }
    if (previous) internal::AppendKey(Key(previous->value()), report_.max_key.emplace());
    if (ordinal != file_.info().num_rows && report_.ok()) {
      Report(DataLoss(name(), ": the blocks have ", ordinal, " rows, the footer says ",
                      file_.info().num_rows));
    }
    const auto& num_entries = file_.info().num_entries;
    if (num_entries && *num_entries != report_.num_entries && report_.ok()) {
      Report(DataLoss(name(), ": the blocks have ", report_.num_entries,
                      " entries, the footer says ", *num_entries));
    }
    if (!statistics.ok()) Report(statistics.status(), file_.info().statistics);
    if (report_.ok()) ReportStatistics(checker.FinishFile(blocks.size()));
  }

  void CheckBlockPieces() {
    std::vector<internal::PlacedDataBlock> blocks;
    if (file_.info().piece_directory) {
      for (const Entry& entry : entries(IndexKind::kPositional))
        blocks.push_back({entry.ordinal, entry.pointer});
    }
    internal::CheckPieces(
        file_, blocks, dictionary_,
        [&](absl::Status status, const BlockPointer& place) { Report(std::move(status), place); });
  }

  void ReportStatistics(absl::Status status) {
    if (status.ok()) return;
    const BlockPointer& pointer = *file_.info().statistics;
    Report(internal::InBlock(status, name(), pointer), pointer);
  }

  // Decodes all values of a block with `cursor`, a BlockCursor or a LevelBlockCursor. `key`: the
  // block's key in the value index, or null. `previous`: the last value before the block; updated
  // if the column has a value index.
  template <typename Block>
  absl::Status ReadBlock(Block& cursor, const BlockPointer& pointer,
                         std::optional<uint64_t> expected_ordinal, const std::string* key,
                         std::optional<internal::OwnedKey>& previous, uint64_t& first_ordinal,
                         uint64_t& num_rows, internal::StatisticsChecker& checker) {
    const FileInfo& info = file_.info();
    CFILE_ASSIGN_OR_RETURN(
        const internal::FetchedBlock fetched,
        internal::FetchBlock(file_.source(), internal::DataBlockFormatOf(info), pointer,
                             /*verify=*/true, file_.options().max_block_size_bytes, buffer_));
    if (info.holds_bloom_filters()) return internal::CheckBloomFilter(fetched.bytes);
    CFILE_RETURN_IF_ERROR(cursor.Open(fetched.bytes, info, expected_ordinal));
    first_ordinal = cursor.first_ordinal();
    // A few bytes may claim 2^32 null rows, and many blocks may claim the same rows, so the number
    // of decoded rows is limited.
    decoded_rows_ += cursor.num_rows();
    if (decoded_rows_ > kMostDecodings * info.num_rows + kFewRows) {
      return DataLoss("the blocks up to this one have ", decoded_rows_, " rows, the footer says ",
                      info.num_rows);
    }
    CFILE_RETURN_IF_ERROR(internal::VisitBatches(cursor, [&](const auto& batch) -> absl::Status {
      if constexpr (std::is_same_v<Block, internal::LevelBlockCursor>) {
        checker.Add(batch.values);  // a column with levels has no value index
      } else {
        checker.Add(batch);
        if (info.value_index_root) {
          const size_t row = cursor.row() - batch.size();
          return CheckKeys(batch, row, row == 0 ? key : nullptr, previous);
        }
      }
      return absl::OkStatus();
    }));
    report_.num_entries += cursor.num_entries();
    report_.null_count += cursor.num_entries() - cursor.num_present();
    num_rows = cursor.num_rows();
    return absl::OkStatus();
  }

  // Checks the order of values in a column with a value index. Value 0 of `batch` is row `row` of
  // its block. Sets `previous` to the last value. `key` is the block's key in the index (see
  // CheckKey), or null if the key is not to be checked.
  absl::Status CheckKeys(const internal::AnyBatch& batch, size_t row, const std::string* key,
                         std::optional<internal::OwnedKey>& previous) {
    if (!report_.min_key) internal::AppendKey(Key(batch.values), report_.min_key.emplace());
    if (key != nullptr) CFILE_RETURN_IF_ERROR(CheckKey(*key, batch.values, previous));
    const auto fault = internal::FindOrderFault({batch.values, batch.count}, type(),
                                                previous ? previous->value() : nullptr);
    size_t wrong = fault && !fault->is_key ? fault->index : batch.count;
    for (size_t i = 0; i < wrong && batch.null_count > 0; ++i) {
      if (!batch.IsValid(i)) wrong = i;
    }
    if (wrong < batch.count && !(fault && fault->index < wrong))
      return DataLoss("row ", row + wrong, " of a column with a value index is null or NaN");
    if (fault) {
      return DataLoss(
          "row ", row + fault->index,
          " is less than the row before it, but a column with a value index must ascend");
    }
    const encodings::Lane lane = encodings::LaneOf(type());
    if (!previous) previous.emplace();
    previous->Set(Key(encodings::ValueAt(batch.values, lane, batch.count - 1)));
    return absl::OkStatus();
  }

  // Checks a block's key in the value index: it must separate the block's first value from the last
  // value before the block.
  absl::Status CheckKey(const std::string& key, const void* first,
                        const std::optional<internal::OwnedKey>& previous) const {
    std::string first_key, previous_key;
    internal::AppendKey(Key(first), first_key);
    if (previous) internal::AppendKey(Key(previous->value()), previous_key);
    if (key <= first_key && (!previous || previous_key < key || previous_key == first_key))
      return absl::OkStatus();
    return DataLoss("its key in the value index does not separate it from the block before it");
  }

  PhysicalType type() const { return file_.info().type.physical(); }
  internal::KeyRef Key(const void* value) const { return {value, type()}; }

  // Checks that no two blocks overlap, and that the bytes between blocks are zero. If `complete` is
  // false, an index node could not be read and some blocks are unknown: only counts the bytes of
  // the known regions.
  void CheckLayout(bool complete) {
    for (auto& list : entries_) list = {};  // frees memory; later checks do not use the entries
    FileLayout layout = ListRegions(reader_);
    const bool whole = complete && layout.damages.empty();
    if (complete) {
      for (Damage& overlap : layout.damages) report_.Add(std::move(overlap));
    }
    for (const FileRegion& region : layout.regions) {
      const bool gap = region.kind == RegionKind::kGap;
      if (gap && whole) CheckZeros(region.offset, region.end());
      if (unchecked_.contains(region.offset)) continue;
      if (!gap || complete) report_.bytes_checked += region.size_bytes;
    }
  }

  void CheckZeros(uint64_t begin, uint64_t end) {
    std::vector<uint8_t> bytes;
    for (uint64_t offset = begin; offset < end; offset += bytes.size()) {
      bytes.resize(static_cast<size_t>(std::min<uint64_t>(end - offset, 64 * 1024)));
      if (absl::Status status = file_.source().ReadAt(offset, bytes); !status.ok()) {
        Report(std::move(status));
        return;
      }
      const auto found =
          std::find_if(bytes.begin(), bytes.end(), [](uint8_t byte) { return byte != 0; });
      if (found == bytes.end()) continue;
      Report(DataLoss(name(), ": bytes ", begin, " to ", end,
                      " belong to no block and must be zero, but the byte at offset ",
                      offset + (found - bytes.begin()), " is not zero"));
      return;
    }
  }

  const Reader& reader_;
  FileReader& file_;
  internal::BlockBuffer buffer_;
  std::shared_ptr<const encodings::Dictionary> dictionary_;
  bool dictionary_exceeds_limit_ = false;   // if true, dictionary_ is null
  std::vector<Entry> entries_[2];           // indexed by IndexKind
  std::unordered_set<uint64_t> unchecked_;  // offsets of blocks above a limit
  bool complete_[2] = {true, true};         // by IndexKind: all nodes could be read
  // At most kMostDecodings times the rows of the file are decoded, and kFewRows more.
  static constexpr uint64_t kMostDecodings = 2;
  static constexpr uint64_t kFewRows = 1 << 20;

  VerifyReport report_;
  uint64_t decoded_rows_ = 0;
};

}  // namespace

void VerifyReport::Add(Damage damage) {
  const bool limit = absl::IsOutOfRange(damage.status);
  std::vector<Damage>& list = limit ? limits : damages;
  if (list.size() < kMostDamages) {
    list.push_back(std::move(damage));
  } else {
    ++(limit ? more_limits : more_damages);
  }
}

VerifyReport Verify(const Reader& reader) { return Verifier(reader).Run(); }

}  // namespace cfile
