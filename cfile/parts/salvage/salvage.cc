#include "cfile/salvage.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cfile/core/format/file_metadata.h"
#include "cfile/core/format/metadata_keys.h"
#include "cfile/core/read/file_reader.h"
#include "cfile/parts/salvage/checksum_search.h"
#include "cfile/parts/salvage/found_block.h"
#include "cfile/parts/salvage/hole_filling_source.h"
#include "cfile/parts/salvage/leaf_entries.h"
#include "cfile/untyped.h"
#include "encodings/core/status.h"
#include "encodings/registry.h"

namespace cfile {
namespace {

using internal::ExpectedRows;
using internal::FileReader;
using internal::FoundBlock;
using internal::HoleFillingSource;
using BlockKind = internal::FoundBlock::Kind;

// A stored block has at most this many bytes besides its contents: a size field and a checksum.
constexpr uint64_t kMostExtraBytes = 8;
constexpr size_t kMostBlockBytes = std::numeric_limits<int32_t>::max();  // the maximum in any file
constexpr uint64_t kMostPaddingBytes = 63;  // zeros before an aligned block
// After lost bytes, a block is accepted only if it has at most this many rows, or at most as many
// as the largest block found before it.
constexpr uint64_t kMostUncertainRows = uint64_t{1} << 20;
// Budget for failed searches: a constant plus a multiple of the file's size.
constexpr uint64_t kCreditBytes = uint64_t{64} << 20;
constexpr uint64_t kCreditPerByte = 16;
constexpr uint64_t kWideCreditPerByte = 4;  // for blocks larger than max_block_size_bytes
// Metadata keys in which Kudu stores the bounds of a key column. They are not copied: the recovered
// rows may have other bounds.
constexpr std::string_view kBoundsKeys[] = {"min_key", "max_key"};

// Recovers one file.
class Salvager {
 public:
  // `readable` is `source` with zeros in place of bytes that cannot be read. Blocks are searched in
  // `readable`; the rows to write are read from `source`.
  Salvager(std::shared_ptr<const Source> source, std::shared_ptr<const HoleFillingSource> readable,
           const FileInfo& info, bool has_footer, const SalvageOptions& options)
      : source_(std::move(source)),
        readable_(std::move(readable)),
        options_(options),
        judge_(info, has_footer, options.reader.max_block_size_bytes, MostSearchedBytes(),
               options.reader.max_dictionary_values),
        num_rows_(has_footer ? info.num_rows : kUnknownRows) {}

  // Finds the blocks of a file with a footer: by its indexes, or by Search if a part of the indexes
  // is lost and the file has checksums. `file` reads `readable`.
  absl::Status ReadWhole(FileReader& file) {
    const FileInfo& info = file.info();
    const auto dictionary = file.Dictionary();
    if (info.dictionary) CFILE_RETURN_IF_ERROR(CheckReadable(*info.dictionary));
    if (dictionary.ok()) {
      judge_.SetDictionary(*dictionary);
    } else if (absl::IsOutOfRange(dictionary.status())) {
      return dictionary.status();
    } else {
      Lose(info.dictionary->offset, info.dictionary->end(),
           absl::StrCat("the dictionary: ", dictionary.status().message()));
    }
    absl::Status limit;  // the error of a node that exceeds a limit
    internal::LeafEntries index = internal::ReadLeafEntries(
        file, [this](const BlockPointer& node) { return CheckReadable(node); },
        [&](const BlockPointer& node, const absl::Status& status) {
          if (absl::IsOutOfRange(status)) return limit.Update(status);
          Lose(node.offset, node.end(), absl::StrCat("an index node: ", status.message()));
        });
    whole_ = index.whole;
    if (!whole_) CFILE_RETURN_IF_ERROR(limit);
    if (!whole_ && info.has_checksums())
      return Search(info.file_size_bytes - info.footer_size_bytes);
    for (const internal::LeafEntry& entry : index.entries) CFILE_RETURN_IF_ERROR(ReadEntry(entry));
    std::sort(lost_.begin(), lost_.end(),
              [](const LostBytes& a, const LostBytes& b) { return a.begin < b.begin; });
    return absl::OkStatus();
  }

