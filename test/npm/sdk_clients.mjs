// Clients that others wrote list and call through mcpbx, each over stdio (`mcpbx mcp`) and over HTTP (`/mcp`, with its
// token): the official SDK 1.x, 2.x in its three modes, and the Inspector's CLI.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { connect, kinds } from './clients.mjs';
import { Daemon, bin, checks, here, node, packagePath } from './lib.mjs';

const d = await Daemon.start({
  mcpServers: { calc: { command: 'mcpbx-toolbox' }, fixture: { command: node, args: [path.join(here, 'conformance', 'fixture.mjs')] } },
  http: { address: '127.0.0.1:0' },
});
await d.ready();
const { http, tokenFile } = JSON.parse((await d.mcpbx('--json', 'status')).stdout);
const authorization = `Bearer ${fs.readFileSync(tokenFile, 'utf8').trim()}`;
const shim = { command: path.join(bin, 'mcpbx'), args: ['--socket', d.socket, 'mcp'], env: d.env };
const ways = { 'mcpbx mcp': { stdio: shim }, '/mcp': { url: `${http}/mcp`, headers: { authorization } } };

async function use(kind, way) {
  const client = await connect(kind, way);
  assert.equal(client.getServerVersion().name, 'mcpbx');
  const { tools } = await client.listTools();
  assert.ok(tools.some((t) => t.name === 'calc__calculate'), JSON.stringify(tools.map((t) => t.name)));
  const result = await client.callTool({ name: 'calc__calculate', arguments: { expression: '6*7' } });
  assert.match(result.content[0].text, /42/);
  const refused = await client.callTool({ name: 'calc__calculate', arguments: { expression: '6*' } });
  assert.equal(refused.isError, true);
  await assert.rejects(client.callTool({ name: 'calc__calculat', arguments: {} }), /calc__calculate/);
  const { prompts } = await client.listPrompts();
  assert.ok(prompts.some((p) => p.name === 'fixture__test_simple_prompt'), JSON.stringify(prompts));
  const { resources } = await client.listResources();
  assert.ok(resources.some((r) => r.uri === 'test://static-text'), JSON.stringify(resources));
  assert.match((await client.readResource({ uri: 'test://static-text' })).contents[0].text, /static text resource/);
  await client.close();
}
// The CLI of the Inspector: one process for each method.
async function inspect(way, ...args) {
  const target = way.stdio ? [shim.command, ...shim.args] : [way.url, '--transport', 'http', '--header', `Authorization: ${authorization}`];
  const env = { ...d.env, HOME: d.folder, MCP_CATALOG_PATH: path.join(d.folder, 'inspector.json') };
  const { error, stdout, stderr } = await new Promise((ok) =>
    execFile(node, [packagePath('.bin/mcp-inspector'), '--cli', ...target, ...args], { env, maxBuffer: 16 << 20, timeout: 60_000 }, (error, stdout, stderr) => ok({ error, stdout, stderr })));
  assert.ok(!error, `${error?.message}\n${stderr}`);
  return JSON.parse(stdout);
}
async function inspector(way) {
  const { tools } = await inspect(way, '--method', 'tools/list');
  assert.ok(tools.some((t) => t.name === 'calc__calculate'));
  const result = await inspect(way, '--method', 'tools/call', '--tool-name', 'calc__calculate', '--tool-arg', 'expression=6*7');
  assert.match(result.content[0].text, /42/);
  const { contents } = await inspect(way, '--method', 'resources/read', '--uri', 'test://static-text');
  assert.match(contents[0].text, /static text resource/);
}

const list = {};
for (const [name, way] of Object.entries(ways)) {
  for (const kind of kinds) list[`${kind} lists, calls and reads through ${name}`] = () => use(kind, way);
  list[`the Inspector lists, calls and reads through ${name}`] = () => inspector(way);
}
await checks({ ...list, 'stopping is clean': () => d.stop() }, { all: true });
