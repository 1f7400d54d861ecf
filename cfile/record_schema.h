// What records are: a tree of groups and values, in the notation of Parquet's message types.
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
//   FIELD      required | optional | repeated, then
//              group NAME [(LIST) | (MAP)] [= NUMBER] { FIELD... }   or
//              TYPE NAME [(ANNOTATION)] [= NUMBER]
//              and ; or , which may be left out before } and behind it
//   TYPE       boolean int32 int64 int96 float double binary fixed_len_byte_array(N); bool, int,
//              long, string; and what ColumnType::Parse reads, such as uint8 or timestamp(s,UTC)
//   ANNOTATION STRING (UTF8, ENUM, JSON) of binary; DECIMAL(P,S); DATE; TIME(MILLIS, true);
//              TIMESTAMP(MICROS, true), where false means without a zone; UUID; INT(8, true) up to
//              INT(64, false); also Parquet's older INT_8, UINT_64, TIME_MICROS, TIMESTAMP_MILLIS
//   NAME       letters and whatever else is not a blank or one of ( ) { } = ; , "
//              or any text in double quotes, with \ before " and \.
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
#include "cfile/types.h"

namespace cfile {

// How often a node stands in its group. Numbers as in table.cft.
enum class Repetition : uint8_t { kRequired = 0, kOptional = 1, kRepeated = 2 };

// What a group stands for. A kList has one child, which is repeated; a kMap one repeated group of a
// required key, which is a leaf, and a value. Numbers as in table.cft.
enum class GroupKind : uint8_t { kPlain = 0, kList = 1, kMap = 2 };

// The most that a schema may be. What is not trusted is held to the defaults; who needs more passes
// more, where the schema is made and where a table with it is opened (ReaderOptions).
struct RecordLimits {
  size_t max_depth = 64;  // groups inside each other, the leaf counted; 1000 at the most
  size_t max_leaves = 10'000;
  size_t max_nodes = 100'000;
  size_t max_path_size_bytes = 4096;  // of a leaf
};

// A node of the tree. The first part is for the caller of RecordSchema::Create, the second is
// filled in by it.
struct RecordNode {
  std::string name;
  Repetition repetition = Repetition::kRequired;
  GroupKind kind = GroupKind::kPlain;  // of a group
  ColumnType type = {};                // of a leaf
  size_t num_children = 0;             // 0: a leaf

  size_t parent = 0;            // 0 for the root itself
  size_t end = 0;               // the nodes below are those behind this one up to end
  size_t first_leaf = 0;        // leaves in and below this node, by their numbers
  size_t end_leaf = 0;          //
  uint16_t max_repetition = 0;  // repeated nodes from the root to this one
  uint16_t max_definition = 0;  // optional and repeated ones
  bool is_leaf() const { return num_children == 0; }
  friend bool operator==(const RecordNode&, const RecordNode&) = default;
};

// A tree of nodes, each known by its number: its position when a node stands before its children
// (preorder). Node 0 is the record. Leaves are numbered too, in the same order: those numbers are
// the columns of a table of records. A plain value.
class RecordSchema {
 public:
  // `nodes` in preorder, only the first part of each set; the first is a required plain group.
  // kInvalidArgument, naming the node: the counts do not make a tree, a name is empty or twice in
  // its group, two leaves have the same path, a type is not valid, or a list or map is not built
  // like one. kOutOfRange: the tree is above one of `limits`, which the message names.
  static absl::StatusOr<RecordSchema> Create(std::vector<RecordNode> nodes,
                                             const RecordLimits& limits = {});

  // kInvalidArgument: `text` is no schema. kOutOfRange: the schema is above one of `limits`. Both
  // messages begin with "LINE:COLUMN: ".
  static absl::StatusOr<RecordSchema> Parse(std::string_view text, const RecordLimits& limits = {});

  // The text, a line for each node; Parse makes the same schema of it.
  std::string ToString() const;

  std::span<const RecordNode> nodes() const { return nodes_; }
  const RecordNode& node(size_t i) const { return nodes_[i]; }
  // The node of each leaf.
  std::span<const size_t> leaves() const { return leaves_; }
  const RecordNode& leaf(size_t i) const { return nodes_[leaves_[i]]; }

  // The names from below the root to `node`, with dots between.
  std::string Path(size_t node) const;

  // The numbers of the leaves that have one of the paths, or lie below a group that has; ascending,
  // each once. kInvalidArgument: there is no node of that path.
  absl::StatusOr<std::vector<size_t>> SelectLeaves(std::span<const std::string> paths) const;

  // Of a kList: the node that an element is. The repeated node itself, or its only child, which the
  // standard form of lists has to tell null elements from others.
  size_t ListElement(size_t list) const;

  friend bool operator==(const RecordSchema&, const RecordSchema&) = default;

 private:
  // Create; `wrong` is the node that is not as it should be.
  static absl::StatusOr<RecordSchema> Build(std::vector<RecordNode> nodes,
                                            const RecordLimits& limits, size_t& wrong);

  std::vector<RecordNode> nodes_;
  std::vector<size_t> leaves_;
};

}  // namespace cfile
