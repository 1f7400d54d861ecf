#include "tools/python/native/settings.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_join.h"
#include "cfile/status.h"
#include "cfile/types.h"

namespace cfile_python {
namespace {

using cfile::WriterOptions;

absl::StatusOr<cfile::Goal> ParseGoal(std::string_view name) {
  if (name == "balanced") return cfile::Goal::kBalanced;
  if (name == "size") return cfile::Goal::kSize;
  if (name == "speed") return cfile::Goal::kSpeed;
  return absl::InvalidArgumentError(
      cfile::StrCat("goal: expected balanced, size or speed, got ", name));
}

}  // namespace

nb::object Given::Find(const char* name) {
  if (std::find(names_.begin(), names_.end(), name) == names_.end()) names_.emplace_back(name);
  return given_.contains(name) ? nb::object(given_[name]) : nb::none();
}

void Given::RaiseType(const char* name, nb::handle value) const {
  throw nb::type_error(cfile::StrCat(what_, name, ": ", nb::cast<std::string>(nb::repr(value)),
                                     " has a wrong type or size")
                           .c_str());
}

void Given::Done() const {
  for (const auto [key, value] : given_) {
    const auto name = nb::cast<std::string>(nb::str(key));
    if (std::find(names_.begin(), names_.end(), name) != names_.end()) continue;
    Raise(absl::InvalidArgumentError(cfile::StrCat(what_, "there is no option ", name,
                                                   "; there are ", absl::StrJoin(names_, ", "))));
  }
}

WriterOptions OptionsOf(const nb::dict& settings) {
  WriterOptions options;
  nb::dict metadata;
  Given(settings)
      .To("encoding", cfile::ParseEncoding, options.encoding)
      .To("compression", cfile::ParseCompression, options.compression)
      .To("goal", ParseGoal, options.goal)
      .To("nullable", options.nullable)
      .To("value_index", options.value_index)
      .To("block_size_bytes", options.block_size_bytes)
      .To("bloom_filter", options.bloom_filter_bits_per_value)
      .To("max_metadata_size_bytes", options.max_metadata_size_bytes)
      .To("pack_below_bytes", options.max_packed_part_bytes)
      .To("oldest_reader", cfile::ParseOldestReader, options.oldest_reader)
      .To("metadata", metadata)
      .Done();
  for (const auto [key, text] : metadata)
    options.metadata.emplace_back(nb::cast<std::string>(key), nb::cast<std::string>(text));
  return options;
}

std::vector<WriterOptions> OptionsOf(const nb::dict& settings, const cfile::Schema& schema) {
  WriterOptions others;
  if (settings.contains("")) others = OptionsOf(nb::cast<nb::dict>(settings[""]));
  std::vector<WriterOptions> columns(schema.columns.size(), others);
  for (const auto [column, options] : settings) {
    const std::string name = nb::cast<std::string>(column);
    if (name.empty()) continue;
    const std::optional<size_t> position = schema.Find(name);
    if (!position) throw nb::key_error(name.c_str());
    columns[*position] = OptionsOf(nb::cast<nb::dict>(options));
  }
  return columns;
}

}  // namespace cfile_python
