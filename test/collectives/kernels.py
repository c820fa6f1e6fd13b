"""Python kernels that copy between ranks."""

from __future__ import annotations

import kopt
import kopt.language as hl


@kopt.kernel
def pass_on(src, dst, peers):
    """Row after row to the rank that comes first among the peers."""
    for _ in hl.grid(1):
        hl.remote_barrier(peers[0, :])
        for step in hl.tile(src.size(0), block_size=1):
            copy = hl.make_async_remote_copy(src, [step.begin], peers[0, 0], dst=dst, dst_index=[step.begin])
            copy.start()
            copy.wait()
    return dst


@kopt.kernel
def turn(x, peers):
    """In place: the first row goes to the second one of the next rank, once that one has left."""
    for _ in hl.grid(1):
        hl.remote_barrier([peers[0, 0], peers[0, 1]])
        copy = hl.make_async_remote_copy(x, [0], peers[0, 0], dst=x, dst_index=[1])
        copy.start()
        copy.wait_send()
        copy.wait_recv()
    return x * 2


@kopt.kernel
def unguarded(src, dst):
    """Nothing waits for the other rank to begin."""
    for _ in hl.grid(1):
        copy = hl.make_async_remote_copy(src, [0], 1, dst=dst)
        copy.start()
        copy.wait()
    return dst


@kopt.kernel
def used(src, dst, peers):
    """An array that is copied between ranks cannot be computed with in the same loop nest."""
    for _ in hl.grid(1):
        hl.remote_barrier(peers[0, :])
        src[0, 0, 0] = 1.0
        copy = hl.make_async_remote_copy(src, [0], peers[0, 0], dst=dst, dst_index=[0])
        copy.start()
        copy.wait()
    return dst
