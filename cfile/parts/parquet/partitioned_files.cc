#include "cfile/parts/parquet/partitioned_files.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>

#include "absl/strings/numbers.h"
#include "cfile/core/io/file_system.h"
#include "cfile/core/io/percent_decode.h"
#include "encodings/core/status.h"

namespace cfile::internal {
namespace {

namespace fs = std::filesystem;
using encodings::StrCat;

constexpr std::string_view kNull = "__HIVE_DEFAULT_PARTITION__";
constexpr size_t kMaxDepth = 64;

absl::Status Invalid(const fs::path& path, std::string_view what) {
  return absl::InvalidArgumentError(StrCat(path.string(), ": ", what));
}

bool HasParent(const std::string& path) {
  const fs::path names(path);
  return std::find(names.begin(), names.end(), "..") != names.end();
}

std::optional<int64_t> ParseInteger(const std::string& text) {
  int64_t value;
  // Texts such as 007 and +1 stay strings.
  if (!absl::SimpleAtoi(text, &value) || std::to_string(value) != text) return std::nullopt;
  return value;
}

// The days since 1970-01-01 of a text of the form YYYY-MM-DD.
std::optional<int32_t> ParseDate(const std::string& text) {
  int numbers[3];
  if (text.size() != 10 || text[4] != '-' || text[7] != '-') return std::nullopt;
  for (size_t i = 0; i < 3; ++i) {
    const std::string digits = i == 0 ? text.substr(0, 4) : text.substr(2 + 3 * i, 2);
    if (digits.find_first_not_of("0123456789") != std::string::npos ||
        !absl::SimpleAtoi(digits, &numbers[i])) {
      return std::nullopt;
    }
  }
  const std::chrono::year_month_day day{std::chrono::year(numbers[0]),
                                        std::chrono::month(static_cast<unsigned>(numbers[1])),
                                        std::chrono::day(static_cast<unsigned>(numbers[2]))};
  if (!day.ok()) return std::nullopt;
  return static_cast<int32_t>(std::chrono::sys_days(day).time_since_epoch().count());
}

// Collects the files. A value of `values` is that of the folder with the same number in `names`.
class Walk {
 public:
  absl::Status Enter(const fs::path& directory, size_t depth) {
    if (depth > kMaxDepth) return Invalid(directory, "the folders are too deep");
    std::error_code error;
    std::vector<fs::directory_entry> entries;
    for (fs::directory_iterator entry(directory, error), end; !error && entry != end;
         entry.increment(error)) {
      const std::string name = entry->path().filename().string();
      if (!name.starts_with('.') && !name.starts_with('_')) entries.push_back(*entry);
    }
    if (error) return Failed(directory, error);
    std::sort(entries.begin(), entries.end());
    for (const fs::directory_entry& entry : entries) {
      const fs::file_status status = entry.symlink_status(error);
      if (error) return Failed(entry.path(), error);
      if (fs::is_symlink(status)) {
        return Invalid(entry.path(),
                       "a symbolic link; links are refused, because they may lead outside");
      }
      if (fs::is_directory(status)) {
        CFILE_RETURN_IF_ERROR(EnterFolder(entry.path(), depth));
      } else if (fs::is_regular_file(status)) {
        CFILE_RETURN_IF_ERROR(AddFile(entry.path()));
      } else {
        return Invalid(entry.path(), "neither a file nor a folder");
      }
    }
    return absl::OkStatus();
  }

  const std::vector<std::string>& names() const { return names_of_files_; }
  std::vector<PartitionedFile>& files() { return files_; }

 private:
  static absl::Status Failed(const fs::path& path, const std::error_code& error) {
    return SystemError("read", path.string(), error.value());
  }

  absl::Status EnterFolder(const fs::path& path, size_t depth) {
    const std::string name = path.filename().string();
    const size_t equals = name.find('=');
    if (equals == std::string::npos) return Enter(path, depth + 1);
    const std::string_view text = std::string_view(name).substr(equals + 1);
    std::string column;
    std::optional<std::string> value(std::in_place);
    if (!PercentDecode(std::string_view(name).substr(0, equals), column) ||
        !PercentDecode(text, *value))
      return Invalid(path, "two hexadecimal digits expected after each % of the folder's name");
    if (HasParent(column) || HasParent(*value))
      return Invalid(path,
                     "\"..\" in the name of a folder is refused, because it may lead outside");
    if (column.empty()) return Invalid(path, "there is no column name before the =");
    if (std::count(names_.begin(), names_.end(), column) > 0)
      return Invalid(path, StrCat("a second folder for column ", column));
    // The null text is compared before decoding: a value may have this text only if encoded.
    if (text == kNull) value.reset();
    names_.push_back(std::move(column));
    values_.push_back(std::move(value));
    const absl::Status status = Enter(path, depth + 1);
    names_.pop_back();
    values_.pop_back();
    return status;
  }

  absl::Status AddFile(const fs::path& path) {
    if (files_.empty()) names_of_files_ = names_;
    if (names_ != names_of_files_) {
      return Invalid(path,
                     StrCat("its folders name other columns than the folders of ", files_[0].path));
    }
    files_.push_back({.path = path.string(), .values = values_});
    return absl::OkStatus();
  }

  std::vector<std::string> names_;
  std::vector<std::optional<std::string>> values_;
  std::vector<std::string> names_of_files_;
  std::vector<PartitionedFile> files_;
};

}  // namespace

absl::StatusOr<PartitionedFiles> FindPartitionedFiles(const std::string& directory) {
  Walk walk;
  CFILE_RETURN_IF_ERROR(walk.Enter(directory, 0));
  PartitionedFiles result{.files = std::move(walk.files())};
  if (result.files.empty()) return Invalid(directory, "there are no files in this directory");
  for (size_t i = 0; i < walk.names().size(); ++i) {
    bool integers = true, dates = true, any = false;
    ColumnSchema column{.name = walk.names()[i]};
    for (const PartitionedFile& file : result.files) {
      const std::optional<std::string>& value = file.values[i];
      if (!value) {
        column.nullable = true;
        continue;
      }
      any = true;
      integers = integers && ParseInteger(*value);
      dates = dates && ParseDate(*value);
    }
    column.type = !any || (!integers && !dates) ? ColumnType::String()
                  : integers                    ? ColumnType::Int64()
                                                : ColumnType::Date();
    result.columns.push_back(std::move(column));
  }
  return result;
}

template <typename T>
std::optional<T> PartitionValue(const std::string& text, const ColumnType& type) {
  if constexpr (std::is_same_v<T, std::string_view>) {
    if (type == ColumnType::String()) return text;
  } else if constexpr (std::is_same_v<T, int64_t>) {
    if (type == ColumnType::Int64()) return ParseInteger(text);
  } else if constexpr (std::is_same_v<T, int32_t>) {
    if (type == ColumnType::Date()) return ParseDate(text);
    const std::optional<int64_t> value = ParseInteger(text);
    if (type == ColumnType::Int32() && value == static_cast<int32_t>(value.value_or(0)))
      return static_cast<int32_t>(*value);
  }
  return std::nullopt;
}

#define CFILE_INSTANTIATE(T) \
  template std::optional<T> PartitionValue<T>(const std::string&, const ColumnType&);
CFILE_FOR_EACH_VALUE_TYPE(CFILE_INSTANTIATE)
#undef CFILE_INSTANTIATE

}  // namespace cfile::internal
