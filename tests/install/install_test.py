#!/usr/bin/env python3
"""Tests what `cmake --install` and `cpack` make of a build, and the inclusion of the source tree in another project.

  install_test.py install BUILD         installs BUILD into a temporary folder; compiles each header alone, and all headers with each
                                        installed compiler; lists the symbols of libcfile.so, builds tests/install/consumer with
                                        CMake and pkg-config, runs the tools, reads man pages and completions
  install_test.py embedded BUILD        configures tests/install/parent, which includes the source tree
  install_test.py embedded_built BUILD  also builds it, which compiles the library, and runs its program
  install_test.py debian BUILD          makes the .deb packages, unpacks them, runs the tools and builds the examples of the documents
                                        with them; exits with 77 if dpkg-deb is missing
  install_test.py debian_linted BUILD   also checks the packages with lintian, which takes as long as the rest; exits with 77 if lintian is
                                        missing

BUILD is a build tree whose default target is built. With --jobs N, N compilers run at the same time (default: one for each core). With
--packages FOLDER, the .deb packages are copied to FOLDER.
"""
import argparse
import concurrent.futures
import gzip
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from installed_compilers import installed_compilers

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = pathlib.Path(__file__).resolve().parent
SKIPPED = 77
WARNINGS = ["-Wall", "-Wextra", "-Wconversion", "-Werror"]
TOOLS = ("cfile-dump", "cfile-import", "cfile-table")
SAMPLE = ROOT / "tests/golden/kudu/key_string_dict_seq.cfile"  # of the real Kudu
MAX_PROGRAM_MB = 1.1  # of a stripped program that seeks
MAX_LIBRARIES = 10  # shared libraries that this program needs
STANDARDS = ("c++20", "c++2b")  # c++2b is C++23 for clang 14, too


def run(*command, **options):
    """Runs the command and returns what it prints. If it fails, prints everything and ends the test."""
    result = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
                            **options)
    if result.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\nends with {result.returncode}:\n{result.stdout}")
    return result.stdout


def expect(condition, message):
    if not condition:
        sys.exit(message)


class Build:
    """What CMakeCache.txt says of the build."""

    def __init__(self, folder):
        self.folder = folder
        cache = (folder / "CMakeCache.txt").read_text()
        self.cache = dict(re.findall(r"^([\w-]+):\w+=(.*)$", cache, re.MULTILINE))

    def on(self, option):
        return self.cache.get(option, "OFF") in ("ON", "TRUE", "1", "YES")

    def parts(self):
        return list(filter(None, self.cache["CFILE_PARTS"].split(";")))

    def has_tables(self):
        return "arrow" in self.parts()

    def compiler(self):
        return [self.cache["CMAKE_CXX_COMPILER"], *self.cache.get("CMAKE_CXX_FLAGS", "").split()]

    def is_for_users(self):
        return self.cache["CMAKE_BUILD_TYPE"] == "Release" and "-DNDEBUG" in self.cache["CMAKE_CXX_FLAGS_RELEASE"]

    def generator(self):
        """The options of cmake with which another project is configured in the same way."""
        names = ("CMAKE_CXX_COMPILER", "CMAKE_CXX_FLAGS", "CMAKE_CXX_COMPILER_LAUNCHER", "CMAKE_EXE_LINKER_FLAGS", "CMAKE_BUILD_TYPE")
        return ["-G", self.cache["CMAKE_GENERATOR"], *(f"-D{n}={self.cache[n]}" for n in names if self.cache.get(n))]


def environment_of(prefix):
    """With this environment, programs and pkg-config find the library that is installed in `prefix`."""
    library = next(prefix.rglob("libcfile.so")).parent
    return dict(os.environ, LD_LIBRARY_PATH=str(library), PKG_CONFIG_PATH=str(library / "pkgconfig"))


# install

