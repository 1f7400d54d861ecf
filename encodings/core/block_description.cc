#include "encodings/core/block_description.h"

#include <algorithm>

#include "encodings/core/assert.h"

namespace cfile::encodings {

void BlockDescription::Add(std::string_view name, std::string value) {
  CFILE_ASSERT(fields_.size() < max_fields_);
  fields_.push_back({end_, reader_.offset() - end_, name, std::move(value), depth_});
  end_ = reader_.offset();
}

absl::Status BlockDescription::CutOff(std::string_view name) const {
  return DataLoss("the ", name, " at byte ", reader_.offset(),
                  " is cut off or out of range: ", reader_.remaining(), " bytes are left");
}

absl::StatusOr<uint32_t> BlockDescription::AddVint32(std::string_view name) {
  uint32_t number = 0;
  const bool read = reader_.ReadVint32(number);
  return AddNumber(read, number, name);
}

absl::StatusOr<uint64_t> BlockDescription::AddVint64(std::string_view name) {
  uint64_t number = 0;
  const bool read = reader_.ReadVint64(number);
  return AddNumber(read, number, name);
}

absl::Status BlockDescription::AddBytes(uint64_t size, std::string_view name, std::string value) {
  if (!reader_.Skip(size)) {
    return DataLoss("expected ", size, " bytes of the ", name, " at byte ", reader_.offset(),
                    ", found ", reader_.remaining());
  }
  if (size > 0) Add(name, std::move(value));
  return absl::OkStatus();
}

template <typename U>
absl::Status BlockDescription::AddNumbers(uint64_t count, std::string_view name) {
  constexpr uint64_t kMostShown = 16;
  ByteReader numbers(reader_.rest());
  std::string text;
  U number = 0;
  for (uint64_t i = 0; i < std::min(count, kMostShown) && numbers.ReadFixed(number); ++i)
    text += StrCat(i == 0 ? "" : ", ", uint32_t{number});
  if (count > kMostShown) text += StrCat(", ... (", count, " numbers)");
  return AddBytes(count * sizeof(U), name, std::move(text));
}
template absl::Status BlockDescription::AddNumbers<uint8_t>(uint64_t, std::string_view);
template absl::Status BlockDescription::AddNumbers<uint32_t>(uint64_t, std::string_view);

void BlockDescription::Explain(std::string_view meaning) {
  CFILE_ASSERT(!fields_.empty());
  fields_.back().value = StrCat(fields_.back().value, " (", meaning, ")");
}

void BlockDescription::AddRest(std::string_view name, std::string value) {
  static_cast<void>(reader_.Skip(reader_.remaining()));
  if (reader_.offset() > end_) Add(name, std::move(value));
}

}  // namespace cfile::encodings
