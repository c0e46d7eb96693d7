"""A workflow as a picture: a tree for the terminal, Mermaid, DOT, SVG, and JSON for other tools."""

from stretto.definition.drawing.dot import to_dot
from stretto.definition.drawing.mermaid import to_mermaid
from stretto.definition.drawing.outline import count_steps, outline
from stretto.definition.drawing.svg import to_svg
from stretto.definition.drawing.tree import to_tree

__all__ = ["count_steps", "outline", "to_dot", "to_mermaid", "to_svg", "to_tree"]