def check_headers(build, prefix, flags):
    """The headers compile together, in both orders. In a build for users (tests/campaign/compilers), each header compiles alone.
    Headers of encodings/ are installed if and only if a public header needs them."""
    root = next((prefix / "include").iterdir())
    installed = {path.relative_to(root).as_posix() for path in root.rglob("*.h")}
    parquet = {"encodings/parquet.h"} if build.cache.get("CFILE_ENCODINGS") != "kudu" else set()
    needed, left = set(), [name for name in installed if name.startswith("cfile/")] + list(parquet)
    expect(len(left) > 10 and not any("internal" in name for name in installed), f"installed headers: {sorted(installed)}")
    while left:
        name = left.pop()
        if name in needed:
            continue
        needed.add(name)
        if name in installed:
            left += re.findall(r'^#include "((?:cfile|encodings)/[^"]+)"', (root / name).read_text(), re.MULTILINE)
    expect(installed == needed, f"headers installed but not needed, or needed but not installed: {sorted(installed ^ needed)}")

    def compile_headers(command, standard, names):
        language = "c" if standard == "c99" else "c++"
        run(*command, f"-std={standard}", "-fsyntax-only", *WARNINGS, *flags, "-x", language, "-",
            input="".join(f'#include "{name}"\n' for name in names), cwd=prefix)  # not in ROOT, which has the same headers
    others = installed_compilers()
    compilers = [build.compiler(), *filter(None, others.values())]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        alone = installed if build.is_for_users() else ()
        work = [(build.compiler(), "c++20", [name]) for name in alone] + [(build.compiler(), "c++20", sorted(installed, reverse=True))]
        work += [(command, standard, sorted(installed)) for command in compilers for standard in STANDARDS]
        work += [(command, "c99", sorted({"cfile/c.h", "cfile/arrow_c_data.h"} & installed))
                 for command in (["cc"], *compilers[1:]) if "-stdlib=libc++" not in command]
        list(pool.map(lambda arguments: compile_headers(*arguments), work))
    print(f"{len(installed)} headers compile together in C++20 and C++23 with {', '.join(map(' '.join, compilers))}, {len(alone)} alone")
    print("".join(f"skipped: {name} is not installed\n" for name, command in others.items() if not command), end="")


def check_symbols(compiler, library, archive, header_folder):
    """libcfile.so exports functions of the public headers, all of them, and nothing else."""
    # Names of a new clang need a program that is as new.
    own = pathlib.Path(os.path.realpath(shutil.which(compiler[0]))).parent / "llvm-cxxfilt"
    demangler = own if own.exists() else "c++filt"

    def symbols(file, *options):
        lines = run("nm", *options, file).splitlines()
        return {line.split()[-1]: line.split()[-2] for line in lines if len(line.split()) >= 2 and not line.endswith(":")}

    def names(mangled):
        plain = run(demangler, input="\n".join(mangled)).splitlines()
        return dict(zip(mangled, plain))
    exported = symbols(library, "-D", "--defined-only")
    wrong = []
    for symbol, name in names(sorted(exported)).items():
        # The type that a public function returns, and what the public template OwnedBatch consists of.
        name = name.replace("cfile::internal::OwnedType", "cfile::OwnedType").replace("cfile::internal::OwnedValues", "cfile::OwnedValues")
        of_cfile = re.match(r"(non-virtual thunk to |(typeinfo|typeinfo name|vtable) for )?(.* )?cfile::", name)
        if not symbol.startswith("cfile_") and (not of_cfile or re.search(r"cfile::(\w+::)*(internal|\(anonymous namespace\))::\w+[<(:]|::Impl\b",
                                                                        re.sub(r"\(.*", "(", name))):
            wrong.append(name)
    expect(exported and not wrong, "libcfile.so exports what is not public:\n" + "\n".join(wrong[:20]))

    text = "".join(path.read_text() for path in header_folder.rglob("*.h"))
    declared = set(re.findall(r"\bCFILE_EXPORT (?:\w+ )?(\w+)[ :{]|^(?:class|struct) (\w+) \{|\b(\w+)\(", text, re.MULTILINE))
    declared = {name for group in declared for name in group if name}
    defined = [symbol for symbol, kind in symbols(archive, "--defined-only").items() if kind == "T"]
    missing = []
    for symbol, name in names(sorted(defined)).items():
        public = re.match(r"cfile::(\w+)(?:::(\w+))?\(", re.sub(r"\[abi:\w+\]", "", name))
        if public and public[1] in declared and (public[2] is None or public[2] in declared) and symbol not in exported:
            missing.append(name)
    print(f"{len(exported)} symbols are exported")
    return missing


