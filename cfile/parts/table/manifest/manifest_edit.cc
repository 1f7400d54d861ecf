#include "cfile/parts/table/manifest/manifest_edit.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cfile/core/format/feature_bits.h"
#include "encodings/core/assert.h"
#include "encodings/core/status.h"

namespace cfile::internal {
namespace {

class Editor {
 public:
  explicit Editor(const Manifest& manifest) : manifest_(manifest) {}

  absl::StatusOr<ManifestEdit> Apply(ManifestChange change) {
    edit_.root = manifest_.root();
    CFILE_RETURN_IF_ERROR(FindPlaces(change));
    if (!change.removed.empty() && !change.may_reveal) CFILE_RETURN_IF_ERROR(CheckHidesNothing());
    if (change.left_out) CFILE_RETURN_IF_ERROR(CheckLeftOut(*change.left_out));
    if (!places_.empty()) {
      std::vector<ChunkInfo> chunks;
      uint64_t first = 0;
      for (const ChunkInfo& chunk : manifest_.root().chunks) {
        CFILE_RETURN_IF_ERROR(EditChunk(chunk, first, chunks));
        first += chunk.num_parts;
      }
      edit_.root.chunks = std::move(chunks);
      edit_.root.parts = EditParts(manifest_.root().parts, first);
    }
    if (change.removed.empty()) {
      for (TablePart& part : change.added) edit_.root.parts.push_back(std::move(part));
    }
    // This comes before Carry, which moves parts into chunks.
    for (const std::vector<TablePart>* parts : {&edit_.root.parts, &edit_.added, &edit_.updated}) {
      for (const TablePart& part : *parts) {
        if (part.is_packed()) edit_.root.incompatible_features |= kTableFeaturePacked;
      }
    }
    if (KnowsTableFeatures(edit_.root.oldest_reader)) CFILE_RETURN_IF_ERROR(Carry());
    return std::move(edit_);
  }

 private:
  static bool Overlap(const TablePartColumn& keys, const std::string& least,
                      const std::string& greatest) {
    return keys.min_key && keys.max_key && *keys.max_key >= least && *keys.min_key <= greatest;
  }

  // Another program may have given keys to an older part meanwhile.
  absl::Status CheckLeftOut(const std::pair<std::string, std::string>& keys) const {
    const size_t column = *manifest_.root().schema.key_index();
    return manifest_.ForEachPart([&](const ManifestPart& part) -> absl::StatusOr<bool> {
      if (part.part->directory == edit_.removed.front().directory) return false;
      if (!Overlap(part.part->columns[column], keys.first, keys.second)) return true;
      return absl::AbortedError(
          absl::StrCat(manifest_.directory(), ": meanwhile part ", part.part->directory,
                       " has got keys of rows that were deleted or too old; merge again"));
    });
  }

  // Under a merge rule, a removed part must not overlap with an older part that stays.
  absl::Status CheckHidesNothing() const {
    const Schema& schema = manifest_.root().schema;
    if (!schema.merge_rule) return absl::OkStatus();
    const size_t keys = *schema.key_index();
    std::set<std::string_view> names;
    for (const TablePart& part : edit_.removed) names.insert(part.directory);
    std::vector<ManifestPart> staying;
    return manifest_.ForEachPart([&](const ManifestPart& part) -> absl::StatusOr<bool> {
      const TablePartColumn& bounds = part.part->columns[keys];
      if (!bounds.min_key || !bounds.max_key) return true;  // no rows
      if (!names.contains(part.part->directory)) {
        staying.push_back(part);
        return true;
      }
      for (const ManifestPart& older : staying) {
        if (!Overlap(older.part->columns[keys], *bounds.min_key, *bounds.max_key)) continue;
        return absl::FailedPreconditionError(
            absl::StrCat(manifest_.directory(), ": part ", part.part->directory,
                         " may have replaced or deleted rows of part ", older.part->directory,
                         ", which would count again. To remove it nevertheless, ask for "
                         "ReaderOptions::stored_rows"));
      }
      return true;
    });
  }

