#include "cfile/parts/table/packed/packed_directory.h"

#include <algorithm>
#include <set>
#include <span>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "cfile/core/io/named_status.h"
#include "cfile/core/wire/messages.h"
#include "cfile/core/wire/parse_message.h"
#include "cfile/core/wire/write_message.h"
#include "cfile/parts/table/manifest/sealed_message.h"
#include "cfile/parts/table/manifest/table_contents.h"
#include "encodings/core/assert.h"
#include "encodings/core/bytes.h"
#include "encodings/core/status.h"

namespace cfile {
namespace {

using encodings::AsBytes;
using encodings::AsString;
using encodings::DataLoss;

static_assert(kPackedMagic.size() == internal::kMagicBytes);
// After the directory: its size and the magic.
constexpr uint64_t kTrailerBytes = sizeof(uint32_t) + internal::kMagicBytes;

class SliceSource final : public Source {
 public:
  SliceSource(std::shared_ptr<const Source> source, uint64_t offset, uint64_t size_bytes,
              std::string name)
      : source_(std::move(source)),
        offset_(offset),
        size_bytes_(size_bytes),
        name_(std::move(name)) {}

  const std::string& name() const override { return name_; }
  uint64_t size() const override { return size_bytes_; }
  bool HasLatency() const override { return source_->HasLatency(); }
  bool ReadsInBackground() const override { return source_->ReadsInBackground(); }
  std::string identity() const override {
    const std::string identity = source_->identity();
    return identity.empty() ? "" : absl::StrCat(identity, "/", offset_, "+", size_bytes_);
  }
  std::span<const uint8_t> InMemory() const override {
    const std::span<const uint8_t> bytes = source_->InMemory();
    return bytes.empty() ? bytes : bytes.subspan(offset_, size_bytes_);
  }
  bool Forget(uint64_t offset, uint64_t size) const override {
    return source_->Forget(offset_ + offset, size);
  }
  void WillRead(uint64_t offset, uint64_t size) const override {
    source_->WillRead(offset_ + offset, size);
  }

  absl::Status ReadAt(uint64_t offset, std::span<uint8_t> out) const override {
    return source_->ReadAt(offset_ + offset, out);
  }
  void ReadMany(std::span<ReadRequest> requests) const override {
    for (ReadRequest& request : requests) request.offset += offset_;
    source_->ReadMany(requests);
    for (ReadRequest& request : requests) request.offset -= offset_;
  }
  std::unique_ptr<PendingRead> BeginRead(uint64_t offset, std::span<uint8_t> out) const override {
    return source_->BeginRead(offset_ + offset, out);
  }

