#include "encodings/kudu/prefix.h"

#include <cstring>
#include <string>
#include <vector>

#include "encodings/core/assert.h"
#include "encodings/core/bytes.h"
#include "encodings/core/compare_bytes.h"
#include "encodings/core/status.h"
#include "encodings/kernels/group_varint.h"
#include "encodings/kudu/prefix_decoder.h"

namespace cfile::encodings {
namespace {

// A value adds at most this many bytes to a block in addition to its own bytes: two vints and a
// restart offset.
constexpr size_t kPrefixEntryBytes = 2 * 5 + 4;

class PrefixEncoder final : public BlockEncoder<std::string_view> {
 public:
  explicit PrefixEncoder(const EncoderOptions& options)
      : block_size_bytes_(options.block_size_bytes),
        max_block_size_bytes_(options.max_block_size_bytes),
        piece_bytes_(options.piece_bytes),
        restart_interval_(options.restart_interval) {
    CFILE_ASSERT(restart_interval_ > 0);
  }

  size_t Append(std::span<const std::string_view> values) override {
    std::string_view previous = previous_;
    size_t taken = 0;
    while (taken < values.size() && !full()) {
      const std::string_view value = values[taken];
      if (size_bytes() + value.size() + kPrefixEntryBytes > max_block_size_bytes_ && count_ > 0) {
        has_room_ = false;
        break;
      }
      ++taken;
      if (until_restart_ == 0) {
        // Restart offsets are counted from the first entry. Finish adds the length of the header.
        if (count_ > 0) restarts_.PutFixed(static_cast<uint32_t>(entries_.size()));
        if (piece_bytes_ > 0 &&
            (count_ == 0 || entries_.size() - pieces_.back().begin >= piece_bytes_))
          BeginPiece(previous, value);
        until_restart_ = restart_interval_;
        PutEntry(0, value);
      } else {
        PutEntry(CommonPrefix(previous, value), value);
      }
      --until_restart_;
      ++count_;
      previous = value;
    }
    if (taken > 0) previous_.assign(previous);
    return taken;
  }

  // As in Kudu, the size is checked before each value, and header and restart offsets do not count.
  bool full() const override { return entries_.size() > block_size_bytes_ || !has_room_; }
  uint32_t count() const override { return count_; }
  size_t size_bytes() const override {
    return kMaxGroupVarint32Bytes + entries_.size() + restarts_.size() + sizeof(uint32_t);
  }

  void Finish(uint64_t first_ordinal, EncodedBlock& block) override {
    ByteWriter& out = block.bytes;
    block.Clear();
    const uint32_t header[] = {count_, static_cast<uint32_t>(first_ordinal), restart_interval_, 0};
    PutGroupVarint32(header, out);
    const auto header_bytes = static_cast<uint32_t>(out.size());
    out.Reserve(header_bytes + entries_.size() + restarts_.size() + sizeof(uint32_t));
    out.PutBytes(entries_.span());
    const size_t num_restarts = restarts_.size() / sizeof(uint32_t);
    for (size_t i = 0; i < num_restarts; ++i) {
      out.PutFixed(header_bytes + LoadLittleEndian<uint32_t>(restarts_.data() + 4 * i));
    }
    out.PutFixed(static_cast<uint32_t>(num_restarts));
    block.count = count_;
    FinishPieces(header_bytes, block.pieces);
    entries_.Clear();
    restarts_.Clear();
    previous_.clear();
    count_ = until_restart_ = 0;
    has_room_ = true;
  }

 private:
  // Begins a piece at the restart point of `value`, which is the next entry. Until Finish, `count`
  // of a piece is the number of the values before it, and `begin` counts from the first entry.
  void BeginPiece(std::string_view previous, std::string_view value) {
    BlockPiece& piece = pieces_.emplace_back();
    piece.count = count_;
    piece.begin = static_cast<uint32_t>(entries_.size());
    if (count_ > 0) piece.key = value.substr(0, CommonPrefix(previous, value) + 1);
  }

  // Moves the pieces to `out`. As a block, a piece has no restart points besides its first value:
  // its restart interval is its count.
  void FinishPieces(uint32_t header_bytes, std::vector<BlockPiece>& out) {
    for (size_t i = 0; i < pieces_.size() && pieces_.size() > 1; ++i) {
      BlockPiece& piece = pieces_[i];
      const bool last = i + 1 == pieces_.size();
      piece.count = (last ? count_ : pieces_[i + 1].count) - piece.count;
      const size_t end = last ? entries_.size() : pieces_[i + 1].begin;
      piece.size_bytes = static_cast<uint32_t>(end) - piece.begin;
      piece.begin += header_bytes;
      ByteWriter front;
      const uint32_t header[] = {piece.count, 0, piece.count, 0};
      PutGroupVarint32(header, front);
      piece.front = front.view();
      piece.back.assign(sizeof(uint32_t), '\0');
    }
    if (pieces_.size() > 1) out.swap(pieces_);
    pieces_.clear();
  }

