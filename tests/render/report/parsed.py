"""A page as a tree, parsed strictly: what HTML 5 would mend silently is an error here."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = frozenset({"meta", "link", "br", "img", "hr", "input"})
PHRASING = frozenset(
    {"p", "h1", "h2", "h3", "h4", "h5", "h6", "span", "button", "label", "code", "strong", "b", "a"}
)
"""Elements that hold text and other phrases only."""
BLOCKS = frozenset(
    [
        "p",
        "div",
        "section",
        "ul",
        "ol",
        "dl",
        "table",
        "nav",
        "header",
        "footer",
        "main",
        "details",
        "h1",
        "h2",
        "h3",
        "h4",
        "form",
    ]
)
INTERACTIVE = frozenset({"a", "button", "select", "details"})
PARENTS = {
    "li": {"ul", "ol"}, "dt": {"dl"}, "dd": {"dl"}, "tr": {"thead", "tbody"}, "td": {"tr"}, "th": {"tr"},
    "thead": {"table"}, "tbody": {"table"}, "caption": {"table"}, "summary": {"details"},
    "option": {"select"},
}  # fmt: skip
"""Elements to those that may hold them."""
CHILDREN = {
    "ul": {"li"},
    "ol": {"li"},
    "dl": {"dt", "dd"},
    "table": {"caption", "thead", "tbody"},
    "tr": {"td", "th"},
}


@dataclass
class Node:
    """An element; ``text`` is that of everything in it."""

    tag: str
    attributes: dict[str, str]
    parent: Node | None = None
    children: list[Node] = field(default_factory=list)
    parts: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return " ".join("".join(self.parts).split())

    def all(self, tag: str = "", **attributes: str) -> list[Node]:
        """Return all elements inside, of a tag and with attributes (``class_`` is one class of several)."""
        found = []
        for child in self.children:
            if (not tag or child.tag == tag) and all(child.has(k, v) for k, v in attributes.items()):
                found.append(child)
            found += child.all(tag, **attributes)
        return found

    def has(self, name: str, value: str) -> bool:
        if name == "class_":
            return value in self.attributes.get("class", "").split()
        return self.attributes.get(name.replace("_", "-")) == value

    def one(self, tag: str = "", **attributes: str) -> Node:
        (found,) = self.all(tag, **attributes)
        return found

    @property
    def ancestors(self) -> list[Node]:
        return [] if self.parent is None else [self.parent, *self.parent.ancestors]


class Builder(HTMLParser):
    """Builds the tree and checks nesting on the way."""

    def __init__(self) -> None:
        super().__init__()
        self.root = self.open = Node("", {})

    def handle_starttag(self, tag, attrs):
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), f"<{tag}> repeats an attribute: {names}"
        node = Node(tag, {name: value or "" for name, value in attrs}, self.open)
        self.check(node)
        self.open.children.append(node)
        if tag not in VOID:
            self.open = node

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            assert self.inside("svg"), f"<{tag}/> outside SVG"
            self.handle_endtag(tag)

    def handle_endtag(self, tag):
        assert self.open.tag == tag, f"</{tag}> closes <{self.open.tag}>"
        self.open = self.open.parent

    def handle_data(self, data):
        node = self.open
        while node is not None:
            node.parts.append(data)
            node = node.parent

    def inside(self, tag: str) -> bool:
        return any(node.tag == tag for node in (self.open, *self.open.ancestors))

    def check(self, node: Node) -> None:
        around, parent = [self.open, *self.open.ancestors], self.open.tag
        if self.inside("svg"):
            return
        if node.tag in BLOCKS:
            phrase = next((a.tag for a in around if a.tag in PHRASING), None)
            heading_in_summary = node.tag == "h2" and parent == "summary"
            assert phrase is None or heading_in_summary, f"<{node.tag}> in <{phrase}>"
        if node.tag in PARENTS:
            assert parent in PARENTS[node.tag], f"<{node.tag}> in <{parent}>"
        if parent in CHILDREN:
            assert node.tag in CHILDREN[parent], f"<{node.tag}> in <{parent}>"
        if node.tag in INTERACTIVE:
            assert not any(a.tag in ("a", "button", "summary") for a in around), f"<{node.tag}> in a control"


def parse(text: str) -> Node:
    """Return the tree of a page; fail where tags do not balance or stand where they must not."""
    builder = Builder()
    builder.feed(text)
    builder.close()
    assert builder.open is builder.root, f"<{builder.open.tag}> is never closed"
    return builder.root
