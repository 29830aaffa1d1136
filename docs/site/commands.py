"""Write one page per command of dkmap from what `dkmap help` prints, and a list of them.

usage: commands.py DKMAP FOLDER

`dkmap help --markdown COMMAND` is used where the program has it; otherwise the text of `dkmap help COMMAND`
is converted.
"""

import pathlib
import re
import subprocess
import sys

program, folder = sys.argv[1], pathlib.Path(sys.argv[2])


def run(*words):
    done = subprocess.run([program, *words], capture_output=True, text=True)
    return done.stdout if done.returncode == 0 else ""


def blocks(text):
    """The help page as (heading, lines); the part before the first heading has the heading ''."""
    parts = [("", [])]
    for line in text.splitlines():
        if re.match(r"^[A-Z][A-Za-z ]*:( |$)", line) and not line.startswith(" "):
            heading, rest = line.split(":", 1)
            parts.append((heading, [rest.strip()] if rest.strip() else []))
        else:
            parts[-1][1].append(line)
    return parts


def entries(lines):
    """Rows `  name   text`, with text that goes on in indented lines, as (name, text)."""
    rows = []
    for line in lines:
        if not line.strip():
            continue
        entry = re.match(r"^  (\S.*?)(?:  +(.*))?$", line)
        if entry and not line.startswith("   "):
            rows.append([entry.group(1), entry.group(2) or ""])
        elif rows:
            rows[-1][1] += " " + line.strip()
    return rows


def escape(text):
    return re.sub(r"([\\*_<>|\[\]$#`'^])", r"\\\1", text).replace("\\'", "'").strip()


def table(rows, first):
    out = ["| %s | |" % first, "|---|---|"]
    out += ["| `%s` | %s |" % (name.replace("|", "\\|"), escape(text)) for name, text in rows]
    return out


def fence(lines, language):
    text = "\n".join(lines).strip("\n")
    return ["```" + language, text, "```"]


def prose(lines):
    return [escape(line) if line.strip() else "" for line in lines]


def page(words):
    """The page of one command, and the names below it."""
    ready = run("help", "--markdown", *words)
    text = run("help", *words)
    below = [name for heading, lines in blocks(text) if heading in ("Methods", "Commands")
             for name, _ in entries(lines)]
    if ready and ready.startswith("#"):
        return "# " + ready.lstrip("#").lstrip(), below
    out = ["# dkmap " + " ".join(words), ""]
    for heading, lines in blocks(text):
        if heading == "":
            summary = lines[0].split(": ", 1)[-1] if lines else ""
            out += [escape(summary[:1].upper() + summary[1:]) + ".", ""]
        elif heading == "Usage":
            end = lines.index("") if "" in lines else len(lines)
            out += fence(["dkmap" + line.strip()[5:] if i == 0 else line
                          for i, line in enumerate(lines[:end])], "text")
            out += [""] + prose(lines[end:]) + [""]
        elif heading in ("Methods", "Commands"):
            out += ["| | |", "|---|---|"]
            out += ["| [%s](%s.md) | %s |" % (name, "-".join([*words, name]), escape(text))
                    for name, text in entries(lines)] + [""]
        elif heading in ("Options", "Common options"):
            out += ["## " + heading, ""] + table(entries(lines), "option") + [""]
        elif heading in ("Example", "Examples"):
            end = next((i for i, line in enumerate(lines) if line.startswith("More on")), len(lines))
            out += ["## Example", ""] + fence([line[2:] for line in lines[:end]], "sh") + [""]
        elif not heading.startswith("More on"):
            out += [escape(heading) + ": " + " ".join(prose(lines)), ""]
    return "\n".join(out) + "\n", below


def write(words):
    text, below = page(words)
    (folder / ("-".join(words) + ".md")).write_text(text)
    names = ["-".join(words)]
    for name in below:
        names += write([*words, name])
    return names


def main():
    folder.mkdir(parents=True, exist_ok=True)
    commands = [name for heading, lines in blocks(run("help")) if heading == "Commands"
                for name, _ in entries(lines)]
    if len(commands) < 5:
        sys.exit("commands.py: %s help lists no commands" % program)
    names = [name for command in commands for name in write([command])]
    for name in names:
        if (folder / (name + ".md")).stat().st_size < 100:
            sys.exit("commands.py: no help on " + name.replace("-", " "))
    (folder / "index.md").write_text(
        "# All commands\n\nWritten by `dkmap help` of the program that this site was built with.\n\n"
        "```{toctree}\n:maxdepth: 1\n\n" + "\n".join(names) + "\n```\n")


main()
