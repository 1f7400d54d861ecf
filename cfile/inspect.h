// The structure of a file, for tools that show, check and explain files. Programs that only read
// values do not need this header. All functions are thread-safe, and have the errors of reading a
// file (cfile/CONCEPTS.md). The Reader must outlive the call.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/batch.h"
#include "cfile/file_info.h"
#include "cfile/file_layout.h"
#include "cfile/io.h"
#include "cfile/options.h"
#include "cfile/types.h"
#include "encodings/core/export.h"

namespace cfile {

class Reader;

// The messages of header and footer in protobuf's text and JSON formats.
struct MetadataText {
  std::string header_text, header_json;
  std::string footer_text, footer_json;
};
CFILE_EXPORT MetadataText DescribeMetadata(const FileInfo& info);

struct BlockInfo {
  uint64_t index = 0;  // 0, 1, ... in ordinal order
  BlockPointer pointer;
  uint64_t first_ordinal = 0;
  uint64_t num_rows = 0;  // rows, nulls included; in a file with levels: records
  // The number of rows (in a file with levels: entries), and how many of them hold no value.
  uint64_t num_entries = 0;
  uint64_t null_count = 0;
  Encoding encoding = Encoding::kPlain;
  uint64_t stored_size_bytes = 0;   // in the file, without the checksum after the block
  uint64_t encoded_size_bytes = 0;  // before compression
  bool compressed = false;
  std::span<const uint8_t> bytes;  // before compression; valid only during the call of `visit`
};

// One entry of an index node.
struct IndexEntryInfo {
  uint64_t ordinal = 0;  // the key in a positional index
  std::string key;       // the key in a value index: in memcmp form, possibly shortened
  BlockPointer pointer;
};

struct IndexNodeInfo {
  BlockPointer pointer;
  uint32_t depth = 0;  // 0 = root
  bool leaf = true;    // a leaf node: its entries point to data blocks
  std::vector<IndexEntryInfo> entries;
};

// The result of Verify.
struct CFILE_EXPORT VerifyReport {
  static constexpr size_t kMostDamages = 1000;

  uint64_t data_blocks = 0;
  uint64_t index_nodes = 0;
  uint64_t num_rows = 0;     // nulls included; in a file with levels: records
  uint64_t num_entries = 0;  // rows; in a file with levels: entries
  uint64_t null_count = 0;   // entries without a value
  // The size of all parts that Verify checked: header, blocks, footer, but no blocks that exceed a
  // limit. If all index nodes could be read, the bytes between the parts are included.
  uint64_t bytes_checked = 0;
  // The least and the greatest value, in memcmp form (cfile/statistics.h). Set only if the file has
  // a value index and at least one value.
  std::optional<std::string> min_key;
  std::optional<std::string> max_key;
  std::vector<Damage> damages;  // the first kMostDamages
  uint64_t more_damages = 0;    // the number of further damages
  // The parts that Verify did not check because of a limit of ReaderOptions (kOutOfRange), which
  // are not damage; at most kMostDamages.
  std::vector<Damage> limits;
  uint64_t more_limits = 0;

  // Adds `damage` to damages, or to limits if its status is kOutOfRange.
  void Add(Damage damage);
  // True if everything was checked and nothing is wrong.
  bool ok() const { return damages.empty() && limits.empty(); }
};

// Calls `visit` for each data block in ordinal order, and reads each block for that. If `visit`
// returns false, stops and returns OK. If a block cannot be read, or if its rows do not fit the
// block before it, the index or the footer, returns the error; the blocks before it have been
// visited.
CFILE_EXPORT absl::Status VisitBlocks(const Reader& reader,
                                      const std::function<bool(const BlockInfo&)>& visit);

// "header", "data block", "node of the positional index", ...
CFILE_EXPORT std::string_view RegionKindName(RegionKind kind);

// Lists the regions of a file. Reads all index nodes, and no data block. If the two indexes point
// to different blocks, the result has the blocks of the positional index; if a node of this index
// cannot be read, but all nodes of the value index can, those of the value index. Memory: about 100
// bytes for each block, in addition to the index nodes that the reader keeps. The result takes
// about half of this memory.
CFILE_EXPORT FileLayout ListRegions(const Reader& reader);

// Describes a region of ListRegions, even if it is damaged. The fields of each list are in
// ascending order and cover all bytes, without gaps and overlaps. The bytes after the last byte
// that could be understood are one field, "unknown bytes". Null bitmap, levels and values each have
// at most about `max_fields` fields; the last field stands for all that would follow. Precondition:
// max_fields is at least its default, kMaxBlockFields. A wrong checksum is shown. It is damage
// unless ReaderOptions::verify_checksums is false; the fields are described in both cases.
//
// Reads the region and copies it, so a result does not depend on the reader. Each field takes about
// 80 bytes. kInvalidArgument: the file has no such region. kDataLoss: the source has fewer bytes
// than expected. kUnimplemented: also if a movable block needs another dictionary.
CFILE_EXPORT absl::StatusOr<RegionDetails> DescribeRegion(const Reader& reader,
                                                          const FileRegion& region,
                                                          size_t max_fields = kMaxBlockFields);

// Describes a file that Reader::Open refuses because its header or footer is damaged, without
// reading blocks. The regions cover the whole file: the header, a gap, and the footer. If the
// header or the footer cannot be found, its bytes belong to the gap. Precondition: as for
// DescribeRegion.
CFILE_EXPORT absl::StatusOr<std::vector<RegionDetails>> DescribeEnds(
    const Source& source, const ReaderOptions& options = {}, size_t max_fields = kMaxBlockFields);

// Describes the data block with this number, as DescribeRegion. Also reads the index nodes before
// the block. kOutOfRange: also if there is no block with this number.
CFILE_EXPORT absl::StatusOr<RegionDetails> DescribeBlock(const Reader& reader, uint64_t index);

// Returns the number of the data block that holds the row with this ordinal. Reads index nodes
// only. kFailedPrecondition: the file has no positional index.
CFILE_EXPORT absl::StatusOr<uint64_t> FindBlock(const Reader& reader, uint64_t ordinal);

// Returns the values of the file's dictionary in the order of their codes. A dictionary of symbols
// has parts of values. If the file has no dictionary, returns no values. Precondition: the column
// holds T. Memory: the values of the dictionary.
template <typename T, typename = IfValueType<T>>
CFILE_EXPORT absl::StatusOr<std::vector<Owned<T>>> ReadDictionary(const Reader& reader);

// Calls `visit` for each node of an index in key order, a parent before its children. If `visit`
// returns false, stops and returns OK. Returns OK without a visit if the file has no such index.
CFILE_EXPORT absl::Status VisitIndex(const Reader& reader, IndexKind kind,
                                     const std::function<bool(const IndexNodeInfo&)>& visit);

// Reads and checks the whole file: all checksums, structures and values; that the blocks, the index
// keys and the footer agree; and that bytes outside of all blocks are zero. If something is damaged
// or exceeds a limit of ReaderOptions, Verify continues with the rest where possible. A codec that
// this build lacks is reported as damage with the status kUnimplemented. Memory: approximately 80
// bytes for each index entry (in addition to the reader's index nodes), one block, and the report.
CFILE_EXPORT VerifyReport Verify(const Reader& reader);

}  // namespace cfile
