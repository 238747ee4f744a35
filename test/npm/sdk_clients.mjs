// Official SDK clients as callers, through the stdio shim: 1.x, 2.x that probes, and 2.x pinned to the initialize era.
import assert from 'node:assert/strict';
import path from 'node:path';
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as Stdio1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { Client as Client2 } from '@modelcontextprotocol/client';
import { StdioClientTransport as Stdio2 } from '@modelcontextprotocol/client/stdio';
import { Daemon, bin, checks } from './lib.mjs';

const d = await Daemon.start({ mcpServers: { calc: { command: 'mcpbx-toolbox' } } });
const shim = { command: path.join(bin, 'mcpbx'), args: ['--socket', d.socket, 'mcp'], env: d.env, stderr: 'inherit' };
const info = { name: 'mcpbx-test', version: '1.0.0' };

async function use(client, transport) {
  await client.connect(transport);
  assert.equal(client.getServerVersion().name, 'mcpbx');
  const { tools } = await client.listTools();
  assert.ok(tools.some((t) => t.name === 'calc__calculate'), JSON.stringify(tools.map((t) => t.name)));
  const result = await client.callTool({ name: 'calc__calculate', arguments: { expression: '6*7' } });
  assert.match(result.content[0].text, /42/);
  const refused = await client.callTool({ name: 'calc__calculate', arguments: { expression: '6*' } });
  assert.equal(refused.isError, true);
  await assert.rejects(client.callTool({ name: 'calc__calculat', arguments: {} }), /calc__calculate/);
  await client.close();
}
await checks({
  'the daemon becomes ready': () => d.ready(),
  'SDK 1.x lists and calls': () => use(new Client1(info), new Stdio1(shim)),
  'SDK 2.x that probes lists and calls': () => use(new Client2(info, { versionNegotiation: { mode: 'auto' } }), new Stdio2(shim)),
  'SDK 2.x pinned to the initialize era lists and calls': () => use(new Client2(info, { versionNegotiation: { mode: 'legacy' } }), new Stdio2(shim)),
  'stopping is clean': () => d.stop(),
});
