#include "cfile/parts/table/commit/part_copy.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "absl/strings/str_cat.h"
#include "cfile/core/io/file_system.h"
#include "cfile/parts/table/manifest/table_file.h"
#include "cfile/parts/table/storage/local_storage.h"
#include "encodings/core/status.h"

namespace cfile::internal {
namespace {

constexpr std::string_view kCopyPrefix = "part-";
constexpr std::string_view kCopySuffix = ".cft";
constexpr std::string_view kMarkPrefix = "dropped-";
constexpr size_t kIdDigits = 16;

std::string TextOf(const CommitTag& tag) {
  return absl::StrCat(tag.sequence, "-", absl::Hex(tag.id, absl::kZeroPad16));
}

// Parses all of `text`.
bool ParseNumber(std::string_view text, int base, uint64_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  return error == std::errc() && end == text.data() + text.size();
}

std::optional<CommitTag> ParseTag(std::string_view text) {
  CommitTag tag;
  const size_t dash = text.find('-');
  if (dash == text.npos || text.size() - dash - 1 != kIdDigits ||
      !ParseNumber(text.substr(0, dash), 10, tag.sequence) ||
      !ParseNumber(text.substr(dash + 1), 16, tag.id) || TextOf(tag) != text) {
    return std::nullopt;
  }
  return tag;
}

}  // namespace

absl::StatusOr<CommitTag> NewCommitTag(uint64_t sequence) {
  CFILE_ASSIGN_OR_RETURN(const std::string random, RandomName());
  CommitTag tag{.sequence = sequence};
  ParseNumber(std::string_view(random).substr(0, kIdDigits), 16, tag.id);
  return tag;
}

std::string PartCopyName(const CommitTag& tag) {
  return absl::StrCat(std::string(kCopyPrefix), TextOf(tag), std::string(kCopySuffix));
}

std::string DroppedMarkName(const CommitTag& tag) {
  return absl::StrCat(std::string(kMarkPrefix), TextOf(tag));
}

std::optional<CommitTag> ParsePartCopyName(std::string_view name) {
  if (!name.starts_with(kCopyPrefix) || !name.ends_with(kCopySuffix)) return std::nullopt;
  name.remove_prefix(kCopyPrefix.size());
  if (name.size() < kCopySuffix.size()) return std::nullopt;
  return ParseTag(name.substr(0, name.size() - kCopySuffix.size()));
}

std::optional<CommitTag> ParseDroppedMarkName(std::string_view name) {
  if (name == kDroppedFileName) {
    return CommitTag{.sequence = std::numeric_limits<uint64_t>::max()};
  }
  if (!name.starts_with(kMarkPrefix)) return std::nullopt;
  return ParseTag(name.substr(kMarkPrefix.size()));
}

TableContents CopyOfPart(const TableContents& table, const TablePart& part,
                         std::span<const TablePart> replaced) {
  TableContents copy{.schema = table.schema,
                     .parts = {part},
                     .incompatible_features = table.incompatible_features,
                     .identities = table.identities,
                     .sequence = table.sequence,
                     .commit_ids = table.commit_ids,
                     .metadata = table.metadata,
                     .oldest_reader = table.oldest_reader};
  for (const TablePart& each : replaced) copy.replaced.push_back(each.directory);
  return copy;
}

absl::StatusOr<TableContents> ReadCopies(const Storage& storage, const std::string& part,
                                         const ReaderOptions& limits) {
  CFILE_ASSIGN_OR_RETURN(const std::vector<StorageEntry> files, storage.List(part));
  return ReadCopies(storage, part, files, limits);
}

absl::StatusOr<TableContents> ReadCopies(const Storage& storage, const std::string& part,
                                         std::span<const StorageEntry> files,
                                         const ReaderOptions& limits) {
  std::optional<TableContents> found;
  for (const StorageEntry& file : files) {
    if (!ParsePartCopyName(std::string_view(file.path).substr(file.path.find('/') + 1))) continue;
    const auto object = storage.Read(file.path, limits.max_metadata_size_bytes);
    if (absl::IsNotFound(object.status())) continue;  // another program has just removed it
    CFILE_RETURN_IF_ERROR(object.status());
    const std::string path = absl::StrCat(storage.name(), "/", file.path);
    CFILE_ASSIGN_OR_RETURN(TableContents copy, ParseTable(object->bytes, path, limits));
    if (copy.parts.size() != 1 || copy.parts[0].directory != part)
      return encodings::DataLoss(path, ": this is not the copy of this part");
    if (found)
      copy.replaced.insert(copy.replaced.end(), found->replaced.begin(), found->replaced.end());
    found = std::move(copy);
  }
  if (found) return *std::move(found);
  return absl::NotFoundError(
      absl::StrCat(storage.name(), "/", part, ": there is no copy of its description"));
}

void CommitHistory::Add(const TableContents& table, bool attempt) {
  for (size_t i = attempt ? 1 : 0; i < table.commit_ids.size() && i < table.sequence; ++i) {
    ids_.emplace(table.sequence - i, table.commit_ids[i]);
  }
}

bool CommitHistory::Proves(const CommitTag& tag) const {
  const auto found = ids_.find(tag.sequence);
  return found != ids_.end() && found->second == tag.id;
}

bool CommitHistory::Disproves(const CommitTag& tag) const {
  const auto found = ids_.find(tag.sequence);
  return found != ids_.end() && found->second != tag.id;
}

bool IsTablePath(std::string_view path) {
  const size_t slash = std::min(path.find('/'), path.size());
  const std::string_view folder = path.substr(0, slash);
  std::string_view name = slash == path.size() ? path : path.substr(slash + 1);
  if (const std::string_view final_name = FinalNameOf(name); !final_name.empty()) {
    name = final_name;
  }
  if (slash == path.size()) {
    return name == kTableFileName || name == LockFilePath(kTableFileName) ||
           IsDamagedTableName(name) || IsColumnsMark(name) || IsChunkName(name) ||
           (name.ends_with(DroppedMarkOfChunk("")) && IsChunkName(name.substr(0, name.rfind('.'))));
  }
  return IsRandomName(folder, kTemporaryFolderPrefix) ||
         (IsPartName(folder) && (name.empty() || IsColumnFileName(name) ||
                                 ParseDroppedMarkName(name) || ParsePartCopyName(name)));
}

}  // namespace cfile::internal
