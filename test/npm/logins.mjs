// Logins from end to end: mcpbxd and mcpbx against a protected server with its authorization server. A run meets the server
// without a login, a person logs in by the listener and by pasting, tokens are renewed, kept over a restart and forgotten.
// At the end no secret of all that is in anything that mcpbx wrote or said.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { LLMock } from '@copilotkit/aimock';
import { Daemon, bin, checks } from './lib.mjs';
import { ProtectedServer, sayYes } from './remote/protected_server.mjs';

const server = await ProtectedServer.start();
const model = new LLMock({ port: 0, host: '127.0.0.1', logLevel: 'silent' });
model.addFixture({ match: { userMessage: 'go on', hasToolResult: false }, response: { toolCalls: [{ name: 'calc__calculate', arguments: '{"expression":"6*7"}' }] } });
model.addFixture({ match: { userMessage: 'go on' }, response: { content: 'It is 42.' } });
model.addFixture({ match: { userMessage: 'greet', hasToolResult: false }, response: { toolCalls: [{ name: 'saas__greet', arguments: '{}' }, { name: 'saas__blab', arguments: '{}' }] } });
model.addFixture({ match: { userMessage: 'greet' }, response: { content: 'Greeted.' } });
await model.start();

const config = {
  mcpServers: { saas: { url: server.url }, own: { url: server.url, sharing: 'perCaller' }, calc: { command: 'mcpbx-toolbox' } },
  models: { mock: { api: 'openai-chat', baseUrl: `http://127.0.0.1:${model.port ?? new URL(model.url).port}/v1`, model: 'mock', apiKey: '${env:MOCK_KEY}' } },
  defaultModel: 'mock', log: { level: 'trace' }, audit: true, http: { address: '127.0.0.1:0' },
};
const env = { MOCK_KEY: 'mock-key-0123456789', DISPLAY: '', WAYLAND_DISPLAY: '', BROWSER: '', DBUS_SESSION_BUS_ADDRESS: '' };
let d = await Daemon.start(config, { env });
let logs = '';
let said = '';  // all that mcpbx said to anybody, but for the addresses of logins, which are for the person
const cli = async (...args) => {
  const ran = await d.mcpbx(...args);
  said += ran.stdout + ran.stderr;
  return ran;
};
const state = async () => JSON.parse((await cli('--json', 'auth', 'status', 'saas')).stdout)[0].state;

// `mcpbx auth login saas --no-browser`, with `answer` as the person. Resolves with its status and what it said.
async function logIn(answer, name = 'saas', ...more) {
  const child = spawn(path.join(bin, 'mcpbx'), ['--socket', d.socket, 'auth', 'login', name, '--no-browser', ...more], { env: d.env, stdio: ['pipe', 'pipe', 'pipe'] });
  let err = '', answered = false;
  const watchdog = setTimeout(() => child.kill('SIGKILL'), 30_000);
  child.stderr.setEncoding('utf8').on('data', async (words) => {
    err += words;
    const address = /^ *(http:\S+\/authorize\?\S+)$/m.exec(err)?.[1];
    if (address && /paste its address/.test(err) && !answered) {
      answered = true;
      await answer(address, child);
    }
  });
  const status = await new Promise((ended) => child.on('close', ended));
  clearTimeout(watchdog);
  return { status, err };
}
const byListener = async (address) => {
  const page = await fetch(await sayYes(address));
  assert.equal(page.status, 200);
  const text = await page.text();
  assert.ok(!text.includes('canary'), text);
};
const byPasting = async (address, child) => { child.stdin.write(`${await sayYes(address)}\n`); };
const ready = async (name) => {
  const there = async () => {
    const list = await cli('--json', 'servers');  // fails until the daemon listens
    return list.status === 0 && JSON.parse(list.stdout).find((entry) => entry.name === name)?.state === 'ready';
  };
  for (const end = Date.now() + 30_000; !await there();) { assert.ok(Date.now() < end, `${name} is not there\n${d.log}`); await new Promise((later) => setTimeout(later, 30)); }
};
const greets = async () => {
  await ready('saas');
  const r = await cli('call', 'saas__greet');
  assert.equal(r.status, 0, r.stderr + d.log);
  assert.match(r.stdout, /a protected greeting/);
};

