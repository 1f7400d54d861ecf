#include "cfile/parts/arrow/ipc/ipc_body.h"

#include <utility>

#include "cfile/core/format/compression.h"
#include "cfile/parts/arrow/arrow_type.h"
#include "cfile/parts/arrow/import_array.h"
#include "encodings/core/bytes.h"
#include "encodings/core/status.h"

#ifdef CFILE_WITH_LZ4
#include <lz4frame.h>
#endif
#ifdef CFILE_WITH_ZSTD
#include <zstd.h>
#endif

namespace cfile::internal {
namespace {

using encodings::AboveLimit;
using encodings::DataLoss;
using encodings::LoadLittleEndian;
using encodings::OutOfRange;
using encodings::StrCat;

// The numbers of the fields of RecordBatch.
constexpr size_t kLength = 0, kNodes = 1, kBuffers = 2, kCompression = 3, kVariadicCounts = 4;
// A node is a length and a number of nulls; a buffer is an offset and a size. Both are int64.
constexpr size_t kPairBytes = 16;
constexpr uint64_t kViewBytes = 16;

// Takes the pairs of a vector of nodes or buffers.
class Pairs {
 public:
  explicit Pairs(std::span<const uint8_t> bytes) : bytes_(bytes) {}

  bool empty() const { return bytes_.empty(); }
  size_t remaining() const { return bytes_.size() / kPairBytes; }
  // Returns false if there is no pair left.
  bool Take(int64_t& first, int64_t& second) {
    if (bytes_.empty()) return false;
    first = LoadLittleEndian<int64_t>(bytes_.data());
    second = LoadLittleEndian<int64_t>(bytes_.data() + sizeof(int64_t));
    bytes_ = bytes_.subspan(kPairBytes);
    return true;
  }

 private:
  std::span<const uint8_t> bytes_;
};

#ifdef CFILE_WITH_LZ4
// Returns false if `in` is not one frame of out.size() bytes.
bool DecompressLz4Frame(std::span<const uint8_t> in, std::span<uint8_t> out) {
  LZ4F_dctx* context = nullptr;
  if (LZ4F_isError(LZ4F_createDecompressionContext(&context, LZ4F_VERSION))) return false;
  size_t taken = 0, made = 0, hint = 1;
  while (hint != 0) {
    size_t in_size = in.size() - taken, out_size = out.size() - made;
    hint = LZ4F_decompress(context, out.data() + made, &out_size, in.data() + taken, &in_size,
                           nullptr);
    if (LZ4F_isError(hint) || (hint != 0 && in_size == 0 && out_size == 0)) break;
    taken += in_size;
    made += out_size;
  }
  LZ4F_freeDecompressionContext(context);
  return hint == 0 && taken == in.size() && made == out.size();
}
#endif

#ifdef CFILE_WITH_ZSTD
bool DecompressZstd(std::span<const uint8_t> in, std::span<uint8_t> out) {
  return ZSTD_decompress(out.data(), out.size(), in.data(), in.size()) == out.size();
}
#endif

bool Decompress([[maybe_unused]] Compression codec, [[maybe_unused]] std::span<const uint8_t> in,
                [[maybe_unused]] std::span<uint8_t> out) {
#ifdef CFILE_WITH_LZ4
  if (codec == Compression::kLz4) return DecompressLz4Frame(in, out);
#endif
#ifdef CFILE_WITH_ZSTD
  if (codec == Compression::kZstd) return DecompressZstd(in, out);
#endif
  return false;
}

// Decompresses `in` to `size_bytes` bytes. `codec`: 0 is the frame format of LZ4, 1 is zstd.
// `method`: 0. kDataLoss: `in` does not decompress to exactly so many bytes. kUnimplemented: the
// codec or the method is unknown or was not built in.
absl::StatusOr<HeldBytes> DecompressIpc(int8_t codec, int8_t method, std::span<const uint8_t> in,
                                        size_t size_bytes) {
  if (codec < 0 || codec > 1 || method != 0) {
    return absl::UnimplementedError(
        StrCat("compression codec ", int{codec}, " with method ", int{method}, " is unknown"));
  }
  const Compression compression = codec == 0 ? Compression::kLz4 : Compression::kZstd;
  CFILE_RETURN_IF_ERROR(CheckCompressionBuiltIn(compression));
  CFILE_RETURN_IF_ERROR(CheckUncompressedSize(compression, in.size(), size_bytes));
  std::shared_ptr<uint8_t[]> out = NewBytes(size_bytes);
  if (!Decompress(compression, in, {out.get(), size_bytes})) {
    return DataLoss("a buffer of ", in.size(), " bytes does not decompress to ", size_bytes,
                    " bytes with ", CompressionName(compression));
  }
  return HeldBytes{{out.get(), size_bytes}, out};
}

class ArraysReader {
 public:
  ArraysReader(const IpcMessage& message, const FlatTable& batch, const ArrowIpcOptions& options)
      : message_(message),
        options_(options),
        is_empty_(!batch.present()),
        length_(batch.Number<int64_t>(kLength)),
        nodes_(batch.Vector(kNodes, kPairBytes)),
        buffers_(batch.Vector(kBuffers, kPairBytes)),
        variadic_counts_(batch.Vector(kVariadicCounts, sizeof(int64_t))),
        compression_(batch.Table(kCompression)) {}

