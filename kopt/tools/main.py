"""``kopt``: dispatch to the opt tool or a subcommand, and show errors as a compiler does.

Nothing here or in ``opt_options`` imports xDSL, so that ``kopt --help`` is immediate.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from kopt.errors import ConfigError, KoptError
from kopt.registry import did_you_mean, load
from kopt.runtime.extras import advice_for
from kopt.tools import CRASH_EXIT_CODE

COMMANDS = {
    "import": "kopt.tools.import_:run",
    "run": "kopt.tools.run:run",
    "report": "kopt.tools.report:run",
    "explain": "kopt.tools.explain:run",
    "tune": "kopt.tools.tune:run",
    "cache": "kopt.tools.cache:run",
    "calibrate": "kopt.tools.calibrate:run",
    "diagnostics": "kopt.tools.diagnostics:run",
    "completion": "kopt.tools.completion:run",
    "lsp": "kopt.tools.lsp:run",
}
OPT = "kopt.tools.opt:run"


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line ``argv`` (default: the process's) and return the exit code.

    0 is success; 1 a mistake of the user's, shown on stderr; 70 a bug of kopt's, with a reproducer where there is one.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    command = COMMANDS.get(arguments[0]) if arguments else None
    try:
        if command is None and arguments:
            _check_word(arguments)
        code = load(OPT)(arguments) if command is None else load(command)(arguments[1:])
        sys.stdout.flush()
        return code
    except KoptError as error:
        print(_placed(error, arguments) if error.location is None or error.of_call else error, file=sys.stderr)
        return 1
    except SystemExit as exit:
        return exit.code if isinstance(exit.code, int) else 0
    except BrokenPipeError:
        # The reader went away (``kopt … | head``); leave no second complaint at interpreter exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        return 130
    except ImportError as error:
        if (advice := advice_for(error.name)) is None:
            return _crash()
        print(f"error: this needs {error.name}, which is not installed\nnote: {advice}", file=sys.stderr)
        return 1
    except Exception:
        return _crash()


def _check_word(arguments: Sequence[str]) -> None:
    """The first word is an option or a file; one that is nearly a subcommand is a mistake."""
    close = did_you_mean(arguments[0], COMMANDS)
    if close and not arguments[0].startswith("-") and not os.path.exists(arguments[0]):
        message = f"there is no subcommand or file '{arguments[0]}'{close}"
        raise _placed(ConfigError(message, id="command-line"), arguments)


def _placed(error: KoptError, arguments: Sequence[str]) -> KoptError:
    """Errors that are about no source file are about the command line."""
    from kopt.tools.command_line import place

    return place(error, arguments)


def _crash() -> int:
    """Show the traceback of a bug in kopt; the opt tool shows its own, with a reproducer."""
    import traceback

    traceback.print_exc()
    print("error: this is a bug in kopt, not in its input", file=sys.stderr)
    return CRASH_EXIT_CODE


if __name__ == "__main__":
    sys.exit(main())
