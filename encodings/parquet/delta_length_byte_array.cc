#include "encodings/parquet/delta_length_byte_array.h"

#include <algorithm>
#include <cstring>

#include "encodings/core/assert.h"
#include "encodings/core/back_to_back.h"

namespace cfile::encodings {

void PutPlace(const DeltaLengthPlace& place, ByteWriter& out) {
  out.PutFixed(place.length.offset);
  out.PutFixed(place.length.value);
  out.PutFixed(place.data);
}

DeltaLengthPlace LoadDeltaLengthPlace(const uint8_t* p) {
  return {LoadDeltaPlace<int32_t>(p), LoadLittleEndian<uint32_t>(p + kDeltaPlaceBytes<int32_t>)};
}

uint32_t EncodeDeltaLengthByteArray(std::span<const std::string_view> values,
                                    std::span<const std::string_view> owners, ByteWriter& out,
                                    std::vector<DeltaLengthPlace>* places) {
  const size_t begin = out.size();
  const std::unique_ptr<int32_t[]> lengths(new int32_t[values.size()]);
  size_t total = 0;
  bool is_whole = true;  // all values lie back to back
  const char* end = values.empty() ? nullptr : values[0].data();
  for (size_t i = 0; i < values.size(); ++i) {
    lengths[i] = static_cast<int32_t>(values[i].size());
    is_whole &= values[i].data() == end;
    end = values[i].data() + values[i].size();
    total += values[i].size();
  }
  std::vector<DeltaPlace<int32_t>> length_places;
  EncodeDeltaBinaryPacked<int32_t>({lengths.get(), values.size()}, {}, out,
                                   places != nullptr ? &length_places : nullptr);
  const size_t data = out.size();
  if (is_whole) {
    if (total > 0) out.PutBytes({values[0].data(), total});
  } else {
    uint8_t* to = out.Extend(total + kCopyAhead);
    for (size_t i = 0; i < values.size();) {
      const BackToBack run = FindBackToBack(owners, i);
      for (; i < run.end; to += values[i++].size()) CopyShort(values[i], run.bytes_end, to);
    }
    out.Truncate(data + total);
  }
  uint32_t offset = 0;
  for (size_t i = 0, value = 0; i < length_places.size(); ++i) {
    for (; value < (i + 1) * kSkipInterval; ++value)
      offset += static_cast<uint32_t>(lengths[value]);
    places->push_back({length_places[i], offset});
  }
  return static_cast<uint32_t>(data - begin);
}

absl::Status DeltaLengthReader::Open(std::span<const uint8_t> bytes, uint32_t count,
                                     size_t data_offset) {
  CFILE_RETURN_IF_ERROR(lengths_.Open(bytes, count, DeltaBlocks::kStrict));
  if (data_offset == 0) {
    CFILE_ASSIGN_OR_RETURN(data_offset, lengths_.FindEnd());
  }
  if (data_offset > bytes.size())
    return DataLoss("skip table: the data begin at byte ", data_offset, ", the page has ",
                    bytes.size(), " bytes");
  data_offset_ = data_offset;
  data_ = bytes.subspan(data_offset);
  next_ = 0;
  return absl::OkStatus();
}

void DeltaLengthReader::Rewind() {
  lengths_.Rewind();
  next_ = 0;
}

absl::Status DeltaLengthReader::Restore(uint32_t number, const DeltaLengthPlace& place) {
  CFILE_RETURN_IF_ERROR(lengths_.Restore(number, place.length));
  if (place.data > data_.size()) {
    return DataLoss("skip table: place ", number, " is at byte ", place.data,
                    " of the data, which have ", data_.size(), " bytes");
  }
  next_ = place.data;
  return absl::OkStatus();
}

absl::Status DeltaLengthReader::Read(std::span<int32_t> lengths, const uint8_t*& data) {
  const uint32_t first = position();
  CFILE_RETURN_IF_ERROR(lengths_.Read(lengths));
  uint64_t sum = 0;  // cannot overflow: up to 2^32 numbers below 2^32
  int32_t signs = 0;
  for (const int32_t length : lengths) {
    sum += static_cast<uint32_t>(length);
    signs |= length;
  }
  if (signs < 0) {
    for (size_t i = 0; i < lengths.size(); ++i) {
      if (lengths[i] < 0) return DataLoss("value ", first + i, " has length ", lengths[i]);
    }
  }
  data = data_.data() + next_;
  CFILE_RETURN_IF_ERROR(PassData(first, sum));
  // After the last length, the lengths must end where the skip table says that the data begin.
  if (position() == count() && lengths_.offset() != data_offset_)
    return DataLoss("the data begin at byte ", lengths_.offset(), ", the skip table says ",
                    data_offset_);
  return absl::OkStatus();
}

absl::Status DeltaLengthReader::PassData(uint32_t first, uint64_t bytes) {
  if (bytes > data_.size() - next_) {
    return DataLoss("values ", first, " to ", position() - 1, " take ", bytes,
                    " bytes of data, found ", data_.size() - next_);
  }
  next_ += bytes;
  return absl::OkStatus();
}

absl::Status DeltaLengthReader::Skip(uint32_t count) {
  int32_t lengths[512];
  const uint8_t* data;
  while (count > 0) {
    const uint32_t first = position();
    // Skip values of the same length as the previous value, whose length has been checked. The last
    // value is left to Read, which checks the data offset.
    if (const auto run = lengths_.NextRun(count - 1); run.count > 0 && run.step == 0) {
      lengths_.Pass(run);
      CFILE_RETURN_IF_ERROR(PassData(first, uint64_t{run.count} * static_cast<uint32_t>(run.last)));
    } else {
      const uint32_t ahead = lengths_.ahead();
      const auto step = std::min<uint32_t>(count, ahead > 0 ? ahead : std::size(lengths));
      CFILE_RETURN_IF_ERROR(Read({lengths, step}, data));
    }
    count -= position() - first;
  }
  return absl::OkStatus();
}

namespace {

class DeltaLengthEncoder final : public PageEncoder<std::string_view> {
 public:
  explicit DeltaLengthEncoder(bool skip_tables) : skip_tables_(skip_tables) {}