  absl::StatusOr<std::vector<IpcArray>> Read(std::span<const IpcField> columns) {
    if (!is_empty_) CFILE_RETURN_IF_ERROR(message_.metadata->status());
    std::vector<IpcArray> arrays;
    for (const IpcField& column : columns) {
      CFILE_ASSIGN_OR_RETURN(IpcArray array, ReadArray(column));
      if (array.length != length_) {
        return Wrong(*column.field, "a batch of ", length_, " rows has ", array.length, " values");
      }
      arrays.push_back(std::move(array));
    }
    if (!nodes_.empty() || !buffers_.empty()) {
      return DataLoss("the batch has ", nodes_.remaining(), " arrays and ", buffers_.remaining(),
                      " buffers more than the schema has");
    }
    return arrays;
  }

 private:
  template <typename... Parts>
  absl::Status Wrong(const ImportField& field, const Parts&... parts) const {
    return DataLoss(field.InField(), ": ", parts...);
  }

  // Recurses to the depth of the schema, which has a limit.
  absl::StatusOr<IpcArray> ReadArray(const IpcField& node) {
    const ImportField& field = *node.field;
    IpcArray array;
    CFILE_RETURN_IF_ERROR(ReadNode(field, array));
    const auto length = static_cast<uint64_t>(array.length);
    if (field.kind == ArrowKind::kNull) return array;
    if (field.kind == ArrowKind::kRunEnds) {
      // In version 4, runs had a validity bitmap of no bytes.
      if (message_.is_version_4) CFILE_RETURN_IF_ERROR(TakeStored(field).status());
      const ImportField ends{.kind = ArrowKind::kNumbers,
                             .path = StrCat(field.path, ".run_ends"),
                             .physical = field.physical};
      CFILE_ASSIGN_OR_RETURN(IpcArray child, ReadArray({.field = &ends}));
      array.children.push_back(std::move(child));
    } else {
      CFILE_RETURN_IF_ERROR(ReadValidity(field, array));
    }
    switch (field.kind) {
      case ArrowKind::kStrings32:
        CFILE_RETURN_IF_ERROR(ReadStrings<int32_t>(field, array));
        break;
      case ArrowKind::kStrings64:
        CFILE_RETURN_IF_ERROR(ReadStrings<int64_t>(field, array));
        break;
      case ArrowKind::kViews:
        CFILE_RETURN_IF_ERROR(ReadViews(field, array));
        break;
      case ArrowKind::kList32:
      case ArrowKind::kList64:
        CFILE_RETURN_IF_ERROR(
            AddBuffer(field, length == 0 ? 0 : length + 1, OffsetBytes(field), array));
        break;
      case ArrowKind::kListViews32:
      case ArrowKind::kListViews64:
        CFILE_RETURN_IF_ERROR(AddBuffer(field, length, OffsetBytes(field), array));
        CFILE_RETURN_IF_ERROR(AddBuffer(field, length, OffsetBytes(field), array));
        break;
      case ArrowKind::kBits:
        CFILE_RETURN_IF_ERROR(AddBuffer(field, (length + 7) / 8, 1, array));
        break;
      default:
        if (const uint64_t bits = ValueBits(field); bits > 0)
          CFILE_RETURN_IF_ERROR(AddBuffer(field, length, bits / 8, array));
    }
    if (field.kind == ArrowKind::kDictionary) return array;  // its values are another array
    for (const IpcField& child : node.children) {
      CFILE_ASSIGN_OR_RETURN(IpcArray values, ReadArray(child));
      array.children.push_back(std::move(values));
    }
    return array;
  }

