#include "cfile/core/write/file_writer.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <span>
#include <utility>

#include "absl/status/statusor.h"
#include "cfile/core/format/data_block.h"
#include "cfile/core/format/feature_bits.h"
#include "cfile/core/format/file_metadata.h"
#include "cfile/core/format/metadata_keys.h"
#include "cfile/core/format/statistics_block.h"
#include "cfile/core/format/writer_choices.h"
#include "cfile/core/io/named_status.h"
#include "cfile/core/write/copied_block.h"
#include "encodings/core/assert.h"
#include "encodings/core/status.h"
#include "encodings/registry.h"

namespace cfile::internal {

using encodings::ByteWriter;

// A file that is smaller than this does not record the choice of its encoding: the record would
// make the file noticeably larger.
constexpr uint64_t kLeastBytesWithChoice = 1000;

FileWriter::FileWriter(std::unique_ptr<Sink> sink, const ColumnType& type,
                       const WriterOptions& options)
    : sink_(std::move(sink)), options_(options), policy_(PolicyOf(options)) {
  options_.compression = CodecOf(options);
  info_.version = options.version;
  info_.type = type;
  if (options.encoding != Encoding::kAuto) info_.encoding = options.encoding;
  info_.compression = options_.compression;
  info_.nullable = options.nullable;
  info_.header_metadata = options.metadata;
  info_.levels.max_definition = options.nullable ? 1 : 0;
  info_.incompatible_features =
      IncompatibleFeatures(info_, /*levels=*/false, chooses(), policy_.movable_blocks);
  if (options.positional_index) {
    const auto form = PolicyOf(options.version).vint_ordinals ? IndexKeyForm::kVint64Ordinal
                                                              : IndexKeyForm::kBytes;
    positional_.emplace(IndexKind::kPositional, form, options.index_block_size_bytes,
                        options.max_block_size_bytes);
  }
  if (options.value_index) {
    value_.emplace(IndexKind::kValue, IndexKeyForm::kBytes, options.index_block_size_bytes,
                   options.max_block_size_bytes);
  }
  if (policy_.pieces) pieces_.emplace(options.max_block_size_bytes);
}

void FileWriter::SetLevels(const LevelLimits& limits) {
  info_.levels = limits;
  info_.incompatible_features =
      IncompatibleFeatures(info_, /*levels=*/true, chooses(), policy_.movable_blocks);
}

absl::Status FileWriter::CheckIndexSize() const {
  const size_t size = (positional_ ? positional_->reader_memory_bytes() : 0) +
                      (value_ ? value_->reader_memory_bytes() : 0);
  const size_t limit = options_.max_index_size_bytes;
  if (size <= limit) return absl::OkStatus();
  return OutOfRange(name(), ": an index that takes ", size, " bytes of memory is ",
                    AboveLimit(limit, "max_index_size_bytes"));
}

absl::Status FileWriter::Begin() {
  ByteWriter header;
  const std::string message = AppendHeader(info_, policy_.extensions, header);
  CFILE_RETURN_IF_ERROR(Named(CheckHeader(message, header.size(), options_), name()));
  CFILE_RETURN_IF_ERROR(NamedSink(sink_->Append(header.span()), sink_->name()));
  appender_.emplace(sink_.get(), header.size(), BlockFormatOf(info_), options_.max_block_size_bytes,
                    options_.compression_level);
  return absl::OkStatus();
}

void FileWriter::AddTotals(Encoding encoding, const BlockPointer& pointer) {
  auto totals = std::find_if(encodings_.begin(), encodings_.end(),
                             [&](const EncodingTotals& each) { return each.encoding == encoding; });
  if (totals == encodings_.end()) {
    encodings_.push_back({.encoding = encoding});
    totals = encodings_.end() - 1;
  }
  info_.incompatible_features |= FeaturesOf(encoding);
  last_block_ = pointer;
  last_block_compressed_ = appender_->last_compressed();
  ++totals->blocks;
  totals->stored_bytes += pointer.size;
  totals->compressed_blocks += last_block_compressed_;
}

absl::Status FileWriter::AddFooterMetadata(std::string_view key, std::string_view value) {
  CFILE_RETURN_IF_ERROR(CheckMetadataKey(key));
  info_.footer_metadata.emplace_back(key, value);
  return absl::OkStatus();
}

absl::Status FileWriter::AppendBlock(const encodings::EncodedBlock& block, const BlockRows& rows,
                                     std::string_view value_key, ByteWriter& prefix) {
  const Encoding encoding = block.encoding == Encoding::kAuto ? info_.encoding : block.encoding;
  const bool movable = info_.has_movable_blocks();
  if (info_.has_extended_blocks() && !movable) {
    AppendExtendedHeader(encoding, block.count, rows.first_ordinal, block.skip_table.span(),
                         prefix);
  }
  BlockStorage storage{.compress = block.compressible};
  if (block.aligned_values_offset && policy_.aligns_values)
    storage.align_at = (movable ? 0 : prefix.size()) + *block.aligned_values_offset;
  if (value_) CFILE_RETURN_IF_ERROR(value_->MakeRoom(value_key, *appender_));
  const BlockHead head{.encoding = encoding,
                       .num_rows = rows.num_rows,
                       .num_entries = rows.num_entries,
                       .present_count = block.count,
                       .first_ordinal = static_cast<uint32_t>(rows.first_ordinal)};
  CFILE_ASSIGN_OR_RETURN(
      const BlockPointer pointer,
      movable ? appender_->AppendMovable(
                    head, {prefix.span(), block.skip_table.span(), block.bytes.span()}, storage)
              : appender_->Append(prefix.span(), block.bytes.span(), storage));
  AddTotals(encoding, pointer);
  CFILE_RETURN_IF_ERROR(AddToIndexes(rows.first_ordinal, value_key, pointer));
  if (!pieces_ || last_block_compressed_ || block.pieces.empty() ||
      pointer.size < kLeastBytesOfPieces)
    return absl::OkStatus();
  // The body is the last part of a block, except for the checksum of a block that is not movable.
  const size_t body_begin =
      pointer.size - block.bytes.size() - (movable || !info_.has_checksums() ? 0 : kChecksumBytes);
  piece_bytes_.Clear();
  AppendPieces(block, static_cast<uint32_t>(body_begin), info_.type.physical(), piece_bytes_);
  return AddPieces(rows.first_ordinal, encoding, piece_bytes_.span());
}

absl::Status FileWriter::AddPieces(uint64_t first_ordinal, Encoding encoding,
                                   std::span<const uint8_t> pieces) {
  return pieces_->Add({.block = last_block_,
                       .first_ordinal = static_cast<uint32_t>(first_ordinal),
                       .encoding = encoding,
                       .pieces = pieces},
                      *appender_);
}

absl::Status FileWriter::CopyBlock(const CopiedBlock& block, uint64_t first_ordinal,
                                   std::string_view value_key) {
  CFILE_ASSERT(info_.has_movable_blocks());
  has_copies_ = true;
  if (value_) CFILE_RETURN_IF_ERROR(value_->MakeRoom(value_key, *appender_));
  CFILE_ASSIGN_OR_RETURN(const BlockPointer pointer,
                         appender_->AppendMoved(block.head, block.bytes, block.offset,
                                                static_cast<uint32_t>(first_ordinal)));
  AddTotals(block.head.encoding, pointer);
  CFILE_RETURN_IF_ERROR(AddToIndexes(first_ordinal, value_key, pointer));
  if (!pieces_) return absl::OkStatus();
  return AddPieces(first_ordinal, block.head.encoding, block.pieces);
}

absl::Status FileWriter::AddToIndexes(uint64_t first_ordinal, std::string_view value_key,
                                      const BlockPointer& pointer) {
  if (positional_)
    CFILE_RETURN_IF_ERROR(positional_->Add(OrdinalKey(first_ordinal), pointer, *appender_));
  if (value_) CFILE_RETURN_IF_ERROR(value_->Add(value_key, pointer, *appender_));
  return CheckIndexSize();
}

absl::Status FileWriter::Finish(uint64_t num_rows, const ByteWriter* dictionary,
                                const StatisticsBytes& statistics,
                                std::optional<uint64_t> num_entries) {
  info_.num_rows = num_rows;
  info_.num_entries = num_entries;
  if (chooses()) {
    uint64_t most_bytes = 0;
    for (const EncodingTotals& totals : encodings_) {
      const bool has_dictionary = encodings::FindEncoding(totals.encoding)->has_dictionary;
      const uint64_t bytes =
          has_dictionary ? std::numeric_limits<uint64_t>::max() : totals.stored_bytes;
      if (bytes > most_bytes) info_.encoding = totals.encoding;
      most_bytes = std::max(most_bytes, bytes);
    }
  }
  if (pieces_) {
    CFILE_ASSIGN_OR_RETURN(info_.piece_directory, pieces_->Finish(*appender_));
    if (info_.piece_directory) info_.incompatible_features |= kFeaturePieces;
  }
  if (positional_) {
    CFILE_ASSIGN_OR_RETURN(info_.positional_index_root, positional_->Finish(*appender_));
  }
  if (value_) {
    CFILE_ASSIGN_OR_RETURN(info_.value_index_root, value_->Finish(*appender_));
  }
  CFILE_RETURN_IF_ERROR(CheckIndexSize());
  if (dictionary != nullptr) {
    CFILE_ASSIGN_OR_RETURN(info_.dictionary, appender_->Append({}, dictionary->span()));
  }
  if (!statistics.message.empty()) {
    // A Bloom filter hardly gets smaller by compression, and an attempt to compress it would copy
    // it.
    const BlockStorage storage{.compress = statistics.bloom_filter.empty(),
                               .extra_size_bytes = statistics.bloom_filter.size()};
    CFILE_ASSIGN_OR_RETURN(info_.statistics,
                           appender_->Append(encodings::AsBytes(statistics.message),
                                             statistics.bloom_filter, storage));
    info_.bloom_filter = statistics.bloom_info;
    info_.compatible_features |= kCompatibleFeatureStatistics;
  }
  if (has_copies_ || appender_->offset() < kLeastBytesWithChoice) info_.choice.reset();
  ByteWriter footer;
  const std::string message = AppendFooter(info_, policy_.extensions, footer);
  CFILE_RETURN_IF_ERROR(Named(CheckFooter(message, footer.size(), options_), name()));
  CFILE_RETURN_IF_ERROR(NamedSink(sink_->Append(footer.span()), sink_->name()));
  footer_bytes_ = footer.size();
  return NamedSink(sink_->Finish(), sink_->name());
}

size_t FileWriter::memory_usage_bytes() const {
  return (appender_ ? appender_->memory_usage_bytes() : 0) +
         (positional_ ? positional_->memory_usage_bytes() : 0) +
         (value_ ? value_->memory_usage_bytes() : 0) +
         (pieces_ ? pieces_->memory_usage_bytes() : 0);
}

}  // namespace cfile::internal
