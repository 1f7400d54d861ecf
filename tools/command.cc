#include "tools/command.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <sstream>
#include <type_traits>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "tools/text_table.h"
#include "tools/utf8.h"

namespace cfile::tools {
namespace {

constexpr char kHelpNames[] = "-h,--help";
constexpr char kHelpText[] = "Print this help";

// Formats the help of a tool. Leaves out the validators and the exclusions of options, which CLI11
// prints otherwise. On a terminal, wraps the texts at the width of the terminal.
class HelpFormatter final : public CLI::Formatter {
 public:
  explicit HelpFormatter(const Command& tool) : usage_(tool.usage) {
    column_width(tool.help_column);
  }

  std::string make_usage(const CLI::App* app, std::string name) const override {
    if (usage_.empty()) return Formatter::make_usage(app, name);
    return app->get_parent() != nullptr ? "\n" + Formatter::make_usage(app, name)
                                        : absl::StrCat("\nUsage: ", usage_, "\n");
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
  for (const Option& option : command.options) DeclareOption(option, app);
  for (const Option& option : command.options) {
    for (const std::string& other : option.excludes) {
      app.get_option(option.name)->excludes(app.get_option(other));
    }
    if (!option.needs.empty()) app.get_option(option.name)->needs(app.get_option(option.needs));
  }
  if (!command.footer.empty()) app.footer(command.footer);
  if (!command.subcommands.empty()) app.require_subcommand(command.needs_subcommand ? 1 : 0, 1);
  for (const Command& each : command.subcommands) {
    Declare(each, *app.add_subcommand(each.name, each.description));
  }
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
    return found ? "" : absl::StrCat(text, " not in {", absl::StrJoin(texts, ","), "}");
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

Parsed Parse(const Command& tool, std::vector<std::string> arguments) {
  CLI::App app(tool.description, tool.name);
  const auto formatter = std::make_shared<HelpFormatter>(tool);
  app.formatter(formatter);
  app.set_help_flag(kHelpNames, kHelpText);
  Declare(tool, app);
  Parsed parsed;
  if (arguments == std::vector<std::string>{"--print-declarations"}) {
    PrintDeclarations(tool, app, *formatter, parsed.text.emplace());
    return parsed;
  }
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
  const bool done = parsed.error.empty() && !parsed.text;
  if (done && parsed.chosen != nullptr && parsed.chosen->on_choice) parsed.chosen->on_choice();
  return parsed;
}

}  // namespace cfile::tools