  static uint64_t OffsetBytes(const ImportField& field) {
    return field.kind == ArrowKind::kList64 || field.kind == ArrowKind::kListViews64 ? 8 : 4;
  }

  absl::Status ReadNode(const ImportField& field, IpcArray& array) {
    if (is_empty_) return absl::OkStatus();
    if (!nodes_.Take(array.length, array.null_count)) {
      return Wrong(field, "the batch has no array for this field");
    }
    if (array.length < 0 || array.null_count < 0 || array.null_count > array.length) {
      return Wrong(field, "an array of ", array.length, " values with ", array.null_count,
                   " nulls");
    }
    if (static_cast<uint64_t>(array.length) > options_.max_array_length) {
      return OutOfRange(field.InField(), ": an array of ", array.length, " values is ",
                        AboveLimit(options_.max_array_length, "max_array_length"));
    }
    return absl::OkStatus();
  }

  absl::Status ReadValidity(const ImportField& field, IpcArray& array) {
    const auto length = static_cast<uint64_t>(array.length);
    if (array.null_count > 0) return AddBuffer(field, (length + 7) / 8, 1, array);
    array.buffers.emplace_back();
    return TakeStored(field).status();
  }

  template <typename Offset>
  absl::Status ReadStrings(const ImportField& field, IpcArray& array) {
    const auto length = static_cast<uint64_t>(array.length);
    CFILE_RETURN_IF_ERROR(AddBuffer(field, length == 0 ? 0 : length + 1, sizeof(Offset), array));
    // AppendArrow checks the other offsets.
    const Offset last =
        length == 0 ? 0 : LoadAt<Offset>(array.buffers.back().bytes.data(), array.length);
    if (last < 0) return Wrong(field, "the last string ends at ", last);
    return AddBuffer(field, static_cast<uint64_t>(last), 1, array);
  }

  absl::Status ReadViews(const ImportField& field, IpcArray& array) {
    CFILE_RETURN_IF_ERROR(AddBuffer(field, static_cast<uint64_t>(array.length), kViewBytes, array));
    uint64_t count = 0;
    if (!is_empty_) {
      if (variadic_counts_.empty()) return Wrong(field, "the number of data buffers is missing");
      const auto found = LoadLittleEndian<int64_t>(variadic_counts_.data());
      variadic_counts_ = variadic_counts_.subspan(sizeof(found));
      count = static_cast<uint64_t>(found);  // a negative number is above all limits
      if (count > buffers_.remaining()) {
        return Wrong(field, found, " data buffers, but the batch has only ", buffers_.remaining(),
                     " buffers more");
      }
    }
    auto sizes = std::make_shared<std::vector<int64_t>>();
    for (uint64_t i = 0; i < count; ++i) {
      CFILE_RETURN_IF_ERROR(AddBuffer(field, 0, 1, array));
      sizes->push_back(static_cast<int64_t>(array.buffers.back().bytes.size()));
    }
    const auto* const bytes = reinterpret_cast<const uint8_t*>(sizes->data());
    array.buffers.push_back({{bytes, sizes->size() * sizeof(int64_t)}, sizes});
    return absl::OkStatus();
  }