  // Finds blocks by their checksums, up to the offset `end`. The search is repeated if it finds the
  // dictionary, which comes after the blocks that need it.
  absl::Status Search(uint64_t end) {
    const bool had_dictionary = judge_.dictionary() != nullptr;
    CFILE_RETURN_IF_ERROR(SearchOnce(end));
    if (had_dictionary || judge_.dictionary() == nullptr || !needs_dictionary_)
      return absl::OkStatus();
    blocks_.clear();
    kept_end_ = 0;
    next_ = {};
    most_rows_ = kMostUncertainRows;
    needs_dictionary_ = false;
    return SearchOnce(end);
  }

  absl::StatusOr<SalvageReport> Write(std::unique_ptr<Sink> sink, Encoding encoding) {
    const FileInfo& info = judge_.info();
    // If the writer chose the encodings, the header says PLAIN, although blocks may have other
    // encodings.
    const bool chosen = encoding == Encoding::kPlain &&
                        std::any_of(blocks_.begin(), blocks_.end(), [](const FoundBlock& block) {
                          return block.encoding != Encoding::kPlain;
                        });
    WriterOptions options{
        .encoding = chosen ? Encoding::kAuto : encoding,
        .compression = info.compression,
        .nullable = info.nullable,
        .value_index = options_.value_index.value_or(info.value_index_root.has_value()),
        .max_block_size_bytes = options_.reader.max_block_size_bytes,
        .max_metadata_size_bytes = options_.reader.max_metadata_size_bytes,
        .max_dictionary_values = options_.reader.max_dictionary_values,
        .max_index_size_bytes = options_.reader.max_index_size_bytes,
        .movable_blocks = info.has_movable_blocks(),
        .version = info.version};
    for (const auto& [key, value] : info.header_metadata) {
      if (!key.starts_with(internal::kReservedKeyPrefix)) options.metadata.emplace_back(key, value);
    }
    options.block_size_bytes = std::min(options.block_size_bytes, options.max_block_size_bytes / 2);
    CFILE_ASSIGN_OR_RETURN(
        const auto writer,
        info.has_levels()
            ? internal::NewEntryWriter(std::move(sink), info.type, info.levels, options)
            : internal::NewValueWriter(std::move(sink), info.type, options));
    CFILE_RETURN_IF_ERROR(WriteRows(*writer));
    return Report();
  }

 private:
  bool is_bytes() const {
    return encodings::LaneOf(judge_.info().type.physical()) == encodings::Lane::kBytes;
  }

  // Returns an error with the block's place if a part of the block could not be read.
  absl::Status CheckReadable(const BlockPointer& pointer) const {
    return internal::InBlock(readable_->ErrorIn(pointer), source_->name(), pointer);
  }

  void Lose(uint64_t begin, uint64_t end, std::string reason) {
    if (!lost_.empty() && lost_.back().reason == reason && lost_.back().end >= kept_end_ &&
        begin >= lost_.back().end && begin - lost_.back().end <= kMostPaddingBytes) {
      lost_.back().end = end;
    } else if (lost_.size() < SalvageReport::kMostLost) {
      lost_.push_back({begin, end, std::move(reason)});
    } else {
      ++more_lost_.count;
      more_lost_.bytes += end - begin;
    }
  }

  // Records a block that was found. Of a damaged block with a sound head, counts the rows, and does
  // not search the bytes, because its values may look like blocks.
  void Keep(const FoundBlock& found) {
    if (found.kind == BlockKind::kCodes) {
      needs_dictionary_ = true;
      Lose(found.pointer.offset, found.pointer.end(),
           "data blocks that need the dictionary, which is lost");
    } else if (found.kind == BlockKind::kLost) {
      const absl::Status error = readable_->ErrorIn(found.pointer);
      Lose(found.pointer.offset, found.pointer.end(),
           error.ok() ? "a block whose head is right, but not the bytes after it"
                      : std::string(error.message()));
    } else {
      kept_end_ = found.pointer.end();
    }
    if (found.kind == BlockKind::kData) blocks_.push_back(found);
    if (found.kind == BlockKind::kData || found.kind == BlockKind::kCodes ||
        found.kind == BlockKind::kLost) {
      next_ = {.first_ordinal = found.end_ordinal(),
               .entries_before = next_.entries_before + found.num_entries};
      if (found.kind != BlockKind::kLost) most_rows_ = std::max(most_rows_, found.num_rows);
    }
  }

