#include "tools/import/columnar_importer.h"

#include <cerrno>
#include <memory>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "cfile/arrow_import.h"
#include "cfile/arrow_ipc.h"
#include "cfile/io.h"
#include "cfile/status.h"

namespace cfile::tools {
namespace {

// Passes on the batches of a stream, with some or all of their fields. Reports progress, and keeps
// the error of the stream.
class WatchedStream {
 public:
  // `rows`: of earlier streams.
  WatchedStream(ArrowArrayStream stream, uint64_t rows, Progress& progress)
      : stream_(stream), progress_(progress), rows_(rows) {}
  WatchedStream(const WatchedStream&) = delete;
  WatchedStream& operator=(const WatchedStream&) = delete;
  ~WatchedStream() { stream_.release(&stream_); }

  // Only the fields that --columns names are passed on. `input`: the name of the input, for errors.
  absl::Status Choose(const ImportOptions& options, const std::string& input) {
    ArrowSchema type;
    if (stream_.get_schema(&stream_, &type) != 0)
      return absl::InvalidArgumentError(stream_.get_last_error(&stream_));
    std::vector<std::string> known;
    for (int64_t i = 0; i < type.n_children; ++i) known.emplace_back(type.children[i]->name);
    type.release(&type);
    for (const std::string& name : options.columns)
      fields_.push_back(std::ranges::find(known, name) - known.begin());
    return CheckColumns(options.columns, input, known);
  }

  // Returns a stream of the batches, to be used once. This object must outlive it.
  ArrowArrayStream Batches() {
    return {.get_schema =
                [](ArrowArrayStream* self, ArrowSchema* out) {
                  return Of(self).Get(&ArrowArrayStream::get_schema, out);
                },
            .get_next = [](ArrowArrayStream* self, ArrowArray* out) { return Of(self).Next(out); },
            .get_last_error = [](ArrowArrayStream* self) -> const char* {
              return Of(self).stream_.get_last_error(&Of(self).stream_);
            },
            .release = [](ArrowArrayStream* self) { self->release = nullptr; },
            .private_data = this};
  }

  // Returns the error of the stream, or `status` if the stream had no error.
  absl::Status ErrorOr(const absl::Status& status) const { return failed_.ok() ? status : failed_; }

  uint64_t rows() const { return rows_; }

 private:
  // An ArrowSchema or an ArrowArray with all fields, and pointers to the chosen ones.
  template <typename Node>
  struct Held {
    Node node;
    std::vector<Node*> children;
  };

  static WatchedStream& Of(ArrowArrayStream* self) {
    return *static_cast<WatchedStream*>(self->private_data);
  }

  template <typename Node>
  int Get(int (*ArrowArrayStream::*get)(ArrowArrayStream*, Node*), Node* out) {
    auto held = std::make_unique<Held<Node>>();
    if (const int error = (stream_.*get)(&stream_, &held->node); error != 0) return error;
    *out = held->node;
    if (fields_.empty() || out->release == nullptr) return 0;  // the end of the stream
    for (const int64_t field : fields_) held->children.push_back(out->children[field]);
    out->n_children = static_cast<int64_t>(held->children.size());
    out->children = held->children.data();
    out->private_data = held.release();
    out->release = [](Node* self) {
      const std::unique_ptr<Held<Node>> all(static_cast<Held<Node>*>(self->private_data));
      all->node.release(&all->node);
      self->release = nullptr;
    };
    return 0;
  }

  int Next(ArrowArray* out) {
    out->release = nullptr;
    failed_ = progress_.Update(0, rows_);
    if (!failed_.ok()) return ECANCELED;
    const int error = Get(&ArrowArrayStream::get_next, out);
    if (error == 0) {
      if (out->release != nullptr) rows_ += static_cast<uint64_t>(out->length);
      return 0;
    }
    const char* const text = stream_.get_last_error(&stream_);
    // EIO stands for damage: the source is a mapped file, so it has no other errors.
    failed_ = error == EIO ? absl::InvalidArgumentError(text)
                           : absl::Status(absl::ErrnoToStatus(error, "").code(), text);
    return error;
  }

  ArrowArrayStream stream_;
  Progress& progress_;
  absl::Status failed_;
  uint64_t rows_;
  std::vector<int64_t> fields_;  // empty: all
};

class ArrowImporter final : public ColumnarImporter {
 public:
  ArrowImporter(const ImportOptions& options, std::vector<std::shared_ptr<const Source>> sources,
                Progress& progress)
      : ColumnarImporter(options, progress), sources_(std::move(sources)) {}

