"""Cross entropy of logits and labels: the label's logit is gathered from memory, or from the row at hand."""

import torch

import kopt
import kopt.language as hl


@kopt.kernel
def cross_entropy(logits, labels):
    n, classes = logits.size()
    losses = torch.empty([n], dtype=torch.float32, device=logits.device)
    flat = logits.view(-1)
    for rows in hl.tile(n):
        at_label = hl.load(flat, [rows.index * classes + labels[rows]]).to(torch.float32)
        values = logits[rows, :].to(torch.float32)
        largest = torch.amax(values, dim=-1)
        total = torch.exp(values - largest[:, None]).sum(-1)
        losses[rows] = torch.log(total) + largest - at_label
    return losses.mean()


@kopt.kernel
def cross_entropy_rows(logits, labels):
    n, _ = logits.size()
    losses = torch.empty([n], dtype=torch.float32, device=logits.device)
    for rows in hl.tile(n):
        values = logits[rows, :].to(torch.float32)
        at_label = torch.gather(values, 1, labels[rows][:, None]).squeeze(1)
        largest = torch.amax(values, dim=-1)
        total = torch.exp(values - largest[:, None]).sum(-1)
        losses[rows] = torch.log(total) + largest - at_label
    return losses


@cross_entropy_rows.backward
@kopt.kernel
def cross_entropy_rows_backward(grad, logits, labels):
    n, classes = logits.size()
    out = torch.empty_like(logits)
    for rows in hl.tile(n):
        values = logits[rows, :].to(torch.float32)
        shares = torch.softmax(values, dim=-1)
        hit = hl.arange(classes)[None, :] == labels[rows][:, None]
        out[rows, :] = (grad[rows][:, None] * (shares - hit.to(torch.float32))).to(logits.dtype)
    return out


def reference(logits, labels):
    return torch.nn.functional.cross_entropy(logits.float(), labels.long())


def reference_rows(logits, labels):
    return torch.nn.functional.cross_entropy(logits.float(), labels.long(), reduction="none")


def reference_rows_backward(grad, logits, labels):
    shares = torch.softmax(logits.float(), dim=-1)
    hit = torch.nn.functional.one_hot(labels.long(), logits.size(1))
    return (grad[:, None] * (shares - hit)).to(logits.dtype)


if __name__ == "__main__":
    from check import main  # examples/check.py: runs this file's kernels beside torch on every CPU target

    main(__file__)
