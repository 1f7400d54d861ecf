#include "encodings/parquet/page_skip_table.h"

#include <string_view>
#include <vector>

#include "encodings/core/status.h"
#include "encodings/parquet/delta_binary_packed.h"
#include "encodings/parquet/delta_byte_array.h"
#include "encodings/parquet/delta_byte_array_places.h"
#include "encodings/parquet/delta_length_byte_array.h"

namespace cfile::encodings {
namespace {

template <typename T>
struct DeltaPlaces {
  std::vector<DeltaPlace<T>> places;
  std::vector<uint32_t> sums;  // for each place: the sum of all values before its value
  size_t end = 0;              // of the stream
};

// Finds the places of the stream at the front of `bytes`. Finds none if the blocks do not divide
// kSkipInterval.
template <typename T>
absl::StatusOr<DeltaPlaces<T>> FindPlaces(std::span<const uint8_t> bytes, uint32_t count) {
  DeltaPlaces<T> found;
  DeltaBinaryPackedReader<T> reader;
  CFILE_RETURN_IF_ERROR(reader.Open(bytes, count, DeltaBlocks::kStrict));
  CFILE_ASSIGN_OR_RETURN(found.end, reader.FindEnd());
  if (kSkipInterval % reader.block_size() != 0) return found;
  T values[kSkipInterval];
  CFILE_RETURN_IF_ERROR(reader.Read({values, 1}));
  auto last = values[0];
  uint32_t sum = 0;
  for (uint32_t left = SkipPlaces(count); left > 0; --left) {
    CFILE_RETURN_IF_ERROR(reader.Read(values));
    sum += static_cast<uint32_t>(last);
    last = values[kSkipInterval - 1];
    for (const T value : std::span(values).first(kSkipInterval - 1))
      sum += static_cast<uint32_t>(value);
    found.places.push_back({static_cast<uint32_t>(reader.offset()), last});
    found.sums.push_back(sum);
  }
  return found;
}

template <typename T>
absl::Status PutDeltaTable(std::span<const uint8_t> page, uint32_t count, ByteWriter& out) {
  CFILE_ASSIGN_OR_RETURN(const DeltaPlaces<T> found, FindPlaces<T>(page, count));
  for (const DeltaPlace<T>& place : found.places) {
    out.PutFixed(place.offset);
    out.PutFixed(place.value);
  }
  return absl::OkStatus();
}

// The places of a stream of DELTA_LENGTH_BYTE_ARRAY.
std::vector<DeltaLengthPlace> LengthPlaces(const DeltaPlaces<int32_t>& lengths) {
  std::vector<DeltaLengthPlace> places;
  for (size_t i = 0; i < lengths.places.size(); ++i)
    places.push_back({lengths.places[i], lengths.sums[i]});
  return places;
}

absl::Status PutLengthTable(std::span<const uint8_t> page, uint32_t count, ByteWriter& out) {
  CFILE_ASSIGN_OR_RETURN(const auto lengths, FindPlaces<int32_t>(page, count));
  if (lengths.places.empty()) return absl::OkStatus();
  out.PutFixed(static_cast<uint32_t>(lengths.end));
  for (const DeltaLengthPlace& place : LengthPlaces(lengths)) PutPlace(place, out);
  return absl::OkStatus();
}

absl::Status PutByteArrayTable(std::span<const uint8_t> page, uint32_t count, ByteWriter& out) {
  CFILE_ASSIGN_OR_RETURN(const auto prefixes, FindPlaces<int32_t>(page, count));
  if (prefixes.end > page.size()) return DataLoss("the prefix lengths do not end in the page");
  CFILE_ASSIGN_OR_RETURN(const auto lengths,
                         FindPlaces<int32_t>(page.subspan(prefixes.end), count));
  if (prefixes.places.empty() || lengths.places.empty()) return absl::OkStatus();
  const auto decoder = DeltaByteArrayCodec::MakePageDecoder<std::string_view>();
  BlockView view(page);
  view.count = count;
  CFILE_RETURN_IF_ERROR(decoder->Open(view));
  absl::Status status;
  PutDeltaByteArrayPlaces(static_cast<uint32_t>(prefixes.end), static_cast<uint32_t>(lengths.end),
                          page.size(), prefixes.places, LengthPlaces(lengths), out,
                          [&](size_t number) {
                            std::string_view value;
                            status.Update(decoder->SeekTo(static_cast<uint32_t>(number)));
                            if (status.ok()) status.Update(decoder->Read({&value, 1}).status());
                            return value;
                          });
  return status;
}

}  // namespace

absl::Status PutSkipTable(Encoding encoding, PhysicalType type, std::span<const uint8_t> page,
                          uint32_t count, ByteWriter& out) {
  if (SkipPlaces(count) == 0) return absl::OkStatus();
  switch (encoding) {
    case Encoding::kParquetDeltaBinaryPacked:
      return type == PhysicalType::kInt64 || type == PhysicalType::kUint64
                 ? PutDeltaTable<int64_t>(page, count, out)
                 : PutDeltaTable<int32_t>(page, count, out);
    case Encoding::kParquetDeltaLengthByteArray:
      return PutLengthTable(page, count, out);
    case Encoding::kParquetDeltaByteArray:
      return PutByteArrayTable(page, count, out);
    default:
      return absl::OkStatus();
  }
}

}  // namespace cfile::encodings
