"""The packed scripts of user data are the scripts of the repository."""

import ast

import pytest

from gpukit.images.pack import FILES, PACKED, bare, pack, unpack


@pytest.mark.parametrize("name", PACKED)
def test_the_packed_file_holds_the_script(name) -> None:
    text = (FILES / f"{name}.py").read_text()
    packed = (FILES / f"{name}.packed").read_text()

    assert ast.dump(ast.parse(unpack(packed))) == ast.dump(bare(text)), "run `python -m gpukit.images.pack`"


@pytest.mark.parametrize("name", PACKED)
def test_a_packed_file_can_stand_in_a_here_document(name) -> None:
    lines = (FILES / f"{name}.packed").read_text().splitlines()

    assert "END" not in lines
    assert max(map(len, lines)) <= 110


def test_packing_takes_comments_and_docstrings_away() -> None:
    text = '"""Say one.\n\nAnd more."""\n\ndef f():\n    """Gone."""\n    return 1  # gone\n'

    assert unpack(pack(text)) == '"""Say one."""\n\ndef f():\n return 1'
