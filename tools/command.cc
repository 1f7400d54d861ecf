#include "tools/command.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <sstream>
#include <type_traits>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "cfile/filter.h"
#include "tools/text_table.h"
#include "tools/utf8.h"

namespace cfile::tools {
namespace {

constexpr char kHelpNames[] = "-h,--help";
constexpr char kHelpText[] = "Print this help";

// Formats the help of a tool, without the validators and the exclusions of options, which CLI11
// prints otherwise. Wraps the texts at the width of a terminal.
class HelpFormatter final : public CLI::Formatter {
 public:
  // `limits`: the help has only the options with the heading kLimitsGroup; otherwise all others.
  HelpFormatter(const Command& tool, bool limits) : usage_(tool.usage), limits_(limits) {
    column_width(tool.help_column);
  }

  std::string make_group(std::string group, bool is_positional,
                         std::vector<const CLI::Option*> options) const override {
    if ((group == kLimitsGroup) != limits_) return "";
    return Formatter::make_group(std::move(group), is_positional, std::move(options));
  }

  std::string make_usage(const CLI::App* app, std::string name) const override {
    if (usage_.empty()) return Formatter::make_usage(app, name);
    return app->get_parent() != nullptr ? "\n" + Formatter::make_usage(app, name)
                                        : absl::StrCat("\nUsage: ", usage_, "\n");
  }

  // Arguments with several texts are shown as "NAME ... LAST", if their form begins with "...".
  std::string make_option_usage(const CLI::Option* option) const override {
    const std::string form = option->get_type_name();
    return form.starts_with("...") ? absl::StrCat(option->get_name(), " ", form)
                                   : Formatter::make_option_usage(option);
  }

  std::string make_option_opts(const CLI::Option* option) const override {
    return option->get_type_name().empty() ? "" : " " + option->get_type_name();
  }

  std::string make_option_desc(const CLI::Option* option) const override {
    return WrappedInColumn(option->get_description());
  }

  std::string make_subcommand(const CLI::App* command) const override {
    std::ostringstream out;
    CLI::detail::format_help(out, command->get_name(), WrappedInColumn(command->get_description()),
                             get_column_width());
    return out.str();
  }

  std::string make_footer(const CLI::App* app) const override {
    const std::optional<size_t> width = OutputWidth();
    const std::string footer = Formatter::make_footer(app);
    if (!width || usage_.empty()) return footer;
    // Only lines that follow each other at the margin are a paragraph: other lines are examples and
    // items of lists.
    std::string result, paragraph;
    const auto end_paragraph = [&] {
      if (!paragraph.empty()) absl::StrAppend(&result, Wrapped(paragraph, *width), "\n");
      paragraph.clear();
    };
    for (const absl::string_view line : absl::StrSplit(footer, '\n')) {
      if (line.empty() || line.front() == ' ') {
        end_paragraph();
        absl::StrAppend(&result, line, "\n");
      } else {
        absl::StrAppend(&paragraph, paragraph.empty() ? "" : " ", line);
      }
    }
    end_paragraph();
    if (!result.empty()) result.pop_back();
    return result;
  }

 private:
  std::string WrappedInColumn(const std::string& text) const {
    const std::optional<size_t> width = OutputWidth();
    constexpr size_t kLeast = 20;
    if (!width) return text;
    return Wrapped(text, std::max(*width - std::min(*width, get_column_width()), kLeast));
  }

