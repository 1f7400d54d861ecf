#include "cfile/parts/table/merge/newest_rows.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "cfile/parts/table/merge/key_merge.h"
#include "cfile/parts/table/merge/newest_of_key.h"
#include "cfile/statistics.h"
#include "encodings/core/status.h"

namespace cfile::internal {

absl::StatusOr<RowBits> NewestRows::OfPart(const TableReader& table, size_t part,
                                           const std::atomic<bool>* cancelled) {
  const std::lock_guard lock(mutex_);
  if (groups_.empty()) CFILE_RETURN_IF_ERROR(Group(table));
  const size_t group = part < group_of_.size() ? group_of_[part] : 0;
  if (group == 0) return RowBits();
  if (bits_[part] == nullptr) CFILE_RETURN_IF_ERROR(Merge(table, groups_[group], cancelled));
  return bits_[part];
}

absl::Status NewestRows::Group(const TableReader& table) {
  struct Part {
    size_t number;
    std::string least, greatest;
  };
  std::vector<Part> parts;
  size_t num_parts = 0;
  const size_t keys = *table.schema().key_index();
  for (; num_parts < table.num_parts(); ++num_parts) {
    CFILE_ASSIGN_OR_RETURN(const PartInfo info, table.part(num_parts));
    if (info.num_rows == 0) continue;
    CFILE_ASSIGN_OR_RETURN(BlockStatistics bounds, table.part_bounds(num_parts, keys));
    if (!bounds.min_key || !bounds.max_key) {
      return encodings::DataLoss(table.directory(), ": part ", info.name,
                                 " has no bounds of its compound keys");
    }
    if ((low_ && *bounds.max_key < *low_) || (high_ && *bounds.min_key >= *high_)) continue;
    parts.push_back({num_parts, *std::move(bounds.min_key), *std::move(bounds.max_key)});
  }
  std::sort(parts.begin(), parts.end(),
            [](const Part& a, const Part& b) { return a.least < b.least; });
  std::vector<std::vector<size_t>> groups(1);
  std::vector<size_t> group_of(num_parts);
  for (size_t begin = 0, end = 0; begin < parts.size(); begin = end) {
    std::string greatest = parts[begin].greatest;
    for (++end; end < parts.size() && parts[end].least <= greatest; ++end)
      greatest = std::max(greatest, parts[end].greatest);
    if (end - begin == 1) continue;
    groups.emplace_back();
    for (size_t i = begin; i < end; ++i) {
      groups.back().push_back(parts[i].number);
      group_of[parts[i].number] = groups.size() - 1;
    }
  }
  groups_ = std::move(groups);
  group_of_ = std::move(group_of);
  bits_.resize(num_parts);
  return absl::OkStatus();
}

absl::Status NewestRows::Merge(const TableReader& table, const std::vector<size_t>& group,
                               const std::atomic<bool>* cancelled) {
  std::vector<bool> chosen(*std::max_element(group.begin(), group.end()) + 1);
  for (const size_t part : group) chosen[part] = true;
  CFILE_ASSIGN_OR_RETURN(const auto merge,
                         KeyMerge::Create(table, *table.schema().key_index(), chosen));
  const std::string_view low = low_ ? std::string_view(*low_) : "";
  const std::string_view high = high_ ? std::string_view(*high_) : "";
  if (low_ || high_) {
    CFILE_RETURN_IF_ERROR(merge->SeekToKeyRange(low_ ? &low : nullptr, high_ ? &high : nullptr));
  }
  // Grow with the keys that were read, because the number of rows of a damaged part may be wrong.
  std::vector<std::vector<uint8_t>> bits(chosen.size());
  const auto keep = [&](const void*, const Run& row) {
    std::vector<uint8_t>& of_part = bits[row.part];
    const size_t byte = static_cast<size_t>(row.begin / 8);
    if (byte >= of_part.size()) of_part.resize(std::max(byte + 1, 2 * of_part.size()));
    of_part[byte] |= static_cast<uint8_t>(1u << row.begin % 8);
  };
  NewestOfKey newest(merge->type().physical());
  KeyMerge::Rows rows;
  do {
    if (cancelled != nullptr && cancelled->load(std::memory_order_relaxed))
      return absl::CancelledError(absl::StrCat(table.directory(), ": the scan was cancelled"));
    CFILE_RETURN_IF_ERROR(merge->Next(kMaxBatchRows, rows));
    newest.Add(rows, keep);
  } while (!rows.keys.empty());
  newest.Finish(keep);
  for (const size_t part : group) {
    bits_[part] = std::make_shared<const std::vector<uint8_t>>(std::move(bits[part]));
  }
  return absl::OkStatus();
}

}  // namespace cfile::internal
