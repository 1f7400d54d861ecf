#include "cfile/internal/arrow/node_levels.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace cfile::internal {

size_t FindValues(const LevelRule& rule, const Entries& entries, uint8_t* valid) {
  size_t found = 0;
  for (size_t i = 0; i < entries.count; ++i) {
    const uint16_t definition = entries.definition[i];
    valid[found] = definition >= rule.valid_definition;
    found += static_cast<size_t>(entries.repetition[i] <= rule.repetition &&
                                 definition >= rule.definition);
  }
  return found;
}

absl::Status NodeLevels::Append(const Entries& entries) {
  if (num_elements_ + entries.count > INT32_MAX)
    return absl::OutOfRangeError("lists have more than 2^31 - 1 elements in one batch");
  valid_.resize(std::max(valid_.size(), entries.count + 1));
  const size_t found = FindValues(rule_, entries, valid_.data());
  const bool all_valid = std::memchr(valid_.data(), 0, found) == nullptr;
  if (all_valid) {
    validity_.Append(nullptr, found);
  } else {
    bits_.resize(std::max(bits_.size(), (found + 7) / 8));
    Bitmap::Pack(valid_.data(), found, bits_.data());
    validity_.Append(bits_.data(), found);
  }
  if (!rule_.is_list) return absl::OkStatus();
  // One number more than lists is written, but not kept.
  const size_t before = offsets_.size();
  auto* const begins = reinterpret_cast<int32_t*>(offsets_.Extend((found + 1) * sizeof(int32_t)));
  size_t lists = 0;
  auto elements = static_cast<int32_t>(num_elements_);
  for (size_t i = 0; i < entries.count; ++i) {
    const uint16_t repetition = entries.repetition[i];
    const uint16_t definition = entries.definition[i];
    begins[lists] = elements;
    lists += static_cast<size_t>(repetition <= rule_.repetition && definition >= rule_.definition);
    elements += static_cast<int32_t>(repetition <= rule_.element_repetition &&
                                     definition >= rule_.element_definition);
  }
  offsets_.Truncate(before + found * sizeof(int32_t));
  num_elements_ = static_cast<size_t>(elements);
  return absl::OkStatus();
}

void NodeLevels::Finish(ArrayParts& parts) {
  validity_.Finish(parts);
  if (!rule_.is_list) return;
  const auto end = static_cast<int32_t>(num_elements_);
  std::memcpy(offsets_.Extend(sizeof(end)), &end, sizeof(end));
  auto owner = std::make_shared<encodings::ByteWriter>(std::move(offsets_));
  offsets_ = encodings::ByteWriter();
  num_elements_ = 0;
  const void* const data = owner->data();
  parts.AddBuffer(data, std::move(owner));
}

}  // namespace cfile::internal