  void Encode(std::span<const std::string_view> values, EncodedBlock& block) override {
    places_.clear();
    const uint32_t data =
        EncodeDeltaLengthByteArray(values, values, block.bytes, skip_tables_ ? &places_ : nullptr);
    if (places_.empty()) return;
    block.skip_table.PutFixed(data);
    for (const DeltaLengthPlace& place : places_) PutPlace(place, block.skip_table);
  }

 private:
  const bool skip_tables_;
  std::vector<DeltaLengthPlace> places_;
};

class DeltaLengthDecoder final : public BlockDecoder<std::string_view> {
 public:
  absl::Status Open(const BlockView& block) override {
    count_ = position_ = 0;
    const size_t places = SkipPlaces(block.count);
    size_t data_offset = 0;
    places_ = {};
    if (!block.skip_table.empty()) {
      if (places == 0 ||
          block.skip_table.size() != sizeof(uint32_t) + places * kDeltaLengthPlaceBytes) {
        return DataLoss("a skip table of ", block.skip_table.size(), " bytes does not fit ", places,
                        " places");
      }
      data_offset = LoadLittleEndian<uint32_t>(block.skip_table.data());
      if (data_offset == 0) return DataLoss("skip table: it says that the data begin at byte 0");
      places_ = block.skip_table.subspan(sizeof(uint32_t));
    }
    CFILE_RETURN_IF_ERROR(reader_.Open(block.bytes, block.count, data_offset));
    count_ = block.count;
    first_ordinal_ = block.first_ordinal;
    must_reseek_ = false;
    return absl::OkStatus();
  }

  absl::Status SeekTo(uint32_t position) override {
    CFILE_ASSERT(position <= count_);
    position_ = position;
    absl::Status status = SeekWithPlaces(reader_, must_reseek_, position, places_,
                                         kDeltaLengthPlaceBytes, LoadDeltaLengthPlace);
    must_reseek_ = !status.ok();
    return status;
  }

