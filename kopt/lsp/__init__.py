"""What editors ask about IR files: ``kopt lsp``, the language server, and the TextMate grammar.

`document` finds in a text what is asked for: problems, definitions and names. `answers` says it in words. Both know
nothing of the protocol, which is `server`'s alone, by pygls.
"""
