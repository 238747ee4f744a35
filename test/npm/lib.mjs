// The pieces that tests against npm peers share: a private daemon with a configuration, the CLI, and a JSON-RPC line caller.
import assert from 'node:assert/strict';
import { spawn, execFile } from 'node:child_process';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const here = path.dirname(fileURLToPath(import.meta.url));
export const bin = process.env.MCPBX_BIN;
assert.ok(bin, 'MCPBX_BIN names the folder of the built programs');
export const packagePath = (name) => path.join(here, 'node_modules', name);
// Servers are started by this Node, which is new enough for all of them.
export const node = process.execPath;

// A test that hangs is ended, with a word about where it stood.
const watchdog = setTimeout(() => { console.error('watchdog: the test did not end within 240 s'); process.exit(1); }, 240_000);
watchdog.unref();

export class Daemon {
  static async start(config, { env = {}, folder } = {}) {  // folder: of a daemon that was stopped and kept
    const d = new Daemon();
    d.folder = folder ?? fs.mkdtempSync(path.join(os.tmpdir(), 'mcpbx-npm-'));
    d.socket = path.join(d.folder, 'mcpbx.sock');
    const file = path.join(d.folder, 'config.json');
    // Everything that a test leaves is below its folder, never in the home: what the CLI starts by itself, too.
    d.env = { ...process.env, XDG_STATE_HOME: d.folder, XDG_CONFIG_HOME: d.folder, ...env };
    fs.writeFileSync(file, JSON.stringify(config), { mode: 0o600 });
    d.log = '';
    d.process = spawn(path.join(bin, 'mcpbxd'), ['--config', file, '--socket', d.socket], { env: d.env, stdio: ['ignore', 'ignore', 'pipe'] });
    // A test that fails leaves by process.exit; its daemon must not stay.
    process.on('exit', () => d.process.kill('SIGKILL'));
    d.ended = new Promise((ok) => d.process.on('exit', (code, signal) => ok({ code, signal })));
    d.process.stderr.setEncoding('utf8').on('data', (text) => { d.log += text; });
    return d;
  }
  // Runs the CLI; resolves with its status and both outputs.
  mcpbx(...args) {
    const input = args.length && typeof args.at(-1) === 'object' ? args.pop().input : undefined;
    return new Promise((ok) => {
      const child = execFile(path.join(bin, 'mcpbx'), ['--socket', this.socket, ...args], { env: this.env, maxBuffer: 64 << 20 }, (error, stdout, stderr) =>
        ok({ status: error ? error.code : 0, stdout, stderr }));
      if (input !== undefined) child.stdin.end(input);
    });
  }
  async ready(seconds = 120) {
    const r = await this.mcpbx('wait', '--timeout', `${seconds}`);
    assert.equal(r.status, 0, `mcpbx wait: ${r.stderr}\n${this.log}`);
  }
  caller() { return new Caller(this.socket); }
  modernCaller() { return new Caller(this.socket, modern); }
  async stop({ keep = false } = {}) {
    this.process.kill('SIGTERM');
    const how = await this.ended;
    if (!keep) fs.rmSync(this.folder, { recursive: true, force: true });
    assert.equal(how.code, 0, `mcpbxd ended with ${JSON.stringify(how)}\n${this.log}`);
  }
}

// The facts that each request of the new era tells of its caller.
const modern = { _meta: { 'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {} } };

// One connection to the socket: requests by line, notifications collected. `common` is in the parameters of each request.
export class Caller {
  constructor(socket, common = {}) {
    this.common = common;
    this.notifications = [];
    this.waiting = new Map();
    this.next = 1;
    let text = '';
    this.link = net.connect({ path: socket }).setEncoding('utf8').on('data', (data) => {
      text += data;
      for (let end; (end = text.indexOf('\n')) >= 0;) {
        const message = JSON.parse(text.slice(0, end));
        text = text.slice(end + 1);
        if (message.method) { this.notifications.push(message); continue; }
        this.waiting.get(message.id)?.(message);
        this.waiting.delete(message.id);
      }
    });
  }
  request(method, params = {}) {
    const id = this.next++;
    return new Promise((ok) => {
      this.waiting.set(id, ok);
      this.link.write(JSON.stringify({ jsonrpc: '2.0', id, method, params: { ...this.common, ...params } }) + '\n');
    });
  }
  events() { return this.notifications.filter((n) => n.method === 'mcpbx/event').map((n) => n.params); }
  close() { this.link.end(); }
}

// Runs named checks in order. The first that fails ends the program with status 1; with `all`, the others run all the same
// and the number of those that passed is told.
export async function checks(list, { all = false } = {}) {
  const names = Object.keys(list);
  let passed = 0;
  for (const name of names) {
    try {
      await list[name]();
      console.log(`ok: ${name}`);
      passed++;
    } catch (error) {
      console.error(`FAILED: ${name}\n${error.stack ?? error}`);
      if (!all) process.exit(1);
    }
  }
  if (all) console.log(`${passed} of ${names.length} checks passed`);
  process.exit(passed === names.length ? 0 : 1);
}
