// Paths and URLs of files and tables (Location of cfile/_native.pyi).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cfile/io.h"
#include "cfile/options.h"
#include "cfile/schema.h"
#include "cfile/storage.h"
#include "tools/python/native/errors.h"

namespace cfile {
class HttpClient;
}  // namespace cfile

namespace cfile_python {

// A path, or a URL and the client that reaches it. A plain value.
class Location {
 public:
  Location(std::string path);  // NOLINT(google-explicit-constructor): most locations are paths
  // `options`: see cfile.open. Locations with the same options share a client and its connections.
  // KeyError: there is no such option. TypeError, ValueError: the value of an option is wrong.
  // UnsupportedError: this build cannot read URLs. Needs the interpreter lock.
  Location(std::string url, const nb::dict& options);

  // The path or the URL, as it was given.
  const std::string& text() const { return text_; }
  bool is_url() const { return client_ != nullptr; }

  // Return what is there. Reads and writes run the handlers of signals from time to time, so that
  // KeyboardInterrupt ends long work. OpenFile and CreateFile do not need the interpreter lock.
  absl::StatusOr<std::shared_ptr<const cfile::Source>> OpenFile() const;
  absl::StatusOr<std::unique_ptr<cfile::Sink>> CreateFile(
      cfile::ExistingFile existing = cfile::ExistingFile::kReplaced) const;
  // The storage of a table. Raises: the URL is not one of a table. Needs the interpreter lock.
  std::shared_ptr<cfile::Storage> Storage() const;

 private:
  std::string text_;
  std::shared_ptr<const cfile::HttpClient> client_;  // null: a path
};

// The limits with which this package opens files, and opens and changes tables.
inline const cfile::ReaderOptions kLimits{.access = cfile::ReaderOptions::Access::kPread,
                                          .blocks_up_to_file_size = true,
                                          .max_metadata_size_bytes = size_t{256} << 20};

// Returns the location that a str or a Location names; nullopt for other objects. Needs the
// interpreter lock.
std::optional<Location> LocationOf(const nb::object& object);

// Calls work(storage) with the storage of the table at `place`, without the interpreter lock.
// Returns its result, or raises its error.
template <typename Work>
auto AtTable(const Location& place, Work&& work) {
  const std::shared_ptr<cfile::Storage> storage = place.Storage();
  return WithoutLock([&] { return work(storage); });
}

// The schema of the table at `place`, now. Raises errors.
cfile::Schema SchemaOfTable(const Location& place);

// The options of each column of the table at `place` (OptionsOf); none if there are no settings.
std::vector<cfile::WriterOptions> OptionsOfTable(const Location& place, const nb::dict& settings);

// Adds the class Location and the function has_http.
void AddLocation(nb::module_& module);

}  // namespace cfile_python
