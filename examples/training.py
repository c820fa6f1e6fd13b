"""The rows of the table for training: gradients, losses, and what models are made of besides. Checked lightly."""

from __future__ import annotations

from functools import partial
from typing import Any

import torch

from examples.example import Example, Inputs, sizes

_light = partial(Example, light=True)
_MATRIX = sizes(((19, 140), (16, 128)), ((75, 333), (32, 128)), 4096, 2560)
_FLAT = sizes(((19, 140), (1024,)), ((75, 333), (2048,)), 4096, 11008)
_TWICE = sizes(((19, 140), (16, 128, 128)), ((75, 333), (32, 128, 128)), 4096, 2560)
_LABELLED = sizes(((19, 140), (16,)), ((75, 333), (32,)), 4096, 2560)
_BATCHES = sizes(((19, 140), (16, 8)), ((150, 333), (64, 16)), 32768, 1024)
_WORDS = sizes(((19, 140), (16, 128)), ((35, 333), (16, 128)), 2048, 32000)
_TOKENS = sizes(((2, 9, 140), (1, 8, 128)), ((3, 21, 333), (1, 16, 128)), 4, 512, 16384)
_HEADS = sizes(((1, 2, 1, 19, 32), (1, 8)), ((2, 4, 2, 37, 64), (1, 16)), 2, 32, 8, 2048, 128)
_PRODUCT = sizes(
    ((19, 140, 150), (16, 128, 128, 128, 128, 16)), ((75, 300, 333), (32, 128, 128, 128, 128, 32)), 1024, 1000, 768
)
_NET = (16, 128, 128, 128)
_NET_BACKWARD = (16, 128, *(16, 128, 128), *(128, 128, 16), *(16, 128, 128), *(128, 128, 16))


def _columns(*dims: int) -> int:
    return dims[-1]


def _softmax(new: Inputs, m: int, n: int) -> tuple[Any, ...]:
    return new(m, n), torch.softmax(new(m, n), 1)


def _layer_norm(new: Inputs, m: int, n: int) -> tuple[Any, ...]:
    from examples.layer_norm import statistics

    x = new(m, n)
    return new(m, n), x, new(n), *statistics(x)


def _rms_norm(new: Inputs, m: int, n: int) -> tuple[Any, ...]:
    from examples.rms_norm import reference

    x, weight = new(m, n), new(n)
    return new(m, n), x, weight, reference(x, weight)[1]


def _layers(new: Inputs, m: int, n: int, k: int) -> tuple[Any, ...]:
    return new(m, n), new(n, k, scale=n**-0.5), new(k, n, scale=k**-0.5)


def _layers_backward(new: Inputs, m: int, n: int, k: int) -> tuple[Any, ...]:
    from examples.squeeze_excite import reference

    inputs = _layers(new, m, n, k)
    return new(m, n), *inputs, *reference(*inputs)[1:]


def _distributions(new: Inputs, m: int, n: int) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.log_softmax(new(m, n), 1), torch.log_softmax(new(m, n), 1)


def _probabilities(new: Inputs, m: int, n: int) -> tuple[Any, ...]:
    predicted, target = _distributions(new, m, n)
    return predicted, torch.exp(target)


def _tokens(new: Inputs, *dims: int, backward: bool = False) -> tuple[Any, ...]:
    from examples.grpo import arguments

    return arguments(new, *dims, backward=backward)


def _angles(new: Inputs, batch: int, heads: int, few: int, length: int, depth: int) -> tuple[Any, ...]:
    angles = new(batch, length, depth)
    queries, keys = new(batch, heads, length, depth), new(batch, few, length, depth)
    return queries, keys, torch.cos(angles), torch.sin(angles)


