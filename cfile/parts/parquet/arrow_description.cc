#include "cfile/parts/parquet/arrow_description.h"

#include <algorithm>

namespace cfile::internal {
namespace {

// The longest name of a time zone that is taken. Names of the IANA database are shorter.
constexpr size_t kMaxZoneBytes = 64;

// Returns the time zone of a timestamp, for example UTC of "tsu:UTC". "": there is none.
std::string ZoneOf(std::string_view format) {
  if (!format.starts_with("ts") || format.size() < 4) return "";
  const std::string_view zone = format.substr(4);
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("_+-/:").find(c) != std::string_view::npos;
  };
  if (zone.size() > kMaxZoneBytes || !std::all_of(zone.begin(), zone.end(), is_plain)) return "";
  return std::string(zone);
}

// Appends the leaves below a field.
void AppendLeaves(const ArrowField& field, bool is_dictionary, std::vector<ArrowLeaf>& leaves) {
  if (!field.dictionary.empty()) return AppendLeaves(field.dictionary[0], true, leaves);
  if (field.children.empty())
    leaves.push_back({.time_zone = ZoneOf(field.format), .is_dictionary = is_dictionary});
  // The first child of a run-end encoded field is the ends of the runs.
  for (size_t i = field.format == "+r" ? 1 : 0; i < field.children.size(); ++i)
    AppendLeaves(field.children[i], is_dictionary, leaves);
}

}  // namespace

std::vector<ArrowLeaf> ArrowLeavesOf(std::string_view text, size_t num_leaves) {
  const std::optional<ArrowField> schema = ParseArrowSchema(text);
  std::vector<ArrowLeaf> leaves;
  if (schema) {
    for (const ArrowField& field : schema->children) AppendLeaves(field, false, leaves);
  }
  if (leaves.size() != num_leaves) leaves.clear();
  return leaves;
}

}  // namespace cfile::internal
