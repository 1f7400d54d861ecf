// The decoder. (The encoder: delta_byte_array_encoder.cc.)
#include "encodings/parquet/delta_byte_array.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <type_traits>
#include <utility>

#include "encodings/core/assert.h"
#include "encodings/core/bytes.h"
#include "encodings/core/packed_strings.h"
#include "encodings/core/status.h"
#include "encodings/kernels/delta_byte_kernels.h"
#include "encodings/parquet/delta_binary_packed.h"
#include "encodings/parquet/delta_byte_array_places.h"
#include "encodings/parquet/delta_length_byte_array.h"

namespace cfile::encodings {
namespace {

constexpr size_t kPlaceBytes =
    kDeltaPlaceBytes<int32_t> + kDeltaLengthPlaceBytes + sizeof(uint32_t);
constexpr size_t kTableHeader = 2 * sizeof(uint32_t);
// The number of lengths that are read at a time.
constexpr size_t kLengths = 1024;

constexpr size_t kAhead = PackedStrings::kAhead;
static_assert(kAhead >= kMaxRebuiltBytes);

// Copies `size` bytes in steps of 16. May read and write up to 16 bytes more.
inline void CopyAhead(uint8_t* to, const uint8_t* from, size_t size) {
  size_t i = 0;
  do {
    CopyWide<16>(from + i, to + i);
    i += 16;
  } while (i < size);
}

// A buffer that the decoder owns. The kAhead bytes after its capacity are readable and may be
// overwritten.
struct Arena {
  std::unique_ptr<uint8_t[]> bytes;
  size_t capacity = 0;

  // Reallocates to `new_capacity` and keeps the first `kept` bytes.
  void Grow(size_t new_capacity, size_t kept) {
    std::unique_ptr<uint8_t[]> grown(new uint8_t[new_capacity + kAhead]);
    if (kept > 0) std::memcpy(grown.get(), bytes.get(), kept);
    bytes = std::move(grown);
    capacity = new_capacity;
  }
};

// A sink receives rebuilt values, back to back. ViewSink puts them into the decoder's buffer, and
// views of them into `out`. PackedSink appends them to a PackedStrings.
//
// The caller writes the next values at next(), which has room() bytes, and the end of each value,
// as an offset, to ends(), and then calls Add. next() has the offset offset().
class ViewSink {
 public:
  // Puts values after the first `used` bytes of the arena.
  ViewSink(Arena& arena, size_t used, std::string_view* out)
      : arena_(arena), used_(used), out_(out) {}

  uint8_t* next() const { return arena_.bytes.get() + used_; }
  size_t room() const { return arena_.capacity - used_; }
  uint32_t offset() const { return 0; }
  uint32_t* ends() { return ends_; }
  void Add(size_t values, size_t bytes) {
    const uint8_t* value = next();
    uint32_t begin = 0;
    for (size_t i = 0; i < values; ++i) {
      out_[i] = AsString({value + begin, ends_[i] - begin});
      begin = ends_[i];
    }
    out_ += values;
    used_ += bytes;
    handed_out_ = true;
  }
  void Expect(size_t /*values*/) {}
  // Makes room for one value of `size` bytes. Returns false if the value must wait for the next
  // call of Read.
  bool MakeRoom(size_t size) {
    if (size <= room()) return true;
    if (handed_out_) return false;
    arena_.Grow(used_ + size, used_);
    return true;
  }

 private:
  Arena& arena_;
  size_t used_;
  bool handed_out_ = false;  // views were handed out: the arena must not move
  std::string_view* out_;
  uint32_t ends_[kLengths];
};

class PackedSink {
 public:
  PackedSink(PackedStrings& out, size_t values)
      : out_(out), budget_(out), ends_(out.ReserveOffsets(values)) {}

