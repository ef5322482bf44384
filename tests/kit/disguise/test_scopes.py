"""Names that mean the same have one binding, and others have not."""

from bugkit.disguise.scopes import Role, read_scopes

CODE = """\
from .a import thing

K = 1


def f(x, k=K):
    y = [x for x in k]
    def g(z=x):
        return y, z, thing
    try:
        return g(z=y)
    except ValueError as error:
        raise K from error


class C:
    K: int = 2

    def m(self):
        return self, K
"""


def test_a_comprehension_a_default_and_a_class_do_not_mix_up_names() -> None:
    at = read_scopes(CODE).at
    parameter, constant = at[6, 6], at[3, 0]
    assert at[7, 9] is not parameter  # the x of the comprehension
    assert at[7, 9] is at[7, 15]
    assert at[8, 12] is parameter  # a default is evaluated outside
    assert at[6, 11] is constant
    assert at[17, 4] is not constant
    assert at[17, 4].role is Role.FIELD
    assert at[17, 4].pinned
    assert at[20, 21] is constant  # a method does not see the fields
    assert at[13, 14] is constant


def test_every_binding_knows_what_it_is() -> None:
    scopes = read_scopes(CODE)
    assert {name: b.role for name, b in scopes.top.items()} == {
        "thing": Role.IMPORT,
        "K": Role.LOCAL,
        "f": Role.FUNCTION,
        "C": Role.FUNCTION,
    }
    assert scopes.at[6, 6].role is Role.PARAMETER
    assert scopes.at[9, 18] is not scopes.at[6, 6]
    assert scopes.at[12, 25] is scopes.at[13, 21]
    assert scopes.at[8, 10].path == "f.g"


def test_a_parameter_that_is_assigned_to_is_still_a_parameter() -> None:
    for _ in range(20):
        scopes = read_scopes("def f(x):\n    x = x + 1\n    x = x + 2\n    return x\n")
        assert {b.role for b in scopes.at.values() if b.name == "x"} == {Role.PARAMETER}
