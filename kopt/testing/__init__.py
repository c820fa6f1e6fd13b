"""Lit tests of IR, in kopt's own tests and in other repositories: `kopt.testing.lit` is the configuration of theirs."""