  // Takes the next buffer as it is stored.
  absl::StatusOr<std::span<const uint8_t>> TakeStored(const ImportField& field) {
    if (is_empty_) return std::span<const uint8_t>();
    int64_t offset, size;
    if (!buffers_.Take(offset, size)) return Wrong(field, "the batch has too few buffers");
    const std::span<const uint8_t> body = message_.body.bytes;
    if (offset < 0 || size < 0 || static_cast<uint64_t>(offset) > body.size() ||
        static_cast<uint64_t>(size) > body.size() - static_cast<uint64_t>(offset)) {
      return Wrong(field, "a buffer of ", size, " bytes at offset ", offset, " of a body of ",
                   body.size(), " bytes");
    }
    // If buffers could overlap, a small body could decompress to any number of bytes.
    stored_bytes_ += static_cast<uint64_t>(size);
    if (stored_bytes_ > body.size()) return Wrong(field, "buffers overlap in the body");
    return body.subspan(static_cast<size_t>(offset), static_cast<size_t>(size));
  }

  // Adds the next buffer, which must have room for `count` elements.
  absl::Status AddBuffer(const ImportField& field, uint64_t count, uint64_t element_bytes,
                         IpcArray& array) {
    CFILE_ASSIGN_OR_RETURN(const auto stored, TakeStored(field));
    HeldBytes buffer{stored, message_.body.owner};
    if (compression_.present() && !stored.empty()) {
      CFILE_RETURN_IF_ERROR(Decompress(field, buffer));
    }
    if (count > buffer.bytes.size() / element_bytes) {
      return Wrong(field, "a buffer has ", buffer.bytes.size(), " bytes, expected ", count,
                   " elements of ", element_bytes, " bytes");
    }
    array.buffers.push_back(std::move(buffer));
    return absl::OkStatus();
  }

  absl::Status Decompress(const ImportField& field, HeldBytes& buffer) {
    encodings::ByteReader reader(buffer.bytes);
    int64_t size;
    if (!reader.ReadFixed(size)) {
      return Wrong(field, "a compressed buffer has only ", buffer.bytes.size(), " bytes");
    }
    if (size == -1) {  // this buffer is not compressed
      buffer.bytes = reader.rest();
      return absl::OkStatus();
    }
    if (size < 0) return Wrong(field, "a buffer of ", size, " bytes");
    if (static_cast<uint64_t>(size) > options_.max_batch_size_bytes - decompressed_bytes_) {
      return OutOfRange("the size of a batch after decompression is ",
                        AboveLimit(options_.max_batch_size_bytes, "max_batch_size_bytes"));
    }
    decompressed_bytes_ += static_cast<uint64_t>(size);
    CFILE_ASSIGN_OR_RETURN(
        buffer, DecompressIpc(compression_.Number<int8_t>(0), compression_.Number<int8_t>(1),
                              reader.rest(), static_cast<size_t>(size)));
    return absl::OkStatus();
  }

  const IpcMessage& message_;
  const ArrowIpcOptions& options_;
  const bool is_empty_;
  const int64_t length_;
  Pairs nodes_;
  Pairs buffers_;
  std::span<const uint8_t> variadic_counts_;
  const FlatTable compression_;
  uint64_t stored_bytes_ = 0;
  uint64_t decompressed_bytes_ = 0;
};

}  // namespace

uint64_t ValueBits(const ImportField& field) {
  switch (field.kind) {
    case ArrowKind::kBits:
      return 1;
    case ArrowKind::kNumbers:
    case ArrowKind::kDictionary:
      return VisitType(field.physical,
                       []<typename T>(std::type_identity<T>) { return 8 * sizeof(T); });
    case ArrowKind::kMillis:
      return 8 * sizeof(int64_t);
    case ArrowKind::kDecimals:
    case ArrowKind::kFixedBytes:
      return 8 * uint64_t{field.width};
    default:
      return 0;
  }
}

absl::StatusOr<std::vector<IpcArray>> ReadIpcArrays(const IpcMessage& message,
                                                    const FlatTable& batch,
                                                    std::span<const IpcField> columns,
                                                    const ArrowIpcOptions& options) {
  return ArraysReader(message, batch, options).Read(columns);
}

}  // namespace cfile::internal