  uint8_t* next() const { return next_; }
  size_t room() const { return room_; }
  uint32_t offset() const { return static_cast<uint32_t>(out_.data().size()); }
  uint32_t* ends() { return ends_; }
  void Add(size_t values, size_t bytes) {
    out_.Add(values, bytes);
    budget_.Use(bytes);
    ends_ += values;
    next_ += bytes;
    room_ -= bytes;
  }
  // Makes room for `values` short values, or for as many of them as the budget allows.
  void Expect(size_t values) { Reserve(std::min(budget_.left(), values * kMaxRebuiltBytes)); }
  bool MakeRoom(size_t size) {
    if (size > budget_.left_for_one()) return false;
    Reserve(size);
    return true;
  }

 private:
  void Reserve(size_t bytes) {
    next_ = out_.ReserveData(bytes);
    room_ = bytes;
  }

  PackedStrings& out_;
  PackedBudget budget_;
  uint32_t* ends_;
  uint8_t* next_ = nullptr;
  size_t room_ = 0;
};

class DeltaBytesDecoder final : public BlockDecoder<std::string_view> {
 public:
  explicit DeltaBytesDecoder(uint32_t type_length) : type_length_(type_length) {}

  absl::Status Open(const BlockView& block) override {
    count_ = position_ = 0;
    places_ = stored_prefixes_ = {};
    size_t suffixes = 0;
    size_t data = 0;
    const size_t places = SkipPlaces(block.count);
    if (!block.skip_table.empty()) {
      if (places == 0 || block.skip_table.size() < kTableHeader + places * kPlaceBytes) {
        return DataLoss("a skip table of ", block.skip_table.size(), " bytes does not fit ", places,
                        " places");
      }
      suffixes = LoadLittleEndian<uint32_t>(block.skip_table.data());
      data = LoadLittleEndian<uint32_t>(block.skip_table.data() + 4);
      if (data == 0)
        return DataLoss("skip table: it says that the data begin at byte 0 of the suffixes");
      places_ = block.skip_table.subspan(kTableHeader, places * kPlaceBytes);
      stored_prefixes_ = block.skip_table.subspan(kTableHeader + places * kPlaceBytes);
    }
    CFILE_RETURN_IF_ERROR(prefixes_.Open(block.bytes, block.count, DeltaBlocks::kStrict));
    if (places_.empty()) {
      CFILE_ASSIGN_OR_RETURN(suffixes, prefixes_.FindEnd());
    } else if (suffixes > block.bytes.size()) {
      return DataLoss("skip table: the suffixes begin at byte ", suffixes, ", the page has ",
                      block.bytes.size(), " bytes");
    }
    suffixes_offset_ = suffixes;
    bytes_ = block.bytes;
    CFILE_RETURN_IF_ERROR(suffixes_.Open(block.bytes.subspan(suffixes), block.count, data));
    if (arena_.bytes == nullptr) arena_.Grow(kArenaBytes, 0);
    Begin(0);
    count_ = block.count;
    first_ordinal_ = block.first_ordinal;
    must_reseek_ = false;
    return absl::OkStatus();
  }

  absl::Status SeekTo(uint32_t position) override {
    CFILE_ASSERT(position <= count_);
    const bool begin = must_reseek_;
    const uint32_t from = position_;
    position_ = position;
    must_reseek_ = true;  // in case of an early return with an error
    uint32_t place = std::min(position / kSkipInterval, places_.empty() ? 0 : SkipPlaces(count_));
    while (place > 0 && StoredPrefix(place - 1) == kNoDeltaPrefix) --place;
    uint32_t at = from;
    if (begin || from > position || from < place * kSkipInterval) {
      CFILE_RETURN_IF_ERROR(BeginAtPlace(place));
      at = place * kSkipInterval;
    }
    CFILE_RETURN_IF_ERROR(Pass(position - at));
    must_reseek_ = false;
    return absl::OkStatus();
  }

  absl::StatusOr<size_t> Read(std::span<std::string_view> out) override {
    if (must_reseek_) CFILE_RETURN_IF_ERROR(SeekTo(position_));
    must_reseek_ = true;  // in case of an early return with an error
    CFILE_ASSIGN_OR_RETURN(const size_t read, RebuildViews(out.first(Left(out.size()))));
    must_reseek_ = false;
    position_ += static_cast<uint32_t>(read);
    return read;
  }

