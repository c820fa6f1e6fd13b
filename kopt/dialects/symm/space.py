"""The memory that all ranks of a group can address, as part of a buffer's type."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import MemRefType, StringAttr
from xdsl.ir import Attribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from kopt.dialects.definition import Attr


@irdl_attr_definition
class SpaceAttr(Attr):
    """The memory space of buffers that every rank of a group can address: ``#symm.space<"tp">``."""

    name = "symm.space"

    group: StringAttr

    def __init__(self, group: str):
        super().__init__(StringAttr(group))

    def verify(self) -> None:
        if not self.group.data:
            raise VerifyException("a group needs a name")

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            return [StringAttr(parser.parse_str_literal("the group's name"))]

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string_literal(self.group.data)


def group_of(type: Attribute) -> str | None:
    """The group in whose symmetric memory a memref lies, or None for memory of the device alone."""
    space = type.memory_space if isinstance(type, MemRefType) else None
    return space.group.data if isinstance(space, SpaceAttr) else None