  // Sets places_ and edit_.removed.
  absl::Status FindPlaces(ManifestChange& change) {
    std::unordered_map<std::string_view, TablePart*> wanted;  // nullptr: to be removed
    for (const std::string& name : change.removed) wanted.emplace(name, nullptr);
    for (TablePart& part : change.updated) wanted.emplace(part.directory, &part);
    CFILE_ASSERT(wanted.size() == change.removed.size() + change.updated.size());
    std::optional<uint64_t> first_removed;
    for (uint64_t number = manifest_.num_parts(); number-- > 0 && !wanted.empty();) {
      CFILE_ASSIGN_OR_RETURN(const ManifestPart place, manifest_.Part(number));
      const auto found = wanted.find(place.part->directory);
      if (found == wanted.end()) continue;
      std::vector<TablePart>& parts = places_[number];
      if (found->second != nullptr) {
        parts.push_back(*found->second);
        parts.back().order = place.part->order;
        edit_.updated.push_back(parts.back());
      } else {
        edit_.removed.push_back(*place.part);
        first_removed = number;
      }
      wanted.erase(found);
    }
    if (!wanted.empty()) {
      return absl::NotFoundError(absl::StrCat(manifest_.directory(),
                                              "/table.cft: the table has no part ",
                                              std::string(wanted.begin()->first)));
    }
    std::reverse(edit_.removed.begin(), edit_.removed.end());
    SetOrder(change.added);
    edit_.added = change.added;
    if (first_removed) places_[*first_removed] = std::move(change.added);
    return absl::OkStatus();
  }

  // Sets TablePart::order of the new parts, which come after all other parts, or take the place of
  // a removed part.
  void SetOrder(std::vector<TablePart>& added) const {
    const std::vector<uint64_t> order = edit_.removed.empty()
                                            ? std::vector{manifest_.root().sequence + 1}
                                            : edit_.removed.front().order;
    for (size_t i = 0; i < added.size(); ++i) {
      if (!added[i].order.empty()) continue;
      added[i].order = order;
      if (added.size() > 1) added[i].order.push_back(i);
    }
  }

  // `first`: the number of the first of `parts`.
  std::vector<TablePart> EditParts(std::span<const TablePart> parts, uint64_t first) {
    std::vector<TablePart> result;
    for (const TablePart& part : parts) {
      const auto place = places_.find(first++);
      if (place == places_.end()) {
        result.push_back(part);
      } else {
        for (TablePart& in_place : place->second) result.push_back(std::move(in_place));
      }
    }
    return result;
  }

  // Appends to `out` the chunks that replace `chunk`. The new chunks have the height of `chunk`.
  // `first`: the number of the first part in `chunk`.
  absl::Status EditChunk(const ChunkInfo& chunk, uint64_t first, std::vector<ChunkInfo>& out) {
    const auto place = places_.lower_bound(first);
    if (place == places_.end() || place->first - first >= chunk.num_parts) {
      out.push_back(chunk);
      return absl::OkStatus();
    }
    CFILE_ASSIGN_OR_RETURN(const auto entries, manifest_.Read(chunk));
    edit_.removed_chunks.push_back(chunk.file_name);
    if (chunk.height == 0) {
      const std::vector<TablePart> parts = EditParts(entries->parts, first);
      return Pack(std::span<const TablePart>(parts), out);
    }
    std::vector<ChunkInfo> chunks;
    for (const ChunkInfo& child : entries->chunks) {
      CFILE_RETURN_IF_ERROR(EditChunk(child, first, chunks));
      first += child.num_parts;
    }
    return Pack(std::span<const ChunkInfo>(chunks), out);
  }

  // Puts all `entries` into chunks of similar sizes, as few as possible.
  template <typename T>
  absl::Status Pack(std::span<const T> entries, std::vector<ChunkInfo>& out) {
    for (size_t left = (entries.size() + kMaxChunkEntries - 1) / kMaxChunkEntries; left > 0;
         --left) {
      const size_t count = (entries.size() + left - 1) / left;
      CFILE_RETURN_IF_ERROR(AddChunk(entries.first(count), out));
      entries = entries.subspan(count);
    }
    return absl::OkStatus();
  }

