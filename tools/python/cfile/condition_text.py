"""Reads conditions from texts, in the form in which programs write them: (delay > 60) & carrier.isin(["UA", "AA"])."""
from __future__ import annotations

import ast
import operator

from .condition import Condition, col
from .errors import ArgumentError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_COMPARISONS = {ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt,
                ast.GtE: operator.ge}
_METHODS = ("isin", "between", "startswith", "is_null", "is_not_null")


def parsed(text: str) -> Condition:
    """Returns the condition. Names are columns; col("name") is a column whose name is no word. Runs no code.

    ArgumentError: the text is no condition.

    >>> from cfile.condition_text import parsed
    >>> parsed('(delay > 60) & ~carrier.isin(["UA", "AA"])')
    ((delay > 60) & ~carrier.isin(['UA', 'AA']))
    """
    try:
        condition = _value(ast.parse(text.strip(), mode="eval").body)
    except (AttributeError, SyntaxError, TypeError, ValueError, RecursionError) as error:
        raise ArgumentError(f"expected a condition such as (delay > 60) & (carrier == 'UA'), found {text!r}: {error}") from error
    if not isinstance(condition, Condition):
        raise ArgumentError(f"expected a condition such as (delay > 60) & (carrier == 'UA'), found {text!r}")
    return condition


def _value(node: ast.expr) -> Any:
    if isinstance(node, ast.Name):
        return col(node.id)
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.BitAnd, ast.BitOr)):
        left, right = _value(node.left), _value(node.right)
        return left & right if isinstance(node.op, ast.BitAnd) else left | right
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Invert):
        return ~_value(node.operand)
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _COMPARISONS:
        return _COMPARISONS[type(node.ops[0])](_value(node.left), _value(node.comparators[0]))
    if isinstance(node, ast.Call) and not node.keywords:
        arguments = [_value(argument) for argument in node.args]
        if isinstance(node.func, ast.Name) and node.func.id == "col" and len(arguments) == 1 and isinstance(arguments[0], str):
            return col(arguments[0])
        if isinstance(node.func, ast.Attribute) and node.func.attr in _METHODS:
            return getattr(_value(node.func.value), node.func.attr)(*arguments)
    return ast.literal_eval(node)  # ValueError: the node is no constant
