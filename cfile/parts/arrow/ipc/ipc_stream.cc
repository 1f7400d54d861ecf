#include "cfile/arrow_ipc.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "cfile/parts/arrow/c_data.h"
#include "cfile/parts/arrow/ipc/ipc_body.h"
#include "cfile/parts/arrow/ipc/ipc_dictionaries.h"
#include "cfile/parts/arrow/ipc/ipc_schema.h"
#include "cfile/parts/arrow/schema/ipc_fields.h"
#include "cfile/parts/arrow/schema/ipc_message.h"
#include "encodings/core/bytes.h"
#include "encodings/core/status.h"

namespace cfile {
namespace internal {
namespace {

using encodings::AboveLimit;
using encodings::DataLoss;
using encodings::LoadLittleEndian;
using encodings::OutOfRange;
using encodings::StrCat;

// Begins and ends a file. At the beginning, two bytes of padding follow.
constexpr std::string_view kMagic = "ARROW1";
constexpr uint64_t kHeadBytes = 8;
// A file ends with the size of the footer and the magic.
constexpr uint64_t kTailBytes = sizeof(int32_t) + kMagic.size();

// The numbers of the fields of Footer.
constexpr size_t kFooterVersion = 0, kFooterSchema = 1, kFooterDictionaries = 2, kFooterBatches = 3;
// A block in the footer: the offset of a message, and the sizes of its parts.
constexpr size_t kBlockBytes = 24;

// The place of a message, in the footer of a file.
using Blocks = std::vector<uint64_t>;

class IpcStream final : public ArrowBatches {
 public:
  IpcStream(std::shared_ptr<const Source> source, const ArrowIpcOptions& options)
      : source_(std::move(source)), options_(options), end_(source_->size()) {}

  // Reads the schema.
  absl::Status Open(ArrowIpcFormat format) {
    is_file_ = format == ArrowIpcFormat::kFile;
    CFILE_RETURN_IF_ERROR(is_file_ ? ReadFooter() : ReadSchemaMessage());
    dictionaries_.emplace(schema_->root, !is_file_);
    return absl::OkStatus();
  }

  HeldSchema Schema() const override { return MakeSchema(schema_->type); }

  absl::StatusOr<HeldArray> Next() override {
    CFILE_RETURN_IF_ERROR(failed_);
    absl::StatusOr<HeldArray> array = is_file_ ? NextOfFile() : NextOfStream();
    failed_ = array.status();
    return array;
  }

 private:
  absl::Status InFooter(const absl::Status& status) const {
    if (status.ok()) return status;
    return absl::Status(
        status.code(),
        StrCat(source_->name(), ": the footer of the Arrow file: ", std::string(status.message())));
  }

  absl::Status ReadSchemaMessage() {
    CFILE_ASSIGN_OR_RETURN(const IpcMessage message, Read(0));
    if (message.kind != IpcHeader::kSchema)
      return InMessage(*source_, 0, WrongKind(message, "a schema"));
    auto schema = ReadIpcSchema(*message.metadata, message.header, options_);
    if (!schema.ok()) return InMessage(*source_, 0, schema.status());
    schema_ = *std::move(schema);
    next_ = message.end;
    return absl::OkStatus();
  }

  absl::Status ReadFooter() {
    const uint64_t size = source_->size();
    if (size < kHeadBytes + kTailBytes) {
      return DataLoss(source_->name(), ": cut off: an Arrow file has at least ",
                      kHeadBytes + kTailBytes, " bytes, found ", size);
    }
    CFILE_ASSIGN_OR_RETURN(const HeldBytes tail, ReadBytes(source_, size - kTailBytes, kTailBytes));
    if (encodings::AsString(tail.bytes.subspan(sizeof(int32_t))) != kMagic) {
      return DataLoss(source_->name(), ": cut off: the Arrow file does not end with ", kMagic);
    }
    const auto footer_size = LoadLittleEndian<uint32_t>(tail.bytes.data());
    if (footer_size > size - kHeadBytes - kTailBytes) {
      return InFooter(DataLoss("its size is ", footer_size, ", but the file has ", size, " bytes"));
    }
    if (footer_size > options_.max_metadata_size_bytes) {
      return InFooter(
          OutOfRange(footer_size, " bytes is ",
                     AboveLimit(options_.max_metadata_size_bytes, "max_metadata_size_bytes")));
    }
    end_ = size - kTailBytes - footer_size;
    CFILE_ASSIGN_OR_RETURN(const HeldBytes bytes, ReadBytes(source_, end_, footer_size));
    return InFooter(ParseFooter(bytes.bytes));
  }

