// Splits a file into its parts, and writes it again with one part changed. Lengths, pointers,
// compression and checksums are corrected, so that readers reach the changed bytes.
#pragma once

#include <optional>

#include "cfile/core/format/index_node.h"
#include "cfile/file_info.h"
#include "proto/cfile.pb.h"
#include "tests/fuzz/target.h"

namespace cfile::fuzz {

// The parts of a file in uncompressed form.
class FileParts {
 public:
  enum class Kind : uint8_t {
    kHeader,
    kIndexNode,
    kDataBlock,
    kDictionary,
    kStatistics,
    kPieceTable,
    kPieceDirectory,
    kFooter
  };
  struct Part {
    Kind kind;
    BlockPointer pointer = {};  // only for blocks
    bool compressed = false;
    // For a header or a footer, these are the bytes of its protobuf message.
    // For a movable block, these are the bytes in the file.
    // For any other block, these are the uncompressed bytes.
    Bytes bytes;
    // These two are set only for an index node that parses.
    std::optional<IndexKind> index = {};
    std::shared_ptr<const internal::IndexNode> node = {};
  };

  // Splits `file`. Returns nullopt if `file` cannot be opened, or if it lacks the checksums that
  // its version requires. Omits blocks that cannot be reached or uncompressed.
  static std::optional<FileParts> Of(std::span<const uint8_t> file);

  const FileInfo& info() const { return info_; }
  // Returns the header, the blocks in the order of their offsets, and the footer.
  const std::vector<Part>& parts() const { return parts_; }

  // Returns the bytes of the file. Applies `change` to the final bytes of part number `changed`, if
  // this part exists. Returns no bytes if a block became too large.
  Bytes Write(size_t changed, const std::function<void(Bytes&)>& change) const;

 private:
  FileInfo info_;
  CFileFooterPB footer_;
  std::vector<Part> parts_;
};

// Changes one part of `file`, or any of its bytes. Then corrects at least the checksums of the
// header and the footer.
void MutateFile(Bytes& file, Random& random);

// SignedHeader returns `message` as the begin of a version-2 file or of table.cft. SignedFooter
// returns `message` as the end of a version-2 file.
Bytes SignedHeader(std::span<const uint8_t> message, std::string_view magic = "kuducfl2");
Bytes SignedFooter(std::span<const uint8_t> message);

}  // namespace cfile::fuzz
