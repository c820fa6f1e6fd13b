"""Divergences of distributions given by their logarithms: Kullback and Leibler's, and Jensen and Shannon's."""

import torch

import kopt
import kopt.language as hl


@kopt.kernel
def kl_divergence(predicted, target, log_target=False, smallest=1e-10):
    m, n = predicted.size()
    losses = torch.empty([m], dtype=torch.float32, device=predicted.device)
    for rows in hl.tile(m):
        total = hl.zeros([rows], dtype=torch.float32)
        for cols in hl.tile(n):
            wanted = target[rows, cols].to(torch.float32)
            if log_target:
                share, logarithm = torch.exp(wanted), wanted
            else:
                share, logarithm = wanted, torch.log(torch.clamp(wanted, min=smallest))
            total += (share * (logarithm - predicted[rows, cols])).sum(1)
        losses[rows] = total
    return losses.sum() / m


@kopt.kernel
def js_divergence(predicted, target, beta=0.5):
    """Between the forward divergence (``beta`` 0) and the reverse one (1); also the gradient by ``predicted``."""
    m, n = predicted.size()
    losses = torch.empty([m], dtype=torch.float32, device=predicted.device)
    grad = torch.empty_like(predicted)
    for rows in hl.tile(m):
        total = hl.zeros([rows], dtype=torch.float32)
        for cols in hl.tile(n):
            log_q, log_p = predicted[rows, cols].to(torch.float32), target[rows, cols].to(torch.float32)
            q, p = torch.exp(log_q), torch.exp(log_p)
            if beta == 0:
                loss, slope = p * (log_p - log_q), -p
            elif beta == 1:
                loss, slope = q * (log_q - log_p), q * (log_q - log_p + 1)
            else:
                mean = beta * p + (1 - beta) * q
                log_mean = torch.log(mean)
                loss = beta * p * log_p + (1 - beta) * q * log_q - mean * log_mean
                slope = (1 - beta) * q * (log_q - log_mean)
            total += loss.sum(1)
            grad[rows, cols] = (slope / m).to(grad.dtype)
        losses[rows] = total
    return losses.sum() / m, grad


def reference_kl(predicted, target, log_target=False):
    loss = torch.nn.functional.kl_div(predicted.double(), target.double(), reduction="batchmean", log_target=log_target)
    return loss.float()


def reference_js(predicted, target, beta=0.5):
    log_q, log_p = predicted.double().requires_grad_(), target.double()
    if beta in (0, 1):
        given, asked = (log_p, log_q) if beta == 0 else (log_q, log_p)
        loss = (given.exp() * (given - asked)).sum() / len(log_q)
    else:
        mean = torch.log(beta * log_p.exp() + (1 - beta) * log_q.exp())
        parts = [torch.nn.functional.kl_div(mean, t, reduction="batchmean", log_target=True) for t in (log_p, log_q)]
        loss = beta * parts[0] + (1 - beta) * parts[1]
    (exact,) = torch.autograd.grad(loss, log_q)
    return loss.float().detach(), exact.to(predicted.dtype)


if __name__ == "__main__":
    from check import main  # examples/check.py: runs this file's kernels beside torch on every CPU target

    main(__file__)