  absl::Status ParseFooter(std::span<const uint8_t> bytes) {
    FlatBuffer buffer(bytes);
    const FlatTable footer = buffer.root();
    const auto version = footer.Number<int16_t>(kFooterVersion);
    CFILE_RETURN_IF_ERROR(buffer.status());
    CFILE_RETURN_IF_ERROR(CheckVersion(version));
    CFILE_ASSIGN_OR_RETURN(schema_, ReadIpcSchema(buffer, footer.Table(kFooterSchema), options_));
    CFILE_RETURN_IF_ERROR(
        TakeBlocks(footer.Vector(kFooterDictionaries, kBlockBytes), dictionary_blocks_));
    CFILE_RETURN_IF_ERROR(TakeBlocks(footer.Vector(kFooterBatches, kBlockBytes), batch_blocks_));
    return buffer.status();
  }

  // Blocks ascend, so that a few bytes of a footer cannot repeat a batch many times.
  absl::Status TakeBlocks(std::span<const uint8_t> bytes, Blocks& blocks) const {
    for (size_t at = 0; at < bytes.size(); at += kBlockBytes) {
      const auto offset = LoadLittleEndian<uint64_t>(bytes.data() + at);
      const uint64_t least = blocks.empty() ? kHeadBytes : blocks.back() + 1;
      if (offset < least || offset >= end_) {
        return DataLoss("a message at offset ", offset, ", expected one from ", least, " to ",
                        end_);
      }
      blocks.push_back(offset);
    }
    return absl::OkStatus();
  }

  absl::StatusOr<IpcMessage> Read(uint64_t offset) const {
    auto message = ReadIpcMessage(source_, offset, end_, options_);
    if (!message.ok()) return InMessage(*source_, offset, message.status());
    return message;
  }

  absl::Status AddDictionary(const IpcMessage& message) {
    return InMessage(*source_, message.offset, dictionaries_->Add(message, options_));
  }

  absl::StatusOr<HeldArray> MakeBatch(const IpcMessage& message) {
    IpcArray batch{.length = message.header.Number<int64_t>(0)};
    auto columns = ReadIpcArrays(message, message.header, schema_->root.children, options_);
    absl::Status status = columns.status();
    if (status.ok() && batch.length < 0) status = DataLoss("a batch of ", batch.length, " rows");
    if (status.ok() && static_cast<uint64_t>(batch.length) > options_.max_array_length) {
      status = OutOfRange("a batch of ", batch.length, " rows is ",
                          AboveLimit(options_.max_array_length, "max_array_length"));
    }
    if (!status.ok()) return InMessage(*source_, message.offset, status);
    batch.buffers.emplace_back();
    batch.children = *std::move(columns);
    auto array = dictionaries_->MakeArray(schema_->root, batch);
    if (!array.ok()) return InMessage(*source_, message.offset, array.status());
    return array;
  }

  absl::StatusOr<HeldArray> NextOfFile() {
    for (; next_dictionary_ < dictionary_blocks_.size(); ++next_dictionary_) {
      CFILE_ASSIGN_OR_RETURN(const IpcMessage message, Read(dictionary_blocks_[next_dictionary_]));
      if (message.kind != IpcHeader::kDictionaryBatch) {
        return InMessage(*source_, message.offset, WrongKind(message, "a dictionary batch"));
      }
      CFILE_RETURN_IF_ERROR(AddDictionary(message));
    }
    if (next_ == batch_blocks_.size()) return HeldArray();
    CFILE_ASSIGN_OR_RETURN(const IpcMessage message, Read(batch_blocks_[next_++]));
    if (message.kind != IpcHeader::kRecordBatch) {
      return InMessage(*source_, message.offset, WrongKind(message, "a record batch"));
    }
    if (next_ < batch_blocks_.size() && message.end > batch_blocks_[next_]) {
      return InMessage(*source_, message.offset,
                       DataLoss("it ends at offset ", message.end,
                                ", but the next message begins at ", batch_blocks_[next_]));
    }
    return MakeBatch(message);
  }

