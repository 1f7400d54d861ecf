#include "cfile/core/format/statistics_block.h"

#include <algorithm>
#include <limits>
#include <type_traits>
#include <utility>

#include "cfile/core/format/crc32c.h"
#include "cfile/core/format/key_codec.h"
#include "cfile/core/format/writer_choices.h"
#include "cfile/core/wire/field_reader.h"
#include "cfile/core/wire/parse_message.h"
#include "cfile/core/wire/write_message.h"
#include "encodings/core/assert.h"
#include "encodings/core/bytes.h"
#include "encodings/core/physical_type.h"
#include "encodings/core/status.h"

namespace cfile {

template <typename T, typename>
std::optional<Owned<T>> BlockStatistics::Min() const {
  Owned<T> value{};
  if constexpr (!std::is_same_v<T, Int96>) {
    if (min_key && internal::ParseKey<T>(*min_key, value)) return value;
  }
  return std::nullopt;
}

template <typename T, typename>
std::optional<Owned<T>> BlockStatistics::Max() const {
  Owned<T> value{};
  if constexpr (!std::is_same_v<T, Int96>) {
    if (max_key && internal::ParseKey<T>(*max_key, value)) return value;
  }
  return std::nullopt;
}

template <typename T, typename>
bool FileStatistics::MightContain(const T& value) const {
  return bloom_filter.empty() ||
         internal::BloomMightContain(bloom_filter, internal::BloomHash(value));
}

#define CFILE_INSTANTIATE(T)                                        \
  template std::optional<Owned<T>> BlockStatistics::Min<T>() const; \
  template std::optional<Owned<T>> BlockStatistics::Max<T>() const; \
  template bool FileStatistics::MightContain<T>(const T&) const;
CFILE_FOR_EACH_VALUE_TYPE(CFILE_INSTANTIATE)
#undef CFILE_INSTANTIATE

namespace internal {
namespace {

// True if all values within the bounds of `inner` are within those of `outer`, as far as both have
// bounds.
bool Encloses(const BlockStatistics& outer, const BlockStatistics& inner) {
  return !(outer.min_key && inner.min_key && *outer.min_key > *inner.min_key) &&
         !(outer.max_key && inner.max_key && *outer.max_key < *inner.max_key);
}

}  // namespace

bool IsBound(const std::string& key, const ColumnType& type) {
  return encodings::VisitPhysicalType(type.physical(), [&]<typename T>(std::type_identity<T>) {
    if constexpr (std::is_same_v<T, Int96>) {
      return false;
    } else {
      if constexpr (encodings::kIsBytes<T>) {
        if (key.size() > kMaxBoundBytes) return false;
        // Bounds that are short enough are not cut.
        if (type.type_length > 0 && type.type_length <= kMaxBoundBytes)
          return key.size() == type.type_length;
      }
      Owned<T> value{};
      return ParseKey<T>(key, value);
    }
  });
}

wire::BlockStatistics ToMessage(const BlockStatistics& statistics) {
  wire::BlockStatistics message{.present_count = statistics.present_count,
                                .min_key = statistics.min_key,
                                .max_key = statistics.max_key};
  if (statistics.null_count > 0) message.null_count = statistics.null_count;
  if (statistics.nan_count > 0) message.nan_count = statistics.nan_count;
  if (!statistics.min_exact) message.min_inexact = true;
  if (!statistics.max_exact) message.max_inexact = true;
  return message;
}

absl::StatusOr<BlockStatistics> FromMessage(const wire::BlockStatistics& message,
                                            const ColumnType& type) {
  BlockStatistics result{.present_count = message.present_count.value_or(0),
                         .null_count = message.null_count.value_or(0),
                         .nan_count = message.nan_count.value_or(0),
                         .min_exact = !message.min_inexact.value_or(false),
                         .max_exact = !message.max_inexact.value_or(false)};
  constexpr uint64_t kMaxCount = std::numeric_limits<int64_t>::max();
  const bool is_float =
      type.physical() == PhysicalType::kFloat || type.physical() == PhysicalType::kDouble;
  if (result.present_count > kMaxCount || result.null_count > kMaxCount ||
      result.nan_count > (is_float ? result.present_count : 0)) {
    return DataLoss("the counts are impossible: ", result.present_count, " present values, ",
                    result.null_count, " nulls, ", result.nan_count, " NaN");
  }
  if (message.min_key) result.min_key = *message.min_key;
  if (message.max_key) result.max_key = *message.max_key;
  const bool bounded = result.min_key || result.max_key;
  if (bounded && result.present_count == result.nan_count)
    return DataLoss("they have a minimum or maximum, but no present values");
  if ((result.min_key && !IsBound(*result.min_key, type)) ||
      (result.max_key && !IsBound(*result.max_key, type))) {
    return DataLoss("the minimum or maximum is not a value of type ", type.ToString());
  }
  if (result.min_key && result.max_key && *result.min_key > *result.max_key)
    return DataLoss("the minimum is above the maximum");
  return result;
}

StatisticsWriter::StatisticsWriter(PhysicalType type, const WriterOptions& options)
    : type_(type),
      enabled_(HasStatistics(options)),
      ascending_(options.value_index),
      max_block_size_bytes_(options.max_block_size_bytes),
      block_(AnySummary::Create(type)),
      added_(AnySummary::Create(type)),
      file_(AnySummary::Create(type)) {
  if (enabled_ && options.bloom_filter_bits_per_value > 0 && type != PhysicalType::kBool)
    bloom_.emplace(options.bloom_filter_bits_per_value, options.max_bloom_filter_bytes);
}

void StatisticsWriter::Add(encodings::ValueSpan values) {
  if (!enabled_) return;
  if (ascending_) {
    block_->AddAscending(values);
  } else {
    block_->AddAny(values);
  }
  if (!bloom_) return;
  encodings::VisitPhysicalType(
      type_, [&]<typename T>(std::type_identity<T>) { bloom_->AddValues(values.As<T>()); });
}

void StatisticsWriter::FinishBlock(uint64_t num_entries) {
  if (!enabled_) return;
  const uint64_t null_count = num_entries - block_->present_count();
  if (!blocks_dropped_) {
    const BlockStatistics statistics = block_->Statistics(null_count);
    wire::Statistics message;
    message.blocks.push_back(ToMessage(statistics));
    AddEntry(wire::Serialize(message));
  }
  file_->Merge(*block_);
  null_count_ += null_count;
  block_->Clear();
}

void StatisticsWriter::AddBlock(const BlockStatistics& statistics) {
  if (!enabled_) return;
  const bool set = block_->Set(statistics);
  CFILE_ASSERT(set);
  FinishBlock(statistics.num_entries());
}

bool StatisticsWriter::CanAddBlock(const BlockStatistics* statistics) const {
  if (!enabled_) return true;
  return statistics != nullptr && added_->Set(*statistics);
}

void StatisticsWriter::AddEntry(std::string_view entry) {
  const size_t limit = max_block_size_bytes_ / 2;
  const size_t size = blocks_.size() + entry.size();
  if (size > limit) {
    blocks_dropped_ = true;
    blocks_ = {};
    return;
  }
  // Double the capacity, but do not exceed the limit.
  if (size > blocks_.capacity())
    blocks_.reserve(std::min(std::max(size, 2 * blocks_.size()), limit));
  blocks_.append(entry);
}

absl::StatusOr<StatisticsBytes> StatisticsWriter::Finish() {
  StatisticsBytes result;
  if (!enabled_) return result;
  const BlockStatistics file = file_statistics();
  wire::Statistics rest;
  wire::Mutable(rest.file) = ToMessage(file);
  // The fields of a message may have any order, so the entries in blocks_ and the fields of `rest`
  // together are one valid message.
  blocks_ += wire::Serialize(rest);
  // If the statistics exceed max_block_size_bytes, the file gets no statistics. This happens only
  // with a very small limit.
  if (blocks_.size() <= max_block_size_bytes_) result.message = std::move(blocks_);
  if (!bloom_) return result;
  if (result.message.empty()) {
    return OutOfRange("the statistics, without which no Bloom filter can be written, are ",
                      AboveLimit(max_block_size_bytes_, "max_block_size_bytes"));
  }
  CFILE_RETURN_IF_ERROR(bloom_->Finish());
  result.bloom_filter = bloom_->filter();
  result.bloom_info = bloom_->info();
  // Append only the tag and the length of the last field. The field's bytes, the Bloom filter, are
  // stored after the message without being copied into it.
  encodings::ByteWriter field;
  field.PutVint(wire::MakeTag(wire::Statistics::kBloomFilterNumber, wire::WireType::kDelimited));
  field.PutVint(result.bloom_filter.size());
  result.message.append(field.view());
  return result;
}

namespace {

using encodings::AsString;

// The fewest bytes that a data block takes in a file, including its index entry.
constexpr uint64_t kLeastBytesOfABlock = 16;

// Calls visit(number, field) for each field of a wire::Statistics. All fields are messages or
// bytes.
template <typename Visit>
absl::Status VisitFields(std::span<const uint8_t> bytes, const Visit& visit) {
  wire::FieldReader reader(AsString(bytes));
  while (!reader.at_end()) {
    uint32_t tag = 0;
    std::string_view field;
    uint64_t memory_bytes = 0;  // not used: skipped fields are not kept
    bool sound = reader.ReadTag(tag);
    const bool ours = sound && wire::WireTypeOf(tag) == wire::WireType::kDelimited;
    if (sound) sound = ours ? reader.ReadDelimited(field) : reader.Skip(tag, 1, memory_bytes);
    if (!sound) {
      return DataLoss("statistics: the message does not parse at byte ",
                      reader.position() - AsString(bytes).data());
    }
    if (ours) CFILE_RETURN_IF_ERROR(visit(wire::NumberOf(tag), field));
  }
  return absl::OkStatus();
}

}  // namespace

uint64_t StatisticsLimit(const ReaderOptions& options) {
  // Blocks have less than 2^32 bytes, so larger limits have the same effect.
  constexpr uint64_t kNone = std::numeric_limits<uint32_t>::max();
  return std::min<uint64_t>(options.max_block_size_bytes, kNone) +
         std::min<uint64_t>(options.max_bloom_filter_bytes, kNone);
}

void DescribeBloomFilter(const BloomFilterInfo& filter, wire::Extensions& extensions) {
  extensions.bloom_filter_size_bytes = filter.size_bytes;
  extensions.bloom_filter_distinct_values = filter.distinct_values;
}

absl::Status InterpretStatistics(const wire::Extensions& extensions, const ReaderOptions& options,
                                 FileInfo& info) {
  const uint64_t limit = StatisticsLimit(options);
  // If the file has a codec, the block's size before compression is stored before the block.
  const uint64_t most_beside =
      kChecksumBytes + (info.compression == Compression::kNone ? 0 : sizeof(uint32_t));
  info.statistics_above_limit = info.statistics->size > limit + most_beside;
  if (!extensions.bloom_filter_size_bytes) return absl::OkStatus();
  const uint64_t size = *extensions.bloom_filter_size_bytes;
  if (size == 0 || size % kBloomBlockBytes != 0) {
    return DataLoss("a Bloom filter of ", size, " bytes, expected a multiple of ",
                    kBloomBlockBytes);
  }
  info.bloom_filter = {.size_bytes = size,
                       .distinct_values = extensions.bloom_filter_distinct_values.value_or(0)};
  info.statistics_above_limit |= size > limit;
  return absl::OkStatus();
}

absl::StatusOr<FileStatistics> ParseStatistics(std::span<const uint8_t> bytes,
                                               const FileInfo& info) {
  // Parse the message field by field: an entry of two bytes must not take hundreds of bytes of
  // memory before it is checked.
  std::string_view of_file, bloom_filter;
  CFILE_RETURN_IF_ERROR(VisitFields(bytes, [&](uint32_t number, std::string_view field) {
    if (number == wire::Statistics::kFileNumber) of_file = field;
    if (number == wire::Statistics::kBloomFilterNumber) bloom_filter = field;
    return absl::OkStatus();
  }));
  wire::BlockStatistics entry;
  const auto parse = [&entry](std::string_view field) {
    constexpr uint64_t kLeast = 64;  // small messages take more memory in relation to their size
    return wire::ParseMessage(field, field.size() + kLeast, entry).ok()
               ? absl::OkStatus()
               : DataLoss("the message does not parse");
  };
  const auto fault = [](const absl::Status& status, const auto&... whose) {
    return DataLoss("statistics of ", whose..., ": ", std::string(status.message()));
  };
  FileStatistics result;
  if (absl::Status parsed = parse(of_file); !parsed.ok()) return fault(parsed, "the file");
  auto file = FromMessage(entry, info.type);
  if (!file.ok()) return fault(file.status(), "the file");
  result.file = *std::move(file);
  const std::optional<uint64_t> num_entries =
      info.has_levels() ? info.num_entries : std::optional<uint64_t>(info.num_rows);
  if (num_entries && (result.file.present_count > *num_entries ||
                      *num_entries - result.file.present_count != result.file.null_count)) {
    return DataLoss("statistics of the file: ", result.file.present_count, " present values and ",
                    result.file.null_count, " nulls, the footer says ", *num_entries, " entries");
  }
  uint64_t present = 0, nulls = 0, nans = 0;
  const auto add_block = [&](uint32_t number, std::string_view field) -> absl::Status {
    if (number != wire::Statistics::kBlocksNumber) return absl::OkStatus();
    const size_t i = result.blocks.size();
    if (i >= info.file_size_bytes / kLeastBytesOfABlock) {
      return DataLoss("there are statistics of more than ", i, " blocks, but the file has ",
                      info.file_size_bytes, " bytes");
    }
    if (absl::Status parsed = parse(field); !parsed.ok()) return fault(parsed, "block ", i);
    auto block = FromMessage(entry, info.type);
    if (!block.ok()) return fault(block.status(), "block ", i);
    // Compare by subtraction: sums of numbers from the file could overflow.
    if (block->num_entries() == 0 || block->present_count > result.file.present_count - present ||
        block->null_count > result.file.null_count - nulls ||
        block->nan_count > result.file.nan_count - nans || !Encloses(result.file, *block)) {
      return DataLoss("statistics of block ", i, " do not fit those of the file");
    }
    present += block->present_count;
    nulls += block->null_count;
    nans += block->nan_count;
    result.blocks.push_back(*std::move(block));
    return absl::OkStatus();
  };
  CFILE_RETURN_IF_ERROR(VisitFields(bytes, add_block));
  if (!result.blocks.empty() &&
      (present != result.file.present_count || nulls != result.file.null_count ||
       nans != result.file.nan_count)) {
    return DataLoss("statistics: the blocks have ", present, " present values, ", nulls,
                    " nulls and ", nans, " NaN, the file ", result.file.present_count, ", ",
                    result.file.null_count, " and ", result.file.nan_count);
  }
  if (bloom_filter.size() % kBloomBlockBytes != 0) {
    return DataLoss("statistics: a Bloom filter of ", bloom_filter.size(),
                    " bytes, expected a multiple of ", kBloomBlockBytes);
  }
  if (info.bloom_filter && info.bloom_filter->size_bytes != bloom_filter.size()) {
    return DataLoss("statistics: a Bloom filter of ", bloom_filter.size(),
                    " bytes, the footer says ", info.bloom_filter->size_bytes);
  }
  result.bloom_filter = bloom_filter;
  return result;
}

}  // namespace internal
}  // namespace cfile