TRAINING = (
    _light(
        "exp_backward", "exp:exp_backward:reference_backward", lambda new, m, n: (new(m, n), new(m, n).exp()), _MATRIX
    ),
    _light("softmax_backward", "softmax:softmax_backward:reference_backward", _softmax, _TWICE, _columns),
    _light("layer_norm_backward", "layer_norm:layer_norm_backward:reference_backward", _layer_norm, _BATCHES, max),
    _light("rms_norm_backward", "rms_norm:rms_norm_backward:reference_backward", _rms_norm, _BATCHES, max),
    _light(
        "cross_entropy_rows_backward",
        "cross_entropy:cross_entropy_rows_backward:reference_rows_backward",
        lambda new, m, n: (new(m).float(), new(m, n), new.below(n, m)),
        _LABELLED,
        _columns,
    ),
    _light(
        "swiglu_backward",
        "gated:swiglu_backward:reference_swiglu_backward",
        lambda new, m, n: (new(m, n), new(m, n), new(m, n)),
        _FLAT,
    ),
    _light(
        "geglu_backward",
        "gated:geglu_backward:reference_geglu_backward",
        lambda new, m, n: (new(m, n), new(m, n), new(m, n)),
        _FLAT,
        lambda m, n: 4,
    ),
    _light(
        "matmul_backward",
        "matmul:matmul_backward:reference_backward",
        lambda new, m, k, n: (new(m, n), new(m, k), new(k, n)),
        _PRODUCT,
        max,
    ),
    _light(
        "squeeze_excite",
        "squeeze_excite:squeeze_excite:reference",
        _layers,
        sizes(((19, 140, 40), _NET), ((75, 150, 90), _NET), 1024, 1024, 256),
        max,
    ),
    _light(
        "squeeze_excite_backward",
        "squeeze_excite:squeeze_excite_backward:reference_backward",
        _layers_backward,
        sizes(((19, 140, 40), _NET_BACKWARD), ((75, 150, 90), _NET_BACKWARD), 1024, 1024, 256),
        max,
    ),
    _light("kl_divergence", "divergence:kl_divergence:reference_kl", _probabilities, _WORDS, _columns),
    _light(
        "kl_divergence_of_logs",
        "divergence:kl_divergence:reference_kl",
        lambda new, m, n: (*_distributions(new, m, n), True),
        _WORDS,
        _columns,
    ),
    _light("js_divergence", "divergence:js_divergence:reference_js", _distributions, _WORDS, _columns),
    _light(
        "js_divergence_skewed",
        "divergence:js_divergence:reference_js",
        lambda new, m, n: (*_distributions(new, m, n), 0.1),
        _WORDS,
        _columns,
    ),
    _light(
        "js_divergence_reverse",
        "divergence:js_divergence:reference_js",
        lambda new, m, n: (*_distributions(new, m, n), 1.0),
        _WORDS,
        _columns,
    ),
    _light("grpo_loss", "grpo:grpo_loss:reference", _tokens, _TOKENS, _columns),
    _light(
        "grpo_backward", "grpo:grpo_backward:reference_backward", partial(_tokens, backward=True), _TOKENS, _columns
    ),
    _light("rotary", "rotary:rotary:reference", _angles, _HEADS),
    _light("rotary_backward", "rotary:rotary_backward:reference_backward", _angles, _HEADS),
    _light(
        "two_phase_sum",
        "sums:two_phase_sum:reference_parts",
        lambda new, m, n: (new(m, n), 8),
        sizes(((3, 1100), (8, 128, 8)), ((5, 3000), (8, 128, 8)), 4, 130000),
        _columns,
    ),
    _light(
        "split_matmul_barrier",
        "split_k:split_matmul_barrier:reference",
        lambda new, m, k, n: (new(m, k), new(k, n), 4),
        sizes(((19, 600, 150), (16, 128, 128, 16, 128)), ((75, 1000, 333), (32, 128, 128, 32, 128)), 256, 8192, 512),
        lambda m, k, n: k,
    ),
    _light(
        "topk",
        "topk:topk:reference",
        lambda new, m, n: (new(m, n), 4),
        sizes(((5, 20), (8,)), ((19, 30), (8,)), 4096, 64),
    ),
)
