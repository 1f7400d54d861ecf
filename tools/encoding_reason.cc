#include "tools/encoding_reason.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <type_traits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tools/output.h"

namespace cfile::tools {
namespace {

// The bytes of a plain value; nullopt if values have different sizes or fewer than eight bits.
std::optional<uint64_t> WidthOf(const ColumnType& type) {
  if (type.data_type == DataType::kFixedLenByteArray) return type.type_length;
  return VisitType(type, []<typename T>(std::type_identity<T>) -> std::optional<uint64_t> {
    if constexpr (kIsBytes<T> || std::is_same_v<T, bool>) return std::nullopt;
    return sizeof(T);
  });
}

std::string StorageText(const StorageSize& storage, Compression codec) {
  const std::string encoding = EncodingName(storage.encoding);
  return storage.compressed ? absl::StrCat(encoding, " with ", CompressionName(codec)) : encoding;
}

// Two digits for small numbers, all digits before the point for large ones.
std::string Short(double number) { return absl::StrFormat("%.*f", number < 9.95 ? 1 : 0, number); }

Json StorageJson(const StorageSize& storage) {
  return JsonObject({{"encoding", EncodingName(storage.encoding)},
                     {"compressed", storage.compressed},
                     {"bytes", storage.size_bytes}});
}

}  // namespace

std::string EncodingReason(const ColumnType& type, const ColumnTotals& totals) {
  if (totals.num_present == 0) return "no values";
  const auto main = std::max_element(
      totals.encodings.begin(), totals.encodings.end(),
      [](const auto& a, const auto& b) { return a.stored_bytes < b.stored_bytes; });
  if (main == totals.encodings.end() || EncodingSuits(main->encoding).empty()) return "-";
  const bool is_plain =
      main->encoding == Encoding::kPlain || main->encoding == Encoding::kParquetPlain;
  std::string reason(EncodingSuits(main->encoding));
  if (main->compressed_blocks > 0) {
    const std::string codec = CompressionName(totals.compression);
    reason = is_plain ? absl::StrCat(codec, " finds repetitions")
                      : absl::StrCat(reason, ", then ", codec);
  }
  const std::optional<uint64_t> width = WidthOf(type);
  if (!width.has_value()) return reason;
  const double part =
      static_cast<double>(totals.bytes_written) / static_cast<double>(totals.num_present * *width);
  // Small files are mostly header and footer.
  if (part >= 1) return reason;
  return absl::StrFormat("%s: %.*f %% of plain", reason, part < 0.1 ? 1 : 0, 100 * part);
}

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

Json JsonOf(const ChoiceInfo& choice) {
  const uint64_t speed = choice.scan_bytes_per_second;
  return JsonObject({{"goal", GoalName(choice.goal)},
                     {"values", choice.num_values},
                     {"plain_bytes", choice.plain_size_bytes},
                     {"chosen", StorageJson(choice.chosen)},
                     {"smallest", StorageJson(choice.smallest)},
                     {"scan_bytes_per_second", Known(speed != 0, speed)}});
}

std::string FormsText(const std::vector<EncodingTotals>& encodings, Compression compression) {
  std::string text;
  uint64_t compressed = 0;
  for (const EncodingTotals& totals : encodings) {
    compressed += totals.compressed_blocks;
    absl::StrAppend(&text, text.empty() ? "" : ", ", EncodingName(totals.encoding), " ",
                    Plural(totals.blocks, "block"));
  }
  if (text.empty()) return "no blocks";
  return absl::StrCat(text, "; ", compressed == 0 ? "none" : CompressionName(compression));
}

}  // namespace cfile::tools
