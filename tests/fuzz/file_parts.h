// A file taken apart and written anew around a change: lengths, pointers, compression and checksums
// fit again, so that what lies behind them is reached.
#pragma once

#include <optional>

#include "cfile/inspect.h"
#include "cfile/internal/index_node.h"
#include "proto/cfile.pb.h"
#include "tests/fuzz/target.h"

namespace cfile::fuzz {

// What a file consists of, each part as it was before compression.
class FileParts {
 public:
  enum class Kind : uint8_t { kHeader, kIndexNode, kDataBlock, kDictionary, kStatistics, kFooter };
  struct Part {
    Kind kind;
    BlockPointer pointer = {};  // of a block
    bool compressed = false;
    Bytes bytes;  // of header and footer: the message
    // Of an index node that parses.
    std::optional<IndexKind> index = {};
    std::shared_ptr<const internal::IndexNode> node = {};
  };

  // nullopt: `file` cannot be opened, or has no checksums though its version has. Blocks that
  // cannot be reached or uncompressed are left out.
  static std::optional<FileParts> Of(std::span<const uint8_t> file);

  const FileInfo& info() const { return info_; }
  // The header, blocks in the order of their offsets, the footer.
  const std::vector<Part>& parts() const { return parts_; }

  // The file, the bytes of part `changed`, if there is one, changed by `change` at last. Empty: a
  // block became too large.
  Bytes Write(size_t changed, const std::function<void(Bytes&)>& change) const;

 private:
  FileInfo info_;
  CFileFooterPB footer_;
  std::vector<Part> parts_;
};

// Changes one part of `file`, or any of its bytes; then at least header and footer are signed.
void MutateFile(Bytes& file, Random& random);

// A message as the front of a file of version 2, or of table.cft; and as its end.
Bytes SignedHeader(std::span<const uint8_t> message, std::string_view magic = "kuducfl2");
Bytes SignedFooter(std::span<const uint8_t> message);

}  // namespace cfile::fuzz