  // Makes one chunk, or several if one chunk would be too large.
  template <typename T>
  absl::Status AddChunk(std::span<const T> entries, std::vector<ChunkInfo>& out) {
    absl::StatusOr<NewChunk> chunk =
        MakeChunk(entries, manifest_.layout(), manifest_.max_metadata_size_bytes());
    if (absl::IsOutOfRange(chunk.status()) && entries.size() > 1) {
      CFILE_RETURN_IF_ERROR(AddChunk(entries.first(entries.size() / 2), out));
      return AddChunk(entries.subspan(entries.size() / 2), out);
    }
    CFILE_RETURN_IF_ERROR(chunk.status());
    out.push_back(chunk->info);
    edit_.new_chunks.push_back(*std::move(chunk));
    return absl::OkStatus();
  }

  // Moves the oldest parts to chunks, and the oldest chunks to chunks of a greater height, until
  // table.cft names at most kMaxChunkEntries of each kind.
  absl::Status Carry() {
    std::vector<ChunkInfo>& chunks = edit_.root.chunks;
    std::vector<TablePart>& parts = edit_.root.parts;
    size_t moved = 0;
    while (parts.size() - moved > kMaxChunkEntries) {
      CFILE_RETURN_IF_ERROR(
          AddChunk(std::span<const TablePart>(parts).subspan(moved, kMaxChunkEntries), chunks));
      moved += kMaxChunkEntries;
    }
    parts.erase(parts.begin(), parts.begin() + static_cast<ptrdiff_t>(moved));
    for (uint32_t height = 0; height < kMaxChunkHeight; ++height) {
      const auto is_higher = [&](const ChunkInfo& chunk) { return chunk.height > height; };
      const auto begin = std::partition_point(chunks.begin(), chunks.end(), is_higher);
      const auto end = std::find_if(begin, chunks.end(),
                                    [&](const auto& chunk) { return chunk.height < height; });
      std::vector<ChunkInfo> higher;
      std::span<const ChunkInfo> same(begin, end);
      while (same.size() > kMaxChunkEntries) {
        CFILE_RETURN_IF_ERROR(AddChunk(same.first(kMaxChunkEntries), higher));
        same = same.subspan(kMaxChunkEntries);
      }
      const auto kept = end - static_cast<ptrdiff_t>(same.size());
      const auto at = chunks.erase(begin, kept);
      chunks.insert(at, higher.begin(), higher.end());
    }
    return absl::OkStatus();
  }

  const Manifest& manifest_;
  // By the number of a changed or removed part: the parts that replace it.
  std::map<uint64_t, std::vector<TablePart>> places_;
  ManifestEdit edit_;
};

}  // namespace

absl::StatusOr<ManifestEdit> EditManifest(const Manifest& manifest, ManifestChange change) {
  return Editor(manifest).Apply(std::move(change));
}

ColumnIdentities IdentitiesOf(const TableContents& contents) {
  if (contents.identities) return *contents.identities;
  const PartLayout layout(contents);
  ColumnIdentities identities{.defaults = {}, .next_id = layout.next_id()};
  for (size_t i = 0; i < layout.columns().size(); ++i) identities.ids.push_back(layout.id(i));
  identities.defaults.resize(contents.schema.columns.size());
  return identities;
}

absl::StatusOr<TableContents> WithSchema(const TableContents& contents, const Schema& schema,
                                         const ColumnIdentities& identities) {
  TableContents result = contents;
  result.schema = schema;
  result.identities = identities;
  const PartLayout before(contents);
  const PartLayout after(result);
  std::vector<std::optional<size_t>> sources;  // by new column: its old number; nullopt: none
  for (size_t i = 0; i < after.columns().size(); ++i) sources.push_back(before.Find(after.id(i)));
  for (ChunkInfo& chunk : result.chunks) {
    const auto columns = std::move(chunk.columns);
    chunk.columns.assign(sources.size(), std::nullopt);
    for (size_t i = 0; i < sources.size(); ++i) {
      if (sources[i]) chunk.columns[i] = columns[*sources[i]];
    }
  }
  for (TablePart& part : result.parts) {
    const auto columns = std::move(part.columns);
    part.columns.assign(sources.size(), {});
    for (size_t i = 0; i < sources.size(); ++i) {
      if (sources[i]) {
        part.columns[i] = columns[*sources[i]];
      } else if (!after.FillMissing(i, part.num_rows, part.columns[i])) {
        return absl::InvalidArgumentError(absl::StrCat(
            "column ", after.columns()[i].name,
            " is new and not nullable, so it needs a default: part ", part.directory, " lacks it"));
      }
    }
  }
  return result;
}

}  // namespace cfile::internal
