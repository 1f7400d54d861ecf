#include "tools/python/native/object_source.h"

#include <atomic>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "cfile/status.h"
#include "cfile/whole_files.h"

namespace cfile_python {
namespace {

using cfile::ReadRequest;
using cfile::Source;
using cfile::StorageEntry;

// Owns an object of Python. The last owner may be a thread without the interpreter lock.
std::shared_ptr<PyObject> Held(nb::object object) {
  return {object.release().ptr(), [](PyObject* held) {
            const nb::gil_scoped_acquire lock;
            Py_DECREF(held);
          }};
}

// Calls `work`, which uses Python, and returns its result. An exception becomes a status.
template <typename Work>
auto InPython(const std::string& name, Work&& work) -> decltype(work()) {
  nb::gil_scoped_acquire lock;
  try {
    return work();
  } catch (nb::python_error& error) {
    error.restore();
    return StatusOfPythonError(name);
  } catch (const nb::cast_error&) {
    return absl::UnknownError(cfile::StrCat(name, ": a method has returned a wrong type"));
  } catch (const std::exception& error) {
    return absl::UnknownError(cfile::StrCat(name, ": ", error.what()));
  }
}

// Copies the contents of a bytes-like object into `out`.
absl::Status CopyBytes(nb::handle object, std::span<uint8_t> out, const std::string& name,
                       uint64_t offset) {
  Py_buffer buffer;
  if (PyObject_GetBuffer(object.ptr(), &buffer, PyBUF_SIMPLE) != 0) throw nb::python_error();
  const auto size = static_cast<size_t>(buffer.len);
  if (size == out.size() && size > 0) std::memcpy(out.data(), buffer.buf, size);
  PyBuffer_Release(&buffer);
  if (size == out.size()) return absl::OkStatus();
  return absl::UnavailableError(
      cfile::StrCat(name, ": at offset ", offset, ": expected ", out.size(), " bytes, got ", size));
}

class ObjectSource final : public Source {
 public:
  explicit ObjectSource(const nb::object& object)
      : object_(Held(object)),
        name_(nb::cast<std::string>(object.attr("name"))),
        size_(nb::cast<uint64_t>(object.attr("size"))),
        has_latency_(nb::cast<bool>(object.attr("has_latency"))) {}

  const std::string& name() const override { return name_; }
  uint64_t size() const override { return size_; }
  bool HasLatency() const override { return has_latency_; }

  absl::Status ReadAt(uint64_t offset, std::span<uint8_t> out) const override {
    ReadRequest request{.offset = offset, .out = out};
    ReadMany({&request, 1});
    return request.status;
  }

  void ReadMany(std::span<ReadRequest> requests) const override {
    const absl::Status status = InPython(name_, [&]() -> absl::Status {
      nb::list ranges;
      for (const ReadRequest& request : requests) {
        ranges.append(nb::make_tuple(request.offset, request.out.size()));
      }
      const nb::object results = nb::handle(object_.get()).attr("read_ranges")(ranges);
      if (nb::len(results) != requests.size()) {
        return absl::UnknownError(cfile::StrCat(name_, ": read_ranges has returned ",
                                                nb::len(results), " results for ", requests.size(),
                                                " ranges"));
      }
      for (size_t i = 0; i < requests.size(); ++i) {
        requests[i].status =
            CopyBytes(nb::object(results[i]), requests[i].out, name_, requests[i].offset);
      }
      return absl::OkStatus();
    });
    if (status.ok()) return;
    for (ReadRequest& request : requests) request.status = status;
  }

 private:
  const std::shared_ptr<PyObject> object_;
  const std::string name_;
  const uint64_t size_;
  const bool has_latency_;
};

class ObjectStorage final : public cfile::Storage {
 public:
  explicit ObjectStorage(const nb::object& object)
      : object_(Held(object)), name_(nb::cast<std::string>(object.attr("name"))) {}

  const std::string& name() const override { return name_; }
  absl::StatusOr<std::shared_ptr<const Source>> Open(const std::string& path) const override {
    return InPython(NameOf(path), [&]() -> absl::StatusOr<std::shared_ptr<const Source>> {
      return NewObjectSource(nb::handle(object_.get()).attr("open")(path));
    });
  }
  absl::StatusOr<std::vector<StorageEntry>> List(const std::string& folder) const override {
    return InPython(name_, [&]() -> absl::StatusOr<std::vector<StorageEntry>> {
      std::vector<StorageEntry> entries;
      for (const nb::handle entry : nb::handle(object_.get()).attr("list")(folder)) {
        entries.push_back(
            {.path = nb::cast<std::string>(entry[0]), .size_bytes = nb::cast<uint64_t>(entry[1])});
      }
      return entries;
    });
  }
  absl::StatusOr<cfile::VersionedObject> Read(const std::string& path,
                                              uint64_t max_size_bytes) const override {
    return InPython(NameOf(path), [&]() -> absl::StatusOr<cfile::VersionedObject> {
      const nb::object read = nb::handle(object_.get()).attr("read")(path, max_size_bytes);
      const auto bytes = nb::cast<nb::bytes>(read[0]);
      if (bytes.size() > max_size_bytes) {
        return absl::OutOfRangeError(cfile::StrCat(NameOf(path), ": has ", bytes.size(),
                                                   " bytes, more than ", max_size_bytes));
      }
      return cfile::VersionedObject{.bytes = std::string(bytes.c_str(), bytes.size()),
                                    .version = nb::cast<std::string>(read[1])};
    });
  }
  absl::StatusOr<std::unique_ptr<cfile::Sink>> Create(const std::string& path) override {
    return ReadOnly(path);
  }
  absl::Status Delete(const std::string& path) override { return ReadOnly(path); }
  absl::Status Commit(const std::string& path, const std::optional<std::string>&,
                      std::string_view) override {
    return ReadOnly(path);
  }