 private:
  using Input = std::shared_ptr<const Source>;

  // `rows`: of earlier streams.
  absl::StatusOr<std::unique_ptr<WatchedStream>> OpenStream(const Input& source,
                                                            uint64_t rows) const {
    CFILE_ASSIGN_OR_RETURN(
        const ArrowArrayStream stream,
        AsInputError(OpenArrowIpc(source, {.record_limits = options_.record_limits})));
    auto watched = std::make_unique<WatchedStream>(stream, rows, progress_);
    CFILE_RETURN_IF_ERROR(watched->Choose(options_, source->name()));
    return watched;
  }

  // Gives fields of the type null the type string, as columns without values have in CSV and JSON.
  static void ReplaceNullTypes(ArrowSchema& schema) {
    if (std::string_view(schema.format) == "n") schema.format = "u";
    for (int64_t i = 0; i < schema.n_children; ++i) ReplaceNullTypes(*schema.children[i]);
  }

  absl::StatusOr<Schema> ReadSchema() override {
    CFILE_ASSIGN_OR_RETURN(const auto watched, OpenStream(sources_[0], 0));
    ArrowArrayStream stream = watched->Batches();
    ArrowSchema type;
    absl::StatusOr<Schema> schema = absl::ResourceExhaustedError("no memory");
    if (stream.get_schema(&stream, &type) == 0) {
      ReplaceNullTypes(type);
      schema = ImportArrowSchema(type, options_.record_limits);
      type.release(&type);
    }
    if (!schema.ok()) return InInput(*sources_[0], schema.status());
    return schema;
  }

  static absl::Status InInput(const Source& source, const absl::Status& status) {
    if (status.ok()) return status;
    const absl::string_view text = status.message();
    // Errors of OpenArrowIpc name the file already.
    if (absl::StartsWith(text, source.name())) return status;
    return MarkedLike(status, absl::Status(status.code(), absl::StrCat(source.name(), ": ", text)));
  }

  absl::StatusOr<ImportResult> AppendInput(absl::StatusOr<TableWriter> writer) {
    CFILE_RETURN_IF_ERROR(writer.status());
    progress_.Begin("writing", 0);
    uint64_t rows = 0, bytes = 0;
    for (const Input& source : sources_) {
      CFILE_ASSIGN_OR_RETURN(const auto watched, OpenStream(source, rows));
      ArrowArrayStream batches = watched->Batches();
      const absl::Status status = watched->ErrorOr(AppendArrow(*writer, &batches));
      if (!status.ok()) return InInput(*source, status);
      rows = watched->rows();
      bytes += source->size();
    }
    // Without this call, nobody calls Update if the input has no rows.
    CFILE_RETURN_IF_ERROR(progress_.Update(0, rows));
    CFILE_RETURN_IF_ERROR(writer->Finish());
    return ImportResult{
        .rows = rows,
        .bytes_in = bytes,
        .format = "Arrow IPC",
        .records = schema_.tree.has_value(),
        .columns = ColumnsOf(schema_, [&](size_t column) { return writer->totals(column); })};
  }

  absl::StatusOr<ImportResult> Write() override { return AppendInput(NewWriter()); }
  absl::StatusOr<ImportResult> WriteCopy(const UnsortedTable& copy) override {
    return AppendInput(copy.NewWriter());
  }

  const std::vector<Input> sources_;  // at least one
};

}  // namespace

absl::StatusOr<ImportResult> ImportArrowIpc(const ImportOptions& options, const InputFile& file,
                                            Progress& progress) {
  CFILE_RETURN_IF_ERROR(RefuseCsvOptions(options, "as Arrow IPC"));
  for (const auto& [name, type] : options.types) {
    if (type.format == nullptr) continue;
    return absl::InvalidArgumentError(absl::StrCat("--type ", name, ": a format is for text; ",
                                                   options.input, " is read as Arrow IPC"));
  }
  std::vector<std::shared_ptr<const Source>> sources;
  if (file.source != nullptr) sources.push_back(file.source);
  for (const std::string& path : options.files) {
    CFILE_ASSIGN_OR_RETURN(sources.emplace_back(), OpenMappedSource(path));
  }
  return ImportWithFewestNulls(options, [&](const ImportOptions& chosen) {
    return ArrowImporter(chosen, sources, progress).Run();
  });
}

}  // namespace cfile::tools
