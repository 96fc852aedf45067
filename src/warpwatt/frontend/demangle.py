"""Human names of kernels: the parts of the Itanium C++ ABI's name mangling that kernels use.

Done here rather than by ``c++filt``, which many machines lack and which costs a process per name. What this
reader does not know (expressions, ``decltype``) it passes to ``c++filt`` where there is one, and otherwise
leaves as it is.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache

_BUILTIN = {
    "v": "void", "w": "wchar_t", "b": "bool", "c": "char", "a": "signed char", "h": "unsigned char",
    "s": "short", "t": "unsigned short", "i": "int", "j": "unsigned int", "l": "long", "m": "unsigned long",
    "x": "long long", "y": "unsigned long long", "n": "__int128", "o": "unsigned __int128", "f": "float",
    "d": "double", "e": "long double", "g": "__float128", "z": "...",
    "Dn": "decltype(nullptr)", "Di": "char32_t", "Ds": "char16_t", "Du": "char8_t", "Da": "auto",
    "Dh": "half",
}  # fmt: skip
_STANDARD = {
    "St": "std", "Sa": "std::allocator", "Sb": "std::basic_string", "Ss": "std::string",
    "Si": "std::istream", "So": "std::ostream", "Sd": "std::iostream",
}  # fmt: skip
_LITERAL_SUFFIX = {"i": "", "j": "u", "l": "l", "m": "ul", "x": "ll", "y": "ull"}
_OPERATORS = {
    "cl": "()", "ix": "[]", "pl": "+", "mi": "-", "ml": "*", "dv": "/", "rm": "%", "eq": "==", "ne": "!=",
    "lt": "<", "gt": ">", "le": "<=", "ge": ">=", "aS": "=", "pL": "+=", "mI": "-=", "ls": "<<", "rs": ">>",
}  # fmt: skip
_FILTER_TIMEOUT_S = 10


@lru_cache(maxsize=65536)
def demangle(name: str) -> str:
    """Return the C++ form of a linker's name; a name that is not mangled comes back unchanged.

    >>> demangle("_Z5saxpyIfLi2EEviT_PKS0_PS0_")
    'void saxpy<float, 2>(int, float, float const*, float*)'
    >>> demangle("saxpy")
    'saxpy'
    """
    if not name.startswith("_Z"):
        return name
    try:
        return _Reader(name, 2).encoding()
    except (_UnknownError, IndexError, ValueError, RecursionError):
        return _filtered(name)


def _filtered(name: str) -> str:
    """Return what ``c++filt`` says, or the name itself where there is none."""
    import shutil  # noqa: PLC0415 - rarely needed, and every prediction would pay for it
    import subprocess  # noqa: PLC0415

    tool = shutil.which("c++filt")
    if tool is None:
        return name
    try:
        done = subprocess.run([tool, "--", name], capture_output=True, timeout=_FILTER_TIMEOUT_S, check=False)
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return name
    return done.stdout.decode("utf-8", "replace").strip() or name


class _UnknownError(Exception):
    """A production that this reader lacks."""


@dataclass(slots=True)
class _Type:
    """A type as two strings around the declarator: ``int (`` and ``)[5]``."""

    left: str
    right: str = ""

    def __str__(self) -> str:
        return self.left + self.right


@dataclass(slots=True)
class _Reader:
    """A cursor over a mangled name with the ABI's substitution table."""

    text: str
    at: int = 0
    substitutions: list[str | _Type | list[str]] = field(default_factory=list)
    arguments: list[str | list[str]] = field(default_factory=list)
    """Of the innermost template: what ``T_``, ``T0_`` stand for; a list is a parameter pack."""
    qualifiers: str = ""

    def eat(self, token: str) -> bool:
        """Skip a token if it comes next."""
        if not self.text.startswith(token, self.at):
            return False
        self.at += len(token)
        return True

    def peek(self, length: int = 1) -> str:
        return self.text[self.at : self.at + length]

    def need(self, token: str) -> None:
        if not self.eat(token):
            raise _UnknownError(token)

    def encoding(self) -> str:
        """Read <encoding>: a name and, for a function, its parameter types (and a template's result type)."""
        name, is_template = self.name()
        qualifiers, self.qualifiers = self.qualifiers, ""
        if self.at >= len(self.text) or self.peek() in "E.":
            return name + self.clone()
        result = str(self.type()) + " " if is_template else ""
        return f"{result}{name}({self.parameters()}){qualifiers}{self.clone()}"

    def clone(self) -> str:
        """Read a suffix that the compiler appends: ``.part.0``."""
        if self.peek() != ".":
            return ""
        suffix, self.at = self.text[self.at :], len(self.text)
        return f" [clone {suffix}]"

    def parameters(self) -> str:
        """Read types up to the end, or up to the ``E`` of the enclosing production."""
        types: list[str] = []
        while self.at < len(self.text) and self.peek() not in "E.":
            types += self.types()
        return "" if types == ["void"] else ", ".join(types)

    def number(self) -> int:
        start = self.at
        while self.peek().isdigit():
            self.at += 1
        return int(self.text[start : self.at])

    def sequence(self) -> int:
        """<seq-id> ``_``: base 36 plus one, or nothing for zero."""
        end = self.text.index("_", self.at)
        digits, self.at = self.text[self.at : end], end + 1
        return int(digits, 36) + 1 if digits else 0

    def name(self) -> tuple[str, bool]:
        """<name>; tells whether it ends in template arguments."""
        if self.eat("N"):
            return self.nested()
        if self.eat("Z"):
            return self.local()
        if self.peek() == "S" and self.peek(2) != "St":
            found = self.substitution()
            self.need("I")
            return str(found) + self.template_arguments(), True
        found = "std::" + self.unqualified("") if self.eat("St") else self.unqualified("")
        if self.peek() != "I":
            return found, False
        self.substitutions.append(found)
        self.at += 1
        return found + self.template_arguments(), True

    def nested(self) -> tuple[str, bool]:
        """<nested-name> behind ``N``: prefixes, each of which can be substituted later."""
        constant = ""
        for token, word in (("r", " __restrict"), ("V", " volatile"), ("K", " const")):
            constant = (word if self.eat(token) else "") + constant
        reference = " &&" if self.eat("O") else " &" if self.eat("R") else ""
        found, last, is_template = "", "", False
        while not self.eat("E"):
            if self.peek() == "S" and self.peek(2) != "St":
                found, is_template = str(self.substitution()), False
                last = found.rpartition("::")[2]
                continue
            if self.peek() == "T":
                found, is_template = str(self.parameter()), False
            elif self.eat("I"):
                found, is_template = found + self.template_arguments(), True
            else:
                last = "std" if self.eat("St") else self.unqualified(last)
                found, is_template = f"{found}::{last}" if found else last, False
                if found == "std":
                    continue
            if self.peek() != "E":
                self.substitutions.append(found)
        self.qualifiers = constant + reference
        return found, is_template

    def local(self) -> tuple[str, bool]:
        """<local-name> behind ``Z``: something within a function."""
        outer = self.encoding()
        self.need("E")
        if self.eat("s"):
            return f"{outer}::string literal", False
        self.discriminator()
        inner, is_template = self.name()
        self.discriminator()
        return f"{outer}::{inner}", is_template

    def discriminator(self) -> None:
        if self.peek() == "_" and self.at + 1 < len(self.text):
            self.at += 1
            if self.eat("_"):
                self.number()
                self.need("_")
            else:
                self.number()

    def unqualified(self, enclosing: str) -> str:
        """<unqualified-name>: an identifier, a constructor, an operator, a lambda."""
        self.eat("L")
        if self.peek().isdigit():
            return self.identifier() + self.tags()
        if self.peek(2) in ("C1", "C2", "C3", "D0", "D1", "D2"):
            kind, self.at = self.peek(), self.at + 2
            plain = enclosing.partition("<")[0]
            return f"~{plain}" if kind == "D" else plain
        if self.eat("Ul"):
            parameters = self.parameters()
            self.need("E")
            return f"{{lambda({parameters})#{self.ordinal()}}}"
        if self.eat("Ut"):
            return f"{{unnamed type#{self.ordinal()}}}"
        if self.peek(2) in _OPERATORS:
            operator, self.at = _OPERATORS[self.peek(2)], self.at + 2
            return f"operator{operator}"
        raise _UnknownError(self.peek(2))

    def tags(self) -> str:
        """ABI tags behind a name."""
        found = ""
        while self.eat("B"):
            found += f"[abi:{self.identifier()}]"
        return found

    def ordinal(self) -> int:
        """Read the number of an unnamed thing, counted from 1."""
        count = self.number() + 2 if self.peek() != "_" else 1
        self.need("_")
        return count

    def identifier(self) -> str:
        length = self.number()
        found = self.peek(length)
        if len(found) < length or not length:
            raise _UnknownError(found)
        self.at += length
        return "(anonymous namespace)" if found.startswith("_GLOBAL__N") else found

    def substitution(self) -> str | _Type | list[str]:
        """<substitution>: an earlier component, or a standard one."""
        if self.peek(2) in _STANDARD:
            found, self.at = _STANDARD[self.peek(2)], self.at + 2
            return found
        self.need("S")
        return self.substitutions[self.sequence()]

    def parameter(self) -> str | list[str]:
        """<template-param>: an argument of the innermost template."""
        self.need("T")
        return self.arguments[self.sequence()]

    def template_arguments(self) -> str:
        """<template-args> behind ``I``; they become what ``T_`` stands for."""
        found = list[str | list[str]]()
        while not self.eat("E"):
            if self.eat("J"):
                pack: list[str] = []
                while not self.eat("E"):
                    pack += self.argument()
                found.append(pack)
            else:
                one = self.argument()
                found.append(one[0] if len(one) == 1 else one)
        self.arguments = found
        flat = [text for one in found for text in ([one] if isinstance(one, str) else one)]
        return f"<{', '.join(flat)}{' ' if flat and flat[-1].endswith('>') else ''}>"

    def argument(self) -> list[str]:
        """<template-arg>: a type or a literal."""
        if self.peek() != "L":
            arguments = self.arguments
            found = self.types()
            self.arguments = arguments
            return found
        self.at += 1
        if self.eat("_Z"):
            inner = self.encoding()
            self.need("E")
            return [f"&({inner})" if "(" in inner else inner]
        return [self.literal()]

    def literal(self) -> str:
        """Read an integer, truth or enumeration value."""
        code = self.peek()
        kind = str(self.type())
        sign = "-" if self.eat("n") else ""
        value = f"{sign}{self.number()}"
        self.need("E")
        if kind == "bool":
            return {"0": "false", "1": "true"}.get(value, value)
        return value + _LITERAL_SUFFIX[code] if code in _LITERAL_SUFFIX else f"({kind}){value}"

    def types(self) -> list[str]:
        """Types that one production stands for: several where it expands a pack."""
        if self.eat("Dp"):
            pack = self.parameter() if self.peek() == "T" else None
            if not isinstance(pack, list):
                raise _UnknownError("Dp")
            self.substitutions.append(pack)
            return pack
        return [str(self.type())]

    def type(self) -> _Type:
        """Read <type>, entered into the substitution table where the ABI says so."""
        code = self.peek(2) if self.peek() == "D" else self.peek()
        if code in _BUILTIN:
            self.at += len(code)
            return _Type(_BUILTIN[code])
        if self.peek() == "S" and self.peek(2) != "St":
            return self.substituted_type()
        if self.peek() == "T":
            found = self.parameter()
            if isinstance(found, list):
                raise _UnknownError("pack")
            self.substitutions.append(found)
            return self.maybe_template(_Type(found))
        made = self.compound()
        self.substitutions.append(made)
        return made

    def substituted_type(self) -> _Type:
        found = self.substitution()
        if isinstance(found, list):
            raise _UnknownError("pack")
        return self.maybe_template(found if isinstance(found, _Type) else _Type(found))

    def maybe_template(self, base: _Type) -> _Type:
        """Return a template's instance if arguments follow its name."""
        if not self.eat("I"):
            return base
        arguments = self.arguments
        made = _Type(str(base) + self.template_arguments())
        self.arguments = arguments
        self.substitutions.append(made)
        return made

    def compound(self) -> _Type:
        """Read a type made of others, or a class."""
        for token, suffix in (("P", "*"), ("R", "&"), ("O", "&&")):
            if self.eat(token):
                return _pointer(self.type(), suffix)
        if self.peek() in "rVK":
            return self.qualified()
        if self.eat("A"):
            return self.array()
        if self.eat("F"):
            return self.function()
        if self.peek().isdigit() or self.peek() in "NZ" or self.peek(2) == "St":
            arguments = self.arguments
            found, _ = self.name()
            self.arguments = arguments
            return _Type(found)
        return self.vendor()

    def array(self) -> _Type:
        """Read <array-type> behind ``A``."""
        size = str(self.number()) if self.peek() != "_" else ""
        self.need("_")
        element = self.type()
        return _Type(element.left + (" " if not element.right else ""), f"[{size}]{element.right}")

    def function(self) -> _Type:
        """Read <function-type> behind ``F``."""
        result = self.type()
        parameters = self.parameters()
        self.need("E")
        return _Type(f"{result.left} ", f"({parameters}){result.right}")

    def vendor(self) -> _Type:
        """Read a vector or another extension of a compiler's."""
        if self.eat("Dv"):
            size = self.number()
            self.need("_")
            return _Type(f"{self.type()} __vector({size})")
        if self.eat("u"):
            return _Type(self.identifier())
        raise _UnknownError(self.peek(2))

    def qualified(self) -> _Type:
        """Read a type with ``const``, ``volatile``, ``restrict``, which enter the table together."""
        words = ""
        for token, word in (("r", " __restrict"), ("V", " volatile"), ("K", " const")):
            words = (word if self.eat(token) else "") + words
        base = self.type()
        if base.right.startswith("["):  # of an array, the elements
            return _Type(base.left.rstrip() + words + " ", base.right)
        return _Type(base.left + words, base.right)


def _pointer(base: _Type, suffix: str) -> _Type:
    """Return a pointer or reference; a reference to a reference collapses."""
    if suffix.startswith("&") and base.left.endswith("&") and not base.right:
        return base if suffix == "&&" or not base.left.endswith("&&") else _Type(base.left[:-1])
    if base.right.startswith("["):
        return _Type(f"{base.left}({suffix}", f") {base.right}")
    if base.right.startswith("("):
        return _Type(f"{base.left}({suffix}", f"){base.right}")
    return _Type(base.left + suffix, base.right)
