#!/usr/bin/env python3
"""Makes the man page of a tool and its completions for bash, zsh and fish from what the tool declares.

  tool_pages.py FOLDER NAME VERSION COMMAND...    writes FOLDER/NAME.1, NAME.bash, _NAME and NAME.fish

COMMAND runs the tool. `COMMAND --print-declarations` prints what tools/command.h says.
"""
import json
import pathlib
import re
import subprocess
import sys
from typing import NamedTuple

HEADING = re.compile(r"^(\S.*):$")


class Item(NamedTuple):
    """A positional, an option or a subcommand: `names` such as ["-h", "--help"], the `value` that an option takes, or ""."""
    names: list
    value: str
    help: str


class Help:
    """What a command declares: `description`, lines of `usage`, `items` by heading, and the footer as `rest`: (heading, lines)."""

    def __init__(self, description, usage, footer):
        self.description, self.items, self.rest = description.strip(), {"Positionals": []}, []
        self.usage = [line.strip() for line in usage.partition("Usage: ")[2].splitlines()]
        for paragraph in re.split(r"\n{2,}", footer):
            lines = paragraph.splitlines()
            heading = HEADING.match(lines[0]) if lines else None
            if not heading and self.rest and lines[0].startswith("  "):  # goes on with the section before
                self.rest[-1][1].extend(["", *(line.removeprefix("  ") for line in lines)])
            elif lines:
                body = [line.removeprefix("  ") for line in lines[1:]] if heading else lines
                self.rest.append((heading[1] if heading else "", body))

    def add(self, heading, names, value, help_text):
        self.items.setdefault(heading, []).append(Item(names, value, " ".join(help_text.split())))

    def options(self):
        return [item for items in self.items.values() for item in items if item.names[0].startswith("-")]

    def subcommands(self):
        return self.items.get("Subcommands", [])


def declared(printed):
    """What the tool declares, and {name of a subcommand: what it declares}."""
    main, commands = None, {}
    for kind, *fields in map(json.loads, printed.splitlines()):
        if kind == "command":
            name, *texts = fields
            command = Help(*texts)
            if main:
                commands[name] = command
                main.add("Subcommands", [name], "", command.description)
            main = main or command
        else:
            names, value, help_text, heading = fields
            command.add(heading, names.split(","), value, help_text)
    return main, commands


# The man page

def roff(text):
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + text if text.startswith((".", "'")) else text


def bold_names(item):
    names = ", ".join(f"\\fB{roff(name)}\\fR" for name in item.names)
    return names + (f" \\fI{roff(item.value)}\\fR" if item.value else "")


def man_usage(usage):
    for line in usage:
        name, _, arguments = line.partition(" ")
        yield f".B {roff(name)}\n{roff(arguments)}\n.br"


def man_items(items):
    for item in items:
        yield f".TP\n{bold_names(item)}\n{roff(item.help)}"


def man_rest(rest, level):
    for heading, lines in rest:
        if heading and level == "SH":
            yield f".SH {roff(heading.upper())}"
        else:
            yield ".PP" + (f"\n{roff(heading)}:" if heading else "")
        if heading == "Examples":
            yield ".PP\n.nf\n" + "\n".join(map(roff, lines)) + "\n.fi"
        else:
            yield "\n".join(roff(line) or ".PP" for line in lines)


def man_page(name, version, main, commands):
    summary = main.description[0].lower() + main.description[1:].rstrip(".")
    yield f'.TH {roff(name.upper())} 1 "" "cfile {version}" "User Commands"'
    yield f".SH NAME\n{roff(name)} \\- {roff(summary)}"
    yield ".SH SYNOPSIS"
    yield from man_usage(main.usage)
    yield f".SH DESCRIPTION\n{roff(main.description)}"
    yield from man_rest([part for part in main.rest if not part[0]], "SH")
    for heading, items in main.items.items():
        if not items:
            continue
        title, _, remark = heading.partition(" (")
        yield f".SH {'ARGUMENTS' if title == 'Positionals' else title.upper()}"
        if remark:
            yield roff(remark[0].upper() + remark[1:].rstrip(")") + ".")
        yield from man_items(items)
    for command, text in commands.items():
        yield f'.SH "{roff(name.upper())} {roff(command.upper())}"'
        yield from man_usage(text.usage)
        yield f".PP\n{roff(text.description.rstrip('.'))}."
        known = [option for option in text.options() if option in main.options()]
        yield from man_items([item for heading, items in text.items.items() for item in items
                              if item not in known])
        names = ", ".join(f"\\fB{roff(option.names[-1])}\\fR" for option in known)
        yield f".PP\nOptions that are explained above: {names}."
        yield from man_rest([part for part in text.rest if part not in main.rest], "SS")
    yield from man_rest([part for part in main.rest if part[0]], "SH")


