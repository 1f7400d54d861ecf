#include "cfile/parts/table/manifest/table_file.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cfile/core/format/feature_bits.h"
#include "cfile/core/format/key_codec.h"
#include "cfile/core/io/file_system.h"
#include "cfile/core/io/named_status.h"
#include "cfile/core/wire/messages.h"
#include "cfile/core/wire/parse_message.h"
#include "cfile/core/wire/write_message.h"
#include "cfile/packed_file.h"
#include "cfile/parts/table/manifest/part_message.h"
#include "cfile/parts/table/manifest/schema_message.h"
#include "cfile/parts/table/manifest/sealed_message.h"
#include "encodings/core/status.h"

namespace cfile::internal {
namespace {

using encodings::DataLoss;

// A table with incompatible features has another magic than this: the first versions of this
// library ignore the features, but refuse the other magic.
constexpr std::string_view kTableMagic = "cfiletb1";
constexpr std::string_view kFeaturesMagic = "cfiletb2";
static_assert(kTableMagic.size() == kMagicBytes && kFeaturesMagic.size() == kMagicBytes);
constexpr std::string_view kPartPrefix = "part-";
constexpr std::string_view kDamagedPrefix = "table.cft.damaged-";
constexpr std::string_view kColumnsMarkPrefix = "columns-";
constexpr std::string_view kColumnsMarkSuffix = ".dropped";
constexpr std::string_view kColumnSuffix = ".cfile";
constexpr size_t kColumnDigits = 4;  // the least number of digits of a column's number

std::string_view MagicOf(uint32_t incompatible_features) {
  return incompatible_features == 0 ? kTableMagic : kFeaturesMagic;
}

// The bits of a merge rule.
constexpr uint32_t kRuleFeatures =
    kTableFeatureMergeRule | kTableFeatureDeletedColumn | kTableFeatureTimeColumn;

// The bits that SerializeTable sets.
constexpr uint32_t kOwnFeatures = kTableFeatureChunks | kTableFeatureColumnIds |
                                  kTableFeatureMetadata | kTableFeaturePacked | kRuleFeatures;

// True for the characters of a column's name that the name of its file keeps.
bool IsKept(char c) {
  return ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z') || ('0' <= c && c <= '9') || c == '-' ||
         c == '_';
}

// The incompatible features that a table with this schema needs.
uint32_t FeaturesOf(const Schema& schema) {
  const std::vector<KeyColumn> keys = schema.key_types();
  const bool nullable =
      std::any_of(keys.begin(), keys.end(), [](const KeyColumn& key) { return key.nullable; });
  const std::optional<MergeRule>& rule = schema.merge_rule;
  return (nullable ? kTableFeatureNullableKeys : 0) | (rule ? kTableFeatureMergeRule : 0) |
         (rule && rule->deleted_column ? kTableFeatureDeletedColumn : 0) |
         (rule && rule->time_column ? kTableFeatureTimeColumn : 0);
}

// The incompatible features that a table with these contents needs.
uint32_t FeaturesOf(const TableContents& contents) {
  const bool packed =
      std::any_of(contents.parts.begin(), contents.parts.end(),
                  [](const TablePart& part) { return part.is_packed(); }) ||
      // The parts of chunks may be packed.
      (!contents.chunks.empty() && (contents.incompatible_features & kTableFeaturePacked) != 0);
  return (contents.incompatible_features & ~kOwnFeatures) | FeaturesOf(contents.schema) |
         (contents.chunks.empty() ? 0 : kTableFeatureChunks) |
         (contents.identities ? kTableFeatureColumnIds : 0) |
         (contents.metadata.empty() ? 0 : kTableFeatureMetadata) |
         (packed ? kTableFeaturePacked : 0);
}

// Returns the oldest reader of a table. Version 0.1 drops this field and the sequence when it
// appends to a table.
OldestReader OldestReaderOf(const wire::Table& message) {
  const bool has_features = message.incompatible_features.value_or(0) != 0;
  const bool is_newer = has_features || message.sequence.value_or(0) > 0;
  const OldestReader reader =
      ReaderOr(OldestReader{message.oldest_reader.value_or(0)},
               is_newer ? OldestReader::kVersion0_2 : OldestReader::kVersion0_1);
  return has_features && !KnowsTableFeatures(reader) ? OldestReader::kVersion0_2 : reader;
}

absl::StatusOr<TableContents> ParseContents(const SealedMessage& sealed,
                                            const ReaderOptions& options) {
  wire::Table message;
  CFILE_RETURN_IF_ERROR(
      wire::ParseMessage(sealed.message, options.max_metadata_size_bytes, message));
  const uint32_t features = message.incompatible_features.value_or(0);
  const std::string_view expected_magic = MagicOf(features);
  if (sealed.magic != expected_magic) {
    return DataLoss("with the incompatible feature bits ", absl::Hex(features), ", the magic ",
                    expected_magic, " expected, found ", sealed.magic);
  }
  // Check the features first, because they may change the meaning of other fields.
  CFILE_RETURN_IF_ERROR(CheckTableFeatures(features));
  TableContents contents{.incompatible_features = features};
  absl::Status status = ParseSchema(message, options.record_limits, contents);
  if (status.ok()) status = ValidateSchema(contents.schema);
  if (absl::IsInvalidArgument(status)) return absl::DataLossError(status.message());
  CFILE_RETURN_IF_ERROR(status);
  CFILE_RETURN_IF_ERROR(CheckIdentities(contents));
  const PartLayout layout(contents);
  if (message.chunks.empty() == ((features & kTableFeatureChunks) != 0)) {
    return DataLoss("chunks and incompatible feature bit 2 expected together, found only ",
                    message.chunks.empty() ? "the bit" : "chunks");
  }
  if (const uint32_t expected = FeaturesOf(contents.schema) & kRuleFeatures;
      expected != (features & kRuleFeatures)) {
    return DataLoss("the merge rule needs the incompatible feature bits ", absl::Hex(expected),
                    ", found ", absl::Hex(features & kRuleFeatures));
  }
  if (contents.time_bound && (features & kTableFeatureTimeColumn) == 0)
    return DataLoss("a bound of times found, but the merge rule has no time column");
  if (const uint32_t missing = FeaturesOf(contents.schema) & ~features; missing != 0) {
    return DataLoss("the schema needs the incompatible feature bits ", absl::Hex(missing),
                    ", which the table does not have");
  }
  if (message.metadata.empty() == ((features & kTableFeatureMetadata) != 0)) {
    return DataLoss("metadata and incompatible feature bit 5 expected together, found only ",
                    message.metadata.empty() ? "the bit" : "metadata");
  }
  for (const wire::FileMetadataPair& pair : message.metadata) {
    contents.metadata.emplace_back(pair.key.value_or(""), pair.value.value_or(""));
  }
  for (const wire::Chunk& chunk : message.chunks) {
    CFILE_ASSIGN_OR_RETURN(contents.chunks.emplace_back(), ParseChunkInfo(chunk, layout));
  }
  for (const wire::Part& part : message.parts) {
    CFILE_ASSIGN_OR_RETURN(contents.parts.emplace_back(), ParsePart(part, layout));
  }
  contents.condemned.assign(message.condemned.begin(), message.condemned.end());
  contents.sequence = message.sequence.value_or(0);
  contents.commit_ids = std::move(message.commit_ids);
  contents.job_ids.assign(message.job_ids.begin(), message.job_ids.end());
  contents.replaced.assign(message.replaced.begin(), message.replaced.end());
  contents.oldest_reader = OldestReaderOf(message);
  CFILE_RETURN_IF_ERROR(CheckRoot(contents));
  return contents;
}

}  // namespace

std::string TableFilePath(const std::string& storage) {
  return absl::StrCat(storage, "/", kTableFileName);
}

std::string DroppedMarkOfChunk(const std::string& chunk) {
  return absl::StrCat(chunk, ".", kDroppedFileName);
}

absl::StatusOr<std::string> NewDamagedTableName() { return RandomName(kDamagedPrefix); }

bool IsDamagedTableName(std::string_view name) { return IsRandomName(name, kDamagedPrefix); }

absl::StatusOr<std::string> NewColumnsMark() {
  return RandomName(kColumnsMarkPrefix, kColumnsMarkSuffix);
}

bool IsColumnsMark(std::string_view name) {
  return IsRandomName(name, kColumnsMarkPrefix, kColumnsMarkSuffix);
}

std::string PathInStorage(const TablePart& part, size_t column) {
  return absl::StrCat(part.directory, "/", part.columns[column].stored_in());
}

std::string PackedFilePath(const std::string& folder) {
  return absl::StrCat(folder, "/", std::string(kPackedFileName));
}

std::string NameInStorage(const TablePart& part, size_t column) {
  const TablePartColumn& in_part = part.columns[column];
  const std::string path = PathInStorage(part, column);
  return in_part.is_packed() ? absl::StrCat(path, "/", in_part.file_name) : path;
}

std::string ColumnFilePath(const std::string& storage, const TablePart& part, size_t column) {
  return absl::StrCat(storage, "/", NameInStorage(part, column));
}

absl::StatusOr<std::string> NewPartName() { return RandomName(kPartPrefix); }

bool IsUniquePartName(std::string_view name) { return IsRandomName(name, kPartPrefix); }

bool IsPartName(std::string_view name) {
  constexpr size_t kLeastDigits = 6;
  return IsUniquePartName(name) ||
         (name.starts_with(kPartPrefix) && name.size() >= kPartPrefix.size() + kLeastDigits &&
          name.find_first_not_of("0123456789", kPartPrefix.size()) == name.npos);
}

std::string ColumnFileName(size_t column, std::string_view name) {
  constexpr size_t kMaxNameBytes = 64;
  std::string file_name = absl::StrCat(absl::Dec(column, absl::kZeroPad4), "-");
  for (const char c : name.substr(0, kMaxNameBytes)) {
    file_name.push_back(IsKept(c) ? c : '_');
  }
  return file_name.append(kColumnSuffix);
}

absl::StatusOr<std::string> NewColumnFileName(size_t column, std::string_view name) {
  std::string file_name = ColumnFileName(column, name);
  file_name.resize(file_name.size() - kColumnSuffix.size());
  return RandomName(file_name + "-", kColumnSuffix);
}

bool IsColumnFileName(std::string_view name) {
  if (const std::string_view final_name = FinalNameOf(name); !final_name.empty()) {
    name = final_name;
  }
  if (name == kPackedFileName) return true;
  if (!name.ends_with(kColumnSuffix)) return false;
  name.remove_suffix(kColumnSuffix.size());
  const size_t digits = std::min(name.find_first_not_of("0123456789"), name.size());
  return digits >= kColumnDigits && name.substr(digits, 1) == "-" &&
         std::all_of(name.begin(), name.end(), IsKept);
}

// The errors of ValidateSchema for Schema::merge_rule. `keys`: the key columns.
static absl::Status ValidateRule(const Schema& schema, const std::set<size_t>& keys) {
  if (!schema.merge_rule) return absl::OkStatus();
  if (keys.empty()) {
    return absl::InvalidArgumentError(
        "expected key columns, because the schema has a merge rule; found none");
  }
  for (const size_t key : keys) {
    if (IsFloatType(schema.columns[key].type.physical())) {
      return absl::InvalidArgumentError(
          absl::StrCat("column ", schema.columns[key].name,
                       " holds floats, so it cannot be a key column of a table with a merge rule"));
    }
  }
  const auto check = [&](std::optional<size_t> column, std::string_view expected,
                         auto fits) -> absl::Status {
    if (!column) return absl::OkStatus();
    if (*column < schema.columns.size() && !schema.columns[*column].has_levels() &&
        fits(schema.columns[*column].type.physical()) && !keys.contains(*column)) {
      return absl::OkStatus();
    }
    return absl::InvalidArgumentError(
        encodings::StrCat("the merge rule needs a column ", expected,
                          ", which is not nested and no key column, but "
                          "names column ",
                          *column));
  };
  CFILE_RETURN_IF_ERROR(check(schema.merge_rule->deleted_column, "of type bool",
                              [](PhysicalType type) { return type == PhysicalType::kBool; }));
  return check(schema.merge_rule->time_column, "that is stored as int32 or int64",
               [](PhysicalType type) {
                 return type == PhysicalType::kInt32 || type == PhysicalType::kInt64;
               });
}

absl::Status ValidateSchema(const Schema& schema) {
  if (schema.columns.empty()) {
    return absl::InvalidArgumentError("expected a schema of one column or more, found no column");
  }
  std::set<std::string_view> names;
  for (const ColumnSchema& column : schema.columns) {
    if (column.name.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("column ", names.size(), " of the schema has no name"));
    }
    if (!names.insert(column.name).second) {
      return absl::InvalidArgumentError(
          absl::StrCat("two columns of the schema have the name ", column.name));
    }
    if (const absl::Status status = Validate(column.type); !status.ok()) {
      return internal::WithMessage(status,
                                   absl::StrCat("column ", column.name, ": ", status.message()));
    }
  }
  if (schema.tree.has_value() && Schema::OfRecords(*schema.tree).columns != schema.columns) {
    return absl::InvalidArgumentError(
        "the columns of the schema are not the leaf columns of its tree");
  }
  std::set<size_t> keys;
  for (const size_t column : schema.key_columns) {
    if (column < schema.columns.size() &&
        schema.columns[column].type.physical() == PhysicalType::kInt96) {
      return absl::InvalidArgumentError(absl::StrCat("column ", schema.columns[column].name,
                                                     " is a key column, but int96 has no order"));
    }
    if (column >= schema.columns.size() || schema.columns[column].has_levels() ||
        !keys.insert(column).second) {
      return absl::InvalidArgumentError(
          absl::StrCat("column ", column, " is a key column, but ",
                       column >= schema.columns.size()       ? "there is no column of that number"
                       : schema.columns[column].has_levels() ? "is nested"
                                                             : "is already one"));
    }
  }
  std::set<size_t> nulls_last;
  for (const size_t column : schema.nulls_last) {
    if (!keys.contains(column) || !schema.columns[column].nullable ||
        !nulls_last.insert(column).second) {
      return absl::InvalidArgumentError(
          absl::StrCat("the nulls of column ", column, " sort last, but ",
                       !keys.contains(column)             ? "it is not a key column"
                       : !schema.columns[column].nullable ? "it is not nullable"
                                                          : "the column is named twice"));
    }
  }
  return ValidateRule(schema, keys);
}

