"""A GBNF grammar of what follows a reply's opening fence: one Python program, closed by a fence.

Owns the text of the grammar alone; `decoding.py` switches it on at the fence. Indentation is four
spaces a level up to `_DEPTH` levels, written out as rules, since a grammar cannot count. Precedence
is left out: it decides what a program means and not whether it is one. Wider than Python in three
places: a keyword counts as a name where an expression may stand, anything can be assigned to, and
the expressions inside an f-string are only held to their braces and quotes. Pure; any thread.

Source: the Python language reference, 3.12, chapters 2 and 6 to 8.
"""

from __future__ import annotations

from functools import cache

_DEPTH = 7

_TOKENS = r"""
root ::= lines0 "```" "\n"?
blank ::= [ \t]* comment? "\n"
comment ::= "#" [^\n]*
end ::= " "* comment? "\n"
wt ::= ([ \t] | "\\\n")*
wb ::= ([ \t\n] | "\\\n" | comment "\n")*
st ::= " " wt
sb ::= ([ \n] | comment "\n") wb
name ::= [A-Za-z_\u0080-\U0010FFFF] [A-Za-z0-9_\u0080-\U0010FFFF]*
dotted ::= name ("." name)*
number ::= [0-9] [0-9_]* ("." [0-9_]*)? exponent? "j"? | "." [0-9] [0-9_]* exponent? |
  "0" [xXoObB] [0-9A-Fa-f_]+
exponent ::= [eE] [-+]? [0-9] [0-9_]*
string ::= ([rRbBuU] | [rR] [bB] | [bB] [rR])? plain | ([fF] | [fF] [rR] | [rR] [fF]) formatted
plain ::= "\"" dq* "\"" | "'" sq* "'" | "\"\"\"" dl* "\"\"\"" | "'''" sl* "'''"
dq ::= [^"\\\n] | "\\" any
sq ::= [^'\\\n] | "\\" any
dl ::= "\""? "\""? ([^"\\] | "\\" any)
sl ::= "'"? "'"? ([^'\\] | "\\" any)
any ::= [^\n] | "\n"
formatted ::= "\"" fdq* "\"" | "'" fsq* "'" | "\"\"\"" fdl* "\"\"\"" | "'''" fsl* "'''"
fdq ::= [^"\\\n{}] | "\\" any | "{{" | "}}" | "{" inset+ "}"
fsq ::= [^'\\\n{}] | "\\" any | "{{" | "}}" | "{" inset+ "}"
fdl ::= "\""? "\""? ([^"\\{}] | "\\" any | "{{" | "}}" | "{" inset+ "}")
fsl ::= "'"? "'"? ([^'\\{}] | "\\" any | "{{" | "}}" | "{" inset+ "}")
inset ::= [^"'\n{}] | "\"" [^"\n]* "\"" | "'" [^'\n]* "'" |
  "{" ([^"'\n{}] | "\"" [^"\n]* "\"" | "'" [^'\n]* "'")* "}"
sign ::= "+" | "-" | "*" | "/" | "//" | "%" | "@" | "**" | "<<" | ">>" | "&" | "|" | "^" | "<" |
  ">" | "<=" | ">=" | "==" | "!="
assign ::= ("+" | "-" | "*" | "/" | "//" | "%" | "@" | "**" | "<<" | ">>" | "&" | "|" | "^") "="
"""

# Twice: at the top of a line (t), and inside brackets (b), where a line may end anywhere.
_EXPRESSIONS = r"""
word@ ::= "and" | "or" | "in" | "is" | "is" s@ "not" | "not" s@ "in"
binary@ ::= w@ sign w@ | s@ word@ s@
unary@ ::= "not" w@ | [-+~] w@ | "await" s@
flat@ ::= unary@* operand@ (binary@ unary@* operand@)*
expr@ ::= "lambda" (s@ parameters)? wt ":" w@ expr@ | flat@ (s@ "if" s@ flat@ s@ "else" s@ expr@)?
operand@ ::= atom@ trailer@*
atom@ ::= name | number | string (w@ string)* | "..." | "(" wb inner? ")" | "[" wb inner? "]" |
  "{" wb items? "}"
list@ ::= star@ (w@ "," w@ star@)* (w@ ",")?
star@ ::= "*" w@ flat@ | name w@ ":=" w@ expr@ | expr@
"""

