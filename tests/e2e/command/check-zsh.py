"""check-zsh.py FOLDER: types into a zsh in a pseudo terminal that completes by FOLDER/_raddle. FOLDER/store has a finding."""
import os
import pty
import re
import select
import sys
import time

folder = sys.argv[1]
TAB, SHOW, CLEAR = "\t", "\x18", "\x15"
MARK = "end-of-answer"

child, terminal = pty.fork()
if child == 0:
    os.chdir(folder)
    os.environ.update(TERM="xterm", COLUMNS="200", LINES="60", HOME=folder, ZDOTDIR=folder, PS1="")
    os.execvp("zsh", ["zsh", "-f", "-i"])


def read_until(pattern):
    """Returns the terminal's output up to the pattern; fails if the pattern does not appear within a minute."""
    shown, until = "", time.monotonic() + 60
    while not re.search(pattern, shown):
        if not select.select([terminal], [], [], max(0, until - time.monotonic()))[0]:
            sys.exit(f"no {pattern} within a minute in:\n{shown}")
        shown += os.read(terminal, 65536).decode("utf-8", "replace")
    return shown


def send(text):
    os.write(terminal, text.encode())


# The typed command has the marker in two parts, so that its echo does not match the marker.
send(f"stty -echo cols 200 rows 60; PS1=; unsetopt prompt_cr prompt_sp; fpath=({folder} $fpath); autoload -Uz compinit; compinit -u -d {folder}/dump\n")
send("show() { print; print -r -- \"buffer<$BUFFER>\"; BUFFER= }; zle -N show; bindkey '^X' show; LISTMAX=1000; unsetopt beep\n")
send("print end-of-''answer\n")
read_until(MARK)

failures = 0


def completes(typed, wanted):
    """Checks that one TAB completes the typed line to `wanted`."""
    global failures
    send(typed + TAB + SHOW)
    found = re.search(r"buffer<(.*?)>", read_until(r"buffer<[^>]*>")).group(1)
    if found.rstrip() != wanted:
        print(f"FAILED: {typed!r} becomes {found!r}, not {wanted!r}")
        failures += 1


def offers(typed, wanted, unwanted):
    """Checks that two TABs list all words of `wanted` and not `unwanted`."""
    global failures
    send(typed + TAB + TAB + SHOW)
    shown = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", " ", read_until(r"buffer<[^>]*>"))
    words = set(re.split(r"[\s<>]+", shown))
    for word in wanted.split():
        if word not in words:
            print(f"FAILED: no {word} for {typed!r} in {shown!r}")
            failures += 1
    if unwanted in words:
        print(f"FAILED: {unwanted} for {typed!r}")
        failures += 1


completes("raddle ver", "raddle version")
completes("raddle run --sched", "raddle run --schedules=")
completes("raddle explain --strategy por", "raddle explain --strategy portfolio")
completes("raddle run --schedules pro", "raddle run --schedules pro")
completes("raddle run --stdin pro", "raddle run --stdin program")
completes("raddle run --store st", "raddle run --store store/")
completes("raddle replay --g", "raddle replay --gdb")
completes("raddle help repo", "raddle help report")
completes("raddle run --memory sh", "raddle run --memory shared")
completes("raddle run -- ./prog", "raddle run -- ./program")
offers("raddle re", "replay report", "merge")
offers("raddle run --s", "--schedules --seed --strategy", "--gdb")
offers("raddle run --strategy p", "pct portfolio pos", "random")
send("cd store\n")
completes("raddle replay F", "raddle replay F1")
offers("raddle report ", "F1 C1 all", "a.c")
offers("raddle list ", "findings campaigns strategies", "a.c")
send("exit\n")
sys.exit(failures != 0)