 private:
  std::string NameOf(const std::string& path) const { return cfile::StrCat(name_, "/", path); }
  absl::Status ReadOnly(const std::string& path) const {
    return absl::PermissionDeniedError(
        cfile::StrCat(NameOf(path), ": tables in objects of Python cannot be changed"));
  }

  const std::shared_ptr<PyObject> object_;
  const std::string name_;
};

class ObjectSink final : public cfile::Sink {
 public:
  explicit ObjectSink(const nb::object& object) : object_(Held(object)), name_(NameOf(object)) {}

  const std::string& name() const override { return name_; }
  absl::Status Append(std::span<const uint8_t> bytes) override {
    return InPython(name_, [&]() -> absl::Status {
      const nb::object write = nb::handle(object_.get()).attr("write");
      for (size_t done = 0; done < bytes.size();) {
        const nb::object written = write(nb::bytes(bytes.data() + done, bytes.size() - done));
        // An object that is not buffered may write less. None means that it was all.
        const auto count = written.is_none() ? bytes.size() - done : nb::cast<size_t>(written);
        if (count == 0 || count > bytes.size() - done) {
          return absl::UnavailableError(cfile::StrCat(name_, ": write returned ", count, " for ",
                                                      bytes.size() - done, " bytes"));
        }
        done += count;
      }
      return absl::OkStatus();
    });
  }
  absl::Status Finish() override {
    return InPython(name_, [&]() -> absl::Status {
      if (nb::hasattr(nb::handle(object_.get()), "flush"))
        nb::handle(object_.get()).attr("flush")();
      return absl::OkStatus();
    });
  }

 private:
  static std::string NameOf(const nb::object& object) {
    std::string name;
    if (nb::try_cast(nb::getattr(object, "name", nb::none()), name)) return name;
    return nb::cast<std::string>(nb::str(object.type()));
  }

  const std::shared_ptr<PyObject> object_;
  const std::string name_;
};

// Reads are short, and taking the interpreter lock would cost more than a read, so only each
// kReadsPerCheck-th read runs the handlers.
constexpr uint32_t kReadsPerCheck = 16;

class InterruptibleSource final : public Source {
 public:
  explicit InterruptibleSource(std::shared_ptr<const Source> file) : file_(std::move(file)) {}
  const std::string& name() const override { return file_->name(); }
  uint64_t size() const override { return file_->size(); }
  absl::Status ReadAt(uint64_t offset, std::span<uint8_t> out) const override {
    thread_local uint32_t reads = 0;
    absl::Status status = TakeInterrupt();
    if (status.ok() && ++reads % kReadsPerCheck == 0) status = RunSignalHandlers(name());
    if (!status.ok()) return status;
    return file_->ReadAt(offset, out);
  }
  void ReadMany(std::span<cfile::ReadRequest> requests) const override {
    if (const absl::Status status = RunSignalHandlers(name()); !status.ok()) {
      for (cfile::ReadRequest& request : requests) request.status = status;
      return;
    }
    file_->ReadMany(requests);
  }
  bool HasLatency() const override { return file_->HasLatency(); }
  bool ReadsInBackground() const override { return file_->ReadsInBackground(); }
  std::unique_ptr<cfile::PendingRead> BeginRead(uint64_t offset,
                                                std::span<uint8_t> out) const override {
    return std::make_unique<InterruptibleRead>(*this, file_->BeginRead(offset, out));
  }
  std::string identity() const override { return file_->identity(); }
  bool Forget(uint64_t offset, uint64_t size) const override { return file_->Forget(offset, size); }

 private:
  class InterruptibleRead final : public cfile::PendingRead {
   public:
    InterruptibleRead(const InterruptibleSource& file, std::unique_ptr<PendingRead> read)
        : file_(file), read_(std::move(read)) {}
    absl::Status Wait() override {
      absl::Status status = RunSignalHandlers(file_.name());
      return status.ok() ? read_->Wait() : status;
    }