def check_templates(prefix, library):
    """Programs of all compilers find the function templates of libcfile.so, which one compiler has built."""
    exported = {line.split()[-1] for line in run("nm", "-D", "--defined-only", library).splitlines()}
    root = next((prefix / "include").iterdir())
    with tempfile.TemporaryDirectory() as folder:
        for command in filter(None, [["g++"], *installed_compilers().values()]):
            if "-stdlib=libc++" in command:
                continue
            run(*command, "-std=c++20", f"-I{root}", "-c", ROOT / "tests/install/templates.cc", "-o", "templates.o", cwd=folder)
            used = {line.split()[-1] for line in run("nm", "-u", pathlib.Path(folder) / "templates.o").splitlines()}
            missing = sorted(name for name in used if re.match(r"_ZNK?5cfile", name) and name not in exported)
            expect(not missing, f"{library} has no {', '.join(missing[:5])} for {command[0]}")
    print("programs of all compilers find the function templates")


def check_pages(prefix):
    for tool in TOOLS:
        page = prefix / "share/man/man1" / f"{tool}.1"
        text = page.read_text(encoding="utf-8")
        for part in ("NAME", "SYNOPSIS", "OPTIONS", "EXAMPLES", "\\-\\-help"):
            expect(part in text, f"{page} has no {part}")
        if shutil.which("groff"):
            warnings = run("groff", "-man", "-Tutf8", "-K", "utf8", "-ww", "-z", page)
            expect(not warnings, f"{page}: {warnings}")
        else:
            print(f"not parsed: {page.name}, because groff is not installed")
    check_completions(prefix)


def check_completions(prefix):
    bash = prefix / "share/bash-completion/completions"

    def completed(tool, *words):
        script = (f'. "{bash / tool}"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _{tool.replace("-", "_")}; '
                  'printf "%s\\n" "${COMPREPLY[@]}"')
        return run("bash", "-c", script, "bash", tool, *words, cwd=bash).split()
    for words, expected in {
            ("cfile-dump", "ver"): ["verify"],
            ("cfile-dump", "rows", "--wh"): ["--where"],
            ("cfile-dump", "hexdump", "--wh"): [],
            ("cfile-dump", "rows", "--column", ""): [],  # of no table
            ("cfile-dump", "cfile-ta"): ["cfile-table"],  # a file
            ("cfile-dump", "rows", "cfile-ta"): ["cfile-table"],
            ("cfile-dump", "rows", "ver"): [],  # no second subcommand
            ("cfile-import", "--sor"): ["--sorted-by"],
            ("cfile-import", "--schema", "cfile-du"): ["cfile-dump"],
            ("cfile-table", "drop-"): ["drop-below"],
            ("cfile-table", "gc", "--"): ["--help", "--dry-run", "--json", "--older-than"]}.items():
        found = completed(*words)
        expect(found == expected, f"bash completes {' '.join(words)} to {found}, not to {expected}")
    for shell, pattern in (("zsh", "zsh/*/_cfile-*"), ("fish", "fish/vendor_completions.d/*.fish")):
        files = sorted((prefix / "share").glob(pattern))
        expect(len(files) == 3, f"completions of {shell}: {files}")
        for file in files if shutil.which(shell) else ():
            run(shell, "-n", file)
        if not shutil.which(shell):
            print(f"not parsed: the completions of {shell}, which is not installed")
    check_completed_columns(prefix)


