// The schema of records: a tree of groups and leaf columns, in the notation of Parquet's schemas.
//
//   auto schema = cfile::RecordSchema::Parse(R"(
//     message Record {
//       required binary sid (STRING);
//       repeated int64 appid;
//       optional group tcp { optional int64 mss; optional int64 flag; }
//       optional group tags (LIST) { repeated group list { optional binary element (STRING); } }
//     })");
//
// The text:
//
//   schema     message NAME { FIELD... }
//   FIELD      required | optional | repeated, followed by
//              group NAME [(LIST) | (MAP)] [= NUMBER] { FIELD... }   or
//              TYPE NAME [(ANNOTATION)] [= NUMBER]
//              and by ; or , (which is optional before and after } )
//   TYPE       boolean int32 int64 int96 float double binary fixed_len_byte_array(N); bool, int,
//              long, string; and texts of ColumnType::Parse, such as uint8, timestamp(s,UTC)
//   ANNOTATION STRING (UTF8, ENUM, JSON) of binary; DECIMAL(P,S); DATE; TIME(MILLIS, true);
//              TIMESTAMP(MICROS, true), where false means without a zone; UUID; INT(8, true) up to
//              INT(64, false); also Parquet's older INT_8, UINT_64, TIME_MICROS, TIMESTAMP_MILLIS
//   NUMBER     a field number; it is ignored
//   NAME       characters other than blanks and ( ) { } = ; , "
//              or any text in double quotes, with \ before " and \; \x1b is the byte 0x1b
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/options.h"
#include "cfile/types.h"
#include "encodings/core/export.h"

namespace cfile {

// How often a node may occur in its group. The numbers are those of table.cft.
enum class Repetition : uint8_t { kRequired = 0, kOptional = 1, kRepeated = 2 };

// The meaning of a group. A kList has one child, which is repeated. A kMap has one child, a
// repeated group of two fields: a required leaf column (the key) and the value. The numbers are
// those of table.cft.
enum class GroupKind : uint8_t { kPlain = 0, kList = 1, kMap = 2 };

// A node of the tree. The caller of RecordSchema::Create sets the first five fields; Create sets
// the others.
struct RecordNode {
  std::string name;
  Repetition repetition = Repetition::kRequired;
  GroupKind kind = GroupKind::kPlain;  // for a group
  ColumnType type = {};                // for a leaf column
  size_t num_children = 0;             // 0 for a leaf column

  size_t parent = 0;            // 0 for the root, too
  size_t end = 0;               // the nodes below node i are the nodes i + 1 to end - 1
  size_t first_leaf = 0;        // the first leaf column in or below this node
  size_t end_leaf = 0;          // one past the last leaf column in or below this node
  uint16_t max_repetition = 0;  // the number of repeated nodes from the root to this one
  uint16_t max_definition = 0;  // the number of optional and repeated nodes on this way
  bool is_leaf() const { return num_children == 0; }
  friend bool operator==(const RecordNode&, const RecordNode&) = default;
};

// A tree of nodes. A node's number is its position in preorder (each node before its children);
// node 0 is the record. A node without children is a leaf column. Leaf columns are also numbered,
// in the same order; this number is the column's number in a table of records. A plain value.
class CFILE_EXPORT RecordSchema {
 public:
  // Makes a schema from `nodes`, which are in preorder with only their first five fields set. The
  // first node is a required plain group. kInvalidArgument (the error names the node): the children
  // counts do not form a tree, a name is empty or occurs twice in its group, two leaf columns have
  // the same path, a type is not valid, a list or map does not have the structure of GroupKind, or
  // the depth exceeds 1000 although limits.max_depth allows it.
  static absl::StatusOr<RecordSchema> Create(std::vector<RecordNode> nodes,
                                             const RecordLimits& limits = {});

  // Parses `text`. kInvalidArgument: `text` is not a schema. Errors begin with "LINE:COLUMN: ".
  static absl::StatusOr<RecordSchema> Parse(std::string_view text, const RecordLimits& limits = {});

  // The schema as text, one line for each node. Parse of this text gives an equal schema.
  std::string ToString() const;

  std::span<const RecordNode> nodes() const { return nodes_; }
  const RecordNode& node(size_t i) const { return nodes_[i]; }
  // The node number of each leaf column.
  std::span<const size_t> leaves() const { return leaves_; }
  const RecordNode& leaf(size_t i) const { return nodes_[leaves_[i]]; }

  // The names on the way from the root (excluded) to `node`, separated by dots.
  std::string Path(size_t node) const;

  // Returns the numbers of the selected leaf columns, in ascending order and each once. A path
  // selects the leaf column with this path, or all leaf columns below the group with this path.
  // kInvalidArgument: a path of `paths` does not exist.
  absl::StatusOr<std::vector<size_t>> SelectLeaves(std::span<const std::string> paths) const;

  // Returns the node of an element of `list`, a node of kind kList: the only child of the repeated
  // node. Some older writers made lists whose elements cannot be null; in such a list, the element
  // is the repeated node itself.
  size_t ListElement(size_t list) const;

  friend bool operator==(const RecordSchema&, const RecordSchema&) = default;

 private:
  // Does Create. If a node is invalid, sets `wrong` to its number.
  static absl::StatusOr<RecordSchema> Build(std::vector<RecordNode> nodes,
                                            const RecordLimits& limits, size_t& wrong);

  std::vector<RecordNode> nodes_;
  std::vector<size_t> leaves_;
};

}  // namespace cfile
