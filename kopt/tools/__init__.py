"""The ``kopt`` command: the opt tool and its subcommands."""
