// Sources and storages whose bytes come from Python objects (RangedFile and TableFiles of
// cfile/ranges.py). Also sources, sinks and storages that run Python's signal handlers during
// reads and writes.
#pragma once

#include <memory>
#include <string>

#include "cfile/io.h"
#include "cfile/storage.h"
#include "tools/python/native/errors.h"

namespace cfile_python {

// Return a source or a storage that calls the methods of `object`. They need the interpreter lock.
// An exception of a method becomes a status (StatusOfPythonError).
std::shared_ptr<const cfile::Source> NewObjectSource(const nb::object& object);
std::shared_ptr<cfile::Storage> NewObjectStorage(const nb::object& object);

// Returns a sink that calls the method `write` of `object` and, at the end, its method `flush` if
// there is one. It does not close the object.
std::unique_ptr<cfile::Sink> NewObjectSink(const nb::object& object);

// Return what they are given, except that reads and writes run Python's signal handlers from time
// to time, so that KeyboardInterrupt ends long work. Errors are returned unchanged.
absl::StatusOr<std::shared_ptr<const cfile::Source>> Interruptible(
    absl::StatusOr<std::shared_ptr<const cfile::Source>> file);
absl::StatusOr<std::unique_ptr<cfile::Sink>> Interruptible(
    absl::StatusOr<std::unique_ptr<cfile::Sink>> file);
std::shared_ptr<cfile::Storage> Interruptible(std::shared_ptr<cfile::Storage> files);

// The name of the file that describes a table. A snapshot of a table (Opened.snapshot in
// cfile/_native.pyi) consists of the bytes of this file.
inline constexpr char kTableFile[] = "table.cft";

// Returns a storage with the files of `interruptible`, a result of Interruptible, to open one
// table. The first read of table.cft returns the snapshot, so the table has the parts of that
// moment, as long as CollectGarbage has not removed their files. Later reads return the present
// table.cft: if a file is missing, the reader finds out that its part was dropped.
std::shared_ptr<cfile::Storage> WithSnapshot(const cfile::Storage& interruptible,
                                             std::string snapshot);

}  // namespace cfile_python