# The completions

def takes_file(item):
    return item.value == "FILE"


# Finds the names of columns in what `cfile-dump summary --schema TABLE` prints.
COLUMN = r'^  [a-z]+ [a-z0-9_()]+ ("([^"\\]|\\.)*"|[^ ;]+)'
# What precedes the last item of a list of names or of a condition. Separators in double quotes belong to a name.
ITEMS = r'^(([^", (]|"[^"]*")*[, (])*'
# For each tool whose options take names of columns: the commands that print the names of the place $each. cfile-dump takes names as the
# schema has them. The lists of cfile-import have names with separators in double quotes, its other options have names as they are.
TABLE = f"""cfile-dump summary --schema "$each" 2>/dev/null | sed -nE 's/{COLUMN}.*/\\1/p'"""
PLACES = {"cfile-dump": TABLE,
          "cfile-import": TABLE + r""" | sed -E 's/^"(.*)"$/\1/; s/\\(.)/\1/g' | sed -E "$quote"
      cfile-import --print-names "$each" /tmp/names 2>/dev/null | sed -E "$quote" """}
QUOTE = r'/[", (]/{ s/"/""/g; s/.*/"&"/; }'


def takes_columns(name, item):
    """True for the name of a column of the place that was given before, a list of names, and a condition."""
    forms = ("NAME", "NAME,...", "FILTER") if name == "cfile-dump" else ("NAME,...",)
    is_name = item.value in forms or re.match(r"\[?COLUMN\b", item.value)
    return name in PLACES and is_name and "--names" not in item.names


def with_names(name, script, backslash="\\"):
    """A part of a script that searches the names of columns. `backslash`: what stands for it between single quotes."""
    names = PLACES[name].replace("\\", backslash)
    for mark, text in {"@TOOL@": name.replace("-", "_"), "@NAMES@": names, "@ITEMS@": ITEMS, "@QUOTE@": QUOTE}.items():
        script = script.replace(mark, text)
    return script


def bash_completion(name, main, commands):
    function = "_" + name.replace("-", "_")
    names = " ".join(commands)
    every = [option for text in (main, *commands.values()) for option in text.options() if option.value]
    with_text = sorted({option.names[-1] for option in every if not takes_file(option) and not takes_columns(name, option)})
    columns = sorted({option.names[-1] for option in every if takes_columns(name, option)})
    yield f"# bash completion for {name}"
    yield f"{function}() {{"
    yield "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command='' each options commands='' begin quote='' items"
    if commands:
        yield '  for each in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do'
        yield f"    case $each in {'|'.join(commands)}) command=$each; break ;; esac"
        yield "  done"
    yield "  case $command in"
    for command, text in commands.items():
        yield f"    {command}) options='{' '.join(n for option in text.options() for n in option.names)}' ;;"
    yield f"    *) options='{' '.join(n for option in main.options() for n in option.names)}' ;;"
    yield "  esac"
    if commands:
        yield f"  [[ $COMP_CWORD -gt 1 ]] || commands='{names}'"
    yield "  COMPREPLY=()"
    if with_text:
        yield f"  case $before in {'|'.join(with_text)}) return ;; esac"
    if columns:
        yield f"  case $before in {'|'.join(columns)})"
        yield with_names(name, """    compopt -o filenames -o nospace 2>/dev/null
    word=${word#[\\"\\']}
    [[ $before != --columns ]] || quote='@QUOTE@'
    items='@ITEMS@'
    [[ $word =~ $items ]] && begin=${BASH_REMATCH[0]}
    for each in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
      [[ -e $each && $each != "$command" ]] || continue
      mapfile -t COMPREPLY < <(@NAMES@)
      [[ ${#COMPREPLY[@]} -eq 0 ]] || break
    done
    for each in "${!COMPREPLY[@]}"; do
      if [[ $begin${COMPREPLY[each]} == "$word"* ]]; then COMPREPLY[each]=$begin${COMPREPLY[each]}; else unset "COMPREPLY[each]"; fi
    done
    return ;;
  esac""")
    yield "  if [[ $word == -* ]]; then"
    yield '    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word")'
    yield "  else"
    yield "    compopt -o filenames 2>/dev/null"
    yield '    mapfile -t COMPREPLY < <(compgen -W "$commands" -- "$word"; compgen -f -- "$word")'
    yield "  fi"
    yield f"}}\ncomplete -F {function} {name}"


