"""The text of operations: declarative assembly formats, and the directives that they share.

An op says how it is written by ``assembly_format``, in MLIR's language for it. Every format may name the directives of
`kopt.dialects.formats.directives`; an op whose format names others lists them in ``custom_directives``.
"""

from kopt.dialects.formats.directives import AttributeText, Infers, Silent
from kopt.dialects.formats.late import format_of
from kopt.dialects.formats.types import WrittenType, defined

__all__ = ["AttributeText", "Infers", "Silent", "WrittenType", "defined", "format_of"]
