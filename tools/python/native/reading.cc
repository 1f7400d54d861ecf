#include "tools/python/native/module.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "cfile/arrow.h"
#include "cfile/block_cache.h"
#include "cfile/merge_cursor.h"
#include "cfile/status.h"
#include "tools/python/native/describe.h"
#include "tools/python/native/location.h"
#include "tools/python/native/object_source.h"
#include "tools/python/native/opened.h"
#include "tools/python/native/parallel_stream.h"
#include "tools/python/native/settings.h"
#include "tools/python/native/stream.h"
#include "tools/python/native/values.h"

namespace cfile_python {
namespace {

using cfile::ArrowExportOptions;
using cfile::Schema;
using cfile::TableScanOptions;

// Calls make(stream), and gives the stream the types that the rows had when they were written.
template <typename Make>
ExportedStream Exported(const Opened& opened, const Make& make) {
  Released<ArrowArrayStream> held;
  ArrowArrayStream& stream = held.value;
  WithoutLock([&]() -> absl::Status {
    absl::Status status = make(stream);
    if (status.ok()) status = opened.Restore(&stream);
    return status;
  });
  return ExportedStream(&stream, opened.name());
}

// Divides a scan among threads, so that the batches of `max_batches` ranges are small in memory.
// Returns no ranges for a scan that one thread should do.
absl::StatusOr<std::vector<cfile::OrdinalRange>> ParallelRanges(const Opened& opened,
                                                                const TableScanOptions& scan,
                                                                const ArrowExportOptions& options,
                                                                size_t& max_batches) {
  constexpr size_t kMostColumns = 64;
  const size_t columns = scan.columns ? scan.columns->size() : opened.schema().columns.size();
  const uint64_t end = std::min(scan.range.end, opened.num_rows());
  const uint64_t rows = end - std::min(scan.range.begin, end);
  max_batches = std::clamp<size_t>(32 / std::max<size_t>(columns, 1), 1, 4);
  const size_t ranges = static_cast<size_t>(rows / (max_batches * cfile::kMaxBatchRows));
  // The type of a dictionary depends on the first file of a scan.
  const bool by_file = options.dictionaries || options.dictionary_views;
  std::vector<cfile::OrdinalRange> none;
  if (opened.threads < 2 || ranges < 2 || columns > kMostColumns || scan.reverse ||
      !scan.where.empty() || scan.limit < rows) {
    return none;
  }
  if (opened.is_table()) {
    const cfile::TableReader table = opened.table();
    if (by_file && table.num_parts() > 1) return none;
    return table.SplitScan(scan, ranges);
  }
  return rows == opened.num_rows() && !scan.columns ? opened.file().Split(ranges) : none;
}

ExportedStream Stream(const Opened& opened, TableScanOptions scan,
                      const ArrowExportOptions& options) {
  size_t max_batches = 1;
  auto ranges = WithoutLock([&] { return ParallelRanges(opened, scan, options, max_batches); });
  if (ranges.size() > 1) {
    const auto open = [held = opened.Held(), scan, options](
                          const cfile::OrdinalRange& range,
                          ArrowArrayStream* stream) -> absl::Status {
      TableScanOptions part = scan;
      part.range = range;
      if (const auto* const table = std::get_if<cfile::TableReader>(&*held))
        return ExportArrowStream(*table, part, options, stream);
      return ExportArrowStream(std::get<cfile::Reader>(*held), range, options, stream);
    };
    return Exported(opened, [&](ArrowArrayStream& stream) {
      return MakeParallelStream(
          std::move(ranges), open,
          {.threads = opened.threads, .max_batches = max_batches, .name = opened.name()}, &stream);
    });
  }
  return Exported(opened, [&](ArrowArrayStream& stream) -> absl::Status {
    if (opened.is_table()) return ExportArrowStream(opened.table(), scan, options, &stream);
    // A whole file also brings the metadata of its header and footer.
    if (scan.where.empty() && scan.limit == UINT64_MAX && !scan.reverse && !scan.columns) {
      return ExportArrowStream(opened.file(), scan.range, options, &stream);
    }
    auto rows = NewTableScan(opened.file(), scan);
    if (!rows.ok()) return rows.status();
    return ExportArrowStream(*std::move(rows), options, &stream);
  });
}

// Whether a key begins with these values of the first key columns.
bool HasPrefix(const Opened& opened, nb::handle values) {
  const std::string bytes = CompoundBytes(opened.schema(), values);
  return WithoutLock([&]() -> absl::StatusOr<bool> {
    auto cursor = opened.table().NewMergeCursor({});
    if (!cursor.ok()) return cursor.status();
    const absl::Status status = cursor->SeekToPrefix(bytes);
    if (!status.ok()) return status;
    const auto batch = cursor->Next(1);
    if (!batch.ok()) return batch.status();
    return !batch->empty();
  });
}

nb::list Split(const Opened& opened, size_t max_ranges, const std::optional<Names>& columns,
               const nb::object& where) {
  TableScanOptions scan{.columns = columns};
  if (!where.is_none()) scan.where = FilterOf(where, opened.schema());
  const std::vector<cfile::OrdinalRange> ranges = WithoutLock([&] {
    return opened.is_table() ? opened.table().SplitScan(scan, max_ranges)
                             : opened.file().Split(max_ranges);
  });
  nb::list result;
  for (const cfile::OrdinalRange& range : ranges) {
    result.append(nb::make_tuple(range.begin, range.end));
  }
  return result;
}

bool HasIndex(const Opened& opened, size_t column) {
  if (!opened.is_table()) return opened.file().info().value_index_root.has_value();
  return WithoutLock([&] { return opened.table().has_value_index(column); });
}

uint64_t Count(const Opened& opened, const nb::object& where, uint64_t begin,
               std::optional<uint64_t> end, std::optional<uint64_t> limit) {
  TableScanOptions options{.columns = std::vector<std::string>(),
                           .range = {begin, end.value_or(UINT64_MAX)},
                           .limit = limit.value_or(UINT64_MAX)};
  if (!where.is_none()) options.where = FilterOf(where, opened.schema());
  return WithoutLock([&]() -> absl::StatusOr<uint64_t> {
    auto scan = opened.is_table() ? opened.table().NewScan(options)
                                  : cfile::NewTableScan(opened.file(), options);
    if (!scan.ok()) return scan.status();
    uint64_t rows = 0;
    for (const auto& batch : scan->Batches()) {
      if (!batch.ok()) return batch.status();
      rows += batch->num_rows();
    }
    return rows;
  });
}

// The cache of all files and tables that have none of their own: 1 GiB, or an eighth of the
// machine's memory if that is less. Rows from all over a table need all of its blocks. If the cache
// were a little smaller than these blocks, it would evict each block before it is needed again.
const std::shared_ptr<cfile::BlockCache>& SharedCache() {
  static const auto* const cache = [] {  // never destroyed: the interpreter ends first
    const uint64_t memory_bytes = static_cast<uint64_t>(std::max(sysconf(_SC_PHYS_PAGES), 0L)) *
                                  static_cast<uint64_t>(std::max(sysconf(_SC_PAGESIZE), 0L));
    const auto bytes = static_cast<size_t>(std::min(memory_bytes / 8, uint64_t{1} << 30));
    return new std::shared_ptr<cfile::BlockCache>(std::make_shared<cfile::BlockCache>(bytes));
  }();
  return *cache;
}

// Sets `snapshot` if `given`, the options of open_file and open_table, has one.
cfile::ReaderOptions ReaderOptionsOf(const nb::kwargs& given, nb::object& snapshot) {
  cfile::ReaderOptions options = kLimits;
  std::optional<size_t> cache_size_bytes;
  Given(given)
      .To("verify_checksums", options.verify_checksums)
      .To("stored_rows", options.stored_rows)
      .To("cache_size_bytes", cache_size_bytes)
      .To("snapshot", snapshot)
      .Done();
  options.block_cache =
      cache_size_bytes ? std::make_shared<cfile::BlockCache>(*cache_size_bytes) : SharedCache();
  return options;
}

std::unique_ptr<Opened> OpenFile(const nb::object& source, const nb::kwargs& given) {
  nb::object snapshot = nb::none();
  const cfile::ReaderOptions options = ReaderOptionsOf(given, snapshot);
  const std::optional<Location> place = LocationOf(source);
  auto bytes = place ? WithoutLock([&] { return place->OpenFile(); }) : NewObjectSource(source);
  std::string name = bytes->name();
  cfile::Reader file = WithoutLock([&] { return cfile::Reader::Open(std::move(bytes), options); });
  return std::make_unique<Opened>(std::move(file), std::move(name));
}

// Opens a table as it is in the snapshot, or as it is now.
std::unique_ptr<Opened> OpenTable(const nb::object& source, const nb::kwargs& given) {
  nb::object snapshot = nb::none();
  const cfile::ReaderOptions options = ReaderOptionsOf(given, snapshot);
  const std::optional<Location> place = LocationOf(source);
  std::shared_ptr<cfile::Storage> storage = place ? place->Storage() : NewObjectStorage(source);
  if (place && snapshot.is_none()) {
    // Errors have a better text if the table is opened without a snapshot.
    absl::StatusOr<cfile::VersionedObject> file;
    WithoutLock([&] {
      file = storage->Read(kTableFile, kLimits.max_metadata_size_bytes);
      return absl::OkStatus();
    });
    if (file.ok()) snapshot = nb::bytes(file->bytes.data(), file->bytes.size());
  }
  if (place && !snapshot.is_none()) {
    const auto bytes = nb::cast<nb::bytes>(snapshot);
    storage = WithSnapshot(*storage, {bytes.c_str(), bytes.size()});
  }
  cfile::TableReader table =
      WithoutLock([&] { return cfile::TableReader::Open(storage, options); });
  auto opened = std::make_unique<Opened>(std::move(table), storage->name());
  opened->snapshot = snapshot;
  return opened;
}

// Makes a method of Opened from a method of ColumnCursor. Its first argument is the name of the
// column to search, or "" for the key columns of the table; a key is then a sequence of values, one
// for each key column.
template <typename Result, typename... Arguments>
auto OfColumn(Result (ColumnCursor::*method)(Arguments...)) {
  return [method](const Opened& opened, const std::string& column, Arguments... arguments) {
    [[maybe_unused]] const auto stored = [&](nb::handle key) -> nb::object {
      if (!column.empty() || key.is_none()) return nb::borrow(key);
      const std::string bytes = CompoundBytes(opened.schema(), key);
      return nb::bytes(bytes.data(), bytes.size());
    };
    const size_t position =
        column.empty() ? opened.schema().key_index().value() : opened.Position(column);
    return opened.WithCursor(
        position, [&](ColumnCursor& cursor) { return (cursor.*method)(stored(arguments)...); });
  };
}

}  // namespace

void AddReading(nb::module_& module) {
  using nb::arg;
  nb::class_<Opened>(module, "Opened")
      .def_rw("origin", &Opened::origin)
      .def_rw("threads", &Opened::threads)
      .def_rw("snapshot", &Opened::snapshot)
      .def_rw("stored", &Opened::stored)
      .def("stored_rows",
           [](const Opened& opened) {
             return std::make_unique<Opened>(opened.table().StoredRows(), opened.name());
           })
      .def_rw("counted", &Opened::counted)
      .def_rw("types", &Opened::types)
      .def_prop_ro("applies_rule", &Opened::applies_rule)
      .def_prop_ro("merge_rule", &MergeRule)
      .def("close", &Opened::Close, nb::call_guard<nb::gil_scoped_release>())
      .def_prop_ro("is_table", &Opened::is_table)
      .def_prop_ro("name", [](const Opened& opened) { return PathOf(opened.name()); })
      .def_prop_ro("num_rows", &Opened::num_rows)
      .def_prop_ro(
          "num_parts",
          [](const Opened& opened) { return opened.is_table() ? opened.table().num_parts() : 1; })
      .def_prop_ro("columns", &Columns)
      .def_prop_ro("fields", &Fields)
      .def(
          "stream",
          [](const Opened& opened, std::optional<Names> columns, const nb::object& where,
             uint64_t begin, std::optional<uint64_t> end, std::optional<uint64_t> limit,
             bool reverse, bool dictionaries, bool dictionary_views, bool column_only) {
            TableScanOptions scan{.columns = std::move(columns),
                                  .range = {begin, end.value_or(UINT64_MAX)},
                                  .limit = limit.value_or(UINT64_MAX),
                                  .reverse = reverse};
            if (scan.range.end < begin) throw nb::value_error("end is less than begin");
            if (!where.is_none()) scan.where = FilterOf(where, opened.schema());
            return Stream(opened, scan,
                          {.dictionaries = dictionaries,
                           .dictionary_views = dictionary_views,
                           .column_only = column_only});
          },
          nb::kw_only(), arg("columns") = nb::none(), arg("where") = nb::none(), arg("begin") = 0,
          arg("end") = nb::none(), arg("limit") = nb::none(), arg("reverse") = false,
          arg("dictionaries") = true, arg("dictionary_views") = false, arg("column_only") = false)
      .def("count", &Count, nb::kw_only(), arg("where") = nb::none(), arg("begin") = 0,
           arg("end") = nb::none(), arg("limit") = nb::none())
      .def(
          "take",
          [](const Opened& opened, const nb::object& rows, const std::optional<Names>& columns,
             bool column_only) {
            const ArrowExportOptions options{.column_only = column_only};
            std::vector<uint64_t> ordinals = OrdinalsOf(rows, opened.num_rows());
            return Exported(opened, [&](ArrowArrayStream& stream) {
              return opened.is_table()
                         ? ExportArrowTake(opened.table(), std::move(ordinals), columns, options,
                                           &stream)
                         : ExportArrowTake(opened.file(), std::move(ordinals), options, &stream);
            });
          },
          arg("ordinals"), nb::kw_only(), arg("columns") = nb::none(), arg("column_only") = false)
      .def("values", OfColumn(&ColumnCursor::Values))
      .def("seek", OfColumn(&ColumnCursor::Seek))
      .def("in_key_order", OfColumn(&ColumnCursor::InKeyOrder))
      .def("newest", OfColumn(&ColumnCursor::Newest))
      .def("has_prefix", &HasPrefix)
      .def("key_range", OfColumn(&ColumnCursor::KeyRange), arg("column"), arg("low").none(),
           arg("high").none())
      .def("has_index",
           [](const Opened& opened, const std::string& column) {
             return HasIndex(opened, opened.Position(column));
           })
      .def_prop_ro(
          "arrow_schema",
          [](const Opened& opened) { return WithoutLock([&] { return opened.arrow_schema(); }); })
      .def("split", &Split, arg("max_ranges"), arg("columns") = nb::none(),
           arg("where") = nb::none())
      .def("parts", &Parts)
      .def("info", &Info)
      .def_prop_ro("metadata", &Metadata)
      .def_prop_ro("oldest_reader",
                   [](const Opened& opened) {
                     return cfile::OldestReaderName(opened.table().oldest_reader());
                   })
      .def("statistics", &Statistics)
      .def("blocks", &Blocks)
      .def("verify", &Verify);
  module.def("open_file", &OpenFile, arg("source"), arg("options"));
  module.def("open_table", &OpenTable, arg("source"), arg("options"));
}

}  // namespace cfile_python
