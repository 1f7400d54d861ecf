#include "tools/python/native/describe.h"

#include <algorithm>
#include <utility>

#include "cfile/inspect.h"
#include "cfile/statistics.h"
#include "cfile/status.h"
#include "tools/python/native/values.h"

namespace cfile_python {
namespace {

using cfile::BlockStatistics;
using cfile::ColumnType;

nb::object Bound(const BlockStatistics& statistics, const ColumnType& type, bool least) {
  return cfile::VisitType(type, [&]<typename T>(std::type_identity<T>) -> nb::object {
    if constexpr (std::is_same_v<T, cfile::Int96>) {
      return nb::none();
    } else {
      const auto bound = least ? statistics.Min<T>() : statistics.Max<T>();
      if (!bound) return nb::none();
      return ToPython<T>(*bound, type);
    }
  });
}

nb::dict Described(const BlockStatistics& statistics, const ColumnType& type) {
  nb::dict dict;
  dict["present_count"] = statistics.present_count;
  dict["null_count"] = statistics.null_count;
  dict["nan_count"] = statistics.nan_count;
  dict["min"] = Bound(statistics, type, true);
  dict["max"] = Bound(statistics, type, false);
  dict["min_exact"] = statistics.min_exact;
  dict["max_exact"] = statistics.max_exact;
  return dict;
}

// The counts and bounds of the rows of both.
BlockStatistics Merged(const BlockStatistics& one, const BlockStatistics& other) {
  const auto has_values = [](const BlockStatistics& part) {
    return part.present_count > part.nan_count;
  };
  BlockStatistics all = has_values(one) ? one : other;
  all.present_count = one.present_count + other.present_count;
  all.null_count = one.null_count + other.null_count;
  all.nan_count = one.nan_count + other.nan_count;
  if (!has_values(one) || !has_values(other)) return all;
  if (!one.min_key || !other.min_key) {
    all.min_key.reset();
  } else if (*other.min_key < *one.min_key) {
    all.min_key = other.min_key;
    all.min_exact = other.min_exact;
  }
  if (!one.max_key || !other.max_key) {
    all.max_key.reset();
  } else if (*other.max_key > *one.max_key) {
    all.max_key = other.max_key;
    all.max_exact = other.max_exact;
  }
  return all;
}

// The blocks of one file. `part`: its part in a table, or None.
void AddBlocks(const cfile::Reader& file, const nb::object& part, uint64_t first_ordinal,
               const ColumnType& type, nb::list& blocks) {
  std::vector<cfile::BlockInfo> found;
  std::shared_ptr<const cfile::FileStatistics> statistics;
  WithoutLock([&]() -> absl::Status {
    const auto read = file.Statistics();
    if (!read.ok()) return read.status();
    statistics = *read;
    return cfile::VisitBlocks(file, [&](const cfile::BlockInfo& block) {
      found.push_back(block);
      found.back().bytes = {};  // they are valid during this call only
      return true;
    });
  });
  const bool bounds = statistics != nullptr && statistics->blocks.size() == found.size();
  for (const cfile::BlockInfo& block : found) {
    nb::dict dict;
    dict["part"] = part;
    dict["index"] = block.index;
    dict["first_ordinal"] = first_ordinal + block.first_ordinal;
    dict["num_rows"] = block.num_rows;
    dict["null_count"] = block.null_count;
    dict["encoding"] = cfile::EncodingName(block.encoding);
    dict["compressed"] = block.compressed;
    dict["offset"] = block.pointer.offset;
    dict["stored_size_bytes"] = block.stored_size_bytes;
    dict["encoded_size_bytes"] = block.encoded_size_bytes;
    if (bounds) {
      dict["min"] = Bound(statistics->blocks[block.index], type, true);
      dict["max"] = Bound(statistics->blocks[block.index], type, false);
    }
    blocks.append(dict);
  }
}

struct Found {
  std::string file;
  cfile::Damage damage;
};

nb::list Described(const std::vector<Found>& damages) {
  nb::list list;
  for (const Found& found : damages) {
    nb::dict dict;
    dict["message"] = std::string(found.damage.status.message());
    dict["file"] = found.file;
    dict["offset"] = nb::none();
    if (found.damage.block) dict["offset"] = found.damage.block->offset;
    dict["code"] = static_cast<int>(found.damage.status.code());
    list.append(dict);
  }
  return list;
}

// True if an exception of Python has ended the reading of a file, for example KeyboardInterrupt.
bool HasException(const std::vector<Found>& damages) {
  return !damages.empty() && IsPythonError(damages.back().damage.status);
}

}  // namespace

nb::list Columns(const Opened& opened) {
  const cfile::Schema& schema = opened.schema();
  nb::list list;
  for (size_t i = 0; i < schema.columns.size(); ++i) {
    const cfile::ColumnSchema& column = schema.columns[i];
    const auto key = std::find(schema.key_columns.begin(), schema.key_columns.end(), i);
    nb::dict dict;
    dict["name"] = column.name;
    dict["type"] = column.type.ToString();
    dict["nullable"] = column.nullable;
    dict["levels"] = column.has_levels();
    dict["key"] = nb::none();
    if (key != schema.key_columns.end()) dict["key"] = key - schema.key_columns.begin();
    list.append(dict);
  }
  return list;
}

nb::object MergeRule(const Opened& opened) {
  const cfile::Schema& schema = opened.schema();
  if (!schema.merge_rule) return nb::none();
  nb::dict dict;
  const auto add = [&](const char* name, const std::optional<size_t>& column) {
    dict[name] = column ? nb::object(nb::cast(schema.columns[*column].name)) : nb::none();
  };
  add("deleted_column", schema.merge_rule->deleted_column);
  add("time_column", schema.merge_rule->time_column);
  dict["time_bound"] = nb::cast(opened.table().time_bound());
  return dict;
}

nb::list Fields(const Opened& opened) {
  nb::list list;
  if (const auto& tree = opened.schema().tree) {
    for (size_t node = 1; node < tree->nodes().size(); node = tree->node(node).end)
      list.append(tree->node(node).name);
    return list;
  }
  for (const cfile::ColumnSchema& column : opened.schema().columns) list.append(column.name);
  return list;
}

nb::list Parts(const Opened& opened) {
  nb::list list;
  if (!opened.is_table()) return list;
  for (size_t i = 0; i < opened.table().num_parts(); ++i) {
    const cfile::PartInfo part = WithoutLock([&] { return opened.table().part(i); });
    nb::dict dict;
    dict["name"] = part.name;
    dict["first_ordinal"] = part.first_ordinal;
    dict["num_rows"] = part.num_rows;
    dict["size_bytes"] = part.size_bytes;
    dict["commit"] = part.commit;
    list.append(dict);
  }
  return list;
}

nb::dict Info(const Opened& opened) {
  const cfile::Reader file = opened.file();
  const cfile::FileInfo& info = file.info();
  nb::dict dict;
  dict["type"] = info.type.ToString();
  dict["encoding"] = cfile::EncodingName(info.encoding);
  dict["compression"] = cfile::CompressionName(info.compression);
  dict["nullable"] = info.nullable;
  dict["num_rows"] = info.num_rows;
  dict["file_size_bytes"] = info.file_size_bytes;
  dict["version"] = static_cast<int>(info.version);
  dict["created_by"] = info.created_by;
  dict["has_positional_index"] = info.positional_index_root.has_value();
  dict["has_value_index"] = info.value_index_root.has_value();
  dict["has_levels"] = info.has_levels();
  dict["metadata"] = Metadata(opened);
  return dict;
}

nb::dict Metadata(const Opened& opened) {
  nb::dict dict;
  for (const auto& [key, value] : WithoutLock([&] { return opened.metadata(); })) {
    const ColumnType text = ColumnType::String();
    dict[ToPython<std::string_view>(key, text)] = ToPython<std::string_view>(value, text);
  }
  return dict;
}

nb::object Statistics(const Opened& opened, const std::string& column) {
  const size_t position = opened.Position(column);
  const ColumnType& type = opened.schema().columns[position].type;
  if (!opened.is_table()) {
    const auto statistics = WithoutLock([&] { return opened.file().Statistics(); });
    if (statistics == nullptr) return nb::none();
    return Described(statistics->file, type);
  }
  if (opened.applies_rule()) {
    Raise(absl::FailedPreconditionError(
        opened.name() +
        ": statistics count stored rows, but the table has a merge rule. Open it "
        "with ReaderOptions::stored_rows"));
  }
  const bool is_float =
      cfile::VisitType(type, []<typename T>(std::type_identity<T>) { return cfile::kIsFloat<T>; });
  BlockStatistics all;
  WithoutLock([&]() -> absl::Status {
    for (size_t i = 0; i < opened.table().num_parts(); ++i) {
      auto bounds = opened.table().part_bounds(i, position);
      if (!bounds.ok()) return bounds.status();
      // Without bounds, the table does not say how many of the numbers are NaN: perhaps all.
      if (is_float && bounds->present_count > 0 && !bounds->min_key && !bounds->max_key) {
        const auto file = opened.table().OpenColumn(i, position);
        if (!file.ok()) return file.status();
        const auto statistics = file->Statistics();
        if (!statistics.ok()) return statistics.status();
        if (*statistics != nullptr) bounds = (*statistics)->file;
      }
      all = Merged(all, *bounds);
    }
    return absl::OkStatus();
  });
  return Described(all, type);
}

nb::list Blocks(const Opened& opened, const std::string& column) {
  const size_t position = opened.Position(column);
  const ColumnType& type = opened.schema().columns[position].type;
  nb::list blocks;
  if (!opened.is_table()) {
    AddBlocks(opened.file(), nb::none(), 0, type, blocks);
    return blocks;
  }
  const cfile::TableReader& table = opened.table();
  for (size_t i = 0; i < table.num_parts(); ++i) {
    if (WithoutLock([&] { return table.part_file(i, position); }).empty()) continue;
    const cfile::PartInfo part = WithoutLock([&] { return table.part(i); });
    const cfile::Reader file = WithoutLock([&] { return table.OpenColumn(i, position); });
    AddBlocks(file, nb::str(part.name.c_str()), part.first_ordinal, type, blocks);
  }
  return blocks;
}

nb::dict Verify(const Opened& opened) {
  uint64_t blocks = 0;
  uint64_t bytes = 0;
  std::vector<Found> damages;
  std::vector<Found> limits;
  const auto add = [&](const std::string& file, const cfile::VerifyReport& report) {
    blocks += report.data_blocks;
    bytes += report.bytes_checked;
    for (const cfile::Damage& damage : report.damages) damages.push_back({file, damage});
    for (const cfile::Damage& limit : report.limits) limits.push_back({file, limit});
  };
  WithoutLock([&]() -> absl::Status {
    if (!opened.is_table()) {
      add(opened.name(), cfile::Verify(opened.file()));
      return absl::OkStatus();
    }
    const cfile::TableReader& table = opened.table();
    const size_t columns = table.schema().columns.size() + (table.schema().key_index() ? 1 : 0);
    for (size_t part = 0; part < table.num_parts(); ++part) {
      for (size_t column = 0; column < columns; ++column) {
        const auto file = table.part_file(part, column);
        if (!file.ok()) return file.status();
        if (file->empty()) continue;
        add(cfile::StrCat(opened.name(), "/", *file), table.VerifyColumn(part, column));
        if (HasException(damages)) return absl::OkStatus();
      }
      const cfile::VerifyReport copy = table.VerifyCopy(part);
      const auto info = table.part(part);
      if (!copy.ok() && info.ok()) add(cfile::StrCat(opened.name(), "/", info->name), copy);
    }
    return absl::OkStatus();
  });
  if (HasException(damages)) Raise(damages.back().damage.status);
  nb::dict dict;
  dict["rows"] = opened.num_rows();
  dict["blocks"] = blocks;
  dict["bytes"] = bytes;
  dict["damages"] = Described(damages);
  dict["limits"] = Described(limits);
  return dict;
}

}  // namespace cfile_python
