// Options in dictionaries of Python (cfile/_native.pyi). Everything here needs the interpreter
// lock.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "cfile/options.h"
#include "cfile/schema.h"
#include "tools/python/native/errors.h"

namespace cfile_python {

// Sets options of the library from a dict. An option that is absent or None keeps its value.
//
//   Given(dict).To("page_index", options.page_index).To("columns", options.columns).Done();
class Given {
 public:
  // `what`: the beginning of the texts of errors, for example "storage_options: ".
  explicit Given(const nb::dict& given, std::string_view what = "") : given_(given), what_(what) {}

  // TypeError: the value has a wrong type or size; the text names the option.
  template <typename T>
  Given& To(const char* name, T& option) {
    const nb::object value = Find(name);
    if (!value.is_none() && !nb::try_cast<T>(value, option)) RaiseType(name, value);
    return *this;
  }
  // An option whose value is a name.
  template <typename T>
  Given& To(const char* name, absl::StatusOr<T> (*parse)(std::string_view), T& option) {
    std::string text;
    To(name, text);
    if (!Find(name).is_none()) option = ValueOf(parse(text));
    return *this;
  }
  // ArgumentError: the dict has an option that no call of To has named.
  void Done() const;

 private:
  nb::object Find(const char* name);
  [[noreturn]] void RaiseType(const char* name, nb::handle value) const;

  const nb::dict& given_;
  const std::string_view what_;
  std::vector<std::string> names_;  // of the options so far
};

// Returns the options of one file (WriterSettings).
cfile::WriterOptions OptionsOf(const nb::dict& settings);

// Returns the options of each column of a table. The settings for "" hold for all columns that
// `settings` does not name. KeyError: there is no such column.
std::vector<cfile::WriterOptions> OptionsOf(const nb::dict& settings, const cfile::Schema& schema);

}  // namespace cfile_python