  absl::StatusOr<size_t> ReadPacked(size_t max, PackedStrings& out) override {
    if (must_reseek_) CFILE_RETURN_IF_ERROR(SeekTo(position_));
    must_reseek_ = true;  // in case of an early return with an error
    const size_t count = Left(max);
    PackedSink sink(out, count);
    size_t done = 0;
    const absl::Status status = Rebuild(count, sink, done);
    if (!status.ok() && done == 0) return status;
    if (done > 0) {  // copy the last value for the next prefix: the caller may change `out`
      if (previous_size_ > arena_.capacity) arena_.Grow(previous_size_, 0);
      CopyAhead(arena_.bytes.get(), previous_, previous_size_);
      previous_ = arena_.bytes.get();
    }
    must_reseek_ = !status.ok();
    position_ += static_cast<uint32_t>(done);
    return done;
  }

  absl::StatusOr<LowerBound> SeekToKey(const std::string_view& key) override {
    return SeekToKeyByReading<std::string_view>(*this, key);
  }

 private:
  static constexpr size_t kArenaBytes = 1024 * 1024;

  uint32_t StoredPrefix(uint32_t number) const {
    return LoadLittleEndian<uint32_t>(places_.data() + (number + 1) * kPlaceBytes -
                                      sizeof(uint32_t));
  }

  // Makes the first `previous` bytes of the arena the previous value.
  void Begin(size_t previous) {
    previous_ = arena_.bytes.get();
    previous_size_ = previous;
    next_ = end_ = 0;
  }

  // Begins at a place. Place 0 is the first value; place i is entry i - 1 of the skip table.
  absl::Status BeginAtPlace(uint32_t place) {
    if (place == 0) {
      prefixes_.Rewind();
      suffixes_.Rewind();
      Begin(0);
      return absl::OkStatus();
    }
    const uint8_t* const entry = places_.data() + (place - 1) * kPlaceBytes;
    const auto prefix = LoadDeltaPlace<int32_t>(entry);
    const size_t stored = StoredPrefix(place - 1);
    if (prefix.value < 0 || stored > stored_prefixes_.size() ||
        static_cast<size_t>(prefix.value) > stored_prefixes_.size() - stored) {
      return DataLoss("skip table: place ", place - 1, " has ", prefix.value,
                      " bytes of prefix at byte ", stored, ", the prefixes have ",
                      stored_prefixes_.size(), " bytes");
    }
    CFILE_RETURN_IF_ERROR(prefixes_.Restore(place - 1, prefix));
    CFILE_RETURN_IF_ERROR(
        suffixes_.Restore(place - 1, LoadDeltaLengthPlace(entry + kDeltaPlaceBytes<int32_t>)));
    const size_t size = static_cast<size_t>(prefix.value);
    if (size > arena_.capacity) arena_.Grow(size, 0);
    if (size > 0) std::memcpy(arena_.bytes.get(), stored_prefixes_.data() + stored, size);
    Begin(size);
    return absl::OkStatus();
  }

  absl::Status ReadLengths(size_t count) {
    const uint32_t first = prefixes_.position();
    CFILE_RETURN_IF_ERROR(prefixes_.Read({prefix_sizes_, count}));
    CFILE_RETURN_IF_ERROR(suffixes_.Read({suffix_sizes_, count}, suffix_));
    if (prefixes_.position() == count_ && prefixes_.offset() != suffixes_offset_)
      return DataLoss("the suffixes begin at byte ", prefixes_.offset(), ", the skip table says ",
                      suffixes_offset_);
    for (size_t i = 0; type_length_ > 0 && i < count; ++i) {
      const int64_t size = int64_t{prefix_sizes_[i]} + suffix_sizes_[i];
      if (size != type_length_)
        return DataLoss("value ", first + i, " has ", size, " bytes, expected ", type_length_);
    }
    longest_ = 0;
    for (size_t i = 0; i < count; ++i) {
      longest_ = std::max(longest_, static_cast<uint32_t>(prefix_sizes_[i]) +
                                        static_cast<uint32_t>(suffix_sizes_[i]));
    }
    first_of_chunk_ = first;
    next_ = 0;
    end_ = count;
    return absl::OkStatus();
  }