  // Reads the block of an index entry: keeps the block, or records its bytes as lost. kOutOfRange:
  // the block exceeds a limit, so it may be intact.
  absl::Status ReadEntry(const internal::LeafEntry& entry) {
    ExpectedRows expected = next_;
    if (entry.first_ordinal) {
      expected.exact = true;
      // Entries of a damaged index without checksums may overlap; this rejects such blocks.
      expected.first_ordinal = std::max(next_.first_ordinal, *entry.first_ordinal);
    } else if (!whole_) {
      // Leaves before this entry may be lost, so the block may begin at a later ordinal.
      expected.exact = false;
    }
    // As in Verify, the number of decoded rows is limited: a few bytes may claim 2^32 null rows,
    // and many blocks the same rows.
    const uint64_t most_decoded_rows = 2 * num_rows_;
    expected.most_rows = std::min(expected.most_rows,
                                  most_decoded_rows - std::min(decoded_rows_, most_decoded_rows));
    FoundBlock found;
    absl::Status status = judge_.Read(*source_, entry.pointer, expected, found);
    decoded_rows_ += found.num_rows;
    if (absl::IsOutOfRange(status))
      return internal::InBlock(status, source_->name(), entry.pointer);
    status.Update(internal::CheckEndOrdinal(found.end_ordinal(), num_rows_));
    if (status.ok()) {
      Keep(found);
    } else {
      next_.exact = false;
      Lose(entry.pointer.offset, entry.pointer.end(), std::string(status.message()));
    }
    return absl::OkStatus();
  }

  // The size in bytes of the largest block that is searched by its checksum: the maximum size of
  // statistics. Data blocks larger than max_block_size_bytes are then found, too, and SearchOnce
  // returns an error instead of dropping their rows silently.
  size_t MostSearchedBytes() const {
    const ReaderOptions& reader = options_.reader;
    return std::min(reader.max_block_size_bytes, kMostBlockBytes - reader.max_bloom_filter_bytes) +
           reader.max_bloom_filter_bytes;
  }

  absl::Status SearchOnce(uint64_t end) {
    lost_.clear();
    more_lost_ = {};
    internal::ChecksumSearch search(*readable_, end);
    const uint64_t largest = options_.reader.max_block_size_bytes + kMostExtraBytes;
    const uint64_t most_searched = MostSearchedBytes() + kMostExtraBytes;
    // How many bytes may be searched without success, at the places where a block should begin.
    // Without these limits, the time could be the number of losses times the size of the largest
    // block.
    uint64_t credit = kCreditBytes + kCreditPerByte * end;
    uint64_t wide_credit = kCreditBytes + kWideCreditPerByte * end;
    FoundBlock found;
    ExpectedRows expected;
    const auto judge = [&](const BlockPointer& pointer, std::span<const uint8_t> bytes) {
      internal::ChecksumSearch::Judgement judgement;
      found = {};
      if (const auto whole = judge_.WholeBlock(pointer, bytes)) {
        // The checksum may belong to the head of a movable block.
        // In `readable_`, bytes that cannot be read are zeros.
        found = judge_.JudgeMovable(*readable_, *whole, expected, end, judgement.cost_bytes);
        judgement.accepted = found.kind != BlockKind::kNone;
        if (judgement.accepted) return judgement;
      }
      if (!readable_->ErrorIn(pointer).ok()) return judgement;
      uint64_t cost_bytes = 0;
      found = judge_.Judge(pointer, bytes, expected, cost_bytes);
      judgement.accepted = found.kind != BlockKind::kNone;
      judgement.cost_bytes += cost_bytes;
      return judgement;
    };
    for (uint64_t at = judge_.info().header_size_bytes; at < end;) {
      CFILE_ASSIGN_OR_RETURN(const uint64_t zeros, search.CountZeros(at, kMostPaddingBytes));
      expected = next_;
      const uint64_t reach = std::min({credit, largest, end - at});
      CFILE_ASSIGN_OR_RETURN(auto pointer,
                             search.Find(at, std::min(at + zeros, end - 1), reach, judge));
      if (const uint64_t wide = std::min({wide_credit, most_searched, end - at});
          !pointer && wide > largest) {
        CFILE_ASSIGN_OR_RETURN(pointer,
                               search.Find(at, std::min(at + zeros, end - 1), wide, judge));
        wide_credit -= wide;
      }
      if (!pointer) {
        credit -= reach;
        next_.exact = false;
        expected = next_;
        expected.most_rows = most_rows_;
        CFILE_ASSIGN_OR_RETURN(
            pointer, search.Find(at, end - 1, internal::ChecksumSearch::kMostBegins, judge));
        // The found block may lie inside a value of the column. Search for a block around it, which
        // ends after it.
        while (is_bytes() && pointer && pointer->offset > at) {
          const FoundBlock inner = found;
          constexpr uint64_t kMost = internal::ChecksumSearch::kMostBegins;
          const uint64_t first =
              std::max(at, inner.pointer.end() - std::min(inner.pointer.end(), kMost));
          const uint64_t behind = std::min(inner.pointer.offset + kMost, end);
          if (first >= inner.pointer.offset || behind - first > credit) break;
          CFILE_ASSIGN_OR_RETURN(
              const auto around,
              search.Find(first, inner.pointer.offset - 1, kMost,
                          [&](const BlockPointer& outer, std::span<const uint8_t> bytes) {
                            const auto whole = judge_.WholeBlock(outer, bytes);
                            return (whole ? whole->pointer : outer).end() > inner.pointer.end()
                                       ? judge(outer, bytes)
                                       : internal::ChecksumSearch::Judgement{};
                          }));
          credit -= (around ? around->end() : behind) - first;
          if (!around) {
            found = inner;
            break;
          }
          pointer = around;
        }
        const uint64_t next = pointer ? pointer->offset : end;
        if (next > at) {
          CFILE_RETURN_IF_ERROR(LoseUnfound(search, at, next, end));
        }
        if (!pointer) break;
      }
      if (found.size_bytes > options_.reader.max_block_size_bytes &&
          found.kind != BlockKind::kStatistics) {
        return internal::InBlock(
            OutOfRange("its ", found.size_bytes, " bytes before compression are ",
                       AboveLimit(options_.reader.max_block_size_bytes, "max_block_size_bytes")),
            source_->name(), found.pointer);
      }
      Keep(found);
      credit += found.pointer.size;
      at = found.pointer.end();
    }
    return absl::OkStatus();
  }