std::string SerializeTable(const TableContents& contents) {
  wire::Table table;
  const uint32_t features = FeaturesOf(contents);
  if (features != 0) table.incompatible_features = features;
  table.created_by = "cfile " CFILE_VERSION;
  SerializeSchema(contents, table);
  const PartLayout layout(contents);
  for (const ChunkInfo& chunk : contents.chunks) {
    SerializeChunkInfo(chunk, layout, table.chunks.emplace_back());
  }
  table.parts.reserve(contents.parts.size());
  for (const TablePart& part : contents.parts)
    SerializePart(part, layout, table.parts.emplace_back());
  table.condemned.assign(contents.condemned.begin(), contents.condemned.end());
  if (contents.sequence > 0) table.sequence = contents.sequence;
  table.replaced.assign(contents.replaced.begin(), contents.replaced.end());
  table.commit_ids = contents.commit_ids;
  table.job_ids.assign(contents.job_ids.begin(), contents.job_ids.end());
  for (const auto& [key, value] : contents.metadata) {
    table.metadata.push_back({.key = key, .value = value});
  }
  table.oldest_reader = static_cast<uint32_t>(contents.oldest_reader);
  return SealMessage(MagicOf(features), wire::Serialize(table));
}

absl::Status CheckOldestReader(const Schema& schema,
                               const std::optional<ColumnIdentities>& identities,
                               OldestReader oldest_reader, const std::string& path) {
  return CheckOldestReader(
      {.schema = schema, .parts = {}, .identities = identities, .oldest_reader = oldest_reader},
      path);
}

