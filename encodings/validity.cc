#include "encodings/validity.h"

#include <cassert>

namespace cfile::encodings {

ValidityEncoder::ValidityEncoder(bool kudu_exact) : encoder_(1, kudu_exact) {}

void ValidityEncoder::AddRun(bool valid, uint64_t count) {
  encoder_.PutRun(valid ? 1 : 0, count);
  count_ += count;
  if (valid) valid_count_ += count;
}

void ValidityEncoder::Finish(ByteWriter& out) {
  encoder_.Finish(out, LastGroup::kWhole);
  count_ = 0;
  valid_count_ = 0;
}

absl::Status ValidityDecoder::Open(std::span<const uint8_t> bitmap, uint32_t count) {
  if (count > 0 && bitmap.empty()) return DataLoss("validity bitmap of ", count, " rows has no bytes");
  runs_.Open(bitmap, 1);
  count_ = count;
  return absl::OkStatus();
}

absl::StatusOr<uint32_t> ValidityDecoder::Read(uint32_t count, uint8_t* bits) {
  assert(count <= count_ - position());
  CFILE_ASSIGN_OR_RETURN(const uint64_t ones, runs_.ReadBits(count, bits));
  return static_cast<uint32_t>(ones);
}

absl::StatusOr<uint32_t> ValidityDecoder::SeekTo(uint32_t position) {
  assert(position <= count_);
  CFILE_ASSIGN_OR_RETURN(const uint64_t ones, runs_.SeekTo(position));
  return static_cast<uint32_t>(ones);
}

}  // namespace cfile::encodings
