#!/usr/bin/env node
// A client of mcpbx in one file, for Node and without packages. Copy it into your project.
//
//     import { Mcpbx } from './mcpbx.mjs';
//     const box = await Mcpbx.connect();
//     console.log((await box.ask('What is 6 * 7?', { onEvent: (e) => console.log(e.type) })).text);
// From a shell: mcpbx.mjs ask TEXT | tools [PATTERN]. docs/protocol.md describes methods and events.
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import readline from 'node:readline/promises';

export function defaultSocket() {
  const runtime = process.env.XDG_RUNTIME_DIR;
  const usual = runtime ? path.join(runtime, 'mcpbx') : path.join(os.homedir(), '.local/state/mcpbx');
  return process.env.MCPBX_SOCKET || path.join(usual, 'mcpbx.sock');
}

export class Mcpbx {
  #socket;
  #last = 0;
  #open = new Map(); // requests without a response, by id

  static connect(at = defaultSocket()) {
    return new Promise((resolve, reject) => {
      const socket = net.connect(at, () => resolve(new Mcpbx(socket)));
      socket.once('error', reject);
    });
  }

  constructor(socket) {
    this.#socket = socket;
    readline.createInterface({ input: socket, crlfDelay: Infinity }).on('line', (line) => this.#take(JSON.parse(line)));
    const end = () => this.#open.forEach(({ reject }) => reject(new Error('mcpbx has closed the connection')));
    socket.on('error', end).on('close', end);
  }

  close() { this.#socket.destroy(); } // runs that were asked here and are not detached end

  #take({ id, method, params, result, error }) {
    if (method === 'mcpbx/event') return this.#open.get(params.request)?.onEvent?.(params);
    const request = this.#open.get(id);
    this.#open.delete(id);
    if (error) request?.reject(Object.assign(new Error(error.message), error)); // with its code and its data
    else request?.resolve(result);
  }

  /** Calls a method and resolves with its result. Its events go to onEvent. */
  call(method, params = {}, onEvent) {
    return new Promise((resolve, reject) => {
      const id = ++this.#last;
      this.#open.set(id, { resolve, reject, onEvent });
      this.#socket.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    });
  }

  /** Asks the model and resolves with the run's result. Further members of mcpbx/chat (model, profile, session, limits,
   *  clientTools, …) stand beside the callbacks. onQuestion gets each question, and returns (or resolves with) the members
   *  of its answer, such as {approve: true} or {action: 'accept', content: {…}}; without it, what needs one is refused. */
  ask(text, { onEvent, onQuestion, ...more } = {}) {
    return this.call('mcpbx/chat', { input: text, answers: Boolean(onQuestion), ...more }, async (e) => {
      onEvent?.(e);
      if (e.type !== 'question' || !onQuestion) return;
      const answer = await onQuestion(e);
      this.call('mcpbx/answer', { run: e.run, question: e.question, ...answer }).catch(() => {}); // another may be first
    });
  }

  /** Resolves with the definitions of the tools whose names match, as their servers have them. */
  async tools(pattern) { return (await this.call('mcpbx/tools', pattern ? { pattern } : {})).tools; }

  callTool(name, args = {}) { return this.call('tools/call', { name, arguments: args }); }
}

async function approve(e) {
  const terminal = readline.createInterface({ input: process.stdin, output: process.stderr });
  const yes = (await terminal.question(`${e.reason ?? e.message} ${e.tool ?? ''}? [y/N] `)).trim().toLowerCase() === 'y';
  terminal.close();
  return e.kind === 'approval' ? { approve: yes } : { action: yes ? 'accept' : 'decline' };
}

function show(e) {
  if (e.type === 'text') process.stdout.write(e.text);
  if (e.type === 'tool_call' || e.type === 'tool_result') console.error(`[${e.type} ${e.name ?? e.call}]`);
}

async function main([verb, word]) {
  if (verb !== 'tools' && !(verb === 'ask' && word)) throw new Error('usage: mcpbx.mjs ask TEXT | tools [PATTERN]');
  const box = await Mcpbx.connect();
  const said = verb === 'ask' ? await box.ask(word, { onEvent: show, onQuestion: approve }).finally(() => box.close()) : {};
  if (verb === 'tools') console.log((await box.tools(word).finally(() => box.close())).map((t) => t.name).join('\n'));
  else console.log();
  if (said.stopReason && said.stopReason !== 'final') throw new Error(said.reason ?? said.stopReason);
}

if (process.argv[1] && fs.realpathSync(process.argv[1]) === import.meta.filename)
  main(process.argv.slice(2)).catch((e) => process.exit((console.error(`mcpbx.mjs: ${e.message}`), 1)));