def check_completed_columns(prefix):
    """The names of columns come from the table, or for an import from the text, that is in the command line."""
    share, functions = prefix / "share", [*(prefix / "share").glob("zsh/*/_cfile-dump")][0].parent
    scripts = {
        "bash": f'''. {share}/bash-completion/completions/$1; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _${{1//-/_}}
                   printf '%s\n' "${{COMPREPLY[@]}}"''',
        # compadd selects the names that begin with what compset left. Behind a subcommand, `words` begins with it.
        "zsh": rf'''_arguments() {{ }}; compset() {{ left=${{last##$~2}} }}; compadd() {{ shift 3; found=("$@") }}; words=(); . {functions}/_$1
                  words=("$@"); [[ $1 == cfile-import || $2 == t ]] || shift words; CURRENT=$#words; last=${{@[-1]#[\'\"]}}; _${{1//-/_}}_columns
                  for each in $found; do [[ $each == $left* ]] && print -r -- "${{last%"$left"}}$each"; done; true''',
        "fish": f"source {share}/fish/vendor_completions.d/$argv[1].fish; complete -C (string join ' ' -- $argv)"}
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        (work / "x.csv").write_text("delay,day,carrier,a b\n1,2,3,4\n")
        environment = environment_of(prefix)
        environment["PATH"] = f"{prefix}/bin:{environment['PATH']}"
        (work / "x.json").write_text('[{"delay": 1, "day": 2, "carrier": "a:b"},\n{"day": 3}]\n')
        (work / "pretty.json").write_text(json.dumps([{"delay": 1, "day": 2}], indent=2))
        (work / "x.csv.gz").write_bytes(gzip.compress(b'"a,b",delay,day\n1,2,3\n'))
        (work / "many").mkdir()
        (work / "many/1.csv").write_text("delay,carrier\n1,2\n")
        (work / "many/2.csv").write_text("delay,day\n1,2\n")
        run(prefix / "bin/cfile-import", "x.csv", "t", cwd=work, env=environment)
        run(prefix / "bin/cfile-import", "x.csv.gz", "commas", cwd=work, env=environment)
        written = subprocess.run([prefix / "bin/cfile-dump", "rows", "t", "-o", "x.parquet"], cwd=work, env=environment, check=False)
        for shell, script in scripts.items():
            if not shutil.which(shell):
                continue
            for words, expected in {
                    ("cfile-dump", "rows", "t", "--columns", "da"): ["day"],
                    ("cfile-dump", "rows", "--json", "t", "--columns", "carrier,d"): ["carrier,delay", "carrier,day"],
                    ("cfile-dump", "t", "--column", "da"): ["day"],
                    ("cfile-import", "x.json", "u", "--columns", "carrier,d"): ["carrier,delay", "carrier,day"],
                    ("cfile-dump", "count", "t", "--where", "'day > 5 and del"): ["day > 5 and delay"],
                    ("cfile-dump", "count", "t", "--by", "carrier,c"): ["carrier,carrier"],
                    ("cfile-dump", "rows", "t", "--columns", "'\"a"): ['"a b"'],
                    ("cfile-dump", "rows", "x.csv", "--columns", ""): [],
                    ("cfile-dump", "rows", "none", "--columns", ""): [],
                    ("cfile-import", "x.csv", "u", "--columns", "carrier,d"): ["carrier,delay", "carrier,day"],
                    ("cfile-import", "x.csv", "u", "--sorted-by", "da"): ["day"],
                    ("cfile-import", "pretty.json", "u", "--columns", "d"): ["delay", "day"],
                    ("cfile-import", "x.csv.gz", "u", "--columns", "'\"a,b\",d"): ['"a,b",delay', '"a,b",day'],
                    ("cfile-import", "x.csv.gz", "u", "--columns", "'day,\"a,"): ['day,"a,b"'],
                    ("cfile-import", "x.csv.gz", "u", "--not-null", "a"): ["a,b"],
                    ("cfile-import", "many", "u", "--columns", ""): ["delay", "carrier", "day"],
                    ("cfile-dump", "rows", "commas", "--columns", "'\"a,b\",da"): ['"a,b",day'],
                    ("cfile-dump", "count", "commas", "--where", "'\"a,b\" > 3 and d"): ['"a,b" > 3 and delay', '"a,b" > 3 and day'],
                    # Without Parquet there is no file.
                    ("cfile-import", "x.parquet", "u", "--columns", "d"): ["delay", "day"] if written.returncode == 0 else [],
                    ("cfile-import", "--append", "-", "t", "--type", "car"): ["carrier"],
                    ("cfile-import", "t/table.cft", "u", "--type", ""): []}.items():
                arguments = [*(["-c", script] if shell == "fish" else ["-c", script, shell]), *words]
                found = run(shell, *arguments, cwd=work, env=environment)
                found = [line.partition("\t")[0] for line in found.splitlines() if line]
                expect(sorted(found) == sorted(expected), f"{shell} completes {' '.join(words)} to {found}, not to {expected}")