  absl::StatusOr<HeldArray> NextOfStream() {
    while (true) {
      CFILE_ASSIGN_OR_RETURN(const IpcMessage message, Read(next_));
      next_ = message.end;
      if (message.metadata_bytes.bytes.empty()) return EndOfStream(message);
      if (message.kind == IpcHeader::kRecordBatch) return MakeBatch(message);
      if (message.kind != IpcHeader::kDictionaryBatch) {
        return InMessage(*source_, message.offset, WrongKind(message, "a batch"));
      }
      CFILE_RETURN_IF_ERROR(AddDictionary(message));
    }
  }

  absl::StatusOr<HeldArray> EndOfStream(const IpcMessage& message) const {
    if (message.end == end_) return HeldArray();
    return DataLoss(source_->name(), ": the Arrow stream ends at offset ", message.end, ", but ",
                    end_ - message.end, " bytes follow");
  }

  const std::shared_ptr<const Source> source_;
  const ArrowIpcOptions options_;
  bool is_file_ = false;
  uint64_t end_;  // of the messages
  std::unique_ptr<const IpcSchema> schema_;
  std::optional<IpcDictionaries> dictionaries_;
  Blocks dictionary_blocks_, batch_blocks_;  // of a file
  size_t next_dictionary_ = 0;
  // Of a file: the number of the next record batch. Of a stream: the offset of the next message.
  uint64_t next_ = 0;
  absl::Status failed_;
};

}  // namespace
}  // namespace internal

absl::StatusOr<ArrowIpcFormat> RecognizeArrowIpc(const Source& source) {
  std::array<uint8_t, internal::kHeadBytes> head{};
  if (source.size() < head.size()) return ArrowIpcFormat::kNone;
  CFILE_RETURN_IF_ERROR(source.ReadAt(0, head));
  const std::string_view text = encodings::AsString(head);
  if (text == std::string_view("ARROW1\0\0", head.size())) return ArrowIpcFormat::kFile;
  // No text in UTF-8 has the bytes of a continuation marker or of the size of a schema.
  const auto first = encodings::LoadLittleEndian<uint32_t>(head.data());
  const auto second = encodings::LoadLittleEndian<uint32_t>(head.data() + sizeof(first));
  const bool marked = first == UINT32_MAX;
  const uint64_t at = marked ? head.size() : sizeof(first);
  const uint64_t size = marked ? second : first;
  constexpr uint64_t kMostBytes = size_t{64} << 20;
  if (size == 0 || size > std::min(source.size() - at, kMostBytes)) {
    return marked ? ArrowIpcFormat::kStream : ArrowIpcFormat::kNone;
  }
  std::vector<uint8_t> bytes(size);
  CFILE_RETURN_IF_ERROR(source.ReadAt(at, bytes));
  internal::FlatBuffer metadata(bytes);
  const bool has_schema =
      metadata.root().Number<uint8_t>(1) == static_cast<uint8_t>(internal::IpcHeader::kSchema);
  return marked || (has_schema && metadata.status().ok()) ? ArrowIpcFormat::kStream
                                                          : ArrowIpcFormat::kNone;
}

absl::StatusOr<ArrowArrayStream> OpenArrowIpc(std::shared_ptr<const Source> source,
                                              const ArrowIpcOptions& options) {
  CFILE_ASSIGN_OR_RETURN(const ArrowIpcFormat format, RecognizeArrowIpc(*source));
  if (format == ArrowIpcFormat::kNone) {
    return encodings::DataLoss(source->name(), ": not an Arrow IPC file or stream");
  }
  auto stream = std::make_unique<internal::IpcStream>(std::move(source), options);
  CFILE_RETURN_IF_ERROR(stream->Open(format));
  ArrowArrayStream out;
  internal::MakeStream(std::move(stream), &out);
  return out;
}

absl::StatusOr<ArrowSchema> ArrowIpcSchema(std::span<const uint8_t> message,
                                           const ArrowIpcOptions& options) {
  CFILE_ASSIGN_OR_RETURN(const internal::ArrowField type,
                         internal::ReadIpcSchemaMessage(message, options));
  ArrowSchema out;
  internal::MakeSchema(type).MoveTo(&out);
  return out;
}

}  // namespace cfile