  void PutEntry(size_t shared, std::string_view value) {
    CFILE_ASSERT(value.size() <= UINT32_MAX);
    const size_t unshared = value.size() - shared;
    const uint8_t* suffix = AsBytes(value).data() + shared;
    if ((shared | unshared) >= 0x80) {
      entries_.PutVint(shared);
      entries_.PutVint(unshared);
      entries_.PutBytes({suffix, unshared});
      return;
    }
    const size_t begin = entries_.size();
    uint8_t* out = entries_.Extend(2 + unshared + sizeof(uint64_t));
    StoreLittleEndian(static_cast<uint16_t>(shared | unshared << 8), out);
    if (unshared - 1 < sizeof(uint64_t) && value.size() >= sizeof(uint64_t)) {
      // Loads the last 8 bytes of the value and shifts them down to the suffix. This avoids a call
      // of memcpy for a few bytes.
      const auto last = LoadLittleEndian<uint64_t>(suffix + unshared - sizeof(uint64_t));
      StoreLittleEndian(last >> (64 - 8 * unshared), out + 2);
    } else if (unshared > 0) {
      std::memcpy(out + 2, suffix, unshared);
    }
    entries_.Truncate(begin + 2 + unshared);
  }

  const size_t block_size_bytes_;
  const size_t max_block_size_bytes_;
  const size_t piece_bytes_;
  const uint32_t restart_interval_;
  ByteWriter entries_;
  ByteWriter restarts_;
  std::vector<BlockPiece> pieces_;
  std::string previous_;  // the last value of the previous Append
  uint32_t count_ = 0;
  uint32_t until_restart_ = 0;
  bool has_room_ = true;  // false: the next value does not fit into this block
};

}  // namespace

template <typename T>
std::unique_ptr<BlockEncoder<T>> PrefixCodec::MakeEncoder(PhysicalType /*type*/,
                                                          const EncoderOptions& options) {
  return std::make_unique<PrefixEncoder>(options);
}
CFILE_INSTANTIATE_ENCODER(PrefixCodec, std::string_view)

template <typename T>
std::unique_ptr<BlockDecoder<T>> PrefixCodec::MakeDecoder(PhysicalType /*type*/,
                                                          const DecoderOptions& /*options*/) {
  return std::make_unique<PrefixDecoder>();
}
CFILE_INSTANTIATE_DECODER(PrefixCodec, std::string_view)

absl::Status PrefixCodec::Describe(PhysicalType /*type*/, const DecoderOptions& /*options*/,
                                   const BlockView& /*block*/, BlockDescription& description) {
  ByteReader& reader = description.reader();
  uint32_t header[4];
  if (!ReadGroupVarint32(reader, 1, header)) return DataLoss("the header is cut off");
  description.Add("header", StrCat("count ", header[0], ", first ordinal ", header[1],
                                   ", restart interval ", header[2]));
  const std::span<const uint8_t> rest = reader.rest();
  uint32_t restarts = 0;
  if (rest.size() >= sizeof(restarts))
    restarts = LoadLittleEndian<uint32_t>(rest.data() + rest.size() - sizeof(restarts));
  const uint64_t tail = sizeof(restarts) * (uint64_t{restarts} + 1);
  if (tail > rest.size()) {
    return DataLoss(restarts, " restart offsets and their number take ", tail, " bytes, found ",
                    rest.size());
  }
  ByteReader entries(rest.first(rest.size() - static_cast<size_t>(tail)));
  uint32_t entry = 0;
  for (; entry < header[0] && !description.full(); ++entry) {
    const size_t begin = entries.offset();
    uint32_t shared, unshared;
    if (!entries.ReadVint32(shared) || !entries.ReadVint32(unshared) || !entries.Skip(unshared))
      return DataLoss("value ", entry, " at byte ", reader.offset(), " is cut off");
    CFILE_RETURN_IF_ERROR(description.AddBytes(entries.offset() - begin, "value",
                                               StrCat("shared ", shared, ", unshared ", unshared)));
  }
  CFILE_RETURN_IF_ERROR(description.AddBytes(
      entries.remaining(), entry < header[0] ? "further values" : "bytes after the last value"));
  CFILE_RETURN_IF_ERROR(description.AddNumbers<uint32_t>(restarts, "restart offsets"));
  return description.AddFixed32("number of restart offsets").status();
}

}  // namespace cfile::encodings
