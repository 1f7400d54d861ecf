#include "tools/python/native/reading.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "cfile/arrow.h"
#include "cfile/block_cache.h"
#include "cfile/compound_key.h"
#include "cfile/status.h"
#include "tools/python/native/describe.h"
#include "tools/python/native/location.h"
#include "tools/python/native/object_source.h"
#include "tools/python/native/opened.h"
#include "tools/python/native/parallel_stream.h"
#include "tools/python/native/stream.h"
#include "tools/python/native/values.h"

namespace cfile_python {
namespace {

using cfile::ArrowExportOptions;
using cfile::Schema;
using cfile::TableScanOptions;

using Names = std::optional<std::vector<std::string>>;

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

// Reads the ordinals of a buffer of uint64 or of a sequence of int. IndexError: one is not a row.
std::vector<uint64_t> Ordinals(nb::handle object, uint64_t num_rows) {
  std::vector<uint64_t> ordinals;
  const bool is_sequence = PyList_Check(object.ptr()) || PyTuple_Check(object.ptr());
  Py_buffer buffer;
  if (!is_sequence && PyObject_GetBuffer(object.ptr(), &buffer, PyBUF_FORMAT | PyBUF_ND) == 0) {
    const std::string_view format = buffer.format == nullptr ? "B" : buffer.format;
    const bool fits = buffer.itemsize == sizeof(uint64_t) && buffer.ndim == 1 &&
                      (format == "Q" || format == "L" || format == "=Q" || format == "<Q");
    if (fits) {
      ordinals.resize(static_cast<size_t>(buffer.len) / sizeof(uint64_t));
      if (!ordinals.empty()) std::memcpy(ordinals.data(), buffer.buf, buffer.len);
    }
    PyBuffer_Release(&buffer);
    if (!fits) throw nb::type_error("expected a buffer of uint64 with one dimension");
  } else {
    PyErr_Clear();
    for (const nb::handle ordinal : nb::iter(object)) {
      ordinals.push_back(nb::cast<uint64_t>(ordinal));
    }
  }
  for (const uint64_t ordinal : ordinals) {
    if (ordinal < num_rows) continue;
    throw nb::index_error(cfile::StrCat("row ", ordinal, " of ", num_rows, " rows").c_str());
  }
  return ordinals;
}

// The keys that begin with `bytes` begin at `ordinal`, if there are any.
absl::StatusOr<bool> HasPrefixAt(const Opened& opened, uint64_t ordinal, std::string_view bytes) {
  if (ordinal >= opened.num_rows()) return false;
  auto cursor = opened.table().NewCursor<std::string_view>(*opened.schema().key_index());
  if (!cursor.ok()) return cursor.status();
  auto found = cursor->SeekToPrefix(bytes);
  if (!found.ok()) return found.status();
  return found->begin == ordinal && found->size() > 0;
}

// The bytes of a compound key, or of its first values.
std::string CompoundBytes(const Schema& schema, const nb::sequence& values) {
  if (!schema.key_index()) throw nb::value_error("the table has no key columns");
  const std::vector<cfile::KeyColumn> columns = schema.key_types();
  cfile::CompoundKey key(columns);
  size_t count = 0;
  for (const nb::handle value : values) {
    if (count == columns.size()) throw nb::value_error("the key has more values than key columns");
    AddToKey(key, columns[count++], value);
  }
  return std::string(key.bytes());
}

std::optional<uint64_t> NewestCompound(const Opened& opened, const nb::sequence& values) {
  const std::string bytes = CompoundBytes(opened.schema(), values);
  const nb::bytes sought(bytes.data(), bytes.size());
  return opened.WithCursor(*opened.schema().key_index(),
                           [&](ColumnCursor& cursor) { return cursor.Newest(sought); });
}

nb::tuple SeekCompound(const Opened& opened, const nb::sequence& values) {
  const std::string bytes = CompoundBytes(opened.schema(), values);
  const nb::bytes sought(bytes.data(), bytes.size());
  nb::tuple found = opened.WithCursor(*opened.schema().key_index(),
                                      [&](ColumnCursor& cursor) { return cursor.Seek(sought); });
  const bool whole = nb::len(values) == opened.schema().key_columns.size();
  if (whole || nb::cast<bool>(found[1])) return found;
  const auto ordinal = nb::cast<uint64_t>(found[0]);
  const bool begins = WithoutLock([&] { return HasPrefixAt(opened, ordinal, bytes); });
  return nb::make_tuple(ordinal, begins);
}

nb::list Split(const Opened& opened, size_t max_ranges, const Names& columns,
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

// cache_size_bytes: nullopt for the shared cache.
cfile::ReaderOptions Options(bool verify_checksums, std::optional<size_t> cache_size_bytes) {
  return {.access = cfile::ReaderOptions::Access::kPread,
          .verify_checksums = verify_checksums,
          .block_cache = cache_size_bytes ? std::make_shared<cfile::BlockCache>(*cache_size_bytes)
                                          : SharedCache(),
          .blocks_up_to_file_size = true};
}

std::unique_ptr<Opened> OpenFile(std::shared_ptr<const cfile::Source> source,
                                 const cfile::ReaderOptions& options) {
  std::string name = source->name();
  cfile::Reader file = WithoutLock([&] { return cfile::Reader::Open(std::move(source), options); });
  return std::make_unique<Opened>(std::move(file), std::move(name));
}

std::unique_ptr<Opened> OpenTable(const std::shared_ptr<cfile::Storage>& storage,
                                  const cfile::ReaderOptions& options) {
  cfile::TableReader table =
      WithoutLock([&] { return cfile::TableReader::Open(storage, options); });
  return std::make_unique<Opened>(std::move(table), storage->name());
}

// Reads the file that describes a table. kNotFound: there is no table.
absl::StatusOr<std::string> ReadSnapshot(const cfile::Storage& storage) {
  auto object = storage.Read(kTableFile, cfile::ReaderOptions().max_metadata_size_bytes);
  if (!object.ok()) return object.status();
  return std::move(object->bytes);
}

// Opens a table as it is in `snapshot`, or as it is now.
std::unique_ptr<Opened> OpenTableAt(const Location& path, const cfile::ReaderOptions& options,
                                    std::optional<nb::bytes> snapshot) {
  std::shared_ptr<cfile::Storage> storage = path.Storage();
  if (!snapshot) {
    // Errors have a better text if the table is opened without a snapshot.
    const auto bytes = WithoutLock([&]() -> absl::StatusOr<std::optional<std::string>> {
      auto read = ReadSnapshot(*storage);
      if (!read.ok()) return std::nullopt;
      return *std::move(read);
    });
    if (bytes) snapshot = nb::bytes(bytes->data(), bytes->size());
  }
  if (snapshot) {
    storage = WithSnapshot(*storage, {snapshot->c_str(), snapshot->size()});
  }
  auto opened = OpenTable(storage, options);
  if (snapshot) opened->snapshot = *snapshot;
  return opened;
}

}  // namespace

void AddReading(nb::module_& module) {
  using nb::arg;
  nb::class_<Opened>(module, "Opened")
      .def_rw("origin", &Opened::origin)
      .def_rw("threads", &Opened::threads)
      .def_rw("snapshot", &Opened::snapshot)
      .def("close",
           [](Opened& opened) {
             WithoutLock([&] {
               opened.Close();
               return absl::OkStatus();
             });
           })
      .def_prop_ro("is_table", &Opened::is_table)
      .def_prop_ro("name", [](const Opened& opened) { return PathOf(opened.name()); })
      .def_prop_ro("num_rows", &Opened::num_rows)
      .def_prop_ro("columns", &Columns)
      .def_prop_ro("fields", &Fields)
      .def(
          "stream",
          [](const Opened& opened, Names columns, const nb::object& where, uint64_t begin,
             std::optional<uint64_t> end, std::optional<uint64_t> limit, bool reverse,
             bool dictionaries, bool dictionary_views, bool column_only) {
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
          [](const Opened& opened, const nb::object& rows, const Names& columns, bool column_only) {
            const ArrowExportOptions options{.column_only = column_only};
            std::vector<uint64_t> ordinals = Ordinals(rows, opened.num_rows());
            return Exported(opened, [&](ArrowArrayStream& stream) {
              return opened.is_table()
                         ? ExportArrowTake(opened.table(), std::move(ordinals), columns, options,
                                           &stream)
                         : ExportArrowTake(opened.file(), std::move(ordinals), options, &stream);
            });
          },
          arg("ordinals"), nb::kw_only(), arg("columns") = nb::none(), arg("column_only") = false)
      .def("values",
           [](const Opened& opened, const std::string& column, const nb::object& rows) {
             const std::vector<uint64_t> ordinals = Ordinals(rows, opened.num_rows());
             return opened.WithCursor(opened.Position(column), [&](ColumnCursor& cursor) {
               return cursor.Values(ordinals);
             });
           })
      .def(
          "arrow_type",
          [](const Opened& opened, Names columns, bool column_only) {
            return Exported(opened, [&](ArrowArrayStream& stream) -> absl::Status {
              const ArrowExportOptions options{.dictionaries = false, .column_only = column_only};
              if (!opened.is_table()) {
                return ExportArrowStream(opened.file(), {0, 0}, options, &stream);
              }
              const TableScanOptions scan{.columns = std::move(columns), .range = {0, 0}};
              return ExportArrowStream(opened.table(), scan, options, &stream);
            });
          },
          nb::kw_only(), arg("columns") = nb::none(), arg("column_only") = false)
      .def("seek",
           [](const Opened& opened, const std::string& column, const nb::object& key) {
             return opened.WithCursor(opened.Position(column),
                                      [&](ColumnCursor& cursor) { return cursor.Seek(key); });
           })
      .def(
          "in_key_order",
          [](const Opened& opened, const std::optional<std::string>& column) {
            return opened.WithCursor(
                column ? opened.Position(*column) : opened.schema().key_index().value(),
                [](ColumnCursor& cursor) { return cursor.InKeyOrder(); });
          },
          arg("column") = nb::none())
      .def("newest",
           [](const Opened& opened, const std::string& column, const nb::object& key) {
             return opened.WithCursor(opened.Position(column),
                                      [&](ColumnCursor& cursor) { return cursor.Newest(key); });
           })
      .def("newest_compound", &NewestCompound)
      .def("seek_compound", &SeekCompound)
      .def(
          "key_range",
          [](const Opened& opened, const std::string& column, const nb::object& low,
             const nb::object& high) {
            return opened.WithCursor(opened.Position(column), [&](ColumnCursor& cursor) {
              return cursor.KeyRange(low, high);
            });
          },
          arg("column"), arg("low").none(), arg("high").none())
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
      .def("statistics", &Statistics)
      .def("blocks", &Blocks)
      .def("verify", &Verify);
  const auto checksums = arg("verify_checksums") = true;
  const auto cache = arg("cache_size_bytes") = nb::none();
  using Cache = std::optional<size_t>;
  module.def(
      "open_file",
      [](const Location& path, bool verify, Cache cache_size_bytes) {
        return OpenFile(WithoutLock([&] { return path.OpenFile(); }),
                        Options(verify, cache_size_bytes));
      },
      arg("path"), nb::kw_only(), checksums, cache);
  module.def(
      "open_table",
      [](const Location& path, bool verify, Cache cache_size_bytes,
         const std::optional<nb::bytes>& snapshot) {
        return OpenTableAt(path, Options(verify, cache_size_bytes), snapshot);
      },
      arg("path"), nb::kw_only(), checksums, cache, arg("snapshot") = nb::none());
  module.def("read_snapshot", [](const Location& path) {
    const std::string bytes =
        AtTable(path, [](const auto& storage) { return ReadSnapshot(*storage); });
    return nb::bytes(bytes.data(), bytes.size());
  });
  module.def(
      "open_object",
      [](const nb::object& file, bool verify, Cache cache_size_bytes) {
        return OpenFile(NewObjectSource(file), Options(verify, cache_size_bytes));
      },
      arg("file"), nb::kw_only(), checksums, cache);
  module.def(
      "open_objects",
      [](const nb::object& files, bool verify, Cache cache_size_bytes) {
        return OpenTable(NewObjectStorage(files), Options(verify, cache_size_bytes));
      },
      arg("files"), nb::kw_only(), checksums, cache);
}

}  // namespace cfile_python
