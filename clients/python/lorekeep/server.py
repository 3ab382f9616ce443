"""A server in a process of its own, which ends with this one."""

from __future__ import annotations

import collections
import json
import os
import signal
import subprocess
import threading
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from typing import Any, Deque, List, Mapping, Optional, Sequence

from .errors import LorekeepError


class ServerStartError(LorekeepError):
    """The server did not start. The message ends with the last lines of its log."""


class Server:
    """Starts `lorekeep serve` and waits until it listens: `with Server(["node", "…/lorekeep/dist/src/cli/lorekeep.cjs"]) as server`.

    Client(port=server.port, access_token=server.access_token) connects. The server ends with this process, however it ends;
    nothing restarts it. Raises ServerStartError, and leaves no process then.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        args: Sequence[str] = (),
        config: Optional[str] = None,
        data_dir: Optional[str] = None,
        env: Optional[Mapping[str, str]] = None,
        timeout: float = 30.0,
    ):
        """`command`: that of lorekeep, and `args`: more flags of `serve`.

        `config`, `data_dir`: as `--config` and `--data-dir`. `env`: in addition to this process's. `timeout`: seconds until it listens.
        """
        if config is not None and not os.path.exists(config):
            raise ServerStartError(f"config: {os.path.abspath(config)} does not exist")
        places = [*(["--config", config] if config else []), *(["--data-dir", data_dir] if data_dir else [])]
        self._log: Deque[bytes] = collections.deque(maxlen=50)
        try:
            self._process = subprocess.Popen(
                [*command, "serve", "--parent-pid", str(os.getpid()), "--port", "0", *places, *args],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env={**os.environ, **(env or {})},
            )
        except OSError as error:
            raise ServerStartError(f"the server did not start: {error}") from error
        first: "Future[bytes]" = Future()
        self._readers = [
            threading.Thread(target=self._read_log, daemon=True, name="lorekeep log"),
            threading.Thread(target=self._read_line, args=(first,), daemon=True, name="lorekeep ready"),
        ]
        for reader in self._readers:
            reader.start()
        try:
            ready = self._ready(first, timeout)
        except BaseException:
            self._process.kill()
            self._wait()
            raise
        self.port: int = ready["port"]
        self.pid: int = ready["pid"]
        self.access_token: Optional[str] = ready.get("token")
        """The secret of this server; None if its config names an `access_token_file`."""
        self.version: str = ready["version"]
        self.warnings: List[str] = ready.get("warnings", [])
        """What the server warned of while it started."""

    @property
    def log(self) -> str:
        """The last lines of its log."""
        return b"".join(self._log.copy()).decode("utf-8", "replace")

    @property
    def is_running(self) -> bool:
        return self._process.poll() is None

    def close(self, timeout: Optional[float] = None) -> int:
        """Stops it as SIGTERM does, waits for its end, and returns its exit status. Kills it after `timeout`. Twice is fine."""
        if self._process.poll() is None:
            # A command such as npx does not pass signals on.
            os.kill(self.pid, signal.SIGTERM)
        try:
            self._process.wait(timeout)
        except subprocess.TimeoutExpired:
            self._process.kill()
        return self._wait()

    def __enter__(self) -> "Server":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def _ready(self, first: "Future[bytes]", timeout: float) -> Any:
        try:
            ready = json.loads(first.result(timeout))
            if isinstance(ready, dict) and {"port", "pid", "version"} <= ready.keys():
                return ready
            problem = "its first line is no lorekeep server's"
        except FutureTimeout:
            problem = f"it did not listen within {timeout} s"
        except ValueError:
            problem = "it ended, or its first line is no lorekeep server's"
        self._process.kill()
        status = self._wait()
        raise ServerStartError(f"the server did not start: {problem} (status {status})\n{self.log}".rstrip())

    def _wait(self) -> int:
        status = self._process.wait()
        for reader in self._readers:
            reader.join()
        for pipe in (self._process.stdout, self._process.stderr):
            if pipe is not None:
                pipe.close()
        return status

    def _read_line(self, first: "Future[bytes]") -> None:
        assert self._process.stdout is not None
        first.set_result(self._process.stdout.readline(1 << 16))

    def _read_log(self) -> None:
        assert self._process.stderr is not None
        # To its end: a full pipe would hold up the server.
        for line in iter(lambda: self._process.stderr.readline(1 << 16), b""):  # type: ignore[union-attr]
            self._log.append(line)
