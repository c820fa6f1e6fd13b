"""Pictures of a plan as SVG text: no library, no style of their own, classes that the page's style sheet colours."""