  const std::string usage_;
  const bool limits_;
};

CLI::Option* DeclareOption(const Option& option, CLI::App& app) {
  const auto declare = [&]<typename T>(const T& target) -> CLI::Option* {
    if constexpr (std::is_same_v<T, bool*>) {
      return app.add_flag(option.name, *target, option.help);
    } else if constexpr (std::is_same_v<T, std::string>) {
      return app.set_version_flag(option.name, target, option.help);
    } else if constexpr (std::is_same_v<T, std::optional<std::string>*>) {
      // CLI11 itself would read the empty text as nullopt.
      const auto set = [target](const std::string& text) { *target = text; };
      return app.add_option_function<std::string>(option.name, set, option.help);
    } else if constexpr (std::is_same_v<T, TextsFunction>) {
      const auto set = [&target](const CLI::results_t& texts) {
        if (const std::string error = target(texts); !error.empty())
          throw CLI::ValidationError(error);
        return true;
      };
      return app.add_option(option.name, set, option.help);
    } else {
      return app.add_option(option.name, *target, option.help);
    }
  };
  CLI::Option* const declared = std::visit(declare, option.target);
  declared->type_name(option.form)->required(option.required)->group(option.group);
  if (option.check) declared->transform(CLI::Validator(option.check, ""));
  const bool has_many = std::holds_alternative<std::vector<std::string>*>(option.target) ||
                        std::holds_alternative<TextsFunction>(option.target);
  if (has_many && !option.is_argument()) {
    declared->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)->allow_extra_args(false);
  }
  return declared;
}

void Declare(const Command& command, CLI::App& app) {
  std::vector<CLI::Option*> declared;
  for (const Option& option : command.options) declared.push_back(DeclareOption(option, app));
  auto next = declared.begin();
  for (const Option& option : command.options) {
    for (const std::string& other : option.excludes) (*next)->excludes(app.get_option(other));
    if (!option.needs.empty()) (*next)->needs(app.get_option(option.needs));
    ++next;
  }
  if (!command.footer.empty()) app.footer(command.footer);
  if (!command.subcommands.empty()) app.require_subcommand(command.needs_subcommand ? 1 : 0, 1);
  for (const Command& each : command.subcommands) {
    Declare(each, *app.add_subcommand(each.name, each.description));
  }
}

std::vector<std::string> NamesOf(const Option& option) { return absl::StrSplit(option.name, ','); }

// The option of `command` or `tool` that `argument` names; null if there is none.
const Option* FindOption(std::string_view argument, const Command& tool, const Command* command) {
  const std::string name(argument.substr(0, argument.find('=')));
  for (const Command* const place : {command, &tool}) {
    if (place == nullptr) continue;
    for (const Option& option : place->options) {
      const std::vector<std::string> names = NamesOf(option);
      if (std::find(names.begin(), names.end(), name) != names.end()) return &option;
    }
  }
  return nullptr;
}

// The indexes of the arguments from `begin` on that are no options and no texts of options.
std::vector<size_t> PlacesOf(const std::vector<std::string>& arguments, size_t begin,
                             const Command& tool, const Command* command) {
  const bool takes_dashes =
      command != nullptr && std::any_of(command->options.begin(), command->options.end(),
                                        [](const Option& option) { return option.takes_dashes; });
  std::vector<size_t> places;
  bool only_places = false;
  for (size_t i = begin; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (only_places || !argument.starts_with('-') || argument == "-") {
      places.push_back(i);
    } else if (argument == "--") {
      only_places = true;
    } else if (const Option* const option = FindOption(argument, tool, command)) {
      const bool flag = std::holds_alternative<bool*>(option->target) ||
                        std::holds_alternative<std::string>(option->target);
      if (!flag && argument.find('=') == std::string::npos) ++i;
    } else if (takes_dashes && argument[1] != '-' && argument != "-h") {
      places.push_back(i);
    }
  }
  return places;
}

// Replaces an alias in the arguments of a subcommand, whose word is arguments[word]. Returns the
// new word, with the options that are now needed.
std::string ReplaceAlias(const Command& tool, const Command& command, const Alias& alias,
                         size_t word, std::vector<std::string>& arguments) {
  arguments[word] = command.name;
  for (std::string& argument : arguments) {
    for (const auto& [from, to] : alias.renamed) {
      if (argument == from || argument.starts_with(from + "="))
        argument.replace(0, from.size(), to);
    }
  }
  const std::vector<size_t> places = PlacesOf(arguments, word + 1, tool, &command);
  size_t given = 0;
  for (; given < alias.places.size() && given + 1 < places.size(); ++given) {
    std::string& place = arguments[places[given + 1]];
    place = absl::StrCat(alias.places[given], "=", place);
  }
  if (given > 0) return absl::StrCat(command.name, " ", alias.places[0], "=...");
  std::vector<std::string> more;
  bool left_out = false;
  for (const std::string& text : alias.options) {
    if (text.starts_with("--")) {
      const Option* const option = FindOption(text, tool, &command);
      left_out = std::any_of(arguments.begin(), arguments.end(), [&](const std::string& argument) {
        return argument.starts_with("-") && FindOption(argument, tool, &command) == option;
      });
    }
    if (!left_out) more.push_back(text);
  }
  arguments.insert(arguments.begin() + static_cast<ptrdiff_t>(word) + 1, more.begin(), more.end());
  return absl::StrCat(command.name, more.empty() ? "" : " ", absl::StrJoin(more, " "));
}

// Replaces aliases, and moves arguments from the first one with a dash on behind "--", so that
// CLI11 does not take the one with the dash for an option. Returns what Parsed::note says.
std::string Resolve(const Command& tool, std::vector<std::string>& arguments) {
  const std::vector<size_t> first = PlacesOf(arguments, 0, tool, nullptr);
  if (first.empty()) return "";
  const size_t word = first[0];
  std::string note;
  const Command* chosen = nullptr;
  for (const Command& command : tool.subcommands) {
    for (const Alias& alias : command.aliases) {
      if (alias.word != arguments[word]) continue;
      note = absl::StrCat(tool.name, " ", alias.word, " is now ", tool.name, " ",
                          ReplaceAlias(tool, command, alias, word, arguments),
                          "; the old word goes with 0.3");
    }
    if (command.name == arguments[word]) chosen = &command;
  }
  const std::vector<size_t> places = PlacesOf(arguments, word + 1, tool, chosen);
  const auto has_dash = [&](size_t i) { return arguments[i].starts_with('-'); };
  const auto dash = std::find_if(places.begin(), places.end(), has_dash);
  if (chosen == nullptr || dash == places.end() ||
      std::find(arguments.begin(), arguments.end(), "--") != arguments.end()) {
    return note;
  }
  std::vector<std::string> last = {"--"};
  for (auto i = dash; i != places.end(); ++i) last.push_back(arguments[*i]);
  for (auto i = places.end(); i != dash; --i) {
    arguments.erase(arguments.begin() + static_cast<ptrdiff_t>(*std::prev(i)));
  }
  arguments.insert(arguments.end(), last.begin(), last.end());
  return note;
}

void PrintDeclarations(const Command& command, const CLI::App& app, const HelpFormatter& formatter,
                       std::string& out) {
  const auto print = [&out](std::initializer_list<std::string_view> fields) {
    char before = '[';
    for (const std::string_view field : fields) {
      out += std::exchange(before, ',');
      AppendJsonBytes(field, out);
    }
    out += "]\n";
  };
  const std::string tool = app.get_parent() != nullptr ? app.get_parent()->get_name() + " " : "";
  print({"command", command.name, command.description,
         formatter.make_usage(&app, tool + command.name), command.footer});
  print({"option", kHelpNames, "", kHelpText, Option().group});
  for (const Option& option : command.options) {
    if (option.group.empty()) continue;
    print({"option", option.name, option.form, option.help,
           option.is_argument() ? "Positionals" : option.group});
  }
  for (const Command& each : command.subcommands) {
    PrintDeclarations(each, *app.get_subcommand(each.name), formatter, out);
  }
}

}  // namespace