  absl::StatusOr<size_t> Read(std::span<std::string_view> out) override {
    if (must_reseek_) CFILE_RETURN_IF_ERROR(SeekTo(position_));
    const size_t read = Left(out.size());
    for (size_t done = 0; done < read;) {
      const size_t chunk = std::min(read - done, std::size(lengths_));
      const uint8_t* data;
      if (absl::Status status = reader_.Read({lengths_, chunk}, data); !status.ok()) {
        must_reseek_ = true;
        return status;
      }
      const char* text = reinterpret_cast<const char*>(data);
      for (size_t i = 0; i < chunk; ++i) {
        const auto length = static_cast<uint32_t>(lengths_[i]);
        out[done + i] = {text, length};
        text += length;
      }
      done += chunk;
    }
    position_ += static_cast<uint32_t>(read);
    return read;
  }

  absl::StatusOr<size_t> ReadPacked(size_t max, PackedStrings& out) override {
    if (must_reseek_) CFILE_RETURN_IF_ERROR(SeekTo(position_));
    const size_t read = Left(max);
    PackedBudget budget(out);
    uint32_t* const ends = out.ReserveOffsets(read);
    size_t done = 0;
    while (done < read) {
      const size_t chunk = std::min(read - done, std::size(lengths_));
      const uint8_t* data;
      if (absl::Status status = reader_.Read({lengths_, chunk}, data); !status.ok()) {
        must_reseek_ = true;
        if (done == 0) return status;
        break;
      }
      const auto before = static_cast<uint32_t>(out.data().size());
      size_t bytes = 0;
      size_t fitting = 0;
      for (; fitting < chunk; ++fitting) {
        const auto length = static_cast<uint32_t>(lengths_[fitting]);
        if (!budget.Take(length)) break;
        bytes += length;
        ends[done + fitting] = before + static_cast<uint32_t>(bytes);
      }
      uint8_t* const to = out.ReserveData(bytes);
      if (bytes > 0) std::memcpy(to, data, bytes);
      out.Add(fitting, bytes);
      done += fitting;
      if (fitting < chunk) {
        must_reseek_ = true;  // the reader is ahead of position_
        break;
      }
    }
    position_ += static_cast<uint32_t>(done);
    return done;
  }

  absl::StatusOr<LowerBound> SeekToKey(const std::string_view& key) override {
    return SeekToKeyByReading<std::string_view>(*this, key);
  }

 private:
  DeltaLengthReader reader_;
  std::span<const uint8_t> places_;
  bool must_reseek_ = false;  // the reader failed or is ahead: it is not at position_
  int32_t lengths_[1024];
};

}  // namespace

template <typename P>
std::unique_ptr<PageEncoder<P>> DeltaLengthByteArrayCodec::MakePageEncoder(
    const EncoderOptions& options) {
  return std::make_unique<DeltaLengthEncoder>(options.skip_tables);
}

template <typename P>
std::unique_ptr<BlockDecoder<P>> DeltaLengthByteArrayCodec::MakePageDecoder(
    const DecoderOptions& /*options*/) {
  return std::make_unique<DeltaLengthDecoder>();
}

absl::Status DeltaLengthByteArrayCodec::Describe(PhysicalType /*type*/,
                                                 const DecoderOptions& /*options*/,
                                                 const BlockView& block,
                                                 BlockDescription& description) {
  CFILE_RETURN_IF_ERROR(
      DescribeDeltaBinaryPacked<int32_t>(block.count, "further blocks of lengths", description));
  description.AddRest("values");
  return absl::OkStatus();
}

CFILE_INSTANTIATE_PAGE_ENCODER(DeltaLengthByteArrayCodec, std::string_view)
CFILE_INSTANTIATE_PAGE_DECODER(DeltaLengthByteArrayCodec, std::string_view)

}  // namespace cfile::encodings