  void PreviousToFront() {
    if (previous_ != arena_.bytes.get() && previous_size_ > 0)
      std::memmove(arena_.bytes.get(), previous_, previous_size_);
    previous_ = arena_.bytes.get();
  }

  // Skips `count` values. Writes each value's suffix over the previous value, at the front of the
  // arena.
  absl::Status Pass(uint32_t count) {
    PreviousToFront();
    while (count > 0) {
      if (next_ == end_) {
        // Skip values that equal the value before them: they have the same prefix length and no
        // suffix.
        const auto prefixes = prefixes_.NextRun(count - 1);
        const auto suffixes = suffixes_.NextRun(prefixes.count);
        if (suffixes.count > 0 && prefixes.step == 0 && suffixes.step == 0 && suffixes.last == 0) {
          CFILE_ASSERT(static_cast<size_t>(prefixes.last) == previous_size_);
          prefixes_.Pass({suffixes.count, prefixes.last, 0});
          CFILE_RETURN_IF_ERROR(suffixes_.Skip(suffixes.count));
          count -= suffixes.count;
          continue;
        }
        const uint32_t ahead = prefixes_.ahead();
        CFILE_RETURN_IF_ERROR(ReadLengths(std::min<size_t>(count, ahead > 0 ? ahead : kLengths)));
      }
      CFILE_RETURN_IF_ERROR(CheckPrefix());
      const size_t prefix = static_cast<uint32_t>(prefix_sizes_[next_]);
      const auto suffix = static_cast<size_t>(suffix_sizes_[next_]);
      const size_t size = prefix + suffix;
      if (size > arena_.capacity) {  // at least double it: values may grow one by one
        arena_.Grow(std::max(size, 2 * arena_.capacity), prefix);
        previous_ = arena_.bytes.get();
      }
      uint8_t* const to = arena_.bytes.get() + prefix;
      if (suffix <= 16 && bytes_.data() + bytes_.size() - suffix_ >= 16) {
        CopyWide<16>(suffix_, to);
      } else if (suffix > 0) {
        std::memcpy(to, suffix_, suffix);
      }
      suffix_ += suffix;
      previous_size_ = size;
      ++next_;
      --count;
    }
    return absl::OkStatus();
  }

  // Checks that the prefix of the next value is not longer than the previous value.
  absl::Status CheckPrefix() const {
    // The cast makes negative lengths too large.
    if (static_cast<uint32_t>(prefix_sizes_[next_]) <= previous_size_) return absl::OkStatus();
    return DataLoss("value ", first_of_chunk_ + next_, " shares ", prefix_sizes_[next_],
                    " bytes with a value of ", previous_size_, " bytes");
  }

  // Rebuilds the next values in the arena: as many as fit, but at least one.
  absl::StatusOr<size_t> RebuildViews(std::span<std::string_view> out) {
    PreviousToFront();
    ViewSink sink(arena_, previous_size_, out.data());
    size_t done = 0;
    CFILE_RETURN_IF_ERROR(Rebuild(out.size(), sink, done));
    return done;
  }

