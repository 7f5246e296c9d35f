"""Small copies of files in the shape of real ones, with the right answers."""

from typing import Any

GOOD = [
    (user, item, float(1 + (user * item) % 5))
    for user in range(1, 7)
    for item in range(1, 6)
]
ROWS = [[str(user), str(item), value] for user, item, value in GOOD]


def _text(row: str, header: str = "", below: str = "") -> bytes:
    lines = [row.format(u=user, i=item, r=f"{value:g}") for user, item, value in GOOD]
    return "\n".join([*filter(None, [header]), *lines, below]).encode()


def _case(
    file: str, content: bytes, facts: str, expected: list[list[Any]] | None = None
) -> Any:
    return {
        "file": file,
        "content": content,
        "facts": facts,
        "expected": expected or ROWS,
    }


OPEN_QUOTE = [*ROWS, ["7", '"open', 3.0], ["7", "1", 5.0]]
QUOTED_USER = [*ROWS, ['"Q', "1", 2.0]]
ESCAPED = [[user, f'{item}"A', value] for user, item, value in ROWS]
COPIES = [
    _case("tabs.tsv", _text("{u}\t{i}\t{r}", "user\titem\trating"), "bounds=1,5"),
    _case(
        "open-quote.tsv",
        _text("{u}\t{i}\t{r}", "user\titem\trating", '7\t"open\t3\n7\t1\t5\n'),
        "bounds=1,5",
        OPEN_QUOTE,
    ),
    _case(
        "quoted-user.csv",
        _text("{u};{i};{r}", "user;item;rating", '"Q;1;2\n'),
        "bounds=1,5",
        QUOTED_USER,
    ),
    _case(
        "escaped.csv",
        _text('"{u}";"{i}\\"A";"{r}"', '"user";"item";"rating"'),
        "bounds=1,5",
        ESCAPED,
    ),
    _case("two-tabs.dat", _text("{u}\t\t{i}\t\t{r}"), "bounds=1,5"),
    _case("aligned.txt", _text("  {u}    {i} {r}"), "bounds=1,5"),
    _case("numbered.csv", _text("{u},{i},{r},1407784483", "0,1,2,3"), "bounds=1,5"),
    _case(
        "drawn.sql.txt",
        _text(
            "| {u} | {i} | {r} |",
            "+---+---+---+\n| user | item | rating |\n+---+---+---+",
        ),
        "bounds=1,5",
    ),
    _case(
        "not-rated.csv",
        _text("{u},{i},{r}", "user,item,rating", "8,1,0\n8,2,0\n1,9,-1\n"),
        "bounds=1,5&missing=0,-1",
    ),
    _case(
        "thousands.csv",
        _text("{u};{i};{r}.000,50", "user;item;rating"),
        "bounds=0,10000",
        [[user, item, 1000 * value + 0.5] for user, item, value in ROWS],
    ),
    _case(
        "declared.txt",
        _text("{u},{i},4,1000,{r},2003-06-01"),
        "bounds=1,5&user=1&item=2&rating=5",
    ),
    _case(
        "only-kept-rows.csv",
        _text("{u},{i},{r}", "user,item,rating", "1,GHOST,abc\nGHOSTUSER,1,xyz\n"),
        "bounds=1,5",
    ),
    _case(
        "wide.csv",
        b'"","m1","m2","m3"\n"u1",1,99,5\n"u2",99,2,4\n"u3",3,3,99\n"u4",4,99,99\n',
        "bounds=1,5&layout=wide&missing=99",
        [
            ["u1", "m1", 1.0],
            ["u1", "m3", 5.0],
            ["u2", "m2", 2.0],
            ["u2", "m3", 4.0],
            ["u3", "m1", 3.0],
            ["u3", "m2", 3.0],
            ["u4", "m1", 4.0],
        ],
    ),
    _case(
        "wide-with-age.csv",
        b"person,age,A,B\nP1,21,,2\nP2,33,5,\nP3,41,1,4\nP1,21,3,\n",
        "bounds=1,5&layout=wide&leave=age",
        [
            ["P1", "B", 2.0],
            ["P2", "A", 5.0],
            ["P3", "A", 1.0],
            ["P3", "B", 4.0],
            ["P1", "A", 3.0],
        ],
    ),
]
