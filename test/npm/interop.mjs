// The real MCP servers of interop/package.json, each directly and all behind one daemon, for callers of both eras: what
// they list must be what callers see, and what works without network, keys or browser is called. Writes the table in
// docs/interop.md.
//
// usage: interop.mjs [--check]      --check: the table is not written; MCPBX_BIN: the folder of the built programs
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { connect, kinds } from './clients.mjs';
import { writePart } from './document.mjs';
import { Daemon, bin, here, node } from './lib.mjs';

const modules = path.join(here, 'interop', 'node_modules');
const packages = JSON.parse(fs.readFileSync(path.join(here, 'interop', 'package.json'), 'utf8')).dependencies;
const folder = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'mcpbx-interop-')));
process.on('exit', () => fs.rmSync(folder, { recursive: true, force: true }));
fs.writeFileSync(path.join(folder, 'note.txt'), 'a note for the table\n');
fs.writeFileSync(path.join(folder, 'eslint.config.mjs'), 'export default [{ rules: { "no-unused-vars": "error" } }];\n');
fs.writeFileSync(path.join(folder, 'lint.js'), 'const unused = 1;\n');
execFileSync('git', ['init', '-q', folder]);

// name: [package, program in it, arguments, call that works offline: tool, arguments, answer, more of the entry]
const at = (file) => path.join(folder, file);
const servers = {
  everything: ['@modelcontextprotocol/server-everything', 'dist/index.js', [], ['echo', { message: 'through mcpbx' }, /through mcpbx/]],
  filesystem: ['@modelcontextprotocol/server-filesystem', 'dist/index.js', [folder], ['read_text_file', { path: at('note.txt') }, /a note for the table/]],
  memory: ['@modelcontextprotocol/server-memory', 'dist/index.js', [], ['read_graph', {}, /entities/], { env: { MEMORY_FILE_PATH: at('memory.json') } }],
  thinking: ['@modelcontextprotocol/server-sequential-thinking', 'dist/index.js', [],
    ['sequentialthinking', { thought: 'One.', nextThoughtNeeded: false, thoughtNumber: 1, totalThoughts: 1 }, /thoughtNumber/]],
  github: ['@modelcontextprotocol/server-github', 'dist/index.js', []],
  playwright: ['@playwright/mcp', 'cli.js', ['--headless']],
  chrome: ['chrome-devtools-mcp', 'build/src/bin/chrome-devtools-mcp.js', ['--headless']],
  context7: ['@upstash/context7-mcp', 'dist/index.js', []],
  mongodb: ['mongodb-mcp-server', 'dist/esm/index.js', [], undefined, { env: { MDB_MCP_TELEMETRY: 'disabled' } }],
  dbhub: ['@bytebase/dbhub', 'dist/index.js', ['--transport', 'stdio', '--demo'], ['execute_sql', { sql: 'SELECT 6 * 7 AS answer' }, /42/]],
  angular: ['@angular/cli', 'bin/ng.js', ['mcp'], ['get_best_practices', {}, /Angular/], { env: { NG_CLI_ANALYTICS: 'false' }, cwd: folder }],
  git: ['@cyanheads/git-mcp-server', 'dist/index.js', [], ['git_status', { path: folder }, /./]],
  sqlite: ['mcp-server-sqlite-npx', 'dist/index.js', [at('data.db')], ['list_tables', {}, /./]],
  eslint: ['@eslint/mcp', 'src/mcp-cli.js', [], ['lint-files', { filePaths: [at('lint.js')] }, /no-unused-vars/], { cwd: folder }],
  chart: ['@antv/mcp-server-chart', 'build/index.js', []],
  notion: ['@notionhq/notion-mcp-server', 'bin/cli.mjs', []],
  firecrawl: ['firecrawl-mcp', 'dist/index.js', [], undefined, { env: { FIRECRAWL_API_KEY: 'none' } }],
};
assert.deepEqual(Object.values(servers).map(([name]) => name).sort(), Object.keys(packages).sort(), 'each package of interop/package.json has its row');
const entry = ([name, file, args, , more = {}]) => ({ command: node, args: [path.join(modules, name, file), ...args], ...more });

