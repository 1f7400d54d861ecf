#include "cfile/parts/arrow/ipc/ipc_codec.h"

#include "cfile/core/format/compression.h"
#include "cfile/types.h"
#include "encodings/core/status.h"

#ifdef CFILE_WITH_LZ4
#include <lz4frame.h>
#endif
#ifdef CFILE_WITH_ZSTD
#include <zstd.h>
#endif

namespace cfile::internal {
namespace {

using encodings::DataLoss;
using encodings::StrCat;

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

}  // namespace

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

}  // namespace cfile::internal