def check_tools(prefix, work):
    """The installed tools run, with the installed library if they need it."""
    environment = environment_of(prefix)
    for tool in TOOLS:
        printed = run(prefix / "bin" / tool, "--version", env=environment)
        expect(re.search(r"\d+\.\d+\.\d+", printed), f"{tool} --version prints {printed}")
    (work / "towns.csv").write_text("id,town\n1,Bergen\n2,Oslo\n")
    run(prefix / "bin/cfile-import", work / "towns.csv", work / "towns", "--sorted-by", "id", env=environment)
    printed = run(prefix / "bin/cfile-dump", "verify", work / "towns", env=environment)
    expect("all valid" in printed, f"cfile-dump verify prints {printed}")
    run(prefix / "bin/cfile-table", "gc", work / "towns", env=environment)
    print("the tools work")


def check_consumers(build, prefix, work, jobs):
    """Builds and runs the consumer with CMake and with pkg-config, with the shared and with the static library."""
    components = ["core", *build.parts()] + (["tools"] if build.on("CFILE_BUILD_TOOLS") else [])
    environment = environment_of(prefix)
    run("cmake", "-S", HERE / "consumer", "-B", work / "consumer", *build.generator(), f"-DCMAKE_PREFIX_PATH={prefix}",
        f"-DCOMPONENTS={';'.join(components)}", env=environment)
    run("cmake", "--build", work / "consumer", "--parallel", jobs)
    expect(run(work / "consumer" / "consumer_core", SAMPLE, "key/000001/00000107") == "row 107\n", "the program with the core alone does not work")
    if not build.has_tables():
        print("the consumer of the core works")
        return run("pkg-config", "--cflags", "cfile", env=environment).split()
    for flavour in ("static", "shared"):
        program = work / "consumer" / f"consumer_{flavour}"
        expect(run(program, env=environment) == "cfile works\n", f"{program} does not work")
        needs_library = "libcfile.so" in run("readelf", "-d", program)
        expect(needs_library == (flavour == "shared"), f"{program} is linked with the wrong library")

    # Which library cfile::cfile is
    for options, expected in (([], "shared"), (["-DBUILD_SHARED_LIBS=OFF"], "static"), (["-DCOMPONENTS=static"], "static"),
                              (["-DBUILD_SHARED_LIBS=OFF", "-Dcfile_SHARED_LIBS=ON"], "shared")):
        printed = run("cmake", f"-DCMAKE_PREFIX_PATH={prefix}", *options, "-S", HERE / "flavour", "-B", work / "flavour", "--fresh",
                      *build.generator())
        expect(f"flavour: cfile::cfile_{expected};" in printed, f"cfile::cfile with {options} is not {expected}: {printed}")
    command = ["cmake", "-S", HERE / "flavour", "-B", work / "flavour", "--fresh", *build.generator(), f"-DCMAKE_PREFIX_PATH={prefix}"]
    refused = subprocess.run([*command, "-DCOMPONENTS=absent"], capture_output=True, text=True, check=False)
    expect(refused.returncode != 0 and "has no component absent" in " ".join(refused.stderr.split()),
           f"find_package does not name a missing component:\n{refused.stderr}")

    # The objects that CMake made are those that a Makefile would make with `pkg-config --cflags`.
    objects = sorted((work / "consumer").rglob("*.o"))
    objects = [file for file in objects if "consumer_core" not in str(file)]
    expect(len(objects) == 3, f"objects of the consumer: {objects}")
    include = run("pkg-config", "--cflags", "cfile", env=environment).split()
    run(*build.compiler(), "-std=c++20", *WARNINGS, *include, "-fsyntax-only", HERE / "consumer/consumer.cc")
    shared = run("pkg-config", "--libs", "cfile", env=environment).split()
    static = run("pkg-config", "--static", "--libs", "cfile", env=environment).replace("-lcfile ", "-l:libcfile.a ").split()
    for flavour, libraries in (("shared", shared), ("static", static)):
        program = work / f"pkg_config_{flavour}"
        run(*build.compiler(), "-o", program, *objects, *libraries)
        expect(run(program, env=environment) == "cfile works\n", f"{program} does not work")
        expect(("libcfile.so" in run("readelf", "-d", program)) == (flavour == "shared"), f"{program}: wrong library")
    print("the consumer works with CMake and pkg-config, static and shared")
    return include