// Every page of a list. Some servers say that they have a kind and then do not know its templates.
async function all(client, method, key) {
  const found = [];
  for (let cursor; ;) {
    const page = await client[method](cursor === undefined ? {} : { cursor }).catch((error) => {
      if (error.code === -32601) return { [key]: [] };
      throw error;
    });
    found.push(...page[key]);
    if ((cursor = page.nextCursor) === undefined) return found;
  }
}
const lists = { tools: 'listTools', prompts: 'listPrompts', resources: 'listResources', resourceTemplates: 'listResourceTemplates' };
async function everythingOf(client) {
  const can = client.getServerCapabilities();
  const offers = {};
  for (const [key, method] of Object.entries(lists)) offers[key] = can[key === 'resourceTemplates' ? 'resources' : key] ? await all(client, method, key) : [];
  return offers;
}
const marks = { tools: 'name', prompts: 'name', resources: 'uri', resourceTemplates: 'uriTemplate' };
// What of a server's own entries a caller of mcpbx does not find, and what is not as the server wrote it. The new era has
// no `execution`, which says of a tool whether it takes tasks of the old one.
function lost(server, own, seen, modern) {
  const missing = [];
  for (const [key, mark] of Object.entries(marks))
    for (const { ...one } of own[key]) {
      if (modern) delete one.execution;
      const name = mark === 'name' ? `${server}__${one.name}` : one[mark];
      const found = seen[key].find((other) => other[mark] === name);
      if (!found) missing.push(`${key} ${one[mark]} is missing`);
      else try { assert.deepEqual({ ...found, [mark]: one[mark] }, one); } catch (error) { missing.push(`${key} ${one[mark]} differs: ${error.message.replace(/\s+/g, ' ').slice(0, 300)}`); }
    }
  return missing;
}
async function calls(client, [tool, args, answer]) {
  try {
    const result = await client.callTool({ name: tool, arguments: args });
    const text = result.content.map((block) => block.text ?? '').join('\n');
    return !result.isError && answer.test(text) ? 'yes' : `no: ${text.slice(0, 200)}`;
  } catch (error) {
    return `no: ${error.message}`;
  }
}

const rows = {};
for (const [name, server] of Object.entries(servers)) {
  const { command, args, env, cwd } = entry(server);
  const started = Date.now();
  const client = await connect(kinds[1], { stdio: { command, args, env: { ...process.env, ...env }, cwd, stderr: 'ignore' } });
  const row = rows[name] = { revision: client.getNegotiatedProtocolVersion(), ms: Date.now() - started, faults: [] };
  await new Promise((ok) => setTimeout(ok, 300));  // some servers list more once they have heard what the caller can
  row.own = await everythingOf(client);
  await client.close();
  console.log(`${name}: ${row.revision}, ${Object.keys(lists).map((key) => `${row.own[key].length} ${key}`).join(', ')}, ready after ${row.ms} ms`);
}

const d = await Daemon.start({ mcpServers: Object.fromEntries(Object.entries(servers).map(([name, server]) => [name, { startTimeoutMs: 60_000, ...entry(server) }])) });
const began = Date.now();
await d.ready(120);
console.log(`all ${Object.keys(servers).length} are ready behind one daemon after ${Date.now() - began} ms`);
const shim = { stdio: { command: path.join(bin, 'mcpbx'), args: ['--socket', d.socket, 'mcp'], env: d.env } };
for (const [caller, kind] of Object.entries({ old: kinds[0], new: kinds[3] })) {
  const client = await connect(kind, shim);
  const seen = await everythingOf(client);
  for (const [name, server] of Object.entries(servers)) {
    const row = rows[name];
    const missing = lost(name, row.own, seen, caller === 'new');
    row.faults.push(...missing.map((words) => `${caller} caller: ${words}`));
    row[caller] = missing.length === 0 ? 'all' : `${missing.length} lost`;
    row[`${caller}Call`] = server[3] ? await calls(client, [`${name}__${server[3][0]}`, ...server[3].slice(1)]) : '-';
    if (row[`${caller}Call`].startsWith('no')) row.faults.push(`${caller} caller: ${server[3][0]} ${row[`${caller}Call`]}`);
  }
  await client.close();
}
await d.stop();

const table = ['| server | revision | tools | prompts | resources | templates | an old caller sees | a new caller sees | called offline, old and new |', '|---|---|---|---|---|---|---|---|---|',
  ...Object.entries(rows).map(([name, row]) => `| ${servers[name][0]} ${packages[servers[name][0]]} | ${row.revision} | ${row.own.tools.length} | ${row.own.prompts.length} | ${
    row.own.resources.length} | ${row.own.resourceTemplates.length} | ${row.old} | ${row.new} | ${servers[name][3] ? `${servers[name][3][0]}: ${row.oldCall.slice(0, 3)}, ${row.newCall.slice(0, 3)}` : 'needs more than this machine has'} |`)];
console.log(table.join('\n'));
const faults = Object.entries(rows).flatMap(([name, row]) => row.faults.map((words) => `${name}: ${words}`));
for (const words of faults) console.log(`FAULT ${words}`);
if (!process.argv.includes('--check')) writePart('servers', table);
console.log(faults.length === 0 ? 'ok: nothing is lost' : `FAILED: ${faults.length} faults`);
process.exit(faults.length === 0 ? 0 : 1);
