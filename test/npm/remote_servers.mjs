// Servers at an address: server-everything over both of its HTTP transports, and servers on the official SDKs, 1.x with and
// without sessions and 2.x. Each is listed, called, and used by a model in a run.
//
// usage: remote_servers.mjs [--write]      --write: write the table to docs/interop.md
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import net from 'node:net';
import path from 'node:path';
import { LLMock } from '@copilotkit/aimock';
import { writePart } from './document.mjs';
import { Daemon, checks, here, node, packagePath } from './lib.mjs';

// A free port below those that the system gives to listeners which ask for any: no other test takes it in between.
async function freePort() {
  for (;;) {
    const port = 10000 + Math.floor(Math.random() * 6000), listener = net.createServer();
    const free = await new Promise((ok) => listener.once('error', () => ok(false)).listen(port, '127.0.0.1', () => ok(true)));
    if (!free) continue;
    await new Promise((ok) => listener.close(ok));
    return port;
  }
}
// Starts a program that listens; resolves once it has said `words`, with what they captured.
function listening(args, words, env = {}) {
  const child = spawn(node, args, { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...env } });
  process.on('exit', () => child.kill('SIGKILL'));
  let said = '';
  return new Promise((ok, no) => {
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text) => { said += text; const found = words.exec(said); if (found) ok(found[0]); });
    child.once('exit', (code) => no(new Error(`${args.join(' ')} ended with ${code}:\n${said}`)));
  });
}
const everything = async (transport, page) => {
  const port = await freePort();
  await listening([packagePath('@modelcontextprotocol/server-everything/dist/index.js'), transport], /(running|listening) on port/, { PORT: `${port}` });
  return `http://127.0.0.1:${port}${page}`;
};
const sdk = (kind) => listening([path.join(here, 'remote', 'sdk_servers.mjs'), kind], /^http:\S+/m);
const [streamable, sse, sdk1, stateless, sdk2] = await Promise.all([everything('streamableHttp', '/mcp'), everything('sse', '/sse'), sdk('sdk1'), sdk('sdk1-stateless'), sdk('sdk2')]);

// The name, the entry, the words of its type, what `servers` must say of it, and a call.
const sum = ['get-sum', { a: 40, b: 2 }, /42/], add = ['add', { a: 40, b: 2 }, /42/];
const peers = {
  everything: { title: 'server-everything, `streamableHttp`', entry: { url: streamable, type: 'streamableHttp' }, era: 'legacy', call: sum },
  events: { title: 'server-everything, `sse`', entry: { url: sse, type: 'sse' }, era: 'legacy', call: sum },
  found: { title: 'server-everything, `sse`, found out', entry: { url: sse }, era: 'legacy', call: sum },
  sdk1: { title: 'SDK 1.x, with sessions', entry: { url: sdk1, type: 'http' }, era: 'legacy', call: add },
  stateless: { title: 'SDK 1.x, without sessions', entry: { url: stateless, type: 'streamable-http' }, era: 'legacy', call: add },
  sdk2: { title: 'SDK 2.x', entry: { url: sdk2 }, era: 'modern', call: add },
  elder: { title: 'SDK 2.x, spoken to in the old era', entry: { url: sdk2, protocol: '2025-11-25' }, era: 'legacy', call: add },
};
const model = new LLMock({ port: 0, host: '127.0.0.1', logLevel: 'silent' });
for (const [name, { call: [tool, args] }] of Object.entries(peers)) {
  model.addFixture({ match: { userMessage: `use ${name}`, hasToolResult: false }, response: { toolCalls: [{ name: `${name}__${tool}`, arguments: JSON.stringify(args) }] } });
  model.addFixture({ match: { userMessage: `use ${name}` }, response: { content: `${name} was used.` } });
}
await model.start();
const d = await Daemon.start({
  mcpServers: Object.fromEntries(Object.entries(peers).map(([name, { entry }]) => [name, entry])),
  models: { mock: { api: 'openai-chat', baseUrl: `${model.url ?? `http://127.0.0.1:${model.port}`}/v1`, model: 'mock', apiKey: '${env:MOCK_KEY}' } }, defaultModel: 'mock',
}, { env: { MOCK_KEY: 'mock-key-0123456789' } });

const rows = ['| server | transport | revision | tools | `tools/call` | a run |', '|---|---|---|---|---|---|'];
const list = { 'every server at an address becomes ready': () => d.ready(60) };
for (const [name, { title, era, call: [tool, args, answer] }] of Object.entries(peers))
  list[`${title}: it is listed, called, and used in a run`] = async () => {
    const server = JSON.parse((await d.mcpbx('--json', 'servers')).stdout).find((entry) => entry.name === name);
    assert.deepEqual([server.state, server.era], ['ready', era], JSON.stringify(server));
    const called = await d.mcpbx('call', `${name}__${tool}`, '--args', JSON.stringify(args));
    assert.equal(called.status, 0, called.stderr);
    assert.match(called.stdout, answer);
    const c = d.caller();
    const run = await c.request('mcpbx/chat', { model: 'mock', input: `use ${name}` });
    c.close();
    assert.equal(run.result?.text, `${name} was used.`, JSON.stringify(run));
    assert.deepEqual(run.result.toolCalls.map((made) => made.isError ?? false), [false], JSON.stringify(run.result.toolCalls));
    rows.push(`| ${title} | ${server.remote?.transport ?? ''} | ${server.revision} | ${server.tools} | works | works |`);
  };
list['a server that forgets its sessions is used on in a new one'] = async () => {
  assert.equal((await fetch(new URL('/forget', sdk1))).status, 200);
  const called = await d.mcpbx('call', 'sdk1__add', '--args', '{"a":1,"b":2}');
  assert.match(called.stdout, /3/, called.stderr);
};
list['the daemon ends, and says goodbye to its sessions'] = async () => {
  await d.stop();
  if (process.argv.includes('--write')) writePart('remote-servers', rows);
  console.log(rows.join('\n'));
};
await checks(list);
