// cfile-dump index: the nodes of the two B-trees.
#include "tools/dump/commands.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "cfile/status.h"
#include "cfile/types.h"
#include "tools/document.h"
#include "tools/location.h"
#include "tools/value_meaning.h"
#include "tools/value_text.h"

namespace cfile::tools {
namespace {

struct IndexOptions {
  bool positional = false;
  bool value = false;
};

const char* NameOf(IndexKind kind) {
  return kind == IndexKind::kPositional ? "positional" : "value";
}

void AppendKey(const ColumnType& type, const IndexEntryInfo& entry, IndexKind kind,
               std::string& out) {
  if (kind == IndexKind::kPositional) {
    absl::StrAppend(&out, entry.ordinal);
  } else if (IsText(type)) {
    AppendPrintable(entry.key, out);
  } else {
    absl::StrAppend(&out, "0x", Hex(entry.key));
    const bool is_integer =
        VisitType(type, []<typename T>(std::type_identity<T>) { return kIsInteger<T>; });
    const BoundTexts complete = TextOfBounds(type, {.min_key = entry.key});
    if (is_integer && complete.min) absl::StrAppend(&out, " (", *complete.min, ")");
  }
}

// The first key of `entry` as text, shortened to a line of `width` cells, if it is given, with
// `used` others.
std::string KeyText(const ColumnType& type, const IndexEntryInfo& entry, IndexKind kind,
                    const std::optional<size_t>& width, size_t used) {
  constexpr size_t kLeast = 8;
  std::string text;
  AppendKey(type, entry, kind, text);
  return width ? Shortened(text, std::max(*width, used + kLeast) - used) : text;
}

void AddEntry(const ColumnType& type, const IndexEntryInfo& entry, IndexKind kind, Table& entries) {
  Record& record = entries.Add();
  if (kind == IndexKind::kPositional) {
    record.AddJson({{"ordinal", entry.ordinal}});
  } else if (IsText(type)) {
    record.AddJson({{"key", entry.key}});
  } else {
    record.AddJson({{"key", {{"hex", Hex(entry.key)}}}});
  }
  record.AddJson({{"offset", entry.pointer.offset}, {"size", entry.pointer.size}});
}

// A node of the drawn tree, after its first key if it is below the root. The blocks of a leaf
// follow it.
Document DocumentOf(const ColumnType& type, const IndexNodeInfo& node, IndexKind kind,
                    const std::optional<size_t>& width, bool json) {
  Document document(json);
  const auto line = [&](size_t indentation, const IndexEntryInfo* entry, const char* name,
                        const BlockPointer& pointer, const std::string& more) {
    const std::string what =
        absl::StrCat(name, " at ", pointer.offset, ", ", Plural(pointer.size, "byte"), more);
    constexpr std::string_view kArrow = " -> ";
    std::string key;
    if (entry != nullptr) {
      const size_t used = indentation + kArrow.size() + what.size();
      key = StrCat(KeyText(type, *entry, kind, width, used), kArrow);
    }
    document.AddLine(std::string(indentation, ' '), key, what);
  };
  const bool has_key = node.depth > 0 && !node.entries.empty();
  document.AddJson({{"index", NameOf(kind)},
                    {"depth", node.depth},
                    {"leaf", node.leaf},
                    {"offset", node.pointer.offset},
                    {"size", node.pointer.size}});
  line(2 * node.depth, has_key ? node.entries.data() : nullptr,
       node.leaf ? "leaf node" : "inner node", node.pointer,
       absl::StrCat(", ", node.entries.size(), node.entries.size() == 1 ? " entry" : " entries"));
  Table entries(json);
  for (const IndexEntryInfo& entry : node.entries) {
    if (json) AddEntry(type, entry, kind, entries);
    if (node.leaf && !json) line(2 * node.depth + 2, &entry, "block", entry.pointer, "");
  }
  document.AddTable("entries", entries);
  return document;
}

absl::Status PrintTree(const Reader& reader, IndexKind kind, bool json, List& list,
                       Output& output) {
  const FileInfo& info = reader.info();
  const auto& root =
      kind == IndexKind::kPositional ? info.positional_index_root : info.value_index_root;
  if (!json) absl::StrAppend(&output.text, root ? "" : "no ", NameOf(kind), " index\n");
  const std::optional<size_t> width = OutputWidth();
  return VisitIndex(reader, kind, [&](const IndexNodeInfo& node) {
    list.Add(DocumentOf(info.type, node, kind, width, json));
    return output.Drain();
  });
}

Outcome PrintIndex(const IndexOptions& options, const CommonOptions& common, Output& output) {
  CFILE_ASSIGN_OR_RETURN(const auto reader, OpenFileAt(common.path, OptionsOf(common)));
  List list(Document(common.json, common.path), "nodes", {}, output);

  // Without options both indexes are printed, even if one of them is damaged.
  absl::Status status;
  if (options.positional || !options.value)
    status.Update(PrintTree(reader, IndexKind::kPositional, common.json, list, output));
  if (options.value || !options.positional)
    status.Update(PrintTree(reader, IndexKind::kValue, common.json, list, output));
  list.Finish(status);
  return status;
}

}  // namespace

void AddIndexCommand(Command& app, CommonOptions& common, Action& action) {
  Command& command = AddCommand(
      app, common, "index", "Print the nodes of the positional and the value index",
      "Each index is drawn as a tree: under a node, indented, are its children, and under a leaf\n"
      "node its data blocks. Before an arrow is the first key of the node or block. Keys of the\n"
      "positional index are the first ordinals of the blocks. Keys of the value index are cut to\n"
      "the bytes that separate the blocks. They are printed as text for strings, otherwise as the\n"
      "ordered form in hexadecimal, followed by the value if the key is complete.\n\n"
      "Example:\n  cfile-dump index --value keys.cfile");
  AddColumnOptions(command, common, kOneColumn, kAllParts);
  auto options = std::make_shared<IndexOptions>();
  command.Add("--positional", &options->positional, "Only the index by ordinal");
  command.Add("--value", &options->value, "Only the index by value");
  SetAction(command, action, OnEachFile(With(options, PrintIndex)));
}

}  // namespace cfile::tools
