// Real MCP servers from npm behind mcpbxd: each starts, is listed, and is called where that works offline.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Daemon, checks, node, packagePath } from './lib.mjs';

const files = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'mcpbx-files-')));
fs.writeFileSync(path.join(files, 'note.txt'), 'a note for the test\n');
const server = (file, ...args) => ({ command: node, args: [packagePath(file), ...args] });
const config = {
  mcpServers: {
    everything: server('@modelcontextprotocol/server-everything/dist/index.js'),
    files: server('@modelcontextprotocol/server-filesystem/dist/index.js', files),
    memory: { ...server('@modelcontextprotocol/server-memory/dist/index.js'), env: { MEMORY_FILE_PATH: path.join(files, 'memory.json') } },
    db: server('@bytebase/dbhub/dist/index.js', '--transport', 'stdio', '--demo'),
    docs: server('@upstash/context7-mcp/dist/index.js'),
    github: server('@modelcontextprotocol/server-github/dist/index.js'),
  },
};
// era and revision as each server speaks them, and how many tools it lists to a client that can be asked
const expected = {
  everything: ['legacy', '2025-11-25', 17],
  files: ['legacy', '2025-11-25', 14],
  memory: ['legacy', '2025-11-25', 9],
  db: ['modern', '2026-07-28', 2],
  docs: ['modern', '2026-07-28', 2],
  github: ['legacy', '2024-11-05', 26],
};

const d = await Daemon.start(config);
const call = async (name, args) => {
  const r = await d.mcpbx('--json', 'call', name, '--args', JSON.stringify(args));
  assert.equal(r.status, 0, `${name}: ${r.stderr}${r.stdout}\n${d.log}`);
  return JSON.parse(r.stdout);
};
await checks({
  'every server becomes ready': () => d.ready(),
  'M2: each server is spoken to in its own era and revision': async () => {
    const servers = JSON.parse((await d.mcpbx('--json', 'servers')).stdout);
    for (const [name, [era, revision, tools]] of Object.entries(expected)) {
      const s = servers.find((x) => x.name === name);
      assert.deepEqual([s.state, s.era, s.revision, s.tools], ['ready', era, revision, tools], name);
    }
  },
  'every tool is in the one catalog': async () => {
    const tools = JSON.parse((await d.mcpbx('--json', 'tools')).stdout);
    assert.equal(tools.length, Object.values(expected).reduce((sum, [, , n]) => sum + n, 0));
  },
  'openai definitions can be made of every tool': async () => {
    const tools = JSON.parse((await d.mcpbx('tools', '--format', 'openai')).stdout);
    for (const t of tools) assert.match(t.function.name, /^[a-zA-Z0-9_-]{1,64}$/);
    assert.ok(tools.length >= 60);
  },
  'everything: echo answers': async () => assert.match((await call('everything__echo', { message: 'through mcpbx' })).content[0].text, /through mcpbx/),
  'files: list_allowed_directories answers': async () => assert.match((await call('files__list_allowed_directories', {})).content[0].text, new RegExp(path.basename(files))),
  'files: read_text_file answers': async () => assert.match((await call('files__read_text_file', { path: path.join(files, 'note.txt') })).content[0].text, /a note for the test/),
  'memory: read_graph answers': async () => assert.ok((await call('memory__read_graph', {})).content[0].text.includes('entities')),
  'db: execute_sql answers to an old caller': async () => {
    const r = await call('db__execute_sql', { sql: 'SELECT 6 * 7 AS answer' });
    assert.match(JSON.stringify(r), /42/);
    assert.equal(r.resultType, undefined);
  },
  'callers of both eras list the prompts and resources of all servers, and read what others quote': async () => {
    const seen = [];
    for (const c of [d.caller(), d.modernCaller()]) {
      if (seen.length === 0) await c.request('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } });
      const result = async (method, params) => {
        const answer = await c.request(method, params);
        assert.ok(answer.result, `${method}: ${JSON.stringify(answer)}`);
        return answer.result;
      };
      const prompts = (await result('prompts/list')).prompts.map((p) => p.name);
      const resources = (await result('resources/list')).resources.map((r) => r.uri);
      const templates = (await result('resources/templates/list')).resourceTemplates.map((t) => t.uriTemplate);
      assert.match(JSON.stringify(await result('prompts/get', { name: 'everything__args-prompt', arguments: { city: 'Oslo' } })), /Oslo/);
      for (const uri of [resources[0], 'demo://resource/dynamic/text/2'])
        assert.equal((await result('resources/read', { uri })).contents[0].uri, uri);
      const links = (await result('tools/call', { name: 'everything__get-resource-links', arguments: { count: 2 } })).content.filter((block) => block.type === 'resource_link');
      assert.equal(links.length, 2);
      for (const link of links) assert.equal((await result('resources/read', { uri: link.uri })).contents[0].uri, link.uri);
      seen.push({ prompts, resources, templates });
      c.close();
    }
    assert.deepEqual(seen[0], seen[1]);
    assert.deepEqual([seen[0].prompts, seen[0].resources, seen[0].templates].map((list) => list.length), [4, 8, 2]);
  },
  'L20: progress of a long call reaches its caller': async () => {
    const c = d.caller();
    await c.request('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } });
    const tools = (await c.request('tools/list')).result.tools.map((t) => t.name);
    const name = tools.find((t) => /everything__.*long.?running/i.test(t));
    assert.ok(name, tools.join(' '));
    const r = await c.request('tools/call', { name, arguments: { duration: 1, steps: 3 }, _meta: { progressToken: 'mine' } });
    assert.ok(r.result, JSON.stringify(r));
    const progress = c.notifications.filter((n) => n.method === 'notifications/progress');
    assert.ok(progress.length >= 1 && progress.every((n) => n.params.progressToken === 'mine'));
    c.close();
  },
  'stopping leaves nothing': async () => { await d.stop(); fs.rmSync(files, { recursive: true, force: true }); },
});
