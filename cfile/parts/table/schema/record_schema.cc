#include "cfile/record_schema.h"

#include <algorithm>
#include <set>
#include <utility>

#include "encodings/core/status.h"

namespace cfile {
namespace {

using encodings::AboveLimit;
using encodings::OutOfRange;
using encodings::StrCat;

// The depth limit that callers cannot raise: the parsers of messages and of JSON recurse as deep as
// the schema.
constexpr size_t kDeepest = 1000;

// Returns why `node` does not have the structure that its kind requires; empty if it does.
std::string_view WrongKind(std::span<const RecordNode> nodes, size_t node) {
  if (nodes[node].kind == GroupKind::kPlain) return "";
  if (nodes[node].num_children != 1) return "a list or map must be a group of one field";
  const RecordNode& repeated = nodes[node + 1];
  if (repeated.repetition != Repetition::kRepeated) {
    return "the field of a list or map must be repeated";
  }
  if (nodes[node].kind == GroupKind::kList) return "";
  const bool has_key = repeated.num_children == 2 && nodes[node + 2].is_leaf() &&
                       nodes[node + 2].repetition == Repetition::kRequired;
  return has_key ? "" : "the field of a map must be a group of a required key and a value";
}

}  // namespace

absl::StatusOr<RecordSchema> RecordSchema::Create(std::vector<RecordNode> nodes,
                                                  const RecordLimits& limits) {
  size_t wrong;
  return Build(std::move(nodes), limits, wrong);
}

absl::StatusOr<RecordSchema> RecordSchema::Build(std::vector<RecordNode> nodes,
                                                 const RecordLimits& limits, size_t& wrong_node) {
  RecordSchema schema;
  schema.nodes_ = std::move(nodes);
  wrong_node = 0;
  const auto wrong = [&](size_t node, std::string_view what) {
    wrong_node = node;
    return absl::InvalidArgumentError(
        StrCat(node == 0 ? schema.nodes_[0].name : schema.Path(node), ": ", what));
  };
  if (schema.nodes_.empty() || schema.nodes_[0].is_leaf() ||
      schema.nodes_[0].repetition != Repetition::kRequired ||
      schema.nodes_[0].kind != GroupKind::kPlain) {
    return absl::InvalidArgumentError(
        "a schema must begin with a required group of one field or more");
  }
  if (schema.nodes_.size() > limits.max_nodes) {
    return OutOfRange(schema.nodes_.size(), " nodes are ",
                      AboveLimit(limits.max_nodes, "max_nodes"));
  }
  const size_t max_depth = std::min(limits.max_depth, kDeepest);
  struct Open {
    size_t node;
    size_t children_left;
    size_t path_bytes;
  };
  std::vector<Open> open;  // the groups that contain the next node
  std::set<std::pair<size_t, std::string_view>> names;
  for (size_t i = 0; i < schema.nodes_.size(); ++i) {
    RecordNode& node = schema.nodes_[i];
    if (i > 0 && open.empty())
      return absl::InvalidArgumentError("there are nodes after the end of the tree");
    node.parent = i > 0 ? open.back().node : 0;
    if (node.name.empty()) {
      if (i == 0) return absl::InvalidArgumentError("the root has no name");
      const size_t number = schema.nodes_[node.parent].num_children - open.back().children_left + 1;
      return absl::InvalidArgumentError(
          open.size() == 1
              ? StrCat("column ", number, " has no name")
              : StrCat("field ", number, " of ", schema.Path(node.parent), " has no name"));
    }
    const RecordNode& parent = schema.nodes_[node.parent];
    node.max_repetition = i > 0 ? parent.max_repetition : 0;
    node.max_definition = i > 0 ? parent.max_definition : 0;
    if (node.repetition == Repetition::kRepeated) ++node.max_repetition;
    if (node.repetition != Repetition::kRequired) ++node.max_definition;
    const size_t path_bytes = i > 0 ? open.back().path_bytes + node.name.size() + 1 : 0;
    wrong_node = i;
    // The top-level column of the node.
    const auto column = [&] { return schema.nodes_[open.size() > 1 ? open[1].node : i].name; };
    if (open.size() > max_depth) {
      if (max_depth == kDeepest) {
        return absl::InvalidArgumentError(StrCat("column ", column(), ": a depth of ", open.size(),
                                                 " is above ", kDeepest,
                                                 ", the maximum of any schema"));
      }
      return OutOfRange("column ", column(), ": a depth of ", open.size(), " is ",
                        AboveLimit(max_depth, "max_depth"));
    }
    if (path_bytes > 0 && path_bytes - 1 > limits.max_path_size_bytes) {
      return OutOfRange("node ", i, ": a path of ", path_bytes - 1, " bytes is ",
                        AboveLimit(limits.max_path_size_bytes, "max_path_size_bytes"));
    }
    if (!names.emplace(i > 0 ? node.parent : schema.nodes_.size(), node.name).second) {
      return wrong(i, "the group has a second field of this name");
    }
    node.first_leaf = schema.leaves_.size();
    if (i > 0) --open.back().children_left;
    if (node.is_leaf()) {
      if (const absl::Status status = Validate(node.type); !status.ok()) {
        return wrong(i, {status.message().data(), status.message().size()});
      }
      if (schema.leaves_.size() >= limits.max_leaves) {
        return OutOfRange(schema.Path(i), ": leaf column ", schema.leaves_.size() + 1, " is ",
                          AboveLimit(limits.max_leaves, "max_leaves"));
      }
      schema.leaves_.push_back(i);
      node.end = i + 1;
      node.end_leaf = schema.leaves_.size();
    } else {
      open.push_back({i, node.num_children, path_bytes});
    }
    while (!open.empty() && open.back().children_left == 0) {
      RecordNode& group = schema.nodes_[open.back().node];
      group.end = i + 1;
      group.end_leaf = schema.leaves_.size();
      open.pop_back();
    }
  }
  if (!open.empty()) return wrong(open.back().node, "the group has fewer fields than it says");
  std::set<std::string> paths;
  for (size_t i = 0; i < schema.nodes_.size(); ++i) {
    if (schema.nodes_[i].is_leaf()) {
      if (schema.nodes_[i].kind != GroupKind::kPlain)
        return wrong(i, "only a group can be a list or map");
      // Paths may be equal although names in a group are unique, because a name may contain dots.
      if (!paths.insert(schema.Path(i)).second)
        return wrong(i, "the schema has a second leaf column of this path");
    } else if (const std::string_view what = WrongKind(schema.nodes_, i); !what.empty()) {
      return wrong(i, what);
    }
  }
  return schema;
}

std::string RecordSchema::Path(size_t node) const {
  std::string path;
  for (; node != 0; node = nodes_[node].parent) {
    path = path.empty() ? nodes_[node].name : nodes_[node].name + "." + path;
  }
  return path;
}

absl::StatusOr<std::vector<size_t>> RecordSchema::SelectLeaves(
    std::span<const std::string> paths) const {
  std::set<size_t> selected;
  for (const std::string& path : paths) {
    bool found = false;
    for (size_t i = 1; i < nodes_.size(); ++i) {
      if (!path.ends_with(nodes_[i].name) || Path(i) != path) continue;
      found = true;
      for (size_t leaf = nodes_[i].first_leaf; leaf < nodes_[i].end_leaf; ++leaf) {
        selected.insert(leaf);
      }
    }
    if (!found) {
      return absl::InvalidArgumentError(
          StrCat("there is no field ", path, " in the schema of ", nodes_[0].name));
    }
  }
  return std::vector<size_t>(selected.begin(), selected.end());
}

size_t RecordSchema::ListElement(size_t list) const {
  const RecordNode& repeated = nodes_[list + 1];
  // These are Parquet's rules for the lists that older writers produced.
  const bool is_element = repeated.num_children != 1 || repeated.kind != GroupKind::kPlain ||
                          repeated.name == "array" || repeated.name == nodes_[list].name + "_tuple";
  return is_element ? list + 1 : list + 2;
}

}  // namespace cfile
