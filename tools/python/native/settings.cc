#include "tools/python/native/settings.h"

#include <functional>
#include <string_view>
#include <utility>

#include "cfile/status.h"
#include "cfile/table.h"
#include "cfile/types.h"
#include "tools/python/native/location.h"

namespace cfile_python {
namespace {

using cfile::WriterOptions;

cfile::Goal GoalOf(const std::string& name) {
  if (name == "balanced") return cfile::Goal::kBalanced;
  if (name == "size") return cfile::Goal::kSize;
  if (name == "speed") return cfile::Goal::kSpeed;
  throw nb::value_error(
      cfile::StrCat("goal: expected balanced, size or speed, got ", name).c_str());
}

template <typename T>
T Cast(const std::string& option, nb::handle value) {
  T result{};
  if (nb::try_cast<T>(value, result)) return result;
  throw nb::type_error(cfile::StrCat(option, ": ", nb::cast<std::string>(nb::repr(value)),
                                     " has a wrong type or size")
                           .c_str());
}

void Set(const std::string& option, nb::handle value, WriterOptions& options) {
  if (option == "encoding") {
    options.encoding = ValueOf(cfile::ParseEncoding(Cast<std::string>(option, value)));
  } else if (option == "compression") {
    options.compression = ValueOf(cfile::ParseCompression(Cast<std::string>(option, value)));
  } else if (option == "compression_level") {
    options.compression_level = Cast<int>(option, value);
  } else if (option == "goal") {
    options.goal = GoalOf(Cast<std::string>(option, value));
  } else if (option == "nullable") {
    options.nullable = Cast<bool>(option, value);
  } else if (option == "value_index") {
    options.value_index = Cast<bool>(option, value);
  } else if (option == "block_size_bytes") {
    options.block_size_bytes = Cast<size_t>(option, value);
  } else if (option == "bloom_filter_bits_per_value") {
    options.bloom_filter_bits_per_value = Cast<uint32_t>(option, value);
  } else if (option == "oldest_reader") {
    options.oldest_reader = ValueOf(cfile::ParseOldestReader(Cast<std::string>(option, value)));
  } else if (option == "metadata") {
    for (const auto [key, text] : Cast<nb::dict>(option, value)) {
      options.metadata.emplace_back(Cast<std::string>(option, key),
                                    Cast<std::string>(option, text));
    }
  } else {
    throw nb::key_error(option.c_str());
  }
}

}  // namespace

WriterOptions OptionsOf(const nb::dict& settings) {
  WriterOptions options;
  for (const auto [option, value] : settings) Set(nb::cast<std::string>(option), value, options);
  return options;
}

std::vector<WriterOptions> OptionsOf(const nb::dict& settings, const cfile::Schema& schema) {
  WriterOptions others;
  for (const auto [column, options] : settings) {
    if (nb::cast<std::string>(column).empty()) others = OptionsOf(nb::cast<nb::dict>(options));
  }
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

std::vector<cfile::WriterOptions> OptionsOfTable(const Location& path, const nb::dict& settings) {
  if (settings.size() == 0) return {};
  const auto table =
      AtTable(path, [](const auto& storage) { return cfile::TableReader::Open(storage); });
  return OptionsOf(settings, table.schema());
}

}  // namespace cfile_python
