#include "encodings/parquet/parquet_group_varint.h"

#include <algorithm>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "encodings/core/assert.h"
#include "encodings/core/status.h"
#include "encodings/kernels/group_varint.h"

namespace cfile::encodings {
namespace {

template <typename P>
inline constexpr uint32_t kGroupValues = sizeof(P) == 4 ? uint32_t{kGroupVarint32Values}
                                                        : uint32_t{kGroupVarint64Values};
// Bytes of the smallest group: a selector and one byte per value.
template <typename P>
inline constexpr size_t kMinGroupBytes = sizeof(P) == 4 ? 5 : 7;
// Groups between two checkpoints.
constexpr uint32_t kCheckpointGroups = 64;

template <typename P>
class GroupPageEncoder final : public PageEncoder<P> {
 public:
  void Encode(std::span<const P> values, EncodedBlock& block) override {
    if constexpr (sizeof(P) == 4) {
      PutGroupVarint32({reinterpret_cast<const uint32_t*>(values.data()), values.size()},
                       block.bytes);
    } else {
      PutGroupVarint64({reinterpret_cast<const uint64_t*>(values.data()), values.size()},
                       block.bytes);
    }
  }
};

// The position of a decoder.
template <typename U>
struct GroupState {
  ByteReader reader_;  // at group next_group_
  uint32_t next_group_ = 0;
  bool have_group_ = false;   // always true if position_ is inside a group
  U group_[kGroupValues<U>];  // if have_group_: values of the group before next_group_
};

template <typename P>
class GroupPageDecoder final : public BlockDecoder<P>, private GroupState<std::make_unsigned_t<P>> {
 public:
  absl::Status Open(const BlockView& block) override {
    this->count_ = this->position_ = 0;
    checkpoints_.clear();
    // A page has less than 2^31 bytes, so bytes after the first 2^32 - 1 are not part of it.
    bytes_ = block.bytes.first(
        std::min<size_t>(block.bytes.size(), std::numeric_limits<uint32_t>::max()));
    GoToByte(0, 0);
    const uint64_t groups = GroupsOf(block.count);
    if (groups > bytes_.size() / kMinGroupBytes<P>) {
      return DataLoss("parquet-group-varint: the groups of ", block.count, " values take ",
                      groups * kMinGroupBytes<P>, " bytes or more, found ", bytes_.size());
    }
    this->count_ = block.count;
    this->first_ordinal_ = block.first_ordinal;
    return absl::OkStatus();
  }

  absl::Status SeekTo(uint32_t position) override {
    CFILE_ASSERT(position <= this->count_);
    const uint32_t group = position / kValues;
    const bool here =
        position % kValues == 0 ? group == next_group_ : have_group_ && group + 1 == next_group_;
    if (!here) {
      absl::Status status = GoToGroup(group);
      if (status.ok() && position % kValues != 0) status = DecodeGroup();
      if (!status.ok()) {  // back to the page's beginning
        GoToByte(0, 0);
        this->position_ = 0;
        return status;
      }
    }
    this->position_ = position;
    return absl::OkStatus();
  }

  absl::StatusOr<size_t> Read(std::span<P> out) override {
    const size_t n = this->Left(out.size());
    const State before = static_cast<const State&>(*this);
    if (const absl::Status status = ReadAll(out.first(n)); !status.ok()) {
      static_cast<State&>(*this) = before;
      return status;
    }
    this->position_ += static_cast<uint32_t>(n);
    return n;
  }

  absl::StatusOr<LowerBound> SeekToKey(const P& key) override {
    return SeekToKeyByReading<P>(*this, key);
  }

 private:
  using U = std::make_unsigned_t<P>;
  using State = GroupState<U>;
  using State::group_;
  using State::have_group_;
  using State::next_group_;
  using State::reader_;
  static constexpr uint32_t kValues = kGroupValues<P>;

  static uint32_t GroupsOf(uint32_t count) { return count / kValues + (count % kValues != 0); }

  absl::Status ReadAll(std::span<P> out) {
    P* next = out.data();
    P* const end = next + out.size();
    const auto copy = [&](uint32_t from) {
      const size_t taken = std::min<size_t>(kValues - from, static_cast<size_t>(end - next));
      for (size_t i = 0; i < taken; ++i) *next++ = static_cast<P>(group_[from + i]);
    };
    if (this->position_ % kValues != 0) copy(this->position_ % kValues);
    if (const size_t whole = static_cast<size_t>(end - next) / kValues; whole > 0) {
      CFILE_RETURN_IF_ERROR(DecodeGroups(whole, reinterpret_cast<U*>(next)));
      have_group_ = false;
      next += whole * kValues;
    }
    if (next == end) return absl::OkStatus();
    CFILE_RETURN_IF_ERROR(DecodeGroup());
    copy(0);
    return absl::OkStatus();
  }