Check NumberIn(uint64_t min, uint64_t max) {
  return [min, max](const std::string& text) {
    uint64_t number = 0;
    const bool fits = text.find_first_not_of("0123456789") == std::string::npos &&
                      absl::SimpleAtoi(text, &number) && number >= min && number <= max;
    const std::string most = max == UINT64_MAX ? "2^64 - 1" : absl::StrCat(max);
    return fits ? "" : absl::StrCat("'", text, "' is not a number from ", min, " to ", most);
  };
}

Check BytesIn(uint64_t min, uint64_t max) {
  return [min, max](std::string& text) {
    std::string bytes = text;
    try {
      if (CLI::AsSizeValue(false)(bytes).empty() && NumberIn(min, max)(bytes).empty() &&
          !text.starts_with('-')) {
        text = bytes;
        return std::string();
      }
    } catch (const CLI::ParseError&) {
      // The message below says what is expected.
    }
    return absl::StrCat("'", text, "' is not a number of bytes from ", min, " to ", max,
                        ", such as 64KiB");
  };
}

Check OneOf(std::vector<std::string> texts) {
  return [texts = std::move(texts)](const std::string& text) {
    const bool found = std::find(texts.begin(), texts.end(), text) != texts.end();
    return found ? ""
                 : absl::StrCat(text, " not in {", absl::StrJoin(texts, ","), "}",
                                Suggestion(text, texts));
  };
}