def check_size(build, prefix, work):
    """A program that opens a file and seeks needs few shared libraries. If the build is optimised, the program is small.
    The size includes Abseil, which is linked statically. Debian has no static Highway and ISA-L: they do not count as libraries."""
    environment = environment_of(prefix)
    flags = run("pkg-config", "--static", "--cflags", "--libs", "cfile_core", env=environment)
    flags = re.sub(r"(?<= )-l(absl\S*)", r"-l:lib\1.a", flags)
    program = work / "seek"
    run(*build.compiler(), "-std=c++20", "-O2", "-s", HERE / "consumer/seek.cc", "-Wl,--gc-sections", "-Wl,--as-needed",
        *flags.split(), "-o", program)
    printed = run(program, SAMPLE, "key/000001/00000106 and more")
    expect(printed == "row 107 has a larger key\n", f"the program that seeks prints {printed}")
    libraries = [name for name in re.findall(r"\(NEEDED\).*\[(.*)\]", run("readelf", "-d", program)) if not re.match("libhwy|libisal", name)]
    megabytes = program.stat().st_size / 1e6
    print(f"a program that seeks has {megabytes:.2f} MB and needs {', '.join(sorted(libraries))}")
    expect(len(libraries) <= MAX_LIBRARIES, f"these are {len(libraries)} libraries, more than {MAX_LIBRARIES}")
    if build.is_for_users():
        expect(megabytes <= MAX_PROGRAM_MB, f"this is more than {MAX_PROGRAM_MB} MB")


INSTALL = "cfile/INSTALL.md"  # the page that says how to build programs


def blocks_of(page, language):
    text = (ROOT / page).read_text(encoding="utf-8")
    return re.findall(rf"^```{re.escape(language)}\n((?:.*\n)*?)```$", text, re.MULTILINE)


