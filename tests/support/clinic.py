"""A private table of ratings in a file."""

from pathlib import Path


def write_clinic(folder: Path) -> str:
    """The address of a table of 400 users and 12 things, written into a folder."""
    rows = ["user,item,rating"]
    for user in range(400):
        for item in range(12):
            if (user + item) % 4:
                rating = 1 + (user * user + 3 * item + user * item) % 5
                rows.append(f"p{user},thing {item},{rating}")
    file = folder / "clinic.csv"
    file.write_text("\n".join(rows) + "\n")
    return f"{file}?bounds=1,5"