  // Rebuilds the next `count` values, or as many as the sink takes. Sets `done` to their number. If
  // `done` > 0, previous_ points into the sink afterwards.
  template <typename Sink>
  absl::Status Rebuild(size_t count, Sink& sink, size_t& done) {
    // The sink may move its values, but they stay back to back.
    const auto find_previous = [&] {
      if (done > 0 || std::is_same_v<Sink, ViewSink>) previous_ = sink.next() - previous_size_;
    };
    while (done < count) {
      if (next_ == end_)
        CFILE_RETURN_IF_ERROR(ReadLengths(std::min(count - done, std::size(prefix_sizes_))));
      // An earlier call may have left more lengths than this call needs.
      const size_t some = std::min(end_ - next_, count - done);
      sink.Expect(some);
      find_previous();
      const RebuiltValues rebuilt =
          RebuildShortValues({prefix_sizes_ + next_, some}, suffix_sizes_ + next_, suffix_, bytes_,
                             {previous_, previous_size_}, sink.room(), sink.next(), sink.offset(),
                             sink.ends(), longest_);
      if (rebuilt.count > 0) {
        sink.Add(rebuilt.count, rebuilt.bytes);
        next_ += rebuilt.count;
        done += rebuilt.count;
        suffix_ += rebuilt.suffix_bytes;
        previous_size_ = static_cast<size_t>(prefix_sizes_[next_ - 1] + suffix_sizes_[next_ - 1]);
        find_previous();
      }
      if (rebuilt.count == some) continue;
      // The kernel stopped: rebuild one value of any size, at any address.
      CFILE_RETURN_IF_ERROR(CheckPrefix());
      const size_t prefix = static_cast<uint32_t>(prefix_sizes_[next_]);
      const auto suffix = static_cast<size_t>(suffix_sizes_[next_]);  // the reader ensures >= 0
      const size_t size = prefix + suffix;
      if (!sink.MakeRoom(size)) return absl::OkStatus();
      find_previous();
      uint8_t* const value = sink.next();
      CopyAhead(value, previous_, prefix);
      if (suffix > 0) std::memcpy(value + prefix, suffix_, suffix);
      sink.ends()[0] = sink.offset() + static_cast<uint32_t>(size);
      sink.Add(1, size);
      suffix_ += suffix;
      previous_size_ = size;
      ++next_;
      ++done;
      find_previous();
    }
    return absl::OkStatus();
  }

  const uint32_t type_length_;
  std::span<const uint8_t> places_;
  std::span<const uint8_t> stored_prefixes_;
  std::span<const uint8_t> bytes_;
  size_t suffixes_offset_ = 0;
  DeltaBinaryPackedReader<int32_t> prefixes_;
  DeltaLengthReader suffixes_;
  bool must_reseek_ = false;  // a call failed: prefixes_ and suffixes_ may not be at position_

  // The arena holds the values of the last Read. previous_ is the last value of any call: the next
  // value takes its prefix from it.
  Arena arena_;
  const uint8_t* previous_ = nullptr;
  size_t previous_size_ = 0;

  // Lengths that are read but not used yet: [next_, end_). suffix_ points to the suffix of the
  // first one.
  size_t next_ = 0;
  size_t end_ = 0;
  uint32_t first_of_chunk_ = 0;
  uint32_t longest_ = 0;  // bytes of the longest value of the chunk
  const uint8_t* suffix_ = nullptr;
  int32_t prefix_sizes_[kLengths];
  int32_t suffix_sizes_[kLengths];
};

}  // namespace

template <typename P>
std::unique_ptr<BlockDecoder<P>> DeltaByteArrayCodec::MakePageDecoder(
    const DecoderOptions& options) {
  return std::make_unique<DeltaBytesDecoder>(options.type_length);
}

absl::Status DeltaByteArrayCodec::Describe(PhysicalType /*type*/, const DecoderOptions& /*options*/,
                                           const BlockView& block, BlockDescription& description) {
  for (const std::string_view blocks :
       {"further blocks of prefix lengths", "further blocks of suffix lengths"})
    CFILE_RETURN_IF_ERROR(DescribeDeltaBinaryPacked<int32_t>(block.count, blocks, description));
  description.AddRest("suffixes");
  return absl::OkStatus();
}

CFILE_INSTANTIATE_PAGE_DECODER(DeltaByteArrayCodec, std::string_view)

}  // namespace cfile::encodings
