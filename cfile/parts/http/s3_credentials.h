// The keys, the region and the endpoint for s3:// URLs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "cfile/http_options.h"

namespace cfile::internal {

// The sections of an INI file, as the command-line tools of Amazon write it:
// {section: {name: value}}. Lines that begin with # or ; are comments. Lines with leading spaces
// belong to the setting before them and are left out, like lines without '='.
using IniSections = std::map<std::string, std::map<std::string, std::string>>;
IniSections ParseIni(std::string_view text);

// Sets the empty fields of `options` from the environment and from the files that
// cfile/http_options.h names: all but the session token, and the keys if `anonymous` is set.
// kFailedPrecondition: there are no keys. kInvalidArgument: a file cannot be read, only one of the
// two keys is there, or the region or the endpoint is malformed.
absl::StatusOr<S3Options> CompleteS3Options(S3Options options);

// Completed options, whose keys are those that the files have now: programs replace keys that
// expire. Thread-safe.
class S3Keys {
 public:
  // Errors: those of CompleteS3Options.
  static absl::StatusOr<std::shared_ptr<S3Keys>> Read(const S3Options& given);

  // Reads the files again if they have changed. Keeps the keys while this fails: a file may be
  // half written.
  S3Options Now();

 private:
  using FileStates = std::vector<std::pair<std::filesystem::file_time_type, uintmax_t>>;

  explicit S3Keys(const S3Options& given) : given_(given) {}
  FileStates States() const;

  const S3Options given_;
  std::vector<std::string> paths_;  // of the files; none if the keys are from elsewhere
  std::mutex mutex_;                // guards the following
  FileStates states_;               // before the files were read
  S3Options options_;
};

}  // namespace cfile::internal
