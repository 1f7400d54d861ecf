#include "cfile/internal/arrow/node_levels.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace cfile::internal {

size_t FindValues(const LevelRule& rule, const Entries& entries, uint8_t* valid) {
  // Copies the rule. Otherwise the compiler must assume that writing `valid` changes `rule`.
  const LevelRule own = rule;
  size_t found = 0;
  for (size_t i = 0; i < entries.count; ++i) {
    const uint16_t definition = entries.definition[i];
    valid[found] = definition >= own.valid_definition;
    found += static_cast<size_t>(entries.repetition[i] <= own.repetition &&
                                 definition >= own.definition);
  }
  return found;
}

absl::Status NodeLevels::Append(const Entries& entries) {
  if (num_elements_ + entries.count > INT32_MAX)
    return absl::OutOfRangeError("lists have more than 2^31 - 1 elements in one batch");
  valid_.resize(std::max(valid_.size(), entries.count + 1));
  const size_t found =
      rule_.is_list ? AppendLists(entries) : FindValues(rule_, entries, valid_.data());
  if (std::memchr(valid_.data(), 0, found) == nullptr) {
    validity_.Append(nullptr, found);
  } else {
    bits_.resize(std::max(bits_.size(), (found + 7) / 8));
    PackBytes(valid_.data(), found, bits_.data());
    validity_.Append(bits_.data(), found);
  }
  return absl::OkStatus();
}

size_t NodeLevels::AppendLists(const Entries& entries) {
  const LevelRule rule = rule_;
  kinds_.resize(std::max(kinds_.size(), entries.count));
  uint8_t* const kinds = kinds_.data();
  uint8_t* const valid = valid_.data();
  // The compiler makes vector instructions for this loop.
  for (size_t i = 0; i < entries.count; ++i) {
    const uint16_t repetition = entries.repetition[i];
    const uint16_t definition = entries.definition[i];
    const auto is_list =
        static_cast<uint8_t>((repetition <= rule.repetition) & (definition >= rule.definition));
    const auto is_element = static_cast<uint8_t>((repetition <= rule.element_repetition) &
                                                 (definition >= rule.element_definition));
    const auto is_valid = static_cast<uint8_t>(definition >= rule.valid_definition);
    kinds[i] = static_cast<uint8_t>(is_list | is_element << 1 | is_valid << 2);
  }
  // The loop below writes one number more than the number of lists. Truncate removes this number.
  const size_t before = offsets_.size();
  auto* const begins =
      reinterpret_cast<int32_t*>(offsets_.Extend((entries.count + 1) * sizeof(int32_t)));
  size_t lists = 0;
  auto elements = static_cast<int32_t>(num_elements_);
  for (size_t i = 0; i < entries.count; ++i) {
    const uint8_t kind = kinds[i];
    begins[lists] = elements;
    valid[lists] = kind >> 2;
    lists += kind & 1;
    elements += kind >> 1 & 1;
  }
  offsets_.Truncate(before + lists * sizeof(int32_t));
  num_elements_ = static_cast<size_t>(elements);
  return lists;
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
