"""The ``kopt`` command: the opt tool and its subcommands."""

#: A bug in kopt, as told from a mistake of the user's (1).
CRASH_EXIT_CODE = 70