 private:
  const std::shared_ptr<const Source> source_;
  const uint64_t offset_;
  const uint64_t size_bytes_;
  const std::string name_;
};

// Returns the columns that a directory names. `directory`: its bytes. `offset`: its place in the
// file, where the columns end. `path`: for errors.
absl::StatusOr<std::vector<PackedColumn>> ParseDirectory(std::string_view directory,
                                                         uint64_t offset, size_t max_size_bytes,
                                                         const std::string& path) {
  CFILE_ASSIGN_OR_RETURN(const internal::SealedMessage sealed,
                         internal::UnsealMessage(directory, {&kPackedMagic, 1},
                                                 "the directory of a packed file", path));
  internal::wire::PackedFile message;
  CFILE_RETURN_IF_ERROR(
      internal::Named(internal::wire::ParseMessage(sealed.message, max_size_bytes, message), path));
  std::vector<PackedColumn> columns;
  std::set<std::string_view> names;
  uint64_t end = 0;
  for (const internal::wire::PackedColumn& in_message : message.columns) {
    const uint64_t begin = internal::NextPackedOffset(end);
    const uint64_t most = offset - std::min(offset, begin);
    PackedColumn& column = columns.emplace_back();
    column = {.file_name = std::string(in_message.file_name.value_or("")),
              .offset = begin,
              .size_bytes = in_message.size_bytes.value_or(0)};
    if (!internal::IsPlainName(column.file_name) || !names.insert(*in_message.file_name).second) {
      return DataLoss(path, ": column ", columns.size() - 1,
                      ": a file name that no other column has expected, found \"", column.file_name,
                      "\"");
    }
    if (column.size_bytes == 0 || column.size_bytes > most) {
      return DataLoss(path, ": column ", column.file_name, ": at offset ", begin, ": 1 to ", most,
                      " bytes expected, found ", column.size_bytes);
    }
    end = begin + column.size_bytes;
  }
  if (end == offset) return columns;
  return DataLoss(path, ": columns of ", offset, " bytes expected, found ", end);
}

}  // namespace

namespace internal {

std::string SerializePackedDirectory(std::span<const PackedColumn> columns) {
  wire::PackedFile message;
  for (const PackedColumn& column : columns) {
    wire::PackedColumn& in_message = message.columns.emplace_back();
    in_message.file_name = column.file_name;
    in_message.size_bytes = column.size_bytes;
  }
  const std::string directory = SealMessage(kPackedMagic, wire::Serialize(message));
  encodings::ByteWriter bytes;
  bytes.PutBytes(directory);
  bytes.PutFixed(static_cast<uint32_t>(directory.size()));
  bytes.PutBytes(kPackedMagic);
  return std::string(bytes.view());
}

}  // namespace internal

bool IsPackedFile(const Source& source) {
  uint8_t magic[internal::kMagicBytes];
  return source.size() >= kTrailerBytes &&
         source.ReadAt(source.size() - sizeof(magic), magic).ok() &&
         AsString(magic) == kPackedMagic;
}

absl::StatusOr<std::vector<PackedColumn>> ReadPackedDirectory(const Source& source,
                                                              size_t max_metadata_size_bytes) {
  constexpr uint64_t kTailBytes = 16 * 1024;  // has the directories of most files
  const uint64_t size = source.size();
  std::vector<uint8_t> tail(std::min(size, kTailBytes));
  CFILE_RETURN_IF_ERROR(internal::Named(source.ReadAt(size - tail.size(), tail), source.name()));
  const std::span<const uint8_t> bytes(tail);
  encodings::ByteReader trailer(bytes.last(std::min<uint64_t>(bytes.size(), kTrailerBytes)));
  uint32_t directory_size = 0;
  std::span<const uint8_t> magic;
  if (!trailer.ReadFixed(directory_size) || !trailer.ReadBytes(internal::kMagicBytes, magic) ||
      AsString(magic) != kPackedMagic) {
    return DataLoss(source.name(), ": at offset ", size - std::min(size, uint64_t{8}),
                    ": the end of a packed file, ", kPackedMagic, ", expected, found the bytes ",
                    absl::BytesToHexString({AsString(magic).data(), magic.size()}));
  }
  if (directory_size > size - kTrailerBytes) {
    return DataLoss(source.name(), ": at offset ", size - kTrailerBytes,
                    ": a directory of at most ", size - kTrailerBytes, " bytes expected, found ",
                    directory_size);
  }
  if (directory_size > max_metadata_size_bytes) {
    return encodings::OutOfRange(
        source.name(), ": the directory of ", directory_size, " bytes is ",
        encodings::AboveLimit(max_metadata_size_bytes, "max_metadata_size_bytes"));
  }
  const uint64_t offset = size - kTrailerBytes - directory_size;
  if (tail.size() < directory_size + kTrailerBytes) {
    tail.resize(directory_size + kTrailerBytes);
    CFILE_RETURN_IF_ERROR(internal::Named(source.ReadAt(offset, tail), source.name()));
  }
  const std::string_view directory =
      AsString(std::span<const uint8_t>(tail).last(directory_size + kTrailerBytes))
          .substr(0, directory_size);
  return ParseDirectory(directory, offset, max_metadata_size_bytes,
                        absl::StrCat(source.name(), ": directory at offset ", offset));
}

std::shared_ptr<const Source> NewSliceSource(std::shared_ptr<const Source> source, uint64_t offset,
                                             uint64_t size_bytes, std::string name) {
  CFILE_ASSERT(offset <= source->size() && size_bytes <= source->size() - offset);
  return std::make_shared<SliceSource>(std::move(source), offset, size_bytes, std::move(name));
}

}  // namespace cfile
