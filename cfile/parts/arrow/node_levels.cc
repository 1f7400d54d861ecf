#include "cfile/parts/arrow/node_levels.h"

#include <algorithm>
#include <cstring>

#include "cfile/parts/arrow/buffer_pool.h"
#include "cfile/parts/arrow/value_store.h"

namespace cfile::internal {

using encodings::FoundLevelValues;
using encodings::kLevelValuesAhead;

FoundLevelValues ValueFinder::Find(const LevelRule& rule, const Entries& entries,
                                   size_t elements_before, int32_t* begins) {
  valid_.resize(std::max(valid_.size(), entries.count + kLevelValuesAhead));
  const FoundLevelValues found =
      encodings::FindLevelValues(rule, entries.repetition, entries.definition, entries.count,
                                 static_cast<uint32_t>(elements_before), begins, valid_.data());
  has_nulls_ = std::memchr(valid_.data(), 0, found.values) != nullptr;
  if (has_nulls_) {
    bits_.resize(std::max(bits_.size(), (found.values + 7) / 8));
    PackBytes(valid_.data(), found.values, bits_.data());
  }
  return found;
}

absl::Status NodeLevels::Append(const Entries& entries) {
  if (num_elements_ + entries.count > INT32_MAX)
    return absl::OutOfRangeError("lists have more than 2^31 - 1 elements in one batch");
  int32_t* begins = nullptr;
  const size_t before = offsets_.size();
  if (rule_.is_list) {
    const size_t room = (entries.count + kLevelValuesAhead) * sizeof(int32_t);
    if (before == 0 && offsets_.capacity() < room)
      offsets_ = TakeBytes(std::max(room, capacity_ * sizeof(int32_t)));
    begins = reinterpret_cast<int32_t*>(offsets_.Extend(room));
  }
  const FoundLevelValues found = finder_.Find(rule_, entries, num_elements_, begins);
  if (rule_.is_list) offsets_.Truncate(before + found.values * sizeof(int32_t));
  num_elements_ += found.elements;
  validity_.Append(finder_.validity(), found.values);
  return absl::OkStatus();
}

void NodeLevels::Truncate(size_t size, size_t num_elements) {
  validity_.Truncate(size);
  offsets_.Truncate(std::min(offsets_.size(), size * sizeof(int32_t)));
  num_elements_ = num_elements;
}

void NodeLevels::Finish(ArrayParts& parts) {
  validity_.Finish(parts);
  if (!rule_.is_list) return;
  const auto end = static_cast<int32_t>(num_elements_);
  std::memcpy(offsets_.Extend(sizeof(end)), &end, sizeof(end));
  num_elements_ = 0;
  FinishBytes(offsets_, parts);
}

}  // namespace cfile::internal
