// What the version of a file and OldestReader::kKudu decide. In cfile/core and cfile/parts, only
// file_policy.cc compares these two (tests/rooms/check_rooms.py checks this). Other code asks for
// one of the properties below.
//
// Not here: the feature bits of the footer. FileInfo::has_checksums, has_levels and
// has_extended_blocks read them, and feature_bits.h computes them for a new file. For the effects
// of kudu_exact inside blocks see encodings/kudu/kudu_policy.h and, for runs, RleHybridEncoder. For
// how rows are batched see AppendSome in writer.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "absl/status/status.h"
#include "cfile/options.h"
#include "cfile/types.h"

namespace cfile::internal {

// The maximum number of rows that Kudu's writer passes to an encoder at a time.
inline constexpr uint64_t kKuduBatchRows = 100;

// The size of the magic at both ends of a file, and of the number beside it: the size of the
// message of the header or the footer (cfile/FORMAT.md, File).
inline constexpr size_t kFileMagicBytes = 8;
inline constexpr size_t kMessageSizeBytes = 4;

// What a version decides, for writers and readers.
struct VersionPolicy {
  std::string_view magic;
  // The footer has feature bits, so that a file can have checksums, levels and extended blocks.
  bool features;
  // True: if the file has a codec, all blocks are compressed, and the compressed and the
  // uncompressed size precede each block. False: some blocks can be uncompressed, and only the
  // uncompressed size precedes each block.
  bool compresses_all;
  // The keys of the positional index can be vints (IndexKeyForm::kVint64Ordinal); a writer then
  // writes vints.
  bool vint_ordinals;
  // The header contains the number of the version.
  bool numbers_header;
};

const VersionPolicy& PolicyOf(FormatVersion version);

// Returns the version whose magic is `magic`; nullopt if there is none.
std::optional<FormatVersion> VersionOfMagic(std::string_view magic);

// What the options of a writer decide, besides the properties of the version.
struct FilePolicy {
  // Blocks, bitmaps and levels are exactly those of Kudu's writer.
  bool kudu_exact = false;
  // The file has this library's extensions: the header describes the column, the footer has
  // ExtensionsPB, and there may be statistics.
  bool extensions = true;
  // Each block can name its encoding, so the writer can choose an encoding for each block.
  bool blocks_choose = true;
  // Values are aligned in the file, so that a reader can use them in place.
  bool aligns_values = true;
  // Data blocks are movable (cfile/FORMAT.md, Movable blocks).
  bool movable_blocks = false;
  // The writer makes piece tables (cfile/core/format/piece_table.h) for blocks that have pieces.
  bool pieces = false;
  // Blocks may have encodings whose numbers are at least kFirstOwnNumber.
  bool own_encodings = true;
  // max_values_per_block limits the rows of a block.
  bool limits_rows = true;
  // An encoder gets at most this many rows at a time. (Some of Kudu's encodings check a block's
  // size only after each batch.)
  uint64_t max_batch_rows = UINT64_MAX;
  // The largest header or footer that the file may have, in bytes.
  size_t max_metadata_size_bytes = SIZE_MAX;
};

FilePolicy PolicyOf(const WriterOptions& options);

// The newest version of OldestReader, which kDefault means for new files and tables.
inline constexpr OldestReader kNewestReader = OldestReader::kVersion0_3;

// Returns `named`, or `otherwise` if `named` is kDefault.
OldestReader ReaderOr(OldestReader named, OldestReader otherwise);
// True if the incompatible features of table.cft are known to `reader`, which is not kDefault.
bool KnowsTableFeatures(OldestReader reader);

// Returns the encoding that the writer uses for Encoding::kAuto in a file whose blocks cannot name
// their own encoding.
Encoding DefaultEncoding(const ColumnType& type, const WriterOptions& options);

// kInvalidArgument: `options` ask for Kudu's files or for version 1, which do not have this type,
// encoding, codec or key.
absl::Status CheckPolicy(const ColumnType& type, const WriterOptions& options);

// As CheckPolicy, for the levels of a file.
absl::Status CheckLevelPolicy(const LevelLimits& limits, const WriterOptions& options);

}  // namespace cfile::internal
