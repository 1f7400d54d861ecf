#include "cfile/parts/salvage/found_block.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "cfile/core/format/index_node.h"
#include "cfile/core/format/level_block.h"
#include "cfile/core/format/statistics_block.h"
#include "encodings/core/status.h"
#include "encodings/registry.h"

namespace cfile::internal {
namespace {

// Decoding a dictionary copies it. Larger dictionaries are not decoded if the checksum may match by
// chance.
constexpr size_t kMostUncertainDictionaryBytes = size_t{2} << 20;
constexpr uint64_t kMaxValues = std::numeric_limits<uint32_t>::max();

absl::Status CheckRows(const FoundBlock& found, const ExpectedRows& expected) {
  if (expected.exact || found.first_ordinal < expected.first_ordinal)
    CFILE_RETURN_IF_ERROR(CheckFirstOrdinal(expected.first_ordinal, found.first_ordinal));
  if (found.num_rows > expected.most_rows || found.num_rows > kMaxValues - found.first_ordinal) {
    return DataLoss("the block of ordinal ", found.first_ordinal, " has ", found.num_rows,
                    " rows, more than fit here");
  }
  return absl::OkStatus();
}

// The uncompressed size that the block claims (if within the limit), or the stored size if that is
// more.
uint64_t UncompressedBytes(std::span<const uint8_t> stored, Compression compression,
                           size_t max_block_size_bytes) {
  if (compression == Compression::kNone || stored.size() < sizeof(uint32_t)) return stored.size();
  const auto size = encodings::LoadLittleEndian<uint32_t>(stored.data());
  return size > max_block_size_bytes ? stored.size() : std::max<uint64_t>(size, stored.size());
}

}  // namespace

BlockJudge::BlockJudge(const FileInfo& info, bool has_footer, size_t max_block_size_bytes,
                       size_t max_judged_bytes, size_t max_dictionary_values)
    : max_block_size_bytes_(max_block_size_bytes),
      max_judged_bytes_(max_judged_bytes),
      max_dictionary_values_(max_dictionary_values),
      forms_{info} {
  if (!has_footer && !info.has_extended_blocks() && info.encoding == Encoding::kPlain) {
    forms_.push_back(info);
    forms_.back().incompatible_features |= kFeatureExtendedBlocks;
  }
  if (!has_footer && info.has_checksums()) {
    forms_.push_back(info);
    forms_.back().incompatible_features |= kFeatureExtendedBlocks | kFeatureMovableBlocks;
  }
  if (encodings::FindEncoding(info.encoding)->has_dictionary) codes_encoding_ = info.encoding;
  SetDictionary(nullptr);
}

void BlockJudge::SetDictionary(std::shared_ptr<const encodings::Dictionary> dictionary) {
  dictionary_ = std::move(dictionary);
  rows_.emplace(info().type, BlockDecoding{dictionary_});
  records_.emplace(info().type, BlockDecoding{dictionary_});
}

absl::StatusOr<std::span<const uint8_t>> BlockJudge::Fetch(const Source& source,
                                                           const BlockFormat& format,
                                                           const BlockPointer& pointer, bool verify,
                                                           size_t max_size_bytes) {
  buffer_.stored.Clear();
  CFILE_ASSIGN_OR_RETURN(const FetchedBlock fetched,
                         FetchBlock(source, format, pointer, verify, max_size_bytes, buffer_));
  return fetched.bytes;
}

absl::Status BlockJudge::Read(const Source& source, const BlockPointer& pointer,
                              const ExpectedRows& expected, FoundBlock& found) {
  CFILE_ASSIGN_OR_RETURN(const auto bytes, Fetch(source, DataBlockFormatOf(info()), pointer,
                                                 /*verify=*/true, max_block_size_bytes_));
  found.pointer = pointer;
  return ReadRows(bytes, info(), expected, found);
}

FoundBlock BlockJudge::Judge(const BlockPointer& pointer, std::span<const uint8_t> stored,
                             const ExpectedRows& expected, uint64_t& cost_bytes) {
  cost_bytes = UncompressedBytes(stored, info().compression, max_judged_bytes_);
  rows_bytes_ = 0;
  const FoundBlock found = Judge(pointer, stored, expected);
  cost_bytes += rows_bytes_;
  return found;
}

FoundBlock BlockJudge::Judge(const BlockPointer& pointer, std::span<const uint8_t> stored,
                             const ExpectedRows& expected) {
  using Kind = FoundBlock::Kind;
  FoundBlock found{.pointer = pointer};
  // The head of a movable block also ends with a checksum, and its bytes may look like a block of
  // RLE, so they are not judged as a block. But a block of zeros may look like a head of a block
  // without rows, so only heads with rows and a known encoding count as heads.
  if (const auto whole = WholeBlock(pointer, stored);
      whole && whole->num_rows > 0 && encodings::FindEncoding(whole->encoding) != nullptr) {
    return found;
  }
  const auto source = NewMemoryViewSource(stored);
  const auto bytes = Fetch(*source, BlockFormatOf(info()), {.offset = 0, .size = pointer.size},
                           /*verify=*/false, max_judged_bytes_);
  if (!bytes.ok()) return found;
  found.size_bytes = bytes->size();
  // The keys of both trees are valid as keys of a value index.
  const auto node = IndexNode::Parse(*bytes, IndexKind::kValue, IndexKeyForm::kBytes, pointer,
                                     info().header_size_bytes);
  // When any ordinal is acceptable, test for an index node first: its checks are stronger. A node
  // without entries does not count, because a block of PLAIN values may end like one.
  if (!expected.exact && node.ok() && node->num_entries() > 0) {
    found.kind = Kind::kIndexNode;
    return found;
  }
  for (size_t form = 0; form < forms_.size(); ++form) {
    if (forms_[form].has_movable_blocks()) continue;
    if (!ReadRows(*bytes, forms_[form], expected, found).ok()) continue;
    forms_ = {FileInfo(forms_[form])};
    return found;
  }
  found = {.pointer = pointer, .size_bytes = bytes->size()};
  if (node.ok()) {
    found.kind = Kind::kIndexNode;
  } else if ((expected.exact || bytes->size() <= kMostUncertainDictionaryBytes) &&
             IsDictionary(*bytes)) {
    found.kind = Kind::kDictionary;
  } else if (expected.exact && IsStatistics(*bytes, expected)) {
    found.kind = Kind::kStatistics;
  }
  return found;
}

std::optional<FoundBlock> BlockJudge::WholeBlock(const BlockPointer& pointer,
                                                 std::span<const uint8_t> head) const {
  if (!forms_.back().has_movable_blocks()) return std::nullopt;
  const auto parsed = ParseBlockHead(head, /*verify=*/false);
  if (!parsed.ok() || parsed->size_bytes() != head.size() ||
      parsed->unpacked_bytes() > max_judged_bytes_) {
    return std::nullopt;
  }
  return FoundBlock{
      .kind = FoundBlock::Kind::kLost,
      .pointer = {.offset = pointer.offset, .size = static_cast<uint32_t>(parsed->stored_bytes())},
      .encoding = parsed->encoding,
      .first_ordinal = parsed->first_ordinal,
      .num_rows = parsed->num_rows,
      .num_entries = parsed->num_entries};
}

FoundBlock BlockJudge::JudgeMovable(const Source& source, const FoundBlock& whole,
                                    const ExpectedRows& expected, uint64_t end,
                                    uint64_t& cost_bytes) {
  const BlockPointer& pointer = whole.pointer;
  FoundBlock found{.pointer = pointer};
  // The bytes look like a head. They may be inside a value, unless the form of the file is known.
  const bool known =
      info().has_movable_blocks() && whole.num_rows > 0 && CheckRows(whole, expected).ok();
  if (pointer.end() > end) {
    if (!known || !expected.exact) return found;
    found = whole;
    found.pointer.size = static_cast<uint32_t>(end - pointer.offset);
    return found;
  }
  const FileInfo form = forms_.back();
  cost_bytes = pointer.size;
  rows_bytes_ = 0;
  const auto bytes =
      Fetch(source, DataBlockFormatOf(form), pointer, /*verify=*/true, max_judged_bytes_);
  if (!bytes.ok()) return known && absl::IsDataLoss(bytes.status()) ? whole : found;
  cost_bytes += bytes->size();
  const bool read = ReadRows(*bytes, form, expected, found).ok();
  cost_bytes += rows_bytes_;
  if (!read) return {.pointer = pointer};
  const auto block = SplitMovableBlock(*bytes);
  found.size_bytes = block.ok() ? block->head.unpacked_bytes() : 0;
  forms_ = {form};
  return found;
}

bool BlockJudge::IsStatistics(std::span<const uint8_t> bytes, const ExpectedRows& expected) {
  FileInfo whole = info();
  whole.num_rows = expected.first_ordinal;
  if (whole.num_entries) whole.num_entries = expected.entries_before;
  return ParseStatistics(bytes, whole).ok();
}

bool BlockJudge::IsDictionary(std::span<const uint8_t> bytes) {
  if (!codes_encoding_) return false;
  const ColumnType& type = info().type;
  auto dictionary = encodings::LoadDictionary(*codes_encoding_, type.physical(), type.type_length,
                                              bytes, max_dictionary_values_);
  if (!dictionary.ok()) return false;
  if (dictionary_ == nullptr) SetDictionary(*std::move(dictionary));
  return true;
}

absl::Status BlockJudge::ReadRows(std::span<const uint8_t> bytes, const FileInfo& form,
                                  const ExpectedRows& expected, FoundBlock& found) {
  absl::Status status = form.has_levels() ? ReadAll(*records_, bytes, form, expected, found)
                                          : ReadAll(*rows_, bytes, form, expected, found);
  if (status.ok()) {
    found.kind = FoundBlock::Kind::kData;
  } else if (dictionary_ == nullptr && CheckCodes(bytes, form, expected, found).ok()) {
    found.kind = FoundBlock::Kind::kCodes;
    return absl::OkStatus();
  }
  return status;
}

template <typename Cursor>
absl::Status BlockJudge::ReadAll(Cursor& cursor, std::span<const uint8_t> bytes,
                                 const FileInfo& form, const ExpectedRows& expected,
                                 FoundBlock& found) {
  CFILE_RETURN_IF_ERROR(cursor.Open(bytes, form, std::nullopt));
  found.encoding = cursor.encoding();
  found.first_ordinal = cursor.first_ordinal();
  found.num_rows = cursor.num_rows();
  found.num_entries = cursor.num_entries();
  CFILE_RETURN_IF_ERROR(CheckRows(found, expected));
  const encodings::Lane lane = encodings::LaneOf(form.type.physical());
  absl::Status status = VisitBatches(cursor, [&](const auto& batch) {
    // Strings that share a prefix may have more bytes than the block.
    if (lane == encodings::Lane::kBytes)
      rows_bytes_ += encodings::OwnBytes(batch.template As<std::string_view>().values);
    return absl::OkStatus();
  });
  const size_t width = encodings::WidthOf(lane);
  // It is not known how many entries of records were decoded, so all entries count.
  rows_bytes_ +=
      form.has_levels() ? found.num_entries * (width + 2 * sizeof(uint16_t)) : cursor.row() * width;
  return status;
}

absl::Status BlockJudge::CheckCodes(std::span<const uint8_t> bytes, const FileInfo& form,
                                    const ExpectedRows& expected, FoundBlock& found) {
  CFILE_ASSIGN_OR_RETURN(const LevelBlock parts, ParseLevelBlock(bytes, form));
  const DataBlock& block = parts.values;
  const encodings::EncodingRow* row = encodings::FindEncoding(block.encoding);
  if (row == nullptr || !row->has_dictionary || !row->Supports(form.type.physical()))
    return DataLoss("the block needs no dictionary");
  encodings::BlockView values(block.values);
  values.count = block.present_count.value_or(0);
  values.first_ordinal = block.body_ordinal;
  // Kudu's blocks have the number of their values themselves.
  const bool counted = static_cast<uint32_t>(block.encoding) >= encodings::kFirstExtendedNumber;
  const auto check = [&] { return encodings::CheckWithoutDictionary(block.encoding, values); };
  const absl::Status codes = counted ? absl::OkStatus() : check();
  const uint32_t count = values.count;
  rows_bytes_ += uint64_t{count} * sizeof(uint32_t);
  CFILE_RETURN_IF_ERROR(codes);
  const bool flat = !form.has_levels() && !form.nullable;
  found.encoding = block.encoding;
  found.first_ordinal = block.first_ordinal.value_or(values.first_ordinal);
  found.num_rows = flat ? count : parts.num_records;
  found.num_entries = flat ? count : parts.num_entries;
  if (found.num_rows == 0 || count > found.num_entries) return DataLoss("a data block has no rows");
  CFILE_RETURN_IF_ERROR(CheckRows(found, expected));
  if (counted) CFILE_RETURN_IF_ERROR(check());
  codes_encoding_ = block.encoding;
  return absl::OkStatus();
}

}  // namespace cfile::internal
