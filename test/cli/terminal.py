"""Runs a program on a pseudo terminal: terminal.py COLUMNS [EXPECTED SENT]... -- PROGRAM ARGUMENT...

Sends each text when the one before it has been printed, prints what the program printed, and exits with its status.
"""

import fcntl
import os
import pty
import select
import struct
import sys
import termios

columns = int(sys.argv[1])
end = sys.argv.index("--")
steps = [text.encode().decode("unicode_escape").encode("latin-1") for text in sys.argv[2:end]]

child, terminal = pty.fork()
if child == 0:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    os.execvp(sys.argv[end + 1], sys.argv[end + 1 :])

seen = b""
while True:
    select.select([terminal], [], [])
    try:
        chunk = os.read(terminal, 65536)
    except OSError:  # Linux: the program has closed the terminal.
        break
    if not chunk:
        break
    sys.stdout.buffer.write(chunk)
    seen += chunk
    while len(steps) > 1 and steps[0] in seen:
        seen = seen.split(steps[0], 1)[1]
        os.write(terminal, steps[1])
        steps = steps[2:]
sys.stdout.buffer.flush()
_, status = os.waitpid(child, 0)
sys.exit(os.waitstatus_to_exitcode(status))