def zsh_text(text):
    """The text, to be put between single quotes, for _arguments and _describe."""
    return re.sub(r"([\[\]:\\])", r"\\\1", text).replace("'", "'\\''")


def zsh_options(name, options):
    for option in options:
        action = "_files" if takes_file(option) else f"_{name.replace('-', '_')}_columns" if takes_columns(name, option) else ""
        value = f":{option.value.replace(':', ' ')}:{action}" if option.value else ""
        for option_name in option.names:
            yield f"{option_name}'[{zsh_text(option.help)}]{value}'"


def zsh_completion(name, main, commands):
    yield f"#compdef {name}"
    if name in PLACES:
        yield with_names(name, """_@TOOL@_columns() {
  setopt localoptions extendedglob
  local each quote=''; local -a names
  [[ ${words[CURRENT-1]} != --columns ]] || quote='@QUOTE@'
  for each in "${(@Q)words[2,-1]}"; do
    [[ -e $each ]] || continue
    names=(${(f)"$(@NAMES@)"})
    (( $#names )) && break
  done
  compset -P '(([^", (]|"[^"]#")#[, (])#'
  compadd -S '' -- $names
}""")
    yield "local context state state_descr line"
    yield "typeset -A opt_args"
    yield "_arguments -C \\"
    for option in zsh_options(name, main.options()):
        yield f"  {option} \\"
    if not commands:
        yield "  '*:file:_files'"
        return
    yield "  '1: :->command' '*:: :->arguments'"
    yield "case $state in"
    yield "  command)"
    yield "    local -a commands=("
    for item in main.subcommands():
        yield f"      '{item.names[0]}:{zsh_text(item.help)}'"
    yield "    )"
    yield "    _describe -t commands command commands"
    yield "    _files ;;"
    yield "  arguments)"
    yield "    case $line[1] in"
    for command, text in commands.items():
        yield f"      {command}) _arguments \\"
        for option in zsh_options(name, text.options()):
            yield f"        {option} \\"
        yield "        '*:file:_files' ;;"
    yield "      *) _files ;;"
    yield "    esac ;;"
    yield "esac"


def fish_quoted(text):
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def fish_completion(name, main, commands):
    seen = f"__fish_seen_subcommand_from {' '.join(commands)}"
    if name in PLACES:
        yield with_names(name, """function __@TOOL@_columns
  set -l quote ''
  test (commandline -opc)[-1] = --columns; and set quote '@QUOTE@'
  set -l begin (commandline -ct | string replace -r '^["\\']' '' | string match -r '@ITEMS@')[1]
  for each in (commandline -opc)[2..-1]
    test -e $each; or continue
    set -l names (@NAMES@)
    test -n "$names"; and printf '%s\\n' "$begin"$names; and return
  end
end""", backslash="\\\\")
    for item in main.subcommands():
        yield f"complete -c {name} -n '__fish_is_first_arg' -a {item.names[0]} -d {fish_quoted(item.help)}"
    for command, text in [(None, main), *commands.items()]:
        where = "" if not commands else f" -n 'not {seen}'" if command is None else f" -n '__fish_seen_subcommand_from {command}'"
        for option in text.options():
            names = "".join(f" -l {n[2:]}" if n.startswith("--") else f" -s {n[1:]}" for n in option.names)
            value = "" if not option.value else " -r -F" if takes_file(option) else " -x"
            value += f" -a '(__{name.replace('-', '_')}_columns)'" if takes_columns(name, option) else ""
            yield f"complete -c {name}{where}{names}{value} -d {fish_quoted(option.help)}"


def main():
    folder, name, version, *command = sys.argv[1:]
    text, commands = declared(subprocess.run([*command, "--print-declarations"], stdout=subprocess.PIPE, check=True).stdout)
    for file, lines in {
            f"{name}.1": man_page(name, version, text, commands),
            f"{name}.bash": bash_completion(name, text, commands),
            f"_{name}": zsh_completion(name, text, commands),
            f"{name}.fish": fish_completion(name, text, commands)}.items():
        (pathlib.Path(folder) / file).write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