  absl::Status LoseUnfound(internal::ChecksumSearch& search, uint64_t begin, uint64_t end,
                           uint64_t file_end) {
    if (const absl::Status error = readable_->ErrorIn(begin, end); !error.ok()) {
      Lose(begin, end, std::string(error.message()));
      return absl::OkStatus();
    }
    constexpr uint64_t kLookedAt = 64 * 1024;
    uint64_t zeros = 0;
    while (zeros < end - begin) {
      const uint64_t some = std::min(kLookedAt, end - begin - zeros);
      CFILE_ASSIGN_OR_RETURN(const uint64_t found, search.CountZeros(begin + zeros, some));
      zeros += found;
      if (found < some) break;
    }
    if (zeros == end - begin) {
      // A few zeros may be the alignment of the next block.
      if (zeros > kMostPaddingBytes || end == file_end) Lose(begin, end, "zeros");
      return absl::OkStatus();
    }
    Lose(begin, end,
         absl::StrCat("no valid block was found here (a block above ", MostSearchedBytes(),
                      " bytes is not found: raise max_block_size_bytes)",
                      end == file_end && num_rows_ == kUnknownRows ? "; then the file ends" : ""));
    return absl::OkStatus();
  }

  absl::Status WriteRows(internal::AnyWriter& writer) {
    for (const FoundBlock& block : blocks_) {
      CFILE_RETURN_IF_ERROR(judge_.ForEachBatch(
          *source_, block, [&](const auto& batch) { return writer.Append(batch); }));
    }
    for (const auto& [key, value] : judge_.info().footer_metadata) {
      const bool bounds =
          std::find(std::begin(kBoundsKeys), std::end(kBoundsKeys), key) != std::end(kBoundsKeys);
      if (!bounds && !key.starts_with(internal::kReservedKeyPrefix))
        CFILE_RETURN_IF_ERROR(writer.AddMetadata(key, value));
    }
    return writer.Finish();
  }

  SalvageReport Report() {
    SalvageReport report{.info = judge_.info(), .has_footer = num_rows_ != kUnknownRows};
    uint64_t next = 0;
    for (const FoundBlock& block : blocks_) {
      if (block.first_ordinal > next) report.missing.push_back({next, block.first_ordinal});
      next = block.end_ordinal();
      ++report.blocks;
      report.rows += block.num_rows;
      report.bytes += block.pointer.size;
    }
    const uint64_t end = report.has_footer ? num_rows_ : next_.first_ordinal;
    if (end > next) report.missing.push_back({next, end});
    report.dictionary = judge_.dictionary() != nullptr ? SalvageReport::Dictionary::kFound
                        : needs_dictionary_            ? SalvageReport::Dictionary::kLost
                                                       : SalvageReport::Dictionary::kNone;
    report.lost = std::move(lost_);
    report.more_lost = more_lost_;
    return report;
  }

