#include "tools/dump/choice_text.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace cfile::tools {
namespace {

std::string StorageText(const StorageSize& storage, Compression codec) {
  const std::string encoding = EncodingName(storage.encoding);
  return storage.compressed ? absl::StrCat(encoding, " with ", CompressionName(codec)) : encoding;
}

// Two digits for small numbers, all digits before the point for large ones.
std::string Short(double number) { return absl::StrFormat("%.*f", number < 9.95 ? 1 : 0, number); }

Json StorageJson(const StorageSize& storage) {
  return {{"encoding", EncodingName(storage.encoding)},
          {"compressed", storage.compressed},
          {"bytes", JsonInteger(storage.size_bytes)}};
}

}  // namespace

std::string GoalName(Goal goal) {
  const auto* const named =
      std::ranges::find_if(kGoals, [&](const NamedGoal& each) { return each.goal == goal; });
  return named == std::end(kGoals) ? "unknown" : std::string(named->name);
}

std::string ChoiceText(const ChoiceInfo& choice, Compression codec) {
  const auto bytes = static_cast<double>(choice.chosen.size_bytes);
  const double smaller = static_cast<double>(choice.plain_size_bytes) / bytes;
  const double above = 100 * (bytes / static_cast<double>(choice.smallest.size_bytes) - 1);
  std::string text =
      absl::StrCat(StorageText(choice.chosen, codec), ", ",
                   Short(8 * bytes / static_cast<double>(choice.num_values)), " bits: ");
  if (smaller >= 1.05) absl::StrAppend(&text, Short(smaller), " × smaller than plain, ");
  if (choice.smallest == choice.chosen) {
    text += "the smallest, ";
  } else {
    absl::StrAppend(&text, above < 1 ? "less than 1" : absl::StrFormat("%.0f", above),
                    " % above the smallest (", StorageText(choice.smallest, codec), "), ");
  }
  if (choice.scan_bytes_per_second == 0) return text + "scanned in place";
  return absl::StrFormat("%sscans %.1f GB/s", text,
                         static_cast<double>(choice.scan_bytes_per_second) / 1e9);
}

Json ChoiceJson(const ChoiceInfo& choice) {
  const uint64_t speed = choice.scan_bytes_per_second;
  return {{"goal", GoalName(choice.goal)},
          {"values", JsonInteger(choice.num_values)},
          {"plain_bytes", JsonInteger(choice.plain_size_bytes)},
          {"chosen", StorageJson(choice.chosen)},
          {"smallest", StorageJson(choice.smallest)},
          {"scan_bytes_per_second", speed == 0 ? Json(nullptr) : JsonInteger(speed)}};
}

}  // namespace cfile::tools
