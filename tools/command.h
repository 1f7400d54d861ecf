// The command line of a tool, as data: the tool, its subcommands, their options and arguments. Help
// texts, man pages and completions are made from the same data. Only command.cc includes the
// library that parses command lines.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace cfile::tools {

// Checks the text that the user gave for an option. Returns an error, or "" if the text is valid.
// May replace the text by another form of it.
using Check = std::function<std::string(std::string& text)>;

// NumberIn accepts decimal digits: a number from `min` to `max`. BytesIn accepts a number of bytes
// in this range, with or without a unit ("65536", "64KiB"), and replaces the text by the number.
// OneOf accepts these texts.
Check NumberIn(uint64_t min, uint64_t max);
Check BytesIn(uint64_t min, uint64_t max);
Check OneOf(std::vector<std::string> texts);

// The maximum values of the options that set limits. All tools have the same maximum values.
// kMaxBytes is for blocks and metadata.
inline constexpr uint64_t kMaxBytes = (uint64_t{1} << 31) - 1;
inline constexpr uint64_t kMaxIndexBytes = uint64_t{1} << 40;
inline constexpr uint64_t kMaxDepth = 1000;
inline constexpr uint64_t kMaxLeaves = 10'000'000;

// Takes all texts that the user gave for an option. Returns an error, or "".
using TextsFunction = std::function<std::string(const std::vector<std::string>&)>;

// Where the text of an option goes. An option with a `bool*` is a flag. An option with a vector or
// a function may be given several times, an argument with a vector consists of one or more texts.
// A `std::string` is no place: the option is a flag that prints this text.
using Target =
    std::variant<bool*, std::string*, std::optional<std::string>*, std::vector<std::string>*,
                 uint64_t*, std::optional<uint64_t>*, TextsFunction, std::string>;

// An option, or an argument, which is found by its place and not by its name.
struct Option {
  // "--count", or several names: "-n,--limit"; of an argument, a name without dashes: "FILE".
  std::string name;
  std::string form;  // what stands for the text of the option in the help: "N"
  Target target;
  std::string help;
  Check check;                // may be null; a number needs a check
  bool required = false;      // it is an error not to give the option
  bool takes_dashes = false;  // of an argument: also takes a text that begins with a dash (-inf)
  std::string group = "Options";      // the heading in the help; "": not in the help
  std::vector<std::string> excludes;  // options that cannot be given together with this one
  std::string needs;                  // an option that must be given, too; "": none

  bool is_argument() const { return !name.starts_with('-'); }
};

// An old word for a subcommand, which no help text, man page or completion has.
struct Alias {
  std::string word;
  // Texts that are put behind the new word. An option among them, with the text that follows it, is
  // left out if the user gives this option, and all are if the user gives a text for `places`.
  std::vector<std::string> options = {};
  // The options that take the arguments after the first one.
  std::vector<std::string> places = {};
  // Old and new names of options.
  std::vector<std::pair<std::string, std::string>> renamed = {};
};

// A tool or a subcommand.
struct Command {
  std::string name;
  std::string description;
  std::string footer = {};               // the text after the options in the help
  std::function<void()> on_choice = {};  // called by Parse if the user chose the subcommand
  std::list<Option> options = {};        // in the order of the help, without --help
  std::list<Command> subcommands = {};   // the user may choose one
  std::vector<Alias> aliases = {};       // old words for this subcommand
  // The following is only used of a tool.
  size_t help_column = 30;        // the column in which help texts begin, counted from 0
  bool needs_subcommand = false;  // it is an error not to choose a subcommand
  // The lines after "Usage: "; "": the common form. If set, each help has an empty line before its
  // usage, and its footer is wrapped at the width of a terminal.
  std::string usage = {};

  // Adds an option. `spec`: its name and, perhaps, its form: "--count N". What `target` points to
  // must outlive the parsing. The reference is valid as long as the command.
  Option& Add(std::string_view spec, Target target, std::string help, Check check = nullptr);
  // Adds an option whose value is a list of names in the form of ParseNames (cfile/filter.h). The
  // option may be given several times; `names` gets all names.
  Option& AddNames(std::string_view spec, std::vector<std::string>* names, std::string help);
};

// What a command line says.
struct Parsed {
  // What is wrong. "": nothing is.
  std::string error = {};
  // What --help or a similar option prints. If set, the targets are not.
  std::optional<std::string> text = {};
  // The subcommand that the user chose, even if there is an error.
  const Command* chosen = nullptr;
  // The texts of the arguments of the tool itself, even if there is an error.
  std::vector<std::string> arguments = {};
  // What the user should write instead of the alias that he wrote; "": there was none.
  std::string note = {};
  // Texts that belong to no option and no argument. They are an error.
  std::vector<std::string> unexpected = {};
};

// The heading of options that set limits. Only --help-limits prints them, which each tool has whose
// own options have this heading; its subcommands repeat these options.
inline constexpr char kLimitsGroup[] = "Limits (an error names the limit to raise)";

// The suggestion for an option that neither `command` nor `tool` has.
std::string OptionSuggestion(std::string_view option, const Command& tool, const Command* command);

// Parses the arguments of a command line, which do not include the name of the tool. Sets the
// targets, and calls on_choice of the chosen subcommand if there is no error. Each command also has
// -h and --help. The only argument --print-declarations, which no help mentions, prints all
// declarations for tools/package/tool_pages.py, a JSON array of strings in each line:
//   ["command", NAME, DESCRIPTION, USAGE, FOOTER]           the tool first, then the subcommands
//   ["option", NAMES, FORM, HELP, GROUP]                    of the command before
Parsed Parse(const Command& tool, std::vector<std::string> arguments);

}  // namespace cfile::tools
