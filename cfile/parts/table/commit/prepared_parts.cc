#include "cfile/prepared_parts.h"

#include <algorithm>
#include <memory>
#include <set>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "cfile/core/io/named_status.h"
#include "cfile/parts/table/commit/new_parts.h"
#include "cfile/parts/table/commit/table_commit.h"
#include "cfile/parts/table/manifest/table_file.h"
#include "encodings/core/status.h"

namespace cfile {
namespace {

using internal::NewParts;
using internal::Publication;
using internal::TableContents;
using internal::TablePart;

absl::Status Wrong(const Storage& storage, std::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(storage.name(), ": ", std::string(what)));
}

// Sets the schema and the parts of `to` from the results of FinishPrepared.
absl::Status ReadParts(const Storage& storage, std::span<const std::string> parts,
                       const ReaderOptions& options, NewParts& to) {
  std::set<std::string> names;
  const ReaderOptions limits = internal::CommitLimits(options.max_metadata_size_bytes);
  for (size_t i = 0; i < parts.size(); ++i) {
    const std::string name = absl::StrCat(storage.name(), ": description ", i, " of a part");
    CFILE_ASSIGN_OR_RETURN(TableContents contents, internal::ParseTable(parts[i], name, limits));
    to.oldest_reader =
        i == 0 ? contents.oldest_reader : std::max(to.oldest_reader, contents.oldest_reader);
    if (i == 0) {
      to.schema = std::move(contents.schema);
      to.identities = std::move(contents.identities);
    } else if (contents.schema != to.schema || contents.identities != to.identities) {
      return Wrong(storage,
                   absl::StrCat("part ", i, " of the commit has another schema than part 0"));
    }
    for (TablePart& part : contents.parts) {
      if (!internal::IsUniquePartName(part.directory) || !names.insert(part.directory).second) {
        return Wrong(storage, absl::StrCat("the commit names the part ", part.directory,
                                           ", which is there twice or is no new part"));
      }
      part.order.clear();
      to.parts.push_back(std::move(part));
    }
  }
  return absl::OkStatus();
}

// Sets the schema of `to` from the table, or from `options` if there is no table.
absl::Status ReadSchema(const Storage& storage, const CommitPartsOptions& options,
                        const ReaderOptions& limits, NewParts& to) {
  const auto now = internal::ReadTable(storage, limits);
  if (now.ok()) {
    to.schema = (*now)->root().schema;
    to.identities = (*now)->root().identities;
    to.oldest_reader = (*now)->root().oldest_reader;
    return absl::OkStatus();
  }
  if (!absl::IsNotFound(now.status()) || options.schema == nullptr) return now.status();
  to.schema = *options.schema;
  to.oldest_reader = internal::ReaderOr(options.oldest_reader, to.oldest_reader);
  return internal::Named(internal::ValidateSchema(to.schema), storage.name());
}

}  // namespace

absl::StatusOr<bool> CommitParts(const TableLocation& table, std::span<const std::string> parts,
                                 const CommitPartsOptions& options) {
  const std::shared_ptr<Storage> storage = table.storage();
  if (options.id.size() > kMaxCommitIdBytes) {
    return Wrong(*storage, absl::StrCat("expected an id of at most ", kMaxCommitIdBytes,
                                        " bytes, found ", options.id.size()));
  }
  const std::set<std::string> replaced(options.replaced.begin(), options.replaced.end());
  NewParts added{.table = NewParts::Table::kMayExist,
                 .schema = {},
                 .replaced = {replaced.begin(), replaced.end()},
                 .may_reveal = options.reader.stored_rows,
                 .job_id = options.id};
  const ReaderOptions limits = internal::CommitLimits(options.reader.max_metadata_size_bytes);
  CFILE_RETURN_IF_ERROR(ReadParts(*storage, parts, options.reader, added));
  if (parts.empty()) CFILE_RETURN_IF_ERROR(ReadSchema(*storage, options, limits, added));
  Publication publication = Publication::kNot;
  const absl::Status status = internal::Publish(*storage, limits, added, publication);
  if (status.ok()) return publication == Publication::kNow;
  // Only files of the new parts can be missing.
  if (absl::IsNotFound(status) && !added.parts.empty()) {
    return internal::NewPartRemoved(*storage, added.parts.back().directory);
  }
  return status;
}

}  // namespace cfile