_INSIDE = r"""
trailert ::= "." name | "(" wb args? ")" | "[" wb slices "]"
trailerb ::= wb "." name | "(" wb args? ")" | "[" wb slices "]"
inner ::= "yield" (sb listb)? wb | starb loop* wb | starb wb ("," wb starb wb)* ("," wb)?
loop ::= sb ("async" sb)? "for" sb targets sb "in" sb flatb (sb "if" sb flatb)*
targets ::= target (wb "," wb target)* (wb ",")?
target ::= "*"? operandb
items ::= pair loop* wb | pair wb ("," wb pair wb)* ("," wb)? | starb loop* wb |
  starb wb ("," wb starb wb)* ("," wb)?
pair ::= exprb wb ":" wb exprb | "**" wb flatb
args ::= arg wb ("," wb arg wb)* ("," wb)?
arg ::= name wb "=" wb exprb | "**" wb exprb | starb loop*
slices ::= slice wb ("," wb slice wb)* ("," wb)?
slice ::= starb | exprb? wb ":" wb exprb? (wb ":" wb exprb?)?
parameters ::= parameter (wb "," wb parameter)* (wb ",")?
parameter ::= "/" | "*" | ("*" | "**")? name (wb ":" wb exprb)? (wb "=" wb exprb)?
"""

_STATEMENTS = r"""
small ::= value | "type" st name typed? wt "=" wt exprt | "pass" | "break" | "continue" |
  "return" (st listt)? | "raise" (st exprt (st "from" st exprt)?)? | "del" st listt |
  "assert" st exprt (wt "," wt exprt)? | ("global" | "nonlocal") st name (wt "," wt name)* |
  import
value ::= listt (wt "=" wt right)* | listt wt assign wt right |
  operandt wt ":" wt exprt (wt "=" wt right)?
right ::= listt | "yield" (st ("from" st)? listt)?
import ::= "import" st module (wt "," wt module)* |
  "from" st (dotted | "."+ dotted?) st "import" st names
names ::= "*" | named (wt "," wt named)* | "(" wb named wb ("," wb named wb)* ("," wb)? ")"
module ::= dotted (st "as" st name)?
named ::= name (st "as" st name)?
smalls ::= small (wt ";" wt small)* (wt ";")?
yielding ::= "yield" (st ("from" st)? listt)?
manager ::= exprt (st "as" st operandt)?
managerb ::= exprb (sb "as" sb operandb)?
typed ::= "[" wb parameters? wb "]"
pattern ::= exprt (st "as" st name)? (wt "," wt exprt)*
"""


def _level(level: int) -> str:
    """The rules of lines that are indented `level` times."""
    indent = f'"{"    " * level}" ' if level else ""
    rules = [
        f"lines{level} ::= blank* {indent}line{level} (blank | {indent}line{level})*",
    ]
    if level >= _DEPTH:
        rules += [
            f"line{level} ::= (smalls | yielding) end",
        ]
        return "\n".join(rules)
    below = level + 1
    body = f"body{level}"
    rules += [
        f'{body} ::= wt ":" (wt smalls end | end lines{below})',
        f"line{level} ::= (smalls | yielding) end | block{level}",
        f'block{level} ::= "if" st start {body} ({indent}"elif" st start {body})* '
        f'({indent}"else" {body})?'
        f' | "while" st start {body} ({indent}"else" {body})?'
        f' | ("async" st)? "for" st targets st "in" st listt {body} ({indent}"else" {body})?'
        f' | "try" {body} ({indent}"except" "*"? (st exprt (st "as" st name)?)? {body})* '
        f'({indent}"else" {body})? ({indent}"finally" {body})?'
        f' | ("async" st)? "with" st (manager (wt "," wt manager)* | "(" wb managerb wb '
        f'("," wb managerb wb)* ("," wb)? ")") {body}'
        f' | ("@" exprt end {indent})* (("async" st)? "def" st name typed? '
        f'"(" wb parameters? wb ")" (wt "->" wt exprt)? {body}'
        f' | "class" st name typed? ("(" wb args? ")")? {body})',
    ]
    if below < _DEPTH:
        deeper = f'"{"    " * below}" '
        rules[-1] += (
            f' | "match" st listt wt ":" end (blank* {deeper}"case" st pattern '
            f'(st "if" st start)? body{below})+'
        )
    return "\n".join(rules)


@cache
def python_grammar() -> str:
    """The grammar's text; it begins after the opening fence."""
    parts = [_TOKENS]
    parts += [_EXPRESSIONS.replace("@", kind) for kind in ("t", "b")]
    parts += [_INSIDE, _STATEMENTS, *(_level(level) for level in range(_DEPTH + 1))]
    return "\n".join(part.strip("\n") for part in parts) + "\n"