  absl::Status DecodeGroup() {
    CFILE_RETURN_IF_ERROR(DecodeGroups(1, group_));
    have_group_ = true;
    return absl::OkStatus();
  }

  absl::Status DecodeGroups(size_t groups, U* out) {
    bool good;
    if constexpr (sizeof(P) == 4) {
      good = ReadGroupVarint32(reader_, groups, out);
    } else {
      good = ReadGroupVarint64(reader_, groups, out);
    }
    if (!good) return Truncated(next_group_, groups);
    next_group_ += static_cast<uint32_t>(groups);
    return absl::OkStatus();
  }

  absl::Status SkipGroups(uint32_t groups) {
    bool good;
    if constexpr (sizeof(P) == 4) {
      good = SkipGroupVarint32(reader_, groups);
    } else {
      good = SkipGroupVarint64(reader_, groups);
    }
    if (!good) return Truncated(next_group_, groups);
    next_group_ += groups;
    return absl::OkStatus();
  }

  absl::Status Truncated(uint32_t first, size_t groups) const {
    return DataLoss("parquet-group-varint: groups ", first, " to ", first + groups - 1, " at byte ",
                    reader_.offset(), ": the page of ", bytes_.size(), " bytes ends within them");
  }

  // Moves reader_ to group `group`. The first call makes checkpoints of all groups.
  absl::Status GoToGroup(uint32_t group) {
    if (checkpoints_.empty()) {
      GoToByte(0, 0);
      std::vector<uint32_t> checkpoints = {0};
      const uint32_t groups = GroupsOf(this->count_);
      while (groups - next_group_ > kCheckpointGroups) {
        CFILE_RETURN_IF_ERROR(SkipGroups(kCheckpointGroups));
        checkpoints.push_back(static_cast<uint32_t>(reader_.offset()));
      }
      checkpoints_ = std::move(checkpoints);
    }
    const uint32_t checkpoint =
        std::min(group / kCheckpointGroups, static_cast<uint32_t>(checkpoints_.size() - 1));
    GoToByte(checkpoints_[checkpoint], checkpoint * kCheckpointGroups);
    return SkipGroups(group - next_group_);
  }

  void GoToByte(size_t offset, uint32_t group) {
    reader_ = ByteReader(bytes_);
    const bool inside = reader_.Skip(offset);
    CFILE_ASSERT(inside);
    (void)inside;
    next_group_ = group;
    have_group_ = false;
  }

  std::span<const uint8_t> bytes_;
  std::vector<uint32_t> checkpoints_;  // offset of every kCheckpointGroups-th group
};

}  // namespace

template <typename P>
std::unique_ptr<PageEncoder<P>> ParquetGroupVarintCodec::MakePageEncoder(
    const EncoderOptions& /*options*/) {
  return std::make_unique<GroupPageEncoder<P>>();
}

template <typename P>
std::unique_ptr<BlockDecoder<P>> ParquetGroupVarintCodec::MakePageDecoder(
    const DecoderOptions& /*options*/) {
  return std::make_unique<GroupPageDecoder<P>>();
}

absl::Status ParquetGroupVarintCodec::Describe(PhysicalType type, const DecoderOptions& /*options*/,
                                               const BlockView& block,
                                               BlockDescription& description) {
  const bool wide = type == PhysicalType::kInt64 || type == PhysicalType::kUint64;
  const size_t values = wide ? kGroupVarint64Values : kGroupVarint32Values;
  const size_t groups = block.count / values + (block.count % values != 0);
  ByteReader& reader = description.reader();
  const auto skip = [&](size_t count) {
    return wide ? SkipGroupVarint64(reader, count) : SkipGroupVarint32(reader, count);
  };
  const auto cut_off = [&] { return DataLoss("the page ends within its ", groups, " groups"); };
  size_t group = 0;
  for (; group < groups && !description.full(); ++group) {
    if (!skip(1)) return cut_off();
    const size_t first = group * values;
    description.Add("group", StrCat("values ", first, " to ",
                                    std::min<size_t>(first + values, block.count) - 1));
  }
  if (group == groups) return absl::OkStatus();
  if (!skip(groups - group)) return cut_off();
  description.Add("further groups", StrCat(groups - group, " groups of ", values, " values"));
  return absl::OkStatus();
}

CFILE_INSTANTIATE_PAGE_ENCODER(ParquetGroupVarintCodec, int32_t)
CFILE_INSTANTIATE_PAGE_ENCODER(ParquetGroupVarintCodec, int64_t)
CFILE_INSTANTIATE_PAGE_DECODER(ParquetGroupVarintCodec, int32_t)
CFILE_INSTANTIATE_PAGE_DECODER(ParquetGroupVarintCodec, int64_t)

}  // namespace cfile::encodings
