"""``kopt completion bash`` and ``zsh``: the shell's completion, made of the parsers of all commands."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping, Sequence

from kopt.registry import load
from kopt.tools.command_line import ArgumentParser

PROG = "kopt completion"
SHELLS = ("bash", "zsh")
#: The parser of each command; the opt tool has no word of its own.
PARSERS = {
    "": "kopt.tools.opt_options:make_parser",
    "import": "kopt.tools.import_:make_parser",
    "run": "kopt.tools.run:make_parser",
    "diagnostics": "kopt.tools.diagnostics:make_parser",
    "calibrate": "kopt.tools.calibrate:make_parser",
    "report": "kopt.tools.report:make_parser",
    "explain": "kopt.tools.explain:make_parser",
    "tune": "kopt.tools.tune:make_parser",
    "cache": "kopt.tools.cache:make_parser",
    "completion": "kopt.tools.completion:make_parser",
    "lsp": "kopt.tools.lsp:make_parser",
}

#: Where a word is split: bash ends words at ``=`` and ``:`` too, and replaces what comes after the last of these alone.
_SCRIPT = """\
# Completion of kopt for {shell}; put this in {file}: eval "$(kopt completion {shell})"
{preamble}_kopt() {{
    local command="" word option words="" start="" last=""
    if [ -n "${{ZSH_VERSION-}}" ]; then
        word="${{COMP_WORDS[COMP_CWORD]}}"
        option="${{COMP_WORDS[COMP_CWORD-1]}}"
    else
        local line="${{COMP_LINE:0:COMP_POINT}}"
        word="${{line##*[[:space:]]}}"
        line="${{line%"$word"}}"
        line="${{line%"${{line##*[![:space:]]}}"}}"
        option="${{line##*[[:space:]]}}"
        last="${{word%"${{word##*[:=]}}"}}"
    fi
    case "$word" in
        --*=*) option="${{word%%=*}}" start="${{word%%=*}}=" word="${{word#*=}}" ;;
    esac
    case "$word" in
        *,*) start="$start${{word%,*}}," word="${{word##*,}}" ;;
    esac
    if [ "$COMP_CWORD" -gt 1 ]; then
        case "${{COMP_WORDS[1]}}" in
            {commands}) command="${{COMP_WORDS[1]}}" ;;
        esac
    fi
    case "$command $option" in
{values}
        *)
            case "$command $word" in
{options}
            esac
            ;;
    esac
    if [ -z "$command" ] && [ "$COMP_CWORD" -gt 1 ] && [ "$words" = "{names}" ]; then words=""; fi
    COMPREPLY=($(compgen -W "$words" -- "$word"))
    local i
    for ((i = 0; i < ${{#COMPREPLY[@]}}; i++)); do
        COMPREPLY[i]="$start${{COMPREPLY[i]}}"
        COMPREPLY[i]="${{COMPREPLY[i]#"$last"}}"
    done
}}
complete -o default -F _kopt kopt
"""
_FILES = {"bash": "~/.bashrc", "zsh": "~/.zshrc"}
#: zsh runs the completions of bash.
_PREAMBLES = {"bash": "", "zsh": "autoload -U +X compinit && compinit\nautoload -U +X bashcompinit && bashcompinit\n"}


def run(argv: Sequence[str]) -> int:
    """The subcommand on one command line: prints the script."""
    args = make_parser().parse(argv)
    print(script(args.shell), end="")
    return 0


def make_parser() -> ArgumentParser:
    """The arguments of ``kopt completion``."""
    parser = ArgumentParser(prog=PROG, description="Print the completion of kopt's command line for a shell.")
    parser.add_argument("shell", choices=SHELLS, metavar="SHELL", help=f"{' or '.join(SHELLS)}")
    return parser


def script(shell: str) -> str:
    """What the shell evaluates; words that are no option's and no command's are files."""
    parsers: dict[str, argparse.ArgumentParser] = {name: load(path)() for name, path in PARSERS.items()}
    names = [name for name in PARSERS if name]
    values, options = [], []
    for command, parser in parsers.items():
        valued = [action for action in parser._actions if action.option_strings and action.nargs != 0]
        values += [_value_case(command, action) for action in valued]
        options.append((f'"{command} -"*', _flags(parser)))
        options.append((f'"{command} "*', _positionals(parser, names if not command else ())))
    return _SCRIPT.format(
        shell=shell,
        file=_FILES[shell],
        preamble=_PREAMBLES[shell],
        commands="|".join(names),
        names=" ".join(names),
        values="\n".join(_case(8, *found) for found in values),
        options="\n".join(_case(16, *found) for found in options),
    )


def _case(indent: int, pattern: str, words: Iterable[str]) -> str:
    return f'{" " * indent}{pattern}) words="{" ".join(words)}" ;;'


def _value_case(command: str, action: argparse.Action) -> tuple[str, Iterable[str]]:
    return "|".join(f'"{command} {option}"' for option in action.option_strings), _choices(command, action)


def _choices(command: str, action: argparse.Action) -> Iterable[str]:
    """The values of an option: those that its parser names, or the names that there are."""
    if action.choices is not None:
        return map(str, action.choices)
    table = _names_of_opt() if not command else _names_of_commands()
    return table.get(action.dest, ())


def _names_of_opt() -> Mapping[str, Iterable[str]]:
    from kopt.passes import ALL_PASSES
    from kopt.passes.named_pipelines import NAMED_PIPELINES
    from kopt.tools.opt_options import TARGETS

    passes = sorted(ALL_PASSES)
    dumps = dict.fromkeys(("print_ir_before", "print_ir_after"), passes)
    return {"pipeline": sorted([*passes, *NAMED_PIPELINES]), "target": TARGETS, **dumps}


def _names_of_commands() -> Mapping[str, Iterable[str]]:
    from kopt.targets.target import target_names

    return {"target": target_names()}


def _flags(parser: argparse.ArgumentParser) -> list[str]:
    return [
        option for action in parser._actions if action.help != argparse.SUPPRESS for option in action.option_strings
    ]


def _positionals(parser: argparse.ArgumentParser, others: Iterable[str]) -> list[str]:
    found = [action.choices for action in parser._actions if not action.option_strings and action.choices is not None]
    return [*others, *(str(choice) for choices in found for choice in choices)]
