"""
Pack the scripts of `files/` for user data: without comments, compressed, in base 85, kept in the repository.

Kept, because another compressor makes other bytes, and other bytes in a launch template roll a node group. Run
`python -m gpukit.images.pack` after a change to the script; a test compares the two.
"""

import ast
import re
from pathlib import Path

FILES = Path(__file__).parent / "files"

PACKED = ("node_check", "idle_stop")
"""The scripts that travel in user data."""


def pack(text: str) -> str:
    """Return Python source without docstrings and comments, one space for a level, squeezed."""
    plain = ast.unparse(bare(text))
    narrow = re.sub("(?m)^ +", lambda found: " " * (len(found[0]) // 4), plain)
    return squeeze(narrow if ast.dump(ast.parse(narrow)) == ast.dump(ast.parse(plain)) else plain)


def squeeze(text: str) -> str:
    """Return text LZMA-compressed, as base 85 in lines of 110 characters."""
    import lzma
    from base64 import b85encode

    # Text has no alignment: without position bits it gets smaller.
    how = [{"id": lzma.FILTER_LZMA1, "preset": 9 | lzma.PRESET_EXTREME, "pb": 0}]
    squeezed = lzma.compress(text.encode(), format=lzma.FORMAT_ALONE, filters=how)
    encoded = b85encode(squeezed).decode()
    return "\n".join(encoded[start : start + 110] for start in range(0, len(encoded), 110)) + "\n"


def unpack(packed: str) -> str:
    """Return the source inside, as a node unpacks it."""
    import lzma
    from base64 import b85decode

    return lzma.decompress(b85decode(packed.replace("\n", ""))).decode()


def bare(text: str) -> ast.Module:
    """Return the syntax tree without docstrings; the module's own stays as one line, for `--help`."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.Module)) and ast.get_docstring(node) is not None:
            first = ast.Expr(ast.Constant((ast.get_docstring(node) or "").splitlines()[0]))
            node.body = ([first] if isinstance(node, ast.Module) else []) + (node.body[1:] or [ast.Pass()])
    return ast.fix_missing_locations(tree)


def main() -> None:
    """Write the packed files, unless they hold their scripts' own code already."""
    for name in PACKED:
        packed = FILES / f"{name}.packed"
        text = (FILES / f"{name}.py").read_text(encoding="utf-8")
        if packed.exists() and ast.dump(ast.parse(unpack(packed.read_text(encoding="utf-8")))) == ast.dump(bare(text)):
            continue
        packed.write_text(pack(text), encoding="utf-8")


if __name__ == "__main__":
    main()