   private:
    const InterruptibleSource& file_;
    const std::unique_ptr<PendingRead> read_;
  };

  const std::shared_ptr<const Source> file_;
};

class InterruptibleSink final : public cfile::Sink {
 public:
  explicit InterruptibleSink(std::unique_ptr<Sink> file) : file_(std::move(file)) {}
  const std::string& name() const override { return file_->name(); }
  absl::Status Append(std::span<const uint8_t> bytes) override {
    if (absl::Status status = RunSignalHandlers(name()); !status.ok()) return status;
    return file_->Append(bytes);
  }
  absl::Status Finish() override { return file_->Finish(); }

 private:
  std::unique_ptr<Sink> file_;
};

class InterruptibleStorage final : public cfile::Storage, public cfile::WholeFiles {
 public:
  explicit InterruptibleStorage(std::shared_ptr<Storage> files,
                                std::optional<std::string> snapshot = std::nullopt)
      : files_(std::move(files)), snapshot_(std::move(snapshot)) {}
  const std::string& name() const override { return files_->name(); }
  absl::StatusOr<std::shared_ptr<const Source>> Open(const std::string& path) const override {
    return Interruptible(files_->Open(path));
  }
  std::vector<absl::StatusOr<std::shared_ptr<const Source>>> OpenMany(
      std::span<const std::string> paths) const override {
    auto files = files_->OpenMany(paths);
    for (auto& file : files) file = Interruptible(std::move(file));
    return files;
  }
  std::shared_ptr<const Source> OpenWhole(const std::string& path,
                                          uint64_t size_bytes) const override {
    const auto* const files = dynamic_cast<const cfile::WholeFiles*>(files_.get());
    auto file = files == nullptr ? nullptr : files->OpenWhole(path, size_bytes);
    if (file == nullptr) return nullptr;
    return std::make_shared<InterruptibleSource>(std::move(file));
  }
  bool OpensAtOnce() const override { return files_->OpensAtOnce(); }
  absl::StatusOr<std::unique_ptr<cfile::Sink>> Create(const std::string& path) override {
    return Interruptible(files_->Create(path));
  }
  absl::StatusOr<std::vector<StorageEntry>> List(const std::string& folder) const override {
    return files_->List(folder);
  }
  absl::Status Delete(const std::string& path) override { return files_->Delete(path); }
  absl::StatusOr<cfile::VersionedObject> Read(const std::string& path,
                                              uint64_t max_size_bytes) const override {
    if (!snapshot_ || path != kTableFile || is_read_.exchange(true))
      return files_->Read(path, max_size_bytes);
    if (snapshot_->size() > max_size_bytes) {
      return absl::OutOfRangeError(cfile::StrCat(name(), "/", path, ": ", snapshot_->size(),
                                                 " bytes are more than max_metadata_size_bytes"));
    }
    return cfile::VersionedObject{.bytes = *snapshot_, .version = "snapshot"};
  }
  absl::Status Commit(const std::string& path, const std::optional<std::string>& expected_version,
                      std::string_view bytes) override {
    return files_->Commit(path, expected_version, bytes);
  }
  const std::shared_ptr<Storage>& files() const { return files_; }

 private:
  const std::shared_ptr<Storage> files_;
  const std::optional<std::string> snapshot_;  // what the first read of table.cft returns
  mutable std::atomic<bool> is_read_ = false;
};

}  // namespace

std::shared_ptr<const Source> NewObjectSource(const nb::object& object) {
  return std::make_shared<ObjectSource>(object);
}

std::shared_ptr<cfile::Storage> NewObjectStorage(const nb::object& object) {
  return std::make_shared<ObjectStorage>(object);
}

std::unique_ptr<cfile::Sink> NewObjectSink(const nb::object& object) {
  return std::make_unique<ObjectSink>(object);
}

absl::StatusOr<std::shared_ptr<const Source>> Interruptible(
    absl::StatusOr<std::shared_ptr<const Source>> file) {
  if (!file.ok()) return file;
  return std::make_shared<InterruptibleSource>(*std::move(file));
}

absl::StatusOr<std::unique_ptr<cfile::Sink>> Interruptible(
    absl::StatusOr<std::unique_ptr<cfile::Sink>> file) {
  if (!file.ok()) return file;
  return std::make_unique<InterruptibleSink>(*std::move(file));
}

std::shared_ptr<cfile::Storage> Interruptible(std::shared_ptr<cfile::Storage> files) {
  return std::make_shared<InterruptibleStorage>(std::move(files));
}

std::shared_ptr<cfile::Storage> WithSnapshot(const cfile::Storage& interruptible,
                                             std::string snapshot) {
  const auto& storage = static_cast<const InterruptibleStorage&>(interruptible);
  return std::make_shared<InterruptibleStorage>(storage.files(), std::move(snapshot));
}

}  // namespace cfile_python
