// What the version and Compatibility::kKudu decide in a file. In cfile/internal only file_policy.cc
// compares them (tests/rooms/check_rooms.py checks this). Everything else asks for one of the
// properties below, or for a property that FileInfo reads from the footer: has_checksums,
// has_levels and has_extended_blocks, whose bits feature_bits.h computes for a new file.
//
// kudu_exact reaches the places that end runs, blocks and dictionaries:
// encodings/kudu/kudu_policy.h, and RleHybridEncoder for runs. How rows are batched: writer.cc,
// AppendSome.
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

// What a version decides. Writers and readers query it.
struct VersionPolicy {
  std::string_view magic;
  // The footer has feature bits, so a file may have checksums, levels and extended blocks.
  bool features;
  // A codec compresses every block, and both sizes of the block come before its bytes. Otherwise
  // the codec may leave a block uncompressed, and only its uncompressed size comes before its
  // bytes.
  bool compresses_all;
  // The keys of the positional index may be vints (IndexKeyForm::kVint64Ordinal). Writers always
  // use vints then.
  bool vint_ordinals;
  // The header's message has the number of the version.
  bool numbers_header;
};

const VersionPolicy& PolicyOf(FormatVersion version);

// The version whose magic is `magic`; nullopt if there is none.
std::optional<FormatVersion> VersionOfMagic(std::string_view magic);

// What the options decide, besides the properties of their version. Writers query it.
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
  // max_values_per_block limits the rows of a block.
  bool limits_rows = true;
  // An encoder gets at most this many rows at a time. (Some of Kudu's encodings check a block's
  // size only after each batch.)
  uint64_t max_batch_rows = UINT64_MAX;
  // The largest header or footer that the file may have, in bytes.
  size_t max_metadata_size_bytes = SIZE_MAX;
};

FilePolicy PolicyOf(const WriterOptions& options);

// Returns the encoding that the writer uses for Encoding::kAuto in a file whose blocks cannot name
// their own encoding.
Encoding DefaultEncoding(const ColumnType& type, const WriterOptions& options);

// kInvalidArgument: `options` ask for Kudu's files or for version 1, which do not have this type,
// encoding, codec or key.
absl::Status CheckPolicy(const ColumnType& type, const WriterOptions& options);

// As CheckPolicy, for the levels of a file.
absl::Status CheckLevelPolicy(const LevelLimits& limits, const WriterOptions& options);

}  // namespace cfile::internal