Option& Command::Add(std::string_view spec, Target target, std::string help, Check check) {
  const size_t space = std::min(spec.find(' '), spec.size());
  return options.emplace_back(
      Option{.name = std::string(spec.substr(0, space)),
             .form = std::string(spec.substr(std::min(space + 1, spec.size()))),
             .target = std::move(target),
             .help = std::move(help),
             .check = std::move(check)});
}

Option& Command::AddNames(std::string_view spec, std::vector<std::string>* names,
                          std::string help) {
  const std::string option(spec.substr(0, spec.find(' ')));
  const auto add = [names, option](const std::vector<std::string>& lists) -> std::string {
    for (const std::string& list : lists) {
      const auto parsed = ParseNames(list);
      if (!parsed.ok()) return absl::StrCat(option, ": ", parsed.status().message());
      names->insert(names->end(), parsed->begin(), parsed->end());
    }
    return "";
  };
  return Add(spec, add, std::move(help));
}

std::string OptionSuggestion(std::string_view option, const Command& tool, const Command* command) {
  std::vector<std::string> known = {"--help"};
  for (const Option& each : (command == nullptr ? tool : *command).options) {
    if (each.is_argument() || each.group.empty()) continue;
    for (std::string& name : NamesOf(each)) known.push_back(std::move(name));
  }
  return Suggestion(option.substr(0, option.find('=')), known);
}

Parsed Parse(const Command& tool, std::vector<std::string> arguments) {
  CLI::App app(tool.description, tool.name);
  const bool has_limits = std::any_of(tool.options.begin(), tool.options.end(),
                                      [](const auto& each) { return each.group == kLimitsGroup; });
  const bool limits = has_limits && std::find(arguments.begin(), arguments.end(),
                                              "--help-limits") != arguments.end();
  const auto formatter = std::make_shared<HelpFormatter>(tool, limits);
  app.formatter(formatter);
  app.set_help_flag(kHelpNames, kHelpText);
  Declare(tool, app);
  Parsed parsed;
  if (limits) {
    // Only the options are asked for: neither arguments nor subcommands.
    parsed.text = formatter->make_groups(&app, CLI::AppFormatMode::Normal);
    return parsed;
  }
  if (has_limits) {
    app.add_flag("--help-limits")
        ->description("Print the options that set limits; all subcommands have them");
  }
  if (arguments == std::vector<std::string>{"--print-declarations"}) {
    PrintDeclarations(tool, app, *formatter, parsed.text.emplace());
    return parsed;
  }
  parsed.note = Resolve(tool, arguments);
  std::reverse(arguments.begin(), arguments.end());  // the order that CLI11 expects
  try {
    app.parse(std::move(arguments));
  } catch (const CLI::Success& wish) {
    std::ostringstream text;
    app.exit(wish, text, text);
    parsed.text = text.str();
  } catch (const CLI::ParseError& error) {
    parsed.error = error.what();
  }
  parsed.unexpected = app.remaining(/*recurse=*/true);
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_positional() || option->count() == 0) continue;
    const std::vector<std::string> texts = option->results();
    parsed.arguments.insert(parsed.arguments.end(), texts.begin(), texts.end());
  }
  for (const Command& each : tool.subcommands) {
    if (app.got_subcommand(each.name)) parsed.chosen = &each;
  }
  if (!parsed.error.empty() && !parsed.unexpected.empty()) {
    const std::string& word = parsed.unexpected[0];
    std::vector<std::string> words;
    for (const Command& each : tool.subcommands) words.push_back(each.name);
    if (tool.needs_subcommand && parsed.chosen == nullptr && !word.starts_with('-'))
      parsed.error = absl::StrCat("there is no subcommand ", word);
    parsed.error += word.starts_with('-')      ? OptionSuggestion(word, tool, parsed.chosen)
                    : parsed.chosen == nullptr ? Suggestion(word, words)
                                               : "";
  }
  const bool done = parsed.error.empty() && !parsed.text;
  if (done && parsed.chosen != nullptr && parsed.chosen->on_choice) parsed.chosen->on_choice();
  return parsed;
}

}  // namespace cfile::tools