  static constexpr uint64_t kUnknownRows = std::numeric_limits<uint64_t>::max();

  const std::shared_ptr<const Source> source_;
  const std::shared_ptr<const HoleFillingSource> readable_;
  const SalvageOptions options_;
  internal::BlockJudge judge_;
  uint64_t num_rows_;               // as the footer says
  uint64_t decoded_rows_ = 0;       // of blocks that ReadEntry has read
  bool whole_ = false;              // ReadLeafEntries found an undamaged index
  std::vector<FoundBlock> blocks_;  // the blocks whose rows are to be written
  std::vector<LostBytes> lost_;
  SalvageReport::MoreLost more_lost_;
  uint64_t kept_end_ = 0;  // end of the last block that is not lost
  ExpectedRows next_;
  uint64_t most_rows_ = kMostUncertainRows;
  bool needs_dictionary_ = false;
};

// False if the footer and the header describe different columns. The footer may then belong to
// another CFile, which is a value in this file.
bool SameColumn(const FileInfo& a, const FileInfo& b) {
  return a.type == b.type && a.compression == b.compression && a.nullable == b.nullable &&
         a.levels == b.levels;
}

}  // namespace

absl::StatusOr<SalvageReport> Salvage(std::shared_ptr<const Source> torn,
                                      std::unique_ptr<Sink> sink,
                                      const SalvageOptions& salvage_options) {
  SalvageOptions options = salvage_options;
  // The codec of a torn file might not be known yet: any but kNone stands for it.
  options.reader.max_block_size_bytes =
      internal::MaxBlockSize(options.reader, torn->size(), Compression::kDefault);
  for (size_t* limit :
       {&options.reader.max_block_size_bytes, &options.reader.max_bloom_filter_bytes}) {
    *limit = std::min(*limit, kMostBlockBytes);
  }
  const auto readable = std::make_shared<const HoleFillingSource>(torn);
  const auto header = internal::ReadTornFileInfo(*readable, options.reader);
  const auto whole = FileReader::Open(readable, options.reader);
  if (!whole.ok() && !absl::IsDataLoss(whole.status())) return whole.status();
  // A footer without a checksum may parse although some of its bytes were replaced by zeros.
  const uint64_t size = torn->size();
  const bool footer = whole.ok() && (!header.ok() || SameColumn(*header, (*whole)->info())) &&
                      readable->ErrorIn(size - (*whole)->info().footer_size_bytes, size).ok();
  // If the header is damaged, a footer with a checksum says what the blocks hold.
  const bool only_footer = !footer && !header.ok();
  FileInfo footer_info;
  if (only_footer) {
    CFILE_RETURN_IF_ERROR(readable->ErrorIn(0, size));
    absl::StatusOr<FileInfo> read = internal::ReadFileInfoOfFooter(*readable, options.reader);
    if (!read.ok()) return header.status();
    footer_info = *std::move(read);
  }
  const FileInfo& info = footer ? (*whole)->info() : only_footer ? footer_info : *header;
  if (info.holds_bloom_filters()) {
    return absl::FailedPreconditionError(
        absl::StrCat(torn->name(), ": the file holds Bloom filters, not values"));
  }
  CFILE_RETURN_IF_ERROR(CheckCompressionBuiltIn(info.compression));
  // Checks that the encoding is supported. An encoding with an encoder also has a decoder.
  CFILE_RETURN_IF_ERROR(
      encodings::VisitPhysicalType(info.type.physical(), [&]<typename T>(std::type_identity<T>) {
        return encodings::MakeEncoder<T>(info.encoding, info.type.physical(),
                                         {.type_length = info.type.type_length})
            .status();
      }));
  Salvager salvager(torn, readable, info, footer || only_footer, options);
  CFILE_RETURN_IF_ERROR(footer
                            ? salvager.ReadWhole(**whole)
                            : salvager.Search(only_footer ? size - info.footer_size_bytes : size));
  return salvager.Write(std::move(sink), header.ok() ? header->encoding : info.encoding);
}

}  // namespace cfile