def check_readme(build, prefix, work):
    """Builds and runs the examples of README.md and cfile/C.md as cfile/INSTALL.md says, with the shared and with the static library:
    with pkg-config, and with find_package in a project of one language."""
    folder = work / "readme"
    folder.mkdir()
    environment = environment_of(prefix)
    lines = next(block for block in blocks_of(INSTALL, "cmake") if "find_package" in block)
    command = next(block for block in blocks_of(INSTALL, "sh") if "pkg-config" in block)
    dynamic = "$(pkg-config --cflags --libs cfile)"
    static = "$(pkg-config --static --cflags --libs cfile | sed 's/-lcfile /-l:libcfile.a /')"
    expect(dynamic in command, f"{INSTALL} shows another use of pkg-config: {command}")
    expect(static in (ROOT / INSTALL).read_text(encoding="utf-8"), f"{INSTALL} does not show {static}")

    def check(program, printed, is_shared):
        expect(printed in run(program, cwd=folder, env=environment), f"{program} does not work")
        expect(("libcfile.so" in run("readelf", "-d", program)) == is_shared, f"{program} is linked with the wrong library")
    own_compiler = f"{' '.join(build.compiler())} -std=c++20"
    printed = "row 1 is banana"
    examples = {"CXX": ("README.md", "cpp", "program.cc", own_compiler)}
    if "c" in build.parts():
        examples["C"] = ("cfile/C.md", "c", "program.c", "cc")
    for language, (page, block, source, compiler) in examples.items():
        (folder / source).write_text(blocks_of(page, block)[0], encoding="utf-8")
        (folder / "CMakeLists.txt").write_text(f"cmake_minimum_required(VERSION 3.25)\nproject(readme LANGUAGES {language})\n"
                                               + lines.replace("program.cc", source))
        for is_shared in (True, False):
            run("cmake", "-S", folder, "-B", folder / "build", "--fresh", *build.generator(), f"-DCMAKE_PREFIX_PATH={prefix}",
                f"-DBUILD_SHARED_LIBS={'ON' if is_shared else 'OFF'}")
            run("cmake", "--build", folder / "build")
            check(folder / "build/program", printed, is_shared)
            line = command.replace("c++ -std=c++20 program.cc", f"{compiler} {source}")
            run("sh", "-euc", line if is_shared else line.replace(dynamic, static), cwd=folder, env=environment)
            check(folder / "program", printed, is_shared)
    pages = " and ".join(page for page, *_ in examples.values())
    print(f"The examples of {pages} work with CMake and pkg-config, static and shared")
    check_other_compilers(build, folder, command, environment, lambda: check(folder / "program", printed, True))


def check_other_compilers(build, folder, command, environment, check):
    """Programs of clang can be linked with a library that GCC has compiled, as cfile/INSTALL.md says."""
    if "clang" in run(*build.compiler(), "--version"):
        return
    tested = []
    for name, compiler in installed_compilers().items():
        if compiler is None or name == "libc++":
            continue
        abi = " -fclang-abi-compat=17" if name == "newest-clang" else ""
        line = command.replace("c++ -std=c++20", f"{' '.join(compiler)}{abi} -std=c++20")
        run("sh", "-euc", line, cwd=folder, env=environment)
        check()
        tested.append(f"{compiler[0]}{abi}")
    print(f"programs of other compilers work: {', '.join(tested) or 'none is installed'}")


def install(build, work, jobs):
    prefix = work / "prefix"
    run("cmake", "--install", build.folder, "--prefix", prefix)
    library = next(prefix.rglob("libcfile.so"))
    expect(re.search(r"SONAME.*\[libcfile\.so\.[\d.]+\]", run("readelf", "-d", library)), "libcfile.so has no SONAME")
    include = check_consumers(build, prefix, work, jobs)
    if build.has_tables():
        check_readme(build, prefix, work)
    check_size(build, prefix, work)
    missing = check_symbols(build.compiler(), library, library.with_suffix(".a"), prefix / "include")
    expect(not missing, "libcfile.so does not export:\n" + "\n".join(missing[:20]))
    if build.has_tables():
        check_templates(prefix, library)
    check_headers(build, prefix, include)
    if build.on("CFILE_BUILD_TOOLS"):
        check_tools(prefix, work)
        check_pages(prefix)


# embedded

PARENTS = ("SUBDIRECTORY", "FETCH", "OWN_ABSEIL")


def embedded(build, work, _jobs):
    expect(any("add_subdirectory(cfile)" in block for block in blocks_of(INSTALL, "cmake")), f"{INSTALL} does not show add_subdirectory")
    for how in PARENTS:
        run("cmake", "-S", HERE / "parent", "-B", work / how, *build.generator(), f"-DHOW={how}", f"-DCFILE_SOURCE_DIR={ROOT}",
            "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON")
        run("cmake", "--install", work / how, "--prefix", work / "prefix")
        expect(not (work / "prefix").exists(), "a project that includes cfile installs it")
        for entry in json.loads((work / how / "compile_commands.json").read_text()):
            of_library = re.search("/cfile/(core|parts)/", entry["file"])
            of_program = "/consumer/" in entry["file"]
            hidden = "-fvisibility=hidden" in entry["command"]
            expect(not (of_library and not hidden) and not (of_program and hidden), f"visibility: {entry}")
            expect("-std=c++20" in entry["command"] or "-std=gnu++20" in entry["command"], f"C++ version: {entry}")
    print("three projects include cfile")


