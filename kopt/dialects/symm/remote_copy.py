"""Copies between the memories of kernels on two ranks. One op describes a copy, one starts it, one waits for it."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ArrayAttr, IndexType, MemRefType, StringAttr
from xdsl.ir import Attribute, Operation, SSAValue, TypeAttribute
from xdsl.irdl import (
    AttrSizedOperandSegments,
    BaseAttr,
    irdl_attr_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import EffectInstance, MemoryEffect, MemoryEffectKind
from xdsl.utils.exceptions import VerifyException

from kopt.dialects.definition import Attr, Op, irdl_op_definition
from kopt.dialects.definition.effects import effects
from kopt.dialects.tile.index_list import (
    Entry,
    Indexed,
    join_entries,
    split_entries,
    verify_entries,
    verify_slots,
)
from kopt.dialects.tile.memory import block_type, memory_shape, ref_block_type
from kopt.dialects.tile.types import RefType

ENDS = ("send", "receive")
_PLACES = ("source", "target", "sent", "received")


@irdl_attr_definition
class TransferType(Attr, TypeAttribute):
    """A copy to another rank: ``!symm.transfer``. It is started, and either end is waited for by itself."""

    name = "symm.transfer"


@irdl_op_definition
class RemoteCopyOp(Op):
    """Describes a copy of a block of ``source`` here to a block of ``target`` on another rank; it moves nothing yet.

    Every rank of the group describes one copy, each to a different rank. So each rank receives one in its ``target``.
    The two semaphores after ``signal`` count the bytes: the first, here, those that have left; the second, on the other
    rank, those that have arrived. Copies at one place share them, as in a loop.

        %t = symm.remote_copy %a[:, :] to %b[%slot, :, :] on %right signal %sent[0], %received[%slot] group "tp"
            : !tile.ref<8 x 128 x f32, vmem>, !tile.ref<2 x 8 x 128 x f32, vmem>, …
        symm.remote_copy_start %t
        symm.remote_copy_wait receive %t

    In a launch that is not lowered yet it copies between memrefs; ``lower-remote-copies`` gives it its semaphores.
    """

    name = "symm.remote_copy"

    source = operand_def(BaseAttr(MemRefType) | BaseAttr(RefType))
    target = operand_def(BaseAttr(MemRefType) | BaseAttr(RefType))
    sent = opt_operand_def(RefType)
    received = opt_operand_def(RefType)
    rank = operand_def(IndexType())
    source_indices = var_operand_def()
    target_indices = var_operand_def()
    sent_indices = var_operand_def()
    received_indices = var_operand_def()
    source_layout = prop_def(ArrayAttr)
    target_layout = prop_def(ArrayAttr)
    sent_layout = opt_prop_def(ArrayAttr)
    received_layout = opt_prop_def(ArrayAttr)
    group = prop_def(StringAttr)
    transfer = result_def(TransferType)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(effects(read="source", write="target", fence=True))

    custom_directives = (Indexed,)
    assembly_format = """
        custom<Indexed>($source, $source_indices, type($source_indices), $source_layout)
        `to` custom<Indexed>($target, $target_indices, type($target_indices), $target_layout) `on` $rank
        (`signal` custom<Indexed>($sent, $sent_indices, type($sent_indices), $sent_layout)^
         `,` custom<Indexed>($received, $received_indices, type($received_indices), $received_layout))?
        `group` custom<String>($group) attr-dict
        `:` type($source) `,` type($target) (`,` type($sent)^ `,` type($received))?
    """

    def __init__(
        self,
        refs: Sequence[SSAValue],
        entries: Sequence[Sequence[Entry]],
        rank: SSAValue | Operation,
        group: str,
    ):
        lists = [split_entries(some) for some in entries]
        layouts = {f"{place}_layout": layout for place, (_, layout) in zip(_PLACES, lists, strict=False)}
        flags = [[ref] for ref in refs[2:]] or [[], []]
        indices = [operands for operands, _ in lists] + [[]] * (len(_PLACES) - len(lists))
        super().__init__(
            operands=[*refs[:2], *flags, rank, *indices],
            properties={**layouts, "group": StringAttr(group)},
            result_types=[TransferType()],
        )

    @property
    def places(self) -> tuple[tuple[SSAValue, tuple[Entry, ...]], ...]:
        """Ref and index list of the source, the target, and the semaphores of what has left and of what arrived."""
        return tuple((ref, join_entries(indices, layout)) for ref, indices, layout in self._lists)

    @property
    def _lists(self) -> list[tuple[SSAValue, Sequence[SSAValue], ArrayAttr[Attribute]]]:
        """The same as the op stores it."""
        found = (
            (self.source, self.source_indices, self.source_layout),
            (self.target, self.target_indices, self.target_layout),
            (self.sent, self.sent_indices, self.sent_layout),
            (self.received, self.received_indices, self.received_layout),
        )
        return [(ref, indices, at) for ref, indices, at in found if ref is not None and at is not None]

    def verify_(self) -> None:
        if not self.group.data:
            raise VerifyException(f"{self.name} needs the name of its group")
        for name in ("sent", "received"):
            if (getattr(self, name) is None) != (getattr(self, f"{name}_layout") is None):
                raise VerifyException(
                    f"{self.name} needs the index list of a semaphore that it signals, and of no other"
                )
        if (self.sent is None) != (self.received is None):
            raise VerifyException(f"{self.name} signals two semaphores, or none")
        for _, indices, layout in self._lists:
            verify_slots(self.name, indices, layout)
        blocks = []
        for number, (ref, entries) in enumerate(self.places):
            verify_entries(entries, memory_shape(ref.type))
            if _is_semaphore(ref.type) != (number >= 2):
                raise VerifyException(f"{self.name} copies between memories and signals semaphores, found {ref.type}")
            is_ref = isinstance(ref.type, RefType)
            blocks.append(ref_block_type(ref.type, entries) if is_ref else block_type(ref.type, entries))
        source, target, *_ = blocks
        if source.shape != target.shape or source.element_type != target.element_type:
            raise VerifyException(f"{self.name} copies blocks of one shape, found {source} to {target}")


def _is_semaphore(type: Attribute) -> bool:
    return isinstance(type, RefType) and type.space.data == "semaphore"


class _Waits(MemoryEffect):
    """What has arrived may be read after it, and what was sent may be written: nothing moves across it."""

    @classmethod
    def get_effects(cls, op: Operation):
        return {EffectInstance(MemoryEffectKind.READ), EffectInstance(MemoryEffectKind.WRITE)}


@irdl_op_definition
class RemoteCopyStartOp(Op):
    """Starts a copy that was described: ``symm.remote_copy_start %t``.

    Until its ends have been waited for, the source is not written, and the target, on the other rank, is not used.
    """

    name = "symm.remote_copy_start"

    transfer = operand_def(TransferType)

    traits = traits_def(_Waits())

    assembly_format = "$transfer attr-dict"

    def __init__(self, transfer: SSAValue | Operation):
        super().__init__(operands=[transfer])


@irdl_op_definition
class RemoteCopyWaitOp(Op):
    """Waits for one end of a copy: ``send``, after which the source may be written, or ``receive``: it has arrived.

    What arrives was sent by another rank's copy at the same place of the program. Any description of the same blocks
    and semaphores serves, also one of another visit of a loop.

        symm.remote_copy_wait receive %t
    """

    name = "symm.remote_copy_wait"

    transfer = operand_def(TransferType)
    end = prop_def(StringAttr)

    traits = traits_def(_Waits())

    assembly_format = "custom<Keyword>($end) $transfer attr-dict"

    def __init__(self, end: str, transfer: SSAValue | Operation):
        super().__init__(operands=[transfer], properties={"end": StringAttr(end)})

    def verify_(self) -> None:
        if self.end.data not in ENDS:
            raise VerifyException(f"{self.name} waits for {' or '.join(ENDS)}, found '{self.end.data}'")
