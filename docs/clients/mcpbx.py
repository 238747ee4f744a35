#!/usr/bin/env python3
"""A client of mcpbx in one file, with Python's standard library only. Copy it into your project:

    with mcpbx.Mcpbx() as box:
        print(box.ask("What is 6 * 7?", on_event=lambda e: print(e["type"]))["text"])

From a shell: mcpbx.py ask TEXT | tools [PATTERN]. docs/protocol.md describes methods and events."""
import json, os, socket, sys


class McpbxError(Exception):
    def __init__(self, error):
        super().__init__(error.get("message", "unknown error"))
        self.code, self.data = error.get("code"), error.get("data", {})


def default_socket():
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    usual = os.path.join(runtime, "mcpbx") if runtime else os.path.expanduser("~/.local/state/mcpbx")
    return os.environ.get("MCPBX_SOCKET") or os.path.join(usual, "mcpbx.sock")


class Mcpbx:
    def __init__(self, path=None):
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.connect(path or default_socket())
        self._lines = self._socket.makefile("rw", encoding="utf-8", newline="\n")
        self._last = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._lines.close()
        self._socket.close()

    def _send(self, method, params):
        self._last += 1
        request = {"jsonrpc": "2.0", "id": self._last, "method": method, "params": params}
        print(json.dumps(request), file=self._lines, flush=True)
        return self._last

    def call(self, method, params=None, on_event=lambda e: None):
        """Calls a method and returns its result. Events that come meanwhile go to on_event."""
        request = self._send(method, params or {})
        for message in map(json.loads, self._lines):
            if message.get("method") == "mcpbx/event":
                on_event(message["params"])
            elif message.get("id") == request and "error" in message:
                raise McpbxError(message["error"])
            elif message.get("id") == request:
                return message["result"]
        raise ConnectionError("mcpbx has closed the connection")

    def ask(self, text, on_event=lambda e: None, on_question=None, **more):
        """Asks the model and returns the run's result. Further members of mcpbx/chat (model, profile, session, limits,
        clientTools, ...) are keywords. on_question gets each question, and returns the members of its answer, such as
        {"approve": True} or {"action": "accept", "content": {...}}; without it, what needs an answer is refused."""

        def event(e):
            on_event(e)
            if e["type"] == "question" and on_question:
                self._send("mcpbx/answer", {"run": e["run"], "question": e["question"], **on_question(e)})

        return self.call("mcpbx/chat", {"input": text, "answers": bool(on_question), **more}, event)

    def tools(self, pattern=None):
        """Returns the definitions of the tools whose names match, as their servers have them."""
        return self.call("mcpbx/tools", {"pattern": pattern} if pattern else {})["tools"]

    def call_tool(self, name, arguments=None):
        return self.call("tools/call", {"name": name, "arguments": arguments or {}})


def show(e):
    if e["type"] == "text":
        print(e["text"], end="", flush=True)
    elif e["type"] in ("tool_call", "tool_result"):
        print(f"[{e['type']} {e.get('name', e['call'])}]", file=sys.stderr)


def approve(e):
    print(f"{e.get('reason') or e.get('message')} {e.get('tool', '')}? [y/N] ", end="", file=sys.stderr, flush=True)
    yes = sys.stdin.readline().strip().lower() == "y"
    return {"approve": yes} if e["kind"] == "approval" else {"action": "accept" if yes else "decline"}


if __name__ == "__main__":
    verb, word = (sys.argv[1:3] + [None, None])[:2]
    if verb != "tools" and not (verb == "ask" and word):
        sys.exit("usage: mcpbx.py ask TEXT | tools [PATTERN]")
    try:
        with Mcpbx() as box:
            if verb == "tools":
                sys.exit(print("\n".join(t["name"] for t in box.tools(word))))
            result = box.ask(word, show, approve)
            print()
            sys.exit(None if result["stopReason"] == "final" else result.get("reason", result["stopReason"]))
    except (McpbxError, OSError) as e:
        sys.exit(f"mcpbx.py: {e}")