def embedded_built(build, work, jobs):
    embedded(build, work, jobs)
    for how in PARENTS:
        run("cmake", "--build", work / how, "--parallel", jobs)
        expect(run(work / how / "program") == "cfile works\n", f"the program of {how} does not work")
    print("their programs work")


# debian

def debian(build, work, jobs, more_programs=()):
    for program in ("dpkg-deb", "dpkg-shlibdeps", *more_programs):
        if not shutil.which(program):
            print(f"skipped: {program} is not installed (third_party/packages.txt)")
            sys.exit(SKIPPED)
    run("cpack", "--config", build.folder / "CPackConfig.cmake", "-G", "DEB", "-B", work)
    packages = {re.match(r"[^_]+", path.name)[0]: path for path in work.glob("*.deb")}
    library = next((name for name in packages if re.fullmatch(r"libcfile[\d.]+", name)), None)
    expect(library and {library, "libcfile-dev"} <= packages.keys(), f"packages: {sorted(packages)}")

    def field(package, name):
        return run("dpkg-deb", "--field", packages[package], name)
    expect("libabsl" in field(library, "Depends"), f"{library} depends on {field(library, 'Depends')}")
    if build.on("CFILE_PACKED_RELOCATIONS"):
        expect("libc6 (>= 2.36)" in field(library, "Depends"), f"{library} does not depend on the glibc that reads its relocations")
    for needed in (f"{library} (=", "libabsl-dev", "libhwy-dev", "libisal-dev", "libxxhash-dev", "pkgconf"):
        expect(needed in field("libcfile-dev", "Depends"), f"libcfile-dev does not depend on {needed}")
    if build.on("CFILE_BUILD_TOOLS"):
        contents = run("dpkg-deb", "--contents", packages["cfile-tools"])
        for file in ("/usr/bin/cfile-dump", "/usr/share/man/man1/cfile-table.1.gz", "/usr/share/doc/cfile-tools/copyright",
                     "/usr/share/zsh/vendor-completions/_cfile-dump"):
            expect(file in contents, f"cfile-tools has no {file}:\n{contents}")
    print(f"made {', '.join(sorted(packages))}")

    # On a machine without any package, apt finds all that the packages need.
    nothing = work / "no-packages"
    nothing.touch()
    run("apt-get", "-o", f"Dir::State::status={nothing}", "-o", "APT::Install-Recommends=false", "--simulate", "install", *packages.values())

    # Unpacked packages, which need no root rights, are an installation. Its files are those that `install` tests, in other folders.
    unpacked = work / "unpacked"
    for package in packages.values():
        run("dpkg-deb", "--extract", package, unpacked)
    if build.has_tables():
        check_readme(build, unpacked / "usr", work)
    else:
        check_consumers(build, unpacked / "usr", work, jobs)
    if build.on("CFILE_BUILD_TOOLS"):
        check_tools(unpacked / "usr", work)
    return sorted(packages.values())


def debian_linted(build, work, jobs):
    packages = debian(build, work, jobs, ["lintian"])
    print(run("lintian", "--fail-on", "error", "--allow-root", "--tag-display-limit", "0", *packages))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("install", "embedded", "embedded_built", "debian", "debian_linted"))
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--packages", type=pathlib.Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        globals()[arguments.what](Build(arguments.build.resolve()), pathlib.Path(work), arguments.jobs)
        for package in pathlib.Path(work).glob("*.deb") if arguments.packages else ():
            shutil.copy(package, arguments.packages)


if __name__ == "__main__":
    main()