absl::Status CheckOldestReader(const TableContents& contents, const std::string& path) {
  const uint32_t features = FeaturesOf(contents);
  if (features == 0 || KnowsTableFeatures(contents.oldest_reader)) return absl::OkStatus();
  std::string needed;
  for (const auto& [bit, name] :
       {std::pair(kTableFeatureNullableKeys, "a nullable key column"),
        std::pair(kTableFeatureChunks, "chunks"),
        std::pair(kTableFeatureColumnIds, "columns that were added, dropped, moved or widened"),
        std::pair(kTableFeatureMetadata, "metadata in table.cft"),
        std::pair(kTableFeaturePacked, "packed parts"),
        std::pair(kTableFeatureMergeRule, "a merge rule")}) {
    if ((features & bit) != 0) absl::StrAppend(&needed, needed.empty() ? "" : " and ", name);
  }
  return absl::FailedPreconditionError(absl::StrCat(
      path, ": the table would have ", needed, ", but its oldest reader, ",
      OldestReaderName(contents.oldest_reader),
      ", does not know this. RaiseOldestReader (cfile-table raise) gives up such readers"));
}

absl::Status CheckTableFileSize(std::string_view bytes, const std::string& path,
                                size_t max_size_bytes) {
  if (bytes.size() > max_size_bytes) {
    return absl::OutOfRangeError(
        encodings::StrCat(path, ": ", bytes.size(), " bytes are ",
                          encodings::AboveLimit(max_size_bytes, "max_metadata_size_bytes")));
  }
  return Named(wire::CheckParsedSize(MessageIn(bytes), max_size_bytes, wire::Table::kType), path);
}

absl::StatusOr<TableContents> ParseTable(std::string_view bytes, const std::string& path,
                                         const ReaderOptions& options) {
  constexpr std::string_view kMagics[] = {kTableMagic, kFeaturesMagic};
  CFILE_ASSIGN_OR_RETURN(const SealedMessage sealed,
                         UnsealMessage(bytes, kMagics, "the file of a table", path));
  return Named(ParseContents(sealed, options), path);
}

absl::Status NewPartRemoved(const Storage& storage, const std::string& path) {
  return absl::AbortedError(absl::StrCat(
      storage.name(), "/", path,
      ": the new part has been removed while it was written, or the table has been moved"));
}

}  // namespace cfile::internal
