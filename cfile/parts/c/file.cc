#include "cfile/parts/c/file.h"

#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "cfile/io.h"
#include "cfile/parts/c/call.h"
#include "cfile/parts/c/cursor.h"
#include "cfile/parts/c/io.h"
#include "cfile/parts/c/options.h"
#include "cfile/types.h"
#include "encodings/core/status.h"

namespace cfile::internal {
namespace {

absl::Status MakeFile(absl::StatusOr<Reader> reader, cfile_file** file) {
  CFILE_RETURN_IF_ERROR(reader.status());
  const FileInfo& info = reader->info();
  *file = new cfile_file{.reader = *reader,
                         .type = info.type.ToString(),
                         .encoding = std::string(EncodingName(info.encoding)),
                         .compression = CompressionName(info.compression)};
  return absl::OkStatus();
}

// A cursor of a file, as AnyCursor is one of a table.
class CursorOfFile final : public AnyCursor {
 public:
  explicit CursorOfFile(UntypedCursor cursor) : cursor_(std::move(cursor)) {}
  absl::Status SeekToOrdinal(uint64_t ordinal) override { return cursor_.SeekToOrdinal(ordinal); }
  absl::StatusOr<KeyPosition> SeekToKey(const void* key) override { return cursor_.SeekToKey(key); }
  absl::Status SeekMany(encodings::ValueSpan keys, std::span<KeyPosition> positions) override {
    return cursor_.SeekMany(keys, positions);
  }
  absl::Status SeekToRange(const OrdinalRange& range) override {
    return cursor_.SeekToRange(range);
  }
  absl::StatusOr<OrdinalRange> SeekToKeyRange(const void* low, const void* high) override {
    return cursor_.SeekToKeyRange(low, high);
  }
  absl::StatusOr<AnyBatch> Next(size_t max_rows) override { return cursor_.Next(max_rows); }
  absl::StatusOr<AnyBatch> Previous(size_t max_rows) override { return cursor_.Previous(max_rows); }
  absl::StatusOr<AnyBatch> Get(uint64_t ordinal) override { return cursor_.Get(ordinal); }
  absl::Status Take(std::span<const uint64_t> ordinals, OwnedValues& out) override {
    return cursor_.Take(ordinals, out);
  }
  uint64_t ordinal() const override { return cursor_.ordinal(); }
  absl::StatusOr<std::unique_ptr<AnyCursor>> Clone() const override {
    CFILE_ASSIGN_OR_RETURN(UntypedCursor clone, cursor_.Clone());
    return std::make_unique<CursorOfFile>(std::move(clone));
  }

 private:
  UntypedCursor cursor_;
};

absl::StatusOr<std::unique_ptr<cfile_cursor>> NewCursor(const Reader& reader) {
  using Result = absl::StatusOr<std::unique_ptr<cfile_cursor>>;
  return VisitType(reader.type(), [&]<typename T>(std::type_identity<T>) -> Result {
    CFILE_ASSIGN_OR_RETURN(Cursor<T> cursor, reader.NewCursor<T>());
    return std::unique_ptr<cfile_cursor>(new cfile_cursor{
        std::make_unique<CursorOfFile>(std::move(cursor).untyped()), reader.type()});
  });
}

}  // namespace
}  // namespace cfile::internal

using namespace cfile::internal;  // NOLINT(google-build-using-namespace)

cfile_code cfile_file_open(const char* path, const cfile_reader_options* options,
                           cfile_file** file) {
  return Call({path, file}, [&]() -> absl::Status {
    CFILE_ASSIGN_OR_RETURN(const auto reader_options, OptionsOf(options));
    return MakeFile(cfile::Reader::Open(path, reader_options), file);
  });
}

cfile_code cfile_file_open_memory(const void* data, size_t size, int32_t copy,
                                  const cfile_reader_options* options, cfile_file** file) {
  return Call({ArrayOf(data, size), file}, [&]() -> absl::Status {
    CFILE_ASSIGN_OR_RETURN(const auto reader_options, OptionsOf(options));
    const std::span bytes(static_cast<const uint8_t*>(data), size);
    auto source = copy != 0
                      ? cfile::NewMemorySource(std::vector<uint8_t>(bytes.begin(), bytes.end()))
                      : cfile::NewMemoryViewSource(bytes);
    return MakeFile(cfile::Reader::Open(std::move(source), reader_options), file);
  });
}

cfile_code cfile_file_open_source(const cfile_source* source, const cfile_reader_options* options,
                                  cfile_file** file) {
  return Call({source}, [&]() -> absl::Status {
    cfile_source given;
    const absl::Status known = ReadStruct(source, given);
    OwnedCallbacks callbacks(given);  // calls `free` if there is an error
    CFILE_RETURN_IF_ERROR(known);
    CFILE_RETURN_IF_ERROR(CheckPointers({file}));
    if (given.read_at == nullptr) return absl::InvalidArgumentError("read_at is null");
    CFILE_ASSIGN_OR_RETURN(const auto reader_options, OptionsOf(options));
    return MakeFile(cfile::Reader::Open(NewCallbackSource(std::move(callbacks)), reader_options),
                    file);
  });
}

void cfile_file_free(cfile_file* file) { delete file; }

cfile_code cfile_file_get_info(const cfile_file* file, cfile_file_info* info) {
  return Call({file, info}, [&] {
    const cfile::FileInfo& from = file->reader.info();
    return FillStruct(
        cfile_file_info{
            .struct_size = 0,
            .num_rows = from.num_rows,
            .file_size_bytes = from.file_size_bytes,
            .type = file->type.c_str(),
            .encoding = file->encoding.c_str(),
            .compression = file->compression.c_str(),
            .created_by = from.created_by.c_str(),
            .value_type = static_cast<int32_t>(from.type.physical()),
            .nullable = from.nullable,
            .has_levels = from.has_levels(),
            .has_positional_index = from.positional_index_root.has_value(),
            .has_value_index = from.value_index_root.has_value(),
            .has_statistics = from.statistics.has_value() && !from.statistics_above_limit,
            .num_metadata = from.header_metadata.size() + from.footer_metadata.size()},
        info);
  });
}

cfile_code cfile_file_get_metadata(const cfile_file* file, size_t index, cfile_bytes* key,
                                   cfile_bytes* value) {
  return Call({file, key, value}, [&]() -> absl::Status {
    const auto& header = file->reader.info().header_metadata;
    const auto& footer = file->reader.info().footer_metadata;
    const bool in_header = index < header.size();
    if (!in_header && index - header.size() >= footer.size())
      return NoSuch("metadata pair", index, header.size() + footer.size());
    const auto& pair = in_header ? header[index] : footer[index - header.size()];
    *key = {pair.first.size(), pair.first.data()};
    *value = {pair.second.size(), pair.second.data()};
    return absl::OkStatus();
  });
}

cfile_code cfile_file_cursor(const cfile_file* file, cfile_cursor** cursor) {
  return Call({file, cursor}, [&]() -> absl::Status {
    CFILE_ASSIGN_OR_RETURN(auto result, NewCursor(file->reader));
    *cursor = result.release();
    return absl::OkStatus();
  });
}
