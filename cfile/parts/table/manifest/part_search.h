// Finds keys in the parts of a table. Keys are in memcmp form, so one class serves all types.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/batch.h"
#include "cfile/parts/table/manifest/manifest.h"

namespace cfile::internal {

// Searches one column. Chooses the parts by what the manifest says about their keys; the derived
// class looks into the files of the parts. Positions count the rows of the table. Errors: those of
// Manifest and of the derived class. kFailedPrecondition: no part has a value index of the column.
// Thread-compatible.
class PartSearch {
 public:
  // A key to search in all parts, and the best position so far.
  struct Wanted {
    std::string key;
    size_t index = 0;  // in the caller's keys
    std::optional<ManifestPart> part = std::nullopt;
    std::string found = {};  // the key at `position`, if `part` is set
    KeyPosition position = {};

    // Goes to `nearer`, the key at `place` in a part. Precondition: no part has been found yet, or
    // the key is less than `found`.
    void GoTo(const ManifestPart& of, std::string nearer, const KeyPosition& place) {
      part = of;
      found = std::move(nearer);
      position = place;
    }
  };

  PartSearch(const PartSearch&) = delete;
  PartSearch& operator=(const PartSearch&) = delete;

  // kFailedPrecondition if the rows of a range of keys may not be consecutive.
  absl::Status CheckRangesAreConsecutive();

 protected:
  // `manifest` must outlive this object.
  PartSearch(const Manifest& manifest, size_t column) : manifest_(manifest), column_(column) {}
  virtual ~PartSearch() = default;

  // Finds the smallest key that is not less than wanted.key, with the lowest ordinal. If the table
  // has no such key, wanted.part stays empty. If the parts are in key order, sets only wanted.part.
  absl::Status FindPart(Wanted& wanted);

  // Finds several keys. append_key(i, bytes) appends key i to `bytes`. `positions`: one for each
  // key, which stays as it is if the key is greater than all keys of the table.
  using AppendKeyOf = absl::FunctionRef<void(size_t index, std::string& bytes)>;
  absl::Status FindPositions(AppendKeyOf append_key, std::span<KeyPosition> positions);

  bool HasIndex(const ManifestPart& part) const { return PartColumn(part).min_key.has_value(); }

  // Converts a position in a part to a position in the table. kDataLoss if it is the part's end.
  absl::StatusOr<KeyPosition> InTable(const ManifestPart& part, const KeyPosition& position) const;

  // Returns the position in the table of the first key of `part` that is not less than the wanted
  // key, and appends this key to `found`. Precondition: the part has a value index, and its
  // greatest key is not less than the wanted key.
  virtual absl::StatusOr<KeyPosition> SeekInPart(const ManifestPart& part, const Wanted& wanted,
                                                 std::string& found) = 0;
  // As SeekInPart, for several wanted keys, with the numbers `indices`. `positions`: one for each
  // of them.
  virtual absl::Status SeekManyInPart(const ManifestPart& part, std::span<const size_t> indices,
                                      std::span<KeyPosition> positions) = 0;
  // Searches a part without a value index. Calls wanted.GoTo for a key that is not less than the
  // wanted key, and less than wanted.found.
  virtual absl::Status ScanPart(const ManifestPart& part, Wanted& wanted) = 0;

 private:
  const TablePartColumn& PartColumn(const ManifestPart& part) const {
    return part.part->columns[column_];
  }
  absl::Status NoIndex() const;
  // Sets keyed_parts_ and in_key_order_. Does nothing if they are set.
  absl::Status FindKeyedParts();
  // Does FindInPart for all parts, but reads only the chunks that may hold the key.
  absl::Status FindInChunks(Wanted& wanted);
  // Returns the first part that has a key not less than `key`.
  // Precondition: the parts are in key order (in_key_order_).
  std::optional<ManifestPart> FirstPartWith(const std::string& key) const;
  // Does FindPositions part by part. Precondition: the parts are in key order.
  absl::Status SeekManyByPart(AppendKeyOf append_key, std::span<KeyPosition> positions);
  // Does FindInPart for all parts, in any order of their keys.
  absl::Status FindInAllParts(std::span<Wanted> keys);
  // Sets the position of `wanted` to the wanted key in this part, if this key is less than the keys
  // found in earlier parts.
  absl::Status FindInPart(const ManifestPart& part, Wanted& wanted);

  const Manifest& manifest_;
  const size_t column_;
  std::optional<std::vector<ManifestPart>> keyed_parts_;  // set by FindKeyedParts: parts with rows
  // True if all parts with rows have a value index, and no part has a key that is less than a key
  // of an earlier part.
  bool in_key_order_ = true;
};

}  // namespace cfile::internal