await checks({
  'a server without a login is told with the command that helps': async () => {
    const r = await cli('wait', '--timeout', '20');
    assert.notEqual(r.status, 0);
    assert.match(r.stdout + r.stderr, /mcpbx auth login saas/);
    assert.equal(await state(), 'none');
  },
  'a run meets it, tells its caller which command helps, and goes on without it': async () => {
    const c = d.caller();
    const r = await c.request('mcpbx/chat', { model: 'mock', input: 'go on' });
    const events = JSON.stringify(c.events());
    c.close();
    said += JSON.stringify(r) + events;
    assert.equal(r.result?.text, 'It is 42.', JSON.stringify(r));
    assert.match(events, /mcpbx auth login saas/);
  },
  'a call of its tool is refused, and `mcpbx servers` has the command that helps': async () => {
    const r = await cli('call', 'saas__greet');
    assert.notEqual(r.status, 0);
    assert.match(r.stderr, /mcpbx servers/);
    assert.match((await cli('--json', 'servers')).stdout, /mcpbx auth login saas/);
  },
  'login by the listener: the person is told who asks for what, and the tools are there': async () => {
    const r = await logIn(byListener);
    assert.equal(r.status, 0, r.err + d.log);
    assert.match(r.err, new RegExp(`authorized by: +${server.base}`));
    assert.match(r.err, new RegExp(`for: +${server.url}`));
    assert.match(r.err, /rights: +tools/);
    assert.equal(await state(), 'logged_in');
    await greets();
  },
  'the file of the tokens is for its owner alone': () =>
    assert.equal(fs.statSync(path.join(d.folder, 'mcpbx', 'credentials.json')).mode & 0o777, 0o600),
  'a token that ends in the middle of 100 calls is renewed once, and no call is lost or made twice': async () => {
    await greets();
    const before = { renewals: server.renewals, greeted: server.greeted };
    server.expireAfter(30);
    const c = d.caller();
    await c.request('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } });
    const made = await Promise.all(Array.from({ length: 100 }, () => c.request('tools/call', { name: 'saas__greet', arguments: {} })));
    c.close();
    assert.deepEqual(made.map((r) => r.result?.content[0].text ?? JSON.stringify(r)), Array(100).fill('a protected greeting'));
    assert.deepEqual([server.renewals - before.renewals, server.greeted - before.greeted], [1, 100]);
    assert.equal(server.logins, 1);
  },
  'two logins at once are one': async () => {
    assert.equal((await cli('auth', 'logout', 'saas')).status, 0);
    const shown = [];
    const answer = async (address) => { if (shown.push(address) === 2) await byListener(address); };
    const both = await Promise.all([logIn(answer), logIn(answer)]);
    assert.equal(shown[0], shown[1]);
    assert.deepEqual(both.map((r) => r.status), [0, 0], both.map((r) => r.err).join('\n'));
    assert.equal(server.logins, 2);
    await greets();
  },
  'tokens are those of an entry, or of each caller with perCaller, and no header of a caller is passed on': async () => {
    assert.equal((await logIn(byListener, 'own')).status, 0);
    await ready('own');
    const { http, tokenFile } = JSON.parse((await cli('--json', 'status')).stdout);
    const port = fs.readFileSync(tokenFile, 'utf8').trim();
    server.secrets.add(port);
    const initialize = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } };
    const opened = await Promise.all([0, 1].map(async () => { const c = d.caller(); await c.request('initialize', initialize); return c; }));
    const post = (message, more = {}) => fetch(new URL('/mcp', http), { method: 'POST', body: JSON.stringify({ jsonrpc: '2.0', ...message }),
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', authorization: `Bearer ${port}`, 'x-caller-token': 'canary-of-caller', ...more } });
    const session = { 'mcp-session-id': (await post({ id: 1, method: 'initialize', params: initialize })).headers.get('mcp-session-id') };
    await post({ method: 'notifications/initialized' }, session);
    const call = (entry) => post({ id: entry, method: 'tools/call', params: { name: `${entry}__greet`, arguments: { who: entry } } }, session).then((answer) => answer.text());
    const refused = await call('own');
    assert.ok(!refused.includes('a protected greeting') && refused.includes('mcpbx auth login own --for http'), refused);
    assert.equal((await logIn(byListener, 'own', '--for', 'http')).status, 0);
    const rows = JSON.parse((await cli('--json', 'auth', 'status', 'own')).stdout).map((row) => `${row.principal} ${row.state}`);
    assert.deepEqual(rows, [`uid:${process.getuid()} logged_in`, 'http logged_in']);
    assert.match((await cli('auth', 'status')).stdout, /own +http +logged in/);
    const wrong = await cli('auth', 'login', 'saas', '--for', 'http');
    assert.notEqual(wrong.status, 0);
    assert.match(wrong.stderr, /one login for all its callers/);
    server.used.length = 0;
    for (const entry of ['saas', 'own'])
      await Promise.all([
        ...opened.map((c) => c.request('tools/call', { name: `${entry}__greet`, arguments: { who: entry } })),
        call(entry),
      ].map(async (answer) => assert.match(JSON.stringify(await answer), /a protected greeting/)));
    for (const c of opened) c.close();
    const tokensOf = (entry) => [...new Set(server.used.filter((call) => call.who === entry).map((call) => call.token))];
    assert.deepEqual([server.used.length, tokensOf('saas').length, tokensOf('own').length], [6, 1, 2]);
    assert.ok(!tokensOf('own').includes(tokensOf('saas')[0]));
    const sent = (token) => server.used.filter((one) => one.who === 'own' && one.token === token).length;
    assert.deepEqual(tokensOf('own').map(sent).sort(), [1, 2]);  // the port's once, the person's from both connections
    for (const { headers } of server.used) assert.ok(!headers.includes(port) && !headers.includes('canary-of-caller'), headers);
    assert.equal((await cli('auth', 'logout', 'own')).status, 0);
    assert.equal(await state(), 'logged_in');  // one logout is no other's
    assert.match(await call('own'), /a protected greeting/);
    assert.equal((await cli('auth', 'logout', 'own', '--for', 'http')).status, 0);
    assert.ok(!(await call('own')).includes('a protected greeting'));
  },
  'a run calls the tools of the server, and one that repeats the token in its error': async () => {
    const c = d.caller();
    const r = await c.request('mcpbx/chat', { model: 'mock', input: 'greet', detach: false });
    said += JSON.stringify(r) + JSON.stringify(c.events());
    c.close();
    assert.equal(r.result?.text, 'Greeted.', JSON.stringify(r));
    assert.equal(r.result.toolCalls.length, 2);
    assert.notEqual((await cli('call', 'saas__blab')).status, 0);
  },
  'the login is there after a restart': async () => {
    await d.stop({ keep: true });
    const { folder, log } = d;
    logs += log;
    d = await Daemon.start(config, { env, folder });
    await greets();
    assert.equal(server.logins, 4);
  },
  'logout forgets the tokens, here and on disk': async () => {
    assert.equal((await cli('auth', 'logout', 'saas')).status, 0);
    assert.equal(await state(), 'none');
    assert.ok(!fs.readFileSync(path.join(d.folder, 'mcpbx', 'credentials.json'), 'utf8').includes('canary'));
    assert.notEqual((await cli('call', 'saas__greet')).status, 0);
  },
  'login by pasting the address that the browser ended at': async () => {
    const r = await logIn(byPasting);
    assert.equal(r.status, 0, r.err + d.log);
    await greets();
    assert.equal(server.logins, 5);
  },
  'Ctrl-C at a login closes its port at once': async () => {
    let redirect;
    const opens = () => fetch(redirect, { redirect: 'manual' }).then(() => true, () => false);
    const interrupted = await logIn(async (address, child) => {
      redirect = new URL(new URL(address).searchParams.get('redirect_uri'));
      assert.ok(await opens());
      child.kill('SIGINT');
    });
    assert.notEqual(interrupted.status, 0);
    for (const end = Date.now() + 10_000; await opens();) assert.ok(Date.now() < end, 'the port is still open');
  },
  'an answer that is not to this login is refused, and the right one still counts': async () => {
    const r = await logIn(async (address, child) => {
      child.stdin.write('http://127.0.0.1:1/callback?code=forged&state=forged\n');
      await byPasting(address, child);
    });
    assert.equal(r.status, 0, r.err);
    assert.match(r.err, /not the answer to this login/);
  },
  'tokens that are taken back lead to the command that helps, not to a storm': async () => {
    server.revoke();
    const r = await cli('call', 'saas__greet');
    assert.notEqual(r.status, 0);
    assert.match(r.stderr, /mcpbx auth login saas/);
  },
  'G35: no secret of a login is in a log at trace level or the audit, nor in a status, an event, an error or the journal': async () => {
    for (const verb of [['servers'], ['--json', 'servers'], ['status'], ['--json', 'status'], ['auth', 'status'], ['runs'], ['--json', 'runs'], ['audit']]) await cli(...verb);
    await d.stop({ keep: true });
    logs += d.log;
    assert.match(d.log, / trace | debug /, 'the log says little, so this would prove nothing');
    const places = { 'what mcpbx said': said, 'the log': logs };
    for (const file of fs.readdirSync(d.folder, { recursive: true })) {
      const whole = path.join(d.folder, file);
      if (!['credentials.json', 'token'].includes(path.basename(file)) && fs.statSync(whole).isFile()) places[file] = fs.readFileSync(whole, 'latin1');
    }
    assert.ok(Object.keys(places).some((name) => /audit/.test(name)) && Object.keys(places).some((name) => /\.db|sqlite/.test(name)), Object.keys(places).join(' '));
    for (const secret of server.secrets)
      for (const [place, text] of Object.entries(places)) {
        const at = text.indexOf(secret);
        assert.equal(at, -1, `${place} has a secret: …${text.slice(Math.max(0, at - 200), at + 100)}…`);
      }
    fs.rmSync(d.folder, { recursive: true, force: true });
    server.stop();
  },
});
